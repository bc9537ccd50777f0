"""Make data/margins.json: non-inferiority, equivalence and their power, by statsmodels and scipy.

Run it in an environment with statsmodels 0.15 and scipy 1.17; outfold is not needed:

    python tests/golden/make_margins.py
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import scipy
import statsmodels
from scipy import integrate, optimize, stats
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_paired


def paired_t() -> list[dict]:
    """Two one-sided paired t tests of scores of folds."""
    rng, out = np.random.default_rng(20), []
    for n_folds, margin in ((5, 0.02), (10, 0.01), (10, 0.05), (20, 0.03)):
        a = np.round(rng.normal(0.81, 0.03, n_folds), 3)
        b = np.round(a + rng.normal(0.005, 0.02, n_folds), 3)
        p, (t_low, p_low, _), (t_high, p_high, df) = ttost_paired(a, b, -margin, margin)
        ends = stats.t.interval(0.9, n_folds - 1, (a - b).mean(), stats.sem(a - b))
        found = {
            "p": p,
            "t_low": t_low,
            "p_low": p_low,
            "t_high": t_high,
            "p_high": p_high,
            "df": df,
            "interval_90": ends,
        }
        out.append({"a": a.tolist(), "b": b.tolist(), "margin": margin} | found)
    return out


def proportions() -> list[dict]:
    """Score tests of two independent proportions that differ by a value, from the root of the derivative of the likelihood.

    statsmodels has this test, `test_proportions_2indep(..., method="score")`. Up to 0.15.0 its cubic has a count in place of a
    number of trials, so that its proportions are not the likeliest ones unless the value is 0: 0.919 for the first z below.
    """
    out = []
    for x1, x2, n, value in ((80, 85, 100, -0.1), (80, 85, 100, 0.1), (30, 12, 40, 0.25), (38, 39, 40, -0.05)):

        def derivative(p: float) -> float:
            return x1 / (p + value) - (n - x1) / (1 - p - value) + x2 / p - (n - x2) / (1 - p)  # noqa: B023

        near = 1e-12
        p2 = optimize.brentq(derivative, max(0, -value) + near, min(1, 1 - value) - near, xtol=1e-15)
        p1 = p2 + value
        z = (x1 / n - x2 / n - value) / np.sqrt((p1 * (1 - p1) + p2 * (1 - p2)) / n)
        out.append({"x1": x1, "x2": x2, "n": n, "null": value, "z": z, "p": 2 * stats.norm.sf(abs(z))})
    return out


def power_of_one(margin: float, sd: float, n: int) -> float:
    """Power of the one-sided t test of the margin, if the true difference is 0."""
    return float(TTestPower().power(margin / sd, n, 0.05, alternative="larger"))


def power_of_two(margin: float, sd: float, n: int, difference: float = 0.0) -> float:
    """Power of two one-sided t tests: the mean must lie within margin - t s / sqrt(n) of 0, whatever s turns out to be."""
    df, critical, se = n - 1, stats.t.ppf(0.95, n - 1), sd / np.sqrt(n)

    def given(s: float) -> float:
        """Probability for a standard deviation of s times the true one, times its density."""
        room = margin - critical * s * se
        if room <= 0:
            return 0.0
        inside = stats.norm.cdf((room - difference) / se) - stats.norm.cdf((-room - difference) / se)
        return inside * stats.chi2.pdf(df * s**2, df) * 2 * df * s

    return float(integrate.quad(given, 0, margin / (critical * se), limit=200)[0])


# Power of the one-sample equivalence test as Minitab's documentation prints it (help of "Power and Sample Size for 1-Sample
# Equivalence Test": key results, and the example of snack bags): margin, standard deviation, difference, samples, power.
PRINTED = ((0.3, 0.165, 0.2, 25, 0.902911), (0.42, 0.732, 0.0, 35, 0.907219), (0.42, 0.732, 0.1, 47, 0.903687))
PRINTED += ((0.42, 0.732, 0.2, 97, 0.902206), (0.42, 0.732, 0.3, 321, 0.900788))


def powers() -> list[dict]:
    """Both powers at a difference of 0, and the samples that reach a power of 0.8."""
    out = []
    for margin, sd in ((0.42, 0.732), (0.1, 0.3), (0.25, 0.5)):
        one = next(n for n in range(3, 10_000) if power_of_one(margin, sd, n) >= 0.8)
        two = next(n for n in range(3, 10_000) if power_of_two(margin, sd, n) >= 0.8)
        for n in (one // 2, one, 35, two):
            found = {"non_inferior": power_of_one(margin, sd, n), "equivalent": power_of_two(margin, sd, n)}
            out.append({"margin": margin, "sd": sd, "n": n} | found)
        out[-1] |= {"n_non_inferior": one, "n_equivalent": two}
    return out


if __name__ == "__main__":
    for margin, sd, difference, n, printed in PRINTED:
        assert abs(power_of_two(margin, sd, n, difference) - printed) < 1e-6, (margin, sd, difference, n)
    made = {
        "versions": {"statsmodels": statsmodels.__version__, "scipy": scipy.__version__, "numpy": np.__version__},
        "paired_t": paired_t(),
        "proportions": proportions(),
        "power": powers(),
        "printed_power_of_two": [list(row) for row in PRINTED],
    }
    (Path(__file__).parent / "data" / "margins.json").write_text(json.dumps(made, indent=1) + "\n")
