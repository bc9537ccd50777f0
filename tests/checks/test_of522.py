"""Training parts far smaller than the data."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import outfold as of


def test_fires_on_two_folds_and_large_hold_outs(says, classes):
    assert says("OF522", classes(k=2)) == (
        "the models learnt from 50 of 100 samples (50%); one fitted on all is mostly better than these scores say."
    )
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    oof = of.collect(KNeighborsClassifier(3), X, y, of.Plan.holdout(0.7), progress=False)
    assert "from 18 of 60 samples (30%)" in says("OF522", oof, "accuracy")


def test_silent_with_more_folds_and_where_training_is_not_known(says, classes):
    assert says("OF522", classes(k=5)) is None
    assert says("OF522", classes(folds=None)) is None
