"""A t test of a mean over units whose differences are skewed: samples, or groups of unequal sizes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .kernels import Array, Floats, ratio
from .paired import Tested


class Jackknife(NamedTuple):
    """(P,) the mean, its standard error, its skewness, and the degrees of freedom, from leaving out one unit at a time."""

    mean: Floats
    error: Floats
    skewness: Floats
    df: Floats


def jackknife(parts: Floats, shares: Floats) -> Jackknife:
    """Of (P, U) what each unit adds to the mean, and (U,) or (P, U) the share of the samples that each has.

    Nobody knows whether a large group tells more than a small one: its samples may all be alike. So the degrees of freedom and
    the skewness are those of group means that vary alike whatever the size: 1 / (sum of squared shares), less one (Kish 1965),
    and the skewness of these means times the sum of cubed shares over that of squared ones to the power 3/2. For U units of one
    size they are U - 1, and the skewness over sqrt(U).
    """
    n_units, mean = parts.shape[-1], parts.sum(axis=-1)
    apart = parts / shares - mean[..., None]
    # Cubes of what is very small or very large would be lost.
    unit = np.abs(apart).max(axis=-1)
    apart = np.nan_to_num(ratio(apart, unit[..., None]))
    # The mean less the mean without the unit.
    told = apart * shares / (1 - shares)
    error = unit * np.sqrt((n_units - 1) / n_units * np.sum(told**2, axis=-1))
    squares, cubes = (np.sum(shares * apart**k, axis=-1) for k in (2, 3))
    of_means = np.nan_to_num(ratio(cubes, squares**1.5))
    skewness = of_means * np.sum(shares**3, axis=-1) / np.sum(shares**2, axis=-1) ** 1.5
    df = np.broadcast_to(1 / np.sum(shares**2, axis=-1) - 1, mean.shape)
    return Jackknife(mean, error, skewness, df)


def corrected(t: Array, skewness: Array) -> Floats:
    """Hall's (1992) transformation of t, which removes its skewness: monotone, and t itself where the mean has none."""
    return np.asarray(t + skewness * (t**2 / 3 + 1 / 6) + skewness**2 * t**3 / 27)


def uncorrected(z: Array, skewness: Array) -> Floats:
    """The t that is corrected to z."""
    moved = z - skewness / 6
    root = np.cbrt(1 + skewness * moved)
    # 3 (root - 1) / skewness, without dividing by a skewness of 0.
    return np.asarray(3 * moved / (root**2 + root + 1))


def careful_test(found: Jackknife, level: float, floor: Floats, null: float = 0.0) -> Tested:
    """Means less the null, two-sided, by the more careful of t and corrected t; what lies below the floor is zero.

    The correction helps on one side only: on the other it finds more, and a skewness that few units show is rough. So of the
    two statistics the one nearer to 0 counts, and 0 where they lie on both sides. The interval holds what is not rejected.
    """
    from scipy.special import stdtr, stdtrit  # here, so that importing the package does not wait for scipy

    flat, none = found.error <= floor, np.abs(found.mean - null) <= floor
    error = np.where(flat, np.nan, found.error)
    t = np.where(none, 0.0, found.mean - null) / error
    other = corrected(t, found.skewness)
    nearer = np.where(np.abs(t) <= np.abs(other), t, other)
    statistic = np.where(t * other <= 0, 0.0, nearer)
    pvalue = np.where(flat & none, 1.0, 2 * stdtr(found.df, -np.abs(statistic)))
    q = stdtrit(found.df, (1 + level) / 2)
    below, above = (np.maximum(q, side * uncorrected(side * q, found.skewness)) for side in (1, -1))
    interval = np.stack([found.mean - below * error, found.mean + above * error], axis=-1)
    return Tested(statistic, pvalue, interval)
