"""The search estimators: `SelectCV` in the place of scikit-learn's GridSearchCV, `RandomizedSelectCV` of RandomizedSearchCV."""

from .estimator import SelectCV
from .randomized import RandomizedSelectCV

__all__ = ["RandomizedSelectCV", "SelectCV"]
