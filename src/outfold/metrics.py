"""Metrics: their names, directions, the response they need, and how they are computed.

``get`` turns a name, a scikit-learn scorer or a function into a ``Metric``; ``names`` lists the built-in ones.
A metric is a mean of per-sample values (*pointwise*) or defined on a set of samples only. Under the labels of
a resample it may be undefined, and is then NaN; what hangs on the predictions alone follows scikit-learn.
"""

from __future__ import annotations

import difflib
import inspect
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from ._kernels import losses
from ._kernels.base import Array, Floats, Kernel, Negated, merged
from ._kernels.confusion import BalancedAccuracyKernel, F1Kernel, MacroF1Kernel, MccKernel
from ._kernels.loops import LoopKernel
from ._kernels.means import MeanKernel
from ._kernels.moments import R2Kernel, RootMeanKernel
from ._kernels.ranks import AucKernel, AveragePrecisionKernel, one_vs_one, one_vs_rest
from ._kernels.survival import ConcordanceKernel
from ._target import Target, Task
from .exceptions import InputError

__all__ = ["Metric", "default", "get", "make", "names"]

Response = Literal["label", "score", "proba", "value", "risk", "pointwise", "any", "model"]

BINARY: frozenset[Task] = frozenset({"binary"})
MULTICLASS: frozenset[Task] = frozenset({"multiclass"})
CLASSES = BINARY | MULTICLASS
REGRESSION: frozenset[Task] = frozenset({"regression"})
SURVIVAL: frozenset[Task] = frozenset({"survival"})
POINTWISE: frozenset[Task] = frozenset({"pointwise"})
EVERY: frozenset[Task] = frozenset(get_args(Task))


@dataclass(frozen=True, eq=False)
class Metric:
    """How predictions are scored.

    Attributes
    ----------
    name
        Such as ``roc_auc``.
    greater_is_better
        The direction of the best value.
    needs
        The response of a configuration that is scored: class ``label`` codes, a ranking ``score``, class
        probabilities (``proba``), a ``value``, a ``risk``, ``pointwise`` scores as given, ``any``, or all that a
        ``model`` would answer: the response and the labels (see `Predictions.respond`).
    tasks
        The tasks it is defined for.
    kernel
        ``kernel(target, predictions)`` of C configurations, (C, N) or (C, N, K) in the needed response.
    reference
        ``reference(target, prediction, weights=None)`` of one configuration, by the plain and slow path.
    values
        ``values(target, predictions)``, the (C, N) values of which a pointwise metric is the mean (integers
        where the loss is 0-1); None unless pointwise.
    bounds
        Lowest and highest possible value.
    description
        What it is, in one line.
    looped
        Whether it is a function called once per configuration and resample, and so slow.
    """

    name: str
    greater_is_better: bool
    needs: Response
    tasks: frozenset[Task]
    kernel: Callable[[Target, Array], Kernel] = field(repr=False)
    reference: Callable[..., float] = field(repr=False)
    values: Callable[[Target, Array], Array] | None = field(default=None, repr=False)
    bounds: tuple[float, float] = (-np.inf, np.inf)
    description: str = ""
    looped: bool = False

    @property
    def pointwise(self) -> bool:
        """Whether it is a mean of per-sample values."""
        return self.values is not None

    @property
    def sign(self) -> int:
        """1 where greater is better, else -1: ``sign * value`` is always to be maximised."""
        return 1 if self.greater_is_better else -1


MetricLike: TypeAlias = str | Callable[..., Any] | Metric


# ---------------------------------------------------------------------------------- reference paths

_Plain = Callable[[Target, Array, Floats], float]


def _on_weighted_rows(plain: _Plain) -> Callable[..., float]:
    """A reference path out of one that takes the rows with weight and their positive weights."""

    def reference(target: Target, prediction: Array, weights: Array | None = None) -> float:
        weights = np.ones(len(target)) if weights is None else np.asarray(weights, dtype=np.float64)
        rows = np.flatnonzero(weights)
        if len(rows) == 0:
            return np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(plain(target.take(rows), prediction[rows], weights[rows]))

    return reference


