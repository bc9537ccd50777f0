"""Tests on ranks over data sets: Friedman, mean rank differences, signed ranks, signs. Arrays in, arrays out."""

from __future__ import annotations

from math import factorial, prod
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import RELATIVE_TIE, Floats
from .pvalues import normal_quantile, normal_tails
from .sequential import Ranks, ranks

ZeroMethod = Literal["wilcox", "pratt", "zsplit"]


# -- many algorithms --------------------------------------------------------------------------------------


def score_ranks(scores: Floats, relative: float = RELATIVE_TIE) -> Ranks:
    """Ranks within each data set of (n, k) scores, the greatest first; scores within `relative` are tied and share their rank."""
    return ranks(-_settled_rows(scores, relative))


def tied_rows(scores: Floats, relative: float = RELATIVE_TIE) -> int:
    """Number of data sets of (n, k) scores in which two algorithms are tied."""
    return int(np.sum(np.any(np.diff(np.sort(_settled_rows(scores, relative), axis=1), axis=1) == 0, axis=1)))


def _settled_rows(scores: Floats, relative: float) -> Floats:
    slack = relative * np.max(np.abs(scores), axis=1)
    return np.stack([_settled(row, s) for row, s in zip(scores, slack.tolist(), strict=True)])


def _settled(values: Floats, slack: float) -> Floats:
    """The values, those that follow each other within `slack` set to the smallest of them."""
    ordered = np.sort(values)
    firsts = ordered[np.concatenate([[True], np.diff(ordered) > slack])]
    return np.asarray(firsts[np.searchsorted(firsts, values, side="right") - 1])


def friedman_chi2(found: Ranks, ties: bool) -> float:
    """Friedman's statistic, over the spread that the ranks have (`ties`) or would have without ties."""
    if ties:
        return found.statistic
    k = len(found.sums)
    untied = found.n_blocks * k * (k + 1) * (k - 1) / 12
    return float((k - 1) * np.sum((found.sums - found.n_blocks * (k + 1) / 2) ** 2) / untied)


def iman_davenport(chi2: float, n: int, k: int) -> float:
    """F = (n - 1) chi2 / (n (k - 1) - chi2); infinite where all data sets agree (Iman and Davenport 1980)."""
    left = n * (k - 1) - chi2
    # Rounding leaves about 1e-16 of it where the data sets agree exactly.
    return float((n - 1) * chi2 / left) if left > 1e-12 * n * (k - 1) else np.inf


def agreement_probability(mean_ranks: Floats, n: int) -> float:
    """Chance that n random orders with these tied ranks are all the same: the exact p value where all data sets agree."""
    _, tied = np.unique(mean_ranks, return_counts=True)
    # Python's whole numbers do not overflow, and their quotient is a rounded float, or 0 where it is too small for one.
    same = prod(factorial(t) for t in tied.tolist()) / factorial(len(mean_ranks))
    return same ** (n - 1)


def rank_error(n: int, k: int) -> float:
    """Standard error of the difference of two mean ranks, sqrt(k (k + 1) / (6 n)) (Demsar 2006, sect. 3.2.2)."""
    return float(np.sqrt(k * (k + 1) / (6 * n)))


def nemenyi_pvalues(z: Floats, k: int) -> Floats:
    """p values of the largest of all differences of k mean ranks: the studentized range at sqrt(2) z, infinite df."""
    from scipy.stats import studentized_range

    return np.asarray(np.clip(studentized_range.sf(np.sqrt(2) * np.abs(z), k, np.inf), 0.0, 1.0))


def nemenyi_quantile(alpha: float, k: int) -> float:
    """q_alpha of the critical difference for all pairs (Demsar 2006, Table 5 a)."""
    from scipy.stats import studentized_range

    return float(studentized_range.isf(alpha, k, np.inf) / np.sqrt(2))


def bonferroni_dunn_quantile(alpha: float, k: int) -> float:
    """q_alpha of the critical difference for k - 1 comparisons with a control (Demsar 2006, Table 5 b)."""
    return -normal_quantile(alpha / (2 * (k - 1)))


