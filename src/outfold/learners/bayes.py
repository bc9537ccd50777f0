"""Naive Bayes with kernel densities (John and Langley 1995)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ..arguments import is_number
from ..docstrings import fill_with
from ..exceptions import got, invalid
from .mixed import NO_LEVEL, TEXTS, CategoricalFeatures, Category, Codes, Floats, read_rows, read_training
from .weighing import positive_weights

__all__ = ["KernelNaiveBayes"]

Bandwidth = Literal["range", "scott", "silverman"] | float
_RULES = ("range", "scott", "silverman")
# Kernels times rows at once: few enough to stay in the processor's cache.
_MOST_ENTRIES = 2**16
# WEKA's smallest bandwidth: a sixth of the mean gap between neighbouring values.
_GAPS = 6
# Squares would overflow: numbers of another size are brought near 1, and none is farther from the kernels than so many widths.
_EXPONENTS, _FARTHEST = 400, 1e150


@fill_with(TEXTS)
class KernelNaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes that estimates the density of each number in each class by a sum of normal kernels.

    Features are taken as independent within a class. A number has one normal kernel around each training value [1]_, so its
    density may have any shape. `GaussianNB` of scikit-learn has one normal density instead. A category has the shares of its
    levels by Laplace's rule, (n of the level + 1) / (n + number of levels), and so have the classes. This is WEKA's
    ``NaiveBayes -K``, but for one thing: WEKA first rounds numbers to a grid, and leaves out far kernels.

    A missing value says nothing about the class, and neither does a level that the training rows do not have.

    Parameters
    ----------
    bandwidth : {"range", "scott", "silverman"} or float
        The standard deviation of the kernels, for each class and number. ``"range"`` is the range of its n values divided by
        the square root of n, as in WEKA; [1]_ has one over the square root of n. ``"scott"`` and ``"silverman"`` are those of
        `scipy.stats.gaussian_kde`, the standard deviation times n^(-1/5) or (3n/4)^(-1/5); a float replaces the factor. The
        smallest bandwidth is a sixth of the mean gap between neighbouring values of all classes.
    {categorical_features}

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    class_log_prior_ : ndarray of float
        Logarithms of their shares, by Laplace's rule.
    features_ : list
        For each column, the densities or the shares that were learnt.
    is_categorical_ : ndarray of bool
        Which columns are categories.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if X had any.

    References: {john1995}

    Examples
    --------
    >>> from outfold.learners import KernelNaiveBayes
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelNaiveBayes().fit(X, y).predict_proba(X[70:71]).round(3)
    array([[0.   , 0.239, 0.761]])
    """

    def __init__(
        self, bandwidth: Bandwidth = "range", categorical_features: CategoricalFeatures = "from_dtype"
    ) -> None:
        self.bandwidth = bandwidth
        self.categorical_features = categorical_features

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelNaiveBayes:
        """Learn densities and shares; a row of weight 2 counts as two rows, one of weight 0 as none."""
        rule = self.bandwidth
        if rule not in _RULES and not (is_number(rule) and float(rule) > 0):
            raise invalid("bandwidth", "must be 'range', 'scott', 'silverman' or a number above 0", got(rule))
        columns, y = read_training(self, X, y)
        check_classification_targets(y)
        kept, weights = positive_weights(sample_weight, len(y))
        self.classes_, codes = np.unique(y, return_inverse=True)
        by_class = weights[:, None] * (codes[kept, None] == np.arange(len(self.classes_)))
        counts = by_class.sum(axis=0) + 1.0
        self.class_log_prior_ = np.log(counts / counts.sum())
        self.features_ = [
            LevelShares(Category(column.values[kept], column.known[kept]), by_class)
            if isinstance(column, Category)
            else KernelDensities(column[kept], by_class, rule)
            for column in columns
        ]
        return self

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Logarithms of class share times likelihood, by class."""
        check_is_fitted(self)
        columns = read_rows(self, X)
        out = self.class_log_prior_
        for feature, column in zip(self.features_, columns, strict=True):
            out = out + feature.log_likelihood(column)
        return np.asarray(out)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities, in the order of ``classes_``."""
        joint = self.predict_joint_log_proba(X)
        top = joint.max(axis=1, keepdims=True)
        return np.asarray(joint - top - np.log(np.exp(joint - top).sum(axis=1, keepdims=True)))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, in the order of ``classes_``."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class."""
        best = self.predict_joint_log_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class LevelShares:
    """The shares of the levels of a category, by class."""

    def __init__(self, column: Category, by_class: Floats) -> None:
        self.levels = column.levels()
        codes = column.codes(self.levels)
        hot = codes[:, None] == np.arange(len(self.levels))
        counts = hot.astype(np.float64).T @ by_class + 1.0
        self.log_shares: Floats = np.log(counts / counts.sum(axis=0))

    def log_likelihood(self, column: Any) -> Floats:
        """(n, classes) of a column of categories; 0 where the level is not known."""
        codes: Codes = column.codes(self.levels)
        nothing = np.zeros((1, self.log_shares.shape[1]))
        return np.asarray(
            np.concatenate([self.log_shares, nothing])[np.where(codes == NO_LEVEL, len(self.levels), codes)]
        )


