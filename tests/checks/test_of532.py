"""A winner among many equals."""

import numpy as np

import outfold as of


def test_fires_with_how_many_cannot_be_told_from_it(says, classes):
    oof = classes(n=80, c=20, signal=1.5)
    tied = of.compare.tied_set(oof, "roc_auc", n_resamples=100)
    winner = of.select.best(oof, "roc_auc").name
    assert len(tied) > 4
    assert says("OF532", oof, "roc_auc") == (
        f"{winner} cannot be told from {len(tied) - 1} of the 19 others (95% confidence set of the best)."
    )


def test_silent_where_it_stands_out_or_there_are_few(says, classes):
    assert says("OF532", classes(n=300, c=20, signal=[8.0] + [0.5] * 19), "roc_auc") is None
    assert says("OF532", classes(c=3), "roc_auc") is None
    # Nothing can be drawn from one sample of a class.
    y = np.array([1] + [0] * 9)
    oof = of.from_arrays(y, np.linspace(0, 1, 50).reshape(10, 5), folds=np.arange(10) % 5, response="proba")
    assert says("OF532", oof, "roc_auc") is None
