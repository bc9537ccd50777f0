"""Which metric is meant by a name, a scorer or a function: a built-in one wherever it is the same, else one in a loop."""

from __future__ import annotations

import difflib
import inspect
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from numbers import Real
from typing import Any, get_args

import numpy as np

from ..data.criterion import LiveScore, direction_of, name_of
from ..data.target import Target, Task
from ..docstrings import fill_common
from ..exceptions import InputError, NeedError, got, invalid
from ..stats.kernels import Array, Kernel, LoopKernel, merged
from . import _builtin as builtin
from ._builtin import CLASSES, EVERY, REGRESSION, Metric, MetricLike, Needs, Plain


@fill_common
def get(metric: MetricLike, task: Task | None = None) -> Metric:
    """The metric that is meant, checked against the task if one is given.

    Parameters
    ----------
    metric : str, callable or Metric
        A name of ``names()``, a scikit-learn scorer name or scorer, a function ``f(y, prediction)``, or a Metric.
        A function gets predicted labels or values, unless its parameters ask for probabilities (see `make`).
        ``f2`` and ``f0.5`` are F scores, and so is f with any number.
    task : str or None
        The task of the predictions. ``roc_auc`` of more than two classes is ``roc_auc_ovr``.

    Returns
    -------
    Metric
        Built-in metrics are fast, and replace scorers and functions of scikit-learn that compute the same;
        other functions run in a loop.

    Raises
    ------
    InputError
        The name is unknown, or the metric is not defined for the task.

    Examples: {outfold}
    >>> of.metrics.get("log_loss").greater_is_better
    False
    >>> of.metrics.get("neg_log_loss").greater_is_better
    True
    """
    found = _find(metric, task)
    if task is not None and task not in found.tasks:
        raise _wrong_task(found, task)
    return found


def by_name(metric: MetricLike, task: Task) -> MetricLike:
    """The name of a metric wherever that says all about it, else what was given; an error where it is not for the task."""
    found = get(metric, task)
    if isinstance(metric, str):
        return metric
    if found.needs == "live":
        return LiveScore(found.name)
    named = builtin.named(found.name, task)
    kept = ("greater_is_better", "needs", "looped", "description")
    same = named is not None and all(getattr(named, part) == getattr(found, part) for part in kept)
    return found.name if same else metric


def _find(metric: MetricLike, task: Task | None) -> Metric:
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        return _by_name(metric, task)
    if isinstance(metric, LiveScore):
        return live_metric(metric.name)
    if hasattr(metric, "_score_func"):
        return _same_scorer(metric, task) or from_scorer(metric, task)
    if callable(metric):
        found = _same_function(metric, {}, task)
        fits = found is not None and (task is None or task in found.tasks)
        return found if found is not None and fits else make(metric, greater_is_better=not is_loss(metric))
    raise invalid("metric", "must be a name, a function, a scikit-learn scorer or a Metric", got(metric))


def is_known(name: str) -> bool:
    """Whether a metric of predictions has this name."""
    try:
        _by_name(name, None)
    except InputError:
        return False
    return True


@cache
def live_metric(name: str) -> Metric:
    """The metric of scores that fitted models got in the worker: known for whole folds only."""

    def kernel(target: Target, predictions: Array) -> Kernel:
        needed = "is known for whole folds only, because it was computed with the fitted models"
        remedy = (
            "Use `estimate.bbc_f` or `estimate.tt` (and `report(oof, estimate=...)` with it), compare by `t_corrected`, or use a "
            "metric of the predictions."
        )
        raise NeedError(argument=name, needed=needed, given="this asks for its value on other samples", remedy=remedy)

    def reference(target: Target, prediction: Array, weights: Any = None) -> float:
        kernel(target, prediction)
        return np.nan

    return Metric(name, True, "live", EVERY, kernel, reference, description="a score of the fitted models")


