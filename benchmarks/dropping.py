"""What dropping saves and what it costs: full CV, BBCD, successive halving, and random search with as many fits as BBCD.

The 236 configurations of Tsamardinos et al. (2015) on 500 samples of four data sets, AUC; the other samples are the truth.
The data sets are those of the papers, as ``NAME.parquet`` with a column ``target``; they are not part of the package.
Usage: python benchmarks/dropping.py [--data FOLDER] [--draws 3] [--keep]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from measuring import Results, arguments
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import HalvingGridSearchCV
from sklearn.pipeline import Pipeline

import outfold as of
from outfold.learners.spaces import tsamardinos2015

SETS = ("magic_gamma", "bank", "sylvine", "biodeg")
N, FOLDS, MOST_HELD_OUT = 500, 10, 10_000
METHODS = ("full CV", "BBCD", "HalvingGridSearchCV", "random search")


class Row(NamedTuple):
    """One search: fits done, seconds of CPU, AUC on samples it never saw, its own score and the honest estimate."""

    fits: int
    seconds: float
    auc: float
    own: float
    honest: float


def samples(path: Path, draw: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Samples to tune on and samples kept as the truth; categories as 0-1 columns, which need no labels."""
    frame = pd.read_parquet(path)
    y = (frame["target"] == frame["target"].value_counts().index[-1]).to_numpy().astype(int)
    X = pd.get_dummies(frame.drop(columns="target"), dtype=float).to_numpy(dtype=float)
    order = np.random.default_rng(draw).permutation(len(frame))
    tune, rest = order[:N], order[N : N + MOST_HELD_OUT]
    return X[tune], y[tune], X[rest], y[rest]


def auc(model, X: np.ndarray, y: np.ndarray) -> float:
    scores = model.decision_function(X) if hasattr(model, "decision_function") else model.predict_proba(X)[:, 1]
    return float(roc_auc_score(y, scores))


def by_selectcv(configs: of.Configs, data, draw: int, **options) -> Row:
    X, y, X_new, y_new = data
    search = of.SelectCV(configs, scoring="roc_auc", cv=FOLDS, random_state=draw, **options)
    start = time.process_time()
    search.fit(X, y)
    seconds = time.process_time() - start
    fits = search.oof_.provenance["n_fits"] + 1
    return Row(fits, seconds, auc(search.best_estimator_, X_new, y_new), search.best_score_, search.estimate_.value)


def by_halving(configs: of.Configs, data, draw: int) -> Row:
    X, y, X_new, y_new = data
    pipelines = {"pipeline": list(configs.values())}
    search = HalvingGridSearchCV(
        Pipeline([("pipeline", next(iter(configs.values())))]),
        pipelines,
        scoring="roc_auc",
        cv=FOLDS,
        random_state=draw,
        return_train_score=False,
    )
    start = time.process_time()
    search.fit(X, y)
    seconds = time.process_time() - start
    fits = sum(search.n_candidates_) * FOLDS + 1
    return Row(fits, seconds, auc(search.best_estimator_, X_new, y_new), search.best_score_, np.nan)


def compare(path: Path, draw: int) -> Iterator[tuple[str, Row]]:
    data = samples(path, draw)
    configs = tsamardinos2015(data[0])
    yield "full CV", by_selectcv(configs, data, draw, drop=False)
    dropped = by_selectcv(configs, data, draw)
    yield "BBCD", dropped
    yield "HalvingGridSearchCV", by_halving(configs, data, draw)
    n = max(1, round(dropped.fits / FOLDS))
    yield "random search", by_selectcv(configs, data, draw, search="random", n_configs=n, drop=False)


def mean_row(rows: list[Row]) -> dict[str, float]:
    """The means of what is defined, and how many searches they are of."""
    means = dict(zip(Row._fields, np.mean(rows, axis=0).tolist(), strict=True))
    return {"searches": len(rows)} | {name: value for name, value in means.items() if not np.isnan(value)}


def line(name: str, method: str, rows: list[Row], full: list[Row]) -> str:
    mean, base = (np.mean(r, axis=0) for r in (rows, full))
    honest = "" if np.isnan(mean[4]) else f"{mean[4]:.3f}"
    return (
        f"{name:<13}{method:<21}{mean[0]:>6.0f}{base[0] / mean[0]:>8.1f}x{mean[1]:>9.1f}{mean[2]:>10.4f}"
        f"{mean[2] - base[2]:>+9.4f}{mean[3]:>8.3f}{honest:>8}"
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--draws", type=int, default=3, help="random samples of 500 from every data set")
    options = parser.parse_args()
    draws, results = 1 if options.quick else options.draws, Results("dropping", options.keep)
    missing = [name for name in SETS if not (options.data / f"{name}.parquet").exists()]
    if missing:
        sys.exit(
            f"no {', '.join(missing)} in {options.data}: nothing measured. Give --data the folder of the papers' data sets."
        )
    warnings.simplefilter("ignore")
    found: dict[tuple[str, str], list[Row]] = {}
    print(f"236 configurations, {N} samples, {FOLDS} folds, AUC; means over {draws} draws\n")
    print(
        f"{'data':<13}{'method':<21}{'fits':>6}{'fewer':>9}{'seconds':>9}{'new AUC':>10}{'loss':>9}{'own':>8}{'honest':>8}"
    )
    for name in SETS:
        for draw in range(draws):
            for method, row in compare(options.data / f"{name}.parquet", draw):
                found.setdefault((name, method), []).append(row)
        for method in METHODS:
            print(line(name, method, found[name, method], found[name, "full CV"]), flush=True)
            results.add(f"{name}, {method}", **mean_row(found[name, method]))
    every = {method: [row for name in SETS for row in found[name, method]] for method in METHODS}
    for method in METHODS:
        print(line("all", method, every[method], every["full CV"]))
        results.add(f"all, {method}", **mean_row(every[method]))
    full, dropped = (np.mean(every[method], axis=0) for method in ("full CV", "BBCD"))
    holds = full[0] >= 2 * dropped[0] and full[2] - dropped[2] <= 0.005
    print(f"\nat least 2x fewer fits by BBCD, at most 0.005 AUC lost on average: {'yes' if holds else 'NO'}")


if __name__ == "__main__":
    main()
