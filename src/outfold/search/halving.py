"""``search="halving"``: the rule that keeps the better part of the configurations after each fold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..drop import Drop, DropRule
from ..metrics import MetricLike
from ..metrics._scoring import Scoring


@dataclass(frozen=True, repr=False)
class Halving(DropRule):
    """After every fold, keep one in `factor` of the configurations still running: successive halving over folds.

    If `aggressive`, the first fold drops as many more as it takes for at most `factor` configurations to reach the last fold.
    """

    metric: MetricLike | None = None
    by_fold: ClassVar[bool] = True
    factor: float = 2.0
    aggressive: bool = False

    def _losers(self, scoring: Scoring, cell: tuple[int, int], seed: int) -> Iterator[Drop]:
        score = scoring.metric.sign * scoring.by("fold").scores()[0]
        order = np.argsort(np.where(np.isnan(score), np.inf, -score), kind="stable")
        n_kept, oof = int(np.ceil(len(order) / self.factor)), scoring.oof
        if self.aggressive and cell == tuple(oof.splits.cells[0]):
            n_kept = min(n_kept, int(self.factor ** (oof.n_folds * oof.plan.repeats - 1)))
        for j in order[max(n_kept, 1) :]:
            yield Drop(scoring.names[j], None, scoring.names[order[0]])
