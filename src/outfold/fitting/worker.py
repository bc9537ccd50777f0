"""A batch of fits on its way to a worker and back: what is sent, how it is run, what comes of each fit, and the workers.

A worker process imports this module, the executor and what they need; nothing of the main process.
"""

from __future__ import annotations

import pickle
import traceback
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arguments import is_whole_number
from ..data.seeds import SEEDS
from ..data.splitting import NOT_HELD_OUT, Splits
from ..exceptions import CollectError, InputError, got, invalid
from ..stats.compiling import limit_threads
from .background import Background, SharedTasks, StoredSamples, others_run, put_back
from .data import FitRows, Samples
from .estimators import EstimatorTemplate
from .limits import (
    Expired,
    Watchdog,
    alarm,
    end_workers_with_this_process,
    hold_interrupts,
    limit_worker,
    own_random_state,
    silence_warnings,
)
from .live import LiveScores, LiveScoring
from .predict import Reader

if TYPE_CHECKING:
    from .cluster import Cluster, ClusterWorkers
    from .executor import Executor

CRASHED = "the worker process ended (crash or out of memory)"

CellKey = tuple[str, str, int, int]  # block, configuration, repeat, fold

# What surrounds a fit: called with a configuration's name, its (repeat, fold), the model and the rows it is fitted on.
AroundFit = Callable[[str, tuple[int, int], Any, FitRows], AbstractContextManager[Any]]


class Holdout(NamedTuple):
    """What one fit leaves out: a fold, or for nested cross-validation two of them, or a fold and what is outside of all."""

    block: str
    repeat: int
    left_out: tuple[int, ...]
    cells: tuple[tuple[int, int], ...]  # the (repeat, fold) of the block that the fit fills
    # The block whose same cells take what the model predicts for its training samples.
    training_block: str | None = None
    # If the predictions of each seed are kept beside their mean: how many seeds there are.
    n_seeds: int = 0

    @property
    def slots(self) -> tuple[tuple[str, int, int], ...]:
        """Every (block, repeat, fold) that the fit fills: those of the training block second, those of each seed last."""
        blocks = (self.block,) if self.training_block is None else (self.block, self.training_block)
        n = self.n_seeds
        own = tuple((block, *cell) for block in blocks for cell in self.cells)
        return own + tuple((SEEDS, r * n + s, k) for s in range(n) for r, k in self.cells)

    @property
    def folds(self) -> tuple[int, ...]:
        """The fold predicted for every cell."""
        return tuple(fold for _, fold in self.cells)

    @property
    def is_own_inner(self) -> bool:
        """Whether it is a fold of a partition inside an outer training part."""
        return NOT_HELD_OUT in self.left_out


@dataclass(frozen=True, eq=False)
class WorkerSettings:
    """What all batches of a collection have in common."""

    samples: Samples
    reader: Reader
    own_process: bool = False  # the worker is a separate process, which sets its limits itself
    limited: bool = False  # the worker sets its OpenMP threads itself; else the process that it works in has done so
    threads: int = 1  # OpenMP threads that a fit may use
    timeout: float | None = None  # seconds that a fit may take
    folder: str | None = None  # where watchdogs leave records; None where a process must not be ended
    config: Mapping[str, Any] = field(default_factory=dict)  # scikit-learn's, which workers do not inherit
    shared_process: bool = False  # other fits run in this process, so its global random numbers must not be seeded
    patience: float = np.inf  # seconds after which a batch returns what is finished; the rest is handed out again
    live: LiveScoring | None = None  # how fitted models are scored here
    rescue: LiveScoring | None = None  # how models are scored whose predictions cannot be kept
    around: AroundFit | None = None  # what surrounds every fit
    raises: bool = False  # the first failed fit ends the collection: its exception is kept, no more are fitted


@dataclass(frozen=True, eq=False)
class Batch:
    """Configurations to fit on the training rows of one hold-out: what an executor takes."""

    settings: WorkerSettings
    token: str  # tells apart what a worker keeps for different collections, or for one whose executor has changed
    holdout: Holdout
    splits: Splits  # of the hold-out's repeat only
    seed: int  # of all fits on this hold-out; of the first ones, if there are further seeds
    templates: Sequence[EstimatorTemplate]
    helpers: Sequence[EstimatorTemplate] = ()  # needed to fit the others; their results are not wanted
    further_seeds: tuple[int, ...] = ()  # of further fits of the same, whose predictions are averaged
    seed_globals: Callable[[int], None] | None = None  # seeds numpy's and Python's generators; set in the worker

    def start_random(self) -> None:
        """Begin a fit with the global random numbers that every fit on this hold-out begins with."""
        if self.seed_globals is not None:
            self.seed_globals(self.seed)

    @contextmanager
    def guard(self, name: str, spent: float = 0.0, shared: bool = False) -> Iterator[None]:
        """Raise `Expired` if this block, for several configurations if `shared`, takes longer than a fit has left."""
        timeout = self.settings.timeout
        if timeout is None:
            yield
            return
        left, start = max(timeout - spent, 1e-3), perf_counter()
        with Watchdog(self.settings.folder, left).guard(self.holdout, name, shared), alarm(left):
            yield
        if perf_counter() - start > left:  # where no alarm can ring
            raise Expired

    def around(self, name: str, model: Any, rows: FitRows) -> AbstractContextManager[Any]:
        """What surrounds the fit of this model."""
        around = self.settings.around
        return nullcontext() if around is None else around(name, self.holdout.cells[0], model, rows)

    def ends_after(self, outcomes: Sequence[FitOutcome], seconds: float, at_least: float = 0.0) -> bool:
        """Whether to return what is finished: after a failure that is raised, or when the batch took too long."""
        failed = self.settings.raises and any(outcome.failed for outcome in outcomes)
        return failed or seconds > max(self.settings.patience, at_least)


