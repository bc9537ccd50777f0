"""Arguments of scikit-learn's other searches, what `verbose` prints, what the diagram shows, and searches without a score."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from scipy.stats import randint
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, LeaveOneOut, RandomizedSearchCV
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from outfold.exceptions import InputError

X, y = make_classification(120, 6, random_state=0)
TREE = DecisionTreeClassifier(random_state=0)
MANY = {"max_depth": list(range(1, 28))}


def search(grid=MANY, **options):
    return of.SelectCV(TREE, grid, **{"cv": 4, **options})


# -- halving --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "fitted"),
    [
        ({}, [27, 14, 7, 4]),
        ({"factor": 3}, [27, 9, 3, 1]),
        ({"factor": 3, "cv": 2}, [27, 9]),
        ({"factor": 3, "cv": 2, "aggressive_elimination": True}, [27, 3]),
        ({"factor": 3, "n_candidates": 6}, [6, 2, 1, 1]),
        ({"factor": 100}, [27, 1, 1, 1]),
    ],
)
def test_how_many_configurations_halving_keeps(options, fitted):
    found = search(search="halving", **options).fit(X, y)
    assert found.n_candidates_ == fitted
    assert found.n_iterations_ == len(fitted) == found.n_splits_


def test_halving_has_the_attributes_and_columns_of_scikit_learn():
    ours = search(search="halving", factor=3).fit(X, y)
    theirs = HalvingGridSearchCV(TREE, MANY, cv=4, random_state=0).fit(X, y)
    names = {name for name in vars(theirs) if name.endswith("_") and not name.startswith("_")}
    assert names <= set(dir(ours))
    assert ours.n_resources_ == [1, 2, 3, 4]
    assert ours.n_required_iterations_ == theirs.n_required_iterations_ == 4
    assert (ours.min_resources_, ours.max_resources_, ours.n_possible_iterations_) == (1, 4, 4)
    assert ours.n_remaining_candidates_ == 1
    table = ours.cv_results_
    assert list(table)[:2] == list(theirs.cv_results_)[:2] == ["iter", "n_resources"]
    assert [int((table["iter"] >= i).sum()) for i in range(4)] == ours.n_candidates_
    assert table["n_resources"][ours.best_index_] == 4
    assert not hasattr(ours.set_params(search="grid", factor=None).fit(X, y), "n_resources_")


def test_the_number_of_draws_is_left_to_halving():
    found = search(None, search="halving", param_distributions={"max_depth": randint(1, 1000)}, n_candidates="exhaust")
    assert found.fit(X, y).n_candidates_[0] == 10
    assert search(search="halving", n_candidates="exhaust").fit(X, y).n_candidates_[0] == 27


def test_halving_by_a_score_of_the_models():
    points = np.random.default_rng(0).normal(size=(60, 2))
    grid = {"n_clusters": [1, 2, 3, 4]}
    found = of.SelectCV(KMeans(n_init=1, random_state=0), grid, search="halving", cv=3).fit(points)
    assert found.n_candidates_ == [4, 2, 1]
    assert found.best_params_ == {"n_clusters": 4}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factor": 1}, "factor must be a number above 1"),
        ({"factor": "3"}, "factor must be a number above 1"),
        ({"resource": "n_estimators"}, "resource must be 'n_samples': halving goes from fold to fold"),
        ({"min_resources": 20}, "min_resources must be 'exhaust' or 'smallest': halving goes from fold to fold"),
        ({"max_resources": 60}, "max_resources must be 'auto': halving goes from fold to fold"),
        ({"n_candidates": 3, "n_configs": 4}, "n_configs and n_candidates are two names for one thing"),
        ({"search": "grid", "factor": 3}, "factor is for search='halving'; got search='grid'"),
        ({"search": "random", "n_candidates": 3}, "n_candidates is for search='halving'"),
    ],
)
def test_bad_options_of_halving(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        search(**{"search": "halving", **options}).fit(X, y)


# -- more draws than configurations ---------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"n_iter": 9}, {"search": "random", "n_configs": 9}])
def test_more_draws_than_the_grid_holds_try_all_of_it(options):
    with pytest.warns(UserWarning, match="space of parameters 3 is smaller than n_iter=9"):
        found = search({"max_depth": [1, 2, 3]}, **options).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = RandomizedSearchCV(TREE, {"max_depth": [1, 2, 3]}, n_iter=9, cv=4).fit(X, y)
    assert found.cv_results_["params"] == theirs.cv_results_["params"]


def test_more_draws_than_a_distribution_or_names_can_give():
    with pytest.warns(UserWarning, match="space of parameters 2 is smaller than n_iter=5"):
        found = search(None, param_distributions={"max_depth": randint(1, 3)}, n_iter=5).fit(X, y)
    assert sorted(p["max_depth"] for p in found.cv_results_["params"]) == [1, 2]
    with pytest.warns(UserWarning, match="space of parameters 1 is smaller than n_iter=5"):
        named = of.SelectCV({"tree": TREE}, search="random", n_configs=5, cv=3).fit(X, y)
    assert list(named.cv_results_["config"]) == ["tree"]


# -- scores that select nothing -------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
def test_a_score_that_is_undefined_everywhere_selects_the_first():
    values = X[:12, 0]
    theirs, ours = (
        s(Ridge(), {"alpha": [1, 2]}, cv=LeaveOneOut()).fit(X[:12], values) for s in (GridSearchCV, of.SelectCV)
    )
    assert ours.best_index_ == theirs.best_index_ == 0
    assert np.isnan(ours.best_score_)
    assert "each holds out one sample only" in ours.selection_.rule
    with pytest.raises(InputError, match="undefined"):
        _ = ours.estimate_


class OnlyHalf(BaseEstimator, ClassifierMixin):
    """Fails where the sample given is in the training part."""

    def __init__(self, sample=0.0):
        self.sample = sample

    def fit(self, X, y):
        if self.sample in X:
            raise RuntimeError("no luck today")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("error_score", [np.nan, 0.0])
def test_if_every_configuration_fails_somewhere_the_table_decides(error_score):
    grid, options = {"sample": [X[0, 0], X[1, 0]]}, {"cv": 2, "error_score": error_score, "refit": False}
    theirs, ours = (s(OnlyHalf(), grid, **options).fit(X, y) for s in (GridSearchCV, of.SelectCV))
    assert ours.best_index_ == theirs.best_index_ == 0
    np.testing.assert_equal(ours.best_score_, theirs.best_score_)


@pytest.mark.filterwarnings("ignore")
def test_a_failed_fit_wins_over_no_undefined_score():
    def undefined_without_sample(estimator, X, y):
        return 1.0 if estimator.sample else np.nan

    grid, options = {"sample": [0.0, X[0, 0]]}, {"scoring": undefined_without_sample, "error_score": 0.0, "cv": 2}
    found = of.SelectCV(OnlyHalf(), grid, **options).fit(X, y)
    assert list(found.cv_results_["state"]) == ["done", "failed"]
    assert list(found.cv_results_["rank_test_score"]) == [2, 1]
    assert found.best_index_ == found.selection_.n_candidates - 1 == 0


def test_a_rule_that_cannot_select_is_not_passed_over():
    def refuses(scoring):
        raise InputError("not today.")

    with pytest.raises(InputError, match="not today"):
        search({"max_depth": [1, 2]}, rule=refuses).fit(X, y)


def test_the_warning_counts_fits_and_reasons():
    broken = {"max_depth": [-1, 2]}
    with pytest.warns(FitFailedWarning) as caught:
        search(broken, error_score=0.5).fit(X, y)
    text = str(next(w for w in caught if w.category is FitFailedWarning).message)
    assert text.startswith("4 fits failed out of a total of 8")
    assert "will be set to 0.5." in text
    assert "4 fits failed with the following error: InvalidParameterError: " in text
    assert [w.category for w in caught] == [FitFailedWarning]
    with pytest.raises(InputError, match="All the 4 fits failed"):
        search({"max_depth": [-1]}).fit(X, y)


def test_scores_that_failed_fits_lack_are_warned_of_as_in_scikit_learn():
    with pytest.warns() as caught:
        found = search({"max_depth": [-1, 2]}, drop=False, return_train_score=True).fit(X, y)
    texts = [str(w.message) for w in caught if w.category is UserWarning]
    assert texts == [
        f"One or more of the {part} scores are non-finite: {found.cv_results_[f'mean_{part}_score']}"
        for part in ("test", "train")
    ]


def test_scores_that_dropped_configurations_lack_are_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = search({"max_depth": [1, 2, 10]}, search="halving").fit(X, y)
    assert "dropped" in found.cv_results_["state"]


# -- what is shown --------------------------------------------------------------------------------------


def test_verbose_prints_the_score_of_each_fit(capsys):
    found = search({"max_depth": [1, 10]}, verbose=3, drop=False).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8
    first = found.cv_results_["split0_test_score"][0]
    assert lines[0] == f"[CV 1/4] max_depth=1   score={first:.3f}"
    assert lines[-1].startswith("[CV 4/4] max_depth=10  score=")
    search({"max_depth": [1]}, verbose=1).fit(X, y)
    assert capsys.readouterr().out == ""


def test_the_diagram_shows_the_selected_model():
    found = search({"max_depth": [1, 10]})
    assert "estimator: DecisionTreeClassifier" in found._repr_html_()
    assert "best_estimator_: DecisionTreeClassifier" in found.fit(X, y)._repr_html_()
    assert "tree: DecisionTreeClassifier" in of.SelectCV({"tree": TREE, "ridge": Ridge()})._repr_html_()


def test_columns_that_gridsearchcv_lacks_come_only_where_they_say_something():
    theirs = GridSearchCV(TREE, {"max_depth": [1, 2]}, cv=3).fit(X, y).cv_results_
    assert search({"max_depth": [1, 2]}, cv=3, drop=False).fit(X, y).cv_results_.keys() == theirs.keys()
    halved = search({"max_depth": [1, 2]}, cv=3, search="halving").fit(X, y).cv_results_
    assert halved.keys() - theirs.keys() == {"state", "iter", "n_resources"}
    named = of.SelectCV({"one": TREE, "two": TREE}, cv=3, drop=False).fit(X, y).cv_results_
    assert list(named["config"]) == ["one", "two"]
