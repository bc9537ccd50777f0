"""Faults at random moments: what they do, and what must hold afterwards.

`suffer` starts work, lets a fault happen to it, and asks four things. Every cell that the store had acknowledged is still there.
The work ended in one of the ways it may, with one of our errors where there was something to say. No process is left. The work
that is started again fits none of these cells a second time, and ends with the result of undisturbed work, bit for bit.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from work import DIGEST, ERROR, REFUSED, STORE, WRITTEN

import outfold as of
from script_server import Script, ScriptServer

WORK = Path(__file__).with_name("work.py")
DONE = int(of.State.DONE)
SECONDS = 300.0  # in which a process has ended, on a machine that is busy
# Roughly how many cells each mode writes; a fault comes before one of them.
CELLS = {
    "plain": 48,
    "drop": 50,
    "repeats auto": 50,
    "inner": 90,
    "fresh": 52,
    "seeds": 140,
    "bootstrap": 72,
    "SelectCV": 40,
    "run": 32,
    "Dask": 48,
}
# Faults with worker processes, the first of them in every run: modes hand out work in different ways.
_KINDS_BESIDE = ("kill worker", "kill driver", "terminate driver", "interrupt group", "kill group", "folder removed")
_MODES_BESIDE = ("plain", "drop", "inner", "Dask")
_FIRST_BESIDE = [
    *zip(_KINDS_BESIDE, ("plain", "drop", "inner") * 2, strict=True),
    ("kill worker", "Dask"),
    ("kill driver", "Dask"),
]
STORES = {"run": "search.oof"}


@dataclass(frozen=True)
class Fault:
    """One fault: what happens to work of which mode, with how many workers; all else follows from the seed."""

    kind: str
    mode: str
    n_jobs: int
    seed: int

    def __str__(self) -> str:
        return (
            f"{self.kind}, {self.mode}, {self.n_jobs} {'worker' if self.n_jobs == 1 else 'workers'}, seed {self.seed}"
        )


class Place:
    """The folders of one fault: that of the store, which may be lost, and that of the logs."""

    def __init__(self, base: Path, mode: str) -> None:
        self.base, self.mode = base, mode
        self.folder, self.logs = base / "work", base / "logs"
        self.folder.mkdir(parents=True)
        self.logs.mkdir()

    @property
    def store(self) -> Path:
        """The file that is written while the work goes on; a run that is over has its answer only."""
        growing = self.folder / STORES.get(self.mode, STORE)
        return growing if growing.exists() or not (self.folder / STORE).exists() else self.folder / STORE

    def start(
        self, scripts: ScriptServer, n_jobs: int = 1, fault: str = "-", after: int = 0, logs: str = "logs"
    ) -> Script:
        """Start the work, with logs of its own."""
        (self.base / logs).mkdir(exist_ok=True)
        for name in (DIGEST, ERROR):
            (self.base / logs / name).unlink(missing_ok=True)
        output = self.base / f"{logs}.said"
        output.with_name(f"{output.name}.err").touch()  # a signal may come before the script opens it
        return scripts.start(WORK, self.mode, self.folder, self.base / logs, n_jobs, fault, after, output=output)

    def written(self) -> list[list[object]]:
        """The cells that the store has acknowledged; a line that was being written when the process was killed is none."""
        log = self.logs / WRITTEN
        lines = log.read_bytes().split(b"\n")[:-1] if log.exists() else []
        return [json.loads(line) for line in lines]

    def n_written(self) -> int:
        """How many cells are in the log now."""
        log = self.logs / WRITTEN
        return log.read_bytes().count(b"\n") if log.exists() else 0


# -- what happens ---------------------------------------------------------------------------------------


def wait_for(place: Place, work: Script, cells: int, rng: np.random.Generator) -> None:
    """Let the work write some cells, and then go on for some milliseconds."""
    until = time.monotonic() + SECONDS
    for look in range(10**9):
        if place.n_written() >= cells or (look % 20 == 19 and work.poll() is not None):
            break
        assert time.monotonic() < until, f"the work has written {place.n_written()} cells and stands still"
        time.sleep(0.001)
    time.sleep(float(rng.exponential(0.003)))


def family(session: int) -> list[int]:
    """The processes of a session but its leader; zombies are none."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != session:
            try:
                state, _, _, of_session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            except OSError:  # it has ended
                continue
            if int(of_session) == session and state != "Z":
                found.append(int(entry.name))
    return found


def workers(session: int) -> list[int]:
    """The processes that fit, not those that look after them."""
    found = []
    for pid in family(session):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"tracker" not in command:
            found.append(pid)
    return found


def send(number: int, to: str) -> Callable[[Place, Script, np.random.Generator], None]:
    """A signal to the driver, to all its processes, or to one of its workers."""

    def happen(place: Place, work: Script, rng: np.random.Generator) -> None:
        try:
            if to == "group":
                os.killpg(work.pid, number)
            elif to == "driver":
                os.kill(work.pid, number)
            elif found := workers(work.pid):
                os.kill(int(rng.choice(found)), number)
        except ProcessLookupError:  # the work was quicker
            pass

    return happen


