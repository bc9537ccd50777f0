"""The TT correction with leave-one-out."""

import numpy as np

import outfold as of


def test_fires_with_what_it_would_do(says, classes):
    oof = classes(n=40, c=40, folds=np.arange(40), signal=1.0)
    made = of.estimate.tt(oof, "error")
    assert made.value > 1.5 * made.naive  # nearly twice the loss, as Tsamardinos 2015 says in sect. 9
    assert f"({made.naive:.4f} becomes {made.value:.4f})" in says("OF202", oof, "error")


def test_silent_with_folds(says, classes):
    assert says("OF202", classes(), "error") is None
