"""Hints of shift: whether new samples have other labels and features than the training samples."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..data.target import Target
from ..results import Shift
from ..stats.pvalues import holm
from ..stats.two_samples import same_shares, steps_gap
from .ranges import Range, as_numbers

if TYPE_CHECKING:
    import pandas as pd

_KS, _CHI2 = "Kolmogorov-Smirnov", "chi-square"


def target_shift(then: Target, now: Target, name: str = "the target") -> Shift | None:
    """Whether the labels are distributed as in training: shares of classes or events, or the values of a regression."""
    if then.task == "regression":
        knots, counts = np.unique(then.y, return_counts=True)
        return _gap(name, knots, np.cumsum(counts), len(then), now.y, _plain)
    verb = "is "
    if then.classes is not None:
        labels = [str(label) for label in then.classes]
        codes: list[NDArray[Any]] = [then.y, now.y]
    elif then.event is not None and now.event is not None:
        name, labels, verb = "the event", ["did not happen", "happened"], ""
        codes = [then.event.astype(np.intp), now.event.astype(np.intp)]
    else:
        return None
    table = np.stack([np.bincount(part, minlength=len(labels)) for part in codes])
    return _changed(name, labels, table, positive=len(labels) == 2, verb=verb)


def feature_shifts(X: pd.DataFrame, ranges: Mapping[str, Range]) -> tuple[Shift, ...]:
    """The tests of all features, the smallest p value first, adjusted by Holm's method for their number."""
    found = [shift for name, known in ranges.items() for shift in _of_feature(X[name], known)]
    adjusted = holm(np.array([shift.pvalue for shift in found]))
    made = [shift._replace(adjusted=float(p)) for shift, p in zip(found, adjusted, strict=True)]
    return tuple(sorted(made, key=lambda shift: shift.pvalue))


def _of_feature(values: pd.Series[Any], known: Range) -> list[Shift]:
    name = str(values.name)
    missing = (values == "") if known.kind == "text" else values.isna()
    n_missing, n = int(missing.sum()), len(values)
    found = [_of_values(name, values[~missing], known)] if known.kind != "text" else []
    if known.missing or n_missing:
        table = np.array([[known.n, known.missing], [n - n_missing, n_missing]])
        found.append(_changed(name, ["present", "missing"], table, positive=True, verb=""))
    return [shift for shift in found if shift is not None]


def _of_values(name: str, present: pd.Series[Any], known: Range) -> Shift | None:
    """The test of the values that are there; None if there are none on one side."""
    if not len(present) or not known.n:
        return None
    if known.kind == "category":
        now = present.value_counts()
        levels = [*known.knots, *(level for level in now.index if level not in known.knots)]
        then = [*known.counts, *[0] * (len(levels) - len(known.counts))]
        return _changed(name, [str(level) for level in levels], np.array([then, now.reindex(levels, fill_value=0)]))
    numbers, knots, counts = as_numbers(present, known.kind), np.array(known.knots), np.array(known.counts)
    if known.kind == "boolean":
        below = [np.array([known.n - _at_most_half(knots, counts), _at_most_half(knots, counts)])[::-1]]
        below.append(np.array([int((numbers <= 0.5).sum()), int((numbers > 0.5).sum())]))
        return _changed(name, ["false", "true"], np.stack(below), positive=True)
    return _gap(name, knots, counts, known.n, numbers, _day if known.kind == "date" else _plain)


def _at_most_half(knots: NDArray[Any], counts: NDArray[Any]) -> int:
    """How many values of a boolean are false."""
    return int(counts[knots <= 0.5].max(initial=0))


def _gap(name: str, knots: Any, counts: Any, n: int, values: NDArray[np.float64], say: Any) -> Shift:
    gap = steps_gap(knots, counts, n, values)
    return Shift(name, f"at most {say(gap.at)}", gap.then, gap.now, gap.pvalue, gap.pvalue, _KS)


def _changed(name: str, labels: list[str], table: NDArray[np.intp], positive: bool = False, verb: str = "is ") -> Shift:
    """The chi-square test of (2, L) counts, and the label whose share changed most; of two the second, if `positive`."""
    then, now = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    most = len(labels) - 1 if positive else int(np.argmax(np.abs(then - now)))
    p = same_shares(table)
    return Shift(name, f"{verb}{labels[most]}", float(then[most]), float(now[most]), p, p, _CHI2)


def _plain(value: float) -> str:
    return f"{value:.4g}"


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
