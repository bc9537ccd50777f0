"""Rank statistics of many weightings at once by whole-array operations: `lanes` without numba.

They serve where numba is missing, and where there is less to do than loading numba takes.

Counts come transposed, (rows, b), and each operation takes the b draws of several configurations. NumPy's own cumulative sum is
slow along that axis. So rows are cut into blocks: each step adds one row of every block, and then each block gets the sum of
the blocks before it. Sums are whole numbers in the narrowest type that holds them, so they are those of the compiled loops.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import Array, Floats

# Running sums that are held at once, so that they stay in the processor's cache.
_CELLS = 2**20
# Scores that are sorted at once, so that the memory it takes does not grow with the number of configurations.
_SORTED = 2**21
# Where the samples are many, at least so many draws are taken at once.
_LEAST_DRAWS = 128
# Positive rows that are summed in the type of the counts, before the sum goes on in a wider one.
_ROWS = (64, 32, 16)


class Blocks(NamedTuple):
    """A sequence cut into blocks, and stored so that the j-th members of all blocks are neighbours."""

    width: int  # of a block
    height: int  # how many blocks

    @classmethod
    def of(cls, n: int) -> Blocks:
        """As many blocks as they have members, about."""
        width = max(math.isqrt(n), 1)
        return cls(width, -(-n // width))

    @property
    def place(self) -> NDArray[np.int32]:
        """(width * height,) where each member of the sequence is stored."""
        at = np.arange(self.width * self.height, dtype=np.int32)
        return at % self.width * self.height + at // self.width


class PairOrder(NamedTuple):
    """For each configuration, its negative rows in rising score order, and where its positive rows stand among them.

    A level is a number of negatives, from none to all. Levels are stored as `Blocks`; places say where.
    """

    blocks: Blocks
    negatives: NDArray[np.int32]  # (places, C) the negative that ends a level; the row N, an empty one, where none does
    lower: NDArray[np.int32]  # (P, C) the place of the level of the negatives that score lower than the positive
    upper: NDArray[np.int32]  # (P, C) the same for the negatives that do not score higher
    tied: NDArray[np.bool_]  # (C,) whether a positive and a negative have equal scores

    def of(self, configs: slice) -> PairOrder:
        """The order of some configurations."""
        sides = self.lower[:, configs], self.upper[:, configs]
        return PairOrder(self.blocks, self.negatives[:, configs], *sides, self.tied[configs])


def pair_order(scores: Floats, positive: NDArray[np.bool_]) -> PairOrder:
    """Sort every configuration once; positive rows stay in the order of the samples."""
    c, n = scores.shape
    p = int(positive.sum())
    blocks = Blocks.of(n - p + 1)
    negatives = np.full((blocks.width * blocks.height, c), n, dtype=np.int32)
    lower, upper = np.empty((2, p, c), dtype=np.int32)
    out = PairOrder(blocks, negatives, lower, upper, np.empty(c, dtype=bool))
    size = max(_SORTED // max(n, 1), 1)
    for start in range(0, c, size):
        _sort(scores[start : start + size], positive, out.of(slice(start, start + size)))
    return out


def _sort(scores: Floats, positive: NDArray[np.bool_], out: PairOrder) -> None:
    order = np.argsort(scores, axis=1)
    hits = positive[order]
    place, (p, c) = out.blocks.place, out.lower.shape
    out.negatives[place[1 : len(positive) - p + 1]] = order[~hits].reshape(c, -1).T
    seen = np.cumsum(~hits, axis=1, dtype=np.int32)
    ranked = np.take_along_axis(scores, order, axis=1)
    equal = ranked[:, 1:] == ranked[:, :-1]
    column = (np.cumsum(positive) - 1)[order[hits].reshape(c, p)]  # of a positive row among the positives

    def places(levels: NDArray[np.int32], some: NDArray[np.intp] | slice) -> NDArray[np.int32]:
        found = np.empty((len(levels), p), dtype=np.int32)
        np.put_along_axis(found, column[some], place[levels[hits[some]]].reshape(found.shape), axis=1)
        return found.T

    out.lower[:] = out.upper[:] = places(seen, slice(None))
    some = np.flatnonzero(equal.any(axis=1))
    if len(some):
        out.lower[:, some] = places(_before_ties(seen[some], equal[some]), some)
        out.upper[:, some] = places(_after_ties(seen[some], equal[some]), some)
    out.tied[:] = (out.lower != out.upper).any(axis=0)


def _before_ties(seen: NDArray[np.int32], equal: NDArray[np.bool_]) -> NDArray[np.int32]:
    """(c, N) negatives before the first row of the same score, from those up to each row and who equals the row before."""
    before = np.zeros_like(seen)
    np.copyto(before[:, 1:], seen[:, :-1], where=~equal)
    return np.maximum.accumulate(before, axis=1)


def _after_ties(seen: NDArray[np.int32], equal: NDArray[np.bool_]) -> NDArray[np.int32]:
    """(c, N) negatives up to the last row of the same score."""
    after = seen.copy()
    after[:, :-1][equal] = seen.shape[1]
    return np.minimum.accumulate(after[:, ::-1], axis=1)[:, ::-1]


def auc_lanes(order: PairOrder, positive: NDArray[np.bool_], weights: Array, out: Array) -> None:
    """Twice the Mann-Whitney statistic of every configuration under the (b, N) weights, into ``out`` (C, b)."""
    n_parts = -(-len(weights) // max(_CELLS // len(order.negatives), _LEAST_DRAWS))
    for i in range(n_parts):
        draws = slice(len(weights) * i // n_parts, len(weights) * (i + 1) // n_parts)
        lanes = _Lanes(order, positive, weights[draws])
        for first in range(0, len(out), lanes.k):
            configs = slice(first, first + lanes.k)
            out[configs, draws] = lanes.twice(order.of(configs))


def auc_paired(order: PairOrder, positive: NDArray[np.bool_], weights: Array, chosen: Array, out: Array) -> None:
    """Twice the Mann-Whitney statistic of configuration ``chosen[i]`` under ``weights[i]`` (b, N)."""
    place = order.blocks.place
    level, ends = np.argsort(place).astype(np.int32), place[1 : np.sum(~positive) + 1]
    size = max(_CELLS // max(len(positive), 1), 1)
    for start in range(0, len(weights), size):
        draws = slice(start, start + size)
        counts, configs = weights[draws], chosen[draws]
        running = np.zeros((len(counts), len(ends) + 1), dtype=np.int64)
        rows = order.negatives[ends[:, None], configs].T
        np.cumsum(np.take_along_axis(counts, rows, axis=1), axis=1, dtype=np.int64, out=running[:, 1:])
        sides = (level[side[:, configs].T] for side in (order.lower, order.upper))
        below = sum(np.take_along_axis(running, side, axis=1) for side in sides)
        out[draws] = np.einsum("bp,bp->b", counts[:, positive], below, dtype=np.int64)


class _Lanes:
    """Draws whose statistics are computed together, with work space for `k` configurations."""

    def __init__(self, order: PairOrder, positive: NDArray[np.bool_], weights: Array) -> None:
        self._b, n = weights.shape
        counts = np.ascontiguousarray(weights.T)
        dtype, self._rows = _narrowest(counts[positive], counts[~positive], bool(order.tied.any()))
        self._counts = np.zeros((n + 1, self._b), dtype=dtype)  # the last row is an empty one
        self._counts[:n] = counts
        self._positives = self._counts[:n][positive]
        places, c = order.negatives.shape
        self.k = min(max(_CELLS // (max(places, self._rows) * self._b), 1), c)
        self._running = np.empty(places * self.k * self._b, dtype=dtype)
        self._taken = np.empty((2, min(self._rows, len(self._positives)) * self.k * self._b), dtype=dtype)

    def twice(self, order: PairOrder) -> NDArray[np.int64]:
        """(k, b) twice the sum over positive rows of count times the negatives that score lower, ties one half."""
        k, p = len(order.tied), len(self._positives)
        running = self._up_to_levels(order).reshape(-1, self._b)
        sides = (order.lower, order.upper) if order.tied.any() else (order.lower,)
        places = [side * np.intp(k) + np.arange(k) for side in sides]
        parts = np.empty((-(-p // self._rows), k, self._b), dtype=running.dtype)
        for i, part in enumerate(parts):
            own = slice(i * self._rows, (i + 1) * self._rows)
            below, *more = (self._take(running, at[own], space) for at, space in zip(places, self._taken, strict=False))
            for other in more:
                np.add(below, other, out=below)
            np.einsum("pb,pkb->kb", self._positives[own], below, out=part)
        return np.asarray(parts.sum(axis=0, dtype=np.int64) * (3 - len(sides)))

    def _up_to_levels(self, order: PairOrder) -> Array:
        """(width, height, k, b) negatives drawn up to each level."""
        sums = self._take(self._counts, order.negatives, self._running)
        sums = sums.reshape(*order.blocks, -1, self._b)
        for j in range(1, order.blocks.width):
            np.add(sums[j], sums[j - 1], out=sums[j])
        before = np.zeros_like(sums[0])
        for i in range(1, order.blocks.height):
            np.add(before[i - 1], sums[-1, i - 1], out=before[i])
        sums += before
        return sums

    def _take(self, table: Array, rows: Array, space: Array) -> Array:
        """The rows of the table, in some of the space; `clip` spares NumPy a copy, and no row is out of bounds."""
        return table.take(rows, axis=0, out=space[: rows.size * self._b].reshape(*rows.shape, self._b), mode="clip")


def _narrowest(positives: Array, negatives: Array, tied: bool) -> tuple[Any, int]:
    """The narrowest type for sums over so many positive rows of a count times a level, twice a level for ties."""
    top = (1 + tied) * max(int(negatives.sum(axis=0, dtype=np.int64).max(initial=0)), 1)
    whole = int(positives.sum(axis=0, dtype=np.int64).max(initial=0))
    for dtype in (np.uint16, np.uint32):
        for rows in _ROWS:
            starts, most = np.arange(0, len(positives), rows), np.iinfo(dtype).max // top
            if whole > most * len(starts):  # no need to add up the parts: one of them is too heavy
                continue
            if not whole or np.add.reduceat(positives, starts, axis=0, dtype=np.int64).max() <= most:
                return dtype, rows
    return np.int64, _ROWS[0]
