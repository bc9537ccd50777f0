"""Tests of differences that come from splits of the same samples, and so are not independent: arrays in, arrays out.

Differences are d (P, J), one row a pair and one column a split, or (P, m, 2) for m repeats of two halves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Relative to the scores: what is smaller comes from rounding, the same rule by which scores are tied.
_ROUNDING = 1e-12


class Tested(NamedTuple):
    """(P,) statistics, (P,) p values and (P, 2) intervals; NaN where there is no variance to test by."""

    statistic: Floats
    pvalue: Floats
    interval: Floats


def rounding(first: Floats, second: Floats) -> Floats:
    """(P,) the size below which a difference of these (P, J) scores is rounding."""
    return np.asarray(_ROUNDING * np.maximum(np.abs(first), np.abs(second)).max(axis=1, initial=0.0))


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


def student(estimate: Floats, variance: Floats, df: float, level: float, floor: Floats) -> Tested:
    """Estimates against their standard errors, two-sided; what lies below the floor is zero."""
    from scipy.special import stdtr, stdtrit  # here, so that importing the package does not wait for scipy

    flat, none = np.sqrt(variance) <= floor, np.abs(estimate) <= floor
    se = np.where(flat, np.nan, np.sqrt(variance))
    statistic = np.where(none, 0.0, estimate) / se
    pvalue = np.where(flat & none, 1.0, 2 * stdtr(df, -np.abs(statistic)))
    reach = stdtrit(df, (1 + level) / 2) * se
    return Tested(statistic, pvalue, np.stack([estimate - reach, estimate + reach], axis=1))


def combined_f(d: Floats, level: float, floor: Floats) -> Tested:
    """Alpaydin's F over m repeats of two halves: sum d^2 / (2 sum_i s_i^2), with 2m and m degrees of freedom.

    The interval holds the values mu with sum (d - mu)^2 / (2 sum_i s_i^2) below the critical value; it is centred at the
    mean, and empty (NaN) where the repeats disagree so much that every mu is refused.
    """
    from scipy.special import fdtrc, fdtri

    m = d.shape[1]
    within, squares = within_halves(d), (d**2).sum(axis=(1, 2))
    flat, none = np.sqrt(within / m) <= floor, np.abs(d).max(axis=(1, 2)) <= floor
    within = np.where(flat, np.nan, within)
    statistic = squares / (2 * within)
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
