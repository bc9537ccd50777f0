"""Many pairs: all of them, or all against a control, with p values adjusted for their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..data.notes import Note
from ..exceptions import InputError
from ..metrics import MetricLike
from ..results import Alternative, Comparisons, Omnibus
from ..stats import pvalues
from ._auto import choose, situation_of
from ._contest import Contest, Source
from ._design import PairTest, Question, all_pairs, compare_pairs, pairs_against
from ._proportions import cochran_q
from ._registry import TestLike, check_options, find

Adjust = Literal["holm", "bonferroni", "bh", "none"]

_ADJUST: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "holm": pvalues.holm,
    "bonferroni": pvalues.bonferroni,
    "bh": pvalues.benjamini_hochberg,
    "none": lambda p: p,
}
ADJUSTMENTS = tuple(_ADJUST)
# From so many pairs on, p values that are not adjusted deserve a word.
_MANY = 3


def pairs(
    source: Source,
    metric: MetricLike | None = None,
    *,
    test: TestLike = "auto",
    configs: Sequence[str | int] | None = None,
    control: str | int | None = None,
    adjust: Adjust | str = "holm",
    omnibus: bool = True,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
    **options: Any,
) -> Comparisons:
    """Which of several configurations differ: every pair, or everyone against a control.

    Where a test of all at once is valid (Cochran's Q, for right-or-wrong on one test set) it comes first. P values are
    adjusted for the number of pairs; intervals are those of single pairs.

    Parameters
    ----------
    source
        Predictions, or the fold scores of `from_scores`.
    metric
        What to compare by; the task's default if None.
    test
        Name or function of a test of a pair; ``"auto"`` takes the one that fits the design.
    configs
        The configurations that take part; all by default.
    control
        Compare all others with this one only.
    adjust
        ``"holm"`` and ``"bonferroni"`` keep the probability of any false finding, ``"bh"`` (Benjamini and Hochberg) the
        expected share of false findings; ``"none"`` keeps neither.
    omnibus
        Whether to test all at once first, where that is possible.
    **options
        Options of the test.
    """
    if adjust not in _ADJUST:
        raise InputError(f"adjust must be 'holm', 'bonferroni', 'bh' or 'none'; got {adjust!r}.")
    question = Question(alternative, confidence_level, rope)
    contest, chosen, reason = find_contest(source, metric, _with_control(source, configs, control), test, question)
    check_options(chosen, options)
    position = None if control is None else contest.configs.index(source.configs[source.config_index(control)])
    n = len(contest.configs)
    who = all_pairs(n) if position is None else pairs_against(position, n)
    first, about = _first(contest, question, chosen) if omnibus and n > 2 else (None, "")
    found = compare_pairs(chosen, contest, who, question, **options)
    return replace(
        found,
        adjust=adjust,
        adjusted=_adjusted(found, adjust),
        control=None if position is None else contest.configs[position],
        omnibus=first,
        reason=" ".join(part for part in (reason, about) if part),
        notes=(*found.notes, *_notes(found, adjust)),
    )


def find_contest(
    source: Source, metric: MetricLike | None, configs: Sequence[str | int] | None, test: TestLike, question: Question
) -> tuple[Contest, PairTest, str]:
    """Who takes part, in which test, and why in that one."""
    if test == "auto":
        contest = Contest(source, metric, configs)
        return contest, *choose(contest, question)
    named = find(test)
    return named.contest(source, metric, configs), named, ""


def _with_control(
    source: Source, configs: Sequence[str | int] | None, control: str | int | None
) -> Sequence[str | int] | None:
    if configs is None or control is None:
        return configs
    index = [source.config_index(name) for name in configs]
    own = source.config_index(control)
    return index if own in index else [*index, own]


def _adjusted(found: Comparisons, adjust: str) -> NDArray[np.float64] | None:
    p = found.outcome.pvalue
    return None if p is None or np.isnan(p).all() else np.asarray(_ADJUST[adjust](p))


def _first(contest: Contest, question: Question, test: PairTest) -> tuple[Omnibus | None, str]:
    """The test of all at once, where one is valid for the design; else a sentence that says so."""
    situation = situation_of(contest, question)
    if situation.kind == "right or wrong" and test.name == "mcnemar" and contest.oof is not None:
        return cochran_q(contest.oof, metric=contest.metric, confidence_level=question.confidence_level), ""
    if not situation.one_set and situation.layout != "loo":
        return None, "No test of all at once comes first: none is known to be valid for the folds of one data set."
    return None, ""


def _notes(found: Comparisons, adjust: str) -> tuple[Note, ...]:
    if adjust != "none" or found.outcome.pvalue is None:
        return ()
    return unadjusted_notes(len(found), found.terms.alpha)


def unadjusted_notes(n_pairs: int, alpha: float = 0.05) -> tuple[Note, ...]:
    """A caveat where so many pairs are compared that some would differ by chance alone."""
    if n_pairs < _MANY:
        return ()
    expected = n_pairs * alpha
    about = f"{expected:.2g}" if expected < 10 else f"{expected:,.0f}"
    text = f"{n_pairs:,} pairs without adjustment: {about} of them would be found to differ by chance alone."
    return (Note("OF307", text),)
