"""Published numbers, and numbers of other software, of tests on one test set."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import outfold as of
from internals import paired, rank_metrics
from outfold import compare


def from_table(table) -> of.Predictions:
    """Predictions with the given counts: both right, only the first, only the second, both wrong."""
    (both, b), (c, neither) = table
    right = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [both, b, c, neither], axis=0)
    return of.from_arrays(None, right, configs=["first", "second"], response="pointwise")


@pytest.fixture(scope="module")
def cases(golden_data):
    return json.loads((golden_data / "tests.json").read_text())


@pytest.fixture(scope="module")
def cases_of_r(golden_data):
    return json.loads((golden_data / "tests_R.json").read_text())


# ---------------------------------------------------------------------------------- McNemar

# Fagerland, Lydersen and Laake (2014): airway hyper-responsiveness of 21 children before and after a transplant.
AIRWAY = [[1, 1], [7, 12]]


@pytest.mark.parametrize(("method", "p"), [("plain", 0.034), ("edwards", 0.077), ("exact", 0.070), ("midp", 0.039)])
def test_airway_p_values(method, p):
    assert compare.mcnemar(from_table(AIRWAY), None, 0, 1, method=method).pvalue == pytest.approx(p, abs=5e-4)


def test_airway_interval_of_tango():
    result = compare.mcnemar(from_table(AIRWAY), None, 0, 1, method="plain")
    assert result.interval == pytest.approx((-0.517, -0.026), abs=5e-4)
    assert result.difference == pytest.approx(-6 / 21)


@pytest.mark.parametrize(
    ("table", "chi2", "p", "digits"),
    [([[9959, 11], [1, 29]], 8.33, 0.0039, 5e-5), ([[9945, 25], [15, 15]], 2.5, 0.1138, 1e-4)],
)
def test_worked_examples_of_raschka(table, chi2, p, digits):
    result = compare.mcnemar(from_table(table), None, 0, 1, method="plain")
    assert result.statistic == pytest.approx(chi2, abs=5e-3)
    assert result.pvalue == pytest.approx(p, abs=digits)


def test_mcnemar_equals_mlxtend_and_statsmodels(cases):
    for case in cases["mcnemar"]:
        oof = from_table(case["table"])
        plain, edwards, exact, midp = (
            compare.mcnemar(oof, None, 0, 1, method=method) for method in ("plain", "edwards", "exact", "midp")
        )
        assert [plain.statistic, plain.pvalue] == pytest.approx(case["plain"], rel=1e-9, abs=1e-15)
        assert exact.pvalue == pytest.approx(case["exact_p"], rel=1e-9)
        assert midp.pvalue == pytest.approx(case["mid_p"], rel=1e-9)
        b, c = case["table"][0][1], case["table"][1][0]
        if b != c:
            assert [edwards.statistic, edwards.pvalue] == pytest.approx(case["corrected"], rel=1e-9)
        else:
            # They square |b-c|-1 = -1 and find p < 1 where nothing differs; the correction may not pass 0.
            assert case["corrected"][0] == pytest.approx(1 / (b + c))
            assert (edwards.statistic, edwards.pvalue) == (0, 1)


def test_mcnemar_equals_r(cases, cases_of_r):
    tables = {case["name"].removeprefix("raschka2018_"): case["table"] for case in cases["mcnemar"]}
    compared = 0
    for name, expected in cases_of_r["mcnemar"].items():
        if name not in tables:
            continue  # its table is not stored
        oof = from_table(tables[name])
        for method, key in (("plain", "plain"), ("edwards", "corrected")):
            result = compare.mcnemar(oof, None, 0, 1, method=method)
            assert [result.statistic, result.pvalue] == pytest.approx(expected[key], rel=1e-9, abs=1e-15)
        assert compare.mcnemar(oof, None, 0, 1, method="exact").pvalue == pytest.approx(expected["exact_p"], rel=1e-9)
        compared += 1
    assert compared == 4


# ---------------------------------------------------------------------------------- proportions


def test_pooled_z_equals_statsmodels_and_r(cases, cases_of_r):
    for case in cases["proportion_difference"]:
        n1, n2 = case["n1"], case["n2"]
        x1, x2 = np.array([case["p1"] * n1]), np.array([case["p2"] * n2])
        z = paired.proportions_statistic(x1, x2, n1, n2)
        assert z[0] == pytest.approx(case["pooled_z"], rel=1e-9)
        assert 2 * stats.norm.sf(abs(z[0])) == pytest.approx(case["statsmodels_pooled_z_p"][1], rel=1e-9)
        # mlxtend's z has the other variance, and its p is the lower tail whichever the sign.
        assert case["mlxtend_p_lower_tail"] == pytest.approx(stats.norm.cdf(case["mlxtend_z_unpooled"]), rel=1e-9)
    result = compare.z_proportions(from_table([[80, 4], [12, 4]]), None, 0, 1)
    assert result.statistic**2 == pytest.approx(cases_of_r["prop_test_84_92"]["chi2"], rel=1e-9)
    assert result.pvalue == pytest.approx(cases_of_r["prop_test_84_92"]["p"], rel=1e-9)


@pytest.mark.parametrize(("x1", "n1", "x2", "n2"), [(56, 70, 48, 80), (9, 10, 3, 10), (5, 40, 11, 30), (10, 10, 1, 10)])
def test_score_interval_solves_its_equation(x1, n1, x2, n2):
    """Mee's interval; the likeliest proportions at an end are found here by brute force."""
    found = paired.proportions_interval(np.array([x1]), np.array([x2]), n1, n2, 0.95)[0]
    assert -1 < found[0] < x1 / n1 - x2 / n2 < found[1] < 1
    for end in found:
        q = np.linspace(max(0, -end), min(1, 1 - end), 1_000_001)[1:-1]
        p = q + end
        logs = x1 * np.log(p) + (n1 - x1) * np.log1p(-p) + x2 * np.log(q) + (n2 - x2) * np.log1p(-q)
        best = np.argmax(logs)
        variance = p[best] * (1 - p[best]) / n1 + q[best] * (1 - q[best]) / n2
        assert abs(x1 / n1 - x2 / n2 - end) / np.sqrt(variance) == pytest.approx(1.96, abs=2e-3)


