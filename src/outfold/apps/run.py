"""The main job in one call: a table in, a corrected estimate, the predictions, the fitted model and a report out."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from time import monotonic, thread_time
from typing import Any

from numpy.typing import NDArray

from .. import formatting, metrics, select
from ..advice import advise
from ..data.criterion import Aggregate
from ..data.ledger import TEST_PART
from ..data.plan import Plan
from ..data.predictions import Predictions
from ..data.target import encode
from ..drop import DropRule
from ..estimate._default import default_aggregate
from ..estimate._threshold import read_choice
from ..exceptions import FileError, InputError, StoreMismatchError, invalid
from ..fitting import collect
from ..fitting.api import explained
from ..fitting.configs import Configs
from ..fitting.job import Options, Share, make_job
from ..fitting.predict import choose_response
from ..learners import spaces
from ..tables import Columns
from ..tables.values import word_for_yes
from .answer import Answer, Asked
from .answer_time import AnswerTime
from .anytime import AnytimeSearch, Found, words_for_stop
from .clusters import connection
from .folder import ANSWER, SEARCH, RunFolder, is_same
from .live import Live
from .rare_classes import RareClasses, without_rare
from .result import RunResult
from .space import SpaceLike, SpaceMaker, begun_in, finished_in, names_in, stored
from .stopping import Finishing
from .table import LabelledTable, Roles, Say, TableTask, check_events, read_table


def run(
    path: str | Path,
    target: str | None = None,
    out: str | Path = "out",
    *,
    metric: str | None = None,
    aggregate: Aggregate | None = None,
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
    cluster: str | None = None,
    seed: int = 0,
    timeout: float | None = None,
    inner: bool = False,
    share: Share = "exact",
    seeds: int = 1,
    explain: Say | None = None,
    command: str | None = None,
    start: float | None = None,
    say: Say = lambda text: None,
    progress: bool = True,
) -> RunResult:
    """Performance of the best of many configurations on a table, and that configuration fitted on all of it.

    The folder `out` gets ``run.oof``, ``model.skops``, ``model.json``, ``MODEL.md``, ``columns.toml`` and ``report.html``. A call
    that was stopped goes on from what the folder holds, also with a larger `space` or `budget`. The task is told from the target
    by default: text, bool and few distinct whole numbers are classes. `space` is the name of a ready space, a Python file with
    a function ``configs(X, y, task)``, or such a function. After `budget` seconds, Ctrl-C or SIGTERM the answer is for the
    configurations that are finished. The budget begins at `start`, by ``time.monotonic()``; None is now. `explain` is called with
    what is going to be shared, `say` with every note a person should read. `command` is what was typed to get here. `cluster` is
    the address of a Dask or Ray cluster that does the fits of the search, or ``"local:4"``; None is what
    ``joblib.parallel_config`` says. The share `test` of the rows is left out of everything and scored once. All other arguments
    are those of `collect`.
    """
    began, worked = monotonic(), thread_time()
    start = began if start is None else start
    if budget is not None and budget <= 0:
        raise invalid("budget", "must be more than 0 seconds", f"got {budget:g}")
    workers = connection(cluster)
    roles = Roles(target, group, sample, time, event, tuple(leave_out))
    happened = positive if time is not None else None
    table = read_table(path, roles, task=task, columns=columns, dialect=dialect, happened=happened, say=say)
    chosen = _metric(table, metric, positive)
    _check_threshold(threshold, table)
    plan, dropping = _advised(table, folds, repeats, test, say)
    dropping = dropping if drop and not inner else None
    table = without_rare(table, plan.folds, rare_classes, say)
    taken = positive if positive is not None else _word_for_yes(table)
    maker = SpaceMaker(table, plan, taken, seed)
    check_events(table, maker.rows, plan, inner)
    asked_space = maker.make(space)
    with RunFolder(Path(out)) as folder:
        tried = maker.with_earlier(asked_space, folder)
        select.as_rule(rule).check(tried.configs.params)
        if tried.n_earlier:
            say(_what_counts(tried.n_earlier, folder.path))
        say(_what_is_done(table, task, chosen, metric, len(tried.configs), plan))
        if positive is None:
            _say_positive(table, taken, say)
        _say_events(table, positive, say)
        work = {"n_jobs": n_jobs, "rng": seed, "timeout": timeout, "share": share, "inner": inner, "drop": dropping}
        work |= {"seeds": seeds}
        options = {"positive": taken, "metric": chosen, "rule": rule, **work}
        answer_time = AnswerTime((plan.folds if importance else 0) + plan.has_test_part)
        answer_time.saw_work(monotonic() - began, thread_time() - worked)
        job = _Search(table, tried.configs, plan, options, folder, explain, answer_time, aggregate)
        live = Live(Path(out), f"{Path(path).name}: {roles.label}", shown=progress)
        with workers:
            found = job.run(live, budget, start)
        given_columns = None if isinstance(columns, Columns) else columns
        words, stopped = tried.in_words(len(found.oof.configs)), words_for_stop(found, budget)
        answer = Answer(found, table, tried.configs, words, stopped, say, given_columns, happened)
        try:
            with Finishing(lambda: say(_WRITING)) as finishing:
                result = answer.write(folder, Asked(threshold, importance, inner, command), finishing)
        except BaseException as error:
            live.end("failed")
            if isinstance(error, KeyboardInterrupt):
                error.add_note(_NOT_WRITTEN)
            raise
        live.end("finished" if found.stopped is None else "stopped")  # now there is a report to show
    return result


_WRITING = "Outfold is writing the answer; press Ctrl-C again to stop without one"
_NOT_WRITTEN = (
    "no answer was written, and the files of an earlier answer did not change. All fits are kept: run the same command to go on, "
    "or add --budget 1s to get the answer for what is finished"
)


def _what_counts(n_earlier: int, folder: Path) -> str:
    which = formatting.count(n_earlier, "configuration")
    return f"{which} of earlier runs in {folder} count too; for a fresh start, use another folder: --out"


def _metric(table: LabelledTable, asked: str | None, positive: str | None) -> str:
    if table.task == "regression" and len(set(table.y.tolist())) == 1:
        problem = f"the target {table.roles.label!r} has the same value, {table.y[0]:g}, in all rows."
        raise InputError(problem, remedy="Name another column: `target=`.")
    found = encode(table.y, task=table.task, positive=positive, what=f"the target {table.roles.label!r}")
    return metrics.get(asked or metrics.default(found.task), found.task).name


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
        say(f"{plan} would be enough for this many rows; --folds, --repeats and --test use folds instead")
        plan = Plan()
    n_groups = 0 if table.groups is None else len(set(table.groups.tolist()))
    if folds is None and n_groups > 1 and plan.kind == "kfold":
        plan = replace(plan, folds=max(2, min(plan.folds, int(n_groups * (1 - (test or 0.0))))))
    try:
        return replace(plan, **asked), advice.drop
    except InputError as error:
        error.remedy = ""  # other plans are for the library
        raise


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


def _classes(table: LabelledTable, positive: str | None = None) -> NDArray[Any] | None:
    return None if table.task != "classification" else encode(table.y, task=table.task, positive=positive).classes


def _word_for_yes(table: LabelledTable) -> str | None:
    """The label that means yes, such as ja; None if the labels are no words for yes and no."""
    classes = _classes(table)
    return None if classes is None else word_for_yes([str(label) for label in classes])


def _say_positive(table: LabelledTable, positive: str | None, say: Say) -> None:
    classes = _classes(table, positive)
    if classes is not None and len(classes) == 2:
        say(f"the positive class is {str(classes[-1])!r} (--positive {str(classes[0])!r} for the other)")


def _say_events(table: LabelledTable, positive: str | None, say: Say) -> None:
    """How many rows have the event: who took the wrong value for it sees that here."""
    if table.task != "survival":
        return
    n, of = int(table.y["event"].sum()), formatting.count(len(table.y), "row")
    which = "" if positive is None else f", where {table.roles.event!r} is {positive!r}"
    say(f"the event happened in {n:,} of {of}{which}; the other rows are censored")


# -- searching --------------------------------------------------------------------------------------------------


@dataclass
class _Search:
    """The search on a table, and its file."""

    table: LabelledTable
    configs: Configs
    plan: Plan
    options: Mapping[str, Any]
    folder: RunFolder
    explain: Say | None
    answer_time: AnswerTime
    aggregate: Aggregate | None = None

    def run(self, live: Live, budget: float | None, start: float) -> Found:
        """Search; the budget began at `start`."""
        copied = self._go_on_from_answer()
        if self.explain is not None:
            # The waves share what one call would share, block by block.
            options = Options.checked(
                replace(self.plan, test=None) if self.plan.has_test_part else self.plan, **self._given
            )
            self.explain(explained(make_job(self.configs, self.table.X, self.table.y, options)))
        blocks = spaces.blocks(self.configs)
        finished, begun = (names_in(self.store, which) for which in (finished_in, begun_in))
        how: dict[str, Any] = {"start": start, "answer": self.answer_time}
        if self.options["drop"] is None:  # else what is dropped depends on what else is tried
            how["stored"] = lambda: names_in(self.store, finished_in)
        search = AnytimeSearch(self.configs, blocks, self._collect, live, budget, finished, begun, **how)
        try:
            found = search.run()
        except BaseException as error:
            live.end("failed")
            if isinstance(error, StoreMismatchError):
                self._explain(error)
            # A copy to which no fit was added says that a search began which did not.
            if copied and (isinstance(error, StoreMismatchError) or is_same(self.store, self.folder / ANSWER)):
                self.store.unlink(missing_ok=True)
            raise
        live.search_ended(self.answer_time.expected)
        return found

    def _explain(self, error: StoreMismatchError) -> None:
        """Say what differs in the words of a run: its folder is known to a person, its store may be gone."""
        made, folder = stored(self.store), self.folder.path
        before = made is not None and TEST_PART in made.provenance
        if made is not None and before != self.plan.has_test_part:
            parts = ("with", "without") if before else ("without", "with")
            error.problem = f"the run in {folder} was made {parts[0]} a test part (now {parts[1]})"
        else:
            error.problem = error.problem.replace(SEARCH, f"the run in {folder}", 1)
        error.remedy = (
            f"To go on, give what it was made with. Use another `out`, or delete the folder {folder} to start anew."
        )

    @property
    def store(self) -> Path:
        """What was fitted so far."""
        return self.folder / SEARCH

    def _go_on_from_answer(self) -> bool:
        """Whether the store is a copy of the predictions of a search that was complete."""
        if self.store.exists() or not (self.folder / ANSWER).exists():
            return False
        draft = self.store.with_suffix(".part")
        try:
            shutil.copyfile(self.folder / ANSWER, draft)
            draft.replace(self.store)
        except OSError as error:
            problem = f"{self.store} cannot be written ({error.strerror or error})."
            raise FileError(problem, remedy="Use another `out`.") from error
        return True

    def _collect(self, configs: Configs, tell: Callable[[int, int], None]) -> Predictions:
        oof = collect(configs, self.table.X, self.table.y, self.plan, store=self.store, progress=tell, **self._given)
        return oof.selecting_by(aggregate=self.aggregate or default_aggregate(oof))

    @property
    def _given(self) -> dict[str, Any]:
        table = self.table
        given = {"groups": table.groups, "samples": table.samples, "task": table.task, "response": self._response}
        return {**given, **self.options}

    @cached_property
    def _response(self) -> str:
        """What all configurations can give: each wave has some of them, and all waves are in one store."""
        classes = _classes(self.table)
        return choose_response("auto", self.table.task, self.configs, 2 if classes is None else len(classes))
