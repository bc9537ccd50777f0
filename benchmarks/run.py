"""`outfold run` on 100 rows of real tables: what it says, what comes true on the other rows, and how long it takes.

From each data set 100 rows are drawn at random, twenty times; the other rows (at most 5,000 of them) are the truth. Each draw is
written as csv and given to `outfold run` by AUC and by accuracy, and to FLAML for as many seconds as our run took, with its own
validation. A row gives the means of what was claimed and of what came true, how often the interval of `run` covers the truth,
and the CPU time of the same space under nested cross-validation by scikit-learn, divided by ours (one draw of a set, our runs
right before and after). FLAML runs by the Python given with ``--flaml``; without it that side is left out.

Usage: python benchmarks/run.py [SET ...] [--draws 20] [--metrics roc_auc accuracy] [--raw FILE] [--flaml PYTHON] [--nested]
Results are appended to the raw file one by one, and a second call goes on from it. The data sets are not part of the package.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from measuring import RESULTS, Results, arguments

SETS = (
    "bank",
    "ada",
    "biodeg",
    "seismic_bumps",
    "crx",
    "ozone_8h",
    "magic_gamma",
    "kr_vs_kp",
    "jasmine",
    "tic_tac_toe",
)
METRICS = ("roc_auc", "accuracy")
N_ROWS, MOST_NEW = 100, 5000


# -- one draw -----------------------------------------------------------------------------------------------------


def draw(frame: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """100 rows with at least two of each class, and the others."""
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(len(frame))
        mine = frame.iloc[order[:N_ROWS]]
        if mine["target"].value_counts().min() >= 2 and mine["target"].nunique() == frame["target"].nunique():
            return mine.reset_index(drop=True), frame.iloc[order[N_ROWS:][:MOST_NEW]].reset_index(drop=True)


def score(metric: str, y: Any, labels: Any, positive: Any) -> float:
    from sklearn.metrics import accuracy_score, roc_auc_score

    return float(roc_auc_score(y, positive) if metric == "roc_auc" else accuracy_score(y, labels))


def ours(train: pd.DataFrame, new: pd.DataFrame, metric: str, folder: Path, space: str) -> dict[str, Any]:
    """One `outfold run`, and its model on the other rows."""
    from outfold import load_model
    from outfold.apps.run import run

    folder.mkdir(exist_ok=True)
    train.to_csv(folder / "train.csv", index=False)
    wall, cpu = time.perf_counter(), time.process_time()
    found = run(folder / "train.csv", "target", folder / "out", metric=metric, space=space, n_jobs=1, progress=False)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    model = load_model(folder / "out")
    proba = np.asarray(model.predict_proba(new.drop(columns="target")))[:, 1]
    labels = np.asarray(model.predict(new.drop(columns="target"))).astype(str)
    made = found.estimate
    low, high = made.interval if made.interval is not None else (None, None)
    return {
        "claimed": float(made.value),
        "low": low,
        "high": high,
        "winner": float(made.naive),
        "truth": score(metric, new["target"].astype(str), labels, proba),
        "selected": made.selected,
        "wall": wall,
        "cpu": cpu,
    }


FLAML = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, pandas as pd
from flaml import AutoML
train, new, metric, seconds = sys.argv[1:5]
train, new = (pd.read_csv(name, dtype={"target": str}) for name in (train, new))
for frame in (train, new):
    for name in frame.columns:
        if frame[name].dtype.kind not in "biuf" and name != "target":
            frame[name] = frame[name].astype("category")
X, y = train.drop(columns="target"), train["target"]
model = AutoML()
start = time.perf_counter()
model.fit(X, y, task="classification", metric=metric, time_budget=float(seconds), n_jobs=1, verbose=0, seed=1)
wall = time.perf_counter() - start
X = new.drop(columns="target")
print(json.dumps({"claimed": 1 - float(model.best_loss), "wall": wall, "model": str(model.best_estimator),
    "labels": [str(v) for v in model.predict(X)], "positive": np.asarray(model.predict_proba(X))[:, 1].tolist()}))
"""


