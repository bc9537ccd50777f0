"""What each column of a table is: its role, its kind and what is done with it."""

from __future__ import annotations

import shlex
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..exceptions import FileError, InputError, got, invalid
from . import toml
from .canonical import convert
from .kinds import GUESSED_ORDER, look_at
from .kinds import Kind as Kind
from .leaks import find_leaks, rows_to_look_at
from .values import DateOrder

if TYPE_CHECKING:
    import pandas as pd

Role = Literal[
    "feature", "target", "group", "sample", "time", "event", "id", "constant", "duplicate", "empty", "unused"
]

KINDS: tuple[Kind, ...] = get_args(Kind)
ROLES: tuple[Role, ...] = get_args(Role)
ORDERS: tuple[DateOrder, ...] = get_args(DateOrder)

_SHOWN = 100  # columns that are printed
_USES: Mapping[Kind, str] = {
    "number": "as it is",
    "boolean": "0 or 1",
    "category": "one column for each level, rare levels together",
    "date": "parts of the date, and days since the first one",
    "text": "frequencies of words (tf-idf)",
}
_ROLES_IN_WORDS: Mapping[Role, str] = {
    "target": "to predict",
    "group": "rows with the same value are held out together",
    "sample": "names of the rows",
    "time": "time until the event, or until nothing more is known",
    "event": "whether the event happened",
}


_MISSING: Mapping[Kind, str] = {"category": "; missing is one more level", "text": ""}


@dataclass(frozen=True)
class Column:
    """What a column of a table is.

    Attributes
    ----------
    name : str
        The name of the column.
    role : str
        What it is used for. Only features are learnt from; "id", "constant", "duplicate", "empty" and "unused" are left out.
    kind : str or None
        "number", "category", "boolean", "date" or "text"; None where it does not matter, as for the target.
    missing : float
        The share of rows without a value.
    distinct : int
        The number of distinct values.
    treatment : str
        What is done with it, in words.
    reason : str
        Why it has its role and its kind, where that is not obvious.
    order : str
        For dates that are written as text: the order of day, month and year.
    missing_values : tuple of str
        Values that count as missing, such as "unknown" in a column of numbers.
    warning : str
        What a person should look at, such as a feature that predicts the target almost perfectly.

    Examples
    --------
    >>> import pandas as pd
    >>> from outfold import tables
    >>> frame = pd.DataFrame({"weight": [61.5, 82, 74, 58, 90, 66], "sex": list("fmmfmf"), "ill": [0, 1, 0, 0, 1, 1]})
    >>> column = tables.inspect(frame, target="ill")[0]
    >>> column.name, column.kind, column.treatment
    ('weight', 'number', 'as it is')
    """

    name: str
    role: Role
    kind: Kind | None = None
    missing: float = 0.0
    distinct: int = 0
    treatment: str = ""
    reason: str = ""
    order: DateOrder = ""
    missing_values: tuple[str, ...] = ()
    warning: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not self.treatment:
            object.__setattr__(self, "treatment", treatment(self.role, self.kind, self.missing))


def treatment(role: Role, kind: Kind | None, missing: float) -> str:
    """What is done with a column, in words."""
    if role != "feature":
        return _ROLES_IN_WORDS.get(role, "not used")
    if kind is None:
        return ""
    return _USES[kind] + (_MISSING.get(kind, "; missing values are replaced and marked") if missing > 0 else "")


