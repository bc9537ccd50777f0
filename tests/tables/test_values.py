"""Texts as numbers, booleans and dates."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from internals import date_order, is_boolean, to_booleans, to_dates, to_numbers
from outfold.tables.values import has_codes, word_for_yes

pytest.importorskip("pandas", reason="pandas is not installed (outfold[frames])")


def texts(*values):
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_every_digit_of_a_number_is_read(numbers):
    assert to_numbers(texts(*map(repr, numbers))).tolist() == numbers


@given(st.lists(st.floats(-1e15, 1e15).map(lambda x: round(x, 3)), min_size=1, max_size=20))
def test_marks_do_not_change_a_number(numbers):
    german = [f"{number:,.3f}".translate(str.maketrans(",.", ".,")) for number in numbers]
    swiss = [f"{number:,.3f}".replace(",", "'") for number in numbers]
    exact = [float(f"{number:.3f}") for number in numbers]
    assert to_numbers(texts(*german), ",", ".").tolist() == exact
    assert to_numbers(texts(*swiss), ".", "'").tolist() == exact


@pytest.mark.parametrize(
    ("text", "decimal", "thousands", "number"),
    [
        ("1,5", ",", ".", 1.5),
        ("1.5", ",", ".", np.nan),
        ("1.234", ",", ".", 1234),
        ("1.234", ",", "", np.nan),
        ("12.34.56", ",", ".", np.nan),
        ("1,23", ".", ",", np.nan),
        ("1,234", ".", ",", 1234),
        ("01.02.2020", ",", ".", np.nan),
        ("€ 5", ".", "", 5),
        ("5 %", ".", "", 5),
        ("−2", ".", "", -2),
        ("abc", ".", "", np.nan),
        ("", ".", "", np.nan),
        ("1_000", ".", "", np.nan),
        ("True", ".", "", np.nan),
    ],
)
def test_what_is_a_number(text, decimal, thousands, number):
    np.testing.assert_equal(to_numbers(texts(text), decimal, thousands), [number])


def test_many_words_are_no_numbers_and_many_marked_numbers_are():
    words = texts(*(f"word {i}" for i in range(1000)))
    assert np.isnan(to_numbers(words)).all()
    marked = texts(*(f"{i + 1000:,}" for i in range(1000)))
    assert to_numbers(marked, ".", ",").tolist() == list(range(1000, 2000))


@pytest.mark.parametrize(
    ("written", "order", "says"),
    [
        ("2020-02-03", "ymd", "2020-02-03"),
        ("2020-02-03T04:05:06Z", "ymd", "2020-02-03T04:05:06"),
        ("2020-02-03 04:05:06.25+02:00", "ymd", "2020-02-03T02:05:06.25"),
        ("2020/2/3", "ymd", "2020-02-03"),
        ("2020-02", "ymd", "2020-02-01"),
        ("03.02.2020", "dmy", "2020-02-03"),
        ("3.2.2020 04:05", "dmy", "2020-02-03T04:05"),
        ("03.02.20", "dmy", "2020-02-03"),
        ("03.02.70", "dmy", "1970-02-03"),
        ("03/02/2020", "dmy", "2020-02-03"),
        ("03/02/2020", "mdy", "2020-03-02"),
        ("3/2/2020 1:05 PM", "mdy", "2020-03-02T13:05"),
        ("3/2/2020 12:05 AM", "mdy", "2020-03-02T00:05"),
        ("3 Feb 2020", "ymd", "2020-02-03"),
        ("3. März 2020", "ymd", "2020-03-03"),
        ("February 3, 2020", "ymd", "2020-02-03"),
        ("31.02.2020", "dmy", "NaT"),
        ("31/12/2020", "mdy", "NaT"),
        ("1.2.3", "dmy", "NaT"),
        ("9999-12-31", "ymd", "NaT"),
        ("2020", "ymd", "NaT"),
        ("soon", "ymd", "NaT"),
    ],
)
@pytest.mark.parametrize("times", [1, 400])
def test_dates_mean_the_same_alone_and_among_many(written, order, says, times):
    """Long columns go another way, by pandas; no row may change what another one says."""
    found = to_dates(texts(*[written] * times, *[f"{i} x" for i in range(times - 1)]), order)
    expected = np.datetime64(says, "ns")
    assert (np.isnat(found[:times]) if says == "NaT" else found[:times] == expected).all()


@given(st.lists(st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)), min_size=1, max_size=30), st.integers(1, 20))
def test_dates_come_back_from_every_format(moments, copies):
    moments = [moment.replace(microsecond=0) for moment in moments] * copies
    expected = np.array(moments, dtype="datetime64[ns]")
    for form, order in (("%d.%m.%Y %H:%M:%S", "dmy"), ("%m/%d/%Y %H:%M:%S", "mdy"), ("%Y-%m-%dT%H:%M:%S", "ymd")):
        assert (to_dates(texts(*(moment.strftime(form) for moment in moments)), order) == expected).all()


@pytest.mark.parametrize(
    ("column", "order"),
    [
        (["2020-01-02", "2021-03-04"], ("ymd", False)),
        (["01.02.2020", "03.04.2020"], ("dmy", False)),
        (["01/02/2020", "13/04/2020"], ("dmy", False)),
        (["01/02/2020", "03/14/2020"], ("mdy", False)),
        (["01/02/2020", "03/04/2020"], ("mdy", True)),
        (["13/02/2020", "03/14/2020"], None),
        (["1.5", "2.5"], None),
        (["2019", "2020"], None),
        (["red", "blue"], None),
        ([], None),
    ],
)
def test_the_order_needs_evidence(column, order):
    assert date_order(texts(*column)) == order


@pytest.mark.parametrize(
    ("column", "codes"),
    [
        (("00123", "77"), True),
        (("0", "77"), False),
        (("012", "1.5"), False),  # a number of fixed width
        ((str(2**63), "5"), True),
        ((str(2**63 - 1), str(-(2**63))), False),
        (("1" * 25, "0.5"), False),
    ],
)
def test_what_is_a_code(column, codes):
    assert has_codes(texts(*column)) == codes


def test_booleans():
    assert is_boolean(texts("Yes", "no"))
    assert is_boolean(texts("ja", "Ja", "NEIN"))
    assert not is_boolean(texts("yes", "no", "maybe"))
    assert not is_boolean(texts("0", "1"))
    assert not is_boolean(texts("yes"))
    assert not is_boolean(texts("yes", "nein"))
    np.testing.assert_equal(to_booleans(texts("TRUE", "f", "1", "x")), [1, 0, 1, np.nan])


@pytest.mark.parametrize(
    ("words", "yes"),
    [
        (("ja", "nein"), "ja"),
        (("Nein", "JA"), "JA"),
        (("j", "n"), "j"),
        (("no", "Yes"), "Yes"),
        (("no", "sí"), "sí"),
        (("ja", "nein", "vielleicht"), None),
        (("ja", "no"), None),
        (("low", "high"), None),
        (("ja",), None),
    ],
)
def test_the_word_for_yes(words, yes):
    assert word_for_yes(words) == yes
