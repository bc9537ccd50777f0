"""SelectCV in the place of GridSearchCV: the same table, the same winner, and an honest estimate besides."""

from __future__ import annotations

import contextlib
import inspect
import io
import pickle
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import sklearn
from scipy.stats import loguniform, randint
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, average_precision_score, f1_score, fbeta_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import outfold as of
from collect_estimators import Raises, Tally, fits
from extras import pd
from internals import store
from outfold.exceptions import InputError

CV = StratifiedKFold(4, shuffle=True, random_state=3)
C_GRID = {"C": [0.01, 0.1, 1.0, 10.0]}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X[:200, :6]), y[:200]


@pytest.fixture(scope="module")
def noise():
    return make_classification(60, 8, n_informative=2, flip_y=0.4, random_state=1)


def assert_same_search(ours: of.SelectCV, theirs: GridSearchCV) -> None:
    """All that GridSearchCV says, the times apart."""
    assert set(theirs.cv_results_) <= set(ours.cv_results_)
    for name, column in theirs.cv_results_.items():
        found = ours.cv_results_[name]
        if name == "params":
            assert found == column
        elif name.startswith("param_"):
            assert found.dtype == column.dtype
            assert found.tolist() == column.tolist()
        elif "time" not in name:
            np.testing.assert_allclose(found, column, rtol=1e-12, atol=1e-12, err_msg=name)
            assert found.dtype == column.dtype
    for name in ("best_params_", "best_index_", "n_splits_", "multimetric_"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-12, abs=1e-12)


# -- the same as GridSearchCV ---------------------------------------------------------------------------

SVM = make_pipeline(StandardScaler(), SVC())
SEARCHES = {
    "one parameter": (LogisticRegression(), C_GRID, None),
    "pipeline": (SVM, {"svc__gamma": [0.01, 0.1], "svc__C": [0.1, 1, 10]}, None),
    "list of grids": (
        SVC(),
        [{"kernel": ["linear"], "C": [0.1, 1]}, {"kernel": ["rbf"], "gamma": [0.1, "scale"]}],
        None,
    ),
    "area under the curve": (SVC(), {"C": [0.1, 1, 10]}, "roc_auc"),
    "area, by votes": (KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}, "roc_auc"),
    "probabilities": (LogisticRegression(), C_GRID, "neg_log_loss"),
    "scorer of a fast metric": (LogisticRegression(), C_GRID, make_scorer(accuracy_score)),
    "scorer of a function": (LogisticRegression(), C_GRID, make_scorer(fbeta_score, beta=2)),
    "forest": (RandomForestClassifier(5, random_state=0), {"max_depth": [1, 3, None]}, "f1"),
    "steps": (make_pipeline(StandardScaler(), SVC()), {"svc": [SVC(), GaussianNB()]}, None),
    "twice the same": (LogisticRegression(), {"C": [1.0, 1.0]}, None),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_the_table_is_that_of_gridsearchcv(name, cancer):
    estimator, grid, scoring = SEARCHES[name]
    ours = of.SelectCV(estimator, grid, cv=CV, scoring=scoring, drop=False).fit(*cancer)
    theirs = GridSearchCV(estimator, grid, cv=CV, scoring=scoring).fit(*cancer)
    if name == "steps":  # two estimators are never equal; their texts are
        for search in (ours, theirs):
            search.cv_results_["params"] = [str(p) for p in search.cv_results_["params"]]
            search.cv_results_["param_svc"] = search.cv_results_["param_svc"].astype(str).astype(object)
            search.best_params_ = str(search.best_params_)
    assert_same_search(ours, theirs)
    np.testing.assert_array_equal(ours.predict(cancer[0]), theirs.predict(cancer[0]))
    assert ours.score(*cancer) == pytest.approx(theirs.score(*cancer))
    assert ours.best_score_ == ours.selection_.score
    assert ours.oof_.configs[ours.best_index_] == ours.estimate_.selected


UNDEFINED = ["f1", "precision", "recall", "jaccard", "average_precision", "matthews_corrcoef", "balanced_accuracy"]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("scoring", [*UNDEFINED, make_scorer(f1_score), make_scorer(f1_score, pos_label=0)])
def test_folds_without_positives_score_what_they_score_in_gridsearchcv(scoring, noise):
    X, y = noise
    order = np.argsort(y, kind="stable")  # the first of the folds are of one class, the last of the other
    X, y, cv = X[order], y[order], [(np.delete(np.arange(60), rows), rows) for rows in (range(10), range(20, 45))]
    grid = {"max_depth": [1, 2, 4]}
    ours = of.SelectCV(DecisionTreeClassifier(random_state=0), grid, cv=cv, scoring=scoring, drop=False).fit(X, y)
    theirs = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, cv=cv, scoring=scoring).fit(X, y)
    assert_same_search(ours, theirs)


@pytest.mark.parametrize("scoring", [None, "r2", "explained_variance"])
def test_a_fold_of_equal_labels_scores_what_it_scores_in_gridsearchcv(scoring):
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.where(np.arange(40) < 10, 1.0, X[:, 0] + 0.1 * X[:, 1])
    ours = of.SelectCV(Ridge(), {"alpha": [0.1, 1, 10]}, cv=KFold(4), scoring=scoring, drop=False).fit(X, y)
    theirs = GridSearchCV(Ridge(), {"alpha": [0.1, 1, 10]}, cv=KFold(4), scoring=scoring).fit(X, y)
    assert_same_search(ours, theirs)


@pytest.mark.parametrize("scoring", [None, "accuracy", "roc_auc_ovr", "f1_macro"])
def test_many_classes(scoring):
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    arguments = {"scoring": scoring, "cv": CV}
    ours = of.SelectCV(LogisticRegression(max_iter=500), C_GRID, drop=False, **arguments).fit(X, y)
    theirs = GridSearchCV(LogisticRegression(max_iter=500), C_GRID, **arguments).fit(X, y)
    assert_same_search(ours, theirs)
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    assert ours.feature_names_in_.tolist() == list(X.columns)
    assert ours.n_features_in_ == 4


