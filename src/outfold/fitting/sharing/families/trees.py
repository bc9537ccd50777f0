"""Decision trees over the rules that stop their growth, and over the pruning afterwards.

Stopping earlier would be cutting, were it not for the random numbers: scikit-learn draws the order in which features are
looked at anew for every node it tries to split, and the first of several equally good features wins. A tree that stops
earlier draws fewer numbers, so its later ties fall otherwise. Hence two families: trees that tried the same nodes are
the same tree (exact), and trees cut out of the one that stops latest (close).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from math import ceil
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..cache import LastX
from ..family import Family, Unsuitable, View

_VARIES = frozenset({"min_samples_leaf", "min_samples_split", "max_depth", "ccp_alpha"})
# scikit-learn does not try to split a node whose impurity is not above this.
_PURE = float(np.finfo(np.float64).eps)
_NO_LEAF = -1


class _Stops(NamedTuple):
    """When a tree stops growing, in numbers of rows and levels."""

    leaf: int
    split: int
    depth: int


def _stops(member: Any, n_rows: int) -> _Stops:
    """The rules as scikit-learn reads them: floats are shares of the rows, and a split needs two leaves."""
    leaf, split = member.min_samples_leaf, member.min_samples_split
    leaf = int(leaf) if isinstance(leaf, Integral) else ceil(leaf * n_rows)
    split = int(split) if isinstance(split, Integral) else max(2, ceil(split * n_rows))
    depth = np.iinfo(np.int32).max if member.max_depth is None else int(member.max_depth)
    return _Stops(leaf, max(split, 2 * leaf), depth)


class _Rows:
    """Training rows converted once, and what one growing of a tree on them needs."""

    def __init__(self, X: Any, y: Any, fit_params: dict[str, Any]) -> None:
        from scipy.sparse import issparse

        self.y = np.asarray(y)
        if issparse(X) or self.y.ndim != 1:
            raise Unsuitable("trees share their fits for dense X and a single y")
        if set(fit_params) - {"sample_weight"}:
            raise Unsuitable(f"trees share their fits with sample_weight only, not with {sorted(fit_params)}")
        self.X = X
        self.fit_params = fit_params
        self._dense: NDArray[np.float32] | None = None

    def grow(self, tree: Any) -> Any:
        """Fit; the first tree checks X and y, the others believe it."""
        if self._dense is None:
            from sklearn.utils import check_array

            tree.fit(self.X, self.y, **self.fit_params)
            self._dense = check_array(self.X, dtype=np.float32, ensure_all_finite=False)
            # Missing values are looked for where input is checked, so they have to be checked each time.
            self._checks = bool(np.isnan(self._dense).any())
            return tree
        return tree.fit(self._dense, self.y, check_input=self._checks, **self.fit_params)


def _reader(first: Any) -> LastX[Any]:
    """X as the trees read it."""
    return LastX(lambda X: first._validate_X_predict(X, True))


class _Leaves:
    """The leaf every row falls into."""

    def __init__(self, tree: Any, read: LastX[Any]) -> None:
        self.tree = tree
        self._read = read
        self._apply: LastX[NDArray[np.intp]] = LastX(tree.apply)

    def __call__(self, X: Any) -> NDArray[np.intp]:
        return self._apply(self._read(X))


class _TreeView(View):
    """The value of the node where a member's walk ends."""

    def __init__(self, member: Any, grown: Any, leaves: _Leaves, ends: NDArray[np.intp] | None = None) -> None:
        super().__init__(member, getattr(grown, "classes_", None))
        self._leaves = leaves
        # Where a walk that would reach a leaf of the grown tree ends; None for the leaf itself.
        self._ends = ends

    def _values(self, X: Any) -> NDArray[np.float64]:
        node = self._leaves(X)
        if self._ends is not None:
            node = self._ends[node]
        return self._leaves.tree.value[:, 0, :].take(node, axis=0)  # type: ignore[no-any-return]

    def predict(self, X: Any) -> NDArray[Any]:
        """The value, or the class with the largest share."""
        return self._values(X)[:, 0]


class _ClassTreeView(_TreeView):
    def predict(self, X: Any) -> NDArray[Any]:
        return self.classes_.take(self._values(X).argmax(axis=1), axis=0)  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return self._values(X)


