"""Caveats of the estimates, and of the score itself: what it is worth, and whether it can be true."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from .case import Case, Check

# Classes are imbalanced where the largest holds this share of the samples.
_IMBALANCED = 2 / 3
# Part of the trivial classifier's errors that a useful one avoids.
_AVOIDED = 0.25

# What a model that learnt nothing gets, by metric.
_CHANCE: dict[str, Callable[[Case], float]] = {
    "accuracy": lambda case: largest_share(case),
    "error": lambda case: 1 - largest_share(case),
    "balanced_accuracy": lambda case: 1 / len(case.oof.target.classes),  # type: ignore[arg-type]
    "roc_auc": lambda case: 0.5,
    "roc_auc_ovr": lambda case: 0.5,
    "roc_auc_ovo": lambda case: 0.5,
    "average_precision": lambda case: float(_shares(case)[1]),
    "mcc": lambda case: 0.0,
    "cohen_kappa": lambda case: 0.0,
    "log_loss": lambda case: _entropy(_shares(case)),
    "brier": lambda case: float(_shares(case)[1] * (1 - _shares(case)[1])),
    "d2_log_loss_score": lambda case: 0.0,
    "d2_brier_score": lambda case: 0.0,
    "r2": lambda case: 0.0,
    "explained_variance": lambda case: 0.0,
    "d2_absolute_error_score": lambda case: 0.0,
    "mse": lambda case: float(np.var(case.oof.target.y)),
    "rmse": lambda case: float(np.std(case.oof.target.y)),
    "mae": lambda case: float(np.abs(case.oof.target.y - np.median(case.oof.target.y)).mean()),
    "concordance": lambda case: 0.5,
}
# Those whose level is known for two classes only.
_OF_TWO = ("average_precision", "brier")
_F = re.compile(r"f(\d+\.?\d*)")


def _shares(case: Case) -> NDArray[np.float64]:
    """Shares of the classes."""
    classes = case.oof.target.classes
    assert classes is not None
    return np.bincount(case.oof.target.y, minlength=len(classes)) / case.oof.n_samples


def _entropy(shares: NDArray[np.float64]) -> float:
    there = shares[shares > 0]
    return float(-(there * np.log(there)).sum())


def largest_share(case: Case) -> float:
    """Share of the largest class: the accuracy of always predicting it."""
    return float(_shares(case).max())


def near_trivial(case: Case) -> str | None:
    """An accuracy on imbalanced classes that is hardly above that of always predicting the largest."""
    if case.metric.name not in ("accuracy", "error") or case.estimate is None:
        return None
    share = largest_share(case)
    value = case.estimate.value
    accuracy = value if case.metric.greater_is_better else 1 - value
    if share < _IMBALANCED or accuracy - share >= _AVOIDED * (1 - share):
        return None
    target = case.oof.target
    assert target.classes is not None
    name = target.classes[int(np.argmax(_shares(case)))]
    return (
        f"an accuracy of {formatting.number(accuracy)} is to be expected; always predicting {name!s} gives "
        f"{formatting.number(share)}."
    )


def chance(case: Case) -> str | None:
    """An interval that does not lie above what a model that learnt nothing would get."""
    made, known = case.estimate, _level(case)
    if made is None or made.interval is None or known is None or near_trivial(case) is not None:
        return None
    level, whose = known
    bad, good = made.interval if case.metric.greater_is_better else (-made.interval.high, -made.interval.low)
    # A ranking worse than chance is mostly that of the other class, which is said already.
    if bad > case.metric.sign * level or any(note.code == "OF213" for note in case.notes):
        return None
    ends = formatting.interval(*made.interval, made.confidence_level)
    how = "is worse than" if good < case.metric.sign * level else "cannot be told from"
    return f"the estimate, {formatting.number(made.value)}, {ends}, {how} {formatting.number(level)}, that of {whose}."


def _level(case: Case) -> tuple[float, str] | None:
    """What a model that learnt nothing gets, and which model that is; None where that is not known."""
    name, target = case.metric.name, case.oof.target
    f = _F.fullmatch(name)
    if f is not None and target.task == "binary":
        # All positive: precision p, recall 1, and no other constant has a higher one.
        p, weight = float(_shares(case)[1]), float(f[1]) ** 2
        return (1 + weight) * p / (weight * p + 1), f"always predicting {target.classes[1]!s}"  # type: ignore[index]
    if name not in _CHANCE or (name in _OF_TWO and target.task != "binary"):
        return None
    return _CHANCE[name](case), "chance"


def perfect(case: Case) -> str | None:
    """The best score there is."""
    won = case.selection
    if won is None:
        return None
    best = case.metric.bounds[1 if case.metric.greater_is_better else 0]
    if not np.isfinite(best) or won.score != best or case.oof.target.task == "pointwise":
        return None
    return (
        f"{won.name} has the perfect {case.metric.name}, {best:g}, on "
        f"{formatting.count(len(case.scoring.rows), 'sample')}; does a feature know the label?"
    )


def no_estimate(case: Case) -> str | None:
    """Why nothing can be estimated."""
    return case.problem


CHECKS = (
    Check(
        "OF204",
        "a set metric on small folds",
        "caution",
        "A metric such as AUC was computed on folds, repeats or bootstrap rounds that are very small or lack "
        "a class; where it is undefined they were left out.",
        "Use `bbc`, which pools the folds, or fewer folds, or stratified rounds.",
        "Tsamardinos et al. 2015, sect. 8.1",
    ),
    Check(
        "OF209",
        "margins of several folds in one ranking",
        "caution",
        "Scores of different folds are ranked together. Margins, unlike probabilities, may have a different scale in every "
        "fold.",
        "Prefer configurations with `predict_proba`.",
        "Tsamardinos et al. 2018, footnote 2",
    ),
    Check(
        "OF213",
        "the other class may be the positive class",
        "error",
        "Even the best configuration ranks worse than chance: the positive class is probably the other class.",
        "Name the positive class: `positive=`, `--positive`.",
        "ours",
    ),
    Check(
        "OF501",
        "accuracy near that of the trivial classifier",
        "caution",
        "Classes are imbalanced, and the accuracy is hardly above that of always predicting the largest class.",
        "Select and report by `balanced_accuracy`, `roc_auc` or `mcc`.",
        "Tsamardinos et al. 2015, sect. 8.1 and 8.2",
        near_trivial,
    ),
    Check(
        "OF502",
        "no better than chance",
        "caution",
        "The interval of the estimate contains the score of a model that learnt nothing, or lies on the worse "
        "side of it.",
        "Do not claim that anything was learnt; collect more samples, or better features.",
        "Tsamardinos et al. 2015, sect. 8.1",
        chance,
    ),
    Check(
        "OF503",
        "a perfect score",
        "caution",
        "The winner makes no mistake at all, which often means that a feature was made from the label.",
        "Look for features that are known only when the label is, and for preprocessing outside the pipeline.",
        "Raschka 2018, sect. 3.9",
        perfect,
    ),
    Check(
        "OF504",
        "no estimate can be made",
        "error",
        "The metric is undefined on these predictions, or on bootstrap samples of them.",
        "Use a metric that is a mean over samples, such as accuracy, or more samples.",
        "ours",
        no_estimate,
    ),
    Check(
        "OF201",
        "draws that could not be scored",
        "tip",
        "Some bootstrap draws could not be scored, because a class was missing among the samples drawn or left out. They were "
        "drawn again (given draws, and comparisons: left out).",
        "Fine for a few percent. Otherwise `stratify=True`, or more samples.",
        "ours",
    ),
    Check(
        "OF202",
        "the TT correction with leave-one-out",
        "caution",
        "The Tibshirani-Tibshirani correction was used with leave-one-out, where it tends to double the loss.",
        "Use `bbc`.",
        "Tsamardinos et al. 2015, sect. 9",
    ),
    Check(
        "OF203",
        "a corrected value outside the range",
        "caution",
        "The Tibshirani-Tibshirani correction left the range of the metric.",
        "Use `bbc`.",
        "Tsamardinos et al. 2018, sect. 2.3",
    ),
    Check(
        "OF208",
        "the winner's score without correction",
        "caution",
        "The number is the winner's cross-validation score, which is optimistic.",
        "Use `bbc`.",
        "Tsamardinos et al. 2015, sect. 3",
    ),
    Check(
        "OF212",
        "few groups to draw from",
        "caution",
        "The bootstrap has few groups to draw from.",
        "Treat the interval as rough; more groups, not more samples, would help.",
        "ours",
    ),
    Check(
        "OF214",
        "a score on the training samples",
        "caution",
        "The number is a score on the samples the model was fitted on, which is too optimistic.",
        "Use `point632plus`, or any other estimate.",
        "Raschka 2018, sect. 1.3 and 2.4",
    ),
    Check(
        "OF218",
        "no valid interval",
        "caution",
        "No interval is valid for this plan and metric: the splits are a time series, nothing varies, or too few draws can be "
        "scored.",
        "Hold out one test set, or collect more samples; see the page on intervals.",
        "ours",
    ),
    Check(
        "OF219",
        "an interval beyond the metric's range",
        "caution",
        "The interval goes beyond the range of the metric, because it comes from a normal or t distribution. "
        "It is reported unchanged; the end is rough.",
        '`confidence_interval(method="bca")` on a test set, or `"percentile"`, stays within the range; so may '
        "an interval from more samples.",
        "Raschka 2018, sect. 1.7",
    ),
)
