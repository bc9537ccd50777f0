"""The pages of compare and rank: each public name has one, with all sections, true numbers and examples that run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import outfold
from internals import TESTS, in_words
from test_site import BLOCK, DOCS, name, run

# Each module has a folder of pages, and a front page that says which to use.
FRONT = {"compare": DOCS / "comparing.md", "rank": DOCS / "ranking.md"}
PAGES = [DOCS / module / f"{public}.md" for module in FRONT for public in getattr(outfold, module).__all__]
SECTIONS = [
    "What it asks",
    "When it is valid",
    "How it is computed",
    "An example",
    "What can go wrong",
    "Where it comes from",
]
RATES = json.loads((DOCS.parent / "src/outfold/compare/error_rates.json").read_text())


def section(page: Path, heading: str) -> str:
    return re.search(rf"^## {heading}\n\n(.*?)(?=^## |\Z)", page.read_text(), re.M | re.S)[1]


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(code, shown) for language, code, shown in BLOCK.findall(page.read_text()) if language == "python"]


@pytest.mark.parametrize("module", FRONT)
def test_each_public_name_has_a_page_and_no_page_is_left_over(module):
    found = {page.stem for page in (DOCS / module).iterdir()}
    assert found == set(getattr(outfold, module).__all__)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_has_all_sections_in_order(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    assert re.findall(r"^# (\w+): \S", text, re.M) == [page.stem]
    assert re.findall(r"^## (.+)$", text, re.M) == SECTIONS
    assert all(section(page, heading).strip() for heading in SECTIONS)
    assert f"`{page.parent.name}.{page.stem}`" in section(page, "What it asks")
    assert any(shown for _, shown in blocks(page)), "the example shows what it prints"


@pytest.mark.parametrize("page", [*PAGES, *FRONT.values()], ids=name)
def test_blocks_of_a_page_print_what_stands_below_them(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {"__name__": "page"}
    for code, shown in blocks(page):
        run("python", code, scope, page)
        assert capsys.readouterr().out == shown, code


@pytest.mark.parametrize("module", FRONT)
def test_the_front_page_links_to_each_page(module):
    tables = "\n".join(line for line in FRONT[module].read_text().splitlines() if line.startswith("| "))
    linked = set(re.findall(rf"\[`(\w+)`\]\({module}/\1\.md\)", tables))
    assert linked == set(getattr(outfold, module).__all__)


@pytest.mark.parametrize("test", TESTS.values(), ids=lambda test: test.name)
def test_a_page_names_what_the_test_needs(test):
    needs = re.search(
        r"^It needs:\n\n((?:- .*\n)+)", section(DOCS / "compare" / f"{test.name}.md", "When it is valid"), re.M
    )
    assert "; ".join(re.findall(r"^- (.*)$", needs[1], re.M)) == in_words(test.requirements)


def measured(test: str) -> dict[tuple[str, str, str], str]:
    """Error rates by test with its options, plan and metric."""
    return {
        (own, plan, metric): f"{rate:.3f}"
        for plan, tests in RATES.items()
        for own, rates in tests.items()
        if own.partition("(")[0] == test
        for metric, rate in rates.items()
    }


def shown_rates(test: str) -> dict[tuple[str, str, str], str]:
    """The same, as the table of the page has it."""
    text = section(DOCS / "compare" / f"{test}.md", "When it is valid")
    table = re.search(r"^\| (?:test \| )?plan \|.*\n(?:\|.*\n)+", text, re.M)
    if table is None:
        return {}
    head, _, *lines = ([cell.strip(" `") for cell in line.strip("|").split("|")] for line in table[0].splitlines())
    out = {}
    for cells in lines:
        row = dict(zip(head, cells, strict=True))
        own, plan = row.pop("test", test), row.pop("plan")
        out |= {(own, plan, metric): rate for metric, rate in row.items() if rate}
    return out


@pytest.mark.parametrize("test", TESTS)
def test_error_rates_of_a_page_are_those_measured(test):
    assert shown_rates(test) == measured(test)
