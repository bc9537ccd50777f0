"""Libraries that users may leave out, for tests: a test that uses one is skipped where it is not installed.

``from extras import pd, pl`` instead of importing pandas and polars: a test is skipped when it first uses the library, so the
other tests of the file run without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


class _Extra:
    """A module that is imported when a test first uses it."""

    def __init__(self, module: str, extra: str) -> None:
        self._module, self._reason = module, f"{module.partition('.')[0]} is not installed ({extra})"

    def __getattr__(self, name: str) -> Any:
        return getattr(pytest.importorskip(self._module, reason=self._reason), name)


pd = _Extra("pandas", "outfold[frames]")
pl = _Extra("polars", "group test")
mpl = _Extra("matplotlib", "outfold[plot]")
plt = _Extra("matplotlib.pyplot", "outfold[plot]")


@contextmanager
def without_numba() -> Iterator[None]:
    """Within this context every kernel takes its numpy path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("outfold.stats.compiling.load", lambda name: None)
        patch.setattr("outfold.stats.compiling.has_numba", lambda: False)
        yield
