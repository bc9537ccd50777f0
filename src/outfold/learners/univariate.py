"""Selection of features by one test for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..docstrings import fill_with
from .independence import filled_numbers, level_codes, near_one
from .mixed import CategoricalFeatures, Category, Codes, Column, Floats
from .selecting import TEXTS, SelectionTask, Selector

__all__ = ["Univariate"]


@fill_with(TEXTS)
class Univariate(Selector):
    """Keep the features that a test finds associated with the target, each by itself.

    For a target with classes, a number is tested by the t test, or the F test of more than two classes. A category is tested
    by chi-squared, all levels together, and so is a number with two values. For a target that is a number, a number is tested
    by its correlation, and a category by the F test of its levels. This is the univariate selection of [1]_. Missing numbers
    count as the median. Missing categories are a level.

    Parameters
    ----------
    alpha : float
        Level of the tests. There is no correction for their number.
    {task, categorical_features}

    Attributes
    ----------
    pvalues_ : ndarray of float
        The p value of each feature; 1 for a constant one.
    selected_ : ndarray of int
        Positions of the features kept. If no test finds anything, the one with the smallest p value, since a model needs one.
    is_categorical_ : ndarray of bool
        Which features are categories.

    References: {tsamardinos2015}

    Examples
    --------
    >>> from outfold.learners import Univariate
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> Univariate(alpha=0.01).fit(X, y).selected_.tolist()
    [0, 1, 2, 3]
    """

    def __init__(
        self,
        alpha: float = 0.05,
        task: SelectionTask = "auto",
        categorical_features: CategoricalFeatures = "from_dtype",
    ) -> None:
        self.alpha = alpha
        self.task = task
        self.categorical_features = categorical_features

    def _select(self, columns: Sequence[Column], y: NDArray[Any]) -> None:
        classes = self._classes(y)
        target = near_one(y.astype(np.float64)) if classes is None else np.empty(0)
        is_category = np.array([isinstance(column, Category) for column in columns])
        log_p = np.zeros(len(columns))
        if not is_category.all():
            X = near_one(np.column_stack([filled_numbers(c) for c in columns if not isinstance(c, Category)]))
            log_p[~is_category] = _of_correlations(X, target) if classes is None else _of_classes(X, classes)
        log_p[is_category] = [_of_levels(level_codes(c), classes, target) for c in columns if isinstance(c, Category)]
        self.pvalues_ = np.exp(log_p)
        passed = np.flatnonzero(log_p <= np.log(self.alpha))
        # Logarithms tell features apart whose p values are too small for a number.
        self.selected_ = passed if len(passed) else np.array([int(np.argmin(log_p))])


def _of_correlations(X: Floats, y: Floats) -> Floats:
    """Log p value of the correlation of each column with y."""
    from scipy.stats import t as student

    df = len(y) - 2
    if df < 1:
        return np.zeros(X.shape[1])
    centred, y = X - X.mean(axis=0), y - y.mean()
    size = np.sqrt((centred**2).sum(axis=0) * (y @ y))
    varies = size > 0
    r = np.where(varies, centred.T @ y / np.where(varies, size, 1.0), 0.0)
    t = np.abs(r) * np.sqrt(df / np.maximum(1 - r * r, 1e-300))
    return np.asarray(np.minimum(np.log(2) + student.logsf(t, df), 0.0))


def _of_levels(levels: Codes, classes: Codes | None, y: Floats) -> float:
    """Log p value of a category: chi-squared of its levels by the classes, or F of a number by its levels."""
    hot = _one_hot(levels)
    if hot.shape[1] == 1:
        return 0.0
    if classes is None:
        return float(_f_test(y[:, None], hot)[0])
    return _chi_squared_of_table(hot.T @ _one_hot(classes))


def _one_hot(codes: Codes) -> Floats:
    return np.eye(codes.max() + 1)[codes]


def _of_classes(X: Floats, codes: Codes) -> Floats:
    """Log p value of each column: chi-squared of two values, F of more."""
    hot = _one_hot(codes)
    low, high = X.min(axis=0), X.max(axis=0)
    two_values = ((low == X) | (high == X)).all(axis=0)
    out = np.zeros(X.shape[1])
    pairs = np.flatnonzero(two_values & (high > low))
    many = np.flatnonzero(~two_values)
    out[pairs] = _chi_squared((X[:, pairs] == high[pairs]).astype(np.float64), hot)
    out[many] = _f_test(X[:, many], hot)
    return out


def _chi_squared(high: Floats, hot: Floats) -> Floats:
    """Of the tables of two values and K classes; without a correction for continuity."""
    from scipy.stats import chi2

    n, of_class = len(high), hot.sum(axis=0)
    expected = high.sum(axis=0)[:, None] * of_class / n
    # The row of low values deviates by the same amounts as that of high values.
    deviation = (high.T @ hot - expected) ** 2
    statistic = (deviation / expected + deviation / (of_class - expected)).sum(axis=1)
    return np.asarray(chi2.logsf(statistic, hot.shape[1] - 1))


def _chi_squared_of_table(counts: Floats) -> float:
    """Without a correction for continuity."""
    from scipy.stats import chi2

    of_level, of_class = counts.sum(axis=1), counts.sum(axis=0)
    expected = np.outer(of_level, of_class) / counts.sum()
    statistic = ((counts - expected) ** 2 / expected).sum()
    return float(chi2.logsf(statistic, (len(of_level) - 1) * (len(of_class) - 1)))


def _f_test(X: Floats, hot: Floats) -> Floats:
    """Analysis of variance; of two classes, Student's t test with equal variances."""
    from scipy.stats import f

    n, k = hot.shape
    if n <= k:
        return np.zeros(X.shape[1])
    centred = X - X.mean(axis=0)
    of_class = hot.sum(axis=0)
    means = hot.T @ centred / of_class[:, None]
    between = (means**2 * of_class[:, None]).sum(axis=0)
    within = np.maximum((centred**2).sum(axis=0) - between, 0.0)
    ratio = between / (k - 1) / np.maximum(within / (n - k), 1e-300)
    return np.asarray(f.logsf(ratio, k - 1, n - k))
