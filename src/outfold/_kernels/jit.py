"""Whether the compiled kernels may be used: numba is optional, and imported only when first needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import ModuleType

_disabled = 0


@contextmanager
def disabled() -> Iterator[None]:
    """Within this context every kernel takes its numpy path."""
    global _disabled
    _disabled += 1
    try:
        yield
    finally:
        _disabled -= 1


def lanes() -> ModuleType | None:
    """The module of compiled kernels, or None where numba is missing, unusable or disabled."""
    return None if _disabled else _load()


@cache
def _load() -> ModuleType | None:
    try:
        return import_module("outfold._kernels.lanes")
    except ImportError:
        return None
