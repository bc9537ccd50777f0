"""Estimates by fold: the score of one configuration, and of the winner with and without a correction."""

from __future__ import annotations

import numpy as np

from .. import formatting, select
from ..arguments import RngLike, check_confidence_level, check_count
from ..data.notes import Note
from ..data.predictions import Predictions, State
from ..exceptions import InputError, NeedError
from ..metrics import MetricLike
from ..metrics._scoring import Aggregate, Scoring
from ..requirements import block, least_folds, requires
from ..results import Estimate
from ..select import RuleLike, as_rule
from ._build import build, fold_notes, sample_draws, single


@requires()
def cv(
    oof: Predictions,
    metric: MetricLike,
    config: str | int | None = None,
    aggregate: Aggregate = "fold",
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Cross-validation score of one configuration that was named before looking at any score.

    Parameters
    ----------
    config
        The configuration; may be left out where there is one only.
    aggregate
        ``"fold"``, the mean over folds (Tsamardinos 2015, Alg. 1), or ``"pooled"``, one value for each repeat.
    confidence_level
        Level of the interval. It is the one valid for the plan and the metric, which `Estimate.interval_method` names: on one
        test set Wilson's for right and wrong answers, DeLong's for `roc_auc`, t for other means, BCa for the rest; by folds the
        corrected t, or that of Bates et al. where the block ``inner`` is there; cluster-robust or drawing groups whole where
        there are groups. There is none for a time series (OF218). `Estimate.confidence_interval` has the others.
    n_resamples, rng
        Of intervals that draw.
    """
    if config is None and oof.n_configs > 1:
        raise InputError(
            f"cv is the score of one configuration; name one of the {oof.n_configs}, or use bbc for the selected configuration."
        )
    one = oof if config is None else oof.sel(config=config)
    if one.n_configs > 1:
        raise InputError(
            f"cv is the score of one configuration; got {one.n_configs}. Name one, or use bbc(oof.sel(config=...), ...) for the "
            "selected one of several."
        )
    scoring = Scoring(one, metric, aggregate)
    folds = f"CV by {aggregate}", "Tsamardinos 2015, Alg. 1"
    text, reference = folds if len(scoring.cells) > 1 else ("one test set", "")  # nothing was cross-validated
    return single(scoring, "cv", text, reference, n_resamples, confidence_level, rng)


@requires()
def cvt(oof: Predictions, metric: MetricLike, rule: RuleLike = None, aggregate: Aggregate = "fold") -> Estimate:
    """The winner's cross-validation score: optimistic, because the winner was picked for it.

    Reported beside the honest estimates, never as the answer (Tsamardinos 2015, Alg. 2, there CVM).
    """
    scoring = Scoring(oof, metric, aggregate)
    selection = select.choose(scoring, as_rule(rule))
    note = Note("OF208", "the winner's cross-validation score is optimistic; bbc corrects it without further fits.")
    return build(
        scoring,
        selection,
        "cvt",
        value=selection.score,
        description=f"CVT by {aggregate}",
        reference="Tsamardinos 2015, Alg. 2",
        notes=(note,) if len(scoring.candidates) > 1 else (),
    )


@requires(least_folds(2))
def tt(oof: Predictions, metric: MetricLike, rule: RuleLike = None) -> Estimate:
    """Performance of the selected configuration with the correction of Tibshirani and Tibshirani (2009).

    CVT + (1/K) sum_k [l_k(j*) - min_j l_k(j)]: how much worse the winner is, fold by fold, than the fold's own best
    (Tsamardinos 2015, Alg. 4).
    """
    scoring = Scoring(oof, metric, "fold")
    selection = select.choose(scoring, as_rule(rule))
    sign = 1.0 if scoring.metric.greater_is_better else -1.0
    folds = sign * scoring.fold_scores()[0]
    folds = folds[:, ~np.all(np.isnan(folds), axis=0)]
    winner = scoring.names.index(selection.name)
    gap = np.nanmax(folds, axis=0) - folds[winner]
    value = selection.score - sign * float(np.nanmean(gap))
    notes = list(fold_notes(scoring))
    if oof.n_folds == oof.n_samples:
        own = f"{formatting.number(selection.score)} becomes {formatting.number(value)}"
        notes.append(Note("OF202", f"with leave-one-out the TT correction tends to twice the loss ({own}); use bbc."))
    low, high = scoring.metric.bounds
    if not low <= value <= high:
        notes.append(
            Note(
                "OF203",
                f"the corrected value {formatting.number(value)} lies outside the metric's range [{low:g}, {high:g}].",
            )
        )
    return build(
        scoring,
        selection,
        "tt",
        value=value,
        description="TT correction over folds",
        reference="Tibshirani & Tibshirani 2009; Tsamardinos 2015, Alg. 4",
        notes=tuple(notes),
    )


@requires(least_folds(2), block("fresh"))
def cvm_cv(
    oof: Predictions,
    metric: MetricLike,
    rule: RuleLike = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Score of the selected configuration on a new random partition (double CV; Tsamardinos 2015, Alg. 3).

    Less optimistic than the winner's cross-validation score, not free of optimism: the same samples selected it.
    """
    scoring = Scoring(oof, metric, "fold")
    selection = select.choose(scoring, as_rule(rule))
    fresh = oof.blocks["fresh"]
    if not np.any(fresh.state[selection.index] == State.DONE):
        raise NeedError(
            f"cvm_cv needs {selection.name!r} on the new partition; the block 'fresh' was collected for another metric or "
            f"rule. Collect with fresh={scoring.metric.name!r} and the same rule."
        )
    again = Scoring(fresh.sel(config=selection.name), metric, "fold")
    return build(
        scoring,
        selection,
        "cvm_cv",
        value=float(again.scores()[0, 0]),
        draws=sample_draws(again, check_count(n_resamples, "n_resamples", 2), rng),
        level=check_confidence_level(confidence_level),
        description="CV of the winner on a new partition",
        reference="Tsamardinos 2015, Alg. 3",
        notes=(*again.notes, *fold_notes(again)),
    )