def limit_files(place: Place, work: Script, rng: np.random.Generator) -> None:
    """No file may become larger than the store is now: writing fails as it does on a full disk or beyond a quota."""
    sizes = [path.stat().st_size for path in place.folder.glob("*.oof*")]
    room = max(sizes, default=0) + int(rng.integers(0, 4096))
    with suppress(ProcessLookupError):
        resource.prlimit(work.pid, resource.RLIMIT_FSIZE, (room, room))


def remove_folder(place: Place, work: Script, rng: np.random.Generator) -> None:
    """Delete the folder with the store in it."""
    shutil.rmtree(place.folder, ignore_errors=True)


HAPPENS: dict[str, Callable[[Place, Script, np.random.Generator], None]] = {
    **{f"kill {to}": send(signal.SIGKILL, to) for to in ("driver", "group", "worker")},
    **{f"terminate {to}": send(signal.SIGTERM, to) for to in ("driver", "group")},
    **{f"interrupt {to}": send(signal.SIGINT, to) for to in ("driver", "group")},
    "file limit": limit_files,
    "folder removed": remove_folder,
    # After a kill: what a power failure or a bad copy leaves, or another process that has the file.
    **dict.fromkeys(("truncated", "torn journal", "locked"), send(signal.SIGKILL, "driver")),
    # Done by the work itself, or by a second one.
    **dict.fromkeys(("full disk", "read-only", "second writer"), lambda place, work, rng: None),
}
# Exit codes that are no failure: of work that was quicker or went on, that ended with our error, or by the signal.
INTERRUPTED = {-signal.SIGINT, -signal.SIGTERM, 128 + signal.SIGINT, 128 + signal.SIGTERM, 1, 0}
ENDS = {
    **{f"kill {to}": {-signal.SIGKILL, 0} for to in ("driver", "group")},
    **{key: {-signal.SIGKILL, 0} for key in ("truncated", "torn journal", "locked")},
    **{f"{how} {to}": INTERRUPTED for how in ("terminate", "interrupt") for to in ("driver", "group")},
    "kill worker": {0},
    "second writer": {0},
}
WORDS = {
    "full disk": "the disk is full; what was written before is kept",
    "read-only": "read-only",
    "file limit": "could not be written",
    "folder removed": "is gone: the file or its folder was deleted|the folder .* does not exist|there is no file",
}


def faults(n: int, seed: int = 0, with_workers: int = 8) -> Iterator[Fault]:
    """So many faults: every kind in every mode in turn, and some of them with worker processes."""
    rng = np.random.default_rng(seed)
    alone = [(kind, mode) for kind, mode in product(HAPPENS, CELLS) if kind != "kill worker" and mode != "Dask"]
    for i in range(n - with_workers):
        if i % len(alone) == 0:
            order = rng.permutation(len(alone))
        yield Fault(*alone[order[i % len(alone)]], 1, i)
    others = [pair for pair in product(_KINDS_BESIDE, _MODES_BESIDE) if pair not in _FIRST_BESIDE]
    beside = [*_FIRST_BESIDE, *others]
    for i in range(with_workers):
        yield Fault(*beside[i % len(beside)], 2, n + i)


# -- what must hold -------------------------------------------------------------------------------------


