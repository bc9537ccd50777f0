"""The t test of skewed differences: against formulas written out, its symmetries, and where `auto` takes it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

import outfold as of
from outfold import compare
from outfold.exceptions import InputError, NeedError


def losses(seed, n=30, groups=None):
    """Losses of two models, the first of which is now and then far worse."""
    rng = np.random.default_rng(seed)
    values = rng.gamma(2.0, 0.1, (n, 2))
    values[:, 0] += np.where(rng.random(n) < 0.2, rng.exponential(1.0, n), 0.0)
    return of.from_arrays(None, values, configs=["a", "b"], groups=groups, response="pointwise"), values


def unequal_groups(seed, n=60):
    rng = np.random.default_rng(seed)
    return np.repeat(np.arange(n), 1 + rng.geometric(0.3, n))[:n]


def written_out(d, groups, null):
    """t, t*, and the degrees of freedom: unit by unit, from means without it."""
    labels = np.unique(groups)
    mean, n = d.mean(), len(d)
    without = [d[groups != g].mean() for g in labels]
    se = np.sqrt((len(labels) - 1) / len(labels) * sum((mean - one) ** 2 for one in without))
    share = [np.mean(groups == g) for g in labels]
    apart = [d[groups == g].mean() - mean for g in labels]
    second, third = (sum(p * a**k for p, a in zip(share, apart, strict=True)) for k in (2, 3))
    kish = n**2 / sum(np.sum(groups == g) ** 2 for g in labels)
    g = third / second**1.5 * sum(p**3 for p in share) * kish**1.5
    t = (mean - null) / se
    # The transformation as the cube that it is: ((1 + g t / 3)^3 - 1) / g + g / 6.
    return t, ((1 + g * t / 3) ** 3 - 1) / g + g / 6, kish - 1


def tails(d, groups, null):
    """p values of "less" and "greater": the larger one of those of t and t*, where that is below one half; else 1 - the other."""
    t, other, df = written_out(d, groups, null)
    less, greater = (max(tail(t, df), tail(other, df)) for tail in (stats.t.cdf, stats.t.sf))
    return (min(less, max(1 - greater, 0.5)), min(greater, max(1 - less, 0.5)))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("grouped", [False, True])
def test_it_is_what_the_formulas_give(seed, grouped):
    groups = unequal_groups(seed) if grouped else np.arange(60)
    oof, values = losses(seed, 60, groups if grouped else None)
    d = values[:, 0] - values[:, 1]
    for null in (-0.1, 0.1, 0.3, 0.8):
        less, greater = tails(d, groups, null)
        found = {
            way: compare.t_skewed(oof, "mean", "a", "b", null=null, alternative=way)
            for way in ("less", "greater", "two-sided")
        }
        assert (found["less"].pvalue, found["greater"].pvalue) == pytest.approx((less, greater), rel=1e-9)
        assert found["two-sided"].pvalue == pytest.approx(min(1.0, 2 * min(less, greater)), rel=1e-9)
        assert found["less"].df == pytest.approx((written_out(d, groups, null)[2],))

    def lower(null):
        return tails(d, groups, null)[1] - 0.025

    def upper(null):
        return tails(d, groups, null)[0] - 0.025

    ends = optimize.brentq(lower, d.mean() - 20, d.mean()), optimize.brentq(upper, d.mean(), d.mean() + 20)
    assert compare.t_skewed(oof, "mean", "a", "b").interval == pytest.approx(ends, rel=1e-8, abs=1e-10)


def test_of_symmetric_differences_it_is_the_t_test():
    half = np.random.default_rng(1).normal(size=20)
    d = np.concatenate([0.2 + half, 0.2 - half])
    oof = of.from_arrays(None, np.stack([d, np.zeros(40)], axis=1), configs=["a", "b"], response="pointwise")
    for null in (0.0, 0.5):
        found = compare.t_skewed(oof, "mean", "a", "b", null=null)
        expected = stats.ttest_1samp(d, null)
        assert (found.statistic, found.pvalue) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)
        assert found.interval == pytest.approx(expected.confidence_interval(), rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 999),
    null=st.floats(-1, 1),
    by=st.floats(-5, 5),
    scale=st.sampled_from([1e-70, 1e-3, 7.0, 1e70]),
    grouped=st.booleans(),
)
def test_its_symmetries(seed, null, by, scale, grouped):
    groups = unequal_groups(seed) if grouped else None
    _, values = losses(seed, 60, groups)

    def test(values, a="a", b="b", **options):
        made = of.from_arrays(None, values, configs=["a", "b"], groups=groups, response="pointwise")
        found = compare.t_skewed(made, "mean", a, b, **options)
        return np.array([found.pvalue, found.statistic, *found.interval])

    own = test(values, null=null)
    # A null is what the scores of the first are moved by.
    moved = test(values + np.array([by, 0.0]), null=null + by)
    np.testing.assert_allclose(moved, own + np.array([0, 0, by, by]), rtol=1e-6, atol=1e-9)
    # Seen from the other model, all is mirrored.
    back = test(values, "b", "a", null=-null)
    np.testing.assert_allclose(back, [own[0], -own[1], -own[3], -own[2]], rtol=1e-9, atol=1e-12)
    # The unit of the metric does not matter.
    larger = test(values * scale, null=null * scale)
    np.testing.assert_allclose(larger / [1, 1, scale, scale], own, rtol=1e-6, atol=1e-9)


def test_samples_that_repeat_each_other_within_groups_count_once():
    one, values = losses(3)
    groups = np.repeat(np.arange(30), 4)
    many = of.from_arrays(None, np.repeat(values, 4, axis=0), configs=["a", "b"], groups=groups, response="pointwise")
    first, other = (compare.t_skewed(oof, "mean", "a", "b", null=0.2) for oof in (one, many))
    assert (first.pvalue, *first.interval) == pytest.approx((other.pvalue, *other.interval), rel=1e-9)
    assert other.df == pytest.approx((29.0,))


def test_many_pairs_are_their_single_pairs():
    rng = np.random.default_rng(0)
    oof = of.from_arrays(None, rng.exponential(size=(40, 4)), groups=unequal_groups(0, 40), response="pointwise")
    for pair in compare.pairs(oof, "mean", null=0.1, adjust="none"):
        single = compare.t_skewed(oof, "mean", pair.a, pair.b, null=0.1)
        assert pair.method == "t_skewed"
        assert (pair.pvalue, pair.interval) == (single.pvalue, single.interval)


GROUPS = np.arange(30) // 3


@pytest.mark.parametrize(
    ("make", "test"),
    [
        (lambda: losses(0)[0], "t_skewed"),
        (lambda: losses(0, groups=GROUPS)[0], "t_skewed"),
        (lambda: of.from_arrays(None, np.eye(30)[:, :2], groups=GROUPS, response="pointwise"), "t_skewed"),
        (lambda: of.from_arrays(None, np.ones((30, 2, 3)), response="pointwise"), "t_skewed"),
        (lambda: of.from_arrays(None, np.eye(30)[:, :2], response="pointwise"), "mcnemar"),
    ],
)
def test_auto_takes_it_for_a_mean_against_a_margin(make, test):
    oof = make()
    a, b = oof.configs
    assert compare.auto(oof, "mean", a, b, null=0.2).method == test
    assert compare.non_inferior(oof, "mean", a, b, margin=0.2).tests[0].method == test
    assert compare.auto(oof, "mean", a, b).method != "t_skewed"
    if test == "t_skewed":
        with pytest.raises(InputError, match="n_resamples is not an option of t_skewed"):
            compare.auto(oof, "mean", a, b, null=0.2, n_resamples=500)


def test_power_takes_the_test_that_the_question_takes():
    oof, _ = losses(0, 60, unequal_groups(0))
    options = {"n_simulations": 20, "progress": False}
    assert compare.power(oof, "mean", "a", "b", 0.0, non_inferior=0.3, **options).test == "t_skewed"
    assert compare.power(oof, "mean", "a", "b", 0.0, null=0.3, **options).test == "t_skewed"
    assert compare.power(oof, "mean", "a", "b", 0.0, **options).test == "permutation"


def test_what_it_needs():
    oof, _ = losses(0, groups=np.zeros(30, dtype=int))
    with pytest.raises(NeedError, match=r"t_skewed needs two samples \(groups\) or more; there is one"):
        compare.t_skewed(oof, "mean", "a", "b")
    # Nothing can be tested with one group. The test of swaps says so, by a p value that is never small.
    assert compare.auto(oof, "mean", "a", "b", null=0.2).method == "permutation"
    ranked = of.from_arrays(np.arange(30) % 2, np.random.default_rng(0).random((30, 2)), response="score")
    with pytest.raises(NeedError, match="t_skewed needs a metric that is a mean over samples"):
        compare.t_skewed(ranked, "roc_auc", 0, 1)


def test_two_groups_of_very_unequal_sizes_tell_nearly_nothing():
    oof, _ = losses(0, groups=(np.arange(30) == 0).astype(int))
    found = compare.t_skewed(oof, "mean", "a", "b", null=5.0, alternative="less")
    assert 0.2 < found.pvalue < 1
    assert found.df[0] == pytest.approx(1 / (29**2 + 1) * 900 - 1)
