"""Thresholds of scores: chosen on the samples that a draw holds, and counted on those that it leaves out.

A sample is taken for positive if its score is above the threshold. All cuts between the scores of one configuration are tried at
once: a walk by falling score adds up the drawn positives and negatives, and a criterion of these sums says where to cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import Floats
from .rank_metrics import INT32_TOTAL
from .resampling import blocks

# Numbers that draws take at once, so that their temporary arrays stay in the processor's cache.
_CACHED = 1 << 17
# A share asked for is reached, up to the rounding of floats.
_ROUNDING = 1e-9


class Sums(NamedTuple):
    """(b, cuts) drawn positives and negatives above each cut, and (b, 1) those there are."""

    true_positives: NDArray[Any]
    false_positives: NDArray[Any]
    positives: NDArray[Any]
    negatives: NDArray[Any]


# (b, cuts) how good each cut is, from these sums: the best of a row is taken, the highest threshold of equals.
Criterion = Callable[[Sums], NDArray[Any]]


def youden(sums: Sums) -> NDArray[Any]:
    """Sensitivity plus specificity, times the numbers of positives and negatives."""
    return np.asarray(sums.true_positives * sums.negatives - sums.false_positives * sums.positives)


def f1(sums: Sums) -> NDArray[Any]:
    """The F1 score of the positive class."""
    return np.asarray(2 * sums.true_positives / (sums.true_positives + sums.false_positives + sums.positives))


def least_sensitivity(share: float) -> Criterion:
    """The highest threshold with this sensitivity."""
    return lambda sums: sums.true_positives >= (share - _ROUNDING) * sums.positives


def least_specificity(share: float) -> Criterion:
    """The lowest threshold with this specificity: of the cuts that have it, the one with the most positives."""

    def criterion(sums: Sums) -> NDArray[Any]:
        right = sums.negatives - sums.false_positives
        above = sums.true_positives + sums.false_positives
        return np.where(right >= (share - _ROUNDING) * sums.negatives, above, -1)

    return criterion


def least_cost(missed: float, false_alarm: float) -> Criterion:
    """The lowest cost, if a missed positive and a false alarm cost this much."""

    def criterion(sums: Sums) -> NDArray[Any]:
        return np.asarray(-missed * (sums.positives - sums.true_positives) - false_alarm * sums.false_positives)

    return criterion


class Counts(NamedTuple):
    """(b,) positives and negatives above the threshold of each draw, and how many there are.

    On the samples that the draw leaves out, each as often as it is held out.
    """

    true_positives: Floats
    false_positives: Floats
    positives: Floats
    negatives: Floats


class RankedScores:
    """The predictions of one configuration by falling score: (M,) scores, the sample of each, and which are positive.

    With repeats, a sample has several predictions.
    """

    def __init__(self, scores: Floats, rows: NDArray[np.intp], positive: NDArray[np.bool_]) -> None:
        order = np.argsort(-scores)  # the order of equal scores changes no count
        self.scores, self.rows, self.positive = scores[order], rows[order], positive[order]

    @cached_property
    def cuts(self) -> NDArray[np.intp]:
        """Numbers of predictions above a threshold: none, and up to each score that is above the next."""
        return np.concatenate([[0], np.flatnonzero(np.append(np.diff(self.scores) != 0, True)) + 1])

    @cached_property
    def _most(self) -> int:
        """How many predictions a sample has at most."""
        return int(np.bincount(self.rows).max())

    @cached_property
    def _true_positives(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.positive)])

    def above(self, thresholds: Floats) -> NDArray[np.intp]:
        """(b,) how many predictions are above each threshold."""
        return np.searchsorted(-self.scores, -thresholds, side="left")

    def counted(self, thresholds: Floats) -> Counts:
        """(b,) the counts on all predictions."""
        above = self.above(thresholds)
        true = self._true_positives[above].astype(np.float64)
        positives = np.full(len(above), self._true_positives[-1], dtype=np.float64)
        return Counts(true, above - true, positives, len(self.scores) - positives)

    def choose(self, weights: NDArray[Any], criteria: Sequence[Criterion]) -> list[Floats]:
        """(b,) the threshold that each criterion chooses under (b, N) weights."""
        return [thresholds for thresholds, _ in self.corrected(weights, criteria)]

    def corrected(self, weights: NDArray[Any], criteria: Sequence[Criterion | float]) -> list[tuple[Floats, Counts]]:
        """For each criterion the thresholds it chooses under (b, N) counts of draws, and the counts on what they leave out.

        In the place of a criterion there may be a threshold that is fixed beforehand.
        """
        size = max(_CACHED // len(self.scores), 1)
        parts = [self._corrected(weights[part], criteria) for part in blocks(len(weights), size)]
        found = []
        for of_criterion in zip(*parts, strict=True):
            thresholds, counts = zip(*of_criterion, strict=True)
            found.append((np.concatenate(thresholds), Counts(*map(np.concatenate, zip(*counts, strict=True)))))
        return found

    def _corrected(self, weights: NDArray[Any], criteria: Sequence[Criterion | float]) -> list[tuple[Floats, Counts]]:
        drawn = weights[:, self.rows]
        left = drawn == 0
        # Products of two sums must fit too.
        dtype = np.int32 if int(weights.sum(axis=1).max()) * self._most <= INT32_TOTAL else np.int64
        total, true = _running(drawn, dtype), _running(drawn * self.positive, dtype)
        left_total, left_true = _running(left, np.int32), _running(left & self.positive, np.int32)
        # Where no two scores are equal, every place is one to cut at.
        at, some = np.arange(len(weights)), slice(None) if len(self.cuts) == total.shape[1] else self.cuts
        sums = Sums(true[:, some], total[:, some] - true[:, some], true[:, -1:], total[:, -1:] - true[:, -1:])
        found = []
        for criterion in criteria:
            if callable(criterion):
                thresholds = self._between(total, self.cuts[np.argmax(criterion(sums), axis=1)])
            else:
                thresholds = np.full(len(weights), criterion)
            above = self.above(thresholds)
            hits, every = left_true[at, above], left_true[:, -1]
            counts = hits, left_total[at, above] - hits, every, left_total[:, -1] - every
            found.append((thresholds, Counts(*(count.astype(np.float64) for count in counts))))
        return found

    def _between(self, total: NDArray[Any], above: NDArray[np.intp]) -> Floats:
        """(b,) half way between the last drawn score above each cut and the next drawn one below.

        Beyond the first or the last drawn score the cut is beyond all scores, drawn or not.
        """
        at = total[np.arange(len(total)), above]
        following = np.sum(total <= at[:, None], axis=1) - 1  # position of the next drawn prediction
        beyond = np.append(self.scores, np.nextafter(self.scores[-1], -np.inf))
        low, high = beyond[following], self.scores[np.maximum(above - 1, 0)]
        middle = low + (high - low) / 2
        middle = np.where((middle < high) & (following < len(self.scores)), middle, low)
        return np.asarray(np.where(above == 0, self.scores[0], middle))


def _running(numbers: NDArray[Any], dtype: type[np.int32 | np.int64]) -> NDArray[np.signedinteger]:
    """(b, M + 1) sums of the first 0, 1, ..., M numbers of each row."""
    out: NDArray[np.signedinteger] = np.zeros((len(numbers), numbers.shape[1] + 1), dtype=dtype)
    np.cumsum(numbers, axis=1, out=out[:, 1:])
    return out
