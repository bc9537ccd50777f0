"""The ready spaces: how long one whole collection takes, and how good the first quarter of the configurations is.

Time: CPU seconds of ``collect`` with 10 folds and one worker, on simulated classes. Order: on real tables with 100 training
rows, the configuration that 5-fold cross-validation selects among the first quarter of the standard space beside the one that it
selects among all, by their accuracy and AUC (one class against the rest) on rows that neither saw.

``python benchmarks/spaces.py time|order --data FOLDER [--draws 1] [--keep]``; the folder has a parquet file for each table
with a column ``target``.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from measuring import Results, arguments, cpu_seconds
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score, roc_auc_score
from threadpoolctl import threadpool_limits

import outfold as of
from outfold.learners import spaces

SIZES = ((100, 20), (1000, 30))
TABLES = ("biodeg", "credit_a", "magic_gamma", "pima", "vehicle")
N_TRAIN, N_TEST, FOLDS = 100, 3000, 5


def time_all(results: Results, names: tuple[str, ...]) -> None:
    for n, p in SIZES:
        X, y = make_classification(n, p, n_informative=p // 3, flip_y=0.2, random_state=0)
        for name in names:
            configs = spaces.make_space(name, X, y, "classification")
            seconds = cpu_seconds(lambda c=configs, X=X, y=y: of.collect(c, X, y, rng=0, n_jobs=1))
            print(f"{name}: {len(configs)} configurations on {n} x {p}: {seconds:.1f} s", flush=True)
            results.add(f"{name}, {n} x {p}", configurations=len(configs), seconds=seconds)


def order(results: Results, folder: Path, tables: tuple[str, ...], name: str, draws: int) -> None:
    for table in tables:
        rows = [one_draw(folder / f"{table}.parquet", name, draw) for draw in range(draws)]
        mean = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
        print(table, {key: round(value, 4) for key, value in mean.items()}, flush=True)
        results.add(f"{name}, {table}", draws=draws, **mean)


def one_draw(path: Path, name: str, draw: int) -> dict[str, float]:
    """Scores of the configurations selected among a quarter and among all, by cross-validation and on other rows."""
    frame = pd.read_parquet(path)
    X, y = frame.drop(columns="target"), frame["target"].astype(str).to_numpy()
    rng = np.random.default_rng([draw, len(frame)])
    mixed = rng.permutation(len(frame))
    train, test = mixed[:N_TRAIN], mixed[N_TRAIN : N_TRAIN + N_TEST]
    configs = spaces.make_space(name, X.iloc[train], y[train], "classification")
    oof = of.collect(configs, X.iloc[train], y[train], FOLDS, rng=draw, n_jobs=1)
    quarter = list(configs)[: -(-len(configs) // 4)]
    out: dict[str, float] = {}
    for metric in ("accuracy", "roc_auc" if len(np.unique(y)) == 2 else "roc_auc_ovr"):
        board = oof.leaderboard(metric)
        scores = dict(zip(board.configs, board.scores, strict=True))
        for part, among in (("quarter", quarter), ("all", list(configs))):
            best = max(among, key=scores.__getitem__)
            model = seeded(configs[best], draw).fit(X.iloc[train], y[train])
            key = f"{metric.removesuffix('_ovr')}, {part}"
            out[f"{key}, cv"] = float(scores[best])
            out[f"{key}, other rows"] = score(model, X.iloc[test], y[test], metric)
    return out


def seeded(pipeline: Any, seed: int) -> Any:
    """A copy whose random numbers are the same in every call."""
    open_seeds = [
        name for name, value in pipeline.get_params().items() if name.endswith("random_state") and value is None
    ]
    return clone(pipeline).set_params(**dict.fromkeys(open_seeds, seed))


def score(model: Any, X: pd.DataFrame, y: np.ndarray[Any, Any], metric: str) -> float:
    """The metric of a fitted model on some rows."""
    if metric == "accuracy":
        return float(accuracy_score(y, model.predict(X)))
    proba = model.predict_proba(X)
    return float(roc_auc_score(y, proba[:, 1] if proba.shape[1] == 2 else proba, multi_class="ovr"))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("what", choices=("time", "order"))
    parser.add_argument("--data", type=Path, help="folder of the tables")
    parser.add_argument("--tables", nargs="*", default=TABLES)
    parser.add_argument("--spaces", nargs="*", default=["small", "standard"])
    parser.add_argument("--draws", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results("spaces", options.keep)
    with threadpool_limits(1):
        if options.what == "time":
            time_all(results, tuple(options.spaces[:1] if options.quick else options.spaces))
        else:
            tables = tuple(options.tables[:1] if options.quick else options.tables)
            order(results, options.data, tables, options.spaces[-1], 1 if options.quick else options.draws)


if __name__ == "__main__":
    main()
