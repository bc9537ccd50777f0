"""`collect`: fit every configuration on every fold, keep every prediction."""

from __future__ import annotations

import platform
import tempfile
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _render
from .._configs import Configs, as_configs
from .._notes import Note
from .._plan import Plan, Splits, fingerprint
from .._predictions import Predictions, State
from .._progress import Mode, Progress, quick_score
from .._target import Target, encode
from ..exceptions import CollectError, InputError
from . import blocks
from .board import Board
from .data import Samples, as_features, as_labels, digest, has_rows, plain_text
from .limits import hung
from .pool import Pool, PoolBroken
from .recipes import Recipe, make_recipes, seed_of
from .respond import Reader, choose_response, kind_of
from .schedule import Holdout, Schedule, paired_holdouts, single_holdouts
from .work import Outcome, Setting, expired_message

if TYPE_CHECKING:
    from ..metrics import MetricLike
    from ..select import RuleLike

# No task fits more configurations than this, so that cells reach the store and the progress line.
_LARGEST_BATCH = 200
_SILENT = frozenset({"DeprecationWarning", "FutureWarning", "PendingDeprecationWarning"})


def collect(
    configs: Any,
    X: Any,
    y: Any,
    plan: Plan | None = None,
    groups: Any = None,
    rng: int | None = 0,
    n_jobs: int | None = None,
    store: str | Path | None = None,
    response: str = "auto",
    fit_params: Mapping[str, Any] | None = None,
    progress: Mode = True,
    *,
    inner: bool = False,
    fresh: MetricLike | None = None,
    rule: RuleLike = None,
    timeout: float | None = None,
    retry_failed: bool = False,
    positive: Any = None,
    samples: Any = None,
) -> Predictions:
    """Out-of-fold predictions of every configuration.

    The result depends on the data, the plan and the seed alone: not on the number of workers, the backend, the order of
    the work, the other configurations, or an interruption. What a configuration's estimator leaves open as
    ``random_state=None`` gets a seed that is the same for all configurations in a fold, so that comparisons are paired.

    Parameters
    ----------
    configs
        Configurations as `grid` gives them, a dict of estimators by name, or one estimator.
    X
        Features: an array, a sparse matrix, a pandas or polars frame, or a list of texts.
    y
        Labels, values, or survival records (event, time).
    plan
        How samples are held out; ``Plan()``, 10 folds, by default.
    groups
        Group labels; the samples of a group are held out together unless the plan says otherwise.
    rng
        Seed of the splits and of the fits. None draws one and records it.
    n_jobs
        Number of workers; None is one, or what ``joblib.parallel_config`` says, which also chooses the backend.
    store
        A file such as ``run.oof`` that finished cells are written to at once. The same call goes on where an
        earlier one stopped, and adds configurations that are new.
    response
        ``"auto"`` keeps class probabilities where all configurations have them, else scores, else labels; or one of
        ``"proba"``, ``"score"``, ``"label"``.
    fit_params
        Arguments of every ``fit``; arrays with one entry a sample are split like X.
    progress
        Show a line on the terminal; ``"always"`` also where stderr is not a terminal.
    inner
        Fit what nested cross-validation needs too (block ``inner``): one fit without every two folds.
    fresh
        A metric: the configuration it selects is cross-validated again on a new partition (block ``fresh``).
    rule
        How that configuration is selected; `select.best` by default.
    timeout
        Seconds a fit may take; one that takes longer is a failed cell. Fits then run in processes that can be ended,
        whatever they hang in; under a threading backend only fits that return are recognised as too long.
    retry_failed
        Fit the failed cells of the store again.
    positive
        Which of two classes is the positive one; the last in sorted order by default.
    samples
        Names of the samples; 0, 1, ... by default.

    Returns
    -------
    Predictions
        With failed cells where a configuration raised an exception, took too long or predicted NaN.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> collect(DecisionTreeClassifier(), X, y, Plan(folds=5)).completeness
    1.0
    """
    named = as_configs(configs)
    if not named:
        raise InputError("there is no configuration to collect; give a grid, a dict of estimators or an estimator.")
    if timeout is not None and not timeout > 0:
        raise InputError(f"timeout must be a number of seconds above 0, or None; got {timeout!r}.")
    seed = _seed(rng)
    kind = kind_of(named, y)
    target = encode(y, task=kind, positive=positive)
    features = as_features(X, len(target))
    arguments = _fit_params(fit_params, len(target))
    splits = (Plan() if plan is None else plan).split(target, groups, seed)
    chosen = choose_response(response, kind, named)
    pool = Pool.configured(n_jobs, timeout)
    collection = Collection(
        configs=named,
        samples=Samples(features, as_labels(y), arguments),
        target=target,
        splits=splits,
        seed=seed,
        reader=Reader.of(chosen, target),
        recipes=make_recipes(named, pool.dumps),
        pool=pool,
        groups=None if groups is None else np.array(groups),
        names=None if samples is None else np.array(samples),
        inner=blocks.inner_splits(splits, target) if inner else None,
        fresh=None if fresh is None else blocks.fresh_splits(splits, target, groups, seed),
        timeout=timeout,
    )
    return collection.collect(store, retry_failed, progress, fresh, rule)


