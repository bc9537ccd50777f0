"""The how-to pages of other tools run as they are, and print what they show."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from howto_pages import OTHER_TOOLS
from outfold.cli import main

SAMPLES = Path(__file__).parent / "samples"
SESSION = re.compile(r"^```python\n(.*?)^```\n(?:```\n(.*?)^```\n)?", re.M | re.S)
COMMAND = re.compile(r"^```\noutfold ([^\n]*)\n```\n```\n(.*?)^```\n", re.M | re.S)
# A page whose code needs a library that the tests do not install says so in its first block: ``import duckdb``.
OPTIONAL = ("duckdb", "matplotlib", "mlflow", "optuna", "pandas", "polars", "pyarrow", "skore", "flaml", "autogluon")


@pytest.mark.parametrize("page", OTHER_TOOLS, ids=[page.stem for page in OTHER_TOOLS])
def test_sessions_of_a_how_to_page_print_what_stands_below_them(page, tmp_path, monkeypatch, capsys):
    shutil.copytree(SAMPLES, tmp_path / "samples")
    monkeypatch.chdir(tmp_path / "samples")
    sessions = SESSION.findall(page.read_text())
    assert sessions
    scope: dict[str, object] = {"__name__": page.stem}
    for code, printed in sessions:
        for library in OPTIONAL:
            if re.search(rf"^\s*(import|from) {library}\b", code, re.M):
                pytest.importorskip(library, reason=f"{page.name} uses {library}")
        exec(compile(code, page.name, "exec"), scope)
        assert capsys.readouterr().out == printed
    for command, printed in COMMAND.findall(page.read_text()):
        assert main(shlex.split(command)) == 0
        assert capsys.readouterr().out == printed
