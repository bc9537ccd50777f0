"""Small learners that predict all held-out samples of many splits at once, for studies with thousands of data sets.

Each takes features X (N, p), labels or values y (N,) and folds (R, N), where -1 is not held out. Sample i of repeat r is
predicted by a model trained on all samples j with folds[r, j] != folds[r, i]. The predictions are (R, N) estimates of E[y | x];
those of samples that are not held out mean nothing. `rng` is for learners that draw.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numba
import numpy as np

Learner = Callable[[np.ndarray, np.ndarray, np.ndarray, np.random.Generator], np.ndarray]

NEIGHBOURS = 5
LEAF = 5
UNITS = 20


def models_of(folds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(M, N) who trains each model, and (R, N) which model predicts a sample."""
    k = int(folds.max()) + 1
    models = np.where(folds >= 0, folds + k * np.arange(len(folds))[:, None], 0)
    used, own = np.unique(models[folds >= 0], return_inverse=True)
    index = np.zeros(folds.shape, dtype=np.intp)
    index[folds >= 0] = own
    return folds[used // k] != (used % k)[:, None], index


def own_of(all_models: np.ndarray, index: np.ndarray) -> np.ndarray:
    """(R, N) of (N, M): the prediction of every sample by the model that held it out."""
    return all_models[np.arange(all_models.shape[0]), index]


def centroid(X: np.ndarray, y: np.ndarray, folds: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Nearest class mean, with the probability that one common variance of all features gives."""
    train, index = models_of(folds)
    weights = train.astype(float)
    ones, zeros = weights * y, weights * (1 - y)
    n1, n0 = ones.sum(axis=1), zeros.sum(axis=1)
    mean1, mean0 = ones @ X / n1[:, None], zeros @ X / n0[:, None]
    squares = weights @ (X**2).sum(axis=1) - n1 * (mean1**2).sum(axis=1) - n0 * (mean0**2).sum(axis=1)
    variance = squares / (weights.sum(axis=1) - 2) / X.shape[1]
    slope = (mean1 - mean0) / variance[:, None]
    offset = -((mean1 + mean0) / 2 * slope).sum(axis=1) + np.log(n1 / n0)
    return 1 / (1 + np.exp(-own_of(X @ slope.T + offset, index)))


def linear(X: np.ndarray, y: np.ndarray, folds: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Least squares."""
    train, index = models_of(folds)
    weights, A = train.astype(float), np.column_stack([np.ones(len(X)), X])
    p = A.shape[1]
    gram = (weights @ (A[:, :, None] * A[:, None, :]).reshape(len(X), -1)).reshape(-1, p, p) + 1e-9 * np.eye(p)
    slopes = np.linalg.solve(gram, (weights @ (A * y[:, None]))[:, :, None])[:, :, 0]
    return own_of(A @ slopes.T, index)


def knn(X: np.ndarray, y: np.ndarray, folds: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Mean of the five nearest training samples."""
    if not any(X is known for known, _ in _ORDERS):  # the plans of one data set ask in turn, for both halves
        squares = (X**2).sum(axis=1)
        _ORDERS.append((X, np.argsort(squares[:, None] + squares - 2 * X @ X.T, axis=1)))
    order = next(order for known, order in _ORDERS if X is known)
    return _nearest(order, y.astype(float), folds)


_ORDERS: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=2)


@numba.njit(cache=True)
def _nearest(order, y, folds):
    out = np.zeros(folds.shape)
    for r in range(folds.shape[0]):
        for i in range(folds.shape[1]):
            found, total = 0, 0.0
            for j in order[i]:
                if folds[r, j] != folds[r, i]:
                    found += 1
                    total += y[j]
                    if found == NEIGHBOURS:
                        break
            out[r, i] = total / max(found, 1)
    return out


def tree(X: np.ndarray, y: np.ndarray, folds: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A least-squares tree, grown while leaves keep five samples."""
    return _grow(X, np.argsort(X, axis=0).T.copy(), y.astype(float), folds, X.shape[1], 0)


def random_tree(X: np.ndarray, y: np.ndarray, folds: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The same tree, but every node sees a third of the features, drawn at random."""
    seed = int(rng.integers(1 << 31))
    return _grow(X, np.argsort(X, axis=0).T.copy(), y.astype(float), folds, max(X.shape[1] // 3, 1), seed)


@numba.njit(cache=True)
def _grow(X, order, y, folds, n_features, seed):
    np.random.seed(seed)  # noqa: NPY002  (compiled code has no other)
    n, p = X.shape
    out = np.zeros(folds.shape)
    work, spare = np.empty((p, n), dtype=np.int64), np.empty(n, dtype=np.int64)
    nodes, goes_left = np.zeros((2 * n, 5)), np.zeros(n, dtype=np.bool_)
    for r in range(folds.shape[0]):
        for k in range(folds[r].max() + 1):
            _grow_one(X, order, y, folds[r], k, n_features, work, spare, goes_left, nodes)
            for i in range(n):
                if folds[r, i] == k:
                    m = 0
                    while nodes[m, 0] >= 0:
                        m = int(nodes[m, 2] if X[i, int(nodes[m, 0])] <= nodes[m, 1] else nodes[m, 3])
                    out[r, i] = nodes[m, 4]
    return out


@numba.njit(cache=True)
def _grow_one(X, order, y, folds, k, n_features, work, spare, goes_left, nodes):
    """A tree as rows of feature (-1: a leaf), cut, left, right and mean; each node is a stretch of every sorted feature."""
    n, p = X.shape
    size = 0
    for f in range(p):
        size = 0
        for j in order[f]:
            if folds[j] != k:
                work[f, size] = j
                size += 1
    start, stop = np.zeros(2 * n, dtype=np.int64), np.zeros(2 * n, dtype=np.int64)
    stop[0] = size
    n_nodes, m = 1, 0
    features = np.arange(p)
    while m < n_nodes:
        low, high = start[m], stop[m]
        total = 0.0
        for i in range(low, high):
            total += y[work[0, i]]
        size = high - low
        nodes[m, 0], nodes[m, 4] = -1, total / max(size, 1)
        best, cut_by, cut_at = 1e-12, -1, 0.0
        if n_features < p:
            features = np.random.permutation(p)  # noqa: NPY002
        for f in features[:n_features] if size >= 2 * LEAF else features[:0]:
            left = 0.0
            for i in range(low, high - LEAF):
                left += y[work[f, i]]
                before = i - low + 1
                x, following = X[work[f, i], f], X[work[f, i + 1], f]
                if before >= LEAF and following > x:
                    gain = left**2 / before + (total - left) ** 2 / (size - before) - total**2 / size
                    if gain > best:
                        best, cut_by, cut_at = gain, f, (x + following) / 2
        if cut_by >= 0:
            nodes[m, 0], nodes[m, 1], nodes[m, 2], nodes[m, 3] = cut_by, cut_at, n_nodes, n_nodes + 1
            for i in range(low, high):
                goes_left[work[0, i]] = X[work[0, i], cut_by] <= cut_at
            middle = low
            for f in range(p):
                middle, after = low, 0
                for i in range(low, high):
                    j = work[f, i]
                    if goes_left[j]:
                        work[f, middle] = j
                        middle += 1
                    else:
                        spare[after] = j
                        after += 1
                for i in range(after):
                    work[f, middle + i] = spare[i]
            start[n_nodes], stop[n_nodes], start[n_nodes + 1], stop[n_nodes + 1] = low, middle, middle, high
            n_nodes += 2
        m += 1


def random_network(X: np.ndarray, y: np.ndarray, folds: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Ridge regression on twenty hidden units with random weights, which every fit draws anew."""
    train, index = models_of(folds)
    n, m = len(X), len(train)
    hidden = np.ones((m, n, UNITS + 1))
    hidden[:, :, 1:] = np.tanh(X @ rng.normal(size=(m, X.shape[1], UNITS)) / np.sqrt(X.shape[1]))
    weighted = hidden * train[:, :, None]
    gram = weighted.transpose(0, 2, 1) @ hidden + np.eye(UNITS + 1)
    slopes = np.linalg.solve(gram, weighted.transpose(0, 2, 1) @ y[:, None])
    return own_of((hidden @ slopes)[:, :, 0].T, index)


LEARNERS: dict[str, Learner] = {
    "centroid": centroid,
    "5-NN": knn,
    "tree": tree,
    "linear": linear,
    "random tree": random_tree,
    "random network": random_network,
}
