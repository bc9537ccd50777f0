"""Many pairs without adjustment."""

import outfold as of


def test_fires_with_the_number_of_pairs(says, classes):
    assert says("OF307", classes(c=4)).startswith("6 pairs without adjustment: 0.3 of them")
    assert says("OF307", classes(n=40, c=150)).startswith("11,175 pairs without adjustment: 559 of them")


def test_says_what_the_comparisons_say(says, classes):
    oof = classes(c=4)
    found = of.compare.pairs(oof, "accuracy", test="mcnemar", adjust="none")
    assert says("OF307", oof) in [note.text for note in found.notes]


def test_silent_for_a_pair(says, classes):
    assert says("OF307", classes(c=2)) is None
