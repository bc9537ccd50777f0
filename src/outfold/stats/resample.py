"""Bootstrap draws as counts: how often every sample was drawn, a block of draws at a time."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Fixed, because a block is also the unit of the random stream: results may not depend on memory or threads.
BLOCK = 256
_LARGE = 1 << 24
_KEPT = 1 << 21
_DRAW_STREAM = 0xD4A3
# Counts are made a few rows at a time, so that they and the indices stay in the cache.
_CACHED = 1 << 16
_BYTE = 255


def block_size(n: int) -> int:
    """Draws a block: 256, fewer when a block would hold more than 16 million counts."""
    return BLOCK if n * BLOCK <= _LARGE else max(8, _LARGE // n)


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Draws with replacement of N samples, of whole groups, or within strata.

    Attributes
    ----------
    n
        Number of samples.
    seed
        Every block of draws has its own stream under this seed.
    groups
        (N,) codes; a group is drawn or left out whole.
    strata
        (N,) codes; every stratum keeps its size. With groups, the stratum of a group's first sample.
    kept
        Where blocks of draws of single samples are kept, for others that draw as many under the same seed.
    """

    n: int
    seed: int
    groups: NDArray[np.intp] | None = None
    strata: NDArray[np.intp] | None = None
    kept: MutableMapping[tuple[int, ...], NDArray[Any]] | None = None

    def generator(self, block: int) -> np.random.Generator:
        """The random stream of a block."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(_DRAW_STREAM, block)))

    def blocks(self, n_resamples: int) -> Iterator[NDArray[Any]]:
        """The counts of `n_resamples` draws, a block at a time."""
        for i, part in enumerate(blocks(n_resamples, block_size(self.n))):
            yield self.block(i, part.stop - part.start)

    def block(self, i: int, b: int) -> NDArray[Any]:
        """(b, N) the first draws of a block."""
        if self.kept is None or self.groups is not None or self.strata is not None or b * self.n > _KEPT:
            return self.counts(self.generator(i), b)
        key = (self.n, self.seed, i, b)
        if key not in self.kept:
            self.kept[key] = self.counts(self.generator(i), b)
        return self.kept[key]

    def counts(self, rng: np.random.Generator, b: int) -> NDArray[Any]:
        """(b, N) how often every sample was drawn."""
        if self.groups is None:
            return self._draw(rng, b, self.n, self.strata)
        n_groups = int(self.groups.max()) + 1
        strata = None
        if self.strata is not None:
            strata = np.empty(n_groups, dtype=np.intp)
            strata[self.groups] = self.strata
        return self._draw(rng, b, n_groups, strata)[:, self.groups]

    @staticmethod
    def _draw(rng: np.random.Generator, b: int, n: int, strata: NDArray[np.intp] | None) -> NDArray[Any]:
        if strata is None:
            return count_rows(rng.integers(0, n, size=(b, n), dtype=np.int32), n)
        out = np.empty((b, n), dtype=np.int64)
        for stratum in np.unique(strata):
            members = np.flatnonzero(strata == stratum)
            out[:, members] = count_rows(rng.integers(0, len(members), size=(b, len(members))), len(members))
        return compact(out)


def count_rows(indices: NDArray[np.integer], n: int) -> NDArray[Any]:
    """(b, N) counts of every row of drawn indices, as bytes unless a sample was drawn more than 255 times."""
    b, drawn = indices.shape
    counts = np.zeros((b, n), dtype=np.uint8)
    size = max(_CACHED // max(drawn, n, 1), 1)
    offsets = np.arange(0, min(size, b) * n, n or 1, dtype=np.intp)[:, None]
    one = np.uint8(1)
    for part in blocks(b, size):
        rows = indices[part]
        np.add.at(counts[part].reshape(-1), (rows + offsets[: len(rows)]).reshape(-1), one)
    if drawn > _BYTE and counts.sum(dtype=np.int64) < indices.size:  # a byte ran over
        return np.stack([np.bincount(row, minlength=n) for row in indices])
    return counts


def compact(counts: NDArray[np.integer]) -> NDArray[Any]:
    """Counts as bytes, unless one is above 255."""
    return counts.astype(np.uint8 if counts.max(initial=0) <= _BYTE else np.int64)


def blocks(n_rows: int, size: int) -> Iterator[slice]:
    """Slices of at most `size` rows."""
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))
