"""Confidence intervals from plain numbers: counts, scores, draws.

| from | functions |
| --- | --- |
| right answers among n | `wilson`, `clopper_pearson`, `normal` |
| values of samples | `t`, `cluster_robust` where they come in groups, `bca` for any statistic of them |
| labels and scores | `delong`, the area under the ROC curve |
| scores of folds | `corrected_t`; `conservative_z` with scores on halves; `bbc_f` for the best of several configurations |
| values of nested cross-validation | `nested_cv_bates` |
| bootstrap draws | `percentile`, `bca_draws` |

For predictions, `Estimate.confidence_interval` takes the one that is valid for the plan and the metric. No end is cut to the
range of a metric: one beyond it says that the normal distribution is far off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import check_count, check_level, is_number
from .data.plan import group_codes
from .exceptions import InputError
from .results import Interval
from .stats import intervals as _kernels
from .stats import roc_curves as _areas
from .stats.paired import mean_variance
from .stats.resampling import Bootstrap

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
    "t",
    "wilson",
]

Statistic = Callable[[NDArray[Any]], float]


# ---------------------------------------------------------------------------------- counts


def normal(k: int, n: int, *, confidence_level: float = 0.95) -> Interval:
    """Share k / n plus and minus z sqrt(p (1 - p) / n): too narrow for few samples or shares near 0 or 1.

    Parameters
    ----------
    k, n
        How many of how many independent samples: right answers of a model on a test set, say.
    """
    level, (k, n) = check_level(confidence_level), _counts(k, n)
    p = k / n
    return Interval(*_kernels.around(p, float(np.sqrt(p * (1 - p) / n)), level))


def wilson(k: int, n: int, *, confidence_level: float = 0.95) -> Interval:
    """Shares that the score test does not refuse (Wilson 1927); the one to use for a share.

    Parameters
    ----------
    k, n
        As for `normal`.

    Examples
    --------
    >>> import outfold as of
    >>> low, high = of.intervals.wilson(92, 100)
    >>> f"{low:.4f} {high:.4f}"
    '0.8500 0.9589'
    """
    level, (k, n) = check_level(confidence_level), _counts(k, n)
    return Interval(*_kernels.wilson(k, n, level))


def clopper_pearson(k: int, n: int, *, confidence_level: float = 0.95) -> Interval:
    """Shares that neither exact binomial tail refuses (Clopper and Pearson 1934): never covers too rarely, and is wide.

    Parameters
    ----------
    k, n
        As for `normal`.
    """
    level, (k, n) = check_level(confidence_level), _counts(k, n)
    return Interval(*_kernels.clopper_pearson(k, n, level))


def _counts(k: Any, n: Any) -> tuple[int, int]:
    n, k = check_count(n, "n"), check_count(k, "k", 0)
    if k > n:
        raise InputError(f"k must be at most n, k of n samples; got k={k}, n={n}.")
    return k, n


# ---------------------------------------------------------------------------------- values of samples


def t(values: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Mean of independent values plus and minus t_{n-1} S / sqrt(n).

    Parameters
    ----------
    values
        One a sample of a test set: losses, say. Scores of folds are not independent; `corrected_t` is for them.
    """
    level, v = check_level(confidence_level), _several(values, "values")
    return Interval(*_kernels.around(v.mean(), float(v.std(ddof=1) / np.sqrt(len(v))), level, len(v) - 1))


