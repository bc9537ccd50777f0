"""How often the check of the row order (OF513) speaks: on rows in random or sorted order, and on rows that depend on each other.

Each data set is collected with shuffled folds, as `Plan()` draws them, and checked. Where rows depend on each other, scores on
shuffled folds and on ten contiguous blocks of rows show what is at stake: medians over data sets of R² or accuracy.

Usage: python studies/row_order.py        writes studies/results/row_order.json; takes about five minutes on one core
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import outfold as of
from outfold.checks.case import Case
from outfold.checks.row_order import row_order

RESULT = Path(__file__).parent / "results" / "row_order.json"
Data = tuple[NDArray[np.float64], NDArray[Any]]
Make = Callable[[int, np.random.Generator], Data]

LEARNERS: dict[str, tuple[Any, Any]] = {
    "linear": (LinearRegression(), LogisticRegression()),
    "5-NN": (KNeighborsRegressor(5), KNeighborsClassifier(5)),
    "forest": (RandomForestRegressor(30, random_state=0), RandomForestClassifier(30, random_state=0)),
}


# -- rows that do not depend on each other -------------------------------------------------------------------


def values(n: int, rng: np.random.Generator) -> Data:
    """A linear signal with heavy-tailed noise."""
    X = rng.normal(size=(n, 5))
    return X, X[:, 0] + rng.standard_t(3, size=n)


def counts(n: int, rng: np.random.Generator) -> Data:
    """Small whole numbers with many ties."""
    X = rng.normal(size=(n, 5))
    return X, rng.poisson(np.exp(0.5 * X[:, 0])).astype(float)


def classes(n: int, rng: np.random.Generator) -> Data:
    """Two classes, the rarer of 20 percent."""
    X = rng.normal(size=(n, 5))
    signal = X[:, 0] + rng.normal(size=n)
    return X, (signal > np.quantile(signal, 0.8)).astype(int)


def three_classes(n: int, rng: np.random.Generator) -> Data:
    """Three classes of equal size."""
    y = rng.permutation(np.arange(n) % 3)
    return rng.normal(size=(n, 5)) + 0.7 * y[:, None], y


def by_target(make: Make) -> Make:
    """The same, sorted by the target."""

    def made(n: int, rng: np.random.Generator) -> Data:
        X, y = make(n, rng)
        order = np.argsort(y, kind="stable")
        return X[order], y[order]

    return made


# -- rows that do --------------------------------------------------------------------------------------------


def walk(n: int, rng: np.random.Generator) -> Data:
    """A random walk; the only feature is the time."""
    return np.arange(n, dtype=float)[:, None], np.cumsum(rng.normal(size=n))


def autoregressive(n: int, rng: np.random.Generator) -> Data:
    """y_t = 0.7 y_{t-1} + noise; the features are the last three values."""
    y, noise = np.zeros(n + 3), rng.normal(size=n + 3)
    for t in range(1, n + 3):
        y[t] = 0.7 * y[t - 1] + noise[t]
    return np.stack([y[2:-1], y[1:-2], y[:-3]], axis=1), y[3:]


def drift(n: int, rng: np.random.Generator) -> Data:
    """A sensor whose zero drifts as a random walk; the time is no feature."""
    X, zero = rng.normal(size=(n, 3)), np.cumsum(rng.normal(size=n))
    return X, X[:, 0] + (zero - zero.mean()) / zero.std() + 0.5 * rng.normal(size=n)


def _patients(n: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Ten rows of each patient, one after the other, and features that patients differ in."""
    who = np.arange(n) // 10
    return who, rng.normal(0, 1.5, (who.max() + 1, 5))[who] + rng.normal(size=(n, 5))


def patients(n: int, rng: np.random.Generator) -> Data:
    """A value of which half of the noise is the patient's."""
    who, X = _patients(n, rng)
    return X, 0.5 * X[:, 0] + rng.normal(size=who.max() + 1)[who] + rng.normal(size=n)


def diagnoses(n: int, rng: np.random.Generator) -> Data:
    """A label for each patient, of which the features know nothing."""
    who, X = _patients(n, rng)
    return X, rng.permutation(np.arange(who.max() + 1) % 2)[who]


