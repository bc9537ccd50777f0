"""Numbers of pictures of learning and validation curves; the curves themselves are in the results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arguments import is_number
from ...exceptions import InputError
from ...results import LearningCurve, ValidationCurve
from .naming import positions

# From such a ratio of the largest to the smallest value on, steps are taken as factors.
_FACTOR = 50


def lines(curve: Any, configs: Sequence[str | int] | str | int | None, most: int) -> list[int]:
    """Positions of the configurations of a learning curve that are shown; all, where they are not too many."""
    if not isinstance(curve, LearningCurve):
        raise InputError(
            f"plot.learning_curve needs a LearningCurve, as curves.learning gives; got {type(curve).__name__}."
        )
    if configs is None:
        if len(curve.configs) > most:
            raise InputError(
                f"{most} configurations at most can be told apart; this curve has {len(curve.configs):,}. Name some: configs=."
            )
        return list(range(len(curve.configs)))
    return positions(curve.configs, configs, "curve")


class Places(NamedTuple):
    """Where the values of a parameter stand: numbers in rising order, other values side by side in the user's order."""

    order: NDArray[np.intp]
    x: NDArray[np.float64]
    labels: tuple[str, ...] | None
    log: bool


def places(curve: Any) -> Places:
    """Positions on the axis of a validation curve."""
    if not isinstance(curve, ValidationCurve):
        raise InputError(
            f"plot.validation_curve needs a ValidationCurve, as curves.validation gives; got {type(curve).__name__}."
        )
    if not all(is_number(value) for value in curve.values):
        labels = tuple(str(value) for value in curve.values)
        at = np.arange(len(labels))
        return Places(at, at.astype(np.float64), labels, False)
    x = np.array([float(value) for value in curve.values])
    order = np.argsort(x, kind="stable")
    x = x[order]
    return Places(order, x, None, bool(x[0] > 0 and x[-1] / x[0] >= _FACTOR))
