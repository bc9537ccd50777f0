"""Logistic regressions of two classes by SAGA, many penalties over the same rows in the same order.

Defazio, Bach and Lacoste-Julien, SAGA: a fast incremental gradient method (2014), with the roundings of scikit-learn: every
operation on a number is one of its own, in its order. What differs is how the numbers are walked through. A step of one
coefficient does not see the others, so that a member's coefficients fill the lanes of a vector register; a dot product
must add them one after the other, so that four members are added side by side.

scikit-learn puts a step off until a row needs the coefficient. Rows of an array need all of them, so that a step waits for the
next row only: here it is made at once, with the correction of the row before it.
"""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compiling import compiled

Floats = NDArray[np.float64]

# Where scikit-learn multiplies its common factor of all coefficients into them.
_SMALLEST_SCALE = 1e-9
# Steps of a coefficient in one call, some hundredths of a second: between calls Ctrl-C and the clock are heard.
_STEPS = 30_000_000
_GOES_ON, _CONVERGED, _FAILED = 0, 1, 2


class Problems(NamedTuple):
    """What members differ in, one number for each."""

    step: Floats
    l2: Floats
    l1: Floats
    tol: Floats
    max_iter: NDArray[np.int64]


class Solutions(NamedTuple):
    """Coefficients (m, p), intercepts, rounds made, and which members stayed finite."""

    coef: Floats
    intercept: Floats
    rounds: NDArray[np.int64]
    finite: NDArray[np.bool_]


