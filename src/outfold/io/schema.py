"""What is in an .oof file: tables, rows and values of schema 4, how `Predictions` go in and come out.

The tables are described in ``docs/format.md`` and, shorter, in the file itself (table ``about``).
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..data.criterion import Criterion
from ..data.notes import Note
from ..data.plan import Plan
from ..data.predictions import Predictions, State
from ..data.splitting import Splits
from ..data.target import Target
from ..exceptions import InputError, invalid

APPLICATION_ID = 0x6F6F6631  # "oof1"
SCHEMA = 4
_WITH_SCORES = 3  # the first schema whose cells have scores of fitted models
MAIN = "oof"
_CRITERION = "criterion"
# More folds than samples make no sense but a few; a damaged number must not ask for all the memory there is.
_MOST_FOLDS = 1000

_TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE samples (position INTEGER PRIMARY KEY, id, label, event INTEGER, "group");
CREATE TABLE configs (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, params TEXT NOT NULL);
CREATE TABLE folds (block TEXT, repeat INTEGER, fold_of_sample BLOB NOT NULL, PRIMARY KEY (block, repeat));
CREATE TABLE train (block TEXT, repeat INTEGER, fold INTEGER, samples BLOB NOT NULL, PRIMARY KEY (block, repeat, fold));
CREATE TABLE cells (
    block TEXT, repeat INTEGER, fold INTEGER, config INTEGER REFERENCES configs (position),
    state TEXT NOT NULL, message TEXT, seconds REAL, predictions BLOB, labels BLOB, checksum INTEGER, scores TEXT,
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
there are several outputs (classes) a sample's outputs stand together. All numbers are little-endian. With the
response survival, the outputs are the risk and the survival curve at the times, NaN where a model gives no curve.
cells.labels: int32 class codes that the model's predict gave, only where they are not the cut of the predictions.
cells.scores: scores that the fitted model got in the worker, by name (json), only where it was scored there.
cells.checksum: CRC-32 of predictions followed by labels and scores.
criterion: what selects a configuration: the metric, how its values on folds become one score, and the rule.
block: "oof" is the cross-validation itself; others, such as "inner", have folds and cells of their own.
The other keys of this table are json; those of a further block carry its name and a point in front."""


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Everything that is done inside, or nothing of it."""
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
    """Refuse blocks that one file cannot hold together."""
    for name, block in oof.blocks.items():
        if name == MAIN:
            raise InputError(f"a further block cannot be called {MAIN!r}, the name of the main one.")
        if block.configs != oof.configs or block.n_samples != oof.n_samples:
            needed = "must have the samples and configurations of the whole"
            raise invalid(f"the block {name!r}", needed, "it has others")


def insert_about(db: sqlite3.Connection, facts: Mapping[str, Any]) -> None:
    """Facts by name, as json; one that is there already is replaced."""
    rows = [(key, _dumps(value)) for key, value in facts.items()]
    db.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", rows)


def insert_criterion(db: sqlite3.Connection, criterion: Criterion) -> None:
    """What selects, in place of what did."""
    insert_about(db, {_CRITERION: criterion.to_dict()})


def migrate(db: sqlite3.Connection) -> None:
    """Bring a file of an earlier schema, which is about to be written to, to this one; nothing of it is lost."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version == SCHEMA:
        return
    with transaction(db):
        insert_criterion(db, _criterion(read_about(db)))
        if version < _WITH_SCORES:
            db.execute("ALTER TABLE cells ADD COLUMN scores TEXT")
        db.execute("UPDATE about SET value = ? WHERE key = 'format'", (_FORMAT,))
        db.execute(f"PRAGMA user_version = {SCHEMA}")


def _insert_samples(db: sqlite3.Connection, oof: Predictions) -> None:
    target, types, blank = oof.target, dict[str, Any](), [None] * oof.n_samples
    assert oof.samples is not None
    types["id"], ids = _pack(oof.samples)
    groups, classes = blank, None
    if oof.groups is not None:
        types["group"], groups = _pack(oof.groups)
    if target.classes is not None:
        types["label"], classes = _pack(target.classes)
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
    rows = [(start + i, name, _dumps(values)) for i, (name, values) in enumerate(zip(names, params, strict=True))]
    db.executemany("INSERT INTO configs VALUES (?, ?, ?)", rows)


