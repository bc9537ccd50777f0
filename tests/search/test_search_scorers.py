"""Every way to say `scoring`, against GridSearchCV: functions of the estimator, positive classes, scorers made by hand."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    SGDClassifier,
    TweedieRegressor,
)
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    check_scoring,
    f1_score,
    fbeta_score,
    get_scorer,
    get_scorer_names,
    jaccard_score,
    log_loss,
    make_scorer,
    matthews_corrcoef,
    mean_absolute_error,
    mean_squared_error,
    precision_score,
    r2_score,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import outfold as of
from extras import pd
from internals import without_positive
from outfold import metrics
from outfold.exceptions import InputError

CV = StratifiedKFold(3, shuffle=True, random_state=3)
C_GRID = {"C": [0.001, 0.1, 10.0]}


@pytest.fixture(scope="module")
def data():
    return make_classification(90, 6, n_informative=2, weights=[0.65], flip_y=0.2, random_state=1)


@pytest.fixture
def few_draws(monkeypatch):
    """A score that is computed draw by draw is corrected with 20 draws; with 200, a test takes seconds."""
    monkeypatch.setattr("outfold.search.correction._LOOPED_DRAWS", 20)


def both(estimator, grid, X, y, **options):
    ours = of.SelectCV(estimator, grid, drop=False, **options).fit(X, y)
    theirs = GridSearchCV(estimator, grid, **options).fit(X, y)
    return ours, theirs


def assert_same_scores(ours, theirs, names=("score",)):
    for name in names:
        for column in (f"mean_test_{name}", f"split0_test_{name}", f"std_test_{name}", f"rank_test_{name}"):
            np.testing.assert_allclose(ours.cv_results_[column], theirs.cv_results_[column], rtol=1e-12, atol=1e-12)
    assert ours.best_index_ == theirs.best_index_


# -- functions of (estimator, X, y) ---------------------------------------------------------------------


def right(estimator, X, y):
    return np.mean(estimator.predict(X) == y)


def own(estimator, X, y):
    return estimator.score(X, y)


def by_classes(estimator, X, y):
    last = estimator.classes_[1]
    return roc_auc_score(y == last, estimator.predict_proba(X)[:, list(estimator.classes_).index(last)])


def by_a_scorer(estimator, X, y):
    return get_scorer("roc_auc")(estimator, X, y) + get_scorer("f1_macro")(estimator, X, y)


def by_log_probabilities(estimator, X, y):
    return estimator.predict_log_proba(X)[np.arange(len(y)), np.searchsorted(estimator.classes_, y)].mean()


@pytest.mark.parametrize("scorer", [right, own, by_classes, by_a_scorer, by_log_probabilities])
@pytest.mark.parametrize("labels", [(0, 1), (1, 2), ("no", "yes")])
def test_functions_see_what_the_model_said(data, scorer, labels):
    X, y = data[0], np.array(labels)[data[1]]
    assert_same_scores(*both(LogisticRegression(), C_GRID, X, y, scoring=scorer, cv=CV))


def by_decision(estimator, X, y):
    return average_precision_score(y == estimator.classes_[1], estimator.decision_function(X))


@pytest.mark.parametrize("scorer", [right, own, by_decision])
def test_functions_see_decision_values(data, scorer):
    assert_same_scores(*both(LinearSVC(), C_GRID, *data, scoring=scorer, cv=CV))


@pytest.mark.parametrize("scorer", [right, own])
@pytest.mark.parametrize("response", ["predict_proba", "decision_function"])
def test_functions_see_the_labels_of_the_models_own_predict(data, few_draws, scorer, response):
    model = FixedThresholdClassifier(LogisticRegression(), response_method=response)
    ours, theirs = both(model, {"threshold": [-0.7, 0.2, 0.5, 0.8]}, *data, scoring=scorer, cv=CV)
    assert ours.oof_.labels is not None
    assert_same_scores(ours, theirs)
    assert ours.estimate_.metric == scorer.__name__


def log_likelihood(estimator, X, y):
    return -log_loss(y, estimator.predict_proba(X), labels=estimator.classes_)


@pytest.mark.parametrize("scorer", [right, own, log_likelihood])
def test_functions_and_many_classes(scorer):
    X, y = load_iris(return_X_y=True)
    y = np.array(["a", "b", "c"])[y]
    assert_same_scores(*both(LogisticRegression(max_iter=500), C_GRID, X, y, scoring=scorer, cv=CV))


def test_functions_and_many_decision_values():
    def margin(estimator, X, y):
        return estimator.decision_function(X).max(axis=1).mean()

    X, y = load_iris(return_X_y=True)
    assert_same_scores(*both(SVC(), C_GRID, X, y, scoring=margin, cv=CV))


@pytest.mark.parametrize("scorer", [own, lambda e, X, y: -np.abs(e.predict(X) - y).max()])
def test_functions_and_values(scorer):
    X, y = load_diabetes(return_X_y=True)
    assert_same_scores(*both(Ridge(), {"alpha": [0.01, 1.0, 100.0]}, X, y, scoring=scorer, cv=KFold(3)))


def test_functions_may_count_rows(data):
    def counts(estimator, X, y):
        return np.sum(estimator.predict(X) == y) / X.shape[0] + len(X) - len(y)

    assert_same_scores(*both(LogisticRegression(), C_GRID, *data, scoring=counts, cv=CV))


PEEKS = {
    "attribute of X": lambda e, X, y: X.mean(),
    "array of X": lambda e, X, y: np.asarray(X).sum(),
    "model": lambda e, X, y: e.coef_.sum(),
    "decision values": lambda e, X, y: e.decision_function(X).mean(),
}


@pytest.mark.parametrize("name", PEEKS)
def test_functions_may_look_at_x_and_at_the_model(data, name):
    ours, theirs = both(LogisticRegression(), C_GRID, *data, scoring=PEEKS[name], cv=5)
    assert_same_scores(ours, theirs)
    assert ours.estimate_.method == "bbc_f"  # a draw of samples cannot be scored without the model


FAILING = {
    "rows of X": (lambda e, X, y: X[0], "scoring must return a number"),
    "nothing": (lambda e, X, y: None, "scoring must return a number, got None"),
    "text": (lambda e, X, y: "good", "good"),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_score_that_is_no_number_is_named(data, name):
    scorer, message = FAILING[name]
    with pytest.raises(InputError, match=message):
        of.SelectCV(LogisticRegression(), C_GRID, cv=3, scoring=scorer, drop=False).fit(*data)


@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_a_score_of_folds_is_compared_and_reported_by_folds(data):
    def weighted(model, X, y):
        return np.average(model.predict(X) == y, weights=1 + (X[:, 0] > 0))

    search = of.SelectCV(LogisticRegression(), C_GRID, scoring=weighted).fit(*data)
    a, _, b = search.oof_.configs
    found = of.compare.auto(search.oof_, "score", a, b)
    assert found.pvalue == of.compare.t_corrected_kfold(search.oof_, "score", a, b, rho=1.5 / 5).pvalue
    assert found.reason.startswith("t_corrected")
    with pytest.raises(InputError, match="t_training needs predictions; these are scores of folds"):
        of.compare.t_training(search.oof_, "score", a, b)
    report = search.report()
    assert report.comparisons is not None
    assert "OF504" not in [found.code for found in report.checks]


@pytest.mark.parametrize("ask", [of.estimate.bbc, of.compare.auto, of.report])
def test_a_search_in_place_of_its_predictions(data, ask):
    search = of.SelectCV(LogisticRegression(), C_GRID).fit(*data)
    with pytest.raises(InputError, match=r"got SelectCV\. Give the predictions of the search: search\.oof_\."):
        ask(search, "accuracy")


def test_a_scorer_that_fails_sometimes_leaves_a_gap(data):
    def fragile(estimator, X, y):
        if estimator.C > 0.05:
            raise RuntimeError("out of range")
        return accuracy_score(y, estimator.predict(X))

    with pytest.warns(UserWarning, match=r"Scoring failed for \d+ of \d+ fits.*RuntimeError: out of range"):
        search = of.SelectCV(LogisticRegression(), C_GRID, cv=3, scoring=fragile).fit(*data)
    values = np.array(C_GRID["C"])
    assert np.isnan(search.cv_results_["mean_test_score"][values > 0.05]).all()
    assert np.isfinite(search.cv_results_["mean_test_score"][values <= 0.05]).all()
    assert search.best_params_["C"] <= 0.05
    with pytest.raises(RuntimeError, match="out of range"):
        of.SelectCV(LogisticRegression(), C_GRID, cv=3, scoring=fragile, error_score="raise").fit(*data)


def test_a_resample_of_one_class_is_undefined_and_not_an_error(few_draws):
    def loss(estimator, X, y):
        return -log_loss(y, estimator.predict_proba(X))

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), np.arange(12) % 6 == 0
    search = of.SelectCV(GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, scoring=loss, cv=2).fit(X, y)
    assert np.isfinite(search.estimate_.value)


# -- functions that return several scores ---------------------------------------------------------------


def several(estimator, X, y):
    predicted = estimator.predict(X)
    return {"acc": accuracy_score(y, predicted), "f1": f1_score(y, predicted, average="macro")}


def test_a_function_may_return_several_scores(data, few_draws):
    ours, theirs = both(LogisticRegression(), C_GRID, *data, scoring=several, refit="f1", cv=CV)
    assert_same_scores(ours, theirs, ("acc", "f1"))
    assert ours.multimetric_ == theirs.multimetric_
    assert ours.scorer_ is theirs.scorer_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=1e-12)
    assert ours.score(*data) == pytest.approx(theirs.score(*data))
    assert ours.estimate_.metric == "f1"
    assert pickle.loads(pickle.dumps(ours)).estimate_.value == ours.estimate_.value
    none = of.SelectCV(LogisticRegression(), C_GRID, scoring=several, refit=False, cv=CV).fit(*data)
    np.testing.assert_allclose(none.cv_results_["mean_test_acc"], ours.cv_results_["mean_test_acc"])
    assert not hasattr(none, "best_index_")


def test_one_of_several_scores_halves(data):
    search = of.SelectCV(LogisticRegression(), C_GRID, scoring=several, refit="f1", search="halving", cv=CV).fit(*data)
    assert (search.cv_results_["state"] == "done").sum() == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scoring": several}, "refit must be set to a scorer key.*acc, f1"),
        ({"scoring": several, "refit": "auc"}, "refit must be set to a scorer key.*acc, f1"),
        ({"scoring": {"both": several}, "refit": "both"}, r"scoring must return a number, got {'acc'"),
    ],
)
def test_several_scores_need_one_that_selects(data, options, message):
    with pytest.raises(InputError, match=message):
        of.SelectCV(LogisticRegression(), C_GRID, cv=3, drop=False, **options).fit(*data)


def test_a_function_of_one_score_takes_any_text_as_refit(data):
    assert_same_scores(*both(LogisticRegression(), C_GRID, *data, scoring=right, refit="yes", cv=CV))


def test_scorers_that_check_scoring_put_together(data):
    scoring = check_scoring(LogisticRegression(), scoring=["accuracy", "roc_auc"])
    ours, theirs = both(LogisticRegression(), C_GRID, *data, scoring=scoring, refit="roc_auc", cv=CV)
    assert_same_scores(ours, theirs, ("accuracy", "roc_auc"))


# -- the positive class ---------------------------------------------------------------------------------

LABELS = {
    "0, 1": np.array([0, 1]),
    "1, 2": np.array([1, 2]),
    "-1, 1": np.array([-1, 1]),
    "bool": np.array([False, True]),
    "numbers with a point": np.array([1.0, 2.0]),
}
POSITIVE = ["f1", "precision", "recall", "jaccard", "average_precision"]
OTHERS = [
    "roc_auc",
    "accuracy",
    "neg_log_loss",
    "neg_brier_score",
    "f1_macro",
    "balanced_accuracy",
    "matthews_corrcoef",
]


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("scoring", [*POSITIVE, *OTHERS])
def test_the_positive_class_is_that_of_scikit_learn(data, labels, scoring):
    X, y = data[0], LABELS[labels][data[1]]
    ours, theirs = both(LogisticRegression(), C_GRID, X, y, scoring=scoring, cv=CV)
    assert_same_scores(ours, theirs)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    if scoring in POSITIVE:
        assert ours.oof_.target.classes[1] == 1
        assert f"positive class {ours.oof_.target.classes[1]}" in str(ours.estimate_)


@pytest.mark.parametrize("scoring", [name for name in OTHERS if name != "neg_brier_score"])
def test_labels_that_are_text(data, scoring):
    X, y = data[0], np.array(["a", "b"])[data[1]]
    assert_same_scores(*both(LogisticRegression(), C_GRID, X, y, scoring=scoring, cv=CV))


def test_the_brier_score_of_text_is_that_of_numbers(data):  # scikit-learn's scorer wants a positive class for it
    X, y = data
    options = {"scoring": "neg_brier_score", "cv": CV, "drop": False}
    text = of.SelectCV(LogisticRegression(), C_GRID, **options).fit(X, np.array(["a", "b"])[y])
    numbers = of.SelectCV(LogisticRegression(), C_GRID, **options).fit(X, y)
    assert text.best_score_ == numbers.best_score_


@pytest.mark.parametrize("scoring", POSITIVE)
@pytest.mark.parametrize("labels", [("a", "b"), (0, 2)])
def test_a_positive_class_that_is_not_there(data, scoring, labels):
    X, y = data[0], np.array(labels)[data[1]]
    with pytest.raises(InputError, match=r"as the positive label; the labels are .* Say which one") as caught:
        of.SelectCV(LogisticRegression(), C_GRID, scoring=scoring, cv=CV).fit(X, y)
    advice = str(caught.value).partition("scoring=")[2].rstrip(".")
    scorer = eval(advice)  # what it says works, and says the same in GridSearchCV
    assert_same_scores(*both(LogisticRegression(), C_GRID, X, y, scoring=scorer, cv=CV))
    with pytest.warns(UserWarning, match="Scoring failed"):  # scikit-learn scores NaN
        theirs = GridSearchCV(LogisticRegression(), C_GRID, scoring=scoring, cv=CV).fit(X, y)
    assert np.isnan(theirs.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("first", [1, 2])
def test_two_positive_classes_in_one_search(data, first):
    X, y = data[0], data[1] + 1
    scoring = {
        "one": make_scorer(precision_score, pos_label=1),
        "two": make_scorer(precision_score, pos_label=2),
        "area": make_scorer(average_precision_score, pos_label=2, response_method="predict_proba"),
        "auc": "roc_auc",
        "hits": right,
        "shares": lambda e, X, y: e.predict_proba(X)[:, 0].mean(),
    }
    refit = {1: "one", 2: "two"}[first]
    ours, theirs = both(LogisticRegression(), C_GRID, X, y, scoring=scoring, refit=refit, cv=CV)
    assert_same_scores(ours, theirs, tuple(scoring))
    assert ours.oof_.target.classes[1] == first


def test_average_precision_of_many_classes(few_draws):
    X, y = load_iris(return_X_y=True)
    options = {"scoring": "average_precision", "cv": CV}
    ours, theirs = both(LogisticRegression(max_iter=500), C_GRID, X, y, **options)
    assert_same_scores(ours, theirs)
    assert ours.estimate_.value == pytest.approx(ours.best_score_, abs=0.05)


def test_a_class_missing_in_training_has_probability_zero():
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.repeat([0, 1, 2], [18, 20, 2])
    parts = np.r_[np.arange(38) % 2, 0, 0]
    cv = [(np.flatnonzero(parts != k), np.flatnonzero(parts == k)) for k in range(2)]
    search = of.SelectCV(GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, cv=cv, scoring="neg_log_loss", drop=False)
    search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert (search.oof_.data[0, :, 38:, 2] == 0).all()


class OfSinglePrecision(GaussianNB):
    """Probabilities of 32 bits, as XGBoost gives them."""

    def predict_proba(self, X):
        return super().predict_proba(X).astype(np.float32)


def test_probabilities_of_32_bits_are_scored_in_64():
    X, y = make_classification(120, 4, flip_y=0.2, random_state=0)
    X = np.tile(X, 10)  # naive Bayes takes copies for evidence, and is certain
    grid, options = {"var_smoothing": [1e-9, 1e-3]}, {"scoring": "neg_log_loss", "cv": CV, "refit": False}
    ours, theirs = both(OfSinglePrecision(), grid, X, y, **options)
    for k, (train, test) in enumerate(CV.split(X, y)):
        proba = OfSinglePrecision(var_smoothing=1e-9).fit(X[train], y[train]).predict_proba(X[test])[:, 1]
        of_64, of_32 = (search.cv_results_[f"split{k}_test_score"][0] for search in (ours, theirs))
        assert of_64 == pytest.approx(-log_loss(y[test], proba.astype(np.float64)), rel=1e-12)
        assert of_32 == pytest.approx(-log_loss(y[test], proba), rel=1e-12)
    means = [search.cv_results_["mean_test_score"][0] for search in (ours, theirs)]
    assert means[0] < means[1] - 0.1  # probabilities of 0 cost 36, not 16
    assert_same_scores(*both(GaussianNB(), grid, X, y, **options))


def test_beside_a_scorer_of_probabilities_areas_rank_by_probabilities():
    X, y = make_classification(150, 6, flip_y=0.2, random_state=0)
    X, model = 50 * X, SGDClassifier(loss="log_loss", random_state=0)
    grid, options = {"alpha": [1e-5, 1.0]}, {"cv": CV, "refit": "roc_auc"}
    for name in ("accuracy", "f1"):
        assert_same_scores(*both(model, grid, X, y, scoring=["roc_auc", name], **options), ["roc_auc", name])
    ours, theirs = both(model, grid, X, y, scoring=["roc_auc", "neg_log_loss"], **options)
    by_proba = make_scorer(roc_auc_score, response_method="predict_proba")
    ranked = GridSearchCV(model, grid, scoring=by_proba, cv=CV).fit(X, y).cv_results_["mean_test_score"]
    np.testing.assert_allclose(ours.cv_results_["mean_test_roc_auc"], ranked, rtol=1e-12)
    # With the weak penalty, many probabilities round to 1.
    assert theirs.cv_results_["mean_test_roc_auc"][0] > ranked[0] + 0.05


# -- scorers made by hand -------------------------------------------------------------------------------

MADE = {
    "accuracy": make_scorer(accuracy_score),
    "balanced_accuracy": make_scorer(balanced_accuracy_score),
    "f1": make_scorer(f1_score),
    "f1 with defaults": make_scorer(f1_score, average="binary", zero_division=0, pos_label=1),
    "f1 of the other": make_scorer(f1_score, pos_label=0),
    "f1_macro": make_scorer(f1_score, average="macro"),
    "matthews_corrcoef": make_scorer(matthews_corrcoef),
    "roc_auc": make_scorer(roc_auc_score, response_method=("decision_function", "predict_proba")),
    "roc_auc by probabilities": make_scorer(roc_auc_score, response_method="predict_proba"),
    "average_precision": make_scorer(average_precision_score, response_method="predict_proba"),
    "neg_log_loss": make_scorer(log_loss, greater_is_better=False, response_method="predict_proba"),
    "neg_brier_score": make_scorer(brier_score_loss, greater_is_better=False, response_method="predict_proba"),
}
LOOPED_OR_FAST = {
    "precision": make_scorer(precision_score),
    "precision of the other": make_scorer(precision_score, pos_label=0),
    "recall": make_scorer(recall_score, average="binary"),
    "jaccard": make_scorer(jaccard_score),
    "f2": make_scorer(fbeta_score, beta=2),
    "f0.5": make_scorer(fbeta_score, beta=0.5),
    "f1": make_scorer(fbeta_score, beta=1),
    "f1_micro": make_scorer(f1_score, average="micro"),
    "f1_weighted": make_scorer(f1_score, average="weighted"),
    "adjusted": make_scorer(balanced_accuracy_score, adjusted=True),
    "counts": make_scorer(accuracy_score, normalize=False),
    "part of the area": make_scorer(roc_auc_score, max_fpr=0.5, response_method="predict_proba"),
    "upside down": make_scorer(accuracy_score, greater_is_better=False),
}


@pytest.mark.parametrize("name", MADE)
def test_scorers_of_fast_metrics_are_fast(data, name):
    ours, theirs = both(LogisticRegression(), C_GRID, *data, scoring=MADE[name], cv=CV)
    assert_same_scores(ours, theirs)
    assert "estimate_" in dir(ours)  # no loop
    assert metrics.get(without_positive(MADE[name])).name == metrics.get(name.split(" ")[0]).name


@pytest.mark.parametrize("name", LOOPED_OR_FAST)
def test_other_scorers_score_the_same(data, name):
    scorer = LOOPED_OR_FAST[name]
    assert_same_scores(*both(LogisticRegression(), C_GRID, *data, scoring=scorer, cv=CV))
    expected = name.split(" ")[0]
    known = expected in metrics.names() or (expected in get_scorer_names() and not metrics.get(expected).looped)
    found = metrics.get(without_positive(scorer))
    assert (None if found.looped else found.name) == (metrics.get(expected).name if known else None)


def test_scorers_of_values_are_fast():
    X, y = load_diabetes(return_X_y=True)
    for scorer, name in (
        (make_scorer(r2_score), "r2"),
        (make_scorer(mean_squared_error, greater_is_better=False), "neg_mean_squared_error"),
        (make_scorer(mean_absolute_error, greater_is_better=False), "neg_mean_absolute_error"),
    ):
        assert metrics.get(without_positive(scorer)).name == name
        assert_same_scores(*both(Ridge(), {"alpha": [0.01, 1.0, 100.0]}, X, y, scoring=scorer, cv=KFold(3)))
    assert metrics.get(without_positive(make_scorer(mean_squared_error))).looped  # greater is better: another scorer


def test_the_own_score_of_an_estimator_selects():
    X, y = load_diabetes(return_X_y=True)
    for model in (PoissonRegressor(), make_pipeline(StandardScaler(), TweedieRegressor(power=1.5))):
        alpha = "alpha" if isinstance(model, PoissonRegressor) else "tweedieregressor__alpha"
        ours, theirs = both(model, {alpha: [0.01, 1.0, 100.0]}, X, y, cv=KFold(5))
        assert_same_scores(ours, theirs)
        assert ours.estimate_.method == "bbc_f"
    usual = of.SelectCV(LinearRegression(), cv=3).fit(X, y)
    assert usual.best_score_ > 0.3
    assert usual.estimate_.metric == "r2"


@pytest.mark.parametrize(("metric", "scorer"), [("roc_auc", "roc_auc"), ("log_loss", "neg_log_loss")])
def test_labels_cannot_tell_areas_and_the_error_says_how_to_keep_more(metric, scorer):
    X, y = make_classification(60, random_state=0)
    search = of.SelectCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring="accuracy").fit(X, y)
    remedy = f"SelectCV(scoring=['accuracy', '{scorer}'], refit='accuracy')"
    with pytest.raises(InputError, match=re.escape(remedy)):
        of.estimate.bbc(search.oof_, metric)
    again = of.SelectCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring=["accuracy", scorer], refit="accuracy")
    assert again.fit(X, y).best_score_ == search.best_score_
    assert of.estimate.bbc(again.oof_, metric).metric == metric


@pytest.mark.parametrize("model", [KNeighborsClassifier(), make_pipeline(StandardScaler(), KNeighborsClassifier())])
def test_the_own_score_of_neighbours_is_accuracy(model):
    X, y = make_classification(200, 6, random_state=0)
    name = "n_neighbors" if isinstance(model, KNeighborsClassifier) else "kneighborsclassifier__n_neighbors"
    ours, theirs = both(model, {name: [1, 5, 25]}, X, y, cv=StratifiedKFold(5))
    assert_same_scores(ours, theirs)
    assert ours.estimate_.metric == "accuracy"
    assert not ours.oof_.live_scores


@pytest.mark.parametrize(
    "scoring", ["neg_mean_absolute_error", "r2", make_scorer(mean_squared_error, greater_is_better=False)]
)
@pytest.mark.parametrize("first", [0, 1])
def test_classes_that_are_numbers_are_scored_as_numbers(few_draws, scoring, first):
    """How far off is a grade? GridSearchCV computes it, so does a search of classifiers."""
    X, y = load_iris(return_X_y=True)
    ours, theirs = both(LogisticRegression(), {"C": [0.001, 0.1]}, X, y + first, scoring=scoring, cv=CV)
    assert_same_scores(ours, theirs)
    assert ours.estimate_.method == "bbc"
    assert ours.estimate_.naive == pytest.approx(ours.best_score_)


def test_classes_that_are_text_have_no_errors_of_numbers():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError, match="neg_mean_absolute_error is for regression tasks"):
        of.SelectCV(LogisticRegression(), C_GRID, scoring="neg_mean_absolute_error").fit(X, np.array(list("abc"))[y])


class HalfScore(LogisticRegression):
    """A classifier whose score is not accuracy."""

    def score(self, X, y, sample_weight=None):
        return super().score(X, y, sample_weight) / 2


@pytest.mark.parametrize("estimator", [LogisticRegression(), RadiusNeighborsClassifier(radius=9.0), HalfScore()])
def test_none_among_several_is_the_own_score(data, estimator):
    grid = C_GRID if hasattr(estimator, "C") else {"weights": ["uniform", "distance"]}
    options = {"scoring": {"own": None, "f1": "f1"}, "refit": "own"}
    ours, theirs = both(estimator, grid, *data, cv=CV, **options)
    assert_same_scores(ours, theirs, ["own", "f1"])
    assert ours.score(*data) == theirs.score(*data)


class Doubled(type(get_scorer("accuracy"))):
    """A scorer of a class of its own."""

    def __call__(self, estimator, X, y_true, **params):
        return 2 * super().__call__(estimator, X, y_true, **params) + float(X[0, 0])


@pytest.mark.parametrize("several", [False, True])
def test_scorers_of_a_class_of_their_own_score_as_they_do(data, few_draws, several):
    scorer = Doubled(accuracy_score, 1, {}, "predict")
    options = {"scoring": {"own": scorer, "auc": "roc_auc"}, "refit": "own"} if several else {"scoring": scorer}
    ours, theirs = both(LogisticRegression(), C_GRID, *data, cv=CV, **options)
    assert_same_scores(ours, theirs, ["own", "auc"] if several else ["score"])
    assert ours.score(*data) == theirs.score(*data)


# -- functions of a series of labels --------------------------------------------------------------------

CASES = np.random.default_rng(0).uniform(size=442)


def spread_of_series(y, predicted):
    return float(np.sqrt(np.mean((y - predicted) ** 2)) / y.std())  # a series divides by n - 1


SERIES = {
    "index": lambda y, predicted: float(np.average((y - predicted) ** 2, weights=CASES[y.index - 1000])),
    "method": lambda y, predicted: float(np.abs(y.to_numpy() - predicted).mean()),
    "meaning": spread_of_series,
}


@pytest.mark.parametrize("name", SERIES)
def test_functions_get_the_series_that_was_given(name):
    X, y = load_diabetes(return_X_y=True)
    y = pd.Series(y, index=np.arange(1000, 1442))
    scoring = make_scorer(SERIES[name], greater_is_better=False)
    ours, theirs = both(Ridge(), {"alpha": [0.1, 10.0]}, X, y, scoring=scoring, cv=KFold(5))
    assert_same_scores(ours, theirs)
    assert ours.estimate_.method == "bbc_f"  # a draw of samples has no series


def test_functions_that_need_no_series_are_corrected_by_drawing_samples(data, few_draws):
    X, y = data
    labels = pd.Series(np.array(["no", "yes"])[y])
    scoring = make_scorer(
        lambda y, predicted, pos_label: float(np.mean((y == pos_label) & (predicted == pos_label))), pos_label="no"
    )
    ours, theirs = both(LogisticRegression(), C_GRID, X, labels, scoring=scoring)
    assert_same_scores(ours, theirs)
    assert ours.estimate_.method == "bbc"
    assert ours.oof_.target.classes[-1] == "no"


@pytest.mark.filterwarnings("ignore")
def test_a_function_of_a_series_that_raises_gives_the_error_score(data):
    def fails(y, predicted):
        raise RuntimeError("no luck today")

    X, y = data
    ours, theirs = both(LogisticRegression(), C_GRID, X, pd.Series(y), scoring=make_scorer(fails), error_score=-1.0)
    assert_same_scores(ours, theirs)
    assert ours.best_score_ == -1.0
