"""What each unit, a sample or a group of samples, adds to a score: what variances over samples are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.predictions import Predictions
from ..data.scores import split_sizes
from ..exceptions import NeedError
from ..stats import training
from ..stats.resampling import without_each
from . import Metric
from ._scoring import bind

# Units left out one by one; more are left out in as many parts.
_PARTS = 2000

Found = Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]


class UnitValues(NamedTuple):
    """(C, R, U) what each unit adds to a score, and (R, U) the fold that holds it out; -1 if none does."""

    values: NDArray[np.float64]
    folds: NDArray[np.int32]

    @property
    def n_held(self) -> int:
        """Units that are held out at least once."""
        return int((self.folds >= 0).any(axis=0).sum())

    def only(self, config: int) -> UnitValues:
        """Those of one configuration."""
        return UnitValues(self.values[config : config + 1], self.folds)


def unit_values(oof: Predictions, metric: Metric) -> UnitValues:
    """What each unit adds to the score of every configuration: the score of a repeat is the mean over its units."""
    codes = oof.group_codes
    units = np.arange(oof.n_samples) if codes is None else codes
    by_samples = metric.pointwise or is_area(oof, metric)
    if not by_samples and codes is None and oof.n_samples > _PARTS:
        units = units * _PARTS // oof.n_samples
    n_units = int(units.max()) + 1
    values = np.zeros((oof.n_configs, oof.n_repeats, n_units))
    folds = np.full((oof.n_repeats, n_units), -1, dtype=np.int32)
    found = _of_samples(oof, metric) if by_samples else _of_parts(oof, metric, units)
    for r, (rows, own) in enumerate(found):
        there, first, inverse = np.unique(units[rows], return_index=True, return_inverse=True)
        grouped = by_samples and len(there) < len(rows)
        values[:, r, there] = training.group_values(own, inverse) if grouped else own
        folds[r, there] = oof.folds[rows[first], r]
    return UnitValues(values, folds)


def is_area(oof: Predictions, metric: Metric) -> bool:
    """Whether this is the area under the ROC curve of two classes, whose values have a closed form."""
    return metric.name == "roc_auc" and oof.target.task == "binary"


def _of_samples(oof: Predictions, metric: Metric) -> Found:
    """For each repeat the samples it holds out, and (C, n) their values, in closed form."""
    metric, data = bind(oof, metric)
    for r in range(oof.n_repeats):
        rows = np.flatnonzero(oof.folds[:, r] >= 0)
        own = np.ascontiguousarray(data[r][:, rows])
        if metric.values is not None:
            yield rows, metric.values(oof.target.take(rows), own)
        else:
            yield rows, training.area_values(own.astype(np.float64), oof.target.y[rows] == 1)


def _of_parts(oof: Predictions, metric: Metric, units: NDArray[np.intp]) -> Found:
    """For each repeat the samples it holds out, and (C, U) jackknife pseudo-values of their units."""
    metric, data = bind(oof, metric)
    for r in range(oof.n_repeats):
        rows = np.flatnonzero(oof.folds[:, r] >= 0)
        codes = np.unique(units[rows], return_inverse=True)[1]
        kernel = metric.kernel(oof.target.take(rows), np.ascontiguousarray(data[r][:, rows]))
        whole = kernel.scores(np.ones((1, len(rows)), dtype=np.uint8))[0]
        without = without_each(codes, kernel.scores)
        if np.isnan(without).any():
            needed = f"{metric.name} must be defined whichever sample, or group, is left out"
            remedy = "Use more samples of the rare class, or a metric such as accuracy."
            raise NeedError(needed=needed, remedy=remedy)
        yield rows, training.jackknife_values(whole, without)


def allowance_of(oof: Predictions, metric: Metric) -> training.Allowance:
    """How much variance of training to add, where answers are not simply right or wrong."""
    return training.OTHER_LOSS if metric.pointwise or is_area(oof, metric) else training.OF_SETS


def design_of(oof: Predictions, n_units: int) -> training.Design:
    """What the variance of training needs to know of the splits."""
    n_train, n_test = split_sizes(oof)
    planned = n_test > 0
    share = n_test[planned] / (n_train[planned] + n_test[planned])
    return training.Design.of_splits(n_units, float(share.mean()))


# -- how many there are of a class ---------------------------------------------------------------------------


def _classes(oof: Predictions) -> NDArray[Any] | None:
    """The class of each sample, or whether its time is that of an event; None for values."""
    return oof.target.y if oof.target.classes is not None else oof.target.event


def rarest_class(oof: Predictions) -> int:
    """Samples, or groups, of the rarest class among those held out; all of them where there are no classes."""
    classes = _classes(oof)
    rows = np.flatnonzero((oof.folds >= 0).any(axis=1))
    units = rows if oof.group_codes is None else oof.group_codes[rows]
    if classes is None:
        return len(np.unique(units))
    return min(len(np.unique(units[classes[rows] == label])) for label in np.unique(classes))


def least_of_a_class(oof: Predictions) -> int:
    """Samples of the rarest class in the test set that has fewest of one."""
    classes = _classes(oof)
    held = [oof.splits.test_rows(r, k) for r, k in oof.splits.cells]
    if classes is None:
        return min(map(len, held))
    return min(int(np.sum(classes[rows] == label)) for rows in held for label in np.unique(classes))


def least_units(oof: Predictions) -> int:
    """Groups, or samples, in the smallest test set."""
    units = np.arange(oof.n_samples) if oof.group_codes is None else oof.group_codes
    return min(len(np.unique(units[oof.splits.test_rows(r, k)])) for r, k in oof.splits.cells)


def degrees_of_freedom(oof: Predictions, metric: Metric, n_units: int) -> int:
    """One less than the units; for a metric of sets, than those of the rarest class: the conservative form of Welch's test."""
    return (n_units if metric.pointwise else min(rarest_class(oof), n_units)) - 1
