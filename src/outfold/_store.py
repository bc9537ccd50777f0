"""One .oof file: an SQLite database that holds `Predictions`, written as a whole or cell by cell.

The tables are described in ``docs/format.md`` and, shorter, in the file itself (table ``about``).
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._notes import Note
from ._plan import Plan
from ._predictions import Predictions, State
from ._target import Target
from .exceptions import FileError, InputError, OutfoldError, StoreMismatchError

APPLICATION_ID = 0x6F6F6631  # "oof1"
SCHEMA = 1
MAIN = "oof"
# Long enough for a file that is just being closed, short enough to be told that it is in use.
_LOCK_SECONDS = 1.0
_JOURNALS = ("-wal", "-shm", "-journal")

_TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE samples (position INTEGER PRIMARY KEY, id, label, event INTEGER, "group");
CREATE TABLE configs (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, params TEXT NOT NULL);
CREATE TABLE folds (block TEXT, repeat INTEGER, fold_of_sample BLOB NOT NULL, PRIMARY KEY (block, repeat));
CREATE TABLE train (block TEXT, repeat INTEGER, fold INTEGER, samples BLOB NOT NULL, PRIMARY KEY (block, repeat, fold));
CREATE TABLE cells (
    block TEXT, repeat INTEGER, fold INTEGER, config INTEGER REFERENCES configs (position),
    state TEXT NOT NULL, message TEXT, seconds REAL, predictions BLOB,
    PRIMARY KEY (block, repeat, fold, config)
);
"""

_FORMAT = """\
An .oof file of outfold: out-of-fold predictions of every configuration that was tried.
samples: one row a sample; label is the class label, the value or the survival time; event is 1 where it was observed.
configs: the configurations that were tried and the parameters that tell them apart (json).
folds: for every repeat the fold that held out each sample, int32, -1 where none did, in the order of the samples.
train: training samples (positions, int32) of a fold, only where they are not simply all samples outside of it.
cells: one row for a (block, repeat, fold, config) that is done, dropped or failed; a cell without a row is pending.
cells.predictions: float64 (int32 class codes for labels), one for each sample held out, in ascending position; where
there are several outputs (classes) a sample's outputs stand together. All numbers are little-endian.
block: "oof" is the cross-validation itself; others, such as "inner", have folds and cells of their own.
The other keys of this table are json; those of a further block carry its name and a point in front."""


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


def save(oof: Predictions, path: str | os.PathLike[str]) -> Path:
    """Write predictions to one .oof file.

    The file appears as a whole or not at all; an existing one is replaced.

    Parameters
    ----------
    oof
        What to write, its blocks included.
    path
        Where to; the folder must exist.

    Returns
    -------
    Path
        The file that was written.
    """
    path = Path(path)
    with _clear_errors(path, writing=True):
        _create(path, oof, replace_existing=True)
    return path


def load(path: str | os.PathLike[str]) -> Predictions:
    """Read the predictions of an .oof file; every version of the format so far can be read."""
    path = Path(path)
    with _clear_errors(path), closing(_open_to_read(path)) as db:
        return _read(db, path)


