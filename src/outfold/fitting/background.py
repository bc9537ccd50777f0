"""Worker processes beside this one, which fits too: they are started when the work left pays for their start.

A new process takes about a second to import the libraries. Until it is ready this process does the work, and a small search is
over before. Small searches add up: when this process has worked alone for as long as a start takes, it starts the processes, and
later searches find them. Where others have used joblib, its workers may run already; then these are taken, and none is started.
What is fitted where makes no difference to the results.
"""

from __future__ import annotations

import atexit
import os
import pickle
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from queue import SimpleQueue
from time import perf_counter
from typing import Any

from .data import n_bytes
from .limits import end_workers_with_this_process, hold_interrupts

# Seconds of work left that pay for new processes (more where their start is known to take longer), and for processes that an
# earlier collection has left behind.
_PAYS_START, _PAYS_USE = 1.5, 0.2
# A start that took longer was held up by something else, such as a pause of the machine.
_LONGEST_START = 10.0
# Each process reads the samples from a file; where that takes more bytes than this, joblib has to map them into memory.
_SMALL = 32_000_000

Task = tuple[Any, ...]


class SharedTasks:
    """An iterator that several threads take tasks from."""

    def __init__(self, tasks: Iterator[Task]) -> None:
        self._tasks, self._lock = tasks, threading.Lock()

    def __iter__(self) -> SharedTasks:
        return self

    def __next__(self) -> Task:
        with self._lock:
            return next(self._tasks)


class StoredSamples:
    """The samples of a collection in a file, which each process reads once instead of receiving them with each batch."""

    def __init__(self, packed: bytes) -> None:
        with tempfile.NamedTemporaryFile(delete=False) as file:
            file.write(packed)
        self.path = file.name

    @classmethod
    def of(cls, samples: Any) -> StoredSamples | None:
        """The samples, if they are not large and can be written."""
        if n_bytes(samples.X) > _SMALL:  # known without a copy
            return None
        try:
            packed = pickle.dumps(samples, protocol=pickle.HIGHEST_PROTOCOL)
            return cls(packed) if len(packed) <= _SMALL else None
        except Exception:  # joblib's pickler knows more, or there is no room
            return None

    def leave_out(self, task: Task) -> Task:
        """The task without the samples, for `put_back`."""
        executor, batch = task
        return self.path, executor, replace(batch, settings=replace(batch.settings, samples=None))

    def remove(self) -> None:
        """Delete the file; what processes have read stays with them until the next collection."""
        with suppress(OSError):
            os.unlink(self.path)


def put_back(path: str, executor: Any, batch: Any) -> Task:
    """The task as it was, in a worker."""
    return executor, replace(batch, settings=replace(batch.settings, samples=_read(path)))


@lru_cache(maxsize=1)
def _read(path: str) -> Any:
    with open(path, "rb") as file:
        return pickle.load(file)


class _Last:
    """The executor that was last started; its processes stay for the next collection."""

    executor: Any = None
    ready: bool = False  # whether one of its processes has imported what it needs
    start_seconds: float = 0.0  # that new processes took to be ready
    seconds_alone: float = 0.0  # that collections took, since processes were started, which could have used some
    ends_at_exit: bool = False  # whether `_end_unready` is registered


def _forget_processes() -> None:
    """In a copy of this process made by fork: the threads that talk to the processes are not copied with it."""
    _Last.executor = None
    loky: Any = sys.modules.get("joblib.externals.loky.reusable_executor")
    if loky is not None:
        loky._executor = loky._executor_kwargs = None


def _end_unready() -> None:
    """At the end of the program: processes that are still importing would be waited for."""
    if _is_there(_Last.executor) and not _Last.ready:
        _Last.executor.shutdown(wait=False, kill_workers=True)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_processes)


