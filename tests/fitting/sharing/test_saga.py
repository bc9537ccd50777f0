"""Logistic regressions by saga, side by side: every bit as in separate fits."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from share_estimators import check_company
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import outfold as of
from extras import without_numba
from internals import LogisticFamily, SagaFamily, check_family, compiling, logistic
from outfold.fitting.sharing import Unsuitable, family_of

pytest.importorskip("numba", reason="the solver is compiled")

SAGA = SagaFamily()
RATIOS = (0.0, 0.001, 0.5, 1.0)
# Before scikit-learn 1.8 the penalty had to be named.
NAMED: dict[str, Any] = {} if LogisticRegression().penalty == "deprecated" else {"penalty": "elasticnet"}


def net(C: float, ratio: float, **params: Any) -> LogisticRegression:
    return LogisticRegression(**{"solver": "saga", "C": C, "l1_ratio": ratio, "random_state": 3, **NAMED, **params})


def problem(seed: int, n: int, p: int, form: str) -> tuple[Any, Any, Any]:
    """Training rows, labels, and test rows of which some are training rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.1, 3)
    if form == "ties":  # whole numbers, equal rows, a constant column and one of zeros
        X = rng.integers(-2, 3, (n, p)).astype(float)
        X[n // 2 :] = X[: n - n // 2]
        X[:, -1] = 5.0
        X[:, 0] *= p < 3
    elif form == "int":
        X = rng.integers(-2, 3, (n, p))
        X[0] = 1
    elif form == "far":  # not scaled: steps are tiny, scores are huge
        X = X * 100 + 40
    elif form == "F":
        X = np.asfortranarray(X)
    X.flags.writeable = False
    y = np.array(["no", "yes"])[rng.permutation(np.arange(n) % 2)]
    return X, y, np.concatenate((X[: n // 4], rng.normal(size=(9, p))))


def expect_equal(members: list[Any], X: Any, y: Any, X_test: Any, weight: Any = None) -> list[Any]:
    """Coefficients, rounds, warnings and predictions of the family are those of the members."""
    fit_params = {} if weight is None else {"sample_weight": weight}
    views = SAGA.fit(members, X, y, **fit_params)
    for view, member in zip(views, members, strict=True):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            member.fit(X, y, **fit_params)
        assert np.array_equal(view.coef, member.coef_[0]), member
        assert np.array_equal(view.intercept, member.intercept_[0]), member
        assert view.n_iter_ == member.n_iter_[0], member
        assert view.warned == tuple(w.category.__name__ for w in caught), member
        for method in ("decision_function", "predict_proba", "predict"):
            assert np.array_equal(getattr(view, method)(X_test), getattr(member, method)(X_test)), (member, method)
    return views


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 90),
    p=st.integers(1, 40),
    form=st.sampled_from(["normal", "ties", "int", "far", "F"]),
    weighted=st.booleans(),
    class_weight=st.sampled_from([None, "balanced", {"no": 3.0, "yes": 0.5}]),
    fit_intercept=st.booleans(),
    tol=st.sampled_from([1e-2, 1e-4, 0.0]),
    max_iter=st.sampled_from([1, 7, 60]),
)
def test_bit_for_bit_as_separate_fits(
    seed: int,
    n: int,
    p: int,
    form: str,
    weighted: bool,
    class_weight: Any,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
) -> None:
    X, y, X_test = problem(seed, n, p, form)
    weight = np.random.default_rng(seed).integers(0, 3, n) * 0.7 + 0.1 if weighted else None
    params = {"class_weight": class_weight, "fit_intercept": fit_intercept, "tol": tol, "max_iter": max_iter}
    members = [net(C, ratio, **params) for C, ratio in product((1e-6, 1e-3, 0.1, 10.0), RATIOS)]
    expect_equal(members, X, y, X_test, weight)


@pytest.mark.parametrize("n", range(48, 60))
def test_coefficients_that_are_rescaled_on_any_row(n: int) -> None:
    # A strong l2 penalty takes two thirds of the scale on every row: it falls below 1e-9 on the 52nd row or soon after, which
    # for one of these n is the last one.
    X, y, X_test = problem(n, n, 6, "normal")
    members = [
        net(C, ratio, tol=1e-5, max_iter=20) for C, ratio in product((1e-7, 1e-5, 1e-4, 3e-4), (0.0, 1e-4, 0.01))
    ]
    expect_equal(members, X, y, X_test)


def test_members_stop_each_in_its_own_round() -> None:
    X, y, X_test = problem(1, 80, 30, "normal")
    members = [
        net(C, ratio, tol=tol, max_iter=max_iter)
        for C, ratio, tol, max_iter in product((0.01, 0.3, 20.0), RATIOS, (1e-2, 1e-5), (5, 90, 400))
    ]
    views = expect_equal(members, X, y, X_test)
    assert len({view.n_iter_ for view in views}) > 10
    assert {view.warned for view in views} == {(), ("ConvergenceWarning",)}


def test_more_members_than_walk_together(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, X_test = problem(2, 40, 12, "normal")
    monkeypatch.setattr(logistic, "_MOST_KEPT", 400)
    expect_equal([net(C, 0.5) for C in np.geomspace(0.01, 3, 13)], X, y, X_test)


def test_seconds_between_calls_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, X_test = problem(3, 40, 12, "normal")
    monkeypatch.setattr(compiling.load("saga"), "_STEPS", 1)
    expect_equal([net(C, 0.5) for C in (0.1, 1.0)], X, y, X_test)


def test_members_do_not_depend_on_their_fellows() -> None:
    X, y, X_test = problem(4, 60, 20, "normal")
    members = [net(C, ratio, max_iter=300) for C, ratio in product((0.02, 0.2, 2.0), RATIOS)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check_family(SAGA, members, X, y, X_test=X_test, tolerance=0)
        check_company(SAGA, members, X, y, X_test=X_test, subsets=6)


@pytest.mark.parametrize("labels", ["int", "bool", "series"])
def test_labels_of_other_types_and_frames(labels: str) -> None:
    pd = pytest.importorskip("pandas")
    X, y, _ = problem(5, 40, 3, "normal")
    frame = pd.DataFrame(X, columns=list("abc"))
    target = {"int": np.where(y == "no", 5, -2), "bool": y == "no", "series": pd.Series(y)}[labels]
    check_family(SAGA, [net(C, 0.3, max_iter=1000) for C in (0.5, 1.0)], frame, target, tolerance=0)


@pytest.mark.parametrize("ask", ["one row", "float32", "int", "F"])
def test_rows_of_every_kind_are_asked(ask: str) -> None:
    X, y, _ = problem(6, 50, 37, "normal")
    asked = {
        "one row": X[:1],
        "float32": X.astype(np.float32),
        "int": np.rint(X).astype(int),
        "F": np.asfortranarray(X),
    }
    members = [net(C, 0.3, max_iter=1000) for C in (0.05, 0.5)]
    expect_equal(members, X, y, asked[ask])


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_a_member_that_overflows_is_left_to_say_so_itself() -> None:
    X, y, _ = problem(7, 30, 4, "normal")
    weight = np.full(30, 1e308)  # the step does not know of weights
    members = [net(C, 0.5) for C in (1e-9, 100.0)]
    assert SAGA.fit(members, X, y, sample_weight=weight) == [None, None]
    for member in members:
        with pytest.raises(ValueError, match="overflow"):
            member.fit(X, y, sample_weight=weight)


# -- what is not for it ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {"solver": "sag"},
        {"solver": "lbfgs"},
        {"C": np.inf},
        {"C": 0.0},
        {"l1_ratio": 1.5},
        {"l1_ratio": None, "penalty": "elasticnet"},
        {"penalty": None},
        {"warm_start": True},
        {"dual": True},
        {"verbose": 1},
        {"max_iter": 0},
        {"tol": "1e-4"},
        {"random_state": np.random.RandomState(0)},
    ],
)
def test_estimators_that_are_refused(params: dict[str, Any]) -> None:
    assert SAGA.covers(net(1.0, 0.5))
    assert not SAGA.covers(net(1.0, 0.5).set_params(**params))


def test_penalties_that_are_named() -> None:
    X, y, X_test = problem(8, 40, 5, "normal")
    members = [net(0.3, 0.5, penalty=penalty) for penalty in ("l1", "l2", "elasticnet")]
    for view, member in zip(SAGA.fit(members, X, y), members, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            member.fit(X, y)
        assert np.array_equal(view.predict_proba(X_test), member.predict_proba(X_test))


def test_data_that_are_refused() -> None:
    from scipy.sparse import csr_array

    X, y, _ = problem(9, 30, 3, "normal")
    third = np.where(np.arange(30) < 5, "maybe", y)
    refused = [
        (csr_array(X), y, {}),
        (X.astype(np.float32), y, {}),
        (np.zeros((30, 3)), y, {}),
        (X * 1e200, y, {}),
        (X, third, {}),
        (X, np.full(30, "no"), {}),
        (X, y, {"sample_weight": -np.ones(30)}),
    ]
    for rows, labels, fit_params in refused:
        with pytest.raises(Unsuitable):
            SAGA.fit([net(1.0, 0.5)], rows, labels, **fit_params)
    with pytest.raises(Unsuitable, match="seed"):
        SAGA.fit([net(1.0, 0.5, random_state=None)], X, y)


def test_other_bits_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = compiling.load("saga")
    assert kernel is not None
    solve = kernel.solve

    def one_bit_off(*given: Any) -> Any:
        found = solve(*given)
        return found._replace(coef=np.nextafter(found.coef, np.inf))

    X, y, _ = problem(10, 30, 3, "normal")
    monkeypatch.setattr(kernel, "solve", one_bit_off)
    logistic._agrees.cache_clear()
    try:
        with pytest.raises(Unsuitable, match="bits"):
            SAGA.fit([net(1.0, 0.5)], X, y)
    finally:
        logistic._agrees.cache_clear()


def test_without_compiled_loops_there_is_no_family(monkeypatch: pytest.MonkeyPatch) -> None:
    with without_numba():
        assert not SAGA.covers(net(1.0, 0.5))
    monkeypatch.setattr(compiling, "load", lambda name: None)  # installed, but unusable
    X, y, _ = problem(10, 30, 3, "normal")
    with pytest.raises(Unsuitable, match="bits"):
        SAGA.fit([net(1.0, 0.5)], X, y)


# -- in collections -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0], ids=["l2", "mixed", "l1"])
def test_which_family_is_asked(ratio: float) -> None:
    """Not Newton's method, which leaves to the estimator what saga does not finish: that takes longest."""
    named = {"penalty": {0.0: "l2", 1.0: "l1"}.get(ratio, "elasticnet")} if NAMED else {}
    model = net(1.0, ratio, **named)
    for allowed in (("exact",), ("exact", "close")):
        assert isinstance(family_of(model, allowed), SagaFamily)
    with without_numba():
        assert isinstance(family_of(model, ("exact", "close")), LogisticFamily if ratio == 1.0 else type(None))


def test_a_collection_is_that_of_separate_fits() -> None:
    X, y, _ = problem(11, 90, 15, "normal")
    penalties = product((0.01, 5.0), (0.2, 1.0))
    configs = {f"{C:g} {ratio:g}": net(C, ratio, random_state=None, max_iter=40) for C, ratio in penalties}
    shared, separate = (of.collect(configs, X, y, of.Plan(3), rng=0, n_jobs=1, share=s) for s in ("exact", False))
    assert np.array_equal(shared.data, separate.data)
    # Those of the larger C do not converge, and only they warn.
    assert shared.notes == separate.notes
    assert [str(n) for n in shared.notes] == ["OF103  fits gave warnings: ConvergenceWarning in 6 of 12 fits."]
    made = shared.provenance["sharing"]
    assert made["families"] == {"LogisticRegression (saga)": 12}
    assert made["models_done"] == 3


def test_loops_are_compiled_once_for_all_arrays() -> None:
    kernel = compiling.load("saga")
    assert kernel is not None
    X, y, _ = problem(12, 40, 4, "normal")
    for rows in (X, X.copy(), np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        for weight in (None, np.ones(80)[::2], np.ones(40, dtype=int)):
            SAGA.fit([net(1.0, 0.5)], rows, y, **({} if weight is None else {"sample_weight": weight}))
    assert len(kernel.rounds.signatures) == 1
