"""Forests: the first trees of a large one are the small one, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from outfold.fitting.sharing import Unsuitable, family_of
from outfold.fitting.sharing.families import growing
from outfold.fitting.sharing.families.growing import grow
from outfold.fitting.sharing.proof import check_company, check_family

CLASSIFIERS = (RandomForestClassifier, ExtraTreesClassifier)
REGRESSORS = (RandomForestRegressor, ExtraTreesRegressor)
LABELS = (np.array(["b", "a", "c", "z"]), np.array([7, -2, 30, 4]), np.array([True, False]))


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
    elif kind == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
    X.setflags(write=False)
    return X, None if rng.random() < 0.5 else rng.integers(0, 4, size=n) + 0.5


cases = given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["normal", "counts", "duplicates", "single", "constant", "missing"]),
    n=st.integers(10, 60),
    p=st.integers(1, 6),
    others=st.sampled_from([{}, {"max_depth": 2}, {"bootstrap": True, "max_samples": 0.6}, {"min_samples_leaf": 3}]),
)


@cases
@settings(max_examples=20, deadline=None)
def test_classifiers_bit_for_bit(seed, kind, n, p, others):
    rng = np.random.default_rng(seed)
    X, weights = data(rng, kind, n, p)
    classes = LABELS[seed % len(LABELS)]
    y = classes[rng.integers(0, rng.integers(1, len(classes) + 1), size=n)]
    if seed % 2:
        others = {**others, "class_weight": "balanced"}
    for kind_of in CLASSIFIERS:
        some = [kind_of(n_estimators=t, random_state=seed, **others) for t in (3, 1, 8, 5)]
        check_family(family(some[0]), some, X, y, sample_weight=weights, tolerance=0)
        check_company(family(some[0]), some, X, y, sample_weight=weights, rng=seed, subsets=1)


@cases
@settings(max_examples=20, deadline=None)
def test_regressors_bit_for_bit(seed, kind, n, p, others):
    rng = np.random.default_rng(seed)
    X, weights = data(rng, kind, n, p)
    y = rng.normal(size=n) if seed % 2 else rng.integers(0, 5, size=n)
    for kind_of in REGRESSORS:
        some = [kind_of(n_estimators=t, random_state=seed, **others) for t in (3, 1, 8, 5)]
        check_family(family(some[0]), some, X, y, sample_weight=weights, tolerance=0)
        check_company(family(some[0]), some, X, y, sample_weight=weights, rng=seed, subsets=1)


def test_sparse_rows():
    rng = np.random.default_rng(3)
    X = sp.random_array((50, 8), density=0.3, rng=rng, format="csr")
    y = rng.integers(0, 3, size=50)
    some = [RandomForestClassifier(n_estimators=t, random_state=1) for t in (2, 6)]
    check_family(family(some[0]), some, X, y, tolerance=0)


@pytest.mark.parametrize("kind_of", [*CLASSIFIERS, *REGRESSORS])
@pytest.mark.parametrize(
    "others",
    [
        {"random_state": np.random.RandomState(0)},
        {"warm_start": True},
        {"oob_score": True, "bootstrap": True},
        {"n_estimators": 0},
        {"n_estimators": 5.0},
        {"n_estimators": True},
    ],
    ids=lambda others: "-".join(map(str, others)),
)
def test_what_is_not_covered(kind_of, others):
    assert family(kind_of(random_state=None)) is not None
    assert family(kind_of(**others)) is None


def test_unsuitable_data():
    X, y = np.eye(6), np.array([0, 1, 0, 1, 1, 0])
    some = [RandomForestClassifier(n_estimators=t, random_state=0) for t in (1, 2)]
    with pytest.raises(Unsuitable, match="one label"):
        family(some[0]).fit(some, X, np.column_stack([y, y]))
    with pytest.raises(Unsuitable, match="sample_weight"):
        family(some[0]).fit(some, X, y, other=1)
    with pytest.raises(Unsuitable, match="seed"):
        family(some[0]).fit([RandomForestClassifier(n_estimators=t) for t in (1, 2)], X, y)


def test_a_derived_class_is_another():
    class Mine(RandomForestClassifier):
        pass

    assert family(Mine()) is None


@pytest.mark.parametrize("kind_of", [*CLASSIFIERS, *REGRESSORS])
@pytest.mark.parametrize(
    "others",
    [{}, {"max_depth": 3}, {"max_features": 0.5, "min_samples_split": 7}, {"min_impurity_decrease": 0.01}],
    ids=lambda others: "-".join(map(str, others)),
)
def test_trees_are_grown_without_what_stands_around_them(kind_of, others):
    X = np.random.default_rng(5).normal(size=(80, 5))
    y = (X[:, 0] > 0).astype(int)
    trees = grow(kind_of(n_estimators=9, random_state=2, **others), X, y)
    plain = kind_of(n_estimators=9, random_state=2, **others).fit(X, y)
    assert trees is not None
    for tree, expected in zip(trees, plain.estimators_, strict=True):
        assert tree.__getstate__()["nodes"].tobytes() == expected.tree_.__getstate__()["nodes"].tobytes()
        assert tree.value.tobytes() == expected.tree_.value.tobytes()


def test_another_builder_is_noticed_at_the_first_tree(monkeypatch):
    X = np.random.default_rng(5).normal(size=(60, 4))
    y = (X[:, 0] > 0).astype(int)
    whole = growing._grower

    def other(forest, rows, codes):
        make = whole(forest, rows, codes)
        return lambda seed: make(seed + 1)

    monkeypatch.setattr(growing, "_grower", other)
    some = [RandomForestClassifier(n_estimators=t, random_state=1) for t in (2, 6)]
    assert grow(some[1], X, y) is None
    check_family(family(some[0]), some, X, y, tolerance=0)


def test_a_scikit_learn_without_this_builder_is_no_harm(monkeypatch):
    from sklearn.tree import _tree

    X = np.random.default_rng(5).normal(size=(60, 4))
    y = (X[:, 0] > 0).astype(int)
    some = [RandomForestClassifier(n_estimators=t, random_state=1) for t in (2, 6)]
    monkeypatch.delattr(_tree, "DepthFirstTreeBuilder")
    assert grow(some[1], X, y) is None
