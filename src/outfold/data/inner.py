"""The inner folds of nested cross-validation: the other outer folds, or a partition of each outer training part by itself.

In both, repeat r * K + k of the block ``inner`` is the cross-validation inside outer fold k of repeat r, whose samples it
leaves out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InputError, NeedError
from .plan import Plan
from .splitting import NOT_HELD_OUT, Splits
from .target import Target

if TYPE_CHECKING:
    from .predictions import Predictions

# The first word of the spawn key of the seeds of inner partitions.
_INNER_STREAM = 0x1F01D
# Plans whose training parts can be partitioned again. A bootstrap round has samples twice; of splits that the user gives, it is
# not known why they are as they are, such as an order in time.
_KINDS = ("kfold", "holdout", "blocked", "loo")


def inner_folds(folds: NDArray[np.int32], n_folds: int) -> NDArray[np.int32]:
    """(N, R K) the other outer folds as inner folds."""
    columns = [np.where(column == k, NOT_HELD_OUT, column) for column in folds.T for k in range(n_folds)]
    return np.stack(columns, axis=1).astype(np.int32)


def own_inner_folds(
    splits: Splits, target: Target, groups: NDArray[np.intp] | None, n: int, seed: int
) -> NDArray[np.int32]:
    """(N, R K) each outer training part in `n` folds of its own, stratified and grouped as the outer plan is."""
    plan, argument = splits.plan, f"inner={n}"
    if plan.kind not in _KINDS:
        needed, remedy = "needs K folds, hold-outs or leave-one-out", "Use `Plan(folds=10)`, or estimate with bbc."
        raise NeedError(argument=argument, needed=needed, given=f"this plan is {plan}", remedy=remedy)
    # Leave-one-out has no strata, which says nothing about its training parts.
    inside = Plan(folds=n, stratify="auto" if plan.kind == "loo" else plan.stratify, groups=plan.groups)
    out = np.full((len(target), splits.n_repeats * splits.n_folds), NOT_HELD_OUT, dtype=np.int32)
    for r, k in splits.cells:
        rows = splits.train_rows(r, k)
        own = None if groups is None else groups[rows]
        drawn_from = int(np.random.SeedSequence(seed, spawn_key=(_INNER_STREAM, r, k)).generate_state(1)[0])
        try:
            drawn = inside.split(target.take(rows), own, drawn_from)
        except InputError as error:
            needed = "needs training parts that can be split again"
            given, remedy = f"in repeat {r}, fold {k}: {error}", "Use fewer inner folds, or estimate with bbc."
            raise NeedError(argument=argument, needed=needed, given=given, remedy=remedy) from None
        out[rows, r * splits.n_folds + k] = drawn.folds[:, 0]
    return out


def leaves_out_pairs(oof: Predictions) -> bool:
    """Whether the block ``inner`` leaves out every pair of outer folds; else its folds are partitions of their own."""
    folds = oof.blocks["inner"].folds
    return np.array_equal(folds, inner_folds(oof.folds, oof.n_folds))