@pytest.mark.parametrize(
    "scoring", [None, "neg_mean_squared_error", "neg_root_mean_squared_error", "explained_variance"]
)
def test_regression(scoring):
    X, y = load_diabetes(return_X_y=True)
    arguments = {"scoring": scoring, "cv": KFold(5)}
    ours = of.SelectCV(Ridge(), {"alpha": [0.01, 0.1, 1, 10]}, drop=False, **arguments).fit(X, y)
    theirs = GridSearchCV(Ridge(), {"alpha": [0.01, 0.1, 1, 10]}, **arguments).fit(X, y)
    assert_same_search(ours, theirs)
    assert is_regressor(ours)


def test_several_scorers(cancer):
    scoring = {"auc": "roc_auc", "acc": "accuracy", "f1": make_scorer(f1_score)}
    ours = of.SelectCV(LogisticRegression(), C_GRID, cv=CV, scoring=scoring, refit="auc", drop=False).fit(*cancer)
    theirs = GridSearchCV(LogisticRegression(), C_GRID, cv=CV, scoring=scoring, refit="auc").fit(*cancer)
    assert_same_search(ours, theirs)
    assert ours.scorer_.keys() == theirs.scorer_.keys()
    assert ours.score(*cancer) == theirs.score(*cancer)
    assert ours.estimate_.metric == "roc_auc"


def test_one_scorer_by_name_is_several(cancer):
    options = {"scoring": {"score": "accuracy"}, "refit": "score", "cv": CV}
    ours = of.SelectCV(LogisticRegression(), C_GRID, drop=False, **options).fit(*cancer)
    assert_same_search(ours, GridSearchCV(LogisticRegression(), C_GRID, **options).fit(*cancer))
    assert ours.score(*cancer) == ours.scorer_["score"](ours, *cancer)


def test_several_scorers_need_one_that_selects(cancer):
    search = of.SelectCV(LogisticRegression(), C_GRID, cv=3, scoring=["accuracy", "roc_auc"], drop=False)
    with pytest.raises(InputError, match=r"refit must be set to a scorer key.*accuracy, roc_auc"):
        search.fit(*cancer)
    search.set_params(refit=False).fit(*cancer)
    assert search.multimetric_
    assert not hasattr(search, "best_index_")
    assert not hasattr(search, "estimate_")
    assert "mean_test_roc_auc" in search.cv_results_


def test_a_plain_function_is_a_scorer(cancer):
    def hits(estimator, X, y):
        assert len(X) == len(y)
        return np.mean(estimator.predict(X) == y)

    def confidence(estimator, X, y):
        return estimator.predict_proba(X)[np.arange(len(y)), y].mean()

    for scorer in (hits, confidence):
        arguments = {"scoring": scorer, "cv": CV}
        ours = of.SelectCV(LogisticRegression(), C_GRID, drop=False, **arguments).fit(*cancer)
        assert_same_search(ours, GridSearchCV(LogisticRegression(), C_GRID, **arguments).fit(*cancer))
        assert "estimate_" not in dir(ours)  # slow, so made when it is asked for


def test_a_scorer_may_look_at_x_and_at_the_model(cancer):
    def looks_at_x(estimator, X, y):
        return X.mean() + estimator.predict(X).mean()

    def looks_at_coefficients(estimator, X, y):
        return -np.abs(estimator.coef_).sum()

    for scorer in (looks_at_x, looks_at_coefficients):
        arguments = {"scoring": scorer, "cv": CV}
        ours = of.SelectCV(LogisticRegression(), C_GRID, drop=False, **arguments).fit(*cancer)
        assert_same_search(ours, GridSearchCV(LogisticRegression(), C_GRID, **arguments).fit(*cancer))
        assert ours.estimate_.method == "tt"  # four folds are too few to draw from
        assert (
            of.estimate.bbc(ours.oof_, "accuracy").selected in ours.oof_.configs
        )  # predictions are kept beside the scores


def simplest_within_one_sd(results):
    mean, sd = results["mean_test_score"], results["std_test_score"]
    best = np.nanargmax(mean)
    within = np.flatnonzero(mean >= mean[best] - sd[best])
    return int(within[np.argmin(results["param_C"][within].astype(float))])


def test_refit_by_a_function_of_the_table(cancer):
    ours = of.SelectCV(LogisticRegression(), C_GRID, cv=CV, refit=simplest_within_one_sd).fit(*cancer)
    theirs = GridSearchCV(LogisticRegression(), C_GRID, cv=CV, refit=simplest_within_one_sd).fit(*cancer)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_index_ == theirs.best_index_
    assert not hasattr(ours, "best_score_")
    assert ours.estimate_.rule == "picked by simplest_within_one_sd on mean accuracy over folds, of 4 configurations"
    assert ours.estimate_.selected == ours.oof_.configs[ours.best_index_]
    assert len(set(ours.estimate_.chosen)) > 1  # the function selects anew in every draw


@pytest.mark.parametrize(("answer", "error"), [("first", TypeError), (99, IndexError), (None, TypeError)])
def test_refit_must_give_an_index(cancer, answer, error):
    with pytest.raises(error, match="refit"):
        of.SelectCV(LogisticRegression(), C_GRID, cv=3, refit=lambda results: answer).fit(*cancer)


def test_without_refit(cancer):
    ours = of.SelectCV(LogisticRegression(), C_GRID, cv=CV, refit=False, drop=False).fit(*cancer)
    theirs = GridSearchCV(LogisticRegression(), C_GRID, cv=CV, refit=False).fit(*cancer)
    assert_same_search(ours, theirs)
    assert not hasattr(ours, "best_estimator_")
    assert not hasattr(ours, "predict")
    assert ours.estimate_.selected == ours.selection_.name
    with pytest.raises(AttributeError, match="has no attribute 'predict'"):
        ours.predict(cancer[0])


