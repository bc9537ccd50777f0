"""Is A better than B, from what it predicts for each sample: chance in the samples, and chance in the training sets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..metrics import MetricLike
from ..metrics._scoring import group_notes
from ..metrics._units import (
    allowance_of,
    degrees_of_freedom,
    design_of,
    least_of_a_class,
    least_units,
    rarest_class,
    unit_values,
)
from ..requirements import PREDICTIONS, Requirement, Requirements, splits
from ..results import Comparison, PairArrays
from ..stats import training
from ..stats.kernels import RELATIVE_TIE
from ..stats.paired import student
from ..stats.resampling import blocks
from ._compared import ComparedConfigs, Source
from ._pair_test import (
    AlternativeLike,
    Findings,
    Hypothesis,
    compare_pair,
    notes_without_variance,
    one_sided,
    pair_test,
    standardised,
)
from ._resampled_sets import defined_scores, observed_differences, sample_wins

# Pairs times repeats times units held at once.
_AT_ONCE = 1 << 22
# A hold-out with fewer of a class says too little about how a metric of sets varies.
_LEAST_OF_A_CLASS = 5

_SPLITS = splits(
    "K-fold cross-validation, repeated or not, or repeated hold-out",
    "Collect with `Plan(folds=10, repeats=3)` or `Plan.five_by_two()`.",
    ("kfold", "balanced", "holdout"),
)
_TWO_GROUPS: Requirement[ComparedConfigs] = Requirement(
    "two groups or more in each fold, if there are groups",
    lambda compared: least_units(compared.predictions) > 1,
    "Use fewer folds.",
    lambda compared: "a fold has only one",
)
_EACH_CLASS: Requirement[ComparedConfigs] = Requirement(
    "two samples (groups) of each class or more, unless the metric is a mean over samples",
    lambda compared: compared.pointwise or rarest_class(compared.predictions) >= 2,
    "Use a metric such as accuracy.",
    lambda compared: "one class has fewer",
)
_LARGE_TESTS: Requirement[ComparedConfigs] = Requirement(
    "five samples of each class in every hold-out, unless the metric is a mean over samples",
    lambda compared: (
        compared.pointwise
        or compared.folds.layout != "holdout"
        or least_of_a_class(compared.predictions) >= _LEAST_OF_A_CLASS
    ),
    "Collect with `Plan(folds=10, repeats=3)`, or use a metric such as accuracy.",
    lambda compared: f"one of these has {least_of_a_class(compared.predictions)}",
)
_NEEDS: Requirements[ComparedConfigs] = (PREDICTIONS, _SPLITS, _TWO_GROUPS, _EACH_CLASS, _LARGE_TESTS)


def _t_training(compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis) -> Findings:
    scoring = compared.scoring
    oof, metric, scores = scoring.oof, scoring.metric, defined_scores(scoring)
    difference = observed_differences(scores, pairs)
    units = unit_values(oof, metric)
    # The value of a group of samples is a mean of answers, neither right nor wrong.
    zero_one = compared.zero_one and units.values.shape[2] == oof.n_samples
    allowance = training.ZERO_ONE if zero_one else allowance_of(oof, metric)
    design = design_of(oof, units.values.shape[2])
    variance, spread = np.empty((2, len(pairs)))
    for part in blocks(len(pairs), max(1, _AT_ONCE // units.values[0].size)):
        first, second = pairs[part].T
        parts = training.variance_parts(units.values[first] - units.values[second], units.folds)
        variance[part] = training.variance_of_mean(parts, design, allowance)
        spread[part] = np.sqrt(parts.samples * units.n_held)
    df = degrees_of_freedom(oof, metric, units.n_held)
    floor = RELATIVE_TIE * np.maximum(*np.abs(scores)[pairs].T)
    tested = student(difference, variance, df, hypothesis.confidence_level, floor, hypothesis.null)
    spread = np.where(np.sqrt(variance) <= floor, 0.0, spread)
    arrays = PairArrays(
        difference=difference,
        statistic=tested.statistic,
        pvalue=one_sided(hypothesis, compared.sign, tested),
        df=(df,),
        interval=tested.interval,
        standardised=standardised(difference, spread),
        notes=notes_without_variance(difference, spread, np.abs(difference - hypothesis.null) <= floor),
        **sample_wins(compared, pairs),
    )
    notes = (*group_notes(scoring), *compared.notes_on_scales(ranked=metric.needs == "score"))
    unit = "sample" if oof.groups is None else "group"
    return Findings(arrays, scores, notes, f" over {units.n_held:,} {unit}s, theta {allowance.theta:g}")


@pair_test(
    "t test of samples and training sets",
    "after Nadeau & Bengio 2003; Bengio & Grandvalet 2004",
    "t",
    _NEEDS,
    _t_training,
    by_splits=True,
)
def t_training(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    alternative: AlternativeLike = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
    null: float = 0.0,
) -> Comparison:
    """Mean difference over samples, with a variance for chance in the samples and in the training sets; `auto` takes this one.

    t = dbar / sqrt(V), V = [var_i(mean_r d_ir) + theta T] / N with N - 1 degrees of freedom, where d_ir is what sample i adds to
    the difference in repeat r. T bounds the variance of training: s^2 / (1 + 1/K) with one repeat, and not more than
    V_w / (1 - o^m) with several, where s^2 is the variance of d over samples, V_w that over the repeats of one sample, and o the
    overlap of two training sets. V is at least that of the plain t test of the J folds, with repeats (J - 1) / (J - 3) times.
    theta = 1, m = 2 for right or wrong, theta = 3/2, m = 1 for other means, groups and AUC, and theta = 5/2 for other metrics of
    sets are calibrated, not derived: one data set does not show the variance of training [2]_. The corrected t test [1]_ lacks
    the first term.

    For the area under the ROC curve d comes from placements, for other metrics of whole sets from leaving out one sample; the
    degrees of freedom are then one less than the samples of the rarest class. Groups count as one sample each. Leave-one-out is
    refused: no test is valid there.

    Parameters: {predicted, metric, pair, alternative, test_level, rope, null}
    Returns: {comparison}
    References: {nadeau2003, bengio2004}

    Examples: {numpy_outfold}
    >>> rng = np.random.default_rng(0)
    >>> right = rng.random((100, 2, 3)) < [[0.85], [0.7]]
    >>> folds = np.stack([rng.permutation(100) % 10 for _ in range(3)], axis=1)
    >>> oof = of.from_arrays(None, right, folds=folds, configs=["a", "b"], response="pointwise")
    >>> of.compare.t_training(oof, "mean", "a", "b")
    <Comparison t_training a - b: mean +0.1400, p = 0.0346>
    """
    return compare_pair(t_training, source, metric, a, b, Hypothesis(alternative, confidence_level, rope, null))
