"""Where the work is done: a plain loop, or the workers of the user's joblib configuration."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from numbers import Integral
from types import TracebackType
from typing import Any

from ..exceptions import CollectError, InputError, got
from ..stats.compiling import limit_threads
from .limits import hold_interrupts, silence_warnings
from .worker import FitOutcome, run_batch

# Seconds a batch should take: long against the 1-2 ms it costs to hand it out, and longer if many workers ask at once.
_TASK_SECONDS = 0.05
_WORKERS_SERVED = 8
_NO_PROCESSES = "Use `n_jobs=1` or `joblib.parallel_config('threading')`."


class PoolBroken(Exception):  # noqa: N818
    """A worker process ended before it answered; the pool has to be started anew."""


@dataclass(frozen=True)
class Pool:
    """The workers of a collection.

    Attributes
    ----------
    n_workers
        How many tasks are worked on at the same time.
    own_process
        Workers are separate processes, not threads of this one.
    killable
        Workers may be ended when they hang.
    """

    n_workers: int
    own_process: bool
    killable: bool
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def configured(cls, n_jobs: int | None, timeout: float | None) -> Pool:
        """The pool for `n_jobs` under the active ``joblib.parallel_config``."""
        from joblib import effective_n_jobs
        from joblib.parallel import BACKENDS, get_active_backend

        if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
            needed = "must be None or a whole number other than 0"
            raise InputError(argument="n_jobs", needed=needed, given=got(n_jobs))
        n = int(effective_n_jobs(n_jobs))
        backend = get_active_backend()[0]
        if n > 1 and not getattr(backend, "supports_return_generator", True):
            needed = f"joblib's {type(backend).__name__} cannot hand back results one by one"
            raise InputError(needed=needed, given="use 'loky' or 'threading'")
        threads = bool(getattr(backend, "uses_threads", False))
        loky = isinstance(backend, BACKENDS["loky"])
        if timeout is not None and loky and n == 1:
            # joblib gives a single job no process of its own; two of them, one task in flight, come to the same.
            return cls(1, True, True, {"n_jobs": 2, "pre_dispatch": 1})
        if n == 1 and (threads or loky or isinstance(backend, BACKENDS["multiprocessing"])):
            return cls(1, False, False)
        return cls(n, not threads, loky, {"n_jobs": n_jobs})

    @property
    def task_seconds(self) -> float:
        """How long a task should take."""
        return _TASK_SECONDS * max(1.0, self.n_workers / _WORKERS_SERVED)

    def dumps(self, value: Any) -> bytes:
        """Pickle for the workers; classes of the user's script travel by value to other processes."""
        if self.own_process:
            from joblib import wrap_non_picklable_objects

            value = wrap_non_picklable_objects(value, keep_wrapper=False)
        return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)

    @property
    def inline(self) -> bool:
        """The fits are done in the thread that asks for them."""
        return not self.options

    def surroundings(self, threads: int) -> AbstractContextManager[Any]:
        """Limits of this process while threads of it do the fits."""
        stack = ExitStack()
        if not self.own_process:
            stack.enter_context(limit_threads("blas"))
            if self.inline:
                stack.enter_context(limit_threads("openmp", threads))
            stack.enter_context(silence_warnings())
        return stack

    def open(self) -> Workers:
        """Workers for a whole collection; a context manager."""
        return Workers(self)


class Workers:
    """Workers that stay from one call of `run` to the next, so that joblib maps a large X into them once."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._parallel: Any = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._dismiss()

    def run(self, tasks: Iterable[tuple[Any, ...]]) -> Generator[list[FitOutcome], None, None]:
        """Do the tasks in any order; `PoolBroken` when a worker process ended. Later calls start new ones."""
        if self.pool.inline:
            for task in tasks:
                yield run_batch(*task)
            return
        try:
            yield from self._run_parallel(tasks)
        except BaseException:
            self._dismiss()
            raise

    def _run_parallel(self, tasks: Iterable[tuple[Any, ...]]) -> Generator[list[FitOutcome], None, None]:
        from joblib import delayed
        from joblib.externals.loky.process_executor import BrokenProcessPool, TerminatedWorkerError

        outcomes: Any = None
        try:
            # Worker processes that are started now leave Ctrl-C to this one.
            with hold_interrupts() if self.pool.own_process else nullcontext():
                outcomes = self._started()(delayed(run_batch)(*task) for task in tasks)
            for outcome in outcomes:  # noqa: UP028  (`yield from` would close it out of the reach of `finally`)
                yield outcome
        except TerminatedWorkerError as error:
            raise PoolBroken(str(error)) from error
        except BrokenProcessPool as error:  # the workers live, but cannot read what they are sent
            needed = f"a configuration or `X` cannot be read by worker processes ({_first_line(error)})"
            raise CollectError(needed=needed, remedy=_NO_PROCESSES) from error
        except pickle.PicklingError as error:
            needed = f"a configuration or `X` cannot be sent to worker processes ({error})"
            raise CollectError(needed=needed, remedy=_NO_PROCESSES) from error
        finally:
            if outcomes is not None:
                with warnings.catch_warnings():  # whoever stops early knows that tasks are lost
                    warnings.simplefilter("ignore")
                    outcomes.close()

    def _started(self) -> Any:
        if self._parallel is None:
            from joblib import Parallel

            parallel = Parallel(return_as="generator_unordered", batch_size=1, **self.pool.options)
            self._parallel = parallel.__enter__()
        return self._parallel

    def _dismiss(self) -> None:
        parallel, self._parallel = self._parallel, None
        if parallel is not None:
            parallel.__exit__(None, None, None)


def _first_line(error: BaseException) -> str:
    cause = error.__cause__
    lines = str(cause if cause is not None else error).strip().splitlines()
    return lines[-1].strip() if lines else type(error).__name__
