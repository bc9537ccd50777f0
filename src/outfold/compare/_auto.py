"""Which test, and for which pairs: one table of decisions, by the plan and the metric alone, never by the scores.

`auto` applies the test that fits to one pair or to many; `pairs` adjusts the p values of many pairs for their number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..arguments import check_choice
from ..data.notes import Note
from ..data.predictions import Predictions
from ..data.scores import Layout
from ..exceptions import InputError, NeedError
from ..metrics import MetricLike
from ..results import Comparison, Comparisons, Omnibus
from ..stats import pvalues as adjustments
from ._areas import same_rows, two_of_each
from ._compared import ComparedConfigs, Source
from ._pair_test import (
    TESTS,
    AlternativeLike,
    Hypothesis,
    PairTest,
    TestLike,
    all_pairs,
    check_options,
    compare_pairs,
    find_test,
    pairs_against,
    public,
)
from ._proportions import cochran_q

Kind = Literal["right or wrong", "mean", "area", "set"]


@dataclass(frozen=True)
class Situation:
    """What the choice of a test hangs on.

    Attributes
    ----------
    layout, repeats, folds
        What the splits are.
    one_set
        Whether there is one test set only, by one split or made elsewhere.
    kind
        Of the metric: 0-1, another mean over samples, the area under the ROC curve, or else defined on sets only.
    grouped
        Whether samples belong to groups.
    predictions
        Whether predictions are at hand, not scores of folds only.
    defined
        Whether the metric is defined in every fold.
    directed
        Whether the hypothesis is one-sided.
    placed
        Whether every repeat holds out the same samples, two of each class at least; asked for areas only.
    """

    layout: Layout
    repeats: int
    folds: int
    one_set: bool
    kind: Kind
    grouped: bool = False
    predictions: bool = True
    defined: bool = True
    directed: bool = False
    placed: bool = True

    @property
    def pointwise(self) -> bool:
        """Whether the metric is a mean over samples."""
        return self.kind in ("right or wrong", "mean")


@dataclass(frozen=True)
class Decision:
    """A row of the table: where it holds, and which test is taken there.

    Attributes
    ----------
    design, metric
        In words, for the docs.
    test
        The test; empty where none is valid.
    why
        The reason, a clause.
    holds
        Whether this row is the one for a situation; the first that holds decides.
    instead
        What to do where no test is valid, in sentences.
    """

    design: str
    metric: str
    test: str
    why: str
    holds: Callable[[Situation], bool]
    instead: str = ""


def _one(s: Situation) -> bool:
    return s.one_set and s.predictions


# The first row that holds decides.
DECISIONS: tuple[Decision, ...] = (
    Decision(
        "one test set, groups of samples",
        "any",
        "permutation",
        "samples of a group are not independent, so that whole groups are swapped; McNemar's test would take every sample for "
        "a witness of its own",
        lambda s: _one(s) and s.grouped,
    ),
    Decision(
        "one test set, one prediction a sample",
        "accuracy, error, 0-1 scores",
        "mcnemar",
        "on one test set only the samples that one has right and the other wrong tell the two apart",
        lambda s: _one(s) and s.kind == "right or wrong" and s.repeats == 1,
    ),
    Decision(
        "one test set, two samples of each class or more",
        "roc_auc",
        "delong",
        "the two areas rest on the same samples, and DeLong's covariance accounts for that",
        lambda s: _one(s) and s.kind == "area" and s.placed,
    ),
    Decision(
        "one test set",
        "any other",
        "permutation",
        "if the two were alike, swapping their predictions of a sample would change nothing; that needs no assumption on "
        "how the differences are distributed",
        _one,
    ),
    Decision(
        "leave-one-out",
        "accuracy, error, 0-1 scores",
        "mcnemar",
        "a fold is a single sample, so that the predictions of all folds are taken as one test set",
        lambda s: s.layout == "loo" and s.predictions and s.kind == "right or wrong" and not s.grouped,
    ),
    Decision(
        "leave-one-out",
        "another mean over samples",
        "permutation",
        "a fold is a single sample, so that the predictions of all folds are taken as one test set",
        lambda s: s.layout == "loo" and s.predictions and s.pointwise,
    ),
    Decision(
        "leave-one-out",
        "roc_auc and others defined on sets",
        "",
        "leave-one-out gives no set of samples that one model has predicted, and no test is known to be valid",
        lambda s: s.layout == "loo" or (s.layout == "one test set" and s.repeats * s.folds == 1),
        "Collect with `Plan(folds=10, repeats=3)`, or compare by a mean over samples such as accuracy or brier.",
    ),
    Decision(
        "5 x 2-fold, every score defined",
        "any",
        "f_5x2cv",
        "five repeats of two folds are the design of the combined 5x2cv F test, whose error rate is kept where the t tests "
        "on the same scores are liberal or hang on one of the ten differences",
        lambda s: _halves(s, 5) and s.layout in ("kfold", "balanced") and s.defined and not s.directed,
    ),
    Decision(
        "blocked 3 x 2-fold, every score defined",
        "any",
        "t_blocked_3x2",
        "training sets of different repeats share exactly a quarter of the samples, which the blocked 3x2 t test is "
        "made for; it is careful unless the algorithms hardly depend on their training samples, where it is a little liberal",
        lambda s: _halves(s, 3) and s.layout == "balanced" and s.defined,
    ),
    Decision(
        "balanced m x 2-fold, m > 3, every score defined",
        "any",
        "t_blocked_mx2",
        "training sets of different repeats share exactly a quarter of the samples, which the balanced m x 2 t test is "
        "made for; it is careful unless the algorithms hardly depend on their training samples, where it is a little liberal",
        lambda s: s.folds == 2 and s.repeats > 3 and s.layout == "balanced" and s.defined,
    ),
    Decision(
        "K-fold, repeated or not; repeated hold-out",
        "any",
        "t_corrected",
        "the splits share training samples, so that plain t tests find differences too often; the corrected one widens the "
        "variance by n_test/n_train",
        lambda s: s.layout in ("kfold", "balanced", "holdout") and s.repeats * s.folds > 1,
    ),
    Decision(
        "other splits, such as those of a time series, bootstrap rounds",
        "any",
        "",
        "no test is known to be valid for such splits",
        lambda s: True,
        "Collect with `Plan(folds=10, repeats=3)`, or name a test yourself: permutation takes the predictions of all folds "
        "as one test set.",
    ),
)


def _halves(s: Situation, repeats: int) -> bool:
    return s.folds == 2 and s.repeats == repeats


def decide(situation: Situation) -> Decision:
    """The row of the table that holds."""
    return next(row for row in DECISIONS if row.holds(situation))


def situation_of(compared: ComparedConfigs, hypothesis: Hypothesis) -> Situation:
    """What the choice of a test for these configurations hangs on."""
    folds = compared.folds
    planned, kind = folds.n_test > 0, kind_of(compared)
    return Situation(
        layout=folds.layout,
        repeats=int(planned.any(axis=1).sum()),
        folds=int(planned.sum(axis=1).max()),
        one_set=folds.layout == "one test set" or int(planned.sum()) == 1,
        kind=kind,
        grouped=compared.oof is not None and compared.oof.groups is not None,
        predictions=compared.oof is not None,
        defined=not np.isnan(folds.values[:, planned]).any(),
        directed=hypothesis.alternative != "two-sided",
        placed=compared.oof is None or kind != "area" or _placed(compared.oof),
    )


def _placed(oof: Predictions) -> bool:
    rows = same_rows(oof)
    return rows is not None and two_of_each(oof, rows)


def kind_of(compared: ComparedConfigs) -> Kind:
    """What kind of metric the compared is by."""
    metric, oof = compared.metric, compared.oof
    if metric is None or oof is None:
        return "set"
    if metric.pointwise:
        return "right or wrong" if compared.zero_one else "mean"
    return "area" if metric.name == "roc_auc" else "set"


def choose(compared: ComparedConfigs, hypothesis: Hypothesis) -> tuple[PairTest, str]:
    """The test for these configurations and the reason in words; an error where none is valid."""
    situation = situation_of(compared, hypothesis)
    row = decide(situation)
    if not row.test:
        raise NeedError(
            needed=f"auto finds no valid test of {compared.metric_name} for {compared.plan}: {row.why}",
            remedy=row.instead,
        )
    design = _design_words(compared, situation)
    return TESTS[row.test], f"{row.test} was chosen for {design} by {compared.metric_name}: {row.why}."


def _design_words(compared: ComparedConfigs, situation: Situation) -> str:
    words = "one test set" if situation.one_set else str(compared.plan)
    return words + (" with groups" if situation.grouped and "group" not in words else "")


@public()
def auto(
    source: Source,
    metric: MetricLike | None = None,
    a: str | int | None = None,
    b: str | int | None = None,
    *,
    configs: Sequence[str | int] | None = None,
    control: str | int | None = None,
    adjust: Adjust | str = "holm",
    alternative: AlternativeLike = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
    **options: Any,
) -> Comparison | Comparisons:
    """Whether configurations differ, by the test that fits how they were evaluated.

    The splits and the kind of metric choose the test (the page on comparing has the table), never a pre-test on the data;
    ``.reason`` says which test and why. Where no test is valid, an error says what to do.

    Parameters
    ----------
    {source}
    {metric}
    a, b : str or int, or None
        The two configurations, by name or position. Without them all of `configs` are compared, as by `pairs`.
    {configs}
    {control}
    {adjust}
    {alternative}
    {confidence_level}
    {rope}
    **options
        Options of the test that is chosen.

    Returns
    -------
    Comparison or Comparisons
        A Comparison of two configurations, Comparisons of more.

    Examples
    --------
    >>> import outfold as of
    >>> scores = of.from_scores({"a": [0.82, 0.79, 0.85], "b": [0.80, 0.80, 0.81]}, n_train=60, n_test=30)
    >>> found = of.compare.auto(scores, None, "a", "b")
    >>> found.method
    't_corrected'
    """
    if (a is None) != (b is None) or (a is not None and configs is not None):
        raise InputError(
            needed="auto compares `a` with `b`, or all of `configs`",
            given="got only one of `a` and `b`" if configs is None else "got both",
            remedy="Give `a` and `b`, or `configs`, or neither.",
        )
    compared = ComparedConfigs(source, metric, (a, b) if a is not None and b is not None else configs)
    if len(compared.configs) > 2 or control is not None:
        return pairs(
            source,
            metric,
            configs=compared.configs,
            control=control,
            adjust=adjust,
            alternative=alternative,
            confidence_level=confidence_level,
            rope=rope,
            **options,
        )
    hypothesis = Hypothesis(alternative, confidence_level, rope)
    test, reason = choose(compared, hypothesis)
    check_options(test, options)
    return replace(compare_pairs(test, compared, all_pairs(2), hypothesis, **options)[0], reason=reason)


# -- many pairs ---------------------------------------------------------------------------------------------

Adjust = Literal["holm", "bonferroni", "bh", "none"]

_ADJUST: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "holm": adjustments.holm,
    "bonferroni": adjustments.bonferroni,
    "bh": adjustments.benjamini_hochberg,
    "none": lambda p: p,
}
ADJUSTMENTS = tuple(_ADJUST)
# From this number of pairs on, p values that are not adjusted get a caveat.
_MANY = 3


@public()
def pairs(
    source: Source,
    metric: MetricLike | None = None,
    *,
    test: TestLike = "auto",
    configs: Sequence[str | int] | None = None,
    control: str | int | None = None,
    adjust: Adjust | str = "holm",
    omnibus: bool = True,
    alternative: AlternativeLike = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
    **options: Any,
) -> Comparisons:
    """Which of several configurations differ: every pair, or each of them against a control.

    Where a test of all at once is valid (Cochran's Q, for right-or-wrong on one test set) it comes first. P values are
    adjusted for the number of pairs; intervals are those of single pairs.

    Parameters
    ----------
    {source}
    {metric}
    {test}
    {configs}
    {control}
    {adjust}
    omnibus : bool
        Whether to test all at once first, where that is possible.
    {alternative}
    {confidence_level}
    {rope}
    {options}

    Returns
    -------
    Comparisons
        A sequence of `Comparison`, one for each pair.

    References
    ----------
    .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6,
       65-70.
    .. [2] Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate: a practical and powerful approach to
       multiple testing. Journal of the Royal Statistical Society B 57, 289-300.

    Examples
    --------
    >>> import outfold as of
    >>> folds = {"a": [0.82, 0.79, 0.85], "b": [0.80, 0.80, 0.81], "c": [0.70, 0.72, 0.75]}
    >>> scores = of.from_scores(folds, n_train=60, n_test=30)
    >>> of.compare.pairs(scores, control="a")
    <Comparisons t_corrected of 2 pairs by score>
    """
    check_choice(adjust, ADJUSTMENTS, "adjust")
    hypothesis = Hypothesis(alternative, confidence_level, rope)
    wanted = _with_control(source, configs, control)
    compared, chosen, reason = find_compared(source, metric, wanted, test, hypothesis)
    check_options(chosen, options)
    position = None if control is None else compared.configs.index(source.configs[source.config_index(control)])
    n = len(compared.configs)
    positions = all_pairs(n) if position is None else pairs_against(position, n)
    first, about = _first(compared, hypothesis, chosen) if omnibus and n > 2 else (None, "")
    found = compare_pairs(chosen, compared, positions, hypothesis, **options)
    return replace(
        found,
        adjust=adjust,
        adjusted=_adjusted(found, adjust),
        control=None if position is None else compared.configs[position],
        omnibus=first,
        reason=" ".join(part for part in (reason, about) if part),
        notes=(*found.notes, *_notes(found, adjust)),
    )


def find_compared(
    source: Source,
    metric: MetricLike | None,
    configs: Sequence[str | int] | None,
    test: TestLike,
    hypothesis: Hypothesis,
) -> tuple[ComparedConfigs, PairTest, str]:
    """The configurations to compare, the test, and the reason for that test."""
    if test == "auto":
        compared = ComparedConfigs(source, metric, configs)
        return compared, *choose(compared, hypothesis)
    named = find_test(test)
    return named.compared(source, metric, configs), named, ""


def _with_control(
    source: Source, configs: Sequence[str | int] | None, control: str | int | None
) -> Sequence[str | int] | None:
    if configs is None or control is None:
        return configs
    index = [source.config_index(name) for name in configs]
    own = source.config_index(control)
    return index if own in index else [*index, own]


def _adjusted(found: Comparisons, adjust: str) -> NDArray[np.float64] | None:
    p = found.arrays.pvalue
    return None if p is None or np.isnan(p).all() else np.asarray(_ADJUST[adjust](p))


def _first(compared: ComparedConfigs, hypothesis: Hypothesis, test: PairTest) -> tuple[Omnibus | None, str]:
    """The test of all at once, where one is valid for the design; else a sentence that says so."""
    situation = situation_of(compared, hypothesis)
    if situation.kind == "right or wrong" and test.name == "mcnemar" and compared.oof is not None:
        return cochran_q(compared.oof, compared.metric, confidence_level=hypothesis.confidence_level), ""
    if not situation.one_set and situation.layout != "loo":
        return None, "We skip an overall test: none is valid for the folds of one data set."
    return None, ""


def _notes(found: Comparisons, adjust: str) -> tuple[Note, ...]:
    if adjust != "none" or found.arrays.pvalue is None:
        return ()
    return unadjusted_notes(len(found), found.terms.alpha)


def unadjusted_notes(n_pairs: int, alpha: float = 0.05) -> tuple[Note, ...]:
    """A caveat where many pairs are compared, so that some would differ by chance alone."""
    if n_pairs < _MANY:
        return ()
    expected = n_pairs * alpha
    about = f"{expected:.2g}" if expected < 10 else f"{expected:,.0f}"
    text = f"{n_pairs:,} pairs without adjustment: {about} of them would be found to differ by chance alone."
    return (Note("OF307", text),)
