"""The main job in one call: a table in, a corrected estimate, the predictions, the fitted model and a report out."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

from .. import estimate, formatting, metrics, select
from ..advice import advise
from ..data.criterion import Aggregate
from ..data.ledger import TEST_PART
from ..data.plan import Plan
from ..data.predictions import Predictions, State
from ..data.target import encode
from ..drop import DropRule
from ..estimate._default import corrected
from ..estimate._threshold import read_choice
from ..exceptions import FileError, InputError, OutfoldError, StoreMismatchError, invalid
from ..fitting import collect, refit
from ..fitting.api import explained
from ..fitting.configs import Configs, as_configs
from ..fitting.job import Options, Share, make_job
from ..fitting.test_part import parts_of
from ..io import ledger
from ..io.store import load
from ..learners import describe, spaces
from ..models import EstimateAbout, LeftOut, ModelAbout, Threshold, confront, ranges_of
from ..models.saving import keep_model
from ..reporting import Report, report
from ..results import AtThreshold, Estimate
from ..tables import Columns
from .anytime import AnytimeSearch, Found, words_for_stop
from .importance import permutation_importance
from .live import Live
from .result import RunResult
from .table import LabelledTable, RareClasses, Roles, Say, TableTask, read_table, without_rare

# Where a search keeps what it has fitted; when it is finished, the file becomes the answer's.
SEARCH, ANSWER = "search.oof", "run.oof"

SpaceLike = str | Path | Configs | Callable[[Any, Any, str], Any]


def run(
    path: str | Path,
    target: str | None = None,
    out: str | Path = "out",
    *,
    metric: str | None = None,
    aggregate: Aggregate = "pooled",
    rule: select.RuleLike = None,
    task: TableTask | None = None,
    folds: int | None = None,
    repeats: int | None = None,
    test: float | None = None,
    space: SpaceLike = "small",
    budget: float | None = None,
    drop: bool = True,
    group: str | None = None,
    sample: str | None = None,
    time: str | None = None,
    event: str | None = None,
    leave_out: Sequence[str] = (),
    columns: str | Path | Columns | None = None,
    dialect: Mapping[str, str | None] | None = None,
    rare_classes: RareClasses = "keep",
    positive: str | None = None,
    threshold: str | float | None = None,
    importance: bool = False,
    n_jobs: int | None = None,
    seed: int = 0,
    timeout: float | None = None,
    inner: bool = False,
    share: Share = "exact",
    explain: Say | None = None,
    command: str | None = None,
    say: Say = lambda text: None,
    progress: bool = True,
) -> RunResult:
    """Performance of the best of many configurations on a table, and that configuration fitted on all of it.

    The folder `out` gets ``run.oof``, ``model.skops``, ``model.json``, ``MODEL.md``, ``columns.toml`` and ``report.html``. A call
    that was stopped goes on from what the folder holds, also with a larger `space` or `budget`. The task is told from the target
    by default: text, bool and few distinct whole numbers are classes. `space` is the name of a ready space, a Python file with
    a function ``configs(X, y, task)``, or such a function. After `budget` seconds, Ctrl-C or SIGTERM the answer is for the
    configurations that are finished. `explain` is called with what is going to be shared, `say` with every note a person
    should read. `command` is what was typed to get here. The share `test` of the rows is left out of everything and scored once.
    All other arguments are those of `collect`.
    """
    start = monotonic()
    if budget is not None and budget <= 0:
        raise invalid("budget", "must be more than 0 seconds", f"got {budget:g}")
    roles = Roles(target, group, sample, time, event, tuple(leave_out))
    happened = positive if time is not None else None
    table = read_table(path, roles, task=task, columns=columns, dialect=dialect, happened=happened, say=say)
    chosen = _metric(table, metric, positive)
    _check_threshold(threshold, table)
    plan, dropping = _advised(table, folds, repeats, test, say)
    dropping = dropping if drop and not inner else None
    table = without_rare(table, plan.folds, rare_classes, say)
    configs = _configs(space, table)
    say(_what_is_done(table, task, chosen, metric, len(configs), plan))
    _say_positive(table, positive, say)
    _say_events(table, positive, say)
    work = {"n_jobs": n_jobs, "rng": seed, "timeout": timeout, "share": share, "inner": inner, "drop": dropping}
    selects: dict[str, Any] = {"metric": chosen, "aggregate": aggregate, "rule": rule}
    job = _Search(table, configs, plan, {"positive": positive, **selects, **work}, Path(out), explain)
    live = Live(Path(out), f"{Path(path).name}: {roles.label}", shown=progress)
    found = job.run(live, budget, start)
    given_columns = None if isinstance(columns, Columns) else columns
    words = _words(space, len(configs), len(found.oof.configs))
    answer = _Answer(found, table, configs, Path(out), words, say, given_columns, happened)
    try:
        result = answer.write(threshold, importance, inner, command, words_for_stop(found, budget))
    except BaseException:
        live.end("failed")
        raise
    live.end("finished" if found.stopped is None else "stopped")  # now there is a report to show
    return result


def _metric(table: LabelledTable, asked: str | None, positive: str | None) -> str:
    if table.task == "regression" and len(set(table.y.tolist())) == 1:
        problem = f"the target {table.roles.label!r} has the same value, {table.y[0]:g}, in all rows."
        raise InputError(problem, remedy="Name another column: `target=`.")
    found = encode(table.y, task=table.task, positive=positive, what=f"the target {table.roles.label!r}")
    return metrics.get(asked or metrics.default(found.task), found.task).name


def _configs(space: SpaceLike, table: LabelledTable) -> Configs:
    if isinstance(space, Configs):
        return space
    if callable(space):
        return as_configs(space(table.X, table.y, table.task))
    return spaces.make_space(space, table.X, table.y, table.task, table.columns.kinds)


def _check_threshold(asked: str | float | None, table: LabelledTable) -> None:
    """Refuse now what would fail after the whole search."""
    if asked is None:
        return
    read_choice(asked)
    n = len(set(table.y.tolist())) if table.task == "classification" else 0
    if n != 2:
        what = f"{table.roles.label!r} has {n}" if n else f"this is a {table.task}"
        raise invalid("threshold", "needs a target of two classes", what, "Leave it out.")


def _advised(
    table: LabelledTable, folds: int | None, repeats: int | None, test: float | None, say: Say
) -> tuple[Plan, DropRule | None]:
    """The plan that is advised, with what was asked for, and the rule that drops where one is advised."""
    task = table.task
    if task == "classification":
        task = "binary" if len(set(table.y.tolist())) == 2 else "multiclass"  # type: ignore[assignment]
    # Not the number of configurations: a search goes on with a larger space only on the same plan.
    advice = advise(len(table.y), 2, task, "select")  # type: ignore[arg-type]
    plan, given = advice.plan, {"folds": folds, "repeats": repeats, "test": test}
    asked: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if asked and plan.kind != "kfold":
        say(f"{plan} would be enough for so many rows; --folds, --repeats and --test take folds instead")
        plan = Plan()
    n_groups = 0 if table.groups is None else len(set(table.groups.tolist()))
    if folds is None and n_groups > 1 and plan.kind == "kfold":
        plan = replace(plan, folds=max(2, min(plan.folds, int(n_groups * (1 - (test or 0.0))))))
    try:
        return replace(plan, **asked), advice.drop
    except InputError as error:
        error.remedy = ""  # other plans are for the library
        raise


def _words(space: SpaceLike, n_configs: int, n_finished: int) -> str:
    name = f"the space {str(space)!r}" if isinstance(space, str | Path) else "given in Python"
    finished = "" if n_finished == n_configs else f"the {n_finished:,} that were finished of "
    return f"It was selected among {finished}{formatting.count(n_configs, 'configuration')} ({name})."


def _what_is_done(
    table: LabelledTable, task: TableTask | None, metric: str, asked: str | None, n_configs: int, plan: Plan
) -> str:
    rows = f"{formatting.count(len(table.y), 'row')}, {formatting.count(table.X.shape[1], 'feature')}"
    other = "regression" if table.task == "classification" else "classification"
    doubtful = task is None and table.y.dtype.kind in "if" and table.task != "survival"
    override = f" (--task {other} if not)" if doubtful else ""
    instead = "" if asked else " (--metric for another)"
    tried = f"{formatting.count(n_configs, 'configuration')}, {plan}"
    return f"{table.task} of {table.roles.label!r}{override} on {rows}, by {metric}{instead}; {tried}"


def _say_positive(table: LabelledTable, positive: str | None, say: Say) -> None:
    classes = None if table.task != "classification" else encode(table.y, task=table.task).classes
    if positive is None and classes is not None and len(classes) == 2:
        say(f"the positive class is {str(classes[-1])!r} (--positive {str(classes[0])!r} for the other)")


def _say_events(table: LabelledTable, positive: str | None, say: Say) -> None:
    """How many rows have the event: who took the wrong value for it sees that here."""
    if table.task != "survival":
        return
    n, of = int(table.y["event"].sum()), formatting.count(len(table.y), "row")
    which = "" if positive is None else f", where {table.roles.event!r} is {positive!r}"
    say(f"the event happened in {n:,} of {of}{which}; the others were lost from sight before it")


# -- searching --------------------------------------------------------------------------------------------------


@dataclass
class _Search:
    """The search on a table, and its file."""

    table: LabelledTable
    configs: Configs
    plan: Plan
    options: Mapping[str, Any]
    folder: Path
    explain: Say | None

    def run(self, live: Live, budget: float | None, start: float) -> Found:
        """Search, and leave the answer in its file; the budget began at `start`."""
        new, copied = not self.folder.exists(), False
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not self.store.exists() and self.answer.exists():
                copied, draft = True, self.store.with_suffix(".part")
                shutil.copyfile(self.answer, draft)
                draft.replace(self.store)
        except OSError as error:
            problem = f"the folder {self.folder} cannot be made or used ({error.strerror})."
            raise FileError(problem, remedy="Use another `out`.") from error
        if self.explain is not None:
            # The waves share what one call would share, block by block.
            options = Options.checked(
                replace(self.plan, test=None) if self.plan.has_test_part else self.plan, **self._given
            )
            self.explain(explained(make_job(self.configs, self.table.X, self.table.y, options)))
        blocks = spaces.blocks(self.configs)
        begun = _names_in(self.store, lambda oof: (oof.state != State.PENDING).any(axis=(1, 2)))
        finished = _names_in(self.answer) if begun else []
        search = AnytimeSearch(self.configs, blocks, self._collect, live, budget, finished, begun, start=start)
        try:
            found = search.run()
        except BaseException as error:
            live.end("failed")
            if isinstance(error, StoreMismatchError):
                error.remedy = f"Use another `out`, or delete the folder {self.folder} to start anew."
                if copied:
                    self.store.unlink()
            if isinstance(error, InputError) and new:
                self._remove_empty()
            raise
        live.close_line()
        self._keep(found)
        return found

    @property
    def store(self) -> Path:
        """What was fitted so far."""
        return self.folder / SEARCH

    @property
    def answer(self) -> Path:
        """The predictions of the configurations that are finished."""
        return self.folder / ANSWER

    def _collect(self, configs: Configs, tell: Callable[[int, int], None]) -> Predictions:
        return collect(configs, self.table.X, self.table.y, self.plan, store=self.store, progress=tell, **self._given)

    @property
    def _given(self) -> dict[str, Any]:
        table = self.table
        return {"groups": table.groups, "samples": table.samples, "task": table.task, **self.options}

    def _keep(self, found: Found) -> None:
        """The file of the answer: the store itself if all is done, else the finished part of it."""
        try:
            # A run that was stopped left an answer beside its store. What came true since then is in the answer alone.
            known = _ledger_of(self.answer)
            # The store has the configurations in the order of the waves, which depends on the time they took; the answer has
            # them in the order of the space, because that decides between equal ones.
            found.oof.save(self.answer)
            ledger.extend(self.answer, known)
            if not found.left and set(load(self.store).configs) == set(found.oof.configs):
                self.store.unlink()
        except OSError as error:
            raise FileError(f"{self.answer} cannot be written ({error.strerror or error}).") from error

    def _remove_empty(self) -> None:
        with suppress(OSError):  # it holds a store
            (self.folder / "progress.json").unlink(missing_ok=True)
            self.folder.rmdir()


def _ledger_of(path: Path) -> tuple[Mapping[str, Any], ...]:
    """What came true, as a file says; nothing if it cannot be read, because it is going to be replaced."""
    try:
        return ledger.entries(load(path)) if path.exists() else ()
    except OutfoldError:
        return ()


def _names_in(path: Path, where: Callable[[Predictions], Any] | None = None) -> list[str]:
    """The configurations in a file, those where something holds; none if it cannot be read, as `collect` will say."""
    try:
        oof = load(path) if path.exists() else None
    except OutfoldError:
        return []
    if oof is None:
        return []
    if where is None:
        return list(oof.configs)
    return [name for name, there in zip(oof.configs, where(oof), strict=True) if there]


# -- the answer -------------------------------------------------------------------------------------------------


@dataclass
class _Answer:
    """What a search is turned into: an estimate, a model, a report."""

    found: Found
    table: LabelledTable
    configs: Configs
    folder: Path
    space: str
    say: Say
    given_columns: str | Path | None = None  # the file with the roles of the columns, if there is one
    happened: str | None = None  # the value of the event column that says that it happened

    def write(
        self, threshold: str | float | None, importance: bool, inner: bool, command: str | None, stopped: str
    ) -> RunResult:
        """Compute and write everything."""
        oof, table = self.found.oof, self.table
        made = corrected(oof)
        nested = estimate.nested(oof) if inner else None
        cut = self._threshold(threshold)
        self._keep_columns()
        words = describe(self.configs[made.selected], table.columns)
        matters = self._importance(made) if importance else None
        test = (
            confront(oof, self.configs, table.X, table.y, store=self.folder / ANSWER) if self._has_test_part else None
        )
        page = self._report(made, words, matters, threshold, command, stopped)
        model = self._model(made, cut, words, page)
        files = {"predictions": self.folder / ANSWER, "model": model, "report": page.save(self.folder / "report.html")}
        return RunResult(made, page, files, self.folder, nested, cut, test, stopped, self.found.stopped)

    @property
    def _has_test_part(self) -> bool:
        return TEST_PART in self.found.oof.provenance

    def _importance(self, made: Estimate) -> dict[str, dict[str, float]]:
        oof, X, y = self.found.oof, self.table.X, self.table.y
        if self._has_test_part:
            (X, y), _ = parts_of(oof, X, y)
        return permutation_importance(oof, self.configs[made.selected], X, y)

    def _keep_columns(self) -> None:
        path = self.folder / "columns.toml"
        try:
            if not (self.given_columns is not None and path.exists() and path.samefile(self.given_columns)):
                path.write_text(self.table.columns.to_toml(), encoding="utf-8")
        except OSError as error:
            raise FileError(f"{path} cannot be written ({error.strerror or error}).") from error

    def _threshold(self, asked: str | float | None) -> AtThreshold | None:
        if asked is None:
            return None
        return estimate.at_threshold(self.found.oof, threshold=asked)

    def _model(self, made: Estimate, cut: AtThreshold | None, words: str, page: Report) -> Path | None:
        table, oof = self.table, self.found.oof
        other = page.beside
        about = ModelAbout.of(
            oof,
            target=table.roles.label,
            columns=table.columns,
            ranges=ranges_of(table.X, table.columns),
            n_rows=len(table.y),
            estimate=EstimateAbout.of(made, None if other is None else page.leaderboard.baseline),
            beside=None
            if other is None or other.estimate is None
            else EstimateAbout.of(other.estimate, other.baseline),
            threshold=None if cut is None else Threshold(cut.choice, cut.threshold, oof.response),
            left_out=tuple(LeftOut(part.n, part.why) for part in table.left_out),
            marks=table.marks,
            event=self.happened,
            description=words,
            space=self.space,
        )
        try:
            import skops.io  # noqa: F401
        except ImportError:
            self.say(
                "the model is not saved: skops is missing. pip install 'outfold[model]', and the same command saves it."
            )
            return None
        return keep_model(self.folder, about, lambda: refit(oof, self.configs, table.X, table.y))

    def _report(
        self,
        made: Estimate,
        words: str,
        matters: Mapping[str, Any] | None,
        threshold: Any,
        command: str | None,
        stopped: str,
    ) -> Report:
        table = self.table
        facts = table.facts()
        if stopped:
            facts["file"]["not all was tried"] = stopped
        title = f"{table.file.path.name}: {table.roles.label}"
        parts = {"data": facts, "description": words, "importance": matters, "threshold": threshold}
        return report(self.found.oof, estimate=made, title=title, command=command, **parts)
