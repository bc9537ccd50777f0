from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge, RidgeClassifier

from outfold._share import Unsuitable
from outfold._share.builtin.linear import RidgeClassifierFamily, RidgeFamily
from outfold._share.proof import check_company, check_family

RIDGE, RIDGE_CLASSIFIER = RidgeFamily(), RidgeClassifierFamily()
SEEDS = range(25)
# Plain fits of penalties that are too small for the data say so.
pytestmark = pytest.mark.filterwarnings("ignore:An ill-conditioned matrix", "ignore:Singular matrix")


def rows(seed: int) -> tuple[np.random.Generator, np.ndarray, np.ndarray]:
    """Training and test rows: tall and wide, of integers, with constant columns, offsets and very different scales."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(5, 80)), int(rng.integers(1, 60))
    X = rng.normal(size=(n, p))
    if seed % 5 == 0:
        X = rng.integers(0, 4, (n, p))
    elif seed % 3 == 0:
        X = X @ (rng.normal(size=(p, p)) * 10.0 ** rng.uniform(-4, 1, p))
    elif seed % 7 == 0:
        X = X * 10.0 ** rng.uniform(-6, 6, p)
    if seed % 4 == 0:
        X[:, 0] = 5
        X = X + (1000 if seed % 8 else 0)
    if seed % 6 == 0:
        X = np.concatenate([X, X[: n // 2]])
    return rng, X, rng.normal(size=(30, p)) * 2 * X.std(axis=0) + X.mean(axis=0)


def some_weights(rng: np.random.Generator, n: int, seed: int) -> np.ndarray | None:
    """Weights for every second seed, many of them 0."""
    return None if seed % 2 else rng.integers(0, 3, n) * rng.random(n) + (np.arange(n) < 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_ridge_predicts_what_separate_fits_predict(seed: int) -> None:
    rng, X, X_test = rows(seed)
    y = X @ rng.normal(size=X.shape[1]) + rng.normal(size=len(X)) * 10.0 ** rng.uniform(-3, 3)
    weights = some_weights(rng, len(X), seed)
    solver = ("auto", "svd", "cholesky")[seed % 3]
    members = [Ridge(alpha=a, solver=solver, fit_intercept=seed % 4 != 1) for a in 10.0 ** rng.uniform(-8, 4, 8)]
    check_family(RIDGE, members, X, y, X_test=X_test, sample_weight=weights)
    check_company(RIDGE, members, X, y, X_test=X_test, sample_weight=weights, rng=seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_ridge_classifier_predicts_what_separate_fits_predict(seed: int) -> None:
    rng, X, X_test = rows(seed)
    classes = np.array([["a", "b", "c", "d"], [7, -1, 30, 4]][seed % 2])[: 2 + seed % 3]
    y = rng.choice(classes, len(X))
    y[: len(classes)] = classes[: len(y)]
    weights = some_weights(rng, len(X), seed // 2)
    balance: Any = (None, "balanced", dict.fromkeys(classes.tolist(), 2.5))[seed % 3]
    members = [
        RidgeClassifier(alpha=a, class_weight=balance, fit_intercept=seed % 4 != 1)
        for a in 10.0 ** rng.uniform(-8, 4, 5)
    ]
    check_family(RIDGE_CLASSIFIER, members, X, y, X_test=X_test, sample_weight=weights)
    check_company(RIDGE_CLASSIFIER, members, X, y, X_test=X_test, sample_weight=weights, rng=seed)


def test_ridge_serves_ordinary_penalties_by_the_shared_fit() -> None:
    rng = np.random.default_rng(0)
    for n, p in ((60, 20), (30, 50)):
        models = RIDGE.fit(
            [Ridge(alpha=a) for a in np.logspace(-2, 4, 20)], rng.normal(size=(n, p)), rng.normal(size=n)
        )
        assert not any(isinstance(model, Ridge) for model in models)


def test_ill_conditioned_penalties_are_fitted_plainly_and_only_they() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 5))
    X[:, 4] = X[:, 3] + 1e-7 * X[:, 4]
    members = [Ridge(alpha=a) for a in (1e-12, 1.0)]
    tiny, ordinary = RIDGE.fit(members, X, y := rng.normal(size=40))
    assert isinstance(tiny, Ridge)
    assert not isinstance(ordinary, Ridge)
    assert np.array_equal(tiny.predict(X), Ridge(alpha=1e-12).fit(X, y).predict(X))


def test_far_offsets_that_cancel_in_the_intercept_are_fitted_plainly() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3)) + 1e10
    (model,) = RIDGE.fit([Ridge()], X, rng.normal(size=40))
    assert isinstance(model, Ridge)


@pytest.mark.parametrize("seed", range(10))
def test_labels_of_rows_on_the_cut_are_those_of_a_plain_fit(seed: int) -> None:
    # Every row appears with both labels: all scores are 0 but for rounding.
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(15, 4)), 2, axis=0)
    y = np.tile([0, 1], 15)
    for alpha, model in zip(
        (0.1, 1.0), RIDGE_CLASSIFIER.fit([RidgeClassifier(0.1), RidgeClassifier(1.0)], X, y), strict=True
    ):
        assert np.array_equal(model.predict(X), RidgeClassifier(alpha).fit(X, y).predict(X))


def test_ridge_reads_frames_read_only_rows_and_either_order_alike() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    locked = X.copy()
    locked.flags.writeable = False
    members = [Ridge(alpha=a) for a in (0.1, 1.0)]
    for given in (locked, np.asfortranarray(X), pd.DataFrame(X, columns=list("abcd")), X.astype(np.float16)):
        check_family(RIDGE, members, given, y)
    assert np.array_equal(locked, X)


@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(alpha=0),
        Ridge(alpha=-1.0),
        Ridge(alpha=np.inf),
        Ridge(alpha=np.array([1.0, 2.0])),
        Ridge(alpha=True),
        Ridge(positive=True),
        Ridge(solver="lsqr"),
        Ridge(solver="sag"),
        Ridge(solver="saga"),
        Ridge(solver="sparse_cg"),
        RidgeClassifier(alpha=0.0),
        RidgeClassifier(solver="lsqr"),
        RidgeClassifier(positive=True),
    ],
)
def test_ridge_does_not_cover(estimator: Any) -> None:
    family = RIDGE if isinstance(estimator, Ridge) else RIDGE_CLASSIFIER
    assert not family.covers(estimator)
    assert family.covers(type(estimator)())


def test_data_that_ridge_cannot_serve_are_refused() -> None:
    from scipy.sparse import csr_array

    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    fit = RIDGE.fit
    for bad_X, bad_y, params in (
        (csr_array(X), y, {}),
        (X.astype(np.float32), y, {}),
        (X, np.column_stack([y, y]), {}),
        (X, y[:, None], {}),
        (X, y, {"sample_weight": 2.0}),
        (X, y, {"sample_weight": -np.ones(20)}),
        (X, y, {"sample_weight": np.ones(20), "other": 1}),
    ):
        with pytest.raises(Unsuitable):
            fit([Ridge()], bad_X, bad_y, **params)
    for labels in (np.zeros(20, dtype=int), y, np.ones((20, 2), dtype=int)):
        with pytest.raises(Unsuitable):
            RIDGE_CLASSIFIER.fit([RidgeClassifier()], X, labels)
    with pytest.raises(ValueError, match="NaN"):
        fit([Ridge()], np.where(X > 1, np.nan, X), y)
    with pytest.raises(ValueError, match="tol"):
        fit([Ridge(tol=-1)], X, y)
