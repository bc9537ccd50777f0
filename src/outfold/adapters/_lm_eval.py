"""lm-evaluation-harness: ``samples_*.jsonl`` (``--log_samples``) and ``results_*.json``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from ..data.predictions import Predictions
from ..docstrings import fill_with
from ..exceptions import InputError, got, invalid
from ..formatting import listed
from ._items import (
    TEXTS,
    Item,
    Missing,
    Paths,
    as_score,
    files_of,
    from_items,
    inside,
    number_in,
    one_of,
    read_json,
    read_lines,
    reading,
)

_KIND = "samples of lm-evaluation-harness"
_RESULTS = "results of lm-evaluation-harness"
# One score for all tasks, or one for each.
TaskMetric: TypeAlias = str | Mapping[str, str] | None
# The scores of a task by metric and filter, and those of several tasks.
Scores: TypeAlias = dict[str, float]
TaskScores: TypeAlias = dict[str, Scores]
_NAME = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[\d.:-]+")

_document = fill_with(TEXTS)


@_document
def read_lm_eval(
    paths: Paths | Mapping[str, Paths],
    *,
    task: str | None = None,
    metric: str | None = None,
    filter: str | None = None,
    group: str | None = None,
    missing: Missing = "refuse",
) -> Predictions:
    """Scores of single items from lm-evaluation-harness, which writes them with ``--log_samples``.

    Parameters
    ----------
    paths : path, sequence of paths, or dict of str to these
        The output folder of the harness, or files ``samples_*.jsonl`` of several models. By default a model has the name that its
        folder's results tell. A dict names the models (or prompts) itself; several files of one name and one task are epochs.
    task : str or None
        The task; None reads all tasks that are there. If there are several, items are named by task and number.
    metric : str or None
        Which score of an item to read, such as ``"acc"``; greater is better. None if there is only one.
    filter : str or None
        Which filter of the answers, such as ``"strict-match"``. None if there is only one.
    {group}
        It is a key of the document: ``"passage_id"``.
    {missing}
    Returns: {predictions}

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import outfold as of
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for model, right in {"small": [1, 0, 0], "large": [1, 1, 0]}.items():
    ...     rows = [{"doc_id": i, "doc": {}, "filter": "none", "metrics": ["acc"], "acc": r} for i, r in enumerate(right)]
    ...     lines = "\\n".join(map(json.dumps, rows))
    ...     _ = (folder / f"{model}.jsonl").write_text(lines)
    >>> logs = {name: folder / f"{name}.jsonl" for name in ("small", "large")}
    >>> of.adapters.read_lm_eval(logs).leaderboard("mean").configs
    ('large', 'small')
    """
    with reading(paths, _KIND):
        rows = list(_rows(paths, task))
        metric = one_of(metric, _metrics(rows, metric), "metric", "scores")
        filters = sorted({str(line.get("filter", "none")) for *_, line in rows if metric in line})
        chosen = one_of(filter, filters, "filter", "filters")
        items, models = _items(rows, metric, chosen, group, _named(paths, rows)), [model for model, *_ in rows]
        return from_items(items, models, "lm-evaluation-harness", missing)


def _named(paths: Paths | Mapping[str, Paths], rows: list[Any]) -> bool:
    """Whether items get the names of their tasks; whoever names prompts may have written each one as a task."""
    pairs = {(model, task) for model, task, _, _ in rows}
    models, tasks = ({pair[i] for pair in pairs} for i in (0, 1))
    return len(pairs) > len(models) if isinstance(paths, Mapping) else len(tasks) > 1


def _metrics(rows: list[Any], wanted: str | None) -> list[str]:
    """The scores that the lines list; some logs list none, so a key of the lines counts too if you ask for it."""
    if wanted is not None and any(wanted in line for *_, line in rows):
        return [wanted]
    return sorted({name for *_, line in rows for name in line.get("metrics") or ()})


def _items(rows: list[Any], metric: str, chosen: str, group: str | None, named: bool) -> Iterator[Item]:
    for model, task, repeat, line in rows:
        if str(line.get("filter", "none")) != chosen or metric not in line:
            continue
        item = f"{task}:{line['doc_id']}" if named else str(line["doc_id"])
        cluster = None if group is None else inside(line.get("doc"), group)
        if group is not None and cluster is None:
            raise invalid("group", "must be a key of every document", f"item {item} has no {group!r}")
        yield Item(model, item, _score(line[metric], metric), repeat, cluster)


def _score(value: Any, metric: str) -> float:
    """A score; the harness writes NumPy's own numbers as text, such as "0.5" or "True"."""
    if value in ("True", "False"):
        return float(value == "True")
    if isinstance(value, str):
        with suppress(ValueError):
            return number_in(value)
    return as_score(value, f"the score {metric!r}")


def _rows(paths: Paths | Mapping[str, Paths], wanted: str | None) -> Iterator[tuple[str, str, int, dict[str, Any]]]:
    """Model, task, epoch and content of every line."""
    seen: dict[tuple[str, str], int] = {}
    for model, path in _files(paths):
        task = _task_of(path)
        if wanted is not None and task not in (wanted, path.stem):
            continue
        repeat = seen.get((model, task), 0)
        if repeat and not isinstance(paths, Mapping):
            remedy = "Give one of them; or name them in a dict: several files of one name are epochs of that model."
            raise InputError(f"{model!r} has several logs of the task {task!r}, such as {path.name}", remedy=remedy)
        seen[model, task] = repeat + 1
        for line in read_lines(path, _KIND):
            if not isinstance(line, dict) or "doc_id" not in line:
                needed = "must hold samples of lm-evaluation-harness, which have a doc_id"
                raise invalid(path.name, needed, "a line has none", "Run the harness with `--log_samples`.")
            yield model, task, repeat, line
    if not seen:
        raise invalid("task", "must be one of the tasks that the files are of", f"got {wanted!r}")


