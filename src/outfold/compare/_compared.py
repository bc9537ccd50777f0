"""What is compared: some configurations, with their predictions or fold scores, and the metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..arguments import check_count
from ..data.notes import Note
from ..data.plan import Plan
from ..data.predictions import Predictions, State
from ..data.scores import FoldScores
from ..exceptions import InputError, NeedError, invalid
from ..metrics import Metric, MetricLike
from ..metrics._cell_scores import fold_scores
from ..metrics._scoring import Scoring, bind, recorded_metric, selecting
from ..requirements import of_search
from ..select import best, choose, recorded_rule

Source: TypeAlias = Predictions | FoldScores

# At most this many configurations that were left out are named.
_NAMED = 5
# Sources do not change, and many pairs of one source are asked for in turn: its best configuration is found once.
_WINNERS: WeakKeyDictionary[Source, dict[Metric | None, str | None]] = WeakKeyDictionary()


def _comparable(source: Source) -> list[int]:
    """Positions of the configurations of which no fold was dropped or failed; of all if these are too few: the error says why."""
    every = list(range(len(source.configs)))
    if isinstance(source, FoldScores):
        return every
    lost = np.isin(source.state[:, source.planned], (State.DROPPED, State.FAILED)).any(axis=1)
    return every if np.sum(~lost) < 2 else [int(i) for i in np.flatnonzero(~lost)]


def refuse_unfinished(source: Source, i: int) -> None:
    """Refuse a configuration with folds that are dropped, failed or pending."""
    states = np.array([]) if isinstance(source, FoldScores) else source.state[i][source.planned]
    found = next((s for s in (State.DROPPED, State.FAILED, State.PENDING) if np.any(states == s)), None)
    if found is not None:
        needed = f"a comparison needs all folds of {source.configs[i]!r}"
        remedy = "Compare those that are done: `configs=oof.leaderboard().configs`; or fit all folds with `drop=False`."
        raise NeedError(needed=needed, given=f"some are {found.name.lower()}", remedy=remedy)


class ComparedConfigs:
    """Some configurations of one source in the order asked for, and the metric they are compared by.

    Where the source holds fold scores only, there are no predictions and no metric: ``oof`` and ``metric`` are None.
    Without `configs`, all are compared but those with dropped or failed folds, whose names are ``left_out``.
    """

    def __init__(self, source: Source, metric: MetricLike | None, configs: Sequence[str | int] | None = None) -> None:
        if not isinstance(source, (Predictions, FoldScores)):
            needed = "must be Predictions, as `collect` or `load` give, or the fold scores of `from_scores`"
            raise invalid("source", needed, f"got {type(source).__name__}", of_search(source))
        index = _comparable(source) if configs is None else [source.config_index(name) for name in configs]
        self.configs = tuple(source.configs[i] for i in index)
        if len(set(index)) < max(len(index), 2):
            given = f"got {', '.join(map(repr, self.configs)) or 'none'}"
            raise InputError(needed="a comparison needs at least two different configurations", given=given)
        self.source = source
        self._index = index
        self.left_out = tuple(name for name in source.configs if configs is None and name not in self.configs)
        if isinstance(source, FoldScores):
            if metric is not None and metric != source.metric:
                needed = f"must be None or {source.metric!r}, by which these folds were scored"
                raise invalid("metric", needed, f"got {metric!r}")
            self.oof: Predictions | None = None
            self.metric: Metric | None = None
            return
        for i in index:
            refuse_unfinished(source, i)
        self.oof = source._sel_configs(index) if index != list(range(source.n_configs)) else source
        self.metric = metrics.get(recorded_metric(source, metric), source.target.task)

    def notes_on_left_out(self) -> tuple[Note, ...]:
        """Which configurations were left out, because they were dropped or failed."""
        if isinstance(self.source, FoldScores):
            return ()
        notes, states = [], self.source.state
        for code, state, how in (("OF207", State.DROPPED, "were dropped"), ("OF205", State.FAILED, "failed")):
            names = [n for n in self.left_out if np.any(states[self.source.config_index(n)] == state)]
            if names:
                more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
                listed = ", ".join(map(repr, names[:_NAMED])) + more
                of_all = f"{len(names)} of {len(self.source.configs)} configurations"
                notes.append(Note(code, f"not compared, because some of their folds {how}: {listed} ({of_all})."))
        return tuple(notes)

    # -- what tests read --------------------------------------------------------------------------------

    @property
    def plan(self) -> Plan:
        return self.source.plan

    @property
    def metric_name(self) -> str:
        return self.source.metric if isinstance(self.source, FoldScores) else self._metric.name

    @property
    def greater_is_better(self) -> bool:
        return self.source.greater_is_better if isinstance(self.source, FoldScores) else self._metric.greater_is_better

    @property
    def sign(self) -> int:
        return 1 if self.greater_is_better else -1

    @property
    def _metric(self) -> Metric:
        assert self.metric is not None
        return self.metric

    @property
    def predictions(self) -> Predictions:
        """The predictions; only where the source has some."""
        assert self.oof is not None
        return self.oof

    def of_repeat(self, repeat: int | None) -> ComparedConfigs:
        """The same with the predictions of one repeat only; all of them where it is None."""
        if repeat is None or self.oof is None:
            return self
        repeat = check_count(repeat, "repeat", 0)
        if repeat >= self.oof.n_repeats:
            raise invalid("repeat", f"must be in 0..{self.oof.n_repeats - 1}", f"got {repeat}")
        return self if self.oof.n_repeats == 1 else ComparedConfigs(self.oof.sel(repeat=repeat), self.metric)

    @cached_property
    def folds(self) -> FoldScores:
        """Scores of every fold of these configurations."""
        if self.oof is not None:
            return fold_scores(self.oof, self._metric)
        assert isinstance(self.source, FoldScores)
        return replace(self.source, configs=self.configs, values=self.source.values[self._index])

    @cached_property
    def scoring(self) -> Scoring:
        """The metric bound to the predictions, pooled over the folds of each repeat."""
        return Scoring(self.predictions, self._metric)

    @cached_property
    def zero_one(self) -> bool:
        """Whether every sample is right or wrong: by the metric, or because scores made elsewhere are all 0 or 1."""
        if self.metric is None or self.oof is None or not self.metric.pointwise:
            return False
        if self.metric.name in ("accuracy", "error"):
            return True
        if self.metric.needs != "pointwise":
            return False
        # Samples that are not held out have no score.
        data, held = self.oof.respond("pointwise"), self.oof.folds >= 0
        return all(bool(np.isin(data[r][:, held[:, r]], (0.0, 1.0)).all()) for r in range(self.oof.n_repeats))

    @property
    def pointwise(self) -> bool:
        """Whether the metric is a mean over samples."""
        return self.metric is not None and self.metric.pointwise

    @cached_property
    def hits(self) -> NDArray[np.integer] | None:
        """(C, N) 1 where a prediction of the first repeat is right, else 0; None where the metric is not about that."""
        metric = self._metric
        bind(self.predictions, metric)  # an error where the predictions cannot be scored
        if metric.values is None:
            return None
        values: NDArray[Any] = next(self.values_by_repeat())[1]
        if values.dtype.kind not in "biu":
            if metric.needs != "pointwise" or not np.isin(values, (0, 1)).all():
                return None
            values = values.astype(np.int32)
        return values if metric.greater_is_better else 1 - values

    def values_by_repeat(self) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
        """For each repeat: the samples it holds out, and (C, n) the metric of each; only where it is a mean over samples."""
        oof = self.predictions
        metric, data = bind(oof, self._metric)
        assert metric.values is not None
        for r in range(oof.n_repeats):
            rows = np.flatnonzero(oof.folds[:, r] >= 0)
            yield rows, metric.values(oof.target.take(rows), np.ascontiguousarray(data[r][:, rows]))

    # -- caveats ----------------------------------------------------------------------------------------

    @cached_property
    def winner(self) -> str | None:
        """The configuration that the source selects by the metric, where there are more than two."""
        known = _WINNERS.setdefault(self.source, {})
        if self.metric not in known:
            known[self.metric] = self._find_winner()
        return known[self.metric]

    def _find_winner(self) -> str | None:
        if isinstance(self.source, FoldScores):
            scores, names = self.sign * _means(self.source.values), self.source.configs
        else:
            return self._selected(self.source)
        if len(names) < 3 or np.all(np.isnan(scores)):
            return None
        return names[int(np.nanargmax(scores))]

    def _selected(self, oof: Predictions) -> str | None:
        scoring = selecting(oof, self._metric)
        if len(scoring.candidates) < 3:
            return None
        try:
            rule = recorded_rule(oof)
        except InputError:  # a function that the file does not hold: the best is named instead
            rule = best
        try:
            return choose(scoring, rule).name
        except InputError:  # undefined for all
            return None

    def notes_on_selection(self, pairs: NDArray[np.intp], of: str = "p value does") -> dict[int, tuple[Note, ...]]:
        """A caveat for every pair with the winner of these predictions; `of` names what does not account for it."""
        if self.winner not in self.configs:
            return {}
        winner = self.configs.index(self.winner)
        note = selected_note(self.winner, len(self.source.configs), of)
        return {int(i): (note,) for i in np.flatnonzero((pairs == winner).any(axis=1))}

    def notes_on_pooling(self, ranked: bool = False) -> tuple[Note, ...]:
        """What is left out where several folds make one test set; `ranked` if their scores are ranked together."""
        oof = self.oof
        if oof is None or oof.n_folds < 2:
            return ()
        pooled = (
            f"the predictions of {oof.n_folds} folds are taken as one test set: chance in the samples counts, chance in the "
            "training sets does not."
        )
        return (Note("OF308", pooled), *self.notes_on_scales(ranked))

    def notes_on_scales(self, ranked: bool) -> tuple[Note, ...]:
        """A caveat where margins of different models are `ranked` together."""
        oof = self.oof
        if oof is None or oof.n_folds < 2 or not ranked or oof.response != "score":
            return ()
        mixed = "scores of different folds are ranked together; margins of different models may not share a scale."
        return (Note("OF306", mixed),)


def selected_note(winner: str, n_configs: int, of: str) -> Note:
    """The caveat that one of two was selected on these predictions; `of` names what does not account for it."""
    chosen = f"{winner} is selected from {n_configs:,} on these predictions"
    return Note("OF301", f"{chosen}; the {of} not account for that choice.")


def _means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(C,) mean of what is defined in (C, R, K) scores; NaN where nothing is."""
    defined = ~np.isnan(values)
    counts = defined.sum(axis=(1, 2))
    sums = np.where(defined, values, 0.0).sum(axis=(1, 2))
    return np.asarray(np.divide(sums, counts, out=np.full(len(values), np.nan), where=counts > 0))
