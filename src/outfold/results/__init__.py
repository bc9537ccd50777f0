"""Results: small, immutable, printed without computing."""

from ..data.notes import Note
from ._advice import Advice, Optimism, Simulation
from ._checks import SEVERITIES, Checks, Finding, Severity
from ._comparison import Alternative, Comparison, Probabilities, Terms, Wins
from ._comparisons import Comparisons, Omnibus, Outcome
from ._curves import CurveLine, LearningCurve, ValidationCurve
from ._estimates import Estimate, Interval, Intervals
from ._estimates import Interval
from ._power import Power
from ._ranking import OmnibusTest, Ranking, RankPair
from ._selection import Leaderboard, PlanComparison, Selection, Stability, TiedSet
from ._sequential import SequentialComparison

__all__ = [
    "SEVERITIES",
    "Advice",
    "Alternative",
    "Checks",
    "Comparison",
    "Comparisons",
    "CurveLine",
    "Estimate",
    "Finding",
    "Interval",
    "Intervals",
    "Leaderboard",
    "LearningCurve",
    "Note",
    "Omnibus",
    "OmnibusTest",
    "Optimism",
    "Outcome",
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
    "Terms",
    "TiedSet",
    "ValidationCurve",
    "Wins",
]
