"""Forests: the one with the most trees serves all smaller ones, which are its first trees.

On small tables scikit-learn spends most of the time of a forest around its trees: it copies, checks and names each of them. So
the trees are grown here by scikit-learn's own compiled builder alone. The builder is not part of its public interface. That is
why the first tree of every forest is also grown by scikit-learn: the others are grown here only if the two are the same in
every bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..family import Family, Unsuitable, View
from .common import LastX, is_count, is_seed

_MOST = np.iinfo(np.int32).max
_CRITERIA = frozenset({"gini", "entropy", "log_loss", "squared_error", "friedman_mse"})
# With more rows, or fewer trees, growing the first tree twice costs more than it saves.
_MOST_ROWS, _FEWEST_TREES = 5_000, 10

# A tree for each seed.
_Grower = Callable[[int], Any]


class Forest(Family):
    """The first trees of the largest forest."""

    varies = frozenset({"n_estimators"})
    serves_single = True  # its trees are grown faster

    def __init__(self, estimator: str) -> None:
        self.estimator = estimator

    def covers(self, estimator: Any) -> bool:
        """Neither grown further nor judged while it is fitted, with a seed that can be given twice, and one thread."""
        return (
            is_count(estimator.n_estimators)
            and is_seed(estimator.random_state)
            and estimator.n_jobs in (None, 1)
            and not estimator.verbose
            and estimator.warm_start is False
            and estimator.oob_score is False
        )

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """Views of the first trees of the largest forest."""
        from sklearn.utils import check_array

        if np.ndim(y) != 1:
            raise Unsuitable("fits are shared for one label per row")
        if members[0].random_state is None:
            raise Unsuitable("without a seed every member would have random numbers of its own")
        rows = check_array(X, dtype=np.float32)  # a sparse or missing value raises: such forests are fitted one by one
        largest = max(members, key=lambda m: int(m.n_estimators))
        trees = None if fit_params else grow_trees(largest, rows, np.asarray(y))
        if trees is None:
            largest.fit(X, y, **fit_params)
            if len(members) == 1:
                return [largest]
            trees = [tree.tree_ for tree in largest.estimators_]
        sizes = [int(m.n_estimators) for m in members]
        means = LastX(partial(_means, trees, getattr(largest, "classes_", None), frozenset(sizes)))
        view = _ClassView if hasattr(largest, "classes_") else _RegressionView
        return [view(m, largest, n, means) for m, n in zip(members, sizes, strict=True)]


def _means(
    trees: Sequence[Any], classes: NDArray[Any] | None, sizes: frozenset[int], X: Any
) -> dict[int, NDArray[np.float64]]:
    """The mean prediction of the first trees, for each number of trees asked for; added tree by tree, as scikit-learn does."""
    from sklearn.utils import check_array

    rows = check_array(X, dtype=np.float32)
    total: NDArray[np.float64] = np.zeros(len(rows) if classes is None else (len(rows), len(classes)))
    means = {}
    for n, tree in enumerate(trees, 1):
        predicted = tree.predict(rows)
        total += predicted[:, 0] if classes is None else predicted[:, : len(classes)]
        if n in sizes:
            means[n] = total / n
    return means


class _RegressionView(View):
    """A forest of the first trees of a larger one."""

    def __init__(self, member: Any, forest: Any, size: int, means: LastX[dict[int, NDArray[np.float64]]]) -> None:
        super().__init__(member, getattr(forest, "classes_", None))
        self._size, self._means = size, means

    def predict(self, X: Any) -> NDArray[Any]:
        return self._means(X)[self._size]


class _ClassView(_RegressionView):
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return self._means(X)[self._size]

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.classes_.take(self.predict_proba(X).argmax(axis=1), axis=0))


# -- growing trees by the builder alone -------------------------------------------------------------------


def grow_trees(forest: Any, rows: NDArray[np.float32], y: NDArray[Any]) -> list[Any] | None:
    """The trees of a forest that is not fitted yet; None where scikit-learn has to grow them.

    The forest itself is fitted with its first tree, so that it knows its classes.
    """
    n_trees = int(forest.n_estimators)
    if len(rows) > _MOST_ROWS or n_trees < _FEWEST_TREES or not _is_plain(forest):
        return None
    forest.set_params(n_estimators=1).fit(rows, y)
    forest.n_estimators = n_trees
    try:
        grow = _grower(forest, rows, y)
        stream = np.random.RandomState(forest.random_state)
        first = grow(stream.randint(_MOST))
        if not _same(first, forest.estimators_[0].tree_):
            return None
        return [first, *(grow(stream.randint(_MOST)) for _ in range(n_trees - 1))]
    except (ImportError, AttributeError, TypeError, ValueError, KeyError):  # another scikit-learn, with another builder
        return None


def _is_plain(forest: Any) -> bool:
    """Whether the trees differ in nothing but their seeds, and rows have no weights."""
    return (
        forest.criterion in _CRITERIA
        and getattr(forest, "class_weight", None) is None
        and forest.max_leaf_nodes is None
        and forest.monotonic_cst is None
        and forest.min_weight_fraction_leaf == 0
        and forest.ccp_alpha == 0
        and all(isinstance(size, Integral) for size in (forest.min_samples_leaf, forest.min_samples_split))
    )


def _grower(forest: Any, rows: NDArray[np.float32], y: NDArray[Any]) -> _Grower:
    """A function that grows the tree of a seed, as the first tree of this fitted forest was grown."""
    from sklearn.tree._classes import CRITERIA_CLF, CRITERIA_REG, DENSE_SPLITTERS
    from sklearn.tree._tree import DepthFirstTreeBuilder, Tree

    template, classes = forest.estimators_[0], getattr(forest, "classes_", None)
    n, n_features = rows.shape
    leaf = int(forest.min_samples_leaf)
    split = max(int(forest.min_samples_split), 2 * leaf)
    depth = _MOST if forest.max_depth is None else forest.max_depth
    widths = np.array([1 if classes is None else len(classes)], dtype=np.intp)
    codes = y if classes is None else np.searchsorted(classes, y)
    target = np.ascontiguousarray(np.reshape(codes, (-1, 1)), dtype=np.float64)
    n_drawn = forest._n_samples_bootstrap if forest.bootstrap else None
    make_splitter = DENSE_SPLITTERS[template.splitter]
    stream = np.random.RandomState(0)  # a new one for each tree would take as long as a small tree

    def grow(seed: int) -> Any:
        weights = None
        if n_drawn is not None:  # the rows of a tree and its features are drawn from two streams of one seed
            stream.seed(seed)
            weights = np.bincount(stream.randint(0, n, n_drawn), minlength=n).astype(np.float64)
        criterion = (CRITERIA_REG if classes is None else CRITERIA_CLF)[forest.criterion]
        scored = criterion(1, n) if classes is None else criterion(1, widths)
        stream.seed(seed)
        splitter = make_splitter(scored, template.max_features_, leaf, 0.0, stream, None)
        builder = DepthFirstTreeBuilder(splitter, split, leaf, 0.0, depth, forest.min_impurity_decrease)
        tree = Tree(n_features, widths, 1)
        builder.build(tree, rows, target, weights, None)
        return tree

    return grow


def _same(one: Any, other: Any) -> bool:
    """Whether two trees are the same in every node. Bytes between the fields of a node hold anything, so fields are compared."""
    mine, theirs = one.__getstate__(), other.__getstate__()
    return all(np.array_equal(mine[part], theirs[part]) for part in ("nodes", "values"))


FAMILIES: tuple[Family, ...] = (
    Forest("sklearn.ensemble.RandomForestClassifier"),
    Forest("sklearn.ensemble.ExtraTreesClassifier"),
    Forest("sklearn.ensemble.RandomForestRegressor"),
    Forest("sklearn.ensemble.ExtraTreesRegressor"),
)
