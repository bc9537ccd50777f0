"""Searches of scikit-learn that are fitted already, and cross_val_predict."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_classification, make_regression
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, mean_squared_error
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    KFold,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from outfold.exceptions import InputError, NeedError

X, Y = make_classification(90, 6, n_informative=2, flip_y=0.3, random_state=1)
GRID = {"n_neighbors": [1, 3, 9, 15], "weights": ["uniform", "distance"]}


@pytest.fixture(scope="module")
def search():
    return GridSearchCV(KNeighborsClassifier(), GRID, cv=10).fit(X, Y)


def splits_of(search):
    return np.stack([search.cv_results_[f"split{i}_test_score"] for i in range(search.n_splits_)], axis=1)


def test_scores_of_a_grid_search_are_those_of_its_table(search):
    oof = of.adapters.from_search(search, X, Y)
    assert oof.configs[0] == "KNeighborsClassifier(n_neighbors=1, weights='uniform')"
    assert oof.params[3] == {"n_neighbors": 3, "weights": "distance"}
    assert np.array_equal(oof.scores()[:, 0], splits_of(search))
    assert oof.selection().index == search.best_index_
    assert oof.selection().metric == "accuracy"
    assert oof.leaderboard().scores[0] == pytest.approx(search.best_score_)


def test_estimates_of_fold_scores_correct_the_best_score(search):
    oof = of.adapters.from_search(search, X, Y)
    for method in (of.estimate.bbc_f, of.estimate.tt, of.estimate.wmcs):
        found = method(oof)
        assert found.naive == pytest.approx(search.best_score_)
        assert found.value < found.naive
    assert of.estimate.tt(oof, "accuracy").value == of.estimate.tt(oof).value
    with pytest.raises(NeedError, match="known for whole folds only"):
        of.estimate.bbc(oof)
    assert of.compare.t_corrected(oof, "accuracy", 0, 6).difference == pytest.approx(
        np.mean(splits_of(search)[0] - splits_of(search)[6])
    )


def test_collected_predictions_have_the_scores_of_the_search(search):
    oof = of.adapters.collect_search(search, X, Y)
    assert oof.configs == of.adapters.from_search(search, X, Y).configs
    assert np.allclose(oof.scores("accuracy")[:, 0], splits_of(search), rtol=0, atol=1e-12)
    found = of.estimate.bbc(oof)
    assert found.naive == pytest.approx(search.best_score_)
    assert found.value < found.naive


def test_saved_scores_are_read_as_they_were(search, tmp_path):
    oof = of.adapters.from_search(search, X, Y)
    again = of.load(oof.save(tmp_path / "search.oof"))
    assert of.estimate.bbc_f(again).value == of.estimate.bbc_f(oof).value


def test_a_random_search_with_several_scorers_and_repeats():
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=3)
    search = RandomizedSearchCV(
        KNeighborsClassifier(), GRID, n_iter=4, random_state=0, cv=cv, scoring=["accuracy", "roc_auc"], refit="roc_auc"
    ).fit(X, Y)
    scores = of.adapters.from_search(search, X, Y)
    assert (scores.n_repeats, scores.n_folds) == (2, 3)
    assert of.estimate.tt(scores).metric == "roc_auc"
    assert of.estimate.tt(scores).naive == pytest.approx(search.best_score_)
    collected = of.adapters.collect_search(search, X, Y)
    for metric in ("accuracy", "roc_auc"):
        assert np.allclose(collected.scores(metric), scores.scores(metric), rtol=0, atol=1e-12)


def test_one_scorer_in_a_dict_keeps_its_name():
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=5, scoring={"score": "accuracy"}, refit="score").fit(X, Y)
    oof = of.adapters.from_search(search, X, Y)
    assert oof.selection().metric == "score"
    assert oof.selection().score == pytest.approx(search.best_score_)


def test_a_search_on_a_sparse_matrix():
    sparse = csr_matrix(X)
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=5).fit(sparse, Y)
    oof = of.adapters.from_search(search, sparse, Y)
    assert oof.n_samples == 90
    assert np.array_equal(oof.scores()[:, 0], splits_of(search))
    collected = of.adapters.collect_search(search, sparse, Y)
    assert np.allclose(collected.scores("accuracy")[:, 0], splits_of(search), rtol=0, atol=1e-12)


def test_a_halving_search_keeps_its_last_candidates():
    search = HalvingGridSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_depth": range(1, 9)}, cv=5, random_state=0
    )
    search.fit(X, Y)
    oof = of.adapters.from_search(search, X, Y)
    assert oof.n_configs == 8
    done = (oof.state == of.State.DONE).all(axis=(1, 2))
    assert done.sum() == search.n_candidates_[-1] < 8
    assert of.estimate.tt(oof).naive == pytest.approx(search.best_score_)
    assert "OF211" in {note.code for note in oof.notes}
    assert of.adapters.collect_search(search, X, Y).completeness == 1


def test_a_halving_search_whose_resource_is_a_parameter():
    tree, depths = DecisionTreeClassifier(random_state=0), {"max_depth": range(1, 9)}
    rounds = {"resource": "max_leaf_nodes", "min_resources": 2, "max_resources": 32, "n_candidates": 8}
    search = HalvingRandomSearchCV(tree, depths, **rounds, random_state=0, cv=5).fit(X, Y)
    oof = of.adapters.from_search(search, X, Y)
    assert oof.n_configs == 8
    assert dict(oof.params[oof.selection().index]) == search.best_params_
    assert {params["max_leaf_nodes"] for params in oof.params} == {search.best_params_["max_leaf_nodes"]}
    assert (oof.state == of.State.DONE).all(axis=(1, 2)).sum() == search.n_candidates_[-1] < 8
    assert oof.selection().score == pytest.approx(search.best_score_)
    collected = of.adapters.collect_search(search, X, Y)
    assert collected.configs == oof.configs
    done = (oof.state == of.State.DONE).all(axis=(1, 2))
    assert np.allclose(collected.scores("accuracy")[done], oof.scores()[done])


def test_scorers_of_errors_keep_their_sign():
    data = make_regression(60, 4, noise=10, random_state=0)
    scorer = make_scorer(mean_squared_error, greater_is_better=False)
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 10, 1000]}, scoring=scorer, cv=KFold(5)).fit(*data)
    oof = of.adapters.from_search(search, *data)
    assert oof.selection().metric == "neg_mean_squared_error"
    assert oof.selection().score == pytest.approx(search.best_score_)
    assert search.best_score_ < 0
    plain = GridSearchCV(Ridge(), {"alpha": [0.1, 10]}, cv=5).fit(*data)
    assert of.adapters.from_search(plain, *data).selection().metric == "r2"


@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_failed_fits_are_failed_cells():
    with pytest.warns(match="5 fits failed"):
        search = GridSearchCV(LogisticRegression(), {"C": [1, -1]}, cv=5).fit(X, Y)
    assert np.isnan(splits_of(search)[1]).all()
    oof = of.adapters.from_search(search, X, Y)
    assert (oof.state[1] == of.State.FAILED).all()
    assert oof.selection().index == 0


def test_groups_are_given_as_to_fit():
    groups = np.arange(90) // 3
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=GroupKFold(5)).fit(X, Y, groups=groups)
    oof = of.adapters.from_search(search, X, Y, groups=groups)
    collected = of.adapters.collect_search(search, X, Y, groups=groups)
    assert np.array_equal(oof.folds, collected.folds)


def test_splits_drawn_at_random_cannot_be_drawn_again():
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=KFold(5, shuffle=True)).fit(X, Y)
    oof = of.adapters.from_search(search, X, Y)
    assert oof.provenance["splits_known"] is False
    assert of.estimate.tt(oof).naive == pytest.approx(search.best_score_)
    with pytest.raises(InputError, match=r"cannot be drawn again.*has no `?random_state"):
        of.adapters.collect_search(search, X, Y)
    search.cv = ShuffleSplit(5, random_state=0)
    assert of.adapters.from_search(search, X, Y).provenance["splits_known"] is True


def test_a_search_that_is_not_fitted_and_other_data_are_refused(search):
    with pytest.raises(InputError, match="search must be a search of scikit-learn that is fitted; got GridSearchCV"):
        of.adapters.from_search(GridSearchCV(KNeighborsClassifier(), GRID), X, Y)
    leave_one_out = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=KFold(90)).fit(X, Y)
    leave_one_out.cv = KFold(80)
    with pytest.raises(InputError, match="must give the 90 splits of the search; it gives 80"):
        of.adapters.from_search(leave_one_out, X, Y)


def test_a_search_needs_the_labels_that_its_folds_were_drawn_by(search):
    for made in (of.adapters.from_search, of.adapters.collect_search):
        with pytest.raises(InputError, match=r"y must be the labels .* fitted on; got None\. Give the y of fit"):
            made(search, X, None)
    stratified = GridSearchCV(KNeighborsClassifier(), GRID, cv=StratifiedKFold(5)).fit(X, Y)
    with pytest.raises(InputError, match=r"cv must be able to split these samples; .* Give the y of fit\."):
        of.adapters.from_search(stratified, X)
    plain = GridSearchCV(KNeighborsClassifier(), GRID, cv=KFold(5)).fit(X, Y)
    assert of.adapters.from_search(plain, X).fingerprint == of.adapters.from_search(plain, X, Y).fingerprint


def test_a_search_needs_its_samples_and_groups(search):
    for made in (of.adapters.from_search, of.adapters.collect_search):
        with pytest.raises(InputError, match=r"X must be the samples .*; got None"):
            made(search, None, Y)
    with pytest.raises(InputError, match=r"X must be the samples .*; got int"):
        of.adapters.from_search(search, 3, Y)
    with pytest.raises(InputError, match="y must have one label for each sample"):
        of.adapters.from_search(search, X, "abc")
    grouped = GridSearchCV(KNeighborsClassifier(), GRID, cv=GroupKFold(5)).fit(X, Y, groups=np.arange(90) // 3)
    with pytest.raises(InputError, match=r"Give the groups of fit\."):
        of.adapters.from_search(grouped, X, Y)


@pytest.mark.parametrize(
    ("predicted", "cv", "match"),
    [
        (Y, 1, r"cv must be a whole number of folds from 2 on, a splitter, or pairs .*; got 1\."),
        (Y, "abc", "cv must be a whole number of folds from 2 on, .*; got 'abc'"),
        (Y, [1, 2, 3], "cv must be able to split these samples"),
        ({}, 5, "predicted must hold the predictions of at least one model; got an empty dict"),
        ({"a": Y, "b": Y[:50]}, 5, "predicted must have one prediction for each of the 90 samples; b has 50"),
        (None, 5, "predicted must have one prediction for each of the 90 samples; model is None"),
        ([[1, 2], [3]], 5, "predicted must be an array for each model; the rows of model differ in length"),
    ],
    ids=["one fold", "a text as cv", "no pairs", "no model", "few predictions", "none", "ragged rows"],
)
def test_arguments_that_cross_val_predict_never_gave_are_refused(predicted, cv, match):
    with pytest.raises(InputError, match=match):
        of.adapters.from_cross_val_predict(Y, predicted, cv)


def test_a_search_of_outfold_has_its_predictions_already():
    search = of.SelectCV(KNeighborsClassifier(), GRID, cv=5).fit(X, Y)
    assert of.adapters.from_search(search, X, Y) is search.oof_


@pytest.mark.parametrize(("method", "response"), [("predict", "label"), ("predict_proba", "proba")])
def test_output_of_cross_val_predict_gives_the_scores_of_collect(method, response):
    models = {"logit": LogisticRegression(), "tree": DecisionTreeClassifier(max_depth=2, random_state=0)}
    predicted = {name: cross_val_predict(model, X, Y, cv=5, method=method) for name, model in models.items()}
    oof = of.adapters.from_cross_val_predict(Y, predicted, cv=5)
    assert oof.response == response
    plan = of.Plan.from_cv(5)
    collected = of.collect(models, X, Y, plan, progress=False)
    assert np.allclose(oof.scores("accuracy"), collected.scores("accuracy"))
    assert oof.fingerprint == collected.fingerprint
    assert of.estimate.bbc(oof, "accuracy").selected in models


def test_cross_val_predict_of_three_classes_and_of_a_regression():
    data, y = make_classification(90, 6, n_informative=4, n_classes=3, random_state=0)
    proba = cross_val_predict(LogisticRegression(), data, y, cv=5, method="predict_proba")
    assert of.adapters.from_cross_val_predict(y, proba, cv=5).data.shape == (1, 1, 90, 3)
    data, values = make_regression(60, 3, noise=5, random_state=0)
    predicted = cross_val_predict(Ridge(), data, values, cv=KFold(4, shuffle=True, random_state=1))
    oof = of.adapters.from_cross_val_predict(values, predicted, cv=KFold(4, shuffle=True, random_state=1))
    assert (oof.configs, oof.n_folds, oof.target.task) == (("model",), 4, "regression")


def test_whole_numbers_as_labels_and_other_predictions_are_a_regression():
    """scikit-learn stratified no folds for them, though their labels could be classes."""
    data, values = make_regression(60, 3, noise=5, random_state=0)
    values = values.round()
    predicted = cross_val_predict(Ridge(), data, values, cv=5)
    for options in ({}, {"classifier": False}, {"response": "value"}):
        oof = of.adapters.from_cross_val_predict(values, predicted, cv=5, **options)
        assert (oof.response, oof.folds[:, 0].tolist()) == ("value", np.repeat(range(5), 12).tolist())
        assert oof.scores("mae")[0, 0].mean() == pytest.approx(np.abs(predicted - values).mean())


def test_the_winner_of_a_halving_search_with_ties_is_its_own():
    data, y = make_classification(90, 6, class_sep=3, random_state=0)
    search = HalvingGridSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [1, 2, 3, 4], "min_samples_leaf": [1, 5, 9]},
        random_state=1,
    )
    search.fit(data, y)
    last = search.cv_results_["iter"] == search.n_iterations_ - 1
    assert np.unique(search.cv_results_["mean_test_score"][last]).size == 1  # all are equally good
    assert search.best_params_ != {"max_depth": 1, "min_samples_leaf": 1}
    selected = of.adapters.from_search(search, data, y).selection()
    oof = of.adapters.from_search(search, data, y)
    assert dict(oof.params[selected.index]) == search.best_params_


def test_cross_val_predict_with_unknown_or_repeated_splits_is_refused():
    with pytest.raises(InputError, match="the splits cannot be drawn again"):
        of.adapters.from_cross_val_predict(Y, Y, cv=KFold(5, shuffle=True))
    with pytest.raises(InputError, match="must hold out each sample once"):
        of.adapters.from_cross_val_predict(Y, Y, cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0))
    with pytest.raises(InputError, match=r"one shape for all models; a has .* b has"):
        of.adapters.from_cross_val_predict(Y, {"a": Y, "b": np.zeros((90, 2))}, cv=3)
