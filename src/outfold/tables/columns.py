"""What each column of a table is: its role, its kind and what is done with it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args, overload

from .. import formatting
from ..exceptions import FileError, got, invalid
from ..io.untrusted import refuse_special
from . import toml
from .kinds import Kind as Kind
from .values import DateOrder

Role = Literal[
    "feature", "target", "group", "sample", "time", "event", "id", "constant", "duplicate", "empty", "unused"
]

KINDS: tuple[Kind, ...] = get_args(Kind)
ROLES: tuple[Role, ...] = get_args(Role)
ORDERS: tuple[DateOrder, ...] = get_args(DateOrder)
# Roles that at most one column has, and that a person names.
NAMED: tuple[Role, ...] = ("target", "group", "sample", "time", "event")

_MOST_DOTS = 100  # in a line: a name with n dots takes time and memory of n²
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
            if any(line.count(".") > _MOST_DOTS for line in text.splitlines()):
                raise ValueError(f"a line has more than {_MOST_DOTS} dots")
            found = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # also of too many digits
            raise FileError(f"the file of columns is not valid toml: {error}.") from None
        columns = found.get("columns")
        if not isinstance(columns, dict) or not all(isinstance(facts, dict) for facts in columns.values()):
            example = 'age = {role = "feature", kind = "number"}'
            problem = f"the file of columns needs a table [columns] with lines such as: {example}"
            raise FileError(problem, remedy="`outfold inspect` writes one.")
        return cls(tuple(_read_column(name, facts) for name, facts in columns.items()))


def read_columns(path: str | Path) -> Columns:
    """The columns in a file of toml."""
    refuse_special(Path(path))
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileError(f"there is no file {path}.", remedy="`outfold inspect` writes one.") from None
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise FileError(f"{path} cannot be read ({why}).", remedy="`outfold inspect` writes one.") from None
    return Columns.from_toml(text)


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


def why_nothing_to_learn_from(columns: Columns) -> str:
    """What to say of a table without a single feature."""
    left = [c for c in columns if c.role not in NAMED]
    if len(columns) == 2 and len(left) == 1 and left[0].role == "id":
        target = columns.named("target")
        label = f"the target {target!r}" if target else "a label"
        return f"the table has only an id, {left[0].name!r}, and {label}. Join it first with the table that has the features"
    why = "; ".join(f"{c.name!r}: {c.reason or c.role}" for c in left[:5])
    return "there is no column to predict from" + (f" ({why})" if why else "")
