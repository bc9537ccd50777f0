"""One .oof file: an SQLite database that holds `Predictions`, written as a whole or cell by cell."""

from __future__ import annotations

import errno
import math
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.cells import State, check_probabilities, usable
from ..data.notes import Note
from ..data.predictions import Predictions, begun, made_by
from ..data.splitting import Splits, fingerprint
from ..data.stored import outputs_of
from ..docstrings import fill_with
from ..exceptions import FileError, InputError, OutfoldError, invalid
from . import guard, schema
from .identity import refuse_mismatch
from .reading import Connect, Header
from .untrusted import refuse_special

# Predictions that take no more memory than this are read when the file is opened.
_AT_ONCE = 1 << 26
# Bytes that are written before they are moved from the journal into the file.
_JOURNAL = 1 << 25
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

_document = fill_with({"path": "path : str or Path\n    The file.", "files": ">>> import os, tempfile, outfold as of"})


class Cell(NamedTuple):
    """What is known of one (configuration, repeat, fold) of a block: the unit in which `Store` is written."""

    block: str
    config: str
    repeat: int
    fold: int
    state: State
    values: NDArray[Any] | None = None
    message: str | None = None
    seconds: float | None = None
    labels: NDArray[Any] | None = None
    scores: Mapping[str, float] | None = None


def save(oof: Predictions, path: str | os.PathLike[str]) -> Path:
    """Write predictions and their blocks to one .oof file, which appears as a whole or not at all."""
    path = Path(path)
    with clear_errors(path, writing=True):
        _create(written_file(path), oof, replace_existing=True)
    return path


@_document
def load(path: str | os.PathLike[str]) -> Predictions:
    """Read the predictions of an .oof file, of any version of the format.

    If the predictions take more than 64 MB of memory, they stay in the file until you use them, and `sel` reads only the part
    that it selects. Do not change or delete the file until then.

    Parameters: {path}
    Returns: {predictions}

    Examples: {files}
    >>> oof = of.from_arrays([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = oof.save(os.path.join(folder, "run.oof"))
    ...     of.load(path).fingerprint == oof.fingerprint
    True
    """
    source = _Source(followed(Path(path)))
    with source.connect() as db:
        header = Header(db, guard.Room(source.path.name, source.size))
        if header.at_once or header.n_bytes <= _AT_ONCE:
            return begun(header.read(db))
        source.remember(db)
        return begun(header.stored(source.opened))


