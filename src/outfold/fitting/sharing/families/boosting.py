"""Boosting: the model with the most stages serves all shorter ones, which are its beginnings.

LightGBM and XGBoost are never imported here: a model that is a member has already imported them.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..family import Family, Unsuitable, View
from .common import LastX, is_count, is_seed


def _fit_longest(members: Sequence[Any], size: str, X: Any, y: Any, fit_params: Mapping[str, Any]) -> Any:
    """The member with the largest `size`, fitted. The others are its beginnings: all draw from the same stream."""
    if np.ndim(y) != 1:
        raise Unsuitable("fits are shared for one label a row")
    if set(fit_params) - {"sample_weight"}:
        raise Unsuitable("fits are shared with no other arguments than sample_weight")
    if members[0].random_state is None:
        raise Unsuitable("without a seed every member would have random numbers of its own")
    return max(members, key=lambda m: int(getattr(m, size))).fit(X, y, **fit_params)


# -- gradient boosting, which has staged predictions ---------------------------------------------------


class _Staged(Family):
    size: ClassVar[str]

    def covers(self, estimator: Any) -> bool:
        """A number of stages that nothing shortens, and a seed that can be given twice."""
        return (
            is_count(getattr(estimator, self.size))
            and is_seed(estimator.random_state)
            and estimator.warm_start is False
            and self._runs_to_the_end(estimator)
        )

    def _runs_to_the_end(self, estimator: Any) -> bool:
        raise NotImplementedError

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """Views of the stages of the longest model."""
        sizes = [int(getattr(m, self.size)) for m in members]
        stages = _Stages(_fit_longest(members, self.size, X, y, fit_params), frozenset(sizes))
        view = _ClassifierView if hasattr(stages.model, "classes_") else _RegressorView
        return [view(m, n, stages) for m, n in zip(members, sizes, strict=True)]


class _Gradient(_Staged):
    varies = frozenset({"n_estimators"})
    size = "n_estimators"

    def _runs_to_the_end(self, estimator: Any) -> bool:
        # A model as the start may be random in ways of its own.
        return estimator.n_iter_no_change is None and (estimator.init is None or isinstance(estimator.init, str))


class _GradientClassifier(_Gradient):
    estimator = "sklearn.ensemble.GradientBoostingClassifier"


class _GradientRegressor(_Gradient):
    estimator = "sklearn.ensemble.GradientBoostingRegressor"


class _Hist(_Staged):
    varies = frozenset({"max_iter"})
    size = "max_iter"

    def _runs_to_the_end(self, estimator: Any) -> bool:
        return estimator.early_stopping is False or estimator.early_stopping == "auto"

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """The same, for so few rows that ``"auto"`` does not mean to stop early."""
        if members[0].early_stopping == "auto" and len(y) > 10_000:
            raise Unsuitable("above 10,000 rows early_stopping='auto' stops early")
        models = super().fit(members, X, y, **fit_params)
        if models[0].stages.model.do_early_stopping_:
            raise Unsuitable("the model stops early")
        return models


class _HistClassifier(_Hist):
    estimator = "sklearn.ensemble.HistGradientBoostingClassifier"


class _HistRegressor(_Hist):
    estimator = "sklearn.ensemble.HistGradientBoostingRegressor"


class _Stages:
    """A fitted model, and what its stages say of the rows last asked for."""

    def __init__(self, model: Any, sizes: frozenset[int]) -> None:
        self.model = model
        self._sizes = sizes
        self._said: dict[str, LastX[dict[int, NDArray[Any]]]] = {}

    def say(self, method: str, X: Any) -> dict[int, NDArray[Any]]:
        """The answer of the method after every number of stages that some member has."""
        if method not in self._said:
            self._said[method] = LastX(lambda X: self._ask(method, X))
        return self._said[method](X)

    def _ask(self, method: str, X: Any) -> dict[int, NDArray[Any]]:
        staged = getattr(self.model, f"staged_{method}")(X)
        return {n: np.asarray(said) for n, said in enumerate(staged, 1) if n in self._sizes}


class _RegressorView(View):
    def __init__(self, member: Any, size: int, stages: _Stages) -> None:
        super().__init__(member, getattr(stages.model, "classes_", None))
        self.stages = stages
        self._size = size

    def predict(self, X: Any) -> NDArray[Any]:
        return self.stages.say("predict", X)[self._size]


class _ClassifierView(_RegressorView):
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return self.stages.say("predict_proba", X)[self._size]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        scores = self.stages.say("decision_function", X)[self._size]
        return scores.ravel() if scores.ndim == 2 and scores.shape[1] == 1 else scores


# -- AdaBoost, whose staged predictions round differently ---------------------------------------------------


class _Ada(Family):
    varies = frozenset({"n_estimators"})

    def covers(self, estimator: Any) -> bool:
        """Of scikit-learn's trees, whose seeds come from the model's own."""
        kind = type(estimator.estimator)
        return (
            is_count(estimator.n_estimators)
            and is_seed(estimator.random_state)
            and (estimator.estimator is None or kind.__module__.startswith("sklearn.tree."))
        )

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """Shorter models, made of the first trees of the longest and what these have said already."""
        sizes = [int(m.n_estimators) for m in members]
        model = _fit_longest(members, "n_estimators", X, y, fit_params)
        recall = _Recall(model)
        view = _AdaClassifierView if hasattr(model, "classes_") else _AdaRegressorView
        return [view(m, n, recall) for m, n in zip(members, sizes, strict=True)]


class _AdaClassifier(_Ada):
    estimator = "sklearn.ensemble.AdaBoostClassifier"


class _AdaRegressor(_Ada):
    estimator = "sklearn.ensemble.AdaBoostRegressor"


class _Recall:
    """A fitted model, and what each of its trees says of the rows last asked for."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.said = LastX(lambda X: [tree.predict(rows) for rows in [_plain_rows(X)] for tree in model.estimators_])

    def beginning(self, size: int, X: Any) -> Any:
        """The model with its first trees, which answer for these rows only."""
        made = copy.copy(self.model)
        made.n_estimators = size
        made.estimators_ = [_Said(said) for said in self.said(X)[:size]]
        made.estimator_weights_ = self.model.estimator_weights_[:size].copy()
        return made


