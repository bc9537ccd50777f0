"""Predictions on one scale, so that those of two configurations may be swapped sample by sample."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.predictions import Predictions
from ..metrics import Metric, MetricLike
from ..metrics._scoring import bind
from ..stats.rank_metrics import midranks


def swappable(oof: Predictions, metric: MetricLike, by_fold: bool = False) -> tuple[Metric, NDArray[Any]]:
    """The metric and the predictions that it needs, on a scale that all configurations share.

    Where only the order of the predictions counts, their scale is arbitrary, and a mixture of two scales has another order.
    Midranks, as shares of the samples scored together, have the same order and one scale (Venkatraman and Begg 1996).
    """
    found, data = bind(oof, metric)
    if not found.ranks_only:
        return found, data
    out = np.zeros(data.shape)
    for r in range(oof.n_repeats):
        folds = oof.folds[:, r]
        for rows in [folds == k for k in np.unique(folds[folds >= 0])] if by_fold else [folds >= 0]:
            out[r][:, rows] = midranks(data[r][:, rows])
    return found, out
