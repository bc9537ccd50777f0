"""Equal rows: which samples have a twin, and which of them were held out while the twin was trained on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint64]

# Rows are hashed in blocks of about this many numbers, so that the room needed stays small.
_BLOCK = 1 << 20


def row_codes(X: Any) -> Codes | None:
    """(N,) a 64-bit hash of every row of an array, a sparse matrix or a frame; None for anything else."""
    if hasattr(X, "tocsr"):
        matrix = X.tocsr()
        values = np.where(matrix.data != 0, _mixed(matrix.data, matrix.indices), np.uint64(0))
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)])
        return np.asarray(sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]])
    if hasattr(X, "columns"):
        columns = list(_columns(X))
        return sum((_mixed(c, j) for j, c in enumerate(columns)), np.zeros(X.shape[0], np.uint64))
    if not isinstance(X, np.ndarray) or X.ndim == 0:
        return None
    table = X.reshape(len(X), -1)
    if table.dtype.kind not in "biuf":
        return sum((_mixed(_numbers(c), j) for j, c in enumerate(table.T)), np.zeros(len(table), np.uint64))
    out = np.empty(len(table), np.uint64)
    step = max(_BLOCK // max(table.shape[1], 1), 1)
    for start in range(0, len(table), step):
        block = table[start : start + step]
        out[start : start + step] = _mixed(block, np.arange(block.shape[1])).sum(axis=1, dtype=np.uint64)
    return out


def held_out_with_twin(
    codes: NDArray[Any], folds: NDArray[np.int32], train: Mapping[tuple[int, int], NDArray[np.intp]] | None = None
) -> NDArray[np.bool_]:
    """(N,) True for samples that some repeat held out while a sample with the same code was trained on.

    `folds` is (N, R); `train` holds training samples by (repeat, fold) where they are not simply all others.
    """
    kind, sizes = np.unique(codes, return_inverse=True, return_counts=True)[1:]
    out = np.zeros(len(codes), dtype=bool)
    if train is not None:
        for (repeat, fold), rows in train.items():
            test = np.flatnonzero(folds[:, repeat] == fold)
            out[test] |= np.isin(kind[test], kind[rows])
        return out
    for column in folds.T:
        together = kind.astype(np.int64) * (int(column.max()) + 2) + column + 1
        same_fold = np.unique(together, return_inverse=True, return_counts=True)[1:]
        out |= (column >= 0) & (sizes[kind] > same_fold[1][same_fold[0]])
    return out


def _columns(frame: Any) -> Any:
    """The columns of a pandas or polars frame, as numbers."""
    several = (frame.iloc[:, i] for i in range(frame.shape[1])) if hasattr(frame, "iloc") else frame.iter_columns()
    return (_numbers(np.asarray(column.to_numpy())) for column in several)


def _numbers(column: NDArray[Any]) -> NDArray[Any]:
    """A column as numbers: of text and the like, the number of the value."""
    if column.dtype.kind in "biuf":
        return column
    seen: dict[str, int] = {}
    return np.array([seen.setdefault(str(value), len(seen)) for value in column.tolist()], dtype=np.int64)


def _mixed(values: NDArray[Any], column: Any) -> Codes:
    """Well-mixed bits of numbers and their columns, whose sum over a row tells rows apart."""
    # Adding 0.0 makes one zero of two; the mixing is splitmix64's.
    wide = values.astype(np.int64) if values.dtype.kind in "biu" else values.astype(np.float64) + 0.0
    bits = np.ascontiguousarray(wide).view(np.uint64)
    with np.errstate(over="ignore"):
        bits = bits + (np.asarray(column).astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(bits ^ (bits >> np.uint64(31)))
