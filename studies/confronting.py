"""How often `confront` says "not compatible" although nothing changed, and how often it finds a change.

Each data set has n training samples. Nine configurations are cross-validated, the best is refitted, and new samples come from the
same population (the null), or from one in which a quarter of the labels has nothing to do with the features. "Corrected" is the
test of `confront`. "Winner's score" is the same test with the winner's own cross-validation score and its interval, which ignore
the selection. The shares of data sets are those in which a test decides at 0.05: that both scores differ, that the target
changed, that any of the features changed after Holm's adjustment.

Usage: python studies/confronting.py [N_DATA_SETS]
It writes studies/results/confronting.json; 200 data sets take about half an hour on one core.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import outfold as of

RESULT = Path(__file__).parent / "results" / "confronting.json"
N_FEATURES = 10
LOST = 0.25  # of the labels, after the change
SIGNALS = {"weak": 0.5, "strong": 2.0}
N_TRAIN, N_NEW = (60, 150), (30, 1000)
METRICS = {"classification": ("accuracy", "roc_auc"), "regression": ("r2",)}
WAYS = ("corrected", "winner's score")


def draw(
    task: str, signal: float, n: int, rng: np.random.Generator, lost: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Features of which three matter, and labels or values; a share of the labels has nothing to do with them."""
    X = rng.normal(size=(n, N_FEATURES))
    value = signal * X[:, :3].sum(axis=1) / np.sqrt(3)
    blind = rng.random(n) < lost
    if task == "regression":
        noise = rng.normal(size=n)
        return X, np.where(blind, signal * rng.normal(size=n), value) + noise
    odds = np.where(blind, 0.0, 2 * value)
    y = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    y[:4] = [0, 1, 0, 1]  # two of each class at least
    return X, y


def space(task: str) -> of.Configs:
    """Nine configurations."""
    if task == "regression":
        kinds = (Ridge(), KNeighborsRegressor(), DecisionTreeRegressor())
        linear = of.grid("ridge", kinds[0], alpha=[0.1, 10, 100])
    else:
        kinds = (LogisticRegression(), KNeighborsClassifier(), DecisionTreeClassifier())
        linear = of.grid("logit", kinds[0], C=[0.01, 0.1, 1])
    return linear | of.grid("knn", kinds[1], n_neighbors=[3, 9, 15]) | of.grid("tree", kinds[2], max_depth=[1, 2, 4])


def one_data_set(task: str, signal: float, n: int, seed: int) -> dict[tuple[str, ...], float]:
    """Whether each test rejects, by metric, number of new samples, change and test."""
    rng, configs, out = np.random.default_rng(seed), space(task), dict[tuple[str, ...], float]()
    X, y = draw(task, signal, n, rng)
    oof = of.collect(configs, X, y, of.Plan(folds=10), metric=METRICS[task][0], rng=seed, progress=False)
    fresh = {(m, lost): draw(task, signal, m, rng, lost) for m in N_NEW for lost in (0.0, LOST)}
    for metric in METRICS[task]:
        by = oof.selecting_by(metric)
        model, corrected = of.refit(by, configs, X, y), of.estimate.bbc(by)
        own = of.estimate.cv(by, metric, corrected.selected)
        for (m, lost), (X_new, y_new) in fresh.items():
            where = (metric, str(m), "null" if lost == 0 else "changed")
            for way, estimate in zip(WAYS, (corrected, own), strict=True):
                hints = way == WAYS[0] and lost == 0  # features never change here
                found = of.confront(by, model, X_new, y_new, estimate=estimate, X_train=X if hints else None)
                out[*where, way] = float(found.compatible is False)
                out[*where, f"{way}: no answer"] = float(found.compatible is None)
                if hints:
                    assert found.target_shift is not None
                    out[*where, "target"] = float(found.target_shift.pvalue <= 0.05)
                    out[*where, "features"] = float(bool(found.drifted))
    return out


def study(task: str, strength: str, n: int, n_sets: int) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sets = [one_data_set(task, SIGNALS[strength], n, seed) for seed in range(n_sets)]
    return {", ".join(key): round(float(np.mean([s[key] for s in sets])), 4) for key in sets[0]}


def main(n_sets: int) -> None:
    settings = {}
    for task in METRICS:
        for strength in SIGNALS:
            for n in N_TRAIN:
                name = f"{task}, {strength} signal, {n} training samples"
                settings[name] = study(task, strength, n, n_sets)
                print(name, {k: v for k, v in settings[name].items() if "answer" not in k}, flush=True)
    RESULT.write_text(json.dumps({"data_sets": n_sets, "settings": settings}, indent=1) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
