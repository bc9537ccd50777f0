"""Confidence intervals from plain numbers: counts, scores, draws.

| from | functions |
| --- | --- |
| right answers among n | `wilson`, `clopper_pearson`, `normal` |
| values of samples | `t`, `samples` for losses, `cluster_robust` for groups, `training` for folds, `bca` for any statistic |
| labels and scores | `delong`, the area under the ROC curve |
| scores of folds | `corrected_t`; `conservative_z` with scores on halves; `bbc_f` for the best of several configurations |
| values of nested cross-validation | `nested_cv_bates` |
| bootstrap draws | `percentile`, `bca_draws` |

For predictions, `Estimate.confidence_interval` takes the one that is valid for the plan and the metric. No end is cut to the
range of a metric: one beyond it says that the normal distribution is far off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import RngLike, as_seed, check_confidence_level, check_count, is_number
from .data.splitting import group_codes
from .docstrings import fill_with
from .exceptions import InputError, got, invalid
from .requirements import Requirement, Requirements, check_requirements
from .results import Interval
from .stats import intervals as _kernels
from .stats import rank_metrics as _areas
from .stats import training as _training
from .stats.paired import mean_variance
from .stats.resampling import BootstrapDraws

__all__ = [
    "bbc_f",
    "bca",
    "bca_draws",
    "clopper_pearson",
    "cluster_robust",
    "conservative_z",
    "corrected_t",
    "delong",
    "nested_cv_bates",
    "normal",
    "percentile",
    "samples",
    "t",
    "training",
    "wilson",
]

Statistic = Callable[[NDArray[Any]], float]

_document = fill_with(
    {
        "counts": (
            "k, n : int\n"
            "    Number of successes, and number of independent samples: the right answers of a model on a test set, say."
        ),
        "draws": "draws : array-like of shape (B,)\n    The statistic on each bootstrap sample.",
        "interval": "Interval\n    Its ends, ``low`` and ``high``.",
    }
)


@_document
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
    return Interval(*_kernels.around(p, float(np.sqrt(p * (1 - p) / n)), level))


@_document
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
    return Interval(*_kernels.wilson(k, n, level))


@_document
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
    return Interval(*_kernels.clopper_pearson(k, n, level))


def _counts(k: Any, n: Any) -> tuple[int, int]:
    n, k = check_count(n, "n"), check_count(k, "k", 0)
    if k > n:
        raise invalid("k", "must be at most n, k of n samples", f"got k={k}, n={n}")
    return k, n


@_document
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
    level, v = check_confidence_level(confidence_level), _several(values, "values")
    return Interval(*_kernels.around(v.mean(), float(v.std(ddof=1) / np.sqrt(len(v))), level, len(v) - 1))


@_document
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
    level, v = check_confidence_level(confidence_level), _several(values, "values")
    codes = _groups(groups, len(v))
    return Interval(*_kernels.around(v.mean(), _kernels.cluster_error(v, codes), level, int(codes.max())))


@_document
def bca(
    values: ArrayLike,
    statistic: Statistic = np.mean,
    *,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Interval:
    """Any statistic of independent values, by the bootstrap corrected for bias and acceleration (BCa).

    Parameters
    ----------
    values : array-like of shape (N,) or (N, ...)
        One value or one row for each sample.
    statistic : callable
        Called with the values, or the rows, of each draw.
    {n_resamples, confidence_level, rng}
    Returns: {interval}
    References: {efron1987}

    Examples: {numpy_outfold}
    >>> low, high = of.intervals.bca([0.2, 0.5, 0.1, 0.4, 0.3, 0.9, 0.2], np.median, n_resamples=999)
    >>> print(f"{low:.1f} to {high:.1f}")
    0.2 to 0.5
    """
    level, v = check_confidence_level(confidence_level), np.asarray(values)
    if v.ndim < 1 or len(v) < 2:
        raise invalid("values", "must be those of two samples at least", f"got shape {v.shape}")
    least = int(np.ceil(2 / (1 - level) - 1 - 1e-9))  # fewer have no quantile so far out
    b, n = check_count(n_resamples, "n_resamples", least), len(v)
    if not callable(statistic):
        raise invalid("statistic", "must be a function of the values, such as np.median", got(statistic))
    observed = _number_of(statistic, v)
    draws = [
        _number_of(statistic, v[np.repeat(np.arange(n), row)])
        for block in BootstrapDraws(n, as_seed(rng)).blocks(b)
        for row in block
    ]
    jackknife = [_number_of(statistic, np.delete(v, i, axis=0)) for i in range(n)]
    return bca_draws(draws, observed, jackknife, confidence_level=level)


def _number_of(statistic: Statistic, values: NDArray[Any]) -> float:
    found = statistic(values)
    if np.ndim(found) or not is_number(np.asarray(found).item()):
        needed = "must give one finite number for all values, for every draw and without each value"
        remedy = "Leave out undefined values, or make the draws yourself and use `bca_draws`."
        raise invalid("statistic", needed, got(found), remedy)
    return float(found)


@_document
def bca_draws(draws: ArrayLike, observed: float, jackknife: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """The BCa interval from draws that you made yourself.

    Parameters: {draws}
    observed : float
        The statistic on all samples.
    jackknife : array-like of shape (N,)
        The statistic without each of the samples (or groups).
    {confidence_level}
    Returns: {interval}
    References: {efron1987}

    Examples: {numpy_outfold}
    >>> values = np.arange(20.0)
    >>> drawn = np.random.default_rng(0).choice(values, (999, 20)).mean(axis=1)
    >>> left = [np.delete(values, i).mean() for i in range(20)]
    >>> low, high = of.intervals.bca_draws(drawn, values.mean(), left)
    >>> print(f"{low:.1f} to {high:.1f}")
    7.0 to 11.9
    """
    level = check_confidence_level(confidence_level)
    b, left = _several(draws, "draws"), _several(jackknife, "jackknife")
    if not is_number(observed):
        raise invalid("observed", "must be the statistic on all samples, a finite number", got(observed))
    return Interval(*_kernels.bca(b, float(observed), left, level))


@_document
def percentile(draws: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Equal-tailed quantiles of bootstrap draws, linearly interpolated.

    On the draws of `estimate.bbc` it is the interval of the selected configuration.

    Parameters: {draws, confidence_level}
    Returns: {interval}

    Examples: {numpy_outfold}
    >>> low, high = of.intervals.percentile(np.linspace(0.6, 0.8, 201))
    >>> print(f"{low:.3f} to {high:.3f}")
    0.605 to 0.795
    """
    level = check_confidence_level(confidence_level)
    return Interval(*_kernels.percentile(_several(draws, "draws"), level))