def _plain_rows(X: Any) -> Any:
    """X without the names of its columns, which the trees of AdaBoost do not know."""
    return X if hasattr(X, "tocsr") else np.asarray(X)


class _Said:
    """A tree that has been asked."""

    def __init__(self, said: NDArray[Any]) -> None:
        self._said = said

    def predict(self, X: Any) -> NDArray[Any]:
        return self._said


class _AdaRegressorView(View):
    def __init__(self, member: Any, size: int, recall: _Recall) -> None:
        super().__init__(member, getattr(recall.model, "classes_", None))
        self._size = size
        self._recall = recall

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self._recall.beginning(self._size, X).predict(X))


class _AdaClassifierView(_AdaRegressorView):
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(self._recall.beginning(self._size, X).predict_proba(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(self._recall.beginning(self._size, X).decision_function(X))


# -- LightGBM and XGBoost, which predict by their first rounds -----------------------------------------------

# Arguments of LightGBM that do the same in every round, or nothing.
_KNOWN = frozenset(
    {"bagging_fraction", "bagging_freq", "deterministic", "feature_fraction", "force_col_wise", "force_row_wise"}
    | {"is_unbalance", "lambda_l1", "lambda_l2", "max_bin", "min_data_in_leaf", "scale_pos_weight"}
    | {"verbose", "verbosity"}
)


class _Rounds(Family):
    varies = frozenset({"n_estimators"})

    def covers(self, estimator: Any) -> bool:
        """Plain boosted trees with a named objective, and no arguments that scikit-learn's way of writing them hides."""
        objective = estimator.objective
        return (
            is_count(estimator.n_estimators)
            and is_seed(estimator.random_state)
            and (objective is None or isinstance(objective, str))
            and self._is_plain(estimator)
        )

    def _is_plain(self, estimator: Any) -> bool:
        raise NotImplementedError

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """Views of the first rounds of the longest model."""
        sizes = [int(m.n_estimators) for m in members]
        model = _fit_longest(members, "n_estimators", X, y, fit_params)
        view = _rounds_view(model)
        return [view(m, model, self._first(n)) for m, n in zip(members, sizes, strict=True)]

    def _first(self, n: int) -> dict[str, Any]:
        """How the model is told to use its first rounds only."""
        raise NotImplementedError


class _LightGBM(_Rounds):
    def _is_plain(self, estimator: Any) -> bool:
        # Anything else is passed on under many names: other boosting, early stopping, another number of rounds.
        known = _KNOWN | set(inspect.signature(type(estimator).__init__).parameters)
        return estimator.boosting_type == "gbdt" and set(estimator.get_params(deep=False)) <= known

    def _first(self, n: int) -> dict[str, Any]:
        return {"num_iteration": n}


class _LightGBMClassifier(_LightGBM):
    estimator = "lightgbm.LGBMClassifier"


class _LightGBMRegressor(_LightGBM):
    estimator = "lightgbm.LGBMRegressor"


class _XGBoost(_Rounds):
    def _is_plain(self, estimator: Any) -> bool:
        return (
            estimator.booster in (None, "gbtree")
            and estimator.device in (None, "cpu")
            and estimator.early_stopping_rounds is None
            and not estimator.callbacks
            and not getattr(estimator, "kwargs", None)
        )

    def _first(self, n: int) -> dict[str, Any]:
        return {"iteration_range": (0, n)}


class _XGBoostClassifier(_XGBoost):
    estimator = "xgboost.XGBClassifier"


class _XGBoostRegressor(_XGBoost):
    estimator = "xgboost.XGBRegressor"


class _RoundsView(View):
    def __init__(self, member: Any, model: Any, first: dict[str, Any]) -> None:
        super().__init__(member, getattr(model, "classes_", None))
        self._model = model
        self._first = first

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self._model.predict(X, **self._first))


class _RoundsClassifierView(_RoundsView):
    def predict_proba(self, X: Any) -> NDArray[Any]:
        return np.asarray(self._model.predict_proba(X, **self._first))


class _RoundsScorerView(_RoundsClassifierView):
    def decision_function(self, X: Any) -> NDArray[Any]:
        return np.asarray(self._model.decision_function(X, **self._first))


def _rounds_view(model: Any) -> type[_RoundsView]:
    """With the methods the model has: LightGBM has scores since 4.7."""
    if hasattr(model, "decision_function"):
        return _RoundsScorerView
    return _RoundsClassifierView if hasattr(model, "predict_proba") else _RoundsView


FAMILIES: tuple[Family, ...] = (
    _GradientClassifier(),
    _GradientRegressor(),
    _HistClassifier(),
    _HistRegressor(),
    _AdaClassifier(),
    _AdaRegressor(),
    _LightGBMClassifier(),
    _LightGBMRegressor(),
    _XGBoostClassifier(),
    _XGBoostRegressor(),
)