def _by_name(name: str, task: Task | None) -> Metric:
    found = builtin.named(name, task)
    if found is not None:
        return found
    from sklearn.metrics import get_scorer, get_scorer_names

    scorers = get_scorer_names()
    if name in scorers:
        return from_scorer(get_scorer(name), task, name)
    known = list(dict.fromkeys([*builtin.REGISTRY, *builtin.MINUS, *scorers]))
    begin = [other for other in known if len(name) > 2 and other.startswith(name.lower())]
    close = begin or difflib.get_close_matches(name.lower(), known, n=3)
    meant = f"; did you mean {' or '.join(map(repr, close[:3]))}?" if close else ""
    remedy = f"Use one of {', '.join(builtin.REGISTRY)}, or a name of scikit-learn's scorers."
    raise InputError(f"unknown metric {name!r}{meant}", remedy=remedy)


def _wrong_task(metric: Metric, task: Task) -> InputError:
    needed, given = f"is for {' or '.join(sorted(metric.tasks))} tasks", f"this task is {task}"
    others = [m.name for m in builtin.REGISTRY.values() if task in m.tasks]
    remedy = f"Use {'one of ' if len(others) > 1 else ''}{', '.join(others)}."
    if task == "multiclass" and builtin.named(f"{metric.name}_macro") is not None:
        needed, remedy = "is of one positive class", f"Use {metric.name}_macro, the mean over the classes."
    if task == "pointwise":
        given = "there are no labels (`label`), so these are per-sample scores"
    return invalid(metric.name, needed, given, remedy)


# -- scikit-learn's scorers and functions that are built-in metrics -------------------------------------

_Key = tuple[str, frozenset[tuple[str, Any]]]


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
        usual = (0, "warn") if option == "zero_division" else (defaults.get(option, inspect.Parameter.empty),)
        if not (value in usual or (option == "pos_label" and value is None)):
            kept.add((option, value))
    return name, frozenset(kept)


@cache
def _table() -> dict[_Key, Metric]:
    """The built-in metrics by their function of scikit-learn."""
    from sklearn.metrics import get_scorer

    table: dict[_Key, Metric] = {("hamming_loss", frozenset()): builtin.REGISTRY["error"]}
    for metric in builtin.REGISTRY.values():
        if isinstance(metric.reference, Plain) and metric.reference.function:
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


# -- functions, called once per configuration and resample ------------------------------------------------


@fill_common
def make(
    function: Callable[..., float],
    *,
    name: str | None = None,
    greater_is_better: bool = True,
    needs: Needs | None = None,
) -> Metric:
    """The metric computed by a function ``f(y, prediction)``, called once per configuration and resample.

    Parameters
    ----------
    function : callable
        Gets labels and predictions as you know them: class labels, values, probabilities of the positive class.
        If it has a parameter ``sample_weight`` it gets the counts of a resample there, else repeated rows.
    name : str or None
        Its name in results; by default the name of the function.
    greater_is_better : bool, default True
        The direction of the best value.
    needs : str or None
        The response to call it with. By default it is what ``predict`` gives, as in ``sklearn.metrics.make_scorer``:
        class labels or values. If the name of the second parameter has "prob" in it, such as ``y_proba``, the
        function gets probabilities; with "score" or "decision", such as ``y_score``, it gets scores.
        ``any`` is whatever the predictions hold.

    Returns
    -------
    Metric
        The metric.

    Examples: {numpy_outfold}
    >>> within = of.metrics.make(lambda y, p: np.mean(np.abs(y - p) < 0.5), name="within_half", needs="value")
    >>> oof = of.from_arrays([1.0, 2.5, 3.0], [1.2, 2.4, 4.0])
    >>> round(oof.scores(within)[0, 0, 0], 3)
    np.float64(0.667)
    """
    if not callable(function):
        raise invalid("function", "must be callable", got(function))
    if needs is not None and needs not in get_args(Needs):
        raise invalid("needs", f"must be one of {', '.join(get_args(Needs))}", got(needs))
    call = _Call(function, name or _own_name(function))
    return _looped(call, greater_is_better, needs or _asked_for(call), EVERY)


