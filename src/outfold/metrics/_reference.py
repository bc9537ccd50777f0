"""The plain and slow path of every built-in metric, most of them a function of scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.target import Target
from ..stats.kernels import Array, Floats

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


# -- paths of our own -----------------------------------------------------------------------------------


def concordance(target: Target, prediction: Array, weights: Floats) -> float:
    """Harrell's index over all pairs."""
    time, event = target.y, target.event
    assert event is not None
    later = (time[:, None] < time) | ((time[:, None] == time) & ~event)
    pairs = np.outer(weights, weights) * (event[:, None] & later)
    if not pairs.any():
        return np.nan
    concordant = (prediction[:, None] > prediction) + 0.5 * (prediction[:, None] == prediction)
    return float((pairs * concordant).sum() / pairs.sum())


def mean(target: Target, prediction: Array, weights: Floats) -> float:
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
