"""HELM: run folders with ``per_instance_stats.json``, and tables of items in its columns."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..data.predictions import Predictions
from ..docstrings import fill_with
from ..exceptions import InputError, invalid
from ..io.untrusted import check_csv, refuse_special
from ._items import TEXTS, Item, Missing, Paths, as_score, files_of, from_items, number_in, one_of, read_json, reading

# Names that columns have, the most usual first.
_MODEL = ("model", "model_name", "model_deployment", "system")
_ITEM = ("instance_id", "id", "item", "sample_id", "question_id")
_REPEAT = ("train_trial_index", "trial", "epoch", "repeat", "seed")

_KIND = "a run of HELM"
# A run is called "scenario:argument=value,...,model=..."; the model may also be the first argument.
_MODEL_IN_NAME = re.compile(r"[:,]model(_deployment)?=[^,]*")
_document = fill_with(TEXTS)


@_document
def read_helm(
    paths: Paths,
    *,
    metric: str | None = None,
    task: str | None = None,
    group: str | None = None,
    missing: Missing = "refuse",
) -> Predictions:
    """Scores of single instances from HELM, or from a csv with one row for each model and item.

    Parameters
    ----------
    paths : path or sequence of paths
        Run folders of HELM, a folder of run folders, or a .csv (or .csv.gz) with columns such as model, instance_id,
        train_trial_index and the scores.
    metric : str or None
        The score, such as ``"exact_match"``; greater is better. None if a table has one column of numbers only.
    task : str or None
        For run folders: the scenario to read, such as ``"mmlu"`` or ``"mmlu:subject=anatomy"``; None for all. If there are
        several, items are named by scenario and number.
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
            runs = _runs(found, task)
            return from_items(_from_runs(runs, metric or "exact_match"), [run.model for run in runs], "HELM", missing)
        if task is not None:
            raise invalid("task", "is for run folders of HELM", "this is a table")
        rows = [row for path in found for row in _table(path)]
        model = _column(list(rows[0]) if rows else [], _MODEL)
        return from_items(_from_table(rows, model, metric, group), [row[model] for row in rows], "csv", missing)


class _Run(NamedTuple):
    """A run folder: its file of scores, its model, and its scenario, which is the name of the run without the model."""

    path: Path
    model: str
    scenario: str

    @classmethod
    def of(cls, path: Path) -> _Run:
        with reading(path, _KIND):
            spec = read_json(path.with_name("run_spec.json"), _KIND)
            adapter = spec.get("adapter_spec", {})
            model = str(adapter.get("model") or adapter.get("model_deployment") or path.parent.name)
            return cls(path, model, _MODEL_IN_NAME.sub("", str(spec.get("name", "run"))))

    def is_of(self, task: str) -> bool:
        """Whether the scenario has this name, or begins with it."""
        return self.scenario == task or self.scenario.startswith((f"{task}:", f"{task},"))


def _runs(files: list[Path], wanted: str | None) -> list[_Run]:
    runs = [_Run.of(path) for path in files]
    kept = [run for run in runs if wanted is None or run.is_of(wanted)]
    if not kept:
        there = ", ".join(sorted({run.scenario for run in runs}))
        raise invalid("task", f"must be one of the scenarios {there}", f"got {wanted!r}")
    return kept


def _from_runs(runs: list[_Run], metric: str) -> Iterator[Item]:
    several = len({run.scenario for run in runs}) > 1  # each scenario numbers its instances anew
    for run in runs:
        with reading(run.path, _KIND):
            yield from _from_run(run.model, f"{run.scenario}:" if several else "", read_json(run.path, _KIND), metric)


def _from_run(model: str, task: str, instances: list[Any], metric: str) -> Iterator[Item]:
    for instance in instances:
        if instance.get("perturbation"):  # another version of the same instance
            continue
        stats = [stat for stat in instance["stats"] if stat["name"]["name"] == metric and stat.get("count", 1)]
        for stat in stats[:1]:
            score, repeat = as_score(stat.get("mean"), f"the score {metric!r}"), instance.get("train_trial_index", 0)
            yield Item(model, f"{task}{instance['instance_id']}", score, int(repeat))


def _table(path: Path) -> list[dict[str, Any]]:
    refuse_special(path)
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with reading(path, "a table of items"), opener(path, "rt", encoding="utf-8-sig", newline="") as lines:
        check_csv(path)
        table = csv.DictReader(lines, restval="")  # a cell that is not there is empty
        rows = []
        for row in table:
            if None in row:
                given = f"line {table.line_num} has more cells than the first line has names"
                raise invalid(path.name, "must have a name for each column", given)
            rows.append(row)
        return rows


def _from_table(rows: list[dict[str, Any]], model: str, metric: str | None, group: str | None) -> Iterator[Item]:
    columns = list(rows[0])
    item = _column(columns, _ITEM)
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
        return _WORDS[text.lower()] if text.lower() in _WORDS else number_in(text)
    except ValueError:
        raise InputError(f"column {column!r} must hold numbers; it holds {text!r}.") from None
