"""Metrics made of weighted moments: the root of a mean, and the share of variance explained."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .base import Array, Floats, ratio
from .means import MeanKernel


class RootMeanKernel:
    """Root of the weighted mean of non-negative ``values`` (C, N)."""

    def __init__(self, values: Array) -> None:
        self.n_configs = len(values)
        self._mean = MeanKernel(values)

    def scores(self, weights: Array) -> Floats:
        """(b, C) root mean of every configuration under each weighting."""
        return np.sqrt(self._mean.scores(weights))

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) root mean of configuration ``chosen[i]`` under ``weights[i]``."""
        return np.sqrt(self._mean.paired(weights, chosen))


class R2Kernel:
    """One minus the mean squared error over the weighted variance of y; NaN unless two values of y differ.

    Parameters
    ----------
    predictions
        (C, N) predicted values.
    y
        (N,) true values.
    """

    def __init__(self, predictions: Floats, y: Floats) -> None:
        self.n_configs = len(predictions)
        self._error = MeanKernel((predictions - y) ** 2)
        self._y = y
        self._order = np.argsort(y)

    def scores(self, weights: Array) -> Floats:
        """(b, C) R2 of every configuration under each weighting."""
        return 1.0 - ratio(self._error.scores(weights), self._variance(weights)[:, None])

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) R2 of configuration ``chosen[i]`` under ``weights[i]``."""
        return 1.0 - ratio(self._error.paired(weights, chosen), self._variance(weights))

    def _variance(self, weights: Array) -> Floats:
        """(b,) variance of y by two passes, stable wherever y is centred; exactly 0 where y is constant."""
        counts = weights.astype(np.float64)
        size = counts.sum(axis=1)
        mean = ratio(counts @ self._y, size)
        spread = ratio(np.einsum("bn,bn->b", counts, (self._y - mean[:, None]) ** 2), size)
        drawn = weights[:, self._order] > 0
        lowest = self._y[self._order[drawn.argmax(axis=1)]]
        highest = self._y[self._order[::-1][drawn[:, ::-1].argmax(axis=1)]]
        return np.where(lowest < highest, spread, 0.0)
