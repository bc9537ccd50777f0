"""Bootstrap intervals of many differences at once, and the p values that are their duals."""

from __future__ import annotations

import numpy as np

from .base import Floats, ratio
from .tails import Tails, normal_quantile

# |a| is at most 1/6, so that the denominators are below this only further out than draws reach.
_SMALL = 1e-2
# Differences that should be equal, or 0, differ by about this share of the numbers they come from.
ROUNDING = 1e-12


def bias_of(draws: Floats, observed: Floats) -> Floats:
    """(P,) z0: the normal quantile of the share of the (B, P) draws below what was observed, ties one half."""
    from scipy.special import ndtri

    slack = ROUNDING * np.max(np.abs(draws), axis=0, initial=0.0)
    share = (np.mean(draws < observed - slack, axis=0) + np.mean(draws <= observed + slack, axis=0)) / 2
    b = len(draws)
    # All draws on one side: as far out as the number of draws can tell.
    z0: Floats = ndtri(np.clip(share, 1 / (b + 1), b / (b + 1)))
    return z0


def acceleration_of(jackknife: Floats) -> Floats:
    """(P,) acceleration from the (units, P) values without each unit (Efron 1987); 0 where they do not vary."""
    centred = np.nanmean(jackknife, axis=0) - jackknife
    squares, cubes = np.nansum(centred**2, axis=0), np.nansum(centred**3, axis=0)
    return np.nan_to_num(ratio(cubes, 6 * squares**1.5))


def adjusted(p: float, z0: Floats, a: Floats) -> Floats:
    """(P,) the share of draws at which the end of level p stands: p itself where z0 and a are 0."""
    from scipy.special import ndtr

    z = z0 + normal_quantile(p)
    out: Floats = ndtr(z0 + z / np.maximum(1 - a * z, _SMALL))
    return out


def level_at(share: Floats, z0: Floats, a: Floats) -> Floats:
    """(P,) the level whose end stands at this share of draws: the inverse of `adjusted`."""
    from scipy.special import ndtr, ndtri

    w = ndtri(share) - z0
    out: Floats = ndtr(w / np.maximum(1 + a * w, _SMALL) - z0)
    return out


def ends(ordered: Floats, shares: Floats) -> Floats:
    """(P,) quantiles of the ordered draws (B, P): the i-th at i / (B + 1), linear between, the outermost beyond."""
    b, p = ordered.shape
    position = np.clip(shares * (b + 1) - 1, 0, b - 1)
    left = np.minimum(position.astype(np.intp), b - 1)
    right = np.minimum(left + 1, b - 1)
    columns, part = np.arange(p), position - left
    low, high = ordered[left, columns], ordered[right, columns]
    out: Floats = low + part * (high - low)
    return out


def interval_and_tails(ordered: Floats, level: float, z0: Floats, a: Floats) -> tuple[Floats, Tails]:
    """(P, 2) intervals of draws ordered in each column (B, P), and the tails: levels at which an end reaches 0."""
    tail = (1 - level) / 2
    interval = np.stack([ends(ordered, adjusted(q, z0, a)) for q in (tail, 1 - tail)], axis=1)
    return interval, Tails(level_at(_share_at_zero(ordered), z0, a), level_at(_share_at_zero(-ordered[::-1]), -z0, -a))


def _share_at_zero(ordered: Floats) -> Floats:
    """(P,) the largest share whose quantile is not above 0, within what B draws can tell."""
    b, p = ordered.shape
    k = np.sum(ordered <= 0, axis=0)
    inside = (k > 0) & (k < b)
    columns = np.arange(p)
    below, above = ordered[np.maximum(k, 1) - 1, columns], ordered[np.minimum(k, b - 1), columns]
    part = np.where(inside, ratio(-below, above - below), 0.0)
    share: Floats = np.clip((k + np.nan_to_num(part)) / (b + 1), 1 / (b + 1), b / (b + 1))
    return share
