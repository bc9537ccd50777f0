"""Bias, error and coverage of the estimates of a selected configuration, with the truth known.

``simulated``: the design of Tsamardinos et al. (2018), sect. 5.1, all 196 settings: correctness of every (sample, configuration)
drawn on its own, true accuracies from a beta distribution. Nested CV as in their program: a fresh matrix for every outer fold.
``real``: their sect. 5.2 in small: pools of 30, 60 and 150 samples of real data sets, 92 configurations, ten folds; the truth is
the accuracy of the refitted winner on the rest (at most 3,000 samples). Finished pools are kept in the cache folder. Nested CV
on such pools is in `studies/real_data.py`.

Usage: python studies/balanced.py simulated [REPETITIONS]              prints the table of docs/studies/balanced.md
       python studies/balanced.py real DATA_FOLDER CACHE_FOLDER [DRAWS]     writes studies/results/balanced_real.json
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ttest_rel
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import outfold as of

RESULT = Path(__file__).parent / "results" / "balanced_real.json"
METHODS = ("winner", "TT", "nested", "BBC", "balanced")
REAL = ("winner", "TT", "BBC", "balanced")
BETAS = ((9, 6), (14, 6), (24, 6), (54, 6))
SAMPLES = (20, 40, 60, 80, 100, 500, 1000)
CONFIGS = (50, 100, 200, 300, 500, 1000, 2000)
POOLS = (30, 60, 150)
SETS = (
    *(
        "biodeg",
        "seismic_bumps",
        "magic_gamma",
        "bank",
        "jasmine",
        "sylvine",
        "madeline",
        "ada",
        "breast_w",
        "credit_a",
    ),
    *(
        "kr_vs_kp",
        "pima",
        "ringnorm_delve",
        "twonorm_delve",
        "tic_tac_toe",
        "ozone_8h",
        "vowel",
        "balance_scale",
        "vehicle",
    ),
)


def both(oof: of.Predictions, metric: str, draws: int) -> tuple[of.results.Estimate, of.results.Estimate]:
    plain = of.estimate.bbc(oof, metric, n_resamples=draws)
    return plain, of.estimate.bbc(oof, metric, n_resamples=draws, correction="balanced")


def held(estimates: tuple[of.results.Estimate, ...], truth: float) -> list[bool]:
    """Whether the percentiles of the draws, the interval as published, hold the truth."""
    found = [estimate.confidence_interval(method="percentile") for estimate in estimates]
    return [bool(interval.low <= truth <= interval.high) for interval in found]


def summary(title: str, errors: list[list[float]], inside: list[list[bool]]) -> str:
    values, covered = np.array(errors), np.array(inside)
    bias, rmse = values.mean(axis=0), np.sqrt(np.mean(values**2, axis=0))
    cells = [f"{b:+.3f} ({r:.3f})" for b, r in zip(bias, rmse, strict=True)]
    return (
        f"| {title} | {len(values)} | "
        + " | ".join(cells)
        + f" | {covered[:, 0].mean():.3f} | {covered[:, 1].mean():.3f} |"
    )


def header(*names: str) -> str:
    columns = [*names, "n", *METHODS, "BBC covers", "balanced covers"]
    return "| " + " | ".join(columns) + " |\n|" + " --- |" * len(columns)


# -- simulated ------------------------------------------------------------------------------------------


def correctness(truth: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.random((n, len(truth)), dtype=np.float32) < truth


def nested(truth: np.ndarray, n: int, rng: np.random.Generator) -> float:
    parts = []
    for rows in np.array_split(np.arange(n), 10):
        fresh = correctness(truth, n, rng)
        winner = np.argmax(np.delete(fresh, rows, axis=0).mean(axis=0))
        parts.append(fresh[rows, winner].mean())
    return float(np.mean(parts))


def simulate_one(beta: tuple[int, int], n: int, c: int, rng: np.random.Generator) -> tuple[list[float], list[bool]]:
    truth = rng.beta(*beta, c)
    matrix = correctness(truth, n, rng)
    folds = np.empty(n, dtype=int)
    for k, rows in enumerate(np.array_split(np.arange(n), 10)):
        folds[rows] = k
    oof = of.from_arrays(None, matrix, response="pointwise", folds=folds)
    plain, balanced = both(oof, "mean", 500)
    right = truth[oof.configs.index(plain.selected)]
    tt = of.estimate.tt(oof, "mean", aggregate="fold").value
    values = (plain.naive, tt, nested(truth, n, rng), plain.value, balanced.value)
    return [v - right for v in values], held((plain, balanced), right)


def simulated(repetitions: int) -> None:
    print(header("N", "C", "beta"))
    worst = np.zeros(len(METHODS))
    for n in SAMPLES:
        for c in CONFIGS:
            for beta in BETAS:
                rng = np.random.default_rng([n, c, *beta])
                # Large settings vary little and cost much.
                times = max(10, int(repetitions * min(1.0, 60_000 / (n * c))))
                rows = [simulate_one(beta, n, c, rng) for _ in range(times)]
                errors = [e for e, _ in rows]
                print(summary(f"{n} | {c} | {beta[0]}, {beta[1]}", errors, [i for _, i in rows]), flush=True)
                worst = np.maximum(worst, np.abs(np.mean(errors, axis=0)))
    print("largest absolute bias: " + ", ".join(f"{m} {w:.3f}" for m, w in zip(METHODS, worst, strict=True)))


# -- real data ------------------------------------------------------------------------------------------


def configurations() -> of.Configs:
    def scaled(model):
        return make_pipeline(StandardScaler(), model)

    leaves, splits = [1, 2, 3, 5, 8, 12], [2, 4, 8, 12, 20, 40]
    out = of.grid("logit", scaled(LogisticRegression(max_iter=300)), C=np.logspace(-3, 2, 11).tolist())
    out |= of.grid(
        "knn",
        scaled(KNeighborsClassifier()),
        n_neighbors=[1, 2, 3, 4, 5, 7, 9, 12, 15, 18, 20],
        weights=["uniform", "distance"],
    )
    out |= of.grid("tree", DecisionTreeClassifier(random_state=0), min_samples_leaf=leaves, min_samples_split=splits)
    out |= of.grid("svm", scaled(SVC()), C=[0.01, 0.1, 1, 10, 100], gamma=[0.001, 0.01, 0.1, 1.0])
    return out | of.grid("bayes", GaussianNB(), var_smoothing=[1e-9, 1e-3, 0.1])


def load(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    import pandas as pd

    frame = pd.read_parquet(folder / f"{name}.parquet")
    X = pd.get_dummies(frame.drop(columns="target"), dtype=float).to_numpy(float)
    return SimpleImputer().fit_transform(X), frame["target"].astype(str).to_numpy()


def real_one(X: np.ndarray, y: np.ndarray, n: int, draw: int) -> dict[str, object]:
    pool, rest = train_test_split(np.arange(len(y)), train_size=n, random_state=1000 * draw + n, stratify=y)
    configs, rest = configurations(), rest[:3000]
    oof = of.collect(configs, X[pool], y[pool], rng=draw, progress=False)
    plain, balanced = both(oof, "accuracy", 1000)
    model = configs[plain.selected].fit(X[pool], y[pool])
    right = float(np.mean(model.predict(X[rest]) == y[rest]))
    values = (plain.naive, of.estimate.tt(oof, "accuracy", aggregate="fold").value, plain.value, balanced.value)
    return {"errors": [v - right for v in values], "inside": held((plain, balanced), right)}


def real(folder: Path, cache: Path, draws: int) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for draw in range(draws):
        for name in SETS:
            X, y = load(folder, name)
            for n in POOLS:
                file = cache / f"{name}-{n}-{draw}.json"
                if not file.exists():
                    file.write_text(json.dumps(real_one(X, y, n, draw)))
    found = real_summary(cache)
    RESULT.write_text(json.dumps(found, indent=1) + "\n")
    print(*real_rows(found), sep="\n")


def real_summary(cache: Path) -> dict[str, Any]:
    """Bias and root mean squared error by the size of the pools, coverage, and a paired t test of the squared errors."""
    by_size, everything = defaultdict(list), []
    for file in sorted(cache.glob("*.json")):
        by_size[int(file.stem.split("-")[1])].append(json.loads(file.read_text()))
    found: dict[str, Any] = {"data_sets": len(SETS), "pools": {}}
    for n, rows in sorted(by_size.items()):
        errors, inside = np.array([r["errors"] for r in rows]), np.array([r["inside"] for r in rows])
        everything.append(errors)
        found["pools"][str(n)] = {"times": len(rows), "covers": inside.mean(axis=0).round(4).tolist()} | {
            method: {"bias": round(float(e.mean()), 4), "rmse": round(float(np.sqrt(np.mean(e**2))), 4)}
            for method, e in zip(REAL, errors.T, strict=True)
        }
    squares = np.concatenate(everything) ** 2
    return found | {"pvalue": round(float(ttest_rel(squares[:, -1], squares[:, -2]).pvalue), 4)}


def real_rows(found: dict[str, Any]) -> Iterator[str]:
    """The lines of the table, as the page has them."""
    for n, row in found["pools"].items():
        cells = [f"{row[method]['bias']:+.3f} ({row[method]['rmse']:.3f})" for method in REAL]
        yield f"| {n} | {row['times']} | " + " | ".join([*cells, *(f"{share:.3f}" for share in row["covers"])]) + " |"


if __name__ == "__main__":
    if sys.argv[1:2] == ["simulated"]:
        simulated(int(sys.argv[2]) if len(sys.argv) > 2 else 200)
    elif sys.argv[1:2] == ["real"] and len(sys.argv) > 3:
        real(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 3)
    else:
        sys.exit(__doc__)
