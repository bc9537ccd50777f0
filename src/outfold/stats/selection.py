"""The best of many configurations, and how stable their order is as repeats are added."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import RELATIVE_TIE, Floats

# Columns at each end of a draw that are compared with all others.
_ENDS = 8


def argbest(scores: Floats, greater_is_better: bool) -> NDArray[np.intp]:
    """Earliest column with the best score, for every row of (b, C); -1 where all are NaN."""
    best, near = tied_with_best(scores, greater_is_better)
    chosen = np.argmax(near, axis=1)
    return np.where(np.isnan(best), -1, chosen)


def tied_with_best(scores: Floats, greater_is_better: bool) -> tuple[Floats, NDArray[np.bool_]]:
    """Best score of each row, and which columns reach it (to a relative 1e-12)."""
    best = (np.fmax if greater_is_better else np.fmin).reduce(scores, axis=1)
    slack = np.where(np.isinf(best), 0.0, RELATIVE_TIE * np.abs(best))
    if greater_is_better:
        return best, scores >= (best - slack)[:, None]
    return best, scores <= (best + slack)[:, None]


def tie_ranks(scores: Floats, greater_is_better: bool) -> NDArray[np.intp]:
    """(C,) rank of each score, 1 for the best.

    Scores that are tied with the best of them, as `tied_with_best` says, share its rank; the next one counts them all. What is
    NaN shares the last rank.
    """
    value = np.where(np.isnan(scores), -np.inf, scores if greater_is_better else -scores)
    order = np.argsort(-value, kind="stable")
    falling, out = -value[order], np.empty(len(value), dtype=np.intp)
    first = 0
    while first < len(falling):
        slack = RELATIVE_TIE * abs(falling[first]) if np.isfinite(falling[first]) else 0.0
        end = int(np.searchsorted(falling, falling[first] + slack, side="right"))
        out[order[first:end]] = first + 1
        first = end
    return out


def best_pvalues(scores: Floats, draws: Floats) -> Floats:
    """(C,) p value of "configuration j is the best" for every j, greater scores being better.

    T_j = max_k (s_k - s_j) / se_kj against the largest centred difference in the (B, C) draws, in either direction: with one
    direction only, the set of those not rejected held the best of many equal ones less often than its level says.
    """
    b = len(draws)
    centred = draws - draws.mean(axis=0)
    products = centred.T @ centred
    variance = np.diag(products).copy()
    scale = variance + variance[:, None]
    products *= 2
    squares = np.subtract(scale, products, out=products)
    # What is left of the difference of two equal columns is rounding, which is evidence against neither.
    equal = squares <= np.multiply(scale, 1e-10, out=scale)
    squares[equal] = np.inf
    per = np.sqrt(np.divide(b, squares, out=squares), out=squares)  # one over the standard error
    gaps = np.subtract(scores, scores[:, None], out=scale)
    ahead = np.any(equal & (gaps > RELATIVE_TIE * np.abs(scores)[:, None]), axis=1)
    behind = np.multiply(gaps, per, out=gaps).max(axis=1)
    out = (1 + _reaching(centred, per, behind)) / (1 + b)
    out[equal.all(axis=1)] = 1.0
    out[ahead] = 1 / (1 + b)
    return np.asarray(out)


def _reaching(centred: Floats, per: Floats, behind: Floats) -> NDArray[np.intp]:
    """(C,) in how many draws the largest of |centred_k - centred_j| per_jk over k reaches behind_j.

    In most draws the highest and the lowest columns tell: one of them reaches it, or of the others not even the widest gap over
    the smallest standard error would. All columns are looked at in the draws that are left only.
    """
    b, c = centred.shape
    order = np.argpartition(centred, [min(_ENDS, c - 1), max(c - 1 - _ENDS, 0)], axis=1)
    every, widest = np.arange(b), per.max(axis=1)
    reached = np.zeros((b, c), dtype=bool)
    for end in (order[:, :_ENDS], order[:, -_ENDS:]):
        for k in end.T:
            reached |= np.abs(centred - centred[every, k][:, None]) * per[k] >= behind
    # What is between the ends is no farther from a column than the ends are.
    low, high = (centred[every, order[:, i]][:, None] for i in (min(_ENDS, c - 1), max(c - 1 - _ENDS, 0)))
    open_ = ~reached & (np.maximum(high - centred, centred - low) * widest >= behind)
    out = reached.sum(axis=0)
    for j in np.flatnonzero(open_.any(axis=0)):
        gaps = centred[open_[:, j]]
        gaps -= gaps[:, [j]]
        np.abs(gaps, out=gaps)
        gaps *= per[j]
        out[j] += np.sum(gaps.max(axis=1) >= behind[j])
    return np.asarray(out)


def rank_correlations(before: Floats, after: Floats) -> Floats:
    """(C,) Spearman's correlation of the means over repeats of (C, R, N) and (C, R', N) values, NaN where none was made.

    Samples that have no value on both sides are left out. Where all means are equal on both sides nothing can change
    places: 1; where they are on one side only: 0.
    """
    from scipy.stats import rankdata

    one, two = _means(before), _means(after)
    usable = ~np.any(np.isnan(one) | np.isnan(two), axis=0)
    if not usable.any():
        return np.zeros(len(one))
    a, b = (rankdata(side[:, usable], axis=1) for side in (one, two))
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    scale = np.sqrt(np.sum(a**2, axis=1) * np.sum(b**2, axis=1))
    constant = ~np.any(a, axis=1) & ~np.any(b, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(scale > 0, np.sum(a * b, axis=1) / scale, constant), dtype=np.float64)


def _means(values: Floats) -> Floats:
    held = ~np.isnan(values)
    n = held.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(n > 0, np.where(held, values, 0.0).sum(axis=1) / n, np.nan)


def ks_distance(a: Floats, b: Floats) -> Floats:
    """(C,) largest distance between the distribution functions of the rows of (C, n) and (C, m)."""
    points = np.concatenate([a, b], axis=1)
    below_a = np.mean(a[:, None, :] <= points[:, :, None], axis=2)
    below_b = np.mean(b[:, None, :] <= points[:, :, None], axis=2)
    return np.asarray(np.max(np.abs(below_a - below_b), axis=1))


class Moments(NamedTuple):
    """(R, C) each: of the first 1, 2, ..., R scores of every configuration."""

    mean: Floats
    median: Floats
    sd: Floats
    skew: Floats


# The cubes of many numbers of this size can still be added.
_LARGE = 1e90


def unit_for_cubes(values: Floats) -> float:
    """What to divide by so that cubes do not overflow: 1, or the largest absolute value where that is huge."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    return largest if largest > _LARGE else 1.0


