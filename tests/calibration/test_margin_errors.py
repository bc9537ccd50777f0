"""Type I error at the margin: `non_inferior` and `equivalent` where the truth is the margin, and `algorithms` of equal ones."""

from __future__ import annotations

import numpy as np
import pytest
from margins import DESIGNS, data_sets, rates
from margins_one_set import flips, of_groups, of_samples, rejected, t_skewed
from tuned import pvalues, simulate

pytestmark = pytest.mark.calibration

ALPHA, N_SETS = 0.05, 1000
NOISE = 3 * np.sqrt(ALPHA * (1 - ALPHA) / N_SETS)


@pytest.mark.parametrize("learner", ["centroid", "linear"])
@pytest.mark.parametrize("design", ["10-fold", "5 x 2-fold"])
def test_a_difference_of_the_margin_is_rarely_called_smaller(learner, design):
    plan, repeats = DESIGNS[design]
    held = data_sets(100, learner, plan, repeats, range(N_SETS))
    for metric in ("accuracy", "roc_auc", "brier"):
        found = rates(held, metric, "t_training")
        print(f"{learner}, {design}, {metric}: {found}")
        assert 0.005 < found["margin"] < 0.2
        assert found["equivalent"] <= found["non_inferior"] <= ALPHA + NOISE


@pytest.mark.parametrize("algorithm", ["nearest neighbours", "ridge regression"])
def test_equal_algorithms_are_rarely_found_to_differ_when_tuned(algorithm):
    for metric, held in simulate(algorithm, "weak", 100, "5-fold, inner=True", N_SETS).items():
        rate = float(np.mean(pvalues(held, metric) <= ALPHA))
        print(f"{algorithm}, {metric}: {rate:.3f}")
        assert rate <= ALPHA + NOISE


# Sixty samples, or twenty groups, show too little of a lognormal tail.
SKEWED = {
    "normal": (of_samples, ("normal", 60), 0.06),
    "shares": (of_samples, ("shares of five answers", 60), 0.06),
    "exponential": (of_samples, ("exponential", 60), 0.065),
    "lognormal": (of_samples, ("lognormal", 60), 0.09),
    "groups": (of_groups, ("exponential", "random", 20), 0.065),
    "groups, lognormal": (of_groups, ("lognormal", "random", 20), 0.09),
}


@pytest.mark.parametrize("name", SKEWED)
def test_skewed_differences_of_the_margin_are_rarely_called_smaller(name):
    make, setting, most = SKEWED[name]
    sets = make(*setting, 4 * N_SETS, 100)
    found, by_flips = (rejected(test(sets, sets.mean))["below"] / (4 * N_SETS) for test in (t_skewed, flips))
    print(f"{name}: {found:.3f}, flips {by_flips:.3f}")
    assert found <= most
    assert found < by_flips + 0.005
