"""How `Predictions` come out of the tables of an .oof file, of this schema or an earlier one.

The file may come from a stranger. Every value is checked for its type and range, and every array for its size before it is
made; what is wrong is a `ValueError` or another error that `database` turns into a `FileError`.
"""

from __future__ import annotations

import math
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.criterion import Criterion
from ..data.predictions import Predictions, State
from ..data.splitting import fingerprint
from ..data.stored import StoredPredictions
from ..data.target import Target
from . import schema
from .facts import Facts
from .guard import Room
from .values import loads, texts, unpack, whole_numbers

# More folds than samples make no sense but a few.
_MOST_FOLDS = 1000
# A query names at most this many configurations. Of more, it reads all, and the others are passed over.
_MOST_NAMED = 5000
# Numbers that are put in order at once.
_AT_ONCE = 1 << 21
# The database while something is read of it: what goes wrong then is an error of the file.
Connect = Callable[[], AbstractContextManager[sqlite3.Connection]]
# A file that stays open, between whose reads the errors of others are not the file's.
Open = Callable[[], AbstractContextManager[Connect]]
Columns = list[tuple[Any, ...]]


class Header:
    """Everything in a file but the predictions: labels, folds, configurations, facts, and the state of every cell.

    `samples` is what an earlier header of the same file said of them: nothing changes them, and to read them takes long.
    """

    def __init__(self, db: sqlite3.Connection, room: Room, samples: Mapping[str, Any] | None = None) -> None:
        (self._version,) = db.execute("PRAGMA user_version").fetchone()
        self._room = room
        with schema.transaction(db):
            wanted = [name for name in schema.COLUMNS if samples is None or name != "samples"]
            tables = {name: schema.columns_of(db, name) for name in wanted}
            self._facts = Facts(db.execute("SELECT key, value FROM about").fetchall(), schema.MAIN)
            self._check_digest(tables)
            self.samples = self._samples(tables["samples"]) if samples is None else samples
            shared = {**self.samples, **self._configs(tables.pop("configs"))}
            names = (*self._facts.blocks, schema.MAIN)
            for table in ("folds", "train"):
                if not {*tables[table][0]} <= {*names}:
                    raise ValueError(f"{table} of an unknown block")
            self._blocks: dict[str, _Block] = {}
            self._fields: dict[str, dict[str, Any]] = {}
            for name in names:
                self._add_block(db, name, tables, shared)

    @property
    def at_once(self) -> bool:
        """Whether the numbers of a cell lie beside its state, so that they are read anyway."""
        return bool(self._version < schema.WITH_DIGEST)

    @property
    def n_bytes(self) -> int:
        """Memory that all predictions take."""
        return sum(block.n_bytes for block in self._blocks.values())

    def read(self, db: sqlite3.Connection) -> Predictions:
        """The predictions with their arrays."""
        with schema.transaction(db):
            return self._whole(lambda block, fields: Predictions(**block.arrays(db, fields), **fields))

    def stored(self, open_file: Open) -> Predictions:
        """The predictions, whose arrays are read when they are asked for, from the file that is opened then."""
        return self._whole(lambda block, fields: StoredPredictions.of(_StoredNumbers(block, open_file), fields))

    def _whole(self, made: Callable[[_Block, dict[str, Any]], Predictions]) -> Predictions:
        blocks: dict[str, Predictions] = {}
        for name in self._facts.blocks:
            blocks[name] = made(self._blocks[name], self._fields[name] | {"blocks": {}, "criterion": Criterion()})
        main = self._fields[schema.MAIN] | {"blocks": blocks, "criterion": self._facts.criterion}
        return made(self._blocks[schema.MAIN], main)

    def _check_digest(self, tables: dict[str, Columns]) -> None:
        if self._version < schema.WITH_DIGEST:
            return
        known = self._facts.digest
        for name, columns in tables.items():
            if known.get(name) != schema.digest_of(columns):
                raise ValueError(f"the table {name} has changed")

    def _samples(self, columns: Columns) -> dict[str, Any]:
        """Labels, names and groups of the samples, which all blocks have in common."""
        positions, ids, labels, events, groups = columns
        _check_positions("samples", positions)
        types = self._facts["types"]
        return {
            "target": self._target(labels, events),
            "samples": unpack(types["id"], ids, self._room.afford),
            "groups": unpack(types["group"], groups, self._room.afford) if "group" in types else None,
        }

    def _configs(self, columns: Columns) -> dict[str, Any]:
        """Names and parameters of the configurations, which all blocks have in common."""
        places, names, texts_left = *columns[:2], deque(columns.pop())
        _check_positions("configurations", places)
        # Each text goes when it has been read: parameters may take more memory than all else.
        found = tuple(loads(texts_left.popleft()) for _ in range(len(texts_left)))
        if not all(isinstance(values, dict) for values in found):
            raise ValueError("parameters that have no names")
        return {"configs": texts(names, "names of configurations"), "params": found}

    def _target(self, labels: tuple[Any, ...], events: tuple[Any, ...]) -> Target:
        task, classes = self._facts["task"], self._facts["classes"]
        if (classes is not None) != (task in ("binary", "multiclass")):
            raise ValueError("classes that do not fit the task")
        if classes is not None:
            code_of = {label: code for code, label in enumerate(classes)}
            if not 2 <= len(code_of) == len(classes) or (task == "binary") != (len(classes) == 2):
                raise ValueError("classes that do not fit the task")
            codes = np.array([code_of[label] for label in labels], dtype=np.intp)
            return Target(task, codes, unpack(self._facts["types"]["label"], classes, self._room.afford))
        if task == "pointwise":
            return Target(task, np.zeros(len(labels)))
        y = np.array(labels)
        if y.dtype.kind not in "iuf" or not np.isfinite(y).all():
            raise ValueError("labels that are no numbers")
        event = whole_numbers(events, 2, "events").astype(bool) if task == "survival" else None
        return Target(task, y.astype(np.float64), event=event)

    def _add_block(self, db: sqlite3.Connection, name: str, tables: dict[str, Columns], shared: dict[str, Any]) -> None:
        facts = self._facts.of_block(name)
        n_folds, outputs, marked = (facts.pop(key) for key in ("folds", "outputs", "fingerprint"))
        target, configs = shared["target"], shared["configs"]
        folds = _folds(name, tables["folds"], len(target))
        if not folds.max() < n_folds <= max(len(target), _MOST_FOLDS):
            raise ValueError("folds that do not fit the samples")
        expected = (len(target.classes) if target.classes is not None else 0) if facts["times"] is None else None
        if outputs is not None and outputs != (1 + len(facts["times"]) if expected is None else expected):
            raise ValueError("a number of outputs that does not fit the classes or the times")
        train = _train(name, tables["train"], (folds.shape[1], n_folds), len(target))
        if fingerprint(target, folds, train) != marked:
            raise ValueError("labels or folds are not those that were written")
        shape = (folds.shape[1], len(configs), len(target), *([] if outputs is None else [outputs]))
        n_cells = len(configs) * folds.shape[1] * n_folds
        self._room.afford(9 * n_cells)
        cells = _CellTable(db, name, self._version, configs, (len(configs), folds.shape[1], n_folds), self._room)
        self._blocks[name] = _Block(name, self._version, shape, self._room)
        self._fields[name] = {**facts, **shared, "folds": folds, "train": train, **cells.fields}


