"""Estimates by fold: the score of one configuration, and of the winner with and without a correction."""

from __future__ import annotations

import numpy as np

from .. import formatting, select
from ..arguments import RngLike, check_confidence_level, check_count
from ..data.notes import Note
from ..data.predictions import Predictions, State
from ..exceptions import NeedError, got, invalid
from ..metrics import MetricLike
from ..metrics._scoring import Aggregate, Scoring
from ..requirements import block, least_folds, requires
from ..results import Estimate
from ..select import RuleLike, as_rule
from ._build import build, document, fold_notes, sample_draws, single


@document
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
    """Estimate the performance of one configuration that you named before you saw any score.

    Parameters: {oof, metric}
    config : str, int or None
        The configuration, by name or position; None if there is only one.
    aggregate : {"fold", "pooled"}
        ``fold`` takes the mean over folds [1]_, ``pooled`` scores all samples of a repeat at once.
    {n_resamples}
    confidence_level : float
        Level of the interval. `Estimate.interval_method` names the interval that is valid for the plan and the metric. On one
        test set this is Wilson's for right and wrong answers, DeLong's for `roc_auc`, t for other means, and BCa for the
        rest. By folds it is the corrected t, or that of Bates et al. if the block ``inner`` was collected. With groups it is
        the cluster-robust one, or groups are drawn whole. A time series has none (OF218).
    {rng}
    Returns: {estimate}
    References: {tsamardinos2015}

    Examples
    --------
    >>> import outfold as of
    >>> oof = of.simulate.correctness(100, 2, accuracy=[0.6, 0.8]).oof
    >>> found = of.estimate.cv(oof, "mean", "config 1")
    >>> print(f"{found.value:.2f}, 95% CI {found.interval.low:.2f} to {found.interval.high:.2f}")
    0.73, 95% CI 0.54 to 0.92
    """
    if config is None and oof.n_configs > 1:
        raise invalid(
            "cv",
            "is the score of one configuration",
            remedy=f"Name one of the {oof.n_configs}, or use `bbc` for the selected configuration.",
        )
    one = oof if config is None else oof.sel(config=config)
    if one.n_configs > 1:
        raise invalid(
            "cv",
            "is the score of one configuration",
            got(one.n_configs),
            "Name one, or use `bbc(oof.sel(config=...), ...)` for the selected configuration.",
        )
    scoring = Scoring(one, metric, aggregate)
    folds = f"CV by {aggregate}", "Tsamardinos 2015, Alg. 1"
    text, reference = folds if len(scoring.cells) > 1 else ("one test set", "")  # nothing was cross-validated
    return single(scoring, "cv", text, reference, n_resamples, confidence_level, rng)


@document
@requires()
def cvt(oof: Predictions, metric: MetricLike, rule: RuleLike = None, aggregate: Aggregate = "fold") -> Estimate:
    """Return the winner's cross-validation score: optimistic, because the winner was picked for it.

    Report it beside the corrected estimates, never as the answer. It is Algorithm 2 of [1]_, there called CVM.

    Parameters: {oof, metric, rule}
    aggregate : {"fold", "pooled"}
        ``fold`` takes the mean over folds, ``pooled`` scores all samples of a repeat at once.
    Returns: {estimate}
    References: {tsamardinos2015}

    Examples
    --------
    >>> import outfold as of
    >>> oof = of.simulate.correctness(80, 20, accuracy=0.7).oof
    >>> round(of.estimate.cvt(oof, "mean").value, 2)
    0.81
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


@document
@requires(least_folds(2))
def tt(oof: Predictions, metric: MetricLike, rule: RuleLike = None) -> Estimate:
    """Estimate the performance of the selected configuration with the correction of Tibshirani and Tibshirani.

    The correction is the mean over folds of how much worse the winner is than the best configuration of that fold:
    (1/K) sum_k [l_k(j*) - min_j l_k(j)] for losses l.

    Parameters: {oof, metric, rule}
    Returns: {estimate}
    References: {tsamardinos2015, tibshirani2009}

    Examples
    --------
    >>> import outfold as of
    >>> oof = of.simulate.correctness(80, 20, accuracy=0.7).oof
    >>> round(of.estimate.tt(oof, "mean").value, 2)
    0.66
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


@document
@requires(least_folds(2), block("fresh"))
def cvm_cv(
    oof: Predictions,
    metric: MetricLike,
    rule: RuleLike = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance of the selected configuration by cross-validating it on a new random partition (double CV).

    This is less optimistic than the winner's cross-validation score, but still optimistic: the same samples selected it.
    It is Algorithm 3 of [1]_.

    Parameters: {oof, metric, rule, n_resamples, confidence_level, rng}
    Returns: {estimate}
    References: {tsamardinos2015}

    Examples: {models}
    >>> oof = of.collect(models, X, y, plan=3, fresh="accuracy", progress=False)
    >>> found = of.estimate.cvm_cv(oof, "accuracy", n_resamples=200)
    >>> found.selected, round(found.naive, 2), round(found.value, 2)
    ('bayes', 0.72, 0.69)
    """
    scoring = Scoring(oof, metric, "fold")
    selection = select.choose(scoring, as_rule(rule))
    fresh = oof.blocks["fresh"]
    if not np.any(fresh.state[selection.index] == State.DONE):
        raise NeedError(
            argument="cvm_cv",
            needed=f"needs {selection.name!r} on the new partition",
            given="the block `fresh` was collected for another metric or rule",
            remedy=f"Collect with `fresh={scoring.metric.name!r}` and the same rule.",
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
