"""The documentation says what the code does: names, codes, metrics."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import outfold
from internals import CHECKS, TESTS, in_words
from outfold import estimate, metrics

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def names_under(heading: str) -> set[str]:
    text = (DOCS / "api.md").read_text()
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.M | re.S).group(1)
    return set(re.findall(r"^\| `(\w+)`", section, re.M))


@pytest.mark.parametrize(
    "module",
    [
        "adapters",
        "compare",
        "curves",
        "drop",
        "estimate",
        "intervals",
        "select",
        "metrics",
        "plot",
        "rank",
        "simulate",
        "stability",
    ],
)
def test_api_page_equals_the_public_names_of_modules(module):
    assert names_under(f"outfold.{module}") == set(getattr(outfold, module).__all__)


def test_api_page_equals_the_public_names_of_learners():
    from outfold import learners

    assert names_under("outfold.learners") == set(learners.__all__)
    assert all(getattr(learners, name).__doc__ for name in learners.__all__)


def test_api_page_equals_the_public_names():
    assert names_under("outfold") == set(outfold.__all__)
    assert all(hasattr(outfold, name) for name in outfold.__all__)


def test_no_page_keeps_both_sides_of_a_merge():
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    assert [page for page in pages if re.search(r"^(<{7}|>{7}) ", page.read_text(), re.M)] == []


def test_every_public_name_has_a_docstring():
    for name in outfold.__all__:
        assert getattr(outfold, name).__doc__, name
    for module in (
        outfold.adapters,
        outfold.compare,
        outfold.curves,
        outfold.drop,
        outfold.estimate,
        outfold.intervals,
        outfold.select,
        outfold.metrics,
        outfold.plot,
        outfold.rank,
        outfold.simulate,
        outfold.stability,
    ):
        for name in module.__all__:
            assert getattr(module, name).__doc__, f"{module.__name__}.{name}"


def test_needs_stand_on_the_api_page():
    text = (DOCS / "api.md").read_text()
    for name in estimate.__all__:
        line = next(line for line in text.splitlines() if line.startswith(f"| `{name}` |"))
        assert line.endswith(f"| {in_words(getattr(estimate, name).requirements)} |"), name


def test_needs_of_tests_stand_on_the_api_page():
    section = (DOCS / "api.md").read_text().partition("## outfold.compare\n")[2].partition("\n## ")[0]
    assert set(TESTS) <= set(outfold.compare.__all__)
    for test in TESTS.values():
        line = next(line for line in section.splitlines() if line.startswith(f"| `{test.name}` |"))
        assert line.endswith(f"| {in_words(test.requirements)} |"), test.name


def test_every_code_in_use_is_a_check():
    used = {code for path in (ROOT / "src").rglob("*.py") for code in re.findall(r'"(OF\d{3})"', path.read_text())}
    # Only files of version 0.1 have this one.
    assert used | {"OF101"} == set(CHECKS)


def what_it_says(check):
    """The first paragraph of the check's page, below its heading."""
    head = f"# {check.code}: {check.title}\n\nSeverity: **{check.severity}**. Source: {check.origin}.\n\n"
    text = (DOCS / check.page).read_text()
    assert text.startswith(head), check.code
    return text.removeprefix(head).partition("\n\n## ")[0]


def test_the_table_of_checks_is_that_of_the_registry_and_the_pages():
    rows = [f"| [{c.code}]({c.page}) | {c.severity} | {what_it_says(c)} | {c.advice} |" for c in CHECKS.values()]
    table = "\n".join(["| code | severity | what it says | what to do |", "| --- | --- | --- | --- |", *rows])
    assert (DOCS / "checks.md").read_text().endswith(f"\n\n{table}\n")


def test_every_check_has_a_page_with_its_own_words():
    assert {path.stem for path in (DOCS / "checks").iterdir()} == set(CHECKS)
    for check in CHECKS.values():
        text = (DOCS / check.page).read_text()
        assert re.fullmatch(r"[A-Z][^\n]+\.", what_it_says(check)), check.code
        assert "## What to do\n\n" in text, check.code
        for linked in re.findall(r"\]\((.*?)\)", text):
            assert (DOCS / "checks" / linked).is_file(), (check.code, linked)


