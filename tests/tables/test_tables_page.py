"""The page on tables says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from internals import kinds, leaks
from outfold import tables
from outfold.tables import grouping, values

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")

pytest.importorskip("pandas", reason="pandas is not installed (outfold[frames])")


def test_sessions_print_what_stands_below_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    blocks = re.findall(r"^```python\n(.*?)^```\n(?:```\n(.*?)^```\n)?", PAGE, re.M | re.S)
    assert len(blocks) == 4
    for code, printed in blocks:
        exec(compile(code, "tables.md", "exec"), scope)
        assert capsys.readouterr().out == printed


def test_the_limits_are_those_of_the_code():
    assert f"missing in more than {kinds.MOST_MISSING:.0%} of the rows" in PAGE
    assert (kinds.MOST_ODD, round(1 - kinds.MOSTLY, 6)) == (5, 0.1)
    assert "up to five other values in at most a tenth of its rows" in PAGE
    assert f"The limit is {leaks.ALMOST}." in PAGE
    assert f"at least {grouping._FEWEST_LEVELS} values, in the first {grouping.ROWS_LOOKED_AT:,} rows" in PAGE
    assert f"at least {grouping._FEWEST_VALUES} values, and at least a quarter as many" in PAGE
    assert grouping._SHARE_OF_LEVELS == 0.25


def test_all_words_for_missing_values_are_listed():
    section = PAGE.partition("### Missing values")[2].partition("\n#")[0]
    anywhere, among_numbers = (
        set(re.findall(r"`([^`]+)`", line)) for line in re.findall(r"^\| (?:any|numbers).*", section, re.M)
    )
    assert anywhere == values.MISSING - {""}
    assert {word.lower() for word in anywhere | among_numbers} == values.MISSING_NUMBER - {""}


def test_roles_and_kinds_have_a_row_each():
    cells = {name for row in re.findall(r"^\| (`[^|]+) \|", PAGE, re.M) for name in re.findall(r"`([\w.]+)`", row)}
    assert set(tables.columns.ROLES) | set(tables.columns.KINDS) <= cells


def test_api_page_has_the_public_names():
    section = (ROOT / "docs" / "api.md").read_text().partition("\n## outfold.tables\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)`", section, re.M)) == set(tables.__all__)
