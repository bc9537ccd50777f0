"""Many pairs without adjustment: said where they are compared, not by `check`."""

import outfold as of


def pairs(oof, **options):
    found = of.compare.pairs(oof, "accuracy", test="mcnemar", **options)
    return [note.text for note in found.notes if note.code == "OF307"]


def test_fires_with_the_number_of_pairs(classes):
    assert pairs(classes(c=4), adjust="none") == [
        "6 pairs without adjustment: 0.3 of them would be found to differ by chance alone."
    ]


def test_silent_with_an_adjustment_for_a_pair_and_where_nothing_is_compared(says, classes):
    assert pairs(classes(c=4)) == []
    assert pairs(classes(c=2), adjust="none") == []
    assert says("OF307", classes(c=4)) is None
