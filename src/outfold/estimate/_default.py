"""What estimates and selects where nobody says: the method is `bbc` or, from scores of whole folds, `bbc_f` or `tt`."""

from __future__ import annotations

from .. import metrics, select
from ..arguments import RngLike
from ..data.predictions import Predictions
from ..exceptions import NeedError
from ..metrics import MetricLike
from ..metrics._scoring import Aggregate, recorded_metric, selecting
from ..requirements import met
from ..results import Estimate
from ..select import RuleLike, recorded_rule
from ._bbc import bbc
from ._build import scored_by
from ._by_fold import PARTITION, bbc_f
from ._held_out import tt


def default_method(oof: Predictions, metric: MetricLike | None = None, rule: RuleLike = None) -> str:
    """The name of the best method for this metric: of scores of fitted models only those of whole folds are known."""
    if metrics.get(recorded_metric(oof, metric), oof.target.task).needs != "live":
        return "bbc"
    draws_folds = met((PARTITION,), oof) and recorded_rule(oof, rule).name == select.best.name
    return "bbc_f" if draws_folds else "tt"


def default_aggregate(oof: Predictions, metric: MetricLike | None = None) -> Aggregate:
    """How to select if nobody says: as `bbc` scores, so that the score that selects is the one that it corrects."""
    return scored_by(selecting(oof, metric, "pooled")).aggregate


def corrected(
    oof: Predictions,
    metric: MetricLike | None = None,
    *,
    rule: RuleLike = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """The estimate by that method."""
    method = default_method(oof, metric, rule)
    if method == "tt":
        return tt(oof, metric, rule=rule)
    draw = bbc if method == "bbc" else bbc_f
    try:
        return draw(oof, metric, rule=rule, n_resamples=n_resamples, confidence_level=confidence_level, rng=rng)
    except NeedError:
        if method == "bbc":
            raise
        return tt(oof, metric, rule=rule)  # the score is undefined in too many folds
