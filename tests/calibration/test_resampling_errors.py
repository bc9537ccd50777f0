"""Type I error of the tests by resampling: on normal differences, where it is known, and on data (Wang et al. 2014, Table 6)."""

from __future__ import annotations

import numpy as np
import pytest
from gaussians import PLANS, SETTINGS, TESTS, pvalues, simulate, variance_ratio
from scipy import stats

from internals import balanced_variance, student

pytestmark = pytest.mark.calibration

ALPHA = 0.05


def balanced_differences(m, rho1, rho2, n, rng):
    """(n, m, 2) normal differences with the correlations of a balanced plan."""
    cov = (1 - rho1) * np.eye(2 * m) + (rho1 - rho2) * np.kron(np.eye(m), np.ones((2, 2))) + rho2
    values, vectors = np.linalg.eigh(cov)
    root = vectors * np.sqrt(np.clip(values, 0, None))
    return (rng.normal(size=(n, 2 * m)) @ root.T).reshape(n, m, 2)


def refused(d, weight, df):
    found = student(d.mean(axis=(1, 2)), balanced_variance(d, weight), df, 1 - ALPHA, np.full(len(d), 1e-12))
    return float(np.mean(found.pvalue <= ALPHA))


@pytest.mark.parametrize("m", [3, 7, 15])
def test_balanced_tests_on_normal_differences(m, record):
    rng, n = np.random.default_rng(m), 200_000
    noise = 4 * np.sqrt(ALPHA * (1 - ALPHA) / n)
    critical = stats.t.isf(ALPHA / 2, 2 * m - 1)
    for rho1, rho2 in ((0.0, 0.0), (0.06, 0.22), (0.1, 0.4), (0.2, 0.2), (0.3, 0.4), (0.3, 0.5), (0.0, 0.5)):
        d = balanced_differences(m, rho1, rho2, n, rng)
        rates = [refused(d, w, df) for w, df in ((0, m), ((m - 1) / m, 2 * m - 1), ((m + 1) / m, 2 * m - 1))]
        print(f"m={m} rho1={rho1} rho2={rho2}: " + " ".join(f"{r:.3f}" for r in rates))
        record("balanced", f"{m}, {rho1:g}, {rho2:g}", **dict(zip(("zero", "default", "largest"), rates, strict=True)))
        if rho1 == rho2:
            # The default is a t with 2m-1 degrees of freedom, times the root of the variance ratio.
            ratio = (1 + rho1 + 2 * (m - 1) * rho2) / (2 * m - 1 - rho1 - 2 * (m - 1) * rho2)
            expected = 2 * stats.t.sf(critical / np.sqrt(ratio), 2 * m - 1)
            assert rates[1] == pytest.approx(expected, abs=noise)
        if (rho1, rho2) == (0.0, 0.5):
            # The means of the repeats are all equal: what is left is a t with m degrees of freedom.
            assert rates[0] == pytest.approx(ALPHA, abs=noise)
            assert rates[1] == pytest.approx(2 * stats.t.sf(critical, m), abs=1.5 * noise)
        if rho2 <= 0.4:
            assert rates[1] <= ALPHA + noise


@pytest.mark.parametrize(("name", "n_sets"), [("simulation 1", 1000), ("simulation 2", 200)])
def test_type_1_error_on_two_gaussian_populations(name, n_sets):
    n, s = SETTINGS[name]
    errors = simulate(n, s, n_sets, progress=True)
    noise = 3 * np.sqrt(ALPHA * (1 - ALPHA) / n_sets)
    for (test, plan), (function, _) in TESTS.items():
        true = float((errors[plan][:, 0] - errors[plan][:, 1]).mean())
        rate = np.mean(pvalues(function, errors[plan], PLANS[plan], n, true) <= ALPHA)
        print(f"{name}, {n_sets} data sets: {test} on {plan} {rate:.3f}")
        if test == "t_resampled":
            assert rate > ALPHA + noise  # liberal, as its note says
        elif test != "t_kfold":
            assert rate < ALPHA + noise
    for plan, m in (("blocked 3x2", 3), ("balanced 7x2", 7)):
        ratio, rho1, rho2 = variance_ratio(errors[plan], m, (m - 1) / m)
        expected = (1 + rho1 + 2 * (m - 1) * rho2) / (2 * m - 1 - rho1 - 2 * (m - 1) * rho2)
        print(f"{name}: {plan} variance ratio {ratio:.3f}, by the correlations {expected:.3f}")
        assert ratio == pytest.approx(expected, rel=0.02)
        assert ratio < 1
