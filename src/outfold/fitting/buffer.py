"""The result buffer: the cells of a collection as they fill up, in memory and in the store if there is one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.predictions import Predictions, State
from ..data.seeds import SEEDS, each_seed
from ..data.splitting import Splits
from ..exceptions import StoreMismatchError
from .worker import CellKey, FitOutcome


class CellResult(NamedTuple):
    """The result of a cell: predictions, or the message why there are none."""

    values: NDArray[Any] | None
    message: str
    seconds: float
    labels: NDArray[np.intp] | None
    scores: Mapping[str, float] | None = None

    @classmethod
    def of(cls, outcome: FitOutcome, i: int, among: int) -> CellResult:
        """The `i`-th of the cells that a fit fills, `among` so many that share its time."""
        values = None if outcome.values is None else outcome.values[i]
        labels = outcome.labels[i] if outcome.labels else None
        scores = outcome.scores.values if outcome.scores is not None and i == 0 else None
        return cls(values, outcome.message, outcome.seconds / among, labels, scores)

    def row(self, block: str, name: str, repeat: int, fold: int) -> tuple[Any, ...]:
        """The result as a row of the store."""
        state = State.FAILED if self.values is None else State.DONE
        known = self.values, self.message or None, self.seconds, self.labels, self.scores
        return block, name, repeat, fold, state, *known


class BlockBuffer:
    """The predictions of one block while they are filled."""

    def __init__(self, start: Predictions) -> None:
        self.start = start
        self.folds, self.plan = start.folds, start.plan
        self.data, self.state = np.array(start.data), np.array(start.state)
        self.seconds = np.full(start.state.shape, np.nan) if start.seconds is None else np.array(start.seconds)
        self.messages = dict(start.messages)
        # Made for the first model whose labels do not follow from its predictions.
        self.labels = None if start.labels is None else np.array(start.labels)
        self.scores = {name: np.array(scores) for name, scores in start.live_scores.items()}
        self._rows: dict[tuple[int, int], NDArray[np.intp]] = {}

    def rows(self, repeat: int, fold: int) -> NDArray[np.intp]:
        """Samples of a cell, in ascending order."""
        key = (repeat, fold)
        if key not in self._rows:
            self._rows[key] = np.flatnonzero(self.folds[:, repeat] == fold)
        return self._rows[key]

    @property
    def n_repeats(self) -> int:
        """Number of repeats there is room for."""
        return int(self.folds.shape[1])

    def grow(self, splits: Splits) -> None:
        """Room for the repeats of these splits that are new."""
        data, n = self.data, splits.n_repeats - self.n_repeats
        self.folds, self.plan = splits.folds, splits.plan
        empty = -1 if data.dtype.kind == "i" else np.nan
        self.data = np.concatenate([data, np.full((n, *data.shape[1:]), empty, dtype=data.dtype)])
        c, _, k = self.state.shape
        self.state = np.concatenate([self.state, np.full((c, n, k), State.PENDING, dtype=np.uint8)], axis=1)
        self.seconds = np.concatenate([self.seconds, np.full((c, n, k), np.nan)], axis=1)
        for name, scores in self.scores.items():
            self.scores[name] = np.concatenate([scores, np.full((c, n, k), np.nan)], axis=1)
        if self.labels is not None:
            self.labels = np.concatenate([self.labels, np.full((n, *data.shape[1:3]), -1, dtype=np.intp)])

    def put(self, configs: Sequence[int], repeat: int, fold: int, cells: Sequence[CellResult]) -> None:
        """Fill a cell of each of these configurations with its result."""
        done = [i for i, cell in enumerate(cells) if cell.values is not None]
        if any(cells[i].labels is not None for i in done) and self.labels is None:
            self.labels = np.full(self.data.shape[:3], -1, dtype=np.intp)
        rows, at = self.rows(repeat, fold), np.asarray(configs, dtype=np.intp)
        if self.labels is not None:
            for config, cell in zip(configs, cells, strict=True):
                self.labels[repeat, config, rows] = -1 if cell.labels is None else cell.labels
        self.seconds[at, repeat, fold] = [cell.seconds for cell in cells]
        self.state[at, repeat, fold] = [State.FAILED if cell.values is None else State.DONE for cell in cells]
        if done:
            self.data[repeat][np.ix_(at[done], rows)] = np.stack([np.asarray(cells[i].values) for i in done])
        for config, cell in zip(configs, cells, strict=True):
            self._put_scores((config, repeat, fold), cell.scores or {})
        if not self.messages and len(done) == len(cells):
            return
        for config, cell in zip(configs, cells, strict=True):
            key = (self.start.configs[config], repeat, fold)
            if cell.values is None:
                self.messages[key] = cell.message
            else:
                self.messages.pop(key, None)

    def _put_scores(self, cell: tuple[int, int, int], scores: Mapping[str, float]) -> None:
        for name, score in scores.items():
            if name not in self.scores:
                self.scores[name] = np.full(self.state.shape, np.nan)
            self.scores[name][cell] = score

    def empty(self, config: int, repeat: int, fold: int, state: State) -> None:
        """Empty a cell, which is dropped or pending now."""
        self.data[repeat, config, self.rows(repeat, fold)] = -1 if self.data.dtype.kind == "i" else np.nan
        self.state[config, repeat, fold] = state
        for scores in self.scores.values():
            scores[config, repeat, fold] = np.nan
        self.messages.pop((self.start.configs[config], repeat, fold), None)

    def snapshot(self) -> Predictions:
        """What is predicted now, as a copy: the buffer goes on being filled."""
        labels = None if self.labels is None else self.labels.copy()
        known: dict[str, Any] = {
            "data": self.data.copy(),
            "state": self.state.copy(),
            "labels": labels,
            "seconds": None,
            "live_scores": {name: scores.copy() for name, scores in self.scores.items()},
        }
        return replace(self.start, **known, folds=self.folds, plan=self.plan, blocks={}, messages={})

    def predictions(self) -> Predictions:
        """What is known at the end; the `Predictions` take over the arrays."""
        known: dict[str, Any] = {"data": self.data, "state": self.state, "seconds": self.seconds, "labels": self.labels}
        known["live_scores"] = self.scores
        return replace(self.start, **known, folds=self.folds, plan=self.plan, messages=self.messages)


class ResultBuffer:
    """The results of all blocks of a collection."""

    def __init__(self, start: Predictions, store: Any = None) -> None:
        self.store = store
        self.blocks = {"oof": BlockBuffer(start)} | {name: BlockBuffer(block) for name, block in start.blocks.items()}
        self.position = {name: j for j, name in enumerate(start.configs)}

    @property
    def oof(self) -> BlockBuffer:
        """The block that is always there."""
        return self.blocks["oof"]

    def settled(self, retry_failed: bool) -> set[CellKey]:
        """Cells that need no fit."""
        open_states = (State.PENDING, State.FAILED) if retry_failed else (State.PENDING,)
        names = self.oof.start.configs
        return {
            (block, names[j], int(r), int(k))
            for block, part in self.blocks.items()
            for j, r, k in zip(*np.nonzero(~np.isin(part.state, open_states)), strict=True)
        }

    def put(self, outcomes: Sequence[FitOutcome]) -> None:
        """Fill the cells of finished fits on one hold-out, and write them to the store at once."""
        if not outcomes:
            return
        holdout, slots = outcomes[0].holdout, outcomes[0].holdout.slots
        configs = [self.position[outcome.name] for outcome in outcomes]
        # The time of a mean is that of all its seeds, whose own cells, the last ones, have a share of it each.
        n_seeds = holdout.n_seeds * len(holdout.cells)
        n, rows = len(slots) - n_seeds, []
        for i, (name, repeat, fold) in enumerate(slots):
            cells = [CellResult.of(outcome, i, n if i < n else n_seeds) for outcome in outcomes]
            self.blocks[name].put(configs, repeat, fold, cells)
            if self.store is not None:
                rows += [cell.row(name, o.name, repeat, fold) for o, cell in zip(outcomes, cells, strict=True)]
        self._write(rows)

    def forget_drops(self, names: Iterable[str]) -> None:
        """Take back what was dropped in earlier calls: it is decided again."""
        mine = [self.position[name] for name in names]
        for block in self.blocks.values():
            state = block.state[mine]
            state[state == State.DROPPED] = State.PENDING
            block.state[mine] = state

    def dropped(self, names: Iterable[str]) -> list[CellKey]:
        """The cells of these configurations that are dropped now."""
        state = self.oof.state
        return [
            ("oof", name, int(r), int(k))
            for name in names
            for r, k in zip(*np.nonzero(state[self.position[name]] == State.DROPPED), strict=True)
        ]

    def reopen(self, names: Iterable[str]) -> set[CellKey]:
        """Make pending again what is done or failed of these configurations, here and in the store."""
        keys = set()
        for block, part in self.blocks.items():
            for name in names:
                state = part.state[self.position[name]]
                for r, k in zip(*np.nonzero(np.isin(state, (State.DONE, State.FAILED))), strict=True):
                    keys.add((block, name, int(r), int(k)))
                    part.empty(self.position[name], int(r), int(k), State.PENDING)
        self._write([(*key, State.PENDING) for key in sorted(keys)])
        return keys

    def drop(self, keys: Iterable[CellKey]) -> None:
        """Mark cells as dropped, here and in the store."""
        new = []
        for block, name, repeat, fold in sorted(keys):
            config = self.position[name]
            self.blocks[block].empty(config, repeat, fold, State.DROPPED)
            start = self.blocks[block].start
            if repeat >= start.n_repeats or start.state[config, repeat, fold] != State.DROPPED:
                new.append((block, name, repeat, fold, State.DROPPED))
        self._write(new)

    def grow(self, splits: Splits) -> None:
        """Room for the repeats of these splits, here and in the store; those there are must be the same."""
        n = min(self.oof.n_repeats, splits.n_repeats)
        if not np.array_equal(self.oof.folds[:, :n], splits.folds[:, :n]):
            problem = f"{self.store.path.name} was made with other splits of the same plan"
            raise StoreMismatchError(problem, remedy="Use another `store`, or delete it to start anew.")
        if splits.n_repeats > n:
            grown = {"oof": splits}
            if SEEDS in self.blocks:
                grown[SEEDS] = each_seed(splits, self.blocks[SEEDS].n_repeats // self.oof.n_repeats)
            if self.store is not None:
                self.store.grow(grown)
            for name, block in grown.items():
                self.blocks[name].grow(block)

    def record(self, **facts: Any) -> None:
        """Facts for the provenance of the store, at once."""
        if self.store is not None:
            self.store.update(**facts)

    def _write(self, cells: list[tuple[Any, ...]]) -> None:
        if self.store is not None and cells:
            from ..io.store import Cell  # here: a collection without a store needs no database

            self.store.write([Cell(*cell) for cell in cells])

    def predictions(self, **fields: Any) -> Predictions:
        """The predictions as they are now, with other notes or provenance."""
        blocks: Mapping[str, Predictions] = {n: b.predictions() for n, b in self.blocks.items() if n != "oof"}
        return replace(self.oof.predictions(), blocks=blocks, **fields)
