"""Which test, and for which pairs: one table of decisions, by the plan and the metric alone, never by the scores.

`auto` applies the test that fits to one pair or to many; `pairs` adjusts the p values of many pairs for their number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ..arguments import check_choice
from ..data.notes import Note
from ..exceptions import InputError, NeedError
from ..formatting import read_sentences
from ..metrics import MetricLike
from ..metrics._scoring import sample_bootstrap
from ..requirements import MEAN_OVER_SAMPLES, PREDICTIONS, Requirement, check_requirements, in_words, met
from ..results import Comparison, Comparisons, Omnibus
from ..stats import pvalues as adjustments
from ..stats.kernels import RELATIVE_TIE
from ._compared import ComparedConfigs, Source, refuse_unfinished
from ._measured import error_in_plans, is_large, kind_of
from ._one_set import cochran_q, delong, mcnemar
from ._pair_test import (
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
from ._resampled_sets import permutation
from ._resampling import t_corrected, t_corrected_kfold
from ._skewed import t_skewed
from ._training import t_training

ComparedRequirement: TypeAlias = Requirement[ComparedConfigs]


class _Option(NamedTuple):
    """An option of a test that depends on the splits."""

    words: str
    value: Callable[[ComparedConfigs], float]


class Choice(NamedTuple):
    """The test that fits, its options, and why in words."""

    test: PairTest
    options: dict[str, Any]
    reason: str


@dataclass(frozen=True)
class Decision:
    """A row of the table: what the splits and the metric must be, and which test is taken there."""

    design: tuple[ComparedRequirement, ...]
    metric: tuple[ComparedRequirement, ...]
    test: PairTest | None  # which must have what it needs too; None where no test is valid
    why: str
    instead: str = ""  # what to do where no test is valid
    options: Mapping[str, _Option] = field(default_factory=dict)
    shifted: bool = False  # only where the null is not 0

    @property
    def measured(self) -> str:
        """The name of the test in the table of error rates."""
        assert self.test is not None
        given = ", ".join(f"{name}={option.words}" for name, option in self.options.items())
        return f"{self.test.name}({given})" if given else self.test.name

    def holds(self, compared: ComparedConfigs, hypothesis: Hypothesis) -> bool:
        """Whether this row is the one for these configurations; the first that holds decides."""
        if (self.shifted and hypothesis.null == 0) or not met((*self.design, *self.metric), compared):
            return False
        directed = hypothesis.alternative != "two-sided"
        return self.test is None or (met(self.test.requirements, compared) and (self.test.directed or not directed))

    def in_words(self) -> tuple[str, str, str]:
        """Design, metric and test, for the docs."""
        resampled = self.test is not None and (self.test.by_folds or self.test.by_splits)
        of_test = self.test.requirements if self.test is not None and resampled else ()
        test = "none is valid" if self.test is None else f"`{self.measured}`"
        design = in_words((*self.design, *of_test), "any other")
        return f"{design}; a null other than 0" if self.shifted else design, in_words(self.metric, "any"), test


def _one_test_set(compared: ComparedConfigs) -> bool:
    return compared.folds.layout == "one test set" or int(np.sum(compared.folds.n_test > 0)) == 1


def _grouped(compared: ComparedConfigs) -> bool:
    return compared.oof is not None and compared.oof.groups is not None


def _single(compared: ComparedConfigs) -> bool:
    folds = compared.folds
    return folds.layout == "loo" or (folds.layout == "one test set" and int(np.sum(folds.n_test > 0)) <= 1)


_ONE_SET: ComparedRequirement = Requirement("one test set", lambda c: c.oof is not None and _one_test_set(c))
_LARGE: ComparedRequirement = Requirement("50 samples of each class or more", is_large)
_GROUPS: ComparedRequirement = Requirement("groups of samples", _grouped)
_UNGROUPED: ComparedRequirement = Requirement("no groups", lambda c: not _grouped(c))
_SINGLE: ComparedRequirement = Requirement("leave-one-out, or one score of one test set", _single)
_KEPT: ComparedRequirement = Requirement("one repeat of K folds", lambda c: kind_of(c) == "K-fold")
_ZERO_ONE: ComparedRequirement = Requirement("accuracy, error, 0-1 scores", lambda c: c.zero_one)
_AREA: ComparedRequirement = Requirement("roc_auc", lambda c: c.metric_name == "roc_auc")

# Why a test is taken; where none is valid, what to do instead, behind the bar.
_WHY = read_sentences("""
groups: samples of a group are not independent, so this test swaps whole groups; McNemar's test would treat every sample as
    independent
