"""The dispatcher: cuts the work into batches, hands them to workers, takes in what comes back, and goes on after a crash."""

from __future__ import annotations

import tempfile
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from .. import formatting, metrics
from ..data.predictions import Predictions, State
from ..data.seeds import SEEDS, seeds_made
from ..data.splitting import NOT_HELD_OUT, Splits
from ..exceptions import CollectError, FitFailedError, InputError
from ..metrics import MetricLike
from ..metrics._scoring import recorded_metric
from ..results import Selection
from ..select import as_rule
from .buffer import ResultBuffer
from .executor import Executor
from .job import Job
from .limits import hung
from .progress import Progress
from .worker import CRASHED, Batch, CellKey, FitOutcome, Holdout, PoolBroken, Workers, WorkerSettings, expired_message

# No batch has more configurations than this, so that cells reach the store and the progress line.
_LARGEST_BATCH = 200
# A batch that takes this many times longer than it should returns what it has; the rest is handed out again.
_PATIENCE = 3.0
# Seconds that the first fit may have taken to load and prepare what later ones find there.
_FIRST_SECONDS = 0.1
# Blocks whose cells are filled by the fits of other cells.
_WITH_OTHERS = ("inbag", SEEDS)
# Warnings about code, not about the fit.
_SILENT = frozenset({"DeprecationWarning", "FutureWarning", "PendingDeprecationWarning"})


# -- what to fit ----------------------------------------------------------------------------------------


def single_holdouts(
    splits: Splits, block: str = "oof", training_block: str | None = None, n_seeds: int = 0
) -> list[Holdout]:
    """One fit for each fold."""
    return [Holdout(block, r, (k,), ((r, k),), training_block, n_seeds) for r, k in splits.cells]


def trained_holdouts(splits: Splits) -> list[Holdout]:
    """One fit for each repeat: fold 0 is what it held out, fold 1 what it was trained on."""
    return [Holdout("oof", r, (0,), ((r, 0), (r, 1))) for r in range(splits.n_repeats)]


def paired_holdouts(splits: Splits) -> list[Holdout]:
    """One fit for every two folds i < k: it serves outer i, inner k and outer k, inner i."""
    n = splits.n_folds
    return [
        Holdout("inner", r, (i, k), ((r * n + i, k), (r * n + k, i)))
        for r in range(splits.n_repeats)
        for i in range(n)
        for k in range(i + 1, n)
    ]


def inner_holdouts(job: Job) -> list[Holdout]:
    """What nested cross-validation fits beside the folds of the plan."""
    if job.options.inner is True:
        return paired_holdouts(job.splits)
    # Samples outside of the outer training part are in no inner fold.
    cells = job.blocks["inner"].cells if job.options.inner else []
    return [Holdout("inner", r, (k, NOT_HELD_OUT), ((r, k),)) for r, k in cells]


def one_repeat(splits: Splits, repeat: int) -> Splits:
    """The splits of one repeat only: all that a fit in it has to know."""
    train = splits.train and {(0, k): rows for (r, k), rows in splits.train.items() if r == repeat}
    plan = replace(splits.plan, repeats=1, cv=None)
    return Splits(plan, np.ascontiguousarray(splits.folds[:, repeat : repeat + 1]), train)


class Portion(NamedTuple):
    """A hold-out and the positions of the configurations to fit on it in one batch."""

    holdout: Holdout
    configs: tuple[int, ...]


