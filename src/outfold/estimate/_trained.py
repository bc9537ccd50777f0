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
from ._selected import rests_on

# A hold-out with fewer of a class says too little about how a metric of sets varies.
_LEAST_OF_A_CLASS = 5


class Trained(NamedTuple):
    """A score, the variance that samples and training sets give it, and what the scale of its interval needs."""

    score: float
    variance: float
    sizes: tuple[float, float]  # samples, and those that the metric rests on
    df: int
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
    low, high = metric.bounds
    if metric.needs == "pointwise" and scoring.within(0.0, 1.0):
        low, high = 0.0, 1.0
    zero_one = metric.pointwise and bool(np.isin(units.values, (0.0, 1.0)).all())
    bounded = training.ZERO_ONE if zero_one else allowance_of(oof, metric)
    allowance = bounded if np.isfinite([low, high]).all() else training.UNBOUNDED
    parts = training.variance_parts(units.values[:1], units.folds)
    design = design_of(oof, units.values.shape[2])
    variance = float(training.variance_of_mean(parts, design, allowance)[0])
    sizes = float(units.n_held), min(rests_on(scoring), float(units.n_held))
    return Trained(value, variance, sizes, degrees_of_freedom(oof, metric, units.n_held), (low, high))
