"""Errors lead to pages, which quote real messages; page and note stay with an error wherever it goes."""

from __future__ import annotations

import ast
import contextlib
import copy
import pickle
import re
import traceback
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import outfold as of
from internals import CHECKS, cli
from outfold import exceptions
from outfold.cli.explaining import _methods, explain
from outfold.exceptions import FileError, InputError, NeedError, OutfoldError, invalid

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PAGES = {path.stem: path for path in sorted((ROOT / "docs" / "errors").glob("*.md"))}
KINDS = [kind for kind in vars(exceptions).values() if isinstance(kind, type) and issubclass(kind, OutfoldError)]
# Libraries beyond the base that the examples of a page use.
EXTRAS = {
    "extras": ["pandas"],
    "files": ["pandas"],
    "models": ["skops", "pandas"],
    "tables": ["pandas"],
    "clusters": ["pandas"],
}


def named_pages() -> set[str]:
    """The pages that the code names: as an argument, of a class, or of a package."""
    named = {page for of_packages in exceptions._PAGES.values() for page in of_packages.values()}
    for path in SOURCES:
        named |= set(re.findall(r'\bpage="(\w+)"', path.read_text()))
    return named | {kind.page for kind in KINDS}


def texts() -> str:
    """All texts of the code without backticks; what is filled in later is left out."""
    found = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
            elif isinstance(node, ast.JoinedStr):
                found.append("".join(v.value if isinstance(v, ast.Constant) else "\0" for v in node.values))
    return "\n".join(found).replace("`", "")


# -- pages ----------------------------------------------------------------------------------------------


def test_the_pages_are_those_that_errors_lead_to():
    assert named_pages() == set(PAGES)


def test_packages_with_a_page_exist():
    for package in {package for of_packages in exceptions._PAGES.values() for package in of_packages}:
        path = ROOT / "src" / "outfold" / package.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), package


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_class_leads_to_a_page(kind):
    assert kind("x").page == kind.page
    assert explain(kind.__name__) == explain(kind.page) == explain(f"outfold.exceptions.{kind.__name__}")
    if kind is not OutfoldError:
        assert kind.__name__ in PAGES[kind.page].read_text().partition("\n\n## ")[0]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_all_parts(name):
    text = PAGES[name].read_text()
    head = re.match(rf"# {name}: [^\n]+\n\n\*\*(\w+(?:, \w+)*)\*\*\n\n[A-Z`]", text)
    assert head is not None
    assert set(head[1].split(", ")) <= {kind.__name__ for kind in KINDS}
    assert re.findall(r"^## (.*)", text, re.M) == ["Messages", "What to do", "Example"]


def test_the_table_of_errors_is_that_of_the_pages():
    rows = []
    for name, path in PAGES.items():
        title, kinds = re.match(r"# \w+: (.*)\n\n\*\*(.*)\*\*\n", path.read_text()).groups()
        rows.append(
            f"| [{name}](errors/{name}.md) | {title} | {', '.join(f'`{kind}`' for kind in kinds.split(', '))} |"
        )
    assert (ROOT / "docs" / "errors.md").read_text().endswith("| --- | --- | --- |\n" + "\n".join(rows) + "\n")


def test_messages_on_the_pages_are_those_of_the_code():
    said = texts()
    for name, path in PAGES.items():
        listed = path.read_text().partition("## Messages\n")[2].partition("\n## ")[0]
        items = re.findall(r"^- ((?:`[^`]+`(?:, )?)+):", listed, re.M)
        assert len(items) == len(re.findall(r"^- ", listed, re.M)) >= 4, name
        for message in re.findall(r"`([^`]+)`", " ".join(items)):
            for part in re.split(r"\.\.\.|; ", message):
                part = part.strip(" .,:?()'")
                # An error joins its argument, or "needs", with the rest.
                assert part in said or part.partition(" ")[2] in said, (name, message)


@pytest.mark.parametrize("name", PAGES)
def test_examples_print_what_stands_below_them(name, tmp_path, monkeypatch, capsys):
    for package in EXTRAS.get(name, ()):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    (session,) = re.findall(r"^```python\n([^`]*)^```\n```\n(.*?)^```", PAGES[name].read_text(), re.M | re.S)
    exec(compile(session[0], name, "exec"), {"__name__": "page"})
    assert capsys.readouterr().out == session[1]


# -- the command ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [["explain"], ["explain", "--list"]])
def test_all_names_are_listed(asked, capsys):
    assert cli.main(asked) == 0
    words = set(re.findall(r"\w+", capsys.readouterr().out))
    assert {*CHECKS, *PAGES, *_methods()} <= words


def test_what_a_method_needs_is_explained():
    assert {"nested", "mcnemar"} <= set(_methods())
    assert explain("nested").startswith("nested: what it needs\n\n- the block `inner`")


