"""The seam between the main process and the fits: `Executor.fit` takes a batch and gives outcomes.

`PlainExecutor` clones, fits and predicts. The executor of `sharing` does the same faster and gives the same bits.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from .. import formatting
from ..data.notes import Note
from .data import FitRows, borrow
from .estimators import EstimatorTemplate
from .limits import Expired, record_warnings
from .live import LiveScores, LiveScoring
from .predict import Reader, RowPredictions
from .worker import Batch, FitOutcome, describe, expired_message, sendable, text_of


class Executor(ABC):
    """How configurations are fitted.

    The dispatcher, the schedule, crash recovery and early stopping know an executor by these methods only. An executor does
    not change: a method that alters how it works gives another one, with another token.
    """

    templates: Sequence[EstimatorTemplate]  # in the order of the collection; a position is a place in it
    token: str  # what workers keep is for executors with this token

    @abstractmethod
    def fit(self, batch: Batch) -> list[FitOutcome]:
        """Fit the configurations of a batch, in a worker; the first outcomes, at least one."""

    def release(self) -> None:
        """Let go of the rows that this thread keeps for the next batch."""
        _kept.key = _kept.rows = None

    # -- what goes into a batch -------------------------------------------------------------------------

    @property
    def order(self) -> Sequence[int]:
        """All positions, in the order in which they are best fitted."""
        return range(len(self.templates))

    def branch(self, position: int) -> Hashable:
        """Neighbours in the order with equal branches are better handed out together."""
        return position

    def cut_after(self, position: int, following: int) -> float | None:
        """Seconds of fits that make it worth to end a batch between these two; None if they must stay together."""
        return 0.0

    def helpers(self, positions: Collection[int]) -> list[int]:
        """Further configurations that are needed to fit these."""
        return []

    # -- what came back ---------------------------------------------------------------------------------

    def own_seconds(self, outcome: FitOutcome) -> float:
        """Seconds of the configuration's own part of a fit."""
        return outcome.seconds

    @abstractmethod
    def count(self, outcome: FitOutcome, void: bool = False) -> None:
        """Take a fit that came back into the facts; `void` if its result does not count any more."""

    def disproved_by(self, outcomes: Sequence[FitOutcome]) -> set[str]:
        """Configurations whose results must be thrown away, because a verification failed in these outcomes."""
        return set()

    def without_disproved(self, outcomes: Sequence[FitOutcome]) -> Executor:
        """The executor that does without what these outcomes disproved."""
        return self

    def accepts(self, outcome: FitOutcome, token: str) -> bool:
        """Whether a result that was made under this token still counts."""
        return True

    # -- crashes ----------------------------------------------------------------------------------------

    def shares(self, position: int) -> bool:
        """Whether the fit of this configuration does work for others, which may be the reason for a crash."""
        return False

    def isolating(self, position: int) -> Executor:
        """The executor that fits this configuration, and those it shares work with, by themselves."""
        return self

    def plain(self, templates: Sequence[EstimatorTemplate]) -> Executor:
        """An executor that fits each of these configurations by itself."""
        return PlainExecutor(templates)

    # -- what to tell -----------------------------------------------------------------------------------

    @property
    def identity(self) -> dict[str, str]:
        """What a store must have been made with to be continued by this executor."""
        return {}

    @abstractmethod
    def continuing(self, facts: Mapping[str, Any], notes: Sequence[Note]) -> Executor:
        """The executor that goes on from what earlier calls recorded in a store."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What to record about the fits, those of earlier calls on the same store included."""

    @abstractmethod
    def notes(self) -> tuple[Note, ...]:
        """What the user should know about the fits."""

    def explain(self, n_holdouts: int) -> str:
        """What is going to be fitted, for a person."""
        n = len(self.templates)
        fits = f"{formatting.count(n * n_holdouts, 'fit')} of {formatting.count(n, 'configuration')}"
        return f"{fits} on {formatting.count(n_holdouts, 'hold-out')}; nothing is shared"


