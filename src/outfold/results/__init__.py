"""Results: small, immutable, printed without computing."""

from ..data.notes import Note
from ._advice import SEVERITIES, Advice, Checks, Finding, Optimism, Severity, Simulation
from ._advice import AdviceTask as AdviceTask
from ._advice import Goal as Goal
from ._base import Interval
from ._comparison import Alternative, Comparison, Power, Probabilities, SequentialComparison, Wins
from ._comparison import ComparisonTerms as ComparisonTerms
from ._comparison import comparison_row as comparison_row
from ._comparisons import Comparisons, Omnibus, OmnibusTest, Ranking, RankPair
from ._comparisons import PairArrays as PairArrays
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

__all__ = [
    "SEVERITIES",
    "Advice",
    "Alternative",
    "Baseline",
    "Checks",
    "Comparison",
    "Comparisons",
    "CurveLine",
    "Estimate",
    "Finding",
    "Interval",
    "Leaderboard",
    "LearningCurve",
    "Note",
    "Omnibus",
    "OmnibusTest",
    "Optimism",
    "PlanComparison",
    "Power",
    "Probabilities",
    "RankPair",
    "Ranking",
    "Selection",
    "SequentialComparison",
    "Severity",
    "Simulation",
    "Stability",
    "TiedSet",
    "ValidationCurve",
    "Wins",
]
