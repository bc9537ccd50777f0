"""What dropping saves, and what it costs, with five folds: fits, true score and winner beside those of the whole search.

Grids of the size that people search every day, on samples of real data sets. Every configuration is cross-validated in full and
fitted once more on all samples of the search; the rows that were not drawn give its true score. Then each rule is asked after
every fold, as `collect` asks it. The loss is the true score of the whole search's winner minus that of the winner after dropping.

Two simulations with known truth add the bias of the corrected estimate after dropping. Every prediction is right or wrong by
itself (Tsamardinos et al. 2018, sect. 5.1); the true accuracies come from Beta(9, 6), or are all 0.8. What is dropped no longer
counts in the correction. So a rule that drops one of many equally good configurations after a few folds keeps the lucky one.

``contenders`` is a rule that we tried and do not offer: it drops what is hardly ever the best of a draw. It saves more fits. But
of many equally good configurations none is often the best, so it drops nearly all of them, and the estimate becomes too high.

Usage: python studies/dropping.py collect FOLDER [--data DATA_FOLDER]    keeps predictions and true scores in FOLDER
       python studies/dropping.py evaluate FOLDER                       writes studies/results/dropping.json
"""

from __future__ import annotations

import argparse
import json
import pickle
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from harness.protocols import race, saved, without

import outfold as of
from outfold.metrics._scoring import Scoring

FOLDS, MOST_HELD_OUT = 5, 4000
SETS = (
    "magic_gamma",
    "bank",
    "sylvine",
    "jasmine",
    "ada",
    "kr_vs_kp",
    "twonorm_delve",
    "ringnorm_delve",
    "seismic_bumps",
    "biodeg",
    "letter",
    "yeast",
)
# Data sets of which a column of numbers is predicted from the others.
REGRESSIONS = ("magic_gamma", "letter", "sylvine")
SIZES, DRAWS = (100, 300, 1000), 2
# Samples, configurations, and whether all are equally good.
SIMULATED = (
    *((n, c, False) for n, c in ((100, 50), (500, 50), (500, 200), (1500, 50))),
    *((n, c, True) for n, c in ((100, 30), (100, 200), (300, 200), (1000, 200))),
)
REPETITIONS, EQUAL = 100, 0.8
RESULT = Path(__file__).parent / "results" / "dropping.json"


class Contenders(of.drop.Bootstrap):
    """Drops what is behind the best of the draw, whichever that is, in nearly all bootstrap draws."""

    def _losers(self, scoring: Scoring, cell: tuple[int, int], seed: int) -> Iterator[of.drop.Drop]:
        if len(scoring.rows) < self.min_predictions:
            return
        sign = scoring.metric.sign
        drawn = sign * np.concatenate([scoring.scores(counts) for counts in self._draws(scoring, cell, seed)])
        behind = np.mean(drawn < drawn.max(axis=1, keepdims=True), axis=0)
        best = int(np.argmax(sign * scoring.scores()[0]))
        for j in np.flatnonzero((behind > self.threshold) & (np.arange(len(behind)) != best)):
            yield of.drop.Drop(scoring.names[j], float(behind[j]), scoring.names[best])


RULES = {"Bootstrap": of.drop.Bootstrap(), "contenders": Contenders()}


# -- data and grids -------------------------------------------------------------------------------------


class Case(NamedTuple):
    """One search: its name, the samples, where they are split, and the grids with their metrics."""

    name: str
    X: np.ndarray
    y: np.ndarray
    tune: np.ndarray
    rest: np.ndarray
    grids: dict[str, tuple[of.Configs, str]]


def cases(folder: Path) -> Iterator[Case]:
    for draw in range(DRAWS):
        for n in SIZES:
            for name in SETS:
                yield case(folder, name, n, draw)
            for name in REGRESSIONS:
                yield case(folder, name, n, draw, regression=True)


def case(folder: Path, name: str, n: int, draw: int, regression: bool = False) -> Case:
    """A sample of n rows to search on, stratified by nothing, and the rest of the rows."""
    import pandas as pd

    frame = pd.read_parquet(folder / f"{name}.parquet")
    target = frame["target"]
    X = pd.get_dummies(frame.drop(columns="target"), dtype=float).to_numpy(dtype=float)
    y = np.unique(target.to_numpy().astype(str), return_inverse=True)[1]
    if regression:
        X, y = X[:, 1:], X[:, 0]
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    order = np.random.default_rng([draw, n]).permutation(len(X))
    tune, rest = order[:n], order[n : n + MOST_HELD_OUT]
    grids = regressors() if regression else classifiers("roc_auc" if len(np.unique(y)) == 2 else "accuracy")
    title = f"{name}{' (regression)' if regression else ''}, {n} rows, draw {draw}"
    return Case(title, X, y, tune, rest, grids)


