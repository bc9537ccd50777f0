"""What is in an .oof file: the tables of schema 5, how `Predictions` go into them, and the digest over the header.

The tables are described in ``docs/format.md`` and, shorter, in the file itself (table ``about``). `reading` reads them.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..data.criterion import Criterion
from ..data.predictions import Predictions, State
from ..data.splitting import Splits
from ..data.stored import outputs_of
from ..exceptions import InputError, got, invalid
from .facts import strange_provenance
from .values import dumps, loads, pack

APPLICATION_ID = 0x6F6F6631  # "oof1"
SCHEMA = 5
WITH_SCORES = 3  # the first schema whose cells have scores of fitted models
WITH_DIGEST = 5  # the first schema with a digest of the header, and with numbers in a table of their own
MAIN = "oof"
_DIGEST = "digest"
_PAGE_SIZES = (4096, 8192, 16384, 32768, 65536)
_SMALL_FILE = 1 << 22
# Cells whose bytes wait in memory to be written.
_CELLS_AT_ONCE = 200
# Values of a column that are written as json at once.
_VALUES_AT_ONCE = 50
_HASH_BYTES = 16

_HEADER = {
    "about": "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "samples": 'CREATE TABLE samples (position INTEGER PRIMARY KEY, id, label, event INTEGER, "group")',
    "configs": "CREATE TABLE configs (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, params TEXT NOT NULL)",
    "folds": "CREATE TABLE folds (block TEXT, repeat INTEGER, fold_of_sample BLOB NOT NULL, PRIMARY KEY (block, repeat))",
    "train": "CREATE TABLE train (block TEXT, repeat INTEGER, fold INTEGER, samples BLOB NOT NULL, "
    "PRIMARY KEY (block, repeat, fold))",
}
# The small facts of a cell lie apart from its numbers, so that a file of gigabytes is summed up by reading a few pages.
_CELLS = {
    "cells": "CREATE TABLE cells (block TEXT, repeat INTEGER, fold INTEGER, config INTEGER REFERENCES configs (position), "
    "state TEXT NOT NULL, message TEXT, seconds REAL, checksum INTEGER, scores TEXT, numbers INTEGER, "
    "PRIMARY KEY (block, repeat, fold, config)) WITHOUT ROWID",
    "numbers": "CREATE TABLE numbers (id INTEGER PRIMARY KEY, predictions BLOB NOT NULL, labels BLOB)",
}
_OLD_CELLS = (
    "CREATE TABLE cells ( block TEXT, repeat INTEGER, fold INTEGER, config INTEGER REFERENCES configs (position), "
    "state TEXT NOT NULL, message TEXT, seconds REAL, predictions BLOB, labels BLOB, checksum INTEGER,{} "
    "PRIMARY KEY (block, repeat, fold, config) )"
)
# Columns of the tables that the digest covers, in the order of their rows.
COLUMNS = {
    "about": ("SELECT key, value FROM about WHERE key != 'digest' ORDER BY key", 2),
    "samples": ('SELECT position, id, label, event, "group" FROM samples ORDER BY position', 5),
    "configs": ("SELECT position, name, params FROM configs ORDER BY position", 3),
    "folds": ("SELECT block, repeat, fold_of_sample FROM folds ORDER BY block, repeat", 3),
    "train": ("SELECT block, repeat, fold, samples FROM train ORDER BY block, repeat, fold", 4),
}


def known_tables(version: int) -> dict[str, str]:
    """The tables of a schema, written with single spaces."""
    if version >= WITH_DIGEST:
        return _HEADER | _CELLS
    return _HEADER | {"cells": _OLD_CELLS.format(" scores TEXT," if version >= WITH_SCORES else "")}


_FORMAT = """\
An .oof file of outfold: out-of-fold predictions of every configuration that was tried.
samples: one row a sample; label is the class label, the value or the survival time; event is 1 where it was observed.
configs: the configurations that were tried and the parameters that tell them apart (json).
folds: for every repeat the fold that held out each sample, int32, -1 where none did, in the order of the samples.
train: training samples (positions, int32) of a fold, only where they are not simply all samples outside of it.
cells: one row for a (block, repeat, fold, config) that is done, dropped or failed; a cell without a row is pending.
cells.scores: scores that the fitted model got in the worker, by name (json), only where it was scored there.
cells.numbers: of a done cell, the id of its row in the table numbers.
cells.checksum: CRC-32 of predictions followed by labels and scores.
numbers.predictions: float64 (int32 class codes for labels), one for each sample held out, in ascending position; where
there are several outputs (classes) a sample's outputs stand together. All numbers are little-endian. With the
response survival, the outputs are the risk and the survival curve at the times, NaN where a model gives no curve.
numbers.labels: int32 class codes that the model's predict gave, only where they are not the cut of the predictions.
digest: hashes of the tables about, samples, configs, folds and train.
criterion: what selects a configuration: the metric, how its values on folds become one score, and the rule.
block: "oof" is the cross-validation itself; others, such as "inner", have folds and cells of their own.
The other keys of this table are json; those of a further block carry its name and a point in front."""


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Everything that is done inside, or nothing of it."""
    if db.in_transaction:  # Ctrl-C came between the next line and the one after it, in an earlier call
        db.execute("ROLLBACK")
    db.execute("BEGIN")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # SQLite has rolled back by itself when the disk is full
            db.execute("ROLLBACK")
        raise


