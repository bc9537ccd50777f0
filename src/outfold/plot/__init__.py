"""Pictures of results, by matplotlib: ``pip install 'outfold[plot]'``.

Results in, axes out: every function takes ``ax=``, and gives the axes it drew into.
"""

from ._collected import cells, fold_scores, repeats, trace
from ._comparisons import difference, pairwise, power
from ._estimates import configurations, draws, optimism, selection
from ._ranking import critical_difference
from ._responses import calibration, confusion, precision_recall, roc
from ._training import learning_curve, validation_curve

__all__ = [
    "calibration",
    "cells",
    "configurations",
    "confusion",
    "critical_difference",
    "difference",
    "draws",
    "fold_scores",
    "learning_curve",
    "optimism",
    "pairwise",
    "power",
    "precision_recall",
    "repeats",
    "roc",
    "selection",
    "trace",
    "validation_curve",
]