def classifiers(metric: str) -> dict[str, tuple[of.Configs, str]]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    neighbours = make_pipeline(StandardScaler(), KNeighborsClassifier())
    vectors = make_pipeline(StandardScaler(), SVC())
    return {
        "logistic, 8": (
            of.grid(
                "logistic",
                logistic,
                logisticregression__C=[0.01, 0.1, 1.0, 10.0],
                logisticregression__class_weight=[None, "balanced"],
            ),
            metric,
        ),
        "k-NN, 20": (
            of.grid(
                "k-NN",
                neighbours,
                kneighborsclassifier__n_neighbors=list(range(1, 21, 2)),
                kneighborsclassifier__weights=["uniform", "distance"],
            ),
            "accuracy",
        ),
        "tree, 32": (
            of.grid(
                "tree",
                DecisionTreeClassifier(random_state=0),
                max_depth=[2, 3, 5, None],
                min_samples_leaf=[1, 5, 10, 20],
                criterion=["gini", "entropy"],
            ),
            "accuracy",
        ),
        "forest, 12": (
            of.grid(
                "forest",
                RandomForestClassifier(random_state=0),
                n_estimators=[10, 25],
                max_features=["sqrt", 0.5],
                min_samples_leaf=[1, 5, 10],
            ),
            metric,
        ),
        "SVC, 12": (of.grid("SVC", vectors, svc__C=[0.1, 1, 10, 100], svc__gamma=[0.001, 0.01, 0.1]), metric),
    }


def regressors() -> dict[str, tuple[of.Configs, str]]:
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import ElasticNet, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    products = make_pipeline(StandardScaler(), PolynomialFeatures(), Ridge())
    net = make_pipeline(StandardScaler(), ElasticNet())
    forest = RandomForestRegressor(n_estimators=25, random_state=0)
    return {
        "ridge, 10": (
            of.grid(
                "ridge",
                products,
                polynomialfeatures__degree=[1, 2],
                ridge__alpha=[0.1, 1.0, 10.0, 100.0, 1000.0],
            ),
            "r2",
        ),
        "elastic net, 15": (
            of.grid(
                "net",
                net,
                elasticnet__alpha=[0.01, 0.03, 0.1, 0.3, 1.0],
                elasticnet__l1_ratio=[0.1, 0.5, 0.9],
            ),
            "r2",
        ),
        "forest, 9": (
            of.grid("forest", forest, max_features=[0.3, 0.6, 1.0], min_samples_leaf=[1, 3, 10]),
            "r2",
        ),
    }


# -- predictions and true scores ------------------------------------------------------------------------


def collect(case: Case, configs: of.Configs, metric: str) -> tuple[of.Predictions, np.ndarray]:
    """Out-of-fold predictions of all configurations, and their scores on the rows that were not drawn."""
    known = {"rng": 0, "metric": metric, "share": "exact"}
    X, y = case.X[case.tune], case.y[case.tune]
    oof = of.collect(configs, X, y, of.Plan(folds=FOLDS), aggregate="fold", **known)
    held_out = of.collect(configs, case.X, case.y, [(case.tune, case.rest)], **known)
    return oof, np.asarray(held_out.scores(metric), dtype=float).reshape(len(configs))


