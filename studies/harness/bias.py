"""Bias of estimates: means, standard deviations, and the two tests of Tsamardinos et al. (2015)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


def known(values: ArrayLike) -> np.ndarray:
    """The numbers among these; a protocol that could not answer gave None."""
    numbers = np.asarray(values, dtype=float)
    return numbers[np.isfinite(numbers)]


def summary(values: ArrayLike) -> dict[str, Any]:
    """Mean, standard deviation, number, standard error and the p value of "the mean is zero" (t test)."""
    numbers = known(values)
    n = len(numbers)
    if n == 0:
        return {"n": 0, "mean": None, "sd": None, "se": None, "pvalue": None}
    spread = float(numbers.std(ddof=1)) if n > 1 else None
    error = None if spread is None else spread / np.sqrt(n)
    pvalue = float(stats.ttest_1samp(numbers, 0.0).pvalue) if spread else None
    return {
        "n": n,
        "mean": round(float(numbers.mean()), 5),
        "sd": None if spread is None else round(spread, 5),
        "se": None if error is None else round(error, 5),
        "pvalue": None if pvalue is None else float(f"{pvalue:.3g}"),
    }


def obrien(values: ArrayLike, others: ArrayLike) -> float | None:
    """P value of "both have the same variance": an analysis of variance of O'Brien's transform (1979)."""
    first, second = known(values), known(others)
    if min(len(first), len(second)) < 3 or min(first.std(), second.std()) == 0:
        return None
    return float(f"{stats.f_oneway(*stats.obrientransform(first, second)).pvalue:.3g}")


def stars(pvalue: float | None) -> str:
    """As the paper marks them: one star below 0.05, two below 0.01."""
    return "" if pvalue is None or pvalue >= 0.05 else "*" if pvalue >= 0.01 else "**"
