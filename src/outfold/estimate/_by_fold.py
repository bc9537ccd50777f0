"""Estimates from scores of folds alone, for what predictions cannot tell."""

from __future__ import annotations

import numpy as np

from .. import select
from ..arguments import RngLike, as_seed, check_confidence_level, check_count
from ..data.predictions import Predictions
from ..data.scores import layout
from ..exceptions import NeedError
from ..metrics import MetricLike
from ..metrics._scoring import selecting
from ..requirements import Requirement, requires
from ..results import Estimate
from ..select import RuleLike, recorded_rule
from ..stats.intervals import fold_draws
from ._build import approximate, build, document

# Fewer folds have too few different draws.
_LEAST_FOLDS = 5

PARTITION: Requirement[Predictions] = Requirement(
    f"one repeat of {_LEAST_FOLDS} folds or more",
    lambda oof: oof.n_repeats == 1 and oof.n_folds >= _LEAST_FOLDS and layout(oof) in ("kfold", "loo"),
    "Use `tt`, or `bbc` if the metric is one of predictions.",
)


@document
@requires(PARTITION)
def bbc_f(
    oof: Predictions,
    metric: MetricLike | None = None,
    *,
    rule: RuleLike = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance of the selected configuration from the scores of the folds, by drawing folds (BBC-F).

    Each draw takes K folds with replacement, selects the configuration with the best mean on them, and takes its mean on the
    folds it did not draw. The estimate is the mean of these. Use it for scores that are known for whole folds only; otherwise
    `bbc` draws samples, which are more. The interval, the quantiles of the draws, is approximate.

    Parameters: {oof, recorded_metric}
    rule : Rule, callable or None
        Must be `select.best`, or None if the predictions record it.
    {n_resamples, confidence_level, rng}
    Returns: {estimate}
    References: {paraschakis2024}

    Examples: {outfold}
    >>> oof = of.simulate.correctness(80, 20, accuracy=0.7, folds=10).oof
    >>> found = of.estimate.bbc_f(oof, "mean")
    >>> round(found.naive, 2), round(found.value, 2)
    (0.81, 0.75)
    """
    level, n_resamples = check_confidence_level(confidence_level), check_count(n_resamples, "n_resamples", 2)
    if recorded_rule(oof, rule).name != select.best.name:
        given = f"this rule is {recorded_rule(oof, rule).name}"
        raise NeedError(argument="bbc_f", needed="needs the rule `select.best`", given=given, remedy="Use `tt`.")
    scoring = selecting(oof, metric, "fold")
    selection = select.choose(scoring, select.best)
    folds = scoring.fold_scores()[0]
    folds = folds[:, ~np.isnan(folds).all(axis=0)]  # a fold of one class has no AUC, whatever the configuration
    defined = ~np.isnan(folds).any(axis=1)
    if folds.shape[1] < _LEAST_FOLDS or not defined.any():
        needed = f"needs {_LEAST_FOLDS} folds or more with a score"
        given = f"{scoring.metric.name} is undefined in some of these folds"
        raise NeedError(argument="bbc_f", needed=needed, given=given, remedy="Use `tt`.")
    draws, chosen = fold_draws(
        folds[defined], scoring.metric.greater_is_better, n_resamples, np.random.default_rng(as_seed(rng))
    )
    names = np.array(scoring.names, dtype=object)[defined]
    return build(
        scoring,
        selection,
        "bbc_f",
        value=float(draws.mean()),
        draws=draws,
        level=level,
        description=f"BBC-F, {n_resamples:,} draws of {folds.shape[1]} folds",
        reference="Paraschakis 2024",
        chosen=names[chosen],
        notes=(approximate(f"{folds.shape[1]} folds are few to draw from"),),
        details={"n_resamples": n_resamples},
    )
