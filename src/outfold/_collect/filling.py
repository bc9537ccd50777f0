"""Filling the cells of a collection: hand out tasks, take in what comes back, go on after a worker was ended."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _render
from .._plan import Splits
from .._predictions import State
from .._progress import Mode, Progress, quick_score
from ..exceptions import CollectError
from .board import Board
from .limits import hung
from .pool import PoolBroken
from .raising import raise_failed
from .recipes import Recipe
from .schedule import CellKey, Holdout, Schedule, one_repeat, paired_holdouts, single_holdouts, trained_holdouts
from .work import CRASHED, Outcome, Setting, expired_message

if TYPE_CHECKING:
    from ..metrics import MetricLike
    from ..select import RuleLike
    from .collection import Collection

# No task fits more configurations than this, so that cells reach the store and the progress line.
_LARGEST_BATCH = 200
# A task that takes so many times longer than it should gives back what it has, and the rest is handed out again.
_PATIENCE = 3.0
# Warnings about code, not about the fit.
_SILENT = frozenset({"DeprecationWarning", "FutureWarning", "PendingDeprecationWarning"})


Task = tuple[Setting, Holdout, Splits, int, Sequence[Recipe]]


class _Flight:
    """The tasks that were handed out and have not come back.

    `left` is True where a task came back with a part of its batch.
    """

    def __init__(self) -> None:
        self._out: dict[tuple[Holdout, str], Task] = {}
        self.left = False

    def watch(self, tasks: Iterator[Task]) -> Iterator[Task]:
        """The tasks as they are handed out."""
        for task in tasks:
            self._out[task[1], task[-1][0].name] = task
            yield task

    def landed(self, outcomes: Sequence[Outcome]) -> None:
        """A task has come back with these."""
        task = self._out.pop((outcomes[0].holdout, outcomes[0].name))
        self.left |= len(outcomes) < len(task[-1])

    def singles(self, settled: set[CellKey]) -> Iterator[Task]:
        """What is out, one fit a task."""
        for setting, holdout, splits, seed, recipes in list(self._out.values()):
            for recipe in recipes:
                if any((block, recipe.name, r, k) not in settled for block, r, k in holdout.slots):
                    yield setting, holdout, splits, seed, [recipe]


class Filling:
    """The work of one collection while it goes on; a context manager, which has the workers."""

    def __init__(self, collection: Collection, board: Board, retry_failed: bool, progress: Mode) -> None:
        self.of, self.board = collection, board
        twofold = collection.seeds is not None
        splits, twin = collection.splits, None if collection.inbag is None else "inbag"
        self.holdouts = trained_holdouts(splits) if twofold else single_holdouts(splits, twin=twin)
        if collection.inner is not None:
            self.holdouts += paired_holdouts(collection.splits)
        # To raise the exception of a cell that failed before, it has to be met again.
        self.settled = board.settled(retry_failed or collection.raises)
        self.n_fits, self.warned = 0, Counter[str]()
        self.start = perf_counter()
        # Scores of training rows would only mislead.
        found = None if twofold else quick_score(collection.target, collection.reader.response)
        self._schedule = self._schedule_of(collection.recipes)
        n_open = sum(len(h.cells) * len(self._schedule.missing(h)) for h in self.holdouts)
        self.progress = Progress(n_open, progress, found and found[1], found[0] if found else "")
        self._before = self.n_settled
        self._folder: str | None = None

    def __enter__(self) -> Filling:
        pool = self.of.pool
        self._stack = ExitStack()
        with ExitStack() as stack:
            if self.of.timeout and pool.killable:
                self._folder = stack.enter_context(tempfile.TemporaryDirectory())
            stack.enter_context(pool.surroundings(self.of.threads))
            self._workers = stack.enter_context(pool.open())
            self._setting = self._make_setting()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def n_settled(self) -> int:
        """Cells of these configurations that nothing is left to do for; those of a twin come with another one."""
        return sum(name in self.of.configs and block != "inbag" for block, name, _, _ in self.settled)

    def so_far(self) -> str:
        """``12 of 40 cells``, what earlier calls on the same store did included."""
        done = self._before + self.progress.done
        return f"{done:,} of {_render.count(max(self._before + self.progress.total, done), 'cell')}"

    def count_open(self, block: str, cells: Iterable[tuple[int, int]], names: Iterable[str]) -> int:
        """How many of these cells are still to be done for these configurations."""
        names = list(names)
        return sum((block, name, r, k) not in self.settled for r, k in cells for name in names)

    def fill(self, holdouts: Sequence[Holdout], splits: Splits) -> None:
        """Fit all configurations on what these hold-outs of the plan lack; what fits take is learnt from call to call."""
        self._fill(holdouts, splits, self.of.recipes, self._schedule, 0)

    def fill_fresh(self, metric: MetricLike, rule: RuleLike) -> None:
        """Cross-validate the selected configuration on the new partition."""
        from .._scoring import Scoring
        from ..select import choose

        assert self.of.fresh is not None
        mine = self.board.oof.snapshot().sel(list(self.of.configs))
        selected = choose(Scoring(mine, metric, "fold"), rule).name
        recipes = [recipe for recipe in self.of.recipes if recipe.name == selected]
        holdouts = single_holdouts(self.of.fresh, "fresh")
        self.progress.total += self.count_open("fresh", self.of.fresh.cells, [selected])
        self._fill(holdouts, self.of.fresh, recipes, self._schedule_of(recipes), self.of.splits.n_repeats)

    def fill_resub(self) -> None:
        """Fit on all samples what was not dropped, and predict the same samples."""
        splits = self.of.resub
        assert splits is not None
        gone = {
            self.board.oof.start.configs[j]
            for j in np.flatnonzero(np.any(self.board.oof.state == State.DROPPED, axis=(1, 2)))
        }
        recipes = [recipe for recipe in self.of.recipes if recipe.name not in gone]
        self.progress.total += self.count_open("resub", splits.cells, [recipe.name for recipe in recipes])
        self._fill(single_holdouts(splits, "resub"), splits, recipes, self._schedule_of(recipes), 0)

    def _schedule_of(self, recipes: Sequence[Recipe]) -> Schedule:
        return Schedule([], [r.name for r in recipes], self.settled, self.of.pool.task_seconds, _LARGEST_BATCH)

    def _fill(
        self,
        holdouts: Sequence[Holdout],
        splits: Splits,
        recipes: Sequence[Recipe],
        schedule: Schedule,
        first_repeat: int,
    ) -> None:
        schedule.holdouts = holdouts
        left = True
        while left:
            flight = _Flight()
            try:
                self._run(flight.watch(self._tasks(schedule, splits, recipes, first_repeat)), schedule, flight)
                left = flight.left
            except PoolBroken:
                if not self._take_hung(schedule):
                    for task in flight.singles(self.settled):
                        self._run_alone(task, schedule)

    def _run(self, tasks: Iterator[Task], schedule: Schedule, flight: _Flight) -> None:
        """Do the tasks; `PoolBroken` when a worker process ended and what is left has to be done again."""
        with closing(self._workers.run(tasks)) as answers:
            for outcomes in answers:
                self._take(outcomes, schedule)
                flight.landed(outcomes)

    def _run_alone(self, task: Task, schedule: Schedule) -> None:
        """Fit one configuration with nothing beside it: if the process ends again, this fit is the reason."""
        start, (_, holdout, *_, (recipe,)) = perf_counter(), task
        flight = _Flight()
        try:
            self._run(flight.watch(iter([task])), schedule, flight)
        except PoolBroken:
            if not self._take_hung(schedule):
                self._take([Outcome(holdout, recipe.name, None, CRASHED, perf_counter() - start, ())], schedule)

    def _make_setting(self) -> Setting:
        from sklearn import get_config

        pool = self.of.pool
        return Setting(
            token=os.urandom(8).hex(),
            samples=self.of.samples,
            reader=self.of.reader,
            own_process=pool.own_process,
            limited=not pool.inline,
            threads=self.of.threads,
            timeout=self.of.timeout,
            folder=self._folder,
            config=get_config(),
            shared_process=not (pool.own_process or pool.inline),
            patience=_PATIENCE * pool.task_seconds,
            raises=self.of.raises,
        )

    def _tasks(
        self, schedule: Schedule, splits: Splits, recipes: Sequence[Recipe], first_repeat: int
    ) -> Iterator[Task]:
        repeat, part = -1, splits
        for holdout, positions in schedule.batches():
            if holdout.repeat != repeat:
                repeat, part = holdout.repeat, one_repeat(splits, holdout.repeat)
            seed = self.of.seed_of(holdout, first_repeat)
            yield self._setting, holdout, part, seed, [recipes[j] for j in positions]

    def _take(self, outcomes: Sequence[Outcome], schedule: Schedule) -> None:
        failed = next((o for o in outcomes if o.values is None), None) if self.of.raises else None
        if failed is not None:  # not put on the board, so that the same call meets it again
            outcomes = [outcome for outcome in outcomes if outcome.values is not None]
        self.board.put(outcomes)
        for outcome in outcomes:
            holdout = outcome.holdout
            block = self.board.blocks[holdout.block]
            schedule.learn(outcome.name, outcome.seconds)
            self.n_fits += 1
            self.warned.update({name for name in outcome.warnings if name not in _SILENT})
            self.settled.update((name, outcome.name, r, k) for name, r, k in holdout.slots)
            for i, (r, k) in enumerate(holdout.cells):
                values = None if outcome.values is None else outcome.values[i]
                self.progress.add(outcome.name, values, block.rows(r, k))
        if failed is not None:
            raise_failed(failed.name, *failed.holdout.cells[0], failed.message, failed.error)

    def _take_hung(self, schedule: Schedule) -> bool:
        """Record the fits that hung, where processes were ended for that."""
        keys = [] if self._folder is None else hung(self._folder)
        for (block, repeat, left_out, cells, twin), name in keys:
            holdout = Holdout(block, repeat, tuple(left_out), tuple((r, k) for r, k in cells), twin)
            assert self.of.timeout is not None
            message = expired_message(self.of.timeout)
            self._take([Outcome(holdout, name, None, message, self.of.timeout, ())], schedule)
        return bool(keys)

    def refuse_if_all_failed(self) -> None:
        """No configuration could be fitted: say what went wrong most often."""
        oof = self.board.oof
        mine = [self.board.position[name] for name in self.of.configs]
        if np.any(oof.state[mine] == State.DONE):
            return
        reasons = {key: text for key, text in oof.messages.items() if key[0] in self.of.configs}
        messages = Counter(reasons.values())
        (message, n), names = messages.most_common(1)[0], list(self.of.configs)
        example = next(name for (name, _, _), text in reasons.items() if text == message)
        which = f"all {len(names):,} configurations" if len(names) > 1 else "the only configuration"
        raise CollectError(
            f"{which} failed. The most common reason ({n:,} of "
            f"{sum(messages.values()):,} cells, such as {example!r}): {message}"
        )

    def facts(self) -> dict[str, Any]:
        """What to record about the work, earlier calls on the same store included."""
        before = self.board.oof.start.provenance
        warned = Counter(before.get("warnings", {})) + self.warned
        facts = {
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(before.get("seconds", 0.0) + perf_counter() - self.start, 3),
            "n_fits": before.get("n_fits", 0) + self.n_fits,
            "warnings": dict(warned),
        }
        if self.of.inner is not None:
            n, c = self.of.splits.n_folds, len(self.board.position)
            facts["fits_plain"] = self.of.splits.n_repeats * (n * n * c + n) + 1
        return facts
