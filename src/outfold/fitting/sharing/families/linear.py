"""Ridge: one eigendecomposition serves every penalty. Lasso and elastic net: one path."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..family import Family
from .common import (
    AffineClassifier,
    AffineRegressor,
    AskedRows,
    Floats,
    asked_rows,
    class_target,
    is_full_rank,
    is_positive,
    largest,
    numeric_target,
    training_matrix,
    weights_in,
)

_EPS = float(np.finfo(np.float64).eps)
# A tenth of what an exact family may differ, for the constants that a bound on rounding leaves out.
_ROUNDING = 1e-9
# Scores nearer than this to the cut could fall on its other side: their labels are asked from a plain fit.
_NEAR = 1e-7


class Centred(NamedTuple):
    """Training data without their means, rows multiplied by the root of their weights."""

    X: Floats
    Y: Floats
    x_mean: Floats
    y_mean: Floats

    @classmethod
    def of(cls, X: Floats, Y: Floats, weights: Floats | None, fit_intercept: bool) -> Centred:
        """Means and roots taken as scikit-learn takes them."""
        if fit_intercept:
            x_mean, y_mean = np.average(X, axis=0, weights=weights), np.average(Y, axis=0, weights=weights)
            X, Y = X - x_mean, Y - y_mean
        else:
            x_mean, y_mean = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
        if weights is not None:
            root = np.sqrt(weights)[:, None]
            X, Y = X * root, Y * root
        return cls(X, Y, x_mean, y_mean)


class Solved(NamedTuple):
    """Coefficients (M, p, T) and intercepts (M, T) of all penalties, and which of them are safe from rounding."""

    coef: Floats
    intercept: Floats
    safe: NDArray[np.bool_]


def solve_ridge(X: Floats, Y: Floats, alphas: Floats, weights: Floats | None, fit_intercept: bool) -> Solved:
    """Ridge coefficients for every penalty from one eigendecomposition.

    A direct solver's coefficients are off by about eps times the condition number times their norm, in whatever
    direction; and a prediction by eps times what cancels between the coefficients and the intercept. A penalty is safe
    where both, for the longest training row, stay a tenth below what an exact family may differ.
    """
    data = Centred.of(X, Y, weights, fit_intercept)
    # For the weights of the rows where these are fewer than the columns, as scikit-learn's Cholesky solver does. In the basis
    # of the eigenvectors every penalty is a division.
    wide = X.shape[1] > X.shape[0]
    values, vectors = np.linalg.eigh(data.X @ data.X.T if wide else data.X.T @ data.X)
    values = np.maximum(values, 0.0)
    turned = vectors.T @ (data.Y if wide else data.X.T @ data.Y)
    # A stack (M, p, T) of products of equal shape, so that a penalty's coefficients do not depend on the others.
    coef = np.matmul(vectors, turned / (values[:, None] + alphas[:, None, None]))
    if wide:
        coef = np.matmul(data.X.T, coef)
    condition = (values.max() + alphas) / (values.min() + alphas)
    intercept = data.y_mean - np.matmul(data.x_mean, coef)
    longest = np.sqrt(((X - data.x_mean) ** 2).sum(axis=1).max())
    norm = np.sqrt((coef**2).sum(axis=1).max(axis=1))
    cancelled = (np.abs(data.x_mean)[:, None] * np.abs(coef)).sum(axis=1).max(axis=1)
    rounding = _EPS * (condition * norm * longest + cancelled)
    return Solved(coef, intercept, rounding <= _ROUNDING * max(1.0, float(np.abs(Y).max())))


class RidgeFamily(Family):
    """Ridge over alpha, to 1e-8: one eigendecomposition of the matrix that scikit-learn's Cholesky solver factors.

    Penalties too small for the data, where rounding alone could exceed that, are fitted one by one; alpha = 0 is not
    covered.
    """

    estimator = "sklearn.linear_model.Ridge"
    varies = frozenset({"alpha"})
    serves_single = True

    def covers(self, estimator: Any) -> bool:
        """One positive penalty, and a solver that solves the equations directly."""
        direct = estimator.solver in ("auto", "cholesky", "svd")
        return is_positive(estimator.alpha) and direct and estimator.positive is False

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """Models of all penalties."""
        matrix = training_matrix(X, single=False)
        target = numeric_target(y, len(matrix))
        weights = weights_in(fit_params, len(matrix))
        solved = solve_ridge(matrix, target[:, None], _alphas(members), weights, members[0].fit_intercept)
        rows = asked_rows()
        return [
            AffineRegressor(member, rows, coef[:, 0], intercept[0]) if safe else None
            for member, coef, intercept, safe in zip(members, *solved, strict=True)
        ]


class RidgeClassifierFamily(RidgeFamily):
    """RidgeClassifier over alpha: as Ridge, on targets of -1 and 1.

    The label of a row whose score lies on the cut is asked from a plain fit, so that rounding cannot turn it.
    """

    estimator = "sklearn.linear_model.RidgeClassifier"

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """Models of all penalties."""
        from sklearn.utils.class_weight import compute_sample_weight

        first = members[0]
        matrix = training_matrix(X, single=False)
        weights = weights_in(fit_params, len(matrix))
        classes, codes, labels = class_target(y, len(matrix))
        if first.class_weight:
            balance = compute_sample_weight(first.class_weight, labels)
            weights = balance if weights is None else weights * balance
        solved = solve_ridge(matrix, _signed(codes, len(classes)), _alphas(members), weights, first.fit_intercept)
        rows = asked_rows()
        return [
            _RidgeClassifier(member, rows, coef, intercept, classes, partial(member.fit, X, y, **fit_params))
            if safe
            else None
            for member, coef, intercept, safe in zip(members, *solved, strict=True)
        ]


def _signed(codes: NDArray[np.intp], n_classes: int) -> Floats:
    """One column of -1 and 1 for each class; for two classes that of the second alone."""
    columns = np.arange(n_classes) if n_classes > 2 else np.array([1])
    return np.where(codes[:, None] == columns, 1.0, -1.0)


class _RidgeClassifier(AffineClassifier):
    def __init__(
        self, member: Any, rows: AskedRows, coef: Floats, intercept: Floats, classes: Any, plain: Callable[[], Any]
    ) -> None:
        if coef.shape[1] == 1:
            coef, intercept = coef[:, 0], intercept[0]
        super().__init__(member, rows, coef, intercept, classes)
        self._plain = cache(plain)  # fits the member, the first time

    def predict(self, X: Any) -> NDArray[Any]:
        scores = self._answer(X)
        labels = self.classes_.take(largest(scores))
        near = _gap(scores) < _NEAR * max(1.0, np.abs(scores).max(initial=0.0))
        if near.any():
            labels[near] = self._plain().predict(X)[near]
        return np.asarray(labels)


def _gap(scores: Floats) -> Floats:
    """How far every row is from the cut."""
    if scores.ndim == 1:
        return np.abs(scores)
    top = np.partition(scores, -2, axis=1)
    return np.asarray(top[:, -1] - top[:, -2])


def _alphas(members: Sequence[Any]) -> Floats:
    return np.array([member.alpha for member in members], dtype=np.float64)


# -- lasso and elastic net ------------------------------------------------------------------------------

# The gap to the optimum, beside the squares of the labels, at which a path is left; scikit-learn's default is 1e-4.
_GAP = 1e-12
_ROUNDS = 20_000


class ElasticNetFamily(Family):
    """ElasticNet over alpha and l1_ratio: a path for every l1_ratio, from the strongest penalty to the weakest.

    The path is followed to a gap of 1e-12 of the labels' squares: by the knots of the lasso's path, or by coordinate
    descent where the penalty is mixed or the knots are not as exact as that. scikit-learn stops at `tol` (1e-4) or after
    `max_iter` rounds: wherever the two differ, its answer is the looser one. Members that the path does not solve are
    fitted one by one: those of a mixed penalty on wide rows, and those whose solution is not the only one, because columns
    are combinations of others.
    """

    estimator = "sklearn.linear_model.ElasticNet"
    varies = frozenset({"alpha", "l1_ratio"})
    level = "close"
    whole = True

    def covers(self, estimator: Any) -> bool:
        """Positive penalties with a part that is l1, and rounds enough to be meant as a solution."""
        return (
            is_positive(estimator.alpha)
            and is_positive(estimator.l1_ratio)
            and estimator.l1_ratio <= 1
            and isinstance(estimator.precompute, bool)
            and estimator.warm_start is False
            and estimator.max_iter >= 1000
            and _GAP <= estimator.tol <= 1e-3
        )

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """Models of all penalties."""
        first = members[0]
        matrix = training_matrix(X, single=True)
        n = len(matrix)
        target = numeric_target(y, n)
        weights = weights_in(fit_params, n)
        if weights is not None:
            weights = weights * (n / weights.sum())
        data = Centred.of(matrix, target[:, None], weights, first.fit_intercept)
        path = _Path.of(data, bool(first.positive))
        models: list[Any] = [None] * len(members)
        rows = asked_rows()
        for ratio in sorted({float(member.l1_ratio) for member in members}):
            where = [i for i, member in enumerate(members) if member.l1_ratio == ratio]
            coefs, safe = path.follow(ratio, _alphas([members[i] for i in where]))
            for i, coef, ok in zip(where, coefs, safe, strict=True):
                intercept = data.y_mean[0] - data.x_mean @ coef
                models[i] = AffineRegressor(members[i], rows, coef, intercept) if ok else None
        return models


class LassoFamily(ElasticNetFamily):
    """Lasso over alpha: an elastic net of l1 alone."""

    estimator = "sklearn.linear_model.Lasso"
    varies = frozenset({"alpha"})


class _Path(NamedTuple):
    """What all paths of the same training data share; `gram` is X'X, or None where X is wide."""

    X: Floats
    y: Floats
    gram: Floats | None
    full_rank: bool
    positive: bool

    @classmethod
    def of(cls, data: Centred, positive: bool) -> _Path:
        X, y = np.asfortranarray(data.X), np.ascontiguousarray(data.Y[:, 0])
        gram = X.T @ X if X.shape[1] < X.shape[0] else None
        return cls(X, y, gram, gram is not None and is_full_rank(X), positive)

    def follow(self, l1_ratio: float, alphas: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Coefficients (M, p) for penalties in any order, and which of them are the one solution."""
        from sklearn.exceptions import ConvergenceWarning

        if self.gram is None and (l1_ratio < 1 or self.positive):
            return np.zeros((len(alphas), self.X.shape[1])), np.zeros(len(alphas), dtype=bool)
        falling = np.unique(alphas)[::-1]
        with warnings.catch_warnings():
            # Those that were not solved are fitted again, and may say so then.
            warnings.simplefilter("ignore", ConvergenceWarning)
            coefs, gaps = self._solve(l1_ratio, falling)
        safe = gaps <= self._allowed
        if l1_ratio == 1 and not self.full_rank:
            safe &= [self._is_unique(w, alpha) for w, alpha in zip(coefs, falling, strict=True)]
        at = np.searchsorted(-falling, -alphas)
        return coefs[at], safe[at]

    @property
    def _allowed(self) -> float:
        return _GAP * float(self.y @ self.y)

    def _solve(self, l1_ratio: float, falling: Floats) -> tuple[Floats, Floats]:
        """By the knots where there are any; by coordinate descent else, and where the knots are not exact enough."""
        if l1_ratio < 1 or self.positive:
            return self._descend(l1_ratio, falling)
        coefs, gaps = self._knots(falling)
        if self.gram is None or np.all(gaps <= self._allowed):
            return coefs, gaps
        return self._descend(l1_ratio, falling)

    def _descend(self, l1_ratio: float, falling: Floats) -> tuple[Floats, Floats]:
        """Coefficients and gaps by coordinate descent, each penalty from where the one before it ended."""
        from sklearn.linear_model import enet_path

        how = {"precompute": self.gram, "Xy": self.X.T @ self.y, "positive": self.positive, "check_input": False}
        ends = {"tol": _GAP, "max_iter": _ROUNDS}
        _, coefs, gaps = enet_path(self.X, self.y, l1_ratio=l1_ratio, alphas=falling, **how, **ends)
        return np.ascontiguousarray(coefs.T), len(self.y) * gaps

    def _knots(self, falling: Floats) -> tuple[Floats, Floats]:
        """Coefficients and gaps of the lasso, whose path is straight between the knots that least angles find."""
        from sklearn.linear_model import lars_path

        most = 10 * min(self.X.shape)
        products = {} if self.gram is None else {"Gram": self.gram, "Xy": self.X.T @ self.y}
        knots, _, at_knots = lars_path(self.X, self.y, **products, method="lasso", alpha_min=falling[-1], max_iter=most)
        after = np.clip(np.searchsorted(-knots, -falling), 1, max(1, len(knots) - 1))
        if len(knots) == 1:
            coefs = np.repeat(at_knots.T, len(falling), axis=0)
        else:
            width = knots[after - 1] - knots[after]
            share = np.clip((knots[after - 1] - falling) / np.where(width > 0, width, 1.0), 0.0, 1.0)[:, None]
            coefs = (1 - share) * at_knots.T[after - 1] + share * at_knots.T[after]
        return coefs, self._gaps(coefs, falling)

    def _gaps(self, coefs: Floats, alphas: Floats) -> Floats:
        """How far lasso solutions are from the optimum, at most: the gap to the residuals scaled to be feasible."""
        residuals = self.y - coefs @ self.X.T
        limits = len(self.y) * alphas
        pulls = np.abs(residuals @ self.X).max(axis=1)
        shrink = np.minimum(1.0, limits / np.maximum(pulls, np.finfo(np.float64).tiny))
        squares = (residuals**2).sum(axis=1)
        lengths = limits * np.abs(coefs).sum(axis=1)
        return np.asarray(0.5 * (1 + shrink**2) * squares + lengths - shrink * (residuals @ self.y))

    def _is_unique(self, coef: Floats, alpha: float) -> bool:
        """Whether the columns that the penalty lets in are linearly independent (Tibshirani 2013, lemma 2)."""
        pull = np.abs(self.X.T @ (self.y - self.X @ coef))
        return is_full_rank(self.X[:, pull >= len(self.y) * alpha * (1 - 1e-5)])


FAMILIES = (RidgeFamily(), RidgeClassifierFamily(), ElasticNetFamily(), LassoFamily())
