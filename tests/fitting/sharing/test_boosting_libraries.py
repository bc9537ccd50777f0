"""LightGBM and XGBoost: the first rounds of a long model are the short one, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from share_estimators import check_company

from internals import check_family
from outfold.fitting.sharing import Unsuitable, family_of

LIGHT = (
    {"min_child_samples": 3},
    {"min_child_samples": 2, "subsample": 0.6, "subsample_freq": 1, "colsample_bytree": 0.7},
    {"num_leaves": 4, "learning_rate": 0.5, "reg_lambda": 1.0},
    {"class_weight": "balanced", "min_child_samples": 3},
    {"feature_fraction": 0.5, "max_bin": 7, "min_data_in_leaf": 2, "lambda_l1": 0.01},
)
XG = (
    {},
    {"subsample": 0.6, "colsample_bytree": 0.7, "learning_rate": 0.5},
    {"max_depth": 2, "num_parallel_tree": 2, "subsample": 0.5},
    {"tree_method": "exact"},
    {"tree_method": "approx", "min_child_weight": 3},
)


def family(estimator):
    return family_of(estimator, ("exact",))


def prove(some, X, y, weights, seed):
    check_family(family(some[0]), some, X, y, sample_weight=weights, tolerance=0)
    check_company(family(some[0]), some, X, y, sample_weight=weights, rng=seed, subsets=1)


def data(seed, n, p):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    if seed % 3 == 1:
        X = np.round(X)
    if seed % 3 == 2:
        X[rng.random(X.shape) < 0.1] = np.nan
    X.setflags(write=False)
    codes = rng.integers(0, 2 + seed % 2, size=n)
    codes[:3] = np.arange(3) % (2 + seed % 2)
    return X, codes, rng.normal(size=n), None if seed % 5 < 3 else rng.integers(0, 4, size=n) + 0.5


cases = given(seed=st.integers(0, 10**6), n=st.integers(12, 60), p=st.integers(1, 6))


@cases
@settings(max_examples=20, deadline=None)
def test_lightgbm(seed, n, p):
    lightgbm = pytest.importorskip("lightgbm")
    X, codes, values, weights = data(seed, n, p)
    others = {**LIGHT[seed % len(LIGHT)], "random_state": seed, "verbose": -1, "n_jobs": 1}
    some = [lightgbm.LGBMClassifier(n_estimators=t, **others) for t in (4, 1, 9)]
    prove(some, X, np.array(["b", "a", "c"])[codes], weights, seed)
    others.pop("class_weight", None)
    prove([lightgbm.LGBMRegressor(n_estimators=t, **others) for t in (4, 1, 9)], X, values, weights, seed)


@cases
@settings(max_examples=20, deadline=None)
def test_xgboost(seed, n, p):
    xgboost = pytest.importorskip("xgboost")
    X, codes, values, weights = data(seed, n, p)
    others = {**XG[seed % len(XG)], "random_state": seed, "n_jobs": 1}
    prove([xgboost.XGBClassifier(n_estimators=t, **others) for t in (4, 1, 9)], X, codes, weights, seed)
    prove([xgboost.XGBRegressor(n_estimators=t, **others) for t in (4, 1, 9)], X, values, weights, seed)


@pytest.mark.parametrize(
    "others",
    [
        {"boosting_type": "dart"},
        {"boosting_type": "rf", "subsample": 0.5, "subsample_freq": 1},
        {"early_stopping_round": 3},
        {"num_iterations": 3},
        {"objective": lambda y, p: (y, p)},
        {"random_state": np.random.RandomState(0)},
        {"n_estimators": 0},
    ],
    ids=lambda others: "-".join(map(str, others)),
)
def test_what_of_lightgbm_is_not_covered(others):
    lightgbm = pytest.importorskip("lightgbm")
    for kind in (lightgbm.LGBMClassifier, lightgbm.LGBMRegressor):
        assert family(kind()) is not None
        assert family(kind(**others)) is None


@pytest.mark.parametrize(
    "others",
    [
        {"booster": "dart"},
        {"booster": "gblinear"},
        {"device": "cuda"},
        {"early_stopping_rounds": 3},
        {"callbacks": [object()]},
        {"process_type": "update"},
        {"objective": lambda y, p: (y, p)},
        {"random_state": np.random.RandomState(0)},
        {"n_estimators": None},
    ],
    ids=lambda others: "-".join(map(str, others)),
)
def test_what_of_xgboost_is_not_covered(others):
    xgboost = pytest.importorskip("xgboost")
    for kind in (xgboost.XGBClassifier, xgboost.XGBRegressor):
        assert family(kind(n_estimators=5)) is not None
        assert family(kind(**{"n_estimators": 5, **others})) is None


@pytest.mark.parametrize("name", ["lightgbm.LGBMClassifier", "xgboost.XGBClassifier"])
def test_unsuitable_data(name):
    package, _, kind = name.partition(".")
    kind = getattr(pytest.importorskip(package), kind)
    X, y = np.eye(6), np.array([0, 1, 0, 1, 1, 0])
    some = [kind(n_estimators=t, random_state=0) for t in (1, 2)]
    with pytest.raises(Unsuitable, match="one label"):
        family(some[0]).fit(some, X, np.column_stack([y, y]))
    with pytest.raises(Unsuitable, match="sample_weight"):
        family(some[0]).fit(some, X, y, eval_set=[(X, y)])