@dataclass
class Schedule:
    """Portions of what is missing, cut while the work goes on by how long fits turn out to take.

    The executor says in which order configurations come and where a cut costs little.
    """

    holdouts: Sequence[Holdout]
    executor: Executor
    settled: set[CellKey]  # the cells that need no fit
    task_seconds: float  # of a batch: long against its overhead, short against what a crash may lose
    largest: int  # the most configurations of a portion
    slowest_first: bool = False  # for workers that wait for each other
    _seconds: dict[str, float] = field(default_factory=dict)
    _default: float | None = None
    _first: float = 0.0  # seconds of the first fit
    _later: float = 0.0  # of all later ones together
    _n_learnt: int = 0
    _returned: deque[tuple[Holdout, list[int]]] = field(default_factory=deque)

    @property
    def names(self) -> list[str]:
        """The names of the configurations."""
        return [template.name for template in self.executor.templates]

    def missing(self, holdout: Holdout) -> list[int]:
        """Positions of the configurations that lack a cell of this hold-out."""
        slots, settled = holdout.slots, self.settled
        return [j for j, name in enumerate(self.names) if any((b, name, r, k) not in settled for b, r, k in slots)]

    def learn(self, name: str, seconds: float) -> None:
        """Record the seconds of a fit of this configuration."""
        self._seconds[name] = seconds
        self._default = seconds if self._default is None else 0.9 * self._default + 0.1 * seconds
        if self._n_learnt:
            self._later += seconds
        else:
            self._first = seconds
        self._n_learnt += 1

    def seconds_of(self, n: int) -> float:
        """The seconds that so many fits may take, by the mean so far; the first fit alone counts less than it took."""
        if self._n_learnt < 2:
            return n * max(self._first - _FIRST_SECONDS, 0.0)
        return n * self._later / (self._n_learnt - 1)

    def portions(self) -> Iterator[Portion]:
        """Portions in the order of the hold-outs; lazily, so that later ones use what was learnt."""
        self._returned.clear()
        for holdout in self.holdouts:
            waiting = self._ordered(self.missing(holdout))
            while waiting:
                size = self._size(waiting)
                yield Portion(holdout, tuple(waiting[:size]))
                waiting = waiting[size:]
                yield from self._returned_portions()

    def give_back(self, holdout: Holdout, names: Sequence[str]) -> None:
        """A batch took too long, and these are left of it: they come next, while a worker has the rows for them."""
        known = self.names
        self._returned.append((holdout, [known.index(name) for name in names]))

    @property
    def has_returned(self) -> bool:
        """Whether something was given back after the last portion."""
        return bool(self._returned)

    def _returned_portions(self) -> Iterator[Portion]:
        while self._returned:
            holdout, waiting = self._returned.popleft()
            size = self._size(waiting)
            if size < len(waiting):
                self._returned.appendleft((holdout, waiting[size:]))
            yield Portion(holdout, tuple(waiting[:size]))

    def _ordered(self, waiting: list[int]) -> list[int]:
        there = set(waiting)
        waiting = [j for j in self.executor.order if j in there]
        if not self.slowest_first or self._default is None:
            return waiting
        branches = [list(branch) for _, branch in groupby(waiting, key=self.executor.branch)]
        branches.sort(key=lambda branch: -max(self._expected(j) for j in branch))
        return [j for branch in branches for j in branch]

    def _expected(self, j: int) -> float:
        return self._seconds.get(self.executor.templates[j].name, self._default or 0.0)

    def _size(self, waiting: Sequence[int]) -> int:
        # Nothing is known at first: single fits, which teach fastest and lose least.
        total, enough = 0.0, 0.0 if self._default is None else self.task_seconds
        for size, j in enumerate(waiting, start=1):
            total += self._expected(j)
            worth = self.executor.cut_after(j, waiting[size]) if size < len(waiting) else 0.0
            if worth is not None and (total >= max(enough, worth) or size >= self.largest):
                return size
        return len(waiting)


# -- the dispatcher -------------------------------------------------------------------------------------

# Who fits, and what; what goes to a worker.
ScheduledBatch = tuple[Executor, Batch]


class ResultsReopened(Exception):  # noqa: N818
    """Finished cells were opened again, because a verification failed: decisions that were based on them are void."""


