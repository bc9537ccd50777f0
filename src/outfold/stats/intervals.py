"""Intervals: from draws, from counts, and from an estimate with its standard error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import RELATIVE_TIE, Floats, ratio
from .pvalues import Tails, normal_quantile
from .selection import argbest

Ends = tuple[float, float]


class Nested(NamedTuple):
    """What nested cross-validation gives an interval: its centre and the standard error of that."""

    centre: float
    error: float


def percentile(draws: Floats, level: float) -> Ends:
    """Equal-tailed quantiles, linearly interpolated; the same for a loss and for the score it comes from."""
    tail = (1 - level) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return float(low), float(high)


def student(draws: Floats, level: float) -> Ends:
    """Mean and t times the standard deviation, which is the standard error of a bootstrap statistic (Raschka 2018, eq. 31)."""
    return around(float(draws.mean()), float(draws.std(ddof=1)), level, len(draws) - 1)


def order_statistics(draws: Floats, level: float, greater_is_better: bool) -> Ends:
    """[L_(a/2 B), L_((1-a/2) B)] of the ascending losses (Tsamardinos 2018, sect. 3.1), in the metric's own units."""
    losses = np.sort(-draws if greater_is_better else draws)
    b, tail = len(losses), (1 - level) / 2
    # a/2 * B is a whole number in the paper (25 of 1000); the nearest rank otherwise, which also undoes what binary
    # fractions add to it (0.025 * 1000 = 25.000000000000021).
    first, last = (min(max(round(share * b), 1), b) for share in (tail, 1 - tail))
    low, high = float(losses[first - 1]), float(losses[last - 1])
    return (-high, -low) if greater_is_better else (low, high)


def bca(draws: Floats, observed: float, jackknife: Floats, level: float) -> Ends:
    """Quantiles of the draws, moved for bias and acceleration (Efron 1987)."""
    column = np.sort(draws)[:, None]
    z0, a = bias_of(column, np.array([observed])), acceleration_of(jackknife[:, None])
    low, high = (float(ends(column, adjusted(q, z0, a))[0]) for q in ((1 - level) / 2, (1 + level) / 2))
    return low, high


def fold_draws(
    scores: Floats, greater_is_better: bool, n_resamples: int, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.intp]]:
    """(B,) scores, on the folds not drawn, of the configuration with the best mean on those drawn; and which these are.

    BBC-F (Paraschakis et al. 2024) of the (C, K) scores of folds. A draw of every fold leaves none to score on; it is drawn
    again.
    """
    k = scores.shape[1]
    drawn = rng.integers(0, k, size=(n_resamples, k))
    while len(whole := np.flatnonzero([len(np.unique(row)) == k for row in drawn])):
        drawn[whole] = rng.integers(0, k, size=(len(whole), k))
    counts = np.zeros((n_resamples, k))
    np.add.at(counts, (np.arange(n_resamples)[:, None], drawn), 1.0)
    chosen = argbest(counts @ scores.T / k, greater_is_better)
    left_out = (counts == 0).astype(np.float64)
    return np.einsum("bk,bk->b", left_out, scores[chosen]) / left_out.sum(axis=1), chosen


def wilson(k: float, n: float, level: float) -> Ends:
    """Shares that a score test does not reject (Wilson 1927); an end at 0 or 1 is exact. No answers tell nothing."""
    return wilson_by(k, n, -normal_quantile((1 - level) / 2))


def wilson_by(k: float, n: float, z: float) -> Ends:
    """The same for a test that rejects from this statistic on."""
    if n == 0:
        return 0.0, 1.0
    p, square = k / n, z * z
    centre = (p + square / (2 * n)) / (1 + square / n)
    half = z * np.sqrt(p * (1 - p) / n + square / (4 * n * n)) / (1 + square / n)
    return (0.0 if k == 0 else float(centre - half)), (1.0 if k == n else float(centre + half))


def equal_answers(binomial: float, variance: float, n: float, least: float, width: float = 1.0) -> float:
    """How many answers, right or wrong, vary as much as a share with this variance.

    `binomial` is p (1 - p). Where hardly anything varies, the `least` samples that the share rests on count: one more answer,
    by the `width` of what the values of n samples differ, is added to both.
    """
    return (binomial + width**2 / n) / (variance + width**2 / (n * least))


def clopper_pearson(k: int, n: int, level: float) -> Ends:
    """Shares that neither exact binomial tail rejects (Clopper and Pearson 1934)."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, tail))
    return low, (1.0 if k == n else float(betaincinv(k + 1, n - k, 1 - tail)))


def around(centre: float, error: float, level: float, df: float | None = None) -> Ends:
    """An interval around a centre by its standard error, with quantiles of the normal or of Student's t distribution."""
    from scipy.special import stdtrit

    tail = (1 - level) / 2
    reach = -normal_quantile(tail) if df is None else -float(stdtrit(df, tail))
    return float(centre - reach * error), float(centre + reach * error)


def cluster_error(values: Floats, codes: NDArray[np.intp]) -> float:
    """Standard error of the mean if only the groups are independent: G/(G-1) sum_g (sum_{i in g} (v_i - m)/n)^2."""
    sums = np.bincount(codes, weights=values - values.mean())
    g = len(sums)
    return float(np.sqrt(g / (g - 1) * np.sum(sums**2)) / len(values))


