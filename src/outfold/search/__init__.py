"""The search estimator: `SelectCV` in the place of scikit-learn's GridSearchCV."""

from .estimator import SelectCV

__all__ = ["SelectCV"]
