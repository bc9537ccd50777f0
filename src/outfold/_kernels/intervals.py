"""Intervals from draws."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def percentile(draws: NDArray[np.float64], level: float) -> tuple[float, float]:
    """Equal-tailed quantiles, linearly interpolated; the same for a loss and for the score it comes from."""
    tail = (1 - level) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return float(low), float(high)


def student(draws: NDArray[np.float64], level: float) -> tuple[float, float]:
    """Mean and t times the standard deviation, which is the standard error of a bootstrap statistic (Raschka 2018, eq. 31)."""
    from scipy.stats import t

    reach = float(t.ppf((1 + level) / 2, len(draws) - 1) * np.std(draws, ddof=1))
    mean = float(np.mean(draws))
    return mean - reach, mean + reach


def order_statistics(draws: NDArray[np.float64], level: float, greater_is_better: bool) -> tuple[float, float]:
    """[L_(a/2 B), L_((1-a/2) B)] of the ascending losses (Tsamardinos 2018, sect. 3.1), in the metric's own units."""
    losses = np.sort(-draws if greater_is_better else draws)
    b, tail = len(losses), (1 - level) / 2
    # a/2 * B is a whole number in the paper (25 of 1000); the nearest rank otherwise, which also undoes what binary
    # fractions add to it (0.025 * 1000 = 25.000000000000021).
    first, last = (min(max(round(share * b), 1), b) for share in (tail, 1 - tail))
    low, high = float(losses[first - 1]), float(losses[last - 1])
    return (-high, -low) if greater_is_better else (low, high)
