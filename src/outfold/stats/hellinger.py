"""Decision trees that split by the Hellinger distance (Cieslak and Chawla 2008), grown level by level.

All nodes of a level are split at once, by whole-array operations on columns that were sorted once. Sums of weights are exact, so
the tree does not depend on the order of the rows, nor on the platform.
"""

from __future__ import annotations

import math
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compiling import load_if_worth

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Bools = NDArray[np.bool_]

# Bits of a sum of weights, one fewer than a float has: all weights are multiples of 2 to the minus this of their sum.
_BITS = 52
NO_CHILD = -1
# Steps of NumPy at each position for each class.
_STEPS = 8


class Limits(NamedTuple):
    """What stops a tree from growing, and how many features each node looks at."""

    max_depth: int | None
    min_split: int
    min_leaf: int
    max_features: int


class Sample(NamedTuple):
    """The class of each row, and its weight, which is positive."""

    codes: Integers
    weights: Floats


class Tree(NamedTuple):
    """One entry for each node, level by level; a leaf has no children. `value` has the weights by class, (nodes, classes)."""

    children_left: Integers
    children_right: Integers
    feature: Integers
    threshold: Floats
    value: Floats


def exact_weights(weights: Floats) -> Floats:
    """The weights, rounded so that every sum of them is exact; whole numbers stay as they are.

    >>> exact_weights(np.array([1.0, 2.0, 0.0])).tolist()
    [1.0, 2.0, 0.0]
    """
    _, exponent = math.frexp(math.fsum(weights))
    unit = math.ldexp(1.0, exponent - _BITS)
    return np.round(weights / unit) * unit


def grow_tree(X: Floats, sample: Sample, n_classes: int, limits: Limits, random: np.random.RandomState) -> Tree:
    """Grow a tree on the rows of X."""
    columns = _Columns(X)
    level = _Level(columns.order, np.array([len(X)]))
    parts: list[Tree] = []
    n_nodes = 1
    for depth in count():
        value = _weights_by_class(level, sample, n_classes)
        found = _Splits.none(len(value))
        if limits.max_depth is None or depth < limits.max_depth:
            found = _best_splits(level, columns, sample, value, limits, random)
        n_split = int(found.split.sum())
        children = np.full((2, len(value)), NO_CHILD)
        children[:, found.split] = n_nodes + np.arange(2 * n_split).reshape(2, n_split)
        feature = np.where(found.split, found.feature, NO_CHILD)
        parts.append(Tree(children[0], children[1], feature, columns.thresholds(level, found), value))
        n_nodes += 2 * n_split
        if not n_split:
            return Tree(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
        level = level.children(found, len(X))
    raise AssertionError("not reached")


def find_leaves(tree: Tree, X: Floats) -> Integers:
    """The leaf of each row."""
    node = np.zeros(len(X), dtype=np.intp)
    inside = np.flatnonzero(tree.children_left[node] != NO_CHILD)
    while len(inside):
        at = node[inside]
        left = X[inside, tree.feature[at]] <= tree.threshold[at]
        node[inside] = np.where(left, tree.children_left[at], tree.children_right[at])
        inside = inside[tree.children_left[node[inside]] != NO_CHILD]
    return node


def n_levels(tree: Tree) -> int:
    """How many splits lie above the deepest leaf."""
    depth = np.zeros(len(tree.feature), dtype=np.intp)
    for node in np.flatnonzero(tree.children_left != NO_CHILD):  # parents have smaller numbers
        depth[[tree.children_left[node], tree.children_right[node]]] = depth[node] + 1
    return int(depth.max())


# -- one level -------------------------------------------------------------------------------------------


class _Columns:
    """The columns: their values, the rows of each in the order of its values, and ranks that equal values share."""

    def __init__(self, X: Floats) -> None:
        self.X = X
        self.order: Integers = np.ascontiguousarray(np.argsort(X, axis=0, kind="stable").T)
        ordered = np.take_along_axis(X.T, self.order, axis=1)
        steps = np.zeros(self.order.shape, dtype=np.int32)
        np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1, out=steps[:, 1:])
        self.ranks = np.empty_like(steps)
        np.put_along_axis(self.ranks, self.order, steps, axis=1)

    def thresholds(self, level: _Level, found: _Splits) -> Floats:
        """The middle between the values on both sides of each split; NaN where there is none."""
        out = np.full(len(found.split), np.nan)
        feature, last = found.feature[found.split], found.last[found.split]
        low = self.X[level.order[feature, last], feature]
        high = self.X[level.order[feature, last + 1], feature]
        middle = low / 2 + high / 2
        # Between two neighbouring floats, the middle may be the upper one.
        out[found.split] = np.where((middle < high) & (middle >= low), middle, low)
        return out


