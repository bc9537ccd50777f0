"""Non-inferiority, equivalence and their power against statsmodels (make_margins.py), Minitab's and Tango's printed digits."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import norm

import outfold as of

compare = of.compare
CLOSE = {"rel": 1e-9, "abs": 1e-12}


@pytest.fixture(scope="module")
def golden(golden_data):
    return json.loads((golden_data / "margins.json").read_text())


def test_two_one_sided_paired_t_tests(golden):
    for case in golden["paired_t"]:
        n = len(case["a"])
        scores = of.from_scores({"a": case["a"], "b": case["b"]}, n_train=10 * (n - 1), n_test=10)
        found = compare.equivalent(scores, None, "a", "b", margin=case["margin"], test="t_kfold")
        assert [test.statistic for test in found.tests] == pytest.approx([case["t_low"], case["t_high"]], **CLOSE)
        assert found.pvalues == pytest.approx((case["p_low"], case["p_high"]), **CLOSE)
        assert found.pvalue == pytest.approx(case["p"], **CLOSE)
        assert found.interval == pytest.approx(case["interval_90"], **CLOSE)
        assert found.interval_level == 0.9
        assert found.tests[0].df == (case["df"],)
        not_worse = compare.non_inferior(scores, None, "a", "b", margin=case["margin"], test=compare.t_kfold)
        assert not_worse.pvalue == pytest.approx(case["p_low"], **CLOSE)


def answers(both, only_a, only_b, neither):
    right = [[1, 1]] * both + [[1, 0]] * only_a + [[0, 1]] * only_b + [[0, 0]] * neither
    return of.from_arrays(None, right, configs=["a", "b"], response="pointwise")


def test_proportions_that_differ_by_a_null(golden):
    for case in golden["proportions"]:
        x1, x2, n = case["x1"], case["x2"], case["n"]
        both = (max(0, x1 + x2 - n) + min(x1, x2)) // 2  # however the answers overlap
        oof = answers(both, x1 - both, x2 - both, n - x1 - x2 + both)
        found = compare.z_proportions(oof, "mean", "a", "b", null=case["null"])
        assert (found.statistic, found.pvalue) == pytest.approx((case["z"], case["p"]), **CLOSE)


def test_tangos_example():
    """Tango (1998): 43 patients well with both, none with the new treatment only, 1 with the old one only; margin 0.1.

    The printed 90 percent interval, -0.096 to 0.037, also stands in the tests of the R package ratesci.
    """
    found = compare.non_inferior(answers(43, 0, 1, 0), "mean", "a", "b", margin=0.1, test="mcnemar")
    assert found.interval == pytest.approx((-0.096, 0.037), abs=0.0005)
    # Tango's eq. 4 and 5 by hand: q = (sqrt(B^2 - 8 n C) - B) / (4 n), Z = (b - c - n d) / sqrt(n (2 q + d (1 - d))).
    n, c, d = 44, 1, -0.1
    B, C = -c + (2 * n + c) * d, -c * d * (1 - d)
    q = (np.sqrt(B**2 - 8 * n * C) - B) / (4 * n)
    z = (-c - n * d) / np.sqrt(n * (2 * q + d * (1 - d)))
    assert found.tests[0].statistic == pytest.approx(z**2)
    assert found.pvalue == pytest.approx(norm.sf(z))
    assert found.holds
    assert not compare.equivalent(answers(43, 0, 1, 0), "mean", "a", "b", margin=0.03).holds


def normal_differences(sd, n=2000):
    """Predictions whose differences have a normal distribution, swapped or not."""
    d = sd * norm.ppf((np.arange(n) + 0.5) / n)
    d *= sd / d.std()
    return of.from_arrays(None, np.stack([d, np.zeros(n)], axis=1), configs=["a", "b"], response="pointwise")


SIMULATED = {"test": "permutation", "n_resamples": 499, "n_simulations": 1000, "progress": False}


def test_power_of_the_margin_is_that_of_the_t_tests(golden):
    """The permutation test of normal differences has nearly the power of the t test."""
    for case in golden["power"]:
        if (
            case["margin"] != 0.25 or case["n"] < 25
        ):  # with few samples, random swaps are cruder than the t distribution
            continue
        for question in ("non_inferior", "equivalent"):
            options = {question: case["margin"], "n": case["n"]}
            found = compare.power(normal_differences(case["sd"]), "mean", "a", "b", 0.0, **options, **SIMULATED)
            assert found.power == pytest.approx(case[question], abs=0.012 + 3 * found.standard_error), case
    margin, sd, difference, n, printed = golden["printed_power_of_two"][2]
    found = compare.power(normal_differences(sd), "mean", "a", "b", difference, equivalent=margin, n=n, **SIMULATED)
    assert found.power == pytest.approx(printed, abs=0.012 + 3 * found.standard_error)


def test_samples_for_a_power_of_80_percent_are_those_of_the_t_tests(golden):
    case = next(case for case in golden["power"] if "n_equivalent" in case and case["margin"] == 0.25)
    oof = normal_differences(case["sd"], 20)  # too few for either
    for question in ("non_inferior", "equivalent"):
        found = compare.samples_needed(oof, "mean", "a", "b", **{question: case["margin"]}, **SIMULATED)
        # A power within 0.03 of 0.8 is taken for it; the number of samples then differs by about a tenth.
        assert found.n == pytest.approx(case[f"n_{question}"], rel=0.15), question
        assert (found.difference, found.margin) == (0.0, 0.25)
