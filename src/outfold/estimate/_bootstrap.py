"""Estimates by bootstrap rounds: train on what was drawn, test on what was not, and mend the bias of either."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..arguments import RngLike, check_choice, check_confidence_level
from ..data.notes import Note
from ..data.predictions import Predictions
from ..metrics import MetricLike
from ..metrics._scoring import Scoring
from ..requirements import block, design, requires
from ..results import Estimate, Interval
from ..select import RuleLike
from ..stats.intervals import student
from ._build import document
from ._rounds import Optimism, Point632, Point632ByRound, Point632Plus, Point632PlusByRound
from ._subject import Subject, of_subject

# Scores that differ by less, relative to their size, differ by rounding.
_ROUNDING = 1e-12


@document
@requires(design("bootstrap"))
def oob(
    oof: Predictions,
    metric: MetricLike,
    config: str | int | None = None,
    rule: RuleLike = None,
    interval: Literal["t", "percentile"] = "t",
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance after training on bootstrap samples: the mean out-of-bag score over rounds (section 2.4 of [1]_).

    Each round trains on 63 percent of the samples, so the estimate is a little too low for a model trained on all of them.

    Parameters: {oof, metric, config, rule}
    interval : {"t", "percentile"}
        The interval of a configuration named beforehand. ``t`` is the mean plus and minus t standard deviations over rounds
        (eq. 31), ``percentile`` the quantiles of the rounds. The selected configuration gets the quantiles of the draws, as
        in `bbc`.
    {n_resamples, confidence_level, rng}
    Returns: {estimate}
    References: {raschka2018}

    Examples: {rounds}
    >>> found = of.estimate.oob(oof, "accuracy")
    >>> found.selected, round(found.value, 2)
    ('bayes', 0.7)
    """
    check_choice(interval, ("t", "percentile"), "interval")
    level = check_confidence_level(confidence_level)
    subject = Subject(oof, config, rule, n_resamples, rng)
    scoring = Scoring(subject.oof, metric)
    kept = _rounds_of_one(scoring) if subject.named else None
    why = "there is no valid interval: the scores of the rounds do not vary, or fewer than two are defined."
    around = Interval(*student(kept, level)) if kept is not None and interval == "t" else None
    return of_subject(
        subject,
        scoring,
        "oob",
        description=f"mean out-of-bag score of {len(scoring.cells):,} bootstrap rounds"
        + ("" if kept is None else f", {interval} interval of the rounds"),
        reference="Raschka 2018, sect. 2.4",
        own="out-of-bag score",
        draws=kept,
        level=level,
        interval=around,
        keeps_draws=True,
        notes=(Note("OF218", why),) if subject.named and kept is None else (),
    )


@document
@requires(design("bootstrap"), block("inbag"), block("resub"))
def point632(
    oof: Predictions,
    metric: MetricLike,
    config: str | int | None = None,
    rule: RuleLike = None,
    per_round: bool = False,
    n_resamples: int = 1000,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance by the .632 bootstrap: 0.368 resubstitution + 0.632 out-of-bag score.

    It is optimistic for models that overfit, such as one nearest neighbour; `point632plus` is not.

    Parameters: {oof, metric, config, rule, per_round, n_resamples, rng}
    Returns: {estimate}
    References: {raschka2018, efron1983}

    Examples: {rounds}
    >>> round(of.estimate.point632(oof, "accuracy", "neighbours").value, 2)
    0.68
    """
    made = Point632ByRound if per_round else Point632
    return _combined(made, "point632", ".632 bootstrap", "Efron 1983", oof, metric, config, rule, n_resamples, rng)


@document
@requires(design("bootstrap"), block("inbag"), block("resub"))
def point632plus(
    oof: Predictions,
    metric: MetricLike,
    config: str | int | None = None,
    rule: RuleLike = None,
    per_round: bool = False,
    n_resamples: int = 1000,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance by the .632+ bootstrap, which trusts the resubstitution score less if the model overfits more.

    As published, the out-of-bag part of a pointwise metric is a mean over rounds for each sample, then a mean over samples.
    For a configuration named beforehand, ``details`` has the parts of the estimate.

    Parameters: {oof}
    metric : str, callable or Metric
        A mean over samples, `roc_auc` or `concordance`: its value without information must be known.
    {config, rule, per_round, n_resamples, rng}
    Returns: {estimate}
    References: {raschka2018, efron1997}

    Examples: {rounds}
    >>> found = of.estimate.point632plus(oof, "accuracy", "neighbours")
    >>> round(found.value, 2), round(found.details["overfitting"], 2)
    (0.58, 0.87)
    """
    made = Point632PlusByRound if per_round else Point632Plus
    reference = "Raschka 2018, eq. 35" if per_round else "Efron & Tibshirani 1997"
    return _combined(made, "point632plus", ".632+ bootstrap", reference, oof, metric, config, rule, n_resamples, rng)


@document
@requires(design("bootstrap"), block("inbag"), block("resub"))
def optimism(
    oof: Predictions,
    metric: MetricLike,
    config: str | int | None = None,
    rule: RuleLike = None,
    n_resamples: int = 1000,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance as the resubstitution score minus its optimism, which bootstrap rounds measure.

    The optimism of a round is the score of its model on the samples it drew minus its score on all samples. Any metric works.

    Parameters: {oof, metric, config, rule, n_resamples, rng}
    Returns: {estimate}
    References: {harrell1996}

    Examples: {rounds}
    >>> round(of.estimate.optimism(oof, "accuracy", "bayes").value, 2)
    0.67
    """
    text, reference = "optimism bootstrap", "Harrell, Lee & Mark 1996"
    return _combined(Optimism, "optimism", text, reference, oof, metric, config, rule, n_resamples, rng)


def _rounds_of_one(scoring: Scoring) -> NDArray[np.float64] | None:
    """The scores of the rounds of the only candidate; None where they say nothing of spread: fewer than two, or all the same."""
    rounds = scoring.fold_scores()[0, 0]
    kept = rounds[np.isfinite(rounds)]
    return kept if len(kept) > 1 and np.ptp(kept) > _ROUNDING * np.abs(kept).max() else None


def _combined(
    made: Any,
    method: str,
    text: str,
    reference: str,
    oof: Predictions,
    metric: MetricLike,
    config: str | int | None,
    rule: RuleLike,
    n_resamples: int,
    rng: RngLike,
) -> Estimate:
    subject = Subject(oof, config, rule, n_resamples, rng)
    scoring = made(subject.oof, metric)
    return of_subject(
        subject,
        scoring,
        method,
        description=f"{text}, {len(scoring.cells):,} rounds",
        reference=reference,
        own=f"{text} score",
        details=_parts(scoring) if len(scoring.candidates) == 1 else {},
    )


def _parts(scoring: Any) -> dict[str, float]:
    """What the estimate of one configuration is made of."""
    if not isinstance(scoring, Point632):
        return {}
    out = {"resubstitution": float(scoring.apparent()[0, 0]), "out_of_bag": float(scoring.out_of_bag()[0, 0])}
    if isinstance(scoring, Point632Plus):
        out |= {"no_information": float(scoring.gamma[0]), "overfitting": float(scoring.plus().overfitting[0, 0])}
    return out
