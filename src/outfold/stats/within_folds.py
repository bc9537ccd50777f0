"""Shares of pairs of samples, such as AUC and concordance, that count pairs of the same fold only.

Scores of different folds are those of different models, and may not have a common scale.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .kernels import Array, Floats, ratio


class PairKernel(Protocol):
    """A share of pairs, as twice the pairs in the right order plus those tied, over twice the pairs."""

    n_configs: int

    def counts(self, weights: Array) -> tuple[Array, Floats]:
        """Numerators (b, C) and denominators (b,)."""
        ...

    def paired_counts(self, weights: Array, chosen: NDArray[np.intp]) -> tuple[Array, Floats]:
        """Numerators and denominators (b,) of the chosen configurations."""
        ...

    def pairs(self, weights: Array) -> Floats:
        """(b,) the denominators."""
        ...


# Up to one in so many configurations are ranked alone, each time they are asked for.
_FEW = 4

# A kernel of (C, n) scores of these samples.
Build = Callable[[Floats, NDArray[np.intp]], PairKernel]


class WithinFolds:
    """The share of the pairs of the same fold; NaN where there are none.

    All folds are scored in one walk. The scores are set apart by fold, so that every configuration orders two samples of
    different folds as their folds are ordered. One more configuration, whose score is the number of the fold, counts these
    pairs, and half of the others as ties; so they can be subtracted.
    """

    compact = True

    def __init__(self, build: Build, scores: Floats, folds: NDArray[np.integer]) -> None:
        self.n_configs = len(scores)
        self._build, self._given = build, scores
        _, codes = np.unique(folds, return_inverse=True)
        self._by_fold = codes.astype(np.float64)
        rows = [np.flatnonzero(codes == k) for k in range(codes.max() + 1)]
        self._folds = [(build(self._by_fold[None, own], own), own) for own in rows]

    def _set_apart(self, scores: Floats) -> PairKernel:
        """The kernel of these scores, set apart by fold; the last configuration is the number of the fold."""
        order = np.argsort(scores, axis=1)
        rises = np.diff(np.take_along_axis(scores, order, axis=1), axis=1, prepend=-np.inf) > 0
        ranks = np.empty(scores.shape)
        np.put_along_axis(ranks, order, rises.cumsum(axis=1), axis=1)
        apart = ranks + self._by_fold * (scores.shape[1] + 1)
        return self._build(np.concatenate([apart, self._by_fold[None]]), np.arange(len(self._by_fold)))

    @cached_property
    def _kernel(self) -> PairKernel:
        return self._set_apart(self._given)

    def scores(self, weights: Array) -> Floats:
        """(b, C) share of every configuration under each weighting."""
        twice, pairs = self.counts(weights)
        return ratio(twice, pairs[:, None])

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) share of configuration ``chosen[i]`` under ``weights[i]``."""
        return ratio(*self.paired_counts(weights, chosen))

    def counts(self, weights: Array) -> tuple[Array, Floats]:
        """Numerators (b, C) and denominators (b,), both integers."""
        (twice, _), pairs = self._kernel.counts(weights), self.pairs(weights)
        between = twice[:, -1] - pairs / 2
        return twice[:, :-1] - between[:, None], pairs

    def paired_counts(self, weights: Array, chosen: NDArray[np.intp]) -> tuple[Array, Floats]:
        """Numerators and denominators (b,) of the chosen configurations."""
        used, at = np.unique(chosen, return_inverse=True)
        if "_kernel" in self.__dict__ or len(used) > self.n_configs // _FEW:
            kernel, at, last = self._kernel, chosen, self.n_configs
        else:
            kernel, last = self._set_apart(self._given[used]), len(used)
        twice, by_fold = (kernel.paired_counts(weights, own)[0] for own in (at, np.full(len(at), last)))
        pairs = self.pairs(weights)
        return twice - (by_fold - pairs / 2), pairs

    def pairs(self, weights: Array) -> Floats:
        """(b,) twice the pairs of the same fold."""
        return np.asarray(np.sum([kernel.pairs(weights[:, rows]) for kernel, rows in self._folds], axis=0))
