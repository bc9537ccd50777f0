"""Is A really better than B? The right test for every design, with its effect, its interval and its reasons."""

from ..select import tied_set
from ._algorithms import algorithms
from ._auto import ADJUSTMENTS as ADJUSTMENTS
from ._auto import auto, pairs
from ._margins import equivalent, non_inferior
from ._one_set import cochran_q, delong, f_looney, mcnemar, z_proportions
from ._pair_test import TESTS as TESTS
from ._power import detectable, power
from ._resampled_sets import bootstrap, permutation
from ._resampling import (
    f_5x2cv,
    t_5x2cv,
    t_5x2cv_combined,
    t_bayes,
    t_blocked_3x2,
    t_blocked_mx2,
    t_corrected,
    t_corrected_kfold,
    t_kfold,
    t_resampled,
)
from ._samples_needed import samples_needed
from ._sequential import EProcess, e_process
from ._skewed import t_skewed
from ._training import t_training

__all__ = [
    "EProcess",
    "algorithms",
    "auto",
    "bootstrap",
    "cochran_q",
    "delong",
    "detectable",
    "e_process",
    "equivalent",
    "f_5x2cv",
    "f_looney",
    "mcnemar",
    "non_inferior",
    "pairs",
    "permutation",
    "power",
    "samples_needed",
    "t_5x2cv",
    "t_5x2cv_combined",
    "t_bayes",
    "t_blocked_3x2",
    "t_blocked_mx2",
    "t_corrected",
    "t_corrected_kfold",
    "t_kfold",
    "t_resampled",
    "t_skewed",
    "t_training",
    "tied_set",
    "z_proportions",
]
