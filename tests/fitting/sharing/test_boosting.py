"""Boosting: the beginning of a long model is the short one, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from share_estimators import check_company
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from internals import check_family
from outfold.fitting.sharing import Unsuitable, family_of

LABELS = (np.array(["b", "a", "c"]), np.array([7, -2, 30]), np.array([True, False]))
GRADIENT = (
    {},
    {"subsample": 0.6},
    {"max_features": 1, "learning_rate": 0.5},
    {"max_depth": 1, "min_samples_leaf": 4},
    {"init": "zero"},
)
HIST = (
    {"min_samples_leaf": 3},
    {"min_samples_leaf": 2, "max_features": 0.5, "learning_rate": 0.4},
    {"max_leaf_nodes": 4, "early_stopping": False, "min_samples_leaf": 2},
    {},
)


def family(estimator):
    return family_of(estimator, ("exact",))


def data(rng, kind, n, p):
    X = rng.normal(size=(n, p))
    if kind == "counts":
        X = rng.integers(0, 3, size=(n, p))
    elif kind == "duplicates":
        X = X[rng.integers(0, n, size=n)]
    elif kind == "single":
        X = np.asfortranarray(X.astype(np.float32))
    elif kind == "constant":
        X[:, 0] = 2.0
    X.setflags(write=False)
    return X, None if rng.random() < 0.5 else rng.integers(0, 4, size=n) + 0.5


def labels(rng, seed, n):
    classes = LABELS[seed % len(LABELS)]
    y = classes[rng.integers(0, rng.integers(2, len(classes) + 1), size=n)]
    y[:2] = classes[:2]
    return y


def prove(some, X, y, weights, seed):
    check_family(family(some[0]), some, X, y, sample_weight=weights, tolerance=0)
    check_company(family(some[0]), some, X, y, sample_weight=weights, rng=seed, subsets=1)


cases = given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["normal", "counts", "duplicates", "single", "constant"]),
    n=st.integers(12, 50),
    p=st.integers(1, 6),
)


@cases
@settings(max_examples=15, deadline=None)
def test_gradient_boosting(seed, kind, n, p):
    rng = np.random.default_rng(seed)
    X, weights = data(rng, kind, n, p)
    others = {**GRADIENT[seed % len(GRADIENT)], "random_state": seed}
    classifiers = [GradientBoostingClassifier(n_estimators=t, **others) for t in (4, 1, 9)]
    prove(classifiers, X, labels(rng, seed, n), weights, seed)
    loss = ("squared_error", "huber", "absolute_error")[seed % 3]
    regressors = [GradientBoostingRegressor(n_estimators=t, loss=loss, **others) for t in (4, 1, 9)]
    prove(regressors, X, rng.normal(size=n), weights, seed)


@cases
@settings(max_examples=15, deadline=None)
def test_hist_gradient_boosting(seed, kind, n, p):
    rng = np.random.default_rng(seed)
    X, weights = data(rng, kind, n, p)
    others = {**HIST[seed % len(HIST)], "random_state": seed}
    classifiers = [HistGradientBoostingClassifier(max_iter=t, **others) for t in (4, 1, 9)]
    prove(classifiers, X, labels(rng, seed, n), weights, seed)
    loss = ("squared_error", "poisson", "absolute_error")[seed % 3]
    regressors = [HistGradientBoostingRegressor(max_iter=t, loss=loss, **others) for t in (4, 1, 9)]
    prove(regressors, X, rng.random(size=n), weights, seed)


@cases
@settings(max_examples=20, deadline=None)
def test_adaboost(seed, kind, n, p):
    rng = np.random.default_rng(seed)
    X, weights = data(rng, kind, n, p)
    depth = 1 + seed % 3
    others = {"random_state": seed, "learning_rate": (0.3, 1.0)[seed % 2]}
    y = labels(rng, seed, n)
    classifiers = [
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), n_estimators=t, **others) for t in (4, 1, 12)
    ]
    try:
        classifiers[0].fit(X, y, sample_weight=weights)
    except ValueError:  # worse than chance from the start, as every member then is
        with pytest.raises(ValueError, match="worse than random"):
            family(classifiers[0]).fit(classifiers, X, y, sample_weight=weights)
    else:
        prove(classifiers, X, y, weights, seed)
    loss = ("linear", "square", "exponential")[seed % 3]
    regressors = [
        AdaBoostRegressor(DecisionTreeRegressor(max_depth=depth), n_estimators=t, loss=loss, **others)
        for t in (4, 1, 12)
    ]
    prove(regressors, X, rng.normal(size=n), weights, seed)


def test_missing_values_and_categories():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 0] = rng.integers(0, 4, size=80)
    some = [HistGradientBoostingClassifier(max_iter=t, categorical_features=[0], random_state=0) for t in (2, 7)]
    prove(some, X, rng.integers(0, 3, size=80), None, 0)


def test_more_rows_than_early_stopping_leaves_alone():
    X, y = np.arange(10_001.0)[:, None], np.arange(10_001) % 2
    some = [HistGradientBoostingClassifier(max_iter=t, random_state=0) for t in (1, 2)]
    with pytest.raises(Unsuitable, match="stops early"):
        family(some[0]).fit(some, X, y)
    never = [m.set_params(early_stopping=False) for m in some]
    prove(never, X, y, None, 0)


@pytest.mark.parametrize(
    "estimator",
    [
        GradientBoostingClassifier(n_iter_no_change=3),
        GradientBoostingClassifier(warm_start=True),
        GradientBoostingClassifier(random_state=np.random.RandomState(0)),
        GradientBoostingRegressor(n_iter_no_change=3),
        GradientBoostingRegressor(init=DummyRegressor()),
        GradientBoostingRegressor(n_estimators=0),
        HistGradientBoostingClassifier(early_stopping=True),
        HistGradientBoostingClassifier(warm_start=True),
        HistGradientBoostingRegressor(early_stopping=True),
        HistGradientBoostingRegressor(random_state=np.random.RandomState(0)),
        HistGradientBoostingRegressor(max_iter=2.0),
        AdaBoostClassifier(GaussianNB()),
        AdaBoostClassifier(random_state=np.random.RandomState(0)),
        AdaBoostRegressor(DummyRegressor()),
        AdaBoostRegressor(n_estimators=True),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_what_is_not_covered(estimator):
    assert family(type(estimator)()) is not None
    assert family(estimator) is None


@pytest.mark.parametrize("kind_of", [GradientBoostingClassifier, HistGradientBoostingClassifier, AdaBoostClassifier])
def test_unsuitable_data(kind_of):
    X, y = np.eye(6), np.array([0, 1, 0, 1, 1, 0])
    with pytest.raises(Unsuitable, match="one label"):
        family(kind_of()).fit([kind_of(random_state=0)], X, np.column_stack([y, y]))
    with pytest.raises(Unsuitable, match="sample_weight"):
        family(kind_of()).fit([kind_of(random_state=0)], X, y, monitor=print)
    with pytest.raises(Unsuitable, match="seed"):
        family(kind_of()).fit([kind_of()], X, y)