def running_moments(scores: Floats) -> Moments:
    """Mean, median, sd (n - 1) and skew (third moment over sd cubed, n) of the first r rows of (R, C), for every r."""
    r = np.arange(1, len(scores) + 1)[:, None]
    mean = np.cumsum(scores, axis=0) / r
    # Centred first: sums of powers of the scores themselves lose their digits.
    centre = scores.mean(axis=0)
    d = scores - centre
    unit = unit_for_cubes(d)
    d = d / unit
    shift = np.cumsum(d, axis=0) / r
    second = np.cumsum(d**2, axis=0) / r
    third = np.cumsum(d**3, axis=0) / r
    variance = np.maximum(second - shift**2, 0.0)
    cubed = third - 3 * shift * second + 2 * shift**3
    median = np.stack([np.median(scores[:k], axis=0) for k in range(1, len(scores) + 1)])
    flat = variance <= 1e-24 * np.maximum((centre / unit) ** 2, 1 / unit**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        sd = np.where(r > 1, unit * np.sqrt(variance * r / np.maximum(r - 1, 1)), np.nan)
        skew = np.where(flat, np.nan, cubed / variance**1.5)
    return Moments(mean, median, sd, skew)


def running_ranks(means: Floats) -> Floats:
    """(R, C) rank of every configuration by its running mean, 1 for the largest, ties shared."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-means, axis=1))
