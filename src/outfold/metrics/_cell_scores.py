"""The scores of single cells, each by itself: what resampling tests and tables of folds are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..data.predictions import Predictions, State
from ..data.scores import FoldScores, layout, split_sizes
from ..data.stored import comes_in_parts, of_parts
from ..data.target import Target
from ..stats.fold_means import fold_sums
from ..stats.kernels import Floats
from . import Metric, MetricLike
from ._scoring import bind, columns_of, recorded_metric


def cell_scores(oof: Predictions, metric: MetricLike | None = None) -> Floats:
    """(C, R, F) the metric of every cell; NaN where the cell is not done or the metric undefined."""
    asked = recorded_metric(oof, metric)
    if comes_in_parts(oof):
        return np.concatenate(of_parts(oof, range(oof.n_configs), lambda _, some: cell_scores(some, asked)))
    found, data = bind(oof, asked)
    if found.needs == "live":
        return np.where(oof.state == State.DONE, oof.live_scores[found.name], np.nan)
    out = np.full(oof.state.shape, np.nan)
    for r in range(oof.n_repeats):
        folds = [k for repeat, k in oof.splits.cells if repeat == r]
        if found.values is not None and np.all(oof.state[:, r, folds] == State.DONE):
            rows = np.flatnonzero(oof.folds[:, r] >= 0)
            values = found.values(oof.target.take(rows), columns_of(data[r], rows))
            sums, sizes = fold_sums(values, oof.folds[rows, r])
            out[:, r, folds] = sums / sizes
            continue
        for k in folds:
            done = np.flatnonzero(oof.state[:, r, k] == State.DONE)
            if len(done):
                rows = oof.splits.test_rows(r, k)
                own = np.ascontiguousarray(data[r][done][:, rows])
                out[done, r, k] = _score_cell(found, oof.target.take(rows), own)
    return out


def fold_scores(oof: Predictions, metric: MetricLike) -> FoldScores:
    """The metric of every cell that is done."""
    found = metrics.get(metric, oof.target.task)
    values = np.where(oof.state == State.DONE, cell_scores(oof, found), np.nan)
    n_train, n_test = split_sizes(oof)
    direction, mark = found.greater_is_better, oof.fingerprint
    return FoldScores(
        oof.configs, values, n_train, n_test, oof.plan, layout(oof), found.name, direction, mark, oof.n_samples
    )


def _score_cell(metric: Metric, target: Target, predictions: NDArray[Any]) -> Floats:
    """(C,) the metric of one cell, to the last bit as where all cells of a repeat are scored together."""
    if metric.values is None:
        scores = metric.kernel(target, predictions).scores(np.ones((1, len(target)), dtype=np.uint8))
        return np.asarray(scores[0])
    sums, sizes = fold_sums(metric.values(target, predictions), np.zeros(len(target), dtype=np.intp))
    return np.asarray(sums[:, 0] / sizes[0])
