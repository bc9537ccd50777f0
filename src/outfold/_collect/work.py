"""The unit of work: fit a batch of configurations on one hold-out and predict what was left out."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._plan import Splits
from .data import Part, Samples, borrow
from .limits import Expired, Watchdog, alarm, limit_worker, listening, own_random_state, quiet
from .raising import as_sent
from .recipes import Recipe
from .respond import Answer, Reader
from .schedule import Holdout


@dataclass(frozen=True, eq=False)
class Setting:
    """What all tasks of a collection share.

    Attributes
    ----------
    token
        Tells collections apart in a worker that outlives one.
    samples, reader
        The data, and how to read predictions.
    own_process
        The worker is a process of its own: it sets its limits itself.
    limited
        The worker sets its OpenMP threads itself; else the process it works in has done so.
    threads
        OpenMP threads a fit may use.
    timeout
        Seconds a fit may take, or None.
    folder
        Where watchdogs leave records, or None where a process must not be ended.
    config
        The settings of scikit-learn where the collection was started, which workers do not share by themselves.
    shared_process
        Other fits go on in this process at the same time, so that its global random numbers are not ours.
    patience
        Seconds after which a task gives back what is finished, whatever is left of its batch.
    raises
        The first failed fit ends the collection: its exception is kept, and what comes after it is left.
    """

    token: str
    samples: Samples
    reader: Reader
    own_process: bool = False
    limited: bool = False
    threads: int = 1
    timeout: float | None = None
    folder: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    shared_process: bool = False
    patience: float = np.inf
    raises: bool = False


class Outcome(NamedTuple):
    """What one fit gave: predictions for every fold it left out, or a message why there are none.

    `labels` has what ``predict`` gave for every fold where it is not the cut of the predictions; `error` the exception,
    where the collection is to raise it.
    """

    holdout: Holdout
    name: str
    values: tuple[NDArray[Any], ...] | None
    message: str
    seconds: float
    warnings: tuple[str, ...]
    labels: tuple[NDArray[np.intp] | None, ...] | None = None
    error: BaseException | None = None


def work(setting: Setting, holdout: Holdout, splits: Splits, seed: int, recipes: Sequence[Recipe]) -> list[Outcome]:
    """Fit the recipes on the training rows of the hold-out; a pure function of its arguments.

    `splits` are those of the hold-out's repeat alone. What takes much longer than expected is given back in part: the
    first outcomes, at least one.
    """
    from sklearn import config_context

    if setting.limited:
        limit_worker(setting.own_process, setting.threads)
    outcomes: list[Outcome] = []
    start = perf_counter()
    with ExitStack() as stack:
        stack.enter_context(config_context(**setting.config))
        if setting.own_process:
            stack.enter_context(quiet())
        seed_globals = None if setting.shared_process else stack.enter_context(own_random_state())
        for recipe in recipes:
            if seed_globals is not None:
                seed_globals(seed)
            outcomes.append(_fit(setting, holdout, splits, seed, recipe))
            if perf_counter() - start > setting.patience or (setting.raises and outcomes[-1].values is None):
                break
    return outcomes


def _fit(setting: Setting, holdout: Holdout, splits: Splits, seed: int, recipe: Recipe) -> Outcome:
    start = perf_counter()
    answers, message, caught = None, "", None
    with listening() as heard:
        try:
            answers = _predict(setting, holdout, splits, seed, recipe)
        except Expired:
            message = expired_message(setting.timeout)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # also sys.exit() in a fit: one configuration must not end the others
            message = describe(error)
            caught = as_sent(error, setting.own_process) if setting.raises else None
    values, labels = (None, None) if answers is None else (tuple(a.values for a in answers), _labels(answers))
    return Outcome(holdout, recipe.name, values, message, perf_counter() - start, tuple(heard), labels, caught)


def _labels(answers: tuple[Answer, ...]) -> tuple[NDArray[np.intp] | None, ...] | None:
    labels = tuple(answer.labels for answer in answers)
    return labels if any(own is not None for own in labels) else None


def _predict(setting: Setting, holdout: Holdout, splits: Splits, seed: int, recipe: Recipe) -> tuple[Answer, ...]:
    # A new worker imports the estimator's library when it makes the first one: before the clock starts.
    model = recipe.make(seed)
    try:
        return _fit_on(_shared_part(setting, holdout, splits), setting, holdout, recipe, model)
    except ValueError as error:
        if "read-only" not in _said(error):
            raise
    # An estimator that writes into its input gets rows of its own; the others go on sharing theirs.
    return _fit_on(_part(setting, holdout, splits, private=True), setting, holdout, recipe, recipe.make(seed))


def _fit_on(part: Part, setting: Setting, holdout: Holdout, recipe: Recipe, model: Any) -> tuple[Answer, ...]:
    if setting.timeout is None:
        return _fit_predict(part, setting.reader, model, recipe.trusted)
    start = perf_counter()
    with Watchdog(setting.folder, setting.timeout).guard(holdout, recipe.name), alarm(setting.timeout):
        values = _fit_predict(part, setting.reader, model, recipe.trusted)
    if perf_counter() - start > setting.timeout:  # where no alarm can ring
        raise Expired
    return values


def _fit_predict(part: Part, reader: Reader, model: Any, trusted: bool) -> tuple[Answer, ...]:
    model.fit(borrow(part.X, trusted), part.y, **part.fit_params)
    answers = tuple(reader(model, borrow(X, trusted)) for X in part.tests)
    return answers if part.cuts is None else answers[0].cut(part.cuts)


def describe(error: BaseException) -> str:
    """``ExceptionType: first line``, in characters that every file and terminal takes."""
    lines = [line for line in _said(error).splitlines() if line.strip()]
    out = f"{type(error).__name__}: {lines[0].strip()}" if lines else type(error).__name__
    return out.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # one that cannot even say what it is
        return ""


def expired_message(timeout: float | None) -> str:
    """Why a fit that took too long has no predictions."""
    return f"TimeoutError: no result after {timeout:g} s"


CRASHED = "the worker process ended (crash or out of memory)"

# -- rows -----------------------------------------------------------------------------------------------


class _LastPart(threading.local):
    """The rows of the last hold-out in this thread; the next batch is mostly of the same one."""

    key: tuple[str, Holdout] | None = None
    part: Part | None = None


_last = _LastPart()


def forget_rows() -> None:
    """Let go of the rows kept for the next batch."""
    _last.key = _last.part = None


def _shared_part(setting: Setting, holdout: Holdout, splits: Splits) -> Part:
    if _last.key != (setting.token, holdout) or _last.part is None:
        _last.part = None  # free the old rows before taking the new ones
        _last.part = _part(setting, holdout, splits)
        _last.key = (setting.token, holdout)
    return _last.part


def _part(setting: Setting, holdout: Holdout, splits: Splits, private: bool = False) -> Part:
    tests = tuple(splits.test_rows(0, k) for k in holdout.folds)
    train = splits.train_rows(0, *holdout.left_out)
    if holdout.twin is None:
        return setting.samples.part(train, tests, private)
    return setting.samples.part(train, (*tests, np.unique(train)), private, at_once=True)