def _sklearn(function: str, defined: Callable[[Target], bool] | None = None, **options: Any) -> Callable[..., float]:
    """The reference path through a function of ``sklearn.metrics``, NaN unless the labels are ``defined``."""

    def plain(target: Target, prediction: Array, weights: Floats) -> float:
        import sklearn.metrics

        if defined is not None and not defined(target):
            return np.nan
        score = getattr(sklearn.metrics, function)
        return float(score(target.y, prediction, sample_weight=weights, **options))

    return _on_weighted_rows(plain)


def _two_labels(target: Target) -> bool:
    return len(np.unique(target.y)) > 1


def _has_positive(target: Target) -> bool:
    return bool((target.y == 1).any())


def _all_classes(target: Target) -> bool:
    return target.classes is not None and len(np.unique(target.y)) == len(target.classes)


def _log_loss_plain(target: Target, prediction: Array, weights: Floats) -> float:
    from sklearn.metrics import log_loss

    assert target.classes is not None
    labels = np.arange(len(target.classes))
    return float(log_loss(target.y, prediction, sample_weight=weights, labels=labels))


def _brier_plain(target: Target, prediction: Array, weights: Floats) -> float:
    from sklearn.metrics import brier_score_loss

    assert target.classes is not None
    which = {"pos_label": 1} if prediction.ndim == 1 else {"labels": np.arange(len(target.classes))}
    return float(brier_score_loss(target.y, prediction, sample_weight=weights, **which))


def _ovo_plain(target: Target, prediction: Array, weights: Floats) -> float:
    from sklearn.metrics import roc_auc_score

    if not _all_classes(target):
        return np.nan
    rows = np.repeat(np.arange(len(target)), weights.astype(np.intp))  # it takes no weights
    return float(roc_auc_score(target.y[rows], prediction[rows], multi_class="ovo"))


def _concordance_plain(target: Target, prediction: Array, weights: Floats) -> float:
    time, event = target.y, target.event
    assert event is not None
    later = (time[:, None] < time) | ((time[:, None] == time) & ~event)
    pairs = np.outer(weights, weights) * (event[:, None] & later)
    if not pairs.any():
        return np.nan
    concordant = (prediction[:, None] > prediction) + 0.5 * (prediction[:, None] == prediction)
    return float((pairs * concordant).sum() / pairs.sum())


def _mean_plain(target: Target, prediction: Array, weights: Floats) -> float:
    return float(np.average(prediction, weights=weights))


# ---------------------------------------------------------------------------------- the registry


def _mean_of(loss: Callable[[Array, Array], Array]) -> dict[str, Any]:
    """Values and kernel of the mean of a per-sample loss."""
    return {
        "values": lambda target, predictions: loss(target.y, predictions),
        "kernel": lambda target, predictions: MeanKernel(loss(target.y, predictions)),
    }


def _merged(build: Callable[[Target, Array], Kernel]) -> Callable[[Target, Array], Kernel]:
    """The kernel factory with equal columns evaluated once."""
    return lambda target, predictions: merged(predictions, lambda columns: build(target, columns))


def _n_classes(target: Target) -> int:
    assert target.classes is not None
    return len(target.classes)


def _concordance(target: Target, predictions: Array) -> Kernel:
    assert target.event is not None
    return ConcordanceKernel(predictions, target.y, target.event)


