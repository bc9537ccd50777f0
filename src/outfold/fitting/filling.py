"""Filling the cells of a collection: hand out tasks, take in what comes back, go on after a worker was ended."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import formatting
from ..data.plan import Splits
from ..data.predictions import State
from ..exceptions import CollectError
from .board import Board
from .limits import hung
from .pool import PoolBroken
from .progress import Mode, Progress, quick_score
from .raising import raise_failed
from .recipes import Recipe
from .schedule import CellKey, Holdout, Schedule, one_repeat, paired_holdouts, single_holdouts, trained_holdouts
from .share_options import Tally, said_family
from .sharing import Family
from .task import CRASHED, Outcome, Setting, expired_message
from .work import WORTH

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


# The setting, the hold-out, its splits and seed, what to fit, and further members of families fitted as a whole.
Task = tuple[Setting, Holdout, Splits, int, Sequence[Recipe], Sequence[Recipe]]


class Reopened(Exception):  # noqa: N818
    """Finished cells were opened again, because a family did not keep its promise: what was decided by them is void."""


class _Flight:
    """The tasks that were handed out and have not come back."""

    def __init__(self) -> None:
        self._out: dict[tuple[Holdout, str], Task] = {}

    def watch(self, tasks: Iterator[Task]) -> Iterator[Task]:
        """The tasks as they are handed out."""
        for task in tasks:
            self._out[task[1], task[4][0].name] = task
            yield task

    def landed(self, outcomes: Sequence[Outcome]) -> Task:
        """The task that has come back with these."""
        return self._out.pop((outcomes[0].holdout, outcomes[0].name))

    def singles(self, settled: set[CellKey]) -> Iterator[Task]:
        """What is out, one fit a task."""
        for setting, holdout, splits, seed, recipes, called_in in list(self._out.values()):
            for recipe in recipes:
                if any((block, recipe.name, r, k) not in settled for block, r, k in holdout.slots):
                    others = [r for r in recipes if r is not recipe]
                    yield setting, holdout, splits, seed, [recipe], [*called_in, *others]


def _learnt(outcome: Outcome) -> tuple[float | None, Sequence[tuple[int, float]]]:
    """The seconds a fit took by itself, None where there was no need of one, and those of the transformers before it."""
    share = outcome.share
    if share is None:
        return outcome.seconds, ()
    return None if share.copied else share.own, share.nodes


class Filling:
    """The work of one collection while it goes on; a context manager, which has the workers."""

    def __init__(self, collection: Collection, board: Board, retry_failed: bool, progress: Mode) -> None:
        self.of, self.board = collection, board
        twofold = collection.seeds is not None
        self.holdouts = trained_holdouts(collection.splits) if twofold else self.main_holdouts(collection.splits)
        if collection.inner is not None:
            self.holdouts += paired_holdouts(collection.splits)
        # To raise the exception of a cell that failed before, it has to be met again.
        self.settled = board.settled(retry_failed or collection.raises)
        self.n_fits, self.warned = 0, Counter[str]()
        self.start = perf_counter()
        # Scores of training rows would only mislead.
        found = None if twofold else quick_score(collection.target, collection.reader.response)
        self._before = self.n_settled
        self._folder: str | None = None
        before = board.oof.start.provenance.get("sharing", {})
        self.tally = Tally.since(before)
        self._refused: set[int] = {
            number
            for number, group in collection.sharing.routes.groups.items()
            if said_family(group.family) in self.tally.refused
        }
        self._lonely: set[int] = set()
        self._reopened = False
        self._route()
        n_open = sum(len(h.cells) * len(self._schedule.missing(h)) for h in self.holdouts)
        self.progress = Progress(n_open, progress, found and found[1], found[0] if found else "")

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

    def main_holdouts(self, splits: Splits) -> list[Holdout]:
        """One fit a fold, which serves the block of training samples too where there is one."""
        return single_holdouts(splits, twin=None if self.of.inbag is None else "inbag")

    @property
    def n_settled(self) -> int:
        """Cells of these configurations that nothing is left to do for; those of a twin come with another one."""
        return sum(name in self.of.configs and block != "inbag" for block, name, _, _ in self.settled)

    def so_far(self) -> str:
        """``12 of 40 cells``, what earlier calls on the same store did included."""
        done = self._before + self.progress.done
        return f"{done:,} of {formatting.count(max(self._before + self.progress.total, done), 'cell')}"

    def count_open(self, block: str, cells: Iterable[tuple[int, int]], names: Iterable[str]) -> int:
        """How many of these cells are still to be done for these configurations."""
        names = list(names)
        return sum((block, name, r, k) not in self.settled for r, k in cells for name in names)

    def fill(self, holdouts: Sequence[Holdout], splits: Splits) -> None:
        """Fit all configurations on what these hold-outs of the plan lack; what fits take is learnt from call to call."""
        self._fill(holdouts, splits, self._schedule, 0)
        if self._reopened:
            self._reopened = False
            raise Reopened

    def fill_fresh(self, metric: MetricLike, rule: RuleLike) -> None:
        """Cross-validate the selected configuration on the new partition."""
        from ..metrics._scoring import Scoring
        from ..select import choose

        assert self.of.fresh is not None
        mine = self.board.oof.snapshot().sel(list(self.of.configs))
        selected = choose(Scoring(mine, metric, "fold"), rule).name
        recipes = [recipe for recipe in self.of.recipes if recipe.name == selected]
        holdouts = single_holdouts(self.of.fresh, "fresh")
        self.progress.total += self.count_open("fresh", self.of.fresh.cells, [selected])
        schedule = Schedule([], [selected], self.settled, self.of.pool.task_seconds, _LARGEST_BATCH)
        self._fill(holdouts, self.of.fresh, schedule, self.of.splits.n_repeats, recipes)

    def fill_resub(self) -> None:
        """Fit on all samples what was not dropped, and predict the same samples."""
        splits = self.of.resub
        assert splits is not None
        gone = {
            self.board.oof.start.configs[j]
            for j in np.flatnonzero(np.any(self.board.oof.state == State.DROPPED, axis=(1, 2)))
        }
        recipes = [recipe for recipe in self.of.recipes if recipe.name not in gone]
        names = [recipe.name for recipe in recipes]
        self.progress.total += self.count_open("resub", splits.cells, names)
        schedule = Schedule([], names, self.settled, self.of.pool.task_seconds, _LARGEST_BATCH)
        self._fill(single_holdouts(splits, "resub"), splits, schedule, 0, recipes)

    def start_over(self) -> None:
        """Take back what was dropped in this call."""
        names = self.of.configs
        self.settled -= {key for key in self.board.dropped(names) if key in self.settled}
        self.board.forget_drops(names)

    def _route(self) -> None:
        """Give every recipe its route, as things stand now."""
        self.routes = self.of.sharing.routes.without(self._refused, self._lonely)
        routed = zip(self.of.recipes, self.routes.routes, strict=True)
        self._recipes = [r if route is None else replace(r, route=route) for r, route in routed]
        shares = any(route is not None for route in self.routes.routes)
        pool, known = self.of.pool, getattr(self, "_schedule", None)
        self._schedule = Schedule(
            [] if known is None else known.holdouts,
            [r.name for r in self.of.recipes],
            self.settled,
            pool.task_seconds,
            _LARGEST_BATCH,
            self.routes if shares else None,
            WORTH,
            pool.n_workers > 1,
        )

    def _fill(
        self,
        holdouts: Sequence[Holdout],
        splits: Splits,
        schedule: Schedule,
        first_repeat: int,
        recipes: Sequence[Recipe] | None = None,
    ) -> None:
        """Do what these hold-outs lack: of all configurations, or of the given ones, each fitted alone."""
        schedule.holdouts = holdouts
        done = False
        while not done:
            flight = _Flight()
            try:
                done = self._run(flight.watch(self._tasks(schedule, splits, first_repeat, recipes)), schedule, flight)
            except PoolBroken:
                if not self._take_hung(schedule):
                    for task in flight.singles(self.settled):
                        self._run_alone(task, schedule)

    def _run(self, tasks: Iterator[Task], schedule: Schedule, flight: _Flight) -> bool:
        """Do the tasks, and say whether all came back; `PoolBroken` when a worker process ended."""
        n_left = 0
        with closing(self._workers.run(tasks)) as answers:
            for outcomes in answers:
                setting, holdout, _, _, recipes, _ = flight.landed(outcomes)
                rest = [recipe.name for recipe in recipes[len(outcomes) :]]
                if rest:
                    schedule.give_back(holdout, rest)
                n_left += len(outcomes) - self._take(outcomes, schedule, setting.token)
        return n_left == 0 and not schedule.has_back

    def _run_alone(self, task: Task, schedule: Schedule) -> None:
        """Fit one configuration with nothing beside it: if the process ends again, this fit is the reason."""
        start, (setting, holdout, splits, seed, (recipe,), _) = perf_counter(), task
        alone: Task = (setting, holdout, splits, seed, [replace(recipe, route=None)], ())
        if recipe.route is not None and recipe.route.position in self._lonely:
            task, recipe = alone, alone[4][0]
        flight = _Flight()
        try:
            self._run(flight.watch(iter([task])), schedule, flight)
        except PoolBroken:
            if self._take_hung(schedule):
                return
            if recipe.route is not None:
                self._run_alone(alone, schedule)
                r, k = holdout.cells[0]
                if self.board.blocks[holdout.block].state[self.board.position[recipe.name], r, k] == State.DONE:
                    # What it shares with others is to blame.
                    self._lonely |= self._neighbours(recipe.name)
                    self._change_routes()
            else:
                crashed = Outcome(holdout, recipe.name, None, CRASHED, perf_counter() - start, ())
                self._take([crashed], schedule, self._setting.token)

    def _make_setting(self) -> Setting:
        from sklearn import get_config

        pool, groups, sharing = self.of.pool, self.routes.groups, self.of.sharing
        families = {number: group.family for number, group in groups.items()}
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
            lean=sharing.level is not None,
            families=self._packed(families) if families and pool.own_process else families,
            spot_check=sharing.spot_check,
        )

    def _packed(self, families: Mapping[int, Family]) -> bytes:
        try:
            return self.of.pool.dumps(families)
        except Exception as error:
            raise CollectError(
                f"a family cannot be sent to worker processes ({type(error).__name__}: {error}). Use n_jobs=1, "
                "joblib.parallel_config('threading') or share=False."
            ) from error

    def _tasks(
        self, schedule: Schedule, splits: Splits, first_repeat: int, recipes: Sequence[Recipe] | None
    ) -> Iterator[Task]:
        repeat, part = -1, splits
        for holdout, positions in schedule.batches():
            if holdout.repeat != repeat:
                repeat, part = holdout.repeat, one_repeat(splits, holdout.repeat)
            mine = self._recipes if recipes is None else recipes
            further = self.routes.called_in(positions) if recipes is None else []
            seed = self.of.seed_of(holdout, first_repeat)
            yield self._setting, holdout, part, seed, [mine[j] for j in positions], [mine[j] for j in further]

    def _take(self, outcomes: Sequence[Outcome], schedule: Schedule, token: str) -> int:
        """Put outcomes on the board, and say how many; those of a family that was refused meanwhile are left out."""
        failed = next((o for o in outcomes if o.values is None), None) if self.of.raises else None
        if failed is not None:  # not put on the board, so that the same call meets it again
            outcomes = [outcome for outcome in outcomes if outcome.values is not None]
        for outcome in outcomes:
            if outcome.refusals:
                self._refuse(outcome)
        if self._refused and token != self._setting.token:
            concerned = self._concerned(self._refused)
            self.tally.checks += sum(outcome.n_checks for outcome in outcomes if outcome.name in concerned)
            outcomes = [outcome for outcome in outcomes if outcome.name not in concerned]
        self.board.put(outcomes)
        if outcomes:
            self._count(outcomes, outcomes[0].holdout, schedule)
        if failed is not None:
            raise_failed(failed.name, *failed.holdout.cells[0], failed.message, failed.error)
        return len(outcomes)

    def _count(self, outcomes: Sequence[Outcome], holdout: Holdout, schedule: Schedule) -> None:
        """What these fits on one hold-out tell the schedule, the notes and the person who waits."""
        block = self.board.blocks[holdout.block]
        rows = [block.rows(r, k) for r, k in holdout.cells]
        self.settled.update((name, outcome.name, r, k) for name, r, k in holdout.slots for outcome in outcomes)
        self.n_fits += len(outcomes)
        for outcome in outcomes:
            schedule.learn(outcome.name, *_learnt(outcome))
            self.tally.add(outcome, self.routes.groups)
            if outcome.warnings:
                self.warned.update({name for name in outcome.warnings if name not in _SILENT})
            for i in range(len(rows)):
                self.progress.add(outcome.name, None if outcome.values is None else outcome.values[i], rows[i])

    def _refuse(self, outcome: Outcome) -> None:
        """Use no more the families that were found wanting, and open again what they gave."""
        for refusal in outcome.refusals:
            if refusal.group in self._refused:
                continue
            family = self.routes.groups[refusal.group].family
            numbers = {n for n, group in self.routes.groups.items() if group.family is family}
            # Before the refusal is recorded: should the work end in between, the same check finds it again.
            keys = self.board.reopen(self._concerned(numbers))
            self._refused |= numbers
            self.tally.refuse(refusal, family, numbers)
            self.board.record(sharing=self.tally.to_dict(self.of.sharing.level))
            self.settled -= keys
            self.progress.total += sum(block != "inbag" for block, *_ in keys)  # a twin comes with another cell
            self._reopened = True
            self._change_routes()

    def _concerned(self, numbers: set[int]) -> set[str]:
        """The configurations that these groups have a part in."""
        found = set()
        for recipe, route in zip(self.of.recipes, self.of.sharing.routes.routes, strict=True):
            if route is not None and numbers & route.groups:
                found.add(recipe.name)
        return found

    def _change_routes(self) -> None:
        """From now on tasks go other ways; what workers keep of the old ones is not used again."""
        schedule = self._schedule
        self._route()
        # The tasks that come are cut by the schedule that is being worked through.
        schedule.routes, self._schedule = self._schedule.routes, schedule
        self._setting = self._make_setting()

    def _take_hung(self, schedule: Schedule) -> bool:
        """Record the fits that hung, where processes were ended for that."""
        keys = [] if self._folder is None else hung(self._folder)
        for (block, repeat, left_out, cells, twin), name, shared in keys:
            if shared:  # it has yet to be seen whose fault that is
                self._lonely |= self._neighbours(name)
                self._change_routes()
                continue
            holdout = Holdout(block, repeat, tuple(left_out), tuple((r, k) for r, k in cells), twin)
            assert self.of.timeout is not None
            message = expired_message(self.of.timeout)
            expired = Outcome(holdout, name, None, message, self.of.timeout, ())
            self._take([expired], schedule, self._setting.token)
        return bool(keys)

    def _neighbours(self, name: str) -> set[int]:
        """The configurations that share anything with this one."""
        routes = self.routes.routes
        mine = next(route for r, route in zip(self.of.recipes, routes, strict=True) if r.name == name)
        if mine is None:
            return set()
        if not mine.legs:
            return {p for p, route in enumerate(routes) if route is not None and route.group == mine.group}
        first = mine.legs[0]
        return {
            p for p, route in enumerate(routes) if route is not None and route.legs and first.is_akin(route.legs[0])
        }

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
            "sharing": self.tally.to_dict(self.of.sharing.level),
        }
        if self.of.inner is not None:
            n, c = self.of.splits.n_folds, len(self.board.position)
            facts["fits_plain"] = self.of.splits.n_repeats * (n * n * c + n) + 1
        return facts