class _Level:
    """The rows in the nodes of one level: node after node, within each node in the order of each column.

    `order` (p, m) has the rows; `sizes` and `starts` are those of the nodes, and `node` (m) tells the node of each position.
    """

    def __init__(self, order: Integers, sizes: Integers) -> None:
        self.order, self.sizes = order, sizes
        self.starts = np.cumsum(sizes) - sizes
        self.node = np.repeat(np.arange(len(sizes)), sizes)

    def children(self, found: _Splits, n_rows: int) -> _Level:
        """The next level: all left children, then all right ones, so that two masks bring the rows into order."""
        places = np.arange(len(self.node))
        rows = self.order[found.feature[self.node], places]
        goes_left, goes_right = np.zeros(n_rows, dtype=bool), np.zeros(n_rows, dtype=bool)
        is_left, is_split = places <= found.last[self.node], found.split[self.node]
        goes_left[rows], goes_right[rows] = is_left & is_split, ~is_left & is_split
        p = len(self.order)
        sides = [self.order[side[self.order]].reshape(p, -1) for side in (goes_left, goes_right)]
        n_left = found.last - self.starts + 1
        sizes = np.concatenate([n_left[found.split], (self.sizes - n_left)[found.split]])
        return _Level(np.concatenate(sides, axis=1), sizes)


class _Splits(NamedTuple):
    """For each node: whether it is split, by which feature, and the last position in the level that goes to the left."""

    split: Bools
    feature: Integers
    last: Integers

    @classmethod
    def none(cls, n_nodes: int) -> _Splits:
        """No node is split."""
        zeros = np.zeros(n_nodes, dtype=np.intp)
        return cls(np.zeros(n_nodes, dtype=bool), zeros, zeros)


def _weights_by_class(level: _Level, sample: Sample, n_classes: int) -> Floats:
    """(nodes, classes) the weight of each class."""
    rows = level.order[0]
    cells = level.node * n_classes + sample.codes[rows]
    sums = np.bincount(cells, sample.weights[rows], minlength=len(level.sizes) * n_classes)
    return np.asarray(sums, dtype=np.float64).reshape(-1, n_classes)


def _best_splits(
    level: _Level, columns: _Columns, sample: Sample, value: Floats, limits: Limits, random: np.random.RandomState
) -> _Splits:
    """The split of each node with the largest distance; of equal ones, by the first feature at the smallest value."""
    is_open = (value.max(axis=1) < value.sum(axis=1)) & (level.sizes >= limits.min_split)
    if not is_open.any():
        return _Splits.none(len(value))
    features = _features_to_try(level, columns, limits, random)
    tried = features[:, level.node]
    rows = level.order if len(features) == len(level.order) else np.take_along_axis(level.order, tried, axis=0)
    allowed = _allowed_cuts(level, columns.ranks[tried, rows], is_open, limits.min_leaf)
    tested = _tested_classes(value)
    loops = load_if_worth("hellinger_loops", _STEPS * allowed.size * value.shape[1])
    if loops is None:
        smallest, found, last = _best_cuts(level, rows, sample, value, tested, allowed)
    else:
        smallest, found, last = loops.best_cuts(rows, level.starts, level.sizes, *sample, value, tested, allowed)
    return _Splits(np.isfinite(smallest), features[found, np.arange(len(found))], last)


