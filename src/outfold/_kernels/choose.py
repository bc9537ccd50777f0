"""The best of many, with ties going to the earliest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Sums of floats differ in their last digits with the order of adding; values this near are one value.
RELATIVE_TIE = 1e-12
# Draws whose differences are looked at together.
_DRAWS = 128
# Standard errors by which a studentised difference of single precision may be off.
_ROUGH = 1e-5


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


def best_pvalues(scores: NDArray[np.float64], draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """(C,) p value of "configuration j is the best" for every j, greater scores being better.

    T_j = max_k (s_k - s_j) / se_kj against the largest centred difference in the (B, C) draws, in either direction: with one
    direction only, the set of those not rejected held the best of 20 equal ones in 92 percent of samples of 100, not in 95.
    """
    b = len(draws)
    centred = draws - draws.mean(axis=0)
    covariance = centred.T @ centred / b
    variance = np.diag(covariance)
    scale = variance + variance[:, None]
    squares = scale - 2 * covariance
    # What is left of the difference of two equal columns is rounding: it says nothing against either.
    told_apart = squares > 1e-10 * scale
    se = np.sqrt(np.where(told_apart, squares, np.inf))
    behind = np.where(told_apart, (scores - scores[:, None]) / se, -np.inf).max(axis=1)
    ahead = np.any(~told_apart & (scores > (scores + RELATIVE_TIE * np.abs(scores))[:, None]), axis=1)
    out = (1 + np.sum(_largest(centred, se) >= behind, axis=0)) / (1 + b)
    out[~told_apart.any(axis=1)] = 1.0
    out[ahead] = 1 / (1 + b)
    return np.asarray(out)


def _largest(centred: NDArray[np.float64], se: NDArray[np.float64]) -> NDArray[np.floating[Any]]:
    """(B, C) largest of |centred_k - centred_j| / se_jk over k; every pair is looked at once, in draws that fit a cache."""
    per = 1 / se
    # Single precision is twice as fast, and enough unless some columns are so near each other that it loses their difference.
    lost = np.finfo(np.float32).eps * np.abs(centred).max(initial=0) * per.max(initial=0)
    kind = np.float32 if lost < _ROUGH else np.float64
    rows, per = centred.T.astype(kind), per.astype(kind)
    out = np.zeros_like(rows)
    for start in range(0, rows.shape[1], _DRAWS):
        part, best = rows[:, start : start + _DRAWS].copy(), out[:, start : start + _DRAWS]
        room = np.empty_like(part)
        for j in range(len(part) - 1):
            gap = np.subtract(part[j + 1 :], part[j], out=room[j + 1 :])
            np.abs(gap, out=gap)
            gap *= per[j, j + 1 :, None]
            np.maximum(best[j], gap.max(axis=0), out=best[j])
            np.maximum(best[j + 1 :], gap, out=best[j + 1 :])
    return out.T
