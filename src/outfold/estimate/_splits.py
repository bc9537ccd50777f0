"""Estimates by one split or many, and by none at all: resubstitution, hold-outs, leave-one-out."""

from __future__ import annotations

from dataclasses import replace

from .. import select
from ..arguments import RngLike, check_confidence_level
from ..data.notes import Note
from ..data.predictions import Predictions
from ..metrics import MetricLike
from ..metrics._scoring import Scoring
from ..requirements import block, check_requirements, design, in_fresh, requires
from ..results import Estimate
from ..select import RuleLike, as_rule
from ._build import Subject, build, document, of_subject, single, with_interval


@document
@requires(block("resub"))
def resubstitution(
    oof: Predictions, metric: MetricLike, config: str | int | None = None, rule: RuleLike = None
) -> Estimate:
    """Score a model on the very samples it was fitted on: optimistic, never the answer (section 1.3 of [1]_).

    Parameters: {oof, metric}
    config : str, int or None
        A configuration that you named beforehand. None selects one by its resubstitution score; nothing corrects for that.
    {rule}
    Returns: {estimate}
    References: {raschka2018}

    Examples: {models}
    >>> oof = of.collect(models, X, y, plan=3, resub=True, progress=False)
    >>> round(of.estimate.resubstitution(oof, "accuracy", "neighbours").value, 2)
    0.89
    """
    subject = Subject(oof.blocks["resub"], config, rule, 2, 0)
    scoring = Scoring(subject.oof, metric)
    selection = select.choose(scoring, subject.rule)
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
    metric: MetricLike,
    config: str | int | None = None,
    rule: RuleLike = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance of a model trained on one part of the samples by its score on the other (section 1.5 of [1]_).

    Parameters: {oof, metric, config, rule, n_resamples, held_out_level, rng}
    Returns: {estimate}
    References: {raschka2018}

    Examples: {models}
    >>> oof = of.collect(models, X, y, plan=of.Plan.holdout(), progress=False)
    >>> round(of.estimate.holdout(oof, "accuracy", "bayes").value, 2)
    0.55
    """
    return _of_held_out(Subject(oof, config, rule, n_resamples, rng), metric, "holdout", confidence_level)


@document
@requires(design("repeated_holdout"))
def repeated_holdout(
    oof: Predictions,
    metric: MetricLike,
    config: str | int | None = None,
    rule: RuleLike = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance by Monte-Carlo cross-validation: the mean score of many random hold-outs (section 2.3 of [1]_).

    Parameters: {oof, metric, config, rule, n_resamples, held_out_level, rng}
    Returns: {estimate}
    References: {raschka2018}

    Examples: {models}
    >>> oof = of.collect(models, X, y, plan=of.Plan.repeated_holdout(10), progress=False)
    >>> round(of.estimate.repeated_holdout(oof, "accuracy", "bayes").value, 2)
    0.68
    """
    return _of_held_out(Subject(oof, config, rule, n_resamples, rng), metric, "repeated_holdout", confidence_level)


@document
@requires(design("loo"))
def loo(
    oof: Predictions,
    metric: MetricLike,
    config: str | int | None = None,
    rule: RuleLike = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance by leave-one-out: a model trained on all other samples predicts each sample (section 3.5 of [1]_).

    All samples are scored at once.

    Parameters: {oof, metric, config, rule, n_resamples, held_out_level, rng}
    Returns: {estimate}
    References: {raschka2018}

    Examples: {models}
    >>> oof = of.collect(models, X[::2], y[::2], plan=of.Plan.leave_one_out(), progress=False)
    >>> round(of.estimate.loo(oof, "accuracy", "bayes").value, 2)
    0.66
    """
    return _of_held_out(Subject(oof, config, rule, n_resamples, rng), metric, "loo", confidence_level)


# What is estimated, where it is described, and what the winner's score is called.
_HELD_OUT = {
    "holdout": ("score of the held-out part", "Raschka 2018, sect. 1.5", "hold-out score"),
    "repeated_holdout": ("mean score of {:,} hold-outs", "Raschka 2018, sect. 2.3", "mean hold-out score"),
    "loo": ("leave-one-out", "Raschka 2018, sect. 3.5", "leave-one-out score"),
}


def _of_held_out(subject: Subject, metric: MetricLike, method: str, level: float) -> Estimate:
    """The score of the samples held out, with its interval."""
    words, reference, own = _HELD_OUT[method]
    text = words.format(subject.oof.n_repeats)
    if subject.named:
        # Test parts that overlap are the folds of the corrected t; their mean is the same by fold and by repeat.
        scoring = Scoring(subject.oof, metric, "fold" if method == "repeated_holdout" else "pooled")
        return single(scoring, method, text, reference, subject.n_resamples, level, subject.rng)
    level = check_confidence_level(level)
    scoring = Scoring(subject.oof, metric)
    return of_subject(
        subject, scoring, method, description=text, reference=reference, own=own, level=level, keeps_draws=True
    )


@document
@requires(design("three_way"), block("fresh"))
def three_way(
    oof: Predictions,
    metric: MetricLike,
    rule: RuleLike = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance of the configuration that the validation part selects, by its score on the test part.

    For the test part the configuration was fitted again, on the train and validation parts together (section 3.3 of [1]_). Use
    `refit` for the model fitted on all samples. The test part did not select, so nothing has to be corrected, and the interval
    is that of one test set.

    Parameters: {oof, metric, rule, n_resamples, confidence_level, rng}
    Returns: {estimate}
    References: {raschka2018}

    Examples: {models}
    >>> oof = of.collect(models, X, y, plan=of.Plan.three_way(), fresh="accuracy", progress=False)
    >>> found = of.estimate.three_way(oof, "accuracy")
    >>> found.selected, round(found.value, 2)
    ('neighbours', 0.55)
    """
    scoring = Scoring(oof, metric)
    selection = select.choose(scoring, as_rule(rule))
    check_requirements("three_way", (in_fresh(selection.name, "test part", scoring.metric.name),), oof)
    test = Scoring(oof.blocks["fresh"].sel(config=selection.name), metric)
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
