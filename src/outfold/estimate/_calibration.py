"""Do the probabilities of the selected configuration mean what they say? Slope and intercept, corrected for the selection.

The winner was selected for its score, so its out-of-fold probabilities tell the classes apart better than those of new samples
will, and its calibration slope is too high. So, as in `bbc`, each draw selects on the samples it drew, and the slope is that of
the predictions of all selected configurations on the samples that were left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import RngLike, as_seed, check_confidence_level, check_count
from ..data.predictions import Predictions
from ..metrics import MetricLike
from ..metrics._keeping import kernels_kept
from ..metrics._scoring import Aggregate, sample_bootstrap, selecting
from ..requirements import Requirement, check_requirements
from ..results import Calibration, Interval
from ..select import RuleLike, recorded_rule
from ..stats.intervals import around
from ..stats.kernels import Floats
from ..stats.recalibration import recalibrate
from ..stats.training import TRAINING
from ._build import Selecting, calm
from ._threshold import TWO_CLASSES, Table

# Of the configurations that draws select, the most frequent ones tell.
_MOST = 16
_PROBABILITIES: Requirement[Predictions] = Requirement(
    "probabilities",
    lambda oof: oof.response == "proba",
    "Collect with `collect(response='proba')`.",
    lambda oof: "these predictions have none",
)


def calibration(
    oof: Predictions,
    metric: MetricLike | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Calibration | None:
    """Calibration slope and intercept of the selected configuration; None where classes are separated, or nothing varies."""
    check_requirements("calibration", (TWO_CLASSES, _PROBABILITIES), oof)
    level, b, seed = check_confidence_level(confidence_level), check_count(n_resamples, "n_resamples", 2), as_seed(rng)
    by = Selecting(recorded_rule(oof, rule), selecting(oof, metric, aggregate))
    with kernels_kept(), calm(by.scoring):
        table = Table.of(by.scoring)
        left_out = _left_out(by, len(by.scoring.rows), sample_bootstrap(by.scoring, False, seed, True).blocks(b))
    parts = [_weighted(table, candidate, weights) for candidate, weights in left_out.items()]
    if not parts:
        return None
    chances, positive, rows, weights = (np.concatenate(side) for side in zip(*parts, strict=True))
    total = np.bincount(rows, weights, len(by.scoring.rows))
    there = weights > 0
    found = recalibrate(
        chances[there], positive[there], by.scoring.units()[rows[there]], (weights[there] / total[rows[there]])
    )
    if found is None:
        return None
    # The draws do not show how models vary with the training set.
    unseen = np.sqrt(1.0 if by.scoring.one_test_set else TRAINING)
    df = max(found.n_units - 1, 1)
    slope, intercept = (
        Interval(*around(one.value, unseen * one.error, level, df)) for one in (found.slope, found.intercept)
    )
    return Calibration(found.slope.value, slope, found.intercept.value, intercept, level)


def _left_out(by: Selecting, n: int, blocks: Any) -> dict[int, NDArray[np.int64]]:
    """(N,) in how many draws that select a candidate each sample is left out, for the most frequent candidates."""
    if len(by.scoring.candidates) == 1:  # nothing is selected
        return {0: np.ones(n, dtype=np.int64)}
    found: dict[int, NDArray[np.int64]] = {}
    for counts in blocks:
        picks = by.pick(None, counts)
        for candidate in np.unique(picks[picks >= 0]).tolist():
            times = np.sum(counts[picks == candidate] == 0, axis=0)
            found[candidate] = found.get(candidate, 0) + times
    frequent = sorted(found, key=lambda candidate: (-int(found[candidate].sum()), candidate))
    return {candidate: found[candidate] for candidate in frequent[:_MOST]}


def _weighted(
    table: Table, candidate: int, times: NDArray[np.int64]
) -> tuple[Floats, NDArray[np.bool_], NDArray[np.intp], Floats]:
    """The predictions of a candidate, which are positive, of which sample they are, and how often that sample is left out."""
    ranked = table.ranking(candidate)
    return ranked.scores, ranked.positive, ranked.rows, times[ranked.rows].astype(np.float64)
