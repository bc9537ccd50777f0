"""The command that explains a check, an error or what a method needs: it prints a page, without a browser or a network."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from .. import compare, estimate, select, stability
from ..checks.checking import CHECKS, Check
from ..exceptions import NeedError, OutfoldError, got, invalid
from ..requirements import DECLARED
from .options import add_command, add_option

_EXPLAIN = """\
examples:
  outfold explain OF301     # a code
  outfold explain stores    # the page that an error names
  outfold explain nested    # what an estimate or a test needs
  outfold explain --list    # all codes, pages of errors, and methods"""
# A wheel carries the pages; in a copy of the repository they are where they are written.
_PAGES = (Path(__file__).parent / "pages", Path(__file__).parents[3] / "docs")


def add_explain(commands: Any) -> None:
    """Add the command."""
    what = "say what a code such as OF301 or an error means, and what to do"
    parser = add_command(commands, "explain", _explain, what, _EXPLAIN)
    add_option(parser, "name", nargs="?", metavar="NAME", help="a code, the page or class of an error, or a method")
    parser.add_argument("--list", action="store_true", help="list all names, as without NAME")


def _explain(args: argparse.Namespace) -> None:
    if args.name is not None and not args.list:
        print(explain(args.name))
        return
    print("\n".join(f"{check.code}  {check.severity:7}  {check.title}" for check in CHECKS.values()))
    pages = {name: path.read_text("utf-8").partition("\n")[0].partition(": ")[2] for name, path in _errors().items()}
    width = max(map(len, pages), default=0)
    print("\nerrors")
    print("\n".join(f"{name:<{width}}  {title}" for name, title in pages.items()))
    print("\nmethods that need something")
    print(", ".join(sorted(_methods())))


def explain(name: str) -> str:
    """The page of a check, of an error by its name or class, or of a method's needs, as plain text."""
    check = CHECKS.get(name.upper())
    if check is not None:
        page = _page("checks", check.code)
        return _short(check) if page is None else _plain(page.read_text("utf-8"))
    errors, methods = _errors(), _methods()
    classes = {kind.__name__: kind.page for kind in _kinds(OutfoldError)}
    known = {word.lower(): word for word in (*CHECKS, *errors, *methods, *classes)}
    last = name.rpartition(".")[2]  # a traceback prints the module too
    asked = known.get(last.lower(), last)
    page = classes.get(asked, asked)
    if page in errors:
        return _plain(errors[page].read_text("utf-8"))
    if asked in methods:
        return _needs(asked)
    near = [known[word] for word in get_close_matches(last.lower(), known, n=3, cutoff=0.6)]
    needed = "must be the code of a check, the page or class of an error, or a method that needs something"
    meant = f"Did you mean {' or '.join(near)}? " if near else ""
    raise invalid("name", needed, got(name), f"{meant}`outfold explain --list` lists all.")


def _errors() -> dict[str, Path]:
    """The pages of errors by name."""
    return {path.stem: path for folder in _PAGES for path in sorted((folder / "errors").glob("*.md"))}


def _page(folder: str, name: str) -> Path | None:
    paths = (pages / folder / f"{name}.md" for pages in _PAGES)
    return next((path for path in paths if path.is_file()), None)


def _kinds(kind: type[OutfoldError]) -> Iterator[type[OutfoldError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)


def _methods() -> list[str]:
    """The methods that declare what they need."""
    for module in (compare, estimate, select, stability):
        for name in module.__all__:
            getattr(module, name)  # which is loaded, and declares, when it is asked for
    return [name for name, requirements in DECLARED.items() if requirements]


def _needs(method: str) -> str:
    needs = [f"- {requirement.words}. {requirement.remedy}".rstrip() for requirement in DECLARED[method]]
    return "\n".join([f"{method}: what it needs", "", *needs, "", f"outfold explain {NeedError.page} says more"])


def _short(check: Check) -> str:
    head = f"Severity: {check.severity}. Source: {check.origin}."
    return f"{check.code}: {check.title}\n\n{head}\n\nWhat to do\n\n{check.advice}"


def _plain(page: str) -> str:
    """Markdown without headings, bold text and addresses of links."""
    page = re.sub(r"^#+ |\*\*", "", page, flags=re.M)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", page).rstrip()
