"""Families of support vector machines: kernels with libsvm's own bits."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.svm import SVC, SVR

import outfold as of
from outfold.fitting.sharing import Unsuitable
from outfold.fitting.sharing.families import svm
from outfold.fitting.sharing.proof import check_company, check_family
from outfold.stats import gram

KERNELS = ("linear", "poly", "rbf", "sigmoid")


def _data(seed: int, n: int, p: int, form: str, n_classes: int) -> tuple[Any, Any, Any]:
    """Training rows, labels and test rows, of which some are training rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.1, 2)
    if form == "ties":  # whole numbers, equal rows, a constant column
        X = rng.integers(-2, 3, (n, p)).astype(float)
        X[n // 2 :] = X[: n - n // 2]
        X[:, -1] = 7.0
    elif form == "float32":
        X = X.astype(np.float32)
    elif form == "int":
        X = rng.integers(-2, 3, (n, p))
    elif form == "F":
        X = np.asfortranarray(X)
    X.flags.writeable = False
    y = np.array(["c", "a", "b", "d"])[np.arange(n) % n_classes]
    return X, rng.permutation(y), np.concatenate((X[: n // 4], rng.normal(size=(15, p))))


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(8, 70),
    p=st.integers(1, 40),
    form=st.sampled_from(["normal", "ties", "float32", "int", "F"]),
    n_classes=st.integers(2, 4),
    weighted=st.booleans(),
    class_weight=st.sampled_from([None, "balanced", {"a": 3.0, "c": 0.5}]),
    kernel=st.sampled_from(KERNELS),
)
def test_classifiers_are_bit_for_bit_those_of_separate_fits(
    seed, n, p, form, n_classes, weighted, class_weight, kernel
):
    X, y, X_test = _data(seed, n, p, form, n_classes)
    weight = np.random.default_rng(seed).uniform(0.2, 3, n) if weighted else None
    gammas = ("scale", "auto", 0.05, 0, 2)
    degrees = (0, 1, 2, 3) if kernel == "poly" else (3,)
    members = [
        SVC(C=C, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, class_weight=class_weight)
        for C, gamma, degree, coef0 in product((0.1, 3.0), gammas, degrees, (0.0, 0.7))
    ]
    check_family(svm.Classification(), members, X, y, X_test=X_test, sample_weight=weight, tolerance=0)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(4, 70),
    p=st.integers(1, 40),
    form=st.sampled_from(["normal", "ties", "float32", "F"]),
    weighted=st.booleans(),
    kernel=st.sampled_from(KERNELS),
)
def test_regressors_are_bit_for_bit_those_of_separate_fits(seed, n, p, form, weighted, kernel):
    X, _, X_test = _data(seed, n, p, form, 2)
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n) + X[:, 0] / 10
    weight = rng.uniform(0.2, 3, n) if weighted else None
    members = [
        SVR(C=C, epsilon=epsilon, gamma=gamma, kernel=kernel, degree=2, shrinking=shrinking)
        for C, epsilon, gamma, shrinking in product((0.1, 5), (0.0, 0.3), ("scale", 0.1), (True, False))
    ]
    check_family(svm.Regression(), members, X, y, X_test=X_test, sample_weight=weight, tolerance=0)


@pytest.mark.parametrize("options", [{"decision_function_shape": "ovo"}, {"break_ties": True}, {"shrinking": False}])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_all_ways_to_answer(options, n_classes):
    X, y, X_test = _data(3, 60, 4, "ties", n_classes)
    members = [SVC(C=C, gamma=gamma, **options) for C, gamma in product((0.3, 2), (0.1, 1))]
    check_family(svm.Classification(), members, X, y, X_test=X_test, tolerance=0)


def test_members_of_all_kernels_do_not_depend_on_their_fellows():
    X, y, X_test = _data(4, 50, 6, "normal", 3)
    members = [
        SVC(C=C, kernel=kernel, gamma=gamma, coef0=0.2, tol=tol)
        for C, kernel, gamma, tol in product((0.1, 2), KERNELS, (0.02, "scale"), (1e-3, 1e-5))
    ]
    check_family(svm.Classification(), members, X, y, X_test=X_test, tolerance=0)
    check_company(svm.Classification(), members, X, y, X_test=X_test)


def test_labels_of_other_types_and_frames():
    pd = pytest.importorskip("pandas")
    X, y, _ = _data(5, 40, 3, "normal", 2)
    frame = pd.DataFrame(X, columns=list("abc"))
    members = [SVC(C=C) for C in (0.5, 1)]
    for labels in (y == "a", np.where(y == "a", 5, -2), pd.Series(y)):
        check_family(svm.Classification(), members, frame, labels, tolerance=0)
    check_family(svm.Regression(), [SVR(C=C) for C in (0.5, 1)], frame, np.arange(40), tolerance=0)


def test_rows_that_are_asked_in_turn():
    X, y, _ = _data(6, 40, 3, "normal", 2)
    first, second = X[:10], X[10:25]
    views = svm.Classification().fit([SVC(C=1, gamma=g) for g in (0.1, 1)], X, y)
    alone = [SVC(C=1, gamma=g).fit(X, y) for g in (0.1, 1)]
    for rows, (view, model) in product((first, second, first), zip(views, alone, strict=True)):
        assert np.array_equal(view.decision_function(rows), model.decision_function(rows))
    with pytest.raises(ValueError, match="2 features, but 3"):
        views[0].predict(X[:, :2])


@pytest.mark.parametrize(
    "params",
    [
        {"probability": True},
        {"kernel": "precomputed"},
        {"kernel": lambda a, b: a @ b.T},
        {"max_iter": "50"},
        {"verbose": True},
        {"gamma": -1.0},
        {"break_ties": True, "decision_function_shape": "ovo"},
    ],
)
def test_machines_that_are_refused(params):
    assert not svm.Classification().covers(SVC(**params))


def test_data_that_are_refused():
    from scipy.sparse import csr_array

    X, y, _ = _data(7, 30, 3, "normal", 2)
    family = svm.Classification()
    weight = np.ones(30)
    weight[3] = 0
    with pytest.raises(Unsuitable, match="positive sample_weight"):
        family.fit([SVC()], X, y, sample_weight=weight)
    with pytest.raises(Unsuitable, match="dense X"):
        family.fit([SVC()], csr_array(X), y)
    with pytest.raises(Unsuitable, match="two classes"):
        family.fit([SVC()], X, np.full(30, "a"))
    with pytest.raises(ValueError, match="NaN"):
        family.fit([SVC()], np.where(X > 1, np.nan, X), y)


def test_an_exponential_that_rounds_otherwise_is_noticed(monkeypatch):
    X, y, _ = _data(8, 30, 3, "normal", 2)
    plain = gram.c_exp
    monkeypatch.setattr(gram, "c_exp", lambda x: plain(x) * (1 + 2**-52))
    svm._agrees.cache_clear()
    try:
        with pytest.raises(Unsuitable, match="bits"):
            svm.Classification().fit([SVC()], X, y)
    finally:
        svm._agrees.cache_clear()


def test_a_dot_product_that_rounds_otherwise_is_noticed(monkeypatch):
    X, y, _ = _data(8, 30, 3, "normal", 2)
    assert svm._agrees()
    monkeypatch.setattr(gram, "cross_dots", lambda A, B: (A @ B.T) * (1 + 2**-52))
    with pytest.raises(Unsuitable, match="dot products of these rows"):
        svm.Classification().fit([SVC()], X, y)


def test_numbers_too_large_are_no_warning():
    X, _, _ = _data(9, 20, 3, "normal", 2)
    kernels = svm._Kernels(X * 1e150)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(kernels.train(svm._Spec("poly", 1.0, 3))).any()
        assert np.isinf(kernels.against(X * 1e150).kernel(svm._Spec("poly", 1.0, 3))).any()


@pytest.mark.parametrize("p", [1, 2, 7, 31, 32, 33, 64, 130, 1000])
def test_dot_products_and_squares_are_those_of_blas(p):
    from scipy.linalg.blas import ddot

    rng = np.random.default_rng(p)
    A, B = rng.normal(size=(70, p)), rng.normal(size=(9, p))
    assert np.array_equal(gram.dots(A), [[ddot(a, b) for b in A] for a in A])
    assert np.array_equal(gram.cross_dots(B, A), [[ddot(b, a) for a in A] for b in B])
    assert np.array_equal(gram.cross_squares(B, A), [[ddot(b - a, b - a) for a in A] for b in B])


@pytest.mark.filterwarnings("ignore:Solver terminated early")
@pytest.mark.parametrize("kernel", KERNELS)
def test_machines_that_are_stopped_early_are_stopped_at_the_same_step(kernel):
    X, y, X_test = _data(3, 60, 4, "ties", 3)
    some = [SVC(C=C, kernel=kernel, max_iter=7) for C in (0.1, 1, 100)]
    check_family(svm.Classification(), some, X, y, X_test=X_test, tolerance=0)


def test_the_one_that_was_stopped_is_the_one_that_warns():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::6] / X.std(axis=0), y[::6]
    machines = of.grid("svm", SVC(max_iter=60), C=[1e-4, 1e4])
    notes = [
        [str(note) for note in of.collect(machines, X, y, of.Plan(3), share=share).notes if note.code == "OF103"]
        for share in ("exact", False)
    ]
    assert notes[0] == notes[1] == ["OF103  fits gave warnings: ConvergenceWarning in 2 of 6 fits."]
