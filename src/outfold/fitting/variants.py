"""Copies of one estimator with other parameters, made fast: what ``clone`` and ``set_params`` give, for grids of hundreds."""

from __future__ import annotations

import pickle
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..exceptions import InputError

# Parameters of which pickling gives what `clone` does.
_COPIED_ALIKE = (
    *(int, float, bool, str, bytes, type(None), complex, np.generic, np.ndarray, np.random.RandomState),
    *(types.FunctionType, types.BuiltinFunctionType, type, np.ufunc, list, tuple, dict),
)


class Variants:
    """Copies of an estimator, each with some parameters of its own.

    scikit-learn looks up every signature for every copy. Here a clone is pickled once, together with the parts whose
    parameters vary, and read back for every copy; where that might not be what ``clone`` and ``set_params`` give, it is these.

    Parameters
    ----------
    estimator
        What is copied; it is never changed.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self._frozen: dict[tuple[str, ...], bytes | None] = {}

    def make(self, chosen: Mapping[str, Any], key: str) -> Any:
        """A copy with these values, for the configuration `key`; values that are estimators are cloned."""
        from sklearn.base import clone

        names = tuple(chosen)
        if names not in self._frozen:
            self._frozen[names] = self._freeze(names)
        frozen = self._frozen[names]
        if frozen is None or any(hasattr(value, "get_params") for value in chosen.values()):
            return _with_params(clone(self.estimator), chosen, key)
        made, owners = pickle.loads(frozen)
        for owner, (name, value) in zip(owners, chosen.items(), strict=True):
            setattr(owner, name.rpartition("__")[2], clone(value, safe=False))
        return made

    def _freeze(self, names: tuple[str, ...]) -> bytes | None:
        """A clone and the parts that have these parameters, pickled; None where only scikit-learn knows how to set them."""
        from sklearn.base import BaseEstimator, clone

        made = clone(self.estimator)
        known = made.get_params(deep=True)
        parts = [made, *(value for value in known.values() if _is_estimator(value))]
        others = [value for value in known.values() if not _is_estimator(value)]
        if not (all(map(_is_plain_part, parts)) and all(isinstance(value, _COPIED_ALIKE) for value in others)):
            return None
        owners = []
        for name in names:
            inside, _, own = name.rpartition("__")
            owner = known.get(inside) if inside else made
            if not _is_estimator(owner) or type(owner).set_params is not BaseEstimator.set_params:
                return None
            if own not in owner.get_params(deep=False) or _is_estimator(known[name]):
                return None
            owners.append(owner)
        try:
            return pickle.dumps((made, owners), protocol=pickle.HIGHEST_PROTOCOL)
        except Exception:  # a function made on the spot, say; cloning still works
            return None


def _is_estimator(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def _is_plain_part(part: Any) -> bool:
    """Whether it is scikit-learn's, cloned as most are, and nobody listens to it."""
    from sklearn.base import BaseEstimator

    kind: Any = type(part)
    return (
        kind.__module__.partition(".")[0] == "sklearn"
        and issubclass(kind, BaseEstimator)
        and kind.__sklearn_clone__ is BaseEstimator.__sklearn_clone__
        and not getattr(part, "_skl_callbacks", None)
    )


def _with_params(estimator: Any, chosen: Mapping[str, Any], key: str) -> Any:
    """The estimator with these values; values that are estimators are cloned, since fits must not meet in them."""
    from sklearn.base import clone

    if not chosen:
        return estimator
    try:
        return estimator.set_params(**{p: clone(v, safe=False) for p, v in chosen.items()})
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(f"configuration {key!r}: {str(error).splitlines()[0]}") from error
