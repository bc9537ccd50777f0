"""HELM: run folders with ``per_instance_stats.json``, and tables of items in its columns."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..data.predictions import Predictions
from ..docstrings import fill_with
from ..exceptions import InputError, invalid
from ._items import TEXTS, Item, Missing, Paths, as_score, files_of, from_items, one_of, read_json, reading

# Names that columns have, the most usual first.
_MODEL = ("model", "model_name", "model_deployment", "system")
_ITEM = ("instance_id", "id", "item", "sample_id", "question_id")
_REPEAT = ("train_trial_index", "trial", "epoch", "repeat", "seed")

_KIND = "a run of HELM"
_document = fill_with(TEXTS)


@_document
def read_helm(
    paths: Paths, *, metric: str | None = None, group: str | None = None, missing: Missing = "refuse"
) -> Predictions:
    """Scores of single instances from HELM, or from a csv with one row for each model and item.

    Parameters
    ----------
    paths : path or sequence of paths
        Run folders of HELM, a folder of run folders, or a .csv (or .csv.gz) with columns such as model, instance_id,
        train_trial_index and the scores.
    metric : str or None
        The score, such as ``"exact_match"``; greater is better. None if a table has one column of numbers only.
    {group}
        It is a column of the table; run folders do not tell groups.
    {missing}
    Returns: {predictions}

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import outfold as of
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "items.csv"
    >>> _ = path.write_text("model,instance_id,exact_match\\nsmall,a,1\\nsmall,b,0\\nlarge,a,1\\nlarge,b,1\\n")
    >>> of.adapters.read_helm(path).leaderboard("mean").configs
    ('large', 'small')
    """
    with reading(paths, "runs of HELM or a table of items"):
        found = files_of(paths, "per_instance_stats.json", "run of HELM")
        if any(path.suffix == ".json" for path in found):
            if group is not None:
                raise invalid("group", "is a column of a table", "run folders of HELM do not tell groups")
            return from_items(_from_runs(found, metric or "exact_match"), "HELM", missing)
        rows = [row for path in found for row in _table(path)]
        return from_items(_from_table(rows, metric, group), "csv", missing)


def _from_runs(files: list[Path], metric: str) -> Iterator[Item]:
    for path in files:
        with reading(path, _KIND):
            adapter = read_json(path.with_name("run_spec.json"), _KIND).get("adapter_spec", {})
            model = str(adapter.get("model") or adapter.get("model_deployment") or path.parent.name)
            yield from _from_run(model, read_json(path, _KIND), metric)


def _from_run(model: str, instances: list[Any], metric: str) -> Iterator[Item]:
    for instance in instances:
        if instance.get("perturbation"):  # another version of the same instance
            continue
        stats = [stat for stat in instance["stats"] if stat["name"]["name"] == metric and stat.get("count", 1)]
        for stat in stats[:1]:
            score, repeat = as_score(stat.get("mean"), f"the score {metric!r}"), instance.get("train_trial_index", 0)
            yield Item(model, str(instance["instance_id"]), score, int(repeat))


def _table(path: Path) -> list[dict[str, Any]]:
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with reading(path, "a table of items"), opener(path, "rt", encoding="utf-8-sig", newline="") as lines:
        table = csv.DictReader(lines, restval="")  # a cell that is not there is empty
        rows = []
        for row in table:
            if None in row:
                given = f"line {table.line_num} has more cells than the first line has names"
                raise invalid(path.name, "must have a name for each column", given)
            rows.append(row)
        return rows


def _from_table(rows: list[dict[str, Any]], metric: str | None, group: str | None) -> Iterator[Item]:
    columns = list(rows[0]) if rows else []
    model, item = (_column(columns, names) for names in (_MODEL, _ITEM))
    repeat = next((name for name in _REPEAT if name in columns), None)
    known = {model, item, repeat, group}
    numbers = [name for name in columns if name not in known and all(_is_number(row[name]) for row in rows)]
    score = one_of(metric, [metric] if metric in columns else numbers, "metric", "columns of numbers")
    if group is not None and group not in columns:
        raise invalid("group", f"must be one of the columns {', '.join(columns)}", f"got {group!r}")
    epochs = {text: at for at, text in enumerate(sorted({row[repeat] for row in rows}))} if repeat else {}
    for row in rows:
        if row[score]:
            at = epochs[row[repeat]] if repeat else 0
            yield Item(row[model], row[item], _number(row[score], score), at, None if group is None else row[group])


def _column(columns: list[str], names: tuple[str, ...]) -> str:
    found = next((name for name in names if name in columns), None)
    if found is None:
        problem = f"the table has no column {' or '.join(map(repr, names))}; its columns are {', '.join(columns)}"
        raise InputError(problem, remedy="Rename a column, or use `of.read` and name the columns.")
    return found


def _is_number(text: str) -> bool:
    try:
        _number(text or "0", "")  # an empty cell is a missing score
    except InputError:
        return False
    return True


_WORDS: Mapping[str, float] = {"true": 1.0, "false": 0.0}


def _number(text: str, column: str) -> float:
    try:
        return _WORDS[text.lower()] if text.lower() in _WORDS else float(text)
    except ValueError:
        raise InputError(f"column {column!r} must hold numbers; it holds {text!r}.") from None
