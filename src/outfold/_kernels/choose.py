"""The best of many, with ties going to the earliest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Sums of floats differ in their last digits with the order of adding; values this near are one value.
RELATIVE_TIE = 1e-12


def argbest(scores: NDArray[np.float64], greater_is_better: bool) -> NDArray[np.intp]:
    """Earliest column with the best score, for every row of (b, C); -1 where all are NaN."""
    best, near = tied_with_best(scores, greater_is_better)
    chosen = np.argmax(near, axis=1)
    return np.where(np.isnan(best), -1, chosen)


def tied_with_best(
    scores: NDArray[np.float64], greater_is_better: bool
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Best score of every row, and which columns reach it (to a relative 1e-12)."""
    reduce = np.fmax.reduce if greater_is_better else np.fmin.reduce
    best = reduce(scores, axis=1)
    slack = RELATIVE_TIE * np.abs(best)
    if greater_is_better:
        return best, scores >= (best - slack)[:, None]
    return best, scores <= (best + slack)[:, None]
