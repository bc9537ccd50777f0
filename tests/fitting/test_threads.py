"""Histogram boosting of a large table uses all threads where nothing runs beside it, and gives the bits of one thread."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

import outfold as of
from internals import threads, worker

needs_order = pytest.mark.skipif(
    not threads._boosting_adds_in_order(), reason="this scikit-learn adds up gradients by threads"
)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_000, 6))
    return X, np.exp(4 * X[:, 0] + 2 * rng.normal(size=len(X))), np.exp(3 * rng.normal(size=len(X)))


@needs_order
def test_the_number_of_threads_changes_no_bit_of_histogram_boosting(data):
    X, y, weights = data  # sums of numbers of such different sizes depend on their order
    models = {
        "regressor": (HistGradientBoostingRegressor(max_iter=8, random_state=0), y),
        "classifier": (HistGradientBoostingClassifier(max_iter=8, learning_rate=0.5), y > np.median(y)),
        "stopping": (HistGradientBoostingRegressor(max_iter=8, early_stopping=True, random_state=0), y),
    }
    for name, (model, labels) in models.items():
        found = []
        for n in (1, 2):
            with threadpool_limits(n, user_api="openmp"):
                fitted = model.fit(X, labels, sample_weight=weights)
                found.append(getattr(fitted, "decision_function", fitted.predict)(X))
        np.testing.assert_array_equal(*found, err_msg=name)


def all_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"}


@pytest.fixture
def seen(monkeypatch):
    """The numbers of threads that the batches of this process had."""
    numbers, run_batch = [], worker.run_batch

    def looks(*task):
        numbers.append(all_threads())
        return run_batch(*task)

    monkeypatch.setattr(worker, "run_batch", looks)
    return numbers


@needs_order
@pytest.mark.parametrize(("options", "expected"), [({}, 2), ({"n_jobs": 1}, 2), ({"threads": 1}, 1)])
def test_one_worker_uses_all_threads_for_a_large_table(data, seen, monkeypatch, options, expected):
    monkeypatch.setattr(threads, "_LARGE", data[0].size)
    models = {"h": make_pipeline(StandardScaler(), HistGradientBoostingRegressor(max_iter=3))}
    with threadpool_limits(2, user_api="openmp"):
        oof = of.collect(models, *data[:2], of.Plan(2), **options)
        assert all_threads() == {2}
    assert oof.completeness == 1.0
    assert seen
    assert all(numbers == {expected} for numbers in seen)


@needs_order
def test_workers_and_all_threads_give_the_same_bits(data, seen, monkeypatch):
    X, y, _ = data
    models = of.grid("h", HistGradientBoostingRegressor(max_iter=5), learning_rate=[0.1, 0.5], max_leaf_nodes=[5, 31])
    with threadpool_limits(2, user_api="openmp"):
        monkeypatch.setattr(threads, "_LARGE", 0)
        alone = of.collect(models, X, y, of.Plan(3))
        assert {2} in seen
        seen.clear()
        beside = of.collect(models, X, y, of.Plan(3), n_jobs=2)
        assert {2} not in seen
    np.testing.assert_array_equal(alone.data, beside.data)
    refitted = [of.refit(oof, models, X, y).predict(X) for oof in (alone, beside)]
    np.testing.assert_array_equal(*refitted)


@needs_order
def test_other_models_and_small_tables_have_one_thread(data, monkeypatch):
    X = data[0]
    boosting = HistGradientBoostingRegressor()
    columns = make_column_transformer((SimpleImputer(), [0, 1]), (OneHotEncoder(), [2]), remainder="passthrough")
    monkeypatch.setattr(threads, "_LARGE", X.size)
    assert threads.threads_alone([boosting, make_pipeline(columns, boosting)], X) is None
    assert threads.threads_alone([boosting], X[:-1]) == 1
    assert threads.threads_alone([boosting], ["a text"] * 100) == 1
    others = [
        RandomForestRegressor(),
        make_pipeline(KMeans(3), boosting),
        make_pipeline(KBinsDiscretizer(strategy="kmeans"), boosting),
        make_pipeline(StandardScaler()),
        type("Mine", (HistGradientBoostingRegressor,), {"__module__": "mine"})(),
    ]
    for other in others:
        assert threads.threads_alone([boosting, other], X) == 1