def test_every_check_of_check_has_a_test_file():
    tests = {path.stem.removeprefix("test_").upper() for path in (ROOT / "tests" / "checks").glob("test_of*.py")}
    assert {check.code for check in CHECKS.values() if check.find is not None} <= tests <= set(CHECKS)


@pytest.mark.parametrize("page", ["checks.md", *(c.page for c in CHECKS.values() if c.code >= "OF5")])
def test_sessions_of_the_checks_print_what_stands_below_them(page, capsys):
    (session,) = re.findall(r"^```python\n([^`]*)^```\n```\n(.*?)^```", (DOCS / page).read_text(), re.M | re.S)
    exec(compile(session[0], page, "exec"), {})
    assert capsys.readouterr().out == session[1]


def test_every_metric_stands_on_its_page():
    text = (DOCS / "methods" / "metrics.md").read_text()
    for name in metrics.names():
        assert re.search(rf"^\| `{name}` \| .*{re.escape(metrics.get(name).description)}", text, re.M), name


def test_scorers_of_scikit_learn_stand_on_the_page_of_metrics():
    from sklearn.metrics import get_scorer_names

    text = (DOCS / "methods" / "metrics.md").read_text()
    section = text[text.index("### scikit-learn's scorers") :].partition("\n## ")[0]
    looped = {name for name in get_scorer_names() if metrics.get(name).looped}
    in_a_loop = [
        line for line in section.splitlines() if line.endswith("|") and ("a loop" in line or "several" in line)
    ]
    assert looped == set(re.findall(r"`(\w+)`", " ".join(in_a_loop)))
    for name in get_scorer_names():
        stem = re.sub(r"_(macro|weighted|micro|ovr|ovo|ovr_weighted|ovo_weighted)$", "", name)
        assert f"`{name}`" in section or f"`{stem}`" in section, name


def test_recipes_run_as_they_stand(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pandas", reason="the recipes make frames")
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "recipes.md").read_text()
    scope: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        exec(compile(block, "recipes.md", "exec"), scope)
    printed = capsys.readouterr().out
    assert "the whole search" in printed
    assert "cannot be told from the best" in printed


def test_sessions_of_the_stability_page_print_what_stands_below_them(capsys):
    sessions = re.findall(r"^```python\n([^`]*)^```\n```\n([^`]*)^```", (DOCS / "stability.md").read_text(), re.M)
    scope: dict[str, object] = {}
    for code, printed in sessions:
        exec(compile(code, "stability.md", "exec"), scope)
        assert capsys.readouterr().out == printed
    assert sessions


def test_sessions_of_the_dropping_page_print_what_stands_below_them(capsys):
    sessions = re.findall(r"^```python\n([^`]*)^```\n```\n([^`]*)^```", (DOCS / "dropping.md").read_text(), re.M)
    assert sessions
    for code, printed in sessions:
        scope: dict[str, object] = {}
        exec(compile(code, "dropping.md", "exec"), scope)
        assert capsys.readouterr().out == printed
        assert len(scope["oof"].state) * 10 == 130, "the fits that the page counts"


def test_sessions_of_the_sharing_page_print_what_stands_below_them(capsys, monkeypatch):
    from internals import families

    monkeypatch.setattr(families, "_registered", [])
    text = (DOCS / "sharing.md").read_text()
    sessions = re.findall(r"^```python\n([^`]*)^```\n```\n([^`]*)^```", text, re.M)
    assert len(sessions) == 2
    for code, printed in sessions:
        scope: dict[str, object] = {"__name__": "sharing_page"}
        exec(compile(code, "sharing.md", "exec"), scope)
        assert capsys.readouterr().out == printed
        assert scope["oof"].completeness == 1.0
        shared = scope["oof"].provenance["sharing"]
        assert shared["families"] or shared["steps_done"] < shared["steps"]


def test_the_glossary_has_the_words_of_the_architecture_page():
    words = (ROOT / "ARCHITECTURE.md").read_text().partition("\n## Words\n")[2]
    glossary = re.sub(r"<a [^>]*></a>", "", (DOCS / "glossary.md").read_text())
    explained = {word.strip() for cell in re.findall(r"^\| ([^|]+) \|", glossary, re.M) for word in cell.split(",")}
    for cell in re.findall(r"^\| ([^|]+) \|", words, re.M)[2:]:
        assert {word.strip() for word in cell.split(",")} <= explained, cell


