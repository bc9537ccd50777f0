"""The table of a run: features, labels, groups and names of the rows that can be used, and what was left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.plan import Plan
from ..data.target import MOST_CLASSES
from ..exceptions import InputError, invalid
from ..tables import Columns, Dialect, TableFile, features, inspect, read_file
from ..tables.columns import read_columns
from ..tables.events import survival_records
from ..tables.kinds import look_at
from ..tables.labels import label_values, without_words
from ..tables.roles import check_column

if TYPE_CHECKING:
    import pandas as pd

TableTask = Literal["classification", "regression", "survival"]
Say = Callable[[str], None]


# Larger floats are no names of classes: not all whole numbers can be told apart.
_LARGE = 2.0**53


class RowsLeftOut(NamedTuple):
    """How many rows were left out, and why."""

    n: int
    why: str


class Roles(NamedTuple):
    """The columns that are not features, by what they are for."""

    target: str | None = None
    group: str | None = None
    sample: str | None = None
    time: str | None = None
    event: str | None = None
    leave_out: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What is predicted, in words."""
        return self.target if self.target is not None else f"{self.time} with {self.event}"

    @property
    def targets(self) -> tuple[str, ...]:
        """The columns that hold what is predicted."""
        return tuple(name for name in (self.target, self.time, self.event) if name is not None)


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """Features and labels of the rows that have a label; groups and names of these rows, where they were asked for."""

    X: pd.DataFrame
    y: NDArray[Any]
    task: TableTask
    columns: Columns
    file: TableFile
    roles: Roles
    groups: NDArray[Any] | None = None
    samples: NDArray[Any] | None = None
    left_out: tuple[RowsLeftOut, ...] = ()
    merged: Mapping[str, str] = field(default_factory=dict)  # rare classes, and the class that they were merged into

    def where(self, keep: NDArray[np.bool_], why: str) -> LabelledTable:
        """The table without the other rows."""
        cut: dict[str, Any] = {"X": self.X[keep].reset_index(drop=True), "y": self.y[keep]}
        for name in ("groups", "samples"):
            values = getattr(self, name)
            cut[name] = None if values is None else values[keep]
        return replace(self, **cut, left_out=(*self.left_out, RowsLeftOut(int((~keep).sum()), why)))

    @property
    def marks(self) -> dict[str, str]:
        """How the file writes numbers; nothing if it is no text file."""
        dialect = self.file.dialect
        return {} if dialect is None else {"decimal": dialect.decimal, "thousands": dialect.thousands}

    def facts(self) -> dict[str, Any]:
        """What a report says of the data, ready for json."""
        dialect = self.file.dialect
        read = {"name": self.file.path.name, "rows used": f"{len(self.y):,}"}
        if dialect is not None:
            read["read as"] = str(dialect)
        if self.merged:
            into = next(iter(self.merged.values()))
            read["rare classes"] = f"{formatting.listed(list(self.merged), 10)} were merged into {into!r}"
        rows = [{"n": part.n, "reason": part.why} for part in self.left_out]
        return {"file": read, "columns": self.columns.to_rows(), "rows": rows}


def read_table(
    path: str | Path,
    roles: Roles,
    *,
    task: TableTask | None = None,
    columns: str | Path | Columns | None = None,
    dialect: Mapping[str, str | None] | None = None,
    happened: str | None = None,
    say: Say = lambda text: None,
) -> LabelledTable:
    """The table in a file, with a note on everything that a person should know.

    `happened` is the value of the event column that says that the event happened; None for 1, true or yes.
    """
    file = read_file(path, **(dialect or {}))
    if file.dialect is not None and file.dialect != Dialect():
        say(f"{file.path.name} is {file.dialect}")
    for text in file.notes:
        say(text)
    return labelled_table(file, roles, task=task, columns=columns, happened=happened, say=say)


def labelled_table(
    file: TableFile,
    roles: Roles,
    *,
    task: TableTask | None = None,
    columns: str | Path | Columns | None = None,
    happened: str | None = None,
    say: Say = lambda text: None,
) -> LabelledTable:
    """The table with its labels, from a file that was read."""
    frame = file.frame
    if not len(frame):
        raise InputError(
            f"{file.path.name} has no rows.", remedy="It needs a row for each sample below the names of the columns."
        )
    for role, names in roles._asdict().items():
        for name in (names,) if not isinstance(names, tuple) else names:
            check_column(frame, name, role)
    frame, left_out = _with_labels(frame, roles, task, say)
    kind = _task_of(frame, roles, task)
    _refuse_dates(frame, roles, task)
    given = columns if columns is None or isinstance(columns, Columns) else read_columns(columns)
    found = inspect(frame, **roles._asdict(), given=given)
    X = features(frame, found)  # refuses a table without any, and says why
    _say_columns(found, say)
    _refuse_names(frame, roles, kind)
    _say_odd_classes(frame, roles, kind, say)
    group, sample = found.named("group"), found.named("sample")
    return LabelledTable(
        X=X,
        y=_labels_of(frame, roles, kind, happened),
        task=kind,
        columns=found,
        file=file,
        roles=roles,
        groups=None if group is None else _complete(frame[group], "group"),
        samples=None if sample is None else _names(frame[sample]),
        left_out=left_out,
    )


