"""Rank statistics of many weightings at once by whole-array operations, for where numba is missing; `lanes` is compiled.

Counts come transposed, (rows, b), and every operation runs over the b draws of several configurations. NumPy's own cumulative
sum is slow along that axis; sums of blocks, one row of each block at a time, take its place. Whole numbers throughout, in the
narrowest type that holds them: results are those of the compiled loops.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import Array, Floats, total

# Running sums that are held at once, so that they stay in the processor's cache.
_CELLS = 2**20
# Scores that are sorted at once, so that what it takes does not grow with the number of configurations.
_SORTED = 2**21
# Draws that are taken at once where the samples are many.
_LEAST_DRAWS = 64
# Positive rows that are summed in the type of the counts, before the sum goes on in a wider one.
_ROWS = (128, 64, 32, 16, 8)


class PairOrder(NamedTuple):
    """For each configuration, its negative rows in rising score order, and where its positive rows stand among them."""

    negatives: NDArray[np.int32]  # (C, Q)
    lower: NDArray[np.int32]  # (C, P) how many negatives score lower than the positive
    upper: NDArray[np.int32]  # (C, P) how many do not score higher
    tied: NDArray[np.bool_]  # (C,) whether a positive and a negative have equal scores

    def of(self, configs: NDArray[np.intp] | slice) -> PairOrder:
        """The order of some configurations."""
        return PairOrder(*(part[configs] for part in self))


def pair_order(scores: Floats, positive: NDArray[np.bool_]) -> PairOrder:
    """Sort every configuration once; positive rows stay in the order of the samples."""
    c, n = scores.shape
    p = int(positive.sum())
    out = PairOrder(*(np.empty((c, size), dtype=np.int32) for size in (n - p, p, p)), np.empty(c, dtype=bool))
    size = max(_SORTED // max(n, 1), 1)
    for start in range(0, c, size):
        _sort(scores[start : start + size], positive, out.of(slice(start, start + size)))
    return out


def _sort(scores: Floats, positive: NDArray[np.bool_], out: PairOrder) -> None:
    order = np.argsort(scores, axis=1)
    hits = positive[order]
    out.negatives[:] = order[~hits].reshape(out.negatives.shape)
    # The place of a positive row among the positives.
    place = (np.cumsum(positive) - 1)[order[hits].reshape(out.lower.shape)]
    seen = np.cumsum(~hits, axis=1, dtype=np.int32)
    np.put_along_axis(out.lower, place, seen[hits].reshape(place.shape), axis=1)
    out.upper[:] = out.lower
    ranked = np.take_along_axis(scores, order, axis=1)
    equal = ranked[:, 1:] == ranked[:, :-1]
    some = np.flatnonzero(equal.any(axis=1))
    for found, ends in ((out.lower, _before_ties), (out.upper, _after_ties)):
        sides = ends(seen[some], equal[some])[hits[some]].reshape(len(some), place.shape[1])
        own = np.empty_like(sides)
        np.put_along_axis(own, place[some], sides, axis=1)
        found[some] = own
    out.tied[:] = (out.lower != out.upper).any(axis=1)


def _before_ties(seen: NDArray[np.int32], equal: NDArray[np.bool_]) -> NDArray[np.int32]:
    """(c, N) negatives seen before the first of the rows with the same score, from those seen up to each row."""
    before = np.zeros_like(seen)
    np.copyto(before[:, 1:], seen[:, :-1], where=~equal)
    return np.maximum.accumulate(before, axis=1)


def _after_ties(seen: NDArray[np.int32], equal: NDArray[np.bool_]) -> NDArray[np.int32]:
    """(c, N) negatives seen up to the last of the rows with the same score."""
    after = seen.copy()
    after[:, :-1][equal] = seen.shape[1]
    return np.minimum.accumulate(after[:, ::-1], axis=1)[:, ::-1]


def auc_lanes(order: PairOrder, positive: NDArray[np.bool_], weights: Array, out: Array) -> None:
    """Twice the Mann-Whitney statistic of every configuration under the (b, N) weights, into ``out`` (C, b)."""
    n_levels = order.negatives.shape[1] + 1
    size = max(_CELLS // n_levels, _LEAST_DRAWS)
    for start in range(0, len(weights), size):
        draws = slice(start, start + size)
        block = _Block(positive, weights[draws], n_levels, len(out))
        # Apart, because ties cost more.
        for kind in (~order.tied, order.tied):
            for configs in block.parts(np.flatnonzero(kind)):
                out[configs, draws] = block.twice(order.of(configs))


def auc_paired(order: PairOrder, positive: NDArray[np.bool_], weights: Array, chosen: Array, out: Array) -> None:
    """Twice the Mann-Whitney statistic of configuration ``chosen[i]`` under ``weights[i]`` (b, N)."""
    size = max(_CELLS // max(len(positive), 1), 1)
    for start in range(0, len(weights), size):
        draws = slice(start, start + size)
        counts, own = weights[draws], order.of(chosen[draws])
        running = np.zeros((len(counts), own.negatives.shape[1] + 1), dtype=np.int64)
        np.cumsum(np.take_along_axis(counts, own.negatives, axis=1), axis=1, out=running[:, 1:])
        below = sum(np.take_along_axis(running, side, axis=1) for side in (own.lower, own.upper))
        out[draws] = np.einsum("bp,bp->b", counts[:, positive], below, dtype=np.int64)


class _Block:
    """Draws whose statistics are computed together, with work space for some configurations."""

    def __init__(self, positive: NDArray[np.bool_], weights: Array, n_levels: int, n_configs: int) -> None:
        self._b, n = weights.shape
        dtype, self._rows = _narrowest(weights[:, positive], weights[:, ~positive])
        self._counts = np.zeros((n + 1, self._b), dtype=dtype)  # the last row is an empty one
        self._counts[:n] = weights.T
        self._positives = self._counts[:n][positive]
        self._width = math.isqrt(n_levels - 1) + 1
        self._height = -(-n_levels // self._width)
        levels = np.arange(self._width * self._height)
        self._place = levels % self._width * self._height + levels // self._width
        self._k = min(max(_CELLS // (len(levels) * self._b), 1), n_configs)
        self._running = np.empty(len(levels) * self._k * self._b, dtype=dtype)
        self._taken = np.empty((2, min(self._rows, len(self._positives)) * self._k * self._b), dtype=dtype)

    def parts(self, configs: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
        """As many of the configurations at a time as fit into the work space."""
        return (configs[start : start + self._k] for start in range(0, len(configs), self._k))

    def twice(self, order: PairOrder) -> NDArray[np.int64]:
        """(k, b) twice the sum over positive rows of count times the negatives that score lower, ties one half."""
        k, tied = len(order.negatives), bool(order.tied.any())
        running = self._negatives_up_to(order.negatives).reshape(-1, self._b)
        sides = [self._place[side] * k + np.arange(k)[:, None] for side in (order.lower, order.upper)[: 1 + tied]]
        out = np.zeros((k, self._b), dtype=np.int64)
        for start in range(0, len(self._positives), self._rows):
            own = slice(start, start + self._rows)
            first, *second = (
                running.take(at[:, own].T, axis=0, out=self._space(space, at[:, own].T), mode="clip")
                for at, space in zip(sides, self._taken, strict=False)
            )
            if second:
                np.add(first, second[0], out=first)
            out += np.einsum("rb,rkb->kb", self._positives[own], first)
        return out if tied else 2 * out

    def _space(self, space: Array, rows: Array) -> Array:
        return space[: rows.size * self._b].reshape(*rows.shape, self._b)

    def _negatives_up_to(self, negatives: NDArray[np.int32]) -> Array:
        """(width, height, k, b) negatives drawn among the first l, for each level l = i * width + j at (j, i)."""
        k, q = negatives.shape
        rows = np.full((k, self._height * self._width), len(self._counts) - 1, dtype=np.intp)
        rows[:, 1 : q + 1] = negatives
        rows = rows.reshape(k, self._height, self._width).T
        sums = self._counts.take(rows, axis=0, out=self._space(self._running, rows), mode="clip")
        for before, after in pairwise(sums):
            np.add(after, before, out=after)
        before_block = np.zeros_like(sums[0])
        for i in range(1, self._height):
            np.add(before_block[i - 1], sums[-1, i - 1], out=before_block[i])
        return np.add(sums, before_block, out=sums)


def _narrowest(positives: Array, negatives: Array) -> tuple[Any, int]:
    """The narrowest type for sums over so many positive rows of a count times twice the negatives, and how many."""
    top = 2 * max(int(total(negatives).max(initial=0)), 1)
    for dtype in (np.uint16, np.uint32):
        for rows in _ROWS:
            starts = np.arange(0, positives.shape[1], rows)
            heaviest = int(np.add.reduceat(positives, starts, axis=1, dtype=np.int64).max(initial=0))
            if heaviest * top <= np.iinfo(dtype).max:
                return dtype, rows
    return np.int64, _ROWS[0]