# fmt: off
_BUILT_IN = (
    Metric("accuracy", True, "label", CLASSES, **_mean_of(losses.correct),
           reference=_sklearn("accuracy_score"), bounds=(0, 1),
           description="share of samples whose class is predicted"),
    Metric("balanced_accuracy", True, "label", CLASSES,
           kernel=_merged(lambda t, p: BalancedAccuracyKernel(p, t.y, _n_classes(t))),
           reference=_sklearn("balanced_accuracy_score"), bounds=(0, 1),
           description="mean recall of the classes present"),
    Metric("error", False, "label", CLASSES, **_mean_of(losses.wrong),
           reference=_sklearn("zero_one_loss"), bounds=(0, 1),
           description="share of samples whose class is not predicted (0-1 loss)"),
    Metric("f1", True, "label", BINARY,
           kernel=_merged(lambda t, p: F1Kernel(p, t.y)),
           reference=_sklearn("f1_score", _has_positive), bounds=(0, 1),
           description="harmonic mean of precision and recall of the positive class"),
    Metric("f1_macro", True, "label", CLASSES,
           kernel=_merged(lambda t, p: MacroF1Kernel(p, t.y, _n_classes(t))),
           reference=_sklearn("f1_score", average="macro"), bounds=(0, 1),
           description="mean F1 of the classes present or predicted"),
    Metric("mcc", True, "label", CLASSES,
           kernel=_merged(lambda t, p: MccKernel(p, t.y, _n_classes(t))),
           reference=_sklearn("matthews_corrcoef", _two_labels), bounds=(-1, 1),
           description="Matthews correlation of true and predicted classes"),
    Metric("roc_auc", True, "score", BINARY,
           kernel=_merged(lambda t, p: AucKernel(p, t.y == 1)),
           reference=_sklearn("roc_auc_score", _two_labels), bounds=(0, 1),
           description="area under the ROC curve"),
    Metric("roc_auc_ovr", True, "score", MULTICLASS,
           kernel=_merged(lambda t, p: one_vs_rest(p, t.y)),
           reference=_sklearn("roc_auc_score", _all_classes, multi_class="ovr"), bounds=(0, 1),
           description="mean over classes of the area under the ROC curve against the rest"),
    Metric("roc_auc_ovo", True, "score", MULTICLASS,
           kernel=_merged(lambda t, p: one_vs_one(p, t.y)),
           reference=_on_weighted_rows(_ovo_plain), bounds=(0, 1),
           description="mean over pairs of classes of the area under the ROC curve"),
    Metric("average_precision", True, "score", BINARY,
           kernel=_merged(lambda t, p: AveragePrecisionKernel(p, t.y == 1)),
           reference=_sklearn("average_precision_score", _has_positive), bounds=(0, 1),
           description="precision averaged over the recall steps"),
    Metric("log_loss", False, "proba", CLASSES, **_mean_of(losses.log_loss),
           reference=_on_weighted_rows(_log_loss_plain), bounds=(0, np.inf),
           description="mean negative log probability of the true class"),
    Metric("brier", False, "proba", CLASSES, **_mean_of(losses.brier),
           reference=_on_weighted_rows(_brier_plain), bounds=(0, 2),
           description="mean squared error of the class probabilities"),
    Metric("mse", False, "value", REGRESSION, **_mean_of(losses.squared),
           reference=_sklearn("mean_squared_error"), bounds=(0, np.inf),
           description="mean squared error"),
    Metric("rmse", False, "value", REGRESSION,
           kernel=lambda t, p: RootMeanKernel(losses.squared(t.y, p)),
           reference=_sklearn("root_mean_squared_error"), bounds=(0, np.inf),
           description="root of the mean squared error"),
    Metric("mae", False, "value", REGRESSION, **_mean_of(losses.absolute),
           reference=_sklearn("mean_absolute_error"), bounds=(0, np.inf),
           description="mean absolute error"),
    Metric("r2", True, "value", REGRESSION,
           kernel=lambda t, p: R2Kernel(p, t.y),
           reference=_sklearn("r2_score", _two_labels), bounds=(-np.inf, 1),
           description="share of the variance explained"),
    Metric("concordance", True, "risk", SURVIVAL,
           kernel=_merged(_concordance),
           reference=_on_weighted_rows(_concordance_plain), bounds=(0, 1),
           description="share of comparable pairs whose earlier event has the higher risk (Harrell)"),
    Metric("mean", True, "pointwise", POINTWISE, **_mean_of(losses.given),
           reference=_on_weighted_rows(_mean_plain),
           description="mean of per-sample scores made elsewhere"),
)
# fmt: on
_REGISTRY = {metric.name: metric for metric in _BUILT_IN}

# The scorers of scikit-learn that are a built-in metric under another name, and those that are minus one.
_SAME = {"matthews_corrcoef": "mcc"}
_MINUS = {
    "neg_log_loss": "log_loss",
    "neg_brier_score": "brier",
    "neg_mean_squared_error": "mse",
    "neg_root_mean_squared_error": "rmse",
    "neg_mean_absolute_error": "mae",
}
# One question, asked of two classes or of more.
_BY_TASK: dict[tuple[str, Task | None], str] = {
    ("roc_auc", "multiclass"): "roc_auc_ovr",
    ("roc_auc_ovr", "binary"): "roc_auc",
    ("roc_auc_ovo", "binary"): "roc_auc",
}


