"""Everyday searches beside GridSearchCV, as a user waits for them: each in a new process, imports and workers included.

The sides take turns; a row gives GridSearchCV's median seconds divided by ours, wall and CPU, with nothing dropped and as
`SelectCV` comes. ``warm`` is a second search in the same process, where GridSearchCV's first takes less than 5 seconds: in
longer ones, what a process pays once makes no difference. ``both`` is the first and the second together. ``estimate`` is no
ratio: the seconds that reading ``estimate_`` takes after the first search. Searches whose turn takes longer than 20 seconds have
three turns.
Both sides get the same folds; the winner and the scores are compared. With one worker, one turn has a bare loop that fits and
predicts, and does nothing else: it shows what a search can gain that shares no fit.
Usage: python benchmarks/everyday.py [SEARCH ...] [--jobs 1 2] [--turns 5] [--keep]
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# GridSearchCV, our search with nothing dropped, our search as it comes; and a loop that fits and predicts.
SIDES = ("theirs", "kept", "dropping")
LOOP = "loop"

# A second search in the same process is measured if the first takes fewer seconds than this.
_SHORT = 5.0
# From so many seconds per turn on, a search has at most this many turns.
_LONG, _FEW_TURNS = 20.0, 3
KINDS = ("wall", "cpu", "warm", "both")


# -- one search in a new process ------------------------------------------------------------------------


def run_side(name: str, side: str, jobs: int, longest: float) -> dict[str, Any]:
    """Search, and again if that took less than `longest` seconds; what was found, and the seconds of the second search."""
    from everyday_searches import SEARCHES

    warnings.simplefilter("ignore")
    search = SEARCHES[name]()
    if side == LOOP:
        return fit_and_predict(search)
    options = {"scoring": search.scoring, "refit": search.refit, "cv": search.folds(), "n_jobs": jobs}
    if side == "theirs":
        from sklearn.model_selection import GridSearchCV as Kind
    else:
        from outfold import SelectCV as Kind

        options["drop"] = side == "dropping"
    begin = time.time()
    found = Kind(search.estimator, search.grid, **options).fit(search.X, search.y)
    first, warm = (time.time(), cpu_seconds_of_all()), None
    estimate = None if side == "theirs" else seconds_to_read(found)
    if first[0] - begin < longest:
        begin = time.time()
        Kind(search.estimator, search.grid, **options).fit(search.X, search.y)
        warm = time.time() - begin
    metric = search.refit if isinstance(search.refit, str) else "score"
    scores = [float(score) for score in found.cv_results_[f"mean_test_{metric}"]]
    seconds = {"wall": first[0], "cpu": first[1], "warm": warm, "estimate": estimate}
    return seconds | {"winner": int(found.best_index_), "scores": scores}


def seconds_to_read(found: Any) -> float:
    """Seconds until the estimate of a search is there, which is computed when it is first read."""
    begin = time.time()
    assert found.estimate_ is not None
    return time.time() - begin


def fit_and_predict(search: Any) -> dict[str, Any]:
    """Fit every configuration on every fold, predict, and fit the first one on all samples."""
    from sklearn.base import clone
    from sklearn.model_selection import ParameterGrid
    from sklearn.utils import _safe_indexing

    labels = search.scoring is None or search.refit is not True
    for params in ParameterGrid(search.grid):
        for train, test in search.folds().split(search.X, search.y):
            model = clone(search.estimator).set_params(**params)
            model.fit(_safe_indexing(search.X, train), _safe_indexing(search.y, train))
            method = next(m for m in ("decision_function", "predict_proba", "predict") if labels or hasattr(model, m))
            getattr(model, "predict" if labels else method)(_safe_indexing(search.X, test))
    clone(search.estimator).set_params(**params).fit(search.X, search.y)
    return {"wall": time.time(), "cpu": cpu_seconds_of_all(), "warm": None}


def cpu_seconds_of_all() -> float:
    """CPU seconds of this process and of those it started, workers that still live included."""
    mine, ticks = {os.getpid()}, os.sysconf("SC_CLK_TCK")
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended since
            continue
        stats[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15])) / ticks
    grown = True
    while grown:
        new = {pid for pid, (parent, _) in stats.items() if parent in mine} - mine
        mine, grown = mine | new, bool(new)
    return sum(stats[pid][1] for pid in mine if pid in stats)


# -- all of them ----------------------------------------------------------------------------------------


def measured(name: str, side: str, jobs: int, longest: float) -> dict[str, Any]:
    """What a new process finds, and its seconds from its start to the end of the first search."""
    command = [sys.executable, __file__, "--side", side, "--jobs", str(jobs), "--longest", str(longest), name]
    begin = time.time()
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    wall = found["wall"] - begin
    return found | {"wall": wall, "both": None if found["warm"] is None else wall + found["warm"]}


def compile_package() -> None:
    """Compile the package to bytecode, which installers do and a working copy may lack."""
    import outfold

    for folder in (*outfold.__path__, Path(__file__).parent):
        compileall.compile_dir(folder, quiet=1)


def take_turns(name: str, jobs: int, n_turns: int) -> list[dict[str, Any]]:
    """What each side found in each turn. The first turn of GridSearchCV decides whether there are second searches."""
    turns: list[dict[str, Any]] = []
    longest, begin = _SHORT, time.time()
    while len(turns) < n_turns:
        turn = {}
        for side in (*SIDES, LOOP) if jobs == 1 and not turns else SIDES:
            turn[side] = measured(name, side, jobs, longest)
            if not turns and side == "theirs":
                longest = 0.0 if turn[side]["warm"] is None else float("inf")
        turns.append(turn)
        if time.time() - begin > _LONG * len(turns):
            n_turns = min(n_turns, _FEW_TURNS)
    return turns


def medians(turns: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The median seconds of each kind, of the turns of one side; those that were measured."""
    kinds = [kind for kind in KINDS if turns[0][kind] is not None]
    return {kind: median([turn[kind] for turn in turns]) for kind in kinds}


