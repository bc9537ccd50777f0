"""The built-in metrics: each with a fast kernel and a plain path."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..data.target import Target, Task
from ..exceptions import InputError, got
from ..stats import confusion, losses, ranks
from ..stats.kernels import Array, Floats, Kernel, MeanKernel, Negated, merged
from ..stats.ranks import ConcordanceKernel
from ._definition import BINARY, CLASSES, MULTICLASS, POINTWISE, REGRESSION, SURVIVAL, Metric

__all__ = ["BY_TASK", "MINUS", "REGISTRY", "SAME", "default", "f_metric", "minus", "named", "names", "of_class"]

# -- the plain path ------------------------------------------------------------------------------------

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Plain:
    """A function of (target, prediction, positive weights) on the rows that have weight; NaN where none has.

    Attributes
    ----------
    score
        The function.
    defined
        Whether the labels define the metric; it is NaN elsewhere.
    """

    score: Callable[[Target, Array, Floats], float]
    defined: Callable[[Target], bool] | None = None

    def __call__(self, target: Target, prediction: Array, weights: Array | None = None) -> float:
        """The metric of one configuration."""
        weights = np.ones(len(target)) if weights is None else np.asarray(weights, dtype=np.float64)
        rows = np.flatnonzero(weights)
        held = target.take(rows)
        if len(rows) == 0 or not (self.defined is None or self.defined(held)):
            return np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(self.score(held, prediction[rows], weights[rows]))


@dataclass(frozen=True)
class ScikitLearn(Plain):
    """A function of ``sklearn.metrics``.

    Attributes
    ----------
    function, options
        Its name and options; a scorer of the same ones is this metric.
    """

    function: str = ""
    options: Options = field(default_factory=dict)


def scikit_learn(
    function: str,
    defined: Callable[[Target], bool] | None = None,
    *,
    labels: Callable[[Target, Array], Options] | None = None,
    takes_weights: bool = True,
    **options: Any,
) -> ScikitLearn:
    """The path through a function of ``sklearn.metrics``.

    Parameters
    ----------
    function, options
        Its name and options.
    defined
        Whether the labels define the metric.
    labels
        Options that say which classes there are.
    takes_weights
        Whether it takes weights; otherwise rows are repeated.
    """

    def score(target: Target, prediction: Array, weights: Floats) -> float:
        import sklearn.metrics

        known = {} if labels is None else labels(target, prediction)
        call = getattr(sklearn.metrics, function)
        if takes_weights:
            return float(call(target.y, prediction, sample_weight=weights, **options, **known))
        rows = np.repeat(np.arange(len(target)), weights.astype(np.intp))
        return float(call(target.y[rows], prediction[rows], **options, **known))

    return ScikitLearn(score, defined, function, options)


# -- labels that define a metric ------------------------------------------------------------------------


def two_labels(target: Target) -> bool:
    """Not all labels are equal."""
    return len(np.unique(target.y)) > 1


def has_positive(target: Target) -> bool:
    """Some sample is of the positive class."""
    return bool((target.y == 1).any())


def has_negative(target: Target) -> bool:
    """Some sample is of the negative class."""
    return bool((target.y == 0).any())


def all_classes(target: Target) -> bool:
    """Every class has a sample."""
    return len(np.unique(target.y)) == n_classes(target)


def n_classes(target: Target) -> int:
    """Number of classes, with or without samples."""
    assert target.classes is not None
    return len(target.classes)


# -- options that name the classes ----------------------------------------------------------------------


def every_class(target: Target, prediction: Array) -> Options:
    """All classes, also those without samples."""
    return {"labels": np.arange(n_classes(target))}


def positive_or_every_class(target: Target, prediction: Array) -> Options:
    """The positive class for probabilities of that one alone."""
    return {"pos_label": 1} if prediction.ndim == 1 else every_class(target, prediction)


# -- plain paths of our own -----------------------------------------------------------------------------------


def _plain_concordance(target: Target, prediction: Array, weights: Floats) -> float:
    """Harrell's index over all pairs."""
    time, event = target.y, target.event
    assert event is not None
    later = (time[:, None] < time) | ((time[:, None] == time) & ~event)
    pairs = np.outer(weights, weights) * (event[:, None] & later)
    if not pairs.any():
        return np.nan
    concordant = (prediction[:, None] > prediction) + 0.5 * (prediction[:, None] == prediction)
    return float((pairs * concordant).sum() / pairs.sum())


