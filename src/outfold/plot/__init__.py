"""Pictures of results, by matplotlib: ``pip install 'outfold[plot]'``.

Results in, axes out: every function takes ``ax=``, and gives the axes it drew into.
"""

from ._collected import cells, fold_scores, repeats, trace
from ._estimates import configurations, draws, optimism, selection
from ._ranking import critical_difference
from ._responses import calibration, confusion, precision_recall, roc

__all__ = [
    "calibration",
    "cells",
    "configurations",
    "confusion",
    "critical_difference",
    "draws",
    "fold_scores",
    "optimism",
    "precision_recall",
    "repeats",
    "roc",
    "selection",
    "trace",
]
