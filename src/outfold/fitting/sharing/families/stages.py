"""What families whose members differ in how many trees or stages they have need to know of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from ..family import Unsuitable


def is_count(value: Any) -> bool:
    """A whole number of at least 1."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def is_seed(value: Any) -> bool:
    """A seed that gives every member the same stream, or None, which is seeded before the fit."""
    return value is None or (isinstance(value, Integral) and not isinstance(value, bool))


def check_plain(members: Sequence[Any], y: Any, fit_params: Mapping[str, Any]) -> None:
    """Refuse what members cannot be beginnings of one another with."""
    if np.ndim(y) != 1:
        raise Unsuitable("fits are shared for one label a row")
    if set(fit_params) - {"sample_weight"}:
        raise Unsuitable("fits are shared with no other arguments than sample_weight")
    if members[0].random_state is None:
        raise Unsuitable("without a seed every member would have random numbers of its own")


def fit_longest(members: Sequence[Any], size: str, X: Any, y: Any, fit_params: Mapping[str, Any]) -> Any:
    """The member with the largest `size`, fitted: the others are its beginnings, as all draw from the same stream."""
    check_plain(members, y, fit_params)
    return max(members, key=lambda m: int(getattr(m, size))).fit(X, y, **fit_params)
