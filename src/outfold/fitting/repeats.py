"""Repeats that are drawn as they are needed, where their number is open."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..data.plan import Plan, Splits
from ..data.target import Target


class Repeats:
    """The splits of a plan for any number of repeats up to `cap`.

    More repeats leave the earlier ones as they were, so they can be drawn some at a time.
    """

    def __init__(self, plan: Plan, target: Target, groups: Any, seed: int, cap: int) -> None:
        self.cap = cap
        self._plan, self._target, self._groups, self._seed = plan, target, groups, seed
        self._drawn = self._draw(1)

    def first(self, n: int) -> Splits:
        """The splits of the first `n` repeats."""
        if n > self._drawn.n_repeats:
            self._drawn = self._draw(min(2 * n, self.cap))  # twice as many: all draws together cost twice the last
        drawn = self._drawn
        return replace(drawn, plan=replace(drawn.plan, repeats=n), folds=np.ascontiguousarray(drawn.folds[:, :n]))

    def _draw(self, n: int) -> Splits:
        return replace(self._plan, repeats=n).split(self._target, self._groups, self._seed)
