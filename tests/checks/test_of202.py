"""The TT correction with leave-one-out."""

import numpy as np

import outfold as of


def test_only_the_estimate_by_tt_says_so(says, classes):
    oof = classes(n=40, c=40, folds=np.arange(40), signal=1.0)
    made = of.estimate.tt(oof, "error")
    assert made.value > 1.5 * made.naive  # nearly twice the loss, as Tsamardinos 2015 says in sect. 9
    (said,) = (note.text for note in made.notes if note.code == "OF202")
    assert f"({made.naive:.4f} becomes {made.value:.4f})" in said
    assert says("OF202", oof, "error") is None  # nobody asked for it
    assert "OF202" in of.report(oof, "error", estimate=made).checks.codes


def test_silent_with_folds(classes):
    assert "OF202" not in [note.code for note in of.estimate.tt(classes(), "error").notes]
