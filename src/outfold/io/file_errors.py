"""Every way in which an .oof file can fail, as a `FileError` of one clear sentence that says what to do."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..exceptions import FileError, InputError, OutfoldError

_DAMAGED = ("{name} is damaged or cut short", "Restore it from a copy, or collect again.")
_IN_USE = ("{name} is in use by another process", "Wait until that one has finished, or use another store.")
_PROBLEMS = {
    sqlite3.SQLITE_NOTADB: ("{name} is not an .oof file", "Use `outfold.read` for tables (.csv, .parquet)."),
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_ERROR: _DAMAGED,
    sqlite3.SQLITE_TOOBIG: _DAMAGED,
    sqlite3.SQLITE_INTERRUPT: _DAMAGED,
    sqlite3.SQLITE_MISMATCH: _DAMAGED,
    sqlite3.SQLITE_BUSY: _IN_USE,
    sqlite3.SQLITE_LOCKED: _IN_USE,
    sqlite3.SQLITE_READONLY: (
        "{path} cannot be written; the folder or the disk is read-only",
        "Choose a folder you may write to.",
    ),
    sqlite3.SQLITE_CANTOPEN: ("{path} cannot be read", "Check that you may read the file and its folder."),
    sqlite3.SQLITE_FULL: (
        "{name} could not be written, the disk is full; what was written before is kept",
        "Free some space and go on.",
    ),
    sqlite3.SQLITE_IOERR: (
        "{path} could not be {done}: the disk or network drive gave an error; what was written before is kept",
        "Check that it is connected, has space and allows locks, or use a file on a local disk.",
    ),
}
_SQLITE_CODES = dict.fromkeys((errno.ENOSPC, errno.EDQUOT), sqlite3.SQLITE_FULL) | dict.fromkeys(
    (errno.EACCES, errno.EPERM, errno.EROFS), sqlite3.SQLITE_PERM
)


@contextmanager
def clear_errors(path: Path, *, writing: bool = False) -> Iterator[None]:
    """Every way a file can fail, as a `FileError` of one clear sentence."""
    try:
        yield
    except OutfoldError:
        raise
    except sqlite3.Error as error:
        if isinstance(error, sqlite3.ProgrammingError):
            raise FileError(f"{path.name} has been closed", remedy="Open the store again.") from error
        raise file_error(code_of(error), path, writing, str(error)) from error
    except UnicodeDecodeError as error:
        raise file_error(sqlite3.SQLITE_CORRUPT, path) from error
    except UnicodeEncodeError as error:
        raise InputError(f"names and labels must be valid text; {error.object!r} cannot be written.") from error
    except FileNotFoundError as error:
        raise nothing_at(path, writing) from error
    except OSError as error:
        raise file_error(_SQLITE_CODES.get(error.errno or 0, -1), path, writing, str(error.strerror)) from error


def nothing_at(path: Path, writing: bool = False) -> FileError:
    """The error on a file that does not exist or, to write it, has no folder."""
    if writing and not path.parent.is_dir():
        return FileError(f"the folder {path.parent} does not exist", remedy="Make it, or write to another one.")
    return FileError(f"there is no file {path}.")


def damaged(path: Path, error: Exception) -> FileError:
    """The error on a file whose content means nothing, because of `error`."""
    return FileError(f"{path.name} is damaged ({error})", remedy=_DAMAGED[1])


def code_of(error: sqlite3.Error) -> int:
    """The primary result code, without the details SQLite adds in the upper bytes."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def file_error(code: int, path: Path, writing: bool = False, why: str = "") -> FileError:
    """What one of SQLite's result codes means for the file, and what to do; `why` where the code says nothing."""
    done = "written" if writing else "read"
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        code = sqlite3.SQLITE_READONLY if writing else sqlite3.SQLITE_CANTOPEN
    if code not in _PROBLEMS:
        return FileError(f"{path} could not be {done}: {why}.")
    problem, remedy = _PROBLEMS[code]
    return FileError(problem.format(name=path.name, path=path, done=done), remedy=remedy)
