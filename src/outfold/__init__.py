"""Outfold: how good is the model you picked, really?

Keep the out-of-fold predictions of every configuration you try; everything else is a function of them.

>>> import outfold as of
>>> of.Plan(folds=5, repeats=3)
Plan(3 x 5-fold)
"""

from typing import TYPE_CHECKING, Any

from . import compare, curves, drop, estimate, exceptions, intervals, metrics, plot, rank, select, simulate, stability
from ._advice import Advice, advise
from ._checks import check
from ._cite import cite
from ._collect import collect, refit
from ._configs import Configs, grid
from ._convert import from_arrays, from_frame, read
from ._fold_scores import FoldScores, from_scores
from ._notes import Note
from ._plan import Plan, Splits
from ._predictions import Predictions, State
from ._report import Report, report
from ._results import (
    Checks,
    Comparison,
    Comparisons,
    CurveLine,
    Estimate,
    Finding,
    Interval,
    Leaderboard,
    LearningCurve,
    Omnibus,
    Optimism,
    PlanComparison,
    Power,
    Ranking,
    Selection,
    SequentialComparison,
    Simulation,
    Stability,
    TiedSet,
    ValidationCurve,
)
from ._share import Family, Unsuitable, View, check_family, register_family
from ._store import load
from ._version import __version__ as __version__

if TYPE_CHECKING:
    from ._search import SelectCV

__all__ = [
    "Advice",
    "Checks",
    "Comparison",
    "Comparisons",
    "Configs",
    "CurveLine",
    "Estimate",
    "Family",
    "Finding",
    "FoldScores",
    "Interval",
    "Leaderboard",
    "LearningCurve",
    "Note",
    "Omnibus",
    "Optimism",
    "Plan",
    "PlanComparison",
    "Power",
    "Predictions",
    "Ranking",
    "Report",
    "SelectCV",
    "Selection",
    "SequentialComparison",
    "Simulation",
    "Splits",
    "Stability",
    "State",
    "TiedSet",
    "Unsuitable",
    "ValidationCurve",
    "View",
    "advise",
    "check",
    "check_family",
    "cite",
    "collect",
    "compare",
    "curves",
    "drop",
    "estimate",
    "exceptions",
    "from_arrays",
    "from_frame",
    "from_scores",
    "grid",
    "intervals",
    "load",
    "metrics",
    "plot",
    "rank",
    "read",
    "refit",
    "register_family",
    "report",
    "select",
    "simulate",
    "stability",
]


def __getattr__(name: str) -> Any:
    # The search estimator is a class of scikit-learn, which takes seconds to import: only those who ask for it wait.
    if name == "SelectCV":
        from ._search import SelectCV

        return SelectCV
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
