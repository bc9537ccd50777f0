"""Growing trees by scikit-learn's own compiled builder, without the checks and copies around it.

On small tables these take longer than the tree. The builder is not part of scikit-learn's public interface, so a grower is
used only after it has given a tree that scikit-learn has grown as well, the same in every bit.
"""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

_CRITERIA = frozenset({"gini", "entropy", "log_loss", "squared_error", "friedman_mse"})
# With more rows, growing one tree twice costs more than it saves.
_MOST_ROWS = 5_000
DEEPEST = int(np.iinfo(np.int32).max)
# What another scikit-learn, with another builder, raises.
OTHER_BUILDER = (ImportError, AttributeError, TypeError, ValueError, KeyError)


def can_grow(model: Any, n_rows: int) -> bool:
    """Whether the trees of this model differ in nothing but seeds and sizes, and rows have no weights."""
    return (
        n_rows <= _MOST_ROWS
        and model.criterion in _CRITERIA
        and getattr(model, "class_weight", None) is None
        and model.max_leaf_nodes is None
        and model.monotonic_cst is None
        and model.min_weight_fraction_leaf == 0
        and model.ccp_alpha == 0
        and all(isinstance(size, Integral) for size in (model.min_samples_leaf, model.min_samples_split))
    )


class Grower:
    """Grows trees as this one was grown that scikit-learn has fitted; `n_drawn` rows are drawn for each, if that is a number."""

    def __init__(
        self, fitted: Any, rows: NDArray[np.float32], y: NDArray[Any], classes: Any, n_drawn: int | None = None
    ) -> None:
        from sklearn.tree._classes import CRITERIA_CLF, CRITERIA_REG, DENSE_SPLITTERS

        n = len(rows)
        self.rows, self.n_drawn = rows, n_drawn
        codes = y if classes is None else np.searchsorted(classes, y)
        self._target = np.ascontiguousarray(np.reshape(codes, (-1, 1)), dtype=np.float64)
        self._widths = np.array([1 if classes is None else len(classes)], dtype=np.intp)
        self._criterion = partial((CRITERIA_REG if classes is None else CRITERIA_CLF)[fitted.criterion], 1)
        self._counted = n if classes is None else self._widths
        self._splitter = DENSE_SPLITTERS[fitted.splitter]
        self._n_features, self._least_gain = fitted.max_features_, fitted.min_impurity_decrease
        self._stream = np.random.RandomState(0)  # a new one for each tree would take as long as a small tree

    def __call__(self, seed: int, leaf: int, split: int, depth: int) -> Any:
        """The tree of this seed that stops at leaves, nodes to split and a depth of these sizes."""
        from sklearn.tree._tree import DepthFirstTreeBuilder, Tree

        weights, stream = None, self._stream
        if self.n_drawn is not None:  # the rows of a tree and its features are drawn from two streams of one seed
            stream.seed(seed)
            weights = np.bincount(stream.randint(0, len(self.rows), self.n_drawn), minlength=len(self.rows))
            weights = weights.astype(np.float64)
        stream.seed(seed)
        splitter = self._splitter(self._criterion(self._counted), self._n_features, leaf, 0.0, stream, None)
        builder = DepthFirstTreeBuilder(splitter, max(split, 2 * leaf), leaf, 0.0, depth, self._least_gain)
        tree = Tree(self.rows.shape[1], self._widths, 1)
        builder.build(tree, self.rows, self._target, weights, None)
        return tree


def same_trees(one: Any, other: Any) -> bool:
    """Whether two trees are the same in every node. Bytes between the fields of a node hold anything, so fields are compared."""
    mine, theirs = one.__getstate__(), other.__getstate__()
    return all(np.array_equal(mine[part], theirs[part]) for part in ("nodes", "values"))
