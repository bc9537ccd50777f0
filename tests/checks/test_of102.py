"""Groups on both sides of a split."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import outfold as of


def test_fires_with_the_number_of_groups_and_is_an_error(says):
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(60, 2)), np.arange(60) % 2, np.arange(60) // 6
    oof = of.collect(KNeighborsClassifier(3), X, y, of.Plan(folds=5, groups=False), groups=groups, progress=False)
    assert says("OF102", oof, "accuracy") == ("10 of 10 groups are on both sides of a split; the plan ignores groups.")
    assert not of.check(oof, "accuracy").ok


def test_counts_those_that_are_split(says, classes):
    groups = np.arange(100) // 10
    folds = groups % 5
    folds[3] = 4
    # Group 0 has a sample in fold 4 now: group 0 alone is split.
    assert says("OF102", classes(folds=folds, groups=groups)).startswith("1 of 10 groups are")


def test_silent_where_groups_are_kept_or_not_known(says, classes):
    groups = np.arange(100) // 10
    oof = classes(folds=groups % 5, groups=groups)
    assert says("OF102", oof) is None
    assert of.check(oof).ok
    assert says("OF102", classes()) is None
