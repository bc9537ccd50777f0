"""Every public name has a docstring that `help()` shows whole, and every example in a docstring runs.

The first test reads numpydoc sections: each parameter with its type, what a function returns, an example, the papers. The second
runs the examples of the public names as a user would: nothing is imported but what the example imports. The third runs the
examples of every module.
"""

from __future__ import annotations

import dataclasses
import doctest
import enum
import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path
from typing import Any, Literal, get_origin

import pytest

import outfold

MODULES = (
    "outfold",
    "outfold.adapters",
    "outfold.compare",
    "outfold.curves",
    "outfold.drop",
    "outfold.estimate",
    "outfold.exceptions",
    "outfold.fitting.sharing",
    "outfold.intervals",
    "outfold.learners",
    "outfold.metrics",
    "outfold.plot",
    "outfold.rank",
    "outfold.results",
    "outfold.select",
    "outfold.simulate",
    "outfold.stability",
    "outfold.tables",
)

# Users receive the classes of these modules, and rarely or never make one.
RECEIVED = ("outfold.results", "outfold.exceptions")
# Users receive these classes too.
RECEIVED_CLASSES = {
    "outfold.Predictions",
    "outfold.Splits",
    "outfold.State",
    "outfold.select.Candidates",
    *(f"outfold.tables.{name}" for name in ("Column", "Columns", "Dialect", "TableFile")),
}

# Codes of numpydoc.validate: no docstring; a section that has no such name; no summary; a parameter that is missing, unknown, in
# another order, without type or without description; no Returns section.
CODES = {"GL06", "GL08", "SS01", "PR01", "PR02", "PR03", "PR04", "PR07", "PR10", "RT01", "YD01"}

# Libraries that a user may not have; an example that imports one of them is skipped without it.
OPTIONAL = {"matplotlib", "numba", "optuna", "pandas", "polars", "pyarrow", "skops", "lightgbm", "xgboost"}


def public_names() -> dict[str, object]:
    """Every function and class that a user can import, by its public name."""
    found: dict[str, object] = {}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", None) or [n for n, v in vars(module).items() if inspect.isclass(v)]:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isroutine(value):
                found[f"{module_name}.{name}"] = value
    return {name: value for name, value in found.items() if not name.rpartition(".")[2].startswith("_")}


PUBLIC = public_names()


def is_received(name: str) -> bool:
    return name in RECEIVED_CLASSES or name.startswith(tuple(f"{module}." for module in RECEIVED))


def problems(name: str) -> list[str]:
    """What is missing in the docstring of a public name."""
    from numpydoc.docscrape import get_doc_object
    from numpydoc.validate import validate

    value = PUBLIC[name]
    doc = get_doc_object(value)
    codes = set(CODES)
    found = []
    if inspect.isclass(value):
        if is_received(name) or not signature_is_its_own(value):
            codes -= {"PR01", "PR02", "PR03"}
        if is_received(name) and signature_is_its_own(value):
            found += undocumented_fields(value, doc)
    found += [f"{code}: {text}" for code, text in validate(doc)["errors"] if code in codes]
    if inspect.isroutine(value):
        # numpydoc puts the type of an unnamed result into `type`; a name without type has none.
        found += [f"the result {part.name!r} has no type" for part in doc["Returns"] if not part.type.strip()]
    examples = "\n".join(doc["Examples"])
    needs_example = inspect.isroutine(value) or not is_received(name)
    if needs_example and not inspect.isabstract(value) and ">>>" not in examples:
        found.append("no Examples section with >>>")
    text = inspect.getdoc(value) or ""
    prose = text.replace(examples, "")
    if re.search(r"[A-Z]\w+\W.{0,40}\b(19|20)\d\d\b", prose) and not doc["References"]:
        found.append("names a paper by its year, and has no References section")
    if re.search(r"^ *(\w+: )?\{\w+(, \w+)*\}$", text, re.M):
        found.append("has a placeholder that nothing filled")
    if re.search(r"\b[Aa]s for `", text):
        found.append("refers to another docstring with 'as for `'")
    return found


