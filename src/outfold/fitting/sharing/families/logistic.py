"""Logistic regression over its penalties: all at once by Newton's method, or side by side by saga."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....stats import compiling
from ..family import Family, Unsuitable
from .common import (
    AffineClassifier,
    AskedRows,
    Floats,
    asked_rows,
    class_target,
    is_count,
    is_full_rank,
    is_positive,
    is_seed,
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
        loss: Loss = BinaryLoss(self.A, codes.astype(np.float64), weights)
        if self.n_classes > 2:
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


# -- Newton's method for many penalties at once -----------------------------------------------------------
#
# The problems of a batch do not see each other: every product is a stack of products of equal shape, and every decision is
# taken for each problem by itself. So the answer to a problem is the same, bit for bit, whatever other problems there are.

# Half of the squared Newton step in the metric of the curvature is what the step can still gain. It is taken, and is the
# last, where that is this small beside the loss at the start: steps then square their error.
_GAIN = 1e-12
_STEPS = 60
_HALVINGS = 40
_ARMIJO = 1e-4
# A loss is known to about this share of itself: near the end steps gain less.
_ROUNDING = 1e-14
# Keeps the curvature of what is not penalised from vanishing where all probabilities are 0 or 1; of that at the start.
_DAMPING = 1e-11


class BinaryLoss(NamedTuple):
    """Logistic loss of labels 0 and 1: rows A (n, p), labels y, weights of the rows."""

    A: Floats
    y: Floats
    weights: Floats

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return int(self.A.shape[1])

    def scores(self, coef: Floats) -> Floats:
        """(m, n)."""
        return np.asarray(np.matmul(self.A, coef[:, :, None])[:, :, 0])

    def value(self, scores: Floats) -> Floats:
        """Sum of log(1 + exp(score)) - y score."""
        softplus = np.log1p(np.exp(-np.abs(scores))) + np.maximum(scores, 0.0)
        return np.asarray((self.weights * (softplus - self.y * scores)).sum(axis=1))

    def derivatives(self, scores: Floats) -> tuple[Floats, Floats]:
        """Gradient (m, p) and Hessian (m, p, p)."""
        from scipy.special import expit

        p = expit(scores)
        gradient = _rows_times(self.A, self.weights * (p - self.y))
        return gradient, _gram(self.A, self.weights * p * (1 - p))


class MultinomialLoss(NamedTuple):
    """Log loss of K classes with a score for each: coefficients are p for the first class, p for the second, and so on.

    Adding the same to the free scores of all classes changes nothing; `gauge` are the coefficients (of one class) where no
    penalty decides it. There the curvature gets a term that keeps their sum over the classes at 0, where it starts.
    """

    A: Floats
    indicators: Floats
    weights: Floats
    gauge: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return int(self.A.shape[1] * self.indicators.shape[1])

    def scores(self, coef: Floats) -> Floats:
        """(m, K, n)."""
        K = self.indicators.shape[1]
        return np.asarray(np.matmul(self.A, coef.reshape(len(coef), K, -1, 1))[..., 0])

    def value(self, scores: Floats) -> Floats:
        """Sum of log(sum of exp(scores)) - score of the own class."""
        top = scores.max(axis=1)
        log_sum = np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top
        own = (scores * self.indicators.T).sum(axis=1)
        return np.asarray((self.weights * (log_sum - own)).sum(axis=1))

    def derivatives(self, scores: Floats) -> tuple[Floats, Floats]:
        """Gradient (m, K p) and Hessian (m, K p, K p)."""
        P = _softmax(scores)
        gradient = _rows_times(self.A, self.weights * (P - self.indicators.T))
        return gradient.reshape(len(P), -1), self._hessian(P)

    def _hessian(self, P: Floats) -> Floats:
        m, K, _ = P.shape
        p = self.A.shape[1]
        out = np.empty((m, K, p, K, p))
        for k in range(K):
            for j in range(k + 1):
                block = _gram(self.A, self.weights * P[:, k] * ((k == j) - P[:, j]))
                out[:, k, :, j] = block
                out[:, j, :, k] = block
        for c in np.flatnonzero(self.gauge):
            out[:, :, c, :, c] += (self.weights * self.A[:, c] ** 2).sum() / K**2
        return out.reshape(m, K * p, K * p)


# Sums over the rows, for a stack of coefficient vectors (m, size).
Loss = BinaryLoss | MultinomialLoss


def _softmax(scores: Floats) -> Floats:
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def _rows_times(A: Floats, r: Floats) -> Floats:
    """A' r for a stack of r (..., n)."""
    return np.asarray(np.matmul(A.T, r[..., None])[..., 0])