def collect_all(folder: Path, data: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for found in cases(data):
        for grid, (configs, metric) in found.grids.items():
            path = folder / f"{found.name}, {grid}.pickle"
            if path.exists():
                continue
            rare = metric != "r2" and np.unique(found.y[found.tune], return_counts=True)[1].min() < FOLDS
            if rare:  # a class that some fold lacks
                continue
            pair = collect(found, configs, metric)
            path.write_bytes(pickle.dumps(pair))
            print(path.stem, flush=True)


# -- rules ----------------------------------------------------------------------------------------------


def after(oof: of.Predictions, truth: np.ndarray, metric: str, dropped: dict[str, int]) -> dict[str, Any]:
    """The winner among what is left, its true score, and the error of its corrected estimate."""
    found = of.estimate.bbc(without(oof, dropped), metric, n_resamples=200, rng=0)
    true = float(truth[oof.config_index(found.selected)])
    return {"winner": found.selected, "true": true, "error": float(found.value) - true, "saved": saved(oof, dropped)}


def evaluate_cell(
    oof: of.Predictions, truth: np.ndarray, metric: str, seed: int = 0, rules: Mapping[str, Any] = RULES
) -> dict[str, dict[str, float]]:
    """For every rule: share of fits saved, true score lost, whether another one wins, errors of the estimates."""
    whole, rows = after(oof, truth, metric, {}), {}
    found = {name: after(oof, truth, metric, race(oof, rule, seed)) for name, rule in rules.items()}
    for name, row in found.items():
        rows[name] = {
            "saved": row["saved"],
            "loss": whole["true"] - row["true"],
            "other": float(row["winner"] != whole["winner"]),
            "error": row["error"],
            "error_of_all": whole["error"],
        }
    return rows


def summary(rows: list[dict[str, float]]) -> dict[str, float]:
    """Means over searches, and the worst of them."""
    columns = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    means = {key: float(values.mean()) for key, values in columns.items()}
    shift = columns["error"] - columns["error_of_all"]
    return {
        "searches": len(rows),
        "saved": round(means["saved"], 4),
        "saved_median": round(float(np.median(columns["saved"])), 4),
        "loss": round(means["loss"], 5),
        "loss_se": round(float(columns["loss"].std(ddof=1) / np.sqrt(len(rows))), 5),
        "loss_worst": round(float(columns["loss"].max()), 4),
        "gain_best": round(float(-columns["loss"].min()), 4),
        "other_winner": round(means["other"], 4),
        "bias": round(means["error"], 4),
        "bias_of_all": round(means["error_of_all"], 4),
        "bias_se": round(float(columns["error"].std(ddof=1) / np.sqrt(len(rows))), 4),
        "shift": round(float(shift.mean()), 4),
    }


def evaluate_all(folder: Path) -> None:
    cells: dict[str, dict[str, dict[str, float]]] = {}
    for path in sorted(folder.glob("*.pickle")):
        oof, truth = pickle.loads(path.read_bytes())
        cells[path.stem] = evaluate_cell(oof, truth, oof.criterion.metric)
    found: dict[str, Any] = {"real": {}, "by draw": {}, "worst": {}, "simulated": {}}
    for title, chosen in parts(list(cells)):
        for rule in RULES:
            kind = "by draw" if title.startswith("draw") else "real"
            found[kind][f"{title}; {rule}"] = summary([cells[name][rule] for name in chosen])
            show(f"{title}; {rule}", found[kind][f"{title}; {rule}"])
    for rule in RULES:
        worst = sorted(cells, key=lambda name: -cells[name][rule]["loss"])[:5]
        found["worst"][rule] = {name: round(cells[name][rule]["loss"], 4) for name in worst}
    for n, c, equal in SIMULATED:
        rows = [simulated(n, c, equal, seed) for seed in range(REPETITIONS)]
        for rule in RULES:
            title = f"{n}, {c}, {'all 0.8' if equal else 'Beta(9, 6)'}; {rule}"
            found["simulated"][title] = summary([row[rule] for row in rows])
            show(title, found["simulated"][title])
    RESULT.write_text(json.dumps(found, indent=1) + "\n")


def parts(names: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The searches of one size, of one draw, and all of them."""
    for n in SIZES:
        yield f"{n} rows", [name for name in names if f", {n} rows," in name]
    for draw in range(DRAWS):
        yield f"draw {draw}", [name for name in names if f", draw {draw}," in name]
    yield "all", names


def simulated(n: int, c: int, equal: bool, seed: int, rules: Mapping[str, Any] = RULES) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(seed)
    truth = np.full(c, EQUAL) if equal else rng.beta(9, 6, c)
    correct = (rng.random((n, c)) < truth).astype(float)
    oof = of.from_arrays(None, correct, folds=np.arange(n) * FOLDS // n, response="pointwise")
    return evaluate_cell(oof, truth, "mean", seed, rules)


# -- the page -------------------------------------------------------------------------------------------


def real_rows(study: dict[str, Any]) -> Iterator[str]:
    """The table of the searches on real data."""
    for title, row in study["real"].items():
        shares = f"{row['loss']:+.4f} | {row['loss_worst']:.4f} | {row['other_winner']:.1%} | {row['bias']:+.4f}"
        yield f"| {' | '.join(title.split('; '))} | {row['searches']} | {row['saved']:.0%} | {shares} |"


def simulated_rows(study: dict[str, Any]) -> Iterator[str]:
    """The table of the simulations."""
    for title, row in study["simulated"].items():
        setting, rule = title.split("; ")
        first = " | ".join([*setting.split(", ", 2), rule, f"{row['saved']:.0%}", f"{row['loss']:+.4f}"])
        yield f"| {first} | {row['bias']:+.4f} ± {row['bias_se']:.4f} | {row['bias_of_all']:+.4f} |"


def words(study: dict[str, Any]) -> Iterator[str]:
    """What the page says of the tables."""
    every = study["real"]["all; Bootstrap"]
    yield f"`Bootstrap` saves {every['saved']:.0%} of the fits of {every['searches']} searches"
    yield f"names another winner in {every['other_winner']:.1%} of them, and loses {every['loss']:.4f} on average"
    shifts = {rule: [row["shift"] for key, row in study["simulated"].items() if key.endswith(rule)] for rule in RULES}
    most = [max(shifts[rule]) for rule in ("Bootstrap", "contenders")]
    yield f"`Bootstrap` raises the corrected estimate by up to {most[0]:.3f}, `contenders` by up to {most[1]:.3f}."


def show(title: str, row: dict[str, float]) -> None:
    print(f"{title:<44}" + " ".join(f"{key} {value:.4g}" for key, value in row.items()), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("collect", "evaluate"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.what == "collect":
        collect_all(asked.folder, asked.data)
    else:
        evaluate_all(asked.folder)


if __name__ == "__main__":
    main()
