"""Curves over thresholds under many weightings at once, and the variance of the areas under ROC curves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import compiling
from .kernels import Array, Floats

Ints = NDArray[np.int64]


class Ranked(NamedTuple):
    """Scored samples, best score first: their columns of the weights, who is positive, and who is last of equal scores."""

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
    """(b, len(x)) highest true positive rate at rising false positive rates x; NaN where a class was not drawn."""
    totals, lanes = ranked.totals(weights) if totals is None else totals, compiling.load("lanes")
    if lanes is None:
        out = _roc(_Counts(ranked, weights), totals[:, :1], totals[:, 1:], x)
    else:
        out = np.zeros((len(weights), len(x)))
        lanes.roc_walk(weights, ranked.rows, ranked.steps, ranked.last, totals, x, out)
    out[(totals == 0).any(axis=1)] = np.nan
    return out


def precision(ranked: Ranked, weights: NDArray[Any], x: Floats, totals: Ints | None = None) -> Floats:
    """(b, len(x)) precision at the first threshold of rising recall x, above 0; NaN where no positive was drawn."""
    totals, lanes = ranked.totals(weights) if totals is None else totals, compiling.load("lanes")
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
# These rows are looked up in the list of all that was drawn, and what lies above them in running sums.


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


# -- variances of areas (DeLong et al. 1988) ------------------------------------------------------------


def placements(scores: Floats, positive: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """(C, m) share of negatives each positive beats and (C, n) share of positives that beat each negative.

    A tie counts one half. By ranks, as in Sun and Xu (2014): every model is sorted once.
    """
    above, below = np.sort(scores[:, positive], axis=1), np.sort(scores[:, ~positive], axis=1)
    m, n = above.shape[1], below.shape[1]
    of_positives = np.empty((len(scores), m))
    of_negatives = np.empty((len(scores), n))
    for k, row in enumerate(scores):
        of_positives[k] = _not_above(below[k], row[positive]) / n
        of_negatives[k] = 1 - _not_above(above[k], row[~positive]) / m
    return of_positives, of_negatives


def _not_above(ordered: Floats, values: Floats) -> Floats:
    """How many of the ordered lie below each value, ties one half."""
    return (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / 2


def area_variances(positives: Floats, negatives: Floats) -> Floats:
    """(P,) variance of the means of placements, or of differences of placements, (P, m) and (P, n)."""
    own, other = (part.var(axis=1, ddof=1) / part.shape[1] for part in (positives, negatives))
    return np.asarray(own + other)


def clustered_variances(positives: Floats, negatives: Floats, codes: tuple[Array, Array]) -> Floats:
    """The same where samples come in groups, with codes of the positives' and of the negatives' (Obuchowski 1997)."""
    m, n = positives.shape[1], negatives.shape[1]
    n_groups = int(max(code.max() for code in codes)) + 1
    a, b = (_group_sums(part, code, n_groups) for part, code in zip((positives, negatives), codes, strict=True))
    # Each variance is inflated by n / (n - 1) of the number of groups that have such samples.
    own, other, both = (g / (g - 1) for g in (len(np.unique(codes[0])), len(np.unique(codes[1])), n_groups))
    within = own * np.einsum("pg,pg->p", a, a) / m**2 + other * np.einsum("pg,pg->p", b, b) / n**2
    return np.asarray(np.maximum(within + 2 * both * np.einsum("pg,pg->p", a, b) / (m * n), 0.0))


def _group_sums(values: Floats, codes: Array, n_groups: int) -> Floats:
    centred = values - values.mean(axis=1, keepdims=True)
    members = np.zeros((len(codes), n_groups))
    members[np.arange(len(codes)), codes] = 1.0
    return np.asarray(centred @ members)
