"""Tests on one test set: shares of right answers (McNemar, two proportions, Cochran's Q, Looney's F), and areas (DeLong)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ..arguments import check_choice, check_confidence_level
from ..data.notes import Note
from ..data.predictions import Predictions
from ..exceptions import InputError, invalid
from ..metrics import MetricLike
from ..requirements import INDEPENDENT_SAMPLES, PREDICTIONS, Requirement, Requirements, check_requirements
from ..results import Comparison, Omnibus, PairArrays
from ..stats import paired, rank_metrics
from ..stats.pvalues import Tails, normal_quantile, normal_tails
from ..stats.resampling import blocks
from ._compared import ComparedConfigs, Source
from ._pair_test import (
    AlternativeLike,
    Findings,
    Hypothesis,
    compare_pair,
    default_metric,
    notes_without_variance,
    pair_test,
    public,
    pvalues,
    standardised,
)

McNemarMethod = Literal["auto", "plain", "edwards", "exact", "midp"]

# Below this number of discordant samples `auto` does not trust the chi2 approximation.
EXACT_BELOW = 50
# With fewer, hardly any test tells two models apart.
FEW = 10
_METRIC = "accuracy"
# Pairs times samples whose differences of placements are held at once.
_AT_ONCE = 1 << 22
# A variance below this share of the squared scale of placements is what rounding leaves of none.
_NONE = 1e-30

_WORDS: dict[paired.McNemar, str] = {
    "plain": "chi2 without correction",
    "edwards": "chi2 with Edwards' correction",
    "exact": "exact binomial",
    "midp": "mid-p binomial",
}


class Correctness:
    """(C, N) which samples every configuration predicts correctly, whatever the direction of the metric."""

    def __init__(self, compared: ComparedConfigs) -> None:
        assert compared.hits is not None  # the tests require it
        self.hits, self.sign, self.n = compared.hits, compared.sign, int(compared.hits.shape[1])
        self.right: NDArray[np.int64] = self.hits.sum(axis=1, dtype=np.int64)
        self.scores = (self.right if self.sign > 0 else self.n - self.right) / self.n

    def in_units(self, interval: NDArray[np.float64]) -> NDArray[np.float64]:
        """(P, 2) an interval of differences of shares of correct predictions, in the direction of the metric."""
        return interval if self.sign > 0 else -interval[:, ::-1] + 0.0


_ONE_PREDICTION: Requirement[ComparedConfigs] = Requirement(
    "one prediction for each sample",
    lambda compared: compared.predictions.n_repeats == 1,
    "Say which repeat with `repeat=0`, or use a test that takes all of them: `bootstrap`, `permutation`, or `t_training`.",
)
_RIGHT_OR_WRONG: Requirement[ComparedConfigs] = Requirement(
    "answers that are right or wrong (accuracy, error, or scores that are 0 or 1)",
    lambda compared: compared.hits is not None,
    "Use `bootstrap` or `permutation`.",
    lambda compared: f"{compared.metric_name} is another kind of metric here",
    InputError,
)
_NEEDS: Requirements[ComparedConfigs] = (PREDICTIONS, INDEPENDENT_SAMPLES, _ONE_PREDICTION, _RIGHT_OR_WRONG)


def _mcnemar(compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis, *, method: str) -> Findings:
    check_choice(method, get_args(McNemarMethod), "method")
    found = Correctness(compared)
    b, c = paired.only_one_right(found.hits, pairs)
    null = _null_share(hypothesis, found)
    if null != 0:
        method = _shifted_method(method)
    used = np.where(b + c < EXACT_BELOW, "exact", "plain") if method == "auto" else np.full(len(b), method)
    tails, statistic = _by_method(used, b, c)
    interval = paired.mcnemar_interval(b, c, found.n, tails, hypothesis.confidence_level)
    if null != 0:
        tails, statistic = paired.shifted_mcnemar(b, c, found.n, null, "edwards" if method == "edwards" else "plain")
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
    how = _WORDS[chosen.pop()] if len(chosen) == 1 else f"exact below {EXACT_BELOW} discordant, else chi2"
    how = f"Tango's score test, {how}" if null else how
    detail = f", {how}; Tango's score interval, corrected the same way"
    return Findings(arrays, found.scores, compared.notes_on_pooling(), detail)


def _null_share(hypothesis: Hypothesis, found: Correctness) -> float:
    """The null hypothesis as a difference of shares of correct predictions."""
    if not -1 < hypothesis.null < 1:
        given = f"got {hypothesis.null:g}"
        raise invalid("null", "must lie between -1 and 1: shares cannot differ by more", given)
    return found.sign * hypothesis.null + 0.0


def _shifted_method(method: str) -> str:
    """The method where the null is not 0: only the score test has a form for it."""
    if method in ("exact", "midp"):
        needed = "must be 'plain' or 'edwards' where `null` is not 0"
        remedy = "The binomial tests ask whether discordant samples favour both alike, which they do at 0 only."
        raise invalid("method", needed, f"got {method!r}", remedy)
    return "plain" if method == "auto" else method


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
    for i in np.flatnonzero((discordant > 0) & (discordant < FEW)):
        m = int(discordant[i])
        least = 0.5 ** (m - (hypothesis.alternative == "two-sided"))
        more = (
            ""
            if hypothesis.null or least <= 1 - hypothesis.confidence_level
            else "; an exact test of so few cannot find a difference"
        )
        out[int(i)] = (Note("OF303", f"the two differ on only {m} of the samples{more}."),)
    return out


@pair_test("McNemar's test", "McNemar 1947; Tango 1998", "chi2", _NEEDS, _mcnemar, metric=_METRIC)
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
    null: float = 0.0,
) -> Comparison:
    """Difference of the shares of right answers of two models on the same samples, by McNemar's test.

    Only samples that one model has right and the other wrong say anything: b of them for `a`, c for `b` [1]_. The interval
    inverts Tango's score test [2]_, which is the plain test at 0, with the continuity correction of the method used. It
    leaves out 0 exactly where the two-sided p value is at most 1 - confidence_level. If `null` is not 0, the test is Tango's;
    ``exact`` and ``midp`` are refused then, and ``auto`` is ``plain``.

    Parameters: {predictions, right_or_wrong, pair}
    method : {"auto", "plain", "edwards", "exact", "midp"}
        ``plain`` is (b-c)^2 / (b+c) against chi2 with 1 degree of freedom, ``edwards`` the same with ``max(|b-c|-1, 0)``,
        ``exact`` the binomial test of b among b+c, ``midp`` that test with half the probability of b. ``auto`` is exact
        below 50 discordant samples and plain from there on.
    {repeat, alternative, test_level, rope, null}
    Returns: {comparison}
    References: {mcnemar1947, tango1998}

    Examples: {outfold, prompts}
    >>> of.compare.mcnemar(oof, "mean", "new prompt", "old prompt")
    <Comparison mcnemar new prompt - old prompt: mean +0.1923, p = 0.0063>
    """
    options = {"method": method, "repeat": repeat}
    return compare_pair(mcnemar, source, metric, a, b, Hypothesis(alternative, confidence_level, rope, null), **options)


def _z_proportions(compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis) -> Findings:
    found = Correctness(compared)
    b, c = paired.only_one_right(found.hits, pairs)
    x1, x2 = found.right[pairs].T
    z = paired.proportions_statistic(x1, x2, found.n, found.n, _null_share(hypothesis, found))
    arrays = PairArrays(
        **_effects(found, pairs, b, c),
        statistic=found.sign * z + 0.0,
        pvalue=pvalues(hypothesis, normal_tails(z)),
        interval=found.in_units(paired.proportions_interval(x1, x2, found.n, found.n, hypothesis.confidence_level)),
    )
    shared = Note("OF309", "the test treats the two as independent, but they share their test set; use mcnemar.")
    return Findings(arrays, found.scores, (shared, *compared.notes_on_pooling()))


@pair_test(
    "z test of two proportions, pooled variance; Mee's score interval",
    "Raschka 2018, sect. 4.2; Mee 1984",
    "z",
    _NEEDS,
    _z_proportions,
    metric=_METRIC,
)
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
    null: float = 0.0,
) -> Comparison:
    """Difference of two shares of right answers, as if the two models had been tested on different samples.

    z = (p1 - p2) / sqrt(2 p (1-p) / n) with p the mean of the two (section 4.2 of [1]_). The test needs independent
    test sets, and a shared test set is not (OF309). Where the models agree it wastes most of what the samples say: use
    `mcnemar` instead. The interval is Mee's score interval [2]_, the dual of this z. If `null` is not 0, the variance is that of
    the likeliest proportions that differ by it.

    Parameters: {predictions, right_or_wrong, pair, repeat, alternative, test_level, rope, null}
    Returns: {comparison}
    References: {raschka2018, mee1984}

    Examples: {outfold, prompts}
    >>> of.compare.z_proportions(oof, "mean", "new prompt", "old prompt")
    <Comparison z_proportions new prompt - old prompt: mean +0.1923, p = 0.0021>
    """
    return compare_pair(
        z_proportions, source, metric, a, b, Hypothesis(alternative, confidence_level, rope, null), repeat=repeat
    )


@public
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

    Parameters: {predictions, right_or_wrong, configs, omnibus_level, repeat}
    Returns: {omnibus}
    References: {cochran1950}

    Examples: {outfold, three_models}
    >>> of.compare.cochran_q(oof, "mean")
    <Omnibus cochran_q of 3 configurations: p = 0.0115>
    """
    return _omnibus(_COCHRAN, source, metric, configs, confidence_level, repeat)


