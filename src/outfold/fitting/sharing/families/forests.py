"""Forests: one with the most trees serves all smaller ones, which are its first trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cache import LastX
from ..family import Family, Unsuitable, View
from .growing import grow
from .stages import check_plain, is_count, is_seed


class _Forest(Family):
    varies = frozenset({"n_estimators"})
    serves_single = True  # see `growing`
    asks = "predict"

    def covers(self, estimator: Any) -> bool:
        """Neither grown further nor judged while it is fitted, and with a seed that can be given twice."""
        return (
            is_count(estimator.n_estimators)
            and is_seed(estimator.random_state)
            and estimator.warm_start is False
            and estimator.oob_score is False
        )

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """Views of the first trees of the largest forest."""
        sizes = [int(m.n_estimators) for m in members]
        check_plain(members, y, fit_params)
        longest = max(members, key=lambda m: int(m.n_estimators))
        grown = grow(longest, X, np.asarray(y)) if fit_params.get("sample_weight") is None else None
        forest = longest if grown else longest.fit(X, y, **fit_params)
        if not hasattr(forest, "_validate_X_predict"):
            raise Unsuitable("this version of scikit-learn has no way to check rows once for all trees")
        trees = _Trees(forest, grown or [tree.tree_ for tree in forest.estimators_], frozenset(sizes))
        view = _ClassifierView if self.asks == "predict_proba" else _RegressorView
        return [view(m, n, trees) for m, n in zip(members, sizes, strict=True)]


class _RandomForestClassifier(_Forest):
    estimator = "sklearn.ensemble.RandomForestClassifier"
    asks = "predict_proba"


class _ExtraTreesClassifier(_Forest):
    estimator = "sklearn.ensemble.ExtraTreesClassifier"
    asks = "predict_proba"


class _RandomForestRegressor(_Forest):
    estimator = "sklearn.ensemble.RandomForestRegressor"


class _ExtraTreesRegressor(_Forest):
    estimator = "sklearn.ensemble.ExtraTreesRegressor"


class _Trees:
    """A fitted forest, and the means over its first trees for the rows last asked for."""

    def __init__(self, forest: Any, trees: Sequence[Any], sizes: frozenset[int]) -> None:
        self.forest = forest
        self._trees = trees
        self._sizes = sizes
        self.means = LastX(self._means)

    def _means(self, X: Any) -> dict[int, NDArray[np.float64]]:
        """The mean for every size, added tree by tree as scikit-learn does."""
        rows = self.forest._validate_X_predict(X)
        classes = getattr(self.forest, "classes_", None)
        total: NDArray[np.float64] = np.zeros(rows.shape[0] if classes is None else (rows.shape[0], len(classes)))
        means = {}
        for n, tree in enumerate(self._trees, 1):
            said = tree.predict(rows)
            total += said[:, 0] if classes is None else said[:, : len(classes)]
            if n in self._sizes:
                means[n] = total / n
        return means


class _RegressorView(View):
    def __init__(self, member: Any, size: int, trees: _Trees) -> None:
        super().__init__(member, getattr(trees.forest, "classes_", None))
        self._size = size
        self._trees = trees

    def predict(self, X: Any) -> NDArray[Any]:
        return self._trees.means(X)[self._size]


class _ClassifierView(_RegressorView):
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return self._trees.means(X)[self._size]

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.classes_.take(self.predict_proba(X).argmax(axis=1), axis=0))


FAMILIES: tuple[Family, ...] = (
    _RandomForestClassifier(),
    _ExtraTreesClassifier(),
    _RandomForestRegressor(),
    _ExtraTreesRegressor(),
)
