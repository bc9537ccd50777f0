"""Growing the trees of a forest with scikit-learn's own compiled builder, without what it does around every single tree.

On small data a forest spends most of its time in copying, checking and naming trees; the growing itself is a third. The
builder is not part of scikit-learn's public interface. So the first tree is always grown both ways, and only if the two
are the same in every number are the others grown this way.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MOST = np.iinfo(np.int32).max
_CRITERIA = frozenset({"gini", "entropy", "log_loss", "squared_error", "friedman_mse"})


def is_plain(forest: Any) -> bool:
    """Whether its trees differ in nothing but their seeds, and need no rows but dense ones without weights."""
    return (
        forest.criterion in _CRITERIA
        and getattr(forest, "class_weight", None) is None
        and forest.max_leaf_nodes is None
        and forest.monotonic_cst is None
        and forest.min_weight_fraction_leaf == 0
        and forest.ccp_alpha == 0
        and all(isinstance(s, Integral) for s in (forest.min_samples_leaf, forest.min_samples_split))
    )


def grow(forest: Any, X: Any, y: NDArray[Any]) -> list[Any] | None:
    """The trees of the forest, not fitted yet, on these rows; None where they have to be grown the long way.

    The forest itself is fitted with its first tree, so that it knows its classes and can check rows.
    """
    n_trees, seed = int(forest.n_estimators), forest.random_state
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "biuf" or not is_plain(forest):
        return None
    forest.set_params(n_estimators=1).fit(X, y)
    forest.n_estimators = n_trees
    rows = np.asarray(X, dtype=np.float32)
    if not np.isfinite(rows).all():  # trees handle missing values in another way
        return None
    try:
        make = _grower(forest, rows, _codes(forest, y))
        stream = np.random.RandomState(seed)
        first = make(stream.randint(_MOST))
        if not _same(first, forest.estimators_[0].tree_):
            return None
        return [first, *(make(stream.randint(_MOST)) for _ in range(n_trees - 1))]
    except (ImportError, AttributeError, TypeError, ValueError, KeyError):  # another scikit-learn, with another builder
        return None


def _codes(forest: Any, y: NDArray[Any]) -> Floats:
    codes = np.searchsorted(forest.classes_, y) if hasattr(forest, "classes_") else y
    return np.ascontiguousarray(np.reshape(codes, (-1, 1)), dtype=np.float64)


def _grower(forest: Any, rows: NDArray[np.float32], codes: Floats) -> Callable[[int], Any]:
    """A function that grows the tree of a seed."""
    from sklearn.tree._classes import CRITERIA_CLF, CRITERIA_REG, DENSE_SPLITTERS
    from sklearn.tree._tree import DepthFirstTreeBuilder, Tree

    template = forest.estimators_[0]
    n, n_features = rows.shape
    leaf = int(forest.min_samples_leaf)
    node = max(int(forest.min_samples_split), 2 * leaf)
    depth = _MOST if forest.max_depth is None else forest.max_depth
    classes = hasattr(forest, "classes_")
    widths = np.array([len(forest.classes_) if classes else 1], dtype=np.intp)
    drawn = forest._n_samples_bootstrap if forest.bootstrap else None

    def make(seed: int) -> Any:
        weights = None
        if drawn is not None:
            # Both streams of a tree begin at its seed: that of its rows and that of its features.
            chosen = np.random.RandomState(seed).randint(0, n, drawn)
            weights = np.bincount(chosen, minlength=n).astype(np.float64)
        criterion = CRITERIA_CLF[forest.criterion](1, widths) if classes else CRITERIA_REG[forest.criterion](1, n)
        stream = np.random.RandomState(seed)
        splitter = DENSE_SPLITTERS[template.splitter](criterion, template.max_features_, leaf, 0.0, stream, None)
        tree = Tree(n_features, widths, 1)
        builder = DepthFirstTreeBuilder(splitter, node, leaf, 0.0, depth, forest.min_impurity_decrease)
        builder.build(tree, rows, codes, weights, None)
        return tree

    return make


def _same(one: Any, other: Any) -> bool:
    """Whether two trees are the same in every node."""
    mine, theirs = one.__getstate__(), other.__getstate__()
    return bool(mine.keys() == theirs.keys()) and all(
        mine[part].tobytes() == theirs[part].tobytes() for part in ("nodes", "values")
    )