class PlainExecutor(Executor):
    """Each configuration is cloned, fitted and asked for predictions.

    With `skip_passed_checks`, scikit-learn does not validate parameters again that have passed in this thread.
    """

    def __init__(
        self, templates: Sequence[EstimatorTemplate], skip_passed_checks: bool = False, token: str = ""
    ) -> None:
        self.templates, self.skip_passed_checks = templates, skip_passed_checks
        self.token = token or new_token()
        self._before: Mapping[str, Any] = {}
        self._notes: tuple[Note, ...] = ()
        self._n_fits = 0

    def __getstate__(self) -> dict[str, Any]:
        """A worker gets the templates that it needs with each batch."""
        return {"templates": (), "skip_passed_checks": self.skip_passed_checks, "token": self.token}

    def fit(self, batch: Batch) -> list[FitOutcome]:
        """Fit the configurations one after the other."""
        outcomes: list[FitOutcome] = []
        start = perf_counter()
        for template in batch.templates:
            outcomes.append(self.fit_one(batch, template))
            if batch.ends_after(outcomes[-1:], perf_counter() - start):
                break
        return outcomes

    def fit_one(self, batch: Batch, template: EstimatorTemplate) -> FitOutcome:
        """Fit a configuration and predict what is left out; whatever it raises becomes a message."""
        start, settings = perf_counter(), batch.settings
        fitted, message, caught = None, "", None
        batch.start_random()
        with record_warnings() as names:
            try:
                fitted = self._fit(batch, template)
            except Expired:
                message = expired_message(settings.timeout)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # also sys.exit() in a fit: one configuration must not end the others
                message = describe(error)
                caught = sendable(error, settings.own_process) if settings.raises else None
        seconds = perf_counter() - start
        if fitted is None:
            return FitOutcome(batch.holdout, template.name, None, message, seconds, tuple(names), None, caught)
        if fitted.unread:
            failed = FitOutcome(batch.holdout, template.name, None, fitted.unread, seconds, tuple(names))
            return failed._replace(scores=fitted.scores)
        return outcome_of(batch, template, fitted.predicted, seconds, tuple(names))._replace(scores=fitted.scores)

    def _fit(self, batch: Batch, template: EstimatorTemplate) -> Fitted:
        # A new worker imports the estimator's library when it makes the first one: before the clock starts.
        model = template.make(batch.seed)
        settings = batch.settings
        # A callback may look at the rows, or keep them, and should see each fit once.
        rows = shared_rows(batch) if settings.around is None else _rows_of(batch, private=True)
        passed = self.skip_passed_checks and has_passed(batch, template.name)
        try:
            with batch.guard(template.name), skipping_checks(passed):
                fitted = fit_and_score(batch, template, model, rows)
            if self.skip_passed_checks and not passed:
                mark_passed(batch, template.name)
            return fitted
        except Exception as error:
            if not passed and not (isinstance(error, ValueError) and "read-only" in text_of(error)):
                raise
        # An estimator that writes into its input gets rows of its own; the others go on sharing theirs.
        batch.start_random()
        with batch.guard(template.name):
            return fit_and_score(batch, template, template.make(batch.seed), _rows_of(batch, private=True))

    def count(self, outcome: FitOutcome, void: bool = False) -> None:
        """Each fit that was asked for was done."""
        self._n_fits += 1

    def continuing(self, facts: Mapping[str, Any], notes: Sequence[Note]) -> Executor:
        """Notes of earlier calls about their fits stay."""
        again = PlainExecutor(self.templates, self.skip_passed_checks)
        again._before, again._notes = facts, tuple(note for note in notes if note.code in ("OF106", "OF107"))
        return again

    def facts(self) -> dict[str, Any]:
        """The number of models that were asked for and of those that were fitted."""
        counted = {name: int(self._before.get(name, 0)) + self._n_fits for name in ("models", "models_done")}
        return {**self._before, "level": None, **counted}

    def notes(self) -> tuple[Note, ...]:
        """Those of earlier calls."""
        return self._notes


def new_token() -> str:
    """A token that no other executor has."""
    return os.urandom(8).hex()


def fit_predict(rows: FitRows, reader: Reader, model: Any, trusted: bool) -> tuple[RowPredictions, ...]:
    """Fit the model on the training rows and read its predictions for the others."""
    rows.fit(model, trusted)
    return read_predictions(rows, reader, model, trusted)


