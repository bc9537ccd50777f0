"""The .632 and .632+ combinations of resubstitution and out-of-bag loss (Efron 1983; Efron and Tibshirani 1997)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .base import Array, Floats

# The share of the samples that a bootstrap round holds, 1 - 1/e, as published.
SHARE = 0.632


class Plus(NamedTuple):
    """The .632+ estimate and the relative overfitting rate R it is made with."""

    loss: Floats
    overfitting: Floats


def point632(err0: Array, err1: Array) -> Floats:
    """0.368 resubstitution + 0.632 out-of-bag loss."""
    return np.asarray((1 - SHARE) * err0 + SHARE * err1, dtype=np.float64)


def overfitting_rate(err0: Array, err1: Array, gamma: Array) -> Floats:
    """R, from 0 (no overfitting) to 1 (out of the bag no better than no information): eq. 31."""
    bounded = np.minimum(err1, gamma)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(bounded > err0, (bounded - err0) / (gamma - err0), 0.0)
    return np.where(np.isnan(err0) | np.isnan(err1), np.nan, rate)


def point632plus(err0: Array, err1: Array, gamma: Array) -> Plus:
    """The .632+ estimate as published, eq. 32; `gamma` is the loss without information."""
    rate = overfitting_rate(err0, err1, gamma)
    correction = (1 - SHARE) * SHARE * rate / (1 - (1 - SHARE) * rate)
    return Plus(np.asarray(point632(err0, err1) + (np.minimum(err1, gamma) - err0) * correction), rate)


def weighted632plus(err0: Array, err1: Array, gamma: Array) -> Plus:
    """The .632+ as a weighted mean with w = 0.632 / (1 - 0.368 R) (Raschka 2018, eq. 35-37); out-of-bag loss at most gamma.

    The same as the published form unless the out-of-bag loss is above gamma.
    """
    rate = overfitting_rate(err0, err1, gamma)
    weight = SHARE / (1 - (1 - SHARE) * rate)
    return Plus(np.asarray((1 - weight) * err0 + weight * np.minimum(err1, gamma)), rate)


# -- the mean loss over all pairs of a label and a prediction ----------------------------------------------


def squared_pairs(y: Array, values: Array) -> Floats:
    """(C,) mean of (y_i - f_j)^2 over all i, j: the two variances and the squared distance of the means."""
    return np.asarray(np.var(y) + np.var(values, axis=1) + (np.mean(values, axis=1) - np.mean(y)) ** 2)


def absolute_pairs(y: Array, values: Array) -> Floats:
    """(C,) mean of |y_i - f_j| over all i, j: sums of the sorted labels below and above every prediction."""
    ordered = np.sort(y - np.mean(y))
    below = np.concatenate([[0.0], np.cumsum(ordered)])
    n, out = len(y), np.empty(len(values))
    for c, row in enumerate(values - np.mean(y)):
        at = np.searchsorted(ordered, row)
        out[c] = np.mean((2 * at - n) * row + below[-1] - 2 * below[at]) / n
    return out
