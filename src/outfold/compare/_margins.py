"""As good as: whether one configuration is not worse than another by a margin, or the two differ by less than the margin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..arguments import check_between, is_number
from ..exceptions import got, invalid
from ..metrics import MetricLike
from ..results import MarginComparison, MarginQuestion
from ._auto import find_compared
from ._compared import ComparedConfigs, Source
from ._pair_test import Hypothesis, TestLike, all_pairs, check_options, compare_pairs, public


@public
def non_inferior(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    margin: float,
    test: TestLike = "auto",
    alpha: float = 0.05,
    **options: Any,
) -> MarginComparison:
    """Whether `a` is worse than `b` by less than a margin, if at all: a one-sided test of the margin.

    "No difference found" does not show that a cheaper, simpler or faster model is as good. This does. The null hypothesis is
    that `a` is worse by the margin or more, in the direction of the metric: a larger loss is worse. The interval has the level
    1 - 2 alpha, 90 % for alpha 0.05, and its end on the worse side decides. Fix the margin before you see the scores.

    Parameters: {source, metric, pair, margin, margin_test, alpha, options}
    Returns: {margin_comparison}
    References: {tango1998}

    Examples: {outfold, nearly_alike}
    >>> of.compare.non_inferior(oof, "mean", "small", "large", margin=0.05)
    <MarginComparison mcnemar small - large: non-inferior within 0.05 mean? p = 6.9e-04>
    """
    return _within_margin("non-inferior", source, metric, a, b, margin, test, alpha, options)


@public
def equivalent(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    margin: float,
    test: TestLike = "auto",
    alpha: float = 0.05,
    **options: Any,
) -> MarginComparison:
    """Whether `a` and `b` differ by less than a margin, by two one-sided tests.

    One test is of the hypothesis that `a` is worse by the margin or more, the other that it is better by the margin or more
    [1]_. Both must reject, so the p value is the larger one of the two. The interval has the level 1 - 2 alpha, 90 % for alpha
    0.05; the two are equivalent exactly where it lies within the margin. Fix the margin before you see the scores.

    Parameters: {source, metric, pair, margin, margin_test, alpha, options}
    Returns: {margin_comparison}
    References: {schuirmann1987}

    Examples: {outfold, nearly_alike}
    >>> found = of.compare.equivalent(oof, "mean", "small", "large", margin=0.05)
    >>> found.holds, round(found.pvalue, 4)
    (True, 0.0022)
    """
    return _within_margin("equivalent", source, metric, a, b, margin, test, alpha, options)


def margin_hypotheses(
    question: MarginQuestion, margin: Any, level: float, greater_is_better: bool
) -> tuple[Hypothesis, ...]:
    """The one-sided hypotheses that must be rejected, with the level of the interval that goes with them."""
    check_margin(margin)
    worse = -margin if greater_is_better else margin
    sides = [Hypothesis("better", level, None, worse), Hypothesis("worse", level, None, -worse)]
    return tuple(sides[: 1 if question == "non-inferior" else 2])


def check_margin(margin: Any) -> float:
    if not (is_number(margin) and margin > 0):
        raise invalid("margin", "must be a number above 0, in units of the metric", got(margin))
    return float(margin)


def _refuse_whole_range(margin: float, compared: ComparedConfigs) -> None:
    """Refuse a margin as large as the range of the metric: no two differ by more."""
    low, high = (-np.inf, np.inf) if compared.metric is None else compared.metric.bounds
    largest = 1.0 if compared.zero_one else high - low
    if margin >= largest:
        raise invalid("margin", f"must be below {largest:g}: {compared.metric_name} cannot differ by more", got(margin))


def _within_margin(
    question: MarginQuestion,
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    margin: float,
    test: TestLike,
    alpha: float,
    options: Mapping[str, Any],
) -> MarginComparison:
    check_between(alpha, "alpha", 0.05, 0.0, 0.5)
    check_margin(margin)
    # One-sided tests at alpha belong to the ends of an interval at 1 - 2 alpha.
    level = round(1 - 2 * alpha, 12)
    # The direction of the metric, and so the sign of the null, is not known yet.
    asked = Hypothesis("better", null=margin)
    compared, (chosen, chosen_options, reason) = find_compared(source, metric, (a, b), test, asked, options)
    check_options(chosen, options)
    if not chosen.directed:
        raise invalid("test", "must have a direction", f"{chosen.name} has none", "Use `t_training`.")
    hypotheses = margin_hypotheses(question, margin, level, compared.greater_is_better)
    _refuse_whole_range(margin, compared)
    found = [compare_pairs(chosen, compared, all_pairs(2), one, **chosen_options)[0] for one in hypotheses]
    tests = tuple(replace(one, reason=reason) for one in found)
    return MarginComparison(question=question, margin=float(margin), tests=tests, alpha=float(alpha))