@dataclass(frozen=True)
class Columns(Sequence[Column]):
    """The columns of a table, in the order of the table.

    Attributes
    ----------
    columns : tuple of Column
        One for each column of the table.
    notes : tuple of str
        What a person should know of the whole table.

    Examples
    --------
    >>> import pandas as pd
    >>> from outfold import tables
    >>> frame = pd.DataFrame({"weight": [61.5, 82, 74, 58, 90, 66], "sex": list("fmmfmf"), "ill": [0, 1, 0, 0, 1, 1]})
    >>> columns = tables.inspect(frame, target="ill")
    >>> columns.kinds
    {'weight': 'number', 'sex': 'category'}
    >>> columns.named("target")
    'ill'
    """

    columns: tuple[Column, ...]
    notes: tuple[str, ...] = field(default=(), compare=False)

    @overload
    def __getitem__(self, index: int) -> Column: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Column, ...]: ...
    def __getitem__(self, index: int | slice) -> Column | tuple[Column, ...]:
        return self.columns[index]

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    @property
    def features(self) -> tuple[Column, ...]:
        """The columns to learn from."""
        return self.having("feature")

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kind of each feature, by its name."""
        return {column.name: column.kind or "number" for column in self.features}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should look at, of all columns."""
        return tuple(column.warning for column in self.columns if column.warning)

    def having(self, role: Role) -> tuple[Column, ...]:
        """The columns of a role."""
        return tuple(column for column in self.columns if column.role == role)

    def named(self, role: Role) -> str | None:
        """The name of the first column of a role; None if there is none."""
        return next((column.name for column in self.columns if column.role == role), None)

    def __str__(self) -> str:
        header = ["column", "role", "kind", "distinct", "missing", "treatment"]
        rows = [
            [
                formatting.shorten(formatting.clean(c.name), 40),
                c.role,
                c.kind or "-",
                f"{c.distinct:,}",
                _percent(c.missing),
                c.treatment + (f" ({c.reason})" if c.reason and c.treatment else c.reason),
            ]
            for c in self.columns[:_SHOWN]
        ]
        lines = [formatting.table(header, rows, left=(0, 1, 2, 5))]
        if len(self) > _SHOWN:
            lines.append(f"… and {len(self) - _SHOWN:,} more")
        return "\n".join([*lines, *(f"note: {text}" for text in (*self.notes, *self.warnings))])

    def to_rows(self) -> list[dict[str, Any]]:
        """A dict for each column, ready for json."""
        return [
            {
                "name": c.name,
                "role": c.role,
                "kind": c.kind,
                "missing": c.missing,
                "distinct": c.distinct,
                "treatment": c.treatment,
                "reason": c.reason,
                "order": c.order,
                "missing_values": list(c.missing_values),
                "warning": c.warning,
            }
            for c in self.columns
        ]

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]]) -> Columns:
        """The columns that `to_rows` gave."""
        return cls(tuple(_read_column(str(row["name"]), row) for row in rows))

    def to_toml(self, comment: str = "") -> str:
        """One line for each column, for people to edit and for `from_toml` to read, below comments and warnings."""
        above = "\n".join([*([comment] if comment else []), *self.notes, *self.warnings])
        return toml.table("columns", [(c.name, _written(c)) for c in self.columns], above)

    @classmethod
    def from_toml(cls, text: str) -> Columns:
        """The columns in a text that `to_toml` wrote or a person; a kind that is not there is left to `inspect`."""
        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise FileError(f"the file of columns is not valid toml: {error}.") from None
        columns = found.get("columns")
        if not isinstance(columns, dict) or not all(isinstance(facts, dict) for facts in columns.values()):
            example = 'age = {role = "feature", kind = "number"}'
            problem = f"the file of columns needs a table [columns] with lines such as: {example}"
            raise FileError(problem, remedy="`outfold inspect` writes one.")
        return cls(tuple(_read_column(name, facts) for name, facts in columns.items()))