def activities(n: int, rng: np.random.Generator) -> Data:
    """Three states that last ten rows on average, and features that also drift by themselves."""
    y, own = np.zeros(n, dtype=int), np.zeros((n, 3))
    for t in range(1, n):
        y[t] = y[t - 1] if rng.random() < 0.85 else rng.integers(3)
        own[t] = 0.9 * own[t - 1] + 0.5 * rng.normal(size=3)
    return 0.5 * y[:, None] + own + 0.3 * rng.normal(size=(n, 3)), y


NULLS: dict[str, Make] = {
    "values": values,
    "counts": counts,
    "two classes": classes,
    "three classes": three_classes,
    "values, sorted": by_target(values),
    "two classes, sorted": by_target(classes),
    "three classes, sorted": by_target(three_classes),
}
OTHERS: dict[str, Make] = {
    "random walk, time as feature": walk,
    "autoregressive, lags as features": autoregressive,
    "drifting sensor": drift,
    "values of patients in blocks": patients,
    "diagnoses of patients in blocks": diagnoses,
    "activities over time": activities,
}


# -- the study -----------------------------------------------------------------------------------------------


def predictions(model: Any, X: NDArray[np.float64], y: NDArray[Any], folds: NDArray[np.intp]) -> of.Predictions:
    """Out-of-fold predictions of one model."""
    method = "predict_proba" if y.dtype.kind == "i" else "predict"
    made = np.zeros((len(y), *([int(y.max()) + 1] if method == "predict_proba" else [])))
    for fold in np.unique(folds):
        train, test = folds != fold, folds == fold
        fitted = clone(model).fit(X[train], y[train])
        if method == "predict":
            made[test] = fitted.predict(X[test])
        else:
            made[np.ix_(test, fitted.classes_)] = fitted.predict_proba(X[test])
    if made.ndim == 1:
        return of.from_arrays(y, made, folds=folds, response="value")
    return of.from_arrays(y, made[:, 1] if made.shape[1] == 2 else made[:, None, None], folds=folds, response="proba")


def scores(make: Make, learner: str, n: int, seed: int, blocks: bool) -> tuple[bool, float, float]:
    """Whether the check speaks, the score on shuffled folds, and that on contiguous ones if asked for."""
    X, y = make(n, np.random.default_rng([seed, n]))
    of_classes = y.dtype.kind == "i"
    model, metric = LEARNERS[learner][of_classes], "accuracy" if of_classes else "r2"
    oof = predictions(model, X, y, of.Plan().split(y, rng=seed).folds[:, 0])
    spoke = row_order(Case(oof, metric)) is not None
    apart = predictions(model, X, y, np.arange(n) * 10 // n) if blocks else oof
    return spoke, oof.leaderboard(metric).scores[0], apart.leaderboard(metric).scores[0]


# How many data sets there are of each kind. Forests take long, and sorted rows are told from the target alone.
N_NULL, N_SORTED, N_DEPENDENT, N_FORESTS = 300, 30, 30, 5


def speaks(make: Make, learner: str, n: int, times: int) -> float:
    """Share of data sets on which the check speaks."""
    return float(np.mean([scores(make, learner, n, seed, blocks=False)[0] for seed in range(times)]))


def dependent(make: Make, learner: str, n: int, times: int) -> dict[str, float]:
    """The same, with the median scores on shuffled folds and on blocks."""
    found = np.array([scores(make, learner, n, seed, blocks=True) for seed in range(times)])
    shuffled, blocks = np.median(found[:, 1:], axis=0)
    return {"speaks": float(found[:, 0].mean()), "shuffled": round(shuffled, 3), "blocks": round(blocks, 3)}


def main() -> None:
    made: dict[str, list[dict[str, Any]]] = {"independent": [], "dependent": []}
    for name, make in NULLS.items():
        for learner in ("linear", "5-NN"):
            for n in (40, 200):
                row = {"data": name, "learner": learner, "n": n, "times": N_SORTED if "sorted" in name else N_NULL}
                made["independent"].append(row | {"speaks": speaks(make, learner, n, row["times"])})
                print(made["independent"][-1], flush=True)
    for name, make in OTHERS.items():
        for learner in LEARNERS:
            for n in (100, 400):
                row = {"data": name, "learner": learner, "n": n}
                row["times"] = N_FORESTS if learner == "forest" else N_DEPENDENT
                made["dependent"].append(row | dependent(make, learner, n, row["times"]))
                print(made["dependent"][-1], flush=True)
    RESULT.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    with config_context(assume_finite=True, skip_parameter_validation=True):
        main()
