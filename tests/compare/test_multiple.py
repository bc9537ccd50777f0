"""P values adjusted for their number."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

import outfold as of
from internals import pvalues

P = np.array([0.01, 0.04, 0.03, 0.005, 0.55, 0.04])
METHODS = [pvalues.holm, pvalues.bonferroni, pvalues.benjamini_hochberg]


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (pvalues.holm, [0.05, 0.12, 0.12, 0.03, 0.55, 0.12]),
        (pvalues.bonferroni, [0.06, 0.24, 0.18, 0.03, 1.0, 0.24]),
        (pvalues.benjamini_hochberg, [0.03, 0.048, 0.048, 0.03, 0.55, 0.048]),
    ],
)
def test_by_hand(method, expected):
    assert method(P) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (pvalues.holm, [0.0147, 0.087, 0.1332, 0.0008, 0.61, 0.1332, 0.0588, 0.4]),
        (pvalues.bonferroni, [0.0168, 0.1392, 0.2664, 0.0008, 1.0, 0.3296, 0.0784, 1.0]),
        (
            pvalues.benjamini_hochberg,
            [0.0084, 0.0348, 0.05328, 0.0008, 0.61, 0.054933333333333334, 0.02613333333333333, 0.2285714285714286],
        ),
    ],
)
def test_values_of_statsmodels(method, expected):
    """What multipletests of statsmodels 0.15.0 gives: holm, bonferroni, fdr_bh."""
    p = np.array([0.0021, 0.0174, 0.0333, 0.0001, 0.61, 0.0412, 0.0098, 0.2])
    assert method(p) == pytest.approx(expected, abs=1e-14)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_bh_is_scipys(values):
    p = np.array(values)
    assert pvalues.benjamini_hochberg(p) == pytest.approx(false_discovery_control(p, method="bh"), abs=1e-12)


@given(st.lists(st.one_of(st.floats(0, 1), st.just(float("nan"))), max_size=30))
@pytest.mark.parametrize("method", METHODS)
def test_order_range_and_nan(method, values):
    p = np.array(values, dtype=float)
    out = method(p)
    defined = ~np.isnan(p)
    assert np.array_equal(np.isnan(out), ~defined)
    assert np.all((out[defined] >= p[defined]) & (out[defined] <= 1))
    assert out[defined] == pytest.approx(method(p[defined]))
    order = np.argsort(p[defined], kind="stable")
    assert np.all(np.diff(out[defined][order]) >= 0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_lies_between_bh_and_bonferroni(values):
    p = np.array(values)
    assert np.all(pvalues.holm(p) <= pvalues.bonferroni(p) + 1e-15)
    assert np.all(pvalues.benjamini_hochberg(p) <= pvalues.holm(p) + 1e-15)


# -- Westfall and Young -----------------------------------------------------------------------------------


def null_draws(b=300, m=5, seed=0):
    """(b, m) how extreme dependent tests are under the null hypothesis, with ties."""
    rng = np.random.default_rng(seed)
    return np.abs(rng.normal(size=(b, 1)) + rng.normal(size=(b, m))).round(1)


def closed_test(p, extremes):
    """The largest chance of any set of hypotheses that has the one in question: closed testing, all sets one by one."""
    b, m = extremes.shape
    own = np.array(
        [[np.mean(extremes[:, j] >= e) for e in extremes[:, j]] for j in range(m)]
    )  # (m, b) p values of the draws
    out = np.zeros(m)
    for size in range(1, m + 1):
        for members in combinations(range(m), size):
            least = min(p[j] for j in members)
            chance = (1 + np.sum(own[list(members)].min(axis=0) <= least)) / (b + 1)
            chance = min(max(chance, least), size * least, 1.0)
            for j in members:
                out[j] = max(out[j], chance)
    return out


@pytest.mark.parametrize("seed", range(5))
def test_westfall_young_is_the_closed_test_of_all_sets(seed):
    extremes = null_draws(seed=seed)
    p = np.random.default_rng(seed).random(5) ** 3
    assert pvalues.westfall_young(p, lambda i: extremes[:, i]) == pytest.approx(closed_test(p, extremes), abs=1e-12)


def test_westfall_young_of_one_test_many_times_is_its_p_value():
    drawn = np.abs(np.random.default_rng(1).normal(size=9999))
    adjusted = pvalues.westfall_young(np.full(8, 0.04), lambda i: drawn)
    assert adjusted == pytest.approx(np.full(8, 0.04), abs=2e-4)
    assert pvalues.holm(np.full(8, 0.04)) == pytest.approx(np.full(8, 0.32))


def test_westfall_young_of_independent_tests_is_sidaks_step_down():
    drawn, p = np.random.default_rng(2).normal(size=(50_000, 4)), np.array([0.01, 0.02, 0.03, 0.5])
    sidak = np.maximum.accumulate([1 - (1 - one) ** k for one, k in zip(p, (4, 3, 2, 1), strict=True)])
    assert pvalues.westfall_young(p, lambda i: drawn[:, i]) == pytest.approx(sidak, abs=0.003)


@given(st.lists(st.one_of(st.floats(1e-12, 1), st.just(float("nan"))), min_size=5, max_size=5), st.integers(0, 50))
def test_westfall_young_lies_between_the_p_value_and_holms(values, seed):
    p, extremes = np.array(values), null_draws(b=40, seed=seed)
    out, holm = pvalues.westfall_young(p, lambda i: extremes[:, i]), pvalues.holm(p)
    defined = ~np.isnan(p)
    assert np.array_equal(np.isnan(out), ~defined)
    assert np.all((out[defined] >= p[defined]) & (out[defined] <= holm[defined] + 1e-15))
    assert np.all(np.diff(out[defined][np.argsort(p[defined], kind="stable")]) >= 0)


def test_draws_that_are_equally_extreme_are_ties():
    """Differences of shares of few samples take few values, and rounding must not tell them apart: units do not matter."""
    rng = np.random.default_rng(1)
    right = rng.random((30, 1)) + 0.3 * rng.random((30, 5)) < [0.95, 0.9, 0.8, 0.7, 0.6]
    found = []
    for unit in (1.0, 3.0):
        oof = of.from_arrays(None, unit * right, response="pointwise")
        found.append(of.compare.pairs(oof, "mean", test="permutation", adjust="westfall_young", n_resamples=500))
    first, second = found
    assert [pair.pvalue for pair in first] == [pair.pvalue for pair in second]
    assert first.adjusted.tolist() == second.adjusted.tolist()
