"""Kernels of metrics: means, skill, medians and maxima of per-sample losses, and metrics of the confusion matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import Array, Counter, Floats, MeanKernel, mean_ratio, ratio, total

# -- losses and hits of each sample, (C, N) -------------------------------------------------------------


def is_right(y: Array, predictions: Array) -> NDArray[np.int32]:
    """1 where the predicted class is the true one, else 0."""
    return np.equal(predictions, y).astype(np.int32)


def is_wrong(y: Array, predictions: Array) -> NDArray[np.int32]:
    """1 where the predicted class is not the true one, else 0."""
    return np.not_equal(predictions, y).astype(np.int32)


def log_loss(y: Array, proba: Floats) -> Floats:
    """Minus the log of the true class's probability, clipped as in scikit-learn; `proba` is (C, N) of class 1, or (C, N, K)."""
    own: Floats = np.where(y == 1, proba, 1.0 - proba) if proba.ndim == 2 else proba[:, np.arange(len(y)), y]
    eps = np.finfo(np.float64).eps
    return -np.log(np.clip(own, eps, 1.0 - eps))


def brier(y: Array, proba: Floats) -> Floats:
    """Squared error of the probability: of the positive class (C, N), or summed over classes (C, N, K)."""
    if proba.ndim == 2:
        return squared(y, proba)
    errors = proba - (y[:, None] == np.arange(proba.shape[2]))
    return np.asarray(np.einsum("cnk,cnk->cn", errors, errors))


def squared(y: Array, values: Floats) -> Floats:
    """Squared error."""
    return np.square(np.subtract(values, y, dtype=np.float64))


def absolute(y: Array, values: Floats) -> Floats:
    """Absolute error."""
    return np.abs(np.subtract(values, y, dtype=np.float64))


def relative(y: Array, values: Floats) -> Floats:
    """Absolute error as a share of the true value, clipped away from 0 as in scikit-learn."""
    return absolute(y, values) / np.maximum(np.abs(y), np.finfo(np.float64).eps)


def squared_log(y: Array, values: Floats) -> Floats:
    """Squared error of the logarithms of 1 + value; both must be above -1."""
    return squared(np.log1p(y), np.log1p(values))


def poisson_deviance(y: Array, values: Floats) -> Floats:
    """Poisson deviance: twice the log likelihood that the prediction loses against y itself; y >= 0, values > 0."""
    # y log y tends to 0 with y.
    return 2 * (y * np.log(np.where(y > 0, y, 1.0) / values) - y + values)


def gamma_deviance(y: Array, values: Floats) -> Floats:
    """Gamma deviance: twice the log likelihood that the prediction loses against y itself; both must be above 0."""
    return 2 * (np.log(values / y) + y / values - 1)


def in_top_two(y: Array, scores: Floats) -> NDArray[np.int32]:
    """1 where the true class is among the two highest scores (C, N, K), else 0; a later class wins a tie."""
    own = np.take_along_axis(scores, np.broadcast_to(y[None, :, None], (*scores.shape[:2], 1)), axis=2)
    later = np.arange(scores.shape[2]) > y[:, None]
    ahead = (scores > own) | ((scores == own) & later)
    return np.asarray((ahead.sum(axis=2) < 2).astype(np.int32))


# -- skill: how much better than a constant prediction ------------------------------------------------------

# If a one-pass variance is below this share of the mean square, it has lost digits and is computed again in two passes.
_CANCELLED = 1e-3

Baseline = Callable[[Array], Floats]