def test_methods_are_those_of_the_estimator(cancer):
    X, y = cancer
    search = of.SelectCV(LinearDiscriminantAnalysis(), {"shrinkage": [None, 0.5]}, cv=3, error_score=0.0)
    search.set_params(estimator__solver="eigen", drop=False).fit(X, y)
    model = search.best_estimator_
    for name in ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform"):
        np.testing.assert_array_equal(getattr(search, name)(X), getattr(model, name)(X))
    assert not hasattr(search, "inverse_transform")
    assert not hasattr(of.SelectCV(LinearSVC(), {"C": [1]}), "predict_proba")
    assert search.set_output(transform="pandas").transform(X).shape == (200, 1)
    assert isinstance(search.transform(X), pd.DataFrame)


def test_unfitted():
    search = of.SelectCV(LogisticRegression(), C_GRID)
    assert is_classifier(search)
    for name in ("estimate_", "classes_", "n_features_in_", "interval_", "oof_"):
        assert not hasattr(search, name), name
    with pytest.raises(NotFittedError):
        search.predict([[0.0]])


def test_repr_and_clone():
    search = of.SelectCV(LogisticRegression(), C_GRID, cv=5)
    assert (
        repr(search)
        == "SelectCV(cv=5, estimator=LogisticRegression(),\n         param_grid={'C': [0.01, 0.1, 1.0, 10.0]})"
    )
    assert clone(search).get_params()["estimator__C"] == 1.0
    configs = of.grid("logit", LogisticRegression(), C=[0.1, 1])
    assert list(clone(of.SelectCV(configs)).estimator) == list(configs)


def test_html_shows_the_honest_estimate_first_once_it_is_known(cancer):
    search = of.SelectCV(LogisticRegression(), C_GRID, cv=3)
    for before in (search._repr_html_(), search.fit(*cancer)._repr_html_()):
        assert "of the selected configuration" not in before
    estimate = search.estimate_
    after = search._repr_html_()
    assert after.startswith(estimate._repr_html_())
    assert "sk-top-container" in after


def test_looking_at_a_search_lists_the_estimate_and_does_not_compute_it(cancer):
    search = of.SelectCV(LogisticRegression(), C_GRID, cv=3, scoring="roc_auc").fit(*cancer)
    assert {"estimate_", "interval_"} <= set(dir(search))
    vars(search), repr(search), str(search)
    assert "best_score_" in make_pipeline(StandardScaler(), search)._repr_html_() + search._repr_html_()
    assert "_estimate" not in vars(search)
    assert "_correction" in vars(search)  # what it is computed from is still there
    assert dict(inspect.getmembers(search))["estimate_"] is search.estimate_


# -- what GridSearchCV does not have --------------------------------------------------------------------


def test_the_honest_estimate_is_bbc_with_the_same_rule(noise):
    search = of.SelectCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9, 15], "p": [1, 2]}, cv=5).fit(*noise)
    estimate = search.estimate_
    assert estimate.method == "bbc"
    assert estimate.value < search.best_score_
    assert search.interval_ == estimate.interval
    assert estimate.selected == search.selection_.name
    assert str(search.oof_.plan) == "5-fold by StratifiedKFold"
    assert pickle.loads(pickle.dumps(search)).estimate_.value == estimate.value


def test_the_estimate_is_computed_when_it_is_first_read(cancer):
    X, y = (np.array(values) for values in cancer)
    search = of.SelectCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}, cv=3).fit(X, y)
    assert "_estimate" not in vars(search)
    X[:], y[:] = 0, 0  # the search has predictions and labels of its own
    pickled = pickle.dumps(search)
    found = search.estimate_
    assert found is search.estimate_
    for other in (pickle.loads(pickled).estimate_, of.estimate.bbc(search.oof_, rng=0)):
        np.testing.assert_array_equal(other.draws, found.draws)
        assert (other.value, other.interval) == (found.value, found.interval)


def test_rule_selects_by_the_mean_over_folds(noise):
    rule = of.select.one_standard_error(complexity="C")
    search = of.SelectCV(LogisticRegression(), C_GRID, cv=5, rule=rule).fit(*noise)
    best = of.SelectCV(LogisticRegression(), C_GRID, cv=5, drop=False).fit(*noise)
    assert search.best_params_["C"] <= best.best_params_["C"]
    assert search.selection_.rule == f"{rule.name} of the best mean accuracy over folds, of 4 configurations"
    assert search.estimate_.selected == search.selection_.name


def test_folds_and_repeats(noise):
    for cv, repeats, text, n in (
        (None, None, "5-fold by StratifiedKFold", 5),
        (3, 2, "2 x 3-fold stratified", 6),
        (of.Plan(folds=4, stratify=False), None, "4-fold", 4),
        ([(np.arange(40), np.arange(40, 60))], None, "hold-out by", 1),
    ):
        search = of.SelectCV(GaussianNB(), cv=cv, repeats=repeats).fit(*noise)
        assert str(search.oof_.plan).startswith(text)
        assert search.n_splits_ == n
        assert f"split{n - 1}_test_score" in search.cv_results_


def test_repeats_until_stable(noise):
    search = of.SelectCV(GaussianNB(), cv=3, repeats="auto", scoring="roc_auc").fit(*noise)
    n = search.oof_.n_repeats
    assert 2 <= n <= 50
    assert search.n_splits_ == 3 * n
    assert of.stability.Rank(0.9999).holds(search.oof_) or n == 50


