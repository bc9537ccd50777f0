"""Families of decision trees, cut out of a larger one."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from share_estimators import check_company
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from internals import CutTree, check_family, growing, trees
from outfold.fitting.sharing import Unsuitable

CLASSIFICATION, REGRESSION = (CutTree(f"sklearn.tree.DecisionTree{kind}") for kind in ("Classifier", "Regressor"))
KINDS = {
    "classification": (DecisionTreeClassifier, CLASSIFICATION),
    "regression": (DecisionTreeRegressor, REGRESSION),
}


def _members(kind: type, **fixed: Any) -> list[Any]:
    """Stops that bind and stops that do not, counts and shares."""
    grid = product((1, 2, 0.1), (2, 5, 30, 0.25), (None, 1, 3, 50))
    return [
        kind(min_samples_leaf=leaf, min_samples_split=split, max_depth=depth, random_state=3, **fixed)
        for leaf, split, depth in grid
    ]


def _data(seed: int, n: int, p: int, task: str, ties: bool, n_classes: int = 2) -> tuple[Any, Any, Any]:
    """Training rows, labels and test rows; with `ties` whole numbers, duplicated rows and a constant column."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, p)).astype(float) if ties else rng.normal(size=(n, p))
    if ties:
        X[n // 2 :] = X[: n - n // 2]
        X[:, -1] = 1.0
    signal = X[:, 0] + rng.normal(size=n)
    if task == "regression":
        return X, signal, rng.normal(size=(20, p))
    codes = np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)
    return X, np.array(["z", "a", "m", "b"])[codes], rng.normal(size=(20, p))


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(12, 70),
    task=st.sampled_from(sorted(KINDS)),
    n_classes=st.integers(2, 4),
    weighted=st.booleans(),
    ties=st.booleans(),
)
def test_cut_trees_of_one_feature_equal_separate_fits(seed, n, task, n_classes, weighted, ties):
    """One feature leaves nothing to chance, so cutting must be exact; sums may be added in another order."""
    X, y, X_test = _data(seed, n, 2 if ties else 1, task, ties, n_classes)  # the second column is constant
    kind, cut = KINDS[task]
    weight = np.random.default_rng(seed).integers(1, 4, n) if weighted else None
    members = _members(kind)
    views = cut.fit([clone(m) for m in members], X, y, **({} if weight is None else {"sample_weight": weight}))
    for member, view in zip(members, views, strict=True):
        alone = clone(member).fit(X, y, sample_weight=weight)
        method = "predict" if task == "regression" else "predict_proba"
        want, got = getattr(alone, method)(X_test), getattr(view, method)(X_test)
        if task == "classification":
            assert np.array_equal(want, got), member
        else:
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)


def _splits(model: Any) -> tuple[Any, Any]:
    return model.tree_.feature.tolist(), model.tree_.threshold.tolist()


def test_cut_trees_without_ties_equal_separate_fits():
    """Where the tree is the same for every seed, no two features are equally good anywhere in it."""
    proven = 0
    for seed in range(30):
        X, y, X_test = _data(seed, 200, 3, "regression", ties=False)
        grid = list(product((12, 25), (2, 40, 70), (None, 2, 3)))
        members = [
            DecisionTreeRegressor(min_samples_leaf=leaf, min_samples_split=split, max_depth=depth, random_state=0)
            for leaf, split, depth in grid
        ]
        bases = [
            [DecisionTreeRegressor(min_samples_leaf=leaf, random_state=s).fit(X, y) for s in range(10)]
            for leaf in (12, 25)
        ]
        if any(_splits(tree) != _splits(trees[0]) for trees in bases for tree in trees):
            continue
        proven += 1
        for member, view in zip(members, REGRESSION.fit(members, X, y), strict=True):
            alone = clone(member).fit(X, y)
            np.testing.assert_allclose(view.predict(X_test), alone.predict(X_test), rtol=1e-12, atol=1e-13)
    assert proven >= 10


@pytest.mark.parametrize("task", sorted(KINDS))
def test_cut_trees_differ_as_another_seed_would(task):
    kind, cut = KINDS[task]
    by_cut, by_seed = [], []
    for seed in range(12):
        X, y, _ = _data(seed, 120, 6, task, ties=False)
        X_test = np.random.default_rng(1000 + seed).normal(size=(100, 6))
        members = [
            kind(min_samples_leaf=leaf, min_samples_split=split, max_depth=depth, random_state=7)
            for leaf, split, depth in product((1, 3), (2, 8, 20), (None, 4))
        ]
        for member, view in zip(members, cut.fit([clone(m) for m in members], X, y), strict=True):
            alone = clone(member).fit(X, y).predict(X_test)
            other = clone(member).set_params(random_state=8).fit(X, y).predict(X_test)
            by_cut.append(np.mean(_differ(view.predict(X_test), alone)))
            by_seed.append(np.mean(_differ(other, alone)))
    assert np.mean(by_seed) > 0.01  # chance has something to decide here
    assert np.mean(by_cut) < 1.1 * np.mean(by_seed)


def _differ(a: Any, b: Any) -> Any:
    return a != b if a.dtype.kind != "f" else ~np.isclose(a, b, rtol=1e-9)