def flaml(
    python: str, train: pd.DataFrame, new: pd.DataFrame, metric: str, folder: Path, seconds: float
) -> dict[str, Any]:
    """The peer, for as long as our run took."""
    train.to_csv(folder / "train.csv", index=False)
    new.to_csv(folder / "new.csv", index=False)
    command = [python, "-c", FLAML, "train.csv", "new.csv", metric, f"{seconds:.1f}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1]}
    facts = json.loads(done.stdout.splitlines()[-1])
    truth = score(metric, new["target"].astype(str), facts.pop("labels"), facts.pop("positive"))
    return facts | {"truth": truth}


def timed_beside_nested(
    train: pd.DataFrame, new: pd.DataFrame, metric: str, folder: Path, space: str
) -> dict[str, Any]:
    """CPU seconds of nested cross-validation, and of our runs right before and after it: the machine may be busy."""
    before = ours(train, new, metric, folder / "before", space)["cpu"]
    theirs = nested(train, metric, space)
    after = ours(train, new, metric, folder / "after", space)["cpu"]
    return {"cpu": theirs, "run_cpu": [before, after]}


def nested(train: pd.DataFrame, metric: str, space: str) -> float:
    """CPU seconds of the same configurations in scikit-learn's nested cross-validation, and the search for the model itself."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
    from sklearn.pipeline import Pipeline

    from outfold.apps.table import Roles, labelled_table
    from outfold.learners import spaces
    from outfold.tables import TableFile

    table = labelled_table(TableFile(Path("train.csv"), train), Roles("target"))
    configs = spaces.make_space(space, table.X, table.y, table.task, table.columns.kinds)
    grid = [{"model": [pipeline]} for pipeline in configs.values()]
    cv = [StratifiedKFold(10, shuffle=True, random_state=seed) for seed in (0, 1)]
    search = GridSearchCV(Pipeline([("model", grid[0]["model"][0])]), grid, scoring=metric, cv=cv[0])
    cpu = time.process_time()
    cross_validate(search, table.X, table.y, scoring=metric, cv=cv[1])
    search.fit(table.X, table.y)
    return time.process_time() - cpu


# -- all of them --------------------------------------------------------------------------------------------------


def measured(args: Any) -> Iterator[dict[str, Any]]:
    """What the raw file holds, and then what is missing, as it is measured."""
    rows = [json.loads(line) for line in args.raw.read_text().splitlines()] if args.raw.exists() else []
    yield from rows
    known = {(r["set"], r["draw"], r["metric"], r["side"]) for r in rows}
    for seed in range(args.draws):
        for name in args.sets or SETS:
            frame = pd.read_parquet(args.data / f"{name}.parquet")
            frame["target"] = frame["target"].astype(str)
            train, new = draw(frame, seed)
            for metric in args.metrics:
                for side, facts in sides(args, train, new, metric, known, (name, seed), rows):
                    row = {"set": name, "draw": seed, "metric": metric, "side": side} | facts
                    rows.append(row)
                    with args.raw.open("a") as file:
                        file.write(json.dumps(row) + "\n")
                    yield row


def sides(
    args: Any,
    train: Any,
    new: Any,
    metric: str,
    known: set[Any],
    which: tuple[str, int],
    rows: Sequence[dict[str, Any]],
) -> Iterator[tuple[str, dict[str, Any]]]:
    def missing(side: str) -> bool:
        return (*which, metric, side) not in known

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if missing("outfold"):
            yield "outfold", ours(train, new, metric, Path(folder), args.space)
        if args.flaml and missing("flaml"):
            mine = (r for r in rows if (r["set"], r["draw"], r["metric"], r["side"]) == (*which, metric, "outfold"))
            yield "flaml", flaml(args.flaml, train, new, metric, Path(folder), next(mine)["wall"])
        if args.nested and which[1] == 0 and missing("nested"):
            yield "nested", timed_beside_nested(train, new, metric, Path(folder), args.space)


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The table: a row for each data set and metric, and one over all sets."""
    out: dict[str, Any] = {}
    for metric in METRICS:
        mine = [r for r in rows if r["metric"] == metric]
        names = list(dict.fromkeys(r["set"] for r in mine))
        for name in (*names, "all"):
            part = [r for r in mine if name in (r["set"], "all")]
            if part:
                out[f"{name}, {metric}"] = line(part)
    return out


def line(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    run = [r for r in rows if r["side"] == "outfold"]
    peer = [r for r in rows if r["side"] == "flaml" and "failed" not in r]
    inner = [r for r in rows if r["side"] == "nested"]
    covered = [r["low"] <= r["truth"] <= r["high"] for r in run if r["low"] is not None]
    mean = lambda part, key: round(float(np.mean([r[key] for r in part])), 4) if part else None  # noqa: E731
    ratios = [r["cpu"] / float(np.mean(r["run_cpu"])) for r in inner]
    drawn = {(r["set"], r["draw"], r["metric"]) for r in peer}
    same = [r for r in run if (r["set"], r["draw"], r["metric"]) in drawn]
    return {
        "draws": len(run),
        "claimed": mean(run, "claimed"),
        "winner": mean(run, "winner"),
        "truth": mean(run, "truth"),
        "covered": round(float(np.mean(covered)), 4) if covered else None,
        "seconds": mean(run, "cpu"),
        "nested_seconds": mean(inner, "cpu"),
        "nested_ratio": round(float(np.median(ratios)), 2) if ratios else None,
        "peer_draws": len(peer),
        "peer_claimed": mean(peer, "claimed"),
        "peer_truth": mean(peer, "truth"),
        "same_claimed": mean(same, "claimed"),  # ours, on the draws of the peer
        "same_truth": mean(same, "truth"),
        "nested_sets": len(ratios),
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--metrics", nargs="+", default=list(METRICS), choices=METRICS)
    parser.add_argument("--space", default="small")
    parser.add_argument(
        "--raw", type=Path, default=RESULTS / "run_draws.jsonl", help="where each result is kept at once"
    )
    parser.add_argument("--flaml", metavar="PYTHON", help="a Python that has FLAML")
    parser.add_argument("--nested", action="store_true", help="time nested cross-validation too")
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    args = parser.parse_args()
    if args.quick:
        args.draws, args.sets = 1, args.sets or ["crx"]
    rows = []
    for row in measured(args):
        rows.append(row)
        if "truth" in row:
            print(f"{row['set']:<16}{row['draw']:>3} {row['metric']:<9} {row['side']:<8}", end="")
            print(
                f" claimed {row['claimed']:.3f} truth {row['truth']:.3f}  {row['wall']:.1f} s",
                file=sys.stdout,
                flush=True,
            )
    results = Results("run", args.keep)
    for name, facts in summary(rows).items():
        print(name, facts)
        results.add(name, **{key: value for key, value in facts.items() if value is not None})


if __name__ == "__main__":
    main()