def signature_is_its_own(value: type) -> bool:
    """Whether the class defines what it is made from, instead of inheriting it."""
    return not issubclass(value, enum.Enum) and bool({"__init__", "__new__"} & set(vars(value)))


def undocumented_fields(value: type, doc: Any) -> list[str]:
    """Public fields of a class that are neither under Parameters nor under Attributes with a type."""
    if dataclasses.is_dataclass(value):
        fields = [field.name for field in dataclasses.fields(value) if not field.name.startswith("_")]
    elif hasattr(value, "_fields"):
        fields = list(value._fields)
    else:
        fields = [name for name in inspect.signature(value).parameters if not name.startswith("_")]
    documented = {
        name.strip(): part.type
        for section in ("Parameters", "Attributes")
        for part in doc[section]
        for name in part.name.split(",")
    }
    missing = [f"the field {field!r} is not documented" for field in fields if field not in documented]
    return missing + [
        f"the field {field!r} has no type" for field in fields if field in documented and not documented[field]
    ]


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_docstring_is_complete(name):
    pytest.importorskip("numpydoc", reason="numpydoc reads the docstrings")
    found = problems(name)
    assert not found, "\n".join([name, *found])


# -- examples -----------------------------------------------------------------------------------------------


def names_of_the_api_page() -> list[str]:
    """Every function, class and rule that docs/api.md lists, such as outfold.compare.auto."""
    text = (Path(__file__).parents[1] / "docs" / "api.md").read_text()
    sections = re.findall(r"^## (outfold[\w.]*)\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    names = [f"{module}.{name}" for module, table in sections for name in re.findall(r"^\| `(\w+)` \|", table, re.M)]
    return [name for name in names if not inspect.ismodule(listed(name)) and get_origin(listed(name)) is not Literal]


def listed(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def test_every_name_of_the_api_page_has_an_example():
    names = names_of_the_api_page()
    assert {"outfold.collect", "outfold.results.Estimate", "outfold.tables.read_file"} <= set(names)
    examples = {
        name: re.split(r"^Examples\n-+\n", inspect.getdoc(listed(name)) or "", flags=re.M)[1:] for name in names
    }
    without = [name for name, parts in examples.items() if ">>> " not in "".join(parts)]
    assert not without, f"no Examples section with >>>: {', '.join(without)}"


class Runner(doctest.DocTestRunner):
    """Runs examples; one that imports an optional library that is missing is skipped."""

    def report_unexpected_exception(self, out, test, example, exc_info):
        error = exc_info[1]
        while error is not None:
            if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in OPTIONAL:
                pytest.skip(f"the example needs {error.name}")
            error = error.__cause__ or error.__context__
        super().report_unexpected_exception(out, test, example, exc_info)


def run(test: doctest.DocTest) -> None:
    printed: list[str] = []
    runner = Runner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    failed = runner.run(test, out=printed.append).failed
    if "matplotlib.pyplot" in sys.modules:  # the pictures of the examples
        sys.modules["matplotlib.pyplot"].close("all")
    assert not failed, "".join(printed)


@pytest.mark.parametrize("name", [name for name, value in sorted(PUBLIC.items()) if ">>>" in (value.__doc__ or "")])
def test_examples_run_with_their_own_imports(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = inspect.getdoc(PUBLIC[name])
    run(doctest.DocTestParser().get_doctest(text, {"__name__": "example"}, name, None, None))


def module_names() -> list[str]:
    found = pkgutil.walk_packages(outfold.__path__, "outfold.")
    return ["outfold", *(item.name for item in found if not item.name.endswith("__main__"))]


@pytest.mark.parametrize("name", module_names())
def test_examples_of_every_module(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        if (error.name or "").partition(".")[0] in OPTIONAL:
            pytest.skip(f"the module needs {error.name}")
        raise
    for test in doctest.DocTestFinder().find(module):
        if test.examples:
            run(test)
