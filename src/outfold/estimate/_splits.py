"""Estimates by one split or many, and by none at all: resubstitution, hold-outs, leave-one-out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import select
from ..arguments import RngLike, check_confidence_level
from ..data.notes import Note
from ..data.predictions import Predictions, State
from ..exceptions import NeedError
from ..metrics import MetricLike
from ..metrics._scoring import Scoring
from ..requirements import block, design, requires
from ..results import Estimate
from ..select import RuleLike, as_rule
from ._build import build, single, with_interval
from ._subject import Subject, of_subject


@requires(block("resub"))
def resubstitution(
    oof: Predictions, metric: MetricLike, config: str | int | None = None, rule: RuleLike = None
) -> Estimate:
    """The score of a model on the very samples it was fitted on: optimistic, never the answer (Raschka 2018, sect. 1.3).

    Parameters
    ----------
    config, rule
        A configuration named beforehand, or how one is selected by its resubstitution score; nothing corrects for that.
    """
    subject = Subject(oof.blocks["resub"], config, rule, 2, 0)
    scoring = Scoring(subject.oof, metric)
    selection = select.choose(scoring, subject.rule)
    result = build(
        scoring,
        selection,
        "resubstitution",
        value=selection.score,
        description="score on the samples it was fitted on",
        reference="Raschka 2018, sect. 1.3",
        notes=(
            Note(
                "OF214",
                "the model was fitted on these samples, so the score is too good; more so for a flexible model.",
            ),
        ),
        named=subject.named,
        own="resubstitution score",
    )
    return replace(result, plan="no sample held out", fingerprint=oof.fingerprint)


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
    """Performance of a model trained on one part of the samples, by its score on the other (Raschka 2018, sect. 1.5).

    Parameters
    ----------
    config
        A configuration named beforehand. None, where there are several, is the one with the best hold-out score, and the value
        is corrected for the selection as in `bbc`.
    rule
        How the configuration is selected; `select.best` by default.
    n_resamples, rng
        Draws that correct for the selection, and those of intervals that draw.
    confidence_level
        Level of the interval: of a configuration named beforehand the one valid for the metric, as in `cv`; of the selected
        configuration the quantiles of the draws, as in `bbc`.
    """
    return _of_held_out(
        Subject(oof, config, rule, n_resamples, rng),
        metric,
        "holdout",
        description="score of the held-out part",
        reference="Raschka 2018, sect. 1.5",
        own="hold-out score",
        level=confidence_level,
    )


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
    """Performance by Monte-Carlo cross-validation: the mean score of many random hold-outs (Raschka 2018, sect. 2.3).

    Parameters
    ----------
    config, rule, n_resamples, confidence_level, rng
        As in `holdout`: a configuration named beforehand, or the one selected by this estimate, corrected for the selection.
    """
    return _of_held_out(
        Subject(oof, config, rule, n_resamples, rng),
        metric,
        "repeated_holdout",
        description=f"mean score of {oof.n_repeats:,} hold-outs",
        reference="Raschka 2018, sect. 2.3",
        own="mean hold-out score",
        level=confidence_level,
    )


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
    """Performance by leave-one-out: all samples scored at once, each by a model trained on all others.

    Parameters
    ----------
    config, rule, n_resamples, confidence_level, rng
        As in `holdout`: a configuration named beforehand, or the one selected by this estimate, corrected for the selection.
    """
    return _of_held_out(
        Subject(oof, config, rule, n_resamples, rng),
        metric,
        "loo",
        description="leave-one-out",
        reference="Raschka 2018, sect. 3.5",
        own="leave-one-out score",
        level=confidence_level,
    )


def _of_held_out(
    subject: Subject, metric: MetricLike, method: str, *, description: str, reference: str, own: str, level: float
) -> Estimate:
    """The score of the samples held out, with its interval."""
    if subject.named:
        # Test parts that overlap are the folds of the corrected t; their mean is the same by fold and by repeat.
        scoring = Scoring(subject.oof, metric, "fold" if method == "repeated_holdout" else "pooled")
        return single(scoring, method, description, reference, subject.n_resamples, level, subject.rng)
    return of_subject(
        subject,
        Scoring(subject.oof, metric),
        method,
        description=description,
        reference=reference,
        own=own,
        level=check_confidence_level(level),
        keeps_draws=True,
    )


@requires(design("three_way"), block("fresh"))
def three_way(
    oof: Predictions,
    metric: MetricLike,
    rule: RuleLike = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Performance of the configuration that the validation part selects, by its score on the test part.

    For the test part it was fitted again, on train and validation part together; `refit` gives the model fitted on all samples
    (Raschka 2018, sect. 3.3). Nothing corrects for the selection, because the test part had no say in it; so the interval is that
    of one test set, as in `cv`.

    Parameters
    ----------
    rule
        How the configuration was selected; `select.best` by default.
    confidence_level
        Level of the interval.
    n_resamples, rng
        Of intervals that draw.
    """
    scoring = Scoring(oof, metric)
    selection = select.choose(scoring, as_rule(rule))
    fresh = oof.blocks["fresh"]
    if not np.any(fresh.state[selection.index] == State.DONE):
        raise NeedError(
            f"three_way needs {selection.name!r} on the test part; it was collected for another metric or rule. Collect with "
            f"fresh={scoring.metric.name!r} and the same rule."
        )
    test = Scoring(fresh.sel(config=selection.name), metric)
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
