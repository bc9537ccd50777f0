"""Results: small, immutable, printed without computing."""

from .comparison import Alternative, Comparison, Probabilities, Terms, Wins
from .comparisons import Comparisons, Omnibus, Outcome
from .estimates import Estimate
from .interval import Interval
from .ranking import OmnibusTest, Ranking, RankPair
from .repeats import PlanComparison, Stability
from .selection import Leaderboard, Selection, TiedSet

__all__ = [
    "Alternative",
    "Comparison",
    "Comparisons",
    "Estimate",
    "Interval",
    "Leaderboard",
    "Omnibus",
    "OmnibusTest",
    "Outcome",
    "PlanComparison",
    "Probabilities",
    "RankPair",
    "Ranking",
    "Selection",
    "Stability",
    "Terms",
    "TiedSet",
    "Wins",
]
