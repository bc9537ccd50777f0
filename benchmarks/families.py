"""What each family of shared fits gains on a grid that people write: time of ``collect(share=False)`` over ``collect()``.

The two sides take turns in one run, with one worker, five folds and default options (spot checks included). Times are CPU
seconds, so other programs on the machine matter little; on an idle machine they equal wall seconds. Each grid is timed on
the model alone and behind a `StandardScaler`, on 500 and on 2,000 rows. A family stays where it gains 2x, or 3x where it
needs private names of scikit-learn.

``python benchmarks/families.py [ROW ...] [--small] [--rounds 3] [--budget 20] [--output benchmarks/results/families.json]``
"""

from __future__ import annotations

import argparse
import json
import platform
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.datasets import make_classification, make_regression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import outfold as of


@dataclass(frozen=True)
class Row:
    """One grid. `private` says whether the family needs private names of scikit-learn."""

    model: Callable[[], Any]
    grid: dict[str, Sequence[Any]]
    share: str = "exact"
    private: bool = False
    regression: bool = False


@dataclass
class Result:
    """Seconds of separate fits and their ratio to those of shared fits, by data and pipeline."""

    row: str
    share: str
    private: bool
    n_configs: int
    seconds: dict[str, float]
    gain: dict[str, float]
    largest_difference: float


