"""What a metric is, and the built-in metrics: each with a fast kernel and a plain path."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from ..data.cells import Response
from ..data.criterion import LiveScore
from ..data.target import Target, Task
from ..docstrings import fill_common
from ..exceptions import got, invalid
from ..stats import metric_kernels as made
from ..stats import rank_metrics as ranks
from ..stats.kernels import Array, Floats, Kernel, Mapped, MeanKernel, merged, negated

Needs = Literal[Response, "predict", "any", "model", "losses", "live"]

Tasks = frozenset[Task]
EVERY: Tasks = frozenset(get_args(Task))
BINARY, MULTICLASS, REGRESSION, SURVIVAL, POINTWISE = (Tasks({task}) for task in get_args(Task))
CLASSES = BINARY | MULTICLASS


@fill_common
@dataclass(frozen=True, eq=False)
class Metric:
    """How predictions are scored.

    Parameters
    ----------
    name : str
        Such as ``roc_auc``.
    greater_is_better : bool
        The direction of the best value.
    needs : str
        The response of a configuration that is scored: class ``label`` codes, a ranking ``score``, class
        probabilities (``proba``), a ``value``, a ``risk``, ``pointwise`` scores as given, what ``predict`` gives (of a
        classification the labels, else ``any``), ``any`` (whatever the predictions hold), or all that a ``model``
        would answer: the response and the labels (see `Predictions.respond`). ``losses`` are what survival curves lose for
        each sample. ``live`` scores need nothing: fitted models got them in the worker.
    tasks : frozenset of str
        The tasks it is defined for.
    kernel : callable
        ``kernel(target, predictions)`` of C configurations, (C, N) or (C, N, K) in the needed response.
    reference : callable
        ``reference(target, prediction, weights=None)`` of one configuration, by the plain and slow path.
    values : callable or None
        ``values(target, predictions)``, the (C, N) values of which a pointwise metric is the mean (integers
        where the loss is 0-1); None unless pointwise.
    bounds : tuple of two float
        Lowest and highest possible value.
    description : str
        What it is, in one line.
    looped : bool
        Whether it is a function called once per configuration and resample, and so slow.
    above : float or None
        What every prediction must be above, or None; the metric refuses others.
    ranks_only : bool
        Whether only the order of a configuration's predictions counts, as for areas under curves, and not their scale.
    within : callable or None
        ``within(target, predictions, folds)``, the kernel that counts pairs of samples of the same fold only, for a share of
        pairs such as `roc_auc` and `concordance`; None for all other metrics.

    Examples: {outfold}
    >>> metric = of.metrics.get("brier")
    >>> metric.needs, metric.greater_is_better, metric.bounds
    ('proba', False, (0, 2))
    """

    name: str
    greater_is_better: bool
    needs: Needs
    tasks: Tasks
    kernel: Callable[[Target, Array], Kernel] = field(repr=False)
    reference: Callable[..., float] = field(repr=False)
    values: Callable[[Target, Array], Array] | None = field(default=None, repr=False)
    bounds: tuple[float, float] = (-np.inf, np.inf)
    description: str = ""
    looped: bool = False
    above: float | None = None
    ranks_only: bool = False
    within: Callable[[Target, Array, Array], Kernel] | None = field(default=None, repr=False)

    @property
    def pointwise(self) -> bool:
        """Whether it is a mean of per-sample values."""
        return self.values is not None

    @property
    def sign(self) -> int:
        """1 where greater is better, else -1: ``sign * value`` is always to be maximised."""
        return 1 if self.greater_is_better else -1


MetricLike: TypeAlias = str | Callable[..., Any] | Metric | LiveScore
Bounds = tuple[float, float]
SHARE: Bounds = (0, 1)
LOSS: Bounds = (0, np.inf)
SKILL: Bounds = (-np.inf, 1)

# -- the plain path ------------------------------------------------------------------------------------

MetricOptions = Mapping[str, Any]


@dataclass(frozen=True)
class Plain:
    """A score of (target, prediction, weights) on the rows that have weight; NaN where none has, or it is not `defined`.

    A scorer of scikit-learn with this function and these options is the same metric.
    """

    score: Callable[[Target, Array, Floats], float]
    defined: Callable[[Target], bool] | None = None
    function: str = ""
    options: MetricOptions = field(default_factory=dict)

    def __call__(self, target: Target, prediction: Array, weights: Array | None = None) -> float:
        weights = np.ones(len(target)) if weights is None else np.asarray(weights, dtype=np.float64)
        rows = np.flatnonzero(weights)
        held = target.take(rows)
        if len(rows) == 0 or not (self.defined is None or self.defined(held)):
            return np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(self.score(held, prediction[rows], weights[rows]))


def scikit_learn(
    function: str,
    defined: Callable[[Target], bool] | None = None,
    *,
    labels: Callable[[Target, Array], MetricOptions] | None = None,
    takes_weights: bool = True,
    **options: Any,
) -> Plain:
    """The path through a function of ``sklearn.metrics``; `labels` names the classes to it.

    Rows are repeated where it takes no weights.
    """

    def score(target: Target, prediction: Array, weights: Floats) -> float:
        import sklearn.metrics

        known = {} if labels is None else labels(target, prediction)
        call = getattr(sklearn.metrics, function)
        if takes_weights:
            return float(call(target.y, prediction, sample_weight=weights, **options, **known))
        rows = np.repeat(np.arange(len(target)), weights.astype(np.intp))
        return float(call(target.y[rows], prediction[rows], **options, **known))

    return Plain(score, defined, function, options)


# Which labels define a metric, and how scikit-learn is told the classes.


def two_labels(target: Target) -> bool:
    return len(np.unique(target.y)) > 1


def has_positive(target: Target) -> bool:
    return bool((target.y == 1).any())


def has_negative(target: Target) -> bool:
    return bool((target.y == 0).any())


def all_classes(target: Target) -> bool:
    return len(np.unique(target.y)) == n_classes(target)


def n_classes(target: Target) -> int:
    assert target.classes is not None
    return len(target.classes)


def every_class(target: Target, prediction: Array) -> MetricOptions:
    return {"labels": np.arange(n_classes(target))}


def positive_or_every_class(target: Target, prediction: Array) -> MetricOptions:
    return {"pos_label": 1} if prediction.ndim == 1 else every_class(target, prediction)


def _plain_concordance(target: Target, prediction: Array, weights: Floats) -> float:
    time, event = target.y, target.event
    assert event is not None
    later = (time[:, None] < time) | ((time[:, None] == time) & ~event)
    pairs = np.outer(weights, weights) * (event[:, None] & later)
    if not pairs.any():
        return np.nan
    concordant = (prediction[:, None] > prediction) + 0.5 * (prediction[:, None] == prediction)
    return float((pairs * concordant).sum() / pairs.sum())


def _plain_mean(target: Target, prediction: Array, weights: Floats) -> float:
    return float(np.average(prediction, weights=weights))


def brier_skill(target: Target, prediction: Array, weights: Floats) -> float:
    """One minus the Brier score over that of the shares of the classes."""
    from sklearn.metrics import brier_score_loss

    known = positive_or_every_class(target, prediction)
    shares = np.bincount(target.y, weights, minlength=n_classes(target)) / weights.sum()
    constant = np.broadcast_to(shares[1] if prediction.ndim == 1 else shares, prediction.shape)
    own, base = (brier_score_loss(target.y, p, sample_weight=weights, **known) for p in (prediction, constant))
    return float(1 - own / base)


# -- fast kernels ----------------------------------------------------------------------------------------------

SampleLoss = Callable[[Array, Array], Array]
Factory = Callable[[Target, Array], Kernel]
PairFactory = Callable[[Target, Array, Array | None], Kernel]


def _pointwise(
    name: str, better: bool, needs: Needs, tasks: Tasks, loss: SampleLoss, plain: Plain, bounds: Bounds, words: str
) -> Metric:
    """The mean of a loss, or hit, of each sample."""

    def values(target: Target, predictions: Array) -> Array:
        return loss(target.y, predictions)

    return Metric(name, better, needs, tasks, lambda *of: MeanKernel(values(*of)), plain, values, bounds, words)


def _merged(build: Factory) -> Factory:
    """The kernel factory with equal predictions evaluated once."""
    return lambda target, predictions: merged(predictions, lambda columns: build(target, columns))


def _confusion(
    name: str, tasks: Tasks, metric: made.ClassMetric, plain: Plain, words: str, bounds: Bounds = SHARE
) -> Metric:
    """A metric of the confusion matrix."""

    def build(target: Target, predictions: Array) -> Kernel:
        return made.ConfusionKernel(predictions, target.y, n_classes(target), metric)

    return Metric(name, True, "label", tasks, _merged(build), plain, None, bounds, words)


def _within(loss: SampleLoss, name: str, y_above: float, above: float, y_may_equal: bool = False) -> SampleLoss:
    """The loss, refused for labels and predictions outside the range it is defined on."""

    def checked(y: Array, values: Floats) -> Array:
        lowest, smallest = y.min(initial=np.inf), values.min(initial=np.inf)
        wrong_label = lowest < y_above or (lowest == y_above and not y_may_equal)
        if wrong_label or smallest <= above:
            needed = f"needs labels {'of at least' if y_may_equal else 'above'} {y_above:g}"
            if wrong_label:
                raise invalid(name, needed, f"the smallest is {lowest:g}", "Use mse or mae.")
            remedy = "Use mse or mae, or leave out the configurations that predict such values."
            raise invalid(name, f"needs predictions above {above:g}", f"the smallest is {smallest:g}", remedy)
        return loss(y, values)

    return checked


_squared_log = _within(made.squared_log, "the squared logarithmic error", -1, -1)
_poisson = _within(made.poisson_deviance, "the Poisson deviance", 0, 0, y_may_equal=True)
_gamma = _within(made.gamma_deviance, "the gamma deviance", 0, 0)

_AVERAGES: dict[str, tuple[Callable[..., Floats], str]] = {
    "macro": (made.macro, "mean {} of the classes present or predicted"),
    "weighted": (made.weighted, "mean {} of the classes, weighted by their number of samples"),
    "micro": (made.micro, "{} of all classes taken together"),
}


def _averaged(name: str, share: made.ClassShare, function: str, average: str, what: str, **options: Any) -> Metric:
    """A share of every class, averaged as scikit-learn does."""
    metric, words = _AVERAGES[average]
    plain = scikit_learn(function, average=average, **options)
    return _confusion(f"{name}_{average}", CLASSES, partial(metric, share), plain, words.format(what))


def _of_positive(name: str, function: str, share: made.ClassShare, words: str, **options: Any) -> Metric:
    """A share of the positive class."""
    plain = scikit_learn(function, has_positive, **options)
    return _confusion(name, BINARY, partial(made.one_class, share, 1), plain, words)


def f_metric(beta: float, average: str = "binary") -> Metric:
    """The F score that gives recall beta times the weight of precision."""
    name = f"f{np.format_float_positional(beta, trim='-')}"
    share = made.fbeta(beta)
    function = "f1_score" if beta == 1 else "fbeta_score"
    options: dict[str, Any] = {} if beta == 1 else {"beta": float(beta)}
    if average != "binary":
        return _averaged(name, share, function, average, name.upper(), **options)
    mean = "harmonic mean" if beta == 1 else "weighted harmonic mean"
    favour = "" if beta == 1 else f", recall counting {name[1:]} times as much"
    words = f"{mean} of precision and recall of the positive class{favour}"
    return _of_positive(name, function, share, words, **options)


def _ranking(name: str, needs: Needs, tasks: Tasks, build: Factory, plain: Plain, words: str) -> Metric:
    """A metric of the order of the predictions, of each class by itself where there are several."""
    return Metric(name, True, needs, tasks, _merged(build), plain, None, SHARE, words, ranks_only=True)


def _of_pairs(name: str, needs: Needs, tasks: Tasks, build: PairFactory, plain: Plain, words: str) -> Metric:
    """A share of pairs of samples: of all pairs, or of those of the same fold."""

    def within(target: Target, predictions: Array, folds: Array) -> Kernel:
        return merged(predictions, lambda columns: build(target, columns, folds))

    return replace(_ranking(name, needs, tasks, lambda t, p: build(t, p, None), plain, words), within=within)


def _concordance(target: Target, predictions: Array, folds: Array | None) -> Kernel:
    assert target.event is not None
    return ranks.concordance(predictions, target.y, target.event, folds)


def _root(loss: SampleLoss) -> Factory:
    return lambda target, predictions: Mapped(MeanKernel(loss(target.y, predictions)), np.sqrt)


def _skill(loss: SampleLoss, baseline: Callable[[Target], made.Baseline]) -> Factory:
    return lambda target, predictions: made.SkillKernel(loss(target.y, predictions), baseline(target))


def _area(average: Callable[..., Kernel], weighted: bool = False) -> PairFactory:
    return lambda target, predictions, folds: average(predictions, target.y, weighted, folds)


# -- the metrics ----------------------------------------------------------------------------------------

# fmt: off
_BUILT_IN = (
    _pointwise("accuracy", True, "label", CLASSES, made.is_right, scikit_learn("accuracy_score"), SHARE,
               "share of samples whose class is predicted"),
    _confusion("balanced_accuracy", CLASSES, made.balanced_accuracy, scikit_learn("balanced_accuracy_score"),
               "mean recall of the classes present"),
    _pointwise("error", False, "label", CLASSES, made.is_wrong, scikit_learn("zero_one_loss"), SHARE,
               "share of samples whose class is not predicted (0-1 loss)"),
    _of_positive("precision", "precision_score", made.precision, "share of predicted positives that are positive"),
    _of_positive("recall", "recall_score", made.recall, "share of positives that are predicted (sensitivity)"),
    _confusion("specificity", BINARY, partial(made.one_class, made.recall, 0),
               scikit_learn("recall_score", has_negative, pos_label=0), "share of negatives that are predicted"),
    f_metric(1), f_metric(0.5), f_metric(2),
    _of_positive("jaccard", "jaccard_score", made.jaccard,
                 "positives that are predicted, over all that are positive or predicted so"),
    _averaged("precision", made.precision, "precision_score", "macro", "precision"),
    _averaged("recall", made.recall, "recall_score", "macro", "recall"),
    f_metric(1, "macro"),
    _averaged("jaccard", made.jaccard, "jaccard_score", "macro", "Jaccard index"),
    _averaged("precision", made.precision, "precision_score", "weighted", "precision"),
    f_metric(1, "weighted"),
    _averaged("jaccard", made.jaccard, "jaccard_score", "weighted", "Jaccard index"),
    _averaged("jaccard", made.jaccard, "jaccard_score", "micro", "Jaccard index"),
    _confusion("mcc", CLASSES, made.mcc, scikit_learn("matthews_corrcoef", two_labels),
               "Matthews correlation of true and predicted classes", (-1, 1)),
    _confusion("cohen_kappa", CLASSES, made.cohen_kappa, scikit_learn("cohen_kappa_score", two_labels),
               "agreement of true and predicted classes beyond chance", (-1, 1)),
    _of_pairs("roc_auc", "score", BINARY, lambda t, p, folds: ranks.area(p, t.y == 1, folds),
              scikit_learn("roc_auc_score", two_labels), "area under the ROC curve"),
    _of_pairs("roc_auc_ovr", "score", MULTICLASS, _area(ranks.one_vs_rest),
              scikit_learn("roc_auc_score", all_classes, multi_class="ovr"),
              "mean over classes of the area under the ROC curve against the rest"),
    _of_pairs("roc_auc_ovr_weighted", "score", MULTICLASS, _area(ranks.one_vs_rest, weighted=True),
              scikit_learn("roc_auc_score", all_classes, multi_class="ovr", average="weighted"),
              "mean over classes, weighted by size, of the area under the ROC curve against the rest"),
    _of_pairs("roc_auc_ovo", "score", MULTICLASS, _area(ranks.one_vs_one),
              scikit_learn("roc_auc_score", all_classes, takes_weights=False, multi_class="ovo"),
              "mean over pairs of classes of the area under the ROC curve"),
    _of_pairs("roc_auc_ovo_weighted", "score", MULTICLASS, _area(ranks.one_vs_one, weighted=True),
              scikit_learn("roc_auc_score", all_classes, takes_weights=False, multi_class="ovo", average="weighted"),
              "mean over pairs of classes, weighted by size, of the area under the ROC curve"),
    _ranking("average_precision", "score", BINARY, lambda t, p: ranks.AveragePrecisionKernel(p, t.y == 1),
             scikit_learn("average_precision_score", has_positive), "precision averaged over the recall steps"),
    _pointwise("top_k_accuracy", True, "score", MULTICLASS, made.in_top_two,
               scikit_learn("top_k_accuracy_score", labels=every_class), SHARE,
               "share of samples whose class is one of the two of the highest score"),
    _pointwise("log_loss", False, "proba", CLASSES, made.log_loss, scikit_learn("log_loss", labels=every_class), LOSS,
               "mean negative log probability of the true class"),
    _pointwise("brier", False, "proba", CLASSES, made.brier,
               scikit_learn("brier_score_loss", labels=positive_or_every_class), (0, 2),
               "mean squared error of the class probabilities"),
    Metric("d2_log_loss_score", True, "proba", CLASSES,
           _skill(made.log_loss, lambda t: partial(made.entropy, t.y, n_classes(t))),
           scikit_learn("d2_log_loss_score", two_labels, labels=every_class), None, SKILL,
           "share of the log loss of constant class shares that is saved"),
    Metric("d2_brier_score", True, "proba", CLASSES, _skill(made.brier, lambda t: partial(made.impurity, t.y, n_classes(t))),
           Plain(brier_skill, two_labels, "d2_brier_score"), None, SKILL,
           "share of the Brier score of constant class shares that is saved"),
    _pointwise("mse", False, "value", REGRESSION, made.squared, scikit_learn("mean_squared_error"), LOSS,
               "mean squared error"),
    Metric("rmse", False, "value", REGRESSION, _root(made.squared), scikit_learn("root_mean_squared_error"), None, LOSS,
           "root of the mean squared error"),
    _pointwise("mae", False, "value", REGRESSION, made.absolute, scikit_learn("mean_absolute_error"), LOSS,
               "mean absolute error"),
    _pointwise("mape", False, "value", REGRESSION, made.relative, scikit_learn("mean_absolute_percentage_error"), LOSS,
               "mean absolute error as a share of the true value"),
    Metric("median_absolute_error", False, "value", REGRESSION,
           _merged(lambda t, p: made.MedianKernel(made.absolute(t.y, p))),
           scikit_learn("median_absolute_error", takes_weights=False), None, LOSS, "median of the absolute errors"),
    Metric("max_error", False, "value", REGRESSION, _merged(lambda t, p: made.LargestKernel(made.absolute(t.y, p))),
           scikit_learn("max_error", takes_weights=False), None, LOSS, "largest absolute error"),
    _pointwise("msle", False, "value", REGRESSION, _squared_log, scikit_learn("mean_squared_log_error"), LOSS,
               "mean squared error of the logarithms of 1 + value"),
    Metric("rmsle", False, "value", REGRESSION, _root(_squared_log), scikit_learn("root_mean_squared_log_error"), None,
           LOSS, "root of the mean squared error of the logarithms of 1 + value"),
    _pointwise("poisson_deviance", False, "value", REGRESSION, _poisson, scikit_learn("mean_poisson_deviance"), LOSS,
               "mean Poisson deviance, for counts"),
    _pointwise("gamma_deviance", False, "value", REGRESSION, _gamma, scikit_learn("mean_gamma_deviance"), LOSS,
               "mean gamma deviance, for positive values"),
    Metric("r2", True, "value", REGRESSION, _skill(made.squared, lambda t: partial(made.variance, t.y)),
           scikit_learn("r2_score", two_labels), None, SKILL, "share of the variance explained"),
    Metric("explained_variance", True, "value", REGRESSION, _merged(lambda t, p: made.ExplainedVarianceKernel(p, t.y)),
           scikit_learn("explained_variance_score", two_labels), None, SKILL,
           "share of the variance explained, a constant error not counted"),
    Metric("d2_absolute_error_score", True, "value", REGRESSION, _skill(made.absolute, lambda t: partial(made.deviation, t.y)),
           scikit_learn("d2_absolute_error_score", two_labels), None, SKILL,
           "share of the absolute error of the median that is saved"),
    _of_pairs("concordance", "risk", SURVIVAL, _concordance, Plain(_plain_concordance),
              "share of comparable pairs whose earlier event has the higher risk (Harrell)"),
    _pointwise("integrated_brier", False, "losses", SURVIVAL, lambda _, p: p, Plain(_plain_mean), LOSS,
               "mean squared error of the survival curves over time, weighted for censoring (Graf)"),
    _pointwise("mean", True, "pointwise", POINTWISE, lambda _, p: p, Plain(_plain_mean), (-np.inf, np.inf),
               "mean of per-sample scores made elsewhere"),
)
# fmt: on
_ABOVE = {"msle": -1.0, "rmsle": -1.0, "poisson_deviance": 0.0, "gamma_deviance": 0.0}
REGISTRY = {metric.name: replace(metric, above=_ABOVE.get(metric.name)) for metric in _BUILT_IN}

# The scorers of scikit-learn that are a built-in metric under another name, and those that are minus one.
SAME = {
    "matthews_corrcoef": "mcc",
    # Each sample has one class, so a false positive of one class is a false negative of another.
    "precision_micro": "accuracy",
    "recall_micro": "accuracy",
    "recall_weighted": "accuracy",
    "f1_micro": "accuracy",
}
_LOSSES = {
    m.name: getattr(m.reference, "function", "") for m in _BUILT_IN if not m.greater_is_better and m.name != "error"
}
MINUS = {
    "neg_brier_score" if name == "brier" else f"neg_{function or name}": name for name, function in _LOSSES.items()
}
# One question, asked of two classes or of more.
BY_TASK: dict[tuple[str, Task | None], str] = {
    ("roc_auc", "multiclass"): "roc_auc_ovr",
    ("roc_auc_ovr", "binary"): "roc_auc",
    ("roc_auc_ovr_weighted", "binary"): "roc_auc",
    ("roc_auc_ovo", "binary"): "roc_auc",
    ("roc_auc_ovo_weighted", "binary"): "roc_auc",
}


_DEFAULT: dict[Task, str] = {
    "binary": "roc_auc",
    "multiclass": "accuracy",
    "regression": "r2",
    "survival": "concordance",
    "pointwise": "mean",
}


@fill_common
def default(task: Task, response: str | None = None) -> str:
    """The metric used for a task where none is asked for.

    Parameters
    ----------
    task : str
        What is predicted: ``binary``, ``multiclass``, ``regression``, ``survival`` or ``pointwise``.
    response : str or None
        What the predictions are, where that is known: class labels cannot be ranked, so accuracy scores them.

    Returns
    -------
    str
        The name of the metric.

    Examples: {outfold}
    >>> of.metrics.default("binary"), of.metrics.default("binary", "label")
    ('roc_auc', 'accuracy')
    """
    return "accuracy" if response == "label" else _DEFAULT[task]


@fill_common
def names() -> list[str]:
    """The names of the built-in metrics; an F score with any number, such as ``f1.5``, is one too.

    Returns
    -------
    list of str
        The names, in the order of the documentation.

    Examples: {outfold}
    >>> of.metrics.names()[:3]
    ['accuracy', 'balanced_accuracy', 'error']
    """
    return list(REGISTRY)


_F_NAME = re.compile(r"f(\d+\.?\d*)(?:_(macro|weighted))?")


def named(name: str, task: Task | None = None) -> Metric | None:
    """The built-in metric of this name, ours or scikit-learn's; None where there is none."""
    name = SAME.get(name, name)
    name = BY_TASK.get((name, task), name)
    if name in MINUS:
        return minus(REGISTRY[MINUS[name]], name)
    if name in REGISTRY:
        return REGISTRY[name]
    found = _F_NAME.fullmatch(name)
    if found is None or float(found[1]) == 0:
        return None
    metric = f_metric(float(found[1]), found[2] or "binary")
    return REGISTRY.get(metric.name, metric)