def test_named_configurations(cancer):
    configs = of.grid("logit", LogisticRegression(), C=[0.1, 1]) | {
        "bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(),
    }
    search = of.SelectCV(configs, cv=5, drop=False).fit(*cancer)
    assert search.cv_results_["config"].tolist() == ["logit(C=0.1)", "logit(C=1)", "bayes", "tree"]
    assert search.cv_results_["params"][1] == {"config": "logit(C=1)", "C": 1}
    assert search.cv_results_["param_C"].mask.tolist() == [False, False, True, True]
    assert search.best_params_["config"] == search.selection_.name
    assert type(search.best_estimator_) is type(configs[search.selection_.name])
    plain = of.SelectCV({"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=1)}, cv=5).fit(*cancer)
    assert plain.predict(cancer[0]).shape == (200,)


def test_seeds_make_it_repeatable(noise):
    grid = {"max_features": [1, 2, 4]}
    first, again = (of.SelectCV(RandomForestClassifier(4), grid, cv=3, random_state=5).fit(*noise) for _ in range(2))
    other = of.SelectCV(RandomForestClassifier(4), grid, cv=3, random_state=6).fit(*noise)
    np.testing.assert_array_equal(first.cv_results_["mean_test_score"], again.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(first.predict_proba(noise[0]), again.predict_proba(noise[0]))
    assert first.oof_.fingerprint == other.oof_.fingerprint  # folds of a number are those of scikit-learn
    assert not np.array_equal(first.oof_.data, other.oof_.data)
    folds = [of.SelectCV(GaussianNB(), cv=of.Plan(folds=3), random_state=s).fit(*noise).oof_.folds for s in (5, 6)]
    assert not np.array_equal(*folds)
    drawn = of.SelectCV(GaussianNB(), cv=3, random_state=None).fit(*noise)
    assert isinstance(drawn.oof_.provenance["seed"], int)


def test_store_resumes(noise, tmp_path):
    X, y = noise
    log, store = tmp_path / "log", tmp_path / "run.oof"
    grid = {"scale": [0.1, 1.0]}
    of.SelectCV(Tally(log=str(log)), grid, cv=3, store=store).fit(X, y)
    assert fits(log) == 2 * 3 + 1
    search = of.SelectCV(Tally(log=str(log)), {"scale": [1.0, 10.0]}, cv=3, store=store).fit(X, y)
    assert fits(log) == 2 * 3 + 1 + 3 + 1
    assert search.oof_.configs == ("Tally(scale=1)", "Tally(scale=10)")
    assert np.isfinite(search.cv_results_["mean_fit_time"]).all()


def test_verbose_shows_progress(noise, capsys):
    of.SelectCV(GaussianNB(), cv=3, verbose=1).fit(*noise)
    assert "collect 3/3 cells" in capsys.readouterr().err
    of.SelectCV(GaussianNB(), cv=3).fit(*noise)
    assert capsys.readouterr().err == ""


# -- searches -------------------------------------------------------------------------------------------


def test_random_draws_without_replacement(noise):
    grid = {"n_neighbors": list(range(1, 21))}
    search = of.SelectCV(KNeighborsClassifier(), grid, search="random", n_configs=15, cv=3, drop=False).fit(*noise)
    drawn = [p["n_neighbors"] for p in search.cv_results_["params"]]
    assert len(drawn) == len(set(drawn)) == 15
    again = clone(search).fit(*noise)
    assert again.cv_results_["params"] == search.cv_results_["params"]
    assert len(clone(search).set_params(n_configs=None).fit(*noise).cv_results_["params"]) == 10


def test_random_draws_from_distributions(noise):
    grid = {"C": loguniform(1e-3, 1e3), "fit_intercept": [True, False]}
    search = of.SelectCV(LogisticRegression(), grid, search="random", n_configs=6, cv=3, drop=False).fit(*noise)
    assert len({p["C"] for p in search.cv_results_["params"]}) == 6
    whole = of.SelectCV(KNeighborsClassifier(), {"n_neighbors": randint(1, 5)}, search="random", n_configs=4, cv=3)
    assert sorted(p["n_neighbors"] for p in whole.fit(*noise).cv_results_["params"]) == [1, 2, 3, 4]
    with pytest.warns(UserWarning, match="total space of parameters 4 is smaller than n_iter=5"):
        whole.set_params(n_configs=5).fit(*noise)
    assert sorted(p["n_neighbors"] for p in whole.cv_results_["params"]) == [1, 2, 3, 4]


def test_random_among_named_configurations(noise):
    configs = of.grid("knn", KNeighborsClassifier(), n_neighbors=range(1, 9))
    search = of.SelectCV(configs, search="random", n_configs=3, cv=3).fit(*noise)
    assert search.oof_.n_configs == 3
    assert set(search.oof_.configs) < set(configs)


# -- dropping -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed():
    """400 samples on which deep trees are hopeless and some of the others hard to tell apart."""
    X, y = make_classification(400, 10, n_informative=3, flip_y=0.25, random_state=2)
    return (
        X,
        y,
        of.grid("logit", LogisticRegression(), C=[0.01, 0.1, 1])
        | of.grid("tree", DecisionTreeClassifier(), max_depth=[1, 2, None], splitter=["best", "random"]),
    )


@pytest.mark.parametrize("scoring", [None, "roc_auc", "neg_log_loss"])
def test_dropping_saves_fits_and_keeps_the_winner(mixed, scoring):
    X, y, configs = mixed
    full = of.SelectCV(configs, scoring=scoring, drop=False).fit(X, y)
    search = of.SelectCV(configs, scoring=scoring).fit(X, y)
    dropped = search.cv_results_["state"] == "dropped"
    assert dropped.any()
    assert search.best_index_ == full.best_index_
    assert search.best_score_ == full.best_score_
    assert search.oof_.provenance["n_fits"] < full.oof_.provenance["n_fits"]
    assert np.isnan(search.cv_results_["mean_test_score"][dropped]).all()
    assert (search.cv_results_["rank_test_score"][dropped] == (~dropped).sum() + 1).all()
    both = ~np.isnan(search.cv_results_["split0_test_score"])
    assert both.all()  # everything was tried on the first fold
    np.testing.assert_array_equal(search.cv_results_["split0_test_score"], full.cv_results_["split0_test_score"])
    assert "OF207" in {note.code for note in search.estimate_.notes}


def test_dropping_goes_by_the_metric_that_selects(mixed):
    X, y, configs = mixed
    search = of.SelectCV(configs, scoring={"auc": "roc_auc", "loss": "neg_log_loss"}, refit="loss").fit(X, y)
    alone = of.SelectCV(configs, scoring="neg_log_loss").fit(X, y)
    assert search.cv_results_["state"].tolist() == alone.cv_results_["state"].tolist()
    rule = of.drop.Bootstrap(threshold=0.6, min_predictions=0)
    early = of.SelectCV(configs, scoring="neg_log_loss", drop=rule).fit(X, y)
    assert (early.cv_results_["state"] == "dropped").sum() >= (alone.cv_results_["state"] == "dropped").sum()
    assert "neg_log_loss" in early.oof_.provenance["identity"]["drop"]


@pytest.mark.parametrize(
    "options",
    [
        {"rule": of.select.one_standard_error(complexity="C")},
        {"refit": lambda results: int(np.nanargmax(results["mean_test_score"]))},
        {"scoring": "adjusted_rand_score"},
        {"scoring": ["accuracy", "roc_auc"], "refit": False},
        {"drop": False},
        {"drop": None},
    ],
)
def test_nothing_is_dropped_unless_the_best_mean_is_what_is_wanted(mixed, options):
    X, y, configs = mixed
    search = of.SelectCV(configs, cv=4, **options).fit(X, y)
    assert "state" not in search.cv_results_  # it says what was dropped or failed
    assert search.oof_.completeness == 1.0


def test_a_callable_drops(mixed):
    X, y, configs = mixed
    search = of.SelectCV(configs, cv=3, drop=lambda oof: ["logit(C=1)"] if oof.n_configs == 9 else []).fit(X, y)
    assert search.cv_results_["state"].tolist() == ["done", "done", "dropped"] + ["done"] * 6


def test_refit_may_not_select_what_was_dropped(mixed):
    X, y, configs = mixed
    search = of.SelectCV(configs, cv=3, refit=lambda results: 2, drop=lambda oof: ["logit(C=1)"])
    with pytest.raises(InputError, match=r"refit selected 'logit\(C=1\)', which was dropped"):
        search.fit(X, y)


def test_halving_keeps_the_better_half_after_every_fold(mixed):
    X, y, configs = mixed
    search = of.SelectCV(configs, search="halving", cv=5).fit(X, y)
    done = np.array([~np.isnan(search.cv_results_[f"split{i}_test_score"]) for i in range(5)]).sum(axis=1)
    assert done.tolist() == [9, 5, 3, 2, 1]
    first = search.cv_results_["split0_test_score"]
    kept = ~np.isnan(search.cv_results_["split1_test_score"])
    assert first[kept].min() >= first[~kept].max()
    assert (search.cv_results_["state"] == "done").sum() == 1
    assert search.cv_results_["state"][search.best_index_] == "done"
    assert "OF211" in {note.code for note in search.estimate_.notes}
    some = of.SelectCV(configs, search="halving", n_configs=4, cv=5).fit(X, y)
    assert some.oof_.n_configs == 4


def test_workers_and_dropping_give_the_same(mixed):
    X, y, configs = mixed
    one, two = (of.SelectCV(configs, n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.oof_.data.tobytes() == two.oof_.data.tobytes()
    assert one.cv_results_["state"].tolist() == two.cv_results_["state"].tolist()
    assert one.estimate_.value == two.estimate_.value


# -- optuna ---------------------------------------------------------------------------------------------


@pytest.fixture
def optuna():
    module = pytest.importorskip("optuna")
    module.logging.set_verbosity(module.logging.ERROR)
    return module


def test_a_sampler_is_asked_and_told(optuna, noise):
    grid = {"C": optuna.distributions.FloatDistribution(1e-3, 1e3, log=True)}
    search = of.SelectCV(
        LogisticRegression(), grid, search=optuna.samplers.TPESampler(seed=1), n_configs=12, cv=CV, scoring="roc_auc"
    ).fit(*noise)
    values = [p["C"] for p in search.cv_results_["params"]]
    assert len(values) == search.oof_.n_configs == 12
    theirs = GridSearchCV(LogisticRegression(), {"C": values}, cv=CV, scoring="roc_auc").fit(*noise)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-12)
    assert search.best_score_ == pytest.approx(theirs.best_score_, abs=1e-12)
    assert search.estimate_.n_configs == 12
    assert np.isfinite(search.cv_results_["mean_fit_time"]).all()
    again = clone(search).fit(*noise)
    assert [p["C"] for p in again.cv_results_["params"]] == values
    assert [p["C"] for p in search.fit(*noise).cv_results_["params"]] == values  # the sampler is as it was given


def test_predictions_of_a_sampler_outlive_the_file_they_were_collected_in(optuna, noise, monkeypatch):
    """`load` leaves large predictions in their file, and a search without `store` has a temporary one."""
    grid = {"C": optuna.distributions.FloatDistribution(0.1, 10)}
    search = of.SelectCV(LogisticRegression(), grid, search=optuna.samplers.RandomSampler(seed=0), n_configs=3, cv=3)
    expected = clone(search).fit(*noise)
    monkeypatch.setattr(store, "_AT_ONCE", 0)
    search.fit(*noise)
    np.testing.assert_array_equal(search.oof_.data, expected.oof_.data)
    assert search.estimate_.interval == expected.estimate_.interval
    assert pickle.loads(pickle.dumps(search)).oof_.fingerprint == expected.oof_.fingerprint


def test_a_study_is_asked_and_told(optuna, noise):
    def space(trial):
        kernel = trial.suggest_categorical("kernel", ["linear", "rbf"])
        extra = {"gamma": trial.suggest_float("gamma", 0.01, 1)} if kernel == "rbf" else {}
        return {"kernel": kernel, **extra}

    for direction, sign in (("maximize", 1), ("minimize", -1)):
        study = optuna.create_study(direction=direction, sampler=optuna.samplers.RandomSampler(seed=3))
        search = of.SelectCV(SVC(), space, search=study, n_configs=8, cv=3).fit(*noise)
        assert len(study.trials) == 8
        assert search.oof_.n_configs < 8  # a linear kernel is one configuration, however often it was suggested
        assert search.cv_results_["param_gamma"].mask.sum() == 1
        assert sign * study.best_value == pytest.approx(search.best_score_)
    with pytest.raises(InputError, match="a number of repeats"):
        of.SelectCV(SVC(), space, search=study, repeats="auto").fit(*noise)
    by_names = of.SelectCV({"a": SVC()}, space, search=study)
    with pytest.raises(InputError, match="one estimator"):
        by_names.fit(*noise)
    with pytest.raises(InputError, match="Optuna distributions by parameter"):
        of.SelectCV(SVC(), search=study).fit(*noise)
    several = optuna.create_study(directions=["maximize", "minimize"])
    with pytest.raises(InputError, match="several objectives"):
        of.SelectCV(SVC(), space, search=several).fit(*noise)


def test_a_sampler_with_a_store_resumes(optuna, noise, tmp_path):
    log, store = tmp_path / "log", tmp_path / "run.oof"
    grid = {"scale": optuna.distributions.FloatDistribution(0.1, 2)}
    search = of.SelectCV(
        Tally(log=str(log)), grid, search=optuna.samplers.TPESampler(seed=0), n_configs=3, cv=3, store=store
    ).fit(*noise)
    assert fits(log) == 3 * 3 + 1
    again = clone(search).set_params(n_configs=4).fit(*noise)
    assert fits(log) == 3 * 3 + 1 + 3 + 1
    assert again.oof_.configs[:3] == search.oof_.configs


def test_suggestions_may_fail(optuna, noise):
    grid = {"solver": optuna.distributions.CategoricalDistribution(["lbfgs", "nonsense"])}
    sampler = optuna.samplers.RandomSampler(seed=0)
    search = of.SelectCV(LogisticRegression(), grid, search=sampler, n_configs=8, cv=3)
    with pytest.warns(FitFailedWarning):
        search.fit(*noise)
    assert search.best_params_ == {"solver": "lbfgs"}
    grid = {"solver": optuna.distributions.CategoricalDistribution(["nonsense"])}
    with pytest.raises(ValueError, match="failed"):
        of.SelectCV(LogisticRegression(), grid, search=sampler, n_configs=2, cv=3).fit(*noise)


def test_without_optuna_a_sampler_says_what_to_install(noise, monkeypatch):
    class Sampler:
        def sample_relative(self):
            """What tells a sampler."""

    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=r"pip install 'outfold\[optuna\]'"):
        of.SelectCV(SVC(), {"C": [1]}, search=Sampler()).fit(*noise)


# -- groups and weights ---------------------------------------------------------------------------------


def test_groups_are_held_out_whole_and_drawn_whole(noise):
    X, y = noise
    groups = np.repeat(np.arange(20), 3)
    plan = of.Plan(folds=4)
    search = of.SelectCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-2]}, cv=plan).fit(X, y, groups=groups)
    assert all(len(np.unique(search.oof_.folds[groups == g, 0])) == 1 for g in range(20))
    theirs = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-2]}, cv=GroupKFold(4)).fit(X, y, groups=groups)
    ours = of.SelectCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-2]}, cv=GroupKFold(4), drop=False)
    assert_same_search(ours.fit(X, y, groups=groups), theirs)
    assert ours.oof_.groups is not None


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
@pytest.mark.parametrize("cv", [of.Plan(folds=3, groups=False), 3, KFold(3, shuffle=True, random_state=0)])
def test_groups_with_folds_that_ignore_them_are_noted(noise, cv):
    groups = np.random.default_rng(0).permutation(60) // 2
    search = of.SelectCV(GaussianNB(), cv=cv).fit(*noise, groups=groups)
    assert "OF102" in {note.code for note in search.estimate_.notes}
    whole = of.SelectCV(GaussianNB(), cv=GroupKFold(3)).fit(*noise, groups=groups)
    assert "OF102" not in {note.code for note in whole.estimate_.notes}


