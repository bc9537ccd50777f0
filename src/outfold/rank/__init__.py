"""Which algorithm is better over many data sets?

One score of every algorithm on every data set goes in: a data frame, a dict of columns, a matrix, or one `Predictions`
for each data set. Data sets are independent of each other, unlike the folds of one data set, which share training samples.

| question | function |
| --- | --- |
| does any algorithm differ? | `friedman` |
| which pairs differ? | `nemenyi` (critical difference), `holm` (more power) |
| which differ from a control? | `bonferroni_dunn` (critical difference), `holm` with ``control=`` (more power) |
| do these two differ? | `wilcoxon`, `sign`, `signed_rank_bayes` (how probable is it, and is it relevant?) |
| on how many data sets is one significantly better? | `wins`, by a test on each of them |
"""

from ._tests import bonferroni_dunn, friedman, holm, nemenyi, sign, signed_rank_bayes, wilcoxon
from ._wins import wins

__all__ = ["bonferroni_dunn", "friedman", "holm", "nemenyi", "sign", "signed_rank_bayes", "wilcoxon", "wins"]
