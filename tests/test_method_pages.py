"""The pages of methods: one for each public name, with the same sections, blocks that print what they show, and a front page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from internals import in_words
from outfold import drop, estimate, metrics, select
from test_site import BLOCK, DOCS, name

FOLDER = DOCS / "methods"
PAGES = sorted(FOLDER.glob("*.md"))
FRONT = (DOCS / "methods.md").read_text()
SECTIONS = (
    "What it estimates",
    "When it is valid",
    "How it is computed",
    "An example",
    "What can go wrong",
    "Where it comes from",
)
# Two estimates that are computed alike share a page. The names of the other modules are on one page for each module.
SHARED = {"inbag": "resubstitution", "point632plus": "point632", "wmcs": "wmc"}
PAGE_OF = {("estimate", public): SHARED.get(public, public) for public in estimate.__all__} | {
    (module.__name__.rpartition(".")[2], public): module.__name__.rpartition(".")[2]
    for module in (drop, select, metrics)
    for public in module.__all__
}
OF_ESTIMATES = sorted(public for module, public in PAGE_OF if module == "estimate")


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def text_of(page: str) -> str:
    return (FOLDER / f"{page}.md").read_text()


def section(text: str, heading: str) -> str:
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def anchors(path: Path) -> set[str]:
    """The anchors of a page: those of its headings, as GitHub makes them, and those that it names."""
    text = path.read_text()
    headings = re.findall(r"^#+ (.*)$", without_code(text), re.M)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)"></a>', text))


def test_every_page_is_of_a_public_name():
    assert {page.stem for page in PAGES} == set(PAGE_OF.values())


@pytest.mark.parametrize(("module", "public"), PAGE_OF, ids=".".join)
def test_every_public_name_has_a_page_and_is_on_the_front_page(module, public):
    page = PAGE_OF[module, public]
    text = text_of(page)
    assert re.search(rf"`(?:{module}\.)?{public}\b", section(text, SECTIONS[0])), "the first section names it"
    row = next(line for line in FRONT.splitlines() if line.startswith("| ") and f"`{public}`" in line)
    assert f"](methods/{page}.md" in row


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_page_has_the_sections_in_order(page):
    text = page.read_text()
    assert tuple(re.findall(r"^## (.*)$", without_code(text), re.M)) == SECTIONS
    for heading in SECTIONS:
        assert len(section(text, heading).split()) > 10, heading
    assert re.search(r"\b(1[89]|20)\d\d\b", section(text, "Where it comes from")), "a paper has a year"


@pytest.mark.parametrize("public", OF_ESTIMATES)
def test_pages_of_estimates_say_what_is_needed(public):
    valid = section(text_of(PAGE_OF["estimate", public]), "When it is valid")
    lists = re.findall(r"^(It|`\w+`) needs:\n\n((?:- .*\n)+)", valid, re.M)
    (needed,) = [points for who, points in lists if who in ("It", f"`{public}`")]
    words = "; ".join(point.removeprefix("- ") for point in needed.splitlines())
    assert words == in_words(getattr(estimate, public).requirements)


@pytest.mark.parametrize("page", [DOCS / "methods.md", *PAGES], ids=name)
def test_links_lead_to_headings(page):
    for target in re.findall(r"\]\((?!https?:)([^)\s]*#[^)\s]+)\)", without_code(page.read_text())):
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert anchor in anchors(path), target


def test_links_to_the_front_page_and_to_pages_of_methods_lead_to_headings():
    for page in DOCS.rglob("*.md"):
        for target in re.findall(r"\]\(([^)\s]*methods[^)\s]*\.md#[^)\s]+)\)", page.read_text()):
            file, _, anchor = target.partition("#")
            assert anchor in anchors((page.parent / file).resolve()), f"{name(page)}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_blocks_print_what_the_page_shows(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    blocks = [(code, shown) for language, code, shown in BLOCK.findall(text) if language == "python"]
    assert text.count("```python\n") == len(blocks)
    assert any(code in section(text, "An example") for code, _ in blocks)
    scope: dict[str, object] = {"__name__": "page"}
    for code, shown in blocks:
        exec(compile(code, page.name, "exec"), scope)
        printed = capsys.readouterr().out
        assert shown
        assert printed == shown, code
