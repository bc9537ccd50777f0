"""Pictures of results, by matplotlib: ``pip install 'outfold[plot]'``."""

from ._ranking import critical_difference

__all__ = ["critical_difference"]
