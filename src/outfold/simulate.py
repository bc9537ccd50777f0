"""What to expect before any data are seen."""

from __future__ import annotations

import numpy as np

from ._validate import check_count
from .exceptions import InputError

__all__ = ["expected_best"]


def expected_best(accuracy: float, n_configs: int, n_samples: int) -> float:
    """Expected accuracy reported for the best of several equally good models on one test set.

    With C independent models of true accuracy p on M samples the winner's count of right answers has the distribution
    function G(k)^C, G the binomial(M, p) one; hence sum_k (k/M) [G(k)^C - G(k-1)^C] (Tsamardinos 2015, Table 1, there by
    simulation).

    Parameters
    ----------
    accuracy
        True accuracy p of every model.
    n_configs
        Number of models C.
    n_samples
        Number of test samples M.

    Examples
    --------
    >>> round(expected_best(0.85, n_configs=100, n_samples=20), 3)
    0.999
    """
    if not 0 <= accuracy <= 1:
        raise InputError(f"accuracy must lie between 0 and 1; got {accuracy!r}.")
    c, m = check_count(n_configs, "n_configs"), check_count(n_samples, "n_samples")
    from scipy.special import bdtr

    # The mean of a count is the sum of its upper tails: E = (1/M) sum_{k<M} (1 - G(k)^C); no difference of near-equal terms.
    below = bdtr(np.arange(m), m, accuracy)
    with np.errstate(divide="ignore"):
        return float(np.sum(-np.expm1(c * np.log(below))) / m)
