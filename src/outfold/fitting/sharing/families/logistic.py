"""Logistic regression over C: all penalties at once by Newton's method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....stats.newton import BinaryLoss, Loss, MultinomialLoss, minimise
from ..family import Family, Unsuitable
from .affine import (
    AffineClassifier,
    Floats,
    asked_rows,
    class_target,
    is_full_rank,
    is_positive,
    training_matrix,
    weights_in,
)

# Rows times squared coefficients above which a Newton step costs more than scikit-learn's many cheap ones.
_MOST = 2_000_000
# Numbers in the largest temporary array.
_BATCH = 2_000_000
_SOLVERS: dict[str | None, tuple[str, ...]] = {
    "l2": ("lbfgs", "newton-cg", "newton-cholesky", "liblinear"),
    "l1": ("liblinear", "saga"),
}


class LogisticFamily(Family):
    """LogisticRegression over C with an l2 or an l1 penalty, each solved until the gradient vanishes.

    scikit-learn stops where the gradient falls below `tol`, or after `max_iter` rounds: wherever the two differ, its
    answer is the looser one, also where it would warn that it did not converge. Members that Newton's method does not
    solve, such as those of separable classes with next to no penalty, are fitted one by one.
    """

    estimator = "sklearn.linear_model.LogisticRegression"
    varies = frozenset({"C"})
    level = "close"
    serves_single = True

    def covers(self, estimator: Any) -> bool:
        """A finite penalty of one kind, and rounds enough to be meant as a solution."""
        return (
            estimator.solver in _SOLVERS.get(penalty_of(estimator), ())
            and is_positive(estimator.C)
            and estimator.dual is False
            and estimator.warm_start is False
            and getattr(estimator, "multi_class", "deprecated") in ("deprecated", "auto")
            and estimator.max_iter >= 100
            and estimator.tol <= 1e-3
        )

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """Models of all penalties."""
        first = members[0]
        first._validate_params()
        matrix = training_matrix(X, single=True)
        n = len(matrix)
        weights = weights_in(fit_params, n)
        classes, codes, labels = class_target(y, n)
        weights = balanced(first, classes, codes, labels, weights)
        design = _Design(matrix, first, len(classes))
        coefs, solved = design.solve(codes, weights, 1.0 / np.array([member.C for member in members], dtype=np.float64))
        if first.solver == "saga":
            # It stops where no coefficient changes, also where the intercept is not there yet.
            solved &= (coefs[:, : matrix.shape[1]] != 0).any(axis=1)
        rows = asked_rows()
        return [
            LogisticView(member, rows, *design.unfold(coef), classes) if done else None
            for member, coef, done in zip(members, coefs, solved, strict=True)
        ]


class LogisticView(AffineClassifier):
    """A logistic regression: probabilities by the logistic function, or softmax of a score of every class."""

    def predict_proba(self, X: Any) -> Floats:
        """(n, K)."""
        from scipy.special import expit
        from sklearn.utils.extmath import softmax

        scores = self._answer(X)
        if scores.ndim == 2:
            return np.asarray(softmax(scores, copy=False))
        p = expit(scores)
        return np.stack([1 - p, p], axis=1)


def penalty_of(estimator: Any) -> str | None:
    """``"l2"``, ``"l1"``, ``"elasticnet"`` or None; from 1.8 on scikit-learn says it by l1_ratio."""
    given = estimator.penalty
    if given != "deprecated":
        return None if given is None else str(given)
    return {0: "l2", 1: "l1"}.get(estimator.l1_ratio, "elasticnet")


def balanced(
    estimator: Any, classes: NDArray[Any], codes: NDArray[np.intp], labels: NDArray[Any], weights: Floats | None
) -> Floats:
    """Weights of the rows times those of their classes."""
    from sklearn.utils.class_weight import compute_class_weight

    out = np.ones(len(codes)) if weights is None else weights
    if estimator.class_weight is None:
        return out
    by_class = compute_class_weight(estimator.class_weight, classes=classes, y=labels, sample_weight=out)
    return np.asarray(out * by_class[codes])


class _Design:
    """The matrix of the problem: with a column for the intercept, and in fewer columns where there are few rows."""

    def __init__(self, X: Floats, estimator: Any, n_classes: int) -> None:
        n, p = X.shape
        self.lasso = penalty_of(estimator) == "l1"
        liblinear = estimator.solver == "liblinear"
        if n_classes > 2 and (self.lasso or liblinear):
            raise Unsuitable("more than two classes")
        # An l2 penalty does not see rotations: coefficients lie in the span of the rows.
        self.basis: Floats | None = None
        if p > n and not self.lasso:
            self.basis, triangle = np.linalg.qr(X.T)
            X = triangle.T
        self.n_classes = n_classes
        # liblinear penalises the intercept as the coefficient of a column of its own.
        self.column = float(estimator.intercept_scaling) if liblinear else 1.0
        self.intercept = bool(estimator.fit_intercept)
        self.A = np.column_stack([X, np.full(n, self.column)]) if self.intercept else np.ascontiguousarray(X)
        self.penalised = np.ones(self.A.shape[1])
        if self.intercept and not liblinear:
            self.penalised[-1] = 0.0
        size = self.A.shape[1] * (n_classes if n_classes > 2 else 1)
        # Near as many coefficients as rows, an l1 path has too many kinks.
        if n * size**2 > _MOST or (self.lasso and 2 * size > n):
            raise Unsuitable("too many coefficients for Newton's method to be faster")
        if self.lasso and not is_full_rank(self.A):
            raise Unsuitable("columns that are combinations of others: no single solution")

    def solve(self, codes: NDArray[np.intp], weights: Floats, strengths: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Coefficients for every strength of the penalty, and which were solved."""
        if self.n_classes == 2:
            loss: Loss = BinaryLoss(self.A, codes.astype(np.float64), weights)
        else:
            loss = MultinomialLoss(self.A, np.eye(self.n_classes)[codes], weights, self.penalised == 0)
        where = np.tile(self.penalised, loss.size // self.A.shape[1])
        size = max(1, _BATCH // (loss.size * max(len(self.A), loss.size)))
        coefs, solved = [], []
        for i in range(0, len(strengths), size):
            penalty = strengths[i : i + size, None] * where
            none = np.zeros_like(penalty)
            part = minimise(loss, none, penalty) if self.lasso else minimise(loss, penalty, none)
            coefs.append(part.coef)
            solved.append(part.solved)
        return np.concatenate(coefs), np.concatenate(solved)

    def unfold(self, coef: Floats) -> tuple[Floats, Any]:
        """Coefficients (p,) or (p, K) and the intercept, as predictions use them."""
        by_class = coef.reshape(-1, self.A.shape[1]).T
        slopes, constant = by_class, np.zeros(by_class.shape[1])
        if self.intercept:
            slopes, constant = by_class[:-1], by_class[-1] * self.column
        if self.basis is not None:
            slopes = self.basis @ slopes
        return (slopes[:, 0], constant[0]) if self.n_classes == 2 else (slopes, constant)


FAMILIES = (LogisticFamily(),)
