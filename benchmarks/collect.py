"""Speed of `collect` beside a plain loop and GridSearchCV: the same pipelines, folds and predictions.

Ratios of CPU time, the sides taking turns in one process, best of five. Usage: python benchmarks/collect.py [--quick] [--keep]
"""

from __future__ import annotations

import warnings

import numpy as np
from measuring import Results, arguments, in_turns
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

SPACES = {
    "nb": {"model": [GaussianNB()], "model__var_smoothing": np.logspace(-12, -1, 25).tolist()},
    "tree": {"model": [DecisionTreeClassifier(random_state=0)], "model__min_samples_leaf": list(range(1, 26))},
    "logit": {"model": [LogisticRegression()], "model__C": np.logspace(-3, 3, 25).tolist()},
    "knn": {"model": [KNeighborsClassifier()], "model__n_neighbors": list(range(1, 26))},
}


def main() -> None:
    args = arguments(__doc__).parse_args()
    results, turns = Results("collect", args.keep), 1 if args.quick else 5
    X, y = make_classification(100, 20, n_informative=5, random_state=0)
    pipeline = Pipeline([("scale", StandardScaler()), ("model", GaussianNB())])
    print("100 samples, 20 features, 10 folds, one worker; time of the other / time of collect")
    print(f"{'pipelines':<12}{'us per fit':>11}{'share=False':>13}{'plain loop':>12}{'GridSearchCV':>14}")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, space in {**{k: [v] for k, v in SPACES.items()}, "all 100": list(SPACES.values())}.items():
            times = measure(pipeline, space, X, y, turns)
            n_fits = 10 * len(of.grid("m", pipeline, space))
            ours = times["collect"]
            ratios = [times[side] / ours for side in ("share=False", "plain loop", "GridSearchCV")]
            print(f"{name:<12}{1e6 * ours / n_fits:>11.0f}{ratios[0]:>12.2f}x{ratios[1]:>11.2f}x{ratios[2]:>13.2f}x")
            results.add(name, fits=n_fits, **times)


def measure(
    pipeline: Pipeline, space: list[dict[str, list[object]]], X: np.ndarray, y: np.ndarray, turns: int
) -> dict[str, float]:
    """CPU seconds of every side, after all of them gave the same predictions."""
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
    sides = {"collect": by_collect, "share=False": by_fits_alone, "plain loop": by_loop, "GridSearchCV": by_search}
    return in_turns(sides, turns)


if __name__ == "__main__":
    main()
