"""Curves over thresholds under many weightings at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import jit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Ranked(NamedTuple):
    """Scored samples, best score first.

    Attributes
    ----------
    rows
        (n,) which samples these are, columns of the weights.
    positive
        (n,) who of them is positive.
    last
        (n,) the last of every run of equal scores: thresholds do not part these.
    """

    rows: NDArray[np.intp]
    positive: NDArray[np.bool_]
    last: NDArray[np.bool_]

    @property
    def steps(self) -> Ints:
        """What a sample adds to a count of both classes, positives in its upper half."""
        return np.where(self.positive, 1 << 32, 1)

    def totals(self, weights: NDArray[Any]) -> Ints:
        """(b, 2) positives and negatives drawn."""
        sides = [weights[:, self.rows[own]].sum(axis=1, dtype=np.int64) for own in (self.positive, ~self.positive)]
        return np.stack(sides, axis=1)


def roc(ranked: Ranked, weights: NDArray[Any], x: Floats, totals: Ints | None = None) -> Floats:
    """(b, len(x)) highest true positive rate at rising false positive rates x; NaN where a class was not drawn.

    The totals are found where they are not known.
    """
    totals, lanes = ranked.totals(weights) if totals is None else totals, jit.lanes()
    if lanes is None:
        out = _roc(_Counts(ranked, weights), totals[:, :1], totals[:, 1:], x)
    else:
        out = np.zeros((len(weights), len(x)))
        lanes.roc_walk(weights, ranked.rows, ranked.steps, ranked.last, totals, x, out)
    out[(totals == 0).any(axis=1)] = np.nan
    return out


def precision(ranked: Ranked, weights: NDArray[Any], x: Floats, totals: Ints | None = None) -> Floats:
    """(b, len(x)) precision at the first threshold of rising recall x, above 0; NaN where no positive was drawn.

    The totals are found where they are not known.
    """
    totals, lanes = ranked.totals(weights) if totals is None else totals, jit.lanes()
    if lanes is None:
        wanted = np.maximum(_first_reaching(x, totals[:, :1]), 1)
        _, _, hits, false = _Counts(ranked, weights).around(ranked.positive, wanted)
        with np.errstate(invalid="ignore"):
            out = hits / (hits + false)
    else:
        out = np.zeros((len(weights), len(x)))
        lanes.precision_walk(weights, ranked.rows, ranked.steps, ranked.last, totals, x, out)
    out[totals[:, 0] == 0] = np.nan
    return out


# -- without a compiler ---------------------------------------------------------------------------------------
#
# A rate such as recall is first reached at the row of the t-th drawn positive, and nothing between two such rows changes it.
# These rows are looked up in the list of all that was drawn, and what stands above them in running sums.


def _roc(counts: _Counts, positives: Ints, negatives: Ints, x: Floats) -> Floats:
    others = ~counts.ranked.positive
    wanted = _first_reaching(x, negatives)
    hits, false, more_hits, more_false = counts.around(others, wanted)
    with np.errstate(invalid="ignore", divide="ignore"):
        left, right, low = false / negatives, more_false / negatives, hits / positives
        out = low + (more_hits / positives - low) * (x - left) / (right - left)
        # Where the rate is met exactly, hits cost nothing up to the next negative that was drawn.
        met = np.where(wanted == 0, 0.0, right) == x
        after = np.where(wanted == 0, 0, more_false)
        top = counts.around(others, np.minimum(after + 1, negatives))[0]
        return np.where(met, np.where(after == negatives, positives, top) / positives, out)


class _Counts:
    """Positives and negatives at or above every threshold."""

    def __init__(self, ranked: Ranked, weights: NDArray[Any]) -> None:
        self.ranked, self._weights = ranked, weights[:, ranked.rows]
        self._above = [np.zeros((len(weights), len(ranked.rows) + 1), dtype=np.int64) for _ in range(2)]
        for sums, own in zip(self._above, (ranked.positive, ~ranked.positive), strict=True):
            np.cumsum(self._weights * own, axis=1, dtype=np.int64, out=sums[:, 1:])
        ends = np.flatnonzero(ranked.last) + 1
        run = np.cumsum(np.append(False, ranked.last[:-1]))
        self._before, self._through = np.append(0, ends[:-1])[run], ends[run]

    def around(self, members: NDArray[np.bool_], wanted: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """(b, q) positives and negatives before, and through, the run in which the t-th drawn member is; t is (b, q)."""
        rows = self._drawn(members, wanted)
        hits, false, more_hits, more_false = (
            np.take_along_axis(sums, at[rows], axis=1) for at in (self._before, self._through) for sums in self._above
        )
        return hits, false, more_hits, more_false

    def _drawn(self, members: NDArray[np.bool_], which: Ints) -> NDArray[np.intp]:
        """(b, q) rows of the first, second, ... of the members that was drawn; any row where there is none such."""
        own = np.flatnonzero(members)
        times = self._weights[:, own]
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
