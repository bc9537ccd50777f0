"""The labelled rows of a table: what `confront` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from ..exceptions import InputError, invalid
from ..tables.labels import label_values, times_and_events
from .about import ModelAbout

if TYPE_CHECKING:
    import pandas as pd


class LabelledRows(NamedTuple):
    """Rows with a label, their labels, their groups where the training rows had some, and how many rows have no label."""

    frame: pd.DataFrame
    y: NDArray[Any]
    groups: NDArray[Any] | None
    n_left_out: int


def labelled(frame: pd.DataFrame, about: ModelAbout, target: str | None = None) -> LabelledRows:
    """The rows of a table that have a label, in the columns that the training table had it in."""
    columns = [target or about.target]
    if about.task == "survival":
        found = about.columns.named("time"), about.columns.named("event")
        columns = [name for name in found if name is not None]
    for name in columns:
        if name not in frame.columns:
            given = f"there is no column {name!r}; the columns are {', '.join(map(str, frame.columns[:40]))}"
            raise invalid("target", "must name the column with the labels", given)
    there = frame[columns].notna().all(axis=1)
    if not there.any():
        raise InputError(f"no row has a value of {columns[0]!r}.")
    rows = frame[there].reset_index(drop=True)
    group = about.columns.named("group")
    groups = rows[group].astype(str).to_numpy() if group is not None and group in rows.columns else None
    if about.task == "survival":
        y: NDArray[Any] = times_and_events(rows, *columns)
    else:
        y = label_values(rows[columns[0]], "regression" if about.classes is None else "classification")
    return LabelledRows(rows, y, groups, int((~there).sum()))