_DEFAULT: dict[Task, str] = {
    "binary": "roc_auc",
    "multiclass": "accuracy",
    "regression": "r2",
    "survival": "concordance",
    "pointwise": "mean",
}


def default(task: Task) -> str:
    """The metric used for a task where none is asked for."""
    return _DEFAULT[task]


def names() -> list[str]:
    """The built-in metrics by name, in the order of the documentation."""
    return list(_REGISTRY)


def get(metric: MetricLike, task: Task | None = None) -> Metric:
    """The metric that is meant, checked against the task if one is given.

    Parameters
    ----------
    metric
        A name of ``names()``, a scikit-learn scorer name or scorer, a function ``f(y, prediction)`` that may
        also take ``sample_weight``, or a Metric.
    task
        The task of the predictions. ``roc_auc`` of more than two classes is ``roc_auc_ovr``.

    Returns
    -------
    Metric
        Built-in metrics are fast; scikit-learn's other scorers and functions run in a loop.

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


def make(
    function: Callable[..., float],
    *,
    name: str | None = None,
    greater_is_better: bool = True,
    needs: Response = "any",
) -> Metric:
    """The metric computed by a function ``f(y, prediction)``, called once per configuration and resample.

    Parameters
    ----------
    function
        Gets labels and predictions as you know them: class labels, probabilities of the positive class, values.
        If it has a parameter ``sample_weight`` it gets the counts of a resample there, else repeated rows.
    name
        Its name in results; by default the function's own.
    greater_is_better
        The direction of the best value.
    needs
        The response to call it with; ``any`` is whatever the predictions hold.

    Returns
    -------
    Metric
    """
    if not callable(function):
        raise InputError(f"a metric function must be callable; got {type(function).__name__}")
    if needs not in get_args(Response):
        raise InputError(f"needs must be one of {', '.join(get_args(Response))}; got {needs!r}")
    own: str = getattr(function, "__name__", type(function).__name__)
    return _looped(_Call(function, name or own), greater_is_better, needs, EVERY)


def _find(metric: MetricLike, task: Task | None) -> Metric:
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        return _by_name(metric, task)
    if hasattr(metric, "_score_func"):
        return _from_scorer(metric, task)
    if callable(metric):
        return make(metric, greater_is_better=not _is_loss(metric))
    raise InputError(f"a metric is a name, a function, a scikit-learn scorer or a Metric; got {metric!r}")


def _by_name(name: str, task: Task | None) -> Metric:
    name = _SAME.get(name, name)
    name = _BY_TASK.get((name, task), name)
    if name in _MINUS:
        return _minus(_REGISTRY[_MINUS[name]], name)
    if name in _REGISTRY:
        return _REGISTRY[name]
    from sklearn.metrics import get_scorer, get_scorer_names

    scorers = get_scorer_names()
    if name in scorers:
        return _from_scorer(get_scorer(name), task, name)
    close = difflib.get_close_matches(name.lower(), [*_REGISTRY, *_MINUS, *scorers], n=1)
    hint = f" did you mean {close[0]!r}?" if close else ""
    known = ", ".join(_REGISTRY)
    raise InputError(f"unknown metric {name!r};{hint} Known: {known} (and scikit-learn scorer names)")


def _wrong_task(metric: Metric, task: Task) -> str:
    if metric.name == "f1" and task == "multiclass":
        return "f1 is of one positive class; this task is multiclass. Use f1_macro, the mean F1 of the classes."
    tasks = " or ".join(sorted(metric.tasks))
    fitting = ", ".join(m.name for m in _BUILT_IN if task in m.tasks)
    given = (
        "there are no labels (label=), so these are per-sample scores"
        if task == "pointwise"
        else f"this task is {task}"
    )
    return f"{metric.name} is for {tasks}; {given}. Use one of: {fitting}"


def _minus(metric: Metric, name: str) -> Metric:
    """Minus a loss, as scikit-learn's scorers have it, so that greater is better."""
    low, high = metric.bounds
    values = metric.values

    def reference(target: Target, prediction: Array, weights: Array | None = None) -> float:
        return 0.0 - metric.reference(target, prediction, weights)

    return replace(
        metric,
        name=name,
        greater_is_better=not metric.greater_is_better,
        kernel=lambda target, predictions: Negated(metric.kernel(target, predictions)),
        reference=reference,
        values=None if values is None else lambda target, predictions: 0 - values(target, predictions),
        bounds=(-high, -low),
        description=f"minus {metric.name}: {metric.description}",
    )


