"""Configurations that predict the same."""

import numpy as np
from sklearn.svm import SVC

import outfold as of


def test_fires_on_a_parameter_without_effect(says):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    configs = of.grid("svm", SVC(kernel="linear"), gamma=[0.1, 1.0]) | of.grid("rbf", SVC(), gamma=[0.1, 1.0])
    oof = of.collect(configs, X, y, of.Plan(folds=5, repeats=2), progress=False)
    assert says("OF512", oof) == ("2 of 4 configurations predict the same as another: svm(gamma=0.1) and svm(gamma=1).")


def test_rounding_counts_as_the_same_and_several_are_counted(says, classes):
    oof = classes(c=5)
    P = oof.P.copy()
    P[:, 3] = P[:, 1] + 1e-9
    P[:, 4] = P[:, 0]
    again = of.from_arrays(oof.y, np.clip(P, 0, 1), folds=oof.folds, response="proba")
    text = says("OF512", again)
    assert text == "4 of 5 configurations predict the same as another: config 0 and config 4, for one."


def test_silent_where_they_differ(says, classes):
    assert says("OF512", classes(c=30, r=3)) is None
    # Equal in the first repeat only.
    oof = classes(c=2, r=2)
    P = oof.P.copy()
    P[:, 1, 0] = P[:, 0, 0]
    assert says("OF512", of.from_arrays(oof.y, P, folds=oof.folds, response="proba")) is None


def test_constants_are_the_same(says, classes):
    y = np.arange(50) % 2
    oof = of.from_arrays(y, np.full((50, 3), 0.3), folds=np.arange(50) // 10, response="proba")
    assert says("OF512", oof, "accuracy").startswith("3 of 3 configurations")
