"""Pictures of learning and validation curves."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from extras import mpl, plt
from internals import collected as numbers
from outfold.exceptions import InputError

mpl.use("Agg")
X, Y = load_iris(return_X_y=True)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def learning():
    models = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=3)}
    return of.curves.learning(
        models, X, Y, sizes=[0.2, 0.6, 1.0], plan=of.Plan(folds=3), metric="accuracy", progress=False
    )


def validation(param, values):
    tree = DecisionTreeClassifier()
    return of.curves.validation(tree, X, Y, param, values, plan=of.Plan(folds=3), metric="accuracy", progress=False)


@pytest.fixture(scope="module")
def depths():
    return validation("max_depth", [3, 1, 2])


def has(ax, x, y):
    return any(np.array_equal(line.get_xdata(), x) and np.array_equal(line.get_ydata(), y) for line in ax.lines)


def words(ax):
    return " ".join(ax.texts[-1].get_text().split())


def test_learning_lines_are_the_means(learning):
    ax = of.plot.learning_curve(learning)
    for j in range(2):
        assert has(ax, learning.sizes, learning.test.mean[j])
        assert has(ax, learning.sizes, learning.train.mean[j])
    bands = [path.vertices[:, 1] for band in ax.collections for path in band.get_paths()]
    for line in (learning.test, learning.train):
        for j in range(2):
            assert any(np.isin(line.low[j], band).all() and np.isin(line.high[j], band).all() for band in bands)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["bayes", "tree"]
    assert f"150 samples, {learning.plan}" in words(ax)
    assert learning.band in words(ax)


def test_learning_of_some(learning):
    ax = of.plot.learning_curve(learning, "tree")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["tree"]
    assert not has(ax, learning.sizes, learning.test.mean[0])
    ax = of.plot.learning_curve(learning, [1, "bayes"])
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["tree", "bayes"]
    with pytest.raises(InputError, match="no configuration 'knn'"):
        of.plot.learning_curve(learning, ["knn"])
    with pytest.raises(InputError, match="one configuration at least"):
        of.plot.learning_curve(learning, [])
    with pytest.raises(InputError, match="7 lines at most"):
        of.plot.learning_curve(learning, [0, 1] * 4)


def test_validation_numbers_stand_in_rising_order(depths):
    at = numbers.places(depths)
    assert (at.x.tolist(), at.order.tolist(), at.labels, at.log) == ([1, 2, 3], [1, 2, 0], None, False)
    ax = of.plot.validation_curve(depths)
    assert has(ax, at.x, depths.test.mean[at.order])
    assert has(ax, at.x, depths.train.mean[at.order])
    legend = [t.get_text() for t in ax.get_legend().get_texts()]
    assert f"best: {depths.best_value}" in legend
    assert f"one standard error: {depths.one_standard_error_value}" in legend
    lines = [line.get_xdata()[0] for line in ax.lines if len(set(line.get_xdata())) == 1]
    assert lines == [depths.best_value, depths.one_standard_error_value]
    assert depths.band in words(ax)


def test_validation_of_words_and_of_factors():
    criteria = validation("criterion", ["gini", "entropy"])
    ax = of.plot.validation_curve(criteria)
    assert [t.get_text() for t in ax.get_xticklabels()] == ["gini", "entropy"]
    assert numbers.places(validation("max_depth", [1, None])).labels == ("1", "None")
    assert numbers.places(validation("ccp_alpha", [0.001, 0.1])).log
    assert not numbers.places(validation("ccp_alpha", [0.0, 0.1])).log


def test_wrong_results_are_refused(learning, depths):
    with pytest.raises(InputError, match="needs a LearningCurve"):
        of.plot.learning_curve(depths)
    with pytest.raises(InputError, match="needs a ValidationCurve"):
        of.plot.validation_curve(learning)
