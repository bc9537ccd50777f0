"""Workers on many machines: what is sent to them, what they keep, and how the work goes on when they come and go.

A cluster is the user's: ``joblib.parallel_config`` names it, and a subclass of `Cluster` talks to it. Only batches travel with
each task. What many tasks need, such as X, is a package: the cluster holds it, and each worker process keeps what it has read.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, NamedTuple

from .._version import __version__
from ..exceptions import CollectError
from .worker import Batch, FitOutcome, PoolBroken, run_batch

# Tasks that are handed out for each one that is worked on, so that no worker waits for the next one.
_AHEAD = 2
# Seconds between two looks at how many workers there are.
_LOOK_SECONDS = 1.0
# A task whose shared data were lost is handed out again this often.
_MOST_ATTEMPTS = 20
# Seconds without any worker after which the work ends, unless the user says how long.
PATIENCE_SECONDS = 300.0

_KEPT_IN_STORE = "What is finished is in the `store`, if you gave one: the same call goes on from it."


class DataLost(Exception):  # noqa: N818
    """The workers that held a package are gone, or the cluster has forgotten the task: it has to be handed out again."""


class WorkerLost(Exception):  # noqa: N818
    """Several workers ended while they were at this task."""


class Cluster(ABC):
    """A cluster of the user's; `patience` is how many seconds there may be no worker at all."""

    name: str
    patience: float = PATIENCE_SECONDS

    @abstractmethod
    def n_slots(self) -> int:
        """How many tasks can be worked on at the same time now; 0 if there is no worker."""

    @abstractmethod
    def put(self, packed: bytes) -> Any:
        """Give bytes to the cluster, which brings them to a worker when a task needs them; `DataLost` if it cannot."""

    @abstractmethod
    def submit(self, task: ClusterTask, packages: Mapping[str, Any], worker: str | None) -> Hashable:
        """Hand out a task with what `put` gave, by name; if possible, to this worker. `finished` tells by the ticket."""

    @abstractmethod
    def finished(self, seconds: float) -> list[tuple[Hashable, Any]]:
        """Tickets that are finished, with the result or the exception; wait at most so long for the first."""

    @abstractmethod
    def cancel(self, tickets: Iterable[Hashable]) -> None:
        """Forget these tasks, and free what they hold."""


# -- what is sent ---------------------------------------------------------------------------------------


class ClusterTask(NamedTuple):
    """What travels with each task: the batch without its packages, and their names."""

    batch: bytes
    names: tuple[str, str, str]  # of the executor with its settings, the samples and the splits


class MissingPackages(NamedTuple):
    """The answer of a worker process that lacks packages: the task has to be handed out again, with these."""

    names: tuple[str, ...]
    worker: str
    versions: dict[str, str]


# How many packages of each kind a worker process keeps: X of one collection is enough, and there is one of splits per repeat.
_KEPT = (2, 1, 8)