class Store:
    """An .oof file that grows while predictions are being collected.

    Finished cells are written in transactions of their own: whatever happens to the process, the file opens with
    every cell that `write` returned from. One process at a time has the store open. Made by `Store.open`; a context
    manager.
    """

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db
        self._read_header()

    @classmethod
    def open(cls, path: str | os.PathLike[str], header: Predictions, identity: Mapping[str, str]) -> Store:
        """Create the file, or go on with one that was made in the same way.

        Parameters
        ----------
        path
            The file. It is created where there is none.
        header
            Predictions without a finished cell: labels, configurations, folds, plan, blocks, provenance.
            ``provenance["specs"]`` (name -> text) says what a configuration is beyond its name.
        identity
            Named hashes or texts that must be the same when the store is opened again, such as ``data`` or ``seed``.

        Raises
        ------
        StoreMismatchError
            The file was made with another identity, other splits, or other configurations of the same name.
        FileError
            The file cannot be read or written, or another process is writing it.
        """
        path = Path(path)
        with _clear_errors(path, writing=True):
            if not path.exists():
                facts = {**header.provenance, "identity": dict(identity)}
                _create(path, replace(header, provenance=facts), replace_existing=False)
            db = _open_to_write(path)
            try:
                store = cls(path, db)
                _refuse_mismatch(path, store._header, header, identity)
                store._extend(header)
            except BaseException:
                db.close()
                raise
        return store

    def states(self) -> dict[tuple[str, str, int, int], State]:
        """State of every (block, configuration, repeat, fold) that is not pending."""
        query = "SELECT block, name, repeat, fold, state FROM cells JOIN configs ON config = position"
        with _clear_errors(self.path):
            found = {(b, c, r, k): State[s.upper()] for b, c, r, k, s in self._db.execute(query)}
        return {key: state for key, state in found.items() if state != State.PENDING}

    def done(self) -> set[tuple[str, str, int, int]]:
        """Every (block, configuration, repeat, fold) that is done, failed or dropped."""
        return set(self.states())

    def write(self, cells: Iterable[Cell]) -> None:
        """Write cells in one transaction, all or none of them; a cell written before is replaced."""
        rows = [self._row(cell) for cell in cells]
        with self._transaction() as db:
            _insert_cells(db, rows)

    def update(self, *, notes: Iterable[Note] | None = None, **provenance: Any) -> None:
        """Add to the provenance (a fact of the same name is replaced); `notes`, where given, replace the notes."""
        with self._transaction() as db:
            facts = {"provenance": {**_about(db)["provenance"], **provenance}}
            if notes is not None:
                facts["notes"] = [[note.code, note.text] for note in notes]
            _insert_about(db, facts)

    def predictions(self) -> Predictions:
        """What is in the file now."""
        with _clear_errors(self.path):
            return _read(self._db, self.path)

    def close(self) -> None:
        """Leave a single file behind, and let others have it."""
        # Where this fails (a full disk), the journal stays beside the file and is taken up when it is opened again.
        with suppress(sqlite3.Error):
            self._db.execute("PRAGMA journal_mode = DELETE")
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with _clear_errors(self.path, writing=True), _transaction(self._db):
            yield self._db

    def _row(self, cell: Cell) -> tuple[Any, ...]:
        """The cell as a row of the table, once it is known to fit this store."""
        block = self._header if cell.block == MAIN else self._header.blocks.get(cell.block)
        if block is None:
            raise InputError(f"{self.path.name} has no block {cell.block!r}; open it with predictions that have one.")
        if cell.config not in self._positions:
            raise InputError(f"{self.path.name} has no configuration {cell.config!r}; open it with one of that name.")
        held_out = np.flatnonzero(block.folds[:, cell.repeat] == cell.fold)
        blob = None
        if cell.state == State.DONE:
            shape = (len(held_out), *block.data.shape[3:])
            if np.shape(cell.values) != shape:
                raise InputError(
                    f"a done cell of repeat {cell.repeat}, fold {cell.fold} needs predictions of shape {shape}; "
                    f"{cell.config!r} has {np.shape(cell.values)}."
                )
            blob = np.asarray(cell.values, dtype=_number_type(block.response)).tobytes()
        where = (cell.block, int(cell.repeat), int(cell.fold), self._positions[cell.config])
        seconds = None if cell.seconds is None else float(cell.seconds)
        return (*where, _name(cell.state), cell.message, seconds, blob)

    def _read_header(self) -> None:
        self._header = _read(self._db, self.path, cells=False)
        self._positions = {name: i for i, name in enumerate(self._header.configs)}

    def _extend(self, header: Predictions) -> None:
        """Add the configurations and blocks that the file does not have yet."""
        known = self._header
        new = [i for i, name in enumerate(header.configs) if name not in known.configs]
        blocks = {name: block for name, block in header.blocks.items() if name not in known.blocks}
        if not new and not blocks:
            return
        with self._transaction() as db:
            start = known.n_configs
            _insert_configs(db, start, [header.configs[i] for i in new], [header.params[i] for i in new])
            specs = {**header.provenance.get("specs", {}), **known.provenance.get("specs", {})}
            _insert_about(db, {"provenance": {**known.provenance, "specs": specs}, "blocks": [*known.blocks, *blocks]})
            for name, block in blocks.items():
                _insert_block(db, name, block)
        self._read_header()