def _features_to_try(level: _Level, columns: _Columns, limits: Limits, random: np.random.RandomState) -> Integers:
    """(tried, nodes) the features that each node looks at, in order: all, or some drawn among those that can split it."""
    p, n_nodes = len(level.order), len(level.sizes)
    if limits.max_features >= p:
        return np.broadcast_to(np.arange(p)[:, None], (p, n_nodes))
    # There is a cut with enough rows on both sides if the ranks at the ends of what may be cut differ.
    large = level.sizes >= 2 * limits.min_leaf
    first = np.where(large, level.starts + limits.min_leaf - 1, 0)
    last = np.where(large, level.starts + level.sizes - limits.min_leaf, 0)
    every = np.arange(p)[:, None]
    usable = columns.ranks[every, level.order[:, first]] != columns.ranks[every, level.order[:, last]]
    priority = np.where(usable, random.random_sample((n_nodes, p)).T, 2.0)
    return np.sort(priority.argsort(axis=0, kind="stable")[: limits.max_features], axis=0)


def _allowed_cuts(level: _Level, ranks: NDArray[np.int32], is_open: Bools, min_leaf: int) -> Bools:
    """(tried, m) whether a node may be cut behind this position."""
    allowed = np.zeros(ranks.shape, dtype=bool)
    np.not_equal(ranks[:, 1:], ranks[:, :-1], out=allowed[:, :-1])
    n_left = np.arange(len(level.node)) - level.starts[level.node] + 1
    enough = (n_left >= min_leaf) & (level.sizes[level.node] - n_left >= min_leaf) & is_open[level.node]
    allowed &= enough  # also false behind the last row of a node, which leaves none for the right side
    return allowed


def _tested_classes(value: Floats) -> Bools:
    """(nodes, classes) the classes that are tested against the others; of two, either one against the other is the same."""
    tested: Bools = (value > 0) & (value < value.sum(axis=1)[:, None])
    if value.shape[1] == 2:
        tested[:, 0] = False
    return tested


def _best_cuts(
    level: _Level, rows: Integers, sample: Sample, value: Floats, tested: Bools, allowed: Bools
) -> tuple[Floats, Integers, Integers]:
    """The smallest overlap of each node, which of the tried features reaches it, and where; infinite if there is no cut.

    The overlap of a class with the others is the sum of sqrt(P Q) over both sides of a cut, P the share of the class that
    falls to a side, and Q that of the others (the coefficient of Bhattacharyya). The squared Hellinger distance is 2 minus
    twice the overlap. Of several classes, the one that overlaps least counts.
    """
    total = value.sum(axis=1)
    n_left = _sums_inside(sample.weights, rows, level.sizes)
    overlap = np.full(allowed.shape, np.inf)
    for c in np.flatnonzero(tested.any(axis=0)):
        places = np.flatnonzero(tested[level.node, c])  # the nodes that have this class
        cuts = np.nonzero(allowed[:, places])
        where = (cuts[0], places[cuts[1]])
        weights = sample.weights * (sample.codes == c)
        inside = _sums_inside(weights, rows[:, places], level.sizes[tested[:, c]])[cuts]
        outside = n_left[where] - inside
        node = level.node[where[1]]
        n_inside, n_outside = value[node, c], total[node] - value[node, c]
        found = np.sqrt(inside * outside) + np.sqrt((n_inside - inside) * (n_outside - outside))
        found /= np.sqrt(n_inside * n_outside)
        overlap[where] = np.minimum(overlap[where], found)
    best = np.minimum.reduceat(overlap, level.starts, axis=1)
    feature = best.argmin(axis=0)
    smallest = best[feature, np.arange(len(feature))]
    reached = np.flatnonzero(overlap[feature[level.node], np.arange(len(level.node))] == smallest[level.node])[::-1]
    last = np.zeros(len(feature), dtype=np.intp)
    last[level.node[reached]] = reached  # the first position of a node is written last
    return smallest, feature, last


def _sums_inside(weights: Floats, rows: Integers, sizes: Integers) -> Floats:
    """(tried, m) the sum of weights from the start of the node up to each position."""
    sums = np.cumsum(weights[rows], axis=1)
    starts = np.cumsum(sizes) - sizes
    before = np.where(starts > 0, sums[0, starts - 1], 0.0)  # the same in each column: a node has the same rows
    return np.asarray(sums - np.repeat(before, sizes))
