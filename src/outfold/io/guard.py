"""What a file from a stranger may do while it is read: give rows of the tables we know, in bounded time and memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ..exceptions import FileError

# Of one statement and its parts; the statements of this package need a fraction of it.
_LIMITS = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 64,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 64,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 4,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 100_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 100,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
# A row takes at least four bytes of a file and less than 200 steps of SQLite's machine to be read.
_STEPS_AT_ONCE = 100_000
_STEPS, _STEPS_PER_BYTE = 5_000_000, 50
# Arrays may be larger than the file: most cells of a run that has just begun have no predictions yet. Compressed
# files do not exist in this format, so a small file has no reason to ask for gigabytes.
_BYTES, _BYTES_PER_BYTE = 1 << 27, 64


def restrict(db: sqlite3.Connection) -> None:
    """Take from a connection what reading and writing predictions does not need."""
    for limit, most in _LIMITS.items():
        db.setlimit(limit, most)
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA cell_size_check = ON")


@contextmanager
def bounded(db: sqlite3.Connection, size: int) -> Iterator[None]:
    """End what reads more rows than a file of `size` bytes can hold: pages that point to each other have no end."""
    left = (_STEPS + _STEPS_PER_BYTE * size) // _STEPS_AT_ONCE

    def too_long() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    db.set_progress_handler(too_long, _STEPS_AT_ONCE)
    try:
        yield
    except sqlite3.OperationalError as error:
        # SQLite has no other way to pass on what a handler raises, which can only be Ctrl-C.
        # Errors of Python itself have no code.
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT and left >= 0:
            raise KeyboardInterrupt from None
        raise
    finally:
        db.set_progress_handler(None, 0)


class Room:
    """The memory that the file `name` of `size` bytes may ask for; who knows that more is needed says so."""

    def __init__(self, name: str, size: int, known: int = 0) -> None:
        self._name, self._most = name, max(_BYTES, _BYTES_PER_BYTE * size, known)

    def afford(self, n_bytes: int) -> None:
        """Refuse an array of this many bytes, before it is made."""
        if n_bytes > self._most:
            problem = f"{self._name} asks for {n_bytes:,} bytes of memory, far more than it holds"
            raise FileError(problem, remedy="If it is yours, let `collect` go on with it first.")


def check_tables(db: sqlite3.Connection, known: Mapping[str, str]) -> None:
    """Refuse all but the `known` tables, written as given: no view, trigger, index or other table, no other column."""
    found = set()
    for kind, name, table, sql in db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"):
        own = kind == "index" and sql is None and name.startswith("sqlite_autoindex_") and table in known
        if not own and (kind != "table" or name != table or name in found or _words(sql) != known.get(name)):
            raise ValueError(f"it has a {kind} {name!r} that does not belong there")
        if not own:
            found.add(name)
    if found != known.keys():
        raise ValueError(f"it has no table {min(known.keys() - found)!r}")


def _words(sql: str | None) -> str:
    """The text with single spaces."""
    return " ".join((sql or "").split())
