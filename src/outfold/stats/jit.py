"""Whether the compiled kernels may be used: numba is optional, and imported only when first needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
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
    """The compiled rank statistics, or None where numba is missing, unusable or disabled."""
    return None if _disabled else _load("lanes")


def is_there() -> bool:
    """Whether numba is installed and not disabled, without importing it."""
    return not _disabled and find_spec("numba") is not None


def saga() -> ModuleType | None:
    """The compiled solver of logistic regressions, or None likewise."""
    return None if _disabled else _load("saga")


@cache
def _load(name: str) -> ModuleType | None:
    try:
        return import_module(f"outfold.stats.{name}")
    except ImportError:
        return None