@pytest.mark.parametrize(
    ("name", "near"),
    [("store", "stores"), ("StoreMissmatch", "StoreMismatchError"), ("nestd", "nested"), ("OF3011", "OF301")],
)
def test_an_unknown_name_gets_the_nearest(name, near):
    with pytest.raises(InputError, match=rf"got '{name}'\. Did you mean .*\b{near}\b.*--list"):
        explain(name)


def test_a_name_like_no_other_gets_the_list():
    with pytest.raises(InputError, match=r"got '12345'\. outfold explain --list lists all") as error:
        explain("12345")
    assert "Did you mean" not in str(error.value)


def test_without_pages_there_is_still_a_list(monkeypatch, capsys):
    monkeypatch.setattr("outfold.cli.explaining._PAGES", ())
    assert cli.main(["explain"]) == 0
    assert "OF301" in capsys.readouterr().out


def test_a_wheel_carries_the_pages_where_the_command_looks():
    import tomllib

    from outfold.cli import explaining

    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    included = build["targets"]["wheel"]["force-include"]
    inside = explaining._PAGES[0].relative_to(Path(of.__file__).parents[1])
    assert {source: Path(target) for source, target in included.items()} == {
        f"docs/{kind}": inside / kind for kind in ("checks", "errors")
    }


@pytest.mark.parametrize(
    ("arguments", "page", "code"),
    [
        (["show", "nowhere.oof"], "stores", 1),
        (["show", "nowhere.csv"], "files", 1),
        (["explain", "12345"], "arguments", 2),
        (["run", "nowhere.csv", "--target", "y"], "tables", 1),
        (["run", "nowhere.csv", "--target", "y", "--cluster", "here"], "clusters", 2),
    ],
)
def test_the_command_line_ends_with_the_hint(arguments, page, code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("outfold: ")
    assert err.endswith(f"\nnote: outfold explain {page} says more\n")
    assert err.count("says more") == 1
    assert explain(page)


def test_an_unmet_need_leads_to_the_needs_of_the_method(tmp_path, capsys):
    of.from_arrays(None, np.eye(6)[:, :2], response="pointwise").save(tmp_path / "a.oof")
    assert cli.main(["estimate", str(tmp_path / "a.oof"), "--method", "nested"]) == 2
    assert capsys.readouterr().err.endswith("\nnote: outfold explain nested says more\n")


# -- errors on their way ------------------------------------------------------------------------------------


def errors() -> list[OutfoldError]:
    made = [kind("what is wrong", remedy="Do this.") for kind in KINDS]
    parts = invalid("n_jobs", "must not be 0", "got 0", "Use `n_jobs=-1`.", page="collecting")
    return [
        *made,
        parts,
        FileError("no", page="extras"),
        NeedError(argument="nested", needed="needs more", page="nested"),
    ]


def said(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error))


@pytest.mark.parametrize("error", errors(), ids=lambda error: f"{type(error).__name__}-{error.page}")
@pytest.mark.parametrize(
    "again", [*(lambda e, p=p: pickle.loads(pickle.dumps(e, p)) for p in range(6)), copy.copy, copy.deepcopy]
)
def test_an_error_stays_what_it_is_when_it_is_pickled_or_copied(error, again):
    found = again(error)
    assert type(found) is type(error)
    assert vars(found) == vars(error)
    assert found.__notes__ == [f"outfold explain {error.page} says more"]
    assert (str(found), found.in_words(), said(found)) == (str(error), error.in_words(), said(error))


def fail_in_worker() -> None:
    raise FileError("there is no such thing.", remedy="Look elsewhere.", page="stores")


def test_an_error_of_a_worker_process_keeps_page_and_note():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        error = pool.submit(fail_in_worker).exception()
    assert isinstance(error, FileError)
    assert (error.page, error.remedy) == ("stores", "Look elsewhere.")
    assert error.__notes__ == ["outfold explain stores says more"]


def test_an_error_that_is_raised_again_has_one_note():
    error = InputError("what is wrong")
    for _ in range(3):
        try:
            try:
                raise error
            except InputError:
                raise
        except InputError as caught:
            with contextlib.suppress(InputError):
                raise caught from None
    assert error.__notes__ == [error.hint]
    assert said(error).count("says more") == 1


def test_an_error_made_from_another_keeps_the_page_and_has_one_note():
    from sklearn.tree import DecisionTreeClassifier

    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    search = of.SelectCV(DecisionTreeClassifier(), {"max_depth": [-1, -2]}, cv=2)
    with pytest.raises(InputError, match="All the 4 fits failed") as found:
        search.fit(X, y)
    assert found.value.page == "fits"
    assert found.value.__notes__ == ["outfold explain fits says more"]
