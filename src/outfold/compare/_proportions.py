"""Right or wrong on the same samples: McNemar, two proportions, Cochran's Q and Looney's F."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..arguments import check_choice, check_confidence_level
from ..data.notes import Note
from ..exceptions import InputError
from ..metrics import MetricLike
from ..requirements import INDEPENDENT_SAMPLES, PREDICTIONS, Requirement, Requirements, check_requirements
from ..results import Comparison, Omnibus, PairArrays
from ..stats import paired
from ..stats.pvalues import Tails, normal_tails
from ._compared import ComparedConfigs, Source
from ._pair_test import (
    AlternativeLike,
    Findings,
    Hypothesis,
    PairTest,
    compare_pair,
    default_metric,
    public,
    pvalues,
    standardised,
)

McNemarMethod = Literal["auto", "plain", "edwards", "exact", "midp"]

# Below this number of discordant samples `auto` does not trust the chi2 approximation.
EXACT_BELOW = 50
_FEW = 10
_METRIC = "accuracy"

_WORDS: dict[paired.McNemar, str] = {
    "plain": "McNemar's test, chi2 without correction",
    "edwards": "McNemar's test, chi2 with Edwards' correction",
    "exact": "McNemar's test, exact binomial",
    "midp": "McNemar's test, mid-p binomial",
}


# -- right and wrong -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Correctness:
    """Which samples every configuration predicts correctly.

    Attributes
    ----------
    hits
        (C, N) 1 where the prediction is correct, else 0, whatever the direction of the metric.
    sign
        1 where the metric is the share of correct predictions, -1 where it is that of wrong ones.
    """

    hits: NDArray[np.integer]
    sign: int

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.hits.shape[1])

    @cached_property
    def right(self) -> NDArray[np.int64]:
        """(C,) number of correct predictions."""
        right: NDArray[np.int64] = self.hits.sum(axis=1, dtype=np.int64)
        return right

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """(C,) the metric."""
        return (self.right if self.sign > 0 else self.n - self.right) / self.n

    def in_units(self, interval: NDArray[np.float64]) -> NDArray[np.float64]:
        """(P, 2) an interval of differences of shares of correct predictions, in the direction of the metric."""
        return interval if self.sign > 0 else -interval[:, ::-1] + 0.0


def _correctness(compared: ComparedConfigs) -> Correctness:
    assert compared.hits is not None  # the tests require it
    return Correctness(compared.hits, compared.sign)


_ONE_PREDICTION: Requirement[ComparedConfigs] = Requirement(
    "one prediction for each sample",
    lambda compared: compared.predictions.n_repeats == 1,
    "Say which repeat with `repeat=0`, or use a test that takes all of them: `bootstrap`, `permutation`, or `t_corrected`.",
)
_RIGHT_OR_WRONG: Requirement[ComparedConfigs] = Requirement(
    "answers that are right or wrong (accuracy, error, or scores that are 0 or 1)",
    lambda compared: compared.hits is not None,
    "Use `bootstrap` or `permutation`.",
    lambda compared: f"{compared.metric_name} is another kind of metric here",
    InputError,
)
_NEEDS: Requirements[ComparedConfigs] = (PREDICTIONS, INDEPENDENT_SAMPLES, _ONE_PREDICTION, _RIGHT_OR_WRONG)


# -- McNemar -------------------------------------------------------------------------------------------------


def _mcnemar(
    compared: ComparedConfigs,
    pairs: NDArray[np.intp],
    hypothesis: Hypothesis,
    *,
    method: str = "auto",
    repeat: int | None = None,
) -> Findings:
    check_choice(method, get_args(McNemarMethod), "method")
    found = _correctness(compared)
    b, c = paired.only_one_right(found.hits, pairs)
    used = _methods(method, b + c)
    tails, statistic = _by_method(used, b, c)
    interval = paired.mcnemar_interval(b, c, found.n, tails, hypothesis.confidence_level)
    chosen = set(used.tolist())
    arrays = PairArrays(
        **_effects(found, pairs, b, c),
        statistic=statistic,
        df=(1.0,) if chosen <= {"plain", "edwards"} else (),
        pvalue=pvalues(hypothesis, tails),
        interval=found.in_units(interval),
        notes=_notes_on_few(b + c, hypothesis),
        details={"only_a": b, "only_b": c, "by": used},
    )
    described = (
        _WORDS[chosen.pop()] if len(chosen) == 1 else f"McNemar's test, exact below {EXACT_BELOW} discordant, else chi2"
    )
    return Findings(
        arrays,
        found.scores,
        compared.notes_on_pooling(),
        description=f"{described}; Tango's score interval, corrected alike",
    )


def _methods(method: str, discordant: NDArray[np.int64]) -> NDArray[np.str_]:
    if method == "auto":
        return np.where(discordant < EXACT_BELOW, "exact", "plain")
    return np.full(len(discordant), method)


def _by_method(used: NDArray[np.str_], b: NDArray[np.int64], c: NDArray[np.int64]) -> tuple[Tails, NDArray[np.float64]]:
    greater, less, statistic = np.empty((3, len(b)))
    for method in _WORDS:
        at = used == method
        if at.any():
            greater[at], less[at] = paired.mcnemar_tails(b[at], c[at], method)
            statistic[at] = paired.mcnemar_statistic(b[at], c[at], method)
    return Tails(greater, less), statistic


def _effects(found: Correctness, pairs: NDArray[np.intp], b: NDArray[np.int64], c: NDArray[np.int64]) -> dict[str, Any]:
    """Difference and effects, whichever the test: they depend on the discordant samples alone."""
    n = found.n
    difference = found.sign * (b - c) / n + 0.0
    spread = np.sqrt(np.maximum((b + c) - (b - c) ** 2 / n, 0.0) / max(n - 1, 1))
    odds = np.divide(b, c, out=np.where(b > 0, np.inf, np.nan), where=c > 0)
    return {
        "difference": difference,
        "standardised": standardised(difference, spread),
        "wins": np.stack([b, n - b - c, c], axis=1),
        "unit": "sample",
        "odds_ratio": odds,
    }


def _notes_on_few(discordant: NDArray[np.int64], hypothesis: Hypothesis) -> dict[int, tuple[Note, ...]]:
    out: dict[int, tuple[Note, ...]] = {}
    for i in np.flatnonzero((discordant > 0) & (discordant < _FEW)):
        m = int(discordant[i])
        least = 0.5 ** (m - (hypothesis.alternative == "two-sided"))
        more = "" if least <= 1 - hypothesis.confidence_level else "; an exact test of so few cannot find a difference"
        out[int(i)] = (Note("OF303", f"the two differ on only {m} of the samples{more}."),)
    return out


MCNEMAR = PairTest(
    name="mcnemar",
    description="McNemar's test",
    reference="McNemar 1947; Tango 1998",
    statistic_name="chi2",
    requirements=_NEEDS,
    by_repeat=True,
    compute=_mcnemar,
    metric=_METRIC,
)


@public(MCNEMAR)
def mcnemar(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    method: McNemarMethod = "auto",
    repeat: int | None = None,
    alternative: AlternativeLike = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Difference of the shares of right answers of two models on the same samples, by McNemar's test.

    Only samples that one model has right and the other wrong say anything: b of them for `a`, c for `b` [1]_. The interval
    inverts Tango's score test [2]_, which is the plain test at 0, with the continuity correction of the method used. It
    leaves out 0 exactly where the two-sided p value is at most 1 - confidence_level.

    {needs}

    Parameters
    ----------
    {predictions, right_or_wrong, pair}
    method : {"auto", "plain", "edwards", "exact", "midp"}
        ``plain`` is (b-c)^2 / (b+c) against chi2 with 1 degree of freedom, ``edwards`` the same with max(|b-c|-1, 0),
        ``exact`` the binomial test of b among b+c, ``midp`` that test with half the probability of b. ``auto`` is exact
        below 50 discordant samples and plain from there on.
    {repeat, alternative, confidence_level, rope}

    Returns
    -------
    {comparison}

    References
    ----------
    .. [1] McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or percentages.
       Psychometrika 12, 153-157.
    .. [2] Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions for the paired-sample
       design. Statistics in Medicine 17, 891-908.

    Examples
    --------
    >>> import outfold as of
    >>> right = [[1, 0]] * 11 + [[0, 1]] + [[1, 1]] * 40
    >>> oof = of.from_arrays(None, right, configs=["new prompt", "old prompt"], response="pointwise")
    >>> of.compare.mcnemar(oof, "mean", "new prompt", "old prompt")
    <Comparison mcnemar new prompt - old prompt: mean +0.1923, p = 0.0063>
    """
    hypothesis = Hypothesis(alternative, confidence_level, rope)
    return compare_pair(MCNEMAR, source, metric, a, b, hypothesis, method=method, repeat=repeat)


