"""Weighted means of per-sample values: accuracy and all pointwise losses, as one matrix product."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .base import EXACT32, Array, Counter, Floats, distinct, ratio, total


def _integral(values: Array) -> bool:
    """Whether all values are integers small enough for an exact matrix product."""
    if values.dtype.kind not in "bui" and not np.array_equal(values, np.rint(values)):
        return False
    return bool(np.abs(values, dtype=np.float64).max(initial=0) < EXACT32)


class MeanKernel:
    """Weighted mean of ``values / divisor`` for every configuration.

    Parameters
    ----------
    values
        (C, N) value of each sample. Integers are summed exactly and divided once, so equal means are equal
        floats.
    divisor
        What the values are multiples of, such as the number of repeats they were summed over.
    """

    def __init__(self, values: Array, divisor: float = 1.0) -> None:
        self.n_configs = len(values)
        self._divisor = divisor
        first, self._inverse = distinct(values)
        self._merged = len(first) < len(values)
        self._values = values[first] if self._merged else values
        self._count = Counter(self._values) if _integral(values) else None

    def scores(self, weights: Array) -> Floats:
        """(b, C) mean of every configuration under each weighting."""
        if self._count is None:
            weights = weights.astype(np.float64, copy=False)
        totals = total(weights)
        return ratio(self.sums(weights, totals), totals[:, None] * self._divisor, reuse=True)

    def sums(self, weights: Array, totals: Floats) -> Array:
        """(b, C) sum of the values of every configuration under each weighting, whose totals are given."""
        sums = weights @ self._values.T if self._count is None else self._count(weights, totals)
        return sums[:, self._inverse] if self._merged else sums

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) mean of configuration ``chosen[i]`` under ``weights[i]``."""
        weights = weights.astype(np.float64, copy=False)
        values = self._values[self._inverse[chosen]].astype(np.float64, copy=False)
        return ratio(np.einsum("bn,bn->b", weights, values), total(weights) * self._divisor)