class SkillKernel:
    """One minus the mean of (C, N) losses over that of the best constant prediction, such as R2; NaN where that has no loss.

    `baseline` gives the (b,) mean losses of the constant, exactly 0 where all labels are equal.
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
    """One minus the variance of the errors over that of y; NaN unless two values of y differ."""

    def __init__(self, predictions: Floats, y: Floats) -> None:
        self.n_configs = len(predictions)
        errors = np.subtract(y, predictions, dtype=np.float64)
        # A constant added to the errors changes nothing; about 0 one pass keeps the digits of the variance.
        self._errors = errors - errors.mean(axis=1, keepdims=True)
        self._mean, self._square = MeanKernel(self._errors), MeanKernel(self._errors**2)
        self._spread = partial(variance, y)

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


def variance(y: Floats, weights: Array) -> Floats:
    """(b,) variance of y, stable wherever y is centred; exactly 0 where y is constant."""
    y = y - y.mean()  # one pass about 0 keeps the digits; where it does not, two are made
    counts = weights.astype(np.float64, copy=False)
    size, first, second = (counts @ np.stack([np.ones(len(y)), y, y**2], axis=1)).T
    square = ratio(second, size)
    out: Floats = square - ratio(first, size) ** 2
    lost = np.flatnonzero(out <= _CANCELLED * square)
    if len(lost):
        out[lost] = _variance(y, counts[lost])
    return out


def _variance(y: Floats, counts: Floats) -> Floats:
    """(b,) variance of y by two passes."""
    size = total(counts)
    mean = ratio(counts @ y, size)
    squares = ratio(np.einsum("bn,bn->b", counts, (y - mean[:, None]) ** 2), size)
    drawn = counts > 0
    lowest, highest = np.where(drawn, y, np.inf).min(axis=1), np.where(drawn, y, -np.inf).max(axis=1)
    return np.where(lowest < highest, squares, 0.0)


def deviation(y: Floats, weights: Array) -> Floats:
    """(b,) mean distance of y from its median."""
    order = np.argsort(y)
    running = np.cumsum(weights[:, order], axis=1, dtype=np.int64)
    middle = np.argmax(2 * running >= running[:, -1:], axis=1)
    distances = np.abs(y - y[order[middle]][:, None])
    return ratio(np.einsum("bn,bn->b", weights.astype(np.float64), distances), total(weights))


def _shares(y: Array, n_classes: int, weights: Array) -> Floats:
    """(b, K) share of every class."""
    counts = weights.astype(np.float64) @ (y[:, None] == np.arange(n_classes)).astype(np.float64)
    return ratio(counts, total(weights)[:, None])


def entropy(y: Array, n_classes: int, weights: Array) -> Floats:
    """(b,) mean log loss of the shares of the classes."""
    p = _shares(y, n_classes, weights)
    return np.asarray(-np.sum(p * np.log(np.where(p > 0, p, 1.0)), axis=1))


def impurity(y: Array, n_classes: int, weights: Array) -> Floats:
    """(b,) mean squared error of the shares of the classes: of the second of two, else summed over classes."""
    p = _shares(y, n_classes, weights)
    whole: Floats = np.sum(p * (1 - p), axis=1)
    return whole / 2 if n_classes == 2 else whole


# -- one value of the sorted losses: the median and the largest -----------------------------------------


class _OrderKernel:
    """Losses (C, N) and each configuration's rows in a fixed order of them."""

    def __init__(self, values: Floats) -> None:
        self.n_configs = len(values)
        self._order = np.argsort(values, axis=1, kind="stable")
        self._sorted = np.take_along_axis(values, self._order, axis=1)


class MedianKernel(_OrderKernel):
    """Median of the losses, each row repeated by its weight; the mean of the two middle ones for an even number."""

    def scores(self, weights: Array) -> Floats:
        """(b, C) median of every configuration under each weighting."""
        b, n = weights.shape
        sizes = weights.sum(axis=1, dtype=np.int64)
        counts = np.zeros((n + 1, b), dtype=np.uint16 if sizes.max(initial=0) < 2**16 else np.int64)
        counts[:n] = weights.T
        # Groups of root N rows in the order of their losses, filled up with a row that is never drawn.
        size = max(math.isqrt(n), 1)
        groups = -(-n // size)
        out = np.empty((b, self.n_configs))
        for c, (order, values) in enumerate(zip(self._order, self._sorted, strict=True)):
            rows = np.concatenate([order, np.full(groups * size - n, n)])
            drawn = counts[rows].reshape(groups, size, b)
            low, high = (values[_position(drawn, rank)] for rank in _middle(sizes))
            out[:, c] = np.where(sizes > 0, (low + high) / 2, np.nan)
        return out

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) median of configuration ``chosen[i]`` under ``weights[i]``."""
        drawn = np.take_along_axis(weights, self._order[chosen], axis=1)
        running = np.cumsum(drawn, axis=1, dtype=np.int64)
        sizes = running[:, -1]
        low, high = (self._sorted[chosen, np.argmax(running >= rank[:, None], axis=1)] for rank in _middle(sizes))
        return np.where(sizes > 0, (low + high) / 2, np.nan)


def _middle(sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ranks, from 1, of the two middle values; both are the same for an odd number."""
    return (sizes + 1) // 2, sizes // 2 + 1


