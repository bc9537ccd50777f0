"""The page on models: its code runs, and prints what stands below it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from extras import pd
from saved_model import saved_in, table

PAGE = Path(__file__).parents[2] / "docs" / "models.md"


def test_the_page_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    pytest.importorskip("skops.io", reason="skops is not installed (outfold[model])")
    pytest.importorskip("pandas", reason="pandas is not installed (outfold[frames])")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    saved_in(tmp_path / "out")
    later = table(30, seed=1)
    later.drop(columns="ill").to_csv("new.csv", index=False, sep=";", decimal=",")
    later[["id", "ill"]].to_csv("truth.csv", index=False)
    scope: dict[str, object] = {}
    sessions = re.findall(r"^```python\n(.*?)^```\n(?:```\n(.*?)^```)?", PAGE.read_text(), re.M | re.S)
    assert sum(bool(printed) for _, printed in sessions) == 2
    for code, printed in sessions:
        exec(compile(code, PAGE.name, "exec"), scope)
        out = capsys.readouterr().out
        if printed:
            assert out == printed
    assert list(pd.read_csv("labelled.csv").columns) == list(later.columns)


def test_the_page_lists_the_files_of_the_folder():
    text = PAGE.read_text()
    from outfold.models import about, saving

    for name in (saving.FILE, about.FILE, saving.CARD, "run.oof"):
        assert f"| `{name}` |" in text


@pytest.mark.parametrize("link", re.findall(r"\]\((?!http)([^)#]+)", PAGE.read_text()))
def test_links_lead_somewhere(link):
    assert (PAGE.parent / link).exists()