@public
def f_looney(
    source: Source,
    metric: MetricLike | None = None,
    configs: Sequence[str | int] | None = None,
    *,
    adjusted: bool = False,
    confidence_level: float = 0.95,
    repeat: int | None = None,
) -> Omnibus:
    """Whether any of several models has another share of right answers than the rest, by Looney's F test.

    A two-way analysis of variance, samples by models: the mean square of the models over that of what remains, with M-1 and
    (M-1)(n-1) degrees of freedom [1]_. These hold if any two models differ as much as any other two. `adjusted` does without
    this assumption: it is the F+ test, the same F with fewer degrees of freedom.

    Parameters: {predictions, right_or_wrong, configs}
    adjusted : bool
        Whether to multiply both degrees of freedom by epsilon, from 1/(M-1) to 1, as [2]_ estimate it. For two models it is 1.
    {omnibus_level, repeat}
    Returns: {omnibus}

    Notes
    -----
    Raschka (2018) names the F+ test, which [1]_ recommends, and gives no formula. It is F with adjusted degrees of freedom. We
    read this as the usual adjustment in repeated measures, Box's epsilon by Greenhouse and Geisser.
    References: {looney1988, greenhouse1959, raschka2018}

    Examples: {outfold, three_models}
    >>> of.compare.f_looney(oof, "mean")
    <Omnibus f_looney of 3 configurations: p = 0.0101>
    >>> of.compare.f_looney(oof, "mean", adjusted=True)
    <Omnibus f_looney of 3 configurations: p = 0.0175>
    """
    test = _LOONEY_PLUS if adjusted else _LOONEY
    return _omnibus(test, source, metric, configs, confidence_level, repeat)


