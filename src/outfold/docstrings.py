"""Parameter texts that several functions share: written once, and filled into the docstring of each function."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_PLACEHOLDER = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)

# Texts of parameters that mean the same in the whole package.
COMMON = {
    "rng": (
        "rng : int, Generator, SeedSequence or None\n"
        "    Seed of the draws. The same int gives the same result; None draws a new seed."
    ),
    "n_resamples": "n_resamples : int\n    Number of random draws.",
}


def fill_docstring(function: F, texts: Mapping[str, str]) -> F:
    """Replace each line of the docstring that is a name in braces by the text of that name.

    >>> def rows(n):
    ...     '''Some rows.
    ...
    ...     {n}
    ...     '''
    >>> print(fill_docstring(rows, {"n": "n : int\\n    Number of rows."}).__doc__)
    Some rows.
    <BLANKLINE>
        n : int
            Number of rows.
    <BLANKLINE>
    """
    if function.__doc__ is not None:  # None under python -OO
        every = {**COMMON, **texts}
        function.__doc__ = _PLACEHOLDER.sub(lambda at: textwrap.indent(every[at[2]], at[1]), function.__doc__)
    return function


def fill_with(texts: Mapping[str, str]) -> Callable[[F], F]:
    """A decorator that fills docstrings with these texts."""

    def decorate(function: F) -> F:
        return fill_docstring(function, texts)

    return decorate
