"""A metric bound to predictions: the scores of configurations and cells under any weighting."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..arguments import RngLike, as_seed, check_choice
from ..data.cells import cut_labels
from ..data.criterion import Aggregate as Aggregate
from ..data.criterion import LostFunction
from ..data.notes import Note
from ..data.predictions import Predictions
from ..data.stored import comes_in_parts, of_parts
from ..exceptions import NeedError, invalid
from ..stats.fold_means import Sums, fold_sums, mean_defined, standard_errors
from ..stats.kernels import Column, Floats, Kernel, MeanKernel, in_rows, is_compact
from ..stats.resampling import BootstrapDraws, block_size, blocks, without_each
from . import Metric, MetricLike
from ._candidates import curveless, running, what_counts, with_curves
from ._keeping import is_keeping, kept, kept_draw, kept_draws, known, nothing_kept
from ._lookup import check_direction

# Units left out one by one for the acceleration of a bootstrap; more are left out in as many parts.
_JACKKNIFE = 2000
# Below this many test samples in a fold, a metric of sets such as AUC is unreliable (Tsamardinos 2015, sect. 4).
SMALL_FOLD = 10

# Scores under the draws of a block are kept for who asks next, unless they are more than this.
_KEPT_SCORES = 1 << 21

# More predictions than this are turned into labels and losses some configurations at a time.
_LARGE = 1 << 22

T = TypeVar("T")


def _kept_property(make: Callable[[Any], T]) -> cached_property[T]:
    """A property that is made once for all who score the same candidates by the same metric, while `kernels_kept`."""
    return cached_property(lambda self: self._shared(make.__name__, lambda: make(self)))


class Part(NamedTuple):
    """A kernel and the columns of the weights it reads (None: all of them)."""

    kernel: Kernel
    columns: NDArray[np.intp] | None

    def of(self, weights: NDArray[Any]) -> NDArray[Any]:
        """The weights this kernel reads."""
        return weights if self.columns is None else weights[:, self.columns]


def _scores_of(parts: list[Part], weights: NDArray[Any]) -> list[Floats]:
    """(b, C) for each part; kernels that need more memory than the weights get a block of draws at a time."""
    size = block_size(weights.shape[1])
    if len(weights) > size and not _are_compact(parts):
        found = [_scores_of(parts, weights[draws]) for draws in blocks(len(weights), size)]
        return [np.concatenate(scores) for scores in zip(*found, strict=True)]
    return [part.kernel.scores(part.of(weights)) for part in parts]


def _are_compact(parts: list[Part]) -> bool:
    return all(is_compact(part.kernel) for part in parts)


# What a scoring is made from; the rest is computed from these.
_GIVEN = ("oof", "aggregate", "metric", "_raw", "_cut", "candidates", "cells", "_used", "rows", "notes")


class Scoring:
    """Scores of the candidate configurations of some predictions.

    Candidates are the configurations without a dropped or failed cell, by their positions. The (repeat, fold) cells that count
    are those that all candidates have done, so that all are judged on the same samples (incomplete CV, hold-out). Rows are the
    samples with a prediction that counts, the columns of every weight matrix. Notes say what was left out, and why.

    Predictions that are in a file and too many to be read at once are read, scored and forgotten some candidates at a time.
    """

    at_once = False  # whether a pooled score is one of all repeats, and not the mean of one for each

    def __init__(self, oof: Predictions, metric: MetricLike, aggregate: Aggregate = "pooled") -> None:
        check_choice(aggregate, get_args(Aggregate), "aggregate")
        self.oof = oof
        self.metric, self._raw, self._cut = _bind_late(oof, metric)
        self.aggregate: Aggregate = "fold" if self.metric.needs == "live" else aggregate
        self.candidates, self.cells, self._used, self.notes = kept(oof, "counts", lambda: what_counts(oof))
        self.rows = np.flatnonzero(self._used.any(axis=1))
        if self.metric.needs == "losses":
            lack = self._of_each(lambda own: curveless(own._data[:, own.candidates], own._used))
            self.candidates, lacking = with_curves(self.candidates, np.concatenate(lack))
            self.notes = (*self.notes, *lacking)

    @property
    def _data(self) -> NDArray[Any]:
        """(R, C, N) or (R, C, N, K) the predictions as the metric needs them."""
        if self._raw is None or self._cut is not None or self._raw.dtype == np.float32:
            return bind(self.oof, self.metric)[1]
        return self._raw

    @property
    def compact(self) -> bool:
        """Whether many large draws may come at once: kernels take little more memory, or are made anew each time."""
        return self._raw is None or _are_compact(self._parts)

    # -- predictions in a file --------------------------------------------------------------------------

    def _of_each(self, work: Callable[[Scoring], T]) -> list[T]:
        """What `work` makes of the candidates: of all at once, or of some at a time where predictions are in a file."""
        if self._raw is not None:
            return [work(self)]
        return self._of_parts(lambda _, own: work(own))

    def _of_parts(self, work: Callable[[slice, Scoring], T]) -> list[T]:
        """What `work` makes of some candidates at a time, whose predictions are read from the file and then forgotten."""

        def of_part(part: slice, oof: Predictions) -> T:
            own = self.only(np.arange(part.start, part.stop))
            _, raw, cut = _bind_late(oof, self.metric)
            own.__dict__ |= {"oof": oof, "candidates": np.arange(oof.n_configs), "_raw": raw, "_cut": cut}
            return work(part, own)

        with nothing_kept():
            return of_parts(self.oof, self.candidates, of_part)

    def _part_scores(self, weights: NDArray[Any]) -> list[Floats]:
        """(b, C) for each part."""
        return self._scores_of_each(lambda own: _scores_of(own._parts, weights))

    def _scores_of_each(self, work: Callable[[Scoring], list[Floats]]) -> list[Floats]:
        """The same lists of (b, C) scores, whether the candidates come together or not."""
        found = self._of_each(work)
        return found[0] if len(found) == 1 else [np.concatenate(same, axis=1) for same in zip(*found, strict=True)]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the candidates."""
        return tuple(self.oof.configs[i] for i in self.candidates)

    @property
    def one_test_set(self) -> bool:
        """Whether the samples are all that varies: one cell, or repeats for which nothing was trained."""
        return len(self.cells) == 1 or self.oof.nothing_trained

    @property
    def params(self) -> tuple[Any, ...]:
        """Parameters of the candidates."""
        return tuple(self.oof.params[i] for i in self.candidates)

    def by(self, aggregate: Aggregate) -> Scoring:
        """The same candidates, scored in another way; kernels that were made are shared."""
        if (aggregate == self.aggregate and not self.at_once) or self.metric.needs == "live":
            return self
        out = copy.copy(self)
        out.aggregate, out.at_once = aggregate, False
        out.__dict__.pop("_own_parts", None)
        return out

    def all_at_once(self) -> Scoring:
        """One score of the samples that all repeats hold out, each as often as it is held out."""
        out = Scoring.__new__(Scoring)  # of what is held out, whatever a subclass makes of it
        out.__dict__ = {name: vars(self)[name] for name in _GIVEN} | {"aggregate": "pooled", "at_once": True}
        return out

    def only(self, positions: NDArray[np.intp]) -> Scoring:
        """Some of the candidates, on the same samples; they need not be looked at again."""
        out = copy.copy(self)
        out.__dict__ = {name: vars(self)[name] for name in _GIVEN} | {"at_once": self.at_once}
        out.candidates = self.candidates[positions]
        return out

    def within(self, low: float, high: float) -> bool:
        """Whether all predictions that count lie between these."""
        return all(self._of_each(lambda own: own._within(low, high)))

    def _within(self, low: float, high: float) -> bool:
        parts = [self._slice(r, np.flatnonzero(self._used[:, r])) for r in self._repeats]
        return all(bool(part.min() >= low and part.max() <= high) for part in parts)

    def values(self) -> list[NDArray[Any]] | None:
        """(C, n) what a pointwise metric is the mean of, for every repeat; None for a set-valued metric."""
        values = self.metric.values
        if values is None:
            return None
        found = self._of_each(lambda own: [own._values(values, r) for r in self._repeats])
        return found[0] if len(found) == 1 else [np.concatenate(same) for same in zip(*found, strict=True)]

    def equal_weights(self) -> NDArray[np.uint8]:
        """One weighting, every sample once."""
        return np.ones((1, len(self.rows)), dtype=np.uint8)

    def scores(self, weights: NDArray[Any] | None = None) -> Floats:
        """(b, C) the metric of every candidate under every weighting."""
        if weights is None:
            return self._over_parts(self._own_parts).copy()
        draw = kept_draw(weights)
        if draw is None or len(weights) * len(self.candidates) > _KEPT_SCORES:
            return self._over_parts(self._part_scores(weights))
        return self._shared(f"drawn {self._way} {draw}", lambda: self._over_parts(self._part_scores(weights))).copy()

    def known(self, weights: NDArray[Any]) -> Floats | None:
        """The scores under a kept draw that were asked for before, not to be written to; None where there are none."""
        found: Floats | None = known(self.oof, self._key(f"drawn {self._way} {kept_draw(weights)}"))
        return found

    def _over_parts(self, scores: list[Floats]) -> Floats:
        out = self._mean(scores)
        if len(scores) > 1 and any(np.isnan(s).any() for s in scores):
            # Undefined for all: the part says nothing. Undefined for some only: these cannot be compared with the rest.
            out[np.any([np.isnan(s) & ~np.all(np.isnan(s), axis=1, keepdims=True) for s in scores], axis=0)] = np.nan
        return out

    @cached_property
    def _own_parts(self) -> list[Floats]:
        """The scores of the parts on all samples, which everything asks for."""
        if self.aggregate == "fold" and (self.metric.values is not None or self.metric.needs == "live"):
            return list(np.moveaxis(self.fold_scores(), -1, 0))
        return self._shared(f"own {self._way}", lambda: self._part_scores(self.equal_weights()))

    def paired(self, weights: NDArray[Any], chosen: NDArray[np.intp]) -> Floats:
        """(b,) the metric of candidate chosen[i] under weights[i]."""
        if self._raw is not None:
            return self._mean([part.kernel.paired(part.of(weights), chosen) for part in self._parts])
        used, at = np.unique(chosen, return_inverse=True)
        out = np.empty(len(chosen))

        def score(part: slice, own: Scoring) -> None:
            mine = np.flatnonzero((at >= part.start) & (at < part.stop))
            out[mine] = own.paired(weights[mine], at[mine] - part.start)

        self.only(used)._of_parts(score)
        return out

    def fold_scores(self, weights: NDArray[Any] | None = None) -> Floats:
        """(b, C, cells) the metric of every candidate in every cell that counts."""
        if weights is None and self.metric.needs == "live":
            scores = self.oof.live_scores[self.metric.name][self.candidates]
            return np.stack([scores[:, r, k] for r, k in self.cells], axis=-1)[None]
        if weights is None and self.metric.values is not None:
            sums, sizes = self._cell_sums
            return (sums / sizes)[None]
        if weights is None:
            return np.stack(self._shared("own fold", lambda: self._cells_under(self.equal_weights())), axis=-1)
        return np.stack(self._cells_under(weights), axis=-1)

    def _cells_under(self, weights: NDArray[Any]) -> list[Floats]:
        """(b, C) for each cell that counts."""
        return self._scores_of_each(lambda own: _scores_of(own._by_cell, weights))

    def undefined(self) -> tuple[int, int]:
        """How many of how many parts of the mean over repeats, or folds, are undefined for every candidate."""
        return sum(bool(np.isnan(scores).all()) for scores in self._own_parts), len(self._own_parts)

    def standard_errors(self, fold_scores: Floats) -> Floats:
        """(b, C) sd over the folds of a repeat / sqrt(K), averaged over repeats; NaN for fewer than two folds."""
        return standard_errors(fold_scores, np.array([r for r, _ in self.cells]))

    def repeat_scores(self) -> Floats:
        """(R, C) the score of every candidate by what counts of every repeat; repeats without any are left out."""
        of = np.array([r for r, _ in self.cells])
        if self.aggregate == "fold":
            folds = self.fold_scores()[0]
            return np.stack([mean_defined(list(folds[:, of == r].T)) for r in self._repeats])
        if self.metric.values is None:
            return np.concatenate(self._own_parts)
        sums, n = self._cell_sums
        return np.stack([sums[:, of == r].sum(axis=1) / n[of == r].sum() for r in self._repeats])

    @_kept_property
    def _cell_sums(self) -> Sums:
        """(C, cells) what each cell adds to a mean, and (cells,) its samples: kernels, made for many weightings, cost more."""
        found = self._of_each(lambda own: own._sums_of_cells())
        return np.concatenate([sums for sums, _ in found]), found[0][1]

    def _sums_of_cells(self) -> Sums:
        assert self.metric.values is not None
        return self._joined([self._sums_of(r, self._values(self.metric.values, r)) for r in self._repeats])

    def _values(self, values: Callable[..., NDArray[Any]], repeat: int) -> NDArray[Any]:
        """(C, n) what a pointwise metric is the mean of, on the samples that count of one repeat."""
        rows = np.flatnonzero(self._used[:, repeat])
        if len(self.candidates) * len(rows) <= _LARGE:
            return values(self.oof.target.take(rows), self._slice(repeat, rows))
        return self._joined_values(values, repeat, rows, None)

    def _joined_values(
        self,
        values: Callable[..., NDArray[Any]],
        repeat: int,
        rows: NDArray[np.intp],
        dtype: type[np.int8] | None,
    ) -> NDArray[Any]:
        """(C, n) the values, made of some configurations at a time; as this type if all of them fit into it."""
        target, out = self.oof.target.take(rows), None
        for part in blocks(len(self.candidates), max(_LARGE // max(len(rows), 1), 1)):
            own = values(target, self._slice(repeat, rows, part))
            if out is None:
                out = np.empty((len(self.candidates), *own.shape[1:]), dtype=own.dtype if dtype is None else dtype)
            if dtype is not None and not _fits(own, dtype):
                return self._joined_values(values, repeat, rows, None)
            out[part] = own
        assert out is not None
        return out

    def _sums_of(self, repeat: int, values: NDArray[Any]) -> Sums:
        return fold_sums(values, self.oof.folds[self._used[:, repeat], repeat])

    @staticmethod
    def _joined(parts: list[Sums]) -> Sums:
        sums, sizes = zip(*parts, strict=True)
        return np.concatenate(sums, axis=1), np.concatenate(sizes)

    def group_codes(self) -> NDArray[np.intp] | None:
        """(rows,) codes of the groups among the rows that count, or None where there are no groups."""
        codes = self.oof.group_codes
        return None if codes is None else np.unique(codes[self.rows], return_inverse=True)[1].astype(np.intp)

    def units(self) -> NDArray[np.intp]:
        """(rows,) what is drawn or left out whole: the code of the group, or the sample itself."""
        codes = self.group_codes()
        return np.arange(len(self.rows)) if codes is None else codes

    # -- kernels ----------------------------------------------------------------------------------------

    @property
    def _way(self) -> str:
        return "at once" if self.at_once else self.aggregate

    @property
    def _parts(self) -> list[Part]:
        if self.at_once:
            return self._together
        if self.aggregate == "fold":
            return self._by_cell
        return self._pooled if self.aggregate == "pooled" or self.metric.within is None else self._within_folds

    def _mean(self, scores: list[Floats]) -> Floats:
        """Mean over repeats (folds), where a repeat that has only begun counts for the share of it that is done."""
        if self.aggregate == "fold" or len(scores) == 1:
            return mean_defined(scores)
        planned = np.sum(self.oof.folds >= 0, axis=0)
        return mean_defined(scores, [float(self._used[:, r].sum() / planned[r]) for r in self._repeats])

    @property
    def _repeats(self) -> list[int]:
        """Repeats of which some cell counts."""
        return sorted({r for r, _ in self.cells})

    def _shared(self, what: str, make: Callable[[], T]) -> T:
        """What is made of these candidates by this metric, once while `kernels_kept`."""
        return kept(self.oof, self._key(what), make)

    def _key(self, what: str) -> tuple[Any, ...]:
        return self.metric, self.candidates.tobytes(), what

    @_kept_property
    def _pooled(self) -> list[Part]:
        """One kernel for each repeat; one for all repeats where the metric is a mean over the same samples."""
        held = self._repeats
        columns = {r: np.flatnonzero(self._used[self.rows, r]) for r in held}
        complete = all(len(columns[r]) == len(self.rows) for r in held)
        if complete and len(held) > 1 and self.metric.values is not None:
            return [Part(self._summed_kernel(self.metric.values, held), None)]
        if complete and len(held) > 1 and len(self.candidates) == 1:
            return self._repeats_at_once(held)
        return [
            Part(self._kernel(r, self.rows[columns[r]]), None if len(columns[r]) == len(self.rows) else columns[r])
            for r in held
        ]

    def _repeats_at_once(self, repeats: list[int]) -> list[Part]:
        """The kernels of the repeats of one candidate, which one kernel serves as if they were as many configurations."""
        own = np.concatenate([self._slice(r, self.rows) for r in repeats])
        kernel, last = self.metric.kernel(self.oof.target.take(self.rows), own), list[NDArray[Any]]()
        return [Part(Column(kernel, i, last), None) for i in range(len(repeats))]

    def _summed_kernel(self, values: Callable[..., NDArray[Any]], repeats: list[int]) -> Kernel:
        # Sums of 0-1 values stay whole numbers, so that ties stay exact: divide once, at the end.
        total: Any = 0
        sums = []
        for r in repeats:
            own = self._values(values, r)
            total = total + (own.astype(np.int64) if own.dtype.kind in "biu" else own)
            if is_keeping():  # the values are at hand, and folds will be asked for
                sums.append(self._sums_of(r, own))
        if sums:
            self._shared("_cell_sums", lambda: self._joined(sums))
        return MeanKernel(np.asarray(total), divisor=float(len(repeats)))

    @_kept_property
    def _together(self) -> list[Part]:
        """One kernel for what all repeats hold out."""
        held = [(r, np.flatnonzero(self._used[self.rows, r])) for r in self._repeats]
        columns = np.concatenate([own for _, own in held])
        data = np.concatenate([self._slice(r, self.rows[own]) for r, own in held], axis=1)
        return [Part(self.metric.kernel(self.oof.target.take(self.rows[columns]), data), columns)]

    @_kept_property
    def _within_folds(self) -> list[Part]:
        """One kernel for each repeat, of the pairs of the same fold."""
        assert self.metric.within is not None
        parts = []
        for r in self._repeats:
            columns = np.flatnonzero(self._used[self.rows, r])
            rows = self.rows[columns]
            kernel = self.metric.within(self.oof.target.take(rows), self._slice(r, rows), self.oof.folds[rows, r])
            parts.append(Part(kernel, None if len(rows) == len(self.rows) else columns))
        return parts

    @_kept_property
    def _by_cell(self) -> list[Part]:
        position = np.full(self.oof.n_samples, -1)
        position[self.rows] = np.arange(len(self.rows))
        parts = []
        for r, k in self.cells:
            held = np.flatnonzero(self.oof.folds[:, r] == k)
            parts.append(Part(self._kernel(r, held), position[held]))
        return parts

    def _kernel(self, repeat: int, rows: NDArray[np.intp]) -> Kernel:
        values = self.metric.values
        if values is not None and len(self.candidates) * len(rows) > _LARGE:
            return MeanKernel(self._joined_values(values, repeat, rows, np.int8))
        return self.metric.kernel(self.oof.target.take(rows), self._slice(repeat, rows))

    def _slice(self, repeat: int, rows: NDArray[np.intp], part: slice = slice(None)) -> NDArray[Any]:
        """The predictions of a part of the candidates, copied only where they must be."""
        assert self._raw is not None
        every, who = self._raw[repeat], self.candidates
        out: NDArray[Any] = every[part] if np.array_equal(who, np.arange(len(every))) else every[who[part]]
        if self._cut is not None:
            return cut_labels(columns_of(out, rows), False, self._cut)
        if self.metric.ranks_only and len(rows) == out.shape[1]:
            return out
        return columns_of(out if self.metric.ranks_only else _wide(out), rows)


def columns_of(data: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[Any]:
    """The columns of (C, N[, K]) predictions, not copied where these are all of them."""
    return in_rows(data if len(rows) == data.shape[1] else data[:, rows])


def _wide(data: NDArray[Any]) -> NDArray[Any]:
    """Floats as double ones, in which losses are computed."""
    return data.astype(np.float64) if data.dtype.kind == "f" and data.dtype != np.float64 else data


def _fits(values: NDArray[Any], dtype: type[np.int8]) -> bool:
    """Whether these are whole numbers that this type can hold."""
    ends = np.iinfo(dtype)
    return values.dtype.kind in "biu" and bool(values.min(initial=0) >= ends.min and values.max(initial=0) <= ends.max)


def group_notes(scoring: Scoring) -> list[Note]:
    """A caveat where few groups are all there is to draw."""
    codes = scoring.group_codes()
    n_groups = SMALL_FOLD if codes is None else int(codes.max()) + 1
    if n_groups >= SMALL_FOLD:
        return []
    return [Note("OF212", f"only {n_groups} groups to draw from; the interval is rough.")]


def sample_bootstrap(scoring: Scoring, stratify: bool, rng: RngLike, twice: bool = False) -> BootstrapDraws:
    """Draws of the samples that count, of whole groups where there are groups, within classes if `stratify`.

    If they are going to be asked for `twice`, they are kept in between.
    """
    target, codes = scoring.oof.target.take(scoring.rows), scoring.group_codes()
    strata = None if not stratify else target.y if target.classes is not None else target.event
    if stratify and strata is None:
        given = f"these predictions are for {target.task}"
        raise invalid("stratify=True", "needs class labels", given)
    if codes is not None and strata is not None:
        mixed = len(set(zip(codes.tolist(), strata.tolist(), strict=True))) > int(codes.max()) + 1
        if mixed:
            needed, remedy = "with groups needs groups of one class each", "Draw with `stratify=False`."
            raise invalid("stratify=True", needed, remedy=remedy)
    draws = kept_draws() if is_keeping() else {} if twice else None
    within = None if strata is None else strata.astype(np.intp)
    return BootstrapDraws(len(target), as_seed(rng), codes, within, draws, scoring.compact)


def jackknife_scores(scoring: Scoring) -> Floats:
    """(units, C) scores without each unit, or without each of 2,000 parts of the units."""
    units = scoring.units()
    n_units = int(units.max()) + 1
    part_of = units if n_units <= _JACKKNIFE else (units * _JACKKNIFE) // n_units
    return without_each(part_of, scoring.scores)


def recorded_metric(oof: Predictions, metric: MetricLike | None = None) -> MetricLike:
    """The metric asked for, or else the one that selects: as recorded, or the default for these predictions."""
    found = oof.criterion.metric if metric is None else metric
    if isinstance(found, LostFunction):
        raise found.error("metric")
    if isinstance(found, str) and found in oof.live_scores and (oof.response == "none" or not metrics.is_known(found)):
        return metrics.LiveScore(found)
    return metrics.default(oof.target.task, oof.response) if found is None else found


def selecting(oof: Predictions, metric: MetricLike | None = None, aggregate: Aggregate | None = None) -> Scoring:
    """The scores that select: by the recorded metric and aggregate, unless others are asked for."""
    check_direction(oof.criterion.metric, metric)
    return Scoring(oof, recorded_metric(oof, metric), oof.criterion.aggregate if aggregate is None else aggregate)


def bind(oof: Predictions, metric: MetricLike) -> tuple[Metric, NDArray[Any]]:
    """The metric for this task, and the predictions in the response it needs."""
    found, data = _bind_raw(oof, metric)
    return found, data if found.ranks_only else _wide(data)


def _bind_raw(oof: Predictions, metric: MetricLike) -> tuple[Metric, NDArray[Any]]:
    """The same, with floats as they were given."""
    found = metrics.get(metric, oof.target.task)
    if found.needs == "live" and found.name not in oof.live_scores:
        given = f"these keep {', '.join(oof.live_scores) or 'none'}"
        remedy = f"Collect with `scorers={{{found.name!r}: ...}}`."
        raise NeedError(argument=found.name, needed="needs scores of the fitted models", given=given, remedy=remedy)
    try:
        return found, kept(oof, found.needs, lambda: oof.respond(found.needs))
    except NeedError as error:
        remedy = error.remedy
        if found.needs == "predict":
            remedy = f"Use `collect(response='label')`, or `metrics.make(f, needs={oof.response!r})` if it takes those."
        raise NeedError(argument=found.name, needed=error.needed, given=error.given, remedy=remedy) from None


def _bind_late(oof: Predictions, metric: MetricLike) -> tuple[Metric, NDArray[Any] | None, float | None]:
    """The same, and where predictions are cut to give labels; large ones are not cut before somebody asks for them.

    No predictions where these come in parts.
    """
    found = metrics.get(metric, oof.target.task)
    if comes_in_parts(oof):
        # One configuration tells whether the response is what the metric needs.
        return _bind_raw(oof.sel(config=int(next(iter(running(oof)), 0))), metric)[0], None, None
    cuts = oof.response == "proba" or (oof.response == "score" and oof.threshold is not None)
    if found.needs == "label" and cuts and oof.labels is None and oof.data.ndim == 3 and oof.data.size > _LARGE:
        return found, oof.data, 0.5 if oof.threshold is None else oof.threshold
    return *_bind_raw(oof, metric), None
