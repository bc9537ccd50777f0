"""Limits of a fit: threads of numerical libraries, signals, global random numbers, warnings, and time."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import multiprocessing
import os
import random
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import numpy as np

from ..stats.compiling import limit_threads

# After the alarm a fit gets this long to stop by itself before its process is ended.
_GRACE = 1.0
# How soon to look again when the alarm rings during an import.
_IMPORT_SECONDS = 0.05
# How often a worker looks whether the process that started it is still there.
_PARENT_SECONDS = 1.0
_WATCH = "outfold-parent"  # the thread that looks


class _Worker(threading.local):
    """What this thread of a worker has set up already."""

    blas: int | None = None
    openmp: int | None = None


_worker = _Worker()


def limit_worker(own_process: bool, threads: int) -> None:
    """Limit the threads of this worker: of OpenMP always, of BLAS in a separate process only."""
    if own_process and _worker.blas is None:
        limit_threads("blas")
        _worker.blas = 1
        end_with_parent()
        if threading.current_thread() is threading.main_thread():  # Ctrl-C is for the main process
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _worker.openmp != threads:
        if own_process:  # for libraries that are loaded later
            os.environ["OMP_NUM_THREADS"] = str(threads)
        limit_threads("openmp", threads)
        _worker.openmp = threads


def end_with_parent() -> None:
    """End this worker soon after the process that started it, which may have been killed before it could do so."""
    parent = multiprocessing.parent_process()
    if parent is None or parent.pid is None:  # started by a scheduler, which watches it
        return
    if any(thread.name == _WATCH for thread in threading.enumerate()):
        return

    def watch(pid: int, creator: int) -> None:
        # If it was killed before we came here, this process has another parent already.
        while os.getppid() == pid and _exists(creator):
            time.sleep(_PARENT_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, args=(os.getppid(), parent.pid), name=_WATCH, daemon=True).start()


def end_workers_with_this_process() -> None:
    """Let the processes that joblib is about to start look after this one from their first moment, not from their first batch.

    A worker without a batch would otherwise wait for one for minutes after this process was killed. The function is put into
    joblib's executor: as an argument it would make this executor another one than joblib's usual, which all share.
    """
    from joblib.externals.loky import reusable_executor

    executor: Any = getattr(reusable_executor, "_executor", None)
    # These names are private. In a version without them, a worker looks from its first batch on.
    with contextlib.suppress(AttributeError):
        if executor._initializer is None:
            executor._initializer = end_with_parent


def _exists(pid: int) -> bool:
    """Whether a process is there; on Windows, where asking could end it, it always is."""
    if os.name == "posix":
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except OSError:  # it belongs to somebody else
            return True
        return not _has_ended(pid)
    return True


def _has_ended(pid: int) -> bool:
    """Whether a process has ended and its parent has not asked yet how; only Linux says so."""
    try:
        facts = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return facts.rpartition(b")")[2].split()[:1] == [b"Z"]


@contextlib.contextmanager
def interrupt_on_termination() -> Iterator[None]:
    """SIGTERM is Ctrl-C in this block, so that workers end and finished fits are kept; whoever handles it himself does so."""
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextlib.contextmanager
def hold_interrupts() -> Iterator[None]:
    """Ctrl-C waits until the end of this block; processes that are started in it never receive it.

    A terminal sends Ctrl-C to all processes at once. The main process ends the workers; if they ended by themselves, each would
    print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # started later, by the first worker, it would let Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def own_random_state() -> Iterator[Callable[[int], None]]:
    """Context: a function that seeds the global generators of numpy and Python, whose states come back at the end.

    For estimators that draw from them because they have no ``random_state``.
    """
    ours, pythons = np.random.get_state(legacy=False), random.getstate()  # noqa: NPY002
    can_seed = ours["bit_generator"] == "MT19937"  # another generator may have been set

    def seed(number: int) -> None:
        if can_seed:
            np.random.seed(number)  # noqa: NPY002
        random.seed(number)

    try:
        yield seed
    finally:
        np.random.set_state(ours)  # noqa: NPY002
        random.setstate(pythons)