def insert_block(db: sqlite3.Connection, name: str, oof: Predictions) -> None:
    """Everything that belongs to one block: facts, folds, training rows, cells."""
    facts = {
        "response": oof.response,
        "plan": oof.plan.to_dict(),
        "threshold": oof.threshold,
        "outputs": oof.data.shape[3] if oof.data.ndim == 4 else None,
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
    insert_cells(db, _cell_rows(name, oof))


def insert_repeats(db: sqlite3.Connection, name: str, splits: Splits, fingerprint: str, start: int) -> None:
    """The repeats of a block from `start` on, after those that are there."""
    insert_about(db, {_fact(name, "plan"): splits.plan.to_dict(), _fact(name, "fingerprint"): fingerprint})
    _insert_folds(db, name, splits.folds, range(start, splits.n_repeats))


def _insert_folds(db: sqlite3.Connection, name: str, folds: NDArray[np.int32], repeats: Iterable[int]) -> None:
    rows = [(name, r, folds[:, r].astype("<i4").tobytes()) for r in repeats]
    db.executemany("INSERT INTO folds VALUES (?, ?, ?)", rows)


def insert_cells(db: sqlite3.Connection, rows: Iterable[tuple[Any, ...]]) -> None:
    """Rows of the table ``cells``; one that is there already is replaced."""
    db.executemany("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def blobs_of(
    values: NDArray[Any], labels: NDArray[Any] | None, response: str, scores: Mapping[str, float] | None = None
) -> tuple[bytes, bytes | None, int, str | None]:
    """The columns ``predictions``, ``labels``, ``checksum`` and ``scores`` of a done cell."""
    blob = values.astype("<i4" if response == "label" else "<f8").tobytes()
    own = None if labels is None else labels.astype("<i4").tobytes()
    live = None
    if scores:
        live = _dumps({name: None if np.isnan(score) else float(score) for name, score in scores.items()})
    return blob, own, _checksum(blob, own, live), live


def _checksum(blob: bytes, labels: bytes | None, scores: str | None) -> int:
    return zlib.crc32((scores or "").encode(), zlib.crc32(labels or b"", zlib.crc32(blob)))


def _cell_rows(name: str, oof: Predictions) -> Iterator[tuple[Any, ...]]:
    cut = None if oof.labels is None else oof.cut()
    for r in range(oof.n_repeats):
        for k in range(oof.n_folds):
            held_out = oof.folds[:, r] == k
            values = oof.data[r][:, held_out]
            for c, state in enumerate(oof.state[:, r, k].tolist()):
                message = oof.messages.get((oof.configs[c], r, k))
                if state != State.PENDING or message is not None:
                    blobs: tuple[Any, ...] = (None, None, None, None)
                    if state == State.DONE:
                        labels = None if oof.labels is None else oof.labels[r, c, held_out]
                        if labels is not None and cut is not None and np.array_equal(labels, cut[r, c, held_out]):
                            labels = None
                        live = {score: by_cell[c, r, k] for score, by_cell in oof.live_scores.items()}
                        blobs = blobs_of(values[c], labels, oof.response, live)
                    known = oof.seconds is not None and not np.isnan(oof.seconds[c, r, k])
                    seconds = float(oof.seconds[c, r, k]) if known else None  # type: ignore[index]
                    yield name, r, k, c, State(state).name.lower(), message, seconds, *blobs


def _fact(block: str, key: str) -> str:
    return key if block == MAIN else f"{block}.{key}"


def create(db: sqlite3.Connection, oof: Predictions) -> None:
    """Make the tables in an empty database, and put the predictions into them."""
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {SCHEMA}")
    db.executescript(_TABLES)
    with transaction(db):
        _insert_samples(db, oof)
        insert_configs(db, 0, oof.configs, oof.params)
        insert_about(db, {"outfold": __version__, "blocks": list(oof.blocks)})
        insert_criterion(db, oof.criterion)
        db.execute("INSERT INTO about VALUES ('format', ?)", (_FORMAT,))
        for name, block in {MAIN: oof, **oof.blocks}.items():
            insert_block(db, name, block)


# -- reading --------------------------------------------------------------------------------------------


def read_about(db: sqlite3.Connection) -> dict[str, Any]:
    """All facts by name."""
    return {k: _loads(v) for k, v in db.execute("SELECT key, value FROM about WHERE key != 'format'")}


def read_predictions(db: sqlite3.Connection, *, cells: bool = True) -> Predictions:
    """The predictions in a database; without its `cells`, all of them are pending."""
    with transaction(db):
        about = read_about(db)
        shared = _read_shared(db, about)
        blocks = {name: _read_block(db, name, about, shared, cells) for name in about["blocks"]}
        main = _read_block(db, MAIN, about, shared, cells)
        return replace(main, blocks=blocks, criterion=_criterion(about))


def _criterion(about: Mapping[str, Any]) -> Criterion:
    """What selects; files of schema 1 do not say, and mean the default."""
    return Criterion.from_dict(about[_CRITERION]) if _CRITERION in about else Criterion()


def _read_shared(db: sqlite3.Connection, about: dict[str, Any]) -> dict[str, Any]:
    """What all blocks have in common: labels, sample names, groups, configurations."""
    rows = db.execute('SELECT position, id, label, event, "group" FROM samples ORDER BY position').fetchall()
    positions, ids, labels, events, groups = zip(*rows, strict=True)
    _check_positions("samples", positions)
    types = about["types"]
    rows = db.execute("SELECT position, name, params FROM configs ORDER BY position").fetchall()
    positions, names, params = zip(*rows, strict=True)
    _check_positions("configurations", positions)
    return {
        "target": _read_target(about, labels, events),
        "samples": _unpack(types["id"], ids),
        "groups": _unpack(types["group"], groups) if "group" in types else None,
        "configs": names,
        "params": tuple(map(_loads, params)),
    }


def _check_positions(what: str, positions: Sequence[Any]) -> None:
    if list(positions) != list(range(len(positions))):
        raise ValueError(f"{what} are not numbered from 0 on")


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
    folds, n_folds = _read_folds(db, name, about, len(shared["target"]))
    response, outputs = about[_fact(name, "response")], about[_fact(name, "outputs")]
    times = about.get(_fact(name, "times"))  # files of schema 1 to 3 have none
    shape = (folds.shape[1], len(shared["configs"]), len(folds), *([] if outputs is None else [outputs]))
    data = np.full(shape, -1, dtype=np.intp) if response == "label" else np.full(shape, np.nan)
    state = np.zeros((shape[1], shape[0], n_folds), dtype=np.uint8)
    seconds = np.full(state.shape, np.nan)
    into = _Arrays(folds, data, state, seconds)
    messages = _read_cells(db, name, shared["configs"], into) if cells else {}
    train = {
        (r, k): np.frombuffer(blob, dtype="<i4").astype(np.intp)
        for r, k, blob in db.execute("SELECT repeat, fold, samples FROM train WHERE block = ?", (name,))
    }
    if any(np.any((rows < 0) | (rows >= len(folds))) for rows in train.values()):
        raise ValueError("training samples that do not exist")
    oof = Predictions(
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
        seconds=None if np.isnan(seconds).all() else seconds,
        labels=into.labels,
        live_scores=into.scores,
        times=None if times is None else np.array(times, dtype=np.float64),
        **shared,
    )
    if oof.fingerprint != about[_fact(name, "fingerprint")]:
        raise ValueError("labels or folds are not those that were written")
    return oof


def _read_folds(
    db: sqlite3.Connection, name: str, about: dict[str, Any], n_samples: int
) -> tuple[NDArray[np.int32], int]:
    """The folds of a block, and the largest number of them in a repeat."""
    rows = db.execute("SELECT repeat, fold_of_sample FROM folds WHERE block = ? ORDER BY repeat", (name,)).fetchall()
    _check_positions("repeats", [r for r, _ in rows])
    folds = np.stack([np.frombuffer(blob, dtype="<i4") for _, blob in rows], axis=1).astype(np.int32)
    n_folds, outputs = about[_fact(name, "folds")], about[_fact(name, "outputs")]
    if len(folds) != n_samples or folds.min() < -1 or not folds.max() < n_folds <= max(n_samples, _MOST_FOLDS):
        raise ValueError("folds that do not fit the samples")
    times = about.get(_fact(name, "times"))
    if outputs is not None and outputs != (len(about["classes"] or ()) if times is None else 1 + len(times)):
        raise ValueError("a number of outputs that does not fit the classes or the times")
    return folds, int(n_folds)


@dataclass
class _Arrays:
    """What the cells of a block are read into."""

    folds: NDArray[np.int32]
    data: NDArray[Any]
    state: NDArray[np.uint8]
    seconds: NDArray[np.float64]
    labels: NDArray[np.intp] | None = None
    scores: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def has(self, repeat: Any, fold: Any, config: Any) -> bool:
        """Whether there is such a cell; a negative number would be taken for one from the end."""
        n_configs, n_repeats, n_folds = self.state.shape
        return bool(0 <= repeat < n_repeats and 0 <= fold < n_folds and 0 <= config < n_configs)

    def put_labels(self, repeat: int, config: int, rows: NDArray[np.intp], blob: bytes) -> None:
        """The labels of a cell that are not the cut of its predictions."""
        if self.labels is None:
            self.labels = np.full(self.data.shape[:3], -1, dtype=np.intp)
        labels = np.frombuffer(blob, dtype="<i4")
        if labels.min(initial=0) < 0:
            raise ValueError("labels that are no class codes")
        self.labels[repeat, config, rows] = labels

    def put_scores(self, repeat: int, fold: int, config: int, text: str) -> None:
        """The scores that the fitted model of a cell got."""
        for name, score in _loads(text).items():
            if name not in self.scores:
                self.scores[name] = np.full(self.state.shape, np.nan)
            self.scores[name][config, repeat, fold] = np.nan if score is None else float(score)


def _read_cells(
    db: sqlite3.Connection, name: str, configs: tuple[str, ...], into: _Arrays
) -> dict[tuple[str, int, int], str]:
    """Put the cells of a block into the arrays; give their messages back."""
    dtype = "<i4" if into.data.dtype.kind == "i" else "<f8"
    messages = {}
    (version,) = db.execute("PRAGMA user_version").fetchone()
    query = (
        f"SELECT repeat, fold, config, state, message, seconds, predictions, labels, checksum, "
        f"{'scores' if version >= _WITH_SCORES else 'NULL'} FROM cells WHERE block = ? ORDER BY repeat, fold"
    )
    for (r, k), rows in groupby(db.execute(query, (name,)), key=itemgetter(0, 1)):
        done, blobs = [], []
        held_out = np.flatnonzero(into.folds[:, r] == k) if into.has(r, k, 0) else np.empty(0, dtype=np.intp)
        for *_, c, word, message, took, blob, labels, checksum, scores in rows:
            if not into.has(r, k, c):
                raise ValueError(f"a cell that does not exist: configuration {c}, repeat {r}, fold {k}")
            into.state[c, r, k] = State[word.upper()]
            into.seconds[c, r, k] = np.nan if took is None else took
            if message is not None:
                messages[configs[c], r, k] = message
            if word == "done":
                done.append(c)
                blobs.append(blob)
                if _checksum(blob, labels, scores) != checksum:
                    raise ValueError(f"the predictions of {configs[c]!r} in repeat {r}, fold {k} have changed")
                if labels is not None:
                    into.put_labels(r, c, held_out, labels)
                if scores is not None:
                    into.put_scores(r, k, c, scores)
        values = np.frombuffer(b"".join(blobs), dtype=dtype)
        into.data[r][np.ix_(done, held_out)] = values.reshape(len(done), len(held_out), *into.data.shape[3:])
    return messages


# -- values: numpy and Python types to those of SQLite and json, and back --------------------------------

_TUPLE = "__tuple__"


def _dumps(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False)


def _loads(text: str) -> Any:
    def unmarked(found: dict[str, Any]) -> Any:
        if found.keys() == {_TUPLE}:
            return tuple(found[_TUPLE])
        return {k[1:] if k.startswith("\\") and _is_mark(k) else k: v for k, v in found.items()}

    return json.loads(text, object_hook=unmarked)


def _is_mark(key: str) -> bool:
    """The mark of a tuple, or one that was a key already and got a backslash in front (or several)."""
    return key.lstrip("\\") == _TUPLE


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
        return {f"\\{k}" if _is_mark(k) else k: _plain(v) for k, v in value.items()}
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
    elif array.dtype.kind == "S":
        values = [v.decode("latin-1") for v in array.tolist()]  # every byte is a character of its own
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
    elif dtype.kind == "S":
        values = [v.encode("latin-1") for v in values]
    return np.array(values, dtype=dtype)