class _KeptPackages:
    """The packages that this worker process has read, the last ones of each kind."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kinds: tuple[OrderedDict[str, Any], ...] = tuple(OrderedDict() for _ in _KEPT)

    def read(self, names: Sequence[str], packed: Mapping[str, bytes]) -> list[Any]:
        """The packages of these names, from `packed` where they are new; None for each that is not here."""
        with self._lock:
            return [self._one(*of, packed) for of in zip(names, self._kinds, _KEPT, strict=True)]

    def _one(self, name: str, kind: OrderedDict[str, Any], most: int, packed: Mapping[str, bytes]) -> Any:
        if name in kind:
            kind.move_to_end(name)
        elif name in packed:
            while len(kind) >= most:  # before the new one is read: two of X may not fit
                kind.popitem(last=False)
            kind[name] = pickle.loads(packed[name])
        return kind.get(name)


_kept = _KeptPackages()


def run_on_worker(
    task: ClusterTask, packed: Mapping[str, bytes], worker: str, shared_process: bool
) -> list[FitOutcome] | MissingPackages:
    """Fit a batch on a worker of a cluster; with `shared_process`, other fits run in this process."""
    packages = _kept.read(task.names, packed)
    missing = tuple(name for name, value in zip(task.names, packages, strict=True) if value is None)
    if missing:
        return MissingPackages(missing, worker, versions())
    (executor, settings), samples, splits = packages
    settings = replace(settings, samples=samples, shared_process=shared_process)
    return run_batch(executor, replace(pickle.loads(task.batch), settings=settings, splits=splits))


def versions() -> dict[str, str]:
    """The versions that decide on the bits of a result."""
    from importlib.metadata import PackageNotFoundError, version  # here: slow to import, and of use on clusters only

    found = {"Python": ".".join(map(str, sys.version_info[:2])), "outfold": __version__}
    for name in ("numpy", "scipy", "scikit-learn"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


class _Packages:
    """What the cluster holds for the tasks of a collection, by the hash of its content."""

    def __init__(self, cluster: Cluster, dumps: Callable[[Any], bytes]) -> None:
        self._cluster, self._dumps = cluster, dumps
        self._names: OrderedDict[int, tuple[Any, str]] = OrderedDict()  # by identity, with the value to keep it alive
        self._held: dict[str, Any] = {}

    def name_of(self, key: Any, value: Any) -> str:
        """The name of a package; `key` is the object that tells it apart."""
        if id(key) not in self._names:
            while len(self._names) >= sum(_KEPT):
                _, (_, old) = self._names.popitem(last=False)
                self._held.pop(old, None)
            self._names[id(key)] = key, hashlib.blake2b(self._dumps(value), digest_size=16).hexdigest()
        self._names.move_to_end(id(key))
        return self._names[id(key)][1]

    def held(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What the cluster holds under these names; it is given what it has not."""
        for name, value in values.items():
            if name not in self._held:
                self._held[name] = self._cluster.put(self._dumps(value))
        return {name: self._held[name] for name in values}

    def forget_held(self) -> None:
        """The cluster has lost what it held."""
        self._held.clear()


# -- the work -------------------------------------------------------------------------------------------


@dataclass
class _OpenTask:
    """A task that was handed out."""

    task: tuple[Any, Batch]
    sent: ClusterTask
    packages: dict[str, Any]  # what the names of `sent` stand for
    send: tuple[str, ...] = ()  # the packages that a worker asked for
    worker: str | None = None  # the worker that asked
    n_attempts: int = 0