def cluster_robust(values: ArrayLike, groups: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Mean of values that come in groups, of which only the groups are independent.

    The standard error is sqrt(G/(G-1) sum_g (sum_{i in g} (v_i - mean))^2) / n, with t of G - 1 degrees of freedom (Liang and
    Zeger 1986, for a mean). With one value a group it is `t`.

    Parameters
    ----------
    values
        One value for each sample.
    groups
        The group of every sample: patient, site, user.
    """
    level, v = check_level(confidence_level), _several(values, "values")
    codes = _groups(groups, len(v))
    return Interval(*_kernels.around(v.mean(), _kernels.cluster_error(v, codes), level, int(codes.max())))


def bca(
    values: ArrayLike,
    statistic: Statistic = np.mean,
    *,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> Interval:
    """Any statistic of independent values, by the bootstrap corrected for bias and acceleration (BCa; Efron 1987).

    Parameters
    ----------
    values
        One value for each sample, or one row for each sample.
    statistic
        Called with the values, or the rows, of every draw.
    n_resamples
        Number of draws.
    rng
        Seed of the draws.
    """
    level, v = check_level(confidence_level), np.asarray(values)
    if v.ndim < 1 or len(v) < 2:
        raise InputError(f"values must be those of two samples at least; got shape {v.shape}.")
    b, n = check_count(n_resamples, "n_resamples", _least_draws(level)), len(v)
    if not callable(statistic):
        raise InputError(f"statistic must be a function of the values, such as np.median; got {statistic!r}.")
    observed = _number_of(statistic, v)
    draws = [
        _number_of(statistic, v[np.repeat(np.arange(n), row)])
        for block in Bootstrap(n, check_count(rng, "rng", 0)).blocks(b)
        for row in block
    ]
    jackknife = [_number_of(statistic, np.delete(v, i, axis=0)) for i in range(n)]
    return bca_draws(draws, observed, jackknife, confidence_level=level)


def _number_of(statistic: Statistic, values: NDArray[Any]) -> float:
    found = statistic(values)
    if np.ndim(found) or not is_number(np.asarray(found).item()):
        raise InputError(
            f"statistic must give one finite number for all values, for every draw and without each value; got {found!r}. "
            "Leave out undefined values, or make the draws yourself and use bca_draws."
        )
    return float(found)


def bca_draws(draws: ArrayLike, observed: float, jackknife: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """The BCa interval from draws made elsewhere (Efron 1987).

    Parameters
    ----------
    draws
        The statistic on every bootstrap sample.
    observed
        The statistic on all samples.
    jackknife
        The statistic without each of the samples (or groups).
    """
    level = check_level(confidence_level)
    b, left = _several(draws, "draws"), _several(jackknife, "jackknife")
    if not is_number(observed):
        raise InputError(f"observed must be the statistic on all samples, a finite number; got {observed!r}.")
    return Interval(*_kernels.bca(b, float(observed), left, level))


def _least_draws(level: float) -> int:
    """Fewer have no quantile so far out."""
    return int(np.ceil(2 / (1 - level) - 1 - 1e-9))


def percentile(draws: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Equal-tailed quantiles of bootstrap draws, linearly interpolated.

    Of BBC's draws, this is the interval of the selected configuration.

    Parameters
    ----------
    draws
        The statistic on every bootstrap sample.
    """
    level = check_level(confidence_level)
    return Interval(*_kernels.percentile(_several(draws, "draws"), level))


# ---------------------------------------------------------------------------------- labels and scores


def delong(
    y: ArrayLike, score: ArrayLike, groups: ArrayLike | None = None, *, confidence_level: float = 0.95
) -> Interval:
    """Area under the ROC curve of one model on one test set (DeLong, DeLong and Clarke-Pearson 1988).

    Parameters
    ----------
    y
        Labels of two classes; the greater one is the positive class.
    score
        Higher for the positive class.
    groups
        The group of every sample, where samples are not independent (Obuchowski 1997).
    """
    level, s = check_level(confidence_level), _several(score, "score")
    labels = np.asarray(y)
    if labels.shape != s.shape:
        raise InputError(f"y and score must be as many; got shapes {labels.shape} and {s.shape}.")
    positive = _positive(labels)
    codes = None if groups is None else _groups(groups, len(s))
    return Interval(*_kernels.around(*area_and_error(s, positive, codes), level))


def area_and_error(
    score: NDArray[np.float64], positive: NDArray[np.bool_], codes: NDArray[np.intp] | None
) -> tuple[float, float]:
    """The area under the ROC curve and its standard error, with groups where there are codes."""
    of_positives, of_negatives = _areas.placements(score[None, :], positive)
    if codes is None:
        variance = _areas.area_variances(of_positives, of_negatives)
    else:
        sides = codes[positive], codes[~positive]
        if min(len(np.unique(side)) for side in sides) < 2:
            raise InputError("delong needs two groups with each class at least; bootstrap groups instead.")
        variance = _areas.clustered_variances(of_positives, of_negatives, sides)
    return float(of_positives.mean()), float(np.sqrt(variance[0]))


def _positive(labels: NDArray[Any]) -> NDArray[np.bool_]:
    _refuse_missing(labels, "y")
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(classes) != 2 or counts.min() < 2:
        have = ", ".join(f"{n} of {c}" for c, n in zip(classes.tolist()[:5], counts.tolist()[:5], strict=True))
        raise InputError(f"delong needs two classes with two samples at least; got {have}.")
    return np.asarray(codes == 1)


# ---------------------------------------------------------------------------------- scores of folds


def corrected_t(
    fold_scores: ArrayLike, n_train: ArrayLike, n_test: ArrayLike, *, confidence_level: float = 0.95
) -> Interval:
    """Mean over folds of one configuration's scores, allowing for what the training sets have in common.

    The variance is S^2 (1/J + n_test/n_train) with J - 1 degrees of freedom (Nadeau and Bengio 2003); for repeated K-fold see
    Bouckaert and Frank (2004). Where folds differ in size the mean of n_test/n_train counts.

    Parameters
    ----------
    fold_scores
        One value for each fold of every repeat.
    n_train, n_test
        Samples trained on and held out: one number, or one for each fold.
    """
    level, s = check_level(confidence_level), _several(fold_scores, "fold_scores")
    sizes = [_numbers(n_train, "n_train"), _numbers(n_test, "n_test")]
    if any(size.shape not in ((), s.shape) or not np.all((size >= 1) & np.isfinite(size)) for size in sizes):
        raise InputError(
            f"n_train and n_test must be numbers of samples from 1, one for all {len(s)} folds or one a fold; got "
            f"{n_train!r} and {n_test!r}."
        )
    ratio = float(np.mean(sizes[1] / sizes[0]))
    variance = float(mean_variance(s[None, :], ratio / (1 + ratio))[0])
    return Interval(*_kernels.around(s.mean(), float(np.sqrt(variance)), level, len(s) - 1))


def conservative_z(fold_scores: ArrayLike, halves: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Mean over random splits, with a variance from disjoint halves of the data, which is too large if anything.

    Nadeau and Bengio (2003), the second of their estimates: the data are cut at random into two halves, M times; on both the
    mean score over J random splits is taken, with as many test samples as on all data. The two share no sample, so
    sum_m (a_m - b_m)^2 / (2M) estimates the variance of such a mean without bias; that is larger than the variance on all data,
    for the training sets are smaller. Normal quantiles. It needs 2 M J fits on halves, which no plan of this package collects.

    Parameters
    ----------
    fold_scores
        Scores of the J random splits of all data.
    halves
        (M, 2) the mean score on the one and on the other half.
    """
    level = check_level(confidence_level)
    s = _several(fold_scores, "fold_scores", least=1)
    pairs = _numbers(halves, "halves")
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs) or not np.isfinite(pairs).all():
        raise InputError(f"halves must be finite means on two halves, shape (M, 2); got shape {pairs.shape}.")
    variance = float(np.mean((pairs[:, 0] - pairs[:, 1]) ** 2) / 2)
    return Interval(*_kernels.around(s.mean(), float(np.sqrt(variance)), level))


def bbc_f(
    fold_scores: ArrayLike,
    *,
    greater_is_better: bool = True,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> Interval:
    """The configuration with the best mean over folds, by drawing folds in place of samples (BBC-F; Paraschakis et al. 2024).

    Every draw takes K folds with replacement, selects the configuration with the best mean on the folds drawn, and takes its mean
    on those never drawn; a draw of all folds is drawn again. The interval is the percentiles of these means. Folds must share
    no sample: one repeat of a K-fold.

    Parameters
    ----------
    fold_scores
        (C, K) the score of every configuration in every fold.
    greater_is_better
        The direction of the best score.
    n_resamples, rng
        Number of draws, and their seed.
    """
    level, scores = check_level(confidence_level), _numbers(fold_scores, "fold_scores")
    if scores.ndim != 2 or not len(scores) or scores.shape[1] < 2 or not np.isfinite(scores).all():
        raise InputError(
            f"fold_scores must be finite, (configurations, folds), two folds at least; got {scores.shape}."
        )
    b = check_count(n_resamples, "n_resamples", 2)
    generator = np.random.default_rng(check_count(rng, "rng", 0))
    return Interval(*_kernels.percentile(_kernels.fold_draws(scores, greater_is_better, b, generator)[0], level))


# ---------------------------------------------------------------------------------- nested cross-validation


def nested_cv_bates(
    outer: ArrayLike, inner: ArrayLike, folds: ArrayLike, *, confidence_level: float = 0.95
) -> Interval:
    """Prediction error of one configuration, by the nested scheme of Bates, Hastie and Tibshirani (2023, Algorithm 1).

    Not the nested cross-validation that tunes: one configuration is fitted without every fold and without every pair of folds.
    For each outer fold, a = (mean e_in - mean e_out)^2 and b = var(e_out) / n_fold, with e_out the losses on that fold of
    the model trained on the others, and e_in those of the cross-validation within the others; (K-1)/K (mean a - mean b)
    estimates the mean squared error. Its root is kept between the naive standard error SE and sqrt(K) SE, for the difference may
    even be negative. The interval is centred at NCV - (1 + (K-2)/K) (NCV - CV), the error of a model trained on all samples,
    and so not quite at the mean of e_out. With few repeats the mean squared error is itself uncertain; the authors take 200.

    Parameters
    ----------
    outer
        (N,) or (N, R) the loss, or score, of every sample by the model trained without its fold.
    inner
        (N, K) or (N, R, K) that by the model trained without its fold and without fold k; not read where k is its own.
    folds
        (N,) or (N, R) the fold of every sample, 0 to K-1.
    """
    level = check_level(confidence_level)
    out, held, within = _numbers(outer, "outer"), _numbers(folds, "folds"), _numbers(inner, "inner")
    if out.ndim == 1:
        out, held, within = out[:, None], np.atleast_2d(held).T, within[:, None, :] if within.ndim == 2 else within
    k = within.shape[-1] if within.ndim == 3 else 0
    if out.ndim != 2 or held.shape != out.shape or within.shape != (*out.shape, k) or k < 3:
        raise InputError(
            "nested_cv_bates needs outer and folds of shape (N, R) and inner of shape (N, R, K), K at least 3; got "
            f"{np.shape(outer)}, {np.shape(folds)} and {np.shape(inner)}."
        )
    rows = held[..., None] == np.arange(k)
    if not np.all(rows.sum(axis=0) >= 2) or not np.all(rows.any(axis=-1)):
        raise InputError(f"folds must be 0 to {k - 1} in every repeat, two samples each at least.")
    if not np.isfinite(out).all() or not np.isfinite(within[~rows]).all():
        raise InputError("outer must be finite, and inner except where k is the sample's own fold.")
    return Interval(*_kernels.around(*_kernels.nested_cv(out, within, held.astype(np.intp)), level))


# ---------------------------------------------------------------------------------- what is given


def _numbers(values: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers: {error}.") from None


def _several(values: ArrayLike, name: str, least: int = 2) -> NDArray[np.float64]:
    given = _numbers(values, name)
    if given.ndim != 1 or len(given) < least:
        raise InputError(f"{name} must be a list of {least} numbers or more; got shape {given.shape}.")
    if not np.isfinite(given).all():
        raise InputError(f"{name} must be finite; leave out what is undefined.")
    return given


def _groups(groups: ArrayLike, n: int) -> NDArray[np.intp]:
    codes = group_codes(groups, n)
    _refuse_missing(np.asarray(groups), "groups")
    if codes.max() < 1:
        raise InputError("groups must be two at least; all samples belong to one.")
    return codes


def _refuse_missing(labels: NDArray[Any], name: str) -> None:
    missing = sum(label is None or label != label for label in labels.tolist())
    if missing:
        raise InputError(f"{name} must name every sample; {missing} of {len(labels)} are missing. Leave these out.")
