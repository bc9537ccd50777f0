"""Wide tables: one row for each sample, one column for each model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..exceptions import InputError, invalid

# What a column of a wide table may be, beside the models.
_ROLES = ("sample", "label", "fold", "group")
# Columns that only long tables have.
_LONG_ROLES = {"config", "repeat", "predicted_label"}
# Names that labels often have. Without a column of labels, all others would be scores, and these would be a model.
_LIKE_LABELS = {
    "label",
    "labels",
    "y",
    "y_true",
    "y_test",
    "true",
    "truth",
    "ground_truth",
    "target",
    "class",
    "outcome",
}
# What pandas and polars call the column of an index that has no name in a .csv file.
_WITHOUT_NAME = {"Unnamed: 0", ""}
SHAPES = (
    "A long table has one row per sample and model, with columns such as sample, config, label, prediction. "
    "A wide table has one row per sample and one column per model: sample, label, model_a, model_b."
)


def is_long(names: Sequence[str], columns: dict[str, Any]) -> bool:
    """Whether a table has a column for the names of the models, or one for their predictions."""
    named = [columns.get("config"), columns.get("prediction")]
    return any(named) or "prediction" in names or any(name.startswith("prediction_") for name in names)


def find_models(frame: Any, columns: dict[str, Any]) -> list[str] | None:
    """The columns that hold one model each, where the values leave no doubt; None where they do not.

    The table must have a column ``sample`` or ``fold``, and all columns without another role must hold predictions: labels, or
    probabilities where there are two classes, or, where there are no labels, scores from 0 to 1. Without the first, a table to
    train on could be taken for predictions: its columns may hold numbers from 0 to 1, too.
    """
    import narwhals as nw

    table = nw.from_native(frame, eager_only=True)
    rest = _without_role(table, columns)
    label = columns.get("label", "label")
    if not rest or isinstance(label, tuple) or {"time", "event"} <= set(rest) or {*rest} & _LONG_ROLES:
        return None
    if not {columns.get("sample", "sample"), columns.get("fold", "fold")} & {*table.columns}:
        return None
    shares = all(_are_shares(table[name]) for name in rest)
    if label not in table.columns:
        sure = shares and columns.get("sample", "sample") in table.columns and not _like_labels(rest)
        return rest if sure else None
    classes = set(table[label].unique().to_list())
    if all(set(table[name].drop_nulls().unique().to_list()) <= classes for name in rest):
        return rest
    return rest if shares and len(classes) == 2 else None


def why_not_wide(frame: Any, columns: dict[str, Any]) -> str:
    """What keeps this from being read as a wide table, where that is plain: repeats, or a column that holds no predictions."""
    import narwhals as nw

    if columns.get("repeat"):
        return "A wide table has no repeats: with `repeat=...`, give a long table. "
    table = nw.from_native(frame, eager_only=True)
    rest = _without_role(table, columns)
    label = columns.get("label", "label")
    like = _like_labels(rest) if columns.get("sample", "sample") in table.columns else []
    if label not in table.columns and like:
        return f"If {like[0]!r} holds the labels, say so: `label={like[0]!r}`. "
    if label in table.columns and table[label].is_null().any():
        return f"The column {label!r} has no value in some rows; leave these rows out. "
    if columns.get("sample", "sample") not in table.columns:
        return ""
    others = [name for name in rest if not _are_shares(table[name])]
    if not others:
        return ""
    named = ", ".join(map(repr, others[:3])) + (", ..." if len(others) > 3 else "")
    if 2 * len(others) > len(rest):
        return f"If this is a wide table whose models are {named}, say so with `models=...`. "
    holds = "holds" if len(others) == 1 else "hold"
    return f"If this is a wide table, say what {named} {holds}, for example `group={others[0]!r}`. "


def _without_role(table: Any, columns: dict[str, Any]) -> list[str]:
    """The columns that may be models. An index that was saved with the table is none."""
    roles = [columns.get(role, role) for role in _ROLES]
    first = table.columns[:1]
    if {*first} & _WITHOUT_NAME and table[first[0]].to_list() == list(range(len(table))):
        roles += first
    return [name for name in table.columns if name not in roles]


def _like_labels(names: list[str]) -> list[str]:
    return [name for name in names if name.casefold() in _LIKE_LABELS]


def _are_shares(column: Any) -> bool:
    """Whether all values are numbers from 0 to 1."""
    import narwhals as nw

    if not column.dtype.is_numeric() and column.dtype != nw.Boolean:
        return False
    values = column.to_numpy()
    if values.dtype.kind not in "biuf":  # some are missing
        values = column.drop_nulls().to_numpy()
    values = values.astype(np.float64)
    values = values[~np.isnan(values)]
    return bool(len(values) and values.min() >= 0 and values.max() <= 1)


def to_long(frame: Any, models: Sequence[str], columns: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The long table, and the columns of it: the arguments of `from_frame`. An empty field is a prediction that was not made."""
    import narwhals as nw

    table = nw.from_native(frame, eager_only=True)
    lacking = [name for name in models if name not in table.columns]
    if lacking:
        raise invalid("models", f"must be columns of the table, {', '.join(table.columns)}", f"got {lacking[0]!r}")
    if columns.get("repeat"):
        remedy = "Give a long table, with one row for each sample, model and repeat."
        raise InputError("a wide table has one prediction of each model for each sample, and no repeats", remedy=remedy)
    sample = columns.get("sample", "sample")
    if sample not in table.columns:
        if "sample" in columns:
            raise invalid("sample", f"must be one of the columns {', '.join(table.columns)}", f"got {sample!r}")
        table = table.with_row_index(sample)
    chosen = {role: columns.get(role, role) for role in _ROLES if columns.get(role, role) in table.columns}
    if "label" not in chosen:
        chosen["label"] = columns.get("label", ("time", "event") if {"time", "event"} <= set(table.columns) else None)
    kept = [name for value in chosen.values() for name in ([value] if isinstance(value, str) else value or ())]
    long = table.unpivot(list(models), index=kept, variable_name="config", value_name="prediction")
    values = long["prediction"]
    missing = values.is_null() | values.is_nan() if values.dtype.is_float() else values.is_null()
    long = long.filter(~missing)
    rest = {key: value for key, value in columns.items() if key not in _ROLES}
    return long.to_native(), {**chosen, "config": "config", "prediction": "prediction"} | rest
