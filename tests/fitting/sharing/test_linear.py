from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from share_estimators import check_company
from sklearn.linear_model import ElasticNet, Lasso, Ridge, RidgeClassifier

from internals import (
    ElasticNetFamily,
    LassoFamily,
    RidgeClassifierFamily,
    RidgeFamily,
    check_family,
    is_full_rank,
)
from outfold.fitting.sharing import Unsuitable, family_of

RIDGE, RIDGE_CLASSIFIER = RidgeFamily(), RidgeClassifierFamily()
LASSO, ELASTIC_NET = LassoFamily(), ElasticNetFamily()
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
        assert None not in models


def test_ill_conditioned_penalties_are_fitted_plainly_and_only_they() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 5))
    X[:, 4] = X[:, 3] + 1e-7 * X[:, 4]
    members = [Ridge(alpha=a) for a in (1e-12, 1.0)]
    tiny, ordinary = RIDGE.fit(members, X, rng.normal(size=40))
    assert tiny is None
    assert ordinary is not None


def test_far_offsets_that_cancel_in_the_intercept_are_fitted_plainly() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3)) + 1e10
    assert RIDGE.fit([Ridge()], X, rng.normal(size=40)) == [None]


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
    assert family_of(Ridge(tol=-1.0), ("exact", "close")) is None  # so that its own fit says what is wrong


# -- lasso and elastic net ------------------------------------------------------------------------------

TIGHT = {"tol": 1e-11, "max_iter": 50_000}


def sparse_problem(seed: int) -> tuple[np.random.Generator, np.ndarray, np.ndarray, np.ndarray]:
    """Few columns matter; the strongest penalty that leaves any in is about 1."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 80)), int(rng.integers(1, 20))
    X = rng.integers(0, 5, (n, p)) if seed % 5 == 0 else rng.normal(size=(n, p))
    if seed % 4 == 0:
        X[:, 0] = 5
        X = X * 3 + 100
    y = X @ (rng.normal(size=p) * (rng.random(p) < 0.4)) + rng.normal(size=n)
    y = y / max(np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / n, 1e-3)
    return rng, X, y, rng.normal(size=(30, p)) * X.std(axis=0) + X.mean(axis=0)


@pytest.mark.parametrize("seed", range(20))
def test_lasso_and_elastic_net_predict_what_tight_separate_fits_predict(seed: int) -> None:
    rng, X, y, X_test = sparse_problem(seed)
    shared: dict[str, Any] = {
        "fit_intercept": seed % 4 != 1,
        "positive": seed % 6 == 0,
        "selection": ("cyclic", "random")[seed % 2],
        "precompute": seed % 4 == 3,
        **TIGHT,
    }
    alphas = 10.0 ** rng.uniform(-3, 0.2, 6)
    weights = some_weights(rng, len(X), seed // 2)
    lasso = [Lasso(alpha=a, **shared) for a in alphas]
    check_family(LASSO, lasso, X, y, X_test=X_test, sample_weight=weights, tolerance=1e-6)
    net = [ElasticNet(alpha=a, l1_ratio=r, **shared) for a, r in zip(alphas, (0.1, 0.5, 1.0) * 2, strict=True)]
    check_family(ELASTIC_NET, net, X, y, X_test=X_test, sample_weight=weights, tolerance=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_wide_lasso_predicts_what_tight_separate_fits_predict(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, X_test = rng.normal(size=(25, 40)), rng.normal(size=(10, 40))
    y = X[:, :3].sum(axis=1) + rng.normal(size=25)
    members = [Lasso(alpha=a, fit_intercept=seed % 2 == 0, **TIGHT) for a in (0.03, 0.1, 3.0, 0.3, 1000.0, 0.1)]
    check_family(LASSO, members, X, y, X_test=X_test, tolerance=1e-6)
    assert None not in LASSO.fit(members, X, y)


def objective(estimator: Any, model: Any, X: np.ndarray, y: np.ndarray, coef: np.ndarray) -> float:
    loss = ((y - model.predict(X)) ** 2).mean() / 2
    ratio = estimator.l1_ratio
    return loss + estimator.alpha * (ratio * np.abs(coef).sum() + (1 - ratio) / 2 * (coef**2).sum())


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.filterwarnings("ignore:Objective did not converge")
def test_where_default_fits_differ_theirs_is_the_looser_answer(seed: int) -> None:
    _, X, y, _ = sparse_problem(seed)
    members = [ElasticNet(alpha=a, l1_ratio=r) for a in (0.001, 0.01, 0.1) for r in (0.3, 1.0)]
    for member, model in zip(members, ELASTIC_NET.fit(members, X, y), strict=True):
        if model is None:
            continue
        plain = ElasticNet(alpha=member.alpha, l1_ratio=member.l1_ratio).fit(X, y)
        theirs = objective(member, plain, X, y, plain.coef_)
        assert objective(member, model, X, y, model.coef) <= theirs + 1e-11 * y.var()


def test_lasso_with_more_than_one_solution_is_fitted_plainly() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(30, 4))
    X = np.column_stack([X, X[:, 0]])
    y = 3 * X[:, 0] + rng.normal(size=30)
    twice, alone = LASSO.fit([Lasso(alpha=0.1), Lasso(alpha=50.0)], X, y)
    assert twice is None
    assert alone is not None  # no column is let in
    models = ELASTIC_NET.fit([ElasticNet(alpha=0.1)], X, y)
    assert models[0] is not None  # the l2 part decides


def test_rank_is_judged_by_direction_not_by_scale() -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(20, 3)) * [1e-9, 1.0, 1e9]
    assert is_full_rank(X)
    assert is_full_rank(np.column_stack([X, np.zeros(20)]))
    assert not is_full_rank(np.column_stack([X, X[:, 0] + X[:, 1]]))
    assert not is_full_rank(rng.normal(size=(3, 4)))
    assert is_full_rank(X[:, :0])


@pytest.mark.parametrize(
    "params",
    [
        {"alpha": 0.0},
        {"alpha": np.inf},
        {"warm_start": True},
        {"max_iter": 50},
        {"tol": 0.1},
        {"tol": 0.0},
        {"precompute": np.eye(3)},
    ],
)
def test_lasso_and_elastic_net_do_not_cover(params: dict[str, Any]) -> None:
    assert not LASSO.covers(Lasso(**params))
    assert not ELASTIC_NET.covers(ElasticNet(**params))


def test_elastic_net_needs_a_part_that_is_l1() -> None:
    assert ELASTIC_NET.covers(ElasticNet(l1_ratio=1))
    assert not ELASTIC_NET.covers(ElasticNet(l1_ratio=0))
    assert not ELASTIC_NET.covers(ElasticNet(l1_ratio=1.5))
    assert ELASTIC_NET.whole
    assert LASSO.whole
