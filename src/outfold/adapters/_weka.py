"""WEKA: the results of the Experimenter, as .csv or .arff."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from ..data.plan import Plan
from ..data.predictions import Predictions
from ..data.splitting import NOT_HELD_OUT, Splits
from ..docstrings import fill_with
from ..exceptions import FileError, InputError, invalid
from ._fold_scores import scores_only, unknown_splits
from ._items import one_of

_KEYS = ("Key_Dataset", "Key_Run", "Key_Scheme")
# Parts of the names of results that are better if they are smaller.
_LOSSES = ("error", "incorrect", "elapsed", "time", "unclassified")

_document = fill_with(
    {
        "path": "path : path or sequence of paths\n    Files of the Experimenter (.csv or .arff); several are read as one.",
        "metric": 'metric : str\n    The result to read, such as ``"Percent_correct"`` or ``"Area_under_ROC"``.',
    }
)


@_document
def read_weka(path: Any, *, dataset: str | None = None, metric: str = "Percent_correct") -> Predictions:
    """Scores of folds on one data set from WEKA's Experimenter; it keeps no predictions.

    `estimate.tt`, `estimate.bbc_f` (of one run) and tests of fold scores such as `compare.t_corrected` take them. Errors and
    times get the prefix ``neg_`` and another sign, so that greater is better. WEKA does not tell which samples a fold held out;
    Outfold knows the sizes only.

    Parameters: {path}
    dataset : str or None
        The data set; None if there is only one.
    {metric}
    Returns: {predictions}

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import outfold as of
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "results.csv"
    >>> head = "Key_Dataset,Key_Run,Key_Fold,Key_Scheme,Number_of_training_instances,Number_of_testing_instances,Percent_correct"
    >>> rows = [f"iris,1,{k},{s},40,10,{90 + k + d}" for s, d in (("J48", 0), ("IBk", 2)) for k in range(1, 6)]
    >>> _ = path.write_text("\\n".join([head, *rows]))
    >>> of.adapters.read_weka(path).leaderboard().configs
    ('IBk', 'J48')
    """
    rows = _rows(path)
    there = list(dict.fromkeys(row["Key_Dataset"] for row in rows))
    chosen = one_of(dataset, there, "dataset", "data sets")
    rows = [row for row in rows if row["Key_Dataset"] == chosen]
    name, sign = _signed(metric)
    schemes = list(dict.fromkeys(row["scheme"] for row in rows))
    splits = list(dict.fromkeys((int(float(row["Key_Run"])), int(float(row.get("Key_Fold", 1)))) for row in rows))
    splits.sort()
    values = np.full((len(schemes), len(splits)), np.nan)
    for row in rows:
        at = splits.index((int(float(row["Key_Run"])), int(float(row.get("Key_Fold", 1)))))
        values[schemes.index(row["scheme"]), at] = sign * _number(row, metric)
    drawn = _splits(rows, splits, values)
    return scores_only(schemes, {name: values}, drawn, selects=name, provenance={"source": "WEKA", "dataset": chosen})


@_document
def read_weka_table(path: Any, *, metric: str = "Percent_correct") -> dict[str, list[Any]]:
    """Mean scores by data set and scheme from WEKA's Experimenter: a table for `rank`, with one row for each data set.

    Parameters: {path, metric}

    Returns
    -------
    dict
        Columns: ``dataset``, and the mean scores of each scheme. Functions of `outfold.rank` take it; for errors, give them
        ``greater_is_better=False``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import outfold as of
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "results.csv"
    >>> rows = ["Key_Dataset,Key_Run,Key_Scheme,Percent_correct", "iris,1,J48,94", "iris,2,J48,96", "wine,1,J48,90"]
    >>> _ = path.write_text("\\n".join(rows))
    >>> of.adapters.read_weka_table(path)
    {'dataset': ['iris', 'wine'], 'J48': [95.0, 90.0]}
    """
    found: dict[tuple[str, str], list[float]] = {}
    for row in _rows(path):
        found.setdefault((row["Key_Dataset"], row["scheme"]), []).append(_number(row, metric))
    datasets, schemes = (list(dict.fromkeys(key[i] for key in found)) for i in (0, 1))
    means = {key: float(np.mean(values)) for key, values in found.items()}
    columns = {scheme: [means.get((name, scheme), float("nan")) for name in datasets] for scheme in schemes}
    return {"dataset": datasets} | columns


def _signed(metric: str) -> tuple[str, int]:
    loss = any(part in metric.lower() for part in _LOSSES)
    return (f"neg_{metric}", -1) if loss else (metric, 1)


def _splits(rows: list[dict[str, str]], splits: list[tuple[int, int]], values: Any) -> Splits:
    """Splits of the right sizes: folds where results name them, else random test parts."""
    n_test = round(np.mean([_number(row, "Number_of_testing_instances") for row in rows]))
    n = round(np.mean([_number(row, "Number_of_training_instances") for row in rows])) + n_test
    runs = sorted({run for run, _ in splits})
    if "Key_Fold" in rows[0]:
        folds = len(splits) // len(runs)
        if splits != [(run, fold) for run in runs for fold in range(1, folds + 1)]:
            raise InputError("the results lack some folds of some runs", remedy="Run the experiment to its end.")
        return unknown_splits(n, folds, len(runs), {"scores": values})
    held = unknown_splits(n, 2, len(runs), {"scores": values}).folds
    order = np.argsort(held, axis=0, kind="stable")
    parts = np.where(order < n_test, 0, NOT_HELD_OUT).astype(np.int32)
    return Splits(Plan.repeated_holdout(len(runs), test=n_test / n, stratify=False), parts, None, ())


def _number(row: dict[str, str], column: str) -> float:
    if column not in row:
        raise invalid("metric", f"must be one of the columns of results: {', '.join(row)}", f"got {column!r}")
    try:
        return float(row[column])
    except ValueError:
        return float("nan")  # WEKA writes ? where a result is undefined


def _rows(path: Any) -> list[dict[str, str]]:
    """One dict for each result, with a name for each scheme: short where that tells the schemes apart."""
    paths = [Path(path)] if isinstance(path, (str, Path)) else [Path(part) for part in path]
    rows = [row for part in paths for row in _file(part)]
    for row in rows:
        lacking = [key for key in _KEYS if key not in row]
        if lacking:
            needed = "must hold results of WEKA's Experimenter"
            raise invalid(paths[0].name, needed, f"there is no column {lacking[0]}")
    options = {(row["Key_Scheme"], row.get("Key_Scheme_options", "")) for row in rows}
    alone = {scheme for scheme, _ in options if sum(other == scheme for other, _ in options) == 1}
    for row in rows:
        name = row["Key_Scheme"].removeprefix("weka.classifiers.")
        more = row.get("Key_Scheme_options", "")
        row["scheme"] = name if row["Key_Scheme"] in alone or not more else f"{name} {more}"
    return rows


def _file(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        raise FileError(f"there is no file {path}.")
    with path.open(encoding="utf-8", newline="") as lines:
        header: list[str] = []
        if path.suffix == ".arff":
            for line in lines:
                words = line.split()
                if words and words[0].lower() == "@attribute":
                    header.append(words[1].strip("'\""))
                if words and words[0].lower() == "@data":
                    break
        # WEKA puts texts with spaces between single quotes.
        reader = csv.reader(lines, quotechar="'", escapechar="\\", skipinitialspace=True)
        table = [row for row in reader if row and not row[0].startswith("%")]
    if not header and table:
        header, table = table[0], table[1:]
    return [dict(zip(header, row, strict=False)) for row in table]
