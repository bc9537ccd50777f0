"""How a test is declared, and how it is put to one pair or to many."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..arguments import check_level
from ..data.notes import Note
from ..data.predictions import Predictions
from ..exceptions import InputError, got
from ..metrics import MetricLike
from ..results import Alternative, Comparison, Comparisons, Outcome, Terms
from ._contest import Contest, Source

ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "better", "worse")


@dataclass(frozen=True)
class Question:
    """What is asked of a test, whatever the test.

    Attributes
    ----------
    alternative
        Whether the first is different, ``better`` or ``worse``.
    confidence_level
        Level of the interval; the decision is at one minus it.
    rope
        Half the width of the region of practical equivalence, in units of the metric, or None.
    """

    alternative: Alternative = "two-sided"
    confidence_level: float = 0.95
    rope: float | None = None

    def __post_init__(self) -> None:
        check_level(self.confidence_level)
        if self.alternative not in ALTERNATIVES:
            raise InputError(f"alternative must be 'two-sided', 'better' or 'worse'; got {self.alternative!r}.")
        rope = self.rope
        if rope is not None and not (isinstance(rope, (int, float, np.number)) and np.isfinite(rope) and rope >= 0):
            needed = "must be a number from 0 on, in units of the metric"
            raise InputError(argument="rope", needed=needed, given=got(rope))
        object.__setattr__(self, "rope", None if rope is None else float(rope))


@dataclass(frozen=True)
class Answer:
    """What a test found of many pairs, and its caveats for all of them.

    Attributes
    ----------
    outcome
        The numbers, pair by pair.
    scores
        (C,) the metric of every configuration.
    description
        Replaces that of the test where more is to be said.
    statistic_name
        Replaces that of the test where it hangs on the data.
    """

    outcome: Outcome
    scores: NDArray[np.float64]
    notes: tuple[Note, ...] = ()
    description: str | None = None
    statistic_name: str | None = None


Compute = Callable[..., Answer]


@dataclass(frozen=True)
class PairTest:
    """A test of two configurations, computed for many pairs at once.

    Attributes
    ----------
    name
        Its function in `outfold.compare`.
    description, reference
        In words, and where it comes from.
    statistic_name
        Such as ``t``.
    needs
        What it needs, in words, for the docs.
    compute
        ``compute(contest, pairs, question, **options)`` with pairs (P, 2) of positions; checks what it needs.
    metric
        The metric where none is asked for and it fits the task; that of the task otherwise.
    """

    name: str
    description: str
    reference: str
    statistic_name: str
    needs: str
    compute: Compute
    metric: str | None = None

    def contest(self, source: Source, metric: MetricLike | None, configs: Sequence[str | int] | None = None) -> Contest:
        """Who takes part, by the metric asked for or else by that of the test or of the task."""
        return Contest(source, default_metric(source, metric, self.metric), configs)


def default_metric(source: Source, metric: MetricLike | None, own: str | None) -> MetricLike | None:
    """The metric asked for; the test's own where none is and it fits the task; else None, which is that of the task."""
    if metric is None and own is not None and isinstance(source, Predictions):
        return own if source.target.task in metrics.get(own).tasks else None
    return metric


def compare_pair(
    test: PairTest,
    source: Source,
    a: str | int,
    b: str | int,
    metric: MetricLike | None,
    question: Question,
    **options: Any,
) -> Comparison:
    """The test of one pair."""
    contest = test.contest(source, metric, (a, b))
    return compare_pairs(test, contest, np.array([[0, 1]]), question, **options)[0]


def compare_pairs(
    test: PairTest, contest: Contest, pairs: NDArray[np.intp], question: Question, **options: Any
) -> Comparisons:
    """The test of many pairs, not adjusted for their number."""
    answer = test.compute(contest, pairs, question, **options)
    selected = contest.notes_on_selection(
        pairs, "probabilities do" if answer.outcome.pvalue is None else "p value does"
    )
    outcome = replace(answer.outcome, notes=_joined(answer.outcome.notes, selected))
    source = contest.source
    terms = Terms(
        metric=contest.metric_name,
        greater_is_better=contest.greater_is_better,
        method=test.name,
        description=answer.description or test.description,
        reference=test.reference,
        statistic_name=answer.statistic_name or test.statistic_name,
        plan=str(contest.plan),
        fingerprint=source.fingerprint,
        n_samples=source.n_samples,
        alternative=question.alternative,
        confidence_level=question.confidence_level,
        rope=question.rope,
    )
    return Comparisons(
        terms=terms,
        configs=contest.configs,
        scores=answer.scores,
        pairs=pairs,
        outcome=outcome,
        adjust="none",
        notes=answer.notes,
    )


def _joined(
    first: Mapping[int, tuple[Note, ...]], second: Mapping[int, tuple[Note, ...]]
) -> Mapping[int, tuple[Note, ...]]:
    return {i: (*first.get(i, ()), *second.get(i, ())) for i in sorted({*first, *second})}


def all_pairs(n: int) -> NDArray[np.intp]:
    """(P, 2) every pair of positions once, the earlier one first."""
    return np.stack(np.triu_indices(n, 1), axis=1).astype(np.intp)


def pairs_against(control: int, n: int) -> NDArray[np.intp]:
    """(P, 2) every other position against the control, which stands second."""
    others = [i for i in range(n) if i != control]
    return np.array([[i, control] for i in others], dtype=np.intp)


def one_sided(two_sided: NDArray[np.float64], statistic: NDArray[np.float64]) -> NDArray[np.float64]:
    """The p value of "greater" from a two-sided one and the signed statistic of a symmetric distribution."""
    return np.where(statistic > 0, two_sided / 2, 1 - two_sided / 2)
