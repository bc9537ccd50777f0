"""Estimates by samples held out: one configuration, the winner with and without a correction, the whole search, hold-outs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from .. import formatting, select
from ..arguments import RngLike, check_choice, check_confidence_level, check_count
from ..data.criterion import AGGREGATES
from ..data.inner import leaves_out_pairs
from ..data.notes import Note
from ..data.predictions import Predictions, State
from ..data.seeds import fits_of_cells
from ..exceptions import InputError, got, invalid
from ..metrics import MetricLike
from ..metrics._scoring import Aggregate, Scoring, recorded_metric, selecting
from ..requirements import block, check_requirements, design, in_fresh, least_folds, requires
from ..results import Estimate
from ..select import Rule, RuleLike, recorded_rule
from ..tuning import outer_predictions, tune
from ._bbc import bbc
from ._build import (
    Subject,
    build,
    document,
    fold_notes,
    of_subject,
    single,
    skill_notes,
    with_interval,
)
from ._intervals import SelectedConfiguration


@document
@requires()
def cv(
    oof: Predictions,
    metric: MetricLike | None = None,
    config: str | int | None = None,
    *,
    aggregate: Literal["fold", "pooled"] = "fold",
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance of one configuration that you named before you saw any score (Algorithm 1 of [1]_).

    Parameters: {oof, recorded_metric}
    config : str, int or None
        The configuration, by name or position; None if there is only one.
    aggregate : {"fold", "pooled"}
        ``fold`` takes the mean over folds, ``pooled`` scores all samples of a repeat at once.
    {n_resamples}
    confidence_level : float
        Level of the interval. `Estimate.interval_method` names the interval that is valid for the plan and the metric. On one
        test set this is Wilson's for right and wrong answers, that of samples for `roc_auc` and for losses, t for other means,
        and BCa for the rest; leave-one-out has the same for means. By folds it is that of samples and training sets for means
        and for pooled scores, and the corrected t for the rest, or that of Bates et al. if the block ``inner`` was collected.
        With groups it is the cluster-robust one for means; for the rest it is t of the folds' scores, or groups are drawn whole
        where a fold has six or more. A time series has none (OF218). Repeats of one test set, without folds, are averaged by
        sample, and the interval is that of the samples.
    {rng}
    Returns: {estimate}
    References: {tsamardinos2015}

    Examples: {outfold}
    >>> oof = of.simulate.correctness(100, 2, accuracy=[0.6, 0.8]).oof
    >>> found = of.estimate.cv(oof, "mean", "config 1")
    >>> print(f"{found.value:.2f}, 95% CI {found.interval.low:.2f} to {found.interval.high:.2f}")
    0.73, 95% CI 0.60 to 0.83
    """
    one = oof if config is None else oof.sel(config=config)
    if one.n_configs > 1:
        remedy = f"Name one of the {oof.n_configs}, or use `bbc` for the selected configuration."
        raise invalid("cv", "is the score of one configuration", got(one.n_configs), remedy)
    check_choice(aggregate, ("fold", "pooled"), "aggregate")  # pairs within folds have no interval of their own
    scoring = Scoring(one, recorded_metric(oof, metric), aggregate)
    text, reference = f"CV by {aggregate}", "Tsamardinos 2015, Alg. 1"
    if scoring.one_test_set:  # nothing was cross-validated
        n = len(scoring.cells)
        text, reference = "one test set" if n == 1 else f"mean of {n} repeats on one test set", ""
    return single(scoring, "cv", text, reference, n_resamples, confidence_level, rng)


