"""The SQLite database that an .oof file is: how it comes to its place, is opened, locked and checked."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from ..data.predictions import Predictions
from ..exceptions import FileError, InputError, OutfoldError
from . import guard, schema
from .file_errors import code_of, damaged, file_error, nothing_at
from .untrusted import refuse_special

# Bytes that are written before they are moved from the journal into the file.
_JOURNAL = 1 << 25
# Files no larger than this are checked page by page when they are opened.
_CHECKED_WHOLE = 1 << 26
# Long enough for a file that is just being closed, short enough to be told that it is in use.
_LOCK_SECONDS = 1.0
# Endings of files in other formats, which no store may have.
_OTHER_FORMATS = (
    *(".csv", ".feather", ".gz", ".htm", ".html", ".json", ".md", ".npz", ".parquet", ".pdf", ".pickle", ".pkl"),
    *(".skops", ".tex", ".tsv", ".txt", ".xls", ".xlsx"),
)
_JOURNALS = ("-wal", "-shm", "-journal")
# What a rollback journal begins with, and ends with where the name of a further file is before it (SQLite format, 3 and 5).
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


def followed(path: Path) -> Path:
    """The file behind a symbolic link: it is written, and its journals lie beside it."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def written_file(path: Path) -> Path:
    """The file to replace: behind a symbolic link the one it points to. A device or a pipe is refused."""
    path = followed(path)
    refuse_special(path, "Give the name of a file.")
    return path


