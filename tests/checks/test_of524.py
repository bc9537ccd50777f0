"""Predictions turned round by the held-out labels: models that predict the mean of their training part."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

import outfold as of

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 2)), np.arange(40) % 2
LOO = of.Plan.leave_one_out()


def collect(model, y=Y, plan=LOO, **options):
    return of.collect(model, X, y, plan, progress=False, **options)


def test_a_majority_vote_is_always_wrong(says):
    # Without the held-out sample, the other class is the larger one.
    oof = collect(DummyClassifier(strategy="most_frequent"), response="label")
    assert oof.leaderboard("accuracy").scores[0] == 0
    assert oof.leaderboard("accuracy").baseline.value == 0.5
    assert says("OF524", oof, "accuracy").startswith(
        "the predictions of DummyClassifier fall where the labels rise (correlation -1.00), but not within folds"
    )


@pytest.mark.parametrize("model", [DummyClassifier(), LogisticRegression(C=1e-4)])
def test_a_ranking_is_that_of_the_training_shares(says, model):
    oof = collect(model)
    assert oof.leaderboard("roc_auc").scores[0] == 0
    assert says("OF524", oof, "roc_auc") is not None
    # It is not the fault of the positive class, and more than bad luck.
    assert says("OF213", oof, "roc_auc") is None
    assert says("OF502", oof, "roc_auc") is None


def test_three_classes_values_and_small_folds_without_strata(says):
    assert says("OF524", collect(DummyClassifier(), np.arange(40) % 3), "accuracy") is not None
    assert says("OF524", collect(DummyRegressor(), RNG.normal(size=40)), "r2") is not None
    thin = collect(DummyClassifier(), np.repeat([0, 1], 20), of.Plan.from_cv(KFold(20)))
    assert thin.leaderboard("roc_auc").scores[0] < 0.1
    assert says("OF524", thin, "roc_auc") is not None


def test_silent_where_something_is_learnt_or_folds_are_stratified(says):
    signal = X + 2 * Y[:, None]
    good = of.collect(LogisticRegression(), signal, Y, LOO, progress=False)
    assert says("OF524", good, "roc_auc") is None
    assert says("OF524", collect(LogisticRegression(C=1e-4), plan=of.Plan(10)), "roc_auc") is None
    assert says("OF524", collect(DummyClassifier(), plan=of.Plan(10)), "accuracy") is None  # nothing varies
    assert says("OF524", collect(DummyRegressor(), RNG.normal(size=40), of.Plan(10)), "r2") is None


def test_silent_where_the_positive_class_is_the_other_one(says):
    y = np.arange(100) % 2
    turned = 0.5 - 0.3 * y[:, None] + 0.2 * RNG.random((100, 2))
    oof = of.from_arrays(y, turned, folds=np.arange(100) // 20, response="proba")
    assert says("OF524", oof, "roc_auc") is None
    assert says("OF213", oof, "roc_auc") is not None
