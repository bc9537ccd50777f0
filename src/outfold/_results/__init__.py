"""Results: small, immutable, printed without computing."""

from .comparison import Alternative, Comparison, Probabilities, Terms, Wins
from .comparisons import Comparisons, Omnibus, Outcome
from .estimates import Estimate
from .interval import Interval
from .power import Power
from .ranking import OmnibusTest, Ranking, RankPair
from .repeats import PlanComparison, Stability
from .selection import Leaderboard, Selection, TiedSet
from .sequential import SequentialComparison

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
    "Power",
    "Probabilities",
    "RankPair",
    "Ranking",
    "Selection",
    "SequentialComparison",
    "Stability",
    "Terms",
    "TiedSet",
    "Wins",
]