class _OmnibusTest(NamedTuple):
    """A test of several models at once."""

    name: str  # that of its function in `outfold.compare`
    compute: Callable[[Any], paired.Test]
    statistic_name: str
    description: str
    reference: str


_COCHRAN = _OmnibusTest("cochran_q", paired.cochran_q, "Q", "Cochran's Q test", "Cochran 1950; Raschka 2018, sect. 4.6")
_LOONEY = _OmnibusTest("f_looney", paired.looney_f, "F", "F test of samples by models", "Looney 1988")
_LOONEY_PLUS = _LOONEY._replace(
    compute=paired.looney_f_plus,
    description="F test of samples by models, degrees of freedom adjusted by epsilon (F+)",
    reference="Looney 1988; Greenhouse & Geisser 1959",
)


def _omnibus(
    asked_test: _OmnibusTest,
    source: Source,
    metric: MetricLike | None,
    configs: Sequence[str | int] | None,
    confidence_level: float,
    repeat: int | None,
) -> Omnibus:
    level = check_confidence_level(confidence_level)
    name, compute, statistic_name, description, reference = asked_test
    asked = ComparedConfigs(source, default_metric(source, metric, _METRIC), configs)
    compared = asked.of_repeat(repeat)
    check_requirements(name, _NEEDS, compared)
    found = Correctness(compared)
    test = compute(found.hits)
    if np.isnan(test.pvalue):
        raise invalid(name, "is undefined here: on every sample the same models are right", remedy="Use cochran_q.")
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
        notes=(*compared.notes_on_pooling(), *asked.notes_on_left_out()),
    )


# -- areas under ROC curves ---------------------------------------------------------------------------------


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
    apart = difference - hypothesis.null
    apart[np.abs(apart) < 1e-15] = 0.0
    z = np.divide(apart, error, out=np.where(apart == 0, 0.0, np.nan), where=error > 0)
    half = -normal_quantile((1 - hypothesis.confidence_level) / 2) * error
    interval = np.stack([difference - half, difference + half], axis=1)
    interval[(error == 0) & (difference != 0)] = np.nan
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
        notes=notes_without_variance(difference, error, apart == 0),
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


_AREA_NEEDS: Requirements[ComparedConfigs] = (
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
    parts = [rank_metrics.placements(scores[r][:, rows].astype(np.float64), positive) for r in range(oof.n_repeats)]
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
        variances[part] = (
            rank_metrics.area_variances(p, q) if codes is None else rank_metrics.clustered_variances(p, q, codes)
        )
        better = np.sum(p > 0, axis=1) + np.sum(q > 0, axis=1)
        worse = np.sum(p < 0, axis=1) + np.sum(q < 0, axis=1)
        wins[part] = np.stack([better, n - better - worse, worse], axis=1)
    return variances, wins


@pair_test(
    "DeLong's test of two areas under the ROC curve",
    "DeLong et al. 1988; Sun and Xu 2014",
    "z",
    _AREA_NEEDS,
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
    null: float = 0.0,
) -> Comparison:
    """Difference of the areas under two ROC curves on the same samples, by DeLong's test.

    The placement of a positive is the share of negatives it scores above, that of a negative the share of positives above it,
    ties one half. The area is their mean, and the variance of a difference of areas is that of the differences of placements
    [1]_, found by sorting [2]_. Placements are averaged over repeats. Groups are clusters [3]_.

    Parameters: {predictions}
    metric : {"roc_auc"} or None
        The area under the ROC curve; use `bootstrap` for other areas.
    {pair, alternative, test_level, rope, null}
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
    return compare_pair(delong, source, metric, a, b, Hypothesis(alternative, confidence_level, rope, null))
