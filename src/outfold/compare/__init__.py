"""Is A really better than B? The right test for every design, with its effect, its interval and its reasons."""

from ._bayes import t_bayes
from ._resampling import (
    f_5x2cv,
    t_5x2cv,
    t_blocked_3x2,
    t_blocked_mx2,
    t_corrected,
    t_corrected_kfold,
    t_kfold,
    t_resampled,
)

__all__ = [
    "f_5x2cv",
    "t_5x2cv",
    "t_bayes",
    "t_blocked_3x2",
    "t_blocked_mx2",
    "t_corrected",
    "t_corrected_kfold",
    "t_kfold",
    "t_resampled",
]