def _z_proportions(compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis) -> Findings:
    found = _correctness(compared)
    b, c = paired.only_one_right(found.hits, pairs)
    x1, x2 = found.right[pairs].T
    z = paired.proportions_statistic(x1, x2, found.n, found.n)
    arrays = PairArrays(
        **_effects(found, pairs, b, c),
        statistic=found.sign * z + 0.0,
        pvalue=pvalues(hypothesis, normal_tails(z)),
        interval=found.in_units(paired.proportions_interval(x1, x2, found.n, found.n, hypothesis.confidence_level)),
    )
    shared = Note("OF309", "the test treats the two as independent, but they share their test set; use mcnemar.")
    return Findings(arrays, found.scores, (shared, *compared.notes_on_pooling()))


Z_PROPORTIONS = PairTest(
    name="z_proportions",
    description="z test of two proportions, pooled variance; Mee's score interval",
    reference="Raschka 2018, sect. 4.2; Mee 1984",
    statistic_name="z",
    requirements=_NEEDS,
    by_repeat=True,
    compute=_z_proportions,
    metric=_METRIC,
)


@public(Z_PROPORTIONS)
def z_proportions(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    repeat: int | None = None,
    alternative: AlternativeLike = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Difference of two shares of right answers, as if the two models had been tested on different samples.

    z = (p1 - p2) / sqrt(2 p (1-p) / n) with p the mean of the two [1]_. The test needs independent test sets, and a shared
    test set is not (OF309). Where the models agree it wastes most of what the samples say: use `mcnemar` instead. The
    interval is Mee's score interval [2]_, the dual of this z.

    {needs}

    Parameters
    ----------
    {predictions, right_or_wrong, pair, repeat, alternative, confidence_level, rope}

    Returns
    -------
    {comparison}

    References
    ----------
    .. [1] Raschka, S. (2018). Model evaluation, model selection, and algorithm selection in machine learning.
       arXiv:1811.12808, section 4.2.
    .. [2] Mee, R. W. (1984). Confidence bounds for the difference between two probabilities. Biometrics 40, 1175-1176.

    Examples
    --------
    >>> import outfold as of
    >>> right = [[1, 0]] * 11 + [[0, 1]] + [[1, 1]] * 40
    >>> oof = of.from_arrays(None, right, configs=["new prompt", "old prompt"], response="pointwise")
    >>> of.compare.z_proportions(oof, "mean", "new prompt", "old prompt")
    <Comparison z_proportions new prompt - old prompt: mean +0.1923, p = 0.0021>
    """
    hypothesis = Hypothesis(alternative, confidence_level, rope)
    return compare_pair(Z_PROPORTIONS, source, metric, a, b, hypothesis, repeat=repeat)


@public()
def cochran_q(
    source: Source,
    metric: MetricLike | None = None,
    configs: Sequence[str | int] | None = None,
    *,
    confidence_level: float = 0.95,
    repeat: int | None = None,
) -> Omnibus:
    """Whether any of several models has another share of right answers than the rest, by Cochran's Q.

    Q has a chi2 distribution with M-1 degrees of freedom [1]_; for two models it is McNemar's plain test. After a rejection
    compare the pairs with `pairs`, which adjusts their p values.

    Parameters
    ----------
    {predictions, right_or_wrong, configs}
    confidence_level : float
        The test decides at alpha = 1 - confidence_level.
    {repeat}

    Returns
    -------
    Omnibus
        Statistic, degrees of freedom and p value of the test of all configurations at once.

    References
    ----------
    .. [1] Cochran, W. G. (1950). The comparison of percentages in matched samples. Biometrika 37, 256-266.

    Examples
    --------
    >>> import outfold as of
    >>> right = [[1, 1, 0]] * 9 + [[0, 1, 1]] * 4 + [[1, 0, 0]] * 2 + [[1, 1, 1]] * 30
    >>> of.compare.cochran_q(of.from_arrays(None, right, response="pointwise"), "mean")
    <Omnibus cochran_q of 3 configurations: p = 0.0115>
    """
    return _omnibus("cochran_q", source, metric, configs, confidence_level, repeat)


@public()
def f_looney(
    source: Source,
    metric: MetricLike | None = None,
    configs: Sequence[str | int] | None = None,
    *,
    confidence_level: float = 0.95,
    repeat: int | None = None,
) -> Omnibus:
    """Whether any of several models has another share of right answers than the rest, by Looney's F test.

    A two-way analysis of variance, samples by models: the mean square of the models over that of what remains, with M-1 and
    (M-1)(n-1) degrees of freedom [1]_.

    Parameters
    ----------
    {predictions, right_or_wrong, configs}
    confidence_level : float
        The test decides at alpha = 1 - confidence_level.
    {repeat}

    Returns
    -------
    Omnibus
        Statistic, degrees of freedom and p value of the test of all configurations at once.

    References
    ----------
    .. [1] Looney, S. W. (1988). A statistical technique for comparing the accuracies of several classifiers. Pattern
       Recognition Letters 8, 5-9.

    Examples
    --------
    >>> import outfold as of
    >>> right = [[1, 1, 0]] * 9 + [[0, 1, 1]] * 4 + [[1, 0, 0]] * 2 + [[1, 1, 1]] * 30
    >>> of.compare.f_looney(of.from_arrays(None, right, response="pointwise"), "mean")
    <Omnibus f_looney of 3 configurations: p = 0.0101>
    """
    return _omnibus("f_looney", source, metric, configs, confidence_level, repeat)


_OMNIBUS: dict[str, tuple[Callable[[Any], paired.Test], str, str, str]] = {
    "cochran_q": (paired.cochran_q, "Q", "Cochran's Q test", "Cochran 1950; Raschka 2018, sect. 4.6"),
    "f_looney": (paired.looney_f, "F", "F test of samples by models", "Looney 1988"),
}


def _omnibus(
    name: str,
    source: Source,
    metric: MetricLike | None,
    configs: Sequence[str | int] | None,
    confidence_level: float,
    repeat: int | None,
) -> Omnibus:
    level = check_confidence_level(confidence_level)
    compute, statistic_name, description, reference = _OMNIBUS[name]
    compared = ComparedConfigs(source, default_metric(source, metric, _METRIC), configs)
    compared = compared.of_repeat(repeat)
    check_requirements(name, _NEEDS, compared)
    found = _correctness(compared)
    test = compute(found.hits)
    if np.isnan(test.pvalue):
        raise InputError(
            argument=name,
            needed="is undefined here: on every sample the same models are right",
            remedy="Use cochran_q.",
        )
    return Omnibus(
        metric=compared.metric_name,
        greater_is_better=compared.greater_is_better,
        method=name,
        description=description,
        reference=reference,
        configs=compared.configs,
        scores=found.scores,
        statistic_name=statistic_name,
        statistic=test.statistic,
        df=test.df,
        pvalue=test.pvalue,
        confidence_level=level,
        plan=str(compared.plan),
        n_samples=found.n,
        notes=compared.notes_on_pooling(),
    )