# -- metrics made of others -----------------------------------------------------------------------------


def minus(metric: Metric, name: str) -> Metric:
    """Minus a loss, as scikit-learn's scorers have it, so that greater is better."""
    low, high = metric.bounds
    values = metric.values

    def reference(target: Target, prediction: Array, weights: Array | None = None) -> float:
        return 0.0 - metric.reference(target, prediction, weights)

    return replace(
        metric,
        name=name,
        greater_is_better=not metric.greater_is_better,
        kernel=lambda target, predictions: negated(metric.kernel(target, predictions)),
        reference=reference,
        values=None if values is None else lambda target, predictions: 0 - values(target, predictions),
        bounds=(-high, -low),
        description=f"minus {metric.name}: {metric.description}",
    )


def of_class(metric: Metric, label: Any) -> Metric:
    """A metric of the positive class, taken of the class of this label instead."""

    def turned(target: Target, predictions: Array) -> tuple[Target, Array]:
        assert target.classes is not None
        if target.classes[1] == label:
            return target, predictions
        if target.classes[0] == label:
            return Target(target.task, 1 - target.y, target.classes[::-1]), 1 - predictions
        known = " and ".join(map(repr, target.classes.tolist()))
        raise invalid("pos_label", f"of {metric.name} must be one of the classes {known}", got(label))

    def reference(target: Target, prediction: Array, weights: Array | None = None) -> float:
        return metric.reference(*turned(target, prediction), weights)

    return replace(
        metric,
        name=f"{metric.name}(pos_label={label!r})",
        kernel=lambda target, predictions: metric.kernel(*turned(target, predictions)),
        reference=reference,
        description=f"{metric.name} of the class {label}",
    )
