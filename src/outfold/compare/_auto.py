"""Which test? One table of decisions, by the design alone: never by a look at the data that are tested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..data.predictions import Predictions
from ..data.scores import Layout
from ..exceptions import InputError, NeedError
from ..metrics import MetricLike
from ..results import Alternative, Comparison, Comparisons
from ._areas import same_rows, two_of_each
from ._contest import Contest, Source
from ._design import PairTest, Question, all_pairs, compare_pairs
from ._one_set import zero_one
from ._registry import TESTS, check_options

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
        Whether the question is one-sided.
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
        The reason, a sentence; where none is valid, what to do.
    holds
        Whether this row is the one for a situation; the first that holds decides.
    """

    design: str
    metric: str
    test: str
    why: str
    holds: Callable[[Situation], bool]


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
        "leave-one-out gives no set of samples that one model has predicted, and no test is known to be valid. "
        "Collect with Plan(folds=10, repeats=3), or compare by a mean over samples such as accuracy or brier.",
        lambda s: s.layout == "loo" or (s.layout == "one test set" and s.repeats * s.folds == 1),
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
        "no test is known to be valid for such splits. Collect with Plan(folds=10, repeats=3), or name a test yourself: "
        "permutation takes the predictions of all folds as one test set.",
        lambda s: True,
    ),
)


def _halves(s: Situation, repeats: int) -> bool:
    return s.folds == 2 and s.repeats == repeats


def decide(situation: Situation) -> Decision:
    """The row of the table that holds."""
    return next(row for row in DECISIONS if row.holds(situation))


def situation_of(contest: Contest, question: Question) -> Situation:
    """What the choice of a test for these configurations hangs on."""
    folds = contest.folds
    planned, kind = folds.n_test > 0, kind_of(contest)
    return Situation(
        layout=folds.layout,
        repeats=int(planned.any(axis=1).sum()),
        folds=int(planned.sum(axis=1).max()),
        one_set=folds.layout == "one test set" or int(planned.sum()) == 1,
        kind=kind,
        grouped=contest.oof is not None and contest.oof.groups is not None,
        predictions=contest.oof is not None,
        defined=not np.isnan(folds.values[:, planned]).any(),
        directed=question.alternative != "two-sided",
        placed=contest.oof is None or kind != "area" or _placed(contest.oof),
    )


def _placed(oof: Predictions) -> bool:
    rows = same_rows(oof)
    return rows is not None and two_of_each(oof, rows)


def kind_of(contest: Contest) -> Kind:
    """What kind of metric the contest is by."""
    metric, oof = contest.metric, contest.oof
    if metric is None or oof is None:
        return "set"
    if metric.pointwise:
        binary = metric.name in ("accuracy", "error") or (metric.needs == "pointwise" and zero_one(oof))
        return "right or wrong" if binary else "mean"
    return "area" if metric.name == "roc_auc" else "set"


def choose(contest: Contest, question: Question) -> tuple[PairTest, str]:
    """The test for these configurations and the reason in words; an error where none is valid."""
    situation = situation_of(contest, question)
    row = decide(situation)
    if not row.test:
        raise NeedError(f"auto finds no valid test of {contest.metric_name} for {contest.plan}: {row.why}")
    return TESTS[
        row.test
    ], f"{row.test} was chosen for {_design(contest, situation)} by {contest.metric_name}: {row.why}."


def _design(contest: Contest, situation: Situation) -> str:
    words = "one test set" if situation.one_set else str(contest.plan)
    return words + (" with groups" if situation.grouped and "group" not in words else "")


def auto(
    source: Source,
    metric: MetricLike | None = None,
    a: str | int | None = None,
    b: str | int | None = None,
    *,
    configs: Sequence[str | int] | None = None,
    control: str | int | None = None,
    adjust: str = "holm",
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
    **options: Any,
) -> Comparison | Comparisons:
    """Whether configurations differ, by the test that fits how they were evaluated.

    The test is chosen by the splits and the kind of metric alone (the table stands in the docs), never by a pre-test on
    the data; ``.reason`` says which and why. Where no test is valid, an error says what to do.

    Parameters
    ----------
    source
        Predictions, or the fold scores of `from_scores`.
    metric
        What to compare by; the task's default if None.
    a, b
        The two configurations. Without them all of `configs` are compared, as by `pairs`.
    configs, control, adjust
        As for `pairs`.
    **options
        Options of the test that is chosen.

    Returns
    -------
    Comparison or Comparisons
        Of two configurations a Comparison, of more Comparisons.
    """
    _refuse_misplaced(source, metric)
    if (a is None) != (b is None) or (a is not None and configs is not None):
        raise InputError("auto compares a with b, or all of configs: give a and b, or configs, or neither.")
    wanted = (a, b) if a is not None and b is not None else configs
    contest = Contest(source, metric, wanted)
    if len(contest.configs) > 2 or control is not None:
        from ._many import pairs

        return pairs(
            source,
            metric,
            configs=contest.configs,
            control=control,
            adjust=adjust,
            alternative=alternative,
            confidence_level=confidence_level,
            rope=rope,
            **options,
        )
    question = Question(alternative, confidence_level, rope)
    test, reason = choose(contest, question)
    check_options(test, options)
    return replace(compare_pairs(test, contest, all_pairs(2), question, **options)[0], reason=reason)


def _refuse_misplaced(source: Source, metric: MetricLike | None) -> None:
    """A name of a configuration where the metric stands is a slip that deserves its own words."""
    if isinstance(metric, str) and metric in getattr(source, "configs", ()):
        raise InputError(
            f"{metric!r} is a configuration, and the second argument is the metric: auto(oof, 'accuracy', a={metric!r}, b=...)."
        )
