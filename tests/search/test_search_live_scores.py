"""Searches scored with the fitted models: their reports, checks and commands, and what there is without an estimate."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
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