def _gram(A: Floats, d: Floats) -> Floats:
    """A' diag(d) A for a stack of d (m, n)."""
    return np.asarray(np.matmul(A.T * d[:, None, :], A))


class Solution(NamedTuple):
    """Coefficients (m, size), and which problems were solved."""

    coef: Floats
    solved: NDArray[np.bool_]


def minimise(loss: Loss, l2: Floats, l1: Floats) -> Solution:
    """Minimise ``loss(w) + sum(l2 w^2) / 2 + sum(l1 |w|)`` for every row of l2 and l1, (m, size) each.

    Newton's method with a line search; with `l1`, in the orthant that the steepest descent enters: coefficients that
    would cross 0 stop there (projected scaled sub-gradients: Schmidt, Graphical model structure learning with
    L1-regularization, 2010, sect. 2.3).
    """
    m = len(l2)
    coef = np.zeros((m, loss.size))
    solved = np.zeros(m, dtype=bool)
    left = np.arange(m)
    state = _State.at(coef, loss, l2, l1)
    enough = _GAIN * state.value[0]
    # All problems start at the same place.
    gradient, hessian = (np.repeat(part, m, axis=0) for part in loss.derivatives(state.scores[:1]))
    curvature = hessian[0].diagonal()
    damping = _DAMPING * np.maximum(curvature, curvature.max() * _DAMPING)
    for _ in range(_STEPS):
        hessian[:, np.arange(loss.size), np.arange(loss.size)] += l2[left] + damping
        problem = _Problem(loss, l2[left], l1[left])
        state, last, failed = problem.step(state, gradient + l2[left] * state.coef, hessian, enough)
        coef[left] = state.coef
        solved[left[last]] = True
        go_on = ~last & ~failed
        left, state = left[go_on], state.of(go_on)
        if not len(left):
            break
        gradient, hessian = loss.derivatives(state.scores)
    return Solution(coef, solved)


class _State(NamedTuple):
    """Where the problems are: coefficients, scores of the rows, and what is minimised."""

    coef: Floats
    scores: Floats
    value: Floats

    @classmethod
    def at(cls, coef: Floats, loss: Loss, l2: Floats, l1: Floats) -> _State:
        scores = loss.scores(coef)
        penalty = (0.5 * l2 * coef**2 + l1 * np.abs(coef)).sum(axis=1)
        return cls(coef, scores, loss.value(scores) + penalty)

    def of(self, which: NDArray[np.bool_]) -> _State:
        return self if which.all() else _State(self.coef[which], self.scores[which], self.value[which])


