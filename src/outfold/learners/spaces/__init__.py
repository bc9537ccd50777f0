"""Ready configuration spaces for tables, which need no thought about the columns.

`make_space` makes one by its name, and `blocks` cuts it for an anytime search. The ready spaces are in the order of expected
use: whole grids of cheap families that are often good come first.
"""

from .blocks import blocks, stem
from .grids import MOST_ROWS_KNN, MOST_ROWS_SVM
from .making import SPACES, make_space
from .papers import tsamardinos2015, tsamardinos2015_wfs, tsamardinos2018
from .ready import classification, regression, small, standard, tabular, thorough

__all__ = [
    "MOST_ROWS_KNN",
    "MOST_ROWS_SVM",
    "SPACES",
    "blocks",
    "classification",
    "make_space",
    "regression",
    "small",
    "standard",
    "stem",
    "tabular",
    "thorough",
    "tsamardinos2015",
    "tsamardinos2015_wfs",
    "tsamardinos2018",
]
