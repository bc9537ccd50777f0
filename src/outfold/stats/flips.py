"""Sign flips: what a difference would be if, unit by unit, the two models were swapped by chance."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .base import Floats
from .resample import block_size, blocks
from .tails import Tails

_FLIP_STREAM = 0xF11B
# Sums of floats that should cancel leave about this share of their terms.
_ROUNDING = 1e-12


def swaps(n_units: int, n_resamples: int, seed: int) -> Iterator[NDArray[np.uint8]]:
    """(b, U) blocks of 0-1 masks, 1 where the two models of a unit are swapped, each block with its own stream."""
    for i, part in enumerate(blocks(n_resamples, block_size(n_units))):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_FLIP_STREAM, i)))
        b = part.stop - part.start
        bits = np.frombuffer(rng.bytes(b * -(-n_units // 8)), dtype=np.uint8).reshape(b, -1)
        yield np.unpackbits(bits, axis=1, count=n_units)


def all_swaps(n_units: int) -> NDArray[np.uint8]:
    """(2^U, U) every mask once, the one that swaps nothing first."""
    codes = np.arange(2**n_units)
    return ((codes[:, None] >> np.arange(n_units)) & 1).astype(np.uint8)


def enumerable(n_units: int, n_resamples: int) -> bool:
    """Whether there are no more masks than draws."""
    return n_units < 63 and 2**n_units <= n_resamples


class SwappedMeans:
    """Mean difference over the swapped units, draw by draw: all that a test by sign flips and its interval need.

    Flipping the signs of the units in a set S leaves a sum of differences at least as large as the observed one exactly if the
    mean over S is not positive; and, for differences less d, exactly if that mean is at most d. So the ordered means over random
    sets hold the p value of every shift (Hartigan 1969), and the interval is the set of shifts that are not rejected.

    Parameters
    ----------
    parts
        (P, U) what every unit adds to the difference of a pair.
    shares
        (U,) the share of the samples a unit has.
    """

    def __init__(self, parts: Floats, shares: Floats, n_resamples: int, seed: int) -> None:
        self._parts, self._shares = parts, shares
        told = parts != 0
        self.exact = np.array([enumerable(int(k), n_resamples) for k in told.sum(axis=1)], dtype=bool)
        silent = np.where(told[self.exact], 0.0, shares)
        sums, sizes, rest = [], [], []
        for masks in swaps(parts.shape[1], n_resamples, seed):
            drawn = masks.astype(np.float64)
            sums.append(drawn @ parts.T)
            sizes.append(drawn @ shares)
            rest.append(drawn @ silent.T)
        self._sums, self._sizes, self._rest = np.concatenate(sums), np.concatenate(sizes), np.concatenate(rest)

    def test(self, level: float) -> tuple[Tails, Floats]:
        """Tails and (P, 2) interval of every pair."""
        n = len(self._parts)
        greater, less, interval = np.empty(n), np.empty(n), np.empty((n, 2))
        order = np.cumsum(self.exact) - 1
        for p in range(n):
            low, high = self._means(p, int(order[p]))
            greater[p], less[p] = np.mean(low <= 0), np.mean(high >= 0)
            # The k smallest of M are those of p values k / M at most (1 - level) / 2; the next one is not rejected.
            k = int(round(1 - level, 12) / 2 * len(low) + 1e-9)
            interval[p] = np.partition(low, k)[k], -np.partition(-high, k)[k]
        return Tails(greater, less), interval

    def _means(self, p: int, position: int) -> tuple[Floats, Floats]:
        """Means over swapped sets, as the lower and as the upper tail count them: an empty set counts in both."""
        if self.exact[p]:
            sums, sizes = self._enumerated(p, self._rest[:, position])
        else:
            # What was observed is one more of the possible flips, the one of the empty set.
            sums, sizes = np.append(self._sums[:, p], 0.0), np.append(self._sizes, 0.0)
        sums = np.where(np.abs(sums) <= _ROUNDING * np.abs(self._parts[p]).sum(), 0.0, sums)
        empty = sizes <= 0
        means = sums / np.where(empty, 1.0, sizes)
        return np.where(empty, -np.inf, means), np.where(empty, np.inf, means)

    def _enumerated(self, p: int, rest: Floats) -> tuple[Floats, Floats]:
        """Every set of the units that differ, as often each; those that do not differ are in it by chance."""
        told = np.flatnonzero(self._parts[p])
        masks = all_swaps(len(told)).astype(np.float64)
        times = len(rest) // len(masks)
        sums, sizes = masks @ self._parts[p, told], masks @ self._shares[told]
        return np.tile(sums, times), np.tile(sizes, times) + rest[: times * len(masks)]


def swapped_tails(observed: float, draws: Floats, scale: float, exact: bool) -> Tails:
    """Tails of an observed difference among the (B,) differences under swaps; `exact` if these are all there are."""
    slack = _ROUNDING * scale
    extra = 0 if exact else 1
    n = len(draws) + extra
    greater = (np.sum(draws >= observed - slack) + extra) / n
    less = (np.sum(draws <= observed + slack) + extra) / n
    return Tails(np.array([greater]), np.array([less]))
