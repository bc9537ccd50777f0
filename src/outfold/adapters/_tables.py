"""Prediction tables of R: mlr3 and tidymodels, as .csv or .parquet."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.predictions import Predictions
from ..docstrings import fill_with
from ..exceptions import InputError, invalid
from ..formatting import make_frame
from ..io.convert import from_frame
from ..io.tables import read_table, uniform
from ._items import one_of, reading

Columns = dict[str, NDArray[Any]]

# Columns of tidymodels that are neither the outcome nor a tuned parameter, beside those that begin with a dot.
_NO_PARAMETERS = ("id", "id2", "wflow_id", "preproc", "model")

_document = fill_with(
    {
        "path": "path : path\n    The table as .csv, .csv.gz or .parquet.",
        "options": "**options\n    Options of `from_frame`, such as `positive`.",
        "files": (
            ">>> import pathlib, tempfile\n>>> import outfold as of\n"
            ">>> path = pathlib.Path(tempfile.mkdtemp()) / 'table.csv'"
        ),
    }
)


@_document
def read_mlr3(path: str | Path, *, task: str | None = None, **options: Any) -> Predictions:
    """Predictions of mlr3: ``as.data.table`` of each prediction of a resampling or benchmark, below each other.

    The columns are those of mlr3: ``row_ids``, ``truth``, ``response`` and ``prob.<class>``; beside them ``iteration`` for the
    split and ``learner_id`` for the learner, where there are several. Iterations that hold out all rows once make one repeat.

    Parameters: {path}
    task : str or None
        The task, if a column ``task_id`` names several.
    {options}
    Returns: {predictions}
    Examples: {files}
    >>> rows = ["row_ids,truth,response,iteration", "1,a,a,1", "2,b,a,1", "3,a,a,2", "4,b,b,2"]
    >>> _ = path.write_text("\\n".join(rows))
    >>> oof = of.adapters.read_mlr3(path)
    >>> oof.n_folds, oof.scores("accuracy")[0, 0].tolist()
    (2, [0.5, 1.0])
    """
    with reading(path, "predictions of mlr3"):
        table, empty = _columns(path)
        _need(table, ("row_ids", "truth"), "mlr3", path)
        _need_all_values("truth", empty)
        if "task_id" in table:
            tasks = table["task_id"].astype(str)
            chosen = tasks == one_of(task, list(dict.fromkeys(tasks.tolist())), "task", "tasks")
            table = {name: values[chosen] for name, values in table.items()}
        elif task is not None:
            raise invalid("task", "needs a column task_id", "the table has none")
        learner = next((name for name in ("learner_id", "learner") if name in table), None)
        split = next((name for name in ("iteration", "iter", "fold") if name in table), None)
        out = {"sample": table["row_ids"], "label": table["truth"]}
        out["config"] = np.full(len(table["truth"]), "model") if learner is None else table[learner].astype(str)
        if split is not None:
            out["repeat"], out["fold"] = _repeats(out["sample"], table[split])
        classes = [name for name in table if name.startswith("prob.")]
        columns = _named_columns(table, out, classes, "response")
    return from_frame(make_frame(dict(out)), **{**columns, **options})


@_document
def read_tidymodels(path: str | Path, *, label: str | None = None, **options: Any) -> Predictions:
    """Predictions of tidymodels: what ``collect_predictions`` gives for ``fit_resamples``, ``tune_grid`` or a workflow set.

    The columns are those of tune: ``.row``, ``id`` (and ``id2`` for repeats), ``.config``, ``.pred``, ``.pred_class`` or
    ``.pred_<class>``, the outcome and the tuned parameters. Call the R functions with ``save_pred = TRUE``.

    Parameters: {path}
    label : str or None
        The column of the outcome. By default the only one that varies within a configuration.
    {options}
    Returns: {predictions}
    Examples: {files}
    >>> rows = [".pred,id,.row,cost,y,.config", "1.5,Fold1,1,10,1.2,Model1", "2.0,Fold2,2,10,2.2,Model1"]
    >>> _ = path.write_text("\\n".join(rows))
    >>> oof = of.adapters.read_tidymodels(path)
    >>> oof.configs, oof.params
    (('Model1',), ({'cost': 10},))
    """
    with reading(path, "predictions of tidymodels"):
        table, empty = _columns(path)
        _need(table, (".row", "id"), "tidymodels", path)
        names = np.full(len(table[".row"]), "model")
        parts = [table[name].astype(str) for name in ("wflow_id", ".config") if name in table]
        if parts:
            names = np.array([" ".join(words) for words in zip(*parts, strict=True)])
        others = [name for name in table if not name.startswith(".") and name not in _NO_PARAMETERS]
        outcome = label or _outcome(table, others, names)
        if outcome not in table:
            raise invalid("label", f"must be one of the columns {', '.join(table)}", f"got {outcome!r}")
        _need_all_values(outcome, empty)
        out = {"sample": table[".row"], "label": table[outcome], "config": names}
        if "id2" in table:
            out |= {"repeat": table["id"].astype(str), "fold": table["id2"].astype(str)}
        else:
            out["repeat"], out["fold"] = _repeats(out["sample"], table["id"])
        classes = [f".pred_{name}" for name in np.unique(table[outcome].astype(str)) if f".pred_{name}" in table]
        columns = _named_columns(table, out, classes, ".pred" if ".pred" in table else ".pred_class")
    oof = from_frame(make_frame(dict(out)), **{**columns, **options})
    varied = {name: table[name] for name in others if name != outcome}
    first = [int(np.argmax(names == name)) for name in oof.configs]
    params = [{name: values[at : at + 1].tolist()[0] for name, values in varied.items()} for at in first]
    return replace(oof, params=tuple(params))


def _named_columns(table: Columns, out: Columns, classes: list[str], single: str) -> dict[str, Any]:
    """The arguments of `from_frame` that name the columns of `out`, to which the predictions of the table are added."""
    prediction: str | list[str] = "prediction"
    values = False
    if classes:
        prediction = classes
        out |= {name: table[name] for name in classes}
        if single in table and np.isin(table[single].astype(str), out["label"].astype(str)).all():
            out["predicted_label"] = table[single]
    elif single in table:
        out["prediction"] = table[single]
        # What is no label was predicted by a regression, also where its labels are whole numbers.
        if table[single].dtype.kind in "iuf" and out["label"].dtype.kind in "iuf":
            values = single == ".pred" or not np.isin(table[single], out["label"]).all()
    else:
        raise InputError(f"the table has no predictions in a column {single!r}; its columns are {', '.join(table)}.")
    named: dict[str, Any] = {name: name for name in ("sample", "config", "label", "fold", "repeat") if name in out}
    return {**named, "prediction": prediction} | ({"response": "value"} if values else {})


def _outcome(table: Columns, others: list[str], names: NDArray[Any]) -> str:
    """The column that varies within a configuration: tuned parameters do not."""
    one = names == names[0]
    varying = [name for name in others if len(np.unique(table[name][one])) > 1]
    if len(varying) != 1:
        given = f"{', '.join(varying) or 'none'} vary within a configuration"
        raise invalid("label", "must name the column of the outcome", given)
    return varying[0]


def _repeats(samples: NDArray[Any], split: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Repeat and split of each row: splits go to one repeat as long as they hold out different samples, if these are all samples.

    Splits that overlap, such as bootstrap rounds, are repeats of their own.
    """
    names = sorted(set(split.tolist()), key=_number_in)
    held = {name: set(samples[split == name].tolist()) for name in names}
    everything = set(samples.tolist())
    repeats: list[list[Any]] = []
    seen = everything
    for name in names:
        if seen & held[name]:
            repeats.append([])
            seen = set()
        repeats[-1].append(name)
        seen = seen | held[name]
    if any(set().union(*(held[name] for name in part)) != everything for part in repeats):
        repeats = [[name] for name in names]
    repeat_of = {name: at for at, part in enumerate(repeats) for name in part}
    return np.array([repeat_of[name] for name in split.tolist()]), split


def _number_in(name: Any) -> tuple[int, str]:
    found = re.search(r"\d+", str(name))
    return (int(found[0]) if found else 0, str(name))


def _columns(path: str | Path) -> tuple[Columns, set[str]]:
    """The columns of a table, and the names of those that have empty cells, which become words here."""
    import narwhals as nw

    frame = nw.from_native(read_table(Path(path)), eager_only=True)
    empty = {name for name in frame.columns if frame[name].is_null().any()}
    return {name: uniform(frame[name].to_numpy()) for name in frame.columns}, empty


def _need_all_values(name: str, empty: set[str]) -> None:
    if name in empty:
        raise InputError(
            f"column {name!r} has no value in some rows; each row needs one", remedy="Leave these rows out."
        )


def _need(table: Columns, names: tuple[str, ...], tool: str, path: str | Path) -> None:
    lacking = [name for name in names if name not in table]
    if lacking:
        problem = (
            f"{Path(path).name} has no column {' or '.join(map(repr, lacking))}; its columns are {', '.join(table)}"
        )
        raise InputError(problem, remedy=f"Write the table that {tool} gives, or use `of.read` and name the columns.")
