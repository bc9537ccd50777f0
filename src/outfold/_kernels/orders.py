"""Metrics that are one value of the sorted losses: the median and the largest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .base import Array, Floats


class _OrderKernel:
    """Losses (C, N) and each configuration's rows in a fixed order of them."""

    def __init__(self, values: Floats) -> None:
        self.n_configs = len(values)
        self._order = np.argsort(values, axis=1, kind="stable")
        self._sorted = np.take_along_axis(values, self._order, axis=1)


class MedianKernel(_OrderKernel):
    """Median of the losses of the rows as often as they weigh; the mean of the two middle ones where there are two."""

    def scores(self, weights: Array) -> Floats:
        """(b, C) median of every configuration under each weighting."""
        out = np.empty((len(weights), self.n_configs))
        for c in range(self.n_configs):
            out[:, c] = _medians(weights[:, self._order[c]], self._sorted[c])
        return out

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) median of configuration ``chosen[i]`` under ``weights[i]``."""
        return _medians(np.take_along_axis(weights, self._order[chosen], axis=1), self._sorted[chosen])


def _medians(weights: Array, values: Floats) -> Floats:
    """(b,) medians of ascending values, (N,) or (b, N), under (b, N) weights."""
    running = np.cumsum(weights, axis=1, dtype=np.int64)
    size = running[:, -1:]
    # The first of the sorted rows that reaches the middle from below, and the first that passes it.
    ends = (np.argmax(running >= (size + 1) // 2, axis=1), np.argmax(running >= size // 2 + 1, axis=1))
    rows = np.arange(len(weights))
    low, high = (values[end] if values.ndim == 1 else values[rows, end] for end in ends)
    return np.where(size[:, 0] > 0, (low + high) / 2, np.nan)


class LargestKernel(_OrderKernel):
    """The largest loss of the rows that weigh anything."""

    def __init__(self, values: Floats) -> None:
        super().__init__(values)
        self._order, self._sorted = self._order[:, ::-1].copy(), self._sorted[:, ::-1].copy()

    def scores(self, weights: Array) -> Floats:
        """(b, C) largest loss of every configuration under each weighting."""
        drawn = weights > 0
        out = np.full((len(weights), self.n_configs), np.nan)
        # A row is drawn with probability 0.63: few steps down from the largest settle all draws.
        for step in range(weights.shape[1]):
            open_ = np.isnan(out)
            if not open_.any():
                break
            np.copyto(out, self._sorted[:, step], where=open_ & drawn[:, self._order[:, step]])
        return out

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) largest loss of configuration ``chosen[i]`` under ``weights[i]``."""
        drawn = np.take_along_axis(weights, self._order[chosen], axis=1) > 0
        first = drawn.argmax(axis=1)
        rows = np.arange(len(weights))
        return np.where(drawn[rows, first], self._sorted[chosen, first], np.nan)