def _files(paths: Paths | Mapping[str, Paths]) -> Iterator[tuple[str, Path]]:
    if isinstance(paths, Mapping):
        for name, given in paths.items():
            for path in files_of(given, "samples_*.jsonl", _KIND):
                yield name, path
    else:
        models: dict[Path, str | None] = {}
        for path in files_of(paths, "samples_*.jsonl", _KIND):
            folder = path.parent
            if folder not in models:
                models[folder] = _model_in(folder)
            # The harness writes / as two underscores in the name of a folder.
            yield models[folder] or folder.name.replace("__", "/") or path.stem, path


def _task_of(path: Path) -> str:
    found = _NAME.fullmatch(path.stem)
    return found[1] if found else "task"


def _model_in(folder: Path) -> str | None:
    """The model that the results in a folder name, if there are any."""
    for path in sorted(folder.glob("results_*.json")):
        with reading(path, _RESULTS):
            name = read_json(path, _RESULTS).get("model_name")
        if name:
            return str(name)
    return None


def read_lm_eval_results(paths: Paths | Mapping[str, Paths], *, metric: TaskMetric = None) -> dict[str, list[Any]]:
    """Scores of whole tasks from lm-evaluation-harness: a table for `rank`, with one row for each task.

    Groups of tasks, such as ``mmlu``, are left out: their scores are means of tasks that have rows of their own.

    Parameters
    ----------
    paths : path, sequence of paths, or dict of str to path
        The output folder of the harness, or its files ``results_*.json`` of several models. A dict names the models.
    metric : str, dict of str to str, or None
        The score, such as ``"acc"`` or ``"exact_match,strict-match"``. None if there is only one. Where tasks have different
        scores, a dict names that of each task: ``{"arc": "acc", "gsm8k": "exact_match,strict-match"}``. Tasks that the dict
        does not name are left out.

    Returns
    -------
    dict
        Columns: ``task``, and the scores of each model. Functions of `outfold.rank` take it.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import outfold as of
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> results = {"arc": {"acc,none": 0.6}, "piqa": {"acc,none": 0.7}}
    >>> _ = (folder / "results_small.json").write_text(json.dumps({"model_name": "small", "results": results}))
    >>> of.adapters.read_lm_eval_results(folder)
    {'task': ['arc', 'piqa'], 'small': [0.6, 0.7]}
    """
    by_model: dict[str, TaskScores] = {}
    given: dict[Any, Paths] = dict(paths) if isinstance(paths, Mapping) else {None: paths}
    with reading(paths, _RESULTS):
        files = [(name, path) for name, part in given.items() for path in files_of(part, "results_*.json", _RESULTS)]
    for name, path in files:
        with reading(path, _RESULTS):
            content = read_json(path, _RESULTS)
            model = str(name or content.get("model_name") or path.parent.name.replace("__", "/"))
            groups = {group for group, tasks in (content.get("group_subtasks") or {}).items() if tasks}
            results = {task: found for task, found in content.get("results", {}).items() if task not in groups}
            own = {task: _scores_of(found) for task, found in results.items()}
        if model in by_model:
            raise InputError(f"there are several results of {model!r}, such as {path.name}", remedy="Give one of them.")
        by_model[model] = own
    scores = _one_score(by_model, metric)
    tasks = list(dict.fromkeys(task for found in scores.values() for task in found))
    if not tasks:
        raise InputError("the results hold no task.")
    return {"task": tasks} | {
        model: [found.get(task, float("nan")) for task in tasks] for model, found in scores.items()
    }


def _scores_of(found: Mapping[str, Any]) -> Scores:
    """The scores of a task; the harness writes ``metric,filter``, and standard errors beside it."""
    return {
        key: float(value)
        for key, value in found.items()
        if "," in key and "_stderr" not in key and isinstance(value, (int, float))
    }


def _chosen(scores: Scores, metric: str | None) -> list[float]:
    """The scores of this name, with any filter where it names none; all of them without a name."""
    return [value for key, value in scores.items() if metric in (None, key, key.partition(",")[0])]


def _one_score(by_model: Mapping[str, TaskScores], metric: TaskMetric) -> dict[str, dict[str, float]]:
    """The score of each task for each model, where `metric` names exactly one."""
    tasks: TaskScores = {}
    for of_model in by_model.values():
        tasks |= of_model
    asked = dict(metric) if isinstance(metric, Mapping) else dict.fromkeys(tasks, metric)
    absent = [task for task in asked if task not in tasks]
    if absent:
        raise invalid("metric", "must name tasks of the results", f"there is no task {absent[0]!r}")
    chosen = {
        model: {task: _chosen(scores, asked[task]) for task, scores in of_model.items() if task in asked}
        for model, of_model in by_model.items()
    }
    if any(len(values) != 1 for of_model in chosen.values() for values in of_model.values()):
        raise _unclear(tasks, metric)
    return {model: {task: value for task, (value,) in of_model.items()} for model, of_model in chosen.items()}


def _unclear(tasks: TaskScores, metric: TaskMetric) -> InputError:
    """What to say where not every task has the score, or one has several: which task has which."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for task, scores in tasks.items():
        alike.setdefault(tuple(scores), []).append(task)
    which = "; ".join(f"{listed(names)}: {', '.join(scores) or 'none'}" for scores, names in alike.items())
    example = {names[0]: scores[0] for scores, names in alike.items() if scores}
    remedy = f"A dict names the score of each task, and leaves out all other tasks: `metric={example}`."
    return invalid("metric", f"must name one of the scores that each task has ({which})", got(metric), remedy)
