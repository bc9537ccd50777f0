"""Tests that are repeated while predictions come in: which configurations are clearly worse than the best?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import RELATIVE_TIE, Floats


def share_worse(scores: Iterable[Floats], best: int, greater_is_better: bool) -> Floats:
    """(C,) share of the draws in which a configuration is strictly worse than `best` (Tsamardinos 2018, sect. 4).

    `scores` comes as blocks (b, C). A draw in which either side is undefined does not count; NaN without any draw.
    """
    worse: Floats | float = 0.0
    defined: Floats | float = 0.0
    for block in scores:
        mine = block if greater_is_better else -block
        bar = mine[:, best]
        usable = ~np.isnan(mine) & ~np.isnan(bar)[:, None]
        slack = RELATIVE_TIE * np.abs(bar)
        with np.errstate(invalid="ignore"):
            worse = worse + np.sum(usable & (mine < (bar - slack)[:, None]), axis=0)
        defined = defined + usable.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.divide(worse, defined), dtype=np.float64)


def hoeffding_radius(n: int, spread: float, delta: float) -> float:
    """Half width of the interval around a mean of n values within `spread` (Maron and Moore 1994, eq. 1)."""
    return float(spread * np.sqrt(np.log(2 / delta) / (2 * n)))


class Ranks(NamedTuple):
    """Rank sums over blocks and what the tests on them need."""

    sums: Floats
    n_blocks: int
    squares: float

    @property
    def spread(self) -> float:
        """Sum of squared ranks about their mean; 0 where all are tied in every block."""
        m = len(self.sums)
        return self.squares - self.n_blocks * m * (m + 1) ** 2 / 4

    @property
    def statistic(self) -> float:
        """Friedman's statistic with the correction for ties; 0 where all are tied in every block."""
        m = len(self.sums)
        if self.spread <= 0:
            return 0.0
        return float((m - 1) * np.sum((self.sums - self.n_blocks * (m + 1) / 2) ** 2) / self.spread)


def ranks(losses: Floats) -> Ranks:
    """Ranks within every row of (blocks, m), the smallest loss first, ties shared."""
    from scipy.stats import rankdata

    r = rankdata(losses, axis=1)
    return Ranks(r.sum(axis=0), len(losses), float(np.sum(r**2)))


def conover_statistics(found: Ranks, best: int) -> Floats:
    """(m,) t statistics of every rank sum against that of `best` (Conover 1999; Birattari et al. 2002, sect. 3).

    Infinite where all blocks agree on the order, so that nothing is left to chance.
    """
    k, m = found.n_blocks, len(found.sums)
    left = max(1 - found.statistic / (k * (m - 1)), 0.0)
    # Rounding leaves about 1e-16 where the blocks agree exactly.
    left = 0.0 if left < 1e-12 else left
    scale = np.sqrt(2 * k * left * found.spread / ((k - 1) * (m - 1)))
    gap = np.abs(found.sums - found.sums[best])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(gap > 0, gap / scale, 0.0)


def cochran_q(hits: NDArray[np.bool_]) -> Floats:
    """(m - 1,) Cochran's Q of the first 2, 3, ..., m columns of (n, m) 0-1 values; 0 where no row tells them apart."""
    values = hits.astype(np.float64)
    k = np.arange(1, values.shape[1] + 1)
    columns, rows = values.sum(axis=0), np.cumsum(values, axis=1)
    total, squares = np.cumsum(columns), np.cumsum(columns**2)
    top = (k - 1) * (k * squares - total**2)
    bottom = k * total - np.sum(rows**2, axis=0)
    out: Floats = np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)
    return out[1:]


def friedman_chain(losses: Floats) -> Iterable[float]:
    """Friedman's statistic of the first 2, 3, ..., m columns of (n, m), one after the other.

    A further column moves the ranks of those before it by one where it is smaller and by a half where it is equal.
    """
    n, m = losses.shape
    held = np.ones((n, m))
    for k in range(1, m):
        column, before = losses[:, k : k + 1], losses[:, :k]
        below = (column < before) + 0.5 * (column == before)
        held[:, :k] += below
        held[:, k] = 1 + np.sum(1 - below, axis=1)
        mine = held[:, : k + 1]
        yield Ranks(mine.sum(axis=0), n, float(np.sum(mine**2))).statistic


def top_group(losses: Floats, level: float) -> NDArray[np.bool_]:
    """(m,) the configurations of (n, m) losses that cannot be told from the best one (Krueger et al. 2015, Alg. 2).

    Taken in the order of their mean losses for as long as the test over all taken so far does not reject, at
    `level` / (m - 1): Cochran's Q for 0-1 losses, Friedman's test otherwise.
    """
    from scipy.stats import chi2

    m = losses.shape[1]
    order = np.argsort(losses.mean(axis=0), kind="stable")
    ordered = losses[:, order]
    critical = np.atleast_1d(chi2.isf(level / max(m - 1, 1), np.arange(1, m)))
    zero_one = bool(np.all((losses == 0) | (losses == 1)))
    statistics = cochran_q(ordered == 1) if zero_one else friedman_chain(ordered)
    top = np.zeros(m, dtype=bool)
    top[order[0]] = True
    for j, statistic, bar in zip(order[1:], statistics, critical, strict=True):
        if statistic >= bar:
            break
        top[j] = True
    return top


def wald_line(steps: int, alpha: float, beta: float) -> tuple[float, float]:
    """Intercept and slope of the lower line of Wald's open sequential test: whoever is not above it after s steps has lost.

    The test is of pi0 = 1/2 against pi1 = ((1 - beta) / alpha)^(1/S) / 2 (Krueger et al. 2015, sect. 3.3).
    """
    pi0, pi1 = 0.5, 0.5 * ((1 - beta) / alpha) ** (1 / steps)
    scale = np.log(pi1 / pi0) - np.log((1 - pi1) / (1 - pi0))
    return float(np.log(beta / (1 - alpha)) / scale), float(np.log((1 - pi0) / (1 - pi1)) / scale)


def least_steps(alpha: float, beta: float) -> int:
    """The fewest steps for which that pi1 is a probability below 1."""
    return int(np.floor(np.log2((1 - beta) / alpha))) + 1


# -- betting --------------------------------------------------------------------------------------------

# Hedged capital of Waudby-Smith and Ramdas (2024, JRSS B 86:1-27, sect. 4.4). Values x lie in [0, 1]. Half of a stake is
# bet on "the mean is above m", half on "below m":
#
#     K+_t(m) = prod_i (1 + min(b_i, c/m) (x_i - m)),    K-_t(m) = prod_i (1 - min(b_i, c/(1-m)) (x_i - m)),
#
# with bets b_i that know x_1 .. x_(i-1) only. If m is the mean, both are nonnegative martingales that start at 1, and
# max(K+, K-) / 2 ever exceeds 1/alpha with probability alpha at most (Ville). K+ falls in m and K- rises, since the bets do
# not depend on m, so that the values of m not rejected so far are an interval.

# Largest share of the stake that a single value can cost: never all of it, since nothing could be won back then.
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


def limits(x: Floats, bets: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Ends of the means not rejected at any time so far, for sequences x (..., n)."""
    bar = np.log(2 / alpha)

    def rejected(m: Floats, side: int) -> NDArray[np.bool_]:
        return np.asarray(np.max(log_wealth(x, bets, m)[side], axis=-1, initial=0.0) >= bar)

    shape = x.shape[:-1]
    low = _edge(lambda m: rejected(m, 0), np.zeros(shape), np.ones(shape))
    high = _edge(lambda m: rejected(m, 1), np.ones(shape), np.zeros(shape))
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