def test_cut_trees_hold_the_level_on_average():
    X, y, X_test = _data(4, 150, 5, "classification", ties=True, n_classes=3)
    check_family(CLASSIFICATION, _members(DecisionTreeClassifier), X, y, X_test=X_test, tolerance=0, differing=0.25)


@pytest.mark.parametrize("task", sorted(KINDS))
def test_members_do_not_depend_on_their_fellows(task):
    for seed in range(3):
        X, y, X_test = _data(seed, 50, 4, task, ties=bool(seed % 2))
        check_company(KINDS[task][1], _members(KINDS[task][0]), X, y, X_test=X_test, rng=seed)


def test_missing_values_frames_and_whole_numbers():
    pd = pytest.importorskip("pandas")
    X, y, _ = _data(5, 60, 3, "regression", ties=True)
    holes = X.copy()
    holes[::7, 0] = np.nan
    frame = pd.DataFrame(X, columns=list("abc")).astype({"a": "int64"})
    locked = np.asfortranarray(X.astype(np.int32))
    locked.flags.writeable = False
    members = _members(DecisionTreeRegressor)
    for rows in (holes, frame, locked, X.astype(np.float32)):
        rows = rows[["a"]] if rows is frame else rows[:, :1]  # one feature leaves nothing to chance
        for member, view in zip(members, REGRESSION.fit(members, rows, y), strict=True):
            assert not _differ(view.predict(rows), clone(member).fit(rows, y).predict(rows)).any()


def test_one_class_only():
    X, _, X_test = _data(6, 20, 2, "classification", ties=False)
    y = np.full(20, 3)
    check_family(CLASSIFICATION, _members(DecisionTreeClassifier), X, y, X_test=X_test, tolerance=0)


@pytest.mark.parametrize(
    "params",
    [
        {"max_features": "sqrt"},
        {"splitter": "random"},
        {"max_leaf_nodes": 8},
        {"ccp_alpha": 0.01},
        {"min_impurity_decrease": 0.1},
        {"min_weight_fraction_leaf": 0.1},
        {"monotonic_cst": [1, 0]},
        {"random_state": np.random.RandomState(0)},
    ],
)
def test_cut_trees_refuse_what_cutting_cannot_serve(params):
    assert not CLASSIFICATION.covers(DecisionTreeClassifier(**params))
    assert not REGRESSION.covers(DecisionTreeRegressor(**params))


def test_data_that_are_refused():
    from scipy.sparse import csr_array

    X, y, _ = _data(7, 20, 2, "regression", ties=False)
    with pytest.raises(Unsuitable, match="dense X"):
        REGRESSION.fit([DecisionTreeRegressor()], csr_array(X), y)
    with pytest.raises(Unsuitable, match="single y"):
        REGRESSION.fit([DecisionTreeRegressor()], X, np.column_stack((y, y)))


def _answers(family: Any, members: list[Any], X: Any, y: Any, X_test: Any) -> list[Any]:
    method = "predict" if family is REGRESSION else "predict_proba"
    return [getattr(model, method)(X_test) for model in family.fit(members, X, y)]


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error"])
def test_trees_of_the_builder_are_those_of_scikit_learn(monkeypatch, criterion):
    task = "regression" if "error" in criterion else "classification"
    kind, family = KINDS[task]
    X, y, X_test = _data(1, 60, 4, task, ties=True, n_classes=3)
    members, fits = _members(kind, criterion=criterion), []
    fit = kind.fit
    monkeypatch.setattr(kind, "fit", lambda self, *args, **kwargs: (fits.append(1), fit(self, *args, **kwargs))[1])
    grown = _answers(family, members, X, y, X_test)
    known = criterion != "absolute_error"  # what the builder alone is not used for
    assert len(fits) == (1 if known else 3)
    monkeypatch.setattr(trees, "can_grow", lambda model, n_rows: False)
    for mine, theirs in zip(grown, _answers(family, members, X, y, X_test), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert len(fits) == (4 if known else 6)  # a tree for each of three sizes of leaf: 1, 2 and a tenth of the rows


def test_another_builder_is_noticed_at_the_first_tree(monkeypatch):
    class Other(growing.Grower):
        def __call__(self, seed: int, leaf: int, split: int, depth: int) -> Any:
            return super().__call__(seed, leaf + 1, split, depth)

    X, y, X_test = _data(2, 60, 4, "classification", ties=False)
    members = _members(DecisionTreeClassifier)
    expected = _answers(CLASSIFICATION, members, X, y, X_test)
    monkeypatch.setattr(trees, "Grower", Other)
    for mine, theirs in zip(_answers(CLASSIFICATION, members, X, y, X_test), expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_missing_values_are_left_to_scikit_learn():
    X, y, X_test = _data(3, 60, 4, "classification", ties=False)
    X[::7, 1] = X_test[::3, 1] = np.nan
    members = [DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0) for leaf in (1, 3)]
    grown = _answers(CLASSIFICATION, members, X, y, X_test)
    for mine, member in zip(grown, members, strict=True):
        np.testing.assert_array_equal(mine, clone(member).fit(X, y).predict_proba(X_test))
