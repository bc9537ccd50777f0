"""Tests of conditional independence, many features at once: does a feature say anything of the target beyond the conditions?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Columns = NDArray[np.intp]

_NEWTON_STEPS = 30
_HALVINGS = 12
_CONVERGED = 1e-9
# Keeps Hessians invertible where columns are collinear or classes separate; far below any effect.
_RIDGE = 1e-10
# Entries of a batch of designs: bounds memory at some 30 MB.
_MOST_ENTRIES = 1_000_000


class Independence(Protocol):
    """Tests of features against one target."""

    def log_p(self, features: Columns, given: Sequence[int]) -> Floats:
        """Log p value of every feature, given the columns of the conditions."""

    def log_p_swapped(self, features: Columns, given: Sequence[int], out: int) -> Floats:
        """Log p value of the condition `out`, given the others and each of the features in its place."""


class Linear:
    """A number as target: the t test of a partial correlation, which is that of a coefficient in a linear regression."""

    def __init__(self, X: Floats, y: Floats) -> None:
        self._X, self._y = X, y - y.mean()

    def log_p(self, features: Columns, given: Sequence[int]) -> Floats:
        """Log p value of every feature."""
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

    def log_p_swapped(self, features: Columns, given: Sequence[int], out: int) -> Floats:
        """Log p value of the condition `out`, given the others and each of the features in its place."""
        others = [c for c in given if c != out]
        alone = np.array([out], dtype=np.intp)
        return np.concatenate([self.log_p(alone, [*others, int(j)]) for j in features] or [np.empty(0)])


class Logistic:
    """Classes as target: twice the gain in log likelihood of a multinomial logistic regression, against chi squared."""

    def __init__(self, X: Floats, classes: Columns) -> None:
        self._X = X
        self._hot = np.eye(classes.max() + 1)[classes][:, 1:]

    def log_p(self, features: Columns, given: Sequence[int]) -> Floats:
        """Log p value of every feature."""
        return self._against(self._without(given), self.deviance(features, given))

    def log_p_swapped(self, features: Columns, given: Sequence[int], out: int) -> Floats:
        """Log p value of the condition `out`, given the others and each of the features in its place."""
        others = [c for c in given if c != out]
        return self._against(self.deviance(features, others), self.deviance(features, given))

    def deviance(self, features: Columns, given: Sequence[int]) -> Floats:
        """Deviance of the regression on the conditions and each of the features."""
        base = self._base(given)
        size = max(1, _MOST_ENTRIES // (base.size + len(base)))
        parts = [_deviances(base, self._X[:, features[i : i + size]], self._hot) for i in range(0, len(features), size)]
        return np.concatenate(parts) if parts else np.empty(0)

    def _without(self, given: Sequence[int]) -> Floats:
        base = self._base(given)
        return _deviances(base[:, :-1], base[:, -1:], self._hot)

    def _base(self, given: Sequence[int]) -> Floats:
        # The column of ones comes last, so that the regression without features is one with it as the feature.
        return np.column_stack([self._X[:, list(given)], np.ones(len(self._X))])

    def _against(self, smaller: Floats, larger: Floats) -> Floats:
        from scipy.stats import chi2

        return np.asarray(chi2.logsf(np.maximum(smaller - larger, 0.0), self._hot.shape[1]))


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