# -- writing --------------------------------------------------------------------------------------------


def check_blocks(oof: Predictions) -> None:
    """Refuse blocks that one file cannot hold together, and facts that could not be read again."""
    for name, block in oof.blocks.items():
        if name == MAIN:
            raise InputError(f"a further block cannot be called {MAIN!r}, the name of the main one.")
        if block.configs != oof.configs or block.n_samples != oof.n_samples:
            needed = "must have the samples and configurations of the whole"
            raise invalid(f"the block {name!r}", needed, "it has others")
    for part in (oof, *oof.blocks.values()):
        strange = strange_provenance(loads(dumps(dict(part.provenance))))
        if strange is not None:
            needed = f"must have a value for {strange!r} that `collect` could have written, or another name for it"
            raise invalid("provenance", needed, got(part.provenance[strange]))


@contextmanager
def changing(db: sqlite3.Connection, *tables: str) -> Iterator[None]:
    """A transaction that changes these tables of the header, and their digests with them."""
    with transaction(db):
        yield
        seal(db, "about", *tables)


def seal(db: sqlite3.Connection, *tables: str) -> None:
    """Record the digests of these tables as they are now, in a file whose schema has them."""
    if db.execute("PRAGMA user_version").fetchone()[0] < WITH_DIGEST:
        return
    known = db.execute("SELECT value FROM about WHERE key = ?", (_DIGEST,)).fetchone()
    digests = {} if known is None else loads(known[0])
    digests |= {table: digest_of(columns_of(db, table)) for table in tables}
    insert_about(db, {_DIGEST: digests})


def columns_of(db: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    """The columns of a table of the header; empty ones if it has no row."""
    query, n = COLUMNS[table]
    flat = list(chain.from_iterable(db.execute(query)))
    return [tuple(flat[i::n]) for i in range(n)]


def mark_of(db: sqlite3.Connection) -> tuple[Any, ...]:
    """What tells other predictions apart: the digests of samples, configurations and folds, and the sum of all checksums."""
    (text,) = db.execute("SELECT value FROM about WHERE key = ?", (_DIGEST,)).fetchone()
    digests = dict(loads(text))
    cells = db.execute("SELECT count(*), total(checksum) FROM cells WHERE state = 'done'").fetchone()
    return (*(digests.get(table) for table in COLUMNS if table != "about"), *cells)


def digest_of(columns: list[tuple[Any, ...]]) -> str:
    """The hash of columns written as json, with the hash of a blob in its place."""
    found = hashlib.blake2b(digest_size=_HASH_BYTES)
    for piece in _json_of(columns):
        found.update(piece.encode())
    return found.hexdigest()


def _json_of(columns: list[tuple[Any, ...]]) -> Iterator[str]:
    """What `json.dumps` gives, in pieces: parameters of a gigabyte are not copied as a whole."""
    for i, column in enumerate(columns):
        yield ", [" if i else "[["
        for start in range(0, len(column), _VALUES_AT_ONCE):
            piece = json.dumps(column[start : start + _VALUES_AT_ONCE], ensure_ascii=False, default=_hash)
            yield ", " * (start > 0) + piece[1:-1]
        yield "]"
    yield "]"


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=_HASH_BYTES).hexdigest()


def insert_about(db: sqlite3.Connection, facts: Mapping[str, Any]) -> None:
    """Facts by name, as json; one that is there already is replaced."""
    rows = [(key, dumps(value)) for key, value in facts.items()]
    db.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", rows)


def insert_criterion(db: sqlite3.Connection, criterion: Criterion) -> None:
    """What selects, in place of what did."""
    insert_about(db, {"criterion": criterion.to_dict()})


def provenance_of(db: sqlite3.Connection) -> dict[str, Any]:
    """The provenance of the main block."""
    (text,) = db.execute("SELECT value FROM about WHERE key = 'provenance'").fetchone()
    found: dict[str, Any] = loads(text)
    return found


