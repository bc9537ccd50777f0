"""Is A better than B, from its scores on many splits of the same samples?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.notes import Note
from ..exceptions import InputError
from ..metrics import MetricLike
from ..results import Alternative, Comparison
from ..stats.paired import balanced_variance, combined_f, mean_variance, student, within_halves
from ._contest import Contest, Source
from ._design import Answer, PairTest, Question, compare_pair
from ._splits import PARTITIONS, RANDOM, Differences, SplitsNeed

_LIBERAL = Note("OF302", "this test takes the splits for independent and finds differences too often; use t_corrected.")
_OVERLAP = Note("OF305", "test sets of different splits share samples, which this test does not account for.")

_HOLDOUT = SplitsNeed(
    "two or more random splits (repeated hold-out)",
    "Collect with Plan.repeated_holdout(), or use t_corrected.",
    ("holdout",),
)
_KFOLD = SplitsNeed(
    "one K-fold cross-validation", "Collect with Plan(folds=10), or use t_corrected.", PARTITIONS, repeats=1
)
ANY_SPLITS = SplitsNeed(
    "K-fold cross-validation, repeated or not, or repeated hold-out",
    "Collect with Plan(folds=10, repeats=3) or Plan.repeated_holdout().",
    RANDOM,
)
_FIVE_BY_TWO = SplitsNeed(
    "5 repeats of 2 folds",
    "Collect with Plan.five_by_two(), or use t_corrected.",
    PARTITIONS,
    repeats=5,
    folds=2,
    whole=True,
)
_BALANCED = SplitsNeed(
    "two folds, repeated so that the halves of any two repeats share a quarter of the samples",
    "Collect with Plan.blocked(3) or Plan.blocked(7), or use t_corrected.",
    ("balanced",),
    folds=2,
    whole=True,
)
_BLOCKED = SplitsNeed(
    "3 balanced repeats of 2 folds (blocked 3 x 2)",
    "Collect with Plan.blocked(3), or use t_corrected.",
    ("balanced",),
    repeats=3,
    folds=2,
    whole=True,
)


# -- one mean of correlated differences --------------------------------------------------------------------


def _t_of_mean(
    differences: Differences, question: Question, rho: float, notes: tuple[Note, ...] = (), description: str = ""
) -> Answer:
    d = differences
    df = d.n_splits - 1
    tested = student(d.mean, mean_variance(d.d, rho), df, question.confidence_level, d.floor)
    return Answer(d.outcome(question, tested, (df,)), d.scores, (*notes, *d.notes()), description or None)


def _t_resampled(contest: Contest, pairs: NDArray[np.intp], question: Question) -> Answer:
    return _t_of_mean(Differences("t_resampled", _HOLDOUT, contest, pairs), question, 0.0, (_LIBERAL, _OVERLAP))


def _t_kfold(contest: Contest, pairs: NDArray[np.intp], question: Question) -> Answer:
    return _t_of_mean(Differences("t_kfold", _KFOLD, contest, pairs), question, 0.0, (_LIBERAL,))


def _t_corrected(contest: Contest, pairs: NDArray[np.intp], question: Question) -> Answer:
    d = Differences("t_corrected", ANY_SPLITS, contest, pairs)
    ratio = float(d.ratios.mean())
    which = "" if np.ptp(d.ratios) < 1e-9 else ", the mean of unequal splits"
    return _t_of_mean(
        d, question, ratio / (1 + ratio), (), f"{T_CORRECTED.description}, n_test/n_train {ratio:.4g}{which}"
    )


def _t_corrected_kfold(contest: Contest, pairs: NDArray[np.intp], question: Question, rho: float = 0.5) -> Answer:
    d = Differences("t_corrected_kfold", _KFOLD, contest, pairs)
    rho = check_correlation(rho)
    return _t_of_mean(d, question, rho, (), f"{T_CORRECTED_KFOLD.description}, correlation {rho:g}")


def check_correlation(rho: Any) -> float:
    """A correlation from 0 to below 1."""
    if not isinstance(rho, (int, float, np.number)) or not 0 <= rho < 1:
        raise InputError(f"rho is a correlation of the splits, from 0 to below 1; got {rho!r}.")
    return float(rho)


# -- repeats of two halves -----------------------------------------------------------------------------------


def _t_5x2cv(contest: Contest, pairs: NDArray[np.intp], question: Question) -> Answer:
    d = Differences("t_5x2cv", _FIVE_BY_TWO, contest, pairs)
    first, repeats = d.d[:, 0], d.halves.shape[1]
    variance = within_halves(d.halves) / repeats
    tested = student(first, variance, repeats, question.confidence_level, d.floor)
    against = np.flatnonzero((first * d.mean < 0) & (np.minimum(abs(first), abs(d.mean)) > d.floor))
    note = Note("OF311", "the first difference, which is tested, and the mean of all point in opposite directions.")
    outcome = d.outcome(
        question,
        tested,
        (repeats,),
        notes={int(i): (*d.flat_notes(np.isnan(tested.statistic)).get(int(i), ()), note) for i in against},
    )
    # What is smaller than rounding points nowhere.
    pointing = np.where(np.abs(first) > d.floor, first, 0.0)
    return Answer(replace(outcome, tested=pointing), d.scores, d.notes())


def _f_5x2cv(contest: Contest, pairs: NDArray[np.intp], question: Question) -> Answer:
    d = Differences("f_5x2cv", _FIVE_BY_TWO, contest, pairs)
    if question.alternative != "two-sided":
        raise InputError("f_5x2cv has no direction; use alternative='two-sided', or t_corrected for a one-sided test.")
    tested = combined_f(d.halves, question.confidence_level, d.floor)
    return Answer(d.outcome(question, tested, (10, 5), directed=False), d.scores, d.notes())


def _t_blocked(differences: Differences, question: Question, variance_weight: float | None, description: str) -> Answer:
    d = differences
    m = d.halves.shape[1]
    weight = (m - 1) / m if variance_weight is None else variance_weight
    if not isinstance(weight, (int, float, np.number)) or not 0 <= weight < np.inf:
        raise InputError(f"variance_weight must be a number from 0 on; got {variance_weight!r}.")
    # Without the part between repeats only the m differences of halves are left to know a variance by.
    df = 2 * m - 1 if weight > 0 else m
    variance = balanced_variance(d.halves, float(weight))
    tested = student(d.mean, variance, df, question.confidence_level, d.floor)
    return Answer(d.outcome(question, tested, (df,)), d.scores, d.notes(), f"{description}, weight {weight:.3g}")


def _t_blocked_3x2(
    contest: Contest, pairs: NDArray[np.intp], question: Question, variance_weight: float = 2 / 3
) -> Answer:
    d = Differences("t_blocked_3x2", _BLOCKED, contest, pairs)
    return _t_blocked(d, question, variance_weight, T_BLOCKED_3X2.description)


def _t_blocked_mx2(
    contest: Contest, pairs: NDArray[np.intp], question: Question, variance_weight: float | None = None
) -> Answer:
    d = Differences("t_blocked_mx2", _BALANCED, contest, pairs)
    return _t_blocked(d, question, variance_weight, T_BLOCKED_MX2.description)


# -- the tests, declared -------------------------------------------------------------------------------------

T_RESAMPLED = PairTest("t_resampled", "resampled paired t test", "Dietterich 1998", "t", _HOLDOUT.words, _t_resampled)
T_KFOLD = PairTest("t_kfold", "K-fold paired t test", "Dietterich 1998", "t", _KFOLD.words, _t_kfold)
T_CORRECTED = PairTest(
    "t_corrected", "corrected resampled t test", "Nadeau & Bengio 2003", "t", ANY_SPLITS.words, _t_corrected
)
T_CORRECTED_KFOLD = PairTest(
    "t_corrected_kfold",
    "corrected K-fold t test",
    "Grandvalet & Bengio 2006",
    "t",
    _KFOLD.words,
    _t_corrected_kfold,
)
T_5X2CV = PairTest(
    "t_5x2cv",
    "5x2cv paired t test; statistic and interval belong to the first of the ten differences, f_5x2cv uses all",
    "Dietterich 1998",
    "t",
    _FIVE_BY_TWO.words,
    _t_5x2cv,
)
F_5X2CV = PairTest("f_5x2cv", "combined 5x2cv F test", "Alpaydin 1999", "F", _FIVE_BY_TWO.words, _f_5x2cv)
T_BLOCKED_3X2 = PairTest("t_blocked_3x2", "blocked 3x2 t test", "Wang et al. 2014", "t", _BLOCKED.words, _t_blocked_3x2)
T_BLOCKED_MX2 = PairTest(
    "t_blocked_mx2", "balanced m x 2 t test", "after Wang et al. 2014", "t", _BALANCED.words, _t_blocked_mx2
)


# -- the functions -------------------------------------------------------------------------------------------


def t_resampled(
    source: Source,
    a: str | int,
    b: str | int,
    metric: MetricLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Mean difference over random splits, by the plain paired t test; liberal, there for comparison with the literature.

    t = dbar sqrt(J) / S with J - 1 degrees of freedom, as if the J splits were independent (Dietterich 1998). They share
    samples, so differences are found too often; `t_corrected` is the one to use.

    Parameters
    ----------
    source
        Predictions of a repeated hold-out, or scores of one (`from_scores`).
    a, b
        The two configurations, by name or position; the difference is metric(a) - metric(b).
    metric
        Taken by fold; the default of the task where None.
    alternative
        Whether `a` is different (``"two-sided"``), ``"better"`` or ``"worse"``, in the direction of the metric. The
        interval is always two-sided.
    confidence_level
        Level of the interval; the decision is at one minus it.
    rope
        Half the width of the region of practical equivalence, in units of the metric.
    """
    return compare_pair(T_RESAMPLED, source, a, b, metric, Question(alternative, confidence_level, rope))


