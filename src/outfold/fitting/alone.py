"""One configuration fitted by itself, as its own `fit` does it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .data import Part, borrow
from .limits import Expired, listening
from .raising import as_sent
from .recipes import Recipe
from .respond import Answer, Reader
from .schedule import Holdout
from .task import Outcome, Place, Share, describe, expired_message, said


def fit_alone(place: Place, recipe: Recipe) -> Outcome:
    """Fit a configuration and predict what is left out; whatever it raises becomes a message."""
    start, setting = perf_counter(), place.setting
    answers, message, caught = None, "", None
    place.start_random()
    with listening() as heard:
        try:
            answers = _predict(place, recipe)
        except Expired:
            message = expired_message(setting.timeout)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # also sys.exit() in a fit: one configuration must not end the others
            message = describe(error)
            caught = as_sent(error, setting.own_process) if setting.raises else None
    seconds = perf_counter() - start
    share = None if recipe.route is None else Share(seconds, legs=len(recipe.route.legs), steps=len(recipe.route.legs))
    if answers is None:
        return Outcome(place.holdout, recipe.name, None, message, seconds, tuple(heard), None, caught, share)
    return outcome_of(place, recipe, answers, seconds, tuple(heard), share)


def outcome_of(
    place: Place,
    recipe: Recipe,
    answers: tuple[Answer, ...],
    seconds: float,
    heard: tuple[str, ...],
    share: Share | None,
) -> Outcome:
    """The outcome of a fit that gave answers."""
    values = tuple(answer.values for answer in answers)
    return Outcome(place.holdout, recipe.name, values, "", seconds, heard, _labels(answers), None, share)


def _labels(answers: tuple[Answer, ...]) -> tuple[NDArray[np.intp] | None, ...] | None:
    labels = tuple(answer.labels for answer in answers)
    return labels if any(own is not None for own in labels) else None


def _predict(place: Place, recipe: Recipe) -> tuple[Answer, ...]:
    # A new worker imports the estimator's library when it makes the first one: before the clock starts.
    model = recipe.make(place.seed)
    reader, trusted = place.setting.reader, recipe.trusted
    known = place.setting.lean and is_proved(place, recipe.name)
    try:
        with place.guard(recipe.name), proved(known):
            answers = fit_predict(shared_part(place), reader, model, trusted)
        if not known:
            prove(place, recipe.name)
        return answers
    except Exception as error:
        if not known and not (isinstance(error, ValueError) and "read-only" in said(error)):
            raise
    # An estimator that writes into its input gets rows of its own; the others go on sharing theirs.
    place.start_random()
    with place.guard(recipe.name):
        return fit_predict(_part(place, private=True), reader, recipe.make(place.seed), trusted)


def fit_predict(part: Part, reader: Reader, model: Any, trusted: bool) -> tuple[Answer, ...]:
    """Fit the model on the rows and read what it says of the others."""
    model.fit(borrow(part.X, trusted), part.y, **part.fit_params)
    return part.cut(tuple(reader(model, borrow(X, trusted)) for X in part.tests))


# -- checks that were passed before ---------------------------------------------------------------------


class _Proved(threading.local):
    """Which parameters have passed scikit-learn's checks in this thread, in the collection of this token."""

    token: str | None = None
    names: frozenset[Any] | set[Any] = frozenset()


_proved = _Proved()


def is_proved(place: Place, name: Any) -> bool:
    """Whether this was fitted here before: its parameters need not be checked again."""
    return _proved.token == place.setting.token and name in _proved.names


def prove(place: Place, name: Any) -> None:
    """This was fitted, so that its parameters are good."""
    if _proved.token != place.setting.token:
        _proved.token, _proved.names = place.setting.token, set()
    assert isinstance(_proved.names, set)
    _proved.names.add(name)


@contextmanager
def proved(known: bool, finite: bool = False) -> Iterator[None]:
    """Let scikit-learn leave out the checks of parameters, and of numbers that are known to be finite."""
    if not known:
        yield
        return
    from sklearn import config_context

    switches = {"skip_parameter_validation": True} | ({"assume_finite": True} if finite else {})
    with config_context(**switches):
        yield


# -- rows -----------------------------------------------------------------------------------------------


class _LastPart(threading.local):
    """The rows of the last hold-out in this thread; the next batch is mostly of the same one."""

    key: tuple[str, Holdout] | None = None
    part: Part | None = None


_last = _LastPart()


def forget_part() -> None:
    """Let go of the rows kept for the next batch."""
    _last.key = _last.part = None


def shared_part(place: Place) -> Part:
    """The rows of a hold-out, which fits of several configurations share."""
    key = (place.setting.token, place.holdout)
    if _last.key != key or _last.part is None:
        _last.part = None  # free the old rows before taking the new ones
        _last.part = _part(place)
        _last.key = key
    return _last.part


def _part(place: Place, private: bool = False) -> Part:
    splits, holdout, samples = place.splits, place.holdout, place.setting.samples
    tests = tuple(splits.test_rows(0, k) for k in holdout.folds)
    train = splits.train_rows(0, *holdout.left_out)
    if holdout.twin is None:
        return samples.part(train, tests, private)
    return samples.part(train, (*tests, np.unique(train)), private, at_once=True)
