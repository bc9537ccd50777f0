"""Learners and ready configuration spaces."""

from typing import TYPE_CHECKING, Any

from . import spaces

if TYPE_CHECKING:
    from .bayes import KernelNaiveBayes
    from .columns import Dates, Words
    from .describing import describe
    from .ses import SES
    from .trees import HellingerTreeClassifier, LaplaceTreeClassifier
    from .univariate import Univariate

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

# Mostly classes of scikit-learn, which takes a second to import: only those who ask for one wait.
_LATER = {
    "SES": "ses",
    "Dates": "columns",
    "HellingerTreeClassifier": "trees",
    "KernelNaiveBayes": "bayes",
    "LaplaceTreeClassifier": "trees",
    "Univariate": "univariate",
    "Words": "columns",
    "describe": "describing",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(f".{_LATER[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
