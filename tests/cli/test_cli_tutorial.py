"""The tutorial of the command line names options that there are."""

from __future__ import annotations

import re
from pathlib import Path

from outfold.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "patients.md"
COMMANDS = ("inspect", "run", "predict", "confront", "samples-needed")


def test_every_option_of_the_tutorial_is_one_of_a_command(capsys):
    for command in COMMANDS:
        main([command, "--help"])
    known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    assert set(re.findall(r"(?<!-)--[a-z][a-z-]*", PAGE.read_text())) <= known


def test_the_tutorial_says_that_the_width_is_on_both_sides():
    width = re.search(r"samples-needed \S+ --width ([\d.]+)", PAGE.read_text())
    assert width is not None
    assert f"plus or minus {width[1]}" in PAGE.read_text()
