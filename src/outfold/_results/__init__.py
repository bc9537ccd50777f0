"""Results: small, immutable, printed without computing."""

from .checks import SEVERITIES, Checks, Finding, Severity
from .comparison import Alternative, Comparison, Probabilities, Terms, Wins
from .comparisons import Comparisons, Omnibus, Outcome
from .curves import CurveLine, LearningCurve, ValidationCurve
from .estimates import Estimate, Intervals
from .interval import Interval
from .power import Power
from .ranking import OmnibusTest, Ranking, RankPair
from .repeats import PlanComparison, Stability
from .selection import Leaderboard, Selection, TiedSet
from .sequential import SequentialComparison
from .simulated import Optimism, Simulation

__all__ = [
    "SEVERITIES",
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
