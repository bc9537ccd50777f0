"""Forests: the first trees of a large one are the small one, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from share_estimators import check_company
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

import outfold as of
from internals import check_family, forests, grow_trees, growing
from outfold.fitting.sharing import Unsuitable, family_of

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
    X.setflags(write=False)
    return X, None if rng.random() < 0.5 else rng.integers(0, 4, size=n) + 0.5


OTHERS = (
    {},
    {"max_depth": 2},
    {"bootstrap": True, "max_samples": 0.6},
    {"min_samples_leaf": 3, "max_features": None},
    {"max_leaf_nodes": 5},
    {"min_samples_split": 0.2},
)
cases = given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["normal", "counts", "duplicates", "single", "constant"]),
    n=st.integers(10, 60),
    p=st.integers(1, 6),
    others=st.sampled_from(OTHERS),
)


@cases
@settings(max_examples=10, deadline=None)
def test_classifiers_bit_for_bit(seed, kind, n, p, others):
    rng = np.random.default_rng(seed)
    X, weights = data(rng, kind, n, p)
    classes = LABELS[seed % len(LABELS)]
    y = classes[rng.integers(0, rng.integers(1, len(classes) + 1), size=n)]
    if seed % 3 == 1:
        others = {**others, "class_weight": "balanced"}
    for kind_of in CLASSIFIERS:
        some = [kind_of(n_estimators=t, random_state=seed, **others) for t in (3, 1, 14, 10)]
        check_family(family(some[0]), some, X, y, sample_weight=weights, tolerance=0)
        check_company(family(some[0]), some[1:], X, y, sample_weight=weights, rng=seed, subsets=1)


@cases
@settings(max_examples=10, deadline=None)
def test_regressors_bit_for_bit(seed, kind, n, p, others):
    rng = np.random.default_rng(seed)
    X, weights = data(rng, kind, n, p)
    y = rng.normal(size=n) if seed % 2 else rng.integers(0, 5, size=n)
    for kind_of in REGRESSORS:
        some = [kind_of(n_estimators=t, random_state=seed, **others) for t in (3, 1, 14, 10)]
        check_family(family(some[0]), some, X, y, sample_weight=weights, tolerance=0)
        check_company(family(some[0]), some[1:], X, y, sample_weight=weights, rng=seed, subsets=1)


@pytest.mark.parametrize("how", ["sparse", "missing"])
def test_rows_that_are_left_to_scikit_learn(how):
    rng = np.random.default_rng(3)
    X = sp.random_array((50, 8), density=0.3, rng=rng, format="csr")
    if how == "missing":
        X = X.toarray()
        X[3, 2] = np.nan
    y = rng.integers(0, 3, size=50)
    some = [RandomForestClassifier(n_estimators=t, random_state=1) for t in (2, 6)]
    with pytest.raises((TypeError, ValueError)):
        family(some[0]).fit(some, X, y)
    configs = {f"f{i}": forest for i, forest in enumerate(some)}
    plan = of.Plan(folds=2)
    shared, alone = (of.collect(configs, X, y, plan, rng=0, share=share) for share in ("exact", False))
    np.testing.assert_array_equal(shared.P, alone.P)


def test_a_frame_of_numbers_is_served():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.integers(0, 5, size=60)})
    y = rng.choice(["yes", "no"], size=60)
    some = [ExtraTreesClassifier(n_estimators=t, random_state=1) for t in (5, 12)]
    check_family(family(some[0]), some, frame, y, tolerance=0)


@pytest.mark.parametrize("kind_of", [*CLASSIFIERS, *REGRESSORS])
@pytest.mark.parametrize(
    "others",
    [
        {"random_state": np.random.RandomState(0)},
        {"warm_start": True},
        {"n_jobs": 2},
        {"verbose": 1},
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
def test_trees_are_grown_by_the_builder_alone(kind_of, others):
    X = np.random.default_rng(5).normal(size=(80, 5)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    trees = grow_trees(kind_of(n_estimators=12, random_state=2, **others), X, y)
    plain = kind_of(n_estimators=12, random_state=2, **others).fit(X, y)
    assert trees is not None
    for tree, expected in zip(trees, plain.estimators_, strict=True):
        mine, theirs = tree.__getstate__(), expected.tree_.__getstate__()
        np.testing.assert_array_equal(mine["nodes"], theirs["nodes"])
        assert mine["values"].tobytes() == theirs["values"].tobytes()


def _two_forests():
    X = np.random.default_rng(5).normal(size=(60, 4)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    return [RandomForestClassifier(n_estimators=t, random_state=1) for t in (2, 12)], X, y


def test_another_builder_is_noticed_at_the_first_tree(monkeypatch):
    some, X, y = _two_forests()

    class Other(growing.Grower):
        def __call__(self, seed, leaf, split, depth):
            return super().__call__(seed + 1, leaf, split, depth)

    monkeypatch.setattr(forests, "Grower", Other)
    assert grow_trees(some[1], X, y) is None
    check_family(family(some[0]), some, X, y, tolerance=0)


def test_a_scikit_learn_without_this_builder_is_no_harm(monkeypatch):
    from sklearn.tree import _tree

    some, X, y = _two_forests()
    monkeypatch.delattr(_tree, "DepthFirstTreeBuilder")
    assert grow_trees(some[1], X, y) is None
    check_family(family(some[0]), some, X, y, tolerance=0)