def _plain_mean(target: Target, prediction: Array, weights: Floats) -> float:
    """The mean of scores as given."""
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

Loss = Callable[[Array, Array], Array]


def _mean_of(loss: Loss) -> dict[str, Any]:
    """Values and kernel of the mean of a per-sample loss."""
    return {
        "values": lambda target, predictions: loss(target.y, predictions),
        "kernel": lambda target, predictions: MeanKernel(loss(target.y, predictions)),
    }


def _merged(build: Callable[[Target, Array], Kernel]) -> Callable[[Target, Array], Kernel]:
    """The kernel factory with equal columns evaluated once."""
    return lambda target, predictions: merged(predictions, lambda columns: build(target, columns))


def _within(loss: Loss, name: str, y_above: float, above: float, y_may_equal: bool = False) -> Loss:
    """The loss, refused for labels and predictions outside the range it is defined on."""

    def checked(y: Array, values: Floats) -> Array:
        lowest = y.min(initial=np.inf)
        if lowest < y_above or (lowest == y_above and not y_may_equal):
            least = "of at least" if y_may_equal else "above"
            raise InputError(
                argument=name,
                needed=f"needs labels {least} {y_above:g}",
                given=f"the smallest is {lowest:g}",
                remedy="Use mse or mae.",
            )
        smallest = values.min(initial=np.inf)
        if smallest <= above:
            raise InputError(
                argument=name,
                needed=f"needs predictions above {above:g}",
                given=f"the smallest is {smallest:g}",
                remedy="Use mse or mae, or leave out the configurations that predict such values.",
            )
        return loss(y, values)

    return checked


def _one_class(name: str, share: confusion.Share, reference: Plain, description: str, *, code: int = 1) -> Metric:
    """A share of one of two classes."""
    return Metric(
        name, True, "label", BINARY,
        kernel=_merged(lambda t, p: confusion.OneClassKernel(p, t.y, share, code)),
        reference=reference, bounds=(0, 1), description=description,
    )  # fmt: skip


_AVERAGES: dict[str, tuple[type[confusion.AveragedKernel], str]] = {
    "macro": (confusion.MacroKernel, "mean {} of the classes present or predicted"),
    "weighted": (confusion.WeightedKernel, "mean {} of the classes, weighted by their number of samples"),
    "micro": (confusion.MicroKernel, "{} of all classes taken together"),
}


def _averaged(name: str, share: confusion.Share, function: str, average: str, what: str, **options: Any) -> Metric:
    """A share of every class, averaged as scikit-learn does."""
    kernel, description = _AVERAGES[average]
    return Metric(
        f"{name}_{average}", True, "label", CLASSES,
        kernel=_merged(lambda t, p: kernel(p, t.y, n_classes(t), share)),
        reference=scikit_learn(function, average=average, **options), bounds=(0, 1),
        description=description.format(what),
    )  # fmt: skip


def f_metric(beta: float, average: str = "binary") -> Metric:
    """The F score that gives recall beta times the weight of precision."""
    name = f"f{np.format_float_positional(beta, trim='-')}"
    share = confusion.fbeta(beta)
    function = "f1_score" if beta == 1 else "fbeta_score"
    options: dict[str, Any] = {} if beta == 1 else {"beta": float(beta)}
    if average != "binary":
        return _averaged(name, share, function, average, name.upper(), **options)
    mean = "harmonic mean" if beta == 1 else "weighted harmonic mean"
    favour = "" if beta == 1 else f", recall counting {name[1:]} times as much"
    description = f"{mean} of precision and recall of the positive class{favour}"
    return _one_class(name, share, scikit_learn(function, has_positive, **options), description)


def _share(metric: str, function: str, share: confusion.Share, description: str) -> Metric:
    return _one_class(metric, share, scikit_learn(function, has_positive), description)


def _concordance(target: Target, predictions: Array) -> Kernel:
    assert target.event is not None
    return ConcordanceKernel(predictions, target.y, target.event)


