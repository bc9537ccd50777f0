"""Survival times of a table: how events are written, and what is refused in one clear sentence."""

from __future__ import annotations

import numpy as np
import pytest

from extras import pd
from outfold.exceptions import InputError
from outfold.tables.events import survival_records


def records(event, time=(5, 2.5, 0), **options):
    return survival_records(pd.Series(list(time), name="days"), pd.Series(list(event), name="status"), **options)


@pytest.mark.parametrize(
    "event",
    [
        (1, 0, 1),
        (1.0, 0.0, 1.0),
        ("1", "0", "1"),
        (True, False, True),
        ("TRUE", "FALSE", "TRUE"),
        ("yes", "No", " yes"),
    ],
)
def test_ways_to_write_an_event(event):
    found = records(event)
    np.testing.assert_array_equal(found["event"], [True, False, True])
    np.testing.assert_array_equal(found["time"], [5, 2.5, 0])
    assert found.dtype.names == ("event", "time")  # the order of scikit-survival


@pytest.mark.parametrize(
    ("event", "happened"),
    [
        (("dead", "alive", "dead"), "dead"),
        ((2, 1, 2), "2"),
        ((2.0, 1.0, 2.0), "2"),
        ((0, 1, 0), "0"),
        (("a", "b", "a"), "a"),
    ],
)
def test_the_value_that_says_that_it_happened(event, happened):
    np.testing.assert_array_equal(records(event, happened=happened)["event"], [True, False, True])


@pytest.mark.parametrize(
    ("event", "time", "happened", "message"),
    [
        (
            ("dead", "alive", "dead"),
            (1, 2, 3),
            None,
            r"event must hold 1 if .*'status' holds 'alive', 'dead'. Name the value",
        ),
        ((1, 2, 1), (1, 2, 3), None, "'status' holds '1', '2'"),
        (
            ("dead", "alive", "dead"),
            (1, 2, 3),
            "gone",
            "positive must be the value that says that the event happened; 'status'",
        ),
        ((1, 0, 1), (1, -2, 3), None, "time must hold numbers from 0; 'days' holds '-2'"),
        ((1, 0, 1), (1, "two", 3), None, "time must hold numbers from 0; 'days' holds 'two'"),
    ],
)
def test_what_is_refused(event, time, happened, message):
    with pytest.raises(InputError, match=message):
        records(event, time, happened=happened)
