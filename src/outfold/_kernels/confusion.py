"""Metrics of the confusion matrix, by one matrix product for each class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .base import Array, Counter, Floats, mean_ratio, ratio, total

# Draws times configurations worked on at once: the temporary arrays then stay in the processor's cache.
_CELLS = 2**15


class ClassCounts(NamedTuple):
    """Weighted counts of one class: predicted and true, predicted, true; broadcastable against each other."""

    hits: Floats
    predicted: Floats
    actual: Floats


class ConfusionKernel:
    """A metric of each class's hits, predictions and members; subclasses say which.

    Parameters
    ----------
    predictions
        (C, N) predicted class codes.
    y
        (N,) true class codes.
    n_classes
        Number of classes K; codes are 0..K-1.
    """

    def __init__(self, predictions: Array, y: Array, n_classes: int = 2) -> None:
        self.n_configs = len(predictions)
        self._n_classes = n_classes
        self._y = y
        self._predictions = predictions
        self._members = [np.flatnonzero(y == k) for k in range(n_classes)]
        self._hits = [Counter(predictions[:, rows] == k) for k, rows in enumerate(self._members)]
        self._named = [Counter(predictions == k) for k in range(n_classes)] if n_classes > 2 else []

    def metric(self, classes: Iterator[ClassCounts]) -> Floats:
        """The metric from the counts of every class in turn, elementwise."""
        raise NotImplementedError

    def scores(self, weights: Array) -> Floats:
        """(b, C) metric of every configuration under each weighting."""
        out = np.empty((len(weights), self.n_configs))
        size = max(16, _CELLS // max(self.n_configs, 1))
        for start in range(0, len(weights), size):
            draws = slice(start, start + size)
            out[draws] = self.metric(self._counts(weights[draws]))
        return out

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) metric of configuration ``chosen[i]`` under ``weights[i]``."""
        return self.metric(self._paired_counts(weights, chosen))

    def _counts(self, weights: Array) -> Iterator[ClassCounts]:
        """Counts (b, C) of each class; one at a time, so that memory does not grow with their number."""
        parts = [weights[:, rows] for rows in self._members]
        actual = [total(part)[:, None] for part in parts]
        hits = (count(part).astype(np.float64) for count, part in zip(self._hits, parts, strict=True))
        if self._n_classes == 2:
            return _two_classes(*hits, *actual)
        named = (count(weights).astype(np.float64) for count in self._named)
        return map(ClassCounts, hits, named, actual)

    def _paired_counts(self, weights: Array, chosen: NDArray[np.intp]) -> Iterator[ClassCounts]:
        """Counts (b,) of each class for the chosen configurations, by one pass over their predictions."""
        predicted = self._predictions[chosen]
        right = weights * (predicted == self._y)
        hits = [total(right[:, rows]) for rows in self._members]
        actual = [total(weights[:, rows]) for rows in self._members]
        if self._n_classes == 2:
            return _two_classes(*hits, *actual)
        cells = predicted + self._n_classes * np.arange(len(weights))[:, None]
        named = np.bincount(cells.ravel(), weights.ravel(), minlength=self._n_classes * len(weights))
        return map(ClassCounts, hits, named.reshape(len(weights), -1).T.astype(np.float64), actual)


def _two_classes(zero: Floats, one: Floats, zeros: Floats, ones: Floats) -> Iterator[ClassCounts]:
    """The counts of two classes from their hits and members: a miss of one is a prediction of the other."""
    yield ClassCounts(zero, zero + (ones - one), zeros)
    yield ClassCounts(one, one + (zeros - zero), ones)


class BalancedAccuracyKernel(ConfusionKernel):
    """Mean recall of the classes that have weight."""

    def metric(self, classes: Iterator[ClassCounts]) -> Floats:
        """Mean of hits over members."""
        counts = [(c.hits, c.actual) for c in classes]
        return mean_ratio(*zip(*counts, strict=True))


class F1Kernel(ConfusionKernel):
    """Harmonic mean of precision and recall of class 1; NaN unless it has weight."""

    def metric(self, classes: Iterator[ClassCounts]) -> Floats:
        """2 hits / (predicted + members)."""
        _, one = classes
        return ratio(2 * one.hits, np.where(one.actual > 0, one.predicted + one.actual, 0))


class MacroF1Kernel(ConfusionKernel):
    """Mean F1 of the classes that have weight or are predicted."""

    def metric(self, classes: Iterator[ClassCounts]) -> Floats:
        """Mean of 2 hits / (predicted + members)."""
        counts = [(2 * c.hits, c.predicted + c.actual) for c in classes]
        return mean_ratio(*zip(*counts, strict=True))


class MccKernel(ConfusionKernel):
    """Correlation of true and predicted classes (Gorodkin 2004, eq. 8); NaN unless two classes have weight.

    Zero where only one class is predicted.
    """

    def metric(self, classes: Iterator[ClassCounts]) -> Floats:
        """Covariance over the root of the product of variances, each times the squared number of samples."""
        hits, samples, cross, predicted, actual = (np.zeros(()) for _ in range(5))
        for c in classes:
            hits = hits + c.hits
            samples = samples + c.actual
            cross = cross + c.predicted * c.actual
            predicted = predicted + c.predicted**2
            actual = actual + c.actual**2
        covariance = hits * samples - cross
        spread, spread_y = samples**2 - predicted, samples**2 - actual
        # Squared before the division: integers up to 9,741 samples, so that equal correlations are equal floats.
        square = ratio(covariance**2, np.where(spread > 0, spread, 1) * spread_y)
        return np.copysign(np.sqrt(square), covariance)
