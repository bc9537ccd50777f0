"""The .oof file: cells per second as they come in, size on disk, and what it takes to open and sum up a large file.

Opening a file reads its header alone, so the file of 10 GB that is opened here has the header of one, and no predictions.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from measuring import Results, arguments

import outfold as of
from outfold.data.plan import Plan
from outfold.data.predictions import Predictions, State
from outfold.data.stored import StoredPredictions
from outfold.io.schema import transaction
from outfold.io.store import Cell, Store

_OPEN = """
import sys, time
import outfold as of, outfold.io.store, outfold.metrics
def memory(): return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024
before, wall, cpu = memory(), time.perf_counter(), time.process_time()
oof = of.load(sys.argv[1])
repr(oof), str(oof), oof.completeness
print(time.perf_counter() - wall, time.process_time() - cpu, memory() - before)
"""


class _Empty:
    """Predictions that do not exist yet, so that the header of a large run takes no memory here."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


def header(n: int, c: int, folds: int, repeats: int) -> Predictions:
    """A run of c configurations on n samples, before anything was fitted."""
    rng = np.random.default_rng(0)
    plan = Plan(folds=folds, repeats=repeats)
    y = rng.integers(0, 2, n)
    splits = plan.split(y, rng=0)
    one = of.from_arrays(y, np.full((n, 1, repeats), 0.5), splits.folds, response="proba")
    names = tuple(f"forest(max_depth={i % 10}, n_estimators={i})" for i in range(c))
    state = np.zeros((c, repeats, folds), dtype=np.uint8)
    known = {name: value for name, value in vars(one).items() if name in Predictions.__dataclass_fields__}
    del known["data"], known["labels"]
    known |= {"configs": names, "params": tuple({"n_estimators": i} for i in range(c)), "state": state, "plan": plan}
    known |= {"provenance": {"specs": {name: name for name in names}}}
    return StoredPredictions.of(_Empty((repeats, c, n)), known)  # type: ignore[arg-type]


def batches(oof: Predictions, size: int) -> Iterator[list[Cell]]:
    """All cells in the order in which they come in: some configurations of one fold at a time."""
    values = np.random.default_rng(1).random(oof.n_samples)
    for r, k in oof.splits.cells:
        held_out = values[: np.count_nonzero(oof.folds[:, r] == k)]
        for start in range(0, oof.n_configs, size):
            yield [
                Cell("oof", name, r, k, State.DONE, held_out, None, 0.01) for name in oof.configs[start : start + size]
            ]


def fill(path: Path, oof: Predictions, size: int) -> tuple[float, float, int]:
    """Wall and CPU seconds of writing, and how many cells were written."""
    wall = cpu = 0.0
    n = 0
    with Store.open(path, oof, {"data": "d"}) as store:
        for cells in batches(oof, size):
            start = time.perf_counter(), time.process_time()
            store.write(cells)
            wall, cpu, n = wall + time.perf_counter() - start[0], cpu + time.process_time() - start[1], n + len(cells)
        start = time.perf_counter(), time.process_time()
    return wall + time.perf_counter() - start[0], cpu + time.process_time() - start[1], n


def _without_numbers(path: Path, oof: Predictions) -> None:
    """A file that says that all cells are done, without the predictions, which nobody reads to sum it up."""
    cells = ((r, k, c) for r, k in oof.splits.cells for c in range(oof.n_configs))
    with Store.open(path, oof, {"data": "d"}) as store, transaction(store._db):
        rows = (("oof", r, k, c, "done", None, 0.01, 123456789, None, i) for i, (r, k, c) in enumerate(cells))
        store._db.executemany("INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def opened(path: Path, n_turns: int) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and megabytes that a new process needs to open a file and sum it up."""
    turns = [
        tuple(
            map(
                float,
                subprocess.run(
                    [sys.executable, "-c", _OPEN, str(path)], check=True, capture_output=True, text=True
                ).stdout.split(),
            )
        )
        for _ in range(n_turns)
    ]
    return min(turns)  # type: ignore[return-value]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=10, help="repeats of the cells that come in")
    parser.add_argument("--turns", type=int, default=3, help="how often a file is opened")
    args = parser.parse_args()
    results = Results("store", args.keep)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.oof"
        c, repeats = (500, 2) if args.quick else (5000, args.repeats)
        for n, size in ((1000, 200), (1000, 25)):
            wall, cpu, cells = fill(path, header(n, c, 10, repeats), size)
            raw = 8 * n * c * repeats
            numbers = {"cells": cells, "cells_per_second": cells / wall, "cells_per_cpu_second": cells / cpu}
            numbers["bytes_per_raw_byte"] = path.stat().st_size / raw
            print(f"{c} x 10 x {repeats}, {n} samples, batches of {size}: {numbers}")
            results.add(f"write {c} x 10 x {repeats}, batches of {size}", **numbers)
            path.unlink()
        n, c = 100_000, (10 if args.quick else 1250)
        _without_numbers(path, header(n, c, 10, 10))
        wall, cpu, memory = opened(path, args.turns)
        gigabytes = 8 * n * c * 10 / 1e9
        what = f"open the header of {gigabytes:g} GB ({n:,} samples, {c:,} configurations, 10 x 10)"
        print(f"{what}: {wall:.2f} s, {cpu:.2f} s of CPU, {memory:.0f} MB")
        results.add("open", gigabytes=gigabytes, seconds=wall, cpu_seconds=cpu, megabytes=memory)


if __name__ == "__main__":
    main()
