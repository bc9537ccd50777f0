"""Tested on what selected it: said where a p value is asked for, not by `check`."""

import outfold as of


def test_a_comparison_with_the_winner_says_how_many_it_beat(classes):
    oof = classes(c=5, signal=[1, 1, 4, 1, 1])
    note = next(n for n in of.compare.bootstrap(oof, "roc_auc", 0, 2).notes if n.code == "OF301")
    assert note.text.startswith("config 2 is selected from 5 on these predictions; the")


def test_silent_for_others_for_a_pair_and_where_nothing_is_compared(says, classes):
    oof = classes(c=5, signal=[1, 1, 4, 1, 1])
    assert "OF301" not in [n.code for n in of.compare.bootstrap(oof, "roc_auc", 0, 1).notes]
    assert "OF301" not in [n.code for n in of.compare.bootstrap(classes(c=2), "roc_auc", 0, 1).notes]
    assert says("OF301", oof, "roc_auc") is None
