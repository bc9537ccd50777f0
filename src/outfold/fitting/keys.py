"""Keys of estimators: equal keys mean that separate fits on the same rows would give the same bits.

The texts of `data` tell a configuration from another in a person's words, and may take two functions of one name for
the same. A key never does; where it cannot be sure, the two are different and nothing is shared.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection, Hashable
from typing import Any

import numpy as np

from .data import digest
from .parameters import COPIED_AS_SELF, PLAIN, own_params

# What `clone` takes over beside the parameters.
_BESIDE = ("_sklearn_output_config", "_metadata_request")


class _Same:
    """Equal to itself only; keeps the object, whose address would else be given to another."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def key_of(value: Any) -> Hashable:
    """The key of a parameter or an estimator."""
    kind = type(value)
    if kind in PLAIN:
        return kind, repr(value)  # tells 1 from 1.0 and True, 0.0 from -0.0, and NaN is equal to itself
    if kind in (list, tuple):
        return kind, tuple(key_of(item) for item in value)
    if kind is dict:
        return kind, tuple((key_of(k), key_of(v)) for k, v in value.items())
    if isinstance(value, COPIED_AS_SELF):
        return _Same(value)
    if hasattr(value, "get_params"):
        return estimator_key(value)
    if kind is np.ndarray and not value.dtype.hasobject:
        return kind, digest(value), value.flags.c_contiguous, value.flags.f_contiguous
    return _pickled(value)


def estimator_key(estimator: Any, without: Collection[str] = ()) -> Hashable:
    """The key of an estimator by its class and parameters, except some of them."""
    kind = type(estimator)
    if _clones_otherwise(kind):
        return _pickled(estimator)
    params = own_params(estimator)
    mine = tuple((name, key_of(params[name])) for name in sorted(params) if name not in without)
    beside = tuple((name, _pickled(getattr(estimator, name))) for name in _BESIDE if hasattr(estimator, name))
    return kind, mine, beside


def _clones_otherwise(kind: type) -> bool:
    """Whether it says itself how it is cloned, and so may keep more than its parameters (one that is frozen)."""
    from sklearn.base import BaseEstimator

    own = getattr(kind, "__sklearn_clone__", None)
    return own is not None and own is not BaseEstimator.__sklearn_clone__


def _pickled(value: Any) -> Hashable:
    try:
        return type(value), pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception:  # whatever a foreign class raises: it is the same as itself only
        return _Same(value)
