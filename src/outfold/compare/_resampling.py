"""Is A better than B, from its scores on many splits of the same samples?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.notes import Note
from ..exceptions import InputError, got
from ..metrics import MetricLike
from ..requirements import Compared, Requirement, splits
from ..results import Comparison, PairArrays
from ..stats.paired import balanced_variance, combined_f, mean_variance, posterior, student, within_halves
from ._compared import ComparedConfigs, Source
from ._pair_test import AlternativeLike, Findings, Hypothesis, PairTest, compare_pair, public
from ._splits import ALL_DEFINED, PARTITIONS, RANDOM, SplitDifferences

_LIBERAL = Note("OF302", "this test treats the splits as independent and finds differences too often; use t_corrected.")
_OVERLAP = Note("OF305", "test sets of different splits share samples, which this test does not account for.")

_HOLDOUT = splits(
    "two or more random splits (repeated hold-out)",
    "Collect with `Plan.repeated_holdout()`, or use `t_corrected`.",
    ("holdout",),
)
_KFOLD = splits(
    "one K-fold cross-validation", "Collect with `Plan(folds=10)`, or use `t_corrected`.", PARTITIONS, n_repeats=1
)
_ANY_SPLITS = splits(
    "K-fold cross-validation, repeated or not, or repeated hold-out",
    "Collect with `Plan(folds=10, repeats=3)` or `Plan.repeated_holdout()`.",
    RANDOM,
)
_FIVE_BY_TWO = splits(
    "5 repeats of 2 folds",
    "Collect with `Plan.five_by_two()`, or use `t_corrected`.",
    PARTITIONS,
    n_repeats=5,
    n_folds=2,
)
_BALANCED = splits(
    "two folds, repeated so that the halves of any two repeats share a quarter of the samples",
    "Collect with `Plan.blocked(3)` or `Plan.blocked(7)`, or use `t_corrected`.",
    ("balanced",),
    n_folds=2,
)
_BLOCKED = splits(
    "3 balanced repeats of 2 folds (blocked 3 x 2)",
    "Collect with `Plan.blocked(3)`, or use `t_corrected`.",
    ("balanced",),
    n_repeats=3,
    n_folds=2,
)


# -- one mean of correlated differences --------------------------------------------------------------------


def _t_of_mean(
    differences: SplitDifferences,
    hypothesis: Hypothesis,
    rho: float,
    notes: tuple[Note, ...] = (),
    description: str = "",
) -> Findings:
    d = differences
    df = d.n_splits - 1
    tested = student(d.mean, mean_variance(d.d, rho), df, hypothesis.confidence_level, d.floor)
    return Findings(d.arrays(hypothesis, tested, (df,)), d.scores, (*notes, *d.notes()), description or None)


def _t_resampled(compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis) -> Findings:
    return _t_of_mean(SplitDifferences("t_resampled", compared, pairs), hypothesis, 0.0, (_LIBERAL, _OVERLAP))


def _t_kfold(compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis) -> Findings:
    return _t_of_mean(SplitDifferences("t_kfold", compared, pairs), hypothesis, 0.0, (_LIBERAL,))


def _t_corrected(compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis) -> Findings:
    d = SplitDifferences("t_corrected", compared, pairs)
    ratio = float(d.ratios.mean())
    which = "" if np.ptp(d.ratios) < 1e-9 else ", the mean of unequal splits"
    return _t_of_mean(
        d, hypothesis, ratio / (1 + ratio), (), f"{T_CORRECTED.description}, n_test/n_train {ratio:.4g}{which}"
    )


def _t_corrected_kfold(
    compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis, rho: float = 0.5
) -> Findings:
    d = SplitDifferences("t_corrected_kfold", compared, pairs)
    rho = _check_correlation(rho)
    return _t_of_mean(d, hypothesis, rho, (), f"{T_CORRECTED_KFOLD.description}, correlation {rho:g}")


def _check_correlation(rho: Any) -> float:
    """A correlation from 0 to below 1."""
    if not isinstance(rho, (int, float, np.number)) or not 0 <= rho < 1:
        needed = "must be a correlation of the splits, from 0 to below 1"
        raise InputError(argument="rho", needed=needed, given=got(rho))
    return float(rho)


# -- repeats of two halves -----------------------------------------------------------------------------------


def _t_5x2cv(compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis) -> Findings:
    d = SplitDifferences("t_5x2cv", compared, pairs)
    first, repeats = d.d[:, 0], d.halves.shape[1]
    variance = within_halves(d.halves) / repeats
    tested = student(first, variance, repeats, hypothesis.confidence_level, d.floor)
    against = np.flatnonzero((first * d.mean < 0) & (np.minimum(abs(first), abs(d.mean)) > d.floor))
    note = Note("OF311", "the first difference, which is tested, and the mean of all point in opposite directions.")
    arrays = d.arrays(
        hypothesis,
        tested,
        (repeats,),
        notes={int(i): (*d.flat_notes(np.isnan(tested.statistic)).get(int(i), ()), note) for i in against},
    )
    # What is smaller than rounding points nowhere.
    pointing = np.where(np.abs(first) > d.floor, first, 0.0)
    return Findings(replace(arrays, tested=pointing), d.scores, d.notes())


def _f_5x2cv(compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis) -> Findings:
    d = SplitDifferences("f_5x2cv", compared, pairs)
    tested = combined_f(d.halves, hypothesis.confidence_level, d.floor)
    return Findings(d.arrays(hypothesis, tested, (10, 5), directed=False), d.scores, d.notes())


def _t_blocked(
    differences: SplitDifferences, hypothesis: Hypothesis, variance_weight: float | None, description: str
) -> Findings:
    d = differences
    m = d.halves.shape[1]
    weight = (m - 1) / m if variance_weight is None else variance_weight
    if not isinstance(weight, (int, float, np.number)) or not 0 <= weight < np.inf:
        raise InputError(argument="variance_weight", needed="must be a number from 0 on", given=got(variance_weight))
    # Without the part between repeats only the m differences of halves are left to know a variance by.
    df = 2 * m - 1 if weight > 0 else m
    variance = balanced_variance(d.halves, float(weight))
    tested = student(d.mean, variance, df, hypothesis.confidence_level, d.floor)
    return Findings(d.arrays(hypothesis, tested, (df,)), d.scores, d.notes(), f"{description}, weight {weight:.3g}")


def _t_blocked_3x2(
    compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis, variance_weight: float = 2 / 3
) -> Findings:
    d = SplitDifferences("t_blocked_3x2", compared, pairs)
    return _t_blocked(d, hypothesis, variance_weight, T_BLOCKED_3X2.description)


def _t_blocked_mx2(
    compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis, variance_weight: float | None = None
) -> Findings:
    d = SplitDifferences("t_blocked_mx2", compared, pairs)
    return _t_blocked(d, hypothesis, variance_weight, T_BLOCKED_MX2.description)


# -- posterior probabilities ---------------------------------------------------------------------------------


def _t_bayes(
    compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis, rho: float | None = None
) -> Findings:
    d = SplitDifferences("t_bayes", compared, pairs)
    ratio = float(d.ratios.mean())
    rho = ratio / (1 + ratio) if rho is None else _check_correlation(rho)
    variance, df, rope = mean_variance(d.d, rho), d.n_splits - 1, hypothesis.rope or 0.0
    credible = student(d.mean, variance, df, hypothesis.confidence_level, d.floor).interval
    # The kernel knows greater and smaller; which of them is better depends on the metric.
    mass = posterior(compared.sign * d.mean, variance, df, rope, d.floor)
    arrays = PairArrays(
        difference=d.mean,
        df=(df,),
        interval=credible,
        standardised=d.standardised,
        wins=d.wins,
        unit=d.unit,
        probabilities=mass,
        notes=d.flat_notes(np.isnan(credible[:, 0])),
    )
    text = f"{T_BAYES.description}, correlation {rho:.4g}, rope {rope:g}; the interval is a credible one"
    return Findings(arrays, d.scores, d.notes(), text)


# -- the tests, declared -------------------------------------------------------------------------------------


def _declared(
    name: str,
    description: str,
    reference: str,
    statistic: str,
    design: Requirement[Compared],
    compute: Any,
    **more: Any,
) -> PairTest:
    """A test on the scores of folds; one that compares halves needs all of them."""
    whole = design in (_FIVE_BY_TWO, _BLOCKED, _BALANCED)
    requirements = (design, ALL_DEFINED) if whole else (design,)
    return PairTest(name, description, reference, statistic, requirements, compute, by_folds=True, **more)


T_RESAMPLED = _declared("t_resampled", "resampled paired t test", "Dietterich 1998", "t", _HOLDOUT, _t_resampled)
T_KFOLD = _declared("t_kfold", "K-fold paired t test", "Dietterich 1998", "t", _KFOLD, _t_kfold)
T_CORRECTED = _declared(
    "t_corrected", "corrected resampled t test", "Nadeau & Bengio 2003", "t", _ANY_SPLITS, _t_corrected
)
T_CORRECTED_KFOLD = _declared(
    "t_corrected_kfold", "corrected K-fold t test", "Grandvalet & Bengio 2006", "t", _KFOLD, _t_corrected_kfold
)
T_5X2CV = _declared(
    "t_5x2cv",
    "5x2cv paired t test; statistic and interval belong to the first of the ten differences, f_5x2cv uses all",
    "Dietterich 1998",
    "t",
    _FIVE_BY_TWO,
    _t_5x2cv,
)
F_5X2CV = _declared("f_5x2cv", "combined 5x2cv F test", "Alpaydin 1999", "F", _FIVE_BY_TWO, _f_5x2cv, directed=False)
T_BLOCKED_3X2 = _declared("t_blocked_3x2", "blocked 3x2 t test", "Wang et al. 2014", "t", _BLOCKED, _t_blocked_3x2)
T_BLOCKED_MX2 = _declared(
    "t_blocked_mx2", "balanced m x 2 t test", "after Wang et al. 2014", "t", _BALANCED, _t_blocked_mx2
)
T_BAYES = _declared("t_bayes", "Bayesian correlated t test", "Benavoli et al. 2017", "t", _ANY_SPLITS, _t_bayes)


# -- the functions -------------------------------------------------------------------------------------------


@public(T_RESAMPLED)
def t_resampled(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    alternative: AlternativeLike = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Mean difference over random splits, by the plain paired t test; liberal, for comparison with the literature.

    t = dbar sqrt(J) / S with J - 1 degrees of freedom, as if the J splits were independent [1]_. They share samples, so
    the test finds differences too often. Use `t_corrected` instead.

    {needs}

    Parameters
    ----------
    {source, metric, pair, alternative, confidence_level, rope}

    Returns
    -------
    {comparison}

    References
    ----------
    .. [1] Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised classification learning
       algorithms. Neural Computation 10, 1895-1923.

    Examples
    --------
    >>> import outfold as of
    >>> scores = of.from_scores({"a": [0.82, 0.79, 0.85], "b": [0.80, 0.80, 0.81]}, n_train=70, n_test=30, design="holdout")
    >>> of.compare.t_resampled(scores, None, "a", "b")
    <Comparison t_resampled a - b: score +0.0167, p = 0.3701>
    """
    return compare_pair(T_RESAMPLED, source, metric, a, b, Hypothesis(alternative, confidence_level, rope))


