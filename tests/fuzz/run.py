"""Reads many spoilt files in this process, and says what came of it.

    python tests/fuzz/run.py --files 2000 --out result.json
    python tests/fuzz/run.py --only "oof tables" --seed 17      one file again, with the traceback of a failure

A file passes if it is read and used, or refused with an error of outfold, in less than 5 seconds and 500 MB.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from random import Random
from typing import Any

sys.path[:0] = [
    str(folder) for folder in (Path(__file__).parent, Path(__file__).parents[1], Path(__file__).parents[2] / "src")
]

from readers import Bases, Reader, emptied, readers  # noqa: E402

from outfold.exceptions import OutfoldError  # noqa: E402

SECONDS = 5
BYTES = 500 << 20


class TooLongError(BaseException):
    """A file was not read in time."""


def _too_long(*_: Any) -> None:
    raise TooLongError


def peak() -> int:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def limit_memory() -> None:
    """Let an array that is too large fail, instead of the machine."""
    used = next(
        int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmData")
    )
    resource.setrlimit(resource.RLIMIT_DATA, ((used << 10) + BYTES, resource.RLIM_INFINITY))


def outcome(reader: Reader, seed: int, folder: Path) -> str:
    """`read`, `refused`, or what went wrong."""
    path = reader.spoil(Random(f"{reader.name} {seed}"), emptied(folder))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of CPU: a busy machine is no hang
    try:
        reader.use(path)
        return "read"
    except OutfoldError as error:
        return "took too much memory" if isinstance(error.__cause__, MemoryError) else "refused"
    except TooLongError:
        return f"took more than {SECONDS} seconds"
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)
        ours = [f"{Path(f.filename).name}:{f.lineno}" for f in where if "outfold" in f.filename]
        return f"{type(error).__name__}: {str(error)[:120]} ({' '.join(ours[-2:])})"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def run(n_files: int, note: Path | None = None, only: str | None = None, start: int = 0) -> dict[str, Any]:
    """The outcomes of this many files, shared out among the readers."""
    signal.signal(signal.SIGPROF, _too_long)
    warnings.simplefilter("ignore")
    out: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bases").mkdir()
        known = [reader for reader in readers(Bases(folder / "bases")) if only in (None, reader.name)]
        for reader in known:  # what is imported at the first use is no part of a file's memory
            outcome(reader, -1, folder / "files")
        limit_memory()
        before = peak()
        for reader in known:
            seeds = range(start, start + max(1, round(reader.share * n_files)))
            out[reader.name] = _run(reader, seeds, folder / "files", note)
    return out | {"memory": peak() - before}


def _run(reader: Reader, seeds: range, folder: Path, note: Path | None) -> dict[str, Any]:
    counts, failures, slowest, began = {"read": 0, "refused": 0}, {}, 0.0, time.process_time()
    for seed in seeds:
        if note is not None:
            note.write_text(f"{reader.name} {seed}")  # who dies says where
        before = time.process_time()
        found = outcome(reader, seed, folder)
        slowest = max(slowest, time.process_time() - before)
        if found in counts:
            counts[found] += 1
        else:
            failures.setdefault(found, []).append(seed)
    return {**counts, "failures": failures, "slowest": slowest, "seconds": time.process_time() - began}


def again(name: str, seed: int) -> None:
    """Read one file without catching anything."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bases").mkdir()
        reader = next(r for r in readers(Bases(Path(folder) / "bases")) if r.name == name)
        reader.use(reader.spoil(Random(f"{name} {seed}"), emptied(Path(folder) / "files")))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--note", type=Path)
    parser.add_argument("--only")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int)
    asked = parser.parse_args()
    if asked.seed is not None:
        again(asked.only, asked.seed)
    else:
        text = json.dumps(run(asked.files, asked.note, asked.only, asked.start), indent=1)
        asked.out.write_text(text) if asked.out else print(text)
