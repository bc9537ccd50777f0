"""Intervals of scores of folds, with chance in the training sets or in the selection."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import RngLike, as_seed, check_confidence_level, check_count, check_from_zero
from ..exceptions import InputError, invalid
from ..results import Interval
from ..stats import intervals as kernels
from ..stats import training as of_training
from ..stats.paired import balanced_df, balanced_variance, mean_variance
from ._inputs import document, numbers, several


@document
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
    level, s = check_confidence_level(confidence_level), several(fold_scores, "fold_scores")
    sizes = [numbers(n_train, "n_train"), numbers(n_test, "n_test")]
    if any(size.shape not in ((), s.shape) or not np.all((size >= 1) & np.isfinite(size)) for size in sizes):
        needed = f"`n_train` and `n_test` must be numbers of samples from 1, one for all {len(s)} folds or one for each"
        raise InputError(needed=needed, given=f"got {n_train!r} and {n_test!r}")
    ratio = float(np.mean(sizes[1] / sizes[0]))
    variance = float(mean_variance(s[None, :], ratio / (1 + ratio))[0])
    return Interval(*kernels.around(s.mean(), float(np.sqrt(variance)), level, len(s) - 1))


@document
def blocked_t(
    fold_scores: ArrayLike, *, variance_weight: float | None = None, confidence_level: float = 0.95
) -> Interval:
    """Mean of one configuration's scores over a balanced m x 2 cross-validation, such as the blocked 3x2.

    The variance is sum_i s_i^2 / (2m) + weight S_between^2 with 2m - 1 degrees of freedom: s_i^2 are the squares of the two
    halves of repeat i around their mean, and S_between^2 is the variance of the m means [1]_. It is the interval of
    `compare.t_blocked_mx2`, for scores instead of differences. What it aims at is the score of models trained on half the
    samples.

    Parameters
    ----------
    fold_scores : array-like of shape (m, 2)
        The scores of the two halves of each repeat.
    variance_weight : float or None
        Weight of the variance between repeats: (m-1)/m where None, the paper's AL; 0 is its L, with m degrees of freedom;
        (m+1)/m is wider.
    {confidence_level}
    Returns: {interval}
    References: {wang2014}

    Examples: {outfold}
    >>> low, high = of.intervals.blocked_t([[0.81, 0.78], [0.84, 0.80], [0.79, 0.80]])
    >>> print(f"{low:.3f} to {high:.3f}")
    0.755 to 0.852
    """
    level, s = check_confidence_level(confidence_level), numbers(fold_scores, "fold_scores")
    if s.ndim != 2 or s.shape[1] != 2 or len(s) < 2 or not np.isfinite(s).all():
        given = f"got shape {s.shape}" + ("" if np.isfinite(s).all() else " with values that are not finite")
        raise invalid("fold_scores", "must be finite, of shape (m, 2), two repeats m or more", given)
    m = len(s)
    weight = (m - 1) / m if variance_weight is None else check_from_zero(variance_weight, "variance_weight")
    variance = float(balanced_variance(s[None], weight)[0])
    return Interval(*kernels.around(s.mean(), float(np.sqrt(variance)), level, balanced_df(weight, m)))


@document
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
    bounded = of_training.ZERO_ONE if zero_one else of_training.OTHER_LOSS
    allowance = bounded if np.isfinite([low, high]).all() else of_training.UNBOUNDED
    parts = of_training.variance_parts(v[None], k)
    design = of_training.Design.of_splits(n, 1 / n_folds)
    variance = float(of_training.variance_of_mean(parts, design, allowance)[0])
    return Interval(*of_training.score_interval(float(v.mean()), variance, (n, n), n - 1, (low, high), level))


@document
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
    s = several(fold_scores, "fold_scores", least=1)
    pairs = numbers(halves, "halves")
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs) or not np.isfinite(pairs).all():
        raise invalid("halves", "must be finite means on two halves, shape (M, 2)", f"got shape {pairs.shape}")
    variance = float(np.mean((pairs[:, 0] - pairs[:, 1]) ** 2) / 2)
    return Interval(*kernels.around(s.mean(), float(np.sqrt(variance)), level))


@document
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
    level, scores = check_confidence_level(confidence_level), numbers(fold_scores, "fold_scores")
    if scores.ndim != 2 or not len(scores) or scores.shape[1] < 2 or not np.isfinite(scores).all():
        needed = "must be finite, (configurations, folds), two folds at least"
        raise invalid("fold_scores", needed, f"got {scores.shape}")
    b = check_count(n_resamples, "n_resamples", 2)
    generator = np.random.default_rng(as_seed(rng))
    return Interval(*kernels.percentile(kernels.fold_draws(scores, greater_is_better, b, generator)[0], level))


@document
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
    out, held, within = numbers(outer, "outer"), numbers(folds, "folds"), numbers(inner, "inner")
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
    return Interval(*kernels.around(*kernels.nested_cv(out, within, held.astype(np.intp)), level))
