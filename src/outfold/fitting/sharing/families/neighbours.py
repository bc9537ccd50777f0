"""Nearest neighbours: one query for the largest k serves all smaller ones, with either kind of weights.

Which of several neighbours at the same distance scikit-learn takes depends on k. Rows where that could change what is
predicted are asked from a plain model.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..family import Family, Unsuitable, View
from .common import LastX, is_count

_METRICS = frozenset(
    {"minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev", "infinity", "cosine"}
)
# Distances nearer than this, relative to the distance, might be in another order in a smaller query.
_NEAR = 1e-12
# Votes nearer than this, relative to the votes, might be in another order if added in another order.
_NEAR_VOTES = 1e-9
# The inverse of a smaller distance, or a sum of them, might be infinite even in single precision.
_TINY = 1e-30
# Rows times neighbours above which a query would take more than about 400 MB.
_MOST = 10_000_000
# Rows times neighbours times classes above which the votes are counted for every k alone.
_MOST_VOTES = 2_000_000


class _Neighbours(Family):
    varies = frozenset({"n_neighbors", "weights"})

    def __init__(self, estimator: str) -> None:
        self.estimator = estimator

    def covers(self, estimator: Any) -> bool:
        """Named metrics without parameters; bounds of a ball tree round by the spread of the data, not by the distance."""
        k, p = estimator.n_neighbors, estimator.p
        return bool(
            is_count(k)
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
        possible = [m for m in members if m.n_neighbors <= n]
        if not possible:
            raise Unsuitable("no member has as few neighbours as there are rows")
        few, many = _Shared.fit(possible, X, y)
        view = _ClassifierView if hasattr(few.model, "classes_") else _RegressorView
        return [m.fit(X, y) if m.n_neighbors > n else view(m, many if _asks_many(m, n) else few) for m in members]


def _asks_many(member: Any, n: int) -> bool:
    """Whether scikit-learn takes no tree because half the rows are asked for."""
    return bool(member.algorithm == "auto" and member.n_neighbors >= n // 2)


class _Shared:
    """A fitted model, and the neighbours of the rows last asked for."""

    def __init__(self, model: Any, members: Sequence[Any]) -> None:
        self.model = model
        self._k = max((int(m.n_neighbors) for m in members), default=1)
        self.query = LastX(self._query)

    @classmethod
    def fit(cls, members: Sequence[Any], X: Any, y: Any) -> tuple[_Shared, _Shared]:
        """What serves members with few neighbours, and what serves those with many; mostly the same."""
        model = copy.copy(min(members, key=lambda m: int(m.n_neighbors))).fit(X, y)
        if model._fit_method not in ("kd_tree", "brute"):
            raise Unsuitable(f"neighbours by {model._fit_method} are not shared")
        many = [m for m in members if _asks_many(m, len(y))]
        if model._fit_method == "brute" or not many:
            shared = cls(model, members)
            return shared, shared
        brute = copy.copy(model)
        brute._fit_method, brute._tree = "brute", None
        return cls(model, [m for m in members if not _asks_many(m, len(y))]), cls(brute, many)

    def plain(self, member: Any) -> Any:
        """What the member would be if fitted alone."""
        made = object.__new__(type(self.model))  # copy.copy takes longer than the mean of the neighbours
        vars(made).update(vars(self.model))
        made.n_neighbors, made.weights = member.n_neighbors, member.weights
        return made

    def _query(self, X: Any) -> _Query | None:
        """The neighbours of all members, or None where each must look for its own."""
        n = self.model.n_samples_fit_
        k = min(self._k + 1, n)
        if len(X) * k > _MOST:
            return None
        distances, indices = self.model.kneighbors(X, n_neighbors=k)
        if not np.isfinite(distances).all() or ((distances > 0) & (distances < _TINY)).any():
            return None
        # A tree is asked row by row; matrix products round by which rows are asked together.
        tree, rows = (self.model._tree, X) if self.model._fit_method == "kd_tree" else (None, None)
        close = self._close(X, distances)
        return _Query(distances, indices, self.model._y, close, k == n, tree, rows)

    def _close(self, X: Any, d: NDArray[Any]) -> NDArray[np.bool_]:
        """(n, j): neighbours j and j + 1, from 0, are so near each other that their order is not certain."""
        d = d.astype(np.float64, copy=False)
        close = np.asarray(d[:, 1:] - d[:, :-1] <= _NEAR * d[:, 1:])
        if self.model._fit_method == "brute" and self.model.effective_metric_ in ("euclidean", "l2"):
            # |x|^2 - 2xy + |y|^2 for some weights, the differences for others: they agree up to rounding of the squares.
            rows = np.asarray(X, dtype=np.float64)
            trained = np.asarray(self.model._fit_X, dtype=np.float64)
            squares = np.einsum("ij,ij->i", rows, rows) + np.einsum("ij,ij->i", trained, trained).max()
            slack = 8 * (rows.shape[1] + 8) * np.finfo(np.float64).eps * squares
            close |= d[:, 1:] ** 2 - d[:, :-1] ** 2 <= slack[:, None]
        return close


class _Doubt(NamedTuple):
    """(n, k - 1): rows whose k nearest are not certain, where that matters; and for every k whether there are any."""

    rows: NDArray[np.bool_]
    any: NDArray[np.bool_]


class _Votes(NamedTuple):
    """(n, classes): the votes, added from the nearest neighbour on as scikit-learn does, and their shares."""

    sums: NDArray[np.float64]
    shares: NDArray[np.float64]

    @classmethod
    def of(cls, sums: NDArray[np.float64]) -> _Votes:
        return cls(sums, sums / sums.sum(axis=-1)[..., None])

    @classmethod
    def of_all(cls, labels: NDArray[np.intp], weights: NDArray[Any], n_classes: int) -> _Votes:
        """The same for all k: (k - 1, n, classes)."""
        n, m = labels.shape
        single = np.zeros((m, n, n_classes))
        single[np.arange(m)[:, None], np.arange(n), labels.T] = weights.T
        return cls.of(np.cumsum(single, axis=0, out=single))

    def at(self, k: int) -> _Votes:
        return _Votes(self.sums[k - 1], self.shares[k - 1])


@dataclass(frozen=True, eq=False)
class _Query:
    """The nearest neighbours of some rows, sorted; one more than the largest k, where there are as many."""

    distances: NDArray[Any]
    indices: NDArray[np.intp]
    y: NDArray[Any]  # labels (codes) or values of the training rows
    close: NDArray[np.bool_]  # whether neighbour j and the next are hardly apart
    complete: bool  # all training rows are among the neighbours
    tree: Any  # where to ask for the neighbours of single rows of X; None if that must be left to a plain model
    X: Any
    _doubts: dict[tuple[bool, bool], _Doubt] = field(default_factory=dict)
    _votes: dict[bool, _Votes | None] = field(default_factory=dict)

    @cached_property
    def labels(self) -> NDArray[Any]:
        """What the neighbours are labelled with."""
        return np.asarray(self.y[self.indices])

    @cached_property
    def weights(self) -> NDArray[Any]:
        """Inverse distances; zero distances as `_weights` has them."""
        return _weights(self.distances)

    @cached_property
    def counts_zeros(self) -> NDArray[np.bool_]:
        """Rows whose weights are zeros and ones, so that sums are exact in any order."""
        return np.asarray(self.distances[:, 0] == 0)

    def doubt(self, by_distance: bool, ordered: bool) -> _Doubt:
        """Where neighbours hardly apart could change what is predicted.

        That takes different labels or, `by_distance`, weights. `ordered` where the order of the k nearest matters too.
        """
        key = (by_distance, ordered)
        if key not in self._doubts:
            rows = self._doubtful(*key)
            self._doubts[key] = _Doubt(rows, np.asarray(rows.any(axis=0)))
        return self._doubts[key]

    def _doubtful(self, by_distance: bool, ordered: bool) -> NDArray[np.bool_]:
        n, m = self.distances.shape
        differ = self.labels[:, 1:] != self.labels[:, :-1]
        if by_distance:
            differ |= self.distances[:, 1:] != self.distances[:, :-1]
        differ &= self.close
        group = np.zeros((n, m), dtype=np.intp)  # neighbours that are hardly apart
        np.cumsum(~self.close, axis=1, out=group[:, 1:])
        mixed = np.zeros((n, m), dtype=bool)
        rows, columns = np.nonzero(differ)
        mixed[rows, group[rows, columns]] = True
        if not self.complete:  # the last group may go on beyond what was asked
            mixed[np.arange(n), group[:, -1]] = True
        out = np.zeros((n, m), dtype=bool)
        out[:, :-1] = self.close & np.take_along_axis(mixed, group[:, 1:], axis=1)
        if ordered:
            out[:, 1:] |= np.logical_or.accumulate(differ, axis=1)
        return out

    def votes(self, by_distance: bool, n_classes: int) -> _Votes | None:
        """The votes of the k nearest for every k at once; None where that would be too much."""
        if by_distance not in self._votes:
            weights = self.weights if by_distance else np.ones(1)
            fits = self.distances.size * n_classes <= _MOST_VOTES
            self._votes[by_distance] = _Votes.of_all(self.labels, weights, n_classes) if fits else None
        return self._votes[by_distance]

    @cached_property
    def _points(self) -> NDArray[np.float64]:
        return np.asarray(self.X, dtype=np.float64)

    def ask_tree(self, k: int, rows: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Distances and indices of these rows' k nearest, as a query for k gives them."""
        distances, indices = self.tree.query(self._points[rows], k)
        return distances, indices


