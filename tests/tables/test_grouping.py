"""A group that nobody named is noticed where rows with the same value also share numbers."""

from __future__ import annotations

import numpy as np
import pytest

from extras import pd
from outfold import tables

pytest.importorskip("pandas", reason="pandas is not installed (outfold[frames])")

RNG = np.random.default_rng(0)
N, EACH = 30, 4
WHO = np.repeat(np.arange(N), EACH)
ROWS = N * EACH


def measured(**more):
    """Four rows of each of thirty mice: their age and length are the same, what was measured is not."""
    age, length = RNG.integers(20, 80, N)[WHO], RNG.normal(100, 10, N)[WHO]
    columns = {"mouse": [f"m{i:02d}" for i in WHO], "age": age, "length": length, "dose": RNG.normal(size=ROWS)}
    return pd.DataFrame(columns | more)


def note(frame, **roles):
    return [text for text in tables.inspect(frame, **roles).notes if "belong together" in text]


def test_repeated_measurements_are_noticed():
    expected = (
        "rows with the same 'mouse' also have the same 'age', 'length': they may belong together, as the visits of one "
    )
    expected += "patient do"
    (found,) = note(measured())
    assert found == f"{expected}. If they do, --group mouse holds them out together"
    mixed = measured().sample(frac=1, random_state=0).reset_index(drop=True)
    assert note(mixed) == [found]
    number = measured(mouse=RNG.permutation(N)[WHO])
    assert note(number) == [found]


def test_with_a_group_nothing_is_said():
    assert note(measured(), group="mouse") == []


def test_one_row_in_doubt_is_enough_to_say_nothing():
    frame = measured()
    frame.loc[1, ["age", "length"]] = [19, 1.5]
    assert note(frame) == []


@pytest.mark.parametrize(
    "columns",
    [
        {"city": RNG.choice(list("abcdefghijkl"), ROWS), "size": RNG.normal(size=ROWS)},
        {"age": WHO + 20, "born": 2000.0 - WHO},  # one is the other, written otherwise
        {"age": WHO + 20, "decade": WHO // 10 * 10.0},  # and here by rounding
        {"breed": [f"b{i % 12}" for i in WHO], "legs": [float(i % 12 % 2) for i in WHO]},  # a coarser level
        {"x": RNG.normal(size=ROWS), "z": RNG.normal(size=ROWS)},
        {"site": [f"s{i % 3}" for i in WHO], "height above sea": [100.5 * (i % 3) for i in WHO]},  # too few
    ],
)
def test_ordinary_tables_get_no_note(columns):
    assert note(pd.DataFrame(columns | {"other": RNG.normal(size=ROWS)})) == []


def test_an_id_whose_name_tells_it_says_the_option():
    frame = pd.DataFrame({"patient id": WHO, "x": RNG.normal(size=ROWS)})
    (warning,) = tables.inspect(frame).warnings
    assert "make it the group (--group 'patient id'), to hold them out together" in warning
