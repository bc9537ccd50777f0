"""The splits of the blocks that a job fits beside the out-of-fold predictions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..data.inner import inner_folds, own_inner_folds
from ..data.seeds import SEEDS, each_seed
from ..data.splitting import NOT_HELD_OUT, Splits, group_codes
from ..data.target import Target
from ..exceptions import NeedError

if TYPE_CHECKING:
    from .job import Options


def further_blocks(options: Options, splits: Splits, target: Target) -> dict[str, Splits]:
    """The splits of the blocks that were asked for beside the out-of-fold predictions."""
    blocks = {}
    if options.seeds > 1:
        blocks[SEEDS] = each_seed(splits, options.seeds)
    if options.inner:
        blocks["inner"] = _inner_splits(splits, target, options)
    if options.fresh is not None:
        blocks["fresh"] = _fresh_splits(splits, target, options)
    if splits.plan.kind == "bootstrap":
        # The samples that each round drew, which its model predicts too.
        drawn = np.where(splits.folds == NOT_HELD_OUT, 0, NOT_HELD_OUT).astype(np.int32)
        blocks["inbag"] = Splits(replace(splits.plan, kind="given"), drawn, splits.train)
    if options.resub:
        n = len(target)
        plan = replace(splits.plan, kind="given", folds=1, repeats=1, test=None, validation=None, cv=None)
        blocks["resub"] = Splits(plan, np.zeros((n, 1), dtype=np.int32), {(0, 0): np.arange(n)})
    return blocks


def _inner_splits(splits: Splits, target: Target, options: Options) -> Splits:
    """The inner folds of nested cross-validation: repeat r * K + k leaves out outer fold k."""
    plan = replace(splits.plan, kind="given")
    if options.inner is True:
        folds = _paired_inner_folds(splits, target)
    else:
        codes = None if options.groups is None else group_codes(options.groups, len(target))
        folds = own_inner_folds(splits, target, codes, options.inner, options.rng)
        plan = replace(plan, folds=options.inner, test=None)
    return Splits(replace(plan, repeats=folds.shape[1]), folds)


def _paired_inner_folds(splits: Splits, target: Target) -> NDArray[np.int32]:
    """The other folds, where there are enough of them, and enough of every class."""
    plan, bbc = splits.plan, "or estimate with bbc."
    needed, given, remedy = "", f"this plan is {plan}", ""
    counts = np.bincount(target.y) if plan.stratify and target.classes is not None else None
    if splits.train is not None or plan.kind in ("holdout", "loo"):
        needed, remedy = "K folds that are trained on all other samples", f"Use `Plan(folds=10)`, {bbc}"
    elif splits.n_folds < 3:
        needed, remedy = "at least 3 folds", "Use `Plan(folds=3)` or more."
    elif target.classes is not None and counts is not None and counts.min() < 3:
        needed, remedy = "at least 3 members of every class", f"Join it with another class, {bbc}"
        given = f"class {target.classes[int(counts.argmin())]!s} has {counts.min()}"
    if needed:
        raise NeedError(argument="inner=True", needed=f"needs {needed}", given=given, remedy=remedy)
    return inner_folds(splits.folds, splits.n_folds)


def _fresh_splits(splits: Splits, target: Target, options: Options) -> Splits:
    """A new partition by the same plan, the repeat that would have come next; of a three-way split, its test part."""
    plan = splits.plan
    if plan.kind == "three_way":
        train = np.sort(np.concatenate([splits.train_rows(0, 0), splits.test_rows(0, 0)]))
        column = np.zeros(len(splits.folds), dtype=np.int32)
        column[train] = NOT_HELD_OUT
        return Splits(replace(plan, kind="holdout", validation=None), column[:, None], {(0, 0): train})
    if plan.kind not in ("kfold", "holdout"):
        needed, remedy = "needs a plan that can draw another partition", "Use `Plan(folds=10)`, or estimate with bbc."
        raise NeedError(argument="fresh", needed=needed, given=f"this one is {plan}", remedy=remedy)
    again = replace(plan, repeats=splits.n_repeats + 1).split(target, options.groups, options.rng)
    return Splits(replace(plan, repeats=1), np.ascontiguousarray(again.folds[:, -1:]))
