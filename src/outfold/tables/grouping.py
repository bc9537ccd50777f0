"""A column whose values name what several rows are of, such as a mouse that was measured five times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

ROWS_LOOKED_AT = 4_000
_FEWEST_LEVELS = 10
_REPEATED = 0.8  # the share of rows whose value another row has, too
_FEWEST_VALUES = 5  # of a number that all rows of a level share: fewer may be a coarser level
_SHARE_OF_LEVELS = 0.25
_MONOTONE = 0.9  # rank correlation from which one number is taken for another way to write the other


class LikelyGroup(NamedTuple):
    """A column, and the numbers that are the same in all rows with the same value of it."""

    name: str
    shared: tuple[str, ...]


def find_group(X: pd.DataFrame) -> LikelyGroup | None:
    """The column that most numbers depend on, if there is one; `X` is what `features` gives.

    Rows of one patient have the same age and the same height, whatever else was measured. By chance, rows with the same value
    of a column never agree in a number that takes many values.
    """
    import pandas as pd

    if X.shape[1] < 2:
        return None
    coded = [pd.factorize(X[name]) for name in X.columns]
    codes = np.column_stack([found for found, _ in coded])
    n_levels = np.array([len(levels) for _, levels in coded])
    numbers = np.array([X[name].dtype.kind == "f" for name in X.columns])
    best: LikelyGroup | None = None
    for j, name in enumerate(X.columns):
        if not _may_name_groups(X[name], codes[:, j], int(n_levels[j])):
            continue
        enough = n_levels >= max(_FEWEST_VALUES, _SHARE_OF_LEVELS * n_levels[j])
        same = numbers & enough & _same_within(codes, j)
        same[j] = False
        shared = [X.columns[i] for i in np.flatnonzero(same).tolist() if not _is_monotone(X[name], X.iloc[:, i])]
        if shared and (best is None or len(shared) > len(best.shared)):
            best = LikelyGroup(str(name), tuple(map(str, shared)))
    return best


def _may_name_groups(values: pd.Series[Any], codes: NDArray[np.intp], n_levels: int) -> bool:
    """Whether these are words or whole numbers, of which nearly all come again."""
    if n_levels < _FEWEST_LEVELS or values.dtype.kind not in ("f", "O"):
        return False
    known = codes >= 0
    if values.dtype.kind == "f" and bool((values.to_numpy()[known] % 1).any()):
        return False
    counts = np.bincount(codes[known], minlength=n_levels)
    return bool(counts[counts > 1].sum() >= _REPEATED * len(codes))


def _same_within(codes: NDArray[np.intp], j: int) -> NDArray[np.bool_]:
    """For each column whether it is the same in all rows with the same value of column j."""
    order = np.argsort(codes[:, j], kind="stable")
    order = order[codes[order, j] >= 0]
    by = codes[order]
    inside = by[1:, j] == by[:-1, j]
    return np.asarray(((by[1:] == by[:-1]) | ~inside[:, None]).all(axis=0))


def _is_monotone(one: pd.Series[Any], other: pd.Series[Any]) -> bool:
    """Whether two numbers go up or down together, as an age and a year of birth do."""
    if one.dtype.kind != "f":
        return False
    return abs(one.corr(other, method="spearman")) >= _MONOTONE
