"""The folder of a run: one run at a time writes to it, and a new answer replaces the old one as a whole."""

from __future__ import annotations

import filecmp
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..exceptions import FileError, InputError, OutfoldError
from ..io import ledger
from ..io.database import settle
from ..io.store import load
from ..models import about
from .live import FILE as PROGRESS

# Where a search keeps what it has fitted, and the predictions of the configurations that are finished.
SEARCH, ANSWER = "search.oof", "run.oof"
REPORT, COLUMNS = "report.html", "columns.toml"
# The files of an answer are made here, and moved to their places when all of them are there.
_DRAFT = ".answer"


class RunFolder:
    """The folder, while a run has it for itself: a context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._is_new = not path.exists()
        self._lock: int | None = None

    def __enter__(self) -> RunFolder:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(self.path)
        except BlockingIOError:
            problem = f"another run is writing to the folder {self.path}"
            raise FileError(problem, remedy="Wait until it has finished, or use another `out`.") from None
        except OSError as error:
            problem = f"the folder {self.path} cannot be made or used ({error.strerror})."
            raise FileError(problem, remedy="Use another `out`.") from error
        shutil.rmtree(self.path / _DRAFT, ignore_errors=True)  # of a run that was killed
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, InputError) and self._is_new:
            with suppress(OSError):  # it holds a store
                (self.path / PROGRESS).unlink(missing_ok=True)
                self.path.rmdir()
        if self._lock is not None:
            os.close(self._lock)

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    @contextmanager
    def draft(self) -> Iterator[Path]:
        """A folder for the files of a new answer."""
        path = self.path / _DRAFT
        path.mkdir(exist_ok=True)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def publish(self) -> None:
        """Move the files of the draft to their places.

        What describes the model goes first and comes last: a kill in between leaves no model that others would take for
        the one of the new answer.
        """
        draft, described = self.path / _DRAFT, about.FILE
        # What came true since the draft was made is in the old answer alone.
        ledger.extend(draft / ANSWER, known_ledger(self.path / ANSWER))
        settle(self.path / ANSWER)
        new = (path.name for path in draft.iterdir() if not is_same(path, self.path / path.name))
        names = sorted(new, key=lambda name: name == described)
        if described in names:
            (self.path / described).unlink(missing_ok=True)
        for name in names:
            os.replace(draft / name, self.path / name)


def is_same(one: Path, other: Path) -> bool:
    """Whether two files have the same content."""
    return one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False)


def known_ledger(path: Path) -> tuple[Mapping[str, Any], ...]:
    """What came true, as a file says; nothing if it cannot be read, because it is going to be replaced."""
    try:
        return ledger.entries(load(path)) if path.exists() else ()
    except OutfoldError:
        return ()


def _locked(folder: Path) -> int | None:
    """A lock on the folder until this is closed or the process ends; `BlockingIOError` if another run has it.

    None where a folder cannot be locked, as on Windows and some network drives: the store has its own lock.
    """
    if sys.platform == "win32":
        return None
    import fcntl

    found = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(found)
        raise
    except OSError:
        os.close(found)
        return None
    return found
