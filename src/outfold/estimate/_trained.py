"""The interval of one configuration's score, with chance in the samples and in the training sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..exceptions import NeedError
from ..metrics._scoring import Scoring
from ..metrics._units import (
    UnitValues,
    allowance_of,
    degrees_of_freedom,
    design_of,
    least_of_a_class,
    rarest_class,
    unit_values,
)
from ..stats import training
from ._selected import bounds_of, rests_on

# The placements of an area have no t distribution; normal quantiles did better in simulations.
_NORMAL = 1e9
# A hold-out with fewer of a class says too little about how a metric of sets varies.
_LEAST_OF_A_CLASS = 5


class Trained(NamedTuple):
    """A score, the variance that samples and training sets give it, and what the scale of its interval needs."""

    score: float
    variance: float
    sizes: tuple[float, float]  # samples, and those that the metric rests on
    df: float
    bounds: tuple[float, float]

    def interval(self, level: float) -> tuple[float, float]:
        """Its ends."""
        return training.score_interval(self.score, self.variance, self.sizes, self.df, self.bounds, level)


def trained_variance(
    scoring: Scoring, value: float, units_of: Callable[[], UnitValues] | None = None
) -> Trained | None:
    """The variance of the score of the only candidate, by folds or random splits; None where too few samples tell.

    `units_of` gives what each sample adds to the score, where that is known already.
    """
    oof, metric = scoring.oof, scoring.metric
    if not metric.pointwise:
        small = bool(np.any(oof.folds < 0)) and least_of_a_class(oof) < _LEAST_OF_A_CLASS
        if small or rarest_class(oof) < 2:
            return None
    try:
        units = unit_values(oof, metric) if units_of is None else units_of()
    except NeedError:  # undefined without some sample
        return None
    low, high = bounds_of(scoring)
    zero_one = metric.pointwise and bool(np.isin(units.values, (0.0, 1.0)).all())
    bounded = training.ZERO_ONE if zero_one else allowance_of(oof, metric)
    allowance = bounded if np.isfinite([low, high]).all() else training.UNBOUNDED
    parts = training.variance_parts(units.values[:1], units.folds)
    design = design_of(oof, units.values.shape[2])
    variance = float(training.variance_of_mean(parts, design, allowance)[0])
    sizes = float(units.n_held), min(rests_on(scoring), float(units.n_held))
    return Trained(value, variance, sizes, degrees_of_freedom(oof, metric, units.n_held), (low, high))


def sampled_variance(scoring: Scoring, value: float, area: tuple[float, float] | None) -> Trained | None:
    """The variance that samples give the score of the only candidate on one test set, or by leave-one-out.

    `area` is an area under the ROC curve with its standard error. None for metrics that have another interval.
    """
    oof, metric = scoring.oof, scoring.metric
    sizes = float(len(scoring.rows)), min(rests_on(scoring), float(len(scoring.rows)))
    if area is not None:
        return Trained(value, area[1] ** 2, sizes, _NORMAL, metric.bounds)
    one_bound = bool(np.isfinite(metric.bounds).sum() == 1)
    one_set = scoring.one_test_set
    if not one_bound if metric.pointwise else one_set or scoring.aggregate != "pooled" or rarest_class(oof) < 2:
        return None
    if oof.n_repeats > 1 and not oof.nothing_trained:
        return None
    try:
        units = unit_values(oof, metric)
    except NeedError:  # undefined without some sample
        return None
    repeats = sorted({r for r, _ in scoring.cells})
    own = units.values[0, repeats].mean(axis=0)[units.folds[repeats[0]] >= 0]
    unseen = (training.TAILS if one_bound else 1.0) * (1.0 if one_set else training.TRAINING)
    df = degrees_of_freedom(oof, metric, len(own))
    if len(own) < 2 or df < 1:
        return None
    return Trained(value, unseen * float(np.var(own, ddof=1)) / len(own), sizes, df, metric.bounds)
