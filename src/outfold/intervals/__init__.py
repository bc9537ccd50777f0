"""Confidence intervals from plain numbers: counts, scores, draws.

| from | functions |
| --- | --- |
| right answers among n | `wilson`, `clopper_pearson`, `normal` |
| values of samples | `t`, `samples` for losses, `cluster_robust` for groups, `training` for folds, `bca` for any statistic |
| labels and scores | `delong`, the area under the ROC curve |
| scores of folds | `corrected_t`; `blocked_t` for m x 2; `conservative_z` with scores on halves; `bbc_f` for the best |
| values of nested cross-validation | `nested_cv_bates` |
| bootstrap draws | `percentile`, `bca_draws` |

For predictions, `Estimate.confidence_interval` takes the one that is valid for the plan and the metric. No end is cut to the
range of a metric: one beyond it says that the normal distribution is far off.
"""

from ._draws import bca, bca_draws, percentile
from ._folds import bbc_f, blocked_t, conservative_z, corrected_t, nested_cv_bates, training
from ._samples import clopper_pearson, cluster_robust, delong, normal, samples, t, wilson

__all__ = [
    "bbc_f",
    "bca",
    "bca_draws",
    "blocked_t",
    "clopper_pearson",
    "cluster_robust",
    "conservative_z",
    "corrected_t",
    "delong",
    "nested_cv_bates",
    "normal",
    "percentile",
    "samples",
    "t",
    "training",
    "wilson",
]
