"""Per-sample losses and hits, (C, N), of which the pointwise metrics are the means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .base import Array, Floats


def correct(y: Array, predictions: Array) -> NDArray[np.int32]:
    """1 where the predicted class is the true one, else 0."""
    return np.equal(predictions, y).astype(np.int32)


def wrong(y: Array, predictions: Array) -> NDArray[np.int32]:
    """1 where the predicted class is not the true one, else 0."""
    return np.not_equal(predictions, y).astype(np.int32)


def log_loss(y: Array, proba: Floats) -> Floats:
    """Minus the log of the true class's probability, kept off 0 and 1 as scikit-learn keeps it.

    ``proba`` is (C, N) of the positive class, or (C, N, K).
    """
    own: Floats = np.where(y == 1, proba, 1.0 - proba) if proba.ndim == 2 else proba[:, np.arange(len(y)), y]
    eps = np.finfo(np.float64).eps
    return -np.log(np.clip(own, eps, 1.0 - eps))


def brier(y: Array, proba: Floats) -> Floats:
    """Squared error of the probability: of the positive class (C, N), or summed over classes (C, N, K)."""
    if proba.ndim == 2:
        return squared(y, proba)
    errors: Floats = proba - (y[:, None] == np.arange(proba.shape[2]))
    losses: Floats = np.einsum("cnk,cnk->cn", errors, errors)
    return losses


def squared(y: Array, values: Floats) -> Floats:
    """Squared error."""
    return np.square(np.subtract(values, y, dtype=np.float64))


def absolute(y: Array, values: Floats) -> Floats:
    """Absolute error."""
    return np.abs(np.subtract(values, y, dtype=np.float64))


def given(y: Array, values: Floats) -> Floats:
    """The values as they are: scores made elsewhere."""
    return values