answers: on one test set, only the samples that one has right and the other wrong tell the two apart
areas: the two areas come from the same samples, and DeLong's covariance accounts for that
few: with few samples of a class, DeLong's test is wrong too often, and this one is wrong least often: on test sets of 17 samples
    it found a difference between equally good models in up to {error:.0%} of data sets at alpha 0.05. Collect folds, for example
    with `Plan(folds=10)`, to compare learners on all samples
swaps: if it made no difference which of the two predicts a sample, swapping their predictions would change nothing; no more is
    assumed. Where one is far worse on a few samples, it also finds that they differ while their means do not
skewed: for a null other than 0, swapping the two models assumes symmetric differences; this t test of samples, or of whole
    groups, allows for skewed ones. In simulations at alpha 0.05 it was wrong in 5.6% of data sets on average, and in up to 30%
    where the large errors of a few samples decide the mean
single: with leave-one-out, each model predicts one sample only, and no test keeps its level | Collect with
    `Plan(folds=10)`, or `Plan(folds=10, repeats=3)`.
training: it allows for chance in the samples and in the training sets. In simulations of such plans it found a difference between
    equally good learners in at most {error:.1%} of data sets at alpha 0.05
shared: it allows for the training samples that folds share, with 1.5 times the correlation of the corrected t test. In
    simulations it found a difference between equally good learners in at most {error:.1%} of data sets at alpha 0.05. t_training
    finds more differences, but needs predictions, and two groups or more in each fold if there are groups
given: it allows for the training samples that folds share, with the correlation that you gave
liberal: no test keeps its level on such scores alone, and this one is wrong least often: it finds a difference between equally
    good learners in up to {error:.0%} of data sets at alpha 0.05. If you collect predictions, for example with
    `Plan.five_by_two()`, the choice is t_training
other: no test is known to be valid for such splits | Collect with `Plan(folds=10, repeats=3)`, or name a test yourself:
    `permutation` treats the predictions of all folds as one test set.