def nested_cv(outer: Floats, inner: Floats, folds: NDArray[np.integer]) -> Nested:
    """Bates, Hastie and Tibshirani (2023), Algorithm 1, for values of samples in R repeats of K folds.

    `outer` (N, R) has the values by the models trained without a sample's fold (N, R), `inner` (N, R, K) by those trained
    without fold k too.
    """
    n, r, k = inner.shape
    squares, noises, means, sizes = [], [], [], []
    for repeat in range(r):
        for fold in range(k):
            out = folds[:, repeat] == fold
            e_out, e_in = outer[out, repeat], inner[~out, repeat, fold]
            squares.append((e_in.mean() - e_out.mean()) ** 2)
            noises.append(e_out.var(ddof=1) / len(e_out))
            means.append(e_in.mean())
            sizes.append(len(e_in))
    err_ncv, err_cv = float(np.average(means, weights=sizes)), float(outer.mean())
    # The difference of a and b is the mean squared error with (K-1)/K of the samples; scaled to all of them it is smaller.
    mse = (k - 1) / k * (np.mean(squares) - np.mean(noises))
    # No less than if the folds were independent, no more than if they were one and the same.
    naive = float(outer.std(ddof=1)) / np.sqrt(n)
    error = float(np.clip(np.sqrt(max(mse, 0.0)), naive, np.sqrt(k) * naive))
    # Inner models are trained on (K-2)/K of the samples; the loss from (K-1)/K and then from all is extrapolated.
    return Nested(err_ncv - (1 + (k - 2) / k) * (err_ncv - err_cv), error)


# -- bootstrap intervals of many differences at once, and the p values that match them ------------------

# |a| is at most 1/6, so that the denominators are below this only further out than draws reach.
_SMALL = 1e-2


def bias_of(draws: Floats, observed: Floats) -> Floats:
    """(P,) z0: the normal quantile of the share of the (B, P) draws below what was observed, ties one half."""
    from scipy.special import ndtri

    slack = RELATIVE_TIE * np.max(np.abs(draws), axis=0, initial=0.0)
    share = (np.mean(draws < observed - slack, axis=0) + np.mean(draws <= observed + slack, axis=0)) / 2
    b = len(draws)
    # All draws on one side: as far out as the number of draws can tell.
    return np.asarray(ndtri(np.clip(share, 1 / (b + 1), b / (b + 1))))


def acceleration_of(jackknife: Floats) -> Floats:
    """(P,) acceleration from the (units, P) values without each unit (Efron 1987); 0 where they do not vary."""
    centred = np.nanmean(jackknife, axis=0) - jackknife
    squares, cubes = np.nansum(centred**2, axis=0), np.nansum(centred**3, axis=0)
    return np.nan_to_num(ratio(cubes, 6 * squares**1.5))


def adjusted(p: float, z0: Floats, a: Floats) -> Floats:
    """(P,) the share of draws at which the end of level p lies: p itself where z0 and a are 0."""
    from scipy.special import ndtr

    z = z0 + normal_quantile(p)
    return np.asarray(ndtr(z0 + z / np.maximum(1 - a * z, _SMALL)))


def level_at(share: Floats, z0: Floats, a: Floats) -> Floats:
    """(P,) the level whose end lies at this share of draws: the inverse of `adjusted`."""
    from scipy.special import ndtr, ndtri

    w = ndtri(share) - z0
    return np.asarray(ndtr(w / np.maximum(1 + a * w, _SMALL) - z0))


def ends(ordered: Floats, shares: Floats) -> Floats:
    """(P,) quantiles of the ordered draws (B, P): the i-th at i / (B + 1), linear between, the outermost beyond."""
    b, p = ordered.shape
    position = np.clip(shares * (b + 1) - 1, 0, b - 1)
    left = np.minimum(position.astype(np.intp), b - 1)
    right = np.minimum(left + 1, b - 1)
    columns, part = np.arange(p), position - left
    low, high = ordered[left, columns], ordered[right, columns]
    return np.asarray(low + part * (high - low))


def interval_and_tails(ordered: Floats, level: float, z0: Floats, a: Floats, null: float = 0.0) -> tuple[Floats, Tails]:
    """(P, 2) intervals of draws ordered in each column (B, P), and the tails: levels at which an end reaches the null."""
    tail = (1 - level) / 2
    interval = np.stack([ends(ordered, adjusted(q, z0, a)) for q in (tail, 1 - tail)], axis=1)
    moved = ordered - null
    if null != 0:  # what rounding leaves of a draw at the null
        moved[np.abs(moved) <= RELATIVE_TIE * max(float(np.abs(ordered).max()), abs(null))] = 0.0
    return interval, Tails(level_at(_share_at_zero(moved), z0, a), level_at(_share_at_zero(-moved[::-1]), -z0, -a))


def _share_at_zero(ordered: Floats) -> Floats:
    """(P,) the largest share whose quantile is not above 0, within what B draws can tell."""
    b, p = ordered.shape
    k = np.sum(ordered <= 0, axis=0)
    inside = (k > 0) & (k < b)
    columns = np.arange(p)
    below, above = ordered[np.maximum(k, 1) - 1, columns], ordered[np.minimum(k, b - 1), columns]
    part = np.where(inside, ratio(-below, above - below), 0.0)
    return np.asarray(np.clip((k + np.nan_to_num(part)) / (b + 1), 1 / (b + 1), b / (b + 1)))
