"""The splits of a plan whose number of repeats is open."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..data.splitting import Splits
from ..data.target import Target

if TYPE_CHECKING:
    from .job import Options


class OpenRepeats:
    """The splits of a plan for any number of repeats up to `most`.

    More repeats leave the earlier ones as they were, so they can be drawn some at a time.
    """

    def __init__(self, options: Options, target: Target) -> None:
        assert options.max_repeats is not None
        self.most = options.max_repeats
        self._options, self._target = options, target
        self._drawn = self._draw(1)

    def first(self, n: int) -> Splits:
        """The splits of the first `n` repeats."""
        if n > self._drawn.n_repeats:
            self._drawn = self._draw(min(2 * n, self.most))  # twice as many: all draws together cost twice the last
        drawn = self._drawn
        return replace(drawn, plan=replace(drawn.plan, repeats=n), folds=np.ascontiguousarray(drawn.folds[:, :n]))

    def _draw(self, n: int) -> Splits:
        options = self._options
        return replace(options.plan, repeats=n).split(self._target, options.groups, options.rng)
