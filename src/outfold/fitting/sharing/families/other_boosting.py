"""LightGBM and XGBoost: the model with the most rounds serves all shorter ones, which are its beginnings.

Nothing here imports them: a model that is a member has done so.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..family import Family, View
from .stages import fit_longest, is_count, is_seed

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
        model = fit_longest(members, "n_estimators", X, y, fit_params)
        view = _view(model)
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


class _RegressorView(View):
    def __init__(self, member: Any, model: Any, first: dict[str, Any]) -> None:
        super().__init__(member, getattr(model, "classes_", None))
        self._model = model
        self._first = first

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self._model.predict(X, **self._first))


class _ClassifierView(_RegressorView):
    def predict_proba(self, X: Any) -> NDArray[Any]:
        return np.asarray(self._model.predict_proba(X, **self._first))


class _ScorerView(_ClassifierView):
    def decision_function(self, X: Any) -> NDArray[Any]:
        return np.asarray(self._model.decision_function(X, **self._first))


def _view(model: Any) -> type[_RegressorView]:
    """With the methods the model has: LightGBM has scores since 4.7."""
    if hasattr(model, "decision_function"):
        return _ScorerView
    return _ClassifierView if hasattr(model, "predict_proba") else _RegressorView


FAMILIES: tuple[Family, ...] = (
    _LightGBMClassifier(),
    _LightGBMRegressor(),
    _XGBoostClassifier(),
    _XGBoostRegressor(),
)
