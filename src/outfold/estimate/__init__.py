"""How good is the configuration I selected, really?

| method | estimates the performance of the selected configuration by | extra fits |
| --- | --- | --- |
| `bbc` | bootstrap bias correction of the out-of-fold predictions; the one to use | none |
| `bbc_f` | drawing folds instead of samples, for scores that are known for whole folds only | none |
| `nested` | cross-validating the whole search | C K(K-1)/2 |
| `tt` | the Tibshirani-Tibshirani correction by fold | none |
| `wmc`, `wmcs` | the mean of all configurations, weighted by how probably each is the best; without and with shrinkage | none |
| `cvm_cv` | cross-validating the winner on a new partition | K |
| `cvt` | the winner's cross-validation score: optimistic, never the answer | none |
| `cv` | the score of one configuration named beforehand | none |
| `holdout`, `repeated_holdout`, `loo` | the score on one split, on many random splits, on single samples | none |
| `three_way` | selecting on one part of the samples, scoring on another | 1 |
| `oob`, `point632`, `point632plus`, `optimism` | bootstrap rounds, with a correction of their bias | C |
| `at_threshold` | sensitivity, specificity, PPV and NPV at a threshold that each draw of `bbc` chooses | none |
| `resubstitution` | the score on the samples it was fitted on: never the answer | C |
| `inbag` | the mean score of bootstrap rounds on the samples they drew: never the answer | none |
"""

from typing import TYPE_CHECKING

from ..laziness import lazy_names

if TYPE_CHECKING:
    from ._bbc import bbc
    from ._bootstrap import inbag, oob, optimism, point632, point632plus
    from ._by_fold import bbc_f, wmc, wmcs
    from ._held_out import cv, cvm_cv, cvt, holdout, loo, nested, repeated_holdout, resubstitution, three_way, tt
    from ._threshold import at_threshold

_LATER = {
    "_bbc": "bbc",
    "_bootstrap": "inbag oob optimism point632 point632plus",
    "_by_fold": "bbc_f wmc wmcs",
    "_held_out": "cv cvm_cv cvt holdout loo nested repeated_holdout resubstitution three_way tt",
    "_threshold": "at_threshold",
}
__getattr__, __dir__ = lazy_names(__name__, _LATER)

__all__ = [
    "at_threshold",
    "bbc",
    "bbc_f",
    "cv",
    "cvm_cv",
    "cvt",
    "holdout",
    "inbag",
    "loo",
    "nested",
    "oob",
    "optimism",
    "point632",
    "point632plus",
    "repeated_holdout",
    "resubstitution",
    "three_way",
    "tt",
    "wmc",
    "wmcs",
]
