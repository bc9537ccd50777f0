"""Tests by resampling against other software, and against the formulas of Wang et al. (2014)."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import outfold as of
from internals import Correlations, balanced_variance, between_repeats, mean_variance, within_halves

compare = of.compare
CLOSE = {"rel": 1e-9, "abs": 1e-9}


@pytest.fixture(scope="module")
def golden(golden_data):
    return json.loads((golden_data / "tests.json").read_text())


def scores(a, b, n_train, n_test, **design):
    return of.from_scores({"a": a, "b": b}, n_train=n_train, n_test=n_test, **design)


def test_five_by_two(golden):
    for case in golden["five_by_two_cv"]:
        given = scores(case["score1"], case["score2"], 50, 50, design="5x2cv")
        t, f = compare.t_5x2cv(given, None, "a", "b"), compare.f_5x2cv(given, None, "a", "b")
        assert (t.statistic, t.pvalue) == pytest.approx(case["t5x2"], **CLOSE)
        assert (f.statistic, f.pvalue) == pytest.approx(case["F5x2"], **CLOSE)
        assert t.df == (5,)
        assert f.df == (10, 5)
        d = (np.array(case["score1"]) - case["score2"]).reshape(1, 5, 2)
        assert within_halves(d)[0] == pytest.approx(sum(case["s2"]), **CLOSE)


def test_combined_five_by_two(golden):
    """The loop of Yildiz's own program, Combined5x2t, on the scores of the cases."""
    for case in golden["five_by_two_cv"]:
        difference = np.array(case["score1"]) - case["score2"]
        numerator = denominator = 0.0
        for i in range(5):
            mean = (difference[2 * i] + difference[2 * i + 1]) / 2
            numerator += mean
            denominator += (difference[2 * i] - mean) ** 2 + (difference[2 * i + 1] - mean) ** 2
        t = np.sqrt(10) * numerator / 5 / np.sqrt(denominator / 5)
        given = scores(case["score1"], case["score2"], 50, 50, design="5x2cv")
        found = compare.t_5x2cv_combined(given, None, "a", "b")
        assert (found.statistic, found.pvalue) == pytest.approx((t, 2 * stats.t.sf(abs(t), 5)), **CLOSE)
        assert found.df == (5,)
        assert "OF302" in {note.code for note in found.notes}


# Tables 2 and 3 of Wang et al. (2014): 1 - 2 rho1, 2 rho2, 2 - rho1 - 2 rho2 and 3 - 4 rho2, by the number of samples.
PRINTED = [
    (0.752, 0.832, 1.044, 1.336),
    (0.790, 0.858, 1.037, 1.284),
    (0.834, 0.870, 1.047, 1.260),
    (0.872, 0.888, 1.048, 1.224),
    (0.900, 0.908, 1.042, 1.184),
    (0.414, 0.562, 1.145, 1.876),
    (0.448, 0.522, 1.202, 1.956),
    (0.604, 0.390, 1.412, 2.220),
    (0.676, 0.378, 1.460, 2.244),
    (0.810, 0.330, 1.575, 2.340),
    (0.880, 0.310, 1.630, 2.380),
    (0.946, 0.288, 1.685, 2.424),
]


@pytest.mark.parametrize("row", PRINTED)
def test_expected_variances_are_those_of_the_tables(row):
    """The paper compares 6 E(V) / variance - 1 - rho1, halved, for the weights 0, 2/3 and 4/3, with the true one."""
    rho1, rho2 = (1 - row[0]) / 2, row[1] / 2
    found = Correlations(1.0, rho1, rho2)
    true, *estimates = (found.of_mean(3), *(found.expected(3, weight) for weight in (0, 2 / 3, 4 / 3)))
    printed = [(6 * value - 1 - rho1) / 2 for value in (estimates[0], true, *estimates[1:])]
    assert printed == pytest.approx(row, abs=5.1e-4)