# -- is it the same collection? -------------------------------------------------------------------------

_IDENTITY_WORDS = {"data": "data (X)", "labels": "labels (y)", "fit_params": "fit parameters"}


def _refuse_mismatch(path: Path, known: Predictions, header: Predictions, identity: Mapping[str, str]) -> None:
    before = known.provenance.get("identity")
    if before is None:
        raise StoreMismatchError(f"{path.name} was not made by collecting, so it cannot be continued. Use another store.")
    keys = [*identity, *(k for k in before if k not in identity)]
    differ = [_difference(k, before.get(k), identity.get(k)) for k in keys if before.get(k) != identity.get(k)]
    if not differ and known.fingerprint != header.fingerprint:
        differ = ["other labels or splits"]
    differ += [
        f"other splits of the block {name!r}"
        for name, block in header.blocks.items()
        if name in known.blocks and known.blocks[name].fingerprint != block.fingerprint
    ]
    old, new = known.provenance.get("specs", {}), header.provenance.get("specs", {})
    changed = [name for name in new if name in old and old[name] != new[name]]
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        differ.append(f"another configuration called {changed[0]!r}{more}")
    if differ:
        raise StoreMismatchError(
            f"{path.name} was made with {', '.join(differ)}. Use another store, or delete it to start anew."
        )


def _difference(key: str, before: str | None, now: str | None) -> str:
    word = _IDENTITY_WORDS.get(key, key.replace("_", " "))
    # Hashes and long texts tell a person nothing; a seed or a response does.
    if key in _IDENTITY_WORDS or before is None or now is None or max(len(before), len(now)) > 40:
        return f"other {word}"
    return f"{word} {before} (now {now})"


# -- the file -------------------------------------------------------------------------------------------


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{mode}"
    return sqlite3.connect(uri, uri=True, timeout=_LOCK_SECONDS, isolation_level=None)


def _create(path: Path, oof: Predictions, *, replace_existing: bool) -> None:
    """Write a new file under another name, then move it to its place: nobody ever sees half of it."""
    _check_blocks(oof)
    if path.is_dir():
        raise FileError(f"{path} is a folder; give the name of a file in it, such as {path / 'run.oof'}.")
    if not path.parent.is_dir():
        raise FileError(f"the folder {path.parent} does not exist; make it, or write to another one.")
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with closing(_connect(draft, "mode=rwc")) as db:
            db.execute("PRAGMA journal_mode = OFF")
            db.execute("PRAGMA synchronous = OFF")
            _fill(db, oof)
        _flush(draft)
        _settle(path)
        _put(draft, path, replace_existing)
    finally:
        draft.unlink(missing_ok=True)


def _fill(db: sqlite3.Connection, oof: Predictions) -> None:
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {SCHEMA}")
    db.executescript(_TABLES)
    with _transaction(db):
        _insert_samples(db, oof)
        _insert_configs(db, 0, oof.configs, oof.params)
        _insert_about(db, {"outfold": _package_version(), "fingerprint": oof.fingerprint, "blocks": list(oof.blocks)})
        db.execute("INSERT INTO about VALUES ('format', ?)", (_FORMAT,))
        for name, block in {MAIN: oof, **oof.blocks}.items():
            _insert_block(db, name, block)


