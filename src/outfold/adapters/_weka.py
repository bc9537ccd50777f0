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
from ..exceptions import FileError, InputError, got, invalid
from ..io.untrusted import refuse_special
from ._fold_scores import scores_only, unknown_splits
from ._items import number_in, one_of, reading

_KIND = "results of WEKA's Experimenter"
_KEYS = ("Key_Dataset", "Key_Run", "Key_Scheme")
# Parts of the names of results that are better if they are smaller, and of those that are better if they are greater. "incorrect"
# holds "correct", so losses come first. Of other results, such as the size of a tree, only the user knows what is better.
_LOSSES = (
    *("error", "incorrect", "unclassified", "false_positive", "false_negative"),
    *("scheme_entropy", "elapsed_time", "cpu_time", "total_cost", "average_cost"),
)
_GAINS = (
    *("correct", "kappa", "correlation", "true_positive", "true_negative", "precision", "recall", "f_measure"),
    *("area_under", "entropy_gain", "kb_"),
)

_document = fill_with(
    {
        "path": "path : path or sequence of paths\n    Files of the Experimenter (.csv or .arff); several are read as one.",
        "metric": 'metric : str\n    The result to read, such as ``"Percent_correct"`` or ``"Area_under_ROC"``.',
    }
)


@_document
def read_weka(
    path: Any, *, dataset: str | None = None, metric: str = "Percent_correct", greater_is_better: bool | None = None
) -> Predictions:
    """Scores of folds on one data set from WEKA's Experimenter; it keeps no predictions.

    `estimate.tt`, `estimate.bbc_f` (of one run) and tests of fold scores such as `compare.t_corrected` take them. Errors and
    times get the prefix ``neg_`` and another sign, so that greater is better. WEKA does not tell which samples a fold held out;
    Outfold knows the sizes only.

    Parameters: {path}
    dataset : str or None
        The data set; None if there is only one.
    {metric}
    greater_is_better : bool or None
        Whether greater results are better; by default the name of the metric tells. You need it for results such as
        ``"measureTreeSize"``.
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
    with reading(path, _KIND):
        rows = _rows(path)
        there = list(dict.fromkeys(row["Key_Dataset"] for row in rows))
        chosen = one_of(dataset, there, "dataset", "data sets")
        _number(rows[0], metric)  # refuses a column that is not there
        sign = 1 if _greater_is_better(metric, greater_is_better) else -1
        return _scores([row for row in rows if row["Key_Dataset"] == chosen], metric, sign, chosen)


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
    with reading(path, _KIND):
        for row in _rows(path):
            found.setdefault((row["Key_Dataset"], row["scheme"]), []).append(_number(row, metric))
    datasets, schemes = (list(dict.fromkeys(key[i] for key in found)) for i in (0, 1))
    means = {key: float(np.mean(values)) for key, values in found.items()}
    columns = {scheme: [means.get((name, scheme), float("nan")) for name in datasets] for scheme in schemes}
    return {"dataset": datasets} | columns


def _scores(rows: list[dict[str, str]], metric: str, sign: int, dataset: str) -> Predictions:
    """The scores of one data set by scheme, run and fold."""
    name = metric if sign > 0 else f"neg_{metric}"
    schemes = list(dict.fromkeys(row["scheme"] for row in rows))
    splits = sorted({_split(row) for row in rows})
    values = np.full((len(schemes), len(splits)), np.nan)
    for row in rows:
        values[schemes.index(row["scheme"]), splits.index(_split(row))] = sign * _number(row, metric)
    drawn = _splits(rows, splits, values)
    return scores_only(schemes, {name: values}, drawn, selects=name, provenance={"source": "WEKA", "dataset": dataset})


def _split(row: dict[str, str]) -> tuple[int, int]:
    """Run and fold of a result."""
    return int(number_in(row["Key_Run"])), int(number_in(row.get("Key_Fold", "1")))


def _greater_is_better(metric: str, given: bool | None) -> bool:
    if isinstance(given, bool):
        return given
    if given is not None:
        raise invalid("greater_is_better", "must be True, False or None", got(given))
    name = metric.lower()
    if any(part in name for part in _LOSSES):
        return False
    if not any(part in name for part in _GAINS):
        remedy = (
            "Give `greater_is_better=False` for sizes and costs, else `greater_is_better=True`, or take another metric."
        )
        raise invalid(
            "metric", "must be a result of which Outfold knows whether greater is better", got(metric), remedy
        )
    return True


def _splits(rows: list[dict[str, str]], splits: list[tuple[int, int]], values: Any) -> Splits:
    """Splits of the right sizes: folds where results name them, else random test parts."""
    train, test = (_mean_size(rows, f"Number_of_{part}_instances") for part in ("training", "testing"))
    n, n_test = round(train + test), round(test)  # the mean of each part may end in .5, their sum is whole
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


def _mean_size(rows: list[dict[str, str]], column: str) -> float:
    sizes = [_number(row, column) for row in rows]
    for row, size in zip(rows, sizes, strict=True):
        if not size.is_integer():  # nor are ? and infinity
            given = f"it is {row[column]!r} for {row['scheme']} in run {row['Key_Run']}"
            raise invalid(column, "must be a whole number in every result", given, "Run the experiment again.")
    return float(np.mean(sizes))


def _number(row: dict[str, str], column: str) -> float:
    if column not in row:
        raise invalid("metric", f"must be one of the columns of results: {', '.join(row)}", f"got {column!r}")
    try:
        return number_in(row[column])
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
    _refuse_doubles(rows)
    return rows


def _refuse_doubles(rows: list[dict[str, str]]) -> None:
    """Two results in one place come from an experiment that ran twice, or from files that overlap."""
    seen = set()
    for row in rows:
        run, fold = _split(row)
        place = (row["Key_Dataset"], row["scheme"], run, fold)
        if place in seen:
            where = f"run {run}, fold {fold}" if "Key_Fold" in row else f"run {run}"
            problem = f"there are two results of {row['scheme']} on {row['Key_Dataset']} in {where}"
            raise InputError(problem, remedy="Give each file once, and only the results of one experiment.")
        seen.add(place)


def _file(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        raise FileError(f"there is no file {path}.")
    refuse_special(path)
    with reading(path, _KIND), path.open(encoding="utf-8", newline="") as lines:
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