class KernelDensities:
    """The densities of a number, by class: the centres and weights of their kernels, and the bandwidths."""

    # Of the power of two that the numbers are divided by, so that their squares neither overflow nor vanish. Models that an
    # earlier version saved lack it; their numbers were not divided.
    _exponent = 0

    def __init__(self, column: Floats, by_class: Floats, rule: Bandwidth) -> None:
        known = ~np.isnan(column)
        exponent = int(np.frexp(np.abs(column[known]).max(initial=0.0))[1])
        self._exponent = exponent if abs(exponent) > _EXPONENTS else 0
        values, place = np.unique(np.ldexp(column[known], -self._exponent), return_inverse=True)
        weights = np.zeros((len(values), by_class.shape[1]))
        np.add.at(weights, place, by_class[known])
        # A class without a known value gets the density of all classes, which says nothing.
        weights[:, weights.sum(axis=0) == 0] = weights.sum(axis=1)[:, None]
        smallest = np.ptp(values) / (len(values) - 1) / _GAPS if len(values) > 1 else 0.0
        used = [column > 0 for column in weights.T]
        self.centres = [values[some] for some in used]
        self.weights = [column[some] for column, some in zip(weights.T, used, strict=True)]
        kernels = zip(self.centres, self.weights, strict=True)
        self.bandwidths = np.array([max(_bandwidth(*each, rule), smallest) if len(values) else 0.0 for each in kernels])

    def log_likelihood(self, column: Any) -> Floats:
        """(n, classes) of a column of numbers; 0 where the value is missing, and where all training values are equal."""
        out = np.zeros((len(column), len(self.centres)))
        known = ~np.isnan(column)
        if self.bandwidths.all():
            with np.errstate(over="ignore"):
                scaled = np.ldexp(column[known], -self._exponent)
            values, place = np.unique(scaled, return_inverse=True)
            kernels = zip(self.centres, self.weights, self.bandwidths, strict=True)
            densities = np.column_stack([_log_density(values, *each) for each in kernels])
            out[known] = (densities - self._exponent * np.log(2))[place]
        return out


def _bandwidth(values: Floats, weights: Floats, rule: Bandwidth) -> float:
    n = weights.sum()
    if rule == "range":
        return float(np.ptp(values) / np.sqrt(n))
    mean = values @ weights / n
    spread = np.sqrt((values - mean) ** 2 @ weights / (n - 1)) if n > 1 else 0.0
    factor = {"scott": n**-0.2, "silverman": (0.75 * n) ** -0.2}[rule] if isinstance(rule, str) else rule
    return float(spread * factor)


def _log_density(x: Floats, centres: Floats, weights: Floats, width: float) -> Floats:
    """The logarithm of the weighted mean of normal densities around the centres, which are in ascending order."""
    x = np.clip(x, centres[0] - _FARTHEST * width, centres[-1] + _FARTHEST * width)
    log_weights = np.log(weights / weights.sum() / (width * np.sqrt(2 * np.pi)))
    out = np.empty(len(x))
    rows = max(1, _MOST_ENTRIES // len(centres))
    for start in range(0, len(x), rows):
        exponents = (x[start : start + rows, None] - centres) / width
        np.square(exponents, out=exponents)
        exponents *= -0.5
        exponents += log_weights
        # Far from all centres, densities are too small for floats, and their logarithms are not.
        top = exponents.max(axis=1)
        exponents -= top[:, None]
        out[start : start + rows] = top + np.log(np.exp(exponents, out=exponents).sum(axis=1))
    return out