def solve(X: Floats, y: Floats, weight: Floats, seed: int, fit_intercept: bool, problems: Problems) -> Solutions:
    """Minimise for each member the mean loss and ``l2 |w|^2 / 2 + l1 |w|_1``, until its coefficients change by less than `tol`.

    Parameters
    ----------
    X, y, weight
        Rows (n, p), in C order; labels 0 and 1; the weight of every row.
    seed
        Of the order in which rows are visited; not 0.
    fit_intercept
        Whether there is an intercept.
    problems
        The members.
    """
    m, (n, p) = len(problems.step), X.shape
    decay = 1.0 - problems.step * problems.l2
    coef, gradient, before = np.zeros((m, p)), np.zeros((m, p)), np.zeros((m, p))
    constants, memory = np.zeros((m, 2)), np.zeros((m, n))
    random, visited = np.array([seed], np.uint32), np.zeros(n, np.bool_)
    status, done, active = np.zeros(m, np.int64), np.zeros(m, np.int64), np.arange(m)
    while len(active):
        rounds(X, y, weight, fit_intercept, random, visited, active, max(1, _STEPS // (n * p * len(active))),
               problems.step, decay, problems.l1, problems.tol, problems.max_iter,
               coef, gradient, before, constants, memory, status, done)  # fmt: skip
        active = np.flatnonzero((status == _GOES_ON) & (done < problems.max_iter))
    return Solutions(coef, constants[:, 0], done, status != _FAILED)


@compiled
def rounds(X, y, weight, fit_intercept, random, visited, active, most, step, decay, l1, tol, max_iter,
           coef, gradient, before, constants, memory, status, done):  # fmt: skip
    """Rounds of the active members until one of them has stopped, but not more than `most`.

    For every member: ``coef``, the sum of ``gradient`` over the rows, and the coefficients ``before`` the round (m, p); the
    intercept and the sum of its gradients in ``constants`` (m, 2); the last derivative at every row in ``memory`` (m, n).
    """
    order, seen = np.empty(len(X), np.int64), np.empty(len(X))
    sums, l1_sums = np.empty((4, len(X))), np.empty((4, len(X)))
    for _ in range(most):
        visit(random, visited, order, seen)
        for first in range(0, len(active), 4):
            walk(X, y, weight, fit_intercept, order, seen, active[first : first + 4], step, decay, l1,
                 coef, gradient, constants, memory, sums, l1_sums, status)  # fmt: skip
        stopped = False
        for m in active:
            done[m] += 1
            settle(coef[m], before[m], tol[m], status, m)
            stopped |= status[m] != _GOES_ON or done[m] == max_iter[m]
        if stopped:
            break


@compiled
def visit(random, visited, order, seen):
    """Draw the rows of a round by a xorshift generator (Marsaglia 2003), and count the different rows seen so far."""
    n = len(order)
    state = random[0]
    count = 0
    for i in range(n):
        count += visited[i]
    for t in range(n):
        state ^= np.uint32(state << np.uint32(13))
        state ^= np.uint32(state >> np.uint32(17))
        state ^= np.uint32(state << np.uint32(5))
        row = np.int64(state & np.uint32(0x7FFFFFFF)) % n
        order[t] = row
        count += not visited[row]
        visited[row] = True
        seen[t] = count
    random[0] = state


@compiled
def walk(X, y, weight, fit_intercept, order, seen, group, step, decay, l1,
         coef, gradient, constants, memory, sums, l1_sums, status):  # fmt: skip
    """One round of up to four members over the rows in this order."""
    n, size = len(order), len(group)
    products, scale = np.empty(4), np.ones(4)
    # Of fewer than four members the last is added up again.
    a, b, c, d = coef[group[0]], coef[group[min(1, size - 1)]], coef[group[min(2, size - 1)]], coef[group[size - 1]]
    dots(a, b, c, d, X[order[0]], products)
    for t in range(n):
        row = order[t]
        known = 1.0 - 1.0 / seen[t]
        for i in range(size):
            m = group[i]
            g = slope(y[row], scale[i] * products[i] + constants[m, 0]) * weight[row]
            scale[i] *= decay[m]
            change = g - memory[m, row]
            memory[m, row] = g
            if fit_intercept:
                constants[m, 1] += change
                constants[m, 0] -= step[m] * constants[m, 1] / seen[t] + change * (step[m] * known)
            along, shrink = step[m] / (scale[i] * seen[t]), step[m] * l1[m] / scale[i]
            sums[i, t], l1_sums[i, t] = along, shrink
            if t > 0:  # sums and then their differences, rounded as scikit-learn's
                sums[i, t] += sums[i, t - 1]
                l1_sums[i, t] += l1_sums[i, t - 1]
                along, shrink = sums[i, t] - sums[i, t - 1], l1_sums[i, t] - l1_sums[i, t - 1]
            too_small = scale[i] < _SMALLEST_SCALE
            move(coef[m], gradient[m], X[row], change, step[m], known, scale[i], along, shrink)
            if too_small or t == n - 1:
                multiply(coef[m], scale[i])
            if too_small:
                sums[i, t] = l1_sums[i, t] = 0.0
                scale[i] = 1.0
                if not np.isfinite(coef[m]).all():
                    status[m] = _FAILED
                if t == n - 1 and l1[m] > 0:
                    replay(coef[m], gradient[m], sums[i], l1_sums[i])
        if t < n - 1:
            dots(a, b, c, d, X[order[t + 1]], products)
    for m in group:
        if not math.isfinite(constants[m, 0]):
            status[m] = _FAILED


@compiled
def slope(y, score):
    """Derivative of the logistic loss."""
    if score > -37:
        e = math.exp(-score)
        return ((1 - y) - y * e) / (1 + e)
    return math.exp(score) - y


@compiled
def dots(a, b, c, d, x, out):
    """Four dot products, each added from the first column to the last."""
    p = q = r = s = 0.0
    for j in range(len(x)):
        p += a[j] * x[j]
        q += b[j] * x[j]
        r += c[j] * x[j]
        s += d[j] * x[j]
    out[0], out[1], out[2], out[3] = p, q, r, s


@compiled
def move(coef, gradient, x, change, step, known, scale, along, shrink):
    """Correct for the row seen, then step along the mean gradient, and towards 0 by the l1 penalty."""
    for j in range(len(x)):
        correction = x[j] * change
        g = gradient[j] + correction
        gradient[j] = g
        coef[j] = shrunk(coef[j] - correction * step * known / scale - along * g, shrink)


@compiled
def shrunk(w, by):
    """Soft thresholding, by a number that is not negative."""
    within = w if w > -by else -by
    return w - (within if within < by else by)


@compiled
def multiply(values, by):
    """In place."""
    for j in range(len(values)):
        values[j] *= by


@compiled
def replay(coef, gradient, sums, l1_sums):
    """All steps of the round once more, from the last to the first: so scikit-learn does where the last row rescales.

    The last of the sums is then 0, so that its step is one back, for which soft thresholding is no longer a clamp.
    """
    for j in range(len(coef)):
        w = coef[j]
        for t in range(len(sums) - 1, -1, -1):
            w -= gradient[j] * (sums[t] - sums[t - 1] if t > 0 else sums[0])
            by = l1_sums[t] - l1_sums[t - 1] if t > 0 else l1_sums[0]
            up, down = w - by, -w - by
            w = (up if up > 0.0 else 0.0) - (down if down > 0.0 else 0.0)
        coef[j] = w


@compiled
def settle(coef, before, tol, status, m):
    """Whether a member stops: by the largest change of a coefficient in the round, beside the largest coefficient."""
    if not np.isfinite(coef).all():
        status[m] = _FAILED
        return
    largest = change = 0.0
    for j in range(len(coef)):
        largest = max(largest, abs(coef[j]))
        change = max(change, abs(coef[j] - before[j]))
        before[j] = coef[j]
    if status[m] == _GOES_ON and (change / largest <= tol if largest != 0 else change == 0):
        status[m] = _CONVERGED
