"""Intervals of independent samples: shares of right answers, means, and the area under the ROC curve."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import check_confidence_level, check_count
from ..exceptions import InputError, invalid
from ..requirements import Requirement, Requirements, check_requirements
from ..results import Interval
from ..stats import intervals as kernels
from ..stats import rank_metrics as areas
from ..stats.training import TAILS, score_interval
from ._inputs import document, given_groups, refuse_missing, several


@document
def normal(k: int, n: int, *, confidence_level: float = 0.95) -> Interval:
    """Share k / n plus and minus z sqrt(p (1 - p) / n): too narrow for few samples, or for shares near 0 or 1.

    Parameters: {counts, confidence_level}
    Returns: {interval}

    Examples: {outfold}
    >>> low, high = of.intervals.normal(92, 100)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.867 to 0.973
    """
    level, (k, n) = check_confidence_level(confidence_level), _counts(k, n)
    p = k / n
    return Interval(*kernels.around(p, float(np.sqrt(p * (1 - p) / n)), level))


@document
def wilson(k: int, n: int, *, confidence_level: float = 0.95) -> Interval:
    """Shares that the score test does not reject; use this one for a share.

    Parameters: {counts, confidence_level}
    Returns: {interval}
    References: {wilson1927}

    Examples: {outfold}
    >>> low, high = of.intervals.wilson(92, 100)
    >>> print(f"{low:.4f} to {high:.4f}")
    0.8500 to 0.9589
    """
    level, (k, n) = check_confidence_level(confidence_level), _counts(k, n)
    return Interval(*kernels.wilson(k, n, level))


@document
def clopper_pearson(k: int, n: int, *, confidence_level: float = 0.95) -> Interval:
    """Shares that neither exact binomial tail rejects: it never covers too rarely, and is wide.

    Parameters: {counts, confidence_level}
    Returns: {interval}
    References: {clopper1934}

    Examples: {outfold}
    >>> low, high = of.intervals.clopper_pearson(92, 100)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.848 to 0.965
    """
    level, (k, n) = check_confidence_level(confidence_level), _counts(k, n)
    return Interval(*kernels.clopper_pearson(k, n, level))


def _counts(k: Any, n: Any) -> tuple[int, int]:
    n, k = check_count(n, "n"), check_count(k, "k", 0)
    if k > n:
        raise invalid("k", "must be at most n, k of n samples", f"got k={k}, n={n}")
    return k, n


@document
def t(values: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Mean of independent values plus and minus t_{n-1} S / sqrt(n).

    Parameters
    ----------
    values : array-like of shape (N,)
        One value for each sample of a test set, such as its loss. Use `corrected_t` for scores of folds: they are not
        independent.
    {confidence_level}
    Returns: {interval}

    Examples: {outfold}
    >>> low, high = of.intervals.t([0.2, 0.5, 0.1, 0.4, 0.3])
    >>> print(f"{low:.3f} to {high:.3f}")
    0.104 to 0.496
    """
    level, v = check_confidence_level(confidence_level), several(values, "values")
    return Interval(*kernels.around(v.mean(), float(v.std(ddof=1) / np.sqrt(len(v))), level, len(v) - 1))


