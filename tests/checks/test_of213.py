"""The other class may be the positive class."""

import numpy as np

import outfold as of


def ranked(direction):
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    P = 0.5 + direction * 0.3 * (y[:, None] - 0.5) + 0.1 * rng.random((100, 2))
    return of.from_arrays(y, P, folds=np.arange(100) // 20, response="proba")


def test_fires_with_both_classes(says):
    oof = ranked(-1)
    text = says("OF213", oof, "roc_auc")
    assert text == "even the best ranks worse than chance; is 0, not 1, the positive class?"
    assert text in [note.text for note in of.estimate.bbc(oof, "roc_auc").notes]


def test_silent_where_the_ranking_is_right_or_nothing_is_ranked(says):
    assert says("OF213", ranked(1), "roc_auc") is None
    assert says("OF213", ranked(-1), "accuracy") is None
