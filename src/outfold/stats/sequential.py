"""Tests that are asked again and again while predictions come in: who is worse than the best beyond doubt?

Scores and losses are oriented by the caller; all functions take arrays and know no names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .choose import RELATIVE_TIE

Floats = NDArray[np.float64]


# -- bootstrap ------------------------------------------------------------------------------------------


def share_worse(scores: Iterable[Floats], best: int, greater_is_better: bool) -> Floats:
    """(C,) share of the draws in which a configuration is strictly worse than `best` (Tsamardinos 2018, sect. 4).

    `scores` comes as blocks (b, C). A draw in which either side is undefined counts for nobody; NaN without any draw.
    """
    worse: Floats | float = 0.0
    defined: Floats | float = 0.0
    for block in scores:
        mine, bar = (block if greater_is_better else -block), block[:, best]
        bar = bar if greater_is_better else -bar
        usable = ~np.isnan(mine) & ~np.isnan(bar)[:, None]
        slack = RELATIVE_TIE * np.abs(bar)
        with np.errstate(invalid="ignore"):
            worse = worse + np.sum(usable & (mine < (bar - slack)[:, None]), axis=0)
        defined = defined + usable.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.divide(worse, defined), dtype=np.float64)


# -- Hoeffding ------------------------------------------------------------------------------------------


def hoeffding_radius(n: int, spread: float, delta: float) -> float:
    """Half width of the interval around a mean of n values within `spread` (Maron and Moore 1994, eq. 1)."""
    return float(spread * np.sqrt(np.log(2 / delta) / (2 * n)))


# -- Friedman -------------------------------------------------------------------------------------------


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


# -- sequential tests -----------------------------------------------------------------------------------


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


class Line(NamedTuple):
    """The lower line of Wald's open sequential test: whoever is not above it after s steps has lost."""

    intercept: float
    slope: float

    def __call__(self, steps: int) -> float:
        """The largest number of successes with which a configuration has lost after so many steps."""
        return self.intercept + self.slope * steps


def wald_line(steps: int, alpha: float, beta: float) -> Line:
    """Wald's test of pi0 = 1/2 against pi1 = ((1 - beta) / alpha)^(1/S) / 2 (Krueger et al. 2015, sect. 3.3)."""
    pi0, pi1 = 0.5, 0.5 * ((1 - beta) / alpha) ** (1 / steps)
    scale = np.log(pi1 / pi0) - np.log((1 - pi1) / (1 - pi0))
    return Line(float(np.log(beta / (1 - alpha)) / scale), float(np.log((1 - pi0) / (1 - pi1)) / scale))


def least_steps(alpha: float, beta: float) -> int:
    """The fewest steps for which that pi1 is a probability below 1."""
    return int(np.floor(np.log2((1 - beta) / alpha))) + 1
