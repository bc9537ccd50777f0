"""Names come from anywhere: no command lets them steer the terminal, break a table, or calculate in a spreadsheet."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import outfold as of
from outfold.cli import main

NAMES = ["\x1b[31mred\x1b[0m", "=1+1", "two\nlines\tof", "@SUM(1)", "-2", "a\x07b\u202ec"]


@pytest.fixture
def path(tmp_path):
    rng, y = np.random.default_rng(0), np.arange(40) % 2
    oof = of.from_arrays(y, rng.random((40, 6)), folds=np.arange(40) % 5, configs=NAMES)
    return oof.save(tmp_path / "odd.oof") or tmp_path / "odd.oof"


@pytest.mark.parametrize("command", ["show", "estimate", "check", "tied", "compare"])
def test_text_has_no_character_that_is_not_seen(path, capsys, command):
    main([command, str(path), *(["--all"] if command == "compare" else [])])
    printed = "".join(capsys.readouterr())
    assert "=1+1" in printed or command in ("estimate", "check")
    assert all(letter.isprintable() or letter == "\n" for letter in printed)


def test_a_row_of_a_table_is_one_line(path, capsys):
    main(["show", str(path)])
    assert "two lines of" in capsys.readouterr().out


def test_no_cell_of_a_csv_is_a_formula(path, capsys):
    main(["show", str(path), "--format", "csv"])
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines(keepends=True)))
    assert not any("\x1b" in row["config"] for row in rows)
    assert {"'=1+1", "'@SUM(1)", "'-2"} <= {row["config"] for row in rows}