_squared_log = _within(losses.squared_log, "the squared logarithmic error", -1, -1)
_poisson = _within(losses.poisson_deviance, "the Poisson deviance", 0, 0, y_may_equal=True)
_gamma = _within(losses.gamma_deviance, "the gamma deviance", 0, 0)

# -- the metrics ----------------------------------------------------------------------------------------

# fmt: off
_BUILT_IN = (
    Metric("accuracy", True, "label", CLASSES, **_mean_of(losses.correct),
           reference=scikit_learn("accuracy_score"), bounds=(0, 1),
           description="share of samples whose class is predicted"),
    Metric("balanced_accuracy", True, "label", CLASSES,
           kernel=_merged(lambda t, p: confusion.BalancedAccuracyKernel(p, t.y, n_classes(t))),
           reference=scikit_learn("balanced_accuracy_score"), bounds=(0, 1),
           description="mean recall of the classes present"),
    Metric("error", False, "label", CLASSES, **_mean_of(losses.wrong),
           reference=scikit_learn("zero_one_loss"), bounds=(0, 1),
           description="share of samples whose class is not predicted (0-1 loss)"),
    _share("precision", "precision_score", confusion.precision, "share of predicted positives that are positive"),
    _share("recall", "recall_score", confusion.recall, "share of positives that are predicted (sensitivity)"),
    _one_class("specificity", confusion.recall, scikit_learn("recall_score", has_negative, pos_label=0),
               "share of negatives that are predicted", code=0),
    f_metric(1),
    f_metric(0.5),
    f_metric(2),
    _share("jaccard", "jaccard_score", confusion.jaccard,
           "positives that are predicted, over all that are positive or predicted so"),
    _averaged("precision", confusion.precision, "precision_score", "macro", "precision"),
    _averaged("recall", confusion.recall, "recall_score", "macro", "recall"),
    f_metric(1, "macro"),
    _averaged("jaccard", confusion.jaccard, "jaccard_score", "macro", "Jaccard index"),
    _averaged("precision", confusion.precision, "precision_score", "weighted", "precision"),
    f_metric(1, "weighted"),
    _averaged("jaccard", confusion.jaccard, "jaccard_score", "weighted", "Jaccard index"),
    _averaged("jaccard", confusion.jaccard, "jaccard_score", "micro", "Jaccard index"),
    Metric("mcc", True, "label", CLASSES,
           kernel=_merged(lambda t, p: confusion.MccKernel(p, t.y, n_classes(t))),
           reference=scikit_learn("matthews_corrcoef", two_labels), bounds=(-1, 1),
           description="Matthews correlation of true and predicted classes"),
    Metric("cohen_kappa", True, "label", CLASSES,
           kernel=_merged(lambda t, p: confusion.KappaKernel(p, t.y, n_classes(t))),
           reference=scikit_learn("cohen_kappa_score", two_labels), bounds=(-1, 1),
           description="agreement of true and predicted classes beyond chance"),
    Metric("roc_auc", True, "score", BINARY,
           kernel=_merged(lambda t, p: ranks.AucKernel(p, t.y == 1)),
           reference=scikit_learn("roc_auc_score", two_labels), bounds=(0, 1),
           description="area under the ROC curve"),
    Metric("roc_auc_ovr", True, "score", MULTICLASS,
           kernel=_merged(lambda t, p: ranks.one_vs_rest(p, t.y)),
           reference=scikit_learn("roc_auc_score", all_classes, multi_class="ovr"), bounds=(0, 1),
           description="mean over classes of the area under the ROC curve against the rest"),
    Metric("roc_auc_ovr_weighted", True, "score", MULTICLASS,
           kernel=_merged(lambda t, p: ranks.one_vs_rest(p, t.y, weighted=True)),
           reference=scikit_learn("roc_auc_score", all_classes, multi_class="ovr", average="weighted"),
           bounds=(0, 1), description="mean over classes, weighted by size, of the area under the ROC curve against the rest"),
    Metric("roc_auc_ovo", True, "score", MULTICLASS,
           kernel=_merged(lambda t, p: ranks.one_vs_one(p, t.y)),
           reference=scikit_learn("roc_auc_score", all_classes, takes_weights=False, multi_class="ovo"),
           bounds=(0, 1), description="mean over pairs of classes of the area under the ROC curve"),
    Metric("roc_auc_ovo_weighted", True, "score", MULTICLASS,
           kernel=_merged(lambda t, p: ranks.one_vs_one(p, t.y, weighted=True)),
           reference=scikit_learn("roc_auc_score", all_classes, takes_weights=False, multi_class="ovo",
                                        average="weighted"),
           bounds=(0, 1), description="mean over pairs of classes, weighted by size, of the area under the ROC curve"),
    Metric("average_precision", True, "score", BINARY,
           kernel=_merged(lambda t, p: ranks.AveragePrecisionKernel(p, t.y == 1)),
           reference=scikit_learn("average_precision_score", has_positive), bounds=(0, 1),
           description="precision averaged over the recall steps"),
    Metric("top_k_accuracy", True, "score", MULTICLASS, **_mean_of(losses.in_top(2)),
           reference=scikit_learn("top_k_accuracy_score", labels=every_class), bounds=(0, 1),
           description="share of samples whose class is one of the two of the highest score"),
    Metric("log_loss", False, "proba", CLASSES, **_mean_of(losses.log_loss),
           reference=scikit_learn("log_loss", labels=every_class), bounds=(0, np.inf),
           description="mean negative log probability of the true class"),
    Metric("brier", False, "proba", CLASSES, **_mean_of(losses.brier),
           reference=scikit_learn("brier_score_loss", labels=positive_or_every_class), bounds=(0, 2),
           description="mean squared error of the class probabilities"),
    Metric("d2_log_loss_score", True, "proba", CLASSES,
           kernel=lambda t, p: losses.SkillKernel(losses.log_loss(t.y, p), losses.entropy(t.y, n_classes(t))),
           reference=scikit_learn("d2_log_loss_score", two_labels, labels=every_class),
           bounds=(-np.inf, 1), description="share of the log loss of constant class shares that is saved"),
    Metric("d2_brier_score", True, "proba", CLASSES,
           kernel=lambda t, p: losses.SkillKernel(losses.brier(t.y, p), losses.impurity(t.y, n_classes(t))),
           reference=ScikitLearn(brier_skill, two_labels, "d2_brier_score"),
           bounds=(-np.inf, 1), description="share of the Brier score of constant class shares that is saved"),
    Metric("mse", False, "value", REGRESSION, **_mean_of(losses.squared),
           reference=scikit_learn("mean_squared_error"), bounds=(0, np.inf),
           description="mean squared error"),
    Metric("rmse", False, "value", REGRESSION,
           kernel=lambda t, p: losses.RootMeanKernel(losses.squared(t.y, p)),
           reference=scikit_learn("root_mean_squared_error"), bounds=(0, np.inf),
           description="root of the mean squared error"),
    Metric("mae", False, "value", REGRESSION, **_mean_of(losses.absolute),
           reference=scikit_learn("mean_absolute_error"), bounds=(0, np.inf),
           description="mean absolute error"),
    Metric("mape", False, "value", REGRESSION, **_mean_of(losses.relative),
           reference=scikit_learn("mean_absolute_percentage_error"), bounds=(0, np.inf),
           description="mean absolute error as a share of the true value"),
    Metric("median_absolute_error", False, "value", REGRESSION,
           kernel=_merged(lambda t, p: losses.MedianKernel(losses.absolute(t.y, p))),
           reference=scikit_learn("median_absolute_error", takes_weights=False), bounds=(0, np.inf),
           description="median of the absolute errors"),
    Metric("max_error", False, "value", REGRESSION,
           kernel=_merged(lambda t, p: losses.LargestKernel(losses.absolute(t.y, p))),
           reference=scikit_learn("max_error", takes_weights=False), bounds=(0, np.inf),
           description="largest absolute error"),
    Metric("msle", False, "value", REGRESSION, **_mean_of(_squared_log),
           reference=scikit_learn("mean_squared_log_error"), bounds=(0, np.inf),
           description="mean squared error of the logarithms of 1 + value"),
    Metric("rmsle", False, "value", REGRESSION,
           kernel=lambda t, p: losses.RootMeanKernel(_squared_log(t.y, p)),
           reference=scikit_learn("root_mean_squared_log_error"), bounds=(0, np.inf),
           description="root of the mean squared error of the logarithms of 1 + value"),
    Metric("poisson_deviance", False, "value", REGRESSION, **_mean_of(_poisson),
           reference=scikit_learn("mean_poisson_deviance"), bounds=(0, np.inf),
           description="mean Poisson deviance, for counts"),
    Metric("gamma_deviance", False, "value", REGRESSION, **_mean_of(_gamma),
           reference=scikit_learn("mean_gamma_deviance"), bounds=(0, np.inf),
           description="mean gamma deviance, for positive values"),
    Metric("r2", True, "value", REGRESSION,
           kernel=lambda t, p: losses.SkillKernel(losses.squared(t.y, p), losses.variance(t.y)),
           reference=scikit_learn("r2_score", two_labels), bounds=(-np.inf, 1),
           description="share of the variance explained"),
    Metric("explained_variance", True, "value", REGRESSION,
           kernel=_merged(lambda t, p: losses.ExplainedVarianceKernel(p, t.y)),
           reference=scikit_learn("explained_variance_score", two_labels), bounds=(-np.inf, 1),
           description="share of the variance explained, a constant error not counted"),
    Metric("d2_absolute_error_score", True, "value", REGRESSION,
           kernel=lambda t, p: losses.SkillKernel(losses.absolute(t.y, p), losses.deviation(t.y)),
           reference=scikit_learn("d2_absolute_error_score", two_labels), bounds=(-np.inf, 1),
           description="share of the absolute error of the median that is saved"),
    Metric("concordance", True, "risk", SURVIVAL,
           kernel=_merged(_concordance), reference=Plain(_plain_concordance), bounds=(0, 1),
           description="share of comparable pairs whose earlier event has the higher risk (Harrell)"),
    Metric("mean", True, "pointwise", POINTWISE, **_mean_of(losses.given), reference=Plain(_plain_mean),
           description="mean of per-sample scores made elsewhere"),
)
# fmt: on
REGISTRY = {metric.name: metric for metric in _BUILT_IN}