@document
def cluster_robust(values: ArrayLike, groups: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Mean of values that come in groups, if only the groups are independent.

    The standard error is sqrt(G/(G-1) sum_g (sum_{i in g} (v_i - mean))^2) / n, with t of G - 1 degrees of freedom [1]_. With
    one value in each group it is `t`.

    Parameters
    ----------
    values : array-like of shape (N,)
        One value for each sample.
    groups : array-like of shape (N,)
        The group of each sample, such as patient, site or user.
    {confidence_level}
    Returns: {interval}
    References: {liang1986}

    Examples: {outfold}
    >>> low, high = of.intervals.cluster_robust([0.2, 0.5, 0.1, 0.4, 0.3, 0.3], groups=[1, 1, 2, 2, 3, 3])
    >>> print(f"{low:.3f} to {high:.3f}")
    0.176 to 0.424
    """
    level, v = check_confidence_level(confidence_level), several(values, "values")
    codes = given_groups(groups, len(v))
    return Interval(*kernels.around(v.mean(), kernels.cluster_error(v, codes), level, int(codes.max())))


@document
def samples(
    values: ArrayLike,
    *,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    confidence_level: float = 0.95,
) -> Interval:
    """Mean of values of independent samples, such as losses on one test set, on a scale that respects their range.

    With a lower bound only, such as that of a squared error, the interval is one of the log, and 1.2 times the variance counts:
    few samples do not show the long tails of a loss. Between two bounds it is Wilson's [1]_ for as many answers, right or wrong,
    as vary as much. Without bounds it is `t`.

    Parameters
    ----------
    values : array-like of shape (N,)
        The value of each sample, such as its squared error.
    bounds : tuple of float
        The range of the values; infinite where there is none. Values that are 0 or 1 have the bounds 0 and 1.
    {confidence_level}
    Returns: {interval}
    References: {wilson1927}

    Examples: {outfold}
    >>> low, high = of.intervals.samples([0.1, 0.3, 2.0, 0.0, 0.4, 0.9], bounds=(0, float("inf")))
    >>> print(f"{low:.2f} to {high:.2f}")
    0.15 to 2.48
    """
    level, v = check_confidence_level(confidence_level), np.asarray(values, dtype=np.float64)
    if v.ndim != 1 or len(v) < 2 or not np.isfinite(v).all():
        raise invalid("values", "must be numbers, one for each of two samples or more", f"got shape {v.shape}")
    low, high = (0.0, 1.0) if bool(np.isin(v, (0.0, 1.0)).all()) else bounds
    tails = TAILS if np.isfinite([low, high]).sum() == 1 else 1.0
    n, variance = len(v), tails * float(v.var(ddof=1)) / len(v)
    return Interval(*score_interval(float(v.mean()), variance, (n, n), n - 1, (low, high), level))


@document
def delong(
    y: ArrayLike, score: ArrayLike, groups: ArrayLike | None = None, *, confidence_level: float = 0.95
) -> Interval:
    """Area under the ROC curve of one model on one test set, by DeLong's variance [1]_.

    Parameters
    ----------
    y : array-like of shape (N,)
        Labels of two classes; the greater one is the positive class.
    score : array-like of shape (N,)
        Score of each sample, higher for the positive class.
    groups : array-like of shape (N,) or None
        The group of each sample, if samples are not independent [2]_.
    {confidence_level}
    Returns: {interval}
    References: {delong1988, obuchowski1997}

    Examples: {outfold}
    >>> low, high = of.intervals.delong([0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.6, 0.3, 0.4, 0.7, 0.2, 0.8, 0.5])
    >>> print(f"{low:.2f} to {high:.2f}")
    0.35 to 1.15
    """
    level, s = check_confidence_level(confidence_level), several(score, "score")
    labels = np.asarray(y)
    if labels.shape != s.shape:
        raise invalid("score", "must have one entry for each label", f"got shapes {s.shape} and {labels.shape}")
    refuse_missing(labels, "y")
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) != 2:
        raise invalid("y", "must have two classes", f"got {len(classes)}")
    labelled = LabelledScores(s, codes == 1, None if groups is None else given_groups(groups, len(s)))
    return Interval(*kernels.around(*area_and_error(labelled), level))


class LabelledScores(NamedTuple):
    """The scores of each sample, one row for each repeat; whether it is positive, and its group where there are groups."""

    score: NDArray[np.float64]
    positive: NDArray[np.bool_]
    codes: NDArray[np.intp] | None


def _least_of_a_class(labelled: LabelledScores) -> int:
    """Samples of the rarer class, or groups that have one."""
    codes = np.arange(len(labelled.positive)) if labelled.codes is None else labelled.codes
    return min(len(np.unique(codes[side])) for side in (labelled.positive, ~labelled.positive))


# What the standard error of an area under the ROC curve needs.
AREA_NEEDS: Requirements[LabelledScores] = (
    Requirement(
        "two groups with each class at least",
        lambda labelled: labelled.codes is None or _least_of_a_class(labelled) > 1,
        "Draw groups by bootstrap instead.",
        lambda labelled: "one class has fewer",
        InputError,
    ),
    Requirement(
        "two classes with two samples at least",
        lambda labelled: _least_of_a_class(labelled) > 1,
        given=lambda labelled: f"got {int(np.sum(~labelled.positive))} and {int(np.sum(labelled.positive))}",
        raises=InputError,
    ),
)


def area_and_error(labelled: LabelledScores) -> tuple[float, float]:
    """The area under the ROC curve, a mean over repeats, and its standard error, with groups where there are codes."""
    check_requirements("delong", AREA_NEEDS, labelled)
    positive, codes = labelled.positive, labelled.codes
    placed = areas.placements(np.atleast_2d(labelled.score), positive)
    of_positives, of_negatives = (part.mean(axis=0, keepdims=True) for part in placed)
    if codes is None:
        variance = areas.area_variances(of_positives, of_negatives)
    else:
        variance = areas.clustered_variances(of_positives, of_negatives, (codes[positive], codes[~positive]))
    return float(of_positives.mean()), float(np.sqrt(variance[0]))