""")

_Requirements: TypeAlias = tuple[ComparedRequirement, ...]
_ROWS: tuple[tuple[_Requirements, _Requirements, TestLike | None, str], ...] = (
    ((_ONE_SET, _UNGROUPED), (_ZERO_ONE,), mcnemar, "answers"),
    ((_ONE_SET,), (MEAN_OVER_SAMPLES,), t_skewed, "skewed"),
    ((_ONE_SET, _GROUPS), (), permutation, "groups"),
    ((_ONE_SET, _LARGE), (_AREA,), delong, "areas"),
    ((_ONE_SET,), (_AREA,), permutation, "few"),
    ((_ONE_SET,), (), permutation, "swaps"),
    ((_SINGLE,), (), None, "single"),
    ((), (), t_training, "training"),
    ((_KEPT,), (), t_corrected_kfold, "shared"),
    ((), (), t_corrected, "liberal"),
    ((), (), None, "other"),
)
# A correlation of 1/K is that of Nadeau and Bengio, too small for AUC; the 1/2 of Grandvalet and Bengio leaves no power.
_OPTIONS = {"shared": {"rho": _Option("1.5/K", lambda compared: 1.5 / compared.folds.n_test.shape[1])}}
_SHIFTED = ("skewed",)


def _decision(design: _Requirements, metric: _Requirements, test: TestLike | None, why: str) -> Decision:
    words, _, instead = _WHY[why].partition(" | ")
    return Decision(
        design,
        metric,
        None if test is None else find_test(test),
        words,
        instead,
        _OPTIONS.get(why, {}),
        why in _SHIFTED,
    )


# The first that holds decides.
DECISIONS = tuple(_decision(*row) for row in _ROWS)


def choose(compared: ComparedConfigs, hypothesis: Hypothesis, given: Mapping[str, Any]) -> Choice:
    """The test for these configurations and the reason in words; an error where none is valid. The user gave options `given`."""
    row = next(row for row in DECISIONS if row.holds(compared, hypothesis))
    if row.test is None:
        needed = f"auto finds no valid test of {compared.metric_name} for {compared.plan}: {row.why}"
        raise NeedError(needed=needed, remedy=row.instead)
    words = "one test set" if _one_test_set(compared) else str(compared.plan)
    words += " with groups" if _grouped(compared) and "group" not in words else ""
    own = row.options.keys() & given.keys()
    why = _WHY["given"] if own else row.why
    if "{error" in why:
        why = why.format(error=error_in_plans(row.measured, compared, kind_of(compared)))
    options = {name: option.value(compared) for name, option in row.options.items()} | dict(given)
    return Choice(row.test, options, f"{row.test.name} was chosen for {words} by {compared.metric_name}: {why}.")


@public
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
    null: float = 0.0,
    **options: Any,
) -> Comparison | Comparisons:
    """Whether configurations differ, by the test that fits how they were evaluated.

    The splits and the kind of metric choose the test (the page on comparing has the table), never a pre-test on the data;
    ``.reason`` says which test and why. Where no test is valid, an error says what to do.

    Parameters: {source, metric}
    a, b : str or int, or None
        The two configurations, by name or position. Without them all of `configs` are compared, as by `pairs`.
    {configs, control, adjust, alternative, test_level, rope, null}
    **options
        Options of the test that is chosen.

    Returns
    -------
    Comparison or Comparisons
        A Comparison of two configurations, Comparisons of more.

    Examples: {outfold, folds}
    >>> found = of.compare.auto(scores, None, "a", "b")
    >>> found.method
    't_corrected_kfold'
    """
    if (a is None) != (b is None) or (a is not None and configs is not None):
        needed = "auto compares `a` with `b`, or all of `configs`"
        given = "got only one of `a` and `b`" if configs is None else "got both"
        raise InputError(needed=needed, given=given, remedy="Give `a` and `b`, or `configs`, or neither.")
    compared = ComparedConfigs(source, metric, (a, b) if a is not None and b is not None else configs)
    if len(compared.configs) > 2 or control is not None:
        asked: dict[str, Any] = {"alternative": alternative, "confidence_level": confidence_level}
        asked |= {"rope": rope, "null": null}
        asked_configs = configs if a is None or b is None else (a, b)
        return pairs(source, metric, configs=asked_configs, control=control, adjust=adjust, **asked, **options)
    hypothesis = Hypothesis(alternative, confidence_level, rope, null)
    choice = choose(compared, hypothesis, options)
    check_options(choice.test, options)
    found = compare_pairs(choice.test, compared, all_pairs(2), hypothesis, **choice.options)
    return replace(found[0], reason=choice.reason)


Adjust = Literal["holm", "bonferroni", "bh", "westfall_young", "none"]
AdjustPvalues = Literal["holm", "bonferroni", "bh", "none"]  # those that need the p values only

_ADJUST: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "holm": adjustments.holm,
    "bonferroni": adjustments.bonferroni,
    "bh": adjustments.benjamini_hochberg,
    "none": lambda p: p,
}
RESAMPLED = "westfall_young"
ADJUSTMENTS: tuple[str, ...] = get_args(Adjust)
# Draws of samples that tell how tests depend on each other, the same in every call.
_N_DRAWS, _SEED = 10_000, 0
# From this number of pairs on, p values that are not adjusted get a caveat.
_MANY = 3


@public
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
    null: float = 0.0,
    **options: Any,
) -> Comparisons:
    """Which of several configurations differ: every pair, or each of them against a control.

    Where a test of all at once is valid (Cochran's Q, for right-or-wrong on one test set) it comes first. P values are
    adjusted for the number of pairs; intervals are those of single pairs.

    Parameters: {source, metric, test, configs, control, adjust}
    omnibus : bool
        Whether to test all at once first, where that is possible.
    {alternative, test_level, rope, null, options}

    Returns
    -------
    Comparisons
        A sequence of `Comparison`, one for each pair.
    References: {holm1979, benjamini1995, westfall1993, westfall2010}

    Examples: {outfold}
    >>> folds = {"a": [0.82, 0.79, 0.85], "b": [0.80, 0.80, 0.81], "c": [0.70, 0.72, 0.75]}
    >>> scores = of.from_scores(folds, n_train=60, n_test=30)
    >>> of.compare.pairs(scores, control="a")
    <Comparisons t_corrected_kfold of 2 pairs by score>
    """
    check_choice(adjust, ADJUSTMENTS, "adjust")
    hypothesis = Hypothesis(alternative, confidence_level, rope, null)
    wanted = _with_control(source, configs, control)
    compared, (chosen, chosen_options, reason) = find_compared(source, metric, wanted, test, hypothesis, options)
    check_options(chosen, options)
    position = None if control is None else _position(compared, control)
    n = len(compared.configs)
    positions = all_pairs(n) if position is None else pairs_against(position, n)
    first, about = _first(compared, hypothesis, chosen) if omnibus and n > 2 and not hypothesis.null else (None, "")
    found = compare_pairs(chosen, compared, positions, hypothesis, **chosen_options)
    p, n_pairs, alpha = found.arrays.pvalue, len(found), found.terms.alpha
    none = p is None or np.isnan(p).all()
    return replace(
        found,
        adjust=adjust,
        adjusted=None if p is None or none else _adjusted(adjust, p, compared, positions, found.terms.alternative),
        control=None if position is None else compared.configs[position],
        omnibus=first,
        reason=" ".join(filter(None, (reason, about))),
        notes=found.notes if p is None or adjust != "none" else (*found.notes, *unadjusted_notes(n_pairs, alpha)),
    )


def adjust_pvalues(p: NDArray[np.float64], adjust: str) -> NDArray[np.float64]:
    """(P,) p values adjusted for their number, by these alone."""
    return np.asarray(_ADJUST[adjust](p))


def _adjusted(
    adjust: str, p: NDArray[np.float64], compared: ComparedConfigs, pairs: NDArray[np.intp], alternative: str
) -> NDArray[np.float64]:
    """(P,) p values adjusted for their number."""
    if adjust != RESAMPLED:
        return adjust_pvalues(p, adjust)
    check_requirements(f"`adjust={adjust!r}`", (PREDICTIONS,), compared, "Use `adjust='holm'`.")
    scoring, sign = compared.scoring, compared.sign
    blocks = sample_bootstrap(scoring, False, _SEED).blocks(_N_DRAWS)
    observed = scoring.scores()
    # Around the observed scores, as if no two configurations differed.
    drawn = np.concatenate([scoring.scores(weights) for weights in blocks]) - observed
    drawn = drawn[~np.isnan(drawn).any(axis=1)]
    # In steps so small that only what rounding leaves is made equal: draws that are equally extreme are ties.
    drawn /= RELATIVE_TIE * max(float(np.abs(observed).max()), np.finfo(float).tiny / RELATIVE_TIE)

    def extremes(i: int) -> NDArray[np.float64]:
        first, second = pairs[i]
        difference = sign * np.rint(drawn[:, first] - drawn[:, second])
        return np.abs(difference) if alternative == "two-sided" else difference * (1 if alternative == "better" else -1)

    return adjustments.westfall_young(p, extremes)


def find_compared(
    source: Source,
    metric: MetricLike | None,
    configs: Sequence[str | int] | None,
    test: TestLike,
    hypothesis: Hypothesis,
    options: Mapping[str, Any],
) -> tuple[ComparedConfigs, Choice]:
    if test == "auto":
        compared = ComparedConfigs(source, metric, configs)
        return compared, choose(compared, hypothesis, options)
    named = find_test(test)
    return named.compared(source, metric, configs), Choice(named, dict(options), "")


def _with_control(
    source: Source, configs: Sequence[str | int] | None, control: str | int | None
) -> Sequence[str | int] | None:
    if configs is None or control is None:
        return configs
    index = [source.config_index(name) for name in configs]
    own = source.config_index(control)
    return index if own in index else [*index, own]


def _position(compared: ComparedConfigs, control: str | int) -> int:
    """The position of the control among what is compared; an error if it was left out."""
    own = compared.source.config_index(control)
    refuse_unfinished(compared.source, own)
    return compared.configs.index(compared.source.configs[own])


def _first(compared: ComparedConfigs, hypothesis: Hypothesis, test: PairTest) -> tuple[Omnibus | None, str]:
    """The test of all at once, where one is valid for the design; else a sentence that says so."""
    if compared.zero_one and test.name == "mcnemar" and compared.oof is not None:
        return cochran_q(compared.oof, compared.metric, confidence_level=hypothesis.confidence_level), ""
    if not _one_test_set(compared) and compared.folds.layout != "loo":
        return None, "We skip an overall test: none is valid for the folds of one data set."
    return None, ""


def unadjusted_notes(n: int, alpha: float = 0.05, what: str = "pairs") -> tuple[Note, ...]:
    """A caveat where many tests are made, so that some would find a difference by chance alone."""
    if n < _MANY:
        return ()
    expected = n * alpha
    about = f"{expected:.2g}" if expected < 10 else f"{expected:,.0f}"
    differ = "be found to differ" if what == "pairs" else "show a difference"
    return (Note("OF307", f"{n:,} {what} without adjustment: {about} of them would {differ} by chance alone."),)
