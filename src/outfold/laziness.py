"""Names of a package that are imported when they are first used (PEP 562), so that a process loads only what it needs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, later: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package; `later` lists the names of each of its modules.

    >>> from outfold.laziness import lazy_names
    >>> lazy, _ = lazy_names("outfold.stats", {"pvalues": "Tails"})
    >>> lazy("Tails").__module__
    'outfold.stats.pvalues'
    """
    sources = {name: module for module, names in later.items() for name in names.split()}

    def find(name: str) -> Any:
        if name not in sources:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f".{sources[name]}", package), name)
        setattr(sys.modules[package], name, found)  # it is asked for once
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *sources})

    return find, names
