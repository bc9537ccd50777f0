"""A network with one hidden layer, trained by L-BFGS on all rows at once.

It does what scikit-learn's MLPClassifier(solver="lbfgs") does, from the same first weights. The loss is compiled, so that the
many small networks of a study take a third of the time.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from outfold.stats.compiling import compiled, has_numba

Floats = NDArray[np.float64]
TOLERANCE, MOST_EVALUATIONS = 1e-4, 15_000


class Network:
    """One hidden layer of rectified linear units; the probabilities of the classes sum to one."""

    def __init__(self, hidden: int, *, penalty: float = 1e-4, steps: int = 100, seed: int = 0) -> None:
        self.hidden, self.penalty, self.steps, self.seed = hidden, penalty, steps, seed

    def fit(self, X: Floats, y: NDArray[np.generic]) -> Network:
        """Train on rows that are scaled already."""
        from scipy.optimize import minimize

        self.classes, codes = np.unique(y, return_inverse=True)
        self.outputs = 1 if len(self.classes) == 2 else len(self.classes)  # of two classes, one tells the other
        options = {"maxiter": self.steps, "maxfun": MOST_EVALUATIONS, "gtol": TOLERANCE}
        known = (np.ascontiguousarray(X, dtype=float), codes, self.hidden, self.outputs, self.penalty)
        first = self._first_weights(X.shape[1])
        self.weights = minimize(loss_and_slope, first, known, jac=True, method="L-BFGS-B", options=options).x
        return self

    def _first_weights(self, n_inputs: int) -> Floats:
        """Uniform, the wider the fewer units a layer joins (Glorot and Bengio 2010); drawn in the order of scikit-learn."""
        random, weights, offsets = np.random.RandomState(self.seed), [], []
        sizes = (n_inputs, self.hidden, self.outputs)
        for before, after in pairwise(sizes):
            bound = np.sqrt(6 / (before + after))
            weights.append(random.uniform(-bound, bound, (before, after)).ravel())
            offsets.append(random.uniform(-bound, bound, after))
        return np.concatenate([*weights, *offsets])

    def predict(self, X: Floats) -> NDArray[np.generic]:
        """The most probable class."""
        first, second, offset, last = parts(self.weights, X.shape[1], self.hidden, self.outputs)
        out = np.maximum(X @ first + offset, 0) @ second + last
        found = (out[:, 0] > 0).astype(int) if self.outputs == 1 else out.argmax(axis=1)
        return np.asarray(self.classes[found])


def parts(weights: Floats, n_inputs: int, hidden: int, outputs: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Weights of both layers, then their offsets."""
    ends = np.cumsum([n_inputs * hidden, hidden * outputs, hidden])
    first, second, offset, last = np.split(weights, ends)
    return first.reshape(n_inputs, hidden), second.reshape(hidden, outputs), offset, last


def _loss_and_slope(weights, X, codes, hidden, outputs, penalty):  # type: ignore[no-untyped-def]
    """Mean log loss with a penalty on the weights but not on the offsets, and its derivative by each."""
    n, p = X.shape
    second, offset = p * hidden, p * hidden + hidden * outputs
    last = offset + hidden
    slope, unit, out = np.zeros(len(weights)), np.empty(hidden), np.empty(outputs)
    loss = 0.0
    for i in range(n):
        for h in range(hidden):
            unit[h] = weights[offset + h]
        for j in range(p):
            for h in range(hidden):
                unit[h] += X[i, j] * weights[j * hidden + h]
        for o in range(outputs):
            out[o] = weights[last + o]
        for h in range(hidden):
            if unit[h] > 0:
                for o in range(outputs):
                    out[o] += unit[h] * weights[second + h * outputs + o]
        if outputs == 1:
            # log(1 + exp(-z)) without overflow, z the odds of the true class
            sign = 1.0 if codes[i] == 1 else -1.0
            z = sign * out[0]
            small = np.exp(-abs(z))
            loss += np.log1p(small) + max(-z, 0.0)
            out[0] = -sign * (small / (1 + small) if z > 0 else 1 / (1 + small))
        else:
            largest = out.max()
            total = 0.0
            loss += largest - out[codes[i]]
            for o in range(outputs):
                out[o] = np.exp(out[o] - largest)
                total += out[o]
            loss += np.log(total)
            for o in range(outputs):
                out[o] /= total
            out[codes[i]] -= 1.0
        for o in range(outputs):
            slope[last + o] += out[o]
        for h in range(hidden):
            if unit[h] > 0:
                back = 0.0
                for o in range(outputs):
                    slope[second + h * outputs + o] += unit[h] * out[o]
                    back += out[o] * weights[second + h * outputs + o]
                slope[offset + h] += back
                unit[h] = back
            else:
                unit[h] = 0.0
        for j in range(p):
            for h in range(hidden):
                slope[j * hidden + h] += X[i, j] * unit[h]
    for w in range(offset):
        loss += 0.5 * penalty * weights[w] ** 2
        slope[w] += penalty * weights[w]
    return loss / n, slope / n


loss_and_slope = compiled(_loss_and_slope) if has_numba() else _loss_and_slope
