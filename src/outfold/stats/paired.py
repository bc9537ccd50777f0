"""Tests of the difference between two models: on one test set, by sign flips, and over splits of the same samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import RELATIVE_TIE, Array, Floats, ratio
from .pvalues import Tails, lowest_not_rejected, normal_quantile, normal_tails
from .resampling import block_size, blocks

# -- one test set ---------------------------------------------------------------------------------------

McNemar = Literal["plain", "edwards", "exact", "midp"]

# Number of 64-bit words compared at once.
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
    return np.asarray(apart**2 / np.maximum(b + c, 1))


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


def shifted_mcnemar(b: Array, c: Array, n: int, null: float, method: McNemar) -> tuple[Tails, Floats]:
    """Tails and statistic of Tango's (1998) score test of "(b-c)/n differs by the null", which is McNemar's at 0.

    ``edwards`` has a continuity correction of 1 in the count b-c. There is no exact test: the samples that only one has right
    are then not as likely to be the first's as the second's, by an amount that depends on how many there are.
    """
    apart, correction = (b - c) - n * null, float(method == "edwards")
    root = np.sqrt(n * np.maximum(_tango_variance(b, c, n, np.full(len(b), null)), 0.0))
    tails = Tails(*(normal_tails(ratio(way - correction, root)).greater for way in (apart, -apart)))
    return tails, ratio(np.maximum(np.abs(apart) - correction, 0.0), root) ** 2


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
    # Far out the two tails differ, and the correction would grow without bounds or shorten the interval: a correction outside
    # 0 to 1 is used only where the decision depends on it.
    kept = np.clip(own, 0.0, 1.0)
    agrees = (b - c - kept >= bar * root) == (p <= tail)
    apart = (b - c - np.where(agrees, kept, own)) / n

    def excess(d: Floats) -> Floats:
        return apart - d - bar * np.sqrt(np.maximum(_tango_variance(b, c, n, d), 0.0) / n)

    return lowest_not_rejected(excess, (b - c) / n, p <= tail)


def _tango_variance(b: Array, c: Array, n: int, d: Floats) -> Floats:
    """n times the variance of (b-c)/n at the likeliest probabilities that differ by d (Tango 1998, eq. 5)."""
    B = -b - c + (2 * n - b + c) * d
    C = -c * d * (1 - d)
    q = (np.sqrt(np.maximum(B**2 - 8 * n * C, 0.0)) - B) / (4 * n)
    return 2 * q + d * (1 - d)


# -- two proportions ------------------------------------------------------------------------------------


def proportions_statistic(x1: Array, x2: Array, n1: int, n2: int, null: float = 0.0) -> Floats:
    """z of two independent proportions less the null, with the likeliest variance there: at 0 the pooled one.

    0 where both are 0 or both are 1.
    """
    if null != 0:
        p2 = _restricted(x1, x2, n1, n2, np.full(len(x1), null))
        return np.nan_to_num(ratio(x1 / n1 - x2 / n2 - null, _spread_of_two(p2 + null, p2, n1, n2)))
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
        return observed - d - bar * _spread_of_two(p2 + d, p2, n1, n2)

    return lowest_not_rejected(excess, observed, proportions_statistic(x1, x2, n1, n2) >= bar)


def _spread_of_two(p1: Floats, p2: Floats, n1: int, n2: int) -> Floats:
    """Standard error of the difference of two independent proportions."""
    p1 = np.clip(p1, 0.0, 1.0)
    return np.asarray(np.sqrt(p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2))


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
    return np.asarray(np.clip(2 * p * np.cos(angle) - l2 / (3 * n), np.maximum(0.0, -d), np.minimum(1.0, 1 - d)))


# -- all at once ----------------------------------------------------------------------------------------


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


def epsilon(hits: Array) -> float:
    """Box's epsilon of 0-1 hits (M, N) as Greenhouse and Geisser (1959) estimate it: 1 if all pairs of models vary alike.

    With C the covariance matrix of the models, freed of its row and column means: tr(C)^2 / ((M-1) tr(C C)), at least 1/(M-1).
    """
    centred = hits - hits.mean(axis=1, keepdims=True)
    covariance = centred @ centred.T
    freed = covariance - covariance.mean(axis=0) - covariance.mean(axis=1)[:, None] + covariance.mean()
    squares = float(np.sum(freed**2))
    return float(np.trace(freed) ** 2 / ((len(hits) - 1) * squares)) if squares > 0 else 1.0


def looney_f_plus(hits: Array) -> Test:
    """The same F with both degrees of freedom times epsilon."""
    from scipy.special import fdtrc

    plain, factor = looney_f(hits), epsilon(hits)
    df = (factor * plain.df[0], factor * plain.df[1])
    known = np.isfinite(plain.statistic)
    return Test(plain.statistic, df, float(fdtrc(*df, plain.statistic)) if known else plain.pvalue)


def _sums(hits: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Right answers of every model, and how many models are right on every sample."""
    return hits.sum(axis=1, dtype=np.int64), hits.sum(axis=0, dtype=np.int64)