def test_sample_weights_count_in_the_fits_and_in_the_scores(noise):
    X, y = noise
    weights = np.where(y == 1, 20.0, 1.0)
    grid = {"C": [0.1, 1.0]}
    search = of.SelectCV(LogisticRegression(), grid, cv=CV).fit(X, y, sample_weight=weights)
    plain = of.SelectCV(LogisticRegression(), grid, cv=CV).fit(X, y)
    model = LogisticRegression(**search.best_params_).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(search.best_estimator_.coef_, model.coef_)
    assert search.predict(X).mean() > plain.predict(X).mean()
    assert_same_search(search, GridSearchCV(LogisticRegression(), grid, cv=CV).fit(X, y, sample_weight=weights))
    weighted = hasattr(GridSearchCV, "_check_scorers_accept_sample_weight")  # scikit-learn from 1.9 on
    assert ("OF104" in {note.code for note in search.estimate_.notes}) is not weighted
    assert search.estimate_.method == ("tt" if weighted else "bbc")
    assert "OF104" not in {note.code for note in plain.estimate_.notes}
    in_step = of.SelectCV(SVM, {"svc__C": [1]}, cv=3).fit(X, y, svc__sample_weight=weights)
    assert in_step.predict(X).mean() > 0.5
    with pytest.raises(InputError, match="one entry for each of the 60 samples"):
        of.SelectCV(LogisticRegression(), grid, cv=3).fit(X, y, sample_weight=weights[:5])


