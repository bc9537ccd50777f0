"""Selectors with other parameters may choose the same columns: equal models on equal rows are fitted once."""

from __future__ import annotations

import numpy as np
import pytest
from share_estimators import Keep
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

import outfold as of
from internals import transform_cache


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    return X, (X[:, 0] + rng.normal(size=60) > 0).astype(int)


MODELS = {
    "forest": RandomForestClassifier(4, min_samples_leaf=2),
    "svm 1": SVC(C=1.0),
    "svm 10": SVC(C=10.0),
    "logit": LogisticRegression(C=0.3),
}


def configs(*selectors, models=MODELS):
    made = {f"{name} {i}": make_pipeline(s, m) for i, s in enumerate(selectors) for name, m in models.items()}
    return of.Configs(made)


def collected(grid, X, y, **options):
    return of.collect(grid, X, y, of.Plan(4), rng=0, **options)


def facts(oof):
    return oof.provenance["sharing"]


def test_equal_models_on_equal_rows_are_fitted_once(data):
    grid = configs(Keep([0, 2], "a"), Keep([0, 2], "b"), Keep([1], "a"))
    shared, plain = collected(grid, *data), collected(grid, *data, share=False)
    np.testing.assert_array_equal(shared.data, plain.data)
    assert facts(shared)["copied"] == 4 * len(MODELS)
    assert facts(shared)["models"] == 4 * 3 * len(MODELS)


def test_what_is_copied_does_not_depend_on_workers(data):
    grid = configs(Keep([0, 2], "a"), Keep([0, 2], "b"))
    np.testing.assert_array_equal(collected(grid, *data, n_jobs=2).data, collected(grid, *data).data)


def test_rows_that_differ_in_a_bit_or_in_their_layout_are_others(data):
    def nudged(X):
        return np.nextafter(X, np.inf)

    same = FunctionTransformer(np.ascontiguousarray)
    for other in (FunctionTransformer(nudged), FunctionTransformer(np.asfortranarray)):
        assert facts(collected(configs(same, other), *data))["copied"] == 0


def test_models_of_others_are_not_trusted_to_give_the_same_twice(data):
    from collect_estimators import Tally

    grid = configs(Keep([0], "a"), Keep([0], "b"), models={"mine": Tally(), "mine too": Tally(scale=2.0)})
    assert facts(collected(grid, *data))["copied"] == 0


def test_seeds_and_weights_are_part_of_it(data):
    X, y = data
    forests = {f"{s}": RandomForestClassifier(3, random_state=s) for s in (1, 2)}
    grid = configs(Keep([0, 2], "a"), Keep([0, 2], "b"), models=forests)
    oof = collected(grid, X, y)
    assert facts(oof)["copied"] == 8
    assert not np.array_equal(oof.sel("1 0").data, oof.sel("2 0").data)
    np.testing.assert_array_equal(oof.sel("1 0").data, oof.sel("1 1").data)


def test_a_path_is_the_same_only_with_the_same_penalties(data):
    X, y = data[0], data[0][:, 0] + 0.1 * data[0][:, 1]
    penalties = (0.01, 0.1, 0.2)
    whole = {f"{a}": make_pipeline(Keep([0, 1], "a"), Lasso(a)) for a in penalties}
    part = {f"{a} too": make_pipeline(Keep([0, 1], "b"), Lasso(a)) for a in penalties[:2]}
    more = {f"{a} again": make_pipeline(Keep([0, 1], "c"), Lasso(a)) for a in penalties}
    oof = collected(of.Configs(whole | part), X, y, share="close")
    assert facts(oof)["copied"] == 0
    oof = collected(of.Configs(whole | more), X, y, share="close")
    assert facts(oof)["copied"] == 4 * 3


def test_a_failed_fit_is_not_copied(data):
    X, y = data
    rare = {"bad": LogisticRegression(C=-1.0), "good": LogisticRegression()}
    oof = collected(configs(Keep([0], "a"), Keep([0], "b"), models=rare), X, y)
    assert facts(oof)["copied"] == 4
    assert {name for name, _, _ in oof.messages} == {"bad 0", "bad 1"}


def test_predictions_beyond_the_budget_are_not_kept(data, monkeypatch):
    monkeypatch.setattr(transform_cache, "_COMPARED", 100)
    grid = configs(Keep([0, 2], "a"), Keep([0, 2], "b"))
    assert facts(collected(grid, *data))["copied"] == 0


def test_families_of_transformers_come_into_it(data):
    grid = configs(make_pipeline(StandardScaler(), Keep([0], "a")), make_pipeline(StandardScaler(), Keep([0], "b")))
    shared = collected(grid, *data)
    assert facts(shared)["copied"] == 4 * len(MODELS)
    assert facts(shared)["steps_done"] == 4 * 3
    np.testing.assert_array_equal(shared.data, collected(grid, *data, share=False).data)
