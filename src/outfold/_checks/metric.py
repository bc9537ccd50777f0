"""Caveats of the score itself: what it is worth, and whether it can be true."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import _render
from .case import Case
from .declaration import Check

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
    "mcc": lambda case: 0.0,
    "cohen_kappa": lambda case: 0.0,
    "r2": lambda case: 0.0,
    "concordance": lambda case: 0.5,
}


def largest_share(case: Case) -> float:
    """Share of the largest class: the accuracy of always predicting it."""
    return float(np.bincount(case.oof.target.y).max() / case.oof.n_samples)


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
    name = target.classes[int(np.argmax(np.bincount(target.y)))]
    return (
        f"an accuracy of {_render.number(accuracy)} is to be expected; always predicting {name!s} gives "
        f"{_render.number(share)}."
    )


def chance(case: Case) -> str | None:
    """An interval that holds what a model that learnt nothing would get."""
    made = case.estimate
    if made is None or made.interval is None or case.metric.name not in _CHANCE or near_trivial(case) is not None:
        return None
    level = _CHANCE[case.metric.name](case)
    bad, good = made.interval if case.metric.greater_is_better else (-made.interval.high, -made.interval.low)
    # Worse than chance all over is another matter (OF213).
    if not bad <= case.metric.sign * level <= good:
        return None
    ends = _render.interval(*made.interval, made.confidence_level)
    return f"the estimate, {_render.number(made.value)}, {ends}, cannot be told from {_render.number(level)}, that of chance."


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
        f"{_render.count(len(case.scoring.rows), 'sample')}; does a feature know the label?"
    )


def no_estimate(case: Case) -> str | None:
    """Why nothing can be estimated."""
    return case.problem


CHECKS = (
    Check(
        "OF204",
        "an area on small folds",
        "caution",
        "A metric such as AUC was taken on folds, repeats or bootstrap rounds that are very small or lack a class; where it is "
        "undefined they were left out.",
        "Use `bbc`, which pools the folds, or fewer folds; stratified rounds.",
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
        "the other class may be the positive one",
        "error",
        "Even the best configuration ranks worse than chance: the positive class is probably the other one.",
        "Say which it is: `positive=`, `--positive`.",
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
        "The interval of the estimate holds the score of a model that learnt nothing.",
        "Do not claim that anything was learnt; more samples, or better features.",
        "Tsamardinos et al. 2015, sect. 8.1",
        chance,
    ),
    Check(
        "OF503",
        "a perfect score",
        "caution",
        "The winner makes no mistake at all, as happens where a feature is made from the label.",
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
)
