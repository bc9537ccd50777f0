"""Sums and means over folds, where some may be undefined, and the standard errors of these means."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .kernels import EXACT32, EXACT64, Floats

# Of each fold: the sums, and the numbers of samples.
Sums = tuple[Floats, NDArray[np.intp]]


def fold_sums(values: NDArray[Any], folds: NDArray[np.integer]) -> Sums:
    """(C, K) sums of the (C, N) values over the samples of each fold there is, and (K,) their numbers of samples.

    Whole numbers are summed exactly, and equal rows have equal sums.
    """
    order = np.argsort(folds, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(folds[order])) + 1, len(folds))
    starts = np.append(0, ends[:-1])
    if values.dtype.kind in "biu":  # as the narrowest floats whose sums are exact: they are the fastest to sum
        # A negative number looks like a large one here, and takes a wider type than it needs.
        largest = int(values.view(f"u{values.dtype.itemsize}").max(initial=0)) * len(folds)
        values = values.astype(np.float32 if largest < EXACT32 else np.float64 if largest < EXACT64 else np.int64)
    else:
        values = values.astype(np.float64, copy=False)
    held = np.take(values, order, axis=1)
    sums = [held[:, a:b].sum(axis=1) for a, b in zip(starts, ends, strict=True)]
    return np.stack(sums, axis=1).astype(np.float64), ends - starts


def standard_errors(fold_scores: Floats, repeats: NDArray[np.intp]) -> Floats:
    """(...) sd over the folds of a repeat / sqrt(K), averaged over repeats; `repeats` says which repeat a cell is of."""
    out = []
    for r in np.unique(repeats):
        folds = fold_scores[..., repeats == r]
        n = np.sum(np.isfinite(folds), axis=-1)
        centred = folds - mean_defined(list(np.moveaxis(folds, -1, 0)))[..., None]
        squares = np.nansum(centred**2, axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            out.append(np.where(n > 1, np.sqrt(squares / (n - 1) / n), np.nan))
    return mean_defined(out)


def mean_defined(arrays: list[Floats], weights: list[float] | None = None) -> Floats:
    """Mean over the arrays of what is defined, weighted where weights are given; NaN where nothing is defined."""
    if len(arrays) == 1:
        return arrays[0]
    if weights is None and not any(np.isnan(array).any() for array in arrays):
        return np.asarray(sum(arrays[1:], arrays[0]) / float(len(arrays)))
    total, n = np.zeros_like(arrays[0]), np.zeros(arrays[0].shape)
    for array, weight in zip(arrays, weights or [1.0] * len(arrays), strict=True):
        defined = ~np.isnan(array)
        total += weight * np.where(defined, array, 0.0)
        n += weight * defined
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(n > 0, total / n, np.nan)
