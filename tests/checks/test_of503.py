"""A perfect score."""

import numpy as np

import outfold as of


def test_fires_where_nothing_is_wrong(says, classes):
    oof = classes(n=60, signal=[3.0, 2.0, 2.0, 60.0])
    text = says("OF503", oof, "roc_auc")
    assert text == "config 3 has the perfect roc_auc, 1, on 60 samples; does a feature know the label?"
    assert "the perfect error, 0, on 60 samples" in says("OF503", oof, "error")


def test_silent_on_good_scores_and_where_none_is_best(says, classes):
    assert says("OF503", classes(signal=3.0)) is None
    y = np.random.default_rng(0).normal(size=30)
    # No value of a correlation-like score of per-sample points is the best possible one.
    assert says("OF503", of.from_arrays(None, np.ones((30, 2)), response="pointwise"), "mean") is None
    assert says("OF503", of.from_arrays(y, y[:, None] + 0.01, folds=np.arange(30) % 3), "r2") is None
