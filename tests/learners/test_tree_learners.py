"""Trees with the Hellinger distance, and trees with Laplace's rule."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import outfold as of
from extras import without_numba
from internals import compiling
from outfold.exceptions import InputError
from outfold.learners import HellingerTreeClassifier, LaplaceTreeClassifier


@parametrize_with_checks([HellingerTreeClassifier(), LaplaceTreeClassifier()])
def test_they_are_estimators_of_scikit_learn(estimator, check):
    check(estimator)


# -- the Hellinger distance ------------------------------------------------------------------------------


def distance(left, right):
    """As printed in Cieslak and Chawla (2008), of each class against the others; the largest counts."""
    total = left + right
    found = []
    for c in np.flatnonzero((total > 0) & (total < total.sum())):
        share = [(side[c] / total[c], (side.sum() - side[c]) / (total.sum() - total[c])) for side in (left, right)]
        found.append(np.sqrt(sum((np.sqrt(p) - np.sqrt(q)) ** 2 for p, q in share)))
    return max(found)


def all_splits(X, hot, min_leaf=1):
    """The distance of every split of these rows."""
    found = {}
    for j, column in enumerate(X.T):
        values = np.unique(column)
        for low, high in pairwise(values):
            goes = column <= low
            if min(goes.sum(), (~goes).sum()) >= min_leaf:
                found[j, (low + high) / 2] = distance(hot[goes].sum(axis=0), hot[~goes].sum(axis=0))
    return found


def nodes(tree, X):
    """The rows of each node, from the root down."""
    grown = tree.tree_
    rows = {0: np.arange(len(X))}
    for node in range(len(grown.feature)):
        if grown.children_left[node] >= 0:
            goes = X[rows[node], grown.feature[node]] <= grown.threshold[node]
            rows[grown.children_left[node]] = rows[node][goes]
            rows[grown.children_right[node]] = rows[node][~goes]
    return rows


@st.composite
def tables(draw):
    """Few rows with many ties, up to four classes, and weights."""
    n, p = draw(st.integers(2, 25)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.integers(0, draw(st.integers(1, 12)), size=(n, p)) / 4.0
    y = rng.integers(0, draw(st.integers(1, 4)), size=n)
    weights = rng.choice([1.0, 2.0, 3.7, 0.1], size=n) if draw(st.booleans()) else np.ones(n)
    return X, y, weights


@settings(max_examples=25, deadline=None)
@given(tables(), st.integers(1, 3))
def test_each_node_has_the_split_with_the_largest_distance(table, min_leaf):
    X, y, weights = table
    tree = HellingerTreeClassifier(min_samples_leaf=min_leaf).fit(X, y, weights)
    hot = weights[:, None] * (y[:, None] == tree.classes_)
    for node, rows in nodes(tree, X).items():
        np.testing.assert_allclose(tree.tree_.value[node], hot[rows].sum(axis=0), rtol=1e-9)
        found = all_splits(X[rows], hot[rows], min_leaf) if len(np.unique(y[rows])) > 1 else {}
        if tree.tree_.children_left[node] < 0:
            assert not found
        else:
            taken = found[tree.tree_.feature[node], tree.tree_.threshold[node]]
            assert taken == pytest.approx(max(found.values()), rel=1e-7, abs=1e-7)


def same(first, second):
    return all(np.array_equal(first.tree_[part], second.tree_[part], equal_nan=True) for part in first.tree_)


@pytest.mark.skipif(compiling.load("hellinger_loops") is None, reason="numba is not installed")
@settings(max_examples=25, deadline=None)
@given(tables(), st.sampled_from([None, 1, 0.5]))
def test_the_compiled_loops_grow_the_same_tree(table, max_features):
    X, y, weights = table
    compiling.load("hellinger_loops")  # else small work does without
    tree = HellingerTreeClassifier(max_features=max_features, random_state=0)
    compiled = clone(tree).fit(X, y, weights)
    with without_numba():
        assert same(compiled, clone(tree).fit(X, y, weights))


@settings(max_examples=15, deadline=None)
@given(tables(), st.randoms())
def test_the_order_of_the_rows_does_not_matter(table, random):
    X, y, weights = table
    mixed = list(range(len(X)))
    random.shuffle(mixed)
    tree = HellingerTreeClassifier().fit(X, y, weights)
    assert same(tree, HellingerTreeClassifier().fit(X[mixed], y[mixed], weights[mixed]))


@settings(max_examples=15, deadline=None)
@given(tables(), st.integers(0, 10**6))
def test_a_weight_is_a_number_of_equal_rows(table, seed):
    X, y, _ = table
    times = np.random.default_rng(seed).integers(0, 4, size=len(X))
    times[0] = 1
    X[times == 0] += 0.01  # a row of weight zero has no threshold
    weighted = HellingerTreeClassifier().fit(X, y, times)
    repeated = HellingerTreeClassifier().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    rows = X[times > 0]
    np.testing.assert_array_equal(weighted.predict(rows), repeated.predict(rows))
    assert weighted.tree_.threshold.tolist() == pytest.approx(repeated.tree_.threshold.tolist(), nan_ok=True)


def test_the_first_split_does_not_see_how_frequent_a_class_is():
    X, y = load_breast_cancer(return_X_y=True)
    stump = HellingerTreeClassifier(max_depth=1)
    once, rare = stump.fit(X, y).tree_, clone(stump).fit(X, y, np.where(y == 1, 1.0, 0.01)).tree_
    assert (once.feature[0], once.threshold[0]) == (rare.feature[0], rare.threshold[0])
    gini = DecisionTreeClassifier(max_depth=1, random_state=0)
    weighted = clone(gini).fit(X, y, np.where(y == 1, 1.0, 0.01)).tree_
    assert gini.fit(X, y).tree_.threshold[0] != weighted.threshold[0]


def test_the_limits_hold():
    X, y = load_breast_cancer(return_X_y=True)
    tree = HellingerTreeClassifier(max_depth=3, min_samples_leaf=20, min_samples_split=100).fit(X, y)
    sizes = {node: len(rows) for node, rows in nodes(tree, X).items()}
    inner = [node for node in sizes if tree.tree_.children_left[node] >= 0]
    assert tree.get_depth() == 3
    assert tree.get_n_leaves() == len(sizes) - len(inner)
    assert min(sizes.values()) >= 20
    assert min(sizes[node] for node in inner) >= 100
    by_share = HellingerTreeClassifier(max_depth=3, min_samples_leaf=20 / 569, min_samples_split=100 / 569).fit(X, y)
    assert same(tree, by_share)


def test_features_are_drawn_by_the_seed():
    X, y = load_breast_cancer(return_X_y=True)
    trees = [HellingerTreeClassifier(max_features="sqrt", random_state=seed).fit(X, y) for seed in (0, 0, 1)]
    assert same(trees[0], trees[1])
    assert not same(trees[0], trees[2])
    # A node that few features can split looks at these, however many were to be drawn.
    X = np.column_stack([np.zeros((40, 9)), np.arange(40)])
    assert HellingerTreeClassifier(max_features=1).fit(X, np.arange(40) % 2).score(X, np.arange(40) % 2) == 1.0


def test_probabilities_are_smoothed_unless_told_otherwise():
    X, y = np.array([[0.0], [0.0], [0.0], [1.0]]), np.array(["a", "a", "b", "c"])
    smooth = HellingerTreeClassifier().fit(X, y).predict_proba([[0], [1]])
    assert smooth == pytest.approx(np.array([[3, 2, 1], [1, 1, 2]]) / [[6], [4]])
    plain = HellingerTreeClassifier(laplace=False).fit(X, y).predict_proba([[0], [1]])
    assert plain == pytest.approx(np.array([[2, 1, 0], [0, 0, 3]]) / 3)


def test_neighbouring_floats_are_told_apart():
    low = 1.0
    high = np.nextafter(low, 2.0)
    tree = HellingerTreeClassifier().fit([[low], [high]], [0, 1])
    assert tree.predict([[low], [high]]).tolist() == [0, 1]
    huge = HellingerTreeClassifier().fit([[-1.7e308], [1.7e308]], [0, 1])
    assert huge.tree_.threshold[0] == 0.0


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"max_depth": 0}, "max_depth must be a whole number of at least 1"),
        ({"min_samples_split": 1}, "min_samples_split must be a whole number of at least 2, or a share"),
        ({"min_samples_leaf": 1.5}, "min_samples_leaf must be a whole number of at least 1, or a share"),
        ({"max_features": "all"}, "max_features must be a whole number of at least 1, a share between 0 and 1, 'sqrt'"),
    ],
)
def test_wrong_parameters_are_told(wrong, says):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError, match=says):
        HellingerTreeClassifier(**wrong).fit(X, y)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1.0], "must have one number for each row"),
        ([1.0, -1.0], "finite numbers that are not negative; they range from -1.0 to 1.0"),
        ([0.0, 0.0], "a number above zero; all weights are zero"),
    ],
)
def test_wrong_weights_are_told(weights, says):
    with pytest.raises(InputError, match=says):
        HellingerTreeClassifier().fit([[0], [1]], [0, 1], weights)


def test_missing_values_are_refused():
    with pytest.raises(ValueError, match="contains NaN"):
        HellingerTreeClassifier().fit([[0.0], [np.nan]], [0, 1])


# -- Laplace's rule --------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"max_depth": 3}, {"class_weight": "balanced"}, {"criterion": "entropy"}])
def test_the_tree_is_that_of_scikit_learn_with_smoothed_leaves(options):
    X, y = load_iris(return_X_y=True)
    X = X[:, :2]
    plain = DecisionTreeClassifier(random_state=0, min_samples_leaf=3, **options).fit(X, y)
    smooth = LaplaceTreeClassifier(random_state=0, min_samples_leaf=3, **options).fit(X, y)
    np.testing.assert_array_equal(plain.tree_.threshold, smooth.tree_.threshold)
    np.testing.assert_array_equal(plain.predict(X), smooth.predict(X))
    n = plain.tree_.weighted_n_node_samples[plain.apply(X), None]
    np.testing.assert_allclose(smooth.predict_proba(X), (plain.predict_proba(X) * n + 1) / (n + 3))


def test_counts_of_leaves_are_exact():
    X, y = [[0]] * 7 + [[1]] * 4, [0] * 5 + [1] * 2 + [1] * 4
    found = LaplaceTreeClassifier().fit(X, y).predict_proba([[0], [1]])[:, 1]
    assert found == pytest.approx([float(Fraction(3, 9)), float(Fraction(5, 6))], abs=1e-15)


def test_several_outputs_have_several_probabilities():
    X, y = np.arange(6.0)[:, None], np.column_stack([[0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]])
    first, second = LaplaceTreeClassifier(max_depth=1, random_state=0).fit(X, y).predict_proba(X[:1])
    assert first.shape == (1, 2)
    assert second.shape == (1, 3)
    assert second.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("share", ["exact", "close"])
def test_a_collection_has_the_smoothed_probabilities(share):
    """Shared fits cut trees of scikit-learn out of a larger one, and must leave these alone."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:120, :5], y[:120]
    models = {"laplace": LaplaceTreeClassifier(), "hellinger": HellingerTreeClassifier()}
    for name, model in models.items():
        configs = of.grid(name, make_pipeline(StandardScaler(), model), max_depth=[1, 2], min_samples_leaf=[2, 5])
        oof = of.collect(configs, X, y, of.Plan(folds=3), rng=0, share=share)
        assert oof.completeness == 1.0
        assert oof.P.min() > 0.0
        assert oof.P.max() < 1.0


def test_they_are_saved_without_pickle(tmp_path):
    skops = pytest.importorskip("skops.io")
    from outfold.models.trust import is_part_of_models

    X, y = load_iris(return_X_y=True)
    for model in (HellingerTreeClassifier(), LaplaceTreeClassifier(random_state=0)):
        fitted = make_pipeline(StandardScaler(), model).fit(X, y)
        path = tmp_path / "model.skops"
        skops.dump(fitted, path)
        found = skops.get_untrusted_types(file=path)
        assert all(map(is_part_of_models, found))
        again = skops.load(path, trusted=found)
        np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
