"""Bootstrap draws that were made elsewhere: drawn indices, or how often each sample was drawn."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import check_choice
from ..exceptions import InputError, invalid
from ..stats import resampling

DrawsAre = Literal["auto", "indices", "counts"]

_SAY_WHICH = "Say which they are: `draws_are='indices'` or `draws_are='counts'`."


def given_counts(draws: ArrayLike, n: int, kind: str, name: str = "draws") -> NDArray[Any]:
    """(B, n) how often each of n samples was drawn, from draws that hold that or the drawn indices."""
    given = np.asarray(draws)
    if given.ndim != 2 or given.shape[1] != n or not len(given) or given.dtype.kind not in "iu" or given.min() < 0:
        needed = f"must be whole numbers from 0 of shape (B, {n}), drawn indices or counts"
        raise invalid(name, needed, f"got {given.dtype} {given.shape}")
    if check_choice(kind, ("auto", "indices", "counts"), "draws_are") == "auto":
        kind = _kind_of_draws(given, n)
    if kind == "counts":
        return resampling.compact(given)
    if given.max() >= n:
        needed, remedy = f"drawn indices must lie in 0..{n - 1}", "For counts say `draws_are='counts'`."
        raise InputError(needed=needed, given=f"the largest is {given.max()}", remedy=remedy)
    return resampling.count_rows(given.astype(np.intp, copy=False), n)


def _kind_of_draws(given: NDArray[Any], n: int) -> str:
    """Counts sum to N in every row. Indices sum to about N(N-1)/2, and the mean of many rows is near that."""
    if np.all(given.sum(axis=1) == n):
        # Indices could do that by chance in one row of a few samples, not in many rows of more.
        if len(given) < 5 or n < 8:
            raise InputError(needed="these few draws could be indices or counts", remedy=_SAY_WHICH)
        return "counts"
    expected, spread = (n - 1) / 2, np.sqrt((n * n - 1) / 12 / given.size)
    if abs(given.mean() - expected) > 10 * spread:
        raise InputError(
            needed="these draws do not look like indices (their mean is not near that of 0..N-1), nor like counts (their rows do "
            "not sum to N)",
            remedy=_SAY_WHICH,
        )
    return "indices"
