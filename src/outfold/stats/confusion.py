"""Metrics of the confusion matrix, by one matrix product for each class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import Array, Counter, Floats, mean_ratio, ratio, total

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


# -- shares of one class --------------------------------------------------------------------------------

# Numerator and denominator of a score of one class; the first is 0 where the second is.
Share = Callable[[ClassCounts], tuple[Floats, Floats]]


def precision(c: ClassCounts) -> tuple[Floats, Floats]:
    """Hits over predictions."""
    return c.hits, c.predicted


def recall(c: ClassCounts) -> tuple[Floats, Floats]:
    """Hits over members."""
    return c.hits, c.actual


def jaccard(c: ClassCounts) -> tuple[Floats, Floats]:
    """Hits over what is predicted or a member."""
    return c.hits, c.predicted + c.actual - c.hits


def fbeta(beta: float) -> Share:
    """(1 + beta^2) hits / (beta^2 members + predictions), van Rijsbergen's F (1979)."""
    # Whole numbers where beta or its inverse is one, so that equal scores are equal floats.
    members, predictions = (beta**2, 1.0) if beta >= 1 else (1.0, beta**-2)
    return lambda c: ((members + predictions) * c.hits, members * c.actual + predictions * c.predicted)


def _defined(share: tuple[Floats, Floats], where: Array) -> tuple[Floats, Floats]:
    """The share with a denominator of zero exactly where it is not defined; elsewhere 0 / 0 counts as 0."""
    part, whole = share
    return part, np.where(where, np.where(whole == 0, 1.0, whole), 0.0)


class OneClassKernel(ConfusionKernel):
    """A share of one of two classes, such as the precision of the positive one; NaN unless it has weight.

    Parameters
    ----------
    predictions, y
        (C, N) predicted and (N,) true codes 0 and 1.
    share
        Numerator and denominator.
    code
        The class.
    """

    def __init__(self, predictions: Array, y: Array, share: Share, code: int = 1) -> None:
        super().__init__(predictions, y)
        self._share, self._code = share, code

    def metric(self, classes: Iterator[ClassCounts]) -> Floats:
        """The share of the class."""
        c = tuple(classes)[self._code]
        return ratio(*_defined(self._share(c), c.actual > 0))


class AveragedKernel(ConfusionKernel):
    """A share of every class, averaged; subclasses say how.

    Parameters
    ----------
    predictions, y, n_classes
        As for every metric of the confusion matrix.
    share
        Numerator and denominator.
    """

    def __init__(self, predictions: Array, y: Array, n_classes: int, share: Share) -> None:
        super().__init__(predictions, y, n_classes)
        self._share = share


class MacroKernel(AveragedKernel):
    """Mean over the classes that have weight or are predicted."""

    def metric(self, classes: Iterator[ClassCounts]) -> Floats:
        """Mean of the shares."""
        shares = [_defined(self._share(c), c.predicted + c.actual > 0) for c in classes]
        return mean_ratio(*zip(*shares, strict=True))


class WeightedKernel(AveragedKernel):
    """Mean over the classes, each by its number of members."""

    def metric(self, classes: Iterator[ClassCounts]) -> Floats:
        """Sum of members times share, over all members."""
        top, members = np.zeros(()), np.zeros(())
        for c in classes:
            part, whole = _defined(self._share(c), np.ones((), dtype=bool))
            top, members = top + c.actual * (part / whole), members + c.actual
        return ratio(top, members)


class MicroKernel(AveragedKernel):
    """The share of all classes taken together."""

    def metric(self, classes: Iterator[ClassCounts]) -> Floats:
        """Sum of numerators over sum of denominators."""
        parts, wholes = zip(*map(self._share, classes), strict=True)
        return ratio(sum(parts, np.zeros(())), sum(wholes, np.zeros(())))


class BalancedAccuracyKernel(ConfusionKernel):
    """Mean recall of the classes that have weight."""

    def metric(self, classes: Iterator[ClassCounts]) -> Floats:
        """Mean of hits over members."""
        return mean_ratio(*zip(*map(recall, classes), strict=True))


# -- agreement of all classes ---------------------------------------------------------------------------


class _Sums(NamedTuple):
    """Sums over classes: hits, members, predictions times members, squared predictions, squared members."""

    hits: Floats
    samples: Floats
    cross: Floats
    predicted: Floats
    actual: Floats


def _sums(classes: Iterator[ClassCounts]) -> _Sums:
    out = _Sums(*(np.zeros(()) for _ in _Sums._fields))
    for c in classes:
        terms = (c.hits, c.actual, c.predicted * c.actual, c.predicted**2, c.actual**2)
        out = _Sums(*(one + other for one, other in zip(out, terms, strict=True)))
    return out


class MccKernel(ConfusionKernel):
    """Correlation of true and predicted classes (Gorodkin 2004, eq. 8); NaN unless two classes have weight.

    Zero where only one class is predicted.
    """

    def metric(self, classes: Iterator[ClassCounts]) -> Floats:
        """Covariance over the root of the product of variances, each times the squared number of samples."""
        s = _sums(classes)
        covariance = s.hits * s.samples - s.cross
        spread, spread_y = s.samples**2 - s.predicted, s.samples**2 - s.actual
        # Squared before the division: integers up to 9,741 samples, so that equal correlations are equal floats.
        square = ratio(covariance**2, np.where(spread > 0, spread, 1) * spread_y)
        return np.copysign(np.sqrt(square), covariance)


class KappaKernel(ConfusionKernel):
    """Agreement beyond chance over the most there can be (Cohen 1960); NaN unless two classes have weight."""

    def metric(self, classes: Iterator[ClassCounts]) -> Floats:
        """Agreement minus that of chance, over 1 minus that of chance, each times the squared number of samples."""
        s = _sums(classes)
        square = s.samples**2
        return ratio(s.hits * s.samples - s.cross, np.where(square > s.actual, square - s.cross, 0.0))
