"""Fold by fold: what is hopeless is dropped after every fold, and repeats are added until it is enough.

Decisions are functions of the predictions, the plan and the seed. They are taken again when a store is continued, from
the predictions as they were at that fold, so that nothing hangs on when the work was interrupted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import formatting
from ..data.notes import Note
from ..data.predictions import Predictions, State, cell_mask
from ..metrics._scoring import running
from ..stats.compiling import limit_threads
from .schedule import Holdout

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
        self.stopped, self.capped = False, False
        self.splits, self.holdouts = collection.splits, list[Holdout]()
        self._cap = self.splits.n_repeats if collection.repeats is None else collection.repeats.cap
        self._end = self._cap

    def run(self) -> None:
        """Fit, ask, drop; repeat by repeat."""
        self._forecast(self.of.header)
        for repeat in range(self._cap):
            self._begin(repeat)
            for part in [[h] for h in self.holdouts] if self.of.drop is not None else [self.holdouts]:
                self.filling.fill(part, self.splits)
                if part[-1] is not self.holdouts[-1]:
                    self._ask(part[-1])
            self.n_done += 1
            if self._enough(self.holdouts[-1]):
                break
            # After the last fold of all there is nothing left to save.
            if self.n_done < self._cap:
                self._ask(self.holdouts[-1])
        else:
            self.capped = self.of.stop is not None
        self.stopped = True
        self.filling.progress.total = self.filling.progress.done

    def _begin(self, repeat: int) -> None:
        """Make room for a repeat where its number was open, and leave out of it what was dropped before."""
        if self.of.repeats is not None:
            self.splits = self.of.repeats.first(repeat + 1)
            self.board.grow(self.splits)
        self.holdouts = [h for h in self.filling.main_holdouts(self.splits) if h.repeat == repeat]
        self._leave_out(self.out, self.holdouts)

    # -- dropping ---------------------------------------------------------------------------------------

    def _ask(self, last: Holdout) -> None:
        """Ask the rule after a fold; what it drops is left out of the later ones."""
        if self.of.drop is None:
            return
        (repeat, fold), oof = last.cells[0], self.so_far(last)
        if len(running(oof)) < 2:
            return
        with limit_threads("blas"):  # the same sums whatever the number of workers
            drops = self.of.drop.test(oof, repeat, fold, self.of.seed)
        if not drops:
            return
        n = int(np.sum(np.any(cell_mask(oof.folds, oof.state == State.DONE), axis=(0, 1))))
        where = {"repeat": repeat, "fold": fold, "n_predictions": n}
        self.log += [{**drop._asdict(), **where} for drop in drops]
        names = [drop.config for drop in drops]
        self.out += names
        self.board.record(drops=self._drops())
        # Later repeats follow when they begin: there may be many of them, and perhaps none comes.
        self._leave_out(names, [h for h in self.holdouts if h.cells[0] > last.cells[0]])
        self._count(last)

    def _leave_out(self, names: Sequence[str], holdouts: Sequence[Holdout]) -> None:
        """Mark the cells of these configurations as dropped; nothing fits them from now on."""
        keys = [(block, name, r, k) for name in names for holdout in holdouts for block, r, k in holdout.slots]
        self.filling.settled.update(keys)
        self.board.drop(keys)

    def _count(self, last: Holdout | None = None) -> None:
        """Tell the progress line how much is left after this fold, as far as is known now."""
        out = set(self.out)
        names = [name for name in self.of.configs if name not in out]
        cells, foreseen = self.of.splits.cells, 0
        if self.of.repeats is not None:
            n, n_folds = min(self.board.oof.n_repeats, self._end), self.of.splits.n_folds
            cells = [(r, k) for r in range(n) for k in range(n_folds)]
            foreseen = (self._end - n) * n_folds * len(names)
        later = cells if last is None else [cell for cell in cells if cell > last.cells[0]]
        progress = self.filling.progress
        progress.total = progress.done + self.filling.count_open("oof", later, names) + foreseen

    def so_far(self, last: Holdout) -> Predictions:
        """The predictions of this call as they were when this fold was finished."""
        repeat, fold = last.cells[0]
        block, splits = self.board.oof, self.splits
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
        plan = header.plan if self.of.repeats is None else replace(header.plan, repeats=self._cap)
        known: dict[str, Any] = {"data": data, "state": state, "folds": folds, "train": train, "labels": labels}
        return replace(header, **known, plan=plan, blocks={}, messages={}, notes=())

    # -- stopping ---------------------------------------------------------------------------------------

    def _enough(self, last: Holdout) -> bool:
        """Whether the repeats so far are enough for every configuration that is still running, if any is."""
        if self.of.stop is None:
            return False
        oof = self.so_far(last)
        names = [oof.configs[j] for j in running(oof)]
        if not names:
            return True
        with limit_threads("blas"):
            enough = self.of.stop.holds(oof, names)
        if not enough:
            self._forecast(oof, names, last)
        return enough

    def _forecast(self, oof: Predictions, names: Sequence[str] | None = None, last: Holdout | None = None) -> None:
        """The work goes on to the repeat the rule foresees, or at most to the cap."""
        if self.of.stop is None:
            return
        foreseen = self.of.stop.forecast(oof, names)
        self._end = self._cap if foreseen is None else min(max(foreseen, self.n_done + 1), self._cap)
        self.filling.progress.at_most = foreseen is None
        self._count(last)

    # -- what to record ---------------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        """The drops, of configurations of earlier calls too, and how many fits they saved."""
        facts: dict[str, Any] = {}
        if self.of.drop is not None:
            facts["drops"] = self._drops()
            begun = self.n_done + (not self.stopped)
            facts["fits_saved"] = int(np.sum(self.board.oof.state[:, :begun] == State.DROPPED))
        if self.of.stop is not None:
            facts["stopped_after"] = self.n_done if self.stopped else None
            facts["stop"] = repr(self.of.stop)
        return facts

    def _drops(self) -> list[dict[str, Any]]:
        """The log: what was decided now, and what earlier calls decided about configurations not decided on yet."""
        before = self.board.oof.start.provenance.get("drops", [])
        decided = set(self.of.configs if self.stopped else self.out)
        return [drop for drop in before if drop["config"] not in decided] + self.log

    def notes(self) -> tuple[Note, ...]:
        """What the user should know about the repeats."""
        if not self.capped:
            return ()
        return (
            Note(
                "OF401",
                f"{self.of.stop!r} did not hold after {formatting.count(self.n_done, 'repeat')}, the most that were allowed.",
            ),
        )
