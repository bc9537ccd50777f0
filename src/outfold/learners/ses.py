"""SES, feature selection by statistically equivalent signatures (Tsamardinos, Lagani and Pappas 2012; Lagani et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from ..arguments import check_alpha, check_choice, check_count
from ..docstrings import fill_common
from ..exceptions import InputError, invalid
from .selecting import Selector

__all__ = ["SES"]

Floats = NDArray[np.float64]
ColumnNumbers = NDArray[np.intp]
SesTask = Literal["auto", "classification", "regression"]
# Numbers with more different values are no classes, unless the user says so.
MOST_CLASSES = 20


@fill_common
class SES(Selector):
    """Keep the features that no few others make independent of the target.

    Features come in one by one, the strongest first. Strength is the largest p value over all sets of at most `max_conditions`
    selected features. A feature leaves if such a set makes it independent of the target. If it in turn makes a feature of
    that set independent, either can replace the other: they are equivalent (``equivalent_``), and the one that came first is
    kept [1]_ [2]_.

    For a target with classes, independence is tested by the likelihood ratio of a (multinomial) logistic regression. For a
    number, it is tested by the t test of a partial correlation.

    Parameters
    ----------
    alpha : float
        Level of the tests.
    max_conditions : int
        The most features to condition on, *k* in the papers.
    task : {"auto", "classification", "regression"}
        ``auto`` takes numbers with more than 20 different values for a regression.

    Attributes
    ----------
    selected_ : ndarray of int
        Positions of the features kept, the strongest first. If all tests say independent, the one with the smallest p value,
        since a model needs one.
    equivalent_ : list of list of int
        For each feature kept, the features that could replace it, itself first.

    References: {tsamardinos2012, lagani2017}

    Examples
    --------
    >>> from outfold.learners import SES
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SES(alpha=0.01).fit(X, y).selected_.tolist()
    [3, 2]
    """

    def __init__(self, alpha: float = 0.05, max_conditions: int = 3, task: SesTask = "auto") -> None:
        self.alpha = alpha
        self.max_conditions = max_conditions
        self.task = task

    def fit(self, X: Any, y: Any) -> SES:
        """Select features."""
        check_alpha(self.alpha)
        check_count(self.max_conditions, "max_conditions", 0)
        check_choice(self.task, get_args(SesTask), "task")
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        # Tests do not depend on place and scale; Newton's method likes columns of one size.
        spread = X.std(axis=0)
        varying = np.flatnonzero(spread > 1e-12 * np.maximum(1.0, np.abs(X).max(axis=0)))
        if not len(varying):
            raise InputError(needed="all features are constant on these samples, so that none can be selected")
        Z = (X[:, varying] - X[:, varying].mean(axis=0)) / spread[varying]
        search = _Search(_tests(Z, y, self.task), len(varying), np.log(self.alpha), self.max_conditions)
        search.run()
        self.selected_ = varying[search.selected]
        self.equivalent_ = [varying[search.equivalents[j]] for j in search.selected]
        return self


def _tests(Z: Floats, y: NDArray[Any], task: SesTask) -> Independence:
    labels, codes = np.unique(y, return_inverse=True)
    if task == "regression" or (task == "auto" and y.dtype.kind in "iuf" and len(labels) > MOST_CLASSES):
        return Linear(Z, np.asarray(y, dtype=np.float64))
    if len(labels) < 2:
        given = f"these samples are all of class {labels[0]!s}"
        raise invalid("SES", "needs at least two classes", given)
    return Logistic(Z, codes)


class _Search:
    """The state of the selection: who may still come in, who is in, and the weakest association each has shown."""

    def __init__(self, tests: Independence, n_features: int, level: float, most: int) -> None:
        self.tests, self.level, self.most = tests, level, most
        self.open = np.arange(n_features)
        self.selected: list[int] = []
        self.largest_p = np.full(n_features, -np.inf)
        self.equivalents = {j: [j] for j in range(n_features)}

    def run(self) -> None:
        """Add features until none is open."""
        first = self.tests.log_p(self.open, ())
        self.largest_p[:] = first
        self.open = self.open[first <= self.level]
        while len(self.open):
            new = int(self.open[np.argmin(self.largest_p[self.open])])
            self.open = self.open[self.open != new]
            others = tuple(self.selected)
            self.selected.append(new)
            for size in range(self.most):
                for some in combinations(others, size):  # sets without the new feature were asked before it came
                    self._test((*some, new))
        if not self.selected:
            self.selected = [int(np.argmin(first))]

    def _test(self, given: tuple[int, ...]) -> None:
        if not set(given) <= set(self.selected):  # one of them has left meanwhile
            return
        inside = [j for j in self.selected if j not in given]
        asked = np.array([*self.open, *inside], dtype=np.intp)
        if not len(asked):
            return
        log_p = self.tests.log_p(asked, given)
        self.largest_p[asked] = np.maximum(self.largest_p[asked], log_p)
        waiting = gone = asked[log_p > self.level]
        if len(gone):
            for kept in given:
                swapped = self.tests.log_p_swapped(waiting, given, kept)
                for j in waiting[swapped > self.level]:
                    self.equivalents[kept] += self.equivalents[int(j)]
                waiting = waiting[swapped <= self.level]
            self.open = self.open[~np.isin(self.open, gone)]
            self.selected = [j for j in self.selected if j not in gone]


# -- tests of conditional independence, many features at once ------------------------------------------------

_NEWTON_STEPS = 30
_HALVINGS = 12
_CONVERGED = 1e-9
# Keeps Hessians invertible where columns are collinear or classes separate; far below any effect.
_RIDGE = 1e-10
# Entries of a batch of designs: bounds memory at some 30 MB.
_MOST_ENTRIES = 1_000_000


class Linear:
    """A number as target: the t test of a partial correlation, which is that of a coefficient in a linear regression."""

    def __init__(self, X: Floats, y: Floats) -> None:
        self._X, self._y = X, y - y.mean()

    def log_p(self, features: ColumnNumbers, given: Sequence[int]) -> Floats:
        """Log p value of every feature, given the columns of the conditions."""
        from scipy.stats import t as student

        n, df = len(self._y), len(self._y) - 2 - len(given)
        base = np.column_stack([np.ones(n), self._X[:, list(given)]])
        q = np.linalg.qr(base)[0]
        y, X = self._y - q @ (q.T @ self._y), self._X[:, features]
        X = X - q @ (q.T @ X)
        norm = np.sqrt((X * X).sum(axis=0) * (y @ y))
        # What the conditions explain wholly has nothing left to say.
        known = norm > 1e-9 * n
        r = np.where(known, (X.T @ y) / np.where(known, norm, 1.0), 0.0)
        t = np.abs(r) * np.sqrt(max(df, 0) / np.maximum(1 - r * r, 1e-300))
        return np.log(2) + np.asarray(student.logsf(t, df)) if df > 0 else np.zeros(len(features))

    def log_p_swapped(self, features: ColumnNumbers, given: Sequence[int], out: int) -> Floats:
        """Log p value of the condition `out`, given the others and each of the features in its place."""
        others = [c for c in given if c != out]
        alone = np.array([out], dtype=np.intp)
        return np.concatenate([self.log_p(alone, [*others, int(j)]) for j in features] or [np.empty(0)])


class Logistic:
    """Classes as target: twice the gain in log likelihood of a multinomial logistic regression, against chi squared."""

    def __init__(self, X: Floats, classes: NDArray[np.intp]) -> None:
        self._X = X
        self._hot = np.eye(classes.max() + 1)[classes][:, 1:]

    def log_p(self, features: ColumnNumbers, given: Sequence[int]) -> Floats:
        """Log p value of every feature."""
        base = self._base(given)
        alone = _deviances(base[:, :-1], base[:, -1:], self._hot)
        return self._against(alone, self.deviance(features, given))

    def log_p_swapped(self, features: ColumnNumbers, given: Sequence[int], out: int) -> Floats:
        """Log p value of the condition `out`, given the others and each of the features in its place."""
        others = [c for c in given if c != out]
        return self._against(self.deviance(features, others), self.deviance(features, given))

    def deviance(self, features: ColumnNumbers, given: Sequence[int]) -> Floats:
        """Deviance of the regression on the conditions and each of the features."""
        base = self._base(given)
        size = max(1, _MOST_ENTRIES // (base.size + len(base)))
        parts = [_deviances(base, self._X[:, features[i : i + size]], self._hot) for i in range(0, len(features), size)]
        return np.concatenate(parts) if parts else np.empty(0)

    def _base(self, given: Sequence[int]) -> Floats:
        # The column of ones comes last, so that the regression without features is one with it as the feature.
        return np.column_stack([self._X[:, list(given)], np.ones(len(self._X))])

    def _against(self, smaller: Floats, larger: Floats) -> Floats:
        from scipy.stats import chi2

        return np.asarray(chi2.logsf(np.maximum(smaller - larger, 0.0), self._hot.shape[1]))


Independence = Linear | Logistic


def _deviances(base: Floats, columns: Floats, hot: Floats) -> Floats:
    """Deviance of a logistic regression on the base and each column, by Newton's method for all of them at once."""
    m, (n, k) = columns.shape[1], hot.shape
    A = np.concatenate([np.broadcast_to(base, (m, *base.shape)), columns.T[:, :, None]], axis=2)
    coef = np.zeros((m, k, A.shape[2]))
    value, P = _evaluate(A, coef, hot)
    for _ in range(_NEWTON_STEPS):
        step = _newton_step(A, P, hot)
        scale = np.ones(m)
        for _ in range(_HALVINGS):
            new, P_new = _evaluate(A, coef + scale[:, None, None] * step, hot)
            worse = ~(new <= value + _CONVERGED)
            if not worse.any():
                break
            scale[worse] /= 2
        else:
            step[worse] = 0.0
            new, P_new = _evaluate(A, coef + scale[:, None, None] * step, hot)
        gain = value - new
        coef, value, P = coef + scale[:, None, None] * step, new, P_new
        if gain.max() < _CONVERGED * max(n, 1):
            break
    return value


