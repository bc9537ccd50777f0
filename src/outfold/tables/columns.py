"""What each column of a table is: its role, its kind and what is done with it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

from .. import formatting
from ..exceptions import FileError, got, invalid
from . import toml
from .values import DateOrder

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["number", "category", "boolean", "date", "text"]
Role = Literal[
    "feature", "target", "group", "sample", "time", "event", "id", "constant", "duplicate", "empty", "unused"
]

KINDS: tuple[Kind, ...] = get_args(Kind)
ROLES: tuple[Role, ...] = get_args(Role)
ORDERS: tuple[DateOrder, ...] = get_args(DateOrder)

_USES: Mapping[Kind, str] = {
    "number": "as it is",
    "boolean": "0 or 1",
    "category": "one column for each level, rare levels together",
    "date": "parts of the date, and days since the first one",
    "text": "frequencies of words (tf-idf)",
}


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
    warning: str = ""

    def __post_init__(self) -> None:
        if not self.treatment:
            object.__setattr__(self, "treatment", treatment(self.role, self.kind, self.missing))


def treatment(role: Role, kind: Kind | None, missing: float) -> str:
    """What is done with a column, in words."""
    if role != "feature" or kind is None:
        return "" if role in ("feature", "target", "group", "sample", "time", "event") else "not used"
    return _USES[kind] + ("; missing values are replaced and marked" if missing > 0 and kind != "text" else "")


@dataclass(frozen=True)
class Columns(Sequence[Column]):
    """The columns of a table, in the order of the table.

    Attributes
    ----------
    columns : tuple of Column
        One for each column of the table.
    notes : tuple of str
        What a person should know of the whole table.
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
            for c in self.columns
        ]
        lines = [formatting.table(header, rows, left=(0, 1, 2, 5))]
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
        """One line for each column, for people to edit and for `from_toml` to read; a comment goes first."""
        return toml.table("columns", [(c.name, _written(c)) for c in self.columns], comment)

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


def _written(column: Column) -> dict[str, Any]:
    """What toml keeps of a column: role and kind first, then the facts; what is empty is left out."""
    facts: dict[str, Any] = {"role": column.role}
    if column.kind is not None:
        facts["kind"] = column.kind
    facts |= {"missing": column.missing, "distinct": column.distinct}
    if column.treatment != treatment(column.role, column.kind, column.missing):
        facts["treatment"] = column.treatment
    texts: dict[str, Any] = {"order": column.order, "missing_values": column.missing_values}
    texts |= {"reason": column.reason, "warning": column.warning}
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
    `given` has roles and kinds that a person decided on; columns that it does not have are decided here.
    """
    raise NotImplementedError


def features(frame: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """The features alone, in the order of `columns`, each in the one type of its kind.

    Numbers and booleans are float64 (NaN is missing), categories are objects of str (None is missing), texts are objects of
    str ("" is missing), dates are datetime64[ns] (NaT is missing). No row changes what another row gives.
    """
    raise NotImplementedError
