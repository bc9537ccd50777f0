"""The families that come with the package, one module for each kind of estimator."""

from __future__ import annotations

from ..family import Family
from . import boosting, forests, linear, logistic, neighbours, other_boosting, saga, selection, svm, trees

FAMILIES: tuple[Family, ...] = (
    *neighbours.FAMILIES,
    *forests.FAMILIES,
    *boosting.FAMILIES,
    *other_boosting.FAMILIES,
    *linear.FAMILIES,
    *logistic.FAMILIES,
    *saga.FAMILIES,
    *selection.FAMILIES,
    *svm.FAMILIES,
    *trees.FAMILIES,
)
