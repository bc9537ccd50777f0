"""Weights of samples, as the classifiers of this package read them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exceptions import invalid
from ..stats.hellinger import exact_weights


def positive_weights(sample_weight: Any, n_rows: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The rows that count, and their weights, all of whose sums are exact."""
    if sample_weight is None:
        return np.arange(n_rows), np.ones(n_rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        given = f"got an array of shape {weights.shape} for {n_rows} rows"
        raise invalid("sample_weight", "must have one number for each row", given)
    if not np.isfinite(weights).all() or (weights < 0).any():
        given = f"they range from {weights.min()} to {weights.max()}"
        raise invalid("sample_weight", "must have finite numbers that are not negative", given)
    if not weights.any():
        raise invalid("sample_weight", "must have a number above zero", "all weights are zero")
    weights = exact_weights(weights)
    kept = np.flatnonzero(weights > 0)
    return kept, weights[kept]