def test_metadata_routing(noise):
    X, y = noise
    groups, weights = np.arange(60) // 3, np.where(y == 1, 20.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        for n_jobs in (1, 2):
            search = of.SelectCV(
                make_pipeline(scaler, model),
                cv=GroupKFold(3),
                n_jobs=n_jobs,
            )
            search.fit(X, y, groups=groups, sample_weight=weights)
            assert not search.oof_.messages
            assert search.predict(X).mean() > 0.8
        scores = cross_validate(
            of.SelectCV(model, C_GRID, cv=3),
            X,
            y,
            cv=GroupKFold(3),
            params={"groups": groups, "sample_weight": weights},
        )
        assert np.isfinite(scores["test_score"]).all()
        refuses = LogisticRegression().set_fit_request(sample_weight=False).set_score_request(sample_weight=False)
        with pytest.raises(TypeError, match="sample_weight"):
            of.SelectCV(refuses, cv=3).fit(X, y, sample_weight=weights)
        weighted = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        arguments = {"scoring": weighted, "cv": 3}
        ours = of.SelectCV(model, C_GRID, drop=False, **arguments).fit(X, y, sample_weight=weights)
        theirs = GridSearchCV(model, C_GRID, **arguments).fit(X, y, sample_weight=weights)
        assert_same_search(ours, theirs)


