"""How loops are compiled; to be imported only where numba may be (see `jit`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function of arrays, into the cache where there is a directory for it. No operation is reordered or fused."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "boundscheck": False}
    try:
        return numba.njit(cache=True, **options)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # no directory to write the cache to
        return numba.njit(**options)(function)  # type: ignore[no-any-return]
