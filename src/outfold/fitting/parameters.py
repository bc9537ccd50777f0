"""Parameters of estimators, read fast.

scikit-learn looks up the signature of a class for every reading, which for a grid of hundreds of configurations takes
longer than fitting them. The signature of a class does not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

# Values that nobody can change, of which a copy is the value itself.
PLAIN = frozenset({int, float, bool, str, bytes, type(None), complex})

# Copying them gives the same object again, so that two clones of an estimator have one in common.
COPIED_AS_SELF = (FunctionType, BuiltinFunctionType, type, np.ufunc)

# Where estimators made of others keep them; each item is (name, estimator, ...).
_PARTS = ("steps", "transformer_list", "transformers", "estimators")


def own_params(estimator: Any) -> dict[str, Any]:
    """What ``get_params(deep=False)`` gives."""
    kind: Any = type(estimator)
    names = _plain_names(kind)
    if names is None:
        return dict(estimator.get_params(deep=False))
    return {name: getattr(estimator, name) for name in names}


def parts_of(estimator: Any) -> Iterator[Any]:
    """The estimator and all those inside it that ``get_params(deep=True)`` would name, in this order."""
    yield estimator
    params = own_params(estimator)
    inside = list(params.values())
    kind: Any = type(estimator)
    if _is_composed(kind):
        for name in _PARTS:
            inside += [item[1] for item in params.get(name) or () if isinstance(item, tuple) and len(item) > 1]
    for value in inside:
        if type(value) not in PLAIN and hasattr(value, "get_params") and not isinstance(value, type):
            yield from parts_of(value)


def further_values(estimator: Any) -> list[Any]:
    """Parameters that are neither plain values nor estimators, nor the steps of a pipeline."""
    kind: Any = type(estimator)
    known = "steps" if _is_composed(kind) else None
    return [
        value
        for name, value in own_params(estimator).items()
        if not (is_plain(value) or name == known or (hasattr(value, "get_params") and not isinstance(value, type)))
    ]


def one_of_each(configs: Mapping[str, Any]) -> dict[str, Any]:
    """The first configuration of every make: made of the same classes, they are the same kind of model.

    Classes that are not scikit-learn's may decide by their parameters what they are, so all of theirs are given.
    """
    found: dict[Any, str] = {}
    for name, estimator in configs.items():
        kinds = tuple(map(type, parts_of(estimator)))
        own = all(_is_known(kind) for kind in kinds)
        found.setdefault(kinds if own else name, name)
    return {name: configs[name] for name in found.values()}


def is_untouched(estimator: Any) -> bool:
    """Whether a class of scikit-learn's or ours is as it was made, so that a copy is as good as a clone."""
    kind: Any = type(estimator)
    return bool(_is_known(kind) and vars(estimator).keys() == _fresh(kind))


def _is_known(kind: type) -> bool:
    """Whether a class comes with scikit-learn or this package, and so keeps to the rules for estimators."""
    return kind.__module__.partition(".")[0] in ("sklearn", "outfold")


def is_plain(value: Any) -> bool:
    """Whether a value cannot change, so that two estimators may have it in common."""
    return type(value) in PLAIN or isinstance(value, (np.number, np.bool_, np.str_))


@lru_cache(maxsize=1024)
def _plain_names(kind: Any) -> tuple[str, ...] | None:
    """Names of the parameters of a class that reads and copies them as scikit-learn's base class does; else None."""
    from sklearn.base import BaseEstimator

    if (
        not issubclass(kind, BaseEstimator)
        or kind._get_param_names.__func__ is not BaseEstimator._get_param_names.__func__
    ):
        return None
    if kind.__sklearn_clone__ is not BaseEstimator.__sklearn_clone__:
        return None
    own = kind.get_params is BaseEstimator.get_params
    return tuple(kind._get_param_names()) if own or _is_composed(kind) else None


@lru_cache(maxsize=1024)
def _fresh(kind: Any) -> frozenset[str] | None:
    """What an instance holds when it has just been made; None for a class with ways of its own."""
    names = _plain_names(kind)
    if names is None:
        return None
    try:
        return frozenset(vars(kind()))
    except TypeError:  # it needs an argument
        return frozenset(names)


@lru_cache(maxsize=1024)
def _is_composed(kind: Any) -> bool:
    """Whether a class of scikit-learn's is made of named estimators, whose shallow parameters are the base class's."""
    from sklearn.utils.metaestimators import _BaseComposition

    return issubclass(kind, _BaseComposition) and kind.__module__.partition(".")[0] == "sklearn"
