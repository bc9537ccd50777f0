"""Areas under ROC curves on the same samples: DeLong."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..data.predictions import Predictions
from ..exceptions import InputError
from ..metrics import MetricLike
from ..requirements import PREDICTIONS, Requirement, Requirements
from ..results import Comparison, PairArrays
from ..stats import rank_metrics as kernels
from ..stats.pvalues import Tails, normal_quantile, normal_tails
from ..stats.resampling import blocks
from ._compared import ComparedConfigs, Source
from ._pair_test import (
    AlternativeLike,
    Findings,
    Hypothesis,
    compare_pair,
    notes_without_variance,
    pair_test,
    pvalues,
    standardised,
)

# Pairs times samples whose differences of placements are held at once.
_AT_ONCE = 1 << 22
# A variance below this share of the squared scale of placements is what rounding leaves of none.
_NONE = 1e-30


def _delong(compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis) -> Findings:
    oof, rows = compared.predictions, _same_rows(compared)
    assert rows is not None  # the test requires it
    positive = oof.target.y[rows] == 1
    placements = _mean_placements(oof, rows, positive)
    areas = placements[0].mean(axis=1)
    variances, wins = _of_pairs(placements, pairs, _codes(oof, rows, positive))
    difference = areas[pairs[:, 0]] - areas[pairs[:, 1]]
    difference[np.abs(difference) < 1e-15] = 0.0
    error = np.sqrt(np.where(variances < _NONE, 0.0, variances))
    z = np.divide(difference, error, out=np.where(difference == 0, 0.0, np.nan), where=error > 0)
    half = -normal_quantile((1 - hypothesis.confidence_level) / 2) * error
    interval = np.stack([difference - half, difference + half], axis=1)
    interval[np.isnan(z)] = np.nan
    same = (error == 0) & (z == 0)  # two models that are the same: 1, whichever the hypothesis
    tails = Tails(*(np.where(same, 1.0, tail) for tail in normal_tails(z)))
    arrays = PairArrays(
        difference=difference,
        statistic=z,
        pvalue=pvalues(hypothesis, tails),
        interval=interval,
        standardised=standardised(difference, error * np.sqrt(len(rows))),
        wins=wins,
        unit="sample",
        notes=notes_without_variance(difference, error),
    )
    detail = f", placements averaged over {oof.n_repeats} repeats" if oof.n_repeats > 1 else ""
    detail += "" if oof.groups is None else ", samples clustered in groups [Obuchowski 1997]"
    return Findings(arrays, areas, compared.notes_on_pooling(ranked=True), detail)


def _same_rows(compared: ComparedConfigs) -> NDArray[np.intp] | None:
    """The samples held out, where every repeat holds out the same ones; else None."""
    held = compared.predictions.folds >= 0
    return np.flatnonzero(held[:, 0]) if np.all(held == held[:, :1]) else None


def _least_of_a_class(compared: ComparedConfigs, groups: NDArray[np.intp] | None = None) -> int:
    """Samples of the rarer class among those held out, or groups that have a class."""
    rows, y = _same_rows(compared), compared.predictions.target.y
    units = np.arange(len(y)) if groups is None else groups
    return min(len(np.unique(units[rows][y[rows] == label])) for label in (0, 1))


_NEEDS: Requirements[ComparedConfigs] = (
    PREDICTIONS,
    Requirement(
        "roc_auc of two classes",
        lambda compared: compared.metric_name == "roc_auc",
        "Use `bootstrap` or `permutation`.",
        lambda compared: f"got {compared.metric_name}",
        InputError,
    ),
    Requirement("the same samples in every repeat", lambda c: _same_rows(c) is not None, "Use `bootstrap`."),
    Requirement(
        "two samples of each class or more",
        lambda compared: _least_of_a_class(compared) >= 2,
        "Use `permutation`.",
        lambda compared: "one class has fewer among those held out",
    ),
    Requirement(
        "two groups with each class or more, if there are groups",
        lambda c: _least_of_a_class(c, c.predictions.group_codes) >= 2,
        "Use `permutation`, or more groups.",
        lambda compared: "one class has fewer",
    ),
)


def _mean_placements(
    oof: Predictions, rows: NDArray[np.intp], positive: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    scores = oof.respond("score")
    parts = [kernels.placements(scores[r][:, rows].astype(np.float64), positive) for r in range(oof.n_repeats)]
    if len(parts) == 1:
        return parts[0]
    return np.mean([p for p, _ in parts], axis=0), np.mean([n for _, n in parts], axis=0)


def _codes(
    oof: Predictions, rows: NDArray[np.intp], positive: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    if oof.group_codes is None:
        return None
    # Groups that are not held out must not count.
    codes = np.unique(oof.group_codes[rows], return_inverse=True)[1].astype(np.intp)
    return codes[positive], codes[~positive]


def _of_pairs(
    placements: tuple[NDArray[np.float64], NDArray[np.float64]],
    pairs: NDArray[np.intp],
    codes: tuple[NDArray[np.intp], NDArray[np.intp]] | None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Variances of the differences, and samples on which the first is better, equal, worse.

    From the differences of placements, pair by pair: a covariance matrix would cancel to noise for models nearly the same.
    """
    of_positives, of_negatives = placements
    n = of_positives.shape[1] + of_negatives.shape[1]
    variances, wins = np.empty(len(pairs)), np.empty((len(pairs), 3), dtype=np.int64)
    for part in blocks(len(pairs), max(1, _AT_ONCE // n)):
        first, second = pairs[part].T
        p, q = of_positives[first] - of_positives[second], of_negatives[first] - of_negatives[second]
        variances[part] = kernels.area_variances(p, q) if codes is None else kernels.clustered_variances(p, q, codes)
        better = np.sum(p > 0, axis=1) + np.sum(q > 0, axis=1)
        worse = np.sum(p < 0, axis=1) + np.sum(q < 0, axis=1)
        wins[part] = np.stack([better, n - better - worse, worse], axis=1)
    return variances, wins


@pair_test(
    "DeLong's test of two areas under the ROC curve",
    "DeLong et al. 1988; Sun and Xu 2014",
    "z",
    _NEEDS,
    _delong,
    metric="roc_auc",
)
def delong(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    alternative: AlternativeLike = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Difference of the areas under two ROC curves on the same samples, by DeLong's test.

    The placement of a positive is the share of negatives it scores above, that of a negative the share of positives above it,
    ties one half. The area is their mean, and the variance of a difference of areas is that of the differences of placements
    [1]_, found by sorting [2]_. Placements are averaged over repeats. Groups are clusters [3]_.

    {needs}

    Parameters: {predictions}
    metric : {"roc_auc"} or None
        The area under the ROC curve; use `bootstrap` for other areas.
    {pair, alternative, test_level, rope}
    Returns: {comparison}
    References: {delong1988, sun2014, obuchowski1997}

    Examples: {outfold}
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> scores = [[1, 2], [2, 1], [3, 4], [4, 6], [5, 3], [6, 8], [7, 5], [8, 7]]
    >>> oof = of.from_arrays(y, scores, configs=["a", "b"], response="score")
    >>> of.compare.delong(oof, "roc_auc", "a", "b")
    <Comparison delong a - b: roc_auc +0.1875, p = 0.2679>
    """
    if metric is None and isinstance(source, Predictions):
        metric = "roc_auc"
    return compare_pair(delong, source, metric, a, b, alternative, confidence_level, rope)
