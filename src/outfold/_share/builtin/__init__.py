"""The families that come with the package, one module for each kind of estimator."""

from __future__ import annotations

from ..family import Family
from . import neighbours, selection, svm, trees

FAMILIES: tuple[Family, ...] = (*neighbours.FAMILIES, *selection.FAMILIES, *svm.FAMILIES, *trees.FAMILIES)