def _check_positions(what: str, positions: Sequence[Any]) -> None:
    if not positions or not np.array_equal(whole_numbers(positions, len(positions), what), np.arange(len(positions))):
        raise ValueError(f"{what} are not numbered from 0 on")


def _folds(name: str, columns: Columns, n_samples: int) -> NDArray[np.int32]:
    """(N, R) the folds of a block."""
    rows = [(repeat, blob) for block, repeat, blob in zip(*columns, strict=True) if block == name]
    _check_positions("repeats", [repeat for repeat, _ in rows])
    if any(type(blob) is not bytes or len(blob) != 4 * n_samples for _, blob in rows):
        raise ValueError("folds that do not fit the samples")
    folds = np.stack([np.frombuffer(blob, dtype="<i4") for _, blob in rows], axis=1).astype(np.int32)
    if folds.min() < -1:
        raise ValueError("folds that do not fit the samples")
    return folds


def _train(
    name: str, columns: Columns, shape: tuple[int, int], n: int
) -> dict[tuple[int, int], NDArray[np.intp]] | None:
    """Training samples by (repeat, fold), where they are not simply all others."""
    train = {}
    for block, repeat, fold, blob in zip(*columns, strict=True):
        if block == name:
            whole_numbers([repeat], shape[0], "repeats of training samples")
            whole_numbers([fold], shape[1], "folds of training samples")
            train[repeat, fold] = whole_numbers(np.frombuffer(blob, dtype="<i4"), n, "training samples")  # type: ignore[arg-type]
    return train or None


