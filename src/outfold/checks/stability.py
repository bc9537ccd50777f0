"""Caveats of the partition: would another one give the same winner?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..stats import selection
from ..stats.selection import argbest
from .case import Case
from .declaration import Check

# A skew of fewer repeats is noise; one beyond this many standard errors is not.
_SKEW_REPEATS, _SKEW_ERRORS = 10, 2.58
# With more samples one partition is much like another.
_FEW_SAMPLES = 500
# Fewer repeats than this leave much of the luck of the partition in.
_FEW_REPEATS = 3
# The least correlation of two halves of the repeats that rank the configurations alike.
_AGREE = 0.7


def seldom_ahead(case: Case) -> str | None:
    """A winner that led after fewer than half of the repeats."""
    scores = case.repeat_scores
    if scores is None or len(scores) < _FEW_REPEATS or case.selection is None:
        return None
    means = np.cumsum(scores, axis=0) / np.arange(1, len(scores) + 1)[:, None]
    leaders = [case.scoring.names[j] for j in argbest(means, case.metric.greater_is_better)]
    held = leaders.count(case.selection.name)
    if held * 2 >= len(leaders):
        return None
    return (
        f"{case.selection.name} held the lead after {held} of {len(leaders)} repeats; "
        f"{formatting.count(len(set(leaders)), 'configuration')} led in turn."
    )


def skewed(case: Case) -> str | None:
    """Scores over repeats whose mean says too little, or too much."""
    scores = case.repeat_scores
    if scores is None or len(scores) < _SKEW_REPEATS or case.selection is None:
        return None
    own = scores[:, [case.scoring.names.index(case.selection.name)]]
    moments = selection.running_moments(own)
    n, skew = len(own), float(moments.skew[-1, 0])
    error = np.sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))
    if not abs(skew) > _SKEW_ERRORS * error:
        return None
    mean, median = (formatting.number(float(m[-1, 0])) for m in (moments.mean, moments.median))
    side = "left" if skew < 0 else "right"
    return (
        f"the scores of {case.selection.name} over {n} repeats are skewed to the {side} (skew {skew:+.2f}): "
        f"their mean is {mean}, their median {median}."
    )


def few_repeats(case: Case) -> str | None:
    """Too few repeats to know the ranking, or repeats that rank differently."""
    oof = case.oof
    scores = case.repeat_scores
    if case.n_candidates < 2 or case.one_test_set or case.leave_one_out:
        return None
    if oof.n_repeats < _FEW_REPEATS:
        # Splits with training parts of their own, such as those of a time series, cannot be drawn anew.
        if len(case.scoring.rows) > _FEW_SAMPLES or oof.train is not None:
            return None
        times = formatting.count(oof.n_repeats, "partition")
        return (
            f"{times} of {formatting.count(oof.n_samples, 'sample')}: another one may rank the "
            f"{formatting.count(case.n_candidates, 'configuration')} differently."
        )
    return None if scores is None else _halves(case, scores)


def _halves(case: Case, scores: NDArray[np.float64]) -> str | None:
    """Even and odd repeats that do not rank the configurations alike."""
    if case.n_candidates < _FEW_REPEATS:
        return None
    even, odd = scores[::2].mean(axis=0), scores[1::2].mean(axis=0)
    agreement = float(selection.rank_correlations(even[None, None], odd[None, None])[0])
    if agreement >= _AGREE:
        return None
    return (
        f"even and odd ones of {len(scores)} repeats rank the {case.n_candidates:,} configurations with a correlation of "
        f"{agreement:.2f} only."
    )


CHECKS = (
    Check(
        "OF401",
        "stopped before it was stable",
        "caution",
        "The stop rule was not satisfied after the largest number of repeats allowed. If it names "
        "configurations and all of these were dropped, it had to be satisfied for those still running.",
        "Continue with a larger `max_repeats` and the same `store`, or accept the result.",
        "Raeder et al. 2010, sect. V",
    ),
    Check(
        "OF541",
        "a winner that rarely led",
        "caution",
        "The winner was ahead after fewer than half of the repeats, so its lead proves little.",
        'Add repeats: `repeats="auto"` adds them until the order settles.',
        "Raeder et al. 2010, sect. IV-A",
        seldom_ahead,
    ),
    Check(
        "OF542",
        "skewed scores over repeats",
        "tip",
        "The winner's scores over repeats are skewed: a typical repeat is not at their mean.",
        "Report the median beside the mean.",
        "Raeder et al. 2010, sect. IV-B",
        skewed,
    ),
    Check(
        "OF543",
        "too few repeats for a stable ranking",
        "tip",
        "One or two partitions of few samples, or repeats whose halves rank the configurations differently.",
        'Repeat the folds, `Plan(repeats=5)` or `repeats="auto"`; three or four repeats give most of the gain of ten.',
        "Tsamardinos et al. 2018, sect. 5.2.3 and 5.2.4; Raeder et al. 2010, sect. IV-A",
        few_repeats,
    ),
)