def _position(drawn: Array, ranks: NDArray[np.int64]) -> NDArray[np.intp]:
    """(b,) the first row at which the counts (groups, rows, b) reach the rank: first its group, then its place there."""
    ends = drawn.sum(axis=1, dtype=np.int64).cumsum(axis=0)
    group = np.minimum((ends < ranks).sum(axis=0), len(ends) - 1)
    lanes = np.arange(drawn.shape[2])
    before = np.where(group > 0, ends[group - 1, lanes], 0)
    running = before[:, None] + drawn[group, :, lanes].cumsum(axis=1, dtype=np.int64)
    place = np.minimum((running < ranks[:, None]).sum(axis=1), drawn.shape[1] - 1)
    # Without any weight no rank is reached; any row will do, since the caller returns NaN.
    return np.where(ends[-1] >= ranks, group * drawn.shape[1] + place, 0)


class LargestKernel(_OrderKernel):
    """The largest loss of the rows with weight."""

    def __init__(self, values: Floats) -> None:
        super().__init__(values)
        self._order, self._sorted = self._order[:, ::-1].copy(), self._sorted[:, ::-1].copy()

    def scores(self, weights: Array) -> Floats:
        """(b, C) largest loss of every configuration under each weighting."""
        drawn = weights > 0
        out = np.full((len(weights), self.n_configs), np.nan)
        # A row is drawn with probability 0.63, so a few steps down from the largest find one for all draws.
        for step in range(weights.shape[1]):
            open_ = np.isnan(out)
            if not open_.any():
                break
            np.copyto(out, self._sorted[:, step], where=open_ & drawn[:, self._order[:, step]])
        return out

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) largest loss of configuration ``chosen[i]`` under ``weights[i]``."""
        drawn = np.take_along_axis(weights, self._order[chosen], axis=1) > 0
        first = drawn.argmax(axis=1)
        rows = np.arange(len(weights))
        return np.where(drawn[rows, first], self._sorted[chosen, first], np.nan)


# -- metrics of the confusion matrix, by one matrix product for each class ----------------------------------

# Draws times configurations worked on at once: the temporary arrays then stay in the processor's cache.
_CELLS = 2**15


class ClassCounts(NamedTuple):
    """Weighted counts of one class: predicted and true, predicted, true; broadcastable against each other."""

    hits: Floats
    predicted: Floats
    actual: Floats


# A metric from the counts of each class in turn, elementwise.
ClassMetric = Callable[[Iterator[ClassCounts]], Floats]


class ConfusionKernel:
    """A metric of the counts of each class, of predicted (C, N) and true (N,) class codes 0 .. K-1."""

    def __init__(self, predictions: Array, y: Array, n_classes: int, metric: ClassMetric) -> None:
        self.n_configs = len(predictions)
        self._n_classes, self._metric = n_classes, metric
        self._y = y
        self._predictions = predictions
        self._members = [np.flatnonzero(y == k) for k in range(n_classes)]
        self._hits = [Counter(predictions[:, rows] == k) for k, rows in enumerate(self._members)]
        self._named = [Counter(predictions == k) for k in range(n_classes)] if n_classes > 2 else []

    def scores(self, weights: Array) -> Floats:
        """(b, C) metric of every configuration under each weighting."""
        out = np.empty((len(weights), self.n_configs))
        size = max(16, _CELLS // max(self.n_configs, 1))
        for start in range(0, len(weights), size):
            draws = slice(start, start + size)
            out[draws] = self._metric(self._counts(weights[draws]))
        return out

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) metric of configuration ``chosen[i]`` under ``weights[i]``."""
        return self._metric(self._paired_counts(weights, chosen))

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
ClassShare = Callable[[ClassCounts], tuple[Floats, Floats]]