# ---------------------------------------------------------------------------------- Q and F


def test_cochran_and_looney(cases):
    for case in cases["cochran_ftest"]:
        oof = of.from_arrays(None, np.array(case["correct_matrix"]), response="pointwise")
        q, f = compare.cochran_q(oof), compare.f_looney(oof)
        assert [q.statistic, q.pvalue] == pytest.approx(case["cochran_q"], rel=1e-9)
        assert f.statistic == pytest.approx(case["ftest_parts"]["F"], rel=1e-9)
        # mlxtend takes (M-1)n for the second degrees of freedom; (M-1)(n-1) is right.
        n, m = np.shape(case["correct_matrix"])
        assert f.df == (m - 1, (m - 1) * (n - 1))
        assert f.pvalue == pytest.approx(case["ftest_p_df2_M1n1"], rel=1e-9)
        assert case["ftest_mlxtend"][1] == pytest.approx(stats.f.sf(f.statistic, m - 1, (m - 1) * n), rel=1e-9)


def test_cochran_of_raschkas_table(cases):
    matrix = np.array(cases["cochran_ftest"][0]["correct_matrix"])
    result = compare.cochran_q(of.from_arrays(None, matrix, response="pointwise"))
    assert (100 * result.scores).round().tolist() == [84, 92, 92]
    assert result.statistic == pytest.approx(7.5294, abs=5e-5)
    assert result.pvalue == pytest.approx(0.023, abs=5e-4)


# ---------------------------------------------------------------------------------- areas


def test_variance_of_one_area(cases):
    """The other package rounds its scores to float32, hence six digits; our own formula is checked to 1e-12."""
    case = cases["auc_delong"]
    positive, scores = np.array(case["y"]) == 1, np.array([case["score"]])
    p, q = rank_metrics.placements(scores, positive)
    area, error = p.mean(), np.sqrt(rank_metrics.area_variances(p, q)[0])
    assert area == pytest.approx(case["auc_sklearn"], rel=1e-12)
    z = stats.norm.isf(0.025)
    assert [area, area - z * error, area + z * error] == pytest.approx(case["confidenceinterval_pkg"], abs=1e-6)
    psi = scores[0][positive][:, None] - scores[0][~positive]
    psi = (psi > 0) + 0.5 * (psi == 0)
    by_hand = psi.mean(axis=1).var(ddof=1) / len(psi) + psi.mean(axis=0).var(ddof=1) / psi.shape[1]
    assert error**2 == pytest.approx(by_hand, rel=1e-12)