def _view(member: Any, grown: Any, leaves: _Leaves, ends: NDArray[np.intp] | None = None) -> _TreeView:
    kind = _ClassTreeView if hasattr(grown, "classes_") else _TreeView
    return kind(member, grown, leaves, ends)


def _pruned(grown: Any, member: Any) -> Any:
    """A tree with less of it, by scikit-learn's own pruning."""
    out = copy(grown)
    out.ccp_alpha = member.ccp_alpha
    out._prune_tree()
    return out


def _depths(tree: Any) -> NDArray[np.intp]:
    """Levels below the root, by walking down all branches at once."""
    depth = np.zeros(tree.node_count, dtype=np.intp)
    level, nodes = 0, np.zeros(1, dtype=np.intp)
    left, right = tree.children_left, tree.children_right
    while nodes.size:
        depth[nodes] = level
        inner = nodes[left[nodes] != _NO_LEAF]
        nodes = np.concatenate((left[inner], right[inner]))
        level += 1
    return depth


def _simple_seed(member: Any) -> bool:
    return member.random_state is None or isinstance(member.random_state, Integral)


# -- the same tree ---------------------------------------------------------------------------------------


class _Grown:
    """A tree that was grown, and which nodes it tried to split."""

    def __init__(self, fitted: Any, stops: _Stops, read: LastX[Any]) -> None:
        self.fitted = fitted
        self.read = read
        self.leaves = _Leaves(fitted.tree_, read)
        tree = fitted.tree_
        impure = tree.impurity > _PURE
        self._size, self._depth = tree.n_node_samples[impure], _depths(tree)[impure]
        self._tried = self._tries(stops)
        self._by_alpha: dict[float, tuple[Any, _Leaves]] = {}

    def _tries(self, stops: _Stops) -> NDArray[np.bool_]:
        return np.asarray((self._size >= stops.split) & (self._depth < stops.depth))

    def serves(self, stops: _Stops) -> bool:
        """Whether a tree with these stops would have gone the same way: tried the same nodes, from the root on.

        Then it has drawn the same random numbers, and is the same to the last bit.
        """
        return np.array_equal(self._tried, self._tries(stops))

    def view(self, member: Any) -> _TreeView:
        """The member's predictions, pruned where it asks for it."""
        alpha = float(member.ccp_alpha)
        if alpha not in self._by_alpha:
            fitted = self.fitted if alpha == 0 else _pruned(self.fitted, member)
            leaves = self.leaves if alpha == 0 else _Leaves(fitted.tree_, self.read)
            self._by_alpha[alpha] = fitted, leaves
        return _view(member, *self._by_alpha[alpha])


class _SameTree(Family):
    """Members that grow the same tree: stops that do not bind, or bind at the same nodes; pruning comes afterwards."""

    varies = _VARIES

    def covers(self, estimator: Any) -> bool:
        """Trees grown depth first, from a seed that can be used again."""
        return estimator.max_leaf_nodes is None and isinstance(estimator.criterion, str) and _simple_seed(estimator)

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """One tree for all members that would try the same nodes."""
        rows = _Rows(X, y, fit_params)
        grown: dict[int, list[_Grown]] = {}
        read: LastX[Any] | None = None
        views = []
        for member in members:
            stops = _stops(member, len(rows.y))
            trees = grown.setdefault(stops.leaf, [])
            found = next((tree for tree in trees if tree.serves(stops)), None)
            if found is None:
                fitted = rows.grow(copy(member).set_params(ccp_alpha=0.0))
                read = read or _reader(fitted)
                found = _Grown(fitted, stops, read)
                trees.append(found)
            views.append(found.view(member))
        return views


class SameClassificationTree(_SameTree):
    """Bit for bit as separate fits."""

    estimator = "sklearn.tree.DecisionTreeClassifier"


class SameRegressionTree(_SameTree):
    """Bit for bit as separate fits."""

    estimator = "sklearn.tree.DecisionTreeRegressor"


# -- trees cut out of a larger one -----------------------------------------------------------------------