def _flush(path: Path) -> None:
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def _settle(path: Path) -> None:
    """Leave no journal of an earlier file at `path`: SQLite would take it for one of the new file's."""
    journals = [path.with_name(path.name + end) for end in _JOURNALS]
    if path.exists() and any(j.exists() for j in journals):
        # What cannot be opened is going to be replaced anyway; what another process writes is not.
        try:
            with closing(_open_to_write(path)) as db:
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
        try:
            os.link(draft, path)  # unlike a move, fails where another process was quicker
            return
        except FileExistsError:
            return
        except OSError:
            pass  # a file system without links
    os.replace(draft, path)


def _open_to_read(path: Path) -> sqlite3.Connection:
    _check_exists(path)
    db = _connect(path, "mode=ro")
    try:
        _check_format(db, path)
    except sqlite3.OperationalError as error:
        db.close()
        # A journal needs a folder that can be written to, even for reading; without one the file stands still.
        if _code(error) != sqlite3.SQLITE_CANTOPEN or path.with_name(path.name + "-wal").exists():
            raise
        db = _connect(path, "mode=ro&immutable=1")
        _check_format(db, path)
    except BaseException:
        db.close()
        raise
    return db


def _open_to_write(path: Path) -> sqlite3.Connection:
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
    except BaseException:
        db.close()
        raise
    return db


def _check_exists(path: Path) -> None:
    if path.is_dir():
        raise FileError(f"{path} is a folder; an .oof file is needed.")
    if not path.exists():
        raise FileError(f"there is no file {path}.")


def _check_format(db: sqlite3.Connection, path: Path) -> None:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (schema,) = db.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise FileError(f"{path.name} is not an .oof file. Use outfold.read for tables (.csv, .parquet).")
    if schema > SCHEMA:
        raise FileError(
            f"{path.name} was made by a newer outfold (schema {schema}); this one reads up to {SCHEMA}. Upgrade outfold."
        )


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # SQLite has rolled back by itself when the disk is full
            db.execute("ROLLBACK")
        raise


# -- errors ---------------------------------------------------------------------------------------------


@contextmanager
def _clear_errors(path: Path, *, writing: bool = False) -> Iterator[None]:
    """Every way a file can fail, as a `FileError` of one clear sentence."""
    try:
        yield
    except OutfoldError:
        raise
    except sqlite3.Error as error:
        raise FileError(_sqlite_text(error, path, writing)) from error
    except UnicodeEncodeError as error:
        raise InputError(f"names and labels must be valid text; {error.object!r} cannot be written.") from error
    except OSError as error:
        code = sqlite3.SQLITE_FULL if error.errno in (errno.ENOSPC, errno.EDQUOT) else sqlite3.SQLITE_CANTOPEN
        raise FileError(_texts(path, writing).get(code, "") + f" ({error.strerror})") from error


