"""Reading a table from a file of any of the formats that people have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .dialect import Dialect

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table, the dialect of its file (None if it is not a text file), and what was noticed while reading."""

    path: Path
    frame: pd.DataFrame
    dialect: Dialect | None = None
    notes: tuple[str, ...] = ()


def read_file(
    path: str | Path,
    *,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    quote: str | None = None,
) -> TableFile:
    """Read the table in a file; a dialect that is not given is detected."""
    raise NotImplementedError
