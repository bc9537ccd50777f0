"""Metrics made of weighted moments: roots of means, and how much better than a constant prediction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .base import Array, Floats, ratio, total
from .means import MeanKernel

# Below this share of the mean square a variance by one pass has lost digits, and is taken again by two.
_CANCELLED = 1e-3

Baseline = Callable[[Array], Floats]


class RootMeanKernel:
    """Root of the weighted mean of non-negative ``values`` (C, N)."""

    def __init__(self, values: Array) -> None:
        self.n_configs = len(values)
        self._mean = MeanKernel(values)

    def scores(self, weights: Array) -> Floats:
        """(b, C) root mean of every configuration under each weighting."""
        return np.sqrt(self._mean.scores(weights))

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) root mean of configuration ``chosen[i]`` under ``weights[i]``."""
        return np.sqrt(self._mean.paired(weights, chosen))


class SkillKernel:
    """One minus the mean loss over that of the best constant prediction: R2 and its kin; NaN where that has no loss.

    Parameters
    ----------
    values
        (C, N) losses.
    baseline
        (b,) mean loss of the constant under each weighting, exactly 0 where all labels are equal.
    """

    def __init__(self, values: Floats, baseline: Baseline) -> None:
        self.n_configs = len(values)
        self._loss, self._baseline = MeanKernel(values), baseline

    def scores(self, weights: Array) -> Floats:
        """(b, C) skill of every configuration under each weighting."""
        weights = weights.astype(np.float64, copy=False)  # once for both
        totals = total(weights)
        out = ratio(self._loss.sums(weights, totals), (self._baseline(weights) * totals)[:, None], reuse=True)
        return np.subtract(1.0, out, out=out)

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) skill of configuration ``chosen[i]`` under ``weights[i]``."""
        weights = weights.astype(np.float64, copy=False)
        return 1.0 - ratio(self._loss.paired(weights, chosen), self._baseline(weights))


class ExplainedVarianceKernel:
    """One minus the variance of the errors over that of y; NaN unless two values of y differ.

    Parameters
    ----------
    predictions
        (C, N) predicted values.
    y
        (N,) true values.
    """

    def __init__(self, predictions: Floats, y: Floats) -> None:
        self.n_configs = len(predictions)
        errors = np.subtract(y, predictions, dtype=np.float64)
        # A constant added to the errors changes nothing; about 0 one pass keeps the digits of the variance.
        self._errors = errors - errors.mean(axis=1, keepdims=True)
        self._mean, self._square = MeanKernel(self._errors), MeanKernel(self._errors**2)
        self._spread = variance(y)

    def scores(self, weights: Array) -> Floats:
        """(b, C) explained variance of every configuration under each weighting."""
        square = self._square.scores(weights)
        left = square - self._mean.scores(weights) ** 2
        for i, c in zip(*np.nonzero(left < _CANCELLED * square), strict=True):
            left[i, c] = _two_passes(self._errors[c], weights[i])
        return 1.0 - ratio(left, self._spread(weights)[:, None])

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) explained variance of configuration ``chosen[i]`` under ``weights[i]``."""
        square = self._square.paired(weights, chosen)
        left = square - self._mean.paired(weights, chosen) ** 2
        for i in np.flatnonzero(left < _CANCELLED * square):
            left[i] = _two_passes(self._errors[chosen[i]], weights[i])
        return 1.0 - ratio(left, self._spread(weights))


def _two_passes(values: Floats, weights: Array) -> float:
    mean = np.average(values, weights=weights)
    return float(np.average((values - mean) ** 2, weights=weights))


# -- what a constant prediction loses -------------------------------------------------------------------


def variance(y: Floats) -> Baseline:
    """(b,) variance of y, stable wherever y is centred; exactly 0 where y is constant."""
    y = y - y.mean()  # one pass about 0 keeps the digits; where it does not, two are made
    columns = np.stack([np.ones(len(y)), y, y**2], axis=1)

    def spread(weights: Array) -> Floats:
        counts = weights.astype(np.float64, copy=False)
        size, first, second = (counts @ columns).T
        square = ratio(second, size)
        out: Floats = square - ratio(first, size) ** 2
        lost = np.flatnonzero(out <= _CANCELLED * square)
        if len(lost):
            out[lost] = _variance(y, counts[lost])
        return out

    return spread


def _variance(y: Floats, counts: Floats) -> Floats:
    """(b,) variance of y by two passes."""
    size = total(counts)
    mean = ratio(counts @ y, size)
    squares = ratio(np.einsum("bn,bn->b", counts, (y - mean[:, None]) ** 2), size)
    drawn = counts > 0
    lowest, highest = np.where(drawn, y, np.inf).min(axis=1), np.where(drawn, y, -np.inf).max(axis=1)
    return np.where(lowest < highest, squares, 0.0)


def deviation(y: Floats) -> Baseline:
    """(b,) mean distance of y from its median."""
    order = np.argsort(y)

    def distance(weights: Array) -> Floats:
        running = np.cumsum(weights[:, order], axis=1, dtype=np.int64)
        middle = np.argmax(2 * running >= running[:, -1:], axis=1)
        distances = np.abs(y - y[order[middle]][:, None])
        return ratio(np.einsum("bn,bn->b", weights.astype(np.float64), distances), total(weights))

    return distance


def _shares(y: Array, n_classes: int, weights: Array) -> Floats:
    """(b, K) share of every class."""
    counts = weights.astype(np.float64) @ (y[:, None] == np.arange(n_classes)).astype(np.float64)
    return ratio(counts, total(weights)[:, None])


def entropy(y: Array, n_classes: int) -> Baseline:
    """(b,) mean log loss of the shares of the classes."""

    def surprise(weights: Array) -> Floats:
        p = _shares(y, n_classes, weights)
        out: Floats = -np.sum(p * np.log(np.where(p > 0, p, 1.0)), axis=1)
        return out

    return surprise


def impurity(y: Array, n_classes: int) -> Baseline:
    """(b,) mean squared error of the shares of the classes: of the second of two, else summed over classes."""

    def squares(weights: Array) -> Floats:
        p = _shares(y, n_classes, weights)
        whole: Floats = np.sum(p * (1 - p), axis=1)
        return whole / 2 if n_classes == 2 else whole

    return squares
