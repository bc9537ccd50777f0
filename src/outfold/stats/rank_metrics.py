"""Rank metrics: areas under ROC curves and their variance, average precision, concordance, and the curves themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import permutations
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import array_lanes, compiling
from .compiling import share_out
from .kernels import Array, Floats, in_rows, mean_ratio, ratio, total
from .resampling import blocks
from .within_folds import WithinFolds

# Twice a number of pairs of samples is at most (total weight)**2, below 2**31 up to this total.
INT32_TOTAL = 46_340
_VECTOR = 32
# Rows of one class that a compiled step takes at once, and the largest weight of which four are a byte with a sign.
_STEP, _FOURTH = 4, 31
# Lanes that are walked together: this many, or half of them if their counts would take more bytes than this.
_LANES, _LANE_BYTES = 256, 1 << 27
# More scores than this are sorted for the compiled loops at once, whatever is asked first.
_MANY_SCORES = 1 << 22
# Scores that a thread sorts at once; how many steps of a lane it takes to sort a score, and to walk a row in one lane.
_SORTED, _SORTING, _ALONE = 1 << 20, 256, 16
# Samples of which a byte each has no room in the processor's nearer caches: a bit has, where it says all.
_CACHED = 1 << 19
# Draws that the numpy paths take at once, so that their temporary arrays stay in the processor's cache.
_PART = 32


def _padded(weights: Array) -> NDArray[np.signedinteger]:
    """The weights (b, N + 1) with a column of zeros at the end, in one of the two types that compiled kernels know."""
    b, n = weights.shape
    counts = np.zeros((b, n + 1), dtype=_count_type(weights))
    counts[:, :n] = weights
    return counts


def _count_type(weights: Array, largest: int = np.iinfo(np.int8).max) -> type[np.int8 | np.int64]:
    return np.int8 if weights.max(initial=0) <= largest else np.int64


def _lanes_of(weights: Array, largest: int = np.iinfo(np.int8).max) -> NDArray[np.signedinteger]:
    """(N + 1, lanes) the transposed weights, with empty lanes to fill a vector and a row of zeros at the end.

    As bytes, unless a weight is larger than that.
    """
    b, n = weights.shape
    counts = np.empty((n + 1, -(-b // _VECTOR) * _VECTOR), dtype=_count_type(weights, largest))
    counts[:n, :b] = weights.T
    counts[:n, b:] = 0
    counts[n] = 0
    return counts


def _sum_type(weights: Array) -> type[np.int32 | np.int64]:
    """The type in which twice a sum over pairs of rows cannot overflow."""
    return np.int32 if total(weights).max(initial=0) <= INT32_TOTAL else np.int64


def _lanes_at_once(n: int) -> int:
    """How many draws of n samples are walked together."""
    return _LANES if n * _LANES <= _LANE_BYTES else _LANES // 2


# Fills the statistics of some configurations, from counts (N + 1, lanes) and in sums of this type.
WalkBlock = Callable[[slice, Array, np.dtype[Any], Array], None]


def _in_lanes(
    weights: Array, n_configs: int, walk: WalkBlock, lanes: ModuleType, dtype: type[np.float64] | None = None
) -> Array:
    """(C, b) statistics by a compiled walk over the rows, which takes the (b, N) weights as lanes of a vector."""
    counts = _lanes_of(weights)
    sums = np.dtype(_sum_type(weights))
    out = np.empty((n_configs, counts.shape[1]), dtype=sums if dtype is None else dtype)
    share_out(lambda own: walk(own, counts, sums, out[own]), n_configs, counts.size * n_configs, lanes.MAX_THREADS)
    return out[:, : len(weights)]


class AucKernel:
    """Area under the ROC curve: the share of (positive, negative) pairs in which the positive scores higher.

    A tie counts one half. Computed as twice the Mann-Whitney statistic, an integer, over twice the number of
    pairs (Hanley and McNeil 1982); NaN unless both classes have weight.
    """

    compact = True

    def __init__(self, scores: Floats, positive: Array) -> None:
        self.n_configs = len(scores)
        self._scores = scores
        self._positive = np.ascontiguousarray(positive, dtype=bool)

    def scores(self, weights: Array) -> Floats:
        """(b, C) area of every configuration under each weighting."""
        twice, pairs = self.counts(weights)
        return ratio(twice, pairs[:, None])

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) area of configuration ``chosen[i]`` under ``weights[i]``."""
        twice, pairs = self.paired_counts(weights, chosen)
        return ratio(twice, pairs)

    def counts(self, weights: Array) -> tuple[Array, Floats]:
        """Numerators (b, C) and denominators (b,) of the areas, both integers."""
        lanes = compiling.load_if_worth("lanes", self._steps(weights.size * self.n_configs))
        if lanes is not None and len(weights) == 1:  # in lanes most of a vector would be empty
            every = np.arange(self.n_configs)
            return self._compiled_paired(lanes, weights, np.zeros_like(every), every)[None], self.pairs(weights)
        twice = self._numpy_lanes(weights) if lanes is None else self._compiled_lanes(lanes, weights)
        return twice.T, self.pairs(weights)

    def paired_counts(self, weights: Array, chosen: NDArray[np.intp]) -> tuple[Array, Floats]:
        """Numerators and denominators (b,) of the areas of the chosen configurations."""
        lanes = compiling.load_if_worth("lanes", self._steps(weights.size))
        if lanes is not None:
            return self._compiled_paired(lanes, weights, np.arange(len(weights)), chosen), self.pairs(weights)
        twice = np.empty(len(weights), dtype=np.int64)
        array_lanes.auc_paired(self._pair_order, self._positive, weights, chosen, twice)
        return twice, self.pairs(weights)

    def _compiled_paired(
        self, lanes: ModuleType, weights: Array, rows: NDArray[np.intp], chosen: NDArray[np.intp]
    ) -> Array:
        """The numerators of configuration chosen[i] under weights[rows[i]]."""
        twice = np.empty(len(chosen), dtype=np.int64)
        counts = np.ascontiguousarray(weights, dtype=None if weights.dtype == np.uint8 else np.int64)
        walks, ends = self._walks
        step = lanes.auc_paired
        if counts.dtype == np.uint8 and counts.shape[1] > _CACHED and counts.max(initial=0) <= 1:
            step, counts = lanes.auc_paired_bits, np.packbits(counts, axis=1, bitorder="little")

        def walk(own: slice) -> None:
            step(walks, ends, counts, rows[own], chosen[own], twice[own])

        share_out(walk, len(chosen), len(chosen) * weights.shape[1] * _ALONE, lanes.MAX_THREADS)
        return twice

    def _steps(self, n: int) -> int:
        """What n counts take; of many scores also what it takes to sort them, which both ways do in their own form."""
        return n if self._scores.size <= _MANY_SCORES else n + self._scores.size * _SORTING

    def pairs(self, weights: Array) -> Floats:
        """(b,) the denominators."""
        positives = total(weights[:, self._positive])
        return 2 * positives * (total(weights) - positives)

    @cached_property
    def _walks(self) -> tuple[Array, Array]:
        """(C, N + negatives) the rows of each configuration as ``lanes.auc_walks`` has them, and (C,) where they end."""
        lanes = compiling.load("lanes")
        assert lanes is not None
        (c, n), n_negative = self._scores.shape, int(np.sum(~self._positive))
        # What is not written takes no memory.
        walks, ends = np.empty((c, n + n_negative), dtype=np.int32), np.empty(c, dtype=np.intp)
        codes = 4 * np.arange(n, dtype=np.int32) + np.where(self._positive, 0, 2).astype(np.int32)

        def sort(own: slice) -> None:
            for part in blocks(own.stop - own.start, max(_SORTED // max(n, 1), 1)):
                some = slice(own.start + part.start, own.start + part.stop)
                scores = in_rows(self._scores[some])
                if scores.dtype == np.float32:
                    packed = np.empty(scores.shape, dtype=np.uint64)
                    lanes.pack_scores((scores + np.float32(0)).view(np.uint32), codes, packed)  # 0 and -0 are equal
                    packed.sort(axis=1)
                    lanes.auc_walks_packed(packed, walks[some], ends[some])
                    continue
                order = np.argsort(scores, axis=1)
                ranked = np.take_along_axis(scores, order, axis=1)
                lanes.auc_walks(order, ranked, codes, walks[some], ends[some])

        share_out(sort, c, c * n * _SORTING, lanes.MAX_THREADS)
        return walks, ends

    def _compiled_lanes(self, lanes: ModuleType, weights: Array) -> Array:
        """(C, b) numerators, for as many draws at once as fit into the memory that lanes may take."""
        out = np.empty((self.n_configs, len(weights)), dtype=np.int64)
        for draws in blocks(len(weights), _lanes_at_once(weights.shape[1])):
            self._walk_lanes(lanes, weights[draws], out[:, draws])
        return out

    def _walk_lanes(self, lanes: ModuleType, weights: Array, out: Array) -> None:
        walks, ends = self._walks
        counts = _lanes_of(weights, _FOURTH)
        # A positive row adds no more than this to a sum of levels, which are twice the negatives.
        largest = 2 * int(total(weights).max(initial=0)) * int(weights.max(initial=0))
        most = np.iinfo(np.uint32).max // max(largest, 1)
        dtype = np.uint32 if most >= _STEP and largest <= np.iinfo(np.uint32).max else np.int64

        def walk(own: slice) -> None:
            level, part = np.empty((2, counts.shape[1]), dtype=dtype)
            statistic = np.empty(counts.shape[1], dtype=np.int64)
            found = np.empty((own.stop - own.start, counts.shape[1]), dtype=np.int64)
            limit = most if dtype is np.uint32 else np.iinfo(np.int64).max
            lanes.auc_lanes(walks[own], ends[own], counts, limit, level, part, statistic, found)
            out[own] = found[:, : len(weights)]

        share_out(walk, self.n_configs, counts.size * self.n_configs, lanes.MAX_THREADS)

    @cached_property
    def _pair_order(self) -> array_lanes.PairOrder:
        return array_lanes.pair_order(self._scores, self._positive)

    def _numpy_lanes(self, weights: Array) -> Array:
        out = np.empty((self.n_configs, len(weights)), dtype=_sum_type(weights))
        array_lanes.auc_lanes(self._pair_order, self._positive, weights, out)
        return out


class AveragePrecisionKernel:
    """Sum over score thresholds of the recall gained times the precision; NaN unless a positive has weight.

    Samples of equal score pass a threshold together, and nothing is interpolated, as in scikit-learn.
    """

    def __init__(self, scores: Floats, positive: Array) -> None:
        self.n_configs = len(scores)
        self._positive = np.asarray(positive, dtype=bool)
        self._walks = _precision_walks(scores, self._positive)

    def scores(self, weights: Array) -> Floats:
        """(b, C) average precision of every configuration under each weighting."""
        lanes = compiling.load("lanes")
        sums = self._numpy_lanes(weights) if lanes is None else self._compiled_lanes(lanes, weights)
        return ratio(sums.T, total(weights[:, self._positive])[:, None])

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) average precision of configuration ``chosen[i]`` under ``weights[i]``."""
        lanes = compiling.load("lanes")
        if lanes is None:
            columns = weights.astype(np.int64)[:, :, None]
            sums = np.array([self._numpy_sums(w, c)[0] for w, c in zip(columns, chosen, strict=True)])
        else:
            sums = np.empty(len(weights))
            lanes.precision_paired(self._walks, _padded(weights), chosen, sums)
        return ratio(sums, total(weights[:, self._positive]))

    def _compiled_lanes(self, lanes: ModuleType, weights: Array) -> Floats:
        def walk(own: slice, counts: Array, dtype: np.dtype[Any], out: Array) -> None:
            negatives, positives, recalled = np.empty((3, counts.shape[1]), dtype=dtype)
            statistic = np.empty(counts.shape[1])
            lanes.precision_lanes(self._walks[own], counts, negatives, positives, recalled, statistic, out)

        return _in_lanes(weights, self.n_configs, walk, lanes, np.float64)

    def _numpy_lanes(self, weights: Array) -> Floats:
        out = np.empty((self.n_configs, len(weights)))
        for draws in blocks(len(weights), _PART):
            counts = np.ascontiguousarray(weights[draws].T, dtype=np.int64)
            for c in range(self.n_configs):
                out[c, draws] = self._numpy_sums(counts, c)
        return out

    def _numpy_sums(self, counts: Array, config: int) -> Floats:
        """(b,) recall gained times precision, summed, under the transposed (N, b) counts."""
        walk = self._walks[config]
        rows, ends = walk >> 2, np.flatnonzero(walk & 2)
        drawn = counts[rows]
        seen = drawn.cumsum(axis=0)[ends]
        positives = (drawn * (walk & 1)[:, None]).cumsum(axis=0)[ends]
        gained = np.diff(positives, axis=0, prepend=0)
        sums: Floats = (gained * positives / np.maximum(seen, 1)).sum(axis=0)
        return sums


def _precision_walks(scores: Floats, positive: NDArray[np.bool_]) -> NDArray[np.int32]:
    """(C, N) rows in descending score order, coded as ``lanes.precision_lanes`` has them."""
    order = np.argsort(scores, axis=1)[:, ::-1]
    ranked = np.take_along_axis(scores, order, axis=1)
    ends = np.ones(scores.shape, dtype=bool)
    ends[:, :-1] = ranked[:, 1:] != ranked[:, :-1]
    hits = positive[order]
    found = hits.cumsum(axis=1)
    before = np.zeros_like(found)
    before[:, 1:] = np.maximum.accumulate(np.where(ends, found, 0), axis=1)[:, :-1]
    return (4 * order + 2 * (ends & (found > before)) + hits).astype(np.int32)


class MeanAucKernel:
    """Mean of binary areas, each on the rows given with it; NaN where one of them is undefined.

    For a weighted mean, the weight of each area is the total of the rows in `shares`.
    """

    def __init__(
        self,
        parts: Sequence[tuple[AucKernel | WithinFolds, NDArray[np.intp] | slice]],
        shares: Sequence[NDArray[np.intp]] | None = None,
    ) -> None:
        self.n_configs = parts[0][0].n_configs
        self._parts, self._shares = parts, shares

    def scores(self, weights: Array) -> Floats:
        """(b, C) mean area of every configuration under each weighting."""
        counts = [kernel.counts(weights[:, rows]) for kernel, rows in self._parts]
        return self._mean([(twice, pairs[:, None]) for twice, pairs in counts], weights)

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) mean area of configuration ``chosen[i]`` under ``weights[i]``."""
        return self._mean([kernel.paired_counts(weights[:, rows], chosen) for kernel, rows in self._parts], weights)

    def _mean(self, counts: list[tuple[Array, Floats]], weights: Array) -> Floats:
        twice, pairs = zip(*counts, strict=True)
        if self._shares is None:
            mean = mean_ratio(twice, pairs)
        else:
            sizes = [total(weights[:, rows]).reshape(pairs[0].shape) for rows in self._shares]
            areas = [size * ratio(*count) for size, count in zip(sizes, counts, strict=True)]
            mean = ratio(np.sum(areas, axis=0), np.sum(sizes, axis=0))
        return np.where(np.min(pairs, axis=0) > 0, mean, np.nan)


def area(scores: Floats, positive: Array, folds: Array | None = None) -> AucKernel | WithinFolds:
    """The area under the ROC curve; with folds, of the pairs of the same fold."""
    if folds is None:
        return AucKernel(scores, positive)
    return WithinFolds(lambda own, rows: AucKernel(own, positive[rows]), scores, folds)


def concordance(
    risk: Floats, time: Floats, event: NDArray[np.bool_], folds: Array | None = None
) -> ConcordanceKernel | WithinFolds:
    """Harrell's C; with folds, of the pairs of the same fold."""
    if folds is None:
        return ConcordanceKernel(risk, time, event)
    return WithinFolds(lambda own, rows: ConcordanceKernel(own, time[rows], event[rows]), risk, folds)


def one_vs_rest(predictions: Floats, y: Array, weighted: bool = False, folds: Array | None = None) -> MeanAucKernel:
    """The mean over classes of the area of the class's score against all others; predictions (C, N, K).

    ``weighted`` counts every class by its number of members.
    """
    classes, every = range(predictions.shape[2]), slice(None)
    parts = [(area(np.ascontiguousarray(predictions[:, :, k]), y == k, folds), every) for k in classes]
    return MeanAucKernel(parts, [np.flatnonzero(y == k) for k in classes] if weighted else None)


def one_vs_one(predictions: Floats, y: Array, weighted: bool = False, folds: Array | None = None) -> MeanAucKernel:
    """The mean over ordered pairs of classes of the area of the first one's score (Hand and Till 2001, eq. 7).

    ``weighted`` counts every pair by its number of members.
    """
    parts = []
    for k, other in permutations(range(predictions.shape[2]), 2):
        rows = np.flatnonzero((y == k) | (y == other))
        own = np.ascontiguousarray(predictions[:, rows, k])
        parts.append((area(own, y[rows] == k, None if folds is None else folds[rows]), rows))
    return MeanAucKernel(parts, [rows for _, rows in parts] if weighted else None)


# -- concordance of survival times ----------------------------------------------------------------------

# Largest number of (event, sample) pairs that the numpy path holds at once.
_CHUNK = 2**22


class ConcordanceKernel:
    """Harrell's C: the share of comparable pairs in which the sample with the earlier event has the higher risk.

    A pair is comparable if one sample's event was seen to come first: at an earlier time, or at the time at
    which the other was censored. Equal risks count one half. NaN where no pair is comparable.
    """

    def __init__(self, risk: Floats, time: Floats, event: NDArray[np.bool_]) -> None:
        self.n_configs = len(risk)
        self._ranks = _ranks(risk)
        self._time, self._event = time, event
        self._walk = _walk(time, event)

    def scores(self, weights: Array) -> Floats:
        """(b, C) concordance of every configuration under each weighting."""
        twice, pairs = self.counts(weights)
        return ratio(twice, pairs[:, None])

    def paired(self, weights: Array, chosen: NDArray[np.intp]) -> Floats:
        """(b,) concordance of configuration ``chosen[i]`` under ``weights[i]``."""
        return ratio(*self.paired_counts(weights, chosen))

    def counts(self, weights: Array) -> tuple[Array, Floats]:
        """Numerators (b, C) and denominators (b,), both integers."""
        return self._twice(weights, self._ranks).T, self.pairs(weights)

    def paired_counts(self, weights: Array, chosen: NDArray[np.intp]) -> tuple[Array, Floats]:
        """Numerators and denominators (b,) of the chosen configurations."""
        twice = np.empty(len(weights))
        for config in np.unique(chosen):
            mine = np.flatnonzero(chosen == config)
            twice[mine] = self._twice(weights[mine], self._ranks[config : config + 1])[0]
        return twice, self.pairs(weights)

    def pairs(self, weights: Array) -> Floats:
        """(b,) twice the number of comparable pairs."""
        drawn = weights[:, self._walk >> 1].astype(np.int64)
        compared = (self._walk & 1).astype(bool)
        entered = np.where(compared, 0, drawn).cumsum(axis=1)
        pairs: Floats = 2.0 * np.einsum("bn,bn->b", drawn[:, compared], entered[:, compared])
        return pairs

    def _twice(self, weights: Array, ranks: NDArray[np.int32]) -> Array:
        """(C, b) twice the concordant pairs plus the pairs of equal risk."""
        lanes = compiling.load("lanes")
        if lanes is None:
            return np.array([self._numpy(weights.astype(np.float64), np.abs(r)) for r in ranks])
        height = np.abs(ranks).max(initial=0) + 1

        def walk(own: slice, counts: Array, dtype: np.dtype[Any], out: Array) -> None:
            tree = np.empty((height, counts.shape[1]), dtype=dtype)
            lanes.concordance_lanes(ranks[own], self._walk, counts, tree, np.empty_like(tree[0]), out)

        return _in_lanes(weights, len(ranks), walk, lanes)

    def _numpy(self, weights: Floats, ranks: Array) -> Floats:
        """(b,) the same for one configuration, over all pairs of an event and a sample."""
        events = np.flatnonzero(self._event)
        out = np.zeros(len(weights))
        size = max(1, _CHUNK // max(1, len(ranks)))
        for i in (events[start : start + size, None] for start in range(0, len(events), size)):
            later = (self._time[i] < self._time) | ((self._time[i] == self._time) & ~self._event)
            agreement = later * ((ranks[i] > ranks) + (ranks[i] >= ranks).astype(np.float64))
            out += np.einsum("bn,bn->b", weights[:, i[:, 0]] @ agreement, weights)
        return out


def _walk(time: Floats, event: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The rows in descending time, coded as ``lanes.concordance_lanes`` has them.

    At one time the censored enter first, then the events are compared, then the events enter.
    """
    events = np.flatnonzero(event)
    rows = np.concatenate([np.flatnonzero(~event), events, events])
    stage = np.repeat([0, 1, 2], [len(time) - len(events), len(events), len(events)])
    order = np.lexsort((stage, -time[rows]))
    walk: NDArray[np.intp] = (2 * rows + (stage == 1))[order]
    compared = np.flatnonzero(walk & 1)
    return walk[: compared[-1] + 1] if len(compared) else walk[:0]


def _ranks(risk: Floats) -> NDArray[np.int32]:
    """(C, N) dense ranks of the risk from 1, negative where a risk is not unique."""
    order = np.argsort(risk, axis=1)
    ranked = np.take_along_axis(risk, order, axis=1)
    first = np.ones(risk.shape, dtype=bool)
    first[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    unique = first.copy()
    unique[:, :-1] &= first[:, 1:]
    dense = first.cumsum(axis=1, dtype=np.int32)
    ranks = np.empty_like(dense)
    np.put_along_axis(ranks, order, np.where(unique, dense, -dense), axis=1)
    return ranks


# -- curves over thresholds under many weightings at once ----------------------------------------------------


class Ranked(NamedTuple):
    """Scored samples, best score first: their columns of the weights, who is positive, and who is last of equal scores."""

    rows: NDArray[np.intp]
    positive: NDArray[np.bool_]
    last: NDArray[np.bool_]

    @property
    def steps(self) -> NDArray[np.int64]:
        """What a sample adds to a count of both classes, positives in its upper half."""
        return np.where(self.positive, 1 << 32, 1)

    def totals(self, weights: NDArray[Any]) -> NDArray[np.int64]:
        """(b, 2) positives and negatives drawn."""
        sides = [weights[:, self.rows[own]].sum(axis=1, dtype=np.int64) for own in (self.positive, ~self.positive)]
        return np.stack(sides, axis=1)


def roc(ranked: Ranked, weights: NDArray[Any], x: Floats, totals: NDArray[np.int64] | None = None) -> Floats:
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


def precision(ranked: Ranked, weights: NDArray[Any], x: Floats, totals: NDArray[np.int64] | None = None) -> Floats:
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


def _above(ranked: Ranked, weights: NDArray[Any]) -> list[NDArray[np.int64]]:
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


def midranks(scores: Array) -> Floats:
    """The share of the samples that each of (C, N) or (C, N, K) scores is not below, ties and itself one half."""
    from scipy.stats import rankdata

    return np.asarray((rankdata(scores, axis=1) - 0.5) / scores.shape[1])


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
