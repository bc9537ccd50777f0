from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from share_estimators import check_company
from sklearn.linear_model import LogisticRegression

import outfold as of
from internals import BinaryLoss, LogisticFamily, MultinomialLoss, check_family, minimise, penalty_of
from outfold.fitting.sharing import Unsuitable, family_of

LOGISTIC = LogisticFamily()
TIGHT = {"tol": 1e-9, "max_iter": 3000}
L1 = (
    {"l1_ratio": 1.0}
    if "l1_ratio" in LogisticRegression().get_params() and penalty_of(LogisticRegression(l1_ratio=1.0)) == "l1"
    else {"penalty": "l1"}
)


def problem(seed: int, n_classes: int) -> tuple[np.random.Generator, np.ndarray, np.ndarray, np.ndarray | None]:
    """Rows of every kind and labels that follow the first column, of strings or of integers."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(12 * n_classes, 80)), int(rng.integers(1, 14))
    X = rng.integers(0, 4, (n, p)) if seed % 5 == 0 else rng.normal(size=(n, p))
    if seed % 7 == 3:
        X = np.concatenate([X, X[: n // 3]])
    if seed % 7 == 5:
        X = np.column_stack([X, np.full(len(X), 5.0)])
    codes = np.argsort(np.argsort(X[:, 0] + 2 * rng.normal(size=len(X)))) * n_classes // len(X)
    y = np.array([["no", "yes", "maybe", "never"], [5, -2, 9, 0]][seed % 2])[codes]
    return rng, X, y, None if seed % 3 else rng.integers(0, 3, len(X)) * rng.random(len(X)) + 0.1


@pytest.mark.parametrize("seed", range(24))
def test_two_classes_as_tight_separate_fits(seed: int) -> None:
    rng, X, y, weights = problem(seed, 2)
    solver = ("lbfgs", "newton-cg", "newton-cholesky", "liblinear")[seed % 4]
    scaling = {"intercept_scaling": 2.0} if solver == "liblinear" else {}
    balance: Any = (None, "balanced", {y[0]: 2.0})[seed % 3]
    members = [
        LogisticRegression(C=c, solver=solver, class_weight=balance, fit_intercept=seed % 5 != 1, **scaling, **TIGHT)
        for c in 10.0 ** rng.uniform(-4, 2, 5)
    ]
    check_family(LOGISTIC, members, X, y, sample_weight=weights, tolerance=1e-4)
    check_company(LOGISTIC, members, X, y, sample_weight=weights, rng=seed)


@pytest.mark.parametrize("seed", range(12))
def test_many_classes_as_tight_separate_fits(seed: int) -> None:
    rng, X, y, weights = problem(seed, 3 + seed % 2)
    members = [
        LogisticRegression(
            C=c,
            solver=("lbfgs", "newton-cg", "newton-cholesky")[seed % 3],
            class_weight=(None, "balanced")[seed % 2],
            fit_intercept=seed % 5 != 1,
            **TIGHT,
        )
        for c in 10.0 ** rng.uniform(-4, 2, 4)
    ]
    check_family(LOGISTIC, members, X, y, sample_weight=weights, tolerance=1e-4)
    check_company(LOGISTIC, members, X, y, sample_weight=weights, rng=seed)


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.filterwarnings("ignore:'penalty' was deprecated", "ignore:Inconsistent values")
def test_l1_as_tight_separate_fits(seed: int) -> None:
    rng, X, y, weights = problem(seed, 2)
    X = X.astype(float)[:, :6] + 0.01 * rng.normal(size=X[:, :6].shape)
    members = [
        LogisticRegression(
            C=c,
            solver="liblinear",
            class_weight=(None, "balanced")[seed % 2],
            fit_intercept=seed % 5 != 1,
            **L1,
            **TIGHT,
        )
        for c in 10.0 ** rng.uniform(-3, 2, 5)
    ]
    check_family(LOGISTIC, members, X, y, sample_weight=weights, tolerance=1e-5)
    check_company(LOGISTIC, members, X, y, sample_weight=weights, rng=seed)


@pytest.mark.filterwarnings("ignore:'penalty' was deprecated", "ignore:Inconsistent values")
def test_l1_of_saga_leaves_the_intercept_free() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = (X[:, 0] + rng.normal(size=80) > 1).astype(int)
    members = [LogisticRegression(C=c, solver="saga", tol=1e-8, max_iter=20_000, **L1) for c in (0.02, 0.3, 3.0)]
    check_family(LOGISTIC, members, X, y, tolerance=1e-5)


def test_wide_rows_as_tight_separate_fits() -> None:
    rng = np.random.default_rng(1)
    X, X_test = rng.normal(size=(30, 70)), rng.normal(size=(20, 70))
    members = [LogisticRegression(C=c, **TIGHT) for c in (1e-3, 0.1, 10.0)]
    for labels in (rng.integers(0, 2, 30), rng.integers(0, 3, 30)):
        check_family(LOGISTIC, members, X, labels, X_test=X_test, tolerance=1e-4)
        check_company(LOGISTIC, members, X, labels, X_test=X_test)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
def test_where_default_fits_differ_theirs_is_the_looser_answer(seed: int) -> None:
    _, X, y, _ = problem(seed, 2)
    positive = y == np.unique(y)[1]

    def objective(coef: np.ndarray, scores: np.ndarray, C: float) -> float:
        return float(C * (np.logaddexp(0, scores) - positive * scores).sum() + coef @ coef / 2)

    members = [LogisticRegression(C=c) for c in (0.01, 1.0, 100.0)]
    for member, model in zip(members, LOGISTIC.fit(members, X, y), strict=True):
        plain = LogisticRegression(C=member.C).fit(X, y)
        theirs = objective(plain.coef_[0], plain.decision_function(X), member.C)
        assert objective(model.coef, model.decision_function(X), member.C) <= theirs * (1 + 1e-10)


# -- Newton's method ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_the_gradient_vanishes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, weights = rng.normal(size=(60, 5)), rng.random(60)
    codes = rng.integers(0, 3, 60)
    binary = BinaryLoss(A, (codes > 0).astype(float), weights)
    many = MultinomialLoss(A, np.eye(3)[codes], weights, np.arange(5) == 4)
    for loss in (binary, many):
        penalty = np.repeat(10.0 ** rng.uniform(-3, 2, (7, 1)), loss.size, axis=1)
        penalty[:, 4::5] = 0
        coef, solved = minimise(loss, penalty, np.zeros_like(penalty))
        gradient = loss.derivatives(loss.scores(coef))[0] + penalty * coef
        assert solved.all()
        # scikit-learn's own measure is 1e-4 for the mean loss.
        assert np.abs(gradient).max() / weights.sum() < 1e-7


@pytest.mark.parametrize("seed", range(8))
def test_the_subgradient_vanishes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(60, 8))
    loss = BinaryLoss(A, (A[:, 0] + rng.normal(size=60) > 0).astype(float), rng.random(60))
    penalty = np.repeat(10.0 ** rng.uniform(-1, 1.2, (7, 1)), 8, axis=1)
    coef, solved = minimise(loss, np.zeros_like(penalty), penalty)
    gradient = loss.derivatives(loss.scores(coef))[0]
    assert solved.all()
    assert (coef == 0).any()
    assert (coef != 0).any()
    assert np.abs(gradient + penalty * np.sign(coef))[coef != 0].max() < 1e-5
    assert (np.abs(gradient) <= penalty * (1 + 1e-9))[coef == 0].all()


def test_derivatives_are_those_of_the_value() -> None:
    rng = np.random.default_rng(2)
    A, weights, codes = rng.normal(size=(20, 3)), rng.random(20), rng.integers(0, 3, 20)
    step = 1e-6
    for loss in (
        BinaryLoss(A, (codes > 0).astype(float), weights),
        MultinomialLoss(A, np.eye(3)[codes], weights, np.zeros(3, dtype=bool)),
    ):
        at = rng.normal(size=loss.size)
        around = np.concatenate([at + step * np.eye(loss.size), at - step * np.eye(loss.size)])
        values, (gradients, _) = loss.value(loss.scores(around)), loss.derivatives(loss.scores(around))
        gradient, hessian = (part[0] for part in loss.derivatives(loss.scores(at[None])))
        n = loss.size
        assert (values[:n] - values[n:]) / (2 * step) == pytest.approx(gradient, abs=1e-7)
        assert (gradients[:n] - gradients[n:]) / (2 * step) == pytest.approx(hessian, abs=1e-6)


def test_scale_of_the_weights_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    A, y, none = rng.normal(size=(50, 3)), rng.integers(0, 2, 50).astype(float), np.zeros((1, 3))
    coefs = [minimise(BinaryLoss(A, y, np.full(50, w)), none + w, none).coef for w in (1e-8, 1.0, 1e8)]
    assert coefs[0] == pytest.approx(coefs[1], rel=1e-9)
    assert coefs[2] == pytest.approx(coefs[1], rel=1e-9)


def test_what_is_not_solved_is_fitted_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    monkeypatch.setattr("outfold.fitting.sharing.families.logistic._STEPS", 2)
    members = [LogisticRegression(C=c, fit_intercept=False) for c in (100.0, 1e-9)]
    weak, strong = LOGISTIC.fit(members, X, y)
    assert weak is None
    assert strong is not None
    # In a collection the one that is left gets the fit it would have had alone.
    configs = {"weak": members[0], "strong": members[1]}
    shared, alone = (of.collect(configs, X, y, of.Plan(folds=2), share=share) for share in ("close", False))
    np.testing.assert_array_equal(shared.sel("weak").data, alone.sel("weak").data)


# -- refusals -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {"C": np.inf},
        {"C": 0.0},
        {"C": "1"},
        {"solver": "sag"},
        {"solver": "saga"},
        {"solver": "liblinear", "dual": True},
        {"warm_start": True},
        {"max_iter": 10},
        {"tol": 0.1},
        {"penalty": None},
        {"penalty": "elasticnet", "solver": "saga", "l1_ratio": 0.5},
        {"penalty": "l1", "solver": "lbfgs"},
    ],
)
def test_does_not_cover(params: dict[str, Any]) -> None:
    assert not LOGISTIC.covers(LogisticRegression(**params))


def test_is_used_only_where_tolerance_is_allowed() -> None:
    assert family_of(LogisticRegression(), ("exact",)) is None
    assert isinstance(family_of(LogisticRegression(), ("exact", "close")), LogisticFamily)


@pytest.mark.filterwarnings("ignore:'penalty' was deprecated", "ignore:Inconsistent values")
def test_data_that_cannot_be_served_are_refused() -> None:
    from scipy.sparse import csr_array

    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    lasso = LogisticRegression(solver="liblinear", **L1)
    for member, bad_X, bad_y, params in (
        (LogisticRegression(), csr_array(X), y, {}),
        (LogisticRegression(), X, np.zeros(60, dtype=int), {}),
        (LogisticRegression(), X, X[:, 0], {}),
        (LogisticRegression(), X, np.column_stack([y, y]), {}),
        (LogisticRegression(), X, y, {"sample_weight": -np.ones(60)}),
        (LogisticRegression(), rng.normal(size=(200, 150)), rng.integers(0, 2, 200), {}),
        (LogisticRegression(solver="liblinear"), X, rng.integers(0, 3, 60), {}),
        (lasso, np.column_stack([X, X[:, 0]]), y, {}),
        (lasso, rng.normal(size=(60, 40)), y, {}),
        (LogisticRegression(solver="saga", **L1), X, rng.integers(0, 3, 60), {}),
    ):
        with pytest.raises(Unsuitable):
            LOGISTIC.fit([member], bad_X, bad_y, **params)
    with pytest.raises(ValueError, match="NaN"):
        LOGISTIC.fit([LogisticRegression()], np.where(X > 1, np.nan, X), y)
    assert family_of(LogisticRegression(tol=-1.0), ("exact", "close")) is None  # so that its own fit says what is wrong


def test_reads_single_precision_and_locked_rows() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 3)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    X.flags.writeable = False
    check_family(LOGISTIC, [LogisticRegression(C=c, tol=1e-6) for c in (0.1, 1.0)], X, y, tolerance=1e-3)
