"""Selection of features by one test for each of them."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from ..arguments import check_alpha, check_choice
from ..docstrings import fill_common
from ..exceptions import invalid
from .selecting import Selector
from .ses import MOST_CLASSES

__all__ = ["Univariate"]

Floats = NDArray[np.float64]
UnivariateTask = Literal["auto", "classification", "regression"]


@fill_common
class Univariate(Selector):
    """Keep the features that a test finds associated with the target, each by itself.

    For a target with classes, a feature with two values is tested by chi-squared, as is a column of a one-hot encoding. Other
    features are tested by the t test, or the F test of more than two classes. For a number, the test is that of a correlation.
    This is the univariate selection of [1]_, which tests a categorical feature as a whole.

    Parameters
    ----------
    alpha : float
        Level of the tests. There is no correction for their number.
    task : {"auto", "classification", "regression"}
        ``auto`` takes numbers with more than 20 different values for a regression.

    Attributes
    ----------
    pvalues_ : ndarray of float
        The p value of each feature; 1 for a constant one.
    selected_ : ndarray of int
        Positions of the features kept. If no test finds anything, the one with the smallest p value, since a model needs one.

    References: {tsamardinos2015}

    Examples
    --------
    >>> from outfold.learners import Univariate
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> Univariate(alpha=0.01).fit(X, y).selected_.tolist()
    [0, 1, 2, 3]
    """

    def __init__(self, alpha: float = 0.05, task: UnivariateTask = "auto") -> None:
        self.alpha = alpha
        self.task = task

    def fit(self, X: Any, y: Any) -> Univariate:
        """Test each feature."""
        check_alpha(self.alpha)
        check_choice(self.task, get_args(UnivariateTask), "task")
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        labels, codes = np.unique(y, return_inverse=True)
        by_auto = self.task == "auto" and y.dtype.kind in "iuf" and len(labels) > MOST_CLASSES
        if self.task == "regression" or by_auto:
            log_p = _of_correlations(X, np.asarray(y, dtype=np.float64))
        elif len(labels) < 2:
            raise invalid("Univariate", "needs at least two classes", f"these samples are all of class {labels[0]!s}")
        else:
            log_p = _of_classes(X, codes)
        self.pvalues_ = np.exp(log_p)
        passed = np.flatnonzero(log_p <= np.log(self.alpha))
        # Logarithms tell features apart whose p values are too small for a number.
        self.selected_ = passed if len(passed) else np.array([int(np.argmin(log_p))])
        return self


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


def _of_classes(X: Floats, codes: NDArray[np.intp]) -> Floats:
    """Log p value of each column: chi-squared of two values, F of more."""
    hot = np.eye(codes.max() + 1)[codes]
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