def _asked_for(call: _Call) -> Needs:
    """The response that a function asks for by the name of its second parameter, else what ``predict`` gives."""
    inner = call.function.func if isinstance(call.function, partial) else call.function
    if (getattr(inner, "__module__", None) or "").startswith("sklearn.metrics"):
        # Some, such as log_loss, call probabilities y_pred.
        for metric in builtin.REGISTRY.values():
            if isinstance(metric.reference, Plain) and metric.reference.function == inner.__name__:
                return metric.needs
    second = "".join(list(call.parameters)[1:2]).lower()
    if "prob" in second:
        return "proba"
    return "score" if "score" in second or "decision" in second else "predict"


def _own_name(function: Any) -> str:
    inner = function.func if isinstance(function, partial) else function
    return str(getattr(inner, "__name__", type(inner).__name__))


# What scikit-learn's functions raise where the labels of a resample do not define them.
_UNDEFINED = (
    "Only one class present in y_true",
    "Number of classes in y_true not equal",
    "Number of given labels",
    "y_true contains only one label",
    "Weights sum to zero",
)


def _functions(defined: Callable[[Target], bool]) -> set[str]:
    """The functions of scikit-learn behind the built-in metrics that are defined for such labels only."""
    plain = [m.reference for m in builtin.REGISTRY.values() if isinstance(m.reference, Plain)]
    return {path.function for path in plain if path.defined is defined}


# scikit-learn's functions that give 0, 1 or a huge number where the labels of a resample leave them undefined.
_NEED_A_POSITIVE = _functions(builtin.has_positive)
_NEED_TWO_LABELS = _functions(builtin.two_labels) | {
    *("d2_pinball_score", "d2_tweedie_score", "negative_likelihood_ratio", "positive_likelihood_ratio")
}
# Those with the option pos_label whose kernels work for either of two classes.
_OF_ONE_CLASS = _NEED_A_POSITIVE - {"average_precision_score"}


@dataclass(frozen=True)
class _Call:
    """A user's or scikit-learn's function, called safely on the rows of a resample."""

    function: Callable[..., Any]
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    sign: int = 1

    @cached_property
    def parameters(self) -> Collection[str]:
        """The names of the function's parameters."""
        try:
            return inspect.signature(self.function).parameters
        except (TypeError, ValueError):  # some compiled functions have no signature
            return ()

    def _undefined(self, labels: Array) -> bool:
        """Whether these labels leave a function of scikit-learn undefined, whatever is predicted."""
        if not (getattr(self.function, "__module__", None) or "").startswith("sklearn.metrics"):
            return False
        name = getattr(self.function, "__name__", "")
        if name in _NEED_TWO_LABELS:
            return bool(np.all(labels == labels[0]))
        # "macro" of the others is a mean over classes; average precision of two classes has that default and no classes.
        averaged = self.options.get("average", "binary") != "binary" and name != "average_precision_score"
        if name not in _NEED_A_POSITIVE or averaged or "pos_label" not in self.options:
            return False
        return not np.any(labels == self.options["pos_label"])

    def __call__(self, labels: Array, prediction: Array, counts: Array) -> float:
        if self._undefined(labels):
            return np.nan
        options = dict(self.options)
        # The one-vs-one area has the parameter and refuses it.
        if "sample_weight" in self.parameters and options.get("multi_class") != "ovo":
            options["sample_weight"] = counts.astype(np.float64)
        elif counts.max() > 1:
            rows = np.repeat(np.arange(len(counts)), counts.astype(np.intp))
            labels, prediction = labels[rows], prediction[rows]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.sign * float(self.function(labels, prediction, **options))
        except Exception as error:
            if isinstance(error, ValueError | ZeroDivisionError) and str(error).startswith(_UNDEFINED):
                return np.nan
            raise InputError(f"metric {self.name!r} failed: {type(error).__name__}: {error}") from error


