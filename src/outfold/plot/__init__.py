"""Pictures of results, by matplotlib: ``pip install 'outfold[plot]'``.

Results in, axes out: every function takes ``ax=``, and gives the axes it drew into.
"""

from ._estimates import configurations, draws, optimism, selection
from ._ranking import critical_difference

__all__ = ["configurations", "critical_difference", "draws", "optimism", "selection"]