class _CellTable:
    """What the table ``cells`` says of the cells of a block, without their predictions."""

    def __init__(
        self, db: sqlite3.Connection, name: str, version: int, configs: tuple[str, ...], shape: Any, room: Room
    ) -> None:
        self._configs, self._shape = configs, shape
        states = " ".join(f"WHEN '{state.name.lower()}' THEN {state.value}" for state in State)
        query = f"SELECT config, repeat, fold, CASE state {states} ELSE -1 END, seconds FROM cells WHERE block = ?"
        c, r, k, states_, seconds = list(zip(*db.execute(query, (name,)), strict=True)) or [()] * 5
        at = self._positions(c, r, k)
        if len(np.unique(at)) < len(at):
            raise ValueError("a cell that is there twice")
        self._state = np.zeros(shape, dtype=np.uint8)
        self._state.flat[at] = whole_numbers(states_, len(State), "states of cells")
        self._seconds = np.full(shape, np.nan)
        self._seconds.flat[at] = np.array(seconds, dtype=np.float64)
        if np.any(self._seconds < 0) or np.isinf(self._seconds).any():
            raise ValueError("times that cannot be")
        self._messages = self._read_messages(db, name)
        self._scores: dict[str, NDArray[np.float64]] = {}
        if version >= schema.WITH_SCORES:
            self._read_scores(db, name, room)

    @property
    def fields(self) -> dict[str, Any]:
        """As `Predictions` takes them."""
        known = None if np.isnan(self._seconds).all() else self._seconds
        return {"state": self._state, "seconds": known, "messages": self._messages, "live_scores": self._scores}

    def _positions(self, c: Sequence[Any], r: Sequence[Any], k: Sequence[Any]) -> NDArray[np.intp]:
        """Where the cells are in an array of all cells."""
        index = [whole_numbers(v, n, "cells that do not exist,") for v, n in zip((c, r, k), self._shape, strict=True)]
        return np.asarray(np.ravel_multi_index(tuple(index), self._shape), dtype=np.intp)

    def _read_messages(self, db: sqlite3.Connection, name: str) -> dict[tuple[str, int, int], str]:
        query = "SELECT config, repeat, fold, message FROM cells WHERE block = ? AND message IS NOT NULL"
        rows = db.execute(query, (name,)).fetchall()
        texts((message for *_, message in rows), "messages")
        return {(self._configs[c], r, k): message for c, r, k, message in rows}

    def _read_scores(self, db: sqlite3.Connection, name: str, room: Room) -> None:
        """The scores that the fitted models got."""
        query = (
            "SELECT config, repeat, fold, scores FROM cells WHERE block = ? AND state = 'done' AND scores IS NOT NULL"
        )
        for c, r, k, text in db.execute(query, (name,)):
            scores = loads(text)
            if not isinstance(scores, dict):
                raise ValueError("scores that have no names")
            for metric, score in scores.items():
                if metric not in self._scores:
                    room.afford(8 * self._state.size * (len(self._scores) + 1))
                    self._scores[metric] = np.full(self._shape, np.nan)
                self._scores[metric][c, r, k] = np.nan if score is None else float(score)


