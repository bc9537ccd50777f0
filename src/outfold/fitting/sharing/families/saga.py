"""Logistic regression by saga over its penalties: all members visit the same rows in the same order, side by side.

The solver visits rows at random, by a seed that all members have. `outfold.stats.saga` makes every one of its operations in its
order, for all members in one walk over the rows, so that the coefficients have the bits of separate fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....stats import compiling
from ..family import Family, Unsuitable
from .common import (
    Floats,
    Rows,
    asked_rows,
    class_target,
    is_count,
    is_positive,
    is_seed,
    training_matrix,
    weights_in,
)
from .logistic import LogisticView, balanced, penalty_of

# Numbers that are kept for the members walking together: of every row and every column, for each of them.
_MOST = 10_000_000


class SagaFamily(Family):
    """LogisticRegression of two classes by saga, with any finite penalty. Bit for bit as separate fits."""

    estimator = "sklearn.linear_model.LogisticRegression"
    varies = frozenset({"C", "l1_ratio", "tol", "max_iter"})

    @property
    def name(self) -> str:
        """Apart from the family of Newton's method, which is of another level."""
        return "LogisticRegression (saga)"

    def covers(self, estimator: Any) -> bool:
        """What the compiled solver knows, where there is one."""
        return (
            estimator.solver == "saga"
            and _has_penalty(estimator)
            and is_positive(estimator.C)
            and is_count(estimator.max_iter)
            and isinstance(estimator.tol, Real)
            and is_seed(estimator.random_state)
            and estimator.dual is False
            and estimator.warm_start is False
            and not estimator.verbose
            and getattr(estimator, "multi_class", "deprecated") in ("deprecated", "auto")
            and compiling.has_numba()
        )

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """Models of all members; None for those whose numbers become too large."""
        if compiling.load("saga") is None or not _agrees():
            raise Unsuitable("coefficients computed here do not have the bits of scikit-learn's own")
        return _fit(members, X, y, **fit_params)


class SagaView(LogisticView):
    """A logistic regression, and the rounds it took."""

    def __init__(
        self, member: Any, rows: Rows, coef: Floats, intercept: float, classes: NDArray[Any], rounds: int
    ) -> None:
        super().__init__(member, rows, coef, intercept, classes)
        self.n_iter_ = rounds
        if rounds == member.max_iter:
            self.warned = ("ConvergenceWarning",)


def _has_penalty(estimator: Any) -> bool:
    penalty, ratio = penalty_of(estimator), estimator.l1_ratio
    return penalty in ("l1", "l2") or (penalty == "elasticnet" and isinstance(ratio, Real) and 0 <= float(ratio) <= 1)


def _strengths(member: Any) -> tuple[Any, Any]:
    """Of the l2 and the l1 penalty of the sum of the losses, computed as scikit-learn does."""
    both, penalty = 1.0 / member.C, penalty_of(member)
    if penalty == "elasticnet":
        return both * (1 - member.l1_ratio), both * member.l1_ratio
    return (0.0, both) if penalty == "l1" else (both, 0.0)


def _fit(members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
    matrix = np.ascontiguousarray(training_matrix(X, single=False))
    n, p = matrix.shape
    weights = weights_in(fit_params, n)
    classes, codes, labels = class_target(y, n)
    if len(classes) > 2:
        raise Unsuitable("more than two classes")
    task = _Task(matrix, codes.astype(np.float64), balanced(members[0], classes, codes, labels, weights), members[0])
    rows, size = asked_rows(), max(4, _MOST // (n + 3 * p))
    out: list[Any] = []
    for start in range(0, len(members), size):
        some = members[start : start + size]
        for member, (coef, intercept, rounds, finite) in zip(some, task.solve(some), strict=True):
            out.append(SagaView(member, rows, coef, intercept, classes, int(rounds)) if finite else None)
    return out


class _Task:
    """What all members learn from, and the order of the rows."""

    def __init__(self, X: Floats, y: Floats, weights: Floats, like: Any) -> None:
        from sklearn.utils.extmath import row_norms

        # Arrays of the same kind in every fit, so that the loops are compiled once.
        self.X, self.y, self.weights = X.view(), y, np.array(weights)
        self.X.flags.writeable = False
        self.largest = row_norms(X, squared=True).max()
        if not 0 < self.largest < np.inf:
            raise Unsuitable("rows of zeros, or of numbers too large to be squared")
        if like.random_state is None:
            raise Unsuitable("without a seed every member would visit the rows in an order of its own")
        self.seed = int(np.random.RandomState(like.random_state).randint(1, np.iinfo(np.int32).max))
        self.intercept = bool(like.fit_intercept)

    def solve(self, members: Sequence[Any]) -> Any:
        """Coefficients, intercept, rounds, and whether all is finite, for every member."""
        kernel = compiling.load("saga")
        assert kernel is not None
        n = len(self.X)
        strengths = np.array([[float(part) / n for part in _strengths(member)] for member in members])
        steps = [_step_size(self.largest, l2, self.intercept, n) for l2 in strengths[:, 0].tolist()]
        problems = kernel.Problems(
            np.array(steps),
            np.ascontiguousarray(strengths[:, 0]),
            np.ascontiguousarray(strengths[:, 1]),
            np.array([member.tol for member in members], dtype=np.float64),
            np.array([member.max_iter for member in members], dtype=np.int64),
        )
        return zip(*kernel.solve(self.X, self.y, self.weights, self.seed, self.intercept, problems), strict=True)


def _step_size(largest: float, l2: float, fit_intercept: bool, n: int) -> float:
    """The step that scikit-learn takes: 1 / (2 L + min(2 n l2, L)), where L bounds the curvature of each row's loss."""
    bound = 0.25 * (largest + int(fit_intercept)) + l2
    return 1.0 / (2 * bound + min(2 * n * l2, bound))


@cache
def _agrees() -> bool:
    """Whether the promise holds here: another scikit-learn, compiler or C library might order or round otherwise."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X, more = rng.normal(size=(60, 11)), rng.normal(size=(20, 11))
    y = X[:, 0] + rng.normal(size=60) > 0
    weight = rng.uniform(0.5, 2, size=60)
    common: dict[str, Any] = {"solver": "saga", "tol": 1e-3, "max_iter": 10_000, "random_state": 1}
    if LogisticRegression().penalty != "deprecated":  # before scikit-learn 1.8 it had to be named
        common["penalty"] = "elasticnet"
    # The smallest C is strong enough to rescale the coefficients within a round.
    settings = [(C, ratio) for C in (1e-4, 0.1, 3.0) for ratio in (0.0, 0.001, 0.4, 1.0)]
    try:
        return all(
            _same_bits(
                [LogisticRegression(C=C, l1_ratio=ratio, **common, **own) for C, ratio in settings], X, y, more, w
            )
            for own, w in (({}, None), ({"fit_intercept": False, "class_weight": "balanced"}, weight))
        )
    except (ImportError, AttributeError, TypeError, ValueError):  # what is called has changed
        return False


def _same_bits(members: Sequence[Any], X: Floats, y: NDArray[Any], more: Floats, weight: Floats | None) -> bool:
    for view, member in zip(_fit(members, X, y, sample_weight=weight), members, strict=True):
        member.fit(X, y, sample_weight=weight)
        found = (view.coef, view.intercept, view.n_iter_, view.predict_proba(more))
        own = (member.coef_[0], member.intercept_[0], member.n_iter_[0], member.predict_proba(more))
        if not all(np.array_equal(a, b) for a, b in zip(found, own, strict=True)):
            return False
    return True


FAMILIES = (SagaFamily(),)
