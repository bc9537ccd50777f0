"""The blocks of an artifact before anything is fitted: who is held out when, and room for the predictions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..data.plan import NOT_HELD_OUT, Plan, Splits
from ..data.predictions import Predictions, State, inner_folds
from ..data.target import Target
from ..exceptions import NeedError


def room(splits: Splits, n_configs: int, n_samples: int, response: str, width: int | None) -> dict[str, Any]:
    """Empty predictions and pending states for these splits."""
    shape = (splits.n_repeats, n_configs, n_samples) + (() if width is None else (width,))
    data = np.full(shape, -1, dtype=np.intp) if response == "label" else np.full(shape, np.nan)
    state = np.full((n_configs, splits.n_repeats, splits.n_folds), State.PENDING, dtype=np.uint8)
    return {"data": data, "state": state, "folds": splits.folds}


def inner_splits(splits: Splits, target: Target) -> Splits:
    """The inner folds of nested cross-validation: repeat r * K + k leaves out outer fold k."""
    plan = splits.plan
    if splits.train is not None or plan.kind in ("holdout", "loo"):
        raise NeedError(
            argument="inner=True",
            needed="needs K folds that are trained on all other samples",
            given=f"this plan is {plan}",
            remedy="Use `Plan(folds=10)`, or estimate with bbc.",
        )
    if splits.n_folds < 3:
        raise NeedError(
            argument="inner=True",
            needed="needs at least 3 folds",
            given=f"this plan is {plan}",
            remedy="Use `Plan(folds=3)` or more.",
        )
    if plan.stratify and target.classes is not None:
        counts = np.bincount(target.y)
        if counts.min() < 3:
            name = target.classes[int(counts.argmin())]
            raise NeedError(
                argument="inner=True",
                needed="needs at least 3 members of each class",
                given=f"class {name!s} has {counts.min()}",
                remedy="Join it with another class, or estimate with bbc.",
            )
    folds = inner_folds(splits.folds, splits.n_folds)
    return Splits(replace(plan, kind="given", repeats=folds.shape[1]), folds)


def fresh_splits(splits: Splits, target: Target, groups: Any, rng: int) -> Splits:
    """A new partition by the same plan, the repeat that would have come next; of a three-way split, its test part."""
    plan = splits.plan
    if plan.kind == "three_way":
        return _test_splits(splits)
    if plan.kind not in ("kfold", "holdout"):
        raise NeedError(
            f"fresh needs a plan that can draw another partition; this one is {plan}. Use Plan(folds=10), or "
            "estimate with bbc."
        )
    # Notes and decisions were made for the first repeats already; the plan here carries them.
    again: Plan = replace(plan, repeats=splits.n_repeats + 1)
    folds = np.ascontiguousarray(again.split(target, groups, rng).folds[:, -1:])
    return Splits(replace(plan, repeats=1), folds)


def _test_splits(splits: Splits) -> Splits:
    """The last of three parts is held out, the first two are trained on."""
    train = np.sort(np.concatenate([splits.train_rows(0, 0), splits.test_rows(0, 0)]))
    column = np.zeros(len(splits.folds), dtype=np.int32)
    column[train] = NOT_HELD_OUT
    return Splits(replace(splits.plan, kind="holdout", validation=None), column[:, None], {(0, 0): train})


def inbag_splits(splits: Splits) -> Splits:
    """What every bootstrap round drew, as the samples its model is asked for too."""
    folds = np.where(splits.folds == NOT_HELD_OUT, 0, NOT_HELD_OUT).astype(np.int32)
    return Splits(replace(splits.plan, kind="given"), folds, splits.train)


def resub_splits(splits: Splits) -> Splits:
    """All samples, predicted by the model that was fitted on them."""
    n = len(splits.folds)
    plan = replace(splits.plan, kind="given", folds=1, repeats=1, test=None, validation=None, cv=None)
    return Splits(plan, np.zeros((n, 1), dtype=np.int32), {(0, 0): np.arange(n)})


def empty_block(oof: dict[str, Any], splits: Splits, width: int | None) -> Predictions:
    """A block like the artifact with these fields, but with other splits and no cell done."""
    shape = room(splits, len(oof["configs"]), len(oof["target"]), oof["response"], width)
    fields = oof | shape | {"plan": splits.plan, "train": splits.train, "notes": (), "provenance": {}}
    return Predictions(**fields)