@document
@requires()
def cvt(
    oof: Predictions,
    metric: MetricLike | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
) -> Estimate:
    """Return the winner's cross-validation score: optimistic, because the winner was picked for it.

    Report it beside the corrected estimates, never as the answer. It is Algorithm 2 of [1]_, there called CVM.

    Parameters: {oof, recorded_metric, rule, aggregate}
    Returns: {estimate}
    References: {tsamardinos2015}

    Examples: {outfold}
    >>> oof = of.simulate.correctness(80, 20, accuracy=0.7).oof
    >>> round(of.estimate.cvt(oof, "mean").value, 2)
    0.81
    """
    scoring = selecting(oof, metric, aggregate)
    selection = select.choose(scoring, recorded_rule(oof, rule))
    note = Note("OF208", "the winner's cross-validation score is optimistic; bbc corrects it without further fits.")
    return build(
        scoring,
        selection,
        "cvt",
        value=selection.score,
        description=f"CVT, {AGGREGATES[scoring.aggregate]}",
        reference="Tsamardinos 2015, Alg. 2",
        notes=(note,) if len(scoring.candidates) > 1 else (),
    )


@document
@requires(least_folds(2))
def tt(
    oof: Predictions,
    metric: MetricLike | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
) -> Estimate:
    """Estimate the performance of the selected configuration with the correction of Tibshirani and Tibshirani.

    The correction is the mean over folds of how much worse the winner is than the best configuration of that fold:
    (1/K) sum_k [l_k(j*) - min_j l_k(j)] for losses l. It is subtracted from the score that selected. There is no interval: the
    bias of this correction can be larger than what chance in the samples explains.

    Parameters: {oof, recorded_metric, rule, aggregate}
    Returns: {estimate}
    References: {tsamardinos2015, tibshirani2009}

    Examples: {outfold}
    >>> oof = of.simulate.correctness(80, 20, accuracy=0.7).oof
    >>> round(of.estimate.tt(oof, "mean").value, 2)
    0.66
    """
    scoring = selecting(oof, metric, aggregate)
    selection = select.choose(scoring, recorded_rule(oof, rule))
    sign = 1.0 if scoring.metric.greater_is_better else -1.0
    folds = sign * scoring.fold_scores()[0]
    folds = folds[:, ~np.all(np.isnan(folds), axis=0)]
    winner = scoring.names.index(selection.name)
    gap = np.nanmax(folds, axis=0) - folds[winner]
    gap = gap[np.isfinite(gap)]
    # Pooled scores may be defined where no fold is: then there is nothing to correct by.
    value = selection.score - sign * float(np.mean(gap)) if len(gap) else np.nan
    live = scoring.metric.needs == "live"  # then samples cannot be drawn
    instead = "bbc gives one for metrics of predictions" if live else "use bbc"
    bias = "the bias of this correction is not known, and can be larger than chance"
    why = f"there is no valid interval: {bias}; {instead}."
    notes = [*fold_notes(scoring), Note("OF218", why)]
    if oof.n_folds == oof.n_samples:
        own = f"{formatting.number(selection.score)} becomes {formatting.number(value)}"
        notes.append(Note("OF202", f"with leave-one-out the TT correction tends to twice the loss ({own}); use bbc."))
    low, high = scoring.metric.bounds
    if not low <= value <= high:
        text = f"the corrected value {formatting.number(value)} lies outside the metric's range [{low:g}, {high:g}]."
        notes.append(Note("OF203", text))
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
    metric: MetricLike | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
) -> Estimate:
    """Estimate the performance of the selected configuration by cross-validating it on a new random partition (double CV).

    This is less optimistic than the winner's cross-validation score, but still optimistic: the same samples selected it. So
    it has no interval. It is Algorithm 3 of [1]_. For several metrics, collect with a list: ``fresh=["accuracy", "roc_auc"]``.

    Parameters: {oof, recorded_metric, rule, aggregate}
    Returns: {estimate}
    References: {tsamardinos2015}

    Examples: {models}
    >>> oof = of.collect(models, X, y, plan=3, fresh="accuracy", progress=False)
    >>> found = of.estimate.cvm_cv(oof, "accuracy")
    >>> found.selected, round(found.naive, 2), round(found.value, 2)
    ('bayes', 0.72, 0.69)
    """
    scoring = selecting(oof, metric, aggregate)
    selection = select.choose(scoring, recorded_rule(oof, rule))
    check_requirements("cvm_cv", (in_fresh(selection.name, "new partition", scoring.metric.name),), oof)
    again = Scoring(oof.blocks["fresh"].sel(config=selection.name), scoring.metric, "fold")
    why = "there is no valid interval: the samples that score the winner selected it; use bbc."
    return build(
        scoring,
        selection,
        "cvm_cv",
        value=float(again.scores()[0, 0]),
        description="CV of the winner on a new partition",
        reference="Tsamardinos 2015, Alg. 3",
        notes=(*again.notes, *fold_notes(again), Note("OF218", why)),
    )


