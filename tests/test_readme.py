"""The README's session runs, and prints what it says it prints."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

from internals import cli

README = (Path(__file__).parents[1] / "README.md").read_text()


def blocks(language: str) -> list[str]:
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.M | re.S)
    return [text for name, text in fences if name == language]


def test_the_session_prints_what_the_readme_shows_and_the_rest_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    beginnings = ("accuracy of the selected", "logit(C=0.01) - knn")
    shown = [text for text in blocks("") if text.startswith(beginnings)]
    printed, scope = [], {}
    for block in blocks("python"):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block, "README.md", "exec"), scope)
        printed += [out.getvalue()] if out.getvalue() else []
    assert len(shown) == len(beginnings)
    assert printed == shown
    assert scope["search"].best_score_ > 0.5
    assert scope["oof"].completeness == 1
    assert (tmp_path / "run.oof").exists()


def test_commands_shown_are_commands_that_exist():
    shown = [line.split("#")[0] for block in blocks("") for line in block.splitlines() if line.startswith("outfold ")]
    assert len(shown) >= 4
    for line in shown:
        args = cli.build_parser()[0].parse_args(shlex.split(line)[1:])
        assert callable(args.command)


def test_links_lead_somewhere():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (Path(__file__).parents[1] / target).exists(), target
