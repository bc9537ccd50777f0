"""The labelled rows of a table: what `confront` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from .. import formatting
from ..exceptions import InputError, invalid
from ..tables.events import survival_records
from ..tables.labels import label_text, label_values, without_words
from .about import ModelAbout

if TYPE_CHECKING:
    import pandas as pd


class LabelledRows(NamedTuple):
    """Rows with a label, their labels, their groups where the training rows had some, and how many rows have no label."""

    frame: pd.DataFrame
    y: NDArray[Any]
    groups: NDArray[Any] | None
    n_left_out: int


def labelled_rows(frame: pd.DataFrame, about: ModelAbout, target: str | None = None) -> LabelledRows:
    """The rows of a table that have a label, in the columns that the training table had it in."""
    columns = [target or about.target]
    if about.task == "survival":
        found = about.columns.named("time"), about.columns.named("event")
        columns = [name for name in found if name is not None]
    for name in columns:
        if name not in frame.columns:
            given = f"there is no column {name!r}; the columns are {', '.join(map(str, frame.columns[:40]))}"
            raise invalid("target", "must name the column with the labels", given)
    _refuse_without_features(frame, about)
    frame = frame.assign(**{name: _without_words(frame[name], name, about) for name in columns})
    there = frame[columns].notna().all(axis=1)
    if not there.any():
        raise InputError(f"no row has a value of {columns[0]!r}.")
    rows = frame[there].reset_index(drop=True)
    group = about.columns.named("group")
    groups = rows[group].astype(str).to_numpy() if group is not None and group in rows.columns else None
    if about.task == "survival":
        y: NDArray[Any] = survival_records(rows[columns[0]], rows[columns[1]], about.event)
    else:
        y = label_values(rows[columns[0]], "regression" if about.classes is None else "classification")
    return LabelledRows(rows, y, groups, int((~there).sum()))


def _without_words(values: pd.Series[Any], name: str, about: ModelAbout) -> pd.Series[Any]:
    """The labels in a column, missing where a word stands for none, as in the training table."""
    if about.task == "survival":
        timed = name == about.columns.named("time")
        return without_words(values, "regression" if timed else "classification", classes=())[0]
    if about.classes is None:
        return without_words(values, "regression")[0]
    return without_words(values, "classification", [*map(label_text, about.classes), *about.merged])[0]


def _refuse_without_features(frame: pd.DataFrame, about: ModelAbout) -> None:
    """Refuse labels that come without the columns that the model predicts from."""
    absent = [column.name for column in about.columns.features if column.name not in frame.columns]
    if not absent:
        return
    lacks, has = (formatting.listed(names, 20) for names in (absent, list(frame.columns)))
    problem = f"the table must also have the columns that the model was trained on. It lacks {lacks}; it has {has}."
    by = _id_column(frame, about)
    how = "" if by is None else f" by the column {by!r}"
    raise InputError(problem, remedy=f"If the labels come alone, join them{how} with the table that you predicted.")


def _id_column(frame: pd.DataFrame, about: ModelAbout) -> str | None:
    """The column that tells rows apart, preferably one that the table has; None if the training table had none."""
    ids = [column.name for column in (*about.columns.having("sample"), *about.columns.having("id"))]
    return next((name for name in ids if name in frame.columns), ids[0] if ids else None)
