"""Leave-one-out."""

import numpy as np


def test_fires_with_the_number_of_folds(says, classes):
    text = says("OF523", classes(n=40, folds=np.arange(40)), "accuracy")
    assert text.startswith("each of the 40 folds holds one sample")
    assert "each configuration needs 40 fits" in text


def test_silent_with_folds_and_one_test_set(says, classes):
    assert says("OF523", classes(n=40, k=10), "accuracy") is None
    assert says("OF523", classes(n=40, folds=None), "accuracy") is None