def _weights(distances: NDArray[Any]) -> NDArray[Any]:
    """Inverse distances; where there are zeros, 1 for these and 0 for the others, whatever k is."""
    with np.errstate(divide="ignore"):
        weights = 1.0 / distances
    zero = np.isinf(weights)
    rows = zero[:, 0]
    weights[rows] = zero[rows]
    return np.asarray(weights)


class _NeighboursView(View):
    # Whether the order in which neighbours are added matters.
    _ordered: ClassVar[bool]

    def __init__(self, member: Any, shared: _Shared) -> None:
        super().__init__(member, getattr(shared.model, "classes_", None))
        self._shared = shared
        self._k = int(member.n_neighbors)
        self._by_distance = member.weights == "distance"

    def _plain(self, method: str, X: Any) -> NDArray[Any]:
        return np.asarray(getattr(self._shared.plain(self.member), method)(X))

    def _doubtful(self, query: _Query) -> NDArray[np.bool_] | None:
        doubt = query.doubt(self._by_distance, self._ordered)
        return doubt.rows[:, self._k - 1] if doubt.any[self._k - 1] else None

    def _certain(self, method: str, X: Any, query: _Query, values: NDArray[Any]) -> NDArray[Any]:
        """The same values, with what no tree could tell as a plain model gives it."""
        rows = self._doubtful(query) if query.tree is None else None
        if rows is None:
            return values
        return np.where(rows if values.ndim == 1 else rows[:, None], self._plain(method, X), values)


