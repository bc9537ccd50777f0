"""How many OpenMP threads a fit gets where the user does not say.

One as a rule: what several threads add up may depend on their number, and results must not depend on the number of workers. The
histogram boosting of scikit-learn gives the same bits for any number. So where one worker does all fits in this process, it gets
all threads that the process has, as in GridSearchCV.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from .estimators import package_of, parts_of

# On smaller tables threads wait for each other longer than they save, above all on a machine with other work.
_LARGE = 100_000

_BOOSTING = frozenset({"HistGradientBoostingClassifier", "HistGradientBoostingRegressor"})
# What may come before: these do not use OpenMP.
_BEFORE = frozenset(
    {"Pipeline", "ColumnTransformer", "SimpleImputer", "MissingIndicator", "StandardScaler", "MinMaxScaler"}
)
_BEFORE |= {"MaxAbsScaler", "RobustScaler", "OneHotEncoder", "OrdinalEncoder", "TargetEncoder", "QuantileTransformer"}


def threads_alone(estimators: Iterable[Any], X: Any) -> int | None:
    """The threads of a fit that has nothing beside it: one, or None for all that the process has."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    large = len(shape) == 2 and shape[0] * shape[1] >= _LARGE
    return None if large and _boosting_adds_in_order() and all(map(_only_boosts, estimators)) else 1


def _only_boosts(estimator: Any) -> bool:
    """Whether nothing but histogram boosting uses OpenMP in this estimator."""
    parts = list(parts_of(estimator))
    names = {type(part).__name__ for part in parts}
    ours = all(package_of(part) == "sklearn" for part in parts)
    return ours and bool(names & _BOOSTING) and names <= _BOOSTING | _BEFORE


@cache
def _boosting_adds_in_order() -> bool:
    """Whether this scikit-learn adds up gradients feature by feature; older ones let each thread add a part of the rows."""
    from sklearn.ensemble._hist_gradient_boosting import grower

    return not hasattr(grower, "sum_parallel")
