"""How numbers and words look."""

from __future__ import annotations

import pytest

from internals import escape_latex, formatting


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (0.0, "+0.0000"),
        (-1e-17, "+0.0000"),  # the rounding of floats is no difference
        (-0.00034, "-0.0003"),
        (-2.345e-8, "-2.345e-08"),  # errors of a small scale
        (0.0301, "+0.0301"),
        (-12.5, "-12.5000"),
        (12345.6, "+1.235e+04"),
    ],
)
def test_a_difference_keeps_its_size(value, says):
    assert formatting.number(value, sign=True) == says


def test_latex_holds_no_character_that_tex_refuses():
    assert escape_latex("a\x00b\u202ec\x7f\nd_e") == r"a?b?c? d\_e"


@pytest.mark.parametrize(
    ("value", "says"), [(0.0, "0.0 s"), (0.0123, "12 ms"), (0.00012, "0.12 ms"), (0.42, "0.4 s"), (185.0, "3 min 05 s")]
)
def test_short_times_are_not_zero(value, says):
    assert formatting.seconds(value) == says


def test_a_title_without_facts_is_no_table():
    assert "<table>" not in formatting.facts_html("a title", [])
    assert formatting.facts_html("a title", [("key", "a < b")]).count("a &lt; b") == 1
