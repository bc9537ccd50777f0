"""Forests: the one with the most trees serves all smaller ones, which are its first trees.

On small tables scikit-learn spends most of the time of a forest around its trees: it copies, checks and names each of them. So
all trees but the first are grown by the builder alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..family import Family, Unsuitable, View
from .common import LastX, is_count, is_seed
from .growing import DEEPEST, OTHER_BUILDER, Grower, can_grow, same_trees

_SEEDS = np.iinfo(np.int32).max  # scikit-learn draws the seed of each tree below this
# With fewer trees, growing the first one twice costs more than it saves.
_FEWEST_TREES = 10


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
    if n_trees < _FEWEST_TREES or not can_grow(forest, len(rows)):
        return None
    forest.set_params(n_estimators=1).fit(rows, y)
    forest.n_estimators = n_trees
    depth = DEEPEST if forest.max_depth is None else forest.max_depth
    sizes = int(forest.min_samples_leaf), int(forest.min_samples_split), depth
    try:
        n_drawn = forest._n_samples_bootstrap if forest.bootstrap else None
        grow = Grower(forest.estimators_[0], rows, y, getattr(forest, "classes_", None), n_drawn)
        stream = np.random.RandomState(forest.random_state)
        first = grow(stream.randint(_SEEDS), *sizes)
        if not same_trees(first, forest.estimators_[0].tree_):
            return None
        return [first, *(grow(stream.randint(_SEEDS), *sizes) for _ in range(n_trees - 1))]
    except OTHER_BUILDER:
        return None


FAMILIES: tuple[Family, ...] = (
    Forest("sklearn.ensemble.RandomForestClassifier"),
    Forest("sklearn.ensemble.ExtraTreesClassifier"),
    Forest("sklearn.ensemble.RandomForestRegressor"),
    Forest("sklearn.ensemble.ExtraTreesRegressor"),
)