def _code(error: sqlite3.Error) -> int:
    """The primary result code, without the details SQLite adds in the upper bytes."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _sqlite_text(error: sqlite3.Error, path: Path, writing: bool) -> str:
    if isinstance(error, sqlite3.ProgrammingError):
        return f"{path.name} has been closed; open the store again."
    known = _texts(path, writing).get(_code(error))
    return known or f"{path.name} could not be {'written' if writing else 'read'}: {error}."


def _texts(path: Path, writing: bool) -> dict[int, str]:
    damaged = f"{path.name} is damaged or cut short; restore it from a copy, or collect again."
    in_use = f"{path.name} is in use by another process. Wait until that one has finished, or use another store."
    denied = (
        f"{path} cannot be written; the folder or the disk is read-only. Choose a folder you may write to."
        if writing
        else f"{path} cannot be read; check that you may read the file and its folder."
    )
    return {
        sqlite3.SQLITE_NOTADB: f"{path.name} is not an .oof file. Use outfold.read for tables (.csv, .parquet).",
        sqlite3.SQLITE_CORRUPT: damaged,
        sqlite3.SQLITE_ERROR: damaged,
        sqlite3.SQLITE_BUSY: in_use,
        sqlite3.SQLITE_LOCKED: in_use,
        sqlite3.SQLITE_READONLY: denied,
        sqlite3.SQLITE_CANTOPEN: denied,
        sqlite3.SQLITE_PERM: denied,
        sqlite3.SQLITE_FULL: f"{path.name} could not be written, the disk is full; what was written before is kept. "
        "Free some space and go on.",
    }


# -- writing --------------------------------------------------------------------------------------------


def _check_blocks(oof: Predictions) -> None:
    for name, block in oof.blocks.items():
        if name == MAIN:
            raise InputError(f"a further block cannot be called {MAIN!r}, the name of the main one.")
        if block.configs != oof.configs or block.n_samples != oof.n_samples:
            raise InputError(f"the block {name!r} must have the samples and configurations of the whole; it has others.")


def _insert_about(db: sqlite3.Connection, facts: Mapping[str, Any]) -> None:
    rows = [(key, _dumps(value)) for key, value in facts.items()]
    db.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", rows)


def _insert_samples(db: sqlite3.Connection, oof: Predictions) -> None:
    target, types, blank = oof.target, dict[str, Any](), [None] * oof.n_samples
    assert oof.samples is not None
    types["id"], ids = _pack(oof.samples)
    groups = blank
    if oof.groups is not None:
        types["group"], groups = _pack(oof.groups)
    classes = None
    if target.classes is not None:
        types["label"], classes = _pack(target.classes)
        labels = [classes[code] for code in target.y.tolist()]
    else:
        labels = blank if target.task == "pointwise" else target.y.tolist()
    events = blank if target.event is None else target.event.tolist()
    rows = zip(range(oof.n_samples), ids, labels, events, groups, strict=True)
    db.executemany("INSERT INTO samples VALUES (?, ?, ?, ?, ?)", rows)
    _insert_about(db, {"task": target.task, "classes": classes, "types": types})


def _insert_configs(
    db: sqlite3.Connection, start: int, names: Iterable[str], params: Iterable[Mapping[str, Any]]
) -> None:
    rows = [(start + i, name, _dumps(values)) for i, (name, values) in enumerate(zip(names, params, strict=True))]
    db.executemany("INSERT INTO configs VALUES (?, ?, ?)", rows)


def _insert_block(db: sqlite3.Connection, name: str, oof: Predictions) -> None:
    """Everything that belongs to one block: facts, folds, training rows, cells."""
    facts = {
        "response": oof.response,
        "plan": oof.plan.to_dict(),
        "threshold": oof.threshold,
        "outputs": oof.data.shape[3] if oof.data.ndim == 4 else None,
        "folds": oof.n_folds,
        "notes": [[note.code, note.text] for note in oof.notes],
        "provenance": dict(oof.provenance),
    }
    _insert_about(db, {_fact(name, key): value for key, value in facts.items()})
    for r in range(oof.n_repeats):
        db.execute("INSERT INTO folds VALUES (?, ?, ?)", (name, r, oof.folds[:, r].astype("<i4").tobytes()))
    for (r, k), rows in (oof.train or {}).items():
        db.execute("INSERT INTO train VALUES (?, ?, ?, ?)", (name, int(r), int(k), rows.astype("<i4").tobytes()))
    _insert_cells(db, _cell_rows(name, oof))


def _insert_cells(db: sqlite3.Connection, rows: Iterable[tuple[Any, ...]]) -> None:
    db.executemany("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _cell_rows(name: str, oof: Predictions) -> Iterator[tuple[Any, ...]]:
    number_type = _number_type(oof.response)
    for r in range(oof.n_repeats):
        for k in range(oof.n_folds):
            values = oof.data[r][:, oof.folds[:, r] == k].astype(number_type)
            for c, state in enumerate(oof.state[:, r, k].tolist()):
                message = oof.messages.get((oof.configs[c], r, k))
                if state != State.PENDING or message is not None:
                    blob = values[c].tobytes() if state == State.DONE else None
                    yield name, r, k, c, _name(State(state)), message, None, blob


def _fact(block: str, key: str) -> str:
    return key if block == MAIN else f"{block}.{key}"


def _name(state: State) -> str:
    return State(state).name.lower()


def _number_type(response: str) -> str:
    return "<i4" if response == "label" else "<f8"


def _package_version() -> str | None:
    try:
        return version("outfold")
    except PackageNotFoundError:
        return None


# -- reading --------------------------------------------------------------------------------------------


def _about(db: sqlite3.Connection) -> dict[str, Any]:
    return {k: _loads(v) for k, v in db.execute("SELECT key, value FROM about WHERE key != 'format'")}


def _read(db: sqlite3.Connection, path: Path, *, cells: bool = True) -> Predictions:
    """The predictions in a file; without its `cells`, all of them are pending."""
    try:
        with _transaction(db):
            about = _about(db)
            shared = _read_shared(db, about)
            blocks = {name: _read_block(db, name, about, shared, cells) for name in about["blocks"]}
            return replace(_read_block(db, MAIN, about, shared, cells), blocks=blocks)
    except (LookupError, TypeError, ValueError) as error:
        raise FileError(f"{path.name} is damaged ({error}); restore it from a copy, or collect again.") from error


def _read_shared(db: sqlite3.Connection, about: dict[str, Any]) -> dict[str, Any]:
    """What all blocks have in common: labels, sample names, groups, configurations."""
    rows = db.execute('SELECT id, label, event, "group" FROM samples ORDER BY position').fetchall()
    ids, labels, events, groups = zip(*rows, strict=True)
    types = about["types"]
    names, params = zip(*db.execute("SELECT name, params FROM configs ORDER BY position"), strict=True)
    return {
        "target": _read_target(about, labels, events),
        "samples": _unpack(types["id"], ids),
        "groups": _unpack(types["group"], groups) if "group" in types else None,
        "configs": names,
        "params": tuple(map(_loads, params)),
    }


def _read_target(about: dict[str, Any], labels: tuple[Any, ...], events: tuple[Any, ...]) -> Target:
    task, classes = about["task"], about["classes"]
    if classes is not None:
        code_of = {label: code for code, label in enumerate(classes)}
        codes = np.array([code_of[label] for label in labels], dtype=np.intp)
        return Target(task, codes, _unpack(about["types"]["label"], classes))
    y = np.zeros(len(labels)) if task == "pointwise" else np.array(labels, dtype=np.float64)
    return Target(task, y, event=np.array(events, dtype=bool) if task == "survival" else None)


def _read_block(
    db: sqlite3.Connection, name: str, about: dict[str, Any], shared: dict[str, Any], cells: bool
) -> Predictions:
    columns = db.execute("SELECT fold_of_sample FROM folds WHERE block = ? ORDER BY repeat", (name,))
    folds = np.stack([np.frombuffer(blob, dtype="<i4") for (blob,) in columns], axis=1).astype(np.int32)
    response, outputs = about[_fact(name, "response")], about[_fact(name, "outputs")]
    shape = (folds.shape[1], len(shared["configs"]), len(folds), *([] if outputs is None else [outputs]))
    data = np.full(shape, -1, dtype=np.intp) if response == "label" else np.full(shape, np.nan)
    state = np.zeros((shape[1], shape[0], about[_fact(name, "folds")]), dtype=np.uint8)
    messages = _read_cells(db, name, shared["configs"], folds, data, state) if cells else {}
    train = {
        (r, k): np.frombuffer(blob, dtype="<i4").astype(np.intp)
        for r, k, blob in db.execute("SELECT repeat, fold, samples FROM train WHERE block = ?", (name,))
    }
    return Predictions(
        data=data,
        folds=folds,
        state=state,
        response=response,
        plan=Plan.from_dict(about[_fact(name, "plan")]),
        train=train or None,
        threshold=about[_fact(name, "threshold")],
        messages=messages,
        notes=tuple(Note(*note) for note in about[_fact(name, "notes")]),
        provenance=about[_fact(name, "provenance")],
        **shared,
    )


def _read_cells(
    db: sqlite3.Connection,
    name: str,
    configs: tuple[str, ...],
    folds: NDArray[np.int32],
    data: NDArray[Any],
    state: NDArray[np.uint8],
) -> dict[tuple[str, int, int], str]:
    """Put the cells of a block into `data` and `state`; give their messages back."""
    number_type = "<i4" if data.dtype.kind == "i" else "<f8"
    messages = {}
    query = "SELECT repeat, fold, config, state, message, predictions FROM cells WHERE block = ? ORDER BY repeat, fold"
    for (r, k), rows in groupby(db.execute(query, (name,)), key=itemgetter(0, 1)):
        done, blobs = [], []
        for *_, c, word, message, blob in rows:
            state[c, r, k] = State[word.upper()]
            if message is not None:
                messages[configs[c], r, k] = message
            if word == "done":
                done.append(c)
                blobs.append(blob)
        held_out = np.flatnonzero(folds[:, r] == k)
        values = np.frombuffer(b"".join(blobs), dtype=number_type)
        data[r][np.ix_(done, held_out)] = values.reshape(len(done), len(held_out), *data.shape[3:])
    return messages


# -- values: numpy and Python types to those of SQLite and json, and back --------------------------------

_TUPLE = "__tuple__"


def _dumps(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False)


def _loads(text: str) -> Any:
    return json.loads(text, object_hook=lambda d: tuple(d[_TUPLE]) if d.keys() == {_TUPLE} else d)


def _plain(value: Any) -> Any:
    """The value in json's types; a tuple is marked as one, and what json cannot hold becomes its repr."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, tuple):
        return {_TUPLE: [_plain(v) for v in value]}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, Mapping) and all(isinstance(k, str) for k in value):
        return {k: _plain(v) for k, v in value.items()}
    return repr(value)