def read_predictions(rows: FitRows, reader: Reader, model: Any, trusted: bool) -> tuple[RowPredictions, ...]:
    """What a fitted model predicts for the rows that it left out."""
    return rows.cut(tuple(reader(model, borrow(X, trusted)) for X in rows.tests))


class Fitted(NamedTuple):
    """What a model predicts for the rows it left out, and its scores if models are scored here."""

    predicted: tuple[RowPredictions, ...]
    scores: LiveScores | None = None
    unread: str = ""  # why predictions could not be read


def fit_and_score(batch: Batch, template: EstimatorTemplate, model: Any, rows: FitRows) -> Fitted:
    """Fit the model, read its predictions and, if models are scored here, score it."""
    settings, trusted = batch.settings, template.trusted
    with batch.around(template.name, model, rows):
        rows.fit(model, trusted)
    try:
        predicted = read_predictions(rows, settings.reader, model, trusted)
    except Exception as error:  # whatever a foreign model raises
        if settings.rescue is None:
            raise
        scores = _score(settings.rescue, model, rows)
        if scores is None or not np.isfinite(list(scores.values.values())).all():
            raise
        return Fitted((), scores, describe(error))
    return Fitted(predicted, None if settings.live is None else _score(settings.live, model, rows))


def _score(live: LiveScoring, model: Any, rows: FitRows) -> LiveScores | None:
    if rows.scored is None:
        return None
    trained = rows.trained.copied() if live.train and rows.trained is not None else None
    return live(model, rows.scored.copied(), trained)


def outcome_of(
    batch: Batch,
    template: EstimatorTemplate,
    predicted: tuple[RowPredictions, ...],
    seconds: float,
    warnings: tuple[str, ...],
    shared: Any = None,
) -> FitOutcome:
    """The outcome of a fit that gave predictions."""
    values = tuple(part.values for part in predicted)
    labels = tuple(part.labels for part in predicted)
    known = labels if any(own is not None for own in labels) else None
    return FitOutcome(batch.holdout, template.name, values, "", seconds, warnings, known, None, shared)


# -- checks that were passed before ---------------------------------------------------------------------


class _Kept(threading.local):
    """What this thread keeps: what has passed scikit-learn's checks under a token, and the rows of the last hold-out."""

    def __init__(self) -> None:
        self.token, self.passed = "", set[Hashable]()
        self.key: Hashable = None
        self.rows: FitRows | None = None


_kept = _Kept()


def has_passed(batch: Batch, name: Hashable) -> bool:
    """Whether this was fitted here before, so that its parameters need not be checked again."""
    return _kept.token == batch.token and name in _kept.passed


def mark_passed(batch: Batch, name: Hashable) -> None:
    """This was fitted, so its parameters are good."""
    if _kept.token != batch.token:
        _kept.token, _kept.passed = batch.token, set()
    _kept.passed.add(name)


@contextmanager
def skipping_checks(passed: bool, finite: bool = False) -> Iterator[None]:
    """Let scikit-learn leave out the checks of parameters that passed before, and of numbers known to be finite."""
    if not passed:
        yield
        return
    from sklearn import config_context

    switches = {"skip_parameter_validation": True} | ({"assume_finite": True} if finite else {})
    with config_context(**switches):
        yield


# -- rows -----------------------------------------------------------------------------------------------


def shared_rows(batch: Batch) -> FitRows:
    """The rows of a hold-out, which fits of several configurations share."""
    key = (batch.token, batch.holdout)
    if _kept.key != key or _kept.rows is None:
        _kept.rows = None  # free the old rows before taking the new ones
        _kept.rows = _rows_of(batch)
        _kept.key = key
    return _kept.rows


def _rows_of(batch: Batch, private: bool = False) -> FitRows:
    splits, holdout, samples = batch.splits, batch.holdout, batch.settings.samples
    tests = tuple(splits.test_rows(0, k) for k in holdout.folds)
    train = splits.train_rows(0, *holdout.left_out)
    if holdout.training_block is None:
        return samples.rows_of(train, tests, private)
    return samples.rows_of(train, (*tests, np.unique(train)), private, at_once=True)
