"""Learners and ready configuration spaces."""

from typing import TYPE_CHECKING

from ..laziness import lazy_names
from . import spaces

if TYPE_CHECKING:
    from .bayes import KernelNaiveBayes
    from .columns import Dates, Words
    from .describing import describe
    from .ses import SES
    from .trees import HellingerTreeClassifier, LaplaceTreeClassifier
    from .univariate import Univariate

# Mostly classes of scikit-learn, which takes a second to import: only those who ask for one wait.
_LATER = {
    "bayes": "KernelNaiveBayes",
    "columns": "Dates Words",
    "describing": "describe",
    "ses": "SES",
    "trees": "HellingerTreeClassifier LaplaceTreeClassifier",
    "univariate": "Univariate",
}
__getattr__, __dir__ = lazy_names(__name__, _LATER)

__all__ = [
    "SES",
    "Dates",
    "HellingerTreeClassifier",
    "KernelNaiveBayes",
    "LaplaceTreeClassifier",
    "Univariate",
    "Words",
    "describe",
    "spaces",
]