def suffer(fault: Fault, base: Path, scripts: ScriptServer, whole: str) -> None:
    """Let one fault happen; `whole` is the digest of undisturbed work."""
    rng = np.random.default_rng(fault.seed)
    place = Place(base, fault.mode)
    moment = int(rng.integers(0, CELLS[fault.mode]))
    inside = fault.kind in ("full disk", "read-only")
    work = place.start(scripts, fault.n_jobs, fault.kind if inside else "-", 1 + moment // 4)
    if not inside:
        wait_for(place, work, moment, rng)
    HAPPENS[fault.kind](place, work, rng)
    if fault.kind == "second writer":
        refuse_second_writer(place, scripts)
    code = work.wait(SECONDS)
    check_end(fault, place, code)
    check_none_left(work.pid)
    put_back(fault, place)
    kept = place.written()
    if fault.kind == "locked":
        refuse_while_locked(place, scripts)
    lost = fault.kind == "truncated" and damage(place.store, rng)
    torn = fault.kind == "torn journal" and damage(place.store.with_name(place.store.name + "-wal"), rng)
    if lost:
        refuse_damaged(place, scripts, whole)
    elif not torn:
        check_kept(place, kept)
    (place.logs / WRITTEN).unlink(missing_ok=True)
    again = place.start(scripts)
    said = place.base / "logs.said.err"
    assert again.wait(SECONDS) == 0, said.read_text() + "".join(p.read_text() for p in place.logs.glob(ERROR))
    assert json.loads((place.logs / DIGEST).read_text()) == [whole, whole]
    if not lost and not torn:
        done = {tuple(cell[:4]) for cell in kept if cell[4] == DONE}
        assert not done & {tuple(cell[:4]) for cell in place.written() if cell[4] == DONE}, "cells were fitted again"
    left = sorted(path.name for path in place.folder.glob("*.oof-*"))
    assert not left, left


def check_end(fault: Fault, place: Place, code: int) -> None:
    """The work ended as it may, and said why."""
    said = (place.base / "logs.said.err").read_text()
    found = "".join(path.read_text() for path in place.logs.glob(ERROR))
    assert code in ENDS.get(fault.kind, {REFUSED, 0}), f"exit code {code}: {found}{said}"
    if code == REFUSED:
        error = (place.logs / ERROR).read_text()
        assert re.search(WORDS[fault.kind], error), error
        assert error.startswith("FileError"), error
    elif code == 1:
        assert "KeyboardInterrupt" in said, said


def check_none_left(session: int) -> None:
    """All processes of the session end soon after their leader."""
    until = time.monotonic() + SECONDS / 4
    while left := family(session):
        assert time.monotonic() < until, [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in left]
        time.sleep(0.05)


def check_kept(place: Place, kept: list[list[object]]) -> None:
    """Every cell that the store has acknowledged is in it, in the state it was last given."""
    if not kept:
        return
    oof = of.load(place.store)
    blocks = {"oof": oof, **oof.blocks}
    for block, config, repeat, fold, state in {tuple(cell[:4]): cell for cell in kept}.values():
        if state == of.State.DROPPED and repeat >= blocks[str(block)].n_repeats:
            continue  # a repeat that nothing is fitted in yet is not shown
        found = blocks[str(block)].state[oof.config_index(str(config)), repeat, fold]
        assert found == state, f"{config} in repeat {repeat}, fold {fold} of {block} is lost"
    dropped = {oof.configs[j] for j in np.flatnonzero(np.any(oof.state == of.State.DROPPED, axis=(1, 2)))}
    assert dropped <= {drop["config"] for drop in oof.provenance.get("drops", ())}


def put_back(fault: Fault, place: Place) -> None:
    """Put the copy that the error names where the store was."""
    error = place.logs / ERROR
    if fault.kind != "folder removed" or not error.exists():
        if not place.folder.exists():  # it was deleted after the last cell, or before the first
            place.folder.mkdir()
            (place.logs / WRITTEN).unlink(missing_ok=True)
        return
    copy = re.search(r"saved in (.*?)\. Move", error.read_text())
    place.folder.mkdir(exist_ok=True)
    if "there is no file" in error.read_text():  # deleted when all was done
        (place.logs / WRITTEN).unlink(missing_ok=True)
    if copy is not None:
        shutil.move(copy[1], place.store)
        shutil.rmtree(Path(copy[1]).parent)


def damage(path: Path, rng: np.random.Generator) -> bool:
    """Cut a file short; whether there was something to cut."""
    if not path.exists() or path.stat().st_size == 0:
        return False
    os.truncate(path, int(rng.integers(0, path.stat().st_size)))
    return True


def refuse_damaged(place: Place, scripts: ScriptServer, whole: str) -> None:
    """A store that is cut short is refused in words, unless its journal has all that was cut off; the work then begins anew."""
    code = place.start(scripts, logs="damaged").wait(SECONDS)
    assert code in (REFUSED, 0)
    if code == 0:
        assert json.loads((place.base / "damaged" / DIGEST).read_text()) == [whole, whole]
    else:
        assert re.search("damaged|cut short|not an .oof file", (place.base / "damaged" / ERROR).read_text())
    for path in place.folder.glob(f"{place.store.name}*"):
        path.unlink()


def refuse_second_writer(place: Place, scripts: ScriptServer) -> None:
    """A second process is refused while the first works, and otherwise finds the work done."""
    code = place.start(scripts, logs="second").wait(SECONDS)
    if code != 0:
        assert code == REFUSED
        assert re.search(
            "in use by another process|another run is writing", (place.base / "second" / ERROR).read_text()
        )


def refuse_while_locked(place: Place, scripts: ScriptServer) -> None:
    """Work is refused while another program has the file."""
    if not place.store.exists():
        return
    with closing(sqlite3.connect(place.store, isolation_level=None)) as db:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")
        assert place.start(scripts, logs="locked").wait(SECONDS) == REFUSED
    assert "in use by another process" in (place.base / "locked" / ERROR).read_text()


def undisturbed(mode: str, base: Path, scripts: ScriptServer) -> str:
    """The digest of work that nothing happens to."""
    place = Place(base, mode)
    assert place.start(scripts).wait(SECONDS) == 0, (base / "logs.said.err").read_text()
    result, kept = json.loads((place.logs / DIGEST).read_text())
    assert result == kept
    return str(result)