_PYTHON_TYPES: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "NoneType": lambda _: None}


def _pack(array: NDArray[Any]) -> tuple[dict[str, Any], list[Any]]:
    """An array as values SQLite can hold, and what is needed to make it again."""
    how: dict[str, Any] = {"dtype": array.dtype.str}
    if array.dtype.kind in "biufU":
        values = array.tolist()
    elif array.dtype.kind == "O":
        values = [v.item() if isinstance(v, np.generic) else v for v in array.tolist()]
        values = [v if type(v).__name__ in _PYTHON_TYPES else str(v) for v in values]
        types = [type(v).__name__ for v in values]
        how["types"] = types[0] if len(set(types)) == 1 else types
    else:
        values = array.astype(str).tolist()
    return how, [_sql(v) for v in values]


def _sql(value: Any) -> Any:
    """SQLite has integers of 64 bits with sign, no NaN, and no bool."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value)
    return None if value != value else value


def _unpack(how: dict[str, Any], values: Iterable[Any]) -> NDArray[Any]:
    dtype, values = np.dtype(how["dtype"]), list(values)
    if dtype.kind == "O":
        types = [how["types"]] * len(values) if isinstance(how["types"], str) else how["types"]
        out = np.empty(len(values), dtype=object)
        out[:] = [_PYTHON_TYPES[t](np.nan if v is None else v) for t, v in zip(types, values, strict=True)]
        return out
    if dtype.kind == "f":
        values = [np.nan if v is None else v for v in values]
    elif dtype.kind in "iu":
        values = [int(v) for v in values]
    return np.array(values, dtype=dtype)
