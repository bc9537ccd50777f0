"""Predictions in a file of any kind: an .oof store, or a long or wide table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..data.predictions import Predictions
from ..docstrings import fill_with
from ..exceptions import InputError, invalid
from ..formatting import shorten
from .convert import from_frame
from .store import load
from .tables import PREDICTED_LABEL, read_table
from .wide import SHAPES, find_models, is_long, to_long, why_not_wide

_LONGEST = 100  # letters of a name in a message

_document = fill_with({"path": "path : str or Path\n    The file.", "files": ">>> import os, tempfile, outfold as of"})


@_document
def read(path: str | os.PathLike[str], *, models: Sequence[str] | None = None, **columns: Any) -> Predictions:
    """Predictions in a file: .oof, or a long or wide table as .csv, .csv.gz or .parquet.

    A long table has one row for each sample and configuration. A wide table has one row for each sample and one column for each
    configuration, beside ``sample``, ``label``, ``fold`` and ``group``. Outfold recognises a wide table if it has a column
    ``sample`` or ``fold``, and all other columns hold labels, probabilities of two classes, or, without labels, scores from 0 to
    1. In other cases, name the columns of the models with `models`. A long table of one configuration needs no column ``config``.

    Parameters: {path}
    models : sequence of str or None
        The columns of a wide table that hold the predictions of one configuration each.
    **columns : str
        The arguments of `from_frame`. The default names are those that `Predictions.to_frame` writes: ``sample``, ``config``,
        ``label`` (or ``time`` and ``event``), ``prediction`` (or ``prediction_<class>``), and, if the table has such columns,
        ``fold``, ``repeat``, ``group`` and ``predicted_label``.
    Returns: {predictions}

    Examples: {files}
    >>> import pandas
    >>> table = pandas.DataFrame({"sample": [1, 2], "config": "a", "label": ["no", "yes"], "prediction": [0.2, 0.9]})
    >>> wide = pandas.DataFrame({"sample": [1, 2], "label": ["no", "yes"], "a": [0.2, 0.9], "b": [0.4, 0.7]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "table.csv")
    ...     table.to_csv(path, index=False)
    ...     of.read(path).response
    ...     wide.to_csv(path, index=False)
    ...     of.read(path).configs
    'proba'
    ('a', 'b')
    """
    path = Path(path)
    if path.suffix == ".oof":
        if columns or models is not None:
            given = ", ".join([*columns, *(["models"] if models is not None else [])])
            raise invalid(path.name, "is an .oof file, which needs no further arguments", f"got {given}")
        return load(path)
    frame = read_table(path)
    names = list(map(str, frame.columns))
    if models is None and not is_long(names, columns):
        models = find_models(frame, columns)
    if models is not None:
        long, chosen = to_long(frame, models, columns)
        return from_frame(long, **chosen)
    chosen = _default_columns(names, columns)
    if "config" not in columns and _is_one_model(names, chosen):
        chosen["config"] = None
    needed = [name for name in ("sample", "config", "prediction") if name not in columns and chosen[name] == name]
    absent = [name for name in needed if name not in names]
    if absent:
        hint = why_not_wide(frame, columns) if "prediction" in absent else ""
        raise InputError(_lacks(path, names, absent), remedy=f"{hint}{_remedy(absent)}")
    return from_frame(frame, **chosen)


def _is_one_model(names: list[str], chosen: dict[str, Any]) -> bool:
    """Whether each column has another part to play than to tell configurations apart."""
    parts = {PREDICTED_LABEL}
    for value in chosen.values():
        parts |= {value} if isinstance(value, str) else set(value) if isinstance(value, (list, tuple)) else set()
    return "config" not in names and set(names) <= parts


def _lacks(path: Path, names: list[str], absent: list[str]) -> str:
    shown = ", ".join(shorten(name, _LONGEST) for name in names[:12]) + (", ..." if len(names) > 12 else "")
    return f"{path.name} has no column {' or '.join(map(repr, absent))}; its columns are {shown}"


def _remedy(absent: list[str]) -> str:
    named = [f"`{name}=...`" for name in absent]
    if "prediction" not in absent:
        return f"Give {' and '.join(named)} to name the column{'s' * (len(absent) > 1)}."
    return (
        f"{SHAPES} Give {', '.join(named)} to name what holds the predictions of a long table. For a wide table, give "
        "`sample=...` to name what identifies a sample, and `group=...` if samples come in groups; or name the columns of the "
        "models with `models=...`. A table to train on, with one row per sample, is for the command outfold run."
    )


def _default_columns(names: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `from_frame` that were not given, from the names `to_frame` writes."""
    outputs = [name for name in names if name.startswith("prediction_")]
    out: dict[str, Any] = {"sample": "sample", "config": "config", "label": "label", "prediction": "prediction"}
    if "prediction" not in names and outputs:
        out["prediction"] = outputs
    if "label" not in names:
        # Per-sample scores need no labels; a metric of labels will ask for them.
        out["label"] = ("time", "event") if {"time", "event"} <= set(names) else None
    return out | {key: key for key in ("fold", "repeat", "group") if key in names} | given
