"""Results: small, immutable, printed without computing.

What a search gives is imported at once; comparisons and advice when one of their names is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..data.notes import Note
from ._base import Interval
from ._estimates import Estimate
from ._estimates import Intervals as Intervals
from ._selection import (
    Baseline,
    CurveLine,
    Leaderboard,
    LearningCurve,
    PlanComparison,
    Selection,
    Stability,
    TiedSet,
    ValidationCurve,
)

if TYPE_CHECKING:
    from ._advice import SEVERITIES, Advice, Checks, Finding, Optimism, Severity, Simulation
    from ._advice import AdviceTask as AdviceTask
    from ._advice import Goal as Goal
    from ._comparison import Alternative, Comparison, Power, Probabilities, SequentialComparison, TunedAlgorithm, Wins
    from ._comparison import ComparisonTerms as ComparisonTerms
    from ._comparison import comparison_row as comparison_row
    from ._comparisons import Comparisons, Omnibus, OmnibusTest, Ranking, RankPair
    from ._comparisons import PairArrays as PairArrays
    from ._confrontation import Confrontation, Shift
    from ._decomposition import BiasVariance, VarianceComponents
    from ._margin import MarginComparison
    from ._margin import MarginQuestion as MarginQuestion
    from ._power_law import Extrapolated, PowerLaw
    from ._sample_size import SamplesNeeded
    from ._threshold import AtThreshold, Calibration, Share

_LATER = {
    "_advice": "SEVERITIES Advice AdviceTask Checks Finding Goal Optimism Severity Simulation",
    "_comparison": "Alternative Comparison ComparisonTerms Power Probabilities SequentialComparison TunedAlgorithm Wins "
    "comparison_row",
    "_comparisons": "Comparisons Omnibus OmnibusTest PairArrays RankPair Ranking",
    "_confrontation": "Confrontation Shift",
    "_threshold": "AtThreshold Calibration Share",
    "_decomposition": "BiasVariance VarianceComponents",
    "_margin": "MarginComparison MarginQuestion",
    "_power_law": "Extrapolated PowerLaw",
    "_sample_size": "SamplesNeeded",
}
_SOURCES = {name: module for module, names in _LATER.items() for name in names.split()}

__all__ = [
    "SEVERITIES",
    "Advice",
    "Alternative",
    "AtThreshold",
    "Baseline",
    "BiasVariance",
    "Calibration",
    "Checks",
    "Comparison",
    "Comparisons",
    "Confrontation",
    "CurveLine",
    "Estimate",
    "Extrapolated",
    "Finding",
    "Interval",
    "Leaderboard",
    "LearningCurve",
    "MarginComparison",
    "Note",
    "Omnibus",
    "OmnibusTest",
    "Optimism",
    "PlanComparison",
    "Power",
    "PowerLaw",
    "Probabilities",
    "RankPair",
    "Ranking",
    "SamplesNeeded",
    "Selection",
    "SequentialComparison",
    "Severity",
    "Share",
    "Shift",
    "Simulation",
    "Stability",
    "TiedSet",
    "TunedAlgorithm",
    "ValidationCurve",
    "VarianceComponents",
    "Wins",
]


def __getattr__(name: str) -> Any:
    if name not in _SOURCES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(f".{_SOURCES[name]}", __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