def median(values: Sequence[float]) -> float:
    """The middle one of the values, the upper one of two."""
    return sorted(values)[len(values) // 2]


def agree(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> bool:
    """The same winner, and the same scores of what was not dropped."""
    pairs = [(a, b) for a, b in zip(theirs["scores"], ours["scores"], strict=True) if b == b]
    close = all(abs(a - b) <= 1e-9 * max(1.0, abs(a)) for a, b in pairs)
    return close and theirs["winner"] == ours["winner"]


def row(name: str, jobs: int, n_turns: int) -> dict[str, float]:
    """The ratios of one search."""
    turns = take_turns(name, jobs, n_turns)
    seconds = {side: medians([turn[side] for turn in turns]) for side in SIDES}
    numbers: dict[str, float] = {"seconds": seconds["theirs"]["wall"]}
    for side in SIDES[1:]:
        numbers[f"{side}_estimate"] = median([turn[side]["estimate"] for turn in turns])
        for kind, value in seconds[side].items():
            numbers[f"{side}_{kind}"] = seconds["theirs"][kind] / value
        numbers[f"{side}_same"] = float(agree(turns[0]["theirs"], turns[0][side]))
    if LOOP in turns[0]:
        loop = medians([turns[0][LOOP]])
        numbers |= {f"{LOOP}_{kind}": seconds["theirs"][kind] / value for kind, value in loop.items()}
    return numbers


def show(title: str, numbers: Mapping[str, float]) -> None:
    """A line: seconds of GridSearchCV, then the ratios of both sides."""
    names = [f"{side}_{kind}" for side in SIDES[1:] for kind in KINDS]
    cells = [f"{numbers[name]:7.2f}" if name in numbers else f"{'':7}" for name in names]
    loop = f"  | loop {numbers['loop_wall']:.2f}" if "loop_wall" in numbers else ""
    odd = "".join(f"  {side}: other winner or scores" for side in SIDES[1:] if not numbers[f"{side}_same"])
    kept, dropping = "".join(cells[: len(KINDS)]), "".join(cells[len(KINDS) :])
    print(f"{title:<44}{numbers['seconds']:7.2f} s {kept}  |{dropping}{loop}{odd}", flush=True)


def summary(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The least and the median of each ratio, the most and the median of the seconds of the estimates."""
    out = {}
    for name in (f"{side}_{kind}" for side in (*SIDES[1:], LOOP) for kind in KINDS):
        values = [numbers[name] for numbers in rows if name in numbers]
        if values:
            out |= {f"{name}_least": min(values), f"{name}_median": median(values)}
    for name in (f"{side}_estimate" for side in SIDES[1:]):
        values = [numbers[name] for numbers in rows]
        out |= {f"{name}_most": max(values), f"{name}_median": median(values)}
    return out


def main() -> None:
    from everyday_searches import SEARCHES
    from measuring import Results, arguments

    parser = arguments(__doc__)
    parser.add_argument("searches", nargs="*", metavar="SEARCH", help="parts of names; all by default")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--turns", type=int, default=5)
    args = parser.parse_args()
    names = [name for name in SEARCHES if not args.searches or any(part in name for part in args.searches)]
    results = Results("everyday", args.keep)
    compile_package()
    print(f"{'GridSearchCV / ours':<44}{'':>10}   kept: {', '.join(KINDS)}  | dropping: the same")
    for jobs in args.jobs:
        rows = []
        for name in names:
            rows.append(row(name, jobs, 1 if args.quick else args.turns))
            title = f"{name}; n_jobs={jobs}"
            show(title, rows[-1])
            results.add(title, **rows[-1])
        found = summary(rows)
        results.add(f"all {len(names)}; n_jobs={jobs}", **found)
        for kind in ("least", "median"):
            numbers = {name.removesuffix(f"_{kind}"): value for name, value in found.items() if name.endswith(kind)}
            show(
                f"{kind} of {len(names)}; n_jobs={jobs}", {"seconds": 0.0, "kept_same": 1, "dropping_same": 1} | numbers
            )


if __name__ == "__main__":
    if "--side" in sys.argv:
        parser = argparse.ArgumentParser()
        parser.add_argument("name")
        parser.add_argument("--side", choices=(*SIDES, LOOP))
        parser.add_argument("--jobs", type=int)
        parser.add_argument("--longest", type=float)
        asked = parser.parse_args()
        print(json.dumps(run_side(asked.name, asked.side, asked.jobs, asked.longest)))
    else:
        main()
