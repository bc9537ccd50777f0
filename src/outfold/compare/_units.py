"""The units of a pointwise comparison: the value of every sample, averaged over repeats, and the group it belongs to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..exceptions import NeedError
from ._contest import Contest


def sample_values(contest: Contest, test: str) -> NDArray[np.float64]:
    """(C, N) the metric of every sample, mean over the repeats that held it out; NaN where none did."""
    oof, metric = contest.predictions(test), contest.scoring.metric
    if metric.values is None:
        raise NeedError(
            f"{test} needs a metric that is a mean over samples, such as accuracy, brier or mae; {metric.name} is defined on "
            "sets of samples only."
        )
    data = oof.respond(metric.needs)
    total, n = np.zeros((oof.n_configs, oof.n_samples)), np.zeros(oof.n_samples)
    for r in range(oof.n_repeats):
        rows = np.flatnonzero(oof.folds[:, r] >= 0)
        total[:, rows] += metric.values(oof.target.take(rows), np.ascontiguousarray(data[r][:, rows]))
        n[rows] += 1
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(total / n)


def group_means(values: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """(..., G) mean of the values (..., N) in every group."""
    sizes = np.bincount(codes)
    out = np.zeros((*values.shape[:-1], len(sizes)))
    np.add.at(np.moveaxis(out, -1, 0), codes, np.moveaxis(values, -1, 0))
    return np.asarray(out / sizes)
