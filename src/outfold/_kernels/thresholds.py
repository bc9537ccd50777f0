"""Curves over thresholds under many weightings at once: what stands above the score at which a rate is first reached."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Thresholds:
    """Positives and negatives at or above every threshold, under each of (b, n) weightings of n scored samples.

    A rate such as recall is first reached at the row of the t-th drawn positive, and nothing between two such rows changes it.
    So a curve is needed at few of its points: the rows are found in the list of all that was drawn, without any search.

    Parameters
    ----------
    weights
        (b, n) counts, samples in the order of falling score.
    positive
        (n,) who is positive.
    last
        (n,) the last of every run of equal scores: thresholds do not part these.
    """

    def __init__(self, weights: NDArray[Any], positive: NDArray[np.bool_], last: NDArray[np.bool_]) -> None:
        self._weights, self._positive = weights, positive
        ends = np.flatnonzero(last) + 1
        run = np.cumsum(np.append(False, last[:-1]))
        self._through, self._before = ends[run], np.append(0, ends[:-1])[run]
        # Both counts in one running sum: positives in the upper half of the bits.
        n = int(weights.sum(axis=1, dtype=np.int64).max(initial=0))
        self._bits, kind = (16, np.uint32) if n < 1 << 16 else (32, np.uint64)
        steps = np.where(positive, 1 << self._bits, 1).astype(kind)
        self._above = np.zeros((len(weights), len(positive) + 1), dtype=kind)
        np.cumsum(weights * steps, axis=1, dtype=kind, out=self._above[:, 1:])
        self.positives, self.negatives = self._counts(np.full((len(weights), 1), len(positive)))

    def roc(self, x: Floats) -> Floats:
        """(b, len(x)) highest true positive rate at false positive rates x; NaN where a class was not drawn."""
        drawn, total = _Drawn(self._weights, ~self._positive), self.negatives
        wanted = _first_reaching(x, total)
        rows = drawn.rows(wanted)
        (hits, false), (more_hits, more_false) = self._counts(self._before[rows]), self._counts(self._through[rows])
        with np.errstate(invalid="ignore", divide="ignore"):
            left, right = false / total, more_false / total
            out = hits + (more_hits - hits) * (x - left) / (right - left)
            # Where the rate is met exactly, hits cost nothing up to the next negative that was drawn.
            met = np.where(wanted == 0, 0.0, right) == x
            if met.any():
                after = np.where(wanted == 0, 0, more_false)
                top = self._counts(self._before[drawn.rows(np.minimum(after + 1, total))])[0]
                out = np.where(met, np.where(after == total, self.positives, top), out)
            out = out / self.positives
        return np.where((self.positives > 0) & (total > 0), out, np.nan)

    def precision(self, x: Floats) -> Floats:
        """(b, len(x)) precision at the first threshold of recall x, above 0; NaN where no positive was drawn."""
        wanted = np.maximum(_first_reaching(x, self.positives), 1)
        hits, false = self._counts(self._through[_Drawn(self._weights, self._positive).rows(wanted)])
        with np.errstate(invalid="ignore"):
            return np.where(self.positives > 0, hits / (hits + false), np.nan)

    def _counts(self, rows: NDArray[np.intp]) -> tuple[Ints, Ints]:
        """(b, q) positives and negatives among the first (b, q) rows."""
        both = np.take_along_axis(self._above, rows, axis=1)
        return (both >> self._bits).astype(np.int64), (both & ((1 << self._bits) - 1)).astype(np.int64)


class _Drawn:
    """The rows of some members, under each weighting as often as they were drawn."""

    def __init__(self, weights: NDArray[Any], members: NDArray[np.bool_]) -> None:
        own = np.flatnonzero(members)
        times = weights[:, own]
        self._rows = np.repeat(np.tile(own, len(times)), times.ravel())
        self._begins = np.append(0, np.cumsum(times.sum(axis=1, dtype=np.int64))[:-1])[:, None]

    def rows(self, which: Ints) -> NDArray[np.intp]:
        """(b, q) rows of the first, second, ... that was drawn; any row where there is none such."""
        if not len(self._rows):
            return np.zeros_like(which)
        return np.asarray(self._rows[np.clip(self._begins + which - 1, 0, len(self._rows) - 1)])


def _first_reaching(x: Floats, total: Ints) -> Ints:
    """(b, len(x)) the smallest count whose share of the (b, 1) total is x or more, as divided in floating point."""
    out = np.ceil(x * total)
    with np.errstate(invalid="ignore", divide="ignore"):
        out -= (out - 1) / total >= x
        out += out / total < x
    return np.clip(out, 0, total).astype(np.int64)