class _Problem(NamedTuple):
    """The problems that are not solved yet."""

    loss: Loss
    l2: Floats
    l1: Floats

    def step(
        self, state: _State, gradient: Floats, hessian: Floats, enough: float
    ) -> tuple[_State, NDArray[np.bool_], NDArray[np.bool_]]:
        """One step of every problem; which of them are solved by it, and which cannot be. The Hessian is used up."""
        coef = state.coef
        slope = self._steepest(coef, gradient)
        direction = self._direction(coef, slope, hessian)
        gain = -(slope * direction).sum(axis=1) / 2
        # On the kink of its penalty a coefficient moves only to where the slope sends it.
        direction = np.where(self._on_kink(coef) & (direction * slope > 0), 0.0, direction)
        last = gain <= enough
        moved, found = self._search(state, slope, direction)
        return moved, last, ~found & ~last

    def _steepest(self, coef: Floats, gradient: Floats) -> Floats:
        """The gradient, and where a coefficient is 0 what of it exceeds the l1 penalty."""
        at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - self.l1, 0.0)
        return np.where(coef != 0, gradient + self.l1 * np.sign(coef), at_zero)

    def _on_kink(self, coef: Floats) -> NDArray[np.bool_]:
        return np.asarray((coef == 0) & (self.l1 > 0))

    def _direction(self, coef: Floats, slope: Floats, hessian: Floats) -> Floats:
        """Newton's, among the coefficients that are free to move."""
        held = self._on_kink(coef) & (slope == 0)
        if held.any():
            hessian[held[:, :, None] | held[:, None, :]] = 0.0
            hessian[:, np.arange(held.shape[1]), np.arange(held.shape[1])] += held
        return np.asarray(-np.linalg.solve(hessian, slope[:, :, None])[:, :, 0])

    def _search(self, state: _State, slope: Floats, direction: Floats) -> tuple[_State, NDArray[np.bool_]]:
        """The first of the steps 1, 1/2, 1/4, ... that gains what its length promises; where none does, no step."""
        coef = state.coef
        orthant = np.where(coef != 0, np.sign(coef), -np.sign(slope))
        moved = _State(*(part.copy() for part in state))
        todo = np.arange(len(coef))
        length = 1.0
        for _ in range(_HALVINGS):
            to = coef[todo] + length * direction[todo]
            to = np.where((self.l1[todo] > 0) & (to * orthant[todo] < 0), 0.0, to)
            reached = _State.at(to, self.loss, self.l2[todo], self.l1[todo])
            promised = np.minimum((slope[todo] * (to - coef[todo])).sum(axis=1), 0.0)
            before = state.value[todo]
            good = reached.value <= before + _ARMIJO * promised + _ROUNDING * np.abs(before)
            for part, new in zip(moved, reached, strict=True):
                part[todo[good]] = new[good]
            todo = todo[~good]
            if not len(todo):
                break
            length /= 2
        found = np.ones(len(coef), dtype=bool)
        found[todo] = False
        return moved, found


# -- saga -------------------------------------------------------------------------------------------------
#
# All members visit the same rows in the same order, side by side: the solver visits rows at random, by a seed that all members
# have. `outfold.stats.saga` makes every one of its operations in its order, for all members in one walk over the rows, so that
# the coefficients have the bits of separate fits.

# Numbers that are kept for the members walking together: of every row and every column, for each of them.
_MOST_KEPT = 10_000_000


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
        return _fit_saga(members, X, y, **fit_params)


class SagaView(LogisticView):
    """A logistic regression, and the rounds it took."""

    def __init__(
        self, member: Any, rows: AskedRows, coef: Floats, intercept: float, classes: NDArray[Any], rounds: int
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


def _fit_saga(members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
    matrix = np.ascontiguousarray(training_matrix(X, single=False))
    n, p = matrix.shape
    weights = weights_in(fit_params, n)
    classes, codes, labels = class_target(y, n)
    if len(classes) > 2:
        raise Unsuitable("more than two classes")
    task = _SagaTask(
        matrix, codes.astype(np.float64), balanced(members[0], classes, codes, labels, weights), members[0]
    )
    rows, size = asked_rows(), max(4, _MOST_KEPT // (n + 3 * p))
    out: list[Any] = []
    for start in range(0, len(members), size):
        some = members[start : start + size]
        for member, (coef, intercept, rounds, finite) in zip(some, task.solve(some), strict=True):
            out.append(SagaView(member, rows, coef, intercept, classes, int(rounds)) if finite else None)
    return out


class _SagaTask:
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
    for view, member in zip(_fit_saga(members, X, y, sample_weight=weight), members, strict=True):
        member.fit(X, y, sample_weight=weight)
        found = (view.coef, view.intercept, view.n_iter_, view.predict_proba(more))
        own = (member.coef_[0], member.intercept_[0], member.n_iter_[0], member.predict_proba(more))
        if not all(np.array_equal(a, b) for a, b in zip(found, own, strict=True)):
            return False
    return True


# Of l1 penalties by saga, Newton's method leaves to the estimator what saga does not finish, which takes longest.
FAMILIES = (SagaFamily(), LogisticFamily())
