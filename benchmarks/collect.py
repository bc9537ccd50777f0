"""Speed of `collect` beside a plain loop and GridSearchCV: the same pipelines, folds and predictions.

Ratios, measured with the sides taking turns in one process; run ``python benchmarks/collect.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import process_time

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import outfold as of

ROUNDS = 5
SPACES = {
    "nb": {"model": [GaussianNB()], "model__var_smoothing": np.logspace(-12, -1, 25).tolist()},
    "tree": {"model": [DecisionTreeClassifier(random_state=0)], "model__min_samples_leaf": list(range(1, 26))},
    "logit": {"model": [LogisticRegression()], "model__C": np.logspace(-3, 3, 25).tolist()},
    "knn": {"model": [KNeighborsClassifier()], "model__n_neighbors": list(range(1, 26))},
}


def main() -> None:
    X, y = make_classification(100, 20, n_informative=5, random_state=0)
    pipeline = Pipeline([("scale", StandardScaler()), ("model", GaussianNB())])
    print("100 samples, 20 features, 10 folds, one worker; time of the other / time of collect")
    print(f"{'pipelines':<12}{'us per fit':>11}{'share=False':>13}{'plain loop':>12}{'GridSearchCV':>14}")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, space in {**{k: [v] for k, v in SPACES.items()}, "all 100": list(SPACES.values())}.items():
            measure(name, pipeline, space, X, y)


def measure(name: str, pipeline: Pipeline, space: list[dict[str, list[object]]], X: np.ndarray, y: np.ndarray) -> None:
    configs = of.grid("m", pipeline, space)
    plan = of.Plan(folds=10)
    folds = plan.split(y).folds[:, 0]
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(10)]

    def by_collect() -> np.ndarray:
        return of.collect(configs, X, y, plan).data[0]

    def by_fits_alone() -> np.ndarray:
        return of.collect(configs, X, y, plan, share=False).data[0]

    def by_loop() -> np.ndarray:
        out = np.empty((len(configs), len(y)))
        for j, estimator in enumerate(configs.values()):
            for train, test in splits:
                out[j, test] = clone(estimator).fit(X[train], y[train]).predict_proba(X[test])[:, 1]
        return out

    def by_search() -> np.ndarray:
        search = GridSearchCV(pipeline, space, scoring="accuracy", cv=splits, refit=False)
        return search.fit(X, y).cv_results_["mean_test_score"]

    predictions, expected, scores = by_collect(), by_loop(), by_search()
    assert by_fits_alone().tobytes() == expected.tobytes()
    np.testing.assert_allclose(predictions, expected, rtol=0, atol=1e-8)
    hits = (predictions > 0.5) == y
    np.testing.assert_allclose(np.mean([hits[:, test].mean(axis=1) for _, test in splits], axis=0), scores, atol=1e-12)
    times = interleaved([by_collect, by_fits_alone, by_loop, by_search])
    per_fit = 1e6 * times[0] / (10 * len(configs))
    ratios = times[1:] / times[0]
    print(f"{name:<12}{per_fit:>11.0f}{ratios[0]:>12.2f}x{ratios[1]:>11.2f}x{ratios[2]:>13.2f}x")


def interleaved(sides: list[Callable[[], object]]) -> np.ndarray:
    """Median CPU seconds of every side, the sides taking turns: one process does all, and a busy machine matters less."""
    seconds = np.empty((ROUNDS, len(sides)))
    for row in seconds:
        for i, side in enumerate(sides):
            start = process_time()
            side()
            row[i] = process_time() - start
    return np.median(seconds, axis=0)


if __name__ == "__main__":
    main()
