"""Is A really better than B? The right test for every design, with its effect, its interval and its reasons."""

from ._areas import delong
from ._proportions import cochran_q, f_looney, mcnemar, z_proportions
from ._resampled_sets import bootstrap, permutation

__all__ = ["bootstrap", "cochran_q", "delong", "f_looney", "mcnemar", "permutation", "z_proportions"]