class Background:
    """Processes that take tasks while this process does others. Each has one task at a time."""

    def __init__(self, n_processes: int, function: Callable[..., Any]) -> None:
        self.n_processes, self._function = n_processes, function
        self._made = perf_counter()
        self.started = self._ready = False
        self._executor: Any = None
        self._start: float | None = None  # when new processes were started
        self._samples: StoredSamples | None = None
        self._tasks: SharedTasks | None = None
        self._lock = threading.RLock()
        self._n_open = 0
        self._finished: SimpleQueue[Any] = SimpleQueue()

    def pays(self, seconds: float, others: bool) -> bool:
        """Whether so much work is left that processes should be started, or those that others have started be used."""
        if self.started or seconds < _PAYS_USE:
            return False
        start = min(max(_PAYS_START, _Last.start_seconds), _LONGEST_START)
        return seconds + _Last.seconds_alone >= start or others or _is_there(_Last.executor)

    def start(self, task: Task, samples: StoredSamples) -> None:
        """Start the processes; the task shows which libraries they need."""
        # By joblib, not by loky: what joblib starts later takes these processes over, and looks for what is its own on them.
        from joblib.executor import get_memmapping_executor

        self.started, self._samples = True, samples
        if not _is_there(_Last.executor):
            self._start, _Last.ready, _Last.seconds_alone = perf_counter(), False, 0.0
        with hold_interrupts():
            _Last.executor = self._executor = get_memmapping_executor(self.n_processes, timeout=300)
            end_workers_with_this_process()
            self._executor.submit(_prepare, pickle.dumps(samples.leave_out(task))).add_done_callback(self._begin)
        if not _Last.ends_at_exit:
            # Before loky's own function, which was registered first and waits; `atexit` itself comes after both.
            getattr(threading, "_register_atexit", atexit.register)(_end_unready)
            _Last.ends_at_exit = True

    def work_on(self, tasks: SharedTasks | None) -> None:
        """Take tasks from here from now on; None to take no more."""
        with self._lock:
            self._tasks = tasks
            self._hand_out()

    def results(self, wait: bool) -> Iterator[Any]:
        """What has come back; with `wait`, all that was handed out."""
        while not self._finished.empty() or (wait and self._has_open()):
            found = self._finished.get()
            with self._lock:
                self._n_open -= 1
            if isinstance(found, BaseException):
                raise found
            yield found.result()

    def _has_open(self) -> bool:
        with self._lock:  # a task may be on its way
            return self._n_open > 0

    def close(self, broken: bool = False) -> None:
        """Let the processes go, for the next collection; end them if they are at work on what nobody waits for."""
        executor, self._executor = self._executor, None
        self._tasks = None
        if self._samples is not None:
            self._samples.remove()
        if executor is None:
            _Last.seconds_alone += perf_counter() - self._made
        elif broken or self._n_open:
            _Last.executor = None
            executor.shutdown(wait=False, kill_workers=True)

    def _begin(self, prepared: Any) -> None:
        """The first process is ready; if none can be started, this process goes on alone."""
        if prepared.cancelled() or prepared.exception() is not None:
            return  # how long a start takes is not known
        with self._lock:
            self._ready = _Last.ready = True
            self._record_start()
            self._hand_out()

    def _record_start(self) -> None:
        if self._start is not None:
            _Last.start_seconds = perf_counter() - self._start

    def _landed(self, future: Any) -> None:
        with self._lock:
            self._finished.put(future)
            self._hand_out(1)

    def _hand_out(self, n: int | None = None) -> None:
        """Give tasks to the processes that have none.

        In a thread of the executor nobody sees what is raised, so that it is put among the results.
        """
        with self._lock:
            n = self.n_processes - self._n_open if n is None else n
            for _ in range(n if self._ready else 0):
                if self._tasks is None or self._executor is None or self._samples is None:
                    return
                try:
                    task = next(self._tasks, None)
                    if task is None:
                        return
                    future = self._executor.submit(self._function, *self._samples.leave_out(task))
                except BaseException as error:
                    self._n_open += 1
                    self._finished.put(error)
                    return
                self._n_open += 1
                future.add_done_callback(self._landed)


def _is_there(executor: Any) -> bool:
    """Whether these processes are still those that a new executor of the same kind would have."""
    from joblib.externals.loky import reusable_executor

    return executor is not None and getattr(reusable_executor, "_executor", None) is executor


def others_run(n: int) -> bool:
    """Whether joblib has as many workers running that somebody else started: the `Parallel` of the same number gets them."""
    loky: Any = sys.modules.get("joblib.externals.loky.reusable_executor")
    executor = getattr(loky, "_executor", None)
    if executor is None or executor is _Last.executor:
        return False
    with suppress(AttributeError):  # private names, which another version may lack: it then starts its own
        flags, processes = executor._flags, executor._processes or ()
        return not (flags.broken or flags.shutdown) and executor._max_workers == len(processes) == n
    return False


def _prepare(packed: bytes) -> None:
    """Import in a worker what the task needs: reading it does."""
    *_, batch = pickle.loads(packed)
    for template in batch.templates:
        template.make(0)
