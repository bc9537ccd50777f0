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
        with np.errstate(invalid="ignore", divide="ignore"):
            hits, false = (counts / totals[:, [i]] for i, counts in enumerate(_above(ranked, weights)))
        out = np.stack([_roc(*curve, x) for curve in zip(hits, false, strict=True)])
    else:
        out = np.zeros((len(weights), len(x)))
        lanes.roc_walk(weights, ranked.rows, ranked.steps, ranked.last, totals, x, out)
    out[(totals == 0).any(axis=1)] = np.nan
    return out


def precision(ranked: Ranked, weights: NDArray[Any], x: Floats, totals: Ints | None = None) -> Floats:
    """(b, len(x)) precision at the first threshold of rising recall x, above 0; NaN where no positive was drawn."""
    totals, lanes = ranked.totals(weights) if totals is None else totals, compiling.load("lanes")
    if lanes is None:
        with np.errstate(invalid="ignore", divide="ignore"):
            sums = _above(ranked, weights)
            some = np.maximum(x, np.finfo(np.float64).tiny)  # at recall 0 too, the first threshold finds a positive
            first = np.stack([np.searchsorted(recall, some) for recall in sums[0] / totals[:, :1]])
            hits, false = (
                np.take_along_axis(counts, np.minimum(first, counts.shape[1] - 1), axis=1) for counts in sums
            )
            out = hits / (hits + false)
    else:
        out = np.zeros((len(weights), len(x)))
        lanes.precision_walk(weights, ranked.rows, ranked.steps, ranked.last, totals, x, out)
    out[totals[:, 0] == 0] = np.nan
    return out


def _above(ranked: Ranked, weights: NDArray[Any]) -> list[Ints]:
    """(b, T + 1) positives and negatives at or above each threshold, the first of which lets nothing through."""
    drawn, ends = weights[:, ranked.rows], np.append(0, np.flatnonzero(ranked.last) + 1)
    sums = [np.zeros((len(drawn), len(ranked.rows) + 1), dtype=np.int64) for _ in range(2)]
    for out, own in zip(sums, (ranked.positive, ~ranked.positive), strict=True):
        np.cumsum(drawn * own, axis=1, dtype=np.int64, out=out[:, 1:])
    return [out[:, ends] for out in sums]


def _roc(hits: Floats, false: Floats, x: Floats) -> Floats:
    """The highest rate of hits at the false positive rates x, between thresholds on the straight line."""
    at = np.searchsorted(false, x, "right") - 1
    after = np.minimum(at + 1, len(false) - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        between = hits[at] + (hits[after] - hits[at]) * (x - false[at]) / (false[after] - false[at])
    return np.where(false[at] == x, hits[at], between)


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
