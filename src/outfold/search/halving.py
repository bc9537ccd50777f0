"""``search="halving"``: the rule that keeps the better part of the configurations after each fold, and what it sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor, log
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..data.predictions import Predictions, State
from ..drop import Drop, DropRule
from ..metrics import MetricLike
from ..metrics._scoring import Scoring
from .cv_results import Columns, in_order


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


def columns(oof: Predictions) -> Columns:
    """The columns that only halving has: the last round of each configuration, and the folds it was fitted on by then."""
    n_folds = _fitted(oof).sum(axis=1)
    return {"iter": n_folds - 1, "n_resources": n_folds}


def attributes(oof: Predictions, factor: float) -> dict[str, Any]:
    """The attributes of HalvingGridSearchCV; the resource is folds, and each round takes one more."""
    n_candidates = _fitted(oof).sum(axis=0).tolist()
    n_rounds = len(n_candidates)
    return {
        "n_candidates_": n_candidates,
        "n_remaining_candidates_": ceil(n_candidates[-1] / factor),
        "n_resources_": list(range(1, n_rounds + 1)),
        "min_resources_": 1,
        "max_resources_": n_rounds,
        "n_iterations_": n_rounds,
        "n_possible_iterations_": n_rounds,
        "n_required_iterations_": 1 + floor(log(n_candidates[0], factor)),
    }


def _fitted(oof: Predictions) -> NDArray[np.bool_]:
    """(configurations, splits) whether a configuration was still running, in the order of the splits."""
    return np.asarray(in_order(oof, oof.state) != State.DROPPED)