class Store:
    """An .oof file that grows while predictions are being collected.

    Finished cells are written in transactions of their own: whatever happens to the process, the file opens with
    every cell that `write` returned from. One process at a time has the store open. Made by `Store.open`; a context
    manager.
    """

    def __init__(self, path: Path, db: sqlite3.Connection, memory: int) -> None:
        self.path = path
        self._db, self._memory = db, memory
        self._cells: schema.CellWriter
        self._file = _identity(path)
        self._lost: FileError | None = None
        self._samples: Mapping[str, Any] | None = None
        self._read_header()

    @classmethod
    def open(cls, path: str | os.PathLike[str], header: Predictions, identity: Mapping[str, str]) -> Store:
        """Create the file, or go on with one that was made in the same way; another one is a `StoreMismatchError`.

        `header` holds predictions without a finished cell; its ``provenance["specs"]`` (name -> text) says what a
        configuration is beyond its name. `identity` holds named hashes or texts that must be the same when the store is
        opened again, such as ``data`` or ``seed``.
        """
        path = followed(Path(path))
        with clear_errors(path, writing=True):
            if not path.exists():
                facts = {**header.provenance, "identity": dict(identity)}
                _create(path, made_by(header, facts), replace_existing=False)
            db = open_to_write(path)
            try:
                store = cls(path, db, _memory_of(header))
                refuse_mismatch(path.name, store._header, header, identity)
                schema.migrate(db, store._header.criterion)
                store._cells = schema.CellWriter(db)
                store._extend(header)
            except BaseException:
                db.close()
                raise
        return store

    def write(self, cells: Iterable[Cell]) -> None:
        """Write cells in one transaction, all or none of them; a cell written before is replaced."""
        rows = [row for fold, some in groupby(cells, key=_FOLD) for row in self._rows(fold, list(some))]
        with self._in_place(), schema.transaction(self._db):
            self._cells.write(rows)

    def update(self, *, notes: Iterable[Note] | None = None, **provenance: Any) -> None:
        """Add to the provenance (a fact of the same name is replaced); `notes`, where given, replace the notes."""
        with self._changing() as db:
            facts: dict[str, Any] = {"provenance": {**schema.provenance_of(db), **provenance}}
            if notes is not None:
                facts["notes"] = [[note.code, note.text] for note in notes]
            schema.insert_about(db, facts)

    def grow(self, blocks: Mapping[str, Splits]) -> None:
        """Add the repeats of these splits that the blocks of these names do not have yet."""
        with self._changing("folds") as db:
            for name, splits in blocks.items():
                marked = fingerprint(self._header.target, splits.folds, splits.train)
                schema.insert_repeats(db, name, splits, marked, self._folds[name].shape[1])
        self._folds.update({name: splits.folds for name, splits in blocks.items()})

    def predictions(self) -> Predictions:
        """What is in the file now."""
        with self._errors(), _bounded(self._db, self.path) as size:
            return Header(self._db, self._room(size), self._samples).read(self._db)

    def close(self) -> None:
        """Leave a single file behind, and let others have it."""
        # Where this fails (a full disk), the journal stays beside the file and is taken up when it is opened again.
        with suppress(sqlite3.Error):
            self._db.execute("PRAGMA journal_mode = DELETE")
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        try:
            if kind is None:
                self._check_place()
        finally:
            self.close()

    @contextmanager
    def _changing(self, *tables: str) -> Iterator[sqlite3.Connection]:
        with self._in_place(), schema.changing(self._db, *tables):
            yield self._db

    @contextmanager
    def _in_place(self) -> Iterator[None]:
        """A change of the file; SQLite would go on writing to a file that somebody has deleted."""
        if self._lost is not None:
            raise self._lost
        with self._errors(writing=True):
            yield
        self._check_place()

    @contextmanager
    def _errors(self, *, writing: bool = False) -> Iterator[None]:
        """Clear errors; if the file is gone, that is the reason, whatever failed because of it."""
        try:
            with clear_errors(self.path, writing=writing):
                yield
        except FileError:
            self._check_place()
            raise

    def _check_place(self) -> None:
        if _identity(self.path) != self._file:
            self._lost = self._rescued()
            raise self._lost

    def _rescued(self) -> FileError:
        """The error on a file that is not in its place any more; what it held is saved elsewhere, as long as it is open."""
        problem = f"{self.path} is gone: the file or its folder was deleted, moved or replaced during the run"
        copy = Path(tempfile.mkdtemp(prefix="outfold-")) / self.path.name
        try:
            with closing(_connect(copy, "mode=rwc")) as db:
                self._db.backup(db)
                db.execute("PRAGMA journal_mode = DELETE")
        except (OSError, sqlite3.Error) as error:
            shutil.rmtree(copy.parent, ignore_errors=True)
            return FileError(f"{problem}, and could not be saved elsewhere ({error})", remedy="Start again.")
        remedy = f"Move that file to {self.path.parent}, and start again to go on."
        return FileError(f"{problem}; all finished cells are saved in {copy}", remedy=remedy)

    def _rows(self, fold: tuple[str, int, int], cells: list[Cell]) -> Iterator[schema.CellRow]:
        """The cells of one fold as rows of the table, once they are known to fit this store."""
        block = {schema.MAIN: self._header, **self._header.blocks}.get(fold[0])
        strange = next((cell.config for cell in cells if cell.config not in self._positions), None)
        if block is None or strange is not None:
            lacks = f"block {fold[0]!r}" if block is None else f"configuration {strange!r}"
            raise InputError(f"{self.path.name} has no {lacks}", remedy="Open it with predictions that have one.")
        done = [cell for cell in cells if cell.state == State.DONE]
        values = iter(_checked_values(done, block, self._n_held_out(*fold)) if done else ())
        for cell in cells:
            blobs = None
            if cell.state == State.DONE:
                blobs = schema.blobs_of(next(values), _checked_labels(cell, block), block.response, cell.scores)
            where = (cell.block, int(cell.repeat), int(cell.fold), self._positions[cell.config])
            seconds = None if cell.seconds is None else float(cell.seconds)
            yield where, (_WORDS[cell.state], cell.message, seconds), blobs

    def _read_header(self) -> None:
        with _bounded(self._db, self.path) as size:
            header = Header(self._db, self._room(size), self._samples)
            self._samples = header.samples
            self._header = header.stored(lambda: nullcontext(lambda: nullcontext(self._db)))
        self._positions = {name: i for i, name in enumerate(self._header.configs)}
        self._folds = {schema.MAIN: self._header.folds} | {name: b.folds for name, b in self._header.blocks.items()}
        self._sizes: dict[tuple[str, int], NDArray[np.intp]] = {}

    def _room(self, size: int) -> guard.Room:
        """Most of a file that has just been made is still to come, so it may ask for what its maker has in memory."""
        return guard.Room(self.path.name, size, 4 * self._memory)

    def _n_held_out(self, block: str, repeat: int, fold: int) -> int:
        """How many samples a cell holds out; counted once for all folds of a repeat."""
        if (block, repeat) not in self._sizes:
            self._sizes[block, repeat] = np.bincount(self._folds[block][:, repeat] + 1)[1:]
        sizes = self._sizes[block, repeat]
        return int(sizes[fold]) if 0 <= fold < len(sizes) else 0

    def _extend(self, header: Predictions) -> None:
        """Add the configurations and blocks that the file does not have yet, and record what selects now."""
        known = self._header
        new = [i for i, name in enumerate(header.configs) if name not in self._positions]
        blocks = {name: block for name, block in header.blocks.items() if name not in known.blocks}
        if known.criterion.to_dict() != header.criterion.to_dict():
            with self._changing() as db:  # no prediction depends on it
                schema.insert_criterion(db, header.criterion)
        if not new and not blocks:
            return
        with self._changing("configs", *(("folds", "train") if blocks else ())) as db:
            start = known.n_configs
            schema.insert_configs(db, start, [header.configs[i] for i in new], [header.params[i] for i in new])
            specs = {**header.provenance.get("specs", {}), **known.provenance.get("specs", {})}
            facts = {"provenance": {**known.provenance, "specs": specs}, "blocks": [*known.blocks, *blocks]}
            schema.insert_about(db, facts)
            for name, block in blocks.items():
                schema.insert_block(db, name, block)
        self._cells = schema.CellWriter(self._db)
        self._read_header()


