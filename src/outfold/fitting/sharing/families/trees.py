"""Decision trees over the rules that stop their growth: smaller trees are cut out of the largest.

Cutting is close to a separate fit, not equal to it. scikit-learn draws the order of the features anew for each node that it
tries to split, and the first of several equally good features wins. A tree that stops earlier draws fewer numbers, so its
later ties are broken otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from math import ceil
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..family import Family, Unsuitable, View
from .common import LastX, is_seed

_NO_LEAF = -1


class _Stops(NamedTuple):
    """When a tree stops growing, in numbers of rows and levels."""

    leaf: int
    split: int
    depth: int

    @classmethod
    def of(cls, member: Any, n_rows: int) -> _Stops:
        """The rules as scikit-learn reads them: floats are shares of the rows, and a split needs two leaves."""
        leaf, split = member.min_samples_leaf, member.min_samples_split
        leaf = int(leaf) if isinstance(leaf, Integral) else ceil(leaf * n_rows)
        split = int(split) if isinstance(split, Integral) else max(2, ceil(split * n_rows))
        depth = np.iinfo(np.int32).max if member.max_depth is None else int(member.max_depth)
        return cls(leaf, max(split, 2 * leaf), depth)


class _Grown:
    """A tree that only the size of its leaves stops, to cut others out of."""

    def __init__(self, fitted: Any) -> None:
        self.classes = getattr(fitted, "classes_", None)
        self.leaves: LastX[NDArray[np.intp]] = LastX(fitted.apply)
        self.values: NDArray[np.float64] = fitted.tree_.value[:, 0, :]
        self._depth, self._path = _paths(fitted.tree_)
        self._size = fitted.tree_.n_node_samples[self._path]
        self._ends: dict[tuple[int, int], NDArray[np.intp]] = {}

    def ends(self, stops: _Stops) -> NDArray[np.intp]:
        """For each node, where a walk to it ends under these stops: at the first node too small or too deep."""
        key = stops.split, stops.depth
        if key not in self._ends:
            # Sizes fall along a path, so the number of nodes large enough to be split is the level where it ends.
            level = (self._size >= stops.split).sum(axis=1)
            level = np.minimum(np.minimum(level, stops.depth), self._depth)
            self._ends[key] = self._path[np.arange(len(level)), level]
        return self._ends[key]


def _paths(tree: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each node its level, and the nodes from the root to it (nodes, levels); a path that has ended repeats its end."""
    left, right = tree.children_left, tree.children_right
    depth, parent = np.zeros(tree.node_count, dtype=np.intp), np.zeros(tree.node_count, dtype=np.intp)
    level, nodes = 0, np.zeros(1, dtype=np.intp)
    while nodes.size:
        depth[nodes] = level
        inner = nodes[left[nodes] != _NO_LEAF]
        parent[left[inner]] = parent[right[inner]] = inner
        nodes = np.concatenate((left[inner], right[inner]))
        level += 1
    path = np.empty((tree.node_count, level), dtype=np.intp)
    here = np.arange(tree.node_count)
    for i in range(level - 1, -1, -1):
        path[:, i] = here
        here = np.where(depth[here] == i, parent[here], here)
    return depth, path


class _RegressionView(View):
    """The value of the node where a member's walk ends."""

    def __init__(self, member: Any, grown: _Grown, stops: _Stops) -> None:
        super().__init__(member, grown.classes)
        self._grown, self._ends = grown, grown.ends(stops)

    def _values(self, X: Any) -> NDArray[np.float64]:
        return self._grown.values.take(self._ends[self._grown.leaves(X)], axis=0)

    def predict(self, X: Any) -> NDArray[Any]:
        return self._values(X)[:, 0]


class _ClassView(_RegressionView):
    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.classes_.take(self._values(X).argmax(axis=1), axis=0))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return self._values(X)


class CutTree(Family):
    """One tree for each `min_samples_leaf`, cut where a member would have stopped."""

    varies = frozenset({"min_samples_leaf", "min_samples_split", "max_depth"})
    level = "close"
    close_limit = 0.25
    serves_single = True

    def __init__(self, estimator: str) -> None:
        self.estimator = estimator

    def covers(self, estimator: Any) -> bool:
        """Trees whose splits depend on chance where two features are equally good, and nowhere else."""
        return (
            estimator.max_leaf_nodes is None
            and estimator.max_features is None
            and estimator.splitter == "best"
            and estimator.ccp_alpha == 0
            and estimator.min_impurity_decrease == 0
            and estimator.min_weight_fraction_leaf == 0
            and estimator.monotonic_cst is None
            and isinstance(estimator.criterion, str)
            and is_seed(estimator.random_state)
        )

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """Grow one tree for each size of leaf."""
        from scipy.sparse import issparse

        if issparse(X) or np.ndim(y) != 1:
            raise Unsuitable("trees share their fits for dense X and a single y")
        if set(fit_params) - {"sample_weight"}:
            raise Unsuitable(f"trees share their fits with sample_weight only, not with {sorted(fit_params)}")
        grown: dict[int, _Grown] = {}
        views = []
        for member in members:
            stops = _Stops.of(member, len(y))
            if stops.leaf not in grown:
                base = copy(member).set_params(min_samples_leaf=stops.leaf, min_samples_split=2, max_depth=None)
                grown[stops.leaf] = _Grown(base.fit(X, y, **fit_params))
            tree = grown[stops.leaf]
            views.append((_RegressionView if tree.classes is None else _ClassView)(member, tree, stops))
        return views


FAMILIES = (CutTree("sklearn.tree.DecisionTreeClassifier"), CutTree("sklearn.tree.DecisionTreeRegressor"))