def runs_not_told_apart(different: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Maximal runs (first, last) of two or more neighbours in rank order, no pair of which is `different` (k, k)."""
    k = len(different)
    runs: list[tuple[int, int]] = []
    for first in range(k):
        last = first
        while last + 1 < k and not different[first : last + 1, last + 1].any():
            last += 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


# -- two algorithms ---------------------------------------------------------------------------------------


def settled_differences(one: Floats, other: Floats, relative: float = RELATIVE_TIE) -> Floats:
    """one - other, with sizes that differ only by rounding made equal, and zeros made exact.

    0.95 - 0.90 and 0.75 - 0.70 differ in the last digits of a float; without this, they would get different ranks.
    """
    difference = one - other
    slack = relative * float(np.max(np.abs([one, other]), initial=0.0))
    sizes = _settled(np.append(np.abs(difference), 0.0), slack)[:-1]
    return np.asarray(np.sign(difference) * sizes)


class SignedRanks(NamedTuple):
    """Sums of the ranks of positive and negative differences, and what their distribution depends on."""

    plus: float
    minus: float
    mean: float
    variance: float
    signed: Floats

    @property
    def statistic(self) -> float:
        """The smaller of the two sums."""
        return min(self.plus, self.minus)


def signed_ranks(difference: Floats, zero_method: ZeroMethod) -> SignedRanks:
    """Wilcoxon's rank sums; zeros are left out (wilcox), ranked and then left out (pratt), or shared by both sides (zsplit).

    The sum of positive ranks has mean sum(r) / 2 and variance sum(r^2) / 4 over the ranks that may change their sign, ties
    or not; zsplit counts the zeros' ranks among them.
    """
    from scipy.stats import rankdata

    kept = difference[difference != 0] if zero_method == "wilcox" else difference
    if not len(kept):
        return SignedRanks(0.0, 0.0, 0.0, 0.0, np.zeros(0))
    ranks = rankdata(np.abs(kept))
    zero = kept == 0
    shared = float(ranks[zero].sum()) / 2 if zero_method == "zsplit" else 0.0
    counted = ranks if zero_method == "zsplit" else ranks[~zero]
    return SignedRanks(
        plus=float(ranks[kept > 0].sum()) + shared,
        minus=float(ranks[kept < 0].sum()) + shared,
        mean=float(counted.sum()) / 2,
        variance=float(np.sum(counted**2)) / 4,
        signed=np.asarray(np.sign(kept) * ranks)[~zero],
    )


def signed_rank_asymptotic(found: SignedRanks, correction: bool) -> float:
    """Two-sided p value by the normal approximation, with 1/2 subtracted from the distance if `correction`."""
    if found.variance == 0:
        return 1.0
    distance = max(abs(found.plus - found.mean) - 0.5 * correction, 0.0)
    return float(normal_tails(np.array([distance / np.sqrt(found.variance)])).two_sided[0])


def signed_rank_exact(found: SignedRanks) -> float:
    """Two-sided p value over all signs that the ranks could have had, ties and zeros as they are."""
    if not len(found.signed):
        return 1.0
    # Shared ranks are halves: doubled, they are whole numbers.
    doubled = np.rint(2 * np.abs(found.signed)).astype(np.intp)
    smaller = int(np.sum(doubled[found.signed > 0]))
    smaller = min(smaller, int(doubled.sum()) - smaller)
    return min(1.0, 2 * float(np.sum(subset_sums(doubled)[: smaller + 1])))


def subset_sums(values: NDArray[np.intp]) -> Floats:
    """Probability of every sum 0, 1, 2, ... of a random subset of these whole numbers, each in it with probability 1/2."""
    chance = np.zeros(int(values.sum()) + 1)
    chance[0] = 1.0
    for value in values.tolist():
        chance[value:] = (chance[value:] + chance[: len(chance) - value]) / 2
        chance[:value] /= 2
    return chance


def walsh_average(ordered: Floats, place: int) -> float:
    """The one at this place, from 0, among the sorted means of all pairs of sorted values, each paired with itself too.

    The n (n + 1) / 2 means are never computed: the means with one value ascend along the others, and each step drops at least
    a quarter of what is left, by a weighted median of the rows' middles (Johnson and Mizoguchi 1978).
    """
    one = np.asarray(ordered)
    first, last = np.arange(len(ordered)), np.full(len(ordered), len(ordered))
    passed = 0  # how many means are known to stand before what is left
    while True:
        live = last > first
        one, first, last = one[live], first[live], last[live]
        middles = (one + ordered[(first + last) // 2]) / 2
        order = np.argsort(middles)
        weight = np.cumsum((last - first)[order])
        pivot = float(middles[order[np.searchsorted(weight, weight[-1] / 2)]])
        below = _first_where(np.greater_equal, pivot, one, ordered, first, last)
        if place < passed + int(np.sum(below - first)):
            last = below
            continue
        above = _first_where(np.greater, pivot, one, ordered, below, last)
        if place < passed + int(np.sum(above - first)):
            return pivot
        passed += int(np.sum(above - first))
        first = above


def _first_where(
    holds: np.ufunc, pivot: float, one: Floats, other: Floats, low: NDArray[np.intp], high: NDArray[np.intp]
) -> NDArray[np.intp]:
    """For each one the first position in low .. high whose mean with it `holds` against the pivot, by halving."""
    for _ in range(int(np.max(high - low)).bit_length()):
        middle = (low + high) // 2
        open_ = low < high
        held = holds((one + other[np.minimum(middle, len(other) - 1)]) / 2, pivot)
        low, high = np.where(open_ & ~held, middle + 1, low), np.where(open_ & held, middle, high)
    return low


def pseudomedian(difference: Floats) -> float:
    """Median of the means of all pairs of differences (Hodges and Lehmann 1963); 0 where there are none."""
    total = len(difference) * (len(difference) + 1) // 2
    if not total:
        return 0.0
    ordered = np.sort(difference)
    places = {(total - 1) // 2, total // 2}
    return float(np.mean([walsh_average(ordered, place) for place in places]))


# Up to this many differences the interval comes from the exact distribution of the rank sum.
EXACT_INTERVAL = 50


def walsh_interval(difference: Floats, level: float) -> tuple[float, float] | None:
    """The pseudomedians that the signed rank test would not reject; None where there are too few differences.

    The distribution of the rank sum is that without ties, above `EXACT_INTERVAL` differences its normal approximation.
    """
    n = len(difference)
    if n <= EXACT_INTERVAL:
        c = _outside(np.cumsum(subset_sums(np.arange(1, n + 1))), level)
    else:
        spread = np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        c = int(np.floor(n * (n + 1) / 4 + normal_quantile((1 - level) / 2) * spread + 0.5))
    if c <= 0:
        return None
    ordered = np.sort(difference)
    return walsh_average(ordered, c - 1), walsh_average(ordered, n * (n + 1) // 2 - c)


def median_interval(difference: Floats, level: float) -> tuple[float, float] | None:
    """The medians that the sign test would not reject; None where there are too few differences for this level."""
    from scipy.stats import binom

    n = len(difference)
    c = _outside(binom.cdf(np.arange(n + 1), n, 0.5), level)
    ordered = np.sort(difference)
    return None if c == 0 else (float(ordered[c - 1]), float(ordered[-c]))


def _outside(below: Floats, level: float) -> int:
    """The largest c with P(T <= c - 1) <= alpha / 2: an interval between the c-th values from both ends has the level."""
    return int(np.searchsorted(below, (1 - level) / 2, side="right"))


def sign_pvalue(better: int, worse: int) -> float:
    """Two-sided binomial p value of these numbers of wins and losses."""
    from scipy.stats import binom

    n = better + worse
    return min(1.0, 2 * float(binom.cdf(min(better, worse), n, 0.5))) if n else 1.0


def signed_rank_posterior(
    difference: Floats, rope: float, prior: float, n_draws: int, rng: np.random.Generator
) -> Floats:
    """(n_draws, 3) posterior draws of P(mean of two differences > rope, within it, < -rope) (Benavoli et al. 2017, sect. 4.2.1).

    Weights are drawn from a Dirichlet distribution with 1 for every difference and `prior` for a further one of 0.
    """
    values = np.append(difference, 0.0) if prior > 0 else difference
    shape = np.append(np.ones(len(difference)), prior) if prior > 0 else np.ones(len(difference))
    sums = values[:, None] + values[None, :]
    slack = RELATIVE_TIE * float(np.max(np.abs(values), initial=rope))
    above, below = (sums > 2 * rope + slack).astype(float), (sums < -2 * rope - slack).astype(float)
    out = np.empty((n_draws, 3))
    step = max(1, 4_000_000 // len(values))  # about 32 MB of weights at a time
    for start in range(0, n_draws, step):
        weights = rng.dirichlet(shape, min(step, n_draws - start))
        part = out[start : start + len(weights)]
        part[:, 0] = np.sum((weights @ above) * weights, axis=1)
        part[:, 2] = np.sum((weights @ below) * weights, axis=1)
    out[:, 1] = np.clip(1 - out[:, 0] - out[:, 2], 0.0, 1.0)
    return out


def winner_shares(shares: Floats) -> Floats:
    """(3,) in which share of the (draws, 3) each of the three is the largest; where several are, they share the draw."""
    largest = shares == shares.max(axis=1, keepdims=True)
    return np.asarray(np.mean(largest / largest.sum(axis=1, keepdims=True), axis=0))
