"""Speed of a whole search beside GridSearchCV: same pipelines, same folds, refit included on both sides.

Our side also gives the honest estimate, which GridSearchCV does not. The sides take turns in one run; times are CPU seconds
with one worker, wall seconds with more. ``python benchmarks/search.py [ROW ...] [--jobs 1] [--rounds 5] [--data FOLDER]``;
rows: paper2015, paper2018, families, unrelated, heavy, nested. The data set of paper2018 is not part of the package. With
``--output benchmarks/results/search.json`` the medians go into that file; rows that were not run keep their numbers.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import outfold as of
from outfold.learners import spaces

Side = Callable[[], Any]
SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40, 50]


class Bench:
    """What all rows have in common."""

    def __init__(self, jobs: int, rounds: int, data: Path, output: Path | None) -> None:
        self.jobs, self.rounds, self.data, self.output = jobs, rounds, data, output
        self.clock = time.process_time if jobs == 1 else time.perf_counter

    def theirs(self, configs: of.Configs, X: Any, y: Any, cv: Sequence[Any], scoring: str) -> GridSearchCV:
        """A grid search over the steps of the same pipelines."""
        steps = [dict(pipeline.steps) for pipeline in configs.values()]
        names = list(max(steps, key=len))
        grid = [{name: [own.get(name, "passthrough")] for name in names} for own in steps]
        pipeline = Pipeline([(name, grid[0][name][0]) for name in names])
        return GridSearchCV(pipeline, grid, scoring=scoring, cv=cv, n_jobs=self.jobs).fit(X, y)

    def ours(self, configs: of.Configs, X: Any, y: Any, cv: Sequence[Any], scoring: str, **options: Any) -> of.SelectCV:
        """Our search and its estimate, which is computed when it is first read."""
        search = of.SelectCV(configs, scoring=scoring, cv=cv, n_jobs=self.jobs, **options).fit(X, y)
        assert search.estimate_ is not None
        return search

    def measure(self, title: str, sides: dict[str, Side], rounds: int | None = None) -> dict[str, float]:
        """Median seconds of every side; the first is what the others are compared with."""
        for side in list(sides.values())[1:]:  # compiled kernels and caches are not what is measured
            side()
        seconds: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(rounds or self.rounds):
            for name, side in sides.items():
                start = self.clock()
                side()
                seconds[name].append(self.clock() - start)
        medians = {name: float(np.median(values)) for name, values in seconds.items()}
        first, *others = medians.items()
        line = "".join(f"{name} {first[1] / value:>7.2f}x   " for name, value in others)
        print(f"{title:<44}{first[0]} {first[1]:>8.2f} s   {line}", flush=True)
        self.keep(title, medians)
        return medians

    def keep(self, title: str, medians: dict[str, float]) -> None:
        """Write the seconds of a row."""
        if self.output is not None:
            rows = json.loads(self.output.read_text()) if self.output.exists() else {}
            rows[title] = {"jobs": self.jobs, "seconds": {name: round(value, 4) for name, value in medians.items()}}
            self.output.write_text(json.dumps(rows, indent=1) + "\n")

    def against_grid(
        self,
        title: str,
        configs: of.Configs,
        X: Any,
        y: Any,
        scoring: str,
        options: dict[str, dict[str, Any]],
        rounds: int | None = None,
    ) -> None:
        """A row: GridSearchCV and our search with several options, on the same folds."""
        cv = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)) if _classes(y) else _plain_folds(X)
        sides: dict[str, Side] = {"GridSearchCV": lambda: self.theirs(configs, X, y, cv, scoring)}
        for name, chosen in options.items():
            sides[name] = lambda chosen=chosen: self.ours(configs, X, y, cv, scoring, **chosen)
        if len(options) == 1:  # what sharing brings, without selecting, estimate and final fit
            share = next(iter(options.values()))["share"]
            sides["predictions alone"] = lambda: of.collect(configs, X, y, cv, n_jobs=self.jobs, share=share)
        self.measure(title, sides, rounds)


def _classes(y: np.ndarray) -> bool:
    return len(np.unique(y)) < 20


def _plain_folds(X: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    parts = np.array_split(np.random.default_rng(0).permutation(len(X)), 10)
    return [(np.setdiff1d(np.arange(len(X)), part), np.sort(part)) for part in parts]


def scaled(model: Any) -> Pipeline:
    return Pipeline([("scale", StandardScaler()), ("model", model)])


# SelectCV drops by default; without it every fit of the grid is done on both sides.
EXACT: dict[str, Any] = {"share": "exact", "drop": None}
LEVELS: dict[str, dict[str, Any]] = {
    "exact": EXACT,
    "close": EXACT | {"share": "close"},
    "exact, dropping": {"share": "exact", "drop": True},
    "close, dropping": {"share": "close", "drop": True},
}


def paper2015(bench: Bench) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    for n in (100, 500):
        rows = rng.permutation(len(y))[:n]
        configs = spaces.tsamardinos2015(X[rows])
        bench.against_grid(f"236 configurations (2015), {n} samples", configs, X[rows], y[rows], "roc_auc", LEVELS)


def paper2018(bench: Bench) -> None:
    import pandas as pd

    frame = pd.read_parquet(bench.data / "madeline.parquet")
    y = frame.pop("target").astype(str).to_numpy()
    rows = np.random.default_rng(0).permutation(len(y))[:200]
    X, y = frame.to_numpy(dtype=float)[rows], y[rows]
    configs = spaces.tsamardinos2018(X, y, n_trees=100)
    bench.against_grid("610 configurations (2018), 200 samples", configs, X, y, "roc_auc", LEVELS, rounds=1)


def families(bench: Bench) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    Xr, yr = load_diabetes(return_X_y=True)
    knn = of.grid("m", scaled(KNeighborsClassifier()), n_neighbors=range(1, 51), weights=["uniform", "distance"])
    row = bench.against_grid
    exact, close = {"exact": EXACT}, {"close": EXACT | {"share": "close"}}
    row("k-NN 1..50 x 2 weights", knn, X, y, "roc_auc", exact)
    row("ridge, 50 alpha", of.grid("m", scaled(Ridge()), alpha=np.logspace(-3, 3, 50)), Xr, yr, "r2", exact)
    row("lasso, 50 alpha", of.grid("m", scaled(Lasso()), alpha=np.logspace(-2, 1.5, 50)), Xr, yr, "r2", close)
    logit = of.grid("m", scaled(LogisticRegression(max_iter=1000)), C=np.logspace(-3, 3, 20))
    row("logistic L2, 20 C", logit, X, y, "roc_auc", close)
    tree = of.grid(
        "m",
        scaled(DecisionTreeClassifier()),
        min_samples_leaf=SIZES,
        min_samples_split=[2, *range(3, 11), 15, 20, 30, 40, 50],
    )
    row("tree 14 x 14", tree, X, y, "roc_auc", {"close": EXACT | {"share": "close"}})
    boost = of.grid("m", scaled(GradientBoostingClassifier()), n_estimators=range(10, 201, 10))
    row("boosting, 20 stages", boost, X, y, "roc_auc", exact, rounds=1)
    svm = of.grid("m", scaled(SVC()), C=[0.01, 0.1, 1, 10, 100], gamma=[0.001, 0.01, 0.1, 1, 10])
    row("SVC 5 C x 5 gamma", svm, X, y, "roc_auc", exact)


def unrelated(bench: Bench) -> None:
    """A hundred light pipelines, no two of which have a fitted step in common."""
    X, y = make_classification(100, 20, n_informative=5, random_state=0)
    models = [
        *(GaussianNB(var_smoothing=v) for v in np.logspace(-12, -1, 25)),
        *(BernoulliNB(alpha=a, binarize=0.5) for a in np.logspace(-2, 1, 25)),
        *(LinearDiscriminantAnalysis(solver="lsqr", shrinkage=s) for s in np.linspace(0.1, 0.9, 25)),
        *(QuadraticDiscriminantAnalysis(reg_param=r) for r in np.linspace(0.1, 0.9, 25)),
    ]
    configs = of.Configs(
        {
            f"m{i}": Pipeline([("scale", MinMaxScaler((0, 1 + i / 100))), ("model", model)])
            for i, model in enumerate(models)
        }
    )
    bench.against_grid("100 unrelated light pipelines", configs, X, y, "accuracy", {"exact": EXACT})


class Heavy(ClassifierMixin, BaseEstimator):
    """A fit of about a second that nothing can share."""

    def fit(self, X, y):  # noqa: D102
        rng = np.random.default_rng(0)
        made = rng.normal(size=(700, 700))
        for _ in range(14):
            made = made @ np.linalg.inv(made + 700 * np.eye(700)) + made.mean()
        self.classes_, self.mean_ = np.unique(y), X.mean(axis=0)
        return self

    def predict(self, X):  # noqa: D102
        return self.classes_[((X - self.mean_).sum(axis=1) > 0).astype(int)]


def heavy(bench: Bench) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    configs = of.Configs({"heavy": Pipeline([("scale", StandardScaler()), ("model", Heavy())])})
    bench.against_grid("one heavy model", configs, X, y, "accuracy", {"exact": EXACT})


def nested(bench: Bench) -> None:
    """The honest estimate: a grid search inside every outer fold, or one collection and BBC."""
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:100]
    X, y = X[rows], y[rows]
    configs = spaces.tsamardinos2015(X)
    outer, inner = (StratifiedKFold(10, shuffle=True, random_state=seed) for seed in (0, 1))
    steps = [dict(pipeline.steps) for pipeline in configs.values()]
    grid = [{name: [own.get(name, "passthrough")] for name in ("columns", "scale", "model")} for own in steps]
    search = GridSearchCV(Pipeline([(n, v[0]) for n, v in grid[0].items()]), grid, scoring="roc_auc", cv=inner)
    cv = list(outer.split(X, y))
    fits = 10 * (len(configs) * 10 + 1) + len(configs) * 10 + 1
    print(f"fits of nested CV and a final search: {fits:,}; ours: {10 * len(configs) + 1:,}")

    def theirs() -> Any:
        cross_validate(search, X, y, scoring="roc_auc", cv=cv, n_jobs=bench.jobs)
        return search.fit(X, y)

    sides: dict[str, Side] = {"nested CV": theirs}
    for name, options in LEVELS.items():
        sides[name] = lambda options=options: bench.ours(configs, X, y, cv, "roc_auc", **options)
    bench.measure("236 configurations, 100 samples", sides, rounds=1)


ROWS = {f.__name__: f for f in (paper2015, paper2018, families, unrelated, heavy, nested)}


def chosen(names: Sequence[str]) -> Iterator[Callable[[Bench], None]]:
    for name in names or ROWS:
        yield ROWS[name]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", choices=[*ROWS, []])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    bench = Bench(args.jobs, args.rounds, args.data, args.output)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for row in chosen(args.rows):
            row(bench)


if __name__ == "__main__":
    main()
