"""Whether two samples come from one distribution, and whether two estimates are of one number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .intervals import Ends
from .kernels import Floats

# Below this many expected counts in a cell, tables are drawn instead of using the chi-square distribution (Cochran 1954).
_LEAST_EXPECTED = 5
_TABLES = 9999
# P values are searched between these.
_SMALLEST, _LARGEST = 1e-6, 0.999
_STEPS = 30


class Gap(NamedTuple):
    """The largest gap between two distribution functions: where it is, the two shares there, and the p value."""

    at: float
    then: float
    now: float
    pvalue: float


def steps_gap(knots: Floats, counts: NDArray[np.intp], n: int, values: Floats) -> Gap:
    """Kolmogorov-Smirnov test of `values` against a sample of n, of which `counts` say how many are at most each knot.

    The first distribution function is exact at the knots, and only these are looked at. So the statistic is at most that of all
    values, and the test rejects no more often than it should. The p value is that of large samples, which is too large for few.
    """
    from scipy.special import kolmogorov

    ordered, m = np.sort(values), len(values)
    then, now = counts / n, np.searchsorted(ordered, knots, side="right") / m
    worst = int(np.argmax(np.abs(then - now)))
    pvalue = float(kolmogorov(np.sqrt(n * m / (n + m)) * abs(then[worst] - now[worst])))
    return Gap(float(knots[worst]), float(then[worst]), float(now[worst]), pvalue)


def same_shares(table: NDArray[np.intp]) -> float:
    """P value of the chi-square test that both rows of (2, L) counts come from one distribution.

    If some expected counts are small, the statistic is compared with those of random tables with the same margins.
    """
    from scipy.stats import chi2, random_table

    table = table[:, table.sum(axis=0) > 0]
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if table.shape[1] < 2 or not rows.all():
        return 1.0
    expected = np.outer(rows, columns) / rows.sum()

    def statistic(counts: NDArray[Any]) -> Floats:
        return np.asarray(((counts - expected) ** 2 / expected).sum(axis=(-2, -1)))

    observed = float(statistic(table))
    if expected.min() >= _LEAST_EXPECTED:
        return float(chi2.sf(observed, table.shape[1] - 1))
    drawn = statistic(random_table(rows, columns).rvs(_TABLES, random_state=np.random.default_rng(0)))
    return float((1 + np.sum(drawn >= observed * (1 - 1e-12))) / (_TABLES + 1))


# -- two estimates ------------------------------------------------------------------------------------------

IntervalAt = Callable[[float], Ends]


class Independent(NamedTuple):
    """A number that was estimated, and its interval at any level."""

    value: float
    interval: IntervalAt


def widened(one: Independent, factor: float) -> Independent:
    """The same number with `factor` times its variance on either side."""

    def interval(level: float) -> Ends:
        low, high = one.interval(level)
        return one.value - np.sqrt(factor) * (one.value - low), one.value + np.sqrt(factor) * (high - one.value)

    return Independent(one.value, interval)


def difference_interval(first: Independent, second: Independent, level: float) -> Ends:
    """Interval of first minus second, from their own intervals by square-and-add (MOVER; Zou and Donner 2008)."""
    (l1, u1), (l2, u2) = first.interval(level), second.interval(level)
    difference = first.value - second.value
    # An interval that is corrected for bias may leave its own estimate out at low levels.
    below = np.hypot(max(first.value - l1, 0.0), max(u2 - second.value, 0.0))
    above = np.hypot(max(u1 - first.value, 0.0), max(second.value - l2, 0.0))
    return float(difference - below), float(difference + above)


def difference_pvalue(first: Independent, second: Independent) -> float:
    """The p value that belongs to `difference_interval`: at the level 1 - p the interval just reaches 0."""
    low, high = 1 - _LARGEST, 1 - _SMALLEST  # levels: the interval leaves 0 out, and holds it
    if not _holds_zero(first, second, high):
        return _SMALLEST
    if _holds_zero(first, second, low):
        return 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _holds_zero(first, second, middle):
            high = middle
        else:
            low = middle
    return float(1 - high)


def _holds_zero(first: Independent, second: Independent, level: float) -> bool:
    low, high = difference_interval(first, second, level)
    return low <= 0 <= high