def test_nested_cross_validation_by_scikit_learn(noise):
    scores = cross_val_score(of.SelectCV(LogisticRegression(), C_GRID, cv=3), *noise, cv=3, n_jobs=2)
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()


# -- failures and bad input -----------------------------------------------------------------------------


def test_failed_fits_are_failed_cells(noise):
    configs = {"good": Tally(), "bad": Raises()}
    with pytest.warns(FitFailedWarning, match=r"3 fits failed out of a total of 6(.|\n)*RuntimeError: no luck today"):
        search = of.SelectCV(configs, cv=3, drop=False).fit(*noise)
    assert search.cv_results_["state"].tolist() == ["done", "failed"]
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True]
    assert search.cv_results_["rank_test_score"].tolist() == [1, 2]
    assert search.best_params_ == {"config": "good"}
    with pytest.warns(FitFailedWarning):
        search = of.SelectCV(configs, cv=3, error_score=2.0, drop=False).fit(*noise)
    assert search.cv_results_["mean_test_score"][1] == 2.0
    assert search.best_params_ == {"config": "good"}


def test_failures_can_be_raised(noise):
    with pytest.raises(RuntimeError, match="no luck today"):
        of.SelectCV({"good": Tally(), "bad": Raises()}, cv=3, error_score="raise", drop=False).fit(*noise)
    with pytest.raises(RuntimeError, match="no luck today"):
        of.SelectCV(Raises(), {"scale": [1, 2]}, cv=3, error_score="raise").fit(*noise)


def test_when_all_fail_it_is_a_value_error_as_in_gridsearchcv(noise):
    with pytest.raises(ValueError, match=r"All the 6 fits failed(.|\n)*no luck today"):
        of.SelectCV(Raises(), {"scale": [1, 2]}, cv=3).fit(*noise)


def test_a_search_that_cannot_be_estimated_still_fits():
    X, y = np.arange(8.0).reshape(4, 2), [0, 0, 1, 1]
    search = of.SelectCV(GaussianNB(), cv=2, scoring="roc_auc").fit(X, y)
    assert search.predict(X).shape == (4,)


