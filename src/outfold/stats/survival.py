"""Survival curves on arrays: Kaplan-Meier, the times at which curves are kept, and what a curve loses for each sample.

The Brier score at time t is the mean of ``w_i(t) (1[T_i > t] - S_i(t))²``. The weight of a sample whose event came until t is
1 / G(T_i), that of one who is observed after t is 1 / G(t), and that of one who was lost before is 0, where G(t) is the
probability not to be lost until t. So those who are observed count for those who are lost (Graf et al. 1999).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .kernels import Floats

# Curves are kept at so many times.
N_TIMES = 20
# The times go from this to that quantile of the event times, but end where this share of the samples is still observed.
_FROM, _TO, _STILL_OBSERVED = 0.1, 0.9, 0.05
# Configurations whose losses are computed at once.
_BLOCK = 16

Mask = NDArray[np.bool_]


def kaplan_meier(time: Floats, event: Mask, at: Floats) -> Floats:
    """Probability that the event comes after each time in `at`, by Kaplan and Meier's product."""
    times, events, _, at_risk = _counts(time, event)
    return _steps(times, 1 - events / at_risk, at)


def not_censored(time: Floats, event: Mask, at: Floats) -> Floats:
    """Probability G not to be censored until each time in `at`: those with an event at the same time leave first."""
    times, events, censored, at_risk = _counts(time, event)
    left = at_risk - events
    return _steps(times, 1 - censored / np.maximum(left, 1), at)


def _counts(time: Floats, event: Mask) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """The distinct times; how many events and censored samples each has, and how many were observed until then."""
    times, of = np.unique(time, return_inverse=True)
    events, every = np.bincount(of, event, len(times)).astype(np.intp), np.bincount(of, minlength=len(times))
    return times, events, every - events, len(time) - np.concatenate([[0], np.cumsum(every[:-1])])


def _steps(times: Floats, factors: Floats, at: Floats) -> Floats:
    """The product of the factors of all times up to each time in `at`."""
    products = np.concatenate([[1.0], np.cumprod(factors)])
    return np.asarray(products[np.searchsorted(times, at, side="right")])


def curve_times(time: Floats, event: Mask) -> Floats:
    """The times at which curves are kept and compared with what happened; none if the events come all at once."""
    of_events = time[event]
    outlived = np.unique(time)[:-1]  # somebody is observed after these, so G is not 0 there
    if not len(of_events) or not len(outlived):
        return np.empty(0)
    first, last = np.quantile(of_events, [_FROM, _TO])
    last = min(last, float(np.quantile(time, 1 - _STILL_OBSERVED)), float(outlived[-1]))
    return np.linspace(first, last, N_TIMES) if last > first else np.empty(0)


def at_times(times: Floats, curves: Floats, at: Floats) -> Floats:
    """(n, T) the step functions `curves`, (n, m) values from each of m `times` on, at T other times; 1 before the first."""
    return np.asarray(
        np.pad(curves, ((0, 0), (1, 0)), constant_values=1.0)[:, np.searchsorted(times, at, side="right")]
    )


def brier_losses(curves: Floats, time: Floats, event: Mask, times: Floats) -> Floats:
    """(C, N) what each of the (C, N, T) curves at `times` loses: the mean over time of its weighted squared distance.

    The mean of the losses of all samples is the integrated Brier score, by the trapezoidal rule. NaN if a curve is.
    """
    after = time[:, None] > times
    with np.errstate(divide="ignore"):
        weights = np.where(after, 1 / not_censored(time, event, times), 1 / not_censored(time, event, time)[:, None])
    weights[~after & ~event[:, None]] = 0.0  # lost before
    weights *= _trapezoid(times)
    out = np.empty(curves.shape[:2])
    for start in range(0, len(curves), _BLOCK):
        part = slice(start, start + _BLOCK)
        out[part] = np.einsum("nt,cnt->cn", weights, (after - curves[part]) ** 2)
    return out


def _trapezoid(times: Floats) -> Floats:
    """What each time weighs in a mean over time."""
    steps = np.diff(times)
    return np.asarray((np.append(steps, 0.0) + np.append(0.0, steps)) / 2 / (times[-1] - times[0]))
