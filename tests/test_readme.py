"""The sessions of the README and the tour run, and print what they say they print."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from internals import cli

ROOT = Path(__file__).parents[1]
README, TOUR = ROOT / "README.md", ROOT / "docs" / "tour.md"


def blocks(page: Path, language: str) -> list[str]:
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.M | re.S)
    return [text for name, text in fences if name == language]


def session(page: Path) -> tuple[list[str], dict[str, object]]:
    """What each block of Python that prints has printed, and the names they leave."""
    printed, scope = [], {}
    for block in blocks(page, "python"):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block, page.name, "exec"), scope)
        printed += [out.getvalue()] if out.getvalue() else []
    return printed, scope


def test_the_readme_prints_what_it_shows():
    printed, _ = session(README)
    assert printed == [text for text in blocks(README, "") if text.startswith("accuracy of the selected")]


def test_the_readme_is_one_screen():
    assert len(README.read_text().splitlines()) <= 70


def test_the_tour_prints_what_it_shows_and_the_rest_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    beginnings = ("accuracy of the selected", "logit(C=0.01) - knn")
    shown = [text for text in blocks(TOUR, "") if text.startswith(beginnings)]
    printed, scope = session(TOUR)
    assert len(shown) == len(beginnings)
    assert printed == shown
    assert scope["search"].best_score_ > 0.5
    assert scope["oof"].completeness == 1
    assert (tmp_path / "run.oof").exists()


def test_commands_shown_are_commands_that_exist():
    lines = [line for block in blocks(TOUR, "") for line in block.splitlines()]
    shown = [line.split("#")[0] for line in lines if line.startswith("outfold ")]
    assert len(shown) >= 4
    for line in shown:
        args = cli.build_parser()[0].parse_args(shlex.split(line)[1:])
        assert callable(args.command)


@pytest.mark.parametrize("page", [README, TOUR])
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target