@_document
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
    level, s = check_confidence_level(confidence_level), _several(score, "score")
    labels = np.asarray(y)
    if labels.shape != s.shape:
        raise invalid("score", "must have one entry for each label", f"got shapes {s.shape} and {labels.shape}")
    _refuse_missing(labels, "y")
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) != 2:
        raise invalid("y", "must have two classes", f"got {len(classes)}")
    labelled = LabelledScores(s, codes == 1, None if groups is None else _groups(groups, len(s)))
    return Interval(*_kernels.around(*area_and_error(labelled), level))


class LabelledScores(NamedTuple):
    """The score of each sample, whether it is positive, and its group where there are groups."""

    score: NDArray[np.float64]
    positive: NDArray[np.bool_]
    codes: NDArray[np.intp] | None


def _least_of_a_class(labelled: LabelledScores) -> int:
    """Samples of the rarer class, or groups that have one."""
    codes = np.arange(len(labelled.score)) if labelled.codes is None else labelled.codes
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
    """The area under the ROC curve and its standard error, with groups where there are codes."""
    check_requirements("delong", AREA_NEEDS, labelled)
    positive, codes = labelled.positive, labelled.codes
    of_positives, of_negatives = _areas.placements(labelled.score[None, :], positive)
    if codes is None:
        variance = _areas.area_variances(of_positives, of_negatives)
    else:
        variance = _areas.clustered_variances(of_positives, of_negatives, (codes[positive], codes[~positive]))
    return float(of_positives.mean()), float(np.sqrt(variance[0]))


