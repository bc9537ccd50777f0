"""Rows that depend on their neighbours, held out one here and one there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..stats.kernels import Floats
from ..stats.rank_metrics import midranks
from ..stats.serial import n_runs, n_turns, serial_correlation
from .case import Case, finds

# A correlation of neighbours counts where it is this large, and this many standard deviations above that of a random order.
_CORRELATION, _ERRORS = 0.1, 3.0
_BLOCKS = 0.5  # labels that correlate more than this come in blocks
_TOGETHER = 2 / 3  # where more than this share of neighbours is held out together, folds are blocks of rows
_PARTS = 3  # rows in so few sorted parts were sorted by the target, which says nothing about time or groups


@finds("OF513")
def row_order(case: Case) -> str | None:
    """Neighbouring rows that are alike, on both sides of a split."""
    apart = _apart(case)
    if case.one_test_set or case.oof.group_codes is not None or apart <= 1 - _TOGETHER:
        return None
    found = next(_dependent(case), None)
    if found is None:
        return None
    what, correlation = found
    return (
        f"{what} of neighbouring rows are correlated ({correlation:.2f}), and {apart:.0%} of neighbouring rows are held out "
        "apart: a model learns from the rows around each held-out sample, which new samples do not have."
    )


def _apart(case: Case) -> float:
    """Share of neighbouring rows, at least one of them held out, that are not held out together."""
    first, second = case.oof.folds[:-1], case.oof.folds[1:]
    held = (first >= 0) | (second >= 0)
    return float(np.mean(first[held] != second[held])) if held.any() else 0.0


def _dependent(case: Case) -> Iterator[tuple[str, float]]:
    """What is correlated among neighbours, and how much."""
    target, rows = case.oof.target, case.scoring.rows
    if case.selection is None or case.predicted is None:
        return
    y, predicted, whose = target.y[rows], case.predicted[rows], f"the residuals of {case.selection.name}"
    if target.classes is None:
        # A model that learns the rows around a sample, such as k-NN, leaves residuals that do not tell; the target does.
        if n_turns(y) >= 2 * _PARTS:
            yield from _correlated("the values of the target", midranks(y[None])[0])
            yield from _correlated(whose, midranks(y[None] - predicted[:, 0])[0])
    elif n_runs(y) > _PARTS * len(target.classes):
        labels = np.eye(len(target.classes))[y]
        yield from _correlated("the labels", labels, _BLOCKS)
        residuals = labels - predicted
        # Rows in the order of labels have such residuals too; then nothing is left within the classes.
        if any(_correlated(whose, _within(residuals, y))):
            yield from _correlated(whose, residuals)


def _correlated(what: str, values: Floats, least: float = _CORRELATION) -> Iterator[tuple[str, float]]:
    found = serial_correlation(values)
    if found.correlation > least and found.z > _ERRORS:
        yield what, found.correlation


def _within(residuals: Floats, y: NDArray[np.intp]) -> Floats:
    """Residuals minus the mean of their class."""
    sizes = np.maximum(np.bincount(y, minlength=residuals.shape[1]), 1)
    sums = np.zeros((len(sizes), residuals.shape[1]))
    np.add.at(sums, y, residuals)
    return np.asarray(residuals - (sums / sizes[:, None])[y])