class ClusterWorkers:
    """The workers of a cluster, for all tasks of one collection."""

    def __init__(self, cluster: Cluster, dumps: Callable[[Any], bytes], clock: Callable[[], float] = monotonic) -> None:
        self.cluster, self._clock = cluster, clock
        self._packages = _Packages(cluster, dumps)
        self._n_slots, self._look_at = 0, -1.0
        self._alone_since: float | None = None
        self._open: dict[Hashable, _OpenTask] = {}
        self._again: list[_OpenTask] = []  # to hand out again

    def run(self, tasks: Iterator[tuple[Any, Batch]]) -> Generator[list[FitOutcome], None, None]:
        """Do the tasks in any order; `PoolBroken` with those that several workers ended at."""
        try:
            while True:
                more = self._hand_out(tasks)
                if not self._open and not self._again and not more:
                    return
                crashed = []
                for ticket, answer in self.cluster.finished(_LOOK_SECONDS):
                    done = self._open.pop(ticket, None)
                    if done is None:
                        continue
                    if isinstance(answer, list):
                        yield answer
                    elif isinstance(answer, WorkerLost):
                        crashed.append(done.task)
                    else:
                        self._hand_back(done, answer)
                if crashed:
                    raise PoolBroken(f"{self.cluster.name} lost workers", tasks=crashed)
        finally:
            self.cluster.cancel(self._open)
            self._open, self._again = {}, []

    def _hand_out(self, tasks: Iterator[tuple[Any, Batch]]) -> bool:
        """Hand out tasks while workers have room; whether there may be more."""
        self._look()
        room = _AHEAD * self._n_slots - len(self._open)
        while room > 0 and self._again:
            if not self._submit(self._again[-1]):
                return True
            self._again.pop()
            room -= 1
        while room > 0:
            task = next(tasks, None)
            if task is None:
                return False
            self._submit(self._opened(task))
            room -= 1
        return True

    def _opened(self, task: tuple[Any, Batch]) -> _OpenTask:
        executor, batch = task
        light = replace(batch, settings=replace(batch.settings, samples=None))  # type: ignore[arg-type]
        parts = (executor, light.settings), batch.settings.samples, batch.splits
        keys = executor, batch.settings.samples, batch.splits
        common, samples, splits = (self._packages.name_of(*pair) for pair in zip(keys, parts, strict=True))
        names = common, samples, splits
        sent = pickle.dumps(replace(light, settings=None, splits=None), protocol=pickle.HIGHEST_PROTOCOL)  # type: ignore[arg-type]
        return _OpenTask(task, ClusterTask(sent, names), dict(zip(names, parts, strict=True)))

    def _submit(self, task: _OpenTask) -> bool:
        """Hand out a task; False if the cluster cannot take its packages now."""
        try:
            held = self._packages.held({name: task.packages[name] for name in task.send})
        except DataLost:
            self._packages.forget_held()
            self._look_at = -1.0
            return False
        self._open[self.cluster.submit(task.sent, held, task.worker)] = task
        return True

    def _hand_back(self, task: _OpenTask, answer: Any) -> None:
        """A task came back without a result: hand it out again, or say why that is of no use."""
        if isinstance(answer, MissingPackages):
            _refuse_other_versions(answer)
            # If it went to another worker than the one that asked, send everything.
            task.send, task.worker = task.sent.names if task.send else answer.names, answer.worker
        elif isinstance(answer, DataLost) and task.n_attempts < _MOST_ATTEMPTS:
            self._packages.forget_held()
            task.n_attempts, task.send, task.worker = task.n_attempts + 1, (), None
        elif isinstance(answer, DataLost):
            problem = f"{self.cluster.name} has lost the same task {_MOST_ATTEMPTS} times ({answer})."
            raise CollectError(problem, remedy=_KEPT_IN_STORE) from answer
        else:
            what = f"{type(answer).__name__}: {answer}".splitlines()[0]
            needed = f"a worker of {self.cluster.name} could not run a batch ({what})"
            remedy = (
                f"Install Outfold, scikit-learn and what your configurations need on every worker. {_KEPT_IN_STORE}"
            )
            raise CollectError(needed=needed, remedy=remedy) from answer
        self._again.append(task)

    def _look(self) -> None:
        """See how many workers there are; after a long time without any, end the work."""
        now = self._clock()
        if now < self._look_at:
            return
        self._n_slots, self._look_at = self.cluster.n_slots(), now + _LOOK_SECONDS
        if self._n_slots:
            self._alone_since = None
            return
        self._alone_since = now if self._alone_since is None else self._alone_since
        if now - self._alone_since >= self.cluster.patience:
            raise no_workers(self.cluster)


def no_workers(cluster: Cluster) -> CollectError:
    """The error where nobody has been there to work for a long time."""
    needed = f"the cluster has had no {cluster.name} worker for {cluster.patience:g} s"
    return CollectError(needed=needed, remedy=f"Start workers, then call again. {_KEPT_IN_STORE}")


def _refuse_other_versions(answer: MissingPackages) -> None:
    """Refuse a worker whose libraries may give other bits."""
    ours = versions()
    other = {name: text for name, text in answer.versions.items() if text != ours[name]}
    if other:
        theirs = ", ".join(f"{name} {text}" for name, text in other.items())
        mine = ", ".join(f"{name} {ours[name]}" for name in other)
        needed = "all workers must have the same versions as the driver, so that results do not depend on the worker"
        given = f"worker {answer.worker} has {theirs}, this process {mine}"
        raise CollectError(needed=needed, given=given, remedy=f"Install the same versions. {_KEPT_IN_STORE}")
