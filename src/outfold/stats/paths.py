"""How means, ranks and distributions move as repeats are added."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


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


def running_moments(scores: Floats) -> Moments:
    """Mean, median, sd (n - 1) and skew (third moment over sd cubed, n) of the first r rows of (R, C), for every r."""
    r = np.arange(1, len(scores) + 1)[:, None]
    mean = np.cumsum(scores, axis=0) / r
    # Centred first: sums of powers of the scores themselves lose their digits.
    centre = scores.mean(axis=0)
    d = scores - centre
    shift = np.cumsum(d, axis=0) / r
    second = np.cumsum(d**2, axis=0) / r
    third = np.cumsum(d**3, axis=0) / r
    variance = np.maximum(second - shift**2, 0.0)
    cubed = third - 3 * shift * second + 2 * shift**3
    median = np.stack([np.median(scores[:k], axis=0) for k in range(1, len(scores) + 1)])
    flat = variance <= 1e-24 * np.maximum(centre**2, 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        sd = np.where(r > 1, np.sqrt(variance * r / np.maximum(r - 1, 1)), np.nan)
        skew = np.where(flat, np.nan, cubed / variance**1.5)
    return Moments(mean, median, sd, skew)


def running_ranks(means: Floats) -> Floats:
    """(R, C) rank of every configuration by its running mean, 1 for the largest, ties shared."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-means, axis=1))
