"""The families that come with the package, one module for each kind of estimator."""

from __future__ import annotations

from ..family import Family
from . import linear, logistic, neighbours, trees

FAMILIES: tuple[Family, ...] = (
    *neighbours.FAMILIES,
    *linear.FAMILIES,
    *logistic.FAMILIES,
    *trees.FAMILIES,
)
