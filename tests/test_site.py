"""The site: every page can be found, links lead somewhere, and blocks of tutorials and how-to pages do what they show."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest

from howto_pages import OTHER_TOOLS
from internals import CHECKS, cli
from outfold.cli.explaining import explain

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
TOLD = [*sorted((DOCS / "tutorials").glob("*.md")), *sorted((DOCS / "howto").glob("*.md"))]
# Folders that the build makes.
BUILT = ("gallery", "reference/api")
# Code, or a command; the block that follows directly is what it prints.
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```\n(?:```\n(.*?)^```\n)?", re.M | re.S)
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.M | re.S)


def name(path: Path) -> str:
    return path.relative_to(DOCS).with_suffix("").as_posix()


def entries(page: Path) -> set[str]:
    """The pages that the toctrees of a page list, with those that conf.py adds."""
    blocks = TOCTREE.findall(page.read_text())
    lines = [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]
    lines = [re.sub(r".*<(.*)>", r"\1", line) for line in lines]  # `Title <page>`
    below = ast.literal_eval(re.search(r"^BELOW = (\{.*?\})$", (DOCS / "conf.py").read_text(), re.M | re.S)[1])
    lines += [below[name(page)]] if name(page) in below else []
    found: set[str] = set()
    for line in lines:
        if "*" in line:
            found |= {name(path.resolve()) for path in page.parent.glob(f"{line}.md")}
        else:
            found.add((page.parent / line).resolve().relative_to(DOCS).as_posix())
    return found


def test_every_page_is_in_the_navigation_and_the_navigation_has_no_others():
    reached, waiting = {"index"}, ["index"]
    while waiting:
        page = DOCS / f"{waiting.pop()}.md"
        new = {entry for entry in entries(page) if not entry.startswith(BUILT)} - reached
        reached |= new
        waiting += new
    assert reached == {name(page) for page in PAGES}, "list the page in a toctree of docs/guide, docs/reference ..."


@pytest.mark.parametrize("page", ["guide/index.md", "howto/index.md"])
def test_the_sidebar_has_the_pages_in_the_order_and_under_the_headings_of_the_page(page):
    text = (DOCS / page).read_text()
    trees = TOCTREE.findall(text)
    sections = re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |^```)", text, re.M | re.S)
    for (heading, body), tree in zip(sections, trees, strict=True):
        listed = [line for line in tree.splitlines() if line and not line.startswith(":")]
        shown = re.findall(r"\]\(([^)]*)\.md\)", body)
        assert f":caption: {heading}\n" in tree
        assert listed[: len(shown)] == shown


def test_no_page_has_the_name_of_one_that_sphinx_writes():
    """Sphinx would replace it in silence; its page of search results once stood where the page on `SelectCV` should be."""
    assert not {name(page) for page in PAGES} & {"search", "genindex", "modindex", "py-modindex"}


def prose(page: Path) -> str:
    """The text of a page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """What a link to a part of the page can name: its headings, as GitHub and Sphinx turn them into anchors, and marks."""
    headings = re.findall(r"^#{1,4} (.*)$", prose(page), re.M)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower() for heading in headings]
    named = re.findall(r'<a id="([^"]+)">', page.read_text())
    return {re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in plain} | set(named)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", prose(page)):
        path = (page.parent / target).resolve()
        assert path.exists() or name(path).startswith(BUILT), f"{name(page)}: {target}"


@pytest.mark.parametrize(
    "page", [*PAGES, *sorted(ROOT.glob("*.md"))], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_links_lead_to_parts_that_exist(page):
    for target, part in re.findall(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)", prose(page)):
        linked = (page.parent / target).resolve() if target else page
        if linked.suffix == ".md":
            assert part in anchors(linked), f"{target}#{part}"


def test_pages_that_the_code_names_exist():
    """Help texts name pages such as docs/comparing.md; comments and docstrings do, too."""
    named = {
        page for path in (ROOT / "src").rglob("*.py") for page in re.findall(r"docs/[\w/-]+\.md", path.read_text())
    }
    assert "docs/comparing.md" in named
    assert [page for page in sorted(named) if not (ROOT / page).is_file()] == []


def run(language: str, code: str, scope: dict[str, object], page: Path) -> None:
    if language == "python":
        exec(compile(code, page.name, "exec"), scope)
    else:
        for line in code.splitlines():
            cli.main(shlex.split(line, comments=True)[1:])


@pytest.mark.parametrize("page", [page for page in TOLD if page.stem != "index" and page not in OTHER_TOOLS], ids=name)
def test_blocks_print_what_stands_below_them(page, tmp_path, monkeypatch, capsys):
    for package in ("pandas", "matplotlib", "skops"):
        pytest.importorskip(package, reason="the pages use all extras")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {"__name__": "page"}
    blocks = [
        b for b in BLOCK.findall(page.read_text()) if b[0] == "python" or (b[0] == "" and b[1].startswith("outfold "))
    ]
    assert blocks
    for language, code, shown in blocks:
        run(language, code, scope, page)
        assert capsys.readouterr().out == shown, code


def test_the_front_page_shows_code_that_runs(capsys):
    from sklearn.datasets import load_iris
    from sklearn.neighbors import KNeighborsClassifier

    from outfold import SelectCV

    (code,) = [code for language, code, _ in BLOCK.findall((DOCS / "index.md").read_text()) if language == "python"]
    X, y = load_iris(return_X_y=True)
    grid = {"n_neighbors": [1, 5]}
    exec(
        compile(code, "index.md", "exec"),
        {"SelectCV": SelectCV, "model": KNeighborsClassifier(), "grid": grid, "X": X, "y": y},
    )
    assert "optimism" in capsys.readouterr().out


def test_examples_have_a_title_and_a_picture():
    scripts = sorted((ROOT / "examples").glob("*.py"))
    assert len(scripts) >= 20
    for script in scripts:
        tree = ast.parse(script.read_text())
        title, line, *_ = ast.get_docstring(tree).splitlines()
        assert line == "=" * len(title), script.name
        assert re.search(r"plot\.\w+\(|plt\.subplots\(", script.read_text()), script.name


def test_every_code_is_explained(capsys):
    for check in CHECKS.values():
        text = explain(check.code.lower())
        head = f"{check.code}: {check.title}\n\nSeverity: {check.severity}. Source: {check.origin}.\n\n"
        assert text.startswith(head), check.code
        assert "\nWhat to do\n" in text
    cli.main(["explain"])
    assert len(capsys.readouterr().out.partition("\n\n")[0].splitlines()) == len(CHECKS)


def test_a_code_without_its_page_is_explained_by_the_table(monkeypatch):
    monkeypatch.setattr("outfold.cli.explaining._PAGES", ())
    text = explain("OF208")
    assert "\n\nSeverity: caution. Source: Tsamardinos et al. 2015, sect. 3.\n\n" in text
    assert text.endswith("Use `bbc`.")


def test_an_unknown_code_is_refused(capsys):
    assert cli.main(["explain", "OF999"]) != 0
    assert re.search(
        r"must be the code of a check, .*; got 'OF999'\. Did you mean OF\d{3} or ", capsys.readouterr().err
    )
