"""Results: small, immutable, printed without computing.

What a search gives is imported at once; estimates, comparisons and advice when one of their names is first used.
"""

from typing import TYPE_CHECKING

from ..data.notes import Note
from ..laziness import lazy_names
from ._base import Interval
from ._selection import Baseline, Leaderboard, Selection, TiedSet

if TYPE_CHECKING:
    from ._advice import SEVERITIES, Advice, Checks, Finding, Optimism, Severity, Simulation
    from ._advice import AdviceTask as AdviceTask
    from ._advice import Goal as Goal
    from ._comparison import Alternative, Comparison, Probabilities, TunedAlgorithm, Wins
    from ._comparison import ComparisonTerms as ComparisonTerms
    from ._comparison import comparison_row as comparison_row
    from ._comparisons import Comparisons, Omnibus, OmnibusTest, Ranking, RankPair, SetWins
    from ._comparisons import PairArrays as PairArrays
    from ._confrontation import Confrontation, Shift
    from ._curves import CurveLine, LearningCurve, ValidationCurve
    from ._decomposition import BiasVariance, VarianceComponents, VarianceSplit
    from ._estimates import Estimate
    from ._estimates import Intervals as Intervals
    from ._margin import MarginComparison
    from ._margin import MarginQuestion as MarginQuestion
    from ._power import Power
    from ._power_law import Extrapolated, PowerLaw
    from ._sample_size import SamplesNeeded
    from ._sequential import SequentialComparison
    from ._stability import Flips, PlanComparison, Stability
    from ._threshold import AtThreshold, Calibration, Share

_LATER = {
    "_advice": "SEVERITIES Advice AdviceTask Checks Finding Goal Optimism Severity Simulation",
    "_comparison": "Alternative Comparison ComparisonTerms Probabilities TunedAlgorithm Wins comparison_row",
    "_comparisons": "Comparisons Omnibus OmnibusTest PairArrays RankPair Ranking SetWins",
    "_confrontation": "Confrontation Shift",
    "_curves": "CurveLine LearningCurve ValidationCurve",
    "_threshold": "AtThreshold Calibration Share",
    "_decomposition": "BiasVariance VarianceComponents VarianceSplit",
    "_estimates": "Estimate Intervals",
    "_margin": "MarginComparison MarginQuestion",
    "_power": "Power",
    "_power_law": "Extrapolated PowerLaw",
    "_sample_size": "SamplesNeeded",
    "_sequential": "SequentialComparison",
    "_stability": "Flips PlanComparison Stability",
}
__getattr__, __dir__ = lazy_names(__name__, _LATER)

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
    "Flips",
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
    "SetWins",
    "Severity",
    "Share",
    "Shift",
    "Simulation",
    "Stability",
    "TiedSet",
    "TunedAlgorithm",
    "ValidationCurve",
    "VarianceComponents",
    "VarianceSplit",
    "Wins",
]
