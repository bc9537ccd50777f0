"""Tested on what selected it."""

import outfold as of


def test_fires_with_the_winner_and_how_many_it_beat(says, classes):
    oof = classes(c=5, signal=[1, 1, 4, 1, 1])
    assert says("OF301", oof, "roc_auc") == (
        "config 2 is the best of 5 on these predictions; the p value of a comparison with it does not account for that choice."
    )
    # A comparison itself says the same.
    note = next(n for n in of.compare.bootstrap(oof, "roc_auc", 0, 2).notes if n.code == "OF301")
    assert note.text.startswith("config 2 is the best of 5 on these predictions; the")


def test_silent_for_a_pair(says, classes):
    assert says("OF301", classes(c=2)) is None