def t_kfold(
    source: Source,
    a: str | int,
    b: str | int,
    metric: MetricLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Mean difference over the folds of one K-fold, by the plain paired t test; liberal.

    t = dbar sqrt(K) / S with K - 1 degrees of freedom (Dietterich 1998). The training sets share samples, so differences
    are found too often; `t_corrected` is the one to use.

    Parameters
    ----------
    source, a, b, metric, alternative, confidence_level, rope
        As for `t_resampled`; `source` is one K-fold cross-validation.
    """
    return compare_pair(T_KFOLD, source, a, b, metric, Question(alternative, confidence_level, rope))


def t_corrected(
    source: Source,
    a: str | int,
    b: str | int,
    metric: MetricLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Mean difference over splits, by the corrected resampled t test; the one to use for (repeated) K-fold and hold-out.

    t = dbar / sqrt(S^2 (1/J + n_test/n_train)) with J - 1 degrees of freedom (Nadeau and Bengio 2003; for repeated K-fold
    Bouckaert and Frank 2004). Where splits are of unequal size the mean of n_test/n_train is used.

    Parameters
    ----------
    source, a, b, metric, alternative, confidence_level, rope
        As for `t_resampled`; `source` is a K-fold, repeated or not, or a repeated hold-out.

    Examples
    --------
    >>> import outfold as of
    >>> scores = of.from_scores({"a": [0.82, 0.79, 0.85], "b": [0.80, 0.80, 0.81]}, n_train=60, n_test=30)
    >>> of.compare.t_corrected(scores, "a", "b")
    <Comparison t_corrected a - b: score +0.0167, p = 0.5436>
    """
    return compare_pair(T_CORRECTED, source, a, b, metric, Question(alternative, confidence_level, rope))


def t_corrected_kfold(
    source: Source,
    a: str | int,
    b: str | int,
    metric: MetricLike | None = None,
    *,
    rho: float = 0.5,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Mean difference over the folds of one K-fold, with a variance that allows for correlated folds; conservative.

    t = dbar / sqrt(S^2 (1 + (K-1) rho) / (K (1 - rho))) with K - 1 degrees of freedom (Grandvalet and Bengio 2006).

    Parameters
    ----------
    source, a, b, metric, alternative, confidence_level, rope
        As for `t_resampled`; `source` is one K-fold cross-validation.
    rho
        Correlation of the differences of two folds, which cannot be estimated; 1/2 is their suggestion.
    """
    question = Question(alternative, confidence_level, rope)
    return compare_pair(T_CORRECTED_KFOLD, source, a, b, metric, question, rho=rho)


def t_5x2cv(
    source: Source,
    a: str | int,
    b: str | int,
    metric: MetricLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Difference of two algorithms trained on half the samples, by Dietterich's 5x2cv t test.

    t = d_1 / sqrt(sum_i s_i^2 / 5) with 5 degrees of freedom: the first of the ten differences against the spread between
    halves (Dietterich 1998). The difference reported is the mean of the ten; statistic, p value and interval belong to the
    first, ``tested``; where the two point in opposite directions (OF311) there is no winner. `f_5x2cv` uses all ten.

    Parameters
    ----------
    source, a, b, metric, alternative, confidence_level, rope
        As for `t_resampled`; `source` has 5 repeats of 2 folds.
    """
    return compare_pair(T_5X2CV, source, a, b, metric, Question(alternative, confidence_level, rope))


def f_5x2cv(
    source: Source,
    a: str | int,
    b: str | int,
    metric: MetricLike | None = None,
    *,
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Difference of two algorithms trained on half the samples, by Alpaydin's combined 5x2cv F test.

    F = sum d^2 / (2 sum_i s_i^2) with 10 and 5 degrees of freedom (Alpaydin 1999). The interval holds the differences the
    test does not refuse; it is None where the repeats disagree so much that all are refused.

    Parameters
    ----------
    source, a, b, metric, confidence_level, rope
        As for `t_resampled`; `source` has 5 repeats of 2 folds.
    """
    return compare_pair(F_5X2CV, source, a, b, metric, Question(confidence_level=confidence_level, rope=rope))


def t_blocked_3x2(
    source: Source,
    a: str | int,
    b: str | int,
    metric: MetricLike | None = None,
    *,
    variance_weight: float = 2 / 3,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Difference of two algorithms trained on half the samples, by the blocked 3x2 t test.

    t = dbar / sqrt(V), V = sum_i s_i^2 / 6 + weight S_between^2, with 5 degrees of freedom (Wang et al. 2014).

    Parameters
    ----------
    source, a, b, metric, alternative, confidence_level, rope
        As for `t_resampled`; `source` is a blocked 3 x 2 plan.
    variance_weight
        Weight of the variance between repeats: 2/3 is the paper's choice, 4/3 is never liberal in expectation, 0 leaves
        the spread within repeats alone (3 degrees of freedom).
    """
    question = Question(alternative, confidence_level, rope)
    return compare_pair(T_BLOCKED_3X2, source, a, b, metric, question, variance_weight=variance_weight)


def t_blocked_mx2(
    source: Source,
    a: str | int,
    b: str | int,
    metric: MetricLike | None = None,
    *,
    variance_weight: float | None = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Difference of two algorithms trained on half the samples, by the blocked t test for any balanced m x 2 plan.

    t = dbar / sqrt(V), V = sum_i s_i^2 / (2m) + weight S_between^2, with 2m - 1 degrees of freedom; `t_blocked_3x2` is
    the case m = 3. The weight's derivation stands in the docs.

    Parameters
    ----------
    source, a, b, metric, alternative, confidence_level, rope
        As for `t_resampled`; `source` is a balanced plan such as ``Plan.blocked(7)``.
    variance_weight
        Weight of the variance between repeats: (m-1)/m where None, (m+1)/m is never liberal in expectation, 0 leaves the
        spread within repeats alone (m degrees of freedom).
    """
    question = Question(alternative, confidence_level, rope)
    return compare_pair(T_BLOCKED_MX2, source, a, b, metric, question, variance_weight=variance_weight)