def _seed(rng: Any) -> int:
    if rng is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(rng, bool) or not isinstance(rng, (int, np.integer)) or rng < 0:
        raise InputError(
            f"rng must be a whole number from 0, or None to draw one; got {rng!r}. A number lets a store resume."
        )
    return int(rng)


def _fit_params(fit_params: Mapping[str, Any] | None, n: int) -> dict[str, Any]:
    if fit_params is None:
        return {}
    if not isinstance(fit_params, Mapping):
        raise InputError(f"fit_params must be a dict of arguments of fit; got {type(fit_params).__name__}.")
    for name, value in fit_params.items():
        length = getattr(value, "shape", (None,))[:1]
        if name.endswith("sample_weight") and value is not None and not has_rows(value, n):
            raise InputError(f"fit_params[{name!r}] must have one entry for each of the {n} samples; it has {length}.")
    return dict(fit_params)


@dataclass(frozen=True, eq=False)
class Collection:
    """One call of `collect`, checked and ready: what is fitted, on what, and where."""

    configs: Configs
    samples: Samples
    target: Target
    splits: Splits
    seed: int
    reader: Reader
    recipes: list[Recipe]
    pool: Pool
    groups: NDArray[Any] | None
    names: NDArray[Any] | None
    inner: Splits | None
    fresh: Splits | None
    timeout: float | None

    def collect(
        self, store: str | Path | None, retry_failed: bool, progress: Mode, fresh: MetricLike | None, rule: RuleLike
    ) -> Predictions:
        """Fit what is missing and give back everything there is."""
        with ExitStack() as stack:
            opened = None if store is None else self._open(store, stack)
            board = Board(self.header if opened is None else opened.predictions(), opened)
            run = _Run(self, board, retry_failed, progress)
            stack.callback(run.progress.close)
            try:
                run.fill(run.holdouts)
                run.refuse_if_all_failed()
                if fresh is not None:
                    run.fill_fresh(fresh, rule)
            except KeyboardInterrupt as stop:
                stop.add_note(_how_to_go_on(store, run.progress))
                raise
            finally:
                facts = run.facts()
                if opened is not None:
                    opened.update(**facts)
            provenance = {**board.oof.start.provenance, **facts}
            return board.predictions(provenance=provenance, notes=self._notes(provenance))

    def _open(self, path: str | Path, stack: ExitStack) -> Any:
        from .._store import Store

        return stack.enter_context(Store.open(path, self.header, self.identity))

    @cached_property
    def header(self) -> Predictions:
        """The artifact before anything is fitted."""
        params = self.configs.params
        fields: dict[str, Any] = {
            "target": self.target,
            "configs": tuple(self.configs),
            "response": self.reader.response,
            "plan": self.splits.plan,
            "params": tuple({p: _plain(v) for p, v in params[name].items()} for name in self.configs),
            "groups": self.groups,
            "samples": self.names,
            "train": self.splits.train,
            "threshold": 0.0 if self.reader.response == "score" else None,
            "notes": self.splits.notes,
            "provenance": self._provenance(),
        }
        width = self.reader.width
        further = {"inner": self.inner, "fresh": self.fresh}
        parts = {k: blocks.empty_block(fields, s, width) for k, s in further.items() if s is not None}
        shape = blocks.room(self.splits, len(self.configs), len(self.target), self.reader.response, width)
        return Predictions(**fields, **shape, blocks=parts)

    def _provenance(self) -> dict[str, Any]:
        import sklearn

        from .. import __version__

        return {
            "seed": self.seed,
            "data": digest(self.samples.X),
            "labels": digest(self.samples.y),
            "specs": {recipe.name: recipe.text for recipe in self.recipes},
            "outfold": __version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    @cached_property
    def identity(self) -> dict[str, str]:
        """What must be the same for a store to go on with."""
        made = self.header.provenance
        return {
            "data": str(made["data"]),
            "labels": str(made["labels"]),
            "plan": f"{self.splits.plan} {fingerprint(self.target, self.splits.folds, self.splits.train)}",
            "seed": str(self.seed),
            "response": self.reader.response,
            "fit_params": plain_text(dict(sorted(self.samples.fit_params.items()))),
        }

    def _notes(self, provenance: Mapping[str, Any]) -> tuple[Note, ...]:
        warned, fits = provenance["warnings"], provenance["n_fits"]
        if not warned:
            return self.splits.notes
        kinds = ", ".join(f"{name} in {n:,}" for name, n in sorted(warned.items()))
        return (*self.splits.notes, Note("OF103", f"fits gave warnings: {kinds} of {fits:,} fits."))


def _plain(value: Any) -> Any:
    """A parameter's value as json knows it, else its text."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (int, float, str, bool, type(None))) else plain_text(value)


def _how_to_go_on(store: str | Path | None, progress: Progress) -> str:
    done = _render.count(progress.done, "cell")
    if store is None:
        return f"Stopped after {done} of {progress.total:,}. Give store='run.oof' to keep what is finished next time."
    return f"Stopped. {done} of {progress.total:,} were added to {store}; the same call goes on from there."


class _Run:
    """The work of one collection while it goes on."""

    def __init__(self, collection: Collection, board: Board, retry_failed: bool, progress: Mode) -> None:
        self.of, self.board = collection, board
        self.holdouts = single_holdouts(collection.splits)
        if collection.inner is not None:
            self.holdouts += paired_holdouts(collection.splits)
        self.settled = board.settled(retry_failed)
        self.n_fits, self.warned = 0, Counter[str]()
        self.start = perf_counter()
        found = quick_score(collection.target, collection.reader.response)
        self.progress = Progress(self._open_cells(), progress, found and found[1], found[0] if found else "")

    def _open_cells(self) -> int:
        holdouts = self.holdouts
        cells = sum(
            (h.block, name, r, k) not in self.settled for h in holdouts for r, k in h.cells for name in self.of.configs
        )
        return cells + (0 if self.of.fresh is None else len(self.of.fresh.cells))

    def fill(self, holdouts: Sequence[Holdout], only: str | None = None) -> None:
        """Fit what these hold-outs lack."""
        if holdouts and holdouts[0].block == "fresh":
            assert self.of.fresh is not None
            splits, first_repeat = self.of.fresh, self.of.splits.n_repeats
        else:
            splits, first_repeat = self.of.splits, 0
        recipes = [r for r in self.of.recipes if only in (None, r.name)]
        pool = self.of.pool
        schedule = Schedule(
            holdouts, [r.name for r in recipes], self.settled, pool.task_seconds, _LARGEST_BATCH
        )
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory()) if self.of.timeout and pool.killable else None
            setting = Setting(
                token=uuid.uuid4().hex,
                samples=self.of.samples,
                splits=Splits(replace(splits.plan, cv=None), splits.folds, splits.train),
                reader=self.of.reader,
                own_process=pool.own_process,
                crowded=pool.n_workers > 1,
                timeout=self.of.timeout,
                folder=folder,
            )
            stack.enter_context(pool.surroundings())
            while True:
                tasks = self._tasks(schedule, setting, recipes, first_repeat)
                try:
                    for outcomes in pool.run(tasks):
                        self._take(outcomes, schedule)
                    return
                except PoolBroken as broken:
                    self._after_break(folder, schedule, broken)

    def _tasks(
        self, schedule: Schedule, setting: Setting, recipes: Sequence[Recipe], first_repeat: int
    ) -> Iterator[tuple[Any, ...]]:
        for holdout, positions in schedule.batches():
            seed = seed_of(self.of.seed, first_repeat + holdout.repeat, *holdout.left_out)
            yield setting, holdout, seed, [recipes[j] for j in positions]

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
                self.progress.add(outcome.name, outcome.values and outcome.values[i], block.rows(r, k))

    def _after_break(self, folder: str | None, schedule: Schedule, broken: Exception) -> None:
        """Record the fits that hung; the rest is done again by a new pool."""
        keys = [] if folder is None else hung(folder)
        if not keys:
            raise CollectError(
                "a worker process ended without an answer: out of memory, or a crash in compiled code. Use fewer workers, "
                "and store=... to keep what is finished."
            ) from broken
        for (block, repeat, left_out, cells), name in keys:
            holdout = Holdout(block, repeat, tuple(left_out), tuple((r, k) for r, k in cells))
            assert self.of.timeout is not None
            message = expired_message(self.of.timeout)
            self._take([Outcome(holdout, name, None, message, self.of.timeout, ())], schedule)

    def fill_fresh(self, metric: MetricLike, rule: RuleLike) -> None:
        """Cross-validate the selected configuration on the new partition."""
        from .._scoring import Scoring
        from ..select import choose

        assert self.of.fresh is not None
        selected = choose(Scoring(self.board.predictions(), metric), rule).name
        if selected in self.of.configs:
            self.fill(single_holdouts(self.of.fresh, "fresh"), only=selected)

    def refuse_if_all_failed(self) -> None:
        """No configuration could be fitted: say what went wrong most often."""
        oof = self.board.oof
        mine = [self.board.position[name] for name in self.of.configs]
        if np.any(oof.state[mine] == State.DONE):
            return
        messages = Counter(oof.messages.values())
        (message, n), names = messages.most_common(1)[0], list(self.of.configs)
        example = next(name for (name, _, _), text in oof.messages.items() if text == message)
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
            facts["fits_plain"] = self.of.splits.n_repeats * (n * n * c + n + 1)
        return facts