@public(T_KFOLD)
def t_kfold(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    alternative: AlternativeLike = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Mean difference over the folds of one K-fold, by the plain paired t test; liberal.

    t = dbar sqrt(K) / S with K - 1 degrees of freedom [1]_. The training sets share samples, so the test finds differences
    too often. Use `t_corrected` instead.

    {needs}

    Parameters
    ----------
    {source, metric, pair, alternative, confidence_level, rope}

    Returns
    -------
    {comparison}

    References
    ----------
    .. [1] Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised classification learning
       algorithms. Neural Computation 10, 1895-1923.

    Examples
    --------
    >>> import outfold as of
    >>> scores = of.from_scores({"a": [0.82, 0.79, 0.85], "b": [0.80, 0.80, 0.81]}, n_train=60, n_test=30)
    >>> of.compare.t_kfold(scores, None, "a", "b")
    <Comparison t_kfold a - b: score +0.0167, p = 0.3701>
    """
    return compare_pair(T_KFOLD, source, metric, a, b, Hypothesis(alternative, confidence_level, rope))


@public(T_CORRECTED)
def t_corrected(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    alternative: AlternativeLike = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Mean difference over splits, by the corrected resampled t test; the one to use for (repeated) K-fold and hold-out.

    t = dbar / sqrt(S^2 (1/J + n_test/n_train)) with J - 1 degrees of freedom [1]_; [2]_ use it for repeated K-fold. With
    splits of unequal size the test uses the mean of n_test/n_train.

    {needs}

    Parameters
    ----------
    {source, metric, pair, alternative, confidence_level, rope}

    Returns
    -------
    {comparison}

    References
    ----------
    .. [1] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.
    .. [2] Bouckaert, R. R. and Frank, E. (2004). Evaluating the replicability of significance tests for comparing learning
       algorithms. PAKDD, 3-12.

    Examples
    --------
    >>> import outfold as of
    >>> scores = of.from_scores({"a": [0.82, 0.79, 0.85], "b": [0.80, 0.80, 0.81]}, n_train=60, n_test=30)
    >>> of.compare.t_corrected(scores, None, "a", "b")
    <Comparison t_corrected a - b: score +0.0167, p = 0.5436>
    """
    return compare_pair(T_CORRECTED, source, metric, a, b, Hypothesis(alternative, confidence_level, rope))


@public(T_CORRECTED_KFOLD)
def t_corrected_kfold(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    rho: float = 0.5,
    alternative: AlternativeLike = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Mean difference over the folds of one K-fold, with a variance that allows for correlated folds; conservative.

    t = dbar / sqrt(S^2 (1 + (K-1) rho) / (K (1 - rho))) with K - 1 degrees of freedom [1]_.

    {needs}

    Parameters
    ----------
    {source, metric, pair}
    rho : float
        Correlation of the differences of two folds. It cannot be estimated; [1]_ suggest 1/2.
    {alternative, confidence_level, rope}

    Returns
    -------
    {comparison}

    References
    ----------
    .. [1] Grandvalet, Y. and Bengio, Y. (2006). Hypothesis testing for cross-validation. Technical report 1285, Universite de
       Montreal.

    Examples
    --------
    >>> import outfold as of
    >>> scores = of.from_scores({"a": [0.82, 0.79, 0.85], "b": [0.80, 0.80, 0.81]}, n_train=60, n_test=30)
    >>> of.compare.t_corrected_kfold(scores, None, "a", "b")
    <Comparison t_corrected_kfold a - b: score +0.0167, p = 0.6242>
    """
    return compare_pair(
        T_CORRECTED_KFOLD, source, metric, a, b, Hypothesis(alternative, confidence_level, rope), rho=rho
    )


@public(T_5X2CV)
def t_5x2cv(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    alternative: AlternativeLike = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Difference of two algorithms trained on half the samples, by Dietterich's 5x2cv t test.

    t = d_1 / sqrt(sum_i s_i^2 / 5) with 5 degrees of freedom: the first of the ten differences against the spread between
    halves [1]_. The difference reported is the mean of the ten. Statistic, p value and interval belong to the first, which is
    ``tested``. Where the two have opposite signs (OF311) there is no winner. `f_5x2cv` uses all ten.

    {needs}

    Parameters
    ----------
    {source, metric, pair, alternative, confidence_level, rope}

    Returns
    -------
    {comparison}

    References
    ----------
    .. [1] Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised classification learning
       algorithms. Neural Computation 10, 1895-1923.

    Examples
    --------
    >>> import outfold as of
    >>> a = [0.82, 0.79, 0.85, 0.81, 0.84, 0.80, 0.83, 0.82, 0.81, 0.85]
    >>> b = [0.80, 0.80, 0.81, 0.80, 0.82, 0.79, 0.80, 0.81, 0.80, 0.81]
    >>> scores = of.from_scores({"a": a, "b": b}, n_train=50, n_test=50, design="5x2cv")
    >>> of.compare.t_5x2cv(scores, None, "a", "b")
    <Comparison t_5x2cv a - b: score +0.0180, p = 0.3144>
    """
    return compare_pair(T_5X2CV, source, metric, a, b, Hypothesis(alternative, confidence_level, rope))


@public(F_5X2CV)
def f_5x2cv(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Difference of two algorithms trained on half the samples, by Alpaydin's combined 5x2cv F test.

    F = sum d^2 / (2 sum_i s_i^2) with 10 and 5 degrees of freedom [1]_. The interval holds the differences that the test
    does not reject. It is None where the repeats disagree so much that the test rejects all of them.

    {needs}

    Parameters
    ----------
    {source, metric, pair, confidence_level, rope}

    Returns
    -------
    {comparison}

    References
    ----------
    .. [1] Alpaydin, E. (1999). Combined 5 x 2 cv F test for comparing supervised classification learning algorithms. Neural
       Computation 11, 1885-1892.

    Examples
    --------
    >>> import outfold as of
    >>> a = [0.82, 0.79, 0.85, 0.81, 0.84, 0.80, 0.83, 0.82, 0.81, 0.85]
    >>> b = [0.80, 0.80, 0.81, 0.80, 0.82, 0.79, 0.80, 0.81, 0.80, 0.81]
    >>> scores = of.from_scores({"a": a, "b": b}, n_train=50, n_test=50, design="5x2cv")
    >>> of.compare.f_5x2cv(scores, None, "a", "b")
    <Comparison f_5x2cv a - b: score +0.0180, p = 0.2933>
    """
    return compare_pair(F_5X2CV, source, metric, a, b, Hypothesis(confidence_level=confidence_level, rope=rope))


@public(T_BLOCKED_3X2)
def t_blocked_3x2(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    variance_weight: float = 2 / 3,
    alternative: AlternativeLike = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Difference of two algorithms trained on half the samples, by the blocked 3x2 t test.

    t = dbar / sqrt(V), V = sum_i s_i^2 / 6 + weight S_between^2, with 5 degrees of freedom [1]_.

    {needs}

    Parameters
    ----------
    {source, metric, pair}
    variance_weight : float
        Weight of the variance between repeats: 2/3 is the paper's choice, 4/3 is never liberal in expectation, 0 leaves the
        spread within repeats alone (3 degrees of freedom).
    {alternative, confidence_level, rope}

    Returns
    -------
    {comparison}

    References
    ----------
    .. [1] Wang, Y., Wang, R., Jia, H. and Li, J. (2014). Blocked 3 x 2 cross-validated t-test for comparing supervised
       classification learning algorithms. Neural Computation 26, 208-235.

    Examples
    --------
    >>> import outfold as of
    >>> a, b = [0.82, 0.79, 0.85, 0.81, 0.84, 0.80], [0.80, 0.80, 0.81, 0.80, 0.82, 0.79]
    >>> scores = of.from_scores({"a": a, "b": b}, n_train=50, n_test=50, design="blocked")
    >>> of.compare.t_blocked_3x2(scores, None, "a", "b")
    <Comparison t_blocked_3x2 a - b: score +0.0150, p = 0.3632>
    """
    return compare_pair(
        T_BLOCKED_3X2,
        source,
        metric,
        a,
        b,
        Hypothesis(alternative, confidence_level, rope),
        variance_weight=variance_weight,
    )


@public(T_BLOCKED_MX2)
def t_blocked_mx2(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    variance_weight: float | None = None,
    alternative: AlternativeLike = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Difference of two algorithms trained on half the samples, by the blocked t test for any balanced m x 2 plan.

    t = dbar / sqrt(V), V = sum_i s_i^2 / (2m) + weight S_between^2, with 2m - 1 degrees of freedom. `t_blocked_3x2` [1]_ is
    the case m = 3. The page on comparing derives the weight.

    {needs}

    Parameters
    ----------
    {source, metric, pair}
    variance_weight : float or None
        Weight of the variance between repeats: (m-1)/m where None, (m+1)/m is never liberal in expectation, 0 leaves the spread
        within repeats alone (m degrees of freedom).
    {alternative, confidence_level, rope}

    Returns
    -------
    {comparison}

    References
    ----------
    .. [1] Wang, Y., Wang, R., Jia, H. and Li, J. (2014). Blocked 3 x 2 cross-validated t-test for comparing supervised
       classification learning algorithms. Neural Computation 26, 208-235.

    Examples
    --------
    >>> import outfold as of
    >>> a, b = [0.82, 0.79, 0.85, 0.81, 0.84, 0.80], [0.80, 0.80, 0.81, 0.80, 0.82, 0.79]
    >>> scores = of.from_scores({"a": a, "b": b}, n_train=50, n_test=50, design="blocked")
    >>> of.compare.t_blocked_mx2(scores, None, "a", "b", variance_weight=4 / 3)
    <Comparison t_blocked_mx2 a - b: score +0.0150, p = 0.4200>
    """
    return compare_pair(
        T_BLOCKED_MX2,
        source,
        metric,
        a,
        b,
        Hypothesis(alternative, confidence_level, rope),
        variance_weight=variance_weight,
    )


@public(T_BAYES)
def t_bayes(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    rope: float = 0.0,
    rho: float | None = None,
    confidence_level: float = 0.95,
) -> Comparison:
    """Posterior probabilities that `a` is better than `b`, equivalent, or worse, by the Bayesian correlated t test.

    The mean difference has a t distribution about dbar with variance S^2 (1/J + rho/(1-rho)) and J - 1 degrees of freedom
    [1]_ [2]_. There is no p value; the interval is a credible interval.

    {needs}

    Parameters
    ----------
    {source, metric, pair}
    rope : float
        SplitDifferences up to this size, in units of the metric, count as equivalent.
    rho : float or None
        Correlation of the differences of two splits. None takes the share of the samples held out, n_test / n.
    confidence_level : float
        Level of the credible interval.

    Returns
    -------
    {comparison}

    References
    ----------
    .. [1] Corani, G. and Benavoli, A. (2015). A Bayesian approach for comparing cross-validated algorithms on multiple data
       sets. Machine Learning 100, 285-304.
    .. [2] Benavoli, A., Corani, G., Demsar, J. and Zaffalon, M. (2017). Time for a change: a tutorial for comparing multiple
       classifiers through Bayesian analysis. Journal of Machine Learning Research 18, 1-36.

    Examples
    --------
    >>> import outfold as of
    >>> scores = of.from_scores({"a": [0.82, 0.79, 0.85], "b": [0.80, 0.80, 0.81]}, n_train=60, n_test=30)
    >>> found = of.compare.t_bayes(scores, None, "a", "b", rope=0.01)
    >>> print(found.probabilities)
    P(better) 0.6005, equivalent 0.2167, P(worse) 0.1828
    """
    return compare_pair(
        T_BAYES, source, metric, a, b, Hypothesis(confidence_level=confidence_level, rope=rope), rho=rho
    )