class _ClassifierView(_NeighboursView):
    _ordered = False

    def __init__(self, member: Any, shared: _Shared) -> None:
        super().__init__(member, shared)
        self._votes = LastX(self._count)

    def _count(self, query: _Query) -> _Votes:
        k, n_classes = self._k, len(self.classes_)
        rows = self._doubtful(query) if query.tree is not None else None
        votes = query.votes(self._by_distance, n_classes)
        if votes is not None:
            votes = votes.at(k)
        else:
            weights = query.weights[:, :k] if self._by_distance else None
            votes = _Votes.of(_sums(query.labels[:, :k], weights, n_classes))
        if rows is None:
            return votes
        distances, indices = query.ask_tree(k, rows)
        sums = votes.sums.copy()
        sums[rows] = _sums(query.y[indices], _weights(distances) if self._by_distance else None, n_classes)
        return _Votes.of(sums)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        query = self._shared.query(X)
        if query is None:
            return self._plain("predict_proba", X)
        return self._certain("predict_proba", X, query, self._votes(query).shares)

    def predict(self, X: Any) -> NDArray[Any]:
        query = self._shared.query(X)
        if query is None:
            return self._plain("predict", X)
        sums = self._votes(query).sums
        if self._by_distance and self._is_near(sums, query.counts_zeros):
            return self._plain("predict", X)
        return self._certain("predict", X, query, self.classes_.take(sums.argmax(axis=1)))

    @staticmethod
    def _is_near(votes: NDArray[np.float64], exact: NDArray[np.bool_]) -> bool:
        """scikit-learn adds the votes for the label in another order than those for the probabilities."""
        if votes.shape[1] == 1:
            return False
        top = votes if votes.shape[1] == 2 else np.partition(votes, -2, axis=1)[:, -2:]
        near = np.abs(top[:, 1] - top[:, 0]) <= _NEAR_VOTES * top.max(axis=1)
        return bool((near & ~exact).any())


def _sums(labels: NDArray[np.intp], weights: NDArray[Any] | None, n_classes: int) -> NDArray[np.float64]:
    """The sum of weights (counts if None) for every row and label, added from left to right."""
    cells = (labels + n_classes * np.arange(len(labels))[:, None]).ravel()
    sums = np.bincount(cells, None if weights is None else weights.ravel(), minlength=n_classes * len(labels))
    return np.asarray(sums.reshape(-1, n_classes), dtype=np.float64)


class _RegressorView(_NeighboursView):
    _ordered = True

    def predict(self, X: Any) -> NDArray[Any]:
        query, k = self._shared.query(X), self._k
        plain = self._shared.plain(self.member)
        if query is None:
            return np.asarray(plain.predict(X))
        distances, indices = query.distances[:, :k].copy(), query.indices[:, :k].copy()
        rows = self._doubtful(query) if query.tree is not None else None
        if rows is not None:
            distances[rows], indices[rows] = query.ask_tree(k, rows)
        # The mean is scikit-learn's own, of neighbours it need not look for.
        plain.kneighbors = lambda X, return_distance=True: (distances, indices) if return_distance else indices
        return self._certain("predict", X, query, np.asarray(plain.predict(X)))


FAMILIES: tuple[Family, ...] = tuple(
    _Neighbours(f"sklearn.neighbors.{name}") for name in ("KNeighborsClassifier", "KNeighborsRegressor")
)