def _evaluate(A: Floats, coef: Floats, hot: Floats) -> tuple[Floats, Floats]:
    """Deviances, and the probabilities of all classes but the first."""
    eta = A @ coef.transpose(0, 2, 1)
    top = np.maximum(eta.max(axis=2), 0.0)
    weights = np.exp(eta - top[:, :, None])
    total = weights.sum(axis=2) + np.exp(-top)
    likelihood = (eta * hot).sum(axis=2) - top - np.log(total)
    return -2 * likelihood.sum(axis=1), weights / total[:, :, None]


def _newton_step(A: Floats, P: Floats, hot: Floats) -> Floats:
    m, _, d = A.shape
    k = hot.shape[1]
    turned = A.transpose(0, 2, 1)
    gradient = ((hot - P).transpose(0, 2, 1) @ A).reshape(m, k * d)
    hessian = np.empty((m, k * d, k * d))
    for a in range(k):
        for b in range(k):
            weight = P[:, :, a] * ((a == b) - P[:, :, b])
            hessian[:, a * d : (a + 1) * d, b * d : (b + 1) * d] = turned @ (A * weight[:, :, None])
    hessian += (_RIDGE * len(hot)) * np.eye(k * d)
    return np.asarray(np.linalg.solve(hessian, gradient[:, :, None])).reshape(m, k, d)