class FitOutcome(NamedTuple):
    """What one fit gave: predictions for each fold it left out, or a message why there are none.

    `labels` are those of ``predict`` for each fold where they do not follow from the predictions. `error` is the exception,
    if the collection is to raise it. `shared` is what the executor that made it needs to know later. `scores` are those that the
    fitted model got here, on the first fold it left out; a model may have scores and no predictions that could be kept. `parts`
    are the outcomes of the fits that were averaged, without their predictions.
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
    scores: LiveScores | None = None
    parts: tuple[FitOutcome, ...] = ()

    @property
    def fits(self) -> tuple[FitOutcome, ...]:
        """The outcome of every single fit."""
        return self.parts or (self,)

    @property
    def failed(self) -> bool:
        """Whether nothing came of the fit."""
        return self.values is None and self.scores is None


def run_batch(executor: Executor, batch: Batch) -> list[FitOutcome]:
    """Fit a batch under the limits of a worker; the first outcomes, at least one."""
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
    """The exception as the main process can have it; None if it cannot be sent from another process."""
    if not own_process:
        return error
    try:
        error.add_note("In the worker:\n" + "".join(traceback.format_exception(error)).rstrip())
        pickle.loads(pickle.dumps(error))  # some can be pickled and not unpickled
    except Exception:
        return None
    return error


# -- workers --------------------------------------------------------------------------------------------

# Seconds a batch should take: long against the time to hand it out, and longer if many workers ask at once.
_TASK_SECONDS = 0.05
_WORKERS_SERVED = 8
_CLUSTER_SECONDS = 0.2  # the same where a task crosses a network
_NO_PROCESSES = "Use `n_jobs=1` or `joblib.parallel_config('threading')`."


class PoolBroken(Exception):  # noqa: N818
    """A worker process ended before it answered; the pool has to be started anew. `tasks` are those to blame, if known."""

    def __init__(self, text: str, tasks: Sequence[tuple[Executor, Batch]] | None = None) -> None:
        super().__init__(text)
        self.tasks = tasks


def cluster_of(backend: Any) -> Cluster | None:
    """The cluster behind a backend of joblib; None if it works on this machine."""
    kinds = {kind.__name__ for kind in type(backend).__mro__}
    if "DaskDistributedBackend" in kinds:
        from .dask_cluster import DaskCluster  # here: it imports this module

        return DaskCluster(backend)
    if "RayBackend" in kinds:
        from .ray_cluster import RayCluster

        return RayCluster(backend)
    return None


@dataclass(frozen=True)
class Pool:
    """The workers of a collection."""

    n_workers: int  # tasks worked on at the same time
    own_process: bool  # separate processes, not threads of this one
    killable: bool  # may be ended when they hang
    options: dict[str, Any] = field(default_factory=dict)  # of joblib's `Parallel`; none if fits are done inline
    as_usual: bool = False  # joblib's usual processes: this process may fit too, and start fewer of them, or none
    cluster: Cluster | None = None  # the workers are on other machines, and come and go

    @classmethod
    def configured(cls, n_jobs: int | None, timeout: float | None) -> Pool:
        """The pool for `n_jobs` under the active ``joblib.parallel_config``."""
        from joblib import effective_n_jobs
        from joblib.parallel import BACKENDS, get_active_backend

        if n_jobs is not None and (not is_whole_number(n_jobs) or n_jobs == 0):
            needed = "must be None or a whole number other than 0"
            raise invalid("n_jobs", needed, got(n_jobs), "Use `n_jobs=-1` for all cores.")
        backend = get_active_backend()[0]
        cluster = cluster_of(backend)
        if cluster is not None:  # it knows best how many tasks it can work on
            return cls(max(cluster.n_slots(), 2), True, False, cluster=cluster)
        n = int(effective_n_jobs(n_jobs))
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
        asked = getattr(backend, "backend_kwargs", None) or getattr(backend, "inner_max_num_threads", None)
        return cls(n, not threads, loky, {"n_jobs": n_jobs}, as_usual=loky and timeout is None and not asked)

    @property
    def task_seconds(self) -> float:
        """How long a task should take."""
        shortest = _TASK_SECONDS if self.cluster is None else _CLUSTER_SECONDS
        return max(shortest, _TASK_SECONDS * self.n_workers / _WORKERS_SERVED)

    def dumps(self, value: Any) -> bytes:
        """Pickle for the workers; classes of the user's script travel by value to other processes."""
        if self.own_process:
            from joblib import wrap_non_picklable_objects

            value = wrap_non_picklable_objects(value, keep_wrapper=False)
        return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)

    @property
    def inline(self) -> bool:
        """The fits are done in the thread that asks for them."""
        return not self.options and self.cluster is None

    def surroundings(self, threads: int | None, helps: bool = False) -> AbstractContextManager[Any]:
        """Limits of this process while it does fits: in threads, inline, or beside other processes.

        With `threads=None`, OpenMP is not limited.
        """
        stack = ExitStack()
        if helps or not self.own_process:
            stack.enter_context(limit_threads("blas"))
            if threads is not None and (helps or self.inline):
                stack.enter_context(limit_threads("openmp", threads))
            stack.enter_context(silence_warnings())
        return stack


