"""The two tails of a test, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .base import Floats

# Halvings of [-1, 1] until the ends of an interval are neighbouring floats.
_HALVINGS = 60


class Tails(NamedTuple):
    """One-sided p values: of "the first is not greater" and of "the first is not smaller", small where it is."""

    greater: Floats
    less: Floats

    @property
    def two_sided(self) -> Floats:
        """Twice the smaller tail, at most 1."""
        p: Floats = np.minimum(1.0, 2 * np.minimum(self.greater, self.less))
        return p


def normal_tails(z: Floats) -> Tails:
    """Tails of a standard normal statistic."""
    from scipy.special import ndtr

    return Tails(ndtr(-z), ndtr(z))


def normal_quantile(p: float) -> float:
    """Where the standard normal distribution function is p."""
    from scipy.special import ndtri

    return float(ndtri(p))


def lowest_not_rejected(statistic: Callable[[Floats], Floats], start: Floats, bar: float) -> Floats:
    """Smallest difference d in [-1, start] with statistic(d) below the bar, where statistic falls with d."""
    low, high = np.full_like(start, -1.0), start.copy()
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        rejected = statistic(middle) >= bar
        low, high = np.where(rejected, middle, low), np.where(rejected, high, middle)
    return high
