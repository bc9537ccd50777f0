"""Searches with several seeds for each fit: `collect` averages, and the model that is kept is the mean of as many models."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.stats import randint
from sklearn.base import is_classifier
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification, make_regression
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier, ExtraTreeRegressor

import outfold as of
from internals import seeds_of
from outfold.exceptions import InputError, StoreMismatchError

X, y = make_classification(90, 6, flip_y=0.2, random_state=1)
DEPTHS = {"max_depth": [1, 3, 6]}


def search(estimator=None, grid=DEPTHS, **options):
    tree = ExtraTreeClassifier() if estimator is None else estimator
    return of.SelectCV(tree, grid, **{"cv": 3, "drop": False, **options})


def by_hand(depth, rows, seeds):
    """Mean probabilities of the second class for all samples, of trees that are trained on these rows."""
    trees = [ExtraTreeClassifier(max_depth=depth, random_state=seed).fit(X[rows], y[rows]) for seed in seeds]
    return np.mean([tree.predict_proba(X)[:, 1] for tree in trees], axis=0)


def test_scores_and_model_are_those_of_the_mean_of_trees():
    found = search(scoring="roc_auc", seeds=4, random_state=7).fit(X, y)
    for fold, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        for i, depth in enumerate(DEPTHS["max_depth"]):
            mean = by_hand(depth, train, seeds_of(4, 7, 0, fold))
            ones, zeros = mean[test][y[test] == 1, None], mean[test][None, y[test] == 0]
            area = np.mean((ones > zeros) + 0.5 * (ones == zeros))
            assert found.cv_results_[f"split{fold}_test_score"][i] == pytest.approx(area, abs=1e-12)
    model = found.best_estimator_
    assert len(model.estimators_) == 4
    expected = by_hand(found.best_params_["max_depth"], np.arange(90), seeds_of(4, 7))
    np.testing.assert_allclose(found.predict_proba(X)[:, 1], expected, atol=1e-12)
    np.testing.assert_allclose(found.predict_log_proba(X[:5]), np.log(found.predict_proba(X[:5])))
    np.testing.assert_array_equal(found.predict(X), (expected > 0.5).astype(int))
    assert found.estimate_.value == of.estimate.bbc(found.oof_, rng=7).value
    assert found.n_features_in_ == 6
    assert is_classifier(model)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).predict(X), found.predict(X))


def test_the_search_is_that_of_collect():
    found = search(seeds=3, cv=of.Plan(folds=3)).fit(X, y)
    trees = of.grid("ExtraTreeClassifier", ExtraTreeClassifier(), DEPTHS)
    oof = of.collect(trees, X, y, of.Plan(folds=3), rng=0, seeds=3, progress=False)
    np.testing.assert_array_equal(found.oof_.data, oof.data)
    np.testing.assert_array_equal(found.oof_.blocks["seeds"].data, oof.blocks["seeds"].data)
    one = search(cv=of.Plan(folds=3), scoring="roc_auc").fit(X, y)
    np.testing.assert_array_equal(one.oof_.data, oof.blocks["seeds"].data[::3])
    assert isinstance(one.best_estimator_, ExtraTreeClassifier)


@pytest.mark.parametrize("how", [{"n_jobs": 2}, {"share": False}])
def test_workers_and_sharing_change_nothing(how):
    np.testing.assert_array_equal(search(seeds=2, **how).fit(X, y).oof_.data, search(seeds=2).fit(X, y).oof_.data)


def test_the_label_is_that_of_the_mean_probability():
    found = search(seeds=4, refit=True).fit(X, y)
    folds = list(enumerate(StratifiedKFold(3).split(X, y)))
    for i, depth in enumerate(DEPTHS["max_depth"]):
        right = [
            np.mean((by_hand(depth, train, seeds_of(4, 0, 0, k)) > 0.5)[test] == y[test]) for k, (train, test) in folds
        ]
        np.testing.assert_allclose([found.cv_results_[f"split{k}_test_score"][i] for k, _ in folds], right)
    np.testing.assert_array_equal(found.predict(X), found.predict_proba(X)[:, 1] > 0.5)
    machine = search(SVC(), {"C": [0.1, 1]}, seeds=2).fit(X, y)  # without probabilities; its seed changes nothing
    np.testing.assert_array_equal(machine.predict(X), SVC(**machine.best_params_).fit(X, y).predict(X))


def test_a_model_without_a_seed_is_fitted_once():
    found = search(DecisionTreeClassifier(random_state=0), seeds=5).fit(X, y)
    assert isinstance(found.best_estimator_, DecisionTreeClassifier)


def test_own_scores():
    found = search(seeds=2).fit(X, y)
    assert found.score(X, y) == accuracy_score(y, found.predict(X))
    X_r, y_r = make_regression(60, 4, noise=20, random_state=0)
    found = search(ExtraTreeRegressor(), seeds=2).fit(X_r[:40], y_r[:40])
    assert found.score(X_r[40:], y_r[40:]) == r2_score(y_r[40:], found.predict(X_r[40:]))
    assert not hasattr(found.best_estimator_, "predict_log_proba")


def test_a_score_of_models_is_their_mean():
    def size(model, X, y):
        return -float(model.tree_.node_count)

    found = search(scoring=size, seeds=3).fit(X, y)
    for fold, (train, _) in enumerate(StratifiedKFold(3).split(X, y)):
        for i, depth in enumerate(DEPTHS["max_depth"]):
            trees = [ExtraTreeClassifier(max_depth=depth, random_state=s) for s in seeds_of(3, 0, 0, fold)]
            counts = [-tree.fit(X[train], y[train]).tree_.node_count for tree in trees]
            assert found.cv_results_[f"split{fold}_test_score"][i] == pytest.approx(np.mean(counts))


def test_a_store_continues_with_the_same_number_only(tmp_path):
    path = tmp_path / "search.oof"
    first = search(seeds=2, store=path).fit(X, y)
    again = search(seeds=2, store=path).fit(X, y)
    np.testing.assert_array_equal(first.oof_.data, again.oof_.data)
    with pytest.raises(StoreMismatchError, match=r"seeds=2 \(now seeds=1\)"):
        search(store=path).fit(X, y)


def test_drawn_configurations():
    found = of.RandomizedSelectCV(ExtraTreeClassifier(), {"max_depth": randint(1, 9)}, n_iter=3, seeds=2, cv=3).fit(
        X, y
    )
    assert len(found.best_estimator_.estimators_) == 2
    assert found.get_params()["seeds"] == 2


@pytest.mark.parametrize("seeds", [0, 1.5, "2"])
def test_bad_numbers_of_seeds(seeds):
    with pytest.raises(InputError, match="seeds must be a whole number of at least 1"):
        search(seeds=seeds).fit(X, y)


def test_what_cannot_be_averaged_is_refused():
    with pytest.raises(InputError, match="seeds must be 1 for models whose predictions cannot be averaged"):
        of.SelectCV(KMeans(n_init=1), {"n_clusters": [2, 3]}, cv=3, seeds=2).fit(X)


def test_callbacks_are_refused():
    callback = pytest.importorskip("sklearn.callback")
    with pytest.raises(
        InputError, match="seeds must be 1 if the search has callbacks, which follow single fits; got 2"
    ):
        search(seeds=2).set_callbacks(callback.ProgressBar()).fit(X, y)
