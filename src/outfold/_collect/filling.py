"""Filling the cells of a collection: hand out tasks, take in what comes back, go on after a worker was ended."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
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
from .recipes import Recipe
from .schedule import CellKey, Holdout, Schedule, paired_holdouts, single_holdouts, trained_holdouts
from .work import CRASHED, Outcome, Setting, expired_message

if TYPE_CHECKING:
    from ..metrics import MetricLike
    from ..select import RuleLike
    from .collection import Collection

# No task fits more configurations than this, so that cells reach the store and the progress line.
_LARGEST_BATCH = 200
# Warnings about code, not about the fit.
_SILENT = frozenset({"DeprecationWarning", "FutureWarning", "PendingDeprecationWarning"})


Task = tuple[Setting, Holdout, int, Sequence[Recipe]]


class _Flight:
    """The tasks that were handed out and have not come back."""

    def __init__(self) -> None:
        self._out: dict[tuple[Holdout, str], Task] = {}

    def watch(self, tasks: Iterator[Task]) -> Iterator[Task]:
        """The tasks as they are handed out."""
        for task in tasks:
            self._out[task[1], task[3][0].name] = task
            yield task

    def landed(self, outcomes: Sequence[Outcome]) -> None:
        """A task has come back with these."""
        self._out.pop((outcomes[0].holdout, outcomes[0].name), None)

    def singles(self, settled: set[CellKey]) -> Iterator[Task]:
        """What is out, one fit a task."""
        for setting, holdout, seed, recipes in list(self._out.values()):
            for recipe in recipes:
                if any((holdout.block, recipe.name, r, k) not in settled for r, k in holdout.cells):
                    yield setting, holdout, seed, [recipe]


class Filling:
    """The work of one collection while it goes on."""

    def __init__(self, collection: Collection, board: Board, retry_failed: bool, progress: Mode) -> None:
        self.of, self.board = collection, board
        twofold = collection.seeds is not None
        self.holdouts = (trained_holdouts if twofold else single_holdouts)(collection.splits)
        if collection.inner is not None:
            self.holdouts += paired_holdouts(collection.splits)
        self.settled = board.settled(retry_failed)
        self.n_fits, self.warned = 0, Counter[str]()
        self.start = perf_counter()
        # Scores of training rows would only mislead.
        found = None if twofold else quick_score(collection.target, collection.reader.response)
        self.progress = Progress(self._open_cells(), progress, found and found[1], found[0] if found else "")

    def _open_cells(self) -> int:
        return sum(
            (h.block, name, r, k) not in self.settled
            for h in self.holdouts
            for r, k in h.cells
            for name in self.of.configs
        )

    def fill(self, holdouts: Sequence[Holdout]) -> None:
        """Fit all configurations on what these hold-outs of the plan lack."""
        with self.workers() as fill:
            fill(holdouts)

    def fill_fresh(self, metric: MetricLike, rule: RuleLike) -> None:
        """Cross-validate the selected configuration on the new partition."""
        from .._scoring import Scoring
        from ..select import choose

        assert self.of.fresh is not None
        mine = self.board.oof.snapshot().sel(list(self.of.configs))
        selected = choose(Scoring(mine, metric, "fold"), rule).name
        recipes = [recipe for recipe in self.of.recipes if recipe.name == selected]
        holdouts = single_holdouts(self.of.fresh, "fresh")
        self.progress.total += sum(("fresh", selected, r, k) not in self.settled for r, k in self.of.fresh.cells)
        with self.workers(recipes, self.of.fresh, self.of.splits.n_repeats) as fill:
            fill(holdouts)

    @contextmanager
    def workers(
        self, recipes: list[Recipe] | None = None, splits: Splits | None = None, first_repeat: int = 0
    ) -> Iterator[Callable[[Sequence[Holdout]], None]]:
        """Context: a function that fits the configurations on what some hold-outs lack.

        It may be called often; what was learnt about the time a fit takes stays. By default all configurations and the
        splits of the plan.
        """
        pool, recipes = self.of.pool, self.of.recipes if recipes is None else recipes
        schedule = Schedule([], [r.name for r in recipes], self.settled, pool.task_seconds, _LARGEST_BATCH)
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory()) if self.of.timeout and pool.killable else None
            setting = self._setting(self.of.splits if splits is None else splits, folder)
            stack.enter_context(pool.surroundings(self.of.threads))

            def fill(holdouts: Sequence[Holdout]) -> None:
                schedule.holdouts = holdouts
                done = False
                while not done:
                    flight = _Flight()
                    tasks = flight.watch(self._tasks(schedule, setting, recipes, first_repeat))
                    done = self._run(tasks, schedule, flight)
                    if not done and not self._take_hung(folder, schedule):
                        for task in flight.singles(self.settled):
                            self._run_alone(task, schedule, folder)

            yield fill

    def _run(self, tasks: Iterator[Task], schedule: Schedule, flight: _Flight) -> bool:
        """Do the tasks; False when a worker process ended and what is left has to be done again."""
        try:
            with closing(self.of.pool.run(tasks)) as answers:
                for outcomes in answers:
                    self._take(outcomes, schedule)
                    flight.landed(outcomes)
            return True
        except PoolBroken:
            return False

    def _run_alone(self, task: Task, schedule: Schedule, folder: str | None) -> None:
        """Fit one configuration with nothing beside it: if the process ends again, this fit is the reason."""
        start, (_, holdout, _, (recipe,)) = perf_counter(), task
        if self._run(iter([task]), schedule, _Flight()) or self._take_hung(folder, schedule):
            return
        self._take([Outcome(holdout, recipe.name, None, CRASHED, perf_counter() - start, ())], schedule)

    def _setting(self, splits: Splits, folder: str | None) -> Setting:
        from sklearn import get_config

        pool = self.of.pool
        return Setting(
            token=os.urandom(8).hex(),
            samples=self.of.samples,
            splits=Splits(replace(splits.plan, cv=None), splits.folds, splits.train),
            reader=self.of.reader,
            own_process=pool.own_process,
            limited=not pool.inline,
            threads=self.of.threads,
            timeout=self.of.timeout,
            folder=folder,
            config=get_config(),
        )

    def _tasks(
        self, schedule: Schedule, setting: Setting, recipes: Sequence[Recipe], first_repeat: int
    ) -> Iterator[Task]:
        for holdout, positions in schedule.batches():
            yield setting, holdout, self.of.seed_of(holdout, first_repeat), [recipes[j] for j in positions]

    def _take(self, outcomes: Sequence[Outcome], schedule: Schedule) -> None:
        self.board.put(outcomes)
        for outcome in outcomes:
            holdout = outcome.holdout
            block = self.board.blocks[holdout.block]
            schedule.learn(outcome.name, outcome.seconds)
            self.n_fits += 1
            self.warned.update({name for name in outcome.warnings if name not in _SILENT})
            for i, (r, k) in enumerate(holdout.cells):
                self.settled.add((holdout.block, outcome.name, r, k))
                values = None if outcome.values is None else outcome.values[i]
                self.progress.add(outcome.name, values, block.rows(r, k))

    def _take_hung(self, folder: str | None, schedule: Schedule) -> bool:
        """Record the fits that hung, where processes were ended for that."""
        keys = [] if folder is None else hung(folder)
        for (block, repeat, left_out, cells), name in keys:
            holdout = Holdout(block, repeat, tuple(left_out), tuple((r, k) for r, k in cells))
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
        raise CollectError(
            f"all {_render.count(len(names), 'configuration')} failed. The most common reason ({n:,} of "
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
