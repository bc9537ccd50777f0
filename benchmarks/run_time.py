"""How long `outfold run` takes beside what it says: the budget, and the time left.

``budget``: the command on simulated tables, with budgets. A row has the seconds on the clock from the start of the process to its
end, the CPU seconds of the process and of the workers it waited for, and how many configurations were finished or dropped.

``left``: runs without a budget. Each time the progress file is written, it says how much time is left; the script keeps it, and
compares it with the time that it was. The first tenth of a run does not count. A reading of a number of seconds is wrong if it is
more than three times too high or too low. "A few seconds" stands for 5, so it is wrong if more than 15 were left.

``python benchmarks/run_time.py budget|left [ROW ...] [--turns 3] [--keep]``. The clock counts, so the machine must have no other
work.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from measuring import Results, arguments
from sklearn.datasets import make_classification, make_regression

# For each table its rows, its columns and the budgets.
BUDGETS: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "100 x 20": (100, 20, (10, 30)),
    "5,000 x 30": (5_000, 30, (30, 120)),
    "200,000 x 24": (200_000, 24, (60, 150)),
}
# For each table its rows, its columns, the task and the space.
LEFT: dict[str, tuple[int, int, str, str]] = {
    "100 x 20, classes": (100, 20, "classes", "small"),
    "100 x 20, numbers": (100, 20, "numbers", "small"),
    "1,000 x 30, classes": (1_000, 30, "classes", "small"),
    "100 x 20, classes, standard": (100, 20, "classes", "standard"),
}
FACTOR, FEW_SECONDS = 3.0, 5.0


def write_table(path: Path, n: int, p: int, task: str, seed: int) -> None:
    """Numbers and, as every fifth column, a category."""
    n_words = p // 5
    make = make_classification if task == "classes" else make_regression
    X, y = make(n, p - n_words, n_informative=(p - n_words) // 3, random_state=seed)
    frame = pd.DataFrame(X.round(4), columns=[f"x{j}" for j in range(p - n_words)])
    for j in range(n_words):
        ends = np.quantile(X[:, j], np.linspace(0, 1, j + 3)[1:-1])
        frame[f"word{j}"] = np.array(list("abcdefghijkl"))[np.digitize(X[:, j], ends)]
    frame["y"] = np.where(y > 0, "ill", "well") if task == "classes" else y.round(4)
    frame.to_csv(path, index=False)


# -- budgets ------------------------------------------------------------------------------------------------------


def run_with_budget(folder: Path, n: int, p: int, budget: int, seed: int) -> dict[str, float]:
    """One command, from its start to its end."""
    write_table(folder / "t.csv", n, p, "classes", seed)
    command = [sys.executable, "-m", "outfold", "run", "t.csv", "--target", "y", "-o", "out", "--budget", f"{budget}s"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([*command, "--format", "json"], cwd=folder, capture_output=True, text=True, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert json.loads(done.stdout)["value"] is not None
    tried = json.loads((folder / "out" / "progress.json").read_text())["configurations"]
    return {"budget": budget, "wall": wall, "cpu": cpu, "finished": tried["finished"], "configurations": tried["all"]}


def measure_budgets(results: Results, wanted: list[str], turns: int) -> None:
    for table, (n, p, budgets) in BUDGETS.items():
        for budget in budgets if not wanted or table in wanted else ():
            rows = []
            for seed in range(turns):
                with tempfile.TemporaryDirectory() as folder:
                    rows.append(run_with_budget(Path(folder), n, p, budget, seed))
                print(f"{table}, {budget} s: {rows[-1]}", flush=True)
            numbers = {"wall": max, "cpu": max, "finished": min}
            kept = {name: choose(row[name] for row in rows) for name, choose in numbers.items()}
            results.add(
                f"{table}, {budget} s", turns=turns, **kept, budget=budget, configurations=rows[0]["configurations"]
            )


# -- the time left ------------------------------------------------------------------------------------------------


def readings(folder: Path, n: int, p: int, task: str, space: str, seed: int) -> tuple[list[tuple[float, Any]], float]:
    """What the progress file said, and when; and how long the whole run took."""
    from outfold.apps import live
    from outfold.apps.run import run

    write_table(folder / "t.csv", n, p, task, seed)
    said: list[tuple[float, Any]] = []
    start = time.perf_counter()
    written = live.Live._write

    def write(self: Any, state: Any, standing: Any) -> None:
        written(self, state, standing)
        if state == "running":
            facts = json.loads((self.folder / live.FILE).read_text())
            said.append((time.perf_counter() - start, facts["seconds_left"]))

    live.Live._write = write  # type: ignore[method-assign]
    try:
        run(folder / "t.csv", "y", folder / "out", space=space, n_jobs=-1, seed=seed, progress=False)
    finally:
        live.Live._write = written  # type: ignore[method-assign]
    return said, time.perf_counter() - start


def is_wrong(said: float, true: float) -> bool:
    """Whether a person who read this would have been misled."""
    if said < FEW_SECONDS:
        return true > FACTOR * FEW_SECONDS
    return not true / FACTOR <= said <= true * FACTOR


def measure_left(results: Results, wanted: list[str], turns: int) -> None:
    for row, (n, p, task, space) in LEFT.items():
        if wanted and row not in wanted:
            continue
        n_read = n_wrong = n_unknown = 0
        worst, longest = 1.0, 0.0
        for seed in range(turns):
            with tempfile.TemporaryDirectory() as folder:
                said, total = readings(Path(folder), n, p, task, space, seed)
            longest = max(longest, total)
            later = [(total - at, left) for at, left in said if at > 0.1 * total]
            n_unknown += sum(left is None for _, left in later)
            known = [(true, left) for true, left in later if left is not None]
            n_read += len(known)
            n_wrong += sum(is_wrong(left, true) for true, left in known)
            ratios = [max(left / true, true / left) for true, left in known if left >= FEW_SECONDS]
            worst = max([worst, *ratios])
            print(
                f"{row}, seed {seed}: {total:.1f} s, {len(known)} readings, worst {max(ratios, default=1):.2f}",
                flush=True,
            )
            for true, left in known:
                if is_wrong(left, true):
                    print(f"   {true:.1f} s before the end it said {left:.1f}", flush=True)
        results.add(
            row, turns=turns, readings=n_read, wrong=n_wrong, unknown=n_unknown, worst=worst, longest_run=longest
        )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("what", choices=["budget", "left"])
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--turns", type=int, default=3)
    asked = parser.parse_args()
    results = Results(f"run_{asked.what}", asked.keep)
    measure = measure_budgets if asked.what == "budget" else measure_left
    measure(results, asked.rows, 1 if asked.quick else asked.turns)


if __name__ == "__main__":
    main()