def _with_labels(
    frame: pd.DataFrame, roles: Roles, task: TableTask | None, say: Say
) -> tuple[pd.DataFrame, tuple[RowsLeftOut, ...]]:
    """The rows that have a label, and how many have none."""
    left_out = []
    for name in roles.targets:
        labels, words = _labels(frame[name], name, roles, task)
        missing = labels.isna()
        if missing.all():
            raise InputError(f"the target {name!r} is missing in every row.", remedy="Name another column: `target=`.")
        if missing.any():
            why = f"without a value of {name!r}" + _what_counts_as_none(words)
            say(f"left out {formatting.count(int(missing.sum()), 'row')} {why}{_other_way(labels, words)}")
            left_out.append(RowsLeftOut(int(missing.sum()), why))
        _refuse_infinite(labels)
        frame = frame.assign(**{name: labels})[~missing]
    return frame.reset_index(drop=True), tuple(left_out)


def _refuse_infinite(labels: pd.Series[Any]) -> None:
    import pandas as pd

    if not pd.api.types.is_float_dtype(labels):
        return
    wrong = np.isinf(labels.to_numpy(dtype=np.float64, na_value=np.nan))
    if wrong.any():
        rows, first = formatting.count(int(wrong.sum()), "row"), labels.index[wrong][0] + 1
        problem = f"the target {labels.name!r} is infinite in {rows}, the first of them data row {first}."
        raise InputError(problem, remedy="Leave these cells empty: rows without a target are left out.")


def _labels(
    values: pd.Series[Any], name: str, roles: Roles, task: TableTask | None
) -> tuple[pd.Series[Any], tuple[str, ...]]:
    """The values of a column of labels, and the words in it that stand for none."""
    if name == roles.time:
        return without_words(values, "regression")
    if name == roles.event:
        return without_words(values, "classification", classes=())
    return without_words(values, None if task == "survival" else task)


def _what_counts_as_none(words: Sequence[str]) -> str:
    if not words:
        return ""
    return f" ({formatting.listed(words)} {'counts' if len(words) == 1 else 'count'} as none)"


def _other_way(labels: pd.Series[Any], words: Sequence[str]) -> str:
    """What to do if words that were taken for missing labels are labels."""
    import pandas as pd

    if not words or pd.api.types.is_numeric_dtype(labels):
        return ""
    return "; if it is a label, write it in another way"


def _task_of(frame: pd.DataFrame, roles: Roles, task: TableTask | None) -> TableTask:
    if (roles.time is None) != (roles.event is None):
        given = "time" if roles.event is None else "event"
        raise invalid("event" if given == "time" else "time", f"is needed beside `{given}`", "one of them was given")
    if roles.time is not None:
        if roles.target is not None:
            raise invalid("target", "cannot be combined with `time` and `event`", "they are the target")
        return "survival"
    if roles.target is None:
        raise invalid("target", "must name the column to predict", "none was given")
    return task or _kind_of(frame[roles.target])


def _kind_of(values: pd.Series[Any]) -> TableTask:
    import pandas as pd

    if pd.api.types.is_bool_dtype(values) or not pd.api.types.is_numeric_dtype(values):
        return "classification"
    distinct = values.unique()
    whole = pd.api.types.is_integer_dtype(values)
    if not whole:
        numbers = np.asarray(distinct, dtype=float)
        whole = bool(np.all((numbers % 1 == 0) & (np.abs(numbers) < _LARGE)))
    return "classification" if whole and len(distinct) <= MOST_CLASSES else "regression"


def _labels_of(frame: pd.DataFrame, roles: Roles, task: TableTask, happened: str | None) -> NDArray[Any]:
    if task == "survival":
        assert roles.time is not None
        assert roles.event is not None
        return survival_records(frame[roles.time], frame[roles.event], happened)
    assert roles.target is not None
    return label_values(frame[roles.target], task, remedy="Use `task='classification'`.")


