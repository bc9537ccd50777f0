"""`Predictions`, plans and splits, targets, fold scores and notes.

Some methods of `Predictions` are the work of modules that import it: it knows no metrics and no files itself. The package
`outfold`, which is above everything, registers who does the work; the function is imported when the method is first called.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

_PROVIDERS: dict[str, str] = {}


def register_methods(**providers: str) -> None:
    """Register the function that does the work of a method, as ``scores="outfold.metrics._cell_scores.cell_scores"``."""
    _PROVIDERS.update(providers)


def provider(method: str) -> Callable[..., Any]:
    """The function that does the work of this method."""
    module, _, name = _PROVIDERS[method].rpartition(".")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