def file_at(path: Path) -> tuple[int, int] | None:
    """Which file is at this path; None if none is."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def create_file(path: Path, oof: Predictions, *, replace_existing: bool) -> None:
    """Write a new file under another name, then move it to its place: nobody ever sees half of it."""
    schema.check_blocks(oof)
    if path.is_dir():
        raise FileError(f"{path} is a folder", remedy=f"Give the name of a file in it, such as {path / 'run.oof'}.")
    if not path.parent.is_dir():
        raise nothing_at(path, writing=True)
    if path.suffix.lower() in _OTHER_FORMATS:
        problem = f"predictions are saved as .oof files, which {path.name} would not be"
        remedy = "Use a name that ends in .oof; `to_frame()` gives a table to save in other formats."
        raise InputError(problem, remedy=remedy)
    draft = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
    try:
        with closing(connect(draft, "mode=rwc")) as db:
            db.execute("PRAGMA journal_mode = OFF")
            db.execute("PRAGMA synchronous = OFF")
            schema.create(db, oof)
        with open(draft, "rb+") as file:
            os.fsync(file.fileno())
        settle(path)
        _put(draft, path, replace_existing)
    finally:
        draft.unlink(missing_ok=True)


def settle(path: Path) -> None:
    """Leave no journal of a file at `path` that is going to be replaced: SQLite would take it for one of the new file's."""
    # Looked for before the file is: a journal that comes later belongs to a process that was quicker.
    journals = [j for j in (path.with_name(path.name + end) for end in _JOURNALS) if j.exists()]
    if journals and path.exists():
        # What cannot be opened is going to be replaced anyway; what another process writes is not.
        try:
            with closing(open_to_write(path)) as db:
                db.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.Error as error:
            if code_of(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
        except FileError:
            pass
    for journal in journals:
        journal.unlink(missing_ok=True)


def _put(draft: Path, path: Path, replace_existing: bool) -> None:
    if not replace_existing:
        with suppress(OSError):  # a file system without links
            with suppress(FileExistsError):  # unlike a move, a link fails where another process was quicker
                os.link(draft, path)
            return
    os.replace(draft, path)


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """A connection in one of SQLite's modes, which cannot do more than predictions need."""
    uri = f"{path.absolute().as_uri()}?{mode}"
    db = sqlite3.connect(uri, uri=True, timeout=_LOCK_SECONDS, isolation_level=None)
    guard.restrict(db)
    return db


def open_to_read(path: Path) -> sqlite3.Connection:
    """The database of a file that is not changed; without a lock where nobody can be writing."""
    _check_exists(path)
    # What a process that was killed has left in a journal is taken up. Without a journal nobody is writing, and
    # the file can be read wherever it is, without a lock.
    left = any(path.with_name(path.name + end).exists() for end in ("-wal", "-journal"))
    db = connect(path, "mode=rw" if left else "mode=ro&immutable=1")
    try:
        if left:
            db.execute("PRAGMA locking_mode = EXCLUSIVE")  # no shared memory file, which a full disk has no room for
        _check_format(db, path)
    except BaseException:
        db.close()
        raise
    return db


def open_to_write(path: Path) -> sqlite3.Connection:
    """The database of a file, locked for this process until it is closed."""
    _check_exists(path)
    db = connect(path, "mode=rw")
    try:
        # The lock is kept until the connection is closed, or the process ends in whatever way.
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")
        db.execute("COMMIT")
        _check_format(db, path)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        (page,) = db.execute("PRAGMA page_size").fetchone()
        db.execute(f"PRAGMA wal_autocheckpoint = {_JOURNAL // page}")
    except BaseException:
        db.close()
        raise
    return db


def _check_exists(path: Path) -> None:
    if path.is_dir():
        raise FileError(f"{path} is a folder; an .oof file is needed.")
    if not path.exists():
        raise nothing_at(path)
    refuse_special(path)
    if path.stat().st_size == 0:
        raise file_error(sqlite3.SQLITE_NOTADB, path)  # to SQLite an empty file is a database
    _check_journals(path)


def _check_journals(path: Path) -> None:
    """Refuse a journal that only a stranger would make, before SQLite does what it says.

    SQLite would wait for a pipe, and write to the file behind a link. It would delete a file that the journal names at its
    end, as journals of transactions over several databases do.
    """
    for journal in (path.with_name(path.name + end) for end in _JOURNALS):
        if journal.is_symlink() or (journal.exists() and not journal.is_file()):
            problem = f"{journal} is a link, a folder or a device, not what an interrupted run leaves behind"
            raise FileError(problem, remedy="Delete it, and try again.")
        if journal.exists() and _end_of(journal, len(_JOURNAL_MAGIC)) == _JOURNAL_MAGIC:
            problem = f"{journal} names another file, which would be deleted; no interrupted run leaves such a journal"
            raise FileError(problem, remedy="Ask who made it. Delete the journal, and try again.")


def _end_of(path: Path, n: int) -> bytes:
    """The last bytes of a file."""
    with path.open("rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - n, 0))
        return file.read(n)


def _check_format(db: sqlite3.Connection, path: Path) -> None:
    """Refuse what is no .oof file, what is cut short, and every table, view or trigger but ours."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if application != schema.APPLICATION_ID:
        raise file_error(sqlite3.SQLITE_NOTADB, path)
    if version > schema.SCHEMA:
        problem = f"{path.name} was made by a newer outfold (schema {version}); this one reads up to {schema.SCHEMA}"
        raise FileError(problem, remedy="Upgrade outfold.")
    with bounded_by_file(db, path) as size:
        ((page,), (pages,)) = (db.execute(f"PRAGMA {what}").fetchone() for what in ("page_size", "page_count"))
        if size % page and not path.with_name(path.name + "-wal").exists():
            raise file_error(sqlite3.SQLITE_CORRUPT, path)
        guard.check_tables(db, schema.known_tables(version))
        # Of a large file, the pages of numbers are left out: each of these is checked on its way into memory. In the others,
        # a damaged page could hide cells.
        parts = ["1"] if page * pages <= _CHECKED_WHOLE else [t for t in schema.known_tables(version) if t != "numbers"]
        for part in parts:
            if db.execute(f"PRAGMA quick_check({part})").fetchone() != ("ok",):
                raise file_error(sqlite3.SQLITE_CORRUPT, path)


@contextmanager
def bounded_by_file(db: sqlite3.Connection, path: Path) -> Iterator[int]:
    """The size of the file, while no statement may read more than that; what the file cannot mean is a `FileError`."""
    size = path.stat().st_size
    with suppress(FileNotFoundError):
        size += path.with_name(path.name + "-wal").stat().st_size
    try:
        with guard.bounded(db, size):
            yield size
    except FileError:
        raise
    except OutfoldError as error:
        raise damaged(path, error) from error
    except MemoryError as error:
        remedy = "Take some configurations, `oof.sel(config=[...])`, or a machine with more memory."
        raise FileError(f"{path.name} needs more memory than there is", remedy=remedy) from error
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError, AssertionError) as error:
        raise damaged(path, error) from error
