"""How often each test finds a difference where there is none: measured, not assumed.

The numbers are those of studies/type_one_error.py, and a test compares them with its result file.
"""

from __future__ import annotations

import numpy as np

from ..data.notes import Note
from ..metrics._units import least_of_a_class
from ._compared import ComparedConfigs

# By kind of design and test: the largest type I error at alpha 0.05, over all nulls, learners, metrics and numbers of samples.
LARGEST: dict[str, dict[str, float]] = {
    "K-fold": {
        "bootstrap": 0.206,
        "delong": 0.187,
        "mcnemar": 0.156,
        "permutation": 0.163,
        "t_corrected": 0.068,
        "t_corrected_kfold": 0.021,
        "t_kfold": 0.184,
        "t_training": 0.061,
        "z_proportions": 0.165,
    },
    "repeated K-fold": {
        "bootstrap": 0.23,
        "delong": 0.225,
        "permutation": 0.207,
        "t_corrected": 0.172,
        "t_training": 0.064,
    },
    "5 x 2-fold": {
        "f_5x2cv": 0.855,
        "t_5x2cv": 0.513,
        "t_corrected": 0.116,
        "t_training": 0.068,
    },
    "blocked": {
        "t_blocked_3x2": 0.166,
        "t_blocked_mx2": 0.12,
        "t_corrected": 0.11,
        "t_training": 0.074,
    },
    "repeated hold-out": {
        "t_corrected": 0.132,
        "t_resampled": 0.479,
        "t_training": 0.061,
    },
    "leave-one-out": {
        "bootstrap": 0.247,
        "delong": 0.246,
        "mcnemar": 0.232,
        "permutation": 0.23,
        "t_training": 0.118,
        "z_proportions": 0.257,
    },
    "one test set": {
        "bootstrap": 0.186,
        "delong": 0.127,
        "mcnemar": 0.045,
        "permutation": 0.09,
        "z_proportions": 0.072,
    },
    "large test set": {
        "bootstrap": 0.063,
        "delong": 0.062,
        "mcnemar": 0.059,
        "permutation": 0.056,
        "z_proportions": 0.059,
    },
}

# A test is recommended up to this error, and two standard errors of its measurement by 1,000 data sets.
LIMIT = 0.06 + 2 * 0.0075

_MANY = 50


def kind_of(compared: ComparedConfigs) -> str:
    """The kind of design, as the study names it."""
    folds = compared.folds
    repeats, n_folds = folds.n_test.shape
    if folds.layout == "kfold":
        if (repeats, n_folds) == (5, 2):
            return "5 x 2-fold"
        return "K-fold" if repeats == 1 else "repeated K-fold"
    if compared.oof is not None and np.sum(folds.n_test > 0) == 1 and many_of_each_class(compared):
        return "large test set"
    if np.sum(folds.n_test > 0) == 1:
        return "one test set"
    names = {"balanced": "blocked", "holdout": "repeated hold-out", "loo": "leave-one-out"}
    return names.get(folds.layout, folds.layout)


def many_of_each_class(compared: ComparedConfigs) -> bool:
    """Whether every test set has 50 samples of each class or more; not for values."""
    oof = compared.predictions
    return oof.target.classes is not None and least_of_a_class(oof) >= _MANY


def error_of(test: str, compared: ComparedConfigs) -> float | None:
    """The largest type I error of this test in this kind of design; None where it was not measured."""
    return LARGEST.get(kind_of(compared), {}).get(test)


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