class Workers:
    """Workers that stay from one call of `run` to the next, so that joblib maps a large X into them once.

    If this process `helps`, it does the tasks itself, and has others beside it when that pays.
    """

    def __init__(self, pool: Pool, helps: bool = False) -> None:
        self.pool, self.helps = pool, helps
        self._parallel: Any = None
        self._beside: Background | None = None
        self._remote: ClusterWorkers | None = None

    def run(
        self, tasks: Iterator[tuple[Any, ...]], seconds_left: Callable[[], float]
    ) -> Generator[list[FitOutcome], None, None]:
        """Do the tasks in any order; `PoolBroken` when a worker process ended. Later calls start new ones."""
        if self.pool.inline:
            for task in tasks:
                yield run_batch(*task)
            return
        if self.pool.cluster is not None:
            yield from self._run_remote(self.pool.cluster, tasks)
            return
        try:
            yield from self._run_helping(tasks, seconds_left) if self.helps else self._run_parallel(tasks)
        except BaseException:
            self.close(broken=True)
            raise

    def _run_remote(
        self, cluster: Cluster, tasks: Iterator[tuple[Any, ...]]
    ) -> Generator[list[FitOutcome], None, None]:
        from .cluster import ClusterWorkers

        self._remote = self._remote or ClusterWorkers(cluster, self.pool.dumps)
        try:
            yield from self._remote.run(tasks)
        except pickle.PicklingError as error:
            raise _cannot_be_read(f"sent to worker processes ({error})") from error

    def _run_helping(
        self, tasks: Iterator[tuple[Any, ...]], seconds_left: Callable[[], float]
    ) -> Generator[list[FitOutcome], None, None]:
        from joblib.externals.loky.process_executor import BrokenProcessPool

        beside = self._beside = self._beside or Background(self.pool.n_workers - 1, _run_stored)
        shared = SharedTasks(tasks)
        try:
            beside.work_on(shared)
            for executor, batch in shared:
                yield _run_here(executor, batch)
                others = others_run(self.pool.n_workers)
                if beside.pays(seconds_left(), others):
                    stored = None if others else StoredSamples.of(batch.settings.samples)
                    if stored is None:
                        self.helps, self._beside = False, None
                        yield from self._run_parallel(shared)
                        return
                    beside.start((executor, batch), stored)
                yield from beside.results(wait=False)
            yield from beside.results(wait=True)
            beside.work_on(None)
        except BrokenProcessPool as error:
            self.helps = False  # a fit that ends its process must not end this one
            raise PoolBroken(str(error)) from error

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
        except (BrokenProcessPool, pickle.PicklingError) as error:
            broken = isinstance(error, BrokenProcessPool)  # the workers live, but cannot read what they are sent
            what = (
                f"read by worker processes ({_last_line(error)})" if broken else f"sent to worker processes ({error})"
            )
            raise _cannot_be_read(what) from error
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
            if self.pool.killable:  # processes of loky, which start with the first task
                end_workers_with_this_process()
        return self._parallel

    def close(self, broken: bool = False) -> None:
        """Let the workers go."""
        parallel, self._parallel = self._parallel, None
        if parallel is not None:
            parallel.__exit__(None, None, None)
        beside, self._beside = self._beside, None
        if beside is not None:
            beside.close(broken)


def _cannot_be_read(what: str) -> CollectError:
    return CollectError(needed=f"a configuration or `X` cannot be {what}", remedy=_NO_PROCESSES)


def _run_here(executor: Executor, batch: Batch) -> list[FitOutcome]:
    """Fit a batch that was made for a worker in this process, which has set its limits."""
    settings = replace(batch.settings, own_process=False, limited=False)
    return run_batch(executor, replace(batch, settings=settings))


def _run_stored(path: str, executor: Executor, batch: Batch) -> list[FitOutcome]:
    """Fit a batch in a worker that reads the samples from a file."""
    return run_batch(*put_back(path, executor, batch))


def _last_line(error: BaseException) -> str:
    lines = str(error.__cause__ or error).strip().splitlines()
    return lines[-1].strip() if lines else type(error).__name__
