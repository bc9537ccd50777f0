"""What is checked: predictions, a metric, and what follows from them, each computed once for all checks that ask for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import select
from ..data.duplicates import held_out_with_twin
from ..data.notes import Note
from ..data.predictions import Predictions
from ..estimate._build import fold_notes
from ..estimate._default import corrected
from ..exceptions import InputError, NeedError
from ..metrics import Metric, MetricLike
from ..metrics._baseline import baseline
from ..metrics._keeping import alone
from ..metrics._scoring import selecting
from ..results import Baseline, Estimate, Selection, TiedSet
from ..stats.kernels import Floats


class Case:
    """Predictions and a metric; the features and the estimate to report where there are some; and what follows from them."""

    def __init__(
        self, oof: Predictions, metric: MetricLike | None = None, X: Any = None, made: Estimate | None = None
    ) -> None:
        self.oof, self.X, self._made = oof, X, made
        self.scoring = selecting(oof, metric)
        self._said: dict[str, str | None] = {}

    @property
    def metric(self) -> Metric:
        """The metric."""
        return self.scoring.metric

    @property
    def n_candidates(self) -> int:
        """How many configurations can be selected."""
        return len(self.scoring.candidates)

    @property
    def leave_one_out(self) -> bool:
        """Whether every fold holds one sample."""
        return 1 < self.oof.n_samples == self.oof.n_folds

    @property
    def one_test_set(self) -> bool:
        """Whether the predictions were made elsewhere on one test set: what the models learnt from is not known."""
        return self.oof.plan.kind == "given" and self.oof.n_folds < 2

    @cached_property
    def _estimated(self) -> Estimate | InputError:
        if self._made is not None and self._made.method == "bbc":
            return self._made
        try:
            return corrected(self.oof, self.metric)
        except InputError as error:
            return error

    @property
    def estimate(self) -> Estimate | None:
        """The estimate by bbc or, of scores of folds, by bbc_f or tt; None where there is none."""
        return self._estimated if isinstance(self._estimated, Estimate) else None

    @property
    def problem(self) -> str | None:
        """Why there is no estimate; None where another method made one, as it does for scores of whole folds."""
        return str(self._estimated) if isinstance(self._estimated, InputError) and self._made is None else None

    @cached_property
    def selection(self) -> Selection | None:
        """What the estimate to report is of, or the winner; None where the metric is undefined for all."""
        try:
            won = select.choose(self.scoring, select.recorded_rule(self.oof))
        except InputError:
            return None
        reported = None if self._made is None else self._made.selected
        if reported == won.name or reported not in self.scoring.names:
            return won
        at = self.scoring.names.index(reported)
        index, score = int(self.scoring.candidates[at]), float(self.scoring.scores()[0, at])
        return replace(won, name=reported, index=index, score=score, params=self.scoring.params[at])

    @property
    def predicted(self) -> Floats | None:
        """(N, 1) or (N, K), the mean of `predictions` over repeats."""
        return None if self.predictions is None else _over_repeats(self.predictions)

    @cached_property
    def predictions(self) -> Floats | None:
        """What the winner predicts: (R, N, 1) values or (R, N, K) probabilities, 0 or 1 for labels; NaN if not held out.

        None where there is no winner, or where predictions have no scale that labels share.
        """
        if self.selection is None or self.oof.target.task not in ("regression", "binary", "multiclass"):
            return None
        oof = alone(self.oof, self.selection.name)
        if oof.target.classes is None:
            return np.asarray(oof.data[:, 0, :, None])
        if oof.response == "proba":
            P = oof.data[:, 0]
            return np.asarray(P if P.ndim == 3 else np.stack([1 - P, P], axis=-1))
        return None if self.labels is None else indicators(self.labels, len(oof.target.classes))

    @cached_property
    def labels(self) -> NDArray[np.intp] | None:
        """(R, N) class codes that the winner predicts, -1 where it predicts nothing; None where they are not known."""
        if self.selection is None or self.oof.target.classes is None:
            return None
        try:
            codes = alone(self.oof, self.selection.name).respond("label")[:, 0]
        except NeedError:  # margins of which no cut is known
            return None
        return np.where(self.oof.folds.T >= 0, codes, -1)

    @cached_property
    def tied(self) -> TiedSet | None:
        """The configurations that cannot be told from the best; None where too many draws cannot be scored."""
        try:
            return select.tied_among(self.scoring)
        except InputError:
            return None

    @cached_property
    def baseline(self) -> Baseline | None:
        """What a model that learnt nothing scores on the samples that count; None where that is not known."""
        return baseline(self.metric, self.oof.target.take(self.scoring.rows), self.oof.times)

    @cached_property
    def repeat_scores(self) -> NDArray[np.float64] | None:
        """(R, C) scores of the candidates in every repeat; None for one repeat, or where a score is undefined."""
        if len({repeat for repeat, _ in self.scoring.cells}) < 2:
            return None
        scores = self.scoring.repeat_scores()
        return None if np.isnan(scores).any() else scores

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What the predictions and the estimates say of themselves."""
        own = (*self.oof.notes, *self.scoring.notes) if self.estimate is None else self.estimate.notes
        reported = () if self._made is None else self._made.notes
        by_fold = self.scoring.aggregate == "fold" and self.oof.n_folds > 1
        return (*reported, *own, *(fold_notes(self.scoring) if by_fold else ()))

    @cached_property
    def split_groups(self) -> NDArray[np.intp]:
        """The codes of groups that are on both sides of a split."""
        codes, oof = self.oof.group_codes, self.oof
        if codes is None:
            return np.empty(0, dtype=np.intp)
        return np.unique(codes[held_out_with_twin(codes, oof.folds, oof.train)])

    @cached_property
    def mean_training(self) -> float:
        """How many samples a model was fitted on, on average."""
        return float(np.mean([len(self.oof.splits.train_rows(r, k)) for r, k in self.scoring.cells]))

    @cached_property
    def grid(self) -> list[Mapping[str, Any]]:
        """Parameters of the winner's grid: configurations whose names begin the same way, with the same parameters."""
        if self.selection is None:
            return []
        stem, keys = _stem(self.selection.name), self.selection.params.keys()
        pairs = zip(self.oof.configs, self.oof.params, strict=True)
        return [params for name, params in pairs if _stem(name) == stem and params.keys() == keys]

    def says(self, code: str) -> str | None:
        """What the check of this code finds; it looks once, however many others ask."""
        if code not in self._said:
            self._said[code] = FINDERS[code](self)
        return self._said[code]


def _stem(name: str) -> str:
    """The part of a name before the parameters; empty where the name does not show them."""
    return name.partition("(")[0] if "(" in name else ""


def indicators(codes: NDArray[np.intp], n_classes: int) -> Floats:
    """(R, N, K) 1 for the class predicted, 0 for the others; NaN where nothing is predicted."""
    out = np.eye(n_classes + 1)[codes][..., :-1]
    out[codes < 0] = np.nan
    return np.asarray(out)


def _over_repeats(values: Floats) -> Floats:
    there = ~np.isnan(values)
    return np.asarray(np.where(there, values, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1))


Find = Callable[[Case], str | None]
# By code; the other checks speak through the notes of results only.
FINDERS: dict[str, Find] = {}


def finds(code: str) -> Callable[[Find], Find]:
    """Register what finds the caveat of this code."""

    def register(find: Find) -> Find:
        FINDERS[code] = find
        return find

    return register
