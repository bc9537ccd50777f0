"""The search estimators: `SelectCV` in the place of scikit-learn's GridSearchCV, `RandomizedSelectCV` of RandomizedSearchCV."""

from typing import TYPE_CHECKING

from ..laziness import lazy_names
from .estimator import SelectCV

if TYPE_CHECKING:
    from .randomized import RandomizedSelectCV

__getattr__, __dir__ = lazy_names(__name__, {"randomized": "RandomizedSelectCV"})

__all__ = ["RandomizedSelectCV", "SelectCV"]