@given(st.floats(0, 0.5), st.floats(0, 0.45))
def test_variance_ratios_are_those_of_table_5(rho1, rho2):
    found = Correlations(2.0, rho1, rho2)
    ratios = [found.of_mean(3) / found.expected(3, weight) for weight in (2 / 3, 4 / 3)]
    top = 1 + rho1 + 4 * rho2
    assert ratios == pytest.approx([top / (5 - rho1 - 4 * rho2), top / (7 + rho1 - 8 * rho2)])


def test_paired_t(golden):
    for case in golden["paired_t"]:
        k = case["k"]
        kfold = scores(case["score1"], case["score2"], 10 * (k - 1), 10)
        holdout = scores(case["score1"], case["score2"], 70, 30, design="holdout")
        ninth = scores(case["score1"], case["score2"], 90, 10, design="holdout")
        for found, expected in (
            (compare.t_kfold(kfold, None, "a", "b"), case["kfold_mlxtend"]),
            (compare.t_kfold(kfold, None, "a", "b"), case["scipy_ttest_rel"]),
            (compare.t_resampled(holdout, None, "a", "b"), case["resampled_mlxtend"]),
            (compare.t_corrected(kfold, None, "a", "b"), case["corrected_nb_kfold"]["t_p"]),
            (compare.t_corrected(holdout, None, "a", "b"), case["corrected_nb_holdout_30_70"]["t_p"]),
            (compare.t_corrected(ninth, None, "a", "b"), case["corrected_nb_holdout_1_9"]["t_p"]),
        ):
            assert (found.statistic, found.pvalue) == pytest.approx(expected, **CLOSE)
            assert found.df == (k - 1,)


def test_blocked_three_by_two(golden):
    for case in golden["blocked_3x2"]:
        d = np.array(case["mu_ik"])
        given = scores(d.ravel(), np.zeros(6), 50, 50, design="blocked")
        found = compare.t_blocked_3x2(given, None, "a", "b")
        assert (found.difference, found.statistic, found.pvalue) == pytest.approx(
            (case["mu"], case["t"], case["p_df5"]), **CLOSE
        )
        careful = compare.t_blocked_3x2(given, None, "a", "b", variance_weight=4 / 3)
        assert careful.statistic == pytest.approx(case["t_lambda_4_3"], **CLOSE)
        assert compare.t_blocked_mx2(given, None, "a", "b").statistic == pytest.approx(case["t"], **CLOSE)
        variances = [balanced_variance(d[None], w)[0] for w in (0, 2 / 3, 4 / 3)]
        assert variances == pytest.approx([case["var_L"], case["var_AL_2_3"], case["var_AL_4_3"]], **CLOSE)
        assert between_repeats(d[None])[0] == pytest.approx(case["S2"], **CLOSE)


def test_bayes_correlated_t(golden):
    for case in golden["bayes_correlated_t"]:
        n, runs = len(case["x"]), case["runs"]
        folds = n // runs
        # Their order is y - x: the probabilities are of x better, (equivalent,) y better.
        given = scores(case["y"], case["x"], 60 * (folds - 1), 60, repeats=runs)
        found = compare.t_bayes(given, None, "a", "b", rope=case["rope"])
        p = found.probabilities
        own = (p.worse, p.equivalent, p.better) if len(case["probs"]) == 3 else (p.worse, p.better)
        assert own == pytest.approx(case["probs"], **CLOSE)
        assert found.pvalue is None
        if "var" in case:
            d = np.array(case["y"]) - case["x"]
            assert found.difference == pytest.approx(case["mean_y_minus_x"], **CLOSE)
            assert mean_variance(d[None], 1 / folds)[0] == pytest.approx(case["var"], **CLOSE)
            assert found.df == (case["df"],)


# -- the identities behind the blocked test -----------------------------------------------------------------

halves = st.integers(2, 8).flatmap(
    lambda m: st.lists(st.floats(-1, 1, width=32), min_size=2 * m, max_size=2 * m).map(
        lambda values: np.array(values, dtype=float).reshape(1, m, 2)
    )
)


