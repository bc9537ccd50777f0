"""P values: the two tails of a test, the interval they imply, and adjustment for the number of tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import Floats

# The search for an end of an interval takes at most this many steps, and stops when it is this near.
_STEPS = 100
_NEAR = 1e-14


class Tails(NamedTuple):
    """One-sided p values of "the first is not greater" and of "the first is not smaller"."""

    greater: Floats
    less: Floats

    @property
    def two_sided(self) -> Floats:
        """Twice the smaller tail, at most 1."""
        return np.asarray(np.minimum(1.0, 2 * np.minimum(self.greater, self.less)))


def normal_tails(z: Floats) -> Tails:
    """Tails of a standard normal statistic."""
    from scipy.special import ndtr

    return Tails(ndtr(-z), ndtr(z))


def normal_quantile(p: float) -> float:
    """Where the standard normal distribution function is p."""
    from scipy.special import ndtri

    return float(ndtri(p))


def lowest_not_rejected(excess: Callable[[Floats], Floats], start: Floats, rejects_zero: NDArray[np.bool_]) -> Floats:
    """Root in [-1, start] of the excess of the statistic over its critical value, which falls with the difference; -1 if none.

    Regula falsi with the Illinois rule: a dozen steps where halving takes fifty.
    """
    low, high = np.full_like(start, -1.0), start.copy()
    at_low, at_high = excess(low), excess(high)
    none = at_low <= 0
    # If nothing varies at the start, that is no root but the end of a curve that dips below 0 first.
    at_high = np.where(at_high < 0, at_high, -np.abs(at_low))
    last = np.zeros(len(start), dtype=np.int8)
    for _ in range(_STEPS):
        span = at_low - at_high
        crossing = np.where(span > 0, low + (high - low) * at_low / np.where(span > 0, span, 1.0), (low + high) / 2)
        middle = np.clip(crossing, low, high)
        at = excess(middle)
        up = at > 0
        # An end that stays a second time gets half its weight; otherwise it would never move.
        at_high = np.where(up, np.where(last == 1, at_high / 2, at_high), at)
        at_low = np.where(up, at, np.where(last == -1, at_low / 2, at_low))
        low, high, last = np.where(up, middle, low), np.where(up, high, middle), np.where(up, 1, -1).astype(np.int8)
        if np.all(none | (high - low <= _NEAR) | (np.abs(at) <= _NEAR)):
            break
    ends = np.where(none, -1.0, middle)
    # The test itself decides on which side of 0 the end is, not rounding.
    return np.where(rejects_zero, np.maximum(ends, np.finfo(float).tiny), np.minimum(ends, 0.0))


# -- p values adjusted for their number; NaN stays NaN and does not count -------------------------------


def holm(p: Floats) -> Floats:
    """Holm's step-down: the familywise error is kept, with more power than Bonferroni's (Holm 1979)."""
    return _sorted(p, lambda up: np.maximum.accumulate(up * np.arange(len(up), 0, -1)))


def bonferroni(p: Floats) -> Floats:
    """Bonferroni: each p value times their number."""
    return _sorted(p, lambda up: up * len(up))


def hochberg(p: Floats) -> Floats:
    """Hochberg's step-up: Holm's factors from the largest p down, for independent or positively dependent tests (1988)."""
    return _sorted(p, lambda up: np.minimum.accumulate((up * np.arange(len(up), 0, -1))[::-1])[::-1])


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini and Hochberg's step-up: the expected share of false findings is kept (1995)."""
    # The factor of the last is 1, so that rounding adds nothing.
    return _sorted(p, lambda up: np.minimum.accumulate((up * (len(up) / np.arange(1, len(up) + 1)))[::-1])[::-1])


def westfall_young(p: Floats, extremes: Callable[[int], Floats]) -> Floats:
    """Westfall and Young's (1993) step-down: how often the smallest p value of the rest would be as small by chance.

    `extremes(i)` gives, for (B,) draws under the null hypothesis, how extreme test i is there; the draws are the same for all
    tests, so that their dependence counts. Steps go from the largest p value down, and hold one test at a time. No adjusted p
    value is larger than Holm's, which bounds it (Boole), nor smaller than the p value itself.
    """
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(-p[defined], kind="stable")]
    out = np.full(len(p), np.nan)
    smallest: Floats | float = np.inf
    for k, i in enumerate(order, start=1):
        drawn = extremes(int(i))
        b = len(drawn)
        own = 1 - np.searchsorted(np.sort(drawn), drawn, side="left") / b
        smallest = np.asarray(np.minimum(smallest, own))
        chance = (1 + np.sum(smallest <= p[i])) / (b + 1)
        out[i] = min(max(chance, p[i]), k * p[i], 1.0)
    out[order[::-1]] = np.maximum.accumulate(out[order[::-1]])
    return out


def _sorted(p: Floats, steps: Callable[[Floats], Floats]) -> Floats:
    """The steps of p values in ascending order, at most 1, in their own order."""
    out = np.full(len(p), np.nan)
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    out[order] = np.minimum(steps(p[order]), 1.0)
    return out