def test_links_to_the_glossary_lead_to_a_word():
    anchors = re.findall(r'<a id="([^"]+)"></a>', (DOCS / "glossary.md").read_text())
    assert len(set(anchors)) == len(anchors)
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    linked = {name for page in pages for name in re.findall(r"glossary\.md#([\w-]+)\)", page.read_text())}
    assert {"optimism", "draw", "in-bag", "pooled", "type-one-error"} <= linked <= set(anchors)


PAGES_AT_THE_ROOT = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]


@pytest.mark.parametrize("page", PAGES_AT_THE_ROOT)
def test_links_of_the_pages_at_the_root_lead_somewhere(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)", (ROOT / page).read_text()):
        assert (ROOT / target).exists(), target


def test_layers_of_the_architecture_page_are_those_of_the_contract():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    layers = [set(re.findall(r"outfold\.(\w+)", layer)) for layer in contract["layers"]]
    rows = re.findall(r"^\| \d\. [^|]+\| ([^|]+) \|", (ROOT / "ARCHITECTURE.md").read_text(), re.M)
    assert [{name for name in re.findall(r"`([\w.]+)`", row) if "." not in name} for row in rows] == layers


def test_every_file_states_the_same_version():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert outfold.__version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()


def test_speed_of_a_search_is_what_was_measured():
    measured = json.loads((ROOT / "benchmarks" / "results" / "search.json").read_text())
    page = (ROOT / "docs" / "speed.md").read_text()
    rows = {
        "236 configurations of Tsamardinos et al. (2015), 100 samples": "236 configurations (2015), 100 samples",
        "the same, 500 samples": "236 configurations (2015), 500 samples",
        "610 configurations of Tsamardinos et al. (2018), 200 samples": "610 configurations (2018), 200 samples",
        "k-NN, k = 1 to 50, two kinds of weights": "k-NN 1..50 x 2 weights",
        "decision tree, 14 x 14 sizes of leaves and nodes": "tree 14 x 14",
        "ridge, 50 penalties": "ridge, 50 alpha",
        "lasso, 50 penalties": "lasso, 50 alpha",
        "logistic regression, 20 penalties": "logistic L2, 20 C",
        "gradient boosting, 20 numbers of stages": "boosting, 20 stages",
        "SVC, 5 x 5, which shares no fit": "SVC 5 C x 5 gamma",
        "100 unrelated light pipelines, 100 samples": "100 unrelated light pipelines",
        "one heavy model, nothing to share": "one heavy model",
    }
    for title, row in rows.items():
        seconds = measured[row]["seconds"]
        theirs = seconds["GridSearchCV"]
        levels = ("exact", "close", "exact, dropping", "close, dropping")
        ratios = [theirs / seconds[level] if level in seconds else None for level in levels]
        cells = [
            "" if ratio is None else f"{float(f'{ratio:.2g}'):{'.0f' if ratio >= 9.95 else '.1f'}}x" for ratio in ratios
        ]
        line = next(line for line in page.splitlines() if line.startswith(f"| {title} |"))
        assert [cell.strip() for cell in line.split("|")[2:7]] == [f"{theirs:.1f}", *cells]
    for row, level, goal in (
        ("k-NN 1..50 x 2 weights", "exact", 40),
        ("tree 14 x 14", "close", 20),
        ("610 configurations (2018), 200 samples", "exact, dropping", 10),
    ):
        seconds = measured[row]["seconds"]
        assert seconds["GridSearchCV"] / seconds[level] < goal, f"{row}: the page says that {goal}x is not reached"


def test_the_page_of_clusters_has_the_numbers_that_were_measured():
    rows = json.loads((ROOT / "benchmarks" / "results" / "clusters.json").read_text())
    text = (DOCS / "clusters.md").read_text()
    for name in ("joblib alone", "packages", "packages again"):
        row = f"| {rows[name]['bytes'] / 1e6:,.1f} MB | {rows[name]['times_X']:.1f} |"
        assert row in text, (name, row)
    for name, unit in (("driver_cpu_us_per_cell", "µs"), ("bytes_per_cell", "bytes"), ("memory_per_cell", "bytes")):
        assert f"| {rows['driver'][name]:,.0f} {unit} |" in text, name