def precision(c: ClassCounts) -> tuple[Floats, Floats]:
    """Hits over predictions."""
    return c.hits, c.predicted


def recall(c: ClassCounts) -> tuple[Floats, Floats]:
    """Hits over members."""
    return c.hits, c.actual


def jaccard(c: ClassCounts) -> tuple[Floats, Floats]:
    """Hits over what is predicted or a member."""
    return c.hits, c.predicted + c.actual - c.hits


def fbeta(beta: float) -> ClassShare:
    """(1 + beta^2) hits / (beta^2 members + predictions), van Rijsbergen's F (1979)."""
    # Whole numbers where beta or its inverse is one, so that equal scores are equal floats.
    members, predictions = (beta**2, 1.0) if beta >= 1 else (1.0, beta**-2)
    return lambda c: ((members + predictions) * c.hits, members * c.actual + predictions * c.predicted)


def _defined(share: tuple[Floats, Floats], where: Array) -> tuple[Floats, Floats]:
    """The share with a denominator of zero exactly where it is not defined; elsewhere 0 / 0 counts as 0."""
    part, whole = share
    return part, np.where(where, np.where(whole == 0, 1.0, whole), 0.0)


def one_class(share: ClassShare, code: int, classes: Iterator[ClassCounts]) -> Floats:
    """The share of one of two classes, such as the precision of the positive one; NaN unless it has weight."""
    c = tuple(classes)[code]
    return ratio(*_defined(share(c), c.actual > 0))


def macro(share: ClassShare, classes: Iterator[ClassCounts]) -> Floats:
    """The mean share of the classes that have weight or are predicted."""
    shares = [_defined(share(c), c.predicted + c.actual > 0) for c in classes]
    return mean_ratio(*zip(*shares, strict=True))


def weighted(share: ClassShare, classes: Iterator[ClassCounts]) -> Floats:
    """The mean share of the classes, each weighted by its number of members."""
    top, members = np.zeros(()), np.zeros(())
    for c in classes:
        part, whole = _defined(share(c), np.ones((), dtype=bool))
        top, members = top + c.actual * (part / whole), members + c.actual
    return ratio(top, members)


def micro(share: ClassShare, classes: Iterator[ClassCounts]) -> Floats:
    """The share of all classes taken together."""
    parts, wholes = zip(*map(share, classes), strict=True)
    return ratio(sum(parts, np.zeros(())), sum(wholes, np.zeros(())))


def balanced_accuracy(classes: Iterator[ClassCounts]) -> Floats:
    """Mean recall of the classes that have weight."""
    return mean_ratio(*zip(*map(recall, classes), strict=True))


# -- agreement of all classes ---------------------------------------------------------------------------


def _sums(classes: Iterator[ClassCounts]) -> tuple[Floats, ...]:
    """Sums over classes: hits, members, predictions times members, squared predictions, squared members."""
    out: tuple[Floats, ...] = (np.zeros(()),) * 5
    for c in classes:
        terms = (c.hits, c.actual, c.predicted * c.actual, c.predicted**2, c.actual**2)
        out = tuple(one + other for one, other in zip(out, terms, strict=True))
    return out


def mcc(classes: Iterator[ClassCounts]) -> Floats:
    """Correlation of true and predicted classes (Gorodkin 2004, eq. 8); NaN unless two classes have weight.

    Zero where only one class is predicted.
    """
    hits, samples, cross, predicted, actual = _sums(classes)
    covariance = hits * samples - cross
    spread, spread_y = samples**2 - predicted, samples**2 - actual
    # Squared before the division: integers up to 9,741 samples, so that equal correlations are equal floats.
    square = ratio(covariance**2, np.where(spread > 0, spread, 1) * spread_y)
    return np.copysign(np.sqrt(square), covariance)


def cohen_kappa(classes: Iterator[ClassCounts]) -> Floats:
    """Agreement beyond chance over the most there can be (Cohen 1960); NaN unless two classes have weight."""
    hits, samples, cross, _, actual = _sums(classes)
    square = samples**2
    return ratio(hits * samples - cross, np.where(square > actual, square - cross, 0.0))
