"""Coverage of McNemar's intervals and error rates of its tests, by complete enumeration: the table in docs/compare/mcnemar.md."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import gammaln

from internals import EXACT_BELOW, paired

pytestmark = pytest.mark.calibration

DISCORDANCES, DIFFERENCES = (0.05, 0.1, 0.2, 0.3, 0.5), (0, 0.02, 0.05, 0.1, 0.2)
PAGE = Path(__file__).parents[2] / "docs" / "compare" / "mcnemar.md"


def tables(n):
    """Counts (b, c) of every possible outcome, with its multinomial coefficient."""
    b, c = (v.ravel() for v in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    possible = b + c <= n
    b, c = b[possible], c[possible]
    return b, c, gammaln(n + 1) - gammaln(b + 1) - gammaln(c + 1) - gammaln(n - b - c + 1)


def decided(method, b, c, n):
    """Interval and p value of every outcome."""
    if method == "auto":
        few = b + c < EXACT_BELOW
        (exact, p), (plain, q) = decided("exact", b, c, n), decided("plain", b, c, n)
        return np.where(few[:, None], exact, plain), np.where(few, p, q)
    tails = paired.mcnemar_tails(b, c, method)
    return paired.mcnemar_interval(b, c, n, tails, 0.95), tails.two_sided


def measured(method, n):
    """Lowest and mean coverage, and the largest error rate of the test."""
    b, c, log = tables(n)
    interval, p = decided(method, b, c, n)
    coverage, errors = [], []
    for discordance in DISCORDANCES:
        for d in (d for d in DIFFERENCES if d < discordance):
            first, second = (discordance + d) / 2, (discordance - d) / 2
            chance = np.exp(log + b * np.log(first) + c * np.log(second) + (n - b - c) * np.log(1 - discordance))
            coverage.append(chance[(interval[:, 0] <= d) & (d <= interval[:, 1])].sum())
            errors += [chance[p <= 0.05].sum()] if d == 0 else []
    return min(coverage), np.mean(coverage), max(errors)


@pytest.mark.parametrize("method", ["plain", "edwards", "exact", "midp", "auto"])
def test_coverage_and_error_rates_are_those_of_the_page(method, record):
    found = [measured(method, n) for n in (30, 100, 300)]
    for n, (low, mean, error) in zip((30, 100, 300), found, strict=True):
        record("mcnemar", f"{method}, {n}", lowest=low, mean=mean, error=error)
    assert min(low for low, _, _ in found) > 0.94
    assert max(error for _, _, error in found) < (0.0505 if method in ("exact", "edwards", "midp") else 0.0525)
    line = next(line for line in PAGE.read_text().splitlines() if re.match(rf"\| `{method}` \| 0\.", line))
    expected = [*(v for low, mean, _ in found for v in (low, mean)), *(error for _, _, error in found)]
    assert [float(v) for v in re.findall(r"0\.\d{3}", line)] == [round(float(v), 3) for v in expected]
