"""Fold by fold: what is hopeless is dropped after every fold, and repeats are added until it is enough.

Decisions are functions of the predictions, the plan and the seed. They are taken again when a store is continued, from
the predictions as they were at that fold, so that nothing hangs on when the work was interrupted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from .._notes import Note
from .._predictions import Predictions, State, cell_mask
from .limits import limit_threads
from .schedule import CellKey, Holdout

if TYPE_CHECKING:
    from .collection import Collection
    from .filling import Filling


class Race:
    """The order of the work where configurations may be dropped, or repeats added."""

    def __init__(self, collection: Collection, filling: Filling) -> None:
        self.of, self.filling, self.board = collection, filling, filling.board
        self.log: list[dict[str, Any]] = []
        self.out: list[str] = []
        self.n_done = 0
        self.stopped, self.held = False, False

    def run(self) -> None:
        """Fit, ask, drop; repeat by repeat."""
        by_repeat = [list(part) for _, part in groupby(self.filling.holdouts, key=lambda h: h.repeat)]
        with self.filling.workers() as fill:
            for holdouts in by_repeat:
                self._leave_out(self.out, holdouts)
                for part in [[h] for h in holdouts] if self.of.drop is not None else [holdouts]:
                    fill(part)
                    if part[-1] is not holdouts[-1]:
                        self._ask(part[-1])
                self.n_done += 1
                # After the last fold of all there is nothing left to save.
                if holdouts is by_repeat[-1] or self._enough(holdouts[-1]):
                    break
                self._ask(holdouts[-1])
        self.stopped = True
        self.filling.progress.total = self.filling.progress.done

    # -- dropping ---------------------------------------------------------------------------------------

    def _ask(self, last: Holdout) -> None:
        """Ask the rule after a fold; what it drops is left out of the later ones."""
        if self.of.drop is None or len(self._running()) < 2:
            return
        (repeat, fold), oof = last.cells[0], self.so_far(last)
        with limit_threads("blas"):  # the same sums whatever the number of workers
            drops = self.of.drop.test(oof, repeat, fold, self.of.seed)
        n = int(np.sum(np.any(cell_mask(oof.folds, oof.state == State.DONE), axis=(0, 1))))
        where = {"repeat": repeat, "fold": fold, "n_predictions": n}
        self.log += [{**drop._asdict(), **where} for drop in drops]
        names = [drop.config for drop in drops]
        later = [holdout for holdout in self.filling.holdouts if holdout.cells[0] > last.cells[0]]
        self.out += names
        self.filling.progress.total -= len(self._open(names, later))
        # Later repeats follow when they begin: there may be many of them, and perhaps none comes.
        self._leave_out(names, [holdout for holdout in later if holdout.repeat == repeat])

    def _leave_out(self, names: Sequence[str], holdouts: Sequence[Holdout]) -> None:
        """Mark the cells of these configurations as dropped; nothing fits them from now on."""
        self.filling.settled |= self._open(names, holdouts)
        self.board.drop(("oof", name, *cell) for name in names for holdout in holdouts for cell in holdout.cells)

    def _open(self, names: Sequence[str], holdouts: Sequence[Holdout]) -> set[CellKey]:
        """Cells of these configurations that are not settled yet."""
        keys = {("oof", name, *cell) for name in names for holdout in holdouts for cell in holdout.cells}
        return keys - self.filling.settled

    def _running(self) -> list[str]:
        """Configurations of this call that were neither dropped nor have failed."""
        state, position = self.board.oof.state[:, : self.n_done + 1], self.board.position
        return [
            name
            for name in self.of.configs
            if name not in self.out and not np.any(state[position[name]] == State.FAILED)
        ]

    def so_far(self, last: Holdout) -> Predictions:
        """The predictions of this call as they were when this fold was finished."""
        repeat, fold = last.cells[0]
        block, splits = self.board.oof, self.of.splits
        mine = [self.board.position[name] for name in self.of.configs]
        folds = np.ascontiguousarray(splits.folds[:, : repeat + 1])
        data = block.data[: repeat + 1][:, mine]
        state = block.state[mine][:, : repeat + 1]
        labels = None if block.labels is None else block.labels[: repeat + 1][:, mine]
        later = np.flatnonzero(folds[:, repeat] > fold)
        data[repeat][:, later] = -1 if data.dtype.kind == "i" else np.nan
        tail = state[:, repeat, fold + 1 :]
        tail[tail != State.DROPPED] = State.PENDING
        train = None if splits.train is None else {k: v for k, v in splits.train.items() if k[0] <= repeat}
        header = self.of.header
        known: dict[str, Any] = {"data": data, "state": state, "folds": folds, "train": train, "labels": labels}
        return replace(header, **known, blocks={}, messages={}, notes=())

    # -- stopping ---------------------------------------------------------------------------------------

    def _enough(self, last: Holdout) -> bool:
        """Whether the repeats so far are enough for every configuration that is still running."""
        return False

    # -- what to record ---------------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        """The drops, of configurations of earlier calls too, and how many fits they saved."""
        facts: dict[str, Any] = {}
        if self.of.drop is not None:
            before = self.board.oof.start.provenance.get("drops", [])
            facts["drops"] = [drop for drop in before if drop["config"] not in self.of.configs] + self.log
            facts["fits_saved"] = int(np.sum(self.board.oof.state[:, : self.n_done] == State.DROPPED))
        return facts

    def notes(self) -> tuple[Note, ...]:
        """What the user should know about the repeats."""
        return ()
