"""Everything that can go wrong, as one tree.

::

    OutfoldError
    ├── InputError (ValueError)     an argument, a label or a prediction that cannot be used
    │   ├── NeedError               the method needs another plan, response, block or more cells
    │   ├── InputTypeError (TypeError)  X or a parameter is of a type that no configuration takes
    │   └── NoEstimateError (AttributeError)  a search has no corrected estimate
    ├── FileError (OSError)         an .oof, .csv or .parquet file that cannot be read or written
    │   └── StoreMismatchError      the store belongs to other data, labels, plan or configurations
    └── CollectError (RuntimeError) no configuration could be fitted
        └── FitFailedError          one fit failed that had to succeed

Each leads to a page that says what errors of its kind mean and what to do: ``outfold explain stores`` prints
``docs/errors/stores.md``.
An error carries its parts, so that the library and the command line can each put them into their own words. Text between
backticks in any part is code of the library, such as ```inner=True``` or ```n_jobs```; a front end may put its own word there.

>>> error = InputError(argument="n_jobs", needed="must not be 0", given="got 0", remedy="Use `n_jobs=-1` for all cores.")
>>> str(error)
'n_jobs must not be 0; got 0. Use n_jobs=-1 for all cores.'
>>> error.in_words({"n_jobs": "--jobs", "n_jobs=-1": "--jobs -1"}.get)
'--jobs must not be 0; got 0. Use --jobs -1 for all cores.'
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

__all__ = [
    "CollectError",
    "FileError",
    "FitFailedError",
    "InputError",
    "NeedError",
    "OutfoldError",
    "StoreMismatchError",
]

_CODE = re.compile(r"`([^`]+)`")

# Errors of one class have many subjects. Where a package has a page of its own for them, its errors lead there instead.
_PAGES = {
    "arguments": {
        "adapters": "predictions",
        "apps.clusters": "clusters",
        "apps.rare_classes": "tables",
        "apps.table": "tables",
        "cli.using": "models",
        "data": "predictions",
        "data.plan": "plans",
        "data.splitting": "plans",
        "fitting": "collecting",
        "fitting.ray_cluster": "clusters",
        "io": "predictions",
        **dict.fromkeys(("io.database", "io.file_errors", "io.store"), "stores"),
        "models": "models",
        "search": "searches",
        "tables": "tables",
    },
    "files": {
        "apps.folder": "stores",
        "cli.using": "models",
        **dict.fromkeys(("io.database", "io.file_errors", "io.guard", "io.store"), "stores"),
        "models": "models",
        "tables": "tables",
    },
    "fits": dict.fromkeys(("fitting.cluster", "fitting.dask_cluster", "fitting.ray_cluster"), "clusters"),
}


class OutfoldError(Exception):
    """The root of all errors raised on purpose by this package.

    Parameters
    ----------
    problem : str
        What is wrong, as one sentence, where the parts below do not fit.
    argument : str or None
        The argument or method that is concerned; the subject of `needed`.
    needed : str
        What it must be or needs, as a verb phrase: ``"must be a whole number from 1"``.
    given : str
        What it is instead, as a clause: ``"got 'ten'"``, ``"these predictions are 3 x 10-fold"``.
    remedy : str
        What to do, as one or more sentences.
    page : str
        What ``outfold explain`` has to be asked for; empty for the page of the package that raises, or of the class.
    """

    page = "arguments"

    def __init__(
        self,
        problem: str = "",
        *,
        argument: str | None = None,
        needed: str = "",
        given: str = "",
        remedy: str = "",
        page: str = "",
    ) -> None:
        self.problem, self.argument, self.needed, self.given, self.remedy = problem, argument, needed, given, remedy
        self.page = page or _page_here(type(self).page)
        super().__init__(self.in_words())
        self.add_note(self.hint)  # a copy, or the same error in another process, gets the notes of this one instead

    def __str__(self) -> str:
        return self.in_words()  # whoever catches the error may put another remedy

    @property
    def hint(self) -> str:
        """What shows the page."""
        return f"outfold explain {self.page} says more"

    def in_words(self, word: Callable[[str], str | None] = str) -> str:
        """The error as text; `word` gives what to say for a piece of the library's code, or None to leave it."""
        subject = f"`{self.argument}` " if self.argument else ""
        clauses = [f"{subject}{self.needed}".strip(), self.given]
        first = self.problem or "; ".join(clause for clause in clauses if clause)
        if first and self.remedy and first[-1] not in ".!?:":
            first += "."
        text = " ".join(part for part in (first, self.remedy) if part)
        if not self.problem and text and text[-1] not in ".!?:":
            text += "."
        return _CODE.sub(lambda found: word(found[1]) or found[1], text)


def _page_here(of_class: str) -> str:
    """The page of the package that makes the error, or that of the class."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    module, of_packages = str(frame.f_globals.get("__name__")), _PAGES.get(of_class, {})
    found = [package for package in of_packages if f"{module}.".startswith(f"outfold.{package}.")]
    return of_packages[max(found, key=len)] if found else of_class


def got(value: Any) -> str:
    """The clause on a value that was given: ``got 'ten'``."""
    return "got " + repr(value).replace("`", "'")


class InputError(OutfoldError, ValueError):
    """An argument, a label or a prediction that cannot be used as given."""


def invalid(argument: str | None, needed: str, given: str = "", remedy: str = "", page: str = "") -> InputError:
    """The error on one argument, to be raised: ``raise invalid("n_jobs", "must not be 0", got(n_jobs))``."""
    return InputError(argument=argument, needed=needed, given=given, remedy=remedy, page=page)


class NeedError(InputError):
    """A method was asked of predictions that lack what the method needs."""

    page = "needs"


class InputTypeError(InputError, TypeError):
    """All fits failed with a TypeError: X or a parameter is of a type that no configuration takes."""

    page = "fits"


class NoEstimateError(InputError, AttributeError):
    """There is no estimate of a search; `hasattr`, `dir` and scikit-learn's diagram then take it for absent."""

    page = "searches"


class FileError(OutfoldError, OSError):
    """A file that cannot be read or written."""

    page = "files"


class StoreMismatchError(FileError):
    """The store was filled from other data, labels, plan or configurations."""

    page = "stores"


class CollectError(OutfoldError, RuntimeError):
    """No configuration could be fitted, or one could not that had to be; `reasons` counts why, where all fits failed."""

    page = "fits"
    reasons: Mapping[str, int] = MappingProxyType({})


class FitFailedError(CollectError):
    """A fit failed that had to succeed; its exception is the cause."""
