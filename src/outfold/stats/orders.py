"""Metrics that are one value of the sorted losses: the median and the largest."""

from __future__ import annotations

import math

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
        b, n = weights.shape
        sizes = weights.sum(axis=1, dtype=np.int64)
        counts = np.zeros((n + 1, b), dtype=np.uint16 if sizes.max(initial=0) < 2**16 else np.int64)
        counts[:n] = weights.T
        # Groups of root N rows in the order of their losses, filled up with a row that is never drawn.
        size = max(math.isqrt(n), 1)
        groups = -(-n // size)
        out = np.empty((b, self.n_configs))
        for c, (order, values) in enumerate(zip(self._order, self._sorted, strict=True)):
            rows = np.concatenate([order, np.full(groups * size - n, n)])
            drawn = counts[rows].reshape(groups, size, b)
            low, high = (values[_position(drawn, rank)] for rank in _middle(sizes))
            out[:, c] = np.where(sizes > 0, (low + high) / 2, np.nan)
        return out

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) median of configuration ``chosen[i]`` under ``weights[i]``."""
        drawn = np.take_along_axis(weights, self._order[chosen], axis=1)
        running = np.cumsum(drawn, axis=1, dtype=np.int64)
        sizes = running[:, -1]
        low, high = (self._sorted[chosen, np.argmax(running >= rank[:, None], axis=1)] for rank in _middle(sizes))
        return np.where(sizes > 0, (low + high) / 2, np.nan)


def _middle(sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ranks of the two middle ones of so many, from 1; the same one of an odd number."""
    return (sizes + 1) // 2, sizes // 2 + 1


def _position(drawn: Array, ranks: NDArray[np.int64]) -> NDArray[np.intp]:
    """(b,) the first row at which the counts (groups, rows, b) reach the rank: first its group, then its place there."""
    ends = drawn.sum(axis=1, dtype=np.int64).cumsum(axis=0)
    group = np.minimum((ends < ranks).sum(axis=0), len(ends) - 1)
    lanes = np.arange(drawn.shape[2])
    before = np.where(group > 0, ends[group - 1, lanes], 0)
    running = before[:, None] + drawn[group, :, lanes].cumsum(axis=1, dtype=np.int64)
    place = np.minimum((running < ranks[:, None]).sum(axis=1), drawn.shape[1] - 1)
    # No weight at all reaches no rank; the caller gives NaN there, and any row will do.
    return np.where(ends[-1] >= ranks, group * drawn.shape[1] + place, 0)


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