BAD = {
    "search": ({"search": "best"}, "search must be 'grid', 'random', 'halving'"),
    "n_configs of a grid": ({"n_configs": 3}, "tries the whole grid"),
    "n_configs of no kind": ({"search": "random", "n_configs": "all"}, "n_configs must be a whole number"),
    "n_configs too small": ({"search": "random", "n_configs": 0}, "n_configs must be a whole number of at least 1"),
    "no such parameter": ({"grid": {"gamma": [1]}}, "no parameter 'gamma'"),
    "grid": ({"grid": {"C": []}}, "non-empty"),
    "two grids": ({"param_grid": C_GRID}, "two names for one thing"),
    "cv": ({"cv": "five"}, "Expected `cv` as an integer"),
    "one fold": ({"cv": 1}, "n_splits=2 or more"),
    "scoring": ({"scoring": "acuracy"}, "did you mean 'accuracy'"),
    "a loss": ({"scoring": "log_loss"}, "Give scoring='neg_log_loss'"),
    "scoring of no kind": ({"scoring": 3}, "scoring must be a name"),
    "refit": ({"refit": 3}, "refit must be True, False"),
    "rule and function": ({"refit": simplest_within_one_sd, "rule": of.select.best}, "both select"),
    "error_score": ({"error_score": "ignore"}, "error_score must be a number or 'raise'"),
    "random_state": ({"random_state": "today"}, "random_state must be a whole number"),
    "halving without drops": ({"search": "halving", "drop": False}, "decides itself which configurations to drop"),
    "threshold": ({"drop": "yes"}, "drop"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named(name, noise):
    arguments, message = BAD[name]
    search = of.SelectCV(LogisticRegression(), **{"grid": C_GRID, "cv": 3, **arguments})
    with pytest.raises(ValueError, match=message):
        search.fit(*noise)


def test_more_bad_input(noise):
    X, y = noise
    with pytest.raises(InputError, match=r"neg_log_loss needs predict_proba, which 'SVC\(C=1\)' does not have"):
        of.SelectCV(SVC(), {"C": [1, 2]}, scoring="neg_log_loss", cv=3).fit(X, y)
    with pytest.raises(InputError, match="roc_auc needs decision_function or predict_proba"):
        of.SelectCV({"a": LinearSVC(), "b": OnlyLabels()}, scoring="roc_auc", cv=3).fit(X, y)
    with pytest.raises(InputError, match="named configurations take no grid"):
        of.SelectCV({"a": SVC()}, C_GRID).fit(X, y)
    with pytest.raises(InputError, match="there is no configuration"):
        of.SelectCV({}).fit(X, y)
    with pytest.raises(InputError, match="requires y"):
        of.SelectCV(SVC(), C_GRID).fit(X)
    with pytest.raises(InputError, match="is a class"):
        of.SelectCV(SVC, C_GRID).fit(X, y)
    with pytest.raises(InputError, match="all configurations must be classifiers or all regressors"):
        of.SelectCV({"a": SVC(), "b": LinearRegression()}, cv=3).fit(X, y)


class OnlyLabels(Tally):
    predict_proba = property()

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


# -- the package ----------------------------------------------------------------------------------------


def test_it_is_a_name_of_the_package():
    assert "SelectCV" in dir(of)
    with pytest.raises(AttributeError, match="no attribute 'GridSearchCV'"):
        _ = of.GridSearchCV


def test_no_warning_on_ordinary_data(cancer):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = of.SelectCV(LogisticRegression(), C_GRID, cv=3).fit(*cancer)
    assert search.best_params_ in [{"C": C} for C in C_GRID["C"]]


def test_the_example_of_the_docstring_holds():
    text = of.SelectCV.__doc__
    code = "\n".join(re.findall(r"^\s*>>> (.*)$", text, re.M))
    space = {"SelectCV": of.SelectCV}
    exec(code, space)
    assert space["search"].best_params_ == {"C": 1, "kernel": "linear"}
    assert space["search"].best_score_ > space["search"].estimate_.value


DOCS = (Path(__file__).parents[2] / "docs" / "selectcv.md").read_text()
EXAMPLES = re.findall(r"^### ([^\n]+)\n.*?```python\n(.*?)```\n```\n(.*?)```\n", DOCS, re.M | re.S)


@pytest.mark.parametrize(("title", "code", "printed"), EXAMPLES, ids=[title for title, *_ in EXAMPLES])
def test_examples_of_the_documentation(title, code, printed):
    out = io.StringIO()
    # More OpenMP threads than free cores make boosting of small tables crawl.
    with contextlib.redirect_stdout(out), threadpool_limits(1):
        exec(compile(code, title, "exec"), {})
    assert out.getvalue() == printed


def test_the_example_of_comparing_and_saving(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"^## Compare, save, load\n.*?```python\n(.*?)```\n", DOCS, re.M | re.S)
    space = {"load_iris": load_iris, "GridSearchCV": of.SelectCV, "SVC": SVC}
    exec(compile(code, "compare", "exec"), space)
    assert of.estimate.bbc(of.load("search.oof")).to_dict() == space["search"].estimate_.to_dict()


@pytest.mark.parametrize(("title", "code", "printed"), EXAMPLES, ids=[title for title, *_ in EXAMPLES])
def test_one_line_of_an_example_differs_from_gridsearchcv(title, code, printed):
    assert len(EXAMPLES) == 4
    changed = [line for line in code.splitlines() if "# was: " in line]
    assert len(changed) == 1
    before = code.replace(changed[0], changed[0].partition("# was: ")[2])
    before = "\n".join(line for line in before.splitlines() if "estimate_" not in line)  # what only we can say
    assert "SelectCV" not in before
    out = io.StringIO()
    with contextlib.redirect_stdout(out), threadpool_limits(1):
        exec(compile(before, title, "exec"), {})
    theirs = out.getvalue().splitlines()
    assert theirs
    assert set(theirs) <= set(printed.splitlines())  # the same winner and the same scores


class Listener:
    """A callback that counts what it is told."""

    def __init__(self):
        self.told = []

    def setup(self, estimator, context):
        self.told.append("setup")

    def teardown(self, estimator, context):
        self.told.append("teardown")

    def on_fit_task_begin(self, estimator, context, **kwargs):
        self.told.append(f"{context.task_name} begins")

    def on_fit_task_end(self, estimator, context, **kwargs):
        self.told.append(f"{context.task_name} ends")


def test_callbacks_of_scikit_learn_hear_of_every_cell(noise):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    X, y = noise
    listener = Listener()
    search = of.SelectCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3, drop=False).set_callbacks(listener)
    quiet = of.SelectCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3, drop=False).fit(X, y)
    assert search.fit(X, y).best_score_ == quiet.best_score_
    assert listener.told[:2] == ["setup", "fit begins"]
    assert listener.told.count("candidate-split-evaluation ends") == 6
    assert listener.told.count("refit-with-best-params ends") == 1
    assert listener.told[-2:] == ["fit ends", "teardown"]


def test_callbacks_end_when_the_fit_fails(noise):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    X, y = noise
    listener = Listener()
    with pytest.raises(Exception, match="C"):
        of.SelectCV(LogisticRegression(), {"C": [-1.0]}, cv=3).set_callbacks(listener).fit(X, y)
    assert listener.told[-1] == "teardown"


@pytest.mark.parametrize("method", ["predict_proba", ("decision_function", "predict_proba")])
def test_scorers_may_name_the_first_class_as_the_positive_one(noise, method):
    X, y = noise
    names = np.where(y == 1, "yes", "no")
    scorer = make_scorer(average_precision_score, response_method=method, pos_label="no")
    options = {"scoring": scorer, "cv": StratifiedKFold(3)}
    ours = of.SelectCV(LogisticRegression(), {"C": [0.01, 1.0]}, drop=False, **options).fit(X, names)
    theirs = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, **options).fit(X, names)
    assert ours.cv_results_["mean_test_score"] == pytest.approx(theirs.cv_results_["mean_test_score"], abs=1e-12)


def test_a_rule_knows_parameters_by_their_full_names(cancer):
    grid = {"svc__C": [0.1, 1, 10]}
    full, short = (
        of.SelectCV(SVM, grid, cv=CV, rule=of.select.one_standard_error(complexity=name)).fit(*cancer)
        for name in ("svc__C", "C")
    )
    assert full.best_params_ == short.best_params_


def test_a_failed_fit_leaves_nothing_behind(cancer):
    def refuses(table):
        raise RuntimeError("no index")

    search = of.SelectCV(LogisticRegression(), C_GRID, cv=CV).fit(*cancer)
    with pytest.raises(RuntimeError, match="no index"):
        search.set_params(refit=refuses).fit(*cancer)
    assert not [name for name in vars(search) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        search.set_params(refit=True).predict(cancer[0])


def test_folds_of_one_sample_are_named_where_they_leave_a_metric_undefined():
    X = np.random.default_rng(0).normal(size=(12, 2))
    search = of.SelectCV(Ridge(), {"alpha": [1, 10]}, cv=KFold(12), drop=False)
    with pytest.warns(UserWarning, match="One or more of the test scores are non-finite"):
        search.fit(X, X[:, 0])  # as in GridSearchCV, the first configuration is taken
    assert search.best_index_ == 0
    with pytest.raises(InputError, match="r2 is undefined in every fold: each holds out one sample only"):
        _ = search.estimate_
