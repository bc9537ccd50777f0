"""Runs units one after the other, or several at once, and keeps each as soon as it is finished.

A finished unit is one line of a file. A run that is stopped, by Ctrl-C, a time limit or a crash, loses the units in flight; the
next run skips the finished ones. What a unit finds follows from its words alone, so neither the order nor the number of
processes matters.
"""

from __future__ import annotations

import fcntl
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from threadpoolctl import threadpool_limits

from .study import Record, Study, Unit, key_of


class RawFile:
    """The finished units of a study, one line of JSON each."""

    def __init__(self, path: Path, version: int) -> None:
        self.path, self.version = path, version

    def read(self) -> dict[str, Record]:
        """Finished units by their key; lines of another version, and one that a crash cut off, do not count."""
        if not self.path.exists():
            return {}
        found = {}
        for line in self.path.read_text().splitlines():
            try:
                known = json.loads(line)
            except json.JSONDecodeError:
                continue
            if known["version"] == self.version:
                found[key_of(known["unit"])] = Record(known["unit"], known["row"], known["seconds"])
        return found

    @contextmanager
    def open(self) -> Iterator[TextIO]:
        """The file to append to, for one run at a time."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                sys.exit(f"another run is writing {self.path}; wait for it, or give another folder with --raw.")
            written = self.path.read_bytes()
            if written and not written.endswith(b"\n"):
                file.write("\n")  # a crash cut the last line off; the next one must not be lost with it
            yield file

    def append(self, file: TextIO, record: Record) -> None:
        """Write a unit, so that it survives a crash of the machine."""
        file.write(json.dumps({"version": self.version} | record._asdict()) + "\n")
        file.flush()
        os.fsync(file.fileno())


def run_unit(run: Callable[[Unit], dict[str, Any]], unit: Unit) -> Record:
    """Do one unit on one thread."""
    import sklearn.utils.extmath  # noqa: F401  what brings threads must be loaded before it can be limited

    start = time.process_time()
    try:
        with threadpool_limits(1):
            row = run(unit)
    except Exception as error:
        error.add_note(f"in the unit {key_of(unit)}")
        raise
    return Record(unit, row, round(time.process_time() - start, 3))


def run_units(
    study: Study, units: Sequence[Unit], raw: RawFile, *, jobs: int = 1, minutes: float | None = None
) -> dict[str, Record]:
    """The finished ones of these units, after all of them were run, or as many as the minutes allow."""
    wanted = {key_of(unit): unit for unit in units}
    done = {key: record for key, record in raw.read().items() if key in wanted}
    todo = [unit for key, unit in wanted.items() if key not in done]
    if not todo:
        words = "another folder (--raw, or RAW= of make study) runs them again"
        print(f"{study.name}: all {len(done)} units were run before; {words}", file=sys.stderr)
    else:
        progress = Progress(study, todo, len(done), minutes)
        with raw.open() as file:
            for record in finished(study.run, todo, jobs, progress.expired):
                raw.append(file, record)
                done[key_of(record.unit)] = record
                progress.show(record)
        progress.end()
    return {key: done[key] for key in wanted if key in done}


def finished(
    run: Callable[[Unit], dict[str, Any]], todo: Sequence[Unit], jobs: int, expired: Callable[[], bool]
) -> Iterator[Record]:
    """Units as they finish."""
    if jobs == 1:
        for unit in todo:
            if expired():
                return
            yield run_unit(run, unit)
        return
    waiting = iter(todo)
    pool = ProcessPoolExecutor(jobs, initializer=_start_worker)
    try:
        flying: set[Future[Record]] = {pool.submit(run_unit, run, unit) for unit in islice(waiting, jobs)}
        while flying:
            ready, flying = wait(flying, return_when=FIRST_COMPLETED)
            for future in ready:
                yield future.result()
            more = () if expired() else islice(waiting, len(ready))
            flying |= {pool.submit(run_unit, run, unit) for unit in more}
    finally:
        pool.shutdown(cancel_futures=True)


def _start_worker() -> None:
    """Ctrl-C reaches all processes: workers end at once and without words, the driver says what to do next.

    A worker also ends with a driver that is killed, since it would hold the lock of the file for ever.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    def watch() -> None:
        driver = multiprocessing.parent_process()
        assert driver is not None
        driver.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Progress:
    """A line on stderr: how far the run is, and the time left."""

    def __init__(self, study: Study, todo: Sequence[Unit], already: int, minutes: float | None) -> None:
        self.study, self.already, self.total = study, already, already + len(todo)
        self.cost_left = self.cost_of_all = sum(study.cost(unit) for unit in todo)
        self.start, self.minutes = time.perf_counter(), minutes
        self.count, self.shown = already, 0.0

    def expired(self) -> bool:
        """Whether the time limit is over."""
        return self.minutes is not None and time.perf_counter() - self.start > 60 * self.minutes

    def show(self, record: Record) -> None:
        """Count a unit; on a terminal write after each, else now and then."""
        self.count += 1
        self.cost_left -= self.study.cost(record.unit)
        now, terminal = time.perf_counter(), sys.stderr.isatty()
        if terminal or now - self.shown > 30 or self.count == self.total:
            self.shown = now
            print(
                ("\r\x1b[K" if terminal else "") + self.line(),
                end="" if terminal else "\n",
                file=sys.stderr,
                flush=True,
            )

    def line(self) -> str:
        """How far, for how long, and for how much longer."""
        spent, paid = time.perf_counter() - self.start, self.cost_of_all - self.cost_left
        left = spent * self.cost_left / paid if paid > 0 else 0.0
        return f"{self.study.name}: {self.count} of {self.total} units, {in_words(spent)}, {in_words(left)} left"

    def end(self) -> None:
        """Leave the line."""
        if sys.stderr.isatty():
            print(file=sys.stderr)


def in_words(seconds: float) -> str:
    """A time in the unit that fits."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
