"""How scores settle from repeat to repeat, and how far one partition can be trusted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import metrics
from ..arguments import check_count
from ..data.predictions import Predictions, State
from ..exceptions import InputError, NeedError, got, invalid
from ..metrics import MetricLike
from ..metrics._candidates import why_not
from ..metrics._scoring import selecting
from ..requirements import check_predictions, requires
from ..results import PlanComparison, Stability
from ..stats import selection
from ..stats.selection import argbest
from ._stop import complete, document


@document
@requires()
def trace(oof: Predictions, metric: MetricLike | None = None) -> Stability:
    """How scores and ranks of the configurations settle from repeat to repeat.

    Only candidates (nothing failed or dropped) and repeats that are complete for all of them count. A left skew of the
    scores means that the mean understates a typical repeat (Raeder, Hoens and Chawla 2010, sect. V).

    Parameters: {oof, recorded_metric}

    Returns
    -------
    Stability
        Scores, running means and ranks.
    References: {raeder2010}

    Examples: {numpy_outfold}
    >>> correct = np.random.default_rng(0).random((80, 3, 20)) < [[0.7], [0.75], [0.8]]
    >>> oof = of.from_arrays(None, correct, response="pointwise")
    >>> of.stability.trace(oof, "mean").leaders[-1]
    'config 2'
    """
    scoring = used = selecting(oof, metric)
    if len(scoring.cells) < len(oof.splits.cells):
        done = complete(oof.sel(config=list(scoring.names)))
        if done is None:
            needed, remedy = "needs a repeat that is complete for all candidates", "Collect the missing cells first."
            raise NeedError(argument="trace", needed=needed, given="there is none", remedy=remedy)
        used = selecting(done, metric)
    scores = used.repeat_scores()
    moments = selection.running_moments(scores)
    return Stability(
        metric=scoring.metric.name,
        configs=scoring.names,
        scores=scores,
        **moments._asdict(),
        rank=selection.running_ranks(scoring.metric.sign * moments.mean),
        leaders=tuple(scoring.names[j] for j in argbest(moments.mean, scoring.metric.greater_is_better)),
    )


@document
def compare_plans(plans: Iterable[Predictions], metric: MetricLike, fits: int = 10) -> PlanComparison:
    """How far the usual estimates, 1x10, 2x5 and 5x2, stray from the steady state of many repeats.

    Each of the `plans` holds many repeats of one plan. Its steady state is the mean over all of them. A usual estimate is
    the mean over as many repeats as make `fits` folds. Disjoint groups of repeats give independent draws of it (Raeder,
    Hoens and Chawla 2010, sect. III and Table I).

    Parameters
    ----------
    plans : list of Predictions
        Predictions of the same configurations, each with repeats of another number of folds.
    {metric}
    fits : int
        Folds of a canonical estimate: 10 gives 1x10, 2x5 and 5x2.

    Returns
    -------
    PlanComparison
        The steady state of each plan and the spread of its canonical estimate.
    References: {raeder2010}

    Examples: {numpy_outfold}
    >>> correct = np.random.default_rng(0).random((80, 2, 20)) < [[0.7], [0.8]]
    >>> oof = of.from_arrays(None, correct, response="pointwise")
    >>> of.stability.compare_plans([oof], "mean", fits=2)
    <PlanComparison of 2x1 by mean>
    """
    if not isinstance(plans, Iterable):
        raise invalid("compare_plans", "needs a list of predictions, one for each plan", f"got {type(plans).__name__}")
    plans = list(plans)
    for oof in plans:
        check_predictions(oof, "compare_plans")
    traces = [(oof.n_folds, trace(oof, metric)) for oof in plans]
    if not traces:
        raise invalid("compare_plans", "needs the predictions of one plan or more", "got none")
    if len({t.configs for _, t in traces}) > 1:
        raise invalid("compare_plans", "needs the same configurations for each plan, in the same order")
    estimates = [_canonical(t.scores, folds, fits) for folds, t in traces]
    sign = metrics.get(metric, plans[0].target.task).sign
    steady = np.stack([t.scores.mean(axis=0) for _, t in traces])
    agreement = [
        float(np.mean(argbest(sign * drawn, True) == argbest(sign * mean[None], True)[0]))
        for drawn, mean in zip(estimates, steady, strict=True)
    ]
    return PlanComparison(
        metric=traces[0][1].metric,
        plans=tuple(f"{max(fits // folds, 1)}x{folds}" for folds, _ in traces),
        configs=traces[0][1].configs,
        steady=steady,
        sd=np.stack([drawn.std(axis=0, ddof=1) for drawn in estimates]),
        low=np.stack([drawn.min(axis=0) for drawn in estimates]),
        high=np.stack([drawn.max(axis=0) for drawn in estimates]),
        agreement=np.array(agreement),
    )


def _canonical(scores: NDArray[np.float64], folds: int, fits: int) -> NDArray[np.float64]:
    """(G, C) means of disjoint groups of as many of the (R, C) repeats as make `fits` folds."""
    size = max(check_count(fits, "fits", 2) // folds, 1)
    groups = len(scores) // size
    if groups < 2:
        needed = f"needs at least {2 * size} repeats of {folds} folds, to draw the canonical estimate twice"
        given = f"there are {len(scores)}"
        raise NeedError(argument="compare_plans", needed=needed, given=given, remedy="Collect more repeats.")
    return np.asarray(scores[: groups * size].reshape(groups, size, -1).mean(axis=1))


@document
def reproducibility(scores: Predictions | ArrayLike, metric: MetricLike | None, a: str | int, b: str | int) -> float:
    """How reliably one repeat tells two configurations apart: 1 always the same winner, 0 a coin toss.

    With R' the share of repeats in which `a` is ahead, ties one half, R = max(2 R' - 1, 1 - 2 R') (eq. 1 and 2 of [1]_).

    Parameters
    ----------
    scores : Predictions or array of shape (repeats, configurations)
        Predictions with repeats, or the score of each configuration in each repeat.
    {task_metric}
    a, b : str or int
        The two configurations, by name or position.
    Returns: {share}
    References: {raeder2010}

    Examples: {outfold}
    >>> of.stability.reproducibility([[0.8, 0.7], [0.8, 0.9], [0.8, 0.7], [0.8, 0.6]], None, 0, 1)
    0.5
    """
    if isinstance(scores, Predictions):
        if scores.config_index(a) == scores.config_index(b):
            both = f"both are {scores.configs[scores.config_index(a)]!r}"
            raise invalid("a and b", "must be two configurations", both)
        asked = scores.sel(config=[a, b])
        pair = complete(asked)
        if pair is None or pair.n_repeats < 2:
            given, remedy = _lacking(asked) if pair is None else ("there is 1", "")
            needed = "needs at least 2 complete repeats of both configurations"
            raise NeedError(argument="reproducibility", needed=needed, given=given, remedy=remedy)
        table = selecting(pair, metric).repeat_scores()
        one, other = table[:, 0], table[:, 1]
    else:
        try:
            table = np.asarray(scores, dtype=np.float64)
        except (TypeError, ValueError):
            given = f"got {type(scores).__name__}"
            raise invalid("reproducibility", "needs predictions or a matrix of scores", given) from None
        if table.ndim != 2 or not len(table):
            raise invalid("scores", "must have shape (repeats, configurations)", f"got {table.shape}")
        one, other = (table[:, _column(name, table.shape[1])] for name in (a, b))
    undefined = int(np.sum(np.isnan(one) | np.isnan(other)))
    if undefined:
        problem = f"the score is undefined (NaN) in {undefined} of {len(one)} repeats, which then have no winner"
        raise InputError(problem, remedy="Leave these repeats out, or take a metric that is defined in all of them.")
    ahead = float(np.mean((one > other) + 0.5 * (one == other)))
    return max(2 * ahead - 1, 1 - 2 * ahead)


@document
def replicability(rejections: ArrayLike) -> float:
    """Probability that two randomisations of the same data agree on whether a test rejects.

    With k rejections in n randomisations, [k (k - 1) + (n - k)(n - k - 1)] / [n (n - 1)], averaged over data sets [1]_.

    Parameters
    ----------
    rejections : array of bool, shape (n,) or (data sets, n)
        True where the test rejected.
    Returns: {share}
    References: {bouckaert2004}

    Examples: {outfold}
    >>> of.stability.replicability([True, True, True, False])
    0.5
    """
    try:
        table = np.atleast_2d(np.asarray(rejections))
    except ValueError:  # rows of different lengths
        table = np.empty(0)
    if table.ndim != 2 or not len(table) or table.shape[1] < 2 or not np.all((table == 0) | (table == 1)):
        raise invalid("rejections", "must be True or False, at least 2 randomisations for each data set")
    n, k = table.shape[1], table.sum(axis=1).astype(np.float64)
    return float(np.mean((k * (k - 1) + (n - k) * (n - k - 1)) / (n * (n - 1))))


def _lacking(oof: Predictions) -> tuple[str, str]:
    """Which configuration has no complete repeat and why, and what to do."""
    done = np.all((oof.state == State.DONE) | ~oof.planned, axis=2).any(axis=1)
    lacking = 0 if done.all() else int(np.argmin(done))
    name, why = oof.configs[lacking], why_not(oof, lacking)
    if why == "pending":
        return "there is none", "Collect the missing cells first."
    given = f"{name!r} {'failed' if why == 'failed' else 'was dropped'}"
    return given, "Name one that was neither dropped nor failed."


def _column(name: str | int, n: int) -> int:
    if not isinstance(name, (int, np.integer)) or isinstance(name, bool) or not -n <= name < n:
        raise invalid("a and b", f"must be columns of the scores, 0..{n - 1}", got(name))
    return int(name)