class _InFlight:
    """The tasks that were handed out and have not come back."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[Holdout, str], ScheduledBatch] = {}

    def watch(self, tasks: Iterator[ScheduledBatch]) -> Iterator[ScheduledBatch]:
        """The tasks as they are handed out."""
        for task in tasks:
            self._tasks[task[1].holdout, task[1].templates[0].name] = task
            yield task

    def landed(self, outcomes: Sequence[FitOutcome]) -> Batch:
        """The batch that has come back with these outcomes."""
        return self._tasks.pop((outcomes[0].holdout, outcomes[0].name))[1]

    def singles(self, settled: set[CellKey], tasks: Sequence[ScheduledBatch] | None) -> Iterator[Batch]:
        """What has not come back of these tasks, or of all, as batches of one configuration."""
        for _, batch in list(self._tasks.values()) if tasks is None else tasks:
            for template in batch.templates:
                if any((block, template.name, r, k) not in settled for block, r, k in batch.holdout.slots):
                    yield replace(batch, templates=[template])


class Dispatcher:
    """The work on one job; a context manager, which has the workers."""

    def __init__(self, job: Job, buffer: ResultBuffer) -> None:
        self.job, self.buffer, options = job, buffer, job.options
        self._two_parts = job.seeds is not None
        self.holdouts = trained_holdouts(job.splits) if self._two_parts else self.main_holdouts(job.splits)
        self.own_inner = list[Holdout]()  # inner folds that are not those of the plan: they are fitted by themselves
        if options.inner is True:
            self.holdouts += inner_holdouts(job)
        else:
            self.own_inner = inner_holdouts(job)
        # To raise the exception of a cell that failed before, it has to be fitted again.
        self.settled = buffer.settled(options.retry_failed or options.raises)
        self._n_fits, self._warned = 0, Counter[str]()
        self._not_scored = Counter[str]()  # why fitted models have no score
        self._start = perf_counter()
        self._folder: str | None = None
        self._reopened = False
        before = buffer.oof.start
        executor = job.executor.continuing(before.provenance.get("sharing", {}), before.notes)
        self._schedule = self._make_schedule(executor, slowest_first=job.pool.n_workers > 1)
        # Cells of these configurations that nothing is left to do for.
        self._before = sum(name in job.configs and block not in _WITH_OTHERS for block, name, _, _ in self.settled)
        n_open = sum(len(h.cells) * len(self._schedule.missing(h)) for h in (*self.holdouts, *self.own_inner))
        self.progress = Progress(n_open, options.progress, self._leader if self._shows_leader() else None)

    def _shows_leader(self) -> bool:
        """Whether to say who leads: not by a slow metric or a rule of the user's, nor by scores of training rows."""
        rule, header = as_rule(self.job.options.rule), self.job.header
        slow = metrics.get(recorded_metric(header), header.target.task).looped
        return not self._two_parts and rule.stored is not None and not slow

    def __enter__(self) -> Dispatcher:
        pool, options = self.job.pool, self.job.options
        self._stack = ExitStack()
        with ExitStack() as stack:
            if options.timeout and pool.killable:
                self._folder = stack.enter_context(tempfile.TemporaryDirectory())
            helps = self.job.fits_here
            stack.enter_context(pool.surroundings(self.job.threads, helps))
            if helps or not pool.own_process:
                stack.callback(lambda: self.executor.release())
            self._workers = stack.enter_context(closing(Workers(pool, helps)))
            self._settings = self._make_settings()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def executor(self) -> Executor:
        """Who fits the configurations; another one after a crash or a failed verification."""
        return self._schedule.executor

    def main_holdouts(self, splits: Splits) -> list[Holdout]:
        """One fit for each fold, which also fills the blocks of training samples and of seeds if there are any."""
        n_seeds = self.job.options.seeds if SEEDS in self.job.blocks else 0
        training_block = "inbag" if "inbag" in self.job.blocks else None
        return single_holdouts(splits, training_block=training_block, n_seeds=n_seeds)

    def so_far(self) -> str:
        """``12 of 40 cells``, with those that earlier calls on the same store did."""
        done = self._before + self.progress.done
        return f"{done:,} of {formatting.count(max(self._before + self.progress.total, done), 'cell')}"

    def count_open(self, block: str, cells: Iterable[tuple[int, int]], names: Iterable[str]) -> int:
        """How many of these cells are still to be done for these configurations."""
        names = list(names)
        return sum((block, name, r, k) not in self.settled for r, k in cells for name in names)

    # -- what to fit ------------------------------------------------------------------------------------

    def fit(self, holdouts: Sequence[Holdout], splits: Splits) -> None:
        """Fit all configurations on what these hold-outs of the plan lack."""
        self._fit(holdouts, splits, self._schedule)
        if self._reopened:
            self._reopened = False
            raise ResultsReopened

    def fit_fresh(self, by: Sequence[MetricLike | None]) -> None:
        """Cross-validate the configuration that each metric selects on the new partition."""
        splits, so_far = self.job.blocks["fresh"], self._so_far()
        selected = {so_far.selection(metric).name for metric in by}
        self._fit_plainly("fresh", splits, selected, self.job.splits.n_repeats)

    def _so_far(self) -> Predictions:
        """The predictions of these configurations as they are now."""
        return self.buffer.oof.snapshot().sel(list(self.job.configs))

    def _leader(self) -> Selection | None:
        """The configuration that would be selected now; None where there is none yet."""
        try:
            return self._so_far().selection()
        except InputError:  # nothing is done in all configurations, or the metric is undefined so far
            return None

    def fit_resub(self) -> None:
        """Fit on all samples what was not dropped, and predict the same samples."""
        oof = self.buffer.oof
        dropped = np.flatnonzero(np.any(oof.state == State.DROPPED, axis=(1, 2)))
        names = set(self.job.configs) - {oof.start.configs[j] for j in dropped}
        self._fit_plainly("resub", self.job.blocks["resub"], names)

    def start_over(self) -> None:
        """Take back what was dropped in this call."""
        names = self.job.configs
        self.settled -= {key for key in self.buffer.dropped(names) if key in self.settled}
        self.buffer.forget_drops(names)

    def _fit_plainly(self, block: str, splits: Splits, names: set[str], first_repeat: int = 0) -> None:
        """Fit each of these configurations by itself on a further block."""
        templates = [template for template in self.job.templates if template.name in names]
        self.progress.total += self.count_open(block, splits.cells, names)
        schedule = self._make_schedule(self.executor.plain(templates))
        self._fit(single_holdouts(splits, block), splits, schedule, first_repeat)

    def _make_schedule(self, executor: Executor, slowest_first: bool = False) -> Schedule:
        return Schedule([], executor, self.settled, self.job.pool.task_seconds, _LARGEST_BATCH, slowest_first)

    def _fit(self, holdouts: Sequence[Holdout], splits: Splits, schedule: Schedule, first_repeat: int = 0) -> None:
        """Do what these hold-outs lack."""
        schedule.holdouts = holdouts
        done = False
        while not done:
            flight = _InFlight()
            try:
                done = self._run(flight.watch(self._tasks(schedule, splits, first_repeat)), schedule, flight)
            except PoolBroken as broken:
                if not self._take_hung(schedule):
                    for batch in flight.singles(self.settled, broken.tasks):
                        self._run_single(batch, schedule)

    def _tasks(self, schedule: Schedule, splits: Splits, first_repeat: int) -> Iterator[ScheduledBatch]:
        repeat, part = -1, splits
        for holdout, positions in schedule.portions():
            if holdout.repeat != repeat:
                repeat, part = holdout.repeat, one_repeat(splits, holdout.repeat)
            seeds = self.job.seeds_of(holdout, first_repeat)
            yield self._task(schedule.executor, holdout, part, seeds, positions)

    def _task(
        self, executor: Executor, holdout: Holdout, splits: Splits, seeds: tuple[int, ...], positions: Sequence[int]
    ) -> ScheduledBatch:
        templates, further = executor.templates, executor.helpers(positions)
        mine, helpers = [templates[j] for j in positions], [templates[j] for j in further]
        return executor, Batch(
            self._settings, executor.token, holdout, splits, seeds[0], mine, helpers, further_seeds=seeds[1:]
        )

    def _make_settings(self) -> WorkerSettings:
        from sklearn import get_config

        pool, options = self.job.pool, self.job.options
        return WorkerSettings(
            samples=self.job.samples,
            reader=self.job.reader,
            own_process=pool.own_process,
            limited=not pool.inline,
            threads=options.threads or 1,
            timeout=options.timeout,
            folder=self._folder,
            config=get_config(),
            shared_process=not (pool.own_process or pool.inline),
            patience=_PATIENCE * pool.task_seconds,
            live=options.scorers,
            rescue=options.rescue,
            around=options.around,
            raises=options.raises,
        )

    # -- what comes back --------------------------------------------------------------------------------

    def _run(self, tasks: Iterator[ScheduledBatch], schedule: Schedule, flight: _InFlight) -> bool:
        """Do the tasks, and say whether all came back; `PoolBroken` when a worker process ended."""
        n_left = 0
        with closing(self._workers.run(tasks, lambda: self._seconds_left(schedule))) as results:
            for outcomes in results:
                batch = flight.landed(outcomes)
                rest = [template.name for template in batch.templates[len(outcomes) :]]
                if rest:
                    schedule.give_back(batch.holdout, rest)
                n_left += len(outcomes) - self._take(outcomes, schedule, batch.token)
        return n_left == 0 and not schedule.has_returned

    def _seconds_left(self, schedule: Schedule) -> float:
        """How long the fits that are left may take one after the other, dropped ones included."""
        return schedule.seconds_of(self.progress.total - self.progress.done)

    def _take(self, outcomes: Sequence[FitOutcome], schedule: Schedule, token: str) -> int:
        """Put outcomes into the buffer, and say how many; those that a failed verification made void are left out."""
        failed = next((o for o in outcomes if o.failed), None) if self.job.options.raises else None
        if failed is not None:  # not recorded, so that the same call meets it again
            outcomes = [outcome for outcome in outcomes if not outcome.failed]
        self._verify(outcomes, schedule)
        kept = []
        for outcome in outcomes:
            if schedule.executor.accepts(outcome, token):
                kept.append(outcome)
            else:
                self.executor.count(outcome, void=True)
        self.buffer.put(kept)
        if kept:
            self._count(kept, kept[0].holdout, schedule)
        if failed is not None:
            repeat, fold = failed.holdout.cells[0]
            where = f"{failed.name!r} failed in repeat {repeat}, fold {fold}"
            raise FitFailedError(f"{where}: {failed.message}") from failed.error
        return len(kept)

    def _verify(self, outcomes: Sequence[FitOutcome], schedule: Schedule) -> None:
        """After a failed verification open again the results that it made void, and fit them in another way."""
        names = schedule.executor.disproved_by(outcomes)
        if not names:
            return
        # Before the failure is recorded: should the work end in between, the same verification fails again.
        keys = self.buffer.reopen(names)
        schedule.executor = schedule.executor.without_disproved(outcomes)
        self.buffer.record(sharing=self.executor.facts())
        self.settled -= keys
        self.progress.total += sum(block not in _WITH_OTHERS for block, *_ in keys)
        self._reopened = True

    def _count(self, outcomes: Sequence[FitOutcome], holdout: Holdout, schedule: Schedule) -> None:
        """What these fits on one hold-out tell the schedule, the notes and the person who waits."""
        self.settled.update((name, outcome.name, r, k) for name, r, k in holdout.slots for outcome in outcomes)
        for outcome in outcomes:
            schedule.learn(outcome.name, schedule.executor.own_seconds(outcome))
            self.executor.count(outcome)
            self._n_fits += len(outcome.fits)
            for fit in outcome.fits:
                if fit.warnings:
                    self._warned.update({name for name in fit.warnings if name not in _SILENT})
            if outcome.scores is not None and outcome.scores.problem:
                self._not_scored[outcome.scores.problem] += 1
            for _ in holdout.cells:
                self.progress.add(failed=outcome.failed)

    # -- crashes ----------------------------------------------------------------------------------------

    def _run_single(self, batch: Batch, schedule: Schedule) -> None:
        """Fit one configuration with nothing beside it: if the process ends again, this fit is the reason."""
        start, executor, (template,) = perf_counter(), schedule.executor, batch.templates
        position = [other.name for other in executor.templates].index(template.name)
        attempt, where = executor, (batch.holdout, batch.splits, (batch.seed, *batch.further_seeds), [position])
        survived = self._survives(self._task(executor, *where), schedule)
        if not survived and executor.shares(position):
            start, attempt = perf_counter(), executor.isolating(position)
            survived = self._survives(self._task(attempt, *where), schedule)
        if not survived:
            crashed = FitOutcome(batch.holdout, template.name, None, CRASHED, perf_counter() - start, ())
            self._take([crashed], schedule, attempt.token)
        elif attempt is not executor:
            r, k = batch.holdout.cells[0]
            state = self.buffer.blocks[batch.holdout.block].state[self.buffer.position[template.name], r, k]
            if state == State.DONE:  # what it shares with others is to blame
                schedule.executor = attempt

    def _survives(self, task: ScheduledBatch, schedule: Schedule) -> bool:
        """Run one task, and say whether the worker lived, or was ended because a fit hung."""
        flight = _InFlight()
        try:
            self._run(flight.watch(iter([task])), schedule, flight)
        except PoolBroken:
            return self._take_hung(schedule)
        return True

    def _take_hung(self, schedule: Schedule) -> bool:
        """Record the fits that hung, if processes were ended for that."""
        keys = [] if self._folder is None else hung(self._folder)
        for (block, repeat, left_out, cells, *further), name, shared in keys:
            executor = schedule.executor
            if shared:  # it has yet to be seen whose fault that is
                schedule.executor = executor.isolating([template.name for template in executor.templates].index(name))
                continue
            holdout = Holdout(block, repeat, tuple(left_out), tuple((r, k) for r, k in cells), *further)
            timeout = self.job.options.timeout
            assert timeout is not None
            expired = FitOutcome(holdout, name, None, expired_message(timeout), timeout, ())
            self._take([expired], schedule, executor.token)
        return bool(keys)

    def refuse_if_all_failed(self) -> None:
        """If no configuration could be fitted, say what went wrong most often."""
        oof, names = self.buffer.oof, self.job.configs
        mine = [self.buffer.position[name] for name in names]
        scored = any(np.isfinite(scores[mine]).any() for scores in oof.scores.values())
        if scored or np.any(oof.state[mine] == State.DONE):
            return
        reasons = {key: text for key, text in oof.messages.items() if key[0] in names}
        messages = Counter(reasons.values())
        message, n = messages.most_common(1)[0]
        example = next(name for (name, _, _), text in reasons.items() if text == message)
        which = f"all {len(names):,} configurations" if len(names) > 1 else "the only configuration"
        cells = f"{n:,} of {sum(messages.values()):,} cells, such as {example!r}"
        error = CollectError(f"{which} failed. The most common reason ({cells}): {message}")
        error.reasons = dict(messages.most_common())
        raise error

    # -- what to record ---------------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        """What to record about the work, with earlier calls on the same store."""
        before, splits = self.buffer.oof.start.provenance, self.job.splits
        facts = {
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(before.get("seconds", 0.0) + perf_counter() - self._start, 3),
            "n_fits": before.get("n_fits", 0) + self._n_fits,
            "warnings": dict(Counter(before.get("warnings", {})) + self._warned),
            "sharing": self.executor.facts(),
        }
        seeded = [template.name for template in self.job.templates if template.seeded]
        facts |= seeds_made(self.job.options.seeds, seeded, before)
        if self._not_scored:
            facts["not_scored"] = dict(Counter(before.get("not_scored", {})) + self._not_scored)
        if self.job.options.inner is True and self.job.options.seeds == 1:  # the papers' protocol has no further seeds
            n = splits.n_folds
            facts["fits_plain"] = splits.n_repeats * (n * n * len(self.buffer.position) + n) + 1
        return facts
