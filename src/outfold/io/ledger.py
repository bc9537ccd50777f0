"""The ledger of an .oof file: what came true after the estimate, one entry for each confrontation.

It is the entry ``ledger`` of the provenance, a list of json objects. Files without it are those in which nothing came true yet.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from ..data.ledger import LEDGER
from ..data.predictions import Predictions
from . import schema
from .database import followed, open_to_write
from .file_errors import clear_errors

# Goes up when the meaning of an entry changes.
FORMAT = 1
# Entries that are equal in these are about the same samples.
_SAME = ("metric", "selected", "part", "data", "labels")


def entries(oof: Predictions) -> tuple[Mapping[str, Any], ...]:
    """The entries, the oldest first."""
    return tuple(oof.provenance.get(LEDGER, ()))


def append(path: str | os.PathLike[str], entry: Mapping[str, Any]) -> bool:
    """Add an entry to the file; False if the same samples are in the ledger already."""
    path = followed(Path(path))
    with clear_errors(path, writing=True), closing(open_to_write(path)) as db:
        try:
            with schema.changing(db):
                provenance = schema.provenance_of(db)
                known = list(provenance.get(LEDGER, ()))
                if any(all(old.get(key) == entry.get(key) for key in _SAME) for old in known):
                    return False
                facts = {"provenance": provenance | {LEDGER: [*known, {"format": FORMAT, **entry}]}}
                schema.insert_about(db, facts)
        finally:
            with suppress(sqlite3.Error):  # a full disk: the journal is taken up when the file is opened again
                db.execute("PRAGMA journal_mode = DELETE")
    return True


def extend(path: str | os.PathLike[str], known: Iterable[Mapping[str, Any]]) -> None:
    """Add the entries of another file, such as one that this file is going to replace."""
    for entry in known:
        append(path, entry)
