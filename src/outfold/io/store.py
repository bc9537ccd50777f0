"""One .oof file that holds `Predictions`, written as a whole or cell by cell."""

from __future__ import annotations

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
from ..exceptions import FileError, InputError, invalid
from . import guard, schema
from .database import (
    bounded_by_file,
    connect,
    create_file,
    file_at,
    followed,
    open_to_read,
    open_to_write,
    written_file,
)
from .file_errors import clear_errors
from .identity import refuse_mismatch
from .reading import Connect, Header

# Predictions that take no more memory than this are read when the file is opened.
_AT_ONCE = 1 << 26

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
        create_file(written_file(path), oof, replace_existing=True)
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
        self._file = file_at(path)
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
                create_file(path, made_by(header, facts), replace_existing=False)
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
        with self._errors(), bounded_by_file(self._db, self.path) as size:
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
        if file_at(self.path) != self._file:
            self._lost = self._rescued()
            raise self._lost

    def _rescued(self) -> FileError:
        """The error on a file that is not in its place any more; what it held is saved elsewhere, as long as it is open."""
        problem = f"{self.path} is gone: the file or its folder was deleted, moved or replaced during the run"
        copy = Path(tempfile.mkdtemp(prefix="outfold-")) / self.path.name
        try:
            with closing(connect(copy, "mode=rwc")) as db:
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
        with bounded_by_file(self._db, self.path) as size:
            header = Header(self._db, self._room(size), self._samples)
            self._samples = header.samples
            # The file is open as long as the store is, so nothing has to be opened to read predictions.
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
            opened = open_to_read(self.path)
        with closing(opened) as db:
            with self._reading(db):
                if self._mark is not None and self._mark != schema.mark_of(db):
                    raise FileError(f"{self.path.name} has changed since it was loaded", remedy="Load it again.")
            yield lambda: self._reading(db)

    @contextmanager
    def _reading(self, db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
        with clear_errors(self.path), bounded_by_file(db, self.path) as self.size:
            yield db
