"""Right and wrong answers of several models on the same samples: McNemar, two proportions, Cochran, Looney."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .base import EXACT32, Array, Floats, ratio
from .tails import Tails, lowest_not_rejected, normal_quantile, normal_tails

McNemar = Literal["plain", "edwards", "exact", "midp"]


def only_one_right(hits: Array, pairs: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(P,) samples only the first of a pair has right, and samples only the second has, of 0-1 hits (C, N)."""
    single: Array = hits.astype(np.float32 if hits.shape[1] < EXACT32 else np.float64)
    both = np.rint(np.dot(single, single.T)).astype(np.int64)
    right = np.diag(both)
    first, second = pairs.T
    return right[first] - both[first, second], right[second] - both[first, second]


def mcnemar_statistic(b: Array, c: Array, method: McNemar) -> Floats:
    """(b-c)^2 / (b+c), with Edwards' correction (max(|b-c|-1, 0))^2 / (b+c); NaN for the tests without a chi2."""
    if method in ("exact", "midp"):
        return np.full(len(b), np.nan)
    apart = np.abs(b - c).astype(np.float64)
    if method == "edwards":
        apart = np.maximum(apart - 1, 0)  # as R has it; without the maximum, b = c would give p < 1
    statistic: Floats = apart**2 / np.maximum(b + c, 1)
    return statistic


def mcnemar_tails(b: Array, c: Array, method: McNemar) -> Tails:
    """Tails of McNemar's test: b samples only the first has right, c only the second; 1 where there is none."""
    if method in ("exact", "midp"):
        tails = Tails(_at_most(c, b + c, method), _at_most(b, b + c, method))
    else:
        root, correction = np.sqrt(np.maximum(b + c, 1)), float(method == "edwards")
        tails = Tails(*(normal_tails((apart - correction) / root).greater for apart in (b - c, c - b)))
    return Tails(*(np.where(b + c > 0, tail, 1.0) for tail in tails))


def _at_most(k: Array, m: Array, method: McNemar) -> Floats:
    """P[X <= k] of X ~ Bin(m, 1/2); with mid-p, half of P[X = k] less."""
    from scipy.special import betainc

    upto = np.where(k < m, betainc(np.maximum(m - k, 1), k + 1.0, 0.5), 1.0)
    if method == "exact":
        return upto
    below = np.where(k > 0, betainc(m - k + 1.0, np.maximum(k, 1), 0.5), 0.0)
    return (upto + below) / 2


def mcnemar_interval(b: Array, c: Array, n: int, tails: Tails, level: float) -> Floats:
    """(P, 2) interval of (b-c)/n by inverting Tango's (1998) score test, with the correction the test at 0 has.

    The score test of "the difference is d" is plain McNemar at d = 0. The other forms of McNemar's test are that one with a
    continuity correction of the count b-c (1 for Edwards, between 0 and 1, mostly, for the exact and the mid-p test); the same
    correction at every d makes an interval that leaves out 0 exactly where the test rejects.
    """
    tail = (1 - level) / 2
    low = _lower_end(b, c, n, tails.greater, tail)
    high = -_lower_end(c, b, n, tails.less, tail)
    return np.stack([low, high], axis=1)