class _Base:
    """The tree that only the size of its leaves stops, to cut others out of."""

    def __init__(self, fitted: Any, read: LastX[Any]) -> None:
        self.fitted = fitted
        self.read = read
        self.tree = fitted.tree_
        self.leaves = _Leaves(self.tree, read)
        self._paths()
        self._cuts: dict[tuple[int, int], NDArray[np.intp]] = {}
        self._pruned: dict[tuple[int, int, float], tuple[Any, _Leaves]] = {}

    def _paths(self) -> None:
        """For every node the nodes from the root to it; a path that has ended repeats its end."""
        tree, depth = self.tree, _depths(self.tree)
        n_nodes, n_levels = tree.node_count, int(depth.max()) + 1
        parent = np.zeros(n_nodes, dtype=np.intp)
        inner = np.flatnonzero(tree.children_left != _NO_LEAF)
        parent[tree.children_left[inner]] = inner
        parent[tree.children_right[inner]] = inner
        self.path = np.empty((n_nodes, n_levels), dtype=np.intp)
        here = np.arange(n_nodes)
        for level in range(n_levels - 1, -1, -1):
            self.path[:, level] = here
            here = np.where(depth[here] == level, parent[here], here)
        self._level = depth
        self._size = tree.n_node_samples[self.path]

    def ends(self, stops: _Stops) -> NDArray[np.intp]:
        """For every node, where a walk to it ends under these stops: at the first node too small or too deep."""
        key = stops.split, stops.depth
        if key not in self._cuts:
            # Sizes fall along a path, so the number of nodes large enough to be split is the level where it ends.
            level = (self._size >= stops.split).sum(axis=1)
            level = np.minimum(np.minimum(level, stops.depth), self._level)
            self._cuts[key] = self.path[np.arange(len(level)), level]
        return self._cuts[key]

    def view(self, member: Any, stops: _Stops) -> _TreeView:
        """The member's predictions, cut and then pruned where it asks for it."""
        alpha = float(member.ccp_alpha)
        if alpha == 0:
            return _view(member, self.fitted, self.leaves, self.ends(stops))
        key = stops.split, stops.depth, alpha
        if key not in self._pruned:
            fitted = _pruned(self._cut(stops), member)
            self._pruned[key] = fitted, _Leaves(fitted.tree_, self.read)
        return _view(member, *self._pruned[key])

    def _cut(self, stops: _Stops) -> Any:
        """The cut tree as a tree of its own, which is what can be pruned."""
        from sklearn.tree._tree import Tree, _build_pruned_tree_py

        ends = self.ends(stops)
        is_end = np.zeros(len(ends), dtype=np.uint8)
        is_end[ends[self.tree.children_left == _NO_LEAF]] = 1
        n_classes = np.atleast_1d(getattr(self.fitted, "n_classes_", 1)).astype(np.intp)
        out = copy(self.fitted)
        out.tree_ = Tree(self.fitted.n_features_in_, n_classes, 1)
        _build_pruned_tree_py(out.tree_, self.tree, is_end)
        return out


class _CutTree(Family):
    """Members cut out of one tree for each size of leaf, the one that nothing else stops."""

    varies = _VARIES
    level = "close"
    serves_single = True

    def covers(self, estimator: Any) -> bool:
        """Trees whose splits depend on chance where two features are equally good, and nowhere else."""
        return (
            estimator.max_leaf_nodes is None
            and estimator.max_features is None
            and estimator.splitter == "best"
            and estimator.min_impurity_decrease == 0
            and estimator.min_weight_fraction_leaf == 0
            and estimator.monotonic_cst is None
            and isinstance(estimator.criterion, str)
            and _simple_seed(estimator)
        )

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """One tree for each size of leaf."""
        rows = _Rows(X, y, fit_params)
        bases: dict[int, _Base] = {}
        read: LastX[Any] | None = None
        views = []
        for member in members:
            stops = _stops(member, len(rows.y))
            if stops.leaf not in bases:
                base = copy(member).set_params(
                    min_samples_leaf=stops.leaf, min_samples_split=2, max_depth=None, ccp_alpha=0.0
                )
                fitted = rows.grow(base)
                read = read or _reader(fitted)
                bases[stops.leaf] = _Base(fitted, read)
            views.append(bases[stops.leaf].view(member, stops))
        return views


class CutClassificationTree(_CutTree):
    """As another random seed would differ."""

    estimator = "sklearn.tree.DecisionTreeClassifier"


class CutRegressionTree(_CutTree):
    """As another random seed would differ."""

    estimator = "sklearn.tree.DecisionTreeRegressor"


# Where both are allowed, the one that serves more.
FAMILIES = (CutClassificationTree(), CutRegressionTree(), SameClassificationTree(), SameRegressionTree())
