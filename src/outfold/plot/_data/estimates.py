"""Numbers of pictures that show how good configurations are."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import estimate as estimates
from ...arguments import check_count, check_level
from ...data.predictions import Predictions
from ...exceptions import InputError
from ...metrics import MetricLike
from ...metrics._scoring import Scoring, sample_bootstrap
from ...requirements import Needs
from ...results import Estimate, Interval
from ...stats.intervals import percentile
from .naming import by_name


class Row(NamedTuple):
    """A configuration, its own score, and the interval of that score over samples; None where it is undefined."""

    name: str
    score: float
    interval: Interval | None


class Configurations(NamedTuple):
    """The best configurations, best first, and what the first is really worth."""

    rows: tuple[Row, ...]
    estimate: Estimate
    n_left_out: int


def configurations(
    oof: Predictions, metric: MetricLike, top: int, estimate: Estimate | None, level: float, n_resamples: int, rng: int
) -> Configurations:
    """Scores and intervals as of ``estimate.cv(oof, metric, config, "pooled")``; the estimate that of `estimate.bbc`."""
    Needs().check(oof, "plot.configurations")
    top, level = check_count(top, "top"), check_level(level)
    found = estimates.bbc(oof, metric, None, n_resamples, level, rng=rng) if estimate is None else estimate
    scoring = Scoring(oof, metric)
    check_belongs(found, oof, scoring)
    scores = scoring.scores()[0]
    order = [int(j) for j in np.argsort(-scoring.metric.sign * scores, kind="stable")[:top]]
    draws = _draws_of(scoring, metric, order, check_count(n_resamples, "n_resamples", 2), rng)
    rows = [
        Row(scoring.names[j], float(scores[j]), _interval(draws[:, i], level))
        for i, j in enumerate(order)
        if np.isfinite(scores[j])
    ]
    return Configurations(tuple(rows), found, oof.n_configs - len(scoring.candidates))


def _draws_of(
    scoring: Scoring, metric: MetricLike, order: list[int], n_resamples: int, rng: int
) -> NDArray[np.float64]:
    """(B, C) scores of some candidates under the draws of all."""
    blocks = sample_bootstrap(scoring, False, rng).blocks(n_resamples)
    if len(scoring.cells) < len(scoring.oof.splits.cells):  # a few candidates alone might have more cells that count
        return np.concatenate([scoring.scores(weights)[:, order] for weights in blocks])
    few = Scoring(scoring.oof.sel(config=[scoring.names[j] for j in order]), metric)
    return np.concatenate([few.scores(weights) for weights in blocks])


def check_belongs(found: Any, oof: Predictions, scoring: Scoring) -> None:
    """Refuse an estimate of other predictions or by another metric."""
    if not isinstance(found, Estimate):
        raise InputError(f"estimate must be an Estimate, as estimate.bbc gives; got {type(found).__name__}.")
    if (found.fingerprint, found.metric) != (oof.fingerprint, scoring.metric.name):
        raise InputError(
            f"the estimate is of {found.metric} on {found.fingerprint}; the predictions are {oof.fingerprint}, shown by "
            f"{scoring.metric.name}. Give the estimate of the same predictions and metric, or none."
        )


def _interval(draws: NDArray[np.float64], level: float) -> Interval | None:
    draws = draws[np.isfinite(draws)]
    return Interval(*percentile(draws, level)) if len(draws) >= 2 else None


def named_estimates(given: Any) -> dict[str, Estimate]:
    """Estimates of one metric, a list by method."""
    needs = "plot.optimism needs an Estimate or several, as estimate.bbc gives"
    return by_name(given, Estimate, lambda found: found.method, needs)


class Draws(NamedTuple):
    """A histogram of the draws: counts between edges."""

    counts: NDArray[np.intp]
    edges: NDArray[np.float64]


def draws(estimate: Any, bins: int | None) -> Draws:
    """Bins by Freedman and Diaconis, between 10 and 60, or as many as asked for."""
    if not isinstance(estimate, Estimate):
        raise InputError(f"plot.draws needs an Estimate, as estimate.bbc gives; got {type(estimate).__name__}.")
    if estimate.draws is None:
        raise InputError(f"{estimate.method} has no draws; estimate.bbc has.")
    counts, edges = np.histogram(estimate.draws, _bins(estimate.draws) if bins is None else check_count(bins, "bins"))
    return Draws(counts, edges)


def _bins(values: NDArray[np.float64]) -> int:
    return int(np.clip(len(np.histogram_bin_edges(values, "fd")) - 1, 10, 60)) if np.ptp(values) > 0 else 10


class Share(NamedTuple):
    """How often a configuration was selected: in how many draws, and in which share of them."""

    name: str
    times: int
    share: float


class Shares(NamedTuple):
    """Configurations by how often they were selected, and how many draws (and others) the rest have."""

    rows: tuple[Share, ...]
    rest: Share | None
    n_draws: int
    n_chosen: int


def selection(estimate: Any, top: int) -> Shares:
    """Counts of ``estimate.chosen``, most often first, ties by name."""
    if not isinstance(estimate, Estimate):
        raise InputError(f"plot.selection needs an Estimate, as estimate.bbc gives; got {type(estimate).__name__}.")
    if estimate.chosen is None:
        raise InputError(f"{estimate.method} selects once only; estimate.bbc selects in every draw.")
    counted = sorted(Counter(map(str, estimate.chosen)).items(), key=lambda item: (-item[1], item[0]))
    n, top = len(estimate.chosen), check_count(top, "top")
    rows = tuple(Share(name, count, count / n) for name, count in counted[:top])
    others = counted[top:]
    left = sum(count for _, count in others)
    rest = Share(f"{len(others):,} others", left, left / n) if others else None
    return Shares(rows, rest, n, len(counted))