@given(halves)
def test_weight_m_minus_1_over_m_is_the_spread_about_the_mean(d):
    """Eq. 4.3: one sum of squares about the grand mean, over 2m."""
    m = d.shape[1]
    assert balanced_variance(d, (m - 1) / m)[0] == pytest.approx(((d - d.mean()) ** 2).sum() / (2 * m), abs=1e-12)


@given(halves.filter(lambda d: d.shape[1] == 3))
def test_weight_0_is_the_l_estimator(d):
    """Eq. 4.1, with (1 + rho) / (1 - rho) at rho = 1/2."""
    printed = sum((1 / 2 + 0.5 / (1 - 0.5)) * ((r - r.mean()) ** 2).sum() for r in d[0]) / 9
    assert balanced_variance(d, 0)[0] == pytest.approx(printed, abs=1e-12)


def quadratic_forms(m, weight):
    """The variance of the mean, and the expected estimate, as functions of a covariance matrix of the 2m differences."""
    ones, repeats = np.ones((2 * m, 2 * m)), np.kron(np.eye(m), np.ones((2, 2)) / 2)
    between = repeats - ones / (2 * m)
    form = (np.eye(2 * m) - repeats) / (2 * m) + weight / (m - 1) * between / 2
    return lambda cov: (cov.mean(), np.trace(form @ cov))


@pytest.mark.parametrize("m", [2, 3, 7, 15])
@pytest.mark.parametrize(("rho1", "rho2"), [(0.0, 0.0), (0.1, 0.3), (0.3, 0.5), (0.0, 0.5), (0.2, 0.2)])
def test_expectations_of_balanced_variances(m, rho1, rho2):
    """Eq. 3.2 and Table 5 for any m: sigma^2 / 2m times the bracket, for the weights of the docs."""
    repeats = np.kron(np.eye(m), np.ones((2, 2)))
    cov = (1 - rho1) * np.eye(2 * m) + (rho1 - rho2) * repeats + rho2
    for weight in (0.0, (m - 1) / m, (m + 1) / m):
        true, expected = quadratic_forms(m, weight)(cov)
        assert 2 * m * true == pytest.approx(1 + rho1 + 2 * (m - 1) * rho2)
        assert 2 * m * expected == pytest.approx(m * (1 - rho1) + m * weight * (1 + rho1 - 2 * rho2))
    middle = quadratic_forms(m, (m - 1) / m)(cov)[1]
    assert 2 * m * middle == pytest.approx(2 * m - 1 - rho1 - 2 * (m - 1) * rho2)
    true, careful = quadratic_forms(m, (m + 1) / m)(cov)
    assert careful >= true - 1e-12
    if rho2 == 0.5:
        assert careful == pytest.approx(true)
    if m == 3:  # as Table 5 prints them
        assert 6 * middle == pytest.approx(5 - rho1 - 4 * rho2)
        assert 6 * careful == pytest.approx(7 + rho1 - 8 * rho2)


def test_the_quadratic_form_is_the_kernel():
    rng = np.random.default_rng(0)
    for m, weight in ((3, 0.4), (7, 1.2)):
        d = rng.normal(size=(1, m, 2))
        outer = np.outer(d.ravel(), d.ravel())
        assert quadratic_forms(m, weight)(outer)[1] == pytest.approx(balanced_variance(d, weight)[0])


def test_table_1_shares_a_quarter_between_any_two_parts_of_different_pairings():
    splits = of.Plan.blocked(3).split(np.linspace(0, 1, 40) ** 2)
    for r1 in range(3):
        for r2 in range(r1):
            for k1 in (0, 1):
                for k2 in (0, 1):
                    for left in (splits.train_rows(r1, k1), splits.test_rows(r1, k1)):
                        for right in (splits.train_rows(r2, k2), splits.test_rows(r2, k2)):
                            assert len(np.intersect1d(left, right)) == 10
