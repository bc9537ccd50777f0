"""Penalised logistic regressions of the same rows, many penalties at once, by Newton's method.

The problems of a batch do not see each other: every product is a stack of products of equal shape, every decision is taken
for each problem by itself, so that a problem's answer is the same, bit for bit, in whatever company it is solved.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Half of the squared Newton step in the metric of the curvature is what the step can still gain. It is taken, and is the
# last, where that is this small beside the loss: steps then square their error.
_GAIN = 1e-13
_STEPS = 60
_HALVINGS = 40
_ARMIJO = 1e-4
# Keeps the curvature of what is not penalised from vanishing where all probabilities are 0 or 1; of that at the start.
_DAMPING = 1e-11


class Loss(Protocol):
    """Sums over the rows, for a stack of coefficient vectors (m, size)."""

    @property
    def size(self) -> int:
        """Number of coefficients."""

    def scores(self, coef: Floats) -> Floats:
        """What the other methods take: linear in the coefficients."""

    def value(self, scores: Floats) -> Floats:
        """(m,)."""

    def gradient(self, scores: Floats) -> Floats:
        """(m, size)."""

    def hessian(self, scores: Floats) -> Floats:
        """(m, size, size)."""


class BinaryLoss(NamedTuple):
    """Logistic loss of labels 0 and 1: rows A (n, p), labels y, weights of the rows."""

    A: Floats
    y: Floats
    weights: Floats

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return self.A.shape[1]

    def scores(self, coef: Floats) -> Floats:
        """(m, n)."""
        return np.asarray(np.matmul(self.A, coef[:, :, None])[:, :, 0])

    def value(self, scores: Floats) -> Floats:
        """Sum of log(1 + exp(score)) - y score."""
        return np.asarray((self.weights * (np.logaddexp(0.0, scores) - self.y * scores)).sum(axis=1))

    def gradient(self, scores: Floats) -> Floats:
        """(m, p)."""
        from scipy.special import expit

        return _rows_times(self.A, self.weights * (expit(scores) - self.y))

    def hessian(self, scores: Floats) -> Floats:
        """(m, p, p)."""
        from scipy.special import expit

        p = expit(scores)
        return _gram(self.A, self.weights * p * (1 - p))


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
        return self.A.shape[1] * self.indicators.shape[1]

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

    def gradient(self, scores: Floats) -> Floats:
        """(m, K p)."""
        residual = self.weights * (_softmax(scores) - self.indicators.T)
        return _rows_times(self.A, residual).reshape(len(scores), -1)

    def hessian(self, scores: Floats) -> Floats:
        """(m, K p, K p)."""
        P = _softmax(scores)
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
    start = loss.hessian(loss.scores(coef[:1]))[0].diagonal()
    damping = _DAMPING * np.maximum(start, start.max() * _DAMPING)
    left = np.arange(m)
    for _ in range(_STEPS):
        if not len(left):
            break
        problem = _Problem(loss, l2[left], l1[left])
        coef[left], last, failed = problem.step(coef[left], damping)
        solved[left[last]] = True
        left = left[~last & ~failed]
    return Solution(coef, solved)


class _Problem(NamedTuple):
    """The problems that are not solved yet."""

    loss: Loss
    l2: Floats
    l1: Floats

    def value(self, coef: Floats, scores: Floats) -> Floats:
        penalty = (0.5 * self.l2 * coef**2 + self.l1 * np.abs(coef)).sum(axis=1)
        return np.asarray(self.loss.value(scores) + penalty)

    def step(self, coef: Floats, damping: Floats) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """One step of every problem; which of them are solved by it, and which cannot be."""
        scores = self.loss.scores(coef)
        value = self.value(coef, scores)
        slope = self._steepest(coef, self.loss.gradient(scores) + self.l2 * coef)
        direction = self._direction(coef, slope, scores, damping)
        gain = -(slope * direction).sum(axis=1) / 2
        # On the kink of its penalty a coefficient moves only to where the slope sends it.
        direction = np.where(self._on_kink(coef) & (direction * slope > 0), 0.0, direction)
        moved, found = self._search(coef, value, slope, direction)
        last = gain <= _GAIN * np.maximum(1.0, value)
        return np.where((found | last)[:, None], moved, coef), last, ~found & ~last

    def _steepest(self, coef: Floats, gradient: Floats) -> Floats:
        """The gradient, and where a coefficient is 0 what of it exceeds the l1 penalty."""
        at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - self.l1, 0.0)
        return np.where(coef != 0, gradient + self.l1 * np.sign(coef), at_zero)

    def _on_kink(self, coef: Floats) -> NDArray[np.bool_]:
        return np.asarray((coef == 0) & (self.l1 > 0))

    def _direction(self, coef: Floats, slope: Floats, scores: Floats, damping: Floats) -> Floats:
        """Newton's, among the coefficients that are free to move."""
        H = self.loss.hessian(scores)
        diagonal = np.arange(H.shape[1])
        H[:, diagonal, diagonal] += self.l2 + damping
        held = self._on_kink(coef) & (slope == 0)
        if held.any():
            H[held[:, :, None] | held[:, None, :]] = 0.0
            H[:, diagonal, diagonal] += held
        return np.asarray(-np.linalg.solve(H, slope[:, :, None])[:, :, 0])

    def _search(
        self, coef: Floats, value: Floats, slope: Floats, direction: Floats
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """The first of the steps 1, 1/2, 1/4, ... that gains what its length promises."""
        orthant = np.where(coef != 0, np.sign(coef), -np.sign(slope))
        bounded = self.l1 > 0
        rounding = 1e-14 * np.abs(value)
        moved = coef.copy()
        found = np.zeros(len(coef), dtype=bool)
        length = 1.0
        for _ in range(_HALVINGS):
            todo = np.flatnonzero(~found)
            to = coef[todo] + length * direction[todo]
            to = np.where(bounded[todo] & (to * orthant[todo] < 0), 0.0, to)
            promised = (slope[todo] * (to - coef[todo])).sum(axis=1)
            part = _Problem(self.loss, self.l2[todo], self.l1[todo])
            reached = part.value(to, self.loss.scores(to))
            good = reached <= value[todo] + _ARMIJO * np.minimum(promised, 0.0) + rounding[todo]
            moved[todo[good]] = to[good]
            found[todo[good]] = True
            if found.all():
                break
            length /= 2
        return moved, found