# ---------------------------------------------------------------------------------- functions and scorers

# What scikit-learn's functions raise where the labels of a resample do not define them.
_UNDEFINED = (
    "Only one class present in y_true",
    "Number of classes in y_true not equal",
    "Number of given labels",
    "y_true contains only one label",
    "Weights sum to zero",
)


# scikit-learn's functions that give 0, 1 or a huge number where the labels of a resample leave them undefined.
_NEED_A_POSITIVE = frozenset(
    {"average_precision_score", "f1_score", "fbeta_score", "jaccard_score", "precision_score", "recall_score"}
)
_NEED_TWO_LABELS = frozenset(
    {
        "cohen_kappa_score",
        "d2_absolute_error_score",
        "d2_brier_score",
        "d2_log_loss_score",
        "d2_pinball_score",
        "d2_tweedie_score",
        "explained_variance_score",
        "matthews_corrcoef",
        "r2_score",
        "roc_auc_score",
    }
)


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


def _for_target(call: _Call, target: Target, needs: Response) -> _Call:
    """The call with the class labels it asks for: the positive class is always the second one."""
    options = dict(call.options)
    parameters = call.parameters
    if target.classes is None:
        return call
    if target.task == "binary" and "pos_label" in parameters:
        options.setdefault("pos_label", target.classes[1])
    if needs in ("score", "proba") and "labels" in parameters:
        options.setdefault("labels", target.classes)
    return replace(call, options=options)


def _wants_first_class(call: _Call, target: Target) -> bool:
    """Whether a scorer names the first of two classes as the positive one; scores and probabilities are of the second."""
    if target.task != "binary" or target.classes is None or "pos_label" not in call.options:
        return False
    return bool(call.options["pos_label"] == target.classes[0])


def _decoded(target: Target, predictions: Array) -> Array:
    """Predictions as the user knows them: class codes become class labels."""
    if target.classes is not None and predictions.dtype.kind in "ui":
        return np.asarray(target.classes[predictions])
    return predictions


def _looped(call: _Call, greater_is_better: bool, needs: Response, tasks: frozenset[Task]) -> Metric:
    def kernel(target: Target, predictions: Array) -> Kernel:
        bound = _for_target(call, target, needs)
        if needs in ("score", "proba") and _wants_first_class(bound, target):
            predictions = 1.0 - predictions if needs == "proba" else -predictions
        return merged(predictions, lambda p: LoopKernel(bound, target.labels, _decoded(target, p)))

    def reference(target: Target, prediction: Array, weights: Array | None = None) -> float:
        counts = np.ones(len(target), dtype=np.intp) if weights is None else np.asarray(weights)
        return float(kernel(target, prediction[None]).scores(counts[None])[0, 0])

    description = (inspect.getdoc(call.function) or "").partition("\n")[0].rstrip(".")
    return Metric(call.name, greater_is_better, needs, tasks, kernel, reference, description=description, looped=True)


def _is_loss(function: Callable[..., Any]) -> bool:
    """Whether scikit-learn's naming convention says that lower is better."""
    module, name = getattr(function, "__module__", "") or "", getattr(function, "__name__", "")
    return module.startswith("sklearn.") and name.endswith(("_error", "_loss", "_deviance"))


def _from_scorer(scorer: Any, task: Task | None, name: str | None = None) -> Metric:
    """The metric of a scikit-learn scorer: its function, options, sign and response."""
    function = scorer._score_func
    needs = _scorer_response(scorer, task)
    tasks = {"value": REGRESSION, "any": EVERY}.get(needs, CLASSES)
    call = _Call(function, name or function.__name__, scorer._kwargs, scorer._sign)
    return _looped(call, True, needs, tasks)


def _scorer_response(scorer: Any, task: Task | None) -> Response:
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
    return "value" if task == "regression" else "any"
