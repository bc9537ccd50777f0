"""Wealth of bets against a mean of bounded values: tests and intervals that hold at every time at once.

Hedged capital of Waudby-Smith and Ramdas (2024, JRSS B 86:1-27, sect. 4.4). Values x lie in [0, 1]. Half of a stake is
bet on "the mean is above m", half on "below m":

    K+_t(m) = prod_i (1 + min(b_i, c/m) (x_i - m)),    K-_t(m) = prod_i (1 - min(b_i, c/(1-m)) (x_i - m)),

with bets b_i that know x_1 .. x_(i-1) only. If m is the mean, both are nonnegative martingales that start at 1, and
max(K+, K-) / 2 ever exceeds 1/alpha with probability alpha at most (Ville). K+ falls in m and K- rises, since the bets do
not hang on m, so that the values of m not rejected so far are an interval.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .base import Floats

# Share of the stake that a single value can cost at most: never all of it, or there were no way back.
CAUTION = 0.75
_STEPS = 50


class Past(NamedTuple):
    """What the bets know of the values so far: their number, sum, and sum of squares about the running mean."""

    n: int = 0
    total: Floats | float = 0.0
    squares: Floats | float = 0.0


NOTHING = Past()


def bets(x: Floats, alpha: float, past: Past = NOTHING) -> tuple[Floats, Past]:
    """(..., n) predictable plug-in bets for values x (..., n), and what the next ones may know.

    Only the values before i set the size of bet i (Waudby-Smith and Ramdas 2024, eq. 24-26).
    """
    t = past.n + np.arange(1, x.shape[-1] + 1)
    totals = np.asarray(past.total)[..., None] + np.cumsum(x, axis=-1)
    squares = np.asarray(past.squares)[..., None] + np.cumsum((x - (0.5 + totals) / (t + 1)) ** 2, axis=-1)
    first = np.broadcast_to(np.asarray(past.squares)[..., None], (*x.shape[:-1], 1))
    before = (0.25 + np.concatenate([first, squares[..., :-1]], axis=-1)) / t
    sizes = np.sqrt(2 * np.log(2 / alpha) / (before * t * np.log1p(t)))
    return sizes, Past(past.n + x.shape[-1], totals[..., -1], squares[..., -1]) if x.shape[-1] else past


def log_wealth(x: Floats, bets: Floats, m: Floats | float) -> tuple[Floats, Floats]:
    """(..., n) logs of K+ and K- after every value, against the mean m (broadcast over the sequences)."""
    m = np.asarray(m, dtype=np.float64)[..., None]
    with np.errstate(divide="ignore"):
        up, down = np.minimum(bets, CAUTION / m), np.minimum(bets, CAUTION / (1 - m))
    return np.cumsum(np.log1p(up * (x - m)), axis=-1), np.cumsum(np.log1p(-down * (x - m)), axis=-1)


def log_evalues(x: Floats, bets: Floats, m: float) -> Floats:
    """(..., n) log of max(K+, K-) / 2 after every value."""
    up, down = log_wealth(x, bets, m)
    return np.asarray(np.maximum(up, down) - np.log(2))


def limits(x: Floats, bets: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Ends of the means not rejected at any time so far, for sequences x (..., n)."""
    bar = np.log(2 / alpha)

    def rejected(m: Floats, side: int) -> NDArray[np.bool_]:
        return np.asarray(np.max(log_wealth(x, bets, m)[side], axis=-1, initial=0.0) >= bar)

    shape = x.shape[:-1]
    low = _edge(lambda m: rejected(m, 0), np.zeros(shape), np.ones(shape))
    high = _edge(lambda m: rejected(m, 1), np.ones(shape), np.zeros(shape))
    return low, high


def limits_path(x: Floats, bets: Floats, alpha: float, n_grid: int = 1000) -> tuple[Floats, Floats]:
    """(n,) ends of the means not rejected until every time, for one sequence, to the outer point of a grid."""
    bar, n = np.log(2 / alpha), len(x)
    grid = np.linspace(0, 1, n_grid + 1)
    low, high = np.zeros(n), np.ones(n)
    for m in grid:
        up, down = log_wealth(x, bets, m)
        for path, ends, best in ((up, low, np.maximum), (down, high, np.minimum)):
            crossed = path >= bar
            if crossed.any():
                first = int(np.argmax(crossed))
                ends[first:] = best(ends[first:], m)
    return low, high


def _edge(rejected: Callable[[Floats], NDArray[np.bool_]], out: Floats, inside: Floats) -> Floats:
    """Where `rejected` ends between `out`, where it may hold, and `inside`; the end itself is not rejected."""
    ends = rejected(out)
    outer, inner = out.copy(), inside.copy()
    for _ in range(_STEPS):
        middle = (outer + inner) / 2
        gone = rejected(middle)
        outer, inner = np.where(gone, middle, outer), np.where(gone, inner, middle)
    return np.where(ends, inner, out)
