"""Which metric is meant by a name, a scorer or a function: a fast built-in one wherever it is the same."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from numbers import Real
from typing import Any

from ..data.target import Task
from ..exceptions import InputError
from . import _builtin as builtin
from ._calls import from_scorer, is_loss, make, scorer_response
from ._definition import Metric, MetricLike
from ._reference import ScikitLearn

__all__ = ["get"]


def get(metric: MetricLike, task: Task | None = None) -> Metric:
    """The metric that is meant, checked against the task if one is given.

    Parameters
    ----------
    metric
        A name of ``names()``, a scikit-learn scorer name or scorer, a function ``f(y, prediction)`` that may
        also take ``sample_weight``, or a Metric. ``f2`` and ``f0.5`` are F scores, and so is f with any number.
    task
        The task of the predictions. ``roc_auc`` of more than two classes is ``roc_auc_ovr``.

    Returns
    -------
    Metric
        Built-in metrics are fast, and stand in for scorers and functions of scikit-learn that are the same;
        other functions run in a loop.

    Raises
    ------
    InputError
        The name is unknown, or the metric is not defined for the task.

    Examples
    --------
    >>> get("log_loss").greater_is_better
    False
    >>> get("neg_log_loss").greater_is_better
    True
    """
    found = _find(metric, task)
    if task is not None and task not in found.tasks:
        raise InputError(_wrong_task(found, task))
    return found


def _find(metric: MetricLike, task: Task | None) -> Metric:
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        return _by_name(metric, task)
    if hasattr(metric, "_score_func"):
        return _same_scorer(metric, task) or from_scorer(metric, task)
    if callable(metric):
        found = _same_function(metric, {}, task)
        fits = found is not None and (task is None or task in found.tasks)
        return found if found is not None and fits else make(metric, greater_is_better=not is_loss(metric))
    raise InputError(f"a metric is a name, a function, a scikit-learn scorer or a Metric; got {metric!r}.")


def _by_name(name: str, task: Task | None) -> Metric:
    found = builtin.named(name, task)
    if found is not None:
        return found
    from sklearn.metrics import get_scorer, get_scorer_names

    scorers = get_scorer_names()
    if name in scorers:
        return from_scorer(get_scorer(name), task, name)
    known = [*builtin.REGISTRY, *builtin.MINUS, *scorers]
    begin = [other for other in known if len(name) > 2 and other.startswith(name.lower())]
    close = begin or difflib.get_close_matches(name.lower(), known, n=1)
    if close:
        raise InputError(
            f"unknown metric {name!r}; did you mean {close[0]!r}? metrics.names() lists all, and scikit-learn's scorer "
            "names work too."
        )
    raise InputError(
        f"unknown metric {name!r}. Use one of {', '.join(builtin.REGISTRY)}, or a name of scikit-learn's scorers."
    )


def _wrong_task(metric: Metric, task: Task) -> str:
    macro = f"{metric.name}_macro"
    if task == "multiclass" and builtin.named(macro) is not None:
        return (
            f"{metric.name} is of one positive class; this task is multiclass. Use {macro}, the mean over the classes."
        )
    tasks = " or ".join(sorted(metric.tasks))
    fitting = ", ".join(m.name for m in builtin.REGISTRY.values() if task in m.tasks)
    given = (
        "there are no labels (`label=`), so these are per-sample scores"
        if task == "pointwise"
        else f"this task is {task}"
    )
    return f"{metric.name} is for {tasks}; {given}. Use one of {fitting}."


# -- scikit-learn's scorers and functions that are built-in metrics -------------------------------------

_Key = tuple[str, frozenset[tuple[str, Any]]]

# Functions with the option pos_label whose kernels work for either of two classes.
_OF_ONE_CLASS = frozenset({"f1_score", "fbeta_score", "jaccard_score", "precision_score", "recall_score"})


def _same_scorer(scorer: Any, task: Task | None) -> Metric | None:
    """The built-in metric with the function, the options, the sign and the response of a scorer."""
    found = _same_function(scorer._score_func, scorer._kwargs, task)
    if found is None or found.sign != scorer._sign:
        return None
    response = scorer_response(scorer, task)
    if found.needs == "score" and response == "proba":
        # An area of probabilities; margins of the same models may rank otherwise over folds.
        found = replace(found, needs=response)
    if found.needs != response:
        return None
    if found.greater_is_better:
        return found
    theirs = next((name for name, ours in builtin.MINUS.items() if ours == found.name), f"neg_{found.name}")
    return builtin.minus(found, theirs)


def _same_function(function: Any, options: Mapping[str, Any], task: Task | None) -> Metric | None:
    """The built-in metric that is this function of scikit-learn with these options."""
    if isinstance(function, partial) and not function.args:
        function, options = function.func, {**function.keywords, **options}
    if not (getattr(function, "__module__", None) or "").startswith("sklearn.metrics"):
        return None
    name = getattr(function, "__name__", "")
    labelled = name in _OF_ONE_CLASS and options.get("average", "binary") == "binary" and "pos_label" in options
    key = _key(function, {k: v for k, v in options.items() if k != "pos_label"} if labelled else options)
    found = None if key is None else _table().get(key) or _f_score(key)
    if found is None:
        return None
    if labelled:
        return builtin.of_class(found, options["pos_label"])
    return builtin.named(found.name, task) or found


def _key(function: Any, options: Mapping[str, Any]) -> _Key | None:
    """The function's name with the options that are not its defaults; None where that does not tell it."""
    import sklearn.metrics

    name = function.__name__
    if not hasattr(sklearn.metrics, name) or getattr(sklearn.metrics, name) is not function:
        return None
    defaults = {name: p.default for name, p in inspect.signature(function).parameters.items()}
    kept = set()
    for option, value in options.items():
        if not (value is None or isinstance(value, str | Real)):
            return None
        # The default of zero_division is to warn and take 0; averages over classes have no positive one.
        same = value == (0 if option == "zero_division" else defaults.get(option, inspect.Parameter.empty))
        if not (same or (option == "pos_label" and value is None)):
            kept.add((option, value))
    return name, frozenset(kept)


@cache
def _table() -> dict[_Key, Metric]:
    """The built-in metrics by their function of scikit-learn."""
    from sklearn.metrics import get_scorer

    table: dict[_Key, Metric] = {("hamming_loss", frozenset()): builtin.REGISTRY["error"]}
    for metric in builtin.REGISTRY.values():
        if isinstance(metric.reference, ScikitLearn):
            table[metric.reference.function, frozenset(metric.reference.options.items())] = metric
    for theirs, ours in builtin.SAME.items():
        scorer = get_scorer(theirs)
        key = _key(scorer._score_func, scorer._kwargs)
        assert key is not None
        table[key] = builtin.REGISTRY[ours]
    return table


def _f_score(key: _Key) -> Metric | None:
    function, kept = key
    options = dict(kept)
    beta, average = options.pop("beta", None), options.pop("average", "binary")
    if function != "fbeta_score" or options or not isinstance(beta, Real) or not 0 < float(beta) < float("inf"):
        return None
    return builtin.f_metric(float(beta), average) if average in ("binary", "macro", "weighted") else None