def read_columns(path: str | Path) -> Columns:
    """The columns in a file of toml."""
    try:
        return Columns.from_toml(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileError(f"there is no file {path}.", remedy="`outfold inspect` writes one.") from None
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise FileError(f"{path} cannot be read ({why}).", remedy="`outfold inspect` writes one.") from None


def _written(column: Column) -> dict[str, Any]:
    """What toml keeps of a column: role and kind first, then the facts; what is empty is left out."""
    facts: dict[str, Any] = {"role": column.role}
    if column.kind is not None:
        facts["kind"] = column.kind
    facts |= {"missing": column.missing, "distinct": column.distinct}
    if column.treatment != treatment(column.role, column.kind, column.missing):
        facts["treatment"] = column.treatment
    texts: dict[str, Any] = {"order": column.order, "missing_values": column.missing_values, "reason": column.reason}
    return facts | {name: text for name, text in texts.items() if text}


_TYPES: dict[str, Any] = {
    "missing": (int, float),
    "distinct": int,
    "treatment": str,
    "reason": str,
    "warning": str,
    "missing_values": (list, tuple),
}


def _read_column(name: str, facts: Mapping[str, Any]) -> Column:
    where = f"of the column {name!r}"
    unknown = [key for key in facts if key not in (*_TYPES, "name", "role", "kind", "order")]
    if unknown:
        known = "role, kind, order, missing_values"
        raise invalid(f"{unknown[0]} {where}", "is not known", remedy=f"You can set {known}.")
    choices: dict[str, tuple[Any, ...]] = {"role": ROLES, "kind": (*KINDS, None), "order": ORDERS}
    for key, allowed in choices.items():
        if key in facts and facts[key] not in allowed:
            shown = ", ".join(choice for choice in allowed if choice)
            raise invalid(f"{key} {where}", f"must be one of {shown}", got(facts[key]))
    for key, types in _TYPES.items():
        if key in facts and not isinstance(facts[key], types):
            needed = "must be a list of texts" if key == "missing_values" else "must be as `inspect` wrote it"
            raise invalid(f"{key} {where}", needed, got(facts[key]))
    known_facts = {key: facts[key] for key in (*_TYPES, "kind", "order") if key in facts}
    known_facts["missing"] = float(facts.get("missing", 0.0))
    known_facts["missing_values"] = tuple(map(str, facts.get("missing_values", ())))
    return Column(name, facts.get("role", "feature"), **known_facts)


def _percent(share: float) -> str:
    """``0%``, ``<1%``, ``12%``; never 0% or 100% where that is not exact."""
    if share in (0, 1):
        return f"{share:.0%}"
    return "<1%" if share < 0.01 else ">99%" if share > 0.99 else f"{share:.0%}"


# -- deciding -------------------------------------------------------------------------------------------

# Roles that at most one column has, and that a person names.
_NAMED: tuple[Role, ...] = ("target", "group", "sample", "time", "event")


def inspect(
    frame: pd.DataFrame,
    *,
    target: str | None = None,
    group: str | None = None,
    sample: str | None = None,
    time: str | None = None,
    event: str | None = None,
    leave_out: Sequence[str] = (),
    given: Columns | None = None,
) -> Columns:
    """The role and the kind of each column of a table.

    Neither depends on the values of the target. Only the warning that a feature predicts it almost perfectly does.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each sample.
    target, group, sample, time, event : str, optional
        The columns to predict, of groups that are held out together, of names of rows, and of survival.
    leave_out : sequence of str
        Columns not to use.
    given : Columns, optional
        Roles and kinds that a person decided on. Columns that it does not have are decided here.

    Returns
    -------
    Columns
        One `Column` for each column of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> from outfold import tables
    >>> frame = pd.DataFrame({"weight": [61.5, 82, 74, 58, 90, 66], "sex": list("fmmfmf"), "ill": [0, 1, 0, 0, 1, 1]})
    >>> columns = tables.inspect(frame, target="ill")
    >>> [(column.name, column.role, column.kind) for column in columns]
    [('weight', 'feature', 'number'), ('sex', 'feature', 'category'), ('ill', 'target', None)]
    """
    asked = {"target": target, "group": group, "sample": sample, "time": time, "event": event}
    check_frame(frame)
    for role, name in [*asked.items(), *(("leave_out", name) for name in leave_out)]:
        check_column(frame, name, role)
    decided = _decided(frame, given)
    named = {name: role for role, name in asked.items() if name is not None}
    taken = set(named.values())
    columns = []
    for name in frame.columns:
        before = decided.get(name)
        if name in named:
            columns.append(_of_role(frame[name], named[name]))  # type: ignore[arg-type]
        elif name in leave_out:
            columns.append(replace(_found(frame[name]), role="unused", reason="left out, as you asked", **_PLAIN))
        elif before is not None and before.role in taken:
            reason = f"the file of columns has it as the {before.role}, and another column was named"
            columns.append(replace(_found(frame[name]), role="unused", reason=reason, **_PLAIN))
        elif before is not None:
            columns.append(_as_decided(frame[name], before))
        else:
            columns.append(_found(frame[name]))
    made = Columns(tuple(_mark_duplicates(frame, _settle_orders(columns), decided)))
    return Columns(_mark_leaks(frame, made), (*_notes(made), *_note_on_dates(frame, made)))


# What `replace` has to make anew.
_PLAIN: dict[str, Any] = {"treatment": "", "warning": ""}


def check_frame(frame: Any) -> None:
    """A table is a pandas data frame with rows, whose columns have different names."""
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise invalid("frame", "must be a pandas data frame", f"got {type(frame).__name__}")
    if len(frame) == 0:
        raise InputError("the table has names of columns, but no rows.")
    names = pd.Index(frame.columns)
    if not all(isinstance(name, str) for name in names):
        raise InputError("the names of columns must be texts.", remedy="Use frame.columns = frame.columns.astype(str).")
    if names.has_duplicates:
        twice = names[names.duplicated()][0]
        raise InputError(f"two columns of the table are called {twice!r}.", remedy="Rename or leave out one of them.")


def check_column(frame: pd.DataFrame, column: str | None, role: str) -> None:
    """Refuse the name of a column that the table does not have."""
    if column is None or column in frame.columns:
        return
    near = get_close_matches(column, list(frame.columns), n=1, cutoff=0.6)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    shown = ", ".join(frame.columns[:40]) + (", ..." if frame.shape[1] > 40 else "")
    needed, wrong = "must name a column of the table", f"there is no column {column!r}"
    raise invalid(role, needed, wrong, f"{hint}The columns are: {shown}.")


def _decided(frame: pd.DataFrame, given: Columns | None) -> dict[str, Column]:
    if given is None:
        return {}
    unknown = [column.name for column in given if column.name not in frame.columns]
    if unknown:
        problem = f"the table has no column {formatting.listed(unknown)}, which the file of columns has."
        raise InputError(problem, remedy="Remove these lines, or write the file again with `outfold inspect`.")
    for role in _NAMED:
        several = [column.name for column in given.having(role)]
        if len(several) > 1:
            raise InputError(f"the file of columns has {formatting.listed(several)} as the {role}; only one can be.")
    return {column.name: column for column in given}


def _found(values: pd.Series[Any]) -> Column:
    name = str(values.name)
    found = look_at(values, name)
    facts = {"order": found.order, "missing_values": found.missing_values, "warning": found.warning}
    return Column(name, found.role, found.kind, found.missing, found.distinct, "", found.reason, **facts)  # type: ignore[arg-type]


def _of_role(values: pd.Series[Any], role: Role) -> Column:
    missing = float(values.isna().mean())
    try:
        n_distinct = int(values.nunique())
    except TypeError:
        n_distinct = 0
    return Column(str(values.name), role, None, missing, n_distinct)


def _as_decided(values: pd.Series[Any], before: Column) -> Column:
    """The column with the role and the kind of the file, and the facts of this table."""
    if before.role in _NAMED:
        return _of_role(values, before.role)
    found = _found(values)
    own = found.kind if before.kind is None else before.kind
    order = before.order or (found.order if own == "date" else "")
    gone = tuple(dict.fromkeys((*before.missing_values, *(found.missing_values if own == found.kind else ()))))
    same = (before.role, own, order, gone) == (found.role, found.kind, found.order, found.missing_values)
    if same:
        return found
    if before.role == "feature" and own is None:
        raise invalid(f"kind of the column {before.name!r}", f"must be one of {', '.join(KINDS)}", "there is none")
    made = Column(found.name, before.role, own, found.missing, found.distinct, reason="as the file of columns says")
    made = replace(made, order=order, missing_values=gone)
    if before.role != "feature" or own is None:
        return made
    array = convert(values, own, order, gone)
    missing = float(np.mean(array == "") if own == "text" else np.mean(_isna(array)))
    return replace(made, missing=missing, treatment=treatment(before.role, own, missing))


def _settle_orders(columns: Sequence[Column]) -> list[Column]:
    """Dates whose order is a guess are taken to be as the other dates of the table are, if these agree."""
    sure = {c.order: c.name for c in columns if c.order in ("dmy", "mdy") and c.reason != GUESSED_ORDER}
    if list(sure) != ["dmy"]:
        return list(columns)
    reason = f"day before month, as in {sure['dmy']!r}"
    settled: dict[str, Any] = {"order": "dmy", "reason": reason, "warning": ""}
    return [replace(c, **settled) if c.reason == GUESSED_ORDER else c for c in columns]


def _isna(array: NDArray[Any]) -> NDArray[np.bool_]:
    import pandas as pd

    return np.asarray(pd.isna(array))


def _mark_duplicates(frame: pd.DataFrame, columns: Sequence[Column], decided: Mapping[str, Column]) -> list[Column]:
    """Features that have the same value in each row as an earlier one are not used, unless a person said so."""
    alike = Counter((c.kind, c.distinct, c.missing) for c in columns if c.role == "feature")
    seen: dict[tuple[Any, ...], str] = {}
    out = []
    for column in columns:
        # Only columns that agree in their numbers need a closer look.
        if column.role == "feature" and column.kind and alike[column.kind, column.distinct, column.missing] > 1:
            array = convert(frame[column.name], column.kind, column.order, column.missing_values)
            twin = seen.setdefault((column.kind, _digest(array)), column.name)
            if twin != column.name and column.name not in decided:
                column = replace(column, role="duplicate", reason=f"the same values as {twin!r}", **_PLAIN)
        out.append(column)
    return out


def _digest(array: NDArray[Any]) -> bytes:
    import pandas as pd

    if array.dtype == object:
        codes, texts = pd.factorize(array)
        return blake2b(codes.tobytes() + "\0".join(texts).encode("utf-8", "surrogatepass")).digest()
    if array.dtype.kind == "f":
        array = array + 0.0  # minus zero is zero
    return blake2b(array.tobytes()).digest()


def _mark_leaks(frame: pd.DataFrame, columns: Columns) -> tuple[Column, ...]:
    target = columns.named("target")
    if target is None or not columns.features:
        return columns.columns
    rows = rows_to_look_at(frame[target])
    some = frame.iloc[rows]
    leaks = find_leaks(features(some, columns), some[target])
    return tuple(replace(c, warning=leaks[c.name]) if c.name in leaks else c for c in columns)


def _notes(columns: Columns) -> tuple[str, ...]:
    if columns.features or len(columns) == 0:
        names = [c.name for c in columns if c.role in ("id", "sample")]
        if len(columns) == 2 and len(names) == 1 and columns.named("target") is None:
            return (f"the table has an id, {names[0]!r}, and one other column. {_JOIN}",)
        return ()
    return (_nothing_left(columns),)


def _note_on_dates(frame: pd.DataFrame, columns: Columns) -> tuple[str, ...]:
    """Models learn from the days since the first date, so rows that come later lie outside what they have seen."""
    names = [c.name for c in columns.features if c.kind == "date" and _in_the_past(frame[c.name], c)]
    if not names:
        return ()
    hold, them = ("holds", "it") if len(names) == 1 else ("hold", "them")
    which = f"{formatting.listed(names, len(names))} {hold} past dates"
    remedy = f"--drop-columns {shlex.quote(','.join(names))} leaves {them} out"
    return (f"{which}: new rows with later dates all lie outside the training range. {remedy}",)


def _in_the_past(values: pd.Series[Any], column: Column) -> bool:
    dates = convert(values, "date", column.order, column.missing_values)
    known = dates[~_isna(dates)]
    return len(known) > 0 and bool(known.max() < np.datetime64("now", "ns"))


_JOIN = "If that is a label, join the table first with the one that has the features"


def _nothing_left(columns: Columns) -> str:
    left = [c for c in columns if c.role not in _NAMED]
    if len(columns) == 2 and len(left) == 1 and left[0].role == "id":
        target = columns.named("target")
        label = f"the target {target!r}" if target else "a label"
        return f"the table has only an id, {left[0].name!r}, and {label}. Join it first with the table that has the features"
    why = "; ".join(f"{c.name!r}: {c.reason or c.role}" for c in left[:5])
    return "there is no column to predict from" + (f" ({why})" if why else "")


# -- the features alone ---------------------------------------------------------------------------------


def features(frame: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """The features alone, in the order of `columns`, each in the one type of its kind.

    Numbers and booleans are float64 (NaN is missing, and so is infinity), categories are objects of str (None is missing),
    texts are objects of str ("" is missing), dates are datetime64[ns] (NaT is missing). No row changes what another row gives,
    so rows to predict go the same way as rows to learn from. Other columns of the table are ignored.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each sample.
    columns : Columns
        What `inspect` gave.

    Returns
    -------
    pandas.DataFrame
        One column for each feature.

    Examples
    --------
    >>> import pandas as pd
    >>> from outfold import tables
    >>> frame = pd.DataFrame({"weight": [61.5, 82, 74, 58, 90, 66], "sex": list("fmmfmf"), "ill": [0, 1, 0, 0, 1, 1]})
    >>> tables.features(frame, tables.inspect(frame, target="ill")).columns.tolist()
    ['weight', 'sex']
    """
    import pandas as pd

    wanted = columns.features
    if not wanted:
        raise InputError(f"{_nothing_left(columns)}.", remedy="The table needs at least one column to learn from.")
    gone = [column.name for column in wanted if column.name not in frame.columns]
    if gone:
        lower = [name.lower() for name in gone]
        there = [name for name in map(str, frame.columns) if get_close_matches(name.lower(), lower, n=1, cutoff=0.8)]
        hint = f"It has {formatting.listed(there)}." if there else ""
        raise InputError(f"the table has no column {formatting.listed(gone, most=20)}.", remedy=hint)
    made = {}
    for column in wanted:
        values = frame[column.name]
        if isinstance(values, pd.DataFrame):
            raise InputError(f"two columns of the table are called {column.name!r}.")
        array = convert(values, column.kind or "number", column.order, column.missing_values)
        made[column.name] = pd.Series(array, index=frame.index, dtype=array.dtype)
    return pd.DataFrame(made, index=frame.index)
