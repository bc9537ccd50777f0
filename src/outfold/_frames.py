"""Frames out: tables for people who work in pandas or polars; neither is imported before it is asked for."""

from __future__ import annotations

import importlib.util
from typing import Any

from .exceptions import InputError


def make_frame(columns: dict[str, Any], backend: str | None = None) -> Any:
    """A data frame of these columns, in pandas where installed, else polars, or in the `backend` named."""
    if backend is None:
        backend = next((name for name in ("pandas", "polars") if importlib.util.find_spec(name)), None)
        if backend is None:
            raise InputError("a frame needs pandas or polars; install one of them: pip install 'outfold[frames]'.")
    import narwhals as nw

    try:
        return nw.from_dict(columns, backend=backend).to_native()  # type: ignore[arg-type]  # any name the user gives
    except (ImportError, ModuleNotFoundError):
        raise InputError(f"{backend} is not installed; pip install {backend}.") from None
