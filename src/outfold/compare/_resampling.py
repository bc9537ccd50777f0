"""Is A better than B, from its scores on many splits of the same samples?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ParamSpec

import numpy as np
from numpy.typing import NDArray

from ..arguments import check_from_zero
from ..data.notes import Note
from ..data.scores import Layout
from ..exceptions import got, invalid
from ..metrics import MetricLike
from ..metrics._scoring import SMALL_FOLD
from ..requirements import Compared, Requirement, check_requirements, splits
from ..results import Comparison, PairArrays
from ..stats.paired import (
    Tested,
    balanced_df,
    balanced_variance,
    combined_f,
    mean_variance,
    posterior,
    rounding,
    student,
    within_halves,
)
from ._compared import ComparedConfigs, Source
from ._pair_test import AlternativeLike, Findings, Hypothesis, compare_pair, one_sided, pair_test

P = ParamSpec("P")

_LIBERAL = Note("OF302", "this test treats the splits as independent and finds differences too often; use t_training.")
_OVERLAP = Note("OF305", "test sets of different splits share samples, which this test does not account for.")

# -- what they need -----------------------------------------------------------------------------------------

_PARTITIONS: tuple[Layout, ...] = ("kfold", "balanced")


def _design(words: str, plan: str, layouts: tuple[Layout, ...] = _PARTITIONS, **counts: int) -> Requirement[Compared]:
    return splits(words, f"Collect with {plan}, or use `t_corrected`.", layouts, **counts)


_HOLDOUT = _design("two or more random splits (repeated hold-out)", "`Plan.repeated_holdout()`", ("holdout",))
_KFOLD = _design("one K-fold cross-validation", "`Plan(folds=10)`", n_repeats=1)
_ANY_SPLITS = splits(
    "K-fold cross-validation, repeated or not, or repeated hold-out",
    "Collect with `Plan(folds=10, repeats=3)` or `Plan.repeated_holdout()`.",
    (*_PARTITIONS, "holdout"),
)
_FIVE_BY_TWO = _design("5 repeats of 2 folds", "`Plan.five_by_two()`", n_repeats=5, n_folds=2)
_QUARTER = "two folds, repeated so that the halves of any two repeats share a quarter of the samples"
_BALANCED = _design(_QUARTER, "`Plan.blocked(3)` or `Plan.blocked(7)`", ("balanced",), n_folds=2)
_THREE = "3 balanced repeats of 2 folds (blocked 3 x 2)"
_BLOCKED = _design(_THREE, "`Plan.blocked(3)`", ("balanced",), n_repeats=3, n_folds=2)


def _n_undefined(compared: Compared) -> int:
    """Splits in which the metric of one of the configurations is undefined."""
    folds = compared.folds
    return int(np.sum((folds.n_test > 0) & np.isnan(folds.values).any(axis=0)))


def _undefined_in_words(compared: Compared) -> str:
    folds = compared.folds
    return f"{folds.metric} is undefined in {_n_undefined(compared)} of {int(np.sum(folds.n_test > 0))}"


_ALL_DEFINED: Requirement[Compared] = Requirement(
    "the scores of all splits",
    lambda compared: _n_undefined(compared) == 0,
    "Use fewer folds or a metric such as accuracy, or `t_corrected`.",
    _undefined_in_words,
)
# Most tests leave undefined scores out, so that this is not part of their design.
_TWO_DEFINED: Requirement[Compared] = Requirement(
    "the scores of two or more splits",
    lambda compared: int(np.sum(compared.folds.n_test > 0)) - _n_undefined(compared) >= 2,
    "Use fewer folds or a metric such as accuracy.",
    _undefined_in_words,
)


class SplitDifferences:
    """The fold scores of some pairs, and their differences.

    A split in which the score of one configuration is undefined is left out for all, so that all are judged on the same splits.
    """

    def __init__(self, compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis) -> None:
        folds = compared.folds
        planned = folds.n_test > 0
        defined = planned & ~np.isnan(folds.values).any(axis=0)
        self.compared, self.hypothesis, self.level = compared, hypothesis, hypothesis.confidence_level
        self.null = hypothesis.null
        self._n_planned, self._smallest = int(planned.sum()), int(folds.n_test[defined].min())
        self.ratios = folds.n_test[defined] / folds.n_train[defined]  # (J,)
        values = folds.values[:, defined]
        self.scores: NDArray[np.float64] = values.mean(axis=1)
        first, second = values[pairs[:, 0]], values[pairs[:, 1]]
        self.d = first - second  # (P, J), repeat by repeat
        self.mean: NDArray[np.float64] = self.d.mean(axis=1)
        self.floor = rounding(first, second)  # (P,) what is smaller is rounding

    @property
    def halves(self) -> NDArray[np.float64]:
        """(P, m, 2) differences of two-fold plans."""
        return self.d.reshape(len(self.d), -1, 2)

    @property
    def n_splits(self) -> int:
        return int(self.d.shape[1])

    def notes(self) -> tuple[Note, ...]:
        """Caveats for all pairs: scores that are undefined, or taken on too few samples."""
        notes, name, metric = [], self.compared.metric_name, self.compared.metric
        missing = self._n_planned - self.n_splits
        if missing:
            text = f"{name} is undefined in {missing} of {self._n_planned} folds, left out for both."
            notes.append(Note("OF310", text))
        if metric is not None and not metric.pointwise and self._smallest < SMALL_FOLD:
            notes.append(Note("OF204", f"{name} on folds of {self._smallest} samples is unreliable."))
        return tuple(notes)

    def findings(self, tested: Tested, *df: float, detail: str = "", notes: tuple[Note, ...] = ()) -> Findings:
        """What a test found, with the effects; a statistic without a sign has no direction."""
        arrays = PairArrays(
            statistic=tested.statistic,
            pvalue=one_sided(self.hypothesis, self.compared.sign, tested),
            df=df,
            interval=tested.interval,
            notes=self.flat_notes(np.isnan(tested.statistic)),
            **self.effects(),
        )
        return Findings(arrays, self.scores, (*notes, *self.notes()), detail)

    def t_of_mean(self, rho: float, detail: str = "", notes: tuple[Note, ...] = ()) -> Findings:
        """The t test of the mean difference, where the differences of two splits have the correlation rho."""
        df = self.n_splits - 1
        tested = student(self.mean, mean_variance(self.d, rho), df, self.level, self.floor, self.null)
        return self.findings(tested, df, detail=detail, notes=notes)

    def effects(self) -> dict[str, Any]:
        """Differences, plain and standardised (NaN without variance), and splits in which the first is better, equal, worse."""
        sd, d = self.d.std(axis=1, ddof=1), self.compared.sign * self.d
        better, worse = d > self.floor[:, None], d < -self.floor[:, None]
        return {
            "difference": self.mean,
            "standardised": np.where(sd > self.floor, self.mean / np.where(sd > self.floor, sd, 1.0), np.nan),
            "wins": np.stack([better.sum(axis=1), (~better & ~worse).sum(axis=1), worse.sum(axis=1)], axis=1),
            "unit": "fold" if self.compared.folds.layout in _PARTITIONS else "split",
        }

    def flat_notes(self, flat: NDArray[np.bool_]) -> dict[int, tuple[Note, ...]]:
        out: dict[int, tuple[Note, ...]] = {}
        for i in np.flatnonzero(flat):
            if np.ptp(self.d[i]) <= self.floor[i]:
                text = f"all splits differ by exactly {0.0 if abs(self.mean[i]) <= self.floor[i] else self.mean[i]:.6g}"
            else:
                text = "the difference is the same in both halves of every repeat"
            out[int(i)] = (Note("OF304", f"{text}: there is no variance to test by."),)
        return out


def _fold_test(
    description: str,
    reference: str,
    statistic: str,
    design: Requirement[Compared],
    compute: Callable[..., Findings],
    **more: Any,
) -> Callable[[Callable[P, Comparison]], Callable[P, Comparison]]:
    """Declare a test of the differences by split; one that compares halves needs the scores of all splits."""
    whole = design in (_FIVE_BY_TWO, _BLOCKED, _BALANCED)

    def decorate(function: Callable[P, Comparison]) -> Callable[P, Comparison]:
        def run(compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis, **options: Any) -> Findings:
            check_requirements(function.__name__, (_TWO_DEFINED,), compared)
            return compute(SplitDifferences(compared, pairs, hypothesis), **options)

        requirements = (design, _ALL_DEFINED) if whole else (design,)
        return pair_test(description, reference, statistic, requirements, run, by_folds=True, **more)(function)

    return decorate


# -- one mean of correlated differences --------------------------------------------------------------------


@_fold_test(
    "resampled paired t test", "Dietterich 1998", "t", _HOLDOUT, lambda d: d.t_of_mean(0.0, notes=(_LIBERAL, _OVERLAP))
)
def t_resampled(
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
    """Mean difference over random splits, by the plain paired t test; liberal, for comparison with the literature.

    t = dbar sqrt(J) / S with J - 1 degrees of freedom, as if the J splits were independent [1]_. They share samples, so
    the test finds differences too often. Use `t_training` instead.

    Parameters: {source, metric, pair, alternative, test_level, rope, null}
    Returns: {comparison}
    References: {dietterich1998}

    Examples: {outfold}
    >>> scores = of.from_scores({"a": [0.82, 0.79, 0.85], "b": [0.80, 0.80, 0.81]}, n_train=70, n_test=30, design="holdout")
    >>> of.compare.t_resampled(scores, None, "a", "b")
    <Comparison t_resampled a - b: score +0.0167, p = 0.3701>
    """
    return compare_pair(t_resampled, source, metric, a, b, Hypothesis(alternative, confidence_level, rope, null))


@_fold_test("K-fold paired t test", "Dietterich 1998", "t", _KFOLD, lambda d: d.t_of_mean(0.0, notes=(_LIBERAL,)))
def t_kfold(
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
    """Mean difference over the folds of one K-fold, by the plain paired t test; liberal.

    t = dbar sqrt(K) / S with K - 1 degrees of freedom [1]_. The training sets share samples, so the test finds differences
    too often. Use `t_training` instead.

    Parameters: {source, metric, pair, alternative, test_level, rope, null}
    Returns: {comparison}
    References: {dietterich1998}

    Examples: {outfold, folds}
    >>> of.compare.t_kfold(scores, None, "a", "b")
    <Comparison t_kfold a - b: score +0.0167, p = 0.3701>
    """
    return compare_pair(t_kfold, source, metric, a, b, Hypothesis(alternative, confidence_level, rope, null))


def _t_corrected(d: SplitDifferences) -> Findings:
    ratio = float(d.ratios.mean())
    which = "" if np.ptp(d.ratios) < 1e-9 else ", the mean of unequal splits"
    return d.t_of_mean(ratio / (1 + ratio), f", n_test/n_train {ratio:.4g}{which}")


@_fold_test("corrected resampled t test", "Nadeau & Bengio 2003", "t", _ANY_SPLITS, _t_corrected)
def t_corrected(
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
    """Mean difference over splits, by the corrected resampled t test; for scores of repeated splits without predictions.

    t = dbar / sqrt(S^2 (1/J + n_test/n_train)) with J - 1 degrees of freedom [1]_; [2]_ use it for repeated K-fold. With
    splits of unequal size the test uses the mean of n_test/n_train. The first term goes to zero with more repeats, though a
    data set has as many samples as before: the test then finds differences too often (OF312), and `t_training` does not.

    Parameters: {source, metric, pair, alternative, test_level, rope, null}
    Returns: {comparison}
    References: {nadeau2003, bouckaert2004}

    Examples: {outfold, folds}
    >>> of.compare.t_corrected(scores, None, "a", "b")
    <Comparison t_corrected a - b: score +0.0167, p = 0.5436>
    """
    return compare_pair(t_corrected, source, metric, a, b, Hypothesis(alternative, confidence_level, rope, null))


def _t_corrected_kfold(d: SplitDifferences, rho: float) -> Findings:
    return d.t_of_mean(_check_correlation(rho), f", correlation {rho:g}")


def _check_correlation(rho: Any) -> float:
    if not isinstance(rho, (int, float, np.number)) or not 0 <= rho < 1:
        raise invalid("rho", "must be a correlation of the splits, from 0 to below 1", got(rho))
    return float(rho)


@_fold_test("corrected K-fold t test", "Grandvalet & Bengio 2006", "t", _KFOLD, _t_corrected_kfold)
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
    null: float = 0.0,
) -> Comparison:
    """Mean difference over the folds of one K-fold, with a variance that allows for correlated folds; conservative.

    t = dbar / sqrt(S^2 (1 + (K-1) rho) / (K (1 - rho))) with K - 1 degrees of freedom [1]_. For scores without predictions,
    `auto` takes this test with ``rho=1.5/K``, which simulations found to keep the level, and which has more power than 1/2.

    Parameters: {source, metric, pair}
    rho : float
        Correlation of the differences of two folds. It cannot be estimated; [1]_ suggest 1/2.
    {alternative, test_level, rope, null}
    Returns: {comparison}
    References: {grandvalet2006}

    Examples: {outfold, folds}
    >>> of.compare.t_corrected_kfold(scores, None, "a", "b")
    <Comparison t_corrected_kfold a - b: score +0.0167, p = 0.6242>
    """
    return compare_pair(
        t_corrected_kfold, source, metric, a, b, Hypothesis(alternative, confidence_level, rope, null), rho=rho
    )


# -- repeats of two halves -----------------------------------------------------------------------------------


def _t_5x2cv(d: SplitDifferences) -> Findings:
    first, repeats = d.d[:, 0], d.halves.shape[1]
    tested = student(first, within_halves(d.halves) / repeats, repeats, d.level, d.floor, d.null)
    one, all_ten = first - d.null, d.mean - d.null
    against = np.flatnonzero((one * all_ten < 0) & (np.minimum(abs(one), abs(all_ten)) > d.floor))
    note = Note("OF311", "the first difference, which is tested, and the mean of all point in opposite directions.")
    notes = d.flat_notes(np.isnan(tested.statistic))
    notes |= {int(i): (*notes.get(int(i), ()), note) for i in against}
    # What is smaller than rounding points nowhere.
    pointing = np.where(np.abs(one) > d.floor, first, d.null)
    found = d.findings(tested, repeats)
    return replace(found, arrays=replace(found.arrays, notes=notes, tested=pointing))


@_fold_test(
    "5x2cv paired t test; statistic and interval belong to the first of the ten differences, f_5x2cv uses all",
    "Dietterich 1998",
    "t",
    _FIVE_BY_TWO,
    _t_5x2cv,
)
def t_5x2cv(
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
    """Difference of two algorithms trained on half the samples, by Dietterich's 5x2cv t test.

    t = d_1 / sqrt(sum_i s_i^2 / 5) with 5 degrees of freedom: the first of the ten differences against the spread between
    halves [1]_. The difference reported is the mean of the ten. Statistic, p value and interval belong to the first, which is
    ``tested``. Where the two have opposite signs (OF311) there is no winner. `f_5x2cv` uses all ten.

    Parameters: {source, metric, pair, alternative, test_level, rope, null}
    Returns: {comparison}
    References: {dietterich1998}

    Examples: {outfold, five_by_two}
    >>> of.compare.t_5x2cv(scores, None, "a", "b")
    <Comparison t_5x2cv a - b: score +0.0180, p = 0.3144>
    """
    return compare_pair(t_5x2cv, source, metric, a, b, Hypothesis(alternative, confidence_level, rope, null))


def _t_5x2cv_combined(d: SplitDifferences) -> Findings:
    repeats = d.halves.shape[1]
    variance = within_halves(d.halves) / (2 * repeats**2)
    return d.findings(student(d.mean, variance, repeats, d.level, d.floor, d.null), repeats, notes=(_LIBERAL,))


@_fold_test("combined 5x2cv t test", "Yildiz 2013", "t", _FIVE_BY_TWO, _t_5x2cv_combined)
def t_5x2cv_combined(
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
    """Difference of two algorithms trained on half the samples, by Yildiz's combined 5x2cv t test; liberal.

    t = sqrt(10) dbar / sqrt(sum_i s_i^2 / 5) with 5 degrees of freedom: the mean of the ten differences, where `t_5x2cv` takes
    the first [1]_. It treats the ten as independent, but all repeats split the same samples: the variance of the mean is too
    small by the factor (1 - rho1) / (1 + rho1 + 8 rho2), with the correlations rho1 within a repeat and rho2 between repeats.
    Use `t_training` instead.

    Parameters: {source, metric, pair, alternative, test_level, rope, null}
    Returns: {comparison}

    Notes
    -----
    The formula is that of the author's published programs, `Combined5x2t`.
    References: {yildiz2013}

    Examples: {outfold, five_by_two}
    >>> of.compare.t_5x2cv_combined(scores, None, "a", "b")
    <Comparison t_5x2cv_combined a - b: score +0.0180, p = 0.0245>
    """
    return compare_pair(t_5x2cv_combined, source, metric, a, b, Hypothesis(alternative, confidence_level, rope, null))


@_fold_test(
    "combined 5x2cv F test",
    "Alpaydin 1999",
    "F",
    _FIVE_BY_TWO,
    lambda d: d.findings(combined_f(d.halves, d.level, d.floor, d.null), 10, 5),
    directed=False,
)
def f_5x2cv(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    confidence_level: float = 0.95,
    rope: float | None = None,
    null: float = 0.0,
) -> Comparison:
    """Difference of two algorithms trained on half the samples, by Alpaydin's combined 5x2cv F test.

    F = sum d^2 / (2 sum_i s_i^2) with 10 and 5 degrees of freedom [1]_. The interval holds the differences that the test
    does not reject. It is None where the repeats disagree so much that the test rejects all of them.

    Parameters: {source, metric, pair, test_level, rope, null}
    Returns: {comparison}
    References: {alpaydin1999}

    Examples: {outfold, five_by_two}
    >>> of.compare.f_5x2cv(scores, None, "a", "b")
    <Comparison f_5x2cv a - b: score +0.0180, p = 0.2933>
    """
    return compare_pair(f_5x2cv, source, metric, a, b, Hypothesis("two-sided", confidence_level, rope, null))


def _t_blocked(d: SplitDifferences, variance_weight: float | None) -> Findings:
    m = d.halves.shape[1]
    weight = (m - 1) / m if variance_weight is None else check_from_zero(variance_weight, "variance_weight")
    df = balanced_df(weight, m)
    tested = student(d.mean, balanced_variance(d.halves, weight), df, d.level, d.floor, d.null)
    return d.findings(tested, df, detail=f", weight {weight:.3g}")


@_fold_test("blocked 3x2 t test", "Wang et al. 2014", "t", _BLOCKED, _t_blocked)
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
    null: float = 0.0,
) -> Comparison:
    """Difference of two algorithms trained on half the samples, by the blocked 3x2 t test.

    t = dbar / sqrt(V), V = sum_i s_i^2 / 6 + weight S_between^2, with 5 degrees of freedom [1]_.

    Parameters: {source, metric, pair}
    variance_weight : float
        Weight of the variance between repeats: 2/3 is the paper's choice, 4/3 is never liberal in expectation, 0 leaves the
        spread within repeats alone (3 degrees of freedom).
    {alternative, test_level, rope, null}
    Returns: {comparison}
    References: {wang2014}

    Examples: {outfold, blocked}
    >>> of.compare.t_blocked_3x2(scores, None, "a", "b")
    <Comparison t_blocked_3x2 a - b: score +0.0150, p = 0.3632>
    """
    options = {"variance_weight": variance_weight}
    return compare_pair(
        t_blocked_3x2, source, metric, a, b, Hypothesis(alternative, confidence_level, rope, null), **options
    )


@_fold_test("balanced m x 2 t test", "after Wang et al. 2014", "t", _BALANCED, _t_blocked)
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
    null: float = 0.0,
) -> Comparison:
    """Difference of two algorithms trained on half the samples, by the blocked t test for any balanced m x 2 plan.

    t = dbar / sqrt(V), V = sum_i s_i^2 / (2m) + weight S_between^2, with 2m - 1 degrees of freedom. `t_blocked_3x2` [1]_ is
    the case m = 3. The page on comparing derives the weight.

    Parameters: {source, metric, pair}
    variance_weight : float or None
        Weight of the variance between repeats: (m-1)/m where None, (m+1)/m is never liberal in expectation, 0 leaves the spread
        within repeats alone (m degrees of freedom).
    {alternative, test_level, rope, null}
    Returns: {comparison}
    References: {wang2014}

    Examples: {outfold, blocked}
    >>> of.compare.t_blocked_mx2(scores, None, "a", "b", variance_weight=4 / 3)
    <Comparison t_blocked_mx2 a - b: score +0.0150, p = 0.4200>
    """
    options = {"variance_weight": variance_weight}
    return compare_pair(
        t_blocked_mx2, source, metric, a, b, Hypothesis(alternative, confidence_level, rope, null), **options
    )


# -- posterior probabilities ---------------------------------------------------------------------------------


def _t_bayes(d: SplitDifferences, rho: float | None) -> Findings:
    ratio = float(d.ratios.mean())
    rho = ratio / (1 + ratio) if rho is None else _check_correlation(rho)
    variance, df, rope = mean_variance(d.d, rho), d.n_splits - 1, d.hypothesis.rope or 0.0
    credible = student(d.mean, variance, df, d.level, d.floor).interval
    # The kernel knows greater and smaller; which of them is better depends on the metric.
    mass = posterior(d.compared.sign * d.mean, variance, df, rope, d.floor)
    notes = d.flat_notes(np.isnan(credible[:, 0]))
    arrays = PairArrays(df=(df,), interval=credible, probabilities=mass, notes=notes, **d.effects())
    text = f", correlation {rho:.4g}, rope {rope:g}; the interval is a credible one"
    return Findings(arrays, d.scores, d.notes(), text)


_NO_NULL: Requirement[Compared] = Requirement(
    "a null hypothesis", lambda compared: False, "Use `rope`.", lambda compared: "it gives probabilities of outcomes"
)


@_fold_test("Bayesian correlated t test", "Benavoli et al. 2017", "t", _ANY_SPLITS, _t_bayes, shifts=(_NO_NULL,))
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
    [1]_ [2]_. There is no p value; the interval is a credible interval. The test decides for an outcome only if that is more
    probable than `confidence_level`; otherwise it is undecided.

    Parameters: {source, metric, pair}
    rope : float
        Differences up to this size, in units of the metric, count as equivalent.
    rho : float or None
        Correlation of the differences of two splits. None takes the share of the samples held out, n_test / n.
    confidence_level : float
        Level of the credible interval, and the probability above which the test decides.
    Returns: {comparison}
    References: {corani2015, benavoli2017}

    Examples: {outfold, folds}
    >>> found = of.compare.t_bayes(scores, None, "a", "b", rope=0.01)
    >>> print(found.probabilities)
    P(better) 0.6005, equivalent 0.2167, P(worse) 0.1828
    >>> found.decision
    'undecided: no outcome is more probable than 0.95'
    """
    return compare_pair(t_bayes, source, metric, a, b, Hypothesis("two-sided", confidence_level, rope), rho=rho)