def _memory_of(header: Predictions) -> int:
    """Bytes that predictions take when all cells are done."""
    blocks = (header, *header.blocks.values())
    return sum(
        8 * math.prod((b.n_repeats, b.n_configs, b.n_samples, *outputs_of(b))) + 9 * b.state.size for b in blocks
    )


_FOLD = attrgetter("block", "repeat", "fold")
_WORDS = {state: state.name.lower() for state in State}


def _checked_values(cells: list[Cell], block: Predictions, n: int) -> NDArray[Any]:
    """The predictions of done cells that hold out `n` samples, unless the file could not be loaded with them."""
    shape = (n, *outputs_of(block))
    arrays = [np.asarray(cell.values) for cell in cells]
    wrong = next((i for i, values in enumerate(arrays) if cells[i].values is None or values.shape != shape), None)
    if wrong is not None:
        given = f"{_name(cells[wrong])} has {arrays[wrong].shape}"
        raise InputError(f"a done cell needs predictions of shape {shape}; {given}.")
    values = np.stack(arrays)
    good = usable(values, block.response, values.ndim == 3) | (block.response == "none")
    if block.response == "label" and block.target.classes is not None:
        good &= values < len(block.target.classes)
    if not good.all():
        where = _name(cells[int(np.argmin(good.all(axis=1)))])
        raise InputError(f"a done cell holds usable predictions only; {where} has others", remedy="Mark it as failed.")
    if block.response == "proba":
        check_probabilities(values[None], np.ones((1, *values.shape[:2]), dtype=bool))
    return values


