"""Curves over thresholds under many weightings at once: what stands above the score at which a rate is first reached."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import jit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Thresholds:
    """Positives and negatives at or above every threshold, under each of (b, N) weightings of the samples.

    A rate such as recall is first reached at the row of the t-th drawn positive, and nothing between two such rows changes it:
    a curve is needed at few of its points.

    Parameters
    ----------
    weights
        (b, N) counts.
    rows
        (n,) the samples that were scored, in the order of falling score.
    positive
        (n,) who of these is positive.
    last
        (n,) the last of every run of equal scores: thresholds do not part these.
    """

    def __init__(
        self,
        weights: NDArray[Any],
        rows: NDArray[np.intp],
        positive: NDArray[np.bool_],
        last: NDArray[np.bool_],
    ) -> None:
        self._weights, self._rows, self._positive, self._last = weights, rows, positive, last
        ones = np.zeros((2, weights.shape[1]))
        ones[0, rows[positive]] = ones[1, rows[~positive]] = 1
        totals = (weights.astype(np.float64) @ ones.T).astype(np.int64)
        self.positives, self.negatives = totals[:, :1], totals[:, 1:]

    def roc(self, x: Floats) -> Floats:
        """(b, len(x)) highest true positive rate at rising false positive rates x; NaN where a class was not drawn."""
        total = self.negatives
        wanted = _first_reaching(x, total)
        hits, false, more_hits, more_false = self._around(False, wanted)
        with np.errstate(invalid="ignore", divide="ignore"):
            left, right = false / total, more_false / total
            out = hits + (more_hits - hits) * (x - left) / (right - left)
            # Where the rate is met exactly, hits cost nothing up to the next negative that was drawn.
            met = np.where(wanted == 0, 0.0, right) == x
            at = np.flatnonzero(met.any(axis=0))
            after = np.where(wanted == 0, 0, more_false)[:, at]
            top = np.where(after == total, self.positives, self._around(False, np.minimum(after + 1, total))[0])
            out[:, at] = np.where(met[:, at], top, out[:, at])
            out /= self.positives
        return np.where((self.positives > 0) & (total > 0), out, np.nan)

    def precision(self, x: Floats) -> Floats:
        """(b, len(x)) precision at the first threshold of rising recall x, above 0; NaN where no positive was drawn."""
        _, _, hits, false = self._around(True, np.maximum(_first_reaching(x, self.positives), 1))
        with np.errstate(invalid="ignore"):
            return np.where(self.positives > 0, hits / (hits + false), np.nan)

    def _around(self, of_positives: bool, wanted: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """(b, q) positives and negatives before, and through, the run of scores in which a class is first drawn so often.

        Where it is never drawn so often, or the (b, q) number is 0, they mean nothing.
        """
        lanes = jit.lanes()
        if lanes is None:
            return self._looked_up(self._positive if of_positives else ~self._positive, wanted)
        out = np.zeros((*wanted.shape, 4), dtype=np.int64)
        lanes.walk_thresholds(self._weights, self._rows, self._positive, self._last, of_positives, wanted, out)
        return out[..., 0], out[..., 1], out[..., 2], out[..., 3]

    def _looked_up(self, members: NDArray[np.bool_], wanted: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """The same without a compiler: rows are looked up in the list of all that was drawn, and counts in running sums."""
        weights = self._weights[:, self._rows]
        above = [np.zeros((len(weights), len(members) + 1), dtype=np.int64) for _ in range(2)]
        for sums, own in zip(above, (self._positive, ~self._positive), strict=True):
            np.cumsum(weights * own, axis=1, dtype=np.int64, out=sums[:, 1:])
        rows = _drawn(weights, members, wanted)
        ends = np.flatnonzero(self._last) + 1
        run = np.cumsum(np.append(False, self._last[:-1]))
        before, through = np.append(0, ends[:-1])[run][rows], ends[run][rows]
        hits, false, more_hits, more_false = (
            np.take_along_axis(sums, at, axis=1) for at in (before, through) for sums in above
        )
        return hits, false, more_hits, more_false


def _drawn(weights: NDArray[Any], members: NDArray[np.bool_], which: Ints) -> NDArray[np.intp]:
    """(b, q) rows of the first, second, ... of the members that was drawn; any row where there is none such."""
    own = np.flatnonzero(members)
    times = weights[:, own]
    drawn = np.repeat(np.tile(own, len(times)), times.ravel())
    if not len(drawn):
        return np.zeros_like(which)
    begins = np.append(0, np.cumsum(times.sum(axis=1, dtype=np.int64))[:-1])[:, None]
    return np.asarray(drawn[np.clip(begins + which - 1, 0, len(drawn) - 1)])


def _first_reaching(x: Floats, total: Ints) -> Ints:
    """(b, len(x)) the smallest count whose share of the (b, 1) total is x or more, as divided in floating point."""
    out = np.ceil(x * total)
    with np.errstate(invalid="ignore", divide="ignore"):
        out -= (out - 1) / total >= x
        out += out / total < x
    return np.clip(out, 0, total).astype(np.int64)