@_document
def corrected_t(
    fold_scores: ArrayLike, n_train: ArrayLike, n_test: ArrayLike, *, confidence_level: float = 0.95
) -> Interval:
    """Mean over folds of one configuration's scores, corrected for the overlap of the training sets.

    The variance is S^2 (1/J + n_test/n_train) with J - 1 degrees of freedom [1]_; see [2]_ for repeated K-fold. If folds
    differ in size, the mean of n_test/n_train counts.

    Parameters
    ----------
    fold_scores : array-like of shape (J,)
        The score of each fold of each repeat.
    n_train, n_test : int or array-like of shape (J,)
        Number of samples trained on and held out: one number for all folds, or one for each.
    {confidence_level}
    Returns: {interval}
    References: {nadeau2003, bouckaert2004}

    Examples: {outfold}
    >>> low, high = of.intervals.corrected_t([0.81, 0.78, 0.84, 0.80, 0.79], n_train=80, n_test=20)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.761 to 0.847
    """
    level, s = check_confidence_level(confidence_level), _several(fold_scores, "fold_scores")
    sizes = [_numbers(n_train, "n_train"), _numbers(n_test, "n_test")]
    if any(size.shape not in ((), s.shape) or not np.all((size >= 1) & np.isfinite(size)) for size in sizes):
        needed = f"`n_train` and `n_test` must be numbers of samples from 1, one for all {len(s)} folds or one for each"
        raise InputError(needed=needed, given=f"got {n_train!r} and {n_test!r}")
    ratio = float(np.mean(sizes[1] / sizes[0]))
    variance = float(mean_variance(s[None, :], ratio / (1 + ratio))[0])
    return Interval(*_kernels.around(s.mean(), float(np.sqrt(variance)), level, len(s) - 1))


@_document
def training(
    values: ArrayLike,
    folds: ArrayLike,
    *,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    confidence_level: float = 0.95,
) -> Interval:
    """Mean of cross-validated values of samples, with chance in the samples and in the training sets.

    The variance is [var_i(mean_r v_ir) + theta T] / N, that of `compare.t_training`, for values instead of differences. Between
    two bounds the interval is Wilson's for as many answers as vary as much; with a lower bound only, such as that of a squared
    error, it is one of the log. theta is 1 for right or wrong, 3/2 for other bounded values and 2 for the rest: calibrated, not
    derived, since one data set does not show the variance of training [1]_.

    Parameters
    ----------
    values : array-like of shape (N,) or (N, R)
        The value of each sample in each repeat, such as its loss or whether it is right.
    folds : array-like of int, shaped as values
        The fold that held the sample out.
    bounds : tuple of float
        The range of the values; infinite where there is none. Values that are 0 or 1 have the bounds 0 and 1.
    {confidence_level}
    Returns: {interval}
    References: {bengio2004}

    Examples: {outfold}
    >>> low, high = of.intervals.training([1, 1, 0, 1, 1, 1, 0, 1, 1, 1], [0, 1, 2, 3, 4, 0, 1, 2, 3, 4])
    >>> print(f"{low:.3f} to {high:.3f}")
    0.360 to 0.966
    """
    level = check_confidence_level(confidence_level)
    v, k = np.asarray(values, dtype=np.float64), np.asarray(folds)
    if v.ndim not in (1, 2) or v.shape != k.shape or len(v) < 3 or not np.isfinite(v).all():
        needed = "must be numbers, one for each of three samples or more (and repeat), and `folds` shaped alike"
        raise invalid("values", needed, f"got shapes {v.shape} and {k.shape}")
    v, k = v.reshape(len(v), -1).T, np.unique(k, return_inverse=True)[1].reshape(len(v), -1).T
    n, n_folds = v.shape[1], int(k.max()) + 1
    if n_folds < 2 or n_folds > n / 2:
        needed, remedy = "must be two or more, each of two samples or more", "Use `t` or `wilson` for single samples."
        raise invalid("folds", needed, f"got {n_folds} folds of {n} samples", remedy)
    zero_one = bool(np.isin(v, (0.0, 1.0)).all())
    low, high = (0.0, 1.0) if zero_one else bounds
    bounded = _training.ZERO_ONE if zero_one else _training.OTHER_LOSS
    allowance = bounded if np.isfinite([low, high]).all() else _training.UNBOUNDED
    parts = _training.variance_parts(v[None], k)
    design = _training.Design.of_splits(n, 1 / n_folds)
    variance = float(_training.variance_of_mean(parts, design, allowance)[0])
    return Interval(*_training.score_interval(float(v.mean()), variance, (n, n), n - 1, (low, high), level))