def rows() -> dict[str, Row]:
    """The grids, by name; those of a library that is not installed are left out."""
    from sklearn.ensemble import (
        AdaBoostClassifier,
        ExtraTreesClassifier,
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge, RidgeClassifier
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    neighbours = {"n_neighbors": [3, 5, 7, 11, 15, 21], "weights": ["uniform", "distance"]}
    alphas = {"alpha": np.logspace(-3, 3, 13).tolist()}
    strengths = {"C": [0.01, 0.1, 1, 10, 100]}
    trees = {"max_depth": [3, 5, 10, None], "min_samples_leaf": [1, 5, 10, 20]}
    stages = [50, 100, 150, 200, 250, 300]
    forests = {"n_estimators": [100, 200, 300], "max_features": ["sqrt", 0.5]}
    found = {
        "KNeighborsClassifier": Row(KNeighborsClassifier, neighbours, private=True),
        "KNeighborsRegressor": Row(KNeighborsRegressor, neighbours, private=True, regression=True),
        "Ridge": Row(Ridge, alphas, regression=True),
        "RidgeClassifier": Row(RidgeClassifier, alphas),
        "Lasso": Row(Lasso, {"alpha": np.logspace(-3, 1, 13).tolist()}, "close", regression=True),
        "ElasticNet": Row(
            ElasticNet, {"alpha": np.logspace(-3, 1, 9).tolist(), "l1_ratio": [0.1, 0.5, 0.9]}, "close", regression=True
        ),
        "LogisticRegression lbfgs": Row(LogisticRegression, strengths, "close"),
        "LogisticRegression liblinear l1": Row(
            lambda: LogisticRegression(solver="liblinear", l1_ratio=1), strengths, "close"
        ),
        "LogisticRegression saga": Row(
            lambda: LogisticRegression(solver="saga", max_iter=1000), strengths | {"l1_ratio": [0, 0.5, 1]}
        ),
        "DecisionTreeClassifier close": Row(DecisionTreeClassifier, trees, "close"),
        "DecisionTreeRegressor close": Row(DecisionTreeRegressor, trees, "close", regression=True),
        "GradientBoostingClassifier": Row(GradientBoostingClassifier, {"n_estimators": stages}),
        "HistGradientBoostingClassifier": Row(HistGradientBoostingClassifier, {"max_iter": stages}),
        "AdaBoostClassifier": Row(AdaBoostClassifier, {"n_estimators": stages}),
        "RandomForestClassifier": Row(RandomForestClassifier, forests, private=True),
        "ExtraTreesClassifier": Row(ExtraTreesClassifier, forests, private=True),
        "RandomForestRegressor": Row(RandomForestRegressor, forests, private=True, regression=True),
    }
    try:
        from lightgbm import LGBMClassifier

        found["LGBMClassifier"] = Row(lambda: LGBMClassifier(n_jobs=1, verbose=-1), {"n_estimators": stages})
    except ImportError:
        pass
    try:
        from xgboost import XGBClassifier

        found["XGBClassifier"] = Row(lambda: XGBClassifier(n_jobs=1), {"n_estimators": stages})
    except ImportError:
        pass
    return found


def data(regression: bool, n: int, p: int) -> tuple[Any, Any]:
    """Rows of one size."""
    if regression:
        return make_regression(n, p, n_informative=p // 2, noise=20.0, random_state=0)  # type: ignore[no-any-return]
    return make_classification(n, p, n_informative=p // 2, n_redundant=0, random_state=0)  # type: ignore[no-any-return]


class Bench:
    """How often the sides take turns: `rounds` times, or until `budget` seconds are spent."""

    def __init__(self, rounds: int, budget: float, sizes: Sequence[tuple[int, int]]) -> None:
        self.rounds, self.budget, self.sizes = rounds, budget, sizes

    def run(self, name: str, row: Row) -> Result:
        """Time one grid on all data."""
        seconds, gain, differs, n_configs = {}, {}, 0.0, 0
        for n, p in self.sizes:
            X, y = data(row.regression, n, p)
            for scaled in (False, True):
                model = make_pipeline(StandardScaler(), row.model()) if scaled else row.model()
                configs = of.grid("m", model, **row.grid)
                n_configs = len(configs)
                alone, shared, gap = self.pair(configs, X, y, row.share)
                key = f"{n} x {p}{', scaled' if scaled else ''}"
                seconds[key], gain[key] = round(alone, 3), round(alone / shared, 2)
                differs = max(differs, gap)
        return Result(name, row.share, row.private, n_configs, seconds, gain, differs)

    def pair(self, configs: of.Configs, X: Any, y: Any, share: str) -> tuple[float, float, float]:
        """Median seconds of separate and of shared fits, and the largest difference of what they predict."""

        def collect(share: Any, folds: int = 5) -> tuple[float, Any]:
            start = time.process_time()
            oof = of.collect(configs, X, y, of.Plan(folds), rng=0, share=share)
            return time.process_time() - start, oof

        collect(share, folds=2)  # imports, compiled kernels and tests of a family that run once in a process
        alone, shared, gap, begun = [], [], 0.0, time.process_time()
        for _ in range(self.rounds):
            first, expected = collect(False)
            second, found = collect(share)
            alone.append(first)
            shared.append(second)
            gap = max(gap, float(np.abs(expected.P - found.P).max()))
            if time.process_time() - begun > self.budget:
                break
        return float(np.median(alone)), float(np.median(shared)), gap


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help="beginnings of their names")
    parser.add_argument("--small", action="store_true", help="500 rows only")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget", type=float, default=10.0, help="seconds after which no further round begins")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    bench = Bench(args.rounds, args.budget, [(500, 20)] if args.small else [(500, 20), (2000, 30)])
    results = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, row in rows().items():
            if args.rows and not name.startswith(tuple(args.rows)):
                continue
            result = bench.run(name, row)
            results.append(result)
            gains = "   ".join(f"{key} {gain:.1f}x" for key, gain in result.gain.items())
            print(f"{name:<36}{result.n_configs:>3} {row.share:<6}{'private' if row.private else '':<8}  {gains}"
                  f"   differs {result.largest_difference:.1g}", flush=True)  # fmt: skip
    if args.output:
        machine = {"python": platform.python_version(), "scikit-learn": sklearn.__version__, "numpy": np.__version__}
        args.output.parent.mkdir(exist_ok=True)
        args.output.write_text(json.dumps({"machine": machine, "rows": [asdict(r) for r in results]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
