"""How often `confront` says "not compatible" although nothing changed, and how often it finds a change.

Each data set has n training samples. Nine configurations are cross-validated in ten folds, the best is refitted, and new samples
come from the same population (the null), or from one in which a quarter of the labels has nothing to do with the features. The
shares of data sets in which a test decides at 0.05 that something changed:

    confront          the test of `confront`, which counts the variance of the estimate one and a half times
    once              the same, which counts it once
    winner's score    the same with the winner's own cross-validation score and its interval, which ignore the selection
    target, features  the test of the labels, and whether any of the features differs after Holm's adjustment

The factor was chosen on other data sets (seeds 0 to 119).

Usage: python studies/confronting.py [N_DATA_SETS]
It writes studies/results/confronting.json; 200 data sets take about half an hour on one core.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import outfold as of
from outfold.models import confronting
from outfold.stats.two_samples import Independent, difference_pvalue

RESULT = Path(__file__).parent / "results" / "confronting.json"
N_FEATURES = 10
LOST = 0.25  # of the labels, after the change
SIGNALS = {"weak": 0.5, "strong": 2.0}
N_TRAIN, N_NEW = (60, 150), (30, 1000)
METRICS = {"classification": ("accuracy", "roc_auc"), "regression": ("r2",)}
FIRST_SEED = 1000


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
    """Whether each test decides that something changed, by metric, number of new samples, change and test."""
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
            found = of.confront(by, model, X_new, y_new, estimate=corrected, X_train=X if lost == 0 else None)
            assert found.pvalue is not None
            out[*where, "confront"] = float(not found.compatible)
            for way, before in (("once", corrected), ("winner's score", own)):
                out[*where, way] = float(plain_pvalue(by, model, X_new, y_new, before) <= 0.05)
            if lost == 0:
                assert found.target_shift is not None
                out[*where, "target"] = float(found.target_shift.pvalue <= 0.05)
                out[*where, "features"] = float(bool(found.drifted))
    return out


def plain_pvalue(oof: of.Predictions, model: Any, X: np.ndarray, y: np.ndarray, before: Any) -> float:
    """The p value if the variance of the estimate counts once."""
    target = confronting.as_trained(oof.target, y)
    scored = confronting.predicted(oof, model, X, target, None, before.selected)
    after = of.estimate.holdout(scored, before.metric, before.selected)
    return difference_pvalue(*(Independent(one.value, one.confidence_interval) for one in (after, before)))


def study(task: str, strength: str, n: int, n_sets: int) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sets = [one_data_set(task, SIGNALS[strength], n, seed) for seed in range(FIRST_SEED, FIRST_SEED + n_sets)]
    return {", ".join(key): round(float(np.mean([s[key] for s in sets])), 4) for key in sets[0]}


def main(n_sets: int) -> None:
    settings = {}
    for task in METRICS:
        for strength in SIGNALS:
            for n in N_TRAIN:
                name = f"{task}, {strength} signal, {n} training samples"
                settings[name] = study(task, strength, n, n_sets)
                print(name, settings[name], flush=True)
    RESULT.write_text(json.dumps({"data_sets": n_sets, "settings": settings}, indent=1) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