def global_random_state() -> tuple[Any, ...]:
    """The states of the global generators, to see whether a fit has drawn from them."""
    ours = np.random.get_state(legacy=False)  # noqa: NPY002
    inner = {k: v.tobytes() if isinstance(v, np.ndarray) else v for k, v in ours["state"].items()}
    return inner, ours.get("has_gauss"), ours.get("gauss"), random.getstate()


_recording = threading.local()


class _Silence:
    """The blocks of `silence_warnings` that are open in all threads.

    Filters belong to the whole process: if each block put back what it found, the last of two that overlap would put back the
    silence of the first.
    """

    lock = threading.Lock()
    n_open = 0
    before: warnings.catch_warnings[None]  # holds the filters of the user


@contextlib.contextmanager
def silence_warnings() -> Iterator[None]:
    """Show no warning; record each for the block of `record_warnings` that is open in its thread."""

    def record(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        names = getattr(_recording, "names", None)
        if names is not None:
            names.append(category.__name__)

    with _Silence.lock:
        if _Silence.n_open == 0:
            _Silence.before = warnings.catch_warnings()
            _Silence.before.__enter__()
            warnings.simplefilter("always")
            warnings.showwarning = record
        _Silence.n_open += 1
    try:
        yield
    finally:
        with _Silence.lock:
            _Silence.n_open -= 1
            if _Silence.n_open == 0:
                _Silence.before.__exit__(None, None, None)


@contextlib.contextmanager
def record_warnings() -> Iterator[list[str]]:
    """The names of the warnings given in this block and thread, under `silence_warnings`."""
    names: list[str] = []
    before, _recording.names = getattr(_recording, "names", None), names
    try:
        yield names
    finally:
        _recording.names = before


class Expired(BaseException):
    """The time of a fit is over; not an Exception, so that no estimator catches it."""


@contextlib.contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise `Expired` in this block after these seconds, where Python can: in the main thread, with SIGALRM."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_: int, frame: FrameType | None) -> None:
        if _importing(frame):
            signal.setitimer(signal.ITIMER_REAL, _IMPORT_SECONDS)
        else:
            raise Expired

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:  # also when the alarm rings just before it is taken back
        signal.signal(signal.SIGALRM, before)


def _importing(frame: FrameType | None) -> bool:
    """Whether a module is being imported: one cut off halfway would break every later fit in this process."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


class Watchdog:
    """Ends the process when a fit hangs where no alarm reaches it, and leaves a record of which fit that was.

    The clock runs in a C thread of `faulthandler`, so it fires even when compiled code never lets go of the interpreter.
    The record is a file named after the process: its first line says what was being fitted, and only the file of a
    process that was ended has more lines.
    """

    _file: TextIO | None = None
    _folder: str | None = None

    def __init__(self, folder: str | None, seconds: float) -> None:
        self.folder, self.seconds = folder, seconds

    @contextlib.contextmanager
    def guard(self, *key: Any) -> Iterator[None]:
        """Watch over this block."""
        if self.folder is None:
            yield
            return
        file = self._record(self.folder)
        file.seek(0)
        file.truncate()
        file.write(json.dumps(key) + "\n")
        file.flush()
        faulthandler.dump_traceback_later(self.seconds + _GRACE, exit=True, file=file)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()

    @classmethod
    def _record(cls, folder: str) -> TextIO:
        """The file of this process, opened once."""
        if cls._file is None or cls._folder != folder:
            if cls._file is not None:
                cls._file.close()
            cls._file, cls._folder = open(Path(folder) / f"{os.getpid()}.fit", "w"), folder  # noqa: SIM115
        return cls._file


def hung(folder: str) -> list[list[Any]]:
    """Keys of the fits whose processes a watchdog ended; each record is read once."""
    keys = []
    for path in Path(folder).glob("*.fit"):
        lines = path.read_text(errors="replace").splitlines()
        if len(lines) > 1:
            keys.append(json.loads(lines[0]))
            path.unlink()
    return keys
