"""Nearest neighbours: one query for the largest k serves all smaller ones, with either kind of weights.

Which of several neighbours at the same distance scikit-learn takes depends on k. Rows where that could change what is
predicted are asked from a plain model.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cache import LastX
from ..family import Family, Unsuitable, View

_METRICS = frozenset(
    {"minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev", "infinity", "cosine"}
)
# Distances nearer than this, relative to the distance, might be in another order in a smaller query.
_NEAR = 1e-12
# Votes nearer than this, relative to the votes, might be in another order if added in another order.
_NEAR_VOTES = 1e-9
# The inverse of a smaller distance, or a sum of them, might be infinite even in single precision.
_TINY = 1e-30


class _Neighbours(Family):
    varies = frozenset({"n_neighbors", "weights"})

    def covers(self, estimator: Any) -> bool:
        """Named metrics without parameters; bounds of a ball tree round by the spread of the data, not by the distance."""
        k, p = estimator.n_neighbors, estimator.p
        return bool(
            isinstance(k, Integral)
            and not isinstance(k, bool)
            and k >= 1
            and isinstance(estimator.weights, str)
            and estimator.weights in ("uniform", "distance")
            and estimator.algorithm in ("auto", "brute", "kd_tree")
            and isinstance(estimator.metric, str)
            and estimator.metric in _METRICS
            and estimator.metric_params is None
            and isinstance(p, (int, float))
            and p >= 1
        )

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """A view for every member; one that asks for more neighbours than there are rows is fitted, and will say so."""
        if fit_params or hasattr(X, "tocsr") or np.ndim(y) != 1:
            raise Unsuitable("neighbours are shared for dense rows with one label and no weights")
        n = len(y)
        # scikit-learn's algorithm="auto" takes no tree where half the rows are asked for.
        groups: dict[bool, list[int]] = {}
        for i, member in enumerate(members):
            groups.setdefault(member.algorithm == "auto" and member.n_neighbors >= n // 2, []).append(i)
        models: list[Any] = [None] * len(members)
        for group in groups.values():
            possible = [i for i in group if members[i].n_neighbors <= n]
            if possible:
                shared = _Shared.fit(members, possible, X, y)
                for i in possible:
                    models[i] = self._view(members[i], shared)
            for i in set(group) - set(possible):
                models[i] = members[i].fit(X, y)
        return models

    def _view(self, member: Any, shared: _Shared) -> Any:
        raise NotImplementedError


class _Classifier(_Neighbours):
    estimator = "sklearn.neighbors.KNeighborsClassifier"

    def _view(self, member: Any, shared: _Shared) -> Any:
        return _ClassifierView(member, shared)


class _Regressor(_Neighbours):
    estimator = "sklearn.neighbors.KNeighborsRegressor"

    def _view(self, member: Any, shared: _Shared) -> Any:
        return _RegressorView(member, shared)


class _Shared:
    """A fitted model, and the neighbours of the rows last asked for."""

    def __init__(self, model: Any, k: int, width: int, squares: float) -> None:
        self.model = model
        self._k = k
        self._width = width
        self._squares = squares
        self.query = LastX(self._query)

    @classmethod
    def fit(cls, members: Sequence[Any], served: Sequence[int], X: Any, y: Any) -> _Shared:
        model = max((members[i] for i in served), key=lambda m: m.n_neighbors)
        model = copy.copy(model).fit(X, y)
        if model._fit_method not in ("kd_tree", "brute"):
            raise Unsuitable(f"neighbours by {model._fit_method} are not shared")
        rows = np.asarray(model._fit_X, dtype=np.float64)
        squares = float(np.einsum("ij,ij->i", rows, rows).max())
        return cls(model, int(model.n_neighbors), rows.shape[1], squares)

    def plain(self, member: Any) -> Any:
        """What the member would be if fitted alone."""
        made = copy.copy(self.model)
        made.n_neighbors, made.weights = member.n_neighbors, member.weights
        return made

    @property
    def by_row(self) -> bool:
        """Whether a row has the same neighbours, to the last bit, whichever rows it is asked with."""
        return bool(self.model._fit_method == "kd_tree")

    def _query(self, X: Any) -> _Query:
        n = self.model.n_samples_fit_
        distances, indices = self.model.kneighbors(X, n_neighbors=min(self._k + 1, n))
        close = self._close(X, distances)
        return _Query(distances, indices, self.model._y, close, distances.shape[1] == n)

    def _close(self, X: Any, d: NDArray[Any]) -> NDArray[np.bool_]:
        """(n, j): neighbours j and j + 1, from 0, are so near each other that their order is not certain."""
        d = d.astype(np.float64, copy=False)
        close = np.asarray(d[:, 1:] - d[:, :-1] <= _NEAR * d[:, 1:])
        if self.model._fit_method == "brute" and self.model.effective_metric_ in ("euclidean", "l2"):
            # |x|^2 - 2xy + |y|^2 for some weights, the differences for others: they agree up to rounding of the squares.
            rows = np.asarray(X, dtype=np.float64)
            squares = np.einsum("ij,ij->i", rows, rows) + self._squares
            slack = 8 * (self._width + 8) * np.finfo(np.float64).eps * squares
            close |= d[:, 1:] ** 2 - d[:, :-1] ** 2 <= slack[:, None]
        return close


@dataclass(frozen=True, eq=False)
class _Query:
    """The nearest neighbours of some rows, sorted.

    Attributes
    ----------
    distances, indices
        One more than the largest k, where there are as many.
    y
        Labels (codes) or values of the training rows.
    close
        Whether neighbour j and the next are hardly apart.
    complete
        All training rows are among the neighbours.
    """

    distances: NDArray[Any]
    indices: NDArray[np.intp]
    y: NDArray[Any]
    close: NDArray[np.bool_]
    complete: bool

    @cached_property
    def usual(self) -> bool:
        """Distances are numbers, and those that are not zero not too small for their inverse."""
        tiny = (self.distances > 0) & (self.distances < _TINY)
        return bool(np.isfinite(self.distances).all() and not tiny.any())

    @cached_property
    def labels(self) -> NDArray[Any]:
        """What the neighbours are labelled with."""
        return np.asarray(self.y[self.indices])

    @cached_property
    def weights(self) -> NDArray[Any]:
        """Inverse distances; where there are zeros, 1 for these and 0 for the others, whatever k is."""
        with np.errstate(divide="ignore"):
            weights = 1.0 / self.distances
        zero = np.isinf(weights)
        rows = zero[:, 0]
        weights[rows] = zero[rows]
        return np.asarray(weights)

    @cached_property
    def counts_zeros(self) -> NDArray[np.bool_]:
        """Rows whose weights are zeros and ones, so that sums are exact in any order."""
        return np.asarray(self.distances[:, 0] == 0)

    @cached_property
    def _mixed(self) -> NDArray[np.bool_]:
        """(n, j): neighbours j and j + 1 might change places, and it would matter."""
        differ = (self.labels[:, 1:] != self.labels[:, :-1]) | (self.distances[:, 1:] != self.distances[:, :-1])
        return np.asarray(self.close & differ)

    @cached_property
    def boundary(self) -> NDArray[np.bool_]:
        """(n, k - 1): who is the k-th neighbour is not certain, and it matters."""
        n, m = self.distances.shape
        group = np.zeros((n, m), dtype=np.intp)  # neighbours that are hardly apart
        np.cumsum(~self.close, axis=1, out=group[:, 1:])
        mixed = np.zeros((n, m), dtype=bool)
        rows, columns = np.nonzero(self._mixed)
        mixed[rows, group[rows, columns]] = True
        if not self.complete:  # the last group may go on beyond what was asked
            mixed[np.arange(n), group[:, -1]] = True
        out = np.zeros((n, m), dtype=bool)
        out[:, :-1] = self.close & np.take_along_axis(mixed, group[:, 1:], axis=1)
        return out

    @cached_property
    def order(self) -> NDArray[np.bool_]:
        """(n, k - 1): the first k, or the order in which they are added, are not certain, and it matters."""
        out = self.boundary.copy()
        out[:, 1:] |= np.logical_or.accumulate(self._mixed, axis=1)
        return out

    @cached_property
    def any_boundary(self) -> NDArray[np.bool_]:
        """For every k, whether there is such a row."""
        return np.asarray(self.boundary.any(axis=0))

    @cached_property
    def any_order(self) -> NDArray[np.bool_]:
        """For every k, whether there is such a row."""
        return np.asarray(self.order.any(axis=0))


class _NeighboursView(View):
    def __init__(self, stands_for: Any, shared: _Shared) -> None:
        super().__init__(stands_for, getattr(shared.model, "classes_", None))
        self._shared = shared
        self._k = int(stands_for.n_neighbors)
        self._by_distance = stands_for.weights == "distance"

    def _ask_plain(self, method: str, X: Any, values: NDArray[Any], rows: NDArray[np.bool_]) -> NDArray[Any]:
        """The same values, with these rows as a plain model gives them."""
        ask = getattr(self._shared.plain(self.stands_for), method)
        if not self._shared.by_row or rows.all():
            values[rows] = ask(X)[rows]
            return values
        from sklearn.utils import _safe_indexing

        values[rows] = ask(_safe_indexing(X, np.flatnonzero(rows)))
        return values


class _ClassifierView(_NeighboursView):
    def __init__(self, stands_for: Any, shared: _Shared) -> None:
        super().__init__(stands_for, shared)
        self._votes = LastX(self._count)

    def _count(self, X: Any) -> NDArray[np.float64]:
        """(n, classes): the votes, added from the nearest neighbour on as scikit-learn does."""
        query, k, n_classes = self._shared.query(X), self._k, len(self.classes_)
        labels = query.labels[:, :k]
        cells = (labels + n_classes * np.arange(len(labels))[:, None]).ravel()
        weights = query.weights[:, :k].ravel() if self._by_distance else None
        votes = np.bincount(cells, weights, minlength=n_classes * len(labels))
        return np.asarray(votes.reshape(-1, n_classes), dtype=np.float64)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        query = self._shared.query(X)
        if not query.usual:
            return np.asarray(self._shared.plain(self.stands_for).predict_proba(X))
        votes = self._votes(X)
        proba = votes / votes.sum(axis=1)[:, None]
        if query.any_boundary[self._k - 1]:
            return self._ask_plain("predict_proba", X, proba, query.boundary[:, self._k - 1])
        return proba

    def predict(self, X: Any) -> NDArray[Any]:
        query = self._shared.query(X)
        if not query.usual:
            return np.asarray(self._shared.plain(self.stands_for).predict(X))
        votes = self._votes(X)
        labels = self.classes_.take(votes.argmax(axis=1))
        unsure = query.boundary[:, self._k - 1]
        if self._by_distance and votes.shape[1] > 1:
            # scikit-learn adds the votes for the label in another order than those for the probabilities.
            top = np.partition(votes, -2, axis=1)
            near = top[:, -1] - top[:, -2] <= _NEAR_VOTES * top[:, -1]
            unsure = unsure | (near & ~query.counts_zeros)
        return self._ask_plain("predict", X, labels, unsure) if unsure.any() else labels


class _RegressorView(_NeighboursView):
    def predict(self, X: Any) -> NDArray[Any]:
        query, k = self._shared.query(X), self._k
        plain = self._shared.plain(self.stands_for)
        if not query.usual:
            return np.asarray(plain.predict(X))
        # The mean is scikit-learn's own, of neighbours it need not look for.
        nearest = np.ascontiguousarray(query.distances[:, :k]), np.ascontiguousarray(query.indices[:, :k])
        plain.kneighbors = lambda X, return_distance=True: nearest if return_distance else nearest[1]
        values = np.asarray(plain.predict(X))
        if query.any_order[k - 1]:
            return self._ask_plain("predict", X, values, query.order[:, k - 1])
        return values


FAMILIES: tuple[Family, ...] = (_Classifier(), _Regressor())
