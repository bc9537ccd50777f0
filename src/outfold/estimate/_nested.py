"""Nested cross-validation: the whole search as a learner."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import select
from ..arguments import RngLike, check_confidence_level, check_count
from ..data.notes import Note
from ..data.predictions import Predictions, State
from ..metrics import MetricLike
from ..metrics._scoring import Scoring
from ..requirements import block, least_folds, requires
from ..results import Estimate
from ..select import RuleLike, as_rule
from ._build import build, document, fold_notes, sample_draws


@document
@requires(least_folds(3), block("inner"))
def nested(
    oof: Predictions,
    metric: MetricLike,
    rule: RuleLike = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance of the whole search as a learner, by nested cross-validation.

    For each outer fold, cross-validation on the other folds selects the configuration, and the outer fold scores it. It is
    Algorithm 5 of [1]_. A model trained without folds i and k serves both as outer i, inner k and as outer k, inner i. The
    outer fits are those of the ordinary cross-validation.

    Parameters: {oof, metric, rule, n_resamples}
    confidence_level : float
        Level of the interval, which is the percentile bootstrap over samples of the outer predictions.
    {rng}
    Returns: {estimate}
    References: {tsamardinos2015}

    Examples: {models}
    >>> oof = of.collect(models, X, y, plan=3, inner=True, progress=False)
    >>> found = of.estimate.nested(oof, "accuracy", n_resamples=200)
    >>> round(found.value, 2), found.details["fits"]
    (0.67, 13)
    """
    own_rule = as_rule(rule)
    scoring = Scoring(oof, metric, "fold")
    selection = select.choose(scoring, own_rule)
    searches = {cell: _inner_scoring(oof, metric, cell) for cell in scoring.cells}
    picks = {cell: oof.config_index(select.choose(inner, own_rule).name) for cell, inner in searches.items()}
    outer = Scoring(_outer_predictions(oof, picks), metric, "fold")
    value = float(outer.scores()[0, 0])
    return build(
        scoring,
        selection,
        "nested",
        value=value,
        draws=sample_draws(outer, check_count(n_resamples, "n_resamples", 2), rng),
        level=check_confidence_level(confidence_level),
        description=_nested_text(oof),
        reference="Tsamardinos 2015, Alg. 5",
        notes=(*fold_notes(scoring), *_inner_notes(scoring, list(searches.values()))),
        chosen=np.array([oof.configs[j] for j in picks.values()], dtype=object),
        details=_nested_fits(oof),
    )


def _inner_scoring(oof: Predictions, metric: MetricLike, cell: tuple[int, int]) -> Scoring:
    """Scores for the search without the samples of one outer fold."""
    repeat, fold = cell
    usable = np.flatnonzero(oof.state[:, repeat, fold] == State.DONE)
    inner = oof.blocks["inner"].sel(repeat=repeat * oof.n_folds + fold)
    return Scoring(inner.sel(config=usable.tolist()), metric, "fold")


def _inner_notes(scoring: Scoring, searches: list[Scoring]) -> tuple[Note, ...]:
    """What the inner searches lacked: configurations, or folds."""
    notes = []
    fewest = min(len(inner.candidates) for inner in searches)
    if fewest < len(scoring.candidates):
        notes.append(
            Note("OF205", f"an inner search had {fewest} of {len(scoring.candidates)} configurations to choose from.")
        )
    lacking = sum(len(inner.cells) < len(inner.oof.splits.cells) for inner in searches)
    if lacking:
        notes.append(
            Note("OF206", f"{lacking} of {len(searches)} inner searches lack folds; collect the missing cells.")
        )
    return tuple(notes)


def _outer_predictions(oof: Predictions, picks: dict[tuple[int, int], int]) -> Predictions:
    """Out-of-fold predictions of the search itself, as if it were one configuration."""
    data = np.array(oof.data[:, :1])
    labels = None if oof.labels is None else np.full(data.shape[:3], -1, dtype=np.intp)
    state = np.zeros((1, *oof.state.shape[1:]), dtype=np.uint8)
    for (r, k), j in picks.items():
        rows = oof.splits.test_rows(r, k)
        data[r, 0, rows] = oof.data[r, j, rows]
        if labels is not None and oof.labels is not None:
            labels[r, 0, rows] = oof.labels[r, j, rows]
        state[0, r, k] = State.DONE
    return replace(
        oof,
        data=data,
        labels=labels,
        state=state,
        configs=("search",),
        params=({},),
        seconds=None,
        blocks={},
        messages={},
        notes=(),
    )


def _nested_fits(oof: Predictions) -> dict[str, int]:
    """Fits behind a nested CV, the final one included: those done here, and those of the papers' protocol."""
    c, k, r = oof.n_configs, oof.n_folds, oof.n_repeats
    inner = oof.blocks["inner"]
    outer_cells, inner_cells = (int(np.sum(part.state[:, part.planned] != State.PENDING)) for part in (oof, inner))
    return {"fits": outer_cells + inner_cells // 2 + 1, "fits_plain": r * (c * k * k + k) + 1}


def _nested_text(oof: Predictions) -> str:
    fits = _nested_fits(oof)
    return f"nested CV, {fits['fits']:,} fits instead of {fits['fits_plain']:,}"
