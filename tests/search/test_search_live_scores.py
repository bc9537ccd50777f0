"""Searches scored with the fitted models: their reports, checks and commands, and what there is without an estimate."""

from __future__ import annotations

import inspect
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from outfold.cli import main

GRID = {"C": [0.01, 1.0, 100.0]}


def right(estimator, X, y):
    return float(np.mean(estimator.predict(X) == y))


def smallness(estimator, X, y):
    return -float(np.abs(estimator.coef_).sum())


def failing(estimator, X, y):
    raise ValueError("no score")


@pytest.fixture(scope="module")
def data():
    return make_classification(90, 6, random_state=0)


@pytest.mark.parametrize(
    ("scoring", "cv", "method"), [(right, 5, "bbc"), (smallness, 5, "bbc_f"), (smallness, 3, "tt")]
)
def test_the_report_of_a_search_has_its_estimate(data, scoring, cv, method):
    search = of.SelectCV(LogisticRegression(), GRID, scoring=scoring, cv=cv).fit(*data)
    assert search.estimate_.method == method
    assert search.report().estimate is search.estimate_


@pytest.mark.parametrize(("cv", "method"), [(5, "bbc_f"), (3, "tt")])
def test_predictions_with_scores_of_folds_can_be_reported_and_checked(data, cv, method):
    search = of.SelectCV(LogisticRegression(), GRID, scoring=smallness, cv=cv).fit(*data)
    found = of.report(search.oof_).estimate
    assert (found.method, found.value) == (method, search.estimate_.value)
    assert "OF504" not in {finding.code for finding in of.check(search.oof_)}


def test_configurations_without_predictions_are_not_taken_for_equal(data):
    search = of.SelectCV(KMeans(n_init=2, random_state=0), {"n_clusters": [2, 3, 4]}).fit(data[0])
    assert "OF512" not in {finding.code for finding in of.check(search.oof_)}
    report = of.report(search.oof_)
    assert report.comparisons is not None or "predicts otherwise" not in report.no_comparison


