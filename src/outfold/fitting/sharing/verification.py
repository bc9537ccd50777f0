"""Verification: now and then a member of a family is also fitted by itself, and the predictions of the two are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.cells import cut_labels
from ..worker import Batch, FitOutcome
from .family import Family
from .plan import FamilyGroup

# After the first hold-out, a group is verified on this share of the others.
_SHARE = 0.1
# Of a family with more groups than this, about this many are verified.
_GROUPS = 3
_EXACT = 1e-8
# The largest share of labels that differ at the level "close", whatever the family allows.
_CLOSE_LABELS = 0.2


def member_to_verify(batch: Batch, groups: Mapping[int, FamilyGroup], group: int, n: int) -> int | None:
    """Which of `n` members is also fitted by itself on this hold-out, if any; a function of the hold-out and the group.

    A group with a single member is fitted plainly and not verified, unless its family computes that member in another way
    than the estimator does (`Family.serves_single`).
    """
    # A family is to be verified, not each of sixty groups of it.
    family = groups[group].family
    alike = [n for n, one in groups.items() if one.family is family and (len(one.members) > 1 or family.serves_single)]
    if group not in alike:
        return None
    rng = np.random.default_rng(np.random.SeedSequence(batch.seed, spawn_key=(group,)))
    holdout = batch.holdout
    first = holdout.block == "oof" and holdout.repeat == 0 and holdout.left_out == (0,)
    drawn, member = rng.random(), int(rng.integers(n))
    chance = min(1.0, _GROUPS / len(alike)) * (1.0 if first else _SHARE)
    return member if drawn < chance or (first and group == alike[0]) else None


def outcomes_differ(family: Family, batch: Batch, shared: FitOutcome, alone: FitOutcome) -> str:
    """How the predictions of a family's member differ from those of its own fit; empty if they do not."""
    if alone.values is None:
        return f"alone it fails ({alone.message})"
    assert shared.values is not None
    reader, y = batch.settings.reader, batch.settings.samples.y
    scale = float(np.std(y)) if reader.response == "value" and y.dtype.kind in "biuf" else None
    for i, (one, other) in enumerate(zip(shared.values, alone.values, strict=True)):
        if reader.response == "label":
            text = _labels_differ(family, one, other)
        else:
            text = _numbers_differ(family, one, other, 1.0 if reader.response == "proba" else scale)
            if not text and reader.response in ("proba", "score"):
                cut = 0.5 if reader.response == "proba" else 0.0
                text = _labels_differ(family, *(_labels(outcome, i, cut) for outcome in (shared, alone)))
        if text:
            return text
    return ""


def _labels(outcome: FitOutcome, i: int, cut: float) -> NDArray[np.intp]:
    """What ``predict`` gave, or the labels that follow from the other predictions if that is the same."""
    assert outcome.values is not None
    own, values = None if outcome.labels is None else outcome.labels[i], outcome.values[i]
    return cut_labels(values, values.ndim == 2, cut) if own is None else own


def _numbers_differ(family: Family, one: NDArray[Any], other: NDArray[Any], scale: float | None) -> str:
    gaps = np.abs(np.asarray(one, dtype=float) - np.asarray(other, dtype=float))
    both_nan = np.isnan(one) & np.isnan(other) if one.dtype.kind == "f" and other.dtype.kind == "f" else False
    gaps = np.where(both_nan, 0.0, gaps)
    largest = float(gaps.max(initial=0.0))
    if family.level == "exact":
        held = bool(np.all(gaps <= _EXACT * np.maximum(1.0, np.abs(np.nan_to_num(np.asarray(other, dtype=float))))))
    else:
        if scale is None:
            scale = float(np.sqrt(np.nanmean(np.square(other)))) if other.size else 0.0
        held = float(gaps.mean() if gaps.size else 0.0) <= family.close_limit * scale + _EXACT
    return "" if held else f"the largest difference is {largest:.3g}"


def _labels_differ(family: Family, one: NDArray[Any], other: NDArray[Any]) -> str:
    n = int(np.sum(one != other))
    # A row exactly on the cut may get either label.
    share = 0.01 if family.level == "exact" else min(family.close_limit, _CLOSE_LABELS)
    allowed = max(1.0, share * len(one))
    return "" if n <= allowed else f"{n} of {len(one)} labels differ"
