"""Do two models differ by more than a margin: a t test of samples, or groups, that allows for skewed differences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..metrics import MetricLike
from ..metrics._scoring import group_notes
from ..requirements import MEAN_OVER_SAMPLES, PREDICTIONS, Requirement, Requirements
from ..results import Comparison, PairArrays
from ..stats import skewed
from ..stats.kernels import RELATIVE_TIE
from ..stats.paired import Tested
from ..stats.resampling import blocks
from ._compared import ComparedConfigs, Source
from ._pair_test import AlternativeLike, Findings, Hypothesis, compare_pair, one_sided, pair_test
from ._resampled_sets import (
    contributions,
    defined_scores,
    hardly_differing,
    observed_differences,
    sample_effects,
    unit_name,
)

# Pairs times units held at once.
_AT_ONCE = 1 << 22

_TWO_UNITS: Requirement[ComparedConfigs] = Requirement(
    "two samples (groups) or more",
    lambda compared: int(compared.scoring.units().max()) > 0,
    "Collect more of them.",
    lambda compared: "there is one",
)
_NEEDS: Requirements[ComparedConfigs] = (PREDICTIONS, MEAN_OVER_SAMPLES, _TWO_UNITS)


def _t_skewed(compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis) -> Findings:
    scores = defined_scores(compared.scoring)
    difference = observed_differences(scores, pairs)
    parts, shares = contributions(compared)
    floor = RELATIVE_TIE * np.maximum(np.maximum(*np.abs(scores)[pairs].T), abs(hypothesis.null))
    statistic, pvalue, interval = np.empty(len(pairs)), np.empty(len(pairs)), np.empty((len(pairs), 2))
    for part in blocks(len(pairs), max(1, _AT_ONCE // parts.shape[1])):
        first, second = pairs[part].T
        found = skewed.jackknife(parts[first] - parts[second], shares)._replace(mean=difference[part])
        tested = skewed.careful_test(found, hypothesis.confidence_level, floor[part], hypothesis.null)
        statistic[part], pvalue[part], interval[part] = tested
    undefined, notes = hardly_differing(compared, pairs, difference, hypothesis.null)
    tested = Tested(statistic, np.where(undefined, np.nan, pvalue), interval)
    arrays = PairArrays(
        difference=difference,
        statistic=statistic,
        pvalue=one_sided(hypothesis, compared.sign, tested),
        df=(float(found.df[0]),),
        interval=interval,
        notes=notes,
        **sample_effects(compared, pairs),
    )
    detail = f" over {parts.shape[1]:,} {unit_name(compared.scoring)}s"
    return Findings(arrays, scores, (*group_notes(compared.scoring), *compared.notes_on_pooling()), detail)


@pair_test("t test of skewed differences", "Hall 1992", "t", _NEEDS, _t_skewed)
def t_skewed(
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
    """Mean difference of two models on the same samples, by a t test that allows for skewness; `auto` takes it for a margin.

    t = (mean - null) / SE, with the jackknife's standard error over samples, or over whole groups. If a few samples are far worse
    than the rest, t too often lies far below 0. Hall's transformation [1]_ removes this,

        t* = t + g (t^2 / 3 + 1 / 6) + g^2 t^3 / 27,

    where g is the skewness of the mean. Of t and t*, the one nearer to 0 is tested; with N samples it has N - 1 degrees of
    freedom, with groups 1 / (sum of squared shares of the samples) - 1. The interval holds all nulls that this does not reject.

    At a null of 0, `permutation` assumes less.

    Parameters: {predictions, metric, pair, alternative, test_level, rope, null}
    Returns: {comparison}
    References: {hall1992, kish1965}

    Examples: {outfold, errors}
    >>> of.compare.t_skewed(oof, "mean", "a", "b", null=0.05, alternative="less")
    <Comparison t_skewed a - b: mean -0.1250, p = 0.0105>
    """
    return compare_pair(t_skewed, source, metric, a, b, Hypothesis(alternative, confidence_level, rope, null))