def _lower_end(b: Array, c: Array, n: int, p: Floats, tail: float) -> Floats:
    from scipy.special import ndtri

    bar = -normal_quantile(tail)
    root = np.sqrt(b + c)
    with np.errstate(invalid="ignore"):
        own = (b - c) + ndtri(p) * root
    own = np.where(np.isnan(own), 0.0, own)
    # Far out a binomial tail is lighter than the normal one: a correction below 0 would only shorten the interval, so it
    # is taken only where the decision hangs on it.
    kept = np.maximum(own, 0.0)
    agrees = (b - c - kept >= bar * root) == (p <= tail)
    correction = np.where(agrees, kept, own)

    def statistic(d: Floats) -> Floats:
        spread = np.sqrt(n * np.maximum(_tango_variance(b, c, n, d), 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (b - c - correction - n * d) / spread
        # No spread is left at d = -1 only.
        return np.where(spread > 0, z, np.inf)

    ends = lowest_not_rejected(statistic, (b - c) / n, bar)
    # What bisection leaves on either side of 0 is decided by the test itself.
    return np.where(p <= tail, np.maximum(ends, np.finfo(float).tiny), np.minimum(ends, 0.0))


def _tango_variance(b: Array, c: Array, n: int, d: Floats) -> Floats:
    """n times the variance of (b-c)/n at the likeliest probabilities that differ by d (Tango 1998, eq. 5)."""
    B = -b - c + (2 * n - b + c) * d
    C = -c * d * (1 - d)
    q = (np.sqrt(np.maximum(B**2 - 8 * n * C, 0.0)) - B) / (4 * n)
    return 2 * q + d * (1 - d)


# ---------------------------------------------------------------------------------- two proportions


def proportions_statistic(x1: Array, x2: Array, n1: int, n2: int) -> Floats:
    """z of two independent proportions with the pooled variance; 0 where both are 0 or both are 1."""
    pooled = (x1 + x2) / (n1 + n2)
    spread = np.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    return np.nan_to_num(ratio(x1 / n1 - x2 / n2, spread))


def proportions_interval(x1: Array, x2: Array, n1: int, n2: int, level: float) -> Floats:
    """(P, 2) score interval of the difference of two independent proportions (Mee 1984), the dual of the pooled z."""
    bar = -normal_quantile((1 - level) / 2)
    low = _mee_lower(x1, x2, n1, n2, bar)
    high = -_mee_lower(x2, x1, n2, n1, bar)
    return np.stack([low, high], axis=1)


def _mee_lower(x1: Array, x2: Array, n1: int, n2: int, bar: float) -> Floats:
    observed = x1 / n1 - x2 / n2

    def statistic(d: Floats) -> Floats:
        p2 = _restricted(x1, x2, n1, n2, d)
        p1 = np.clip(p2 + d, 0.0, 1.0)
        spread = np.sqrt(p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2)
        return np.where(spread > 0, (observed - d) / np.where(spread > 0, spread, 1.0), np.inf)

    ends = lowest_not_rejected(statistic, observed, bar)
    rejected = proportions_statistic(x1, x2, n1, n2) >= bar
    return np.where(rejected, np.maximum(ends, np.finfo(float).tiny), np.minimum(ends, 0.0))


def _restricted(x1: Array, x2: Array, n1: int, n2: int, d: Floats) -> Floats:
    """Likeliest second proportion if the first is greater by d: the root of a cubic (Miettinen and Nurminen 1985)."""
    n = n1 + n2
    l2 = (n1 + 2 * n2) * d - n - (x1 + x2)
    l1 = (n2 * d - n - 2 * x2) * d + (x1 + x2)
    l0 = x2 * d * (1 - d)
    q = (l2 / (3 * n)) ** 3 - l1 * l2 / (6 * n**2) + l0 / (2 * n)
    p = np.copysign(np.sqrt(np.maximum((l2 / (3 * n)) ** 2 - l1 / (3 * n), 0.0)), q)
    cosine = np.clip(ratio(q, p**3), -1.0, 1.0)
    angle = (np.pi + np.arccos(np.nan_to_num(cosine))) / 3
    root: Floats = np.clip(2 * p * np.cos(angle) - l2 / (3 * n), np.maximum(0.0, -d), np.minimum(1.0, 1 - d))
    return root


# ---------------------------------------------------------------------------------- all at once


class Test(NamedTuple):
    """A statistic, its degrees of freedom and its p value."""

    statistic: float
    df: tuple[float, ...]
    pvalue: float


def cochran_q(hits: Array) -> Test:
    """Cochran's (1950) Q of 0-1 hits (M, N); 0 where every sample is right, or wrong, for all."""
    from scipy.special import chdtrc

    m = len(hits)
    right, agreed = _sums(hits)
    total = right.sum()
    below = m * total - agreed @ agreed
    q = 0.0 if below == 0 else float((m - 1) * (m * (right @ right) - total**2) / below)
    return Test(q, (m - 1.0,), float(chdtrc(m - 1, q)))


def looney_f(hits: Array) -> Test:
    """Looney's (1988) F of 0-1 hits (M, N), two-way analysis of variance; infinite where only the models differ."""
    from scipy.special import fdtrc

    m, n = hits.shape
    right, agreed = _sums(hits)
    total = int(right.sum())
    # All sums of squares times M n, which keeps them whole numbers.
    models = m * int(right @ right) - total**2
    samples = n * int(agreed @ agreed) - total**2
    rest = m * n * total - total**2 - models - samples
    df = (m - 1.0, (m - 1.0) * (n - 1.0))
    if rest == 0:
        return Test(np.inf if models else 0.0, df, np.nan if models else 1.0)
    f = (models / df[0]) / (rest / df[1])
    return Test(f, df, float(fdtrc(*df, f)))


def _sums(hits: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Right answers of every model, and how many models are right on every sample."""
    return hits.sum(axis=1, dtype=np.int64), hits.sum(axis=0, dtype=np.int64)