@_document
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
    tails = _training.TAILS if np.isfinite([low, high]).sum() == 1 else 1.0
    n, variance = len(v), tails * float(v.var(ddof=1)) / len(v)
    return Interval(*_training.score_interval(float(v.mean()), variance, (n, n), n - 1, (low, high), level))


@_document
def conservative_z(fold_scores: ArrayLike, halves: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Mean over random splits, with a variance from disjoint halves of the data that is, if anything, too large.

    It is the second estimate of [1]_. Cut the data at random into two halves, M times. On each half, take the mean score over
    J random splits, with as many test samples as on all data. The two halves share no sample, so sum_m (a_m - b_m)^2 / (2M)
    estimates the variance of such a mean without bias. This variance is larger than that on all data, because the training
    sets are smaller. The interval takes normal quantiles. It needs 2 M J fits on halves, which no plan of this package
    collects.

    Parameters
    ----------
    fold_scores : array-like of shape (J,)
        Scores of the J random splits of all data.
    halves : array-like of shape (M, 2)
        The mean score on the one and on the other half.
    {confidence_level}
    Returns: {interval}
    References: {nadeau2003}

    Examples: {outfold}
    >>> low, high = of.intervals.conservative_z([0.81, 0.78, 0.84, 0.80], [[0.79, 0.75], [0.74, 0.78], [0.77, 0.80]])
    >>> print(f"{low:.3f} to {high:.3f}")
    0.756 to 0.859
    """
    level = check_confidence_level(confidence_level)
    s = _several(fold_scores, "fold_scores", least=1)
    pairs = _numbers(halves, "halves")
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs) or not np.isfinite(pairs).all():
        raise invalid("halves", "must be finite means on two halves, shape (M, 2)", f"got shape {pairs.shape}")
    variance = float(np.mean((pairs[:, 0] - pairs[:, 1]) ** 2) / 2)
    return Interval(*_kernels.around(s.mean(), float(np.sqrt(variance)), level))


@_document
def bbc_f(
    fold_scores: ArrayLike,
    *,
    greater_is_better: bool = True,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Interval:
    """The configuration with the best mean over folds, by drawing folds instead of samples (BBC-F).

    Each draw takes K folds with replacement, selects the configuration with the best mean on the drawn folds, and takes its
    mean on the folds it did not draw. A draw of all folds is drawn again. The interval is the quantiles of these means. Folds
    must share no sample: use one repeat of a K-fold.

    Parameters
    ----------
    fold_scores : array-like of shape (C, K)
        The score of each configuration in each fold.
    greater_is_better : bool
        Direction of the scores.
    {n_resamples, confidence_level, rng}
    Returns: {interval}
    References: {paraschakis2024}

    Examples: {outfold}
    >>> low, high = of.intervals.bbc_f([[0.8, 0.7, 0.9, 0.8, 0.7], [0.7, 0.8, 0.8, 0.6, 0.7]])
    >>> print(f"{low:.2f} to {high:.2f}")
    0.65 to 0.90
    """
    level, scores = check_confidence_level(confidence_level), _numbers(fold_scores, "fold_scores")
    if scores.ndim != 2 or not len(scores) or scores.shape[1] < 2 or not np.isfinite(scores).all():
        needed = "must be finite, (configurations, folds), two folds at least"
        raise invalid("fold_scores", needed, f"got {scores.shape}")
    b = check_count(n_resamples, "n_resamples", 2)
    generator = np.random.default_rng(as_seed(rng))
    return Interval(*_kernels.percentile(_kernels.fold_draws(scores, greater_is_better, b, generator)[0], level))


@_document
def nested_cv_bates(
    outer: ArrayLike, inner: ArrayLike, folds: ArrayLike, *, confidence_level: float = 0.95
) -> Interval:
    """Prediction error of one configuration, by the nested scheme of Bates, Hastie and Tibshirani (Algorithm 1 of [1]_).

    This is not the nested cross-validation that tunes: one configuration is fitted without each fold and without each pair of
    folds. For each outer fold, e_out are the losses on that fold of the model trained on the others, and e_in those of the
    cross-validation within the others. With a = (mean e_in - mean e_out)^2 and b = var(e_out) / n_fold, (K-1)/K (mean a -
    mean b) estimates the mean squared error. This difference may even be negative, so its root is kept between the naive
    standard error SE and sqrt(K) SE. The centre of the interval is NCV - (1 + (K-2)/K) (NCV - CV), the error of a model
    trained on all samples, and so not quite the mean of e_out. With few repeats the mean squared error is itself uncertain;
    the authors take 200.

    Parameters
    ----------
    outer : array-like of shape (N,) or (N, R)
        The loss, or score, of each sample by the model trained without its fold.
    inner : array-like of shape (N, K) or (N, R, K)
        The same by the model trained without the sample's fold and without fold k; not read if k is the sample's fold.
    folds : array-like of shape (N,) or (N, R)
        The fold of each sample, 0 to K-1.
    {confidence_level}
    Returns: {interval}
    References: {bates2023}

    Examples: {numpy_outfold}
    >>> rng = np.random.default_rng(0)
    >>> folds = np.arange(30) % 3
    >>> outer = rng.random(30)
    >>> inner = outer[:, None] + rng.normal(0, 0.1, (30, 3))
    >>> low, high = of.intervals.nested_cv_bates(outer, inner, folds)
    >>> print(f"{low:.2f} to {high:.2f}")
    0.41 to 0.65
    """
    level = check_confidence_level(confidence_level)
    out, held, within = _numbers(outer, "outer"), _numbers(folds, "folds"), _numbers(inner, "inner")
    if out.ndim == 1:
        out, held, within = out[:, None], np.atleast_2d(held).T, within[:, None, :] if within.ndim == 2 else within
    k = within.shape[-1] if within.ndim == 3 else 0
    if out.ndim != 2 or held.shape != out.shape or within.shape != (*out.shape, k) or k < 3:
        needed = "needs `outer` and `folds` of shape (N, R) and `inner` of shape (N, R, K), K at least 3"
        raise invalid("nested_cv_bates", needed, f"got {np.shape(outer)}, {np.shape(folds)} and {np.shape(inner)}")
    rows = held[..., None] == np.arange(k)
    if not np.all(rows.sum(axis=0) >= 2) or not np.all(rows.any(axis=-1)):
        raise invalid("folds", f"must be 0 to {k - 1} in every repeat, two samples each at least")
    if not np.isfinite(out).all() or not np.isfinite(within[~rows]).all():
        raise InputError(needed="`outer` must be finite, and so must `inner`, except where k is the fold of the sample")
    return Interval(*_kernels.around(*_kernels.nested_cv(out, within, held.astype(np.intp)), level))


def _numbers(values: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise invalid(name, "must be numbers", str(error)) from None


def _several(values: ArrayLike, name: str, least: int = 2) -> NDArray[np.float64]:
    given = _numbers(values, name)
    if given.ndim != 1 or len(given) < least:
        raise invalid(name, f"must be a list of {least} numbers or more", f"got shape {given.shape}")
    if not np.isfinite(given).all():
        raise invalid(name, "must be finite", remedy="Leave out what is undefined.")
    return given


def _groups(groups: ArrayLike, n: int) -> NDArray[np.intp]:
    codes = group_codes(groups, n)
    _refuse_missing(np.asarray(groups), "groups")
    if codes.max() < 1:
        raise invalid("groups", "must be two at least", "all samples belong to one")
    return codes


def _refuse_missing(labels: NDArray[Any], name: str) -> None:
    missing = sum(label is None or label != label for label in labels.tolist())
    if missing:
        raise invalid(name, "must name every sample", f"{missing} of {len(labels)} are missing", "Leave these out.")
