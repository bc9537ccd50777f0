"""Which role and which kind each column of a table gets, from its values and from what a person decided."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..exceptions import InputError, invalid
from .canonical import convert, features
from .columns import KINDS, NAMED, Column, Columns, Role, treatment, why_nothing_to_learn_from
from .grouping import ROWS_LOOKED_AT, find_group
from .kinds import GUESSED_ORDER, look_at
from .leaks import find_leaks, rows_to_look_at

if TYPE_CHECKING:
    import pandas as pd


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
    _refuse_two_roles(asked, leave_out)
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
    notes = (*_notes(made), *_note_on_dates(frame, made), *_note_on_groups(frame, made))
    return Columns(_mark_leaks(frame, made), notes)


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
    """Refuse the name of a column that the table does not have, or whose cells cannot be told apart."""
    if column is None:
        return
    if column in frame.columns:
        if role in NAMED:
            _n_distinct(frame[column], role)
        return
    near = get_close_matches(column, list(frame.columns), n=1, cutoff=0.6)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    shown = ", ".join(frame.columns[:40]) + (", ..." if frame.shape[1] > 40 else "")
    needed, wrong = "must name a column of the table", f"there is no column {column!r}"
    raise invalid(role, needed, wrong, f"{hint}The columns are: {shown}.")


def _refuse_two_roles(asked: Mapping[str, str | None], leave_out: Sequence[str]) -> None:
    """Refuse a column that was named for two purposes: one of the two would be ignored without a word."""
    seen: dict[str, str] = {}
    for role, name in [*asked.items(), *(("leave_out", name) for name in dict.fromkeys(leave_out))]:
        if name is not None and (before := seen.setdefault(name, role)) != role:
            raise invalid(role, f"must name another column than `{before}`", f"both name {name!r}")


def _decided(frame: pd.DataFrame, given: Columns | None) -> dict[str, Column]:
    if given is None:
        return {}
    unknown = [column.name for column in given if column.name not in frame.columns]
    if unknown:
        problem = f"the table has no column {formatting.listed(unknown)}, which the file of columns has."
        raise InputError(problem, remedy="Remove these lines, or write the file again with `outfold inspect`.")
    for role in NAMED:
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
    return Column(str(values.name), role, None, float(values.isna().mean()), _n_distinct(values, role))


def _n_distinct(values: pd.Series[Any], role: str) -> int:
    try:
        return int(values.nunique())
    except TypeError:  # lists, dicts
        needed = "must name a column with one value in each cell"
        raise invalid(role, needed, f"the cells of {values.name!r} hold several") from None


def _as_decided(values: pd.Series[Any], before: Column) -> Column:
    """The column with the role and the kind of the file, and the facts of this table."""
    if before.role in NAMED:
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
    return (why_nothing_to_learn_from(columns),)


def _note_on_dates(frame: pd.DataFrame, columns: Columns) -> tuple[str, ...]:
    """Models learn from the days since the first date, so rows that come later lie outside what they have seen."""
    names = [c.name for c in columns.features if c.kind == "date" and _in_the_past(frame[c.name], c)]
    if not names:
        return ()
    hold, them = ("holds", "it") if len(names) == 1 else ("hold", "them")
    which = f"{formatting.listed(names, len(names))} {hold} past dates"
    remedy = f"--drop-columns {shlex.quote(formatting.between_commas(names))} leaves {them} out"
    return (f"{which}: new rows with later dates all lie outside the training range. {remedy}",)


def _note_on_groups(frame: pd.DataFrame, columns: Columns) -> tuple[str, ...]:
    """Rows that belong together must be held out together, which nobody remembers in time."""
    if columns.named("group") is not None or not columns.features:
        return ()
    X = features(frame.iloc[:ROWS_LOOKED_AT], columns)
    found = find_group(X[[c.name for c in columns.features if c.kind in ("number", "category")]])
    if found is None:
        return ()
    same = formatting.listed(found.shared, 3)
    seen = f"rows with the same {found.name!r} also have the same {same}"
    why = f"{seen}: they may belong together, as the visits of one patient do"
    return (f"{why}. If they do, --group {shlex.quote(found.name)} holds them out together",)


def _in_the_past(values: pd.Series[Any], column: Column) -> bool:
    dates = convert(values, "date", column.order, column.missing_values)
    known = dates[~_isna(dates)]
    return len(known) > 0 and bool(known.max() < np.datetime64("now", "ns"))


_JOIN = "If that is a label, join the table first with the one that has the features"
