"""Trees: smaller models are parts of the largest. Of boosting they are its first stages; a single tree is cut.

LightGBM and XGBoost are never imported here: a model that is a member has already imported them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from math import ceil
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..family import Family, Unsuitable, View
from .common import LastX, is_count, is_seed
from .growing import DEEPEST, OTHER_BUILDER, Grower, can_grow, same_trees

# What a method of a model with its first stages answers: (method, number of stages, rows).
_Answer = Callable[[str, int, Any], NDArray[Any]]


class _Boosting(Family):
    size = "n_estimators"

    def __init__(self, estimator: str) -> None:
        self.estimator, self.varies = estimator, frozenset({self.size})

    def covers(self, estimator: Any) -> bool:
        """A number of stages that nothing shortens, and a seed that can be given twice."""
        counted = is_count(getattr(estimator, self.size))
        return counted and is_seed(estimator.random_state) and self._runs_to_the_end(estimator)

    def _runs_to_the_end(self, estimator: Any) -> bool:
        raise NotImplementedError

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """Beginnings of the longest model: all members draw from the same stream."""
        if np.ndim(y) != 1:
            raise Unsuitable("fits are shared for one label a row")
        if set(fit_params) - {"sample_weight"}:
            raise Unsuitable("fits are shared with no other arguments than sample_weight")
        if members[0].random_state is None:
            raise Unsuitable("without a seed every member would have random numbers of its own")
        sizes = [int(getattr(m, self.size)) for m in members]
        model = max(members, key=lambda m: int(getattr(m, self.size))).fit(X, y, **fit_params)
        answer = self._answers(model, frozenset(sizes))
        return [_Beginning(m, model, n, answer) for m, n in zip(members, sizes, strict=True)]

    def _answers(self, model: Any, sizes: frozenset[int]) -> _Answer:
        """What the fitted model says with its first stages, of which some member has as many."""
        raise NotImplementedError


class _Beginning(View):
    """The first stages of a model, with the methods that it has."""

    def __init__(self, member: Any, model: Any, size: int, answer: _Answer) -> None:
        super().__init__(member, getattr(model, "classes_", None))
        for method in ("predict", "predict_proba", "decision_function"):
            if hasattr(model, method):
                setattr(self, method, partial(answer, method, size))


# -- gradient boosting, which has staged predictions ---------------------------------------------------


class _Gradient(_Boosting):
    def _runs_to_the_end(self, estimator: Any) -> bool:
        # A model as the start may be random in ways of its own.
        plain = estimator.init is None or isinstance(estimator.init, str)
        return plain and estimator.n_iter_no_change is None and estimator.warm_start is False

    def _answers(self, model: Any, sizes: frozenset[int]) -> _Answer:
        def staged(method: str, X: Any) -> dict[int, NDArray[Any]]:
            stages = enumerate(getattr(model, f"staged_{method}")(X), 1)
            return {n: np.asarray(said) for n, said in stages if n in sizes}

        said = {name: LastX(partial(staged, name)) for name in ("predict", "predict_proba", "decision_function")}

        def answer(method: str, size: int, X: Any) -> NDArray[Any]:
            out = said[method](X)[size]
            return out.ravel() if method == "decision_function" and out.ndim == 2 and out.shape[1] == 1 else out

        return answer


class _Hist(_Gradient):
    size = "max_iter"

    def _runs_to_the_end(self, estimator: Any) -> bool:
        stops = estimator.early_stopping
        return (stops is False or stops == "auto") and estimator.warm_start is False

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """The same, for so few rows that ``"auto"`` does not mean to stop early."""
        if members[0].early_stopping == "auto" and len(y) > 10_000:
            raise Unsuitable("above 10,000 rows early_stopping='auto' stops early")
        return super().fit(members, X, y, **fit_params)

    def _answers(self, model: Any, sizes: frozenset[int]) -> _Answer:
        if model.do_early_stopping_:
            raise Unsuitable("the model stops early")
        return super()._answers(model, sizes)


# -- AdaBoost, whose staged predictions round differently ---------------------------------------------------


class _Ada(_Boosting):
    def _runs_to_the_end(self, estimator: Any) -> bool:
        # The seeds of scikit-learn's trees come from the model's own.
        tree = estimator.estimator
        return tree is None or type(tree).__module__.startswith("sklearn.tree.")

    def _answers(self, model: Any, sizes: frozenset[int]) -> _Answer:
        # The trees do not know the names of columns.
        def said_by_trees(X: Any) -> list[NDArray[Any]]:
            rows = X if hasattr(X, "tocsr") else np.asarray(X)
            return [tree.predict(rows) for tree in model.estimators_]

        said = LastX(said_by_trees)

        def answer(method: str, size: int, X: Any) -> NDArray[Any]:
            made = copy(model)
            made.n_estimators = size
            made.estimators_ = [_Said(one) for one in said(X)[:size]]
            made.estimator_weights_ = model.estimator_weights_[:size].copy()
            return np.asarray(getattr(made, method)(X))

        return answer


class _Said:
    """A tree that has been asked."""

    def __init__(self, said: NDArray[Any]) -> None:
        self._said = said

    def predict(self, X: Any) -> NDArray[Any]:
        return self._said


# -- LightGBM and XGBoost, which predict by their first rounds -----------------------------------------------

# Arguments of LightGBM that do the same in every round, or nothing.
_KNOWN = frozenset(
    {"bagging_fraction", "bagging_freq", "deterministic", "feature_fraction", "force_col_wise", "force_row_wise"}
    | {"is_unbalance", "lambda_l1", "lambda_l2", "max_bin", "min_data_in_leaf", "scale_pos_weight"}
    | {"verbose", "verbosity"}
)


class _Rounds(_Boosting):
    def _runs_to_the_end(self, estimator: Any) -> bool:
        return estimator.objective is None or isinstance(estimator.objective, str)

    def _answers(self, model: Any, sizes: frozenset[int]) -> _Answer:
        return lambda method, size, X: np.asarray(getattr(model, method)(X, **self._first(size)))

    def _first(self, n: int) -> dict[str, Any]:
        """How the model is told to use its first rounds only."""
        return {"iteration_range": (0, n)}


class _LightGBM(_Rounds):
    def _runs_to_the_end(self, estimator: Any) -> bool:
        # Anything else is passed on under many names: other boosting, early stopping, another number of rounds.
        known = _KNOWN | set(inspect.signature(type(estimator).__init__).parameters)
        plain = estimator.boosting_type == "gbdt" and set(estimator.get_params(deep=False)) <= known
        return plain and super()._runs_to_the_end(estimator)

    def _first(self, n: int) -> dict[str, Any]:
        return {"num_iteration": n}


class _XGBoost(_Rounds):
    def _runs_to_the_end(self, estimator: Any) -> bool:
        return (
            super()._runs_to_the_end(estimator)
            and estimator.booster in (None, "gbtree")
            and estimator.device in (None, "cpu")
            and estimator.early_stopping_rounds is None
            and not estimator.callbacks
            and not getattr(estimator, "kwargs", None)
        )


# -- single trees ---------------------------------------------------------------------------------------
#
# Cutting is close to a separate fit, not equal to it. scikit-learn draws the order of the features anew for each node that it
# tries to split, and the first of several equally good features wins. A tree that stops earlier draws fewer numbers, so its
# later ties are broken otherwise.

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


class _TreeRows(NamedTuple):
    """Rows for a tree of scikit-learn, and whether it must check them."""

    X: Any
    check: bool

    @classmethod
    def of(cls, X: Any) -> _TreeRows:
        """An array as every tree converts it, once for all; frames and missing values are left to the tree."""
        values = X.astype(np.float32, copy=False) if isinstance(X, np.ndarray) else None
        return cls(X, True) if values is None or not np.isfinite(values).all() else cls(values, False)


class _Grown:
    """A tree that only the size of its leaves stops, to cut others out of."""

    def __init__(self, fitted: Any, read: Callable[[Any], _TreeRows]) -> None:
        self.classes = getattr(fitted, "classes_", None)
        self.leaves: LastX[NDArray[np.intp]] = LastX(lambda X: fitted.apply(*read(X)))
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
        all_stops = [_Stops.of(member, len(y)) for member in members]
        growing = _Growing(members[0], X, y, fit_params)
        # The largest leaves come first: their tree is the smallest, and grown twice.
        grown = {leaf: growing(leaf) for leaf in sorted({stops.leaf for stops in all_stops}, reverse=True)}
        view = _ClassView if hasattr(growing.first, "classes_") else _RegressionView
        return [view(member, grown[stops.leaf], stops) for member, stops in zip(members, all_stops, strict=True)]


class _Growing:
    """Grows a tree for each size of leaves: the first by scikit-learn, which checks the rows, the others by its builder alone."""

    def __init__(self, member: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
        self.member, self.y, self.fit_params = member, y, fit_params
        self.rows, self.read = _TreeRows(X, True), LastX(_TreeRows.of)
        self.first: Any = None

    def __call__(self, leaf: int) -> _Grown:
        if self.first is None:
            self.first = self._fitted(leaf)
            self.rows = _TreeRows.of(self.rows.X)
            return _Grown(self.first, self.read)
        if self._builder is None:
            return _Grown(self._fitted(leaf), self.read)
        fitted = copy(self.first)
        fitted.tree_ = self._builder(fitted.random_state, leaf, 2, DEEPEST)
        return _Grown(fitted, self.read)

    def _fitted(self, leaf: int) -> Any:
        fitted = copy(self.member)
        fitted.min_samples_leaf, fitted.min_samples_split, fitted.max_depth = leaf, 2, None
        return fitted.fit(self.rows.X, self.y, check_input=self.rows.check, **self.fit_params)

    @cached_property
    def _builder(self) -> Grower | None:
        """What grows the first tree as scikit-learn did; None if nothing does."""
        first = self.first
        if self.rows.check or self.fit_params or first.random_state is None or not can_grow(first, len(self.y)):
            return None
        try:
            grow = Grower(first, self.rows.X, np.asarray(self.y), getattr(first, "classes_", None))
            again = grow(first.random_state, first.min_samples_leaf, 2, DEEPEST)
        except OTHER_BUILDER:
            return None
        return grow if same_trees(again, first.tree_) else None


FAMILIES: tuple[Family, ...] = (
    _Gradient("sklearn.ensemble.GradientBoostingClassifier"),
    _Gradient("sklearn.ensemble.GradientBoostingRegressor"),
    _Hist("sklearn.ensemble.HistGradientBoostingClassifier"),
    _Hist("sklearn.ensemble.HistGradientBoostingRegressor"),
    _Ada("sklearn.ensemble.AdaBoostClassifier"),
    _Ada("sklearn.ensemble.AdaBoostRegressor"),
    _LightGBM("lightgbm.LGBMClassifier"),
    _LightGBM("lightgbm.LGBMRegressor"),
    _XGBoost("xgboost.XGBClassifier"),
    _XGBoost("xgboost.XGBRegressor"),
    CutTree("sklearn.tree.DecisionTreeClassifier"),
    CutTree("sklearn.tree.DecisionTreeRegressor"),
)
