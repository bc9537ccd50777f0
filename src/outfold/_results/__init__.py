"""Results: small, immutable, printed without computing."""

from .estimates import Estimate
from .interval import Interval
from .repeats import PlanComparison, Stability
from .selection import Leaderboard, Selection, TiedSet

__all__ = ["Estimate", "Interval", "Leaderboard", "PlanComparison", "Selection", "Stability", "TiedSet"]
