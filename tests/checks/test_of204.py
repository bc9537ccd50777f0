"""An area on small folds."""

import numpy as np

import outfold as of


def test_fires_on_folds_of_fewer_than_ten_samples_or_without_a_class(says, classes):
    small = says("OF204", classes(n=80, k=10), "roc_auc", aggregate="fold")
    assert small.startswith("roc_auc on folds of 8 samples is unreliable")
    oof = classes(n=100, positives=3, folds=np.arange(100) % 5)
    assert says("OF204", oof, "roc_auc", aggregate="fold").startswith("roc_auc is undefined in 2 of 5 folds")


def test_silent_on_larger_folds_and_means(says, classes):
    assert says("OF204", classes(n=100, k=10), "roc_auc", aggregate="fold") is None
    assert says("OF204", classes(n=80, k=10), "accuracy", aggregate="fold") is None


def test_silent_where_no_score_is_that_of_a_fold(says, classes):
    oof = classes(n=80, k=10)
    assert "OF204" in [note.code for note in of.estimate.tt(oof, "roc_auc").notes]
    assert says("OF204", oof, "roc_auc") is None
