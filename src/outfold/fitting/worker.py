"""A batch of fits on its way to a worker and back: what is sent, how it is run, and what comes of each fit.

A worker process imports this module, the executor and what they need; nothing of the driver.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.splitting import Splits
from .data import Samples
from .estimators import Recipe
from .limits import Expired, Watchdog, alarm, limit_worker, own_random_state, silence_warnings
from .predict import Reader
from .schedule import Holdout

if TYPE_CHECKING:
    from .executor import Executor

CRASHED = "the worker process ended (crash or out of memory)"


@dataclass(frozen=True, eq=False)
class WorkerSettings:
    """What all batches of a collection have in common.

    Attributes
    ----------
    samples, reader
        The data, and how to read predictions.
    own_process
        The worker is a separate process: it sets its limits itself.
    limited
        The worker sets its OpenMP threads itself; else the process that it works in has done so.
    threads
        OpenMP threads that a fit may use.
    timeout
        Seconds that a fit may take, or None.
    folder
        Where watchdogs leave records; None where a process must not be ended.
    config
        The settings of scikit-learn in the driver, which workers do not inherit.
    shared_process
        Other fits run in this process at the same time, so its global random numbers must not be seeded.
    patience
        Seconds after which a batch returns what is finished; the rest is handed out again.
    raises
        The first failed fit ends the collection: its exception is kept, and the fits after it are left out.
    """

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


@dataclass(frozen=True, eq=False)
class Batch:
    """Configurations to fit on the training rows of one hold-out: what an executor takes.

    Attributes
    ----------
    settings
        What all batches of the collection have in common.
    token
        Tells apart what a worker keeps for different collections, or for one whose executor has changed.
    holdout, splits
        What is left out; the splits are those of the hold-out's repeat only.
    seed
        The seed of all fits on this hold-out.
    recipes
        The configurations.
    helpers
        Further configurations that the executor needs to fit these; their results are not wanted.
    seed_globals
        Seeds the global generators of numpy and Python; set in the worker.
    """

    settings: WorkerSettings
    token: str
    holdout: Holdout
    splits: Splits
    seed: int
    recipes: Sequence[Recipe]
    helpers: Sequence[Recipe] = ()
    seed_globals: Callable[[int], None] | None = None

    def start_random(self) -> None:
        """Begin a fit with the global random numbers that every fit on this hold-out begins with."""
        if self.seed_globals is not None:
            self.seed_globals(self.seed)

    @contextmanager
    def guard(self, name: str, spent: float = 0.0, shared: bool = False) -> Iterator[None]:
        """Raise `Expired` if this block takes longer than a fit may, of which `spent` seconds are over already.

        `shared` says that the block works for several configurations.
        """
        timeout = self.settings.timeout
        if timeout is None:
            yield
            return
        left, start = max(timeout - spent, 1e-3), perf_counter()
        with Watchdog(self.settings.folder, left).guard(self.holdout, name, shared), alarm(left):
            yield
        if perf_counter() - start > left:  # where no alarm can ring
            raise Expired

    def ends_after(self, outcomes: Sequence[FitOutcome], seconds: float, at_least: float = 0.0) -> bool:
        """Whether to return what is finished: after a failure that is raised, or when the batch took too long."""
        failed = self.settings.raises and any(outcome.values is None for outcome in outcomes)
        return failed or seconds > max(self.settings.patience, at_least)


class FitOutcome(NamedTuple):
    """What one fit gave: predictions for each fold it left out, or a message why there are none.

    `labels` are those of ``predict`` for each fold where they do not follow from the predictions. `error` is the exception,
    if the collection is to raise it. `shared` is what the executor that made it needs to know later.
    """

    holdout: Holdout
    name: str
    values: tuple[NDArray[Any], ...] | None
    message: str
    seconds: float
    warnings: tuple[str, ...]
    labels: tuple[NDArray[np.intp] | None, ...] | None = None
    error: BaseException | None = None
    shared: Any = None


def run_batch(executor: Executor, batch: Batch) -> list[FitOutcome]:
    """Fit a batch under the limits of a worker; a function of its arguments only.

    A batch that takes much longer than expected returns the first outcomes, at least one.
    """
    from sklearn import config_context

    settings = batch.settings
    if settings.limited:
        limit_worker(settings.own_process, settings.threads)
    with ExitStack() as stack:
        stack.enter_context(config_context(**settings.config))
        if settings.own_process:
            stack.enter_context(silence_warnings())
        if not settings.shared_process:
            batch = replace(batch, seed_globals=stack.enter_context(own_random_state()))
        return executor.fit(batch)


# -- failures -------------------------------------------------------------------------------------------


def describe(error: BaseException) -> str:
    """``ExceptionType: first line``, in characters that every file and terminal takes."""
    lines = [line for line in text_of(error).splitlines() if line.strip()]
    out = f"{type(error).__name__}: {lines[0].strip()}" if lines else type(error).__name__
    return out.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


def text_of(error: BaseException) -> str:
    """The text of an exception, empty where it has none."""
    try:
        return str(error)
    except Exception:  # a foreign exception may fail even in this
        return ""


def expired_message(timeout: float | None) -> str:
    """Why a fit that took too long has no predictions."""
    return f"TimeoutError: no result after {timeout:g} s"


def sendable(error: BaseException, own_process: bool) -> BaseException | None:
    """The exception as the driver can have it; None if it cannot be sent from another process."""
    if not own_process:
        return error
    try:
        error.add_note("In the worker:\n" + "".join(traceback.format_exception(error)).rstrip())
        pickle.loads(pickle.dumps(error))  # some can be pickled and not unpickled
    except Exception:
        return None
    return error