def _complete(values: pd.Series[Any], role: str) -> NDArray[Any]:
    """Groups or names: a value in each row, as a number or as text."""
    import pandas as pd

    missing = int(values.isna().sum())
    if missing:
        first = int(np.argmax(values.isna())) + 1
        rows = formatting.count(missing, "row")
        given = f"{values.name!r} is missing in {rows}, the first of them data row {first}"
        raise invalid(role, "must have a value in each row", given)
    if pd.api.types.is_integer_dtype(values) or pd.api.types.is_float_dtype(values):
        return values.to_numpy()
    return values.astype(str).to_numpy(dtype=np.str_)


def _names(values: pd.Series[Any]) -> NDArray[Any]:
    names = _complete(values, "sample")
    if values.duplicated().any():
        twice = values[values.duplicated()].tolist()[0]
        given = f"{twice!r} is in more than one row of {values.name!r}"
        raise invalid("sample", "must name a column of unique values", given)
    return names


def _refuse_dates(frame: pd.DataFrame, roles: Roles, asked: TableTask | None) -> None:
    """Refuse a date to predict: it is no number, and a class only if it repeats or somebody says so."""
    if roles.target is None or asked == "classification":
        return
    values = frame[roles.target]
    repeats = values.nunique() <= min(MOST_CLASSES, len(values) / 2)
    if (asked is None and repeats) or look_at(values, roles.target).kind != "date":
        return
    remedy = (
        "Predict a number, such as the days since a first date. For the time until an event, use `time` and `event`."
    )
    raise InputError(f"the target {roles.target!r} is a date, such as {values.iloc[0]}.", remedy=remedy)


def _refuse_names(frame: pd.DataFrame, roles: Roles, task: TableTask) -> None:
    """Refuse classes that hardly ever repeat: nothing can be learnt of them."""
    if task != "classification" or roles.target is None:
        return
    values = frame[roles.target]
    n = int(values.nunique())
    if n > max(MOST_CLASSES, len(values) / 2):
        problem = f"the target {roles.target!r} has {n:,} classes in {formatting.count(len(values), 'row')}"
        shown = formatting.listed(values.drop_duplicates().tolist(), 3)
        raise InputError(f"{problem} ({shown}): they repeat too seldom.", remedy="Name another column: `target=`.")


def check_events(table: LabelledTable, rows: NDArray[np.intp], plan: Plan, inner: bool) -> None:
    """Refuse so few events that a training part would have none: every survival model needs one."""
    if table.task != "survival":
        return
    happened = table.y["event"][rows]
    n, unit = int(happened.sum()), "row"
    if table.groups is not None:
        n, unit = len(np.unique(table.groups[rows][happened])), "group"
    needed = 3 if inner else 2  # one fold holds out one of them, and inner folds another one
    if n < needed:
        apart = " outside the test part" if plan.has_test_part else ""
        problem = (
            f"{plan} needs events in at least {needed} {unit}s{apart}, so that each training part has one; "
            f"the event happened in {formatting.count(n, unit)}."
        )
        remedy = "Add rows with events. If another value says that the event happened, name it: `positive=`."
        raise InputError(problem, remedy=remedy)


_LIKE_MISSING = {"na", "n/a", "nan", "null", "none", "?", "-", "missing", "unknown"}


def _say_odd_classes(frame: pd.DataFrame, roles: Roles, task: TableTask, say: Say) -> None:
    """Name classes that may stand for a missing label: which ones do, only a person knows."""
    if task != "classification" or roles.target is None:
        return
    counts = frame[roles.target].astype(str).value_counts()
    for name, n in counts.items():
        if len(counts) > 2 and str(name).strip().lower() in _LIKE_MISSING:
            rows = formatting.count(int(n), "row")
            say(f"{str(name)!r} is taken as a class ({rows}); empty these cells if they have no label")


_NOT_USED = ("id", "constant", "duplicate", "empty")


def _say_columns(columns: Columns, say: Say) -> None:
    """Name the columns that were left out, by reason, and what looks wrong."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for column in columns:
        if column.role in _NOT_USED:
            reasons.setdefault(("left out ", column.reason or column.role), []).append(column.name)
        elif column.role == "feature" and column.reason and column.reason not in column.warning:
            reasons.setdefault(("", column.reason), []).append(column.name)
    for (what, reason), names in reasons.items():
        say(f"{what}{formatting.listed(names)}: {reason}")
    for text in (*columns.notes, *columns.warnings):
        say(text)