def migrate(db: sqlite3.Connection, criterion: Criterion) -> None:
    """Bring a file of an earlier schema, which is about to be written to, to this one; nothing of it is lost."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version == SCHEMA:
        return
    with changing(db, *_HEADER):
        insert_criterion(db, criterion)
        db.execute("ALTER TABLE cells RENAME TO old_cells")
        for sql in _CELLS.values():
            db.execute(sql)
        db.execute("INSERT INTO numbers SELECT rowid, predictions, labels FROM old_cells WHERE predictions IS NOT NULL")
        db.execute(
            f"INSERT INTO cells SELECT block, repeat, fold, config, state, message, seconds, checksum, "
            f"{'scores' if version >= WITH_SCORES else 'NULL'}, CASE WHEN predictions IS NOT NULL THEN rowid END FROM old_cells"
        )
        db.execute("DROP TABLE old_cells")
        db.execute("UPDATE about SET value = ? WHERE key = 'format'", (_FORMAT,))
        db.execute(f"PRAGMA user_version = {SCHEMA}")


def _insert_samples(db: sqlite3.Connection, oof: Predictions) -> None:
    target, types, blank = oof.target, dict[str, Any](), [None] * oof.n_samples
    assert oof.samples is not None
    types["id"], ids = pack(oof.samples)
    groups, classes = blank, None
    if oof.groups is not None:
        types["group"], groups = pack(oof.groups)
    if target.classes is not None:
        types["label"], classes = pack(target.classes)
        labels = [classes[code] for code in target.y.tolist()]
    else:
        labels = blank if target.task == "pointwise" else target.y.tolist()
    events = blank if target.event is None else target.event.tolist()
    rows = zip(range(oof.n_samples), ids, labels, events, groups, strict=True)
    db.executemany("INSERT INTO samples VALUES (?, ?, ?, ?, ?)", rows)
    insert_about(db, {"task": target.task, "classes": classes, "types": types})


def insert_configs(
    db: sqlite3.Connection, start: int, names: Iterable[str], params: Iterable[Mapping[str, Any]]
) -> None:
    """Configurations at the positions from `start` on."""
    rows = [(start + i, name, dumps(values)) for i, (name, values) in enumerate(zip(names, params, strict=True))]
    db.executemany("INSERT INTO configs VALUES (?, ?, ?)", rows)


def insert_block(db: sqlite3.Connection, name: str, oof: Predictions) -> None:
    """Everything that belongs to one block: facts, folds, training rows, cells."""
    facts = {
        "response": oof.response,
        "plan": oof.plan.to_dict(),
        "threshold": oof.threshold,
        "outputs": next(iter(outputs_of(oof)), None),
        "times": None if oof.times is None else oof.times.tolist(),
        "folds": oof.n_folds,
        "fingerprint": oof.fingerprint,
        "notes": [[note.code, note.text] for note in oof.notes],
        "provenance": dict(oof.provenance),
    }
    insert_about(db, {_fact(name, key): value for key, value in facts.items()})
    _insert_folds(db, name, oof.folds, range(oof.n_repeats))
    for (r, k), rows in (oof.train or {}).items():
        db.execute("INSERT INTO train VALUES (?, ?, ?, ?)", (name, int(r), int(k), rows.astype("<i4").tobytes()))
    CellWriter(db).write(_cell_rows(name, oof))


def insert_repeats(db: sqlite3.Connection, name: str, splits: Splits, fingerprint: str, start: int) -> None:
    """The repeats of a block from `start` on, after those that are there."""
    insert_about(db, {_fact(name, "plan"): splits.plan.to_dict(), _fact(name, "fingerprint"): fingerprint})
    _insert_folds(db, name, splits.folds, range(start, splits.n_repeats))


def _insert_folds(db: sqlite3.Connection, name: str, folds: NDArray[np.int32], repeats: Iterable[int]) -> None:
    rows = [(name, r, folds[:, r].astype("<i4").tobytes()) for r in repeats]
    db.executemany("INSERT INTO folds VALUES (?, ?, ?)", rows)


class CellWriter:
    """Puts cells and their numbers into a database; a cell that is there already is replaced."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        (self._last,) = db.execute("SELECT coalesce(max(id), 0) FROM numbers").fetchone()

    def write(self, cells: Iterable[CellRow]) -> None:
        """Write cells, in the transaction that is open."""
        waiting = iter(cells)
        while some := list(islice(waiting, _CELLS_AT_ONCE)):
            self._write(some)

    def _write(self, cells: list[CellRow]) -> None:
        rows: list[tuple[Any, ...]] = []
        numbers, left = [], []
        find = "SELECT numbers FROM cells WHERE block = ? AND repeat = ? AND fold = ? AND config = ?"
        for where, facts, blobs in cells:
            before = self._db.execute(find, where).fetchone()
            place = None if before is None else before[0]
            if blobs is None:
                left += [(place,)] * (place is not None)
                rows.append((*where, *facts, None, None, None))
                continue
            if place is None:
                place = self._last = self._last + 1
            rows.append((*where, *facts, blobs.checksum, blobs.scores, place))
            numbers.append((place, blobs.predictions, blobs.labels))
        self._db.executemany("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        self._db.executemany("INSERT OR REPLACE INTO numbers VALUES (?, ?, ?)", numbers)
        self._db.executemany("DELETE FROM numbers WHERE id = ?", left)


class Blobs(NamedTuple):
    """What a done cell holds."""

    predictions: bytes
    labels: bytes | None
    checksum: int
    scores: str | None


# (block, repeat, fold, config), (state, message, seconds), and what it holds if it is done.
CellRow = tuple[tuple[str, int, int, int], tuple[str, str | None, float | None], Blobs | None]


def blobs_of(
    values: NDArray[Any], labels: NDArray[Any] | None, response: str, scores: Mapping[str, float] | None = None
) -> Blobs:
    """What a done cell holds, as columns of the tables."""
    blob = values.astype("<i4" if response == "label" else "<f8").tobytes()
    own = None if labels is None else labels.astype("<i4").tobytes()
    live = None
    if scores:
        live = dumps({name: None if np.isnan(score) else float(score) for name, score in scores.items()})
    return Blobs(blob, own, checksum(blob, own, live), live)


def checksum(blob: bytes, labels: bytes | None, scores: str | None) -> int:
    """CRC-32 of what a done cell holds."""
    return zlib.crc32((scores or "").encode(), zlib.crc32(labels or b"", zlib.crc32(blob)))


def _cell_rows(name: str, oof: Predictions) -> Iterator[CellRow]:
    if not oof.messages and not oof.state.any():
        return
    cut = None if oof.labels is None else oof.cut()
    for r in range(oof.n_repeats):
        for k in range(oof.n_folds):
            held_out = oof.folds[:, r] == k
            values = oof.data[r][:, held_out]
            for c, state in enumerate(oof.state[:, r, k].tolist()):
                message = oof.messages.get((oof.configs[c], r, k))
                if state != State.PENDING or message is not None:
                    blobs = None
                    if state == State.DONE:
                        labels = None if oof.labels is None else oof.labels[r, c, held_out]
                        if labels is not None and cut is not None and np.array_equal(labels, cut[r, c, held_out]):
                            labels = None
                        live = {score: by_cell[c, r, k] for score, by_cell in oof.live_scores.items()}
                        blobs = blobs_of(values[c], labels, oof.response, live)
                    known = oof.seconds is not None and not np.isnan(oof.seconds[c, r, k])
                    seconds = float(oof.seconds[c, r, k]) if known else None  # type: ignore[index]
                    yield (name, r, k, c), (State(state).name.lower(), message, seconds), blobs


def _fact(block: str, key: str) -> str:
    return key if block == MAIN else f"{block}.{key}"


def _page_size(oof: Predictions) -> int:
    """The size of SQLite's pages that the cells of these predictions fill best; small files have small pages."""
    held_out = np.count_nonzero(oof.folds >= 0) / max(1, int(oof.planned.sum()))
    cell = int(held_out) * math.prod(outputs_of(oof)) * (4 if oof.response == "label" else 8)
    if cell * oof.n_configs * int(oof.planned.sum()) < _SMALL_FILE:
        return _PAGE_SIZES[0]
    taken = {page: _bytes_of_row(cell, page) for page in _PAGE_SIZES}
    return next(page for page in _PAGE_SIZES if taken[page] <= 1.01 * min(taken.values()))


def _bytes_of_row(blob: int, page: int) -> float:
    """What a row with one blob takes on disk; what has no room in a page goes on in pages of its own (SQLite format, 1.6)."""
    row, most, least = blob + 5, page - 35, (page - 12) * 32 // 255 - 23
    if row <= most:
        return page / ((page - 8) // (row + 8))
    local = least + (row - least) % (page - 4)
    local = local if local <= most else least
    return page / ((page - 8) // (local + 12)) + page * math.ceil((row - local) / (page - 4))


def create(db: sqlite3.Connection, oof: Predictions) -> None:
    """Make the tables in an empty database, and put the predictions into them."""
    db.execute(f"PRAGMA page_size = {_page_size(oof)}")
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {SCHEMA}")
    for sql in (_HEADER | _CELLS).values():
        db.execute(sql)
    with changing(db, *_HEADER):
        _insert_samples(db, oof)
        insert_configs(db, 0, oof.configs, oof.params)
        insert_about(db, {"outfold": __version__, "blocks": list(oof.blocks)})
        insert_criterion(db, oof.criterion)
        db.execute("INSERT INTO about VALUES ('format', ?)", (_FORMAT,))
        for name, block in {MAIN: oof, **oof.blocks}.items():
            insert_block(db, name, block)
