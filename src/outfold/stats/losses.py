"""Per-sample losses and hits, (C, N), of which the pointwise metrics are the means."""

from __future__ import annotations

from collections.abc import Callable

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


def relative(y: Array, values: Floats) -> Floats:
    """Absolute error as a share of the true value, which is kept off 0 as scikit-learn keeps it."""
    return absolute(y, values) / np.maximum(np.abs(y), np.finfo(np.float64).eps)


def squared_log(y: Array, values: Floats) -> Floats:
    """Squared error of the logarithms of 1 + value; both must be above -1."""
    return squared(np.log1p(y), np.log1p(values))


def poisson_deviance(y: Array, values: Floats) -> Floats:
    """Twice the log likelihood a Poisson mean loses against y itself; y from 0, values above 0."""
    # y log y tends to 0 with y.
    return 2 * (y * np.log(np.where(y > 0, y, 1.0) / values) - y + values)


def gamma_deviance(y: Array, values: Floats) -> Floats:
    """Twice the log likelihood a gamma mean loses against y itself; both must be above 0."""
    return 2 * (np.log(values / y) + y / values - 1)


def in_top(k: int) -> Callable[[Array, Floats], NDArray[np.int32]]:
    """1 where the true class is among the k of the highest scores (C, N, K), else 0; of equal ones the later is taken."""

    def hits(y: Array, scores: Floats) -> NDArray[np.int32]:
        own = np.take_along_axis(scores, np.broadcast_to(y[None, :, None], (*scores.shape[:2], 1)), axis=2)
        later = np.arange(scores.shape[2]) > y[:, None]
        ahead = (scores > own) | ((scores == own) & later)
        found: NDArray[np.int32] = (ahead.sum(axis=2) < k).astype(np.int32)
        return found

    return hits


def given(y: Array, values: Floats) -> Floats:
    """The values as they are: scores made elsewhere."""
    return values