def test_the_command_estimates_from_scores_of_folds(data, tmp_path, capsys):
    search = of.SelectCV(KMeans(n_init=2, random_state=0), {"n_clusters": [2, 3, 4]}).fit(data[0])
    search.oof_.save(tmp_path / "run.oof")
    assert main(["estimate", str(tmp_path / "run.oof"), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["method"] == "bbc_f"
    assert found["value"] == pytest.approx(search.estimate_.value)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_search_without_an_estimate_can_be_looked_at(data):
    search = of.SelectCV(LogisticRegression(), GRID, scoring=failing).fit(*data)
    with pytest.raises(of.exceptions.InputError, match="undefined for every configuration"):
        _ = search.estimate_
    assert not hasattr(search, "estimate_")
    assert "estimate_" not in dir(search)
    assert "LogisticRegression" in search._repr_html_()


def test_several_outputs_have_a_list_of_classes(data):
    X, y = data
    both = np.column_stack([y, np.arange(90) % 3])
    search = of.SelectCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, scoring=right).fit(X, both)
    assert [list(part) for part in search.classes_] == [[0, 1], [0, 1, 2]]


def two_scores(estimator, X, y):
    return {"right": right(estimator, X, y), "small": smallness(estimator, X, y)}


def test_a_sampler_is_told_the_score_that_refit_names(data):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = {"C": optuna.distributions.FloatDistribution(0.01, 10)}
    sampler = optuna.samplers.RandomSampler(seed=0)
    search = of.SelectCV(
        LogisticRegression(), space, search=sampler, n_configs=3, scoring=two_scores, refit="small"
    ).fit(*data)
    assert search.best_params_["C"] == min(params["C"] for params in search.cv_results_["params"])
    assert search.estimate_.metric == "small"


def test_collect_selects_by_the_name_of_a_scorer(data):
    configs = {"strong": LogisticRegression(C=0.01), "weak": LogisticRegression(C=100)}
    oof = of.collect(configs, *data, scorers={"small": smallness}, metric="small")
    assert oof.leaderboard().configs[0] == "strong"
    assert oof.leaderboard().metric == "small"


def failing_at_one(estimator, X, y):
    if estimator.C == 1.0:
        raise ValueError("no score")
    return right(estimator, X, y)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize(
    ("scoring", "refit"), [(failing_at_one, True), ({"fails": failing_at_one, "accuracy": "accuracy"}, "fails")]
)
@pytest.mark.parametrize("error_score", [0, -1.5, np.nan])
def test_a_scorer_that_fails_gives_error_score_as_in_grid_search(data, error_score, scoring, refit, train):
    options = {"scoring": scoring, "refit": refit, "error_score": error_score, "return_train_score": train}
    ours = of.SelectCV(LogisticRegression(), GRID, drop=False, **options).fit(*data)
    theirs = GridSearchCV(LogisticRegression(), GRID, **options).fit(*data)
    for name, column in theirs.cv_results_.items():
        if "_test_" in name or "_train_" in name:
            np.testing.assert_allclose(ours.cv_results_[name], column, rtol=1e-12)
    assert ours.best_index_ == theirs.best_index_


def test_the_warning_of_a_scorer_that_fails_says_the_score(data):
    with pytest.warns(UserWarning, match="Scoring failed for 5 of 15 fits; their score is -1"):
        of.SelectCV(LogisticRegression(), GRID, scoring=failing_at_one, error_score=-1).fit(*data)


def failing_several(estimator, X, y):
    if estimator.C == 1.0:
        raise ValueError("no scores")
    return two_scores(estimator, X, y)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("error_score", [0, np.nan])
def test_a_function_of_several_scores_that_fails_for_one_configuration_adds_no_score(data, error_score):
    options = {"scoring": failing_several, "refit": "right", "error_score": error_score}
    search = of.SelectCV(LogisticRegression(), GRID, **options).fit(*data)
    assert {name for name in search.cv_results_ if name.startswith("mean_test")} == {
        "mean_test_right",
        "mean_test_small",
    }
    assert search.best_params_ != {"C": 1.0}


def test_a_store_is_not_continued_with_another_error_score(data, tmp_path):
    def search(error_score):
        options = {"scoring": right, "store": tmp_path / "run.oof", "error_score": error_score}
        return of.SelectCV(LogisticRegression(), GRID, **options).fit(*data)

    search(np.nan)
    search(np.nan)
    with pytest.raises(of.exceptions.OutfoldError, match="scorers"):
        search(0)


def spoiling(estimator, X, y):
    """A scorer that writes into all that it is given."""
    found = float(np.mean(estimator.predict(X) == y))
    if isinstance(X, list):
        X.clear()
    elif hasattr(X, "iloc"):
        X.iloc[:] = 0.0
    elif hasattr(X, "tocsr"):
        X.data[:] = 0.0
    else:
        X[:] = 0.0
    y[:] = 0
    return found


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, csr_matrix, np.ndarray.tolist])
def test_a_scorer_may_write_into_its_rows_as_in_grid_search(data, form, train):
    X, y = data
    options = {"scoring": spoiling, "return_train_score": train}
    ours = of.SelectCV(LogisticRegression(), GRID, drop=False, **options).fit(form(X), y)
    theirs = GridSearchCV(LogisticRegression(), GRID, **options).fit(form(X), y.copy())
    for part in ("test", "train") if train else ("test",):
        np.testing.assert_array_equal(ours.cv_results_[f"mean_{part}_score"], theirs.cv_results_[f"mean_{part}_score"])
    np.testing.assert_array_equal(data[0], X)
    assert len(set(y)) == 2


def test_listing_and_printing_a_search_computes_no_estimate(data):
    search = of.SelectCV(LogisticRegression(), GRID, scoring=right)
    assert {"estimate_", "interval_", "best_score_"}.isdisjoint(dir(search))
    search.fit(*data)
    assert {"best_score_", "predict_proba", "report"} <= set(dir(search))
    assert "transform" not in dir(search)
    inspect.getmembers(search)
    search._repr_html_()
    repr(search)
    pickle.dumps(search)
    assert "_estimate" not in vars(search)
    assert search.estimate_.method == "bbc"
    assert {"estimate_", "interval_"} <= set(dir(search))


def test_an_estimate_that_is_there_is_listed(data):
    search = of.SelectCV(LogisticRegression(), GRID, scoring="accuracy").fit(*data)
    assert {"estimate_", "interval_"} <= set(dir(search))


def test_a_search_that_selects_nothing_lists_no_estimate(data):
    search = of.SelectCV(LogisticRegression(), GRID, scoring=["accuracy", "roc_auc"], refit=False).fit(*data)
    assert "estimate_" not in dir(search)


def failing_metric(y, predicted):
    raise ValueError("no score")


def test_a_metric_that_fails_is_an_error_that_names_it(data):
    search = of.SelectCV(LogisticRegression(), GRID, scoring=make_scorer(failing_metric), error_score=0)
    with pytest.raises(of.exceptions.InputError, match="metric 'failing_metric' failed: ValueError: no score"):
        search.fit(*data)