def _for_target(call: _Call, target: Target, needs: Needs) -> _Call:
    """The call with the class labels it asks for: the positive class is always the second one."""
    if target.classes is None:
        return call
    options = dict(call.options)
    if target.task == "binary" and "pos_label" in call.parameters:
        options.setdefault("pos_label", target.classes[1])
    if needs in ("score", "proba") and "labels" in call.parameters:
        options.setdefault("labels", target.classes)
    return replace(call, options=options)


def _looped(call: _Call, greater_is_better: bool, needs: Needs, tasks: frozenset[Task]) -> Metric:
    def decoded(target: Target, predictions: Array) -> Array:
        """Predictions as the user knows them: class codes become class labels."""
        coded = target.classes is not None and predictions.dtype.kind in "ui"
        return np.asarray(target.classes[predictions]) if coded else predictions  # type: ignore[index]

    def kernel(target: Target, predictions: Array) -> Kernel:
        bound = _for_target(call, target, needs)
        named = target.task == "binary" and needs in ("score", "proba") and "pos_label" in bound.options
        if named and bound.options["pos_label"] == target.classes[0]:  # type: ignore[index]
            # Scores and probabilities are of the second class, and the scorer names the first.
            predictions = 1.0 - predictions if needs == "proba" else -predictions
        return merged(predictions, lambda p: LoopKernel(bound, target.labels, decoded(target, p)))

    def reference(target: Target, prediction: Array, weights: Array | None = None) -> float:
        counts = np.ones(len(target), dtype=np.intp) if weights is None else np.asarray(weights)
        return float(kernel(target, prediction[None]).scores(counts[None])[0, 0])

    description = (inspect.getdoc(call.function) or "").partition("\n")[0].rstrip(".")
    made = Metric(call.name, greater_is_better, needs, tasks, kernel, reference, description=description, looped=True)
    return replace(made, ranks_only="max_fpr" in call.options)  # a part of the area under the ROC curve


def is_loss(function: Callable[..., Any]) -> bool:
    """Whether scikit-learn's naming convention says that lower is better."""
    module, name = getattr(function, "__module__", "") or "", getattr(function, "__name__", "")
    return module.startswith("sklearn.") and name.endswith(("_error", "_loss", "_deviance"))


def check_direction(recorded: Any, given: Any) -> None:
    """Refuse a plain function by the name of the recorded metric, of which less was better: its greatest value would win."""
    if recorded is None or not inspect.isroutine(given) or is_loss(given):
        return
    if direction_of(recorded) is False and name_of(recorded) == name_of(given):
        name = name_of(given)
        raise InputError(
            f"these predictions were selected by the metric {name!r}, of which less is better; "
            "of a plain function, greater is better",
            remedy="Give the scorer as you gave it to the search, with its options, "
            f"or `of.metrics.make({name}, greater_is_better=False)`.",
        )


def from_scorer(scorer: Any, task: Task | None, name: str | None = None) -> Metric:
    """The metric of a scikit-learn scorer: its function, options, sign and response."""
    function = scorer._score_func
    needs = scorer_response(scorer, task)
    tasks = {"value": REGRESSION, "predict": EVERY}.get(needs, CLASSES)
    call = _Call(function, name or _own_name(function), scorer._kwargs, scorer._sign)
    return _looped(call, True, needs, tasks)


def scorer_response(scorer: Any, task: Task | None) -> Needs:
    """The response that a scorer asks models for."""
    method = scorer._response_method
    methods = [method] if isinstance(method, str) else list(method)
    if "decision_function" in methods:
        return "score"
    if "predict_proba" in methods:
        return "proba"
    module = scorer._score_func.__module__ or ""
    if module.startswith("sklearn.metrics._regression"):
        return "value"
    if module.startswith("sklearn.metrics._classification") or task in CLASSES:
        return "label"
    return "value" if task == "regression" else "predict"
