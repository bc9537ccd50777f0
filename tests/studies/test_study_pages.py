"""Pages and front page of the studies have the numbers of the result files."""

from __future__ import annotations

import re

import pytest
from harness import registry
from harness.command import RAW, index_text
from harness.pages import WARNING, study_page
from harness.runner import RawFile
from harness.study import key_of

PAGES = registry.PAGES


def results():
    return {name: found for name in registry.NAMES if (found := registry.read(name)) is not None}


def test_every_result_has_a_page_and_a_picture():
    made = {path.stem for path in PAGES.glob("*.md") if path.read_text().startswith(WARNING)}
    assert made == {*results(), "index"}
    assert {path.stem for path in registry.PICTURES.iterdir()} == set(results())


def test_the_front_page_says_what_has_not_been_run():
    text = (PAGES / "index.md").read_text()
    assert text.count("**not run yet** |") == len(registry.NAMES) - len(results())


@pytest.mark.parametrize("name", results())
def test_the_page_is_that_of_the_result_file(name):
    result = registry.read(name)
    assert result is not None
    assert (PAGES / f"{name}.md").read_text() == study_page(registry.find(name), result), "run studies/run.py --page"


def test_the_front_page_is_that_of_the_result_files():
    text = (PAGES / "index.md").read_text()
    assert text == index_text(), "run studies/run.py"
    for name, result in results().items():
        verdict = registry.find(name).verdict(result)
        assert f"| [{name}]({name}.md) |" in text
        for headline in verdict.headlines:
            assert f"| {headline.what} | {headline.paper} | {headline.ours} |" in text


def test_every_script_is_on_the_front_page():
    scripts = {path.stem for path in (registry.ROOT / "studies").glob("*.py")}
    modules = {registry.find(name).run.__module__ for name in registry.NAMES}
    listed = {script for script, *_ in registry.OTHERS}
    # What runs studies, is a part of others, or draws a picture of another page.
    helpers = {"run", "repeats", "fast_learners", "type_one_tables", "post_selection", "critical_difference"}
    studies = {registry.MODULES.get(name, name.replace("-", "_")) for name in registry.NAMES}
    assert modules <= studies | helpers
    assert scripts == studies | listed | helpers


@pytest.mark.parametrize("page", sorted(path.name for path in PAGES.glob("*.md")))
def test_links_of_the_pages_lead_somewhere(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)", (PAGES / page).read_text()):
        assert (PAGES / target).exists(), target


def test_a_verdict_names_the_work_behind_it():
    for name, result in results().items():
        assert 0 < result["units"] <= result["of"], name
        assert result["cpu_seconds"] >= 0


@pytest.mark.parametrize("name", results())
def test_the_finished_units_behind_a_result_are_kept(name):
    """So that a fresh clone goes on where the last run stopped."""
    study, result = registry.find(name), registry.read(name)
    assert result is not None
    kept = RawFile(RAW / f"{study.raw_name}.jsonl", study.version).read()
    assert sum(key_of(unit) in kept for unit in study.units("full")) == result["units"]