@document
@requires(block("inner"))
def nested(
    oof: Predictions,
    metric: MetricLike | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance of the whole search as a learner, by nested cross-validation.

    For each outer fold, cross-validation on the other folds selects the configuration, and the outer fold scores it. It is
    Algorithm 5 of [1]_, the mean over outer folds. Set-valued metrics other than AUC and concordance, such as R2 and F1, are
    scored on all outer folds at once: few samples of one fold make them too low or too high.

    With ``collect(inner=True)``, a model trained without folds i and k serves both as outer i, inner k and as outer k, inner i.
    With ``collect(inner=2)``, each outer training part has two inner folds of its own. The outer fits are those of the ordinary
    cross-validation.

    Parameters: {oof, recorded_metric, rule, aggregate, n_resamples}
    confidence_level : float
        Level of the interval. It is made from the draws of `bbc` on the same predictions: how much the score of one
        configuration varies with the samples, and with what is selected.
    {rng}
    Returns: {estimate}
    References: {tsamardinos2015}

    Examples: {models}
    >>> oof = of.collect(models, X, y, plan=3, inner=True, progress=False)
    >>> found = of.estimate.nested(oof, "accuracy", n_resamples=200)
    >>> round(found.value, 2), found.details["fits"]
    (0.67, 13)
    """
    own_rule = recorded_rule(oof, rule)
    scoring = selecting(oof, metric, aggregate)
    selection = select.choose(scoring, own_rule)
    tuned = tune(scoring, own_rule, scoring.cells)
    of_search = outer_predictions(oof, {"search": tuned.picks})
    # Few samples of a fold make R2 too low, and average precision too high; shares of pairs, and means, have no such bias.
    by_fold = scoring.metric.pointwise or scoring.metric.within is not None
    value = float(Scoring(of_search, scoring.metric, "fold" if by_fold else "pooled").scores()[0, 0])
    fits = _nested_fits(oof, list(tuned.picks.values()), selection.index)
    level, n_resamples = check_confidence_level(confidence_level), check_count(n_resamples, "n_resamples", 2)
    intervals, no_interval = _interval_by_bbc(oof, scoring, own_rule, value, n_resamples, rng)
    return build(
        scoring,
        selection,
        "nested",
        value=value,
        level=level,
        intervals=intervals,
        description=_nested_words(fits),
        reference="Tsamardinos 2015, Alg. 5",
        notes=(
            *(fold_notes(scoring) if by_fold else ()),
            *tuned.notes(),
            *(no_interval or skill_notes(scoring)),
        ),
        chosen=np.array(tuned.chosen, dtype=object),
        details=fits,
    )


def _interval_by_bbc(
    oof: Predictions, scoring: Scoring, rule: Rule, value: float, n_resamples: int, rng: RngLike
) -> tuple[SelectedConfiguration | None, tuple[Note, ...]]:
    """The interval of an estimate from the draws of `bbc` on the same predictions; or the caveat that there is none."""
    try:
        found = bbc(oof, scoring.metric, rule=rule, aggregate=scoring.aggregate, n_resamples=n_resamples, rng=rng)
    except InputError as error:
        return None, (Note("OF218", f"there is no valid interval: {error}"),)
    assert isinstance(found.intervals, SelectedConfiguration)
    return found.intervals.of_one_choice(value), ()


def _nested_fits(oof: Predictions, picked: list[int], selected: int) -> dict[str, int]:
    """Fits behind a nested CV, the final one included: those done here, and those of the papers' protocol."""
    of_cell, inner_block = fits_of_cells(oof.provenance, oof.configs), oof.blocks["inner"]
    outer, inner = (
        int(of_cell @ np.sum(part.state[:, part.planned] != State.PENDING, axis=1)) for part in (oof, inner_block)
    )
    final, again = int(of_cell[selected]), int(of_cell[picked].sum())
    if not leaves_out_pairs(oof):
        return {"fits": outer + inner + final, "inner_folds": inner_block.n_folds}
    plain = oof.n_repeats * oof.n_folds**2 * int(of_cell.sum()) + again + final
    return {"fits": outer + inner // 2 + final, "fits_plain": plain}


def _nested_words(fits: Mapping[str, int]) -> str:
    if "inner_folds" in fits:
        return f"nested CV with {fits['inner_folds']} inner folds, {fits['fits']:,} fits"
    return f"nested CV, {fits['fits']:,} fits instead of {fits['fits_plain']:,}"


@document
@requires(block("resub"))
def resubstitution(
    oof: Predictions,
    metric: MetricLike | None = None,
    config: str | int | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
) -> Estimate:
    """Score a model on the very samples it was fitted on: optimistic, never the answer (section 1.3 of [1]_).

    Parameters: {oof, recorded_metric}
    config : str, int or None
        A configuration that you named beforehand. None takes the one that the held-out predictions select.
    {rule, aggregate}
    Returns: {estimate}
    References: {raschka2018}

    Examples: {models}
    >>> oof = of.collect(models, X, y, plan=3, resub=True, progress=False)
    >>> round(of.estimate.resubstitution(oof, "accuracy", "neighbours").value, 2)
    0.89
    """
    subject = Subject(oof, metric, config, rule, aggregate)
    scoring = Scoring(subject.oof.blocks["resub"], subject.metric)
    selection = subject.selection(scoring)
    why = "the model was fitted on these samples"
    result = build(
        scoring,
        selection,
        "resubstitution",
        value=selection.score,
        description="score on the samples it was fitted on",
        reference="Raschka 2018, sect. 1.3",
        notes=(Note("OF214", f"{why}, so the score is too good; more so for a flexible model."),),
        named=subject.named,
        own="resubstitution score",
    )
    return replace(result, plan="no sample held out", fingerprint=oof.fingerprint)


@document
@requires(design("holdout"))
def holdout(
    oof: Predictions,
    metric: MetricLike | None = None,
    config: str | int | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance of a model trained on one part of the samples by its score on the other (section 1.5 of [1]_).

    Parameters: {oof, recorded_metric, config, rule, aggregate, n_resamples, held_out_level, rng}
    Returns: {estimate}
    References: {raschka2018}

    Examples: {models}
    >>> oof = of.collect(models, X, y, plan=of.Plan.holdout(), progress=False)
    >>> round(of.estimate.holdout(oof, "accuracy", "bayes").value, 2)
    0.55
    """
    subject = Subject(oof, metric, config, rule, aggregate, n_resamples, rng)
    return _of_held_out(subject, "holdout", confidence_level)


@document
@requires(design("repeated_holdout"))
def repeated_holdout(
    oof: Predictions,
    metric: MetricLike | None = None,
    config: str | int | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance by Monte-Carlo cross-validation: the mean score of many random hold-outs (section 2.3 of [1]_).

    Parameters: {oof, recorded_metric, config, rule, aggregate, n_resamples, held_out_level, rng}
    Returns: {estimate}
    References: {raschka2018}

    Examples: {models}
    >>> oof = of.collect(models, X, y, plan=of.Plan.repeated_holdout(10), progress=False)
    >>> round(of.estimate.repeated_holdout(oof, "accuracy", "bayes").value, 2)
    0.68
    """
    subject = Subject(oof, metric, config, rule, aggregate, n_resamples, rng)
    return _of_held_out(subject, "repeated_holdout", confidence_level)


@document
@requires(design("loo"))
def loo(
    oof: Predictions,
    metric: MetricLike | None = None,
    config: str | int | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance by leave-one-out: a model trained on all other samples predicts each sample (section 3.5 of [1]_).

    All samples are scored at once.

    Parameters: {oof, recorded_metric, config, rule, aggregate, n_resamples, held_out_level, rng}
    Returns: {estimate}
    References: {raschka2018}

    Examples: {models}
    >>> oof = of.collect(models, X[::2], y[::2], plan=of.Plan.leave_one_out(), progress=False)
    >>> round(of.estimate.loo(oof, "accuracy", "bayes").value, 2)
    0.66
    """
    subject = Subject(oof, metric, config, rule, aggregate, n_resamples, rng)
    return _of_held_out(subject, "loo", confidence_level)


# What is estimated, where it is described, and what the winner's score is called.
_HELD_OUT = {
    "holdout": ("score of the held-out part", "Raschka 2018, sect. 1.5", "hold-out score"),
    "repeated_holdout": ("mean score of {:,} hold-outs", "Raschka 2018, sect. 2.3", "mean hold-out score"),
    "loo": ("leave-one-out", "Raschka 2018, sect. 3.5", "leave-one-out score"),
}


def _of_held_out(subject: Subject, method: str, level: float) -> Estimate:
    words, reference, own = _HELD_OUT[method]
    text = words.format(subject.oof.n_repeats)
    if subject.named:
        # Test parts that overlap are the folds of the corrected t; their mean is the same by fold and by repeat.
        scoring = Scoring(subject.oof, subject.metric, "fold" if method == "repeated_holdout" else "pooled")
        return single(scoring, method, text, reference, subject.n_resamples, level, subject.rng)
    level = check_confidence_level(level)
    scoring = Scoring(subject.oof, subject.metric)
    return of_subject(
        subject,
        scoring,
        method,
        description=text,
        reference=reference,
        own=own,
        level=level,
        keeps_draws=True,
    )


@document
@requires(design("three_way"), block("fresh"))
def three_way(
    oof: Predictions,
    metric: MetricLike | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance of the configuration that the validation part selects, by its score on the test part.

    For the test part the configuration was fitted again, on the train and validation parts together (section 3.3 of [1]_). Use
    `refit` for the model fitted on all samples. The test part did not select, so nothing has to be corrected, and the interval
    is that of one test set.

    Parameters: {oof, recorded_metric, rule, aggregate, n_resamples, confidence_level, rng}
    Returns: {estimate}
    References: {raschka2018}

    Examples: {models}
    >>> oof = of.collect(models, X, y, plan=of.Plan.three_way(), fresh="accuracy", progress=False)
    >>> found = of.estimate.three_way(oof, "accuracy")
    >>> found.selected, round(found.value, 2)
    ('neighbours', 0.55)
    """
    scoring = selecting(oof, metric, aggregate)
    selection = select.choose(scoring, recorded_rule(oof, rule))
    check_requirements("three_way", (in_fresh(selection.name, "test part", scoring.metric.name),), oof)
    test = Scoring(oof.blocks["fresh"].sel(config=selection.name), scoring.metric)
    n_train = len(oof.splits.train_rows(0, 0))
    sizes = {"n_train": n_train, "n_validation": len(scoring.rows), "n_test": len(test.rows)}
    result = build(
        scoring,
        selection,
        "three_way",
        value=float(test.scores()[0, 0]),
        description=f"score of {len(test.rows):,} test samples, selected on {len(scoring.rows):,} others",
        reference="Raschka 2018, sect. 3.3",
        own="score on the validation part",
        details=sizes,
    )
    result = replace(result, n_samples=oof.n_samples, notes=(*result.notes, *test.notes))
    return with_interval(result, test, n_resamples, confidence_level, rng)
