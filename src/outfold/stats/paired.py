"""Right and wrong answers of several models on the same samples: McNemar, two proportions, Cochran, Looney."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .base import Array, Floats, ratio
from .resample import blocks
from .tails import Tails, lowest_not_rejected, normal_quantile, normal_tails

McNemar = Literal["plain", "edwards", "exact", "midp"]

# Words of pairs compared at once.
_AT_ONCE = 1 << 20


def only_one_right(hits: Array, pairs: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(P,) samples only the first of a pair has right, and samples only the second has, of 0-1 hits (C, N)."""
    words = _packed(hits)
    right = hits.sum(axis=1, dtype=np.int64)
    both = np.empty(len(pairs), dtype=np.int64)
    for part in blocks(len(pairs), max(1, _AT_ONCE // words.shape[1])):
        first, second = pairs[part].T
        both[part] = np.bitwise_count(words[first] & words[second]).sum(axis=1, dtype=np.int64)
    return right[pairs[:, 0]] - both, right[pairs[:, 1]] - both


def _packed(hits: Array) -> NDArray[np.uint64]:
    """Hits as bits, 64 to a word, filled up with zeros: counting the bits of two models' words is exact and needs no BLAS."""
    bits = np.packbits(hits.astype(bool), axis=1)
    padded = np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8)))
    return np.ascontiguousarray(padded).view(np.uint64)  # packing keeps the order of its input, which may be Fortran's


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
    p = np.concatenate([tails.greater, tails.less])
    ends = _lower_ends(np.concatenate([b, c]), np.concatenate([c, b]), n, p, (1 - level) / 2)
    return np.stack([ends[: len(b)], -ends[len(b) :]], axis=1)


def _lower_ends(b: Array, c: Array, n: int, p: Floats, tail: float) -> Floats:
    from scipy.special import ndtri

    bar = -normal_quantile(tail)
    root = np.sqrt(b + c)
    with np.errstate(invalid="ignore"):
        own = (b - c) + ndtri(p) * root
    own = np.where(np.isnan(own), 0.0, own)
    # Far out the two tails part, and the correction would grow without bounds or shorten the interval: beyond 0 to 1 it is
    # taken only where the decision hangs on it.
    kept = np.clip(own, 0.0, 1.0)
    agrees = (b - c - kept >= bar * root) == (p <= tail)
    apart = (b - c - np.where(agrees, kept, own)) / n

    def excess(d: Floats) -> Floats:
        return apart - d - bar * np.sqrt(np.maximum(_tango_variance(b, c, n, d), 0.0) / n)

    ends = lowest_not_rejected(excess, (b - c) / n)
    # What rounding leaves on either side of 0 is decided by the test itself.
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

    def excess(d: Floats) -> Floats:
        p2 = _restricted(x1, x2, n1, n2, d)
        p1 = np.clip(p2 + d, 0.0, 1.0)
        return observed - d - bar * np.sqrt(p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2)

    ends = lowest_not_rejected(excess, observed)
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
