"""P values adjusted for their number; what is undefined (NaN) stays so and does not count."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .base import Floats


def holm(p: Floats) -> Floats:
    """Holm's step-down: the familywise error is kept, with more power than Bonferroni's (Holm 1979)."""

    def steps(ascending: Floats) -> Floats:
        n = len(ascending)
        return np.maximum.accumulate(ascending * np.arange(n, 0, -1))

    return _sorted(p, steps)


def bonferroni(p: Floats) -> Floats:
    """Bonferroni's: every p times their number."""
    return _sorted(p, lambda ascending: ascending * len(ascending))


def hochberg(p: Floats) -> Floats:
    """Hochberg's step-up: Holm's factors from the largest p down, for independent or positively dependent tests (1988)."""

    def steps(ascending: Floats) -> Floats:
        n = len(ascending)
        return np.minimum.accumulate((ascending * np.arange(n, 0, -1))[::-1])[::-1]

    return _sorted(p, steps)


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini and Hochberg's step-up: the expected share of false findings is kept (1995)."""

    def steps(ascending: Floats) -> Floats:
        n = len(ascending)
        scaled = ascending * (n / np.arange(1, n + 1))  # the factor of the last is 1, so that rounding adds nothing
        return np.minimum.accumulate(scaled[::-1])[::-1]

    return _sorted(p, steps)


def _sorted(p: Floats, steps: Callable[[Floats], Floats]) -> Floats:
    out = np.full(len(p), np.nan)
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    out[order] = np.minimum(steps(p[order]), 1.0)
    return out
