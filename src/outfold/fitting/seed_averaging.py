"""Several seeds for each fit: every model is fitted with each of them, and the predictions are averaged.

The predictions of one seed depend on how the seed was drawn, and so does the score (Tsamardinos and others 2015, sect. 9).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.cells import cut_labels
from ..data.notes import Note
from .estimators import EstimatorTemplate
from .executor import Executor
from .live import LiveScores
from .predict import Reader, RowPredictions
from .worker import Batch, FitOutcome

# -- the mean of predictions ----------------------------------------------------------------------------


def average(parts: Sequence[RowPredictions], reader: Reader, follows: bool) -> RowPredictions:
    """The mean of what models predict for the same rows; most of them decide where the response is the label.

    If ``predict`` of the models `follows` from their probabilities or scores, so does the label of the mean. Else most models
    decide, and of those that are tied the one with the largest mean.
    """
    first = parts[0].values
    if reader.response == "label":
        return RowPredictions(_majority(np.stack([part.values for part in parts])), None)
    # By differences, so that the mean of equal numbers is that number to the last bit.
    mean = first + sum(part.values - first for part in parts[1:]) / len(parts)
    if follows or reader.response not in ("proba", "score"):
        return RowPredictions(mean, None)
    votes = [_labels_of(part, reader) for part in parts]
    return RowPredictions(mean, _majority(np.stack(votes), _support(mean, reader)))


def _labels_of(part: RowPredictions, reader: Reader) -> NDArray[np.intp]:
    """The labels of ``predict``, which are the cut of the values where they are not kept."""
    return cut_labels(part.values, part.values.ndim == 2, reader.threshold) if part.labels is None else part.labels


def _support(mean: NDArray[np.float64], reader: Reader) -> NDArray[np.float64]:
    """(n, K) how much the mean prediction speaks for each class."""
    return mean if mean.ndim == 2 else np.stack([reader.threshold - mean, mean - reader.threshold], axis=1)


def _majority(labels: NDArray[np.intp], support: NDArray[np.float64] | None = None) -> NDArray[np.intp]:
    """(n,) the label that most of (m, n) labels are; of a tie the one with most support, else the first class."""
    n_classes = int(labels.max(initial=0)) + 1 if support is None else support.shape[1]
    counts = (labels[..., None] == np.arange(n_classes)).sum(axis=0)
    tied = counts == counts.max(axis=1, keepdims=True)
    best = np.argmax(np.where(tied, 0.0 if support is None else support, -np.inf), axis=1)
    return np.asarray(best, dtype=np.intp)


def _average_outcome(batch: Batch, template: EstimatorTemplate, parts: Sequence[FitOutcome]) -> FitOutcome:
    """The mean of the outcomes of one configuration with several seeds; a failure if one of them failed."""
    stripped = tuple(part._replace(values=None if part.failed else (), labels=None, scores=None) for part in parts)
    known: dict[str, Any] = {"seconds": sum(part.seconds for part in parts), "parts": stripped, "shared": None}
    worst = next((part for part in parts if part.failed), None)
    if worst is not None:
        return worst._replace(**known)
    reader, rows = batch.settings.reader, [_rows(part) for part in parts]
    follows = reader.response in ("proba", "score") and reader.follows(template.make(batch.seed))
    means = [average(cell, reader, follows) for cell in zip(*rows, strict=True)]
    if batch.holdout.n_seeds:
        # What was fitted once predicts the same with every seed.
        each = rows if len(rows) > 1 else rows * batch.holdout.n_seeds
        means += chain.from_iterable(mine[: len(batch.holdout.cells)] for mine in each)
    labels = tuple(mean.labels for mean in means)
    return parts[0]._replace(
        values=tuple(mean.values for mean in means),
        labels=labels if any(own is not None for own in labels) else None,
        scores=_average_scores([part.scores for part in parts if part.scores is not None]),
        **known,
    )


def _rows(outcome: FitOutcome) -> list[RowPredictions]:
    """The predictions of a fit, cell by cell."""
    assert outcome.values is not None
    labels = outcome.labels or (None,) * len(outcome.values)
    return [RowPredictions(*pair) for pair in zip(outcome.values, labels, strict=True)]


def _average_scores(scores: Sequence[LiveScores]) -> LiveScores | None:
    """The mean of the scores that the models got in the worker."""
    if not scores:
        return None
    means = {name: float(np.mean([one.values[name] for one in scores])) for name in scores[0].values}
    return LiveScores(means, next((one.problem for one in scores if one.problem), ""))


# -- the executor ---------------------------------------------------------------------------------------


class SeedAveraging(Executor):
    """Fits with every seed of a batch what has a seed to vary, and averages; another executor does the fits."""

    def __init__(self, one: Executor) -> None:
        self.one, self.templates, self.token = one, one.templates, one.token

    def __getstate__(self) -> dict[str, Any]:
        """A worker gets the templates that it needs with each batch."""
        return {"one": self.one, "templates": (), "token": self.token}

    # -- in the worker ----------------------------------------------------------------------------------

    def fit(self, batch: Batch) -> list[FitOutcome]:
        """Fit the configurations one after the other with the first seed, then again with each further one."""
        first = self.one.fit(replace(batch, further_seeds=()))
        parts = {outcome.name: [outcome] for outcome in first}
        mine = batch.templates[: len(first)]
        again = [template for template in mine if template.seeded and not parts[template.name][0].failed]
        helpers = [*batch.helpers, *(template for template in batch.templates if template not in again)]
        for seed in batch.further_seeds:
            for outcome in self._fit_all(replace(batch, templates=again, helpers=helpers, seed=seed, further_seeds=())):
                parts[outcome.name].append(outcome)
        return [_average_outcome(batch, template, parts[template.name]) for template in mine]

    def _fit_all(self, batch: Batch) -> Iterator[FitOutcome]:
        """The outcomes of the whole batch, however long it takes."""
        waiting = batch.templates
        while waiting:
            fitted = self.one.fit(replace(batch, templates=waiting))
            yield from fitted
            waiting = waiting[len(fitted) :]

    def release(self) -> None:
        """Let go of the rows that this thread keeps for the next batch."""
        self.one.release()

    # -- what goes into a batch -------------------------------------------------------------------------

    @property
    def order(self) -> Sequence[int]:
        """As the executor of one seed has it."""
        return self.one.order

    def branch(self, position: int) -> Hashable:
        """As the executor of one seed has it."""
        return self.one.branch(position)

    def cut_after(self, position: int, following: int) -> float | None:
        """As the executor of one seed has it."""
        return self.one.cut_after(position, following)

    def helpers(self, positions: Collection[int]) -> list[int]:
        """As the executor of one seed has them."""
        return self.one.helpers(positions)

    # -- what came back ---------------------------------------------------------------------------------

    def own_seconds(self, outcome: FitOutcome) -> float:
        """The seconds of all single fits."""
        return sum(self.one.own_seconds(part) for part in outcome.fits)

    def count(self, outcome: FitOutcome, void: bool = False) -> None:
        """Count every single fit."""
        for part in outcome.fits:
            self.one.count(part, void)

    def disproved_by(self, outcomes: Sequence[FitOutcome]) -> set[str]:
        """What the single fits disprove."""
        return self.one.disproved_by(_single(outcomes))

    def without_disproved(self, outcomes: Sequence[FitOutcome]) -> Executor:
        """The executor that does without what the single fits disprove."""
        return SeedAveraging(self.one.without_disproved(_single(outcomes)))

    def accepts(self, outcome: FitOutcome, token: str) -> bool:
        """Whether all single fits still count."""
        return all(self.one.accepts(part, token) for part in outcome.fits)

    # -- crashes ----------------------------------------------------------------------------------------

    def shares(self, position: int) -> bool:
        """As the executor of one seed says."""
        return self.one.shares(position)

    def isolating(self, position: int) -> Executor:
        """The executor that fits this configuration, and those it shares work with, by themselves."""
        return SeedAveraging(self.one.isolating(position))

    def plain(self, templates: Sequence[EstimatorTemplate]) -> Executor:
        """An executor that fits each of these configurations by itself."""
        return SeedAveraging(self.one.plain(templates))

    # -- what to tell -----------------------------------------------------------------------------------

    @property
    def identity(self) -> dict[str, str]:
        """As the executor of one seed has it; the number of seeds is an option of the collection."""
        return self.one.identity

    def continuing(self, facts: Mapping[str, Any], notes: Sequence[Note]) -> Executor:
        """The executor that goes on from what earlier calls recorded in a store."""
        return SeedAveraging(self.one.continuing(facts, notes))

    def facts(self) -> dict[str, Any]:
        """What to record about the single fits."""
        return self.one.facts()

    def notes(self) -> tuple[Note, ...]:
        """What the user should know about the single fits."""
        return self.one.notes()

    def explain(self, n_holdouts: int) -> str:
        """What is going to be fitted with one seed, and for how many configurations that is repeated."""
        n = sum(template.seeded for template in self.templates)
        again = f"{formatting.count(n, 'configuration')} of {len(self.templates):,}"
        return f"{self.one.explain(n_holdouts)}\nThis is for one seed; {again} have a seed to vary."


def _single(outcomes: Sequence[FitOutcome]) -> list[FitOutcome]:
    """The outcomes of all single fits."""
    return [part for outcome in outcomes for part in outcome.fits]
