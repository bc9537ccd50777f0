"""Scorers of scikit-learn and the metrics that are the same: which fast one, of which positive class."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from .. import metrics
from ..data.target import Target
from ..exceptions import InputError

# What make_scorer can say and no name of a scorer does: function of sklearn.metrics, options, name of the metric. A line
# counts if there is such a metric.
_UNNAMED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("fbeta_score", {"beta": 0.5}, "f0.5"),
    ("fbeta_score", {"beta": 1}, "f1"),
    ("fbeta_score", {"beta": 2}, "f2"),
)
# Options that change nothing: which class is positive is asked apart, and 0 is what "warn" gives besides the warning.
_NO_MATTER: dict[str, tuple[Any, ...]] = {"zero_division": (0, "warn")}

_Key = tuple[Any, tuple[tuple[str, str], ...], int, str]


def fast_name(scorer: Any) -> str | None:
    """The name of the fast metric that a scorer of scikit-learn is, whatever its positive class; None for none."""
    function, options, sign, response = _key(scorer)
    found = _table().get((function, options, sign, response))
    if found is None and response == "predict_proba":  # what ranks by scores ranks by probabilities
        found = _table().get((function, options, sign, "decision_function"))
    return found


def response_methods(scorer: Any) -> tuple[str, ...]:
    """What the scorer calls of the model, the first there is."""
    method = scorer._response_method
    return (method,) if isinstance(method, str) else tuple(method)


@lru_cache(maxsize=1)
def _table() -> dict[_Key, str]:
    import sklearn.metrics
    from sklearn.metrics import get_scorer, get_scorer_names

    out: dict[_Key, str] = {}
    for name in get_scorer_names():
        if not metrics.get(name).looped:
            out.setdefault(_key(get_scorer(name)), name)
    for function, options, name in _UNNAMED:
        if name in metrics.names():
            out[_key(sklearn.metrics.make_scorer(getattr(sklearn.metrics, function), **options))] = name
    return out


def _key(scorer: Any) -> _Key:
    """What makes two scorers the same: defaults that are spelled out and the positive class do not tell them apart."""
    defaults = _defaults(scorer)
    options = {name: value for name, value in scorer._kwargs.items() if name != "pos_label"}
    told = {
        name: _text(value)
        for name, value in options.items()
        if _text(value) != _text(defaults.get(name)) and value not in _NO_MATTER.get(name, ())
    }
    return scorer._score_func, tuple(sorted(told.items())), scorer._sign, response_methods(scorer)[0]


def _text(value: Any) -> str:
    return repr(float(value)) if isinstance(value, (int, float)) and not isinstance(value, bool) else repr(value)


def _defaults(scorer: Any) -> Mapping[str, Any]:
    try:
        parameters = inspect.signature(scorer._score_func).parameters
    except (TypeError, ValueError):  # some compiled functions have no signature
        return {}
    return {name: p.default for name, p in parameters.items()}


# -- the positive class ---------------------------------------------------------------------------------


def positive_class(scorer: Any, target: Target) -> int | None:
    """Position of the class that a scorer takes as the positive one; None where it takes none, or the last anyway.

    As in scikit-learn, where a scorer that is told nothing takes the label 1.
    """
    if target.task != "binary" or target.classes is None or not hasattr(scorer, "_score_func"):
        return None
    told = {**_defaults(scorer), **scorer._kwargs}
    averaged = told.get("average", "binary") != "binary" and scorer._score_func.__name__ != "average_precision_score"
    if told.get("pos_label") is None or told["pos_label"] is inspect.Parameter.empty or averaged:
        return None
    found = np.flatnonzero([bool(c == told["pos_label"]) for c in target.classes])
    if len(found):
        return int(found[0])
    raise InputError(_no_such_class(scorer, told["pos_label"], target.classes.tolist()))


def _no_such_class(scorer: Any, asked: Any, classes: list[Any]) -> str:
    name = scorer._score_func.__name__
    options = {k: v for k, v in scorer._kwargs.items() if k not in ("pos_label", "average")}
    methods = response_methods(scorer)
    if methods != ("predict",):
        options["response_method"] = methods if len(methods) > 1 else methods[0]
    inside = "".join(f", {k}={v!r}" for k, v in options.items())
    return (
        f"{name} takes {asked!r} as the positive label; the labels are {classes[0]!r} and {classes[1]!r}. "
        f"Say which one: scoring=make_scorer({name}, pos_label={classes[1]!r}{inside})."
    )


def with_positive(scorer: Any, label: Any) -> Any:
    """The same scorer, told its positive class."""
    from sklearn.metrics import make_scorer

    options = {**scorer._kwargs, "pos_label": label}
    method, greater = scorer._response_method, scorer._sign > 0
    return make_scorer(scorer._score_func, response_method=method, greater_is_better=greater, **options)
