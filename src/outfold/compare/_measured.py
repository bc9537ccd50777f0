"""How often each test finds a difference where there is none: measured, not assumed.

``error_rates.json`` has the largest type I error over all nulls, learners and numbers of samples, by kind of design, test and
metric. studies/type_one_error.py writes it.
"""

from __future__ import annotations

import json
import pkgutil
from functools import cache

import numpy as np

from ..data.notes import Note
from ..metrics._units import least_of_a_class
from ._compared import ComparedConfigs

# A test gets a caveat above this: 6 percent, and two standard errors of a measurement by 1,000 data sets. `auto` takes tests of
# at most 6 percent.
LIMIT = 0.06 + 2 * 0.0075

# A large test set has so many samples, and so many of each class where the metric is one of sets.
_MANY, _MANY_OF_EACH = 100, 50

ErrorRates = dict[str, dict[str, dict[str, float]]]


@cache
def error_rates() -> ErrorRates:
    """By kind of design, test and metric: accuracy, AUC, squared error (for all other means), or other."""
    return dict(json.loads(pkgutil.get_data(__package__, "error_rates.json") or b"{}"))


def kind_of(compared: ComparedConfigs) -> str:
    """The kind of design, as the study names it."""
    folds = compared.folds
    repeats, n_folds = folds.n_test.shape
    if folds.layout == "kfold":
        if (repeats, n_folds) == (5, 2):
            return "5 x 2-fold"
        return "K-fold" if repeats == 1 else "repeated K-fold"
    if np.sum(folds.n_test > 0) == 1:
        return "large test set" if compared.oof is not None and is_large(compared) else "one test set"
    names = {"balanced": "blocked", "holdout": "repeated hold-out", "loo": "leave-one-out"}
    return names.get(folds.layout, folds.layout)


def is_large(compared: ComparedConfigs) -> bool:
    """Whether one test set has many samples; many of each class where the metric is one of sets."""
    oof = compared.predictions
    if compared.pointwise or oof.target.classes is None:
        return int(np.sum(oof.folds >= 0)) >= _MANY
    return least_of_a_class(oof) >= _MANY_OF_EACH


def error_of(test: str, compared: ComparedConfigs) -> float | None:
    """The largest type I error of this test in this kind of design by such a metric; None where it was not measured."""
    measured = error_rates().get(kind_of(compared), {}).get(test, {})
    # Of scores without predictions the metric is only a name.
    return max(measured.values(), default=None) if compared.oof is None else measured.get(_group_of(compared))


def error_in_plans(test: str, compared: ComparedConfigs, kind: str) -> float:
    """The same for another kind of design; where this metric was not measured, the largest by any metric."""
    measured = error_rates()[kind][test]
    known = None if compared.oof is None else measured.get(_group_of(compared))
    return max(measured.values()) if known is None else known


def _group_of(compared: ComparedConfigs) -> str:
    """The metric that stands for this one in the study."""
    if compared.zero_one:
        return "accuracy"
    if compared.metric_name == "roc_auc":
        return "AUC"
    return "squared error" if compared.pointwise else "other"


def notes_on_errors(test: str, compared: ComparedConfigs) -> tuple[Note, ...]:
    """A caveat where the test finds differences too often."""
    error = error_of(test, compared)
    if error is None or error <= LIMIT:
        return ()
    text = (
        f"{test} found a difference between equally good learners in up to {error:.0%} of simulated data sets "
        f"({kind_of(compared)}, alpha 0.05)."
    )
    return (Note("OF312", text),)
