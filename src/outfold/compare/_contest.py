"""Who is compared, on what: the configurations of a comparison with their predictions or fold scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..data.notes import Note
from ..data.plan import Plan
from ..data.predictions import Predictions, State
from ..data.scores import FoldScores
from ..exceptions import InputError, NeedError
from ..metrics import Metric, MetricLike
from ..metrics._scoring import Scoring, fold_scores

Source: TypeAlias = Predictions | FoldScores

# Sources do not change, and many pairs of one are asked for in turn: its best is found once.
_WINNERS: WeakKeyDictionary[Source, dict[Metric | None, str | None]] = WeakKeyDictionary()


class Contest:
    """Some configurations of one source, and the metric they are compared by.

    Attributes
    ----------
    configs
        The configurations that take part, in the order asked for.
    oof
        Their predictions; None where the source holds fold scores only.
    metric
        The metric; None where the source holds fold scores only.
    """

    def __init__(self, source: Source, metric: MetricLike | None, configs: Sequence[str | int] | None = None) -> None:
        if not isinstance(source, (Predictions, FoldScores)):
            raise InputError(
                "a comparison needs Predictions, as collect or load give, or the fold scores of from_scores; "
                f"got {type(source).__name__}."
            )
        wanted = list(source.configs if configs is None else configs)
        index = [source.config_index(name) for name in wanted]
        if len(set(index)) < max(len(index), 2):
            raise InputError(f"a comparison needs two different configurations at least; got {wanted!r}.")
        self.source = source
        self._index = index
        self.configs = tuple(source.configs[i] for i in index)
        if isinstance(source, FoldScores):
            if metric is not None and metric != source.metric:
                raise InputError(f"these are scores by {source.metric}; they cannot be compared by {metric!r}.")
            self.oof: Predictions | None = None
            self.metric: Metric | None = None
            return
        self._refuse_unfinished(source)
        self.oof = source._sel_configs(index) if index != list(range(source.n_configs)) else source
        self.metric = metrics.get(
            metrics.default(source.target.task, source.response) if metric is None else metric, source.target.task
        )

    def _refuse_unfinished(self, oof: Predictions) -> None:
        for i in self._index:
            states = oof.state[i][oof.planned]
            found = next((s for s in (State.DROPPED, State.FAILED, State.PENDING) if np.any(states == s)), None)
            if found is not None:
                raise NeedError(
                    f"a comparison needs all folds of {oof.configs[i]!r}; some are {found.name.lower()}. "
                    "Compare configurations that are done, or collect the rest (without dropping)."
                )

    # -- what tests read --------------------------------------------------------------------------------

    @property
    def plan(self) -> Plan:
        """How samples were held out."""
        return self.source.plan

    @property
    def metric_name(self) -> str:
        """Name of the metric."""
        return self.source.metric if isinstance(self.source, FoldScores) else self._metric.name

    @property
    def greater_is_better(self) -> bool:
        """Direction of the metric."""
        return self.source.greater_is_better if isinstance(self.source, FoldScores) else self._metric.greater_is_better

    @property
    def sign(self) -> int:
        """1 where greater is better, else -1."""
        return 1 if self.greater_is_better else -1

    @property
    def _metric(self) -> Metric:
        assert self.metric is not None
        return self.metric

    def predictions(self, test: str) -> Predictions:
        """The predictions, or an error where there are only fold scores."""
        if self.oof is None:
            raise NeedError(
                f"{test} needs predictions; these are scores of folds. Use a test by resampling, such as t_corrected."
            )
        return self.oof

    @cached_property
    def folds(self) -> FoldScores:
        """Scores of every fold of those who take part."""
        if self.oof is not None:
            return fold_scores(self.oof, self._metric)
        assert isinstance(self.source, FoldScores)
        return replace(self.source, configs=self.configs, values=self.source.values[self._index])

    @cached_property
    def scoring(self) -> Scoring:
        """The metric bound to the predictions, pooled over the folds of a repeat."""
        return Scoring(self.predictions("this test"), self._metric)

    @cached_property
    def winner(self) -> str | None:
        """The best of all configurations of the source by the metric, where there are more than two."""
        known = _WINNERS.setdefault(self.source, {})
        if self.metric not in known:
            known[self.metric] = self._find_winner()
        return known[self.metric]

    def _find_winner(self) -> str | None:
        if isinstance(self.source, FoldScores):
            scores, names = self.sign * _means(self.source.values), self.source.configs
        else:
            scoring = Scoring(self.source, self._metric)
            scores, names = self.sign * scoring.scores()[0], scoring.names
        if len(names) < 3 or np.all(np.isnan(scores)):
            return None
        return names[int(np.nanargmax(scores))]

    def notes_on_selection(self, pairs: NDArray[np.intp], of: str = "p value does") -> dict[int, tuple[Note, ...]]:
        """A caveat for every pair of which one was selected on these very predictions; `of` what does not know it."""
        if self.winner not in self.configs:
            return {}
        winner = self.configs.index(self.winner)
        note = selected_note(self.winner, len(self.source.configs), of)
        return {int(i): (note,) for i in np.flatnonzero((pairs == winner).any(axis=1))}


def selected_note(winner: str, n_configs: int, of: str) -> Note:
    """The caveat that one of two was selected on these very predictions; `of` what does not know it."""
    return Note(
        "OF301",
        f"{winner} is the best of {n_configs:,} on these predictions; the {of} not account for that choice.",
    )


def _means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(C,) mean of what is defined in (C, R, K) scores; NaN where nothing is."""
    defined = ~np.isnan(values)
    counts = defined.sum(axis=(1, 2))
    sums = np.where(defined, values, 0.0).sum(axis=(1, 2))
    return np.asarray(np.divide(sums, counts, out=np.full(len(values), np.nan), where=counts > 0))
