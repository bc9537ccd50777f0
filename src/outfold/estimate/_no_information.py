"""What a metric is worth without information: the mean over all pairs of a label and a prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.target import Target
from ..exceptions import NeedError
from ..metrics import Metric
from ..stats.resampling import absolute_pairs, squared_pairs

# Chance level of the metrics that rank.
_RANKS = 0.5
_RANKING = ("roc_auc", "roc_auc_ovr", "roc_auc_ovr_weighted", "roc_auc_ovo", "roc_auc_ovo_weighted", "concordance")
_FAST = {
    "mse": (1, squared_pairs),
    "mae": (1, absolute_pairs),
    "neg_mean_squared_error": (-1, squared_pairs),
    "neg_mean_absolute_error": (-1, absolute_pairs),
}


def check_known(metric: Metric, target: Target, method: str) -> None:
    """Refuse a metric whose value without information is not known."""
    if metric.name in _RANKING or (metric.values is not None and target.task != "pointwise"):
        return
    raise NeedError(
        argument=method,
        needed=f"needs what {metric.name} is without information, which is known for means over samples (accuracy, log_loss, "
        "brier, mse, mae) and for roc_auc and concordance",
        remedy="Use one of these, or `point632` or `optimism`.",
    )


def no_information(metric: Metric, target: Target, predictions: NDArray[Any]) -> NDArray[np.float64]:
    """(C,) the metric where labels and predictions, (C, N) or (C, N, K), are put together at random.

    Never holds N x N pairs: classes are taken one by one, squared and absolute errors by moments and sorting.
    """
    if metric.name in _RANKING:
        return np.full(len(predictions), _RANKS)
    if metric.name in _FAST:
        sign, pairs = _FAST[metric.name]
        return np.asarray(sign * pairs(target.y, predictions), dtype=np.float64)
    assert metric.values is not None
    labels, counts = np.unique(target.y, return_counts=True)
    out = np.zeros(len(predictions))
    for label, count in zip(labels, counts, strict=True):
        everywhere = Target(target.task, np.full(len(target), label), target.classes)
        out += count / len(target) * np.mean(metric.values(everywhere, predictions), axis=1)
    return out