@dataclass(frozen=True)
class _Block:
    """Where the arrays of one block are, or a part of them."""

    name: str
    version: int
    shape: tuple[int, ...]
    room: Room
    # Repeats and configurations of the file that are wanted, in this order; None: all.
    repeats: list[int] | None = None
    configs: list[int] | None = None

    @property
    def n_bytes(self) -> int:
        """Memory that the predictions take."""
        return 8 * math.prod(self.shape)

    def arrays(self, db: sqlite3.Connection, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields ``data`` and ``labels`` of predictions whose other fields are known."""
        into = _Arrays(self, fields)
        for r in range(self.shape[0]):
            into.read(db, r)
        into.check_all_read()
        return {"data": into.data, "labels": into.labels}

    def part(self, part: tuple[Any, ...]) -> _Block:
        """Some repeats, or some configurations in all repeats."""
        index: list[int] = part[-1]
        shape = (*self.shape[: len(part) - 1], len(index), *self.shape[len(part) :])
        if len(part) == 1:
            return replace(self, shape=shape, repeats=_of(self.repeats, index))
        return replace(self, shape=shape, configs=_of(self.configs, index))

    def query(self, positions: NDArray[np.intp]) -> str:
        """The statement for the cells of one fold, of these configurations and perhaps of some between them."""
        low, high = int(positions.min()), int(positions.max())
        named = high - low >= len(positions) <= _MOST_NAMED
        wanted = f" AND config IN ({', '.join(map(str, positions.tolist()))})" if named else ""
        scores = "scores" if self.version >= schema.WITH_SCORES else "NULL"
        tables = "cells" if self.version < schema.WITH_DIGEST else "cells LEFT JOIN numbers ON id = numbers"
        return (
            f"SELECT config, predictions, labels, checksum, {scores} FROM {tables} WHERE block = ? AND repeat = ? "
            f"AND fold = ? AND state = 'done' AND config BETWEEN {low} AND {high}{wanted} ORDER BY config"
        )


def _of(known: list[int] | None, index: list[int]) -> list[int]:
    return index if known is None else [known[i] for i in index]


class _Arrays:
    """What the cells of a block are read into; the table of cells has been checked before."""

    def __init__(self, block: _Block, fields: Mapping[str, Any]) -> None:
        block.room.afford(block.n_bytes)
        coded = fields["response"] == "label"
        self._nothing = -1 if coded else np.nan
        self.data = np.empty(block.shape, dtype=np.intp if coded else np.float64)
        self.labels: NDArray[np.intp] | None = None
        self._block = block
        self._folds, self._configs = fields["folds"], fields["configs"]
        self._is_done, self._n_read = fields["state"] == State.DONE, 0
        self._repeats = range(block.shape[0]) if block.repeats is None else block.repeats
        self._positions = np.arange(block.shape[1]) if block.configs is None else np.array(block.configs, dtype=np.intp)

    def read(self, db: sqlite3.Connection, r: int) -> None:
        """The cells of one repeat, of some configurations at a time."""
        order = np.argsort(self._folds[:, r], kind="stable")
        ranked, place = self._folds[order, r], np.empty_like(order)
        place[order] = np.arange(len(order))
        size = max(_AT_ONCE // math.prod(self.data.shape[2:]), 1)
        for start in range(0, len(self._positions), size):
            part = slice(start, start + size)
            own = self._positions[part]
            # Cells come fold by fold. Put together so, and in the order of the samples then, they pass through the cache once.
            values = np.full((len(own), *self.data.shape[2:]), self._nothing, dtype=self.data.dtype)
            query, row_of = self._block.query(own), {int(c): i for i, c in enumerate(own)}
            for fold in np.flatnonzero(self._is_done[part, r].any(axis=0)).tolist():
                samples = slice(*np.searchsorted(ranked, [fold, fold + 1]))
                rows = db.execute(query, (self._block.name, self._repeats[r], fold))
                done, blobs = self._take(rows, row_of, (r, fold, start), order[samples])
                numbers = np.frombuffer(b"".join(blobs), dtype="<i4" if self.data.dtype.kind == "i" else "<f8")
                values[done, samples] = numbers.reshape(len(done), len(order[samples]), *self.data.shape[3:])
            self.data[r, part] = np.take(values, place, axis=1)

    def _take(
        self, rows: Any, row_of: dict[int, int], at: tuple[int, int, int], samples: NDArray[np.intp]
    ) -> tuple[list[int], list[bytes]]:
        """Which of the wanted configurations have a cell of a fold, and the numbers of these cells, which are checked."""
        done, blobs = [], []
        r, fold, start = at
        for config, blob, labels, checksum, scores in rows:
            if config not in row_of:
                continue
            c = row_of[config]
            if blob is None or schema.checksum(blob, labels, scores) != checksum:
                cell = f"{self._configs[start + c]!r} in repeat {self._repeats[r]}, fold {fold}"
                raise ValueError(f"the predictions of {cell} have changed")
            if labels is not None:
                self._put_labels(r, start + c, samples, labels)
            done.append(c)
            blobs.append(blob)
        self._n_read += len(done)
        return done, blobs

    def _put_labels(self, repeat: int, config: int, rows: NDArray[np.intp], blob: bytes) -> None:
        """The labels of a cell that are not the cut of its predictions."""
        if self.labels is None:
            self._block.room.afford(self._block.n_bytes)
            self.labels = np.full(self.data.shape[:3], -1, dtype=np.intp)
        labels = np.frombuffer(blob, dtype="<i4")
        if len(labels) != len(rows) or labels.min(initial=0) < 0:
            raise ValueError("labels that are no class codes")
        self.labels[repeat, config, rows] = labels

    def check_all_read(self) -> None:
        """Each cell that the table calls done has been there, once."""
        if self._n_read != self._is_done.sum():
            raise ValueError("cells that are there twice or not at all")


class _StoredNumbers:
    """The predictions of a block that are still in the file."""

    def __init__(self, block: _Block, open_file: Open) -> None:
        self._block, self._open = block, open_file
        self._read: dict[str, Any] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self._block.shape

    def read(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        if self._read is None:
            with self._open() as connect, connect() as db, schema.transaction(db):
                self._read = self._block.arrays(db, fields)
        return self._read

    def part(self, part: tuple[Any, ...]) -> _StoredNumbers:
        return _StoredNumbers(self._block.part(part), self._open)

    @contextmanager
    def opened(self) -> Iterator[_StoredNumbers]:
        with self._open() as connect:
            yield _StoredNumbers(self._block, lambda: nullcontext(connect))
