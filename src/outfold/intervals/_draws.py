"""Intervals from bootstrap draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import RngLike, as_seed, check_confidence_level, check_count, is_number
from ..exceptions import got, invalid
from ..results import Interval
from ..stats import intervals as kernels
from ..stats.resampling import BootstrapDraws
from ._inputs import document, several

Statistic = Callable[[NDArray[Any]], float]


@document
def bca(
    values: ArrayLike,
    statistic: Statistic = np.mean,
    *,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Interval:
    """Any statistic of independent values, by the bootstrap corrected for bias and acceleration (BCa).

    Parameters
    ----------
    values : array-like of shape (N,) or (N, ...)
        One value or one row for each sample.
    statistic : callable
        Called with the values, or the rows, of each draw.
    {n_resamples, confidence_level, rng}
    Returns: {interval}
    References: {efron1987}

    Examples: {numpy_outfold}
    >>> low, high = of.intervals.bca([0.2, 0.5, 0.1, 0.4, 0.3, 0.9, 0.2], np.median, n_resamples=999)
    >>> print(f"{low:.1f} to {high:.1f}")
    0.2 to 0.5
    """
    level, v = check_confidence_level(confidence_level), np.asarray(values)
    if v.ndim < 1 or len(v) < 2:
        raise invalid("values", "must be those of two samples at least", f"got shape {v.shape}")
    least = int(np.ceil(2 / (1 - level) - 1 - 1e-9))  # fewer have no quantile so far out
    b, n = check_count(n_resamples, "n_resamples", least), len(v)
    if not callable(statistic):
        raise invalid("statistic", "must be a function of the values, such as np.median", got(statistic))
    observed = _number_of(statistic, v)
    draws = [
        _number_of(statistic, v[np.repeat(np.arange(n), row)])
        for block in BootstrapDraws(n, as_seed(rng)).blocks(b)
        for row in block
    ]
    jackknife = [_number_of(statistic, np.delete(v, i, axis=0)) for i in range(n)]
    return bca_draws(draws, observed, jackknife, confidence_level=level)


def _number_of(statistic: Statistic, values: NDArray[Any]) -> float:
    found = statistic(values)
    if np.ndim(found) or not is_number(np.asarray(found).item()):
        needed = "must give one finite number for all values, for every draw and without each value"
        remedy = "Leave out undefined values, or make the draws yourself and use `bca_draws`."
        raise invalid("statistic", needed, got(found), remedy)
    return float(found)


@document
def bca_draws(draws: ArrayLike, observed: float, jackknife: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """The BCa interval from draws that you made yourself.

    Parameters: {draws}
    observed : float
        The statistic on all samples.
    jackknife : array-like of shape (N,)
        The statistic without each of the samples (or groups).
    {confidence_level}
    Returns: {interval}
    References: {efron1987}

    Examples: {numpy_outfold}
    >>> values = np.arange(20.0)
    >>> drawn = np.random.default_rng(0).choice(values, (999, 20)).mean(axis=1)
    >>> left = [np.delete(values, i).mean() for i in range(20)]
    >>> low, high = of.intervals.bca_draws(drawn, values.mean(), left)
    >>> print(f"{low:.1f} to {high:.1f}")
    7.0 to 11.9
    """
    level = check_confidence_level(confidence_level)
    b, left = several(draws, "draws"), several(jackknife, "jackknife")
    if not is_number(observed):
        raise invalid("observed", "must be the statistic on all samples, a finite number", got(observed))
    return Interval(*kernels.bca(b, float(observed), left, level))


@document
def percentile(draws: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Equal-tailed quantiles of bootstrap draws, linearly interpolated.

    On the draws of `estimate.bbc` it is the interval of the selected configuration.

    Parameters: {draws, confidence_level}
    Returns: {interval}

    Examples: {numpy_outfold}
    >>> low, high = of.intervals.percentile(np.linspace(0.6, 0.8, 201))
    >>> print(f"{low:.3f} to {high:.3f}")
    0.605 to 0.795
    """
    level = check_confidence_level(confidence_level)
    return Interval(*kernels.percentile(several(draws, "draws"), level))
