"""Estimates from scores of folds alone, for what predictions cannot tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import select
from ..arguments import RngLike, as_seed, check_confidence_level, check_count
from ..data.notes import Note
from ..data.predictions import Predictions
from ..data.scores import layout, split_sizes
from ..exceptions import NeedError
from ..metrics import MetricLike
from ..metrics._scoring import Scoring, selecting
from ..requirements import UNTRAINED_ESTIMATE, Requirement, requires
from ..results import Estimate
from ..select import RuleLike, recorded_rule
from ..stats.intervals import fold_draws
from ..stats.split_means import NormalMeans, weighted_mean
from ._build import approximate, build, document, fold_notes

# Fewer folds have too few different draws.
_LEAST_FOLDS = 5

PARTITION: Requirement[Predictions] = Requirement(
    f"one repeat of {_LEAST_FOLDS} folds or more",
    lambda oof: oof.n_repeats == 1 and oof.n_folds >= _LEAST_FOLDS and layout(oof) in ("kfold", "loo"),
    "Use `tt`, or `bbc` if the metric is one of predictions.",
    untrained=UNTRAINED_ESTIMATE,
)
SPLITS: Requirement[Predictions] = Requirement(
    "two or more folds or random splits, of two samples or more each",
    lambda oof: len(oof.splits.cells) > 1 and layout(oof) in ("kfold", "balanced", "holdout"),
    "Collect with `Plan(folds=10)` or `Plan.repeated_holdout(50)`, or use `bbc`.",
    untrained=UNTRAINED_ESTIMATE,
)


class _ByFold:
    """(C, J) scores of the candidates in the folds in which they are defined, and the configuration of the best mean."""

    def __init__(self, method: str, oof: Predictions, metric: MetricLike | None, rule: RuleLike, least: int) -> None:
        if recorded_rule(oof, rule).name != select.best.name:
            given = f"this rule is {recorded_rule(oof, rule).name}"
            raise NeedError(argument=method, needed="needs the rule `select.best`", given=given, remedy="Use `tt`.")
        self.scoring: Scoring = selecting(oof, metric, "fold")
        self.selection = select.choose(self.scoring, select.best)
        folds = self.scoring.fold_scores()[0]
        self.kept = ~np.isnan(folds).all(axis=0)  # a fold of one class has no AUC, whatever the configuration
        defined = ~np.isnan(folds[:, self.kept]).any(axis=1)
        if self.kept.sum() < least or not defined.any():
            needed = f"needs {least} folds or more with a score"
            given = f"{self.scoring.metric.name} is undefined in some of these folds"
            raise NeedError(argument=method, needed=needed, given=given, remedy="Use `tt`.")
        self.scores = folds[:, self.kept][defined]
        self._names = np.array(self.scoring.names, dtype=object)[defined]

    def names(self, chosen: NDArray[np.intp]) -> NDArray[np.object_]:
        """The names of what draws choose."""
        return np.asarray(self._names[chosen])

    def ratio(self) -> float:
        """Samples held out over samples trained on, the mean over these folds."""
        n_train, n_test = split_sizes(self.scoring.oof)
        cells = [cell for cell, kept in zip(self.scoring.cells, self.kept, strict=True) if kept]
        return float(np.mean([n_test[cell] / n_train[cell] for cell in cells]))


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

    Parameters: {oof, recorded_metric, best_rule, n_resamples, confidence_level, rng}
    Returns: {estimate}
    References: {paraschakis2024}

    Examples: {outfold}
    >>> oof = of.simulate.correctness(80, 20, accuracy=0.7, folds=10).oof
    >>> found = of.estimate.bbc_f(oof, "mean")
    >>> round(found.naive, 2), round(found.value, 2)
    (0.81, 0.75)
    """
    level, n_resamples = check_confidence_level(confidence_level), check_count(n_resamples, "n_resamples", 2)
    folds = _ByFold("bbc_f", oof, metric, rule, _LEAST_FOLDS)
    better, n_folds = folds.scoring.metric.greater_is_better, folds.scores.shape[1]
    draws, chosen = fold_draws(folds.scores, better, n_resamples, np.random.default_rng(as_seed(rng)))
    return build(
        folds.scoring,
        folds.selection,
        "bbc_f",
        value=float(draws.mean()),
        draws=draws,
        level=level,
        description=f"BBC-F, {n_resamples:,} draws of {n_folds} folds",
        reference="Paraschakis 2024",
        chosen=folds.names(chosen),
        notes=(approximate(f"{n_folds} folds are few to draw from"),),
        details={"n_resamples": n_resamples},
    )