# -- sign flips: the difference if the two models were swapped at random, unit by unit ------------------

_FLIP_STREAM = 0xF11B


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

    `parts` (P, U) is what each unit adds to the difference of a pair, `shares` (U,) the share of the samples a unit has.
    """

    def __init__(self, parts: Floats, shares: Floats, n_resamples: int, seed: int) -> None:
        self._parts, self._shares = parts, shares
        # Where the sets of all units are few, every one is taken. Else a unit that does not differ is in a set by chance: it
        # changes the mean over the set, but its flip changes nothing unless the differences are shifted.
        whole = enumerable(parts.shape[1], n_resamples)
        self._told = (parts != 0) | whole
        self._enumerated = np.array([enumerable(int(k), n_resamples) for k in self._told.sum(axis=1)], dtype=bool)
        silent = np.where(self._told[self._enumerated], 0.0, shares)
        sums, sizes, rest = [], [], []
        for masks in swaps(parts.shape[1], n_resamples, seed):
            drawn = masks.astype(np.float64)
            sums.append(drawn @ parts.T)
            sizes.append(drawn @ shares)
            rest.append(drawn @ silent.T)
        self._sums, self._sizes, self._rest = np.concatenate(sums), np.concatenate(sizes), np.concatenate(rest)

    def test(self, level: float, null: float = 0.0) -> tuple[Tails, Floats]:
        """Tails of differences less the null, and (P, 2) interval, of every pair."""
        n = len(self._parts)
        greater, less, interval = np.empty(n), np.empty(n), np.empty((n, 2))
        order = np.cumsum(self._enumerated) - 1
        for p in range(n):
            low, high = self._means(p, int(order[p]))
            # A sum that is 0 was set to 0; for another shift, a mean that differs from it by rounding only is equal to it.
            slack = RELATIVE_TIE * abs(null)
            shares = np.mean(low <= null + slack), np.mean(high >= null - slack)
            # What was observed is one of the flips, even if chance put a unit into every set: no p value is 0.
            greater[p], less[p] = np.maximum(shares, 1 / len(low))
            # The k smallest of M are those of p values k / M at most (1 - level) / 2; the next one is not rejected.
            k = int(round(1 - level, 12) / 2 * len(low) + 1e-9)
            interval[p] = np.partition(low, k)[k], -np.partition(-high, k)[k]
        return Tails(greater, less), interval

    def exact(self, null: float = 0.0) -> NDArray[np.bool_]:
        """(P,) whether all flips count that can change a difference less the null; shifted, every unit differs."""
        return np.asarray(self._enumerated & (self._told.all(axis=1) | (null == 0)))

    def _means(self, p: int, position: int) -> tuple[Floats, Floats]:
        """Means over swapped sets, as the lower and as the upper tail count them: an empty set counts in both."""
        if self._enumerated[p]:
            sums, sizes = self._every_set(p, self._rest[:, position])
        else:
            # What was observed is one more of the possible flips, the one of the empty set.
            sums, sizes = np.append(self._sums[:, p], 0.0), np.append(self._sizes, 0.0)
        sums = np.where(np.abs(sums) <= RELATIVE_TIE * np.abs(self._parts[p]).sum(), 0.0, sums)
        empty = sizes <= 0
        means = sums / np.where(empty, 1.0, sizes)
        return np.where(empty, -np.inf, means), np.where(empty, np.inf, means)

    def _every_set(self, p: int, rest: Floats) -> tuple[Floats, Floats]:
        """Every set of the units that differ, as often each; those that do not differ are in it by chance."""
        told = np.flatnonzero(self._told[p])
        masks = all_swaps(len(told)).astype(np.float64)
        times = len(rest) // len(masks)
        sums, sizes = masks @ self._parts[p, told], masks @ self._shares[told]
        return np.tile(sums, times), np.tile(sizes, times) + rest[: times * len(masks)]


def swapped_tails(observed: float, draws: Floats, scale: float, exact: bool) -> Tails:
    """Tails of an observed difference among the (B,) differences under swaps; `exact` if these are all there are."""
    slack = RELATIVE_TIE * scale
    extra = 0 if exact else 1
    n = len(draws) + extra
    greater = (np.sum(draws >= observed - slack) + extra) / n
    less = (np.sum(draws <= observed + slack) + extra) / n
    return Tails(np.array([greater]), np.array([less]))


# -- splits of the same samples, whose differences are not independent ----------------------------------

# Differences are d (P, J), one row for each pair and one column for each split, or (P, m, 2) for m repeats of two halves.


class Tested(NamedTuple):
    """(P,) statistics, (P,) p values and (P, 2) intervals; NaN where there is no variance to test by."""

    statistic: Floats
    pvalue: Floats
    interval: Floats


def rounding(first: Floats, second: Floats) -> Floats:
    """(P,) the size below which a difference of these (P, J) scores is rounding."""
    return np.asarray(RELATIVE_TIE * np.maximum(np.abs(first), np.abs(second)).max(axis=1, initial=0.0))


def mean_variance(d: Floats, rho: float) -> Floats:
    """(P,) variance of the mean of J values of which any two have the correlation rho: S^2 (1/J + rho / (1 - rho)).

    Nadeau and Bengio (2003, lemma 1). rho = 0 is the plain paired t test, n_test / n the corrected resampled one, and
    (1 + (K-1) rho) / (K (1-rho)) of Grandvalet and Bengio (2006) is the same factor.
    """
    J = d.shape[1]
    return np.asarray(d.var(axis=1, ddof=1) * (1 / J + rho / (1 - rho)))


def within_halves(d: Floats) -> Floats:
    """(P,) sum over repeats of s_i^2, the squares of the two halves about their mean: Dietterich (1998)."""
    return np.asarray(((d - d.mean(axis=2, keepdims=True)) ** 2).sum(axis=(1, 2)))


def between_repeats(d: Floats) -> Floats:
    """(P,) sample variance of the means of the repeats."""
    return np.asarray(d.mean(axis=2).var(axis=1, ddof=1))


def balanced_variance(d: Floats, weight: float) -> Floats:
    """(P,) variance of the mean over a balanced m x 2 plan: sum_i s_i^2 / (2m) + weight S_between^2.

    Wang et al. (2014, eq. 4.1-4.3) for m = 3; weight (m-1)/m makes it sum (d - dbar)^2 / (2m).
    """
    return np.asarray(within_halves(d) / (2 * d.shape[1]) + weight * between_repeats(d))


def balanced_df(weight: float, m: int) -> int:
    """Degrees of freedom of `balanced_variance`: without the part between repeats, m differences of halves are left."""
    return 2 * m - 1 if weight > 0 else m


def student(estimate: Floats, variance: Floats, df: float, level: float, floor: Floats, null: float = 0.0) -> Tested:
    """Estimates less the null against their standard errors, two-sided; what lies below the floor is zero."""
    from scipy.special import stdtr, stdtrit  # here, so that importing the package does not wait for scipy

    flat, none = np.sqrt(variance) <= floor, np.abs(estimate - null) <= floor
    se = np.where(flat, np.nan, np.sqrt(variance))
    statistic = np.where(none, 0.0, estimate - null) / se
    pvalue = np.where(flat & none, 1.0, 2 * stdtr(df, -np.abs(statistic)))
    reach = stdtrit(df, (1 + level) / 2) * se
    return Tested(statistic, pvalue, np.stack([estimate - reach, estimate + reach], axis=1))


def combined_f(d: Floats, level: float, floor: Floats, null: float = 0.0) -> Tested:
    """Alpaydin's F over m repeats of two halves: sum (d - null)^2 / (2 sum_i s_i^2), with 2m and m degrees of freedom.

    The interval holds the values mu with sum (d - mu)^2 / (2 sum_i s_i^2) below the critical value; it is centred at the
    mean, and empty (NaN) where the repeats disagree so much that every mu is refused.
    """
    from scipy.special import fdtrc, fdtri

    m = d.shape[1]
    within, squares = within_halves(d), (d**2).sum(axis=(1, 2))
    flat, none = np.sqrt(within / m) <= floor, np.abs(d - null).max(axis=(1, 2)) <= floor
    within = np.where(flat, np.nan, within)
    statistic = ((d - null) ** 2).sum(axis=(1, 2)) / (2 * within)
    pvalue = np.where(flat & none, 1.0, fdtrc(2 * m, m, statistic))
    mean = d.mean(axis=(1, 2))
    room = (2 * fdtri(2 * m, m, level) * within - (squares - 2 * m * mean**2)) / (2 * m)
    reach = np.sqrt(np.where(room >= 0, room, np.nan))
    return Tested(statistic, pvalue, np.stack([mean - reach, mean + reach], axis=1))


def posterior(mean: Floats, variance: Floats, df: float, rope: float, floor: Floats) -> Floats:
    """(P, 3) mass of a t distribution above the rope, inside and below it.

    Without variance all mass lies at the mean; at 0 with no rope, one half on either side (Benavoli et al. 2017).
    """
    from scipy.special import stdtr

    flat = np.sqrt(variance) <= floor
    se = np.where(flat, 1.0, np.sqrt(variance))
    above, below = stdtr(df, (mean - rope) / se), stdtr(df, (-rope - mean) / se)
    mass = np.stack([above, np.clip(1 - above - below, 0.0, 1.0), below], axis=1)
    if rope == 0:
        mass[:, 1] = 0.0
    half = np.where((rope == 0) & (np.abs(mean) <= floor), 0.5, 0.0)
    over, under = (mean > rope + floor) + half, (mean < -rope - floor) + half
    at_mean = np.stack([over, 1 - over - under, under], axis=1)
    return np.where(flat[:, None], at_mean, mass)