def _name(cell: Cell) -> str:
    return f"{cell.config!r} in repeat {cell.repeat}, fold {cell.fold}"


def _checked_labels(cell: Cell, block: Predictions) -> NDArray[Any] | None:
    """The model's own labels, where they are not the cut."""
    if cell.labels is None:
        return None
    labels, n_classes = np.asarray(cell.labels), 0 if block.target.classes is None else len(block.target.classes)
    if labels.shape != np.asarray(cell.values).shape[:1] or not np.all((labels >= 0) & (labels < n_classes)):
        needed = "of a cell must be class codes, one for each sample"
        raise invalid("labels", needed, f"{cell.config!r} has others")
    return labels


# -- the file -------------------------------------------------------------------------------------------


def followed(path: Path) -> Path:
    """The file behind a symbolic link: it is written, and its journals lie beside it."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def written_file(path: Path) -> Path:
    """The file to replace: behind a symbolic link the one it points to. A device or a pipe is refused."""
    path = followed(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise FileError(f"{path} is a device or a pipe, not a file", remedy="Give the name of a file.")
    return path


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file is at this path; None if none is."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{mode}"
    db = sqlite3.connect(uri, uri=True, timeout=_LOCK_SECONDS, isolation_level=None)
    guard.restrict(db)
    return db


def _create(path: Path, oof: Predictions, *, replace_existing: bool) -> None:
    """Write a new file under another name, then move it to its place: nobody ever sees half of it."""
    schema.check_blocks(oof)
    if path.is_dir():
        raise FileError(f"{path} is a folder", remedy=f"Give the name of a file in it, such as {path / 'run.oof'}.")
    if not path.parent.is_dir():
        raise _nothing_at(path, writing=True)
    if path.suffix.lower() in _OTHER_FORMATS:
        problem = f"predictions are saved as .oof files, which {path.name} would not be"
        remedy = "Use a name that ends in .oof; `to_frame()` gives a table to save in other formats."
        raise InputError(problem, remedy=remedy)
    draft = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
    try:
        with closing(_connect(draft, "mode=rwc")) as db:
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
            if _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
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


class _Source:
    """A file to read from, now and later, as long as it keeps the same predictions."""

    def __init__(self, path: Path) -> None:
        self.path, self.size = path, 0
        self._mark: tuple[Any, ...] | None = None

    def remember(self, db: sqlite3.Connection) -> None:
        """From now on, refuse other predictions. Time and size of the file say little: closing may take up a journal."""
        self._mark = schema.mark_of(db)

    @contextmanager
    def connect(self) -> Iterator[sqlite3.Connection]:
        """The database; every way in which it can fail is a `FileError`."""
        with self.opened() as connect, connect() as db:
            yield db

    @contextmanager
    def opened(self) -> Iterator[Connect]:
        """The file stays open; each read of it is a context, in which every way to fail is a `FileError`."""
        with clear_errors(self.path):
            opened = _open_to_read(self.path)
        with closing(opened) as db:
            with self._reading(db):
                if self._mark is not None and self._mark != schema.mark_of(db):
                    raise FileError(f"{self.path.name} has changed since it was loaded", remedy="Load it again.")
            yield lambda: self._reading(db)

    @contextmanager
    def _reading(self, db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
        with clear_errors(self.path), _bounded(db, self.path) as self.size:
            yield db


@contextmanager
def _bounded(db: sqlite3.Connection, path: Path) -> Iterator[int]:
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
        raise _damaged(path, error) from error
    except MemoryError as error:
        remedy = "Take some configurations, `oof.sel(config=[...])`, or a machine with more memory."
        raise FileError(f"{path.name} needs more memory than there is", remedy=remedy) from error
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError, AssertionError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> FileError:
    return FileError(f"{path.name} is damaged ({error})", remedy=_DAMAGED[1])


def _open_to_read(path: Path) -> sqlite3.Connection:
    _check_exists(path)
    # What a process that was killed has left in a journal is taken up. Without a journal nobody is writing, and
    # the file can be read wherever it is, without a lock.
    left = any(path.with_name(path.name + end).exists() for end in ("-wal", "-journal"))
    db = _connect(path, "mode=rw" if left else "mode=ro&immutable=1")
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
    db = _connect(path, "mode=rw")
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
        raise _nothing_at(path)
    refuse_special(path)
    if path.stat().st_size == 0:
        raise _file_error(sqlite3.SQLITE_NOTADB, path)  # to SQLite an empty file is a database
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
        raise _file_error(sqlite3.SQLITE_NOTADB, path)
    if version > schema.SCHEMA:
        problem = f"{path.name} was made by a newer outfold (schema {version}); this one reads up to {schema.SCHEMA}"
        raise FileError(problem, remedy="Upgrade outfold.")
    with _bounded(db, path) as size:
        ((page,), (pages,)) = (db.execute(f"PRAGMA {what}").fetchone() for what in ("page_size", "page_count"))
        if size % page and not path.with_name(path.name + "-wal").exists():
            raise _file_error(sqlite3.SQLITE_CORRUPT, path)
        guard.check_tables(db, schema.known_tables(version))
        # Of a large file, the pages of numbers are left out: each of these is checked on its way into memory. In the others,
        # a damaged page could hide cells.
        parts = ["1"] if page * pages <= _AT_ONCE else [t for t in schema.known_tables(version) if t != "numbers"]
        for part in parts:
            if db.execute(f"PRAGMA quick_check({part})").fetchone() != ("ok",):
                raise _file_error(sqlite3.SQLITE_CORRUPT, path)


# -- errors ---------------------------------------------------------------------------------------------


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
        raise _file_error(_code(error), path, writing, str(error)) from error
    except UnicodeDecodeError as error:
        raise _file_error(sqlite3.SQLITE_CORRUPT, path) from error
    except UnicodeEncodeError as error:
        raise InputError(f"names and labels must be valid text; {error.object!r} cannot be written.") from error
    except FileNotFoundError as error:
        raise _nothing_at(path, writing) from error
    except OSError as error:
        raise _file_error(_SQLITE_CODES.get(error.errno or 0, -1), path, writing, str(error.strerror)) from error


_SQLITE_CODES = dict.fromkeys((errno.ENOSPC, errno.EDQUOT), sqlite3.SQLITE_FULL) | dict.fromkeys(
    (errno.EACCES, errno.EPERM, errno.EROFS), sqlite3.SQLITE_PERM
)


def _nothing_at(path: Path, writing: bool = False) -> FileError:
    if writing and not path.parent.is_dir():
        return FileError(f"the folder {path.parent} does not exist", remedy="Make it, or write to another one.")
    return FileError(f"there is no file {path}.")


def _code(error: sqlite3.Error) -> int:
    """The primary result code, without the details SQLite adds in the upper bytes."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _file_error(code: int, path: Path, writing: bool = False, why: str = "") -> FileError:
    """What one of SQLite's result codes means for the file, and what to do; `why` where the code says nothing."""
    done = "written" if writing else "read"
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        code = sqlite3.SQLITE_READONLY if writing else sqlite3.SQLITE_CANTOPEN
    if code not in _PROBLEMS:
        return FileError(f"{path} could not be {done}: {why}.")
    problem, remedy = _PROBLEMS[code]
    return FileError(problem.format(name=path.name, path=path, done=done), remedy=remedy)


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