# The scorers of scikit-learn that are a built-in metric under another name, and those that are minus one.
SAME = {
    "matthews_corrcoef": "mcc",
    # One class a sample: every false positive of a class is a false negative of another.
    "precision_micro": "accuracy",
    "recall_micro": "accuracy",
    "recall_weighted": "accuracy",
    "f1_micro": "accuracy",
}
MINUS = {
    "neg_log_loss": "log_loss",
    "neg_brier_score": "brier",
    "neg_mean_squared_error": "mse",
    "neg_root_mean_squared_error": "rmse",
    "neg_mean_absolute_error": "mae",
    "neg_mean_absolute_percentage_error": "mape",
    "neg_median_absolute_error": "median_absolute_error",
    "neg_max_error": "max_error",
    "neg_mean_squared_log_error": "msle",
    "neg_root_mean_squared_log_error": "rmsle",
    "neg_mean_poisson_deviance": "poisson_deviance",
    "neg_mean_gamma_deviance": "gamma_deviance",
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

    Examples
    --------
    >>> import outfold as of
    >>> of.metrics.default("binary"), of.metrics.default("binary", "label")
    ('roc_auc', 'accuracy')
    """
    return "accuracy" if response == "label" else _DEFAULT[task]


def names() -> list[str]:
    """The names of the built-in metrics; an F score with any number, such as ``f1.5``, is one too.

    Returns
    -------
    list of str
        The names, in the order of the documentation.

    Examples
    --------
    >>> import outfold as of
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
        kernel=lambda target, predictions: Negated(metric.kernel(target, predictions)),
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
        raise InputError(
            argument="pos_label", needed=f"of {metric.name} must be one of the classes {known}", given=got(label)
        )

    def reference(target: Target, prediction: Array, weights: Array | None = None) -> float:
        return metric.reference(*turned(target, prediction), weights)

    return replace(
        metric,
        name=f"{metric.name}(pos_label={label!r})",
        kernel=lambda target, predictions: metric.kernel(*turned(target, predictions)),
        reference=reference,
        description=f"{metric.name} of the class {label}",
    )
