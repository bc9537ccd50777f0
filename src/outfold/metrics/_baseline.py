"""What a model that learnt nothing scores: the number to read every other score against."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..data.survival import losses
from ..data.target import Target
from ..exceptions import NeedError
from ..results import Baseline
from ..stats.survival import kaplan_meier

if TYPE_CHECKING:
    from ._builtin import Metric

_F = re.compile(r"f(\d+\.?\d*)")
_RANDOM, _SHARES, _ONE = "ranking at random", "predicting the shares of the classes", "always predicting one class"
_SAME_CURVE = "the Kaplan-Meier curve for everyone"
_MEAN, _MEDIAN = "always predicting the mean", "always predicting the median"


def baseline(metric: Metric, target: Target, times: NDArray[np.float64] | None = None) -> Baseline | None:
    """The score of the best model that knows the labels' distribution and no features; None where that is not known.

    `times` are those of survival curves.
    """
    if target.classes is not None:
        return _of_classes(metric.name, target)
    if target.task == "regression" and metric.name in _OF_VALUES:
        whose, score = _OF_VALUES[metric.name]
        return Baseline(score(target.y), whose)
    if metric.name == "integrated_brier":
        return None if times is None else _of_curves(target, times)
    return Baseline(0.5, _RANDOM) if metric.name == "concordance" else None


def _of_curves(target: Target, times: NDArray[np.float64]) -> Baseline | None:
    """That of the same Kaplan-Meier curve for all samples; None if these were not observed for long enough."""
    assert target.event is not None
    curve = kaplan_meier(target.y, target.event, times)
    predicted = np.tile(np.append(0.0, curve), (1, 1, len(target), 1))
    try:
        return Baseline(float(losses(predicted, target, times).mean()), _SAME_CURVE)
    except NeedError:
        return None


def class_shares(target: Target) -> NDArray[np.float64]:
    """Share of the samples that each class has."""
    assert target.classes is not None
    return np.bincount(target.y, minlength=len(target.classes)) / len(target)


def majority(target: Target) -> str:
    """The class with most samples."""
    assert target.classes is not None
    return str(target.classes[int(np.argmax(class_shares(target)))])


def _of_classes(name: str, target: Target) -> Baseline | None:
    assert target.classes is not None
    shares = class_shares(target)
    always = f"always predicting {majority(target)}"
    known: dict[str, Baseline] = {
        "accuracy": Baseline(float(shares.max()), always),
        "error": Baseline(float(1 - shares.max()), always),
        **dict.fromkeys(("balanced_accuracy", "recall_macro"), Baseline(1 / len(shares), _ONE)),
        **dict.fromkeys(("mcc", "cohen_kappa"), Baseline(0.0, _ONE)),
        **dict.fromkeys(_AREAS, Baseline(0.5, _RANDOM)),
        "log_loss": Baseline(_entropy(shares), _SHARES),
        **dict.fromkeys(("d2_log_loss_score", "d2_brier_score"), Baseline(0.0, _SHARES)),
    }
    if target.task == "binary":
        known |= _of_two(name, target, float(shares[1]))
    return known.get(name)


def _of_two(name: str, target: Target, p: float) -> dict[str, Baseline]:
    """Metrics of a positive class of share p, whose baseline is known for two classes only."""
    assert target.classes is not None
    known = {"average_precision": Baseline(p, _RANDOM), "brier": Baseline(p * (1 - p), _SHARES)}
    f = _F.fullmatch(name)
    # All positive: precision p, recall 1, and no other constant has a higher score.
    always = f"always predicting {target.classes[1]!s}"
    known |= {metric: Baseline(p, always) for metric in ("precision", "jaccard")}
    if f is not None:
        weight = float(f[1]) ** 2
        known[name] = Baseline((1 + weight) * p / (weight * p + 1), always)
    return known


def _entropy(shares: NDArray[np.float64]) -> float:
    there = shares[shares > 0]
    return float(-(there * np.log(there)).sum())


_AREAS = ("roc_auc", "roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "roc_auc_ovo_weighted")
_Score = Callable[[NDArray[np.float64]], float]
_OF_VALUES: dict[str, tuple[str, _Score]] = {
    "mse": (_MEAN, lambda y: float(np.var(y))),
    "rmse": (_MEAN, lambda y: float(np.std(y))),
    "mae": (_MEDIAN, lambda y: float(np.abs(y - np.median(y)).mean())),
    "r2": (_MEAN, lambda y: 0.0),
    "explained_variance": (_MEAN, lambda y: 0.0),
    "d2_absolute_error_score": (_MEDIAN, lambda y: 0.0),
}
