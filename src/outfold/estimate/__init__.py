"""How good is the configuration I selected, really?

| method | estimates the performance of the selected configuration by | extra fits |
| --- | --- | --- |
| `bbc` | bootstrap bias correction of the out-of-fold predictions; the one to use | none |
| `nested` | cross-validating the whole search | C K(K-1)/2 |
| `tt` | the Tibshirani-Tibshirani correction by fold | none |
| `cvm_cv` | cross-validating the winner on a new partition | K |
| `cvt` | the winner's own score: optimistic, never the answer | none |
| `cv` | the score of one configuration named beforehand | none |
"""

from ._bbc import bbc
from ._folds import cv, cvm_cv, cvt, tt
from ._nested import nested

__all__ = ["bbc", "cv", "cvm_cv", "cvt", "nested", "tt"]
