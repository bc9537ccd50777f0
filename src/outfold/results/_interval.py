"""The two ends of an interval."""

from __future__ import annotations

from typing import NamedTuple


class Interval(NamedTuple):
    """The two ends of a confidence interval."""

    low: float
    high: float