@document
@requires(SPLITS)
def wmc(
    oof: Predictions,
    metric: MetricLike | None = None,
    *,
    rule: RuleLike = None,
    n_resamples: int = 10_000,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance of the selected configuration by weighted mean correction (WMC).

    The means of the configurations over folds are taken for normal, with the covariance of the fold scores times 1/J +
    n_test/n_train for J folds [2]_. A configuration's weight is the probability that its mean is the best of all, and the
    estimate is the weighted mean of the means [1]_. With one configuration it is the mean over its folds. There is no interval.

    Parameters: {oof, recorded_metric, best_rule, normal_draws, rng}
    Returns: {estimate}

    Notes
    -----
    The paper defines the weights for error rates of random splits. Here they are also taken for other metrics and for K folds;
    whether means are normal then is an assumption. The authors' program replaces a correlation of 1 between two configurations
    by 0.9, and a variance of 0 by 1e-7, because it needs a covariance matrix that can be inverted. Draws need neither, so both
    stay as they are. Ties go to the earliest configuration.
    References: {bernau2013, nadeau2003}

    Examples: {outfold}
    >>> oof = of.simulate.correctness(80, 20, accuracy=0.7, folds=10).oof
    >>> found = of.estimate.wmc(oof, "mean")
    >>> round(found.naive, 2), round(found.value, 2)
    (0.81, 0.78)
    """
    return _weighted("wmc", oof, metric, rule, n_resamples, rng)


@document
@requires(SPLITS)
def wmcs(
    oof: Predictions,
    metric: MetricLike | None = None,
    *,
    rule: RuleLike = None,
    n_resamples: int = 10_000,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance of the selected configuration by weighted mean correction with shrinkage (WMCS).

    It is `wmc`, but before the weights are computed, all means are moved towards their mean: the best mean is too good, and the
    weights of `wmc` trust it. The share by which they are moved is how much the best mean gains where it is the best of a draw,
    over its lead on the mean of all, from 0 to 1. ``details["shrinkage"]`` has it. The estimate weights the means as they were.
    There is no interval.

    Parameters: {oof, recorded_metric, best_rule, normal_draws, rng}
    Returns: {estimate}

    Notes
    -----
    Where the paper leaves the computation open, this follows the authors' program (`wmc` of the R package CMA): the gain is that
    of the draws in which the selected configuration is the best, and a gain below 0 counts as 0. See also the notes of `wmc`.
    References: {bernau2013, nadeau2003}

    Examples: {outfold}
    >>> oof = of.simulate.correctness(80, 20, accuracy=0.7, folds=10).oof
    >>> found = of.estimate.wmcs(oof, "mean")
    >>> round(found.value, 2), round(found.details["shrinkage"], 2)
    (0.75, 0.41)
    """
    return _weighted("wmcs", oof, metric, rule, n_resamples, rng)


def _weighted(
    method: str, oof: Predictions, metric: MetricLike | None, rule: RuleLike, n_resamples: int, rng: RngLike
) -> Estimate:
    n_resamples, seed = check_count(n_resamples, "n_resamples", 2), as_seed(rng)
    folds = _ByFold(method, oof, metric, rule, 2)
    sign = folds.scoring.metric.sign
    deviations = NormalMeans(sign * folds.scores, folds.ratio(), n_resamples, seed)
    found = weighted_mean(sign * folds.scores, deviations, shrink=method == "wmcs")
    with_shrinkage = " with shrinkage" if method == "wmcs" else ""
    why = "the weights assume that means over folds are normal, and how far the estimate is off is not known; use bbc"
    return build(
        folds.scoring,
        folds.selection,
        method,
        value=sign * found.value,
        description=f"weighted mean correction{with_shrinkage} over {folds.scores.shape[1]} splits, {n_resamples:,} draws",
        reference="Bernau, Augustin & Boulesteix 2013",
        chosen=folds.names(found.chosen),
        notes=(*fold_notes(folds.scoring), Note("OF218", f"there is no valid interval: {why}.")),
        details={"n_resamples": n_resamples} | ({"shrinkage": found.shrinkage} if with_shrinkage else {}),
    )
