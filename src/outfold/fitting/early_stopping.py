"""Early stopping: hopeless configurations are dropped after each fold, and repeats are added until there are enough.

Decisions are functions of the predictions, the plan and the seed. When a store is continued they are taken again, from the
predictions as they were at that fold. So it makes no difference when the work was interrupted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import formatting
from ..data.cells import State, cell_mask
from ..data.notes import Note
from ..data.predictions import Predictions
from ..metrics._candidates import running
from ..stats.compiling import limit_threads
from .dispatcher import Dispatcher
from .job import Job
from .worker import Holdout


class EarlyStopping:
    """The order of the work if configurations may be dropped or repeats added."""

    def __init__(self, job: Job, dispatcher: Dispatcher) -> None:
        self.job, self.dispatcher, self.buffer = job, dispatcher, dispatcher.buffer
        self.rule, self.stop = job.options.drop, job.options.stop
        self.log: list[dict[str, Any]] = []  # one record for each configuration that was dropped, and why
        self.dropped: list[str] = []  # their names
        self.n_done = 0  # finished repeats
        self.stopped = False  # the work came to its end
        self.last_fold: int | None = None  # where a repeat was left unfinished, since what there was is enough
        self.at_limit = False  # the repeats were not enough when no more were allowed
        self.splits, self.holdouts = job.splits, list[Holdout]()
        self._most = self.splits.n_repeats if job.repeats is None else job.repeats.most
        self._end = self._most

    def run(self) -> None:
        """Fit, ask the rules, drop, repeat by repeat."""
        self._forecast(self.job.header)
        for repeat in range(self._most):
            if self.job.repeats is not None:
                self.splits = self.job.repeats.first(repeat + 1)
                self.buffer.grow(self.splits)
            self.holdouts = [h for h in self.dispatcher.main_holdouts(self.splits) if h.repeat == repeat]
            self._leave_out(self.dropped, self.holdouts)
            if self._fit_repeat():
                break
            self.n_done += 1
            if self._enough(self.holdouts[-1]):
                break
            # After the last fold of all there is nothing left to save.
            if self.n_done < self._most:
                self._ask(self.holdouts[-1])
        else:
            self.at_limit = self.stop is not None
        self.stopped = True
        self.dispatcher.progress.total = self.dispatcher.progress.done

    def _fit_repeat(self) -> bool:
        """Fit a repeat, fold by fold if a rule is to be asked; whether it was left unfinished, since there is enough."""
        ends_early = self.stop is not None and self.stop.by_fold
        fold_by_fold = self.rule is not None or ends_early
        for part in [[h] for h in self.holdouts] if fold_by_fold else [self.holdouts]:
            self.dispatcher.fit(part, self.splits)
            if part[-1] is self.holdouts[-1]:
                return False
            if ends_early and self._enough(part[-1]):
                self.last_fold = part[-1].cells[0][1]
                return True
            self._ask(part[-1])
        return False

    # -- dropping ---------------------------------------------------------------------------------------

    def _ask(self, last: Holdout) -> None:
        """Ask the rule after a fold; what it drops is left out of the later ones."""
        if self.rule is None:
            return
        (repeat, fold), oof = last.cells[0], self.so_far(last)
        if len(running(oof)) < 2:
            return
        with limit_threads("blas"):  # the same sums whatever the number of workers
            drops = self.rule.test(oof, repeat, fold, self.job.options.rng)
        if not drops:
            return
        n = int(np.sum(np.any(cell_mask(oof.folds, oof.state == State.DONE), axis=(0, 1))))
        where = {"repeat": repeat, "fold": fold, "n_predictions": n}
        self.log += [{**drop._asdict(), **where} for drop in drops]
        names = [drop.config for drop in drops]
        self.dropped += names
        self.buffer.record(drops=self._drops())
        # Cells of later repeats are marked when these begin: there may be many of them, or none.
        self._leave_out(names, [h for h in self.holdouts if h.cells[0] > last.cells[0]])
        self._count(last)

    def _leave_out(self, names: Sequence[str], holdouts: Sequence[Holdout]) -> None:
        """Mark the cells of these configurations as dropped; nothing fits them from now on."""
        keys = [(block, name, r, k) for name in names for holdout in holdouts for block, r, k in holdout.slots]
        self.dispatcher.settled.update(keys)
        self.buffer.drop(keys)

    def _count(self, last: Holdout | None = None) -> None:
        """Tell the progress line how much is left after this fold, as far as is known now."""
        dropped = set(self.dropped)
        names = [name for name in self.job.configs if name not in dropped]
        cells, foreseen = self.job.splits.cells, 0
        if self.job.repeats is not None:
            n, n_folds = min(self.buffer.oof.n_repeats, self._end), self.job.splits.n_folds
            cells = [(r, k) for r in range(n) for k in range(n_folds)]
            foreseen = (self._end - n) * n_folds * len(names)
        later = cells if last is None else [cell for cell in cells if cell > last.cells[0]]
        progress = self.dispatcher.progress
        progress.total = progress.done + self.dispatcher.count_open("oof", later, names) + foreseen

    def so_far(self, last: Holdout) -> Predictions:
        """The predictions of this call as they were when this fold was finished."""
        repeat, fold = last.cells[0]
        block, splits = self.buffer.oof, self.splits
        mine = [self.buffer.position[name] for name in self.job.configs]
        folds = np.ascontiguousarray(splits.folds[:, : repeat + 1])
        data = block.data[: repeat + 1][:, mine]
        state = block.state[mine][:, : repeat + 1]
        labels = None if block.labels is None else block.labels[: repeat + 1][:, mine]
        later = np.flatnonzero(folds[:, repeat] > fold)
        data[repeat][:, later] = -1 if data.dtype.kind == "i" else np.nan
        tail = state[:, repeat, fold + 1 :]
        tail[tail != State.DROPPED] = State.PENDING
        train = None if splits.train is None else {k: v for k, v in splits.train.items() if k[0] <= repeat}
        header = self.job.header
        plan = header.plan if self.job.repeats is None else replace(header.plan, repeats=self._most)
        known: dict[str, Any] = {"data": data, "state": state, "folds": folds, "train": train, "labels": labels}
        known["live_scores"] = {
            name: np.where(state == State.DONE, scores[mine][:, : repeat + 1], np.nan)
            for name, scores in block.scores.items()
        }
        return replace(header, **known, plan=plan, blocks={}, messages={}, notes=())

    # -- stopping ---------------------------------------------------------------------------------------

    def _enough(self, last: Holdout) -> bool:
        """Whether the repeats so far are enough for every configuration that is still running."""
        if self.stop is None:
            return False
        oof = self.so_far(last)
        names = [oof.configs[j] for j in running(oof)]
        if not names:
            return True
        with limit_threads("blas"):
            enough = self.stop.holds(oof, names)
        if not enough:
            self._forecast(oof, names, last)
        return enough

    def _forecast(self, oof: Predictions, names: Sequence[str] | None = None, last: Holdout | None = None) -> None:
        """The work goes on to the repeat that the rule foresees, or to the last that is allowed."""
        if self.stop is None:
            return
        foreseen = self.stop.forecast(oof, names)
        self._end = self._most if foreseen is None else min(max(foreseen, self.n_done + 1), self._most)
        self.dispatcher.progress.at_most = foreseen is None
        self._count(last)

    # -- what to record ---------------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        """The drops, of configurations of earlier calls too, and how many fits they saved."""
        facts: dict[str, Any] = {}
        if self.rule is not None:
            facts["drops"] = self._drops()
            facts["fits_saved"] = int(np.sum(self.buffer.oof.state[:, : self._n_begun] == State.DROPPED))
        if self.stop is not None:
            facts["stopped_after"] = self._n_begun if self.stopped else None
            facts["stop"] = repr(self.stop)
            facts["stopped_after_fold"] = self.last_fold
        return facts

    @property
    def _n_begun(self) -> int:
        """Repeats that are done, and the one that is not if some of it is."""
        return self.n_done + (self.last_fold is not None or not self.stopped)

    def _drops(self) -> list[dict[str, Any]]:
        """What was decided now, and what earlier calls decided about configurations that are not decided on yet."""
        before = self.buffer.oof.start.provenance.get("drops", [])
        decided = set(self.job.configs if self.stopped else self.dropped)
        return [drop for drop in before if drop["config"] not in decided] + self.log

    def notes(self) -> tuple[Note, ...]:
        """What the user should know about the repeats."""
        if not self.at_limit:
            return ()
        n = formatting.count(self.n_done, "repeat")
        return (Note("OF401", f"{self.stop!r} was not satisfied after {n}, the maximum allowed."),)
