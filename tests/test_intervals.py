"""Intervals from plain numbers, and which of them an estimate takes."""

from __future__ import annotations

import inspect
import json
import pickle
import re
from dataclasses import replace
from pathlib import Path

import interval_coverage
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier

import outfold as of
from conftest import make_predictions
from internals import AUTO_METHODS, METHODS, SELECTED
from outfold import estimate, intervals
from outfold.exceptions import InputError, NeedError

PAGE = Path(__file__).parents[1] / "docs" / "intervals.md"


# -- golden and reference ---------------------------------------------------------------------------------


def test_shares_are_those_of_statsmodels(golden_data):
    for case in json.loads((golden_data / "tests.json").read_text())["proportion_confint"]:
        arguments = {"k": case["count"], "n": case["nobs"], "confidence_level": 1 - case["alpha"]}
        assert intervals.wilson(**arguments) == pytest.approx(case["wilson"], abs=1e-12)
        assert intervals.clopper_pearson(**arguments) == pytest.approx(case["beta"], abs=1e-9)
        assert intervals.normal(**arguments) == pytest.approx(case["normal"], abs=1e-12)


def test_a_share_of_92_in_100():
    """Printed by statsmodels.stats.proportion.proportion_confint(92, 100)."""
    assert intervals.wilson(92, 100) == pytest.approx((0.8500189229905126, 0.9589065385156195), abs=1e-12)
    assert intervals.normal(92, 100) == pytest.approx((0.8668275100072333, 0.9731724899927667), abs=1e-12)


@given(st.integers(1, 400), st.data(), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
@settings(max_examples=60, deadline=None)
def test_shares_are_those_of_scipy(n, data, level):
    k = data.draw(st.integers(0, n))
    test = stats.binomtest(k, n)
    assert intervals.wilson(k, n, confidence_level=level) == pytest.approx(
        tuple(test.proportion_ci(level, method="wilson")), abs=1e-10
    )
    assert intervals.clopper_pearson(k, n, confidence_level=level) == pytest.approx(
        tuple(test.proportion_ci(level)), abs=1e-8
    )


def test_delong_is_that_of_the_reference(golden_data):
    case = json.loads((golden_data / "tests.json").read_text())["auc_delong"]
    area, low, high = case["confidenceinterval_pkg"]
    found = intervals.delong(case["y"], case["score"])
    assert found == pytest.approx((low, high), abs=1e-6)  # single precision there
    assert sum(found) / 2 == pytest.approx(area, abs=1e-6)


def test_delong_by_hand():
    """Positives 2 and 5 beat 1 and 3 of the negatives 1, 3 and 4: placements 1/3 and 1, those of the negatives 1, 1/2, 1/2."""
    found = intervals.delong([0, 0, 0, 1, 1], [1, 3, 4, 2, 5])
    variance = np.var([1 / 3, 1], ddof=1) / 2 + np.var([1, 0.5, 0.5], ddof=1) / 3
    assert found == pytest.approx(stats.norm(2 / 3, np.sqrt(variance)).interval(0.95))


def test_t_is_that_of_scipy():
    values = np.random.default_rng(0).gamma(2.0, size=30)
    theirs = stats.ttest_1samp(values, 0.0).confidence_interval(0.9)
    assert intervals.t(values, confidence_level=0.9) == pytest.approx(tuple(theirs))


def scipy_rng(seed):
    """The generator under the name that this version of SciPy takes it by; ``rng`` since 1.15."""
    name = "rng" if "rng" in inspect.signature(stats.bootstrap).parameters else "random_state"
    return {name: np.random.default_rng(seed)}


def test_bca_is_that_of_scipy_on_the_same_draws():
    """The quantile's definition differs, i/(B+1) against (i-1)/(B-1): by less than the gap between neighbouring draws."""
    values = np.random.default_rng(2).exponential(size=25)
    theirs = stats.bootstrap((values,), np.mean, method="BCa", n_resamples=20_000, **scipy_rng(9))
    draws = np.sort(theirs.bootstrap_distribution)
    ours = intervals.bca_draws(draws, values.mean(), (values.sum() - values) / 24)
    for mine, yours in zip(ours, theirs.confidence_interval, strict=True):
        assert abs(np.searchsorted(draws, mine) - np.searchsorted(draws, yours)) <= 2


def test_bca_of_values_is_near_that_of_scipy():
    """Other draws; with 40,000 an end moves by some hundredths of a standard error from seed to seed, theirs and ours."""
    values = np.random.default_rng(4).exponential(size=60)
    theirs = stats.bootstrap((values,), np.std, n_resamples=40_000, **scipy_rng(1))
    ours = intervals.bca(values, np.std, n_resamples=40_000)
    assert ours == pytest.approx(tuple(theirs.confidence_interval), abs=0.1 * theirs.standard_error)


def test_corrected_t_from_first_principles():
    scores = np.array([0.8, 0.7, 0.9, 0.75, 0.85])
    error = np.sqrt(scores.var(ddof=1) * (1 / 5 + 20 / 80))
    expected = stats.t(4, scores.mean(), error).interval(0.95)
    assert intervals.corrected_t(scores, 80, 20) == pytest.approx(expected)
    assert intervals.corrected_t(scores, [80] * 5, [20] * 5) == pytest.approx(expected)
    sizes = np.array([10, 20, 20, 20, 30])
    error = np.sqrt(scores.var(ddof=1) * (1 / 5 + np.mean(sizes / (100 - sizes))))
    assert intervals.corrected_t(scores, 100 - sizes, sizes) == pytest.approx(
        stats.t(4, scores.mean(), error).interval(0.95)
    )


def test_blocked_t_says_which_scores_it_refuses():
    with pytest.raises(InputError, match=r"got shape \(3, 2\) with values that are not finite"):
        intervals.blocked_t([[0.8, np.nan]] * 3)
    with pytest.raises(InputError, match=r"got shape \(1, 2\)\."):
        intervals.blocked_t([[0.8, 0.9]])


def test_blocked_t_is_the_interval_of_the_test_against_0():
    scores = np.array([[0.81, 0.78], [0.84, 0.80], [0.79, 0.80]])
    by_hand = scores.mean() + stats.t.ppf([0.025, 0.975], 5) * np.sqrt(np.sum((scores - scores.mean()) ** 2) / 6)
    assert intervals.blocked_t(scores) == pytest.approx(by_hand)
    against = of.from_scores({"a": scores.ravel(), "0": np.zeros(6)}, n_train=50, n_test=50, design="blocked")
    for weight, df in ((None, 5), (0, 3), (4 / 3, 5)):
        found = of.compare.t_blocked_mx2(against, None, "a", "0", variance_weight=weight)
        assert intervals.blocked_t(scores, variance_weight=weight) == pytest.approx(found.interval)
        assert found.df == (df,)


def test_a_balanced_plan_has_the_blocked_interval():
    oof = of.collect(
        DummyClassifier(strategy="uniform", random_state=0), *load_iris(return_X_y=True), of.Plan.blocked(3)
    )
    found = of.estimate.cv(oof, "accuracy")
    scores = oof.scores("accuracy")[0]
    assert found.confidence_interval(method="blocked_t") == pytest.approx(intervals.blocked_t(scores))
    with pytest.raises(NeedError, match="blocked_t needs scores by fold, all defined, of balanced m x 2 folds"):
        of.estimate.cv(oof, "accuracy", aggregate="pooled").confidence_interval(method="blocked_t")


def test_conservative_z_from_first_principles():
    halves = np.array([[0.7, 0.8], [0.75, 0.71], [0.9, 0.85]])
    error = np.sqrt((0.1**2 + 0.04**2 + 0.05**2) / 6)
    expected = stats.norm(0.8, error).interval(0.95)
    assert intervals.conservative_z([0.75, 0.85], halves) == pytest.approx(expected)


def test_cluster_robust_is_the_sandwich_of_a_regression_on_a_constant():
    rng = np.random.default_rng(3)
    groups = rng.integers(0, 12, 80)
    values = rng.standard_normal(12)[groups] + rng.standard_normal(80)
    meat = sum((values[groups == g] - values.mean()).sum() ** 2 for g in np.unique(groups))
    error = np.sqrt(12 / 11 * meat / 80**2)
    assert intervals.cluster_robust(values, groups) == pytest.approx(stats.t(11, values.mean(), error).interval(0.95))
    alone = intervals.cluster_robust(values, np.arange(80))
    assert alone == pytest.approx(intervals.t(values))


def nested_losses(n, K, R, seed):
    rng = np.random.default_rng(seed)
    folds = np.stack([rng.permutation(n) % K for _ in range(R)], axis=1)
    return rng.gamma(2.0, size=(n, R)), rng.gamma(2.2, size=(n, R, K)), folds


def bates_by_loops(outer, inner, folds, level=0.95):
    """Algorithm 1 of Bates, Hastie and Tibshirani (2023), line by line, with the rescaling and the bias of sect. 4."""
    (n, R), K = outer.shape, inner.shape[2]
    es, a_list, b_list = [], [], []
    for r in range(R):
        for k in range(K):
            e_in = [inner[i, r, k] for i in range(n) if folds[i, r] != k]
            e_out = [outer[i, r] for i in range(n) if folds[i, r] == k]
            mean_in, mean_out = sum(e_in) / len(e_in), sum(e_out) / len(e_out)
            a_list.append((mean_in - mean_out) ** 2)
            b_list.append(sum((e - mean_out) ** 2 for e in e_out) / (len(e_out) - 1) / len(e_out))
            es.extend(e_in)
    mse = sum(a_list) / len(a_list) - sum(b_list) / len(b_list)
    err_ncv, err_cv = sum(es) / len(es), float(np.mean(outer))
    bias = (1 + (K - 2) / K) * (err_ncv - err_cv)
    se = float(np.std(outer, ddof=1)) / n**0.5
    root = max(se, min(max(0.0, (K - 1) / K * mse) ** 0.5, K**0.5 * se))
    z = stats.norm.ppf((1 + level) / 2)
    return err_ncv - bias - z * root, err_ncv - bias + z * root


@pytest.mark.parametrize(("n", "K", "R"), [(30, 5, 1), (31, 4, 3), (60, 10, 2)])
def test_nested_cv_is_that_of_plain_loops(n, K, R):
    for seed in range(5):
        parts = nested_losses(n, K, R, seed)
        assert intervals.nested_cv_bates(*parts) == pytest.approx(bates_by_loops(*parts))
    # A repeat with folds that differ a lot: neither bound of the root holds.
    outer, inner, folds = nested_losses(n, K, R, 0)
    outer = outer * 0.3 + 0.3 * folds / K
    found = intervals.nested_cv_bates(outer, inner * 0.3, folds, confidence_level=0.8)
    assert found == pytest.approx(bates_by_loops(outer, inner * 0.3, folds, 0.8))


def test_nested_cv_of_one_repeat_needs_no_axis_for_it():
    outer, inner, folds = nested_losses(30, 5, 1, 0)
    assert intervals.nested_cv_bates(outer[:, 0], inner[:, 0], folds[:, 0]) == intervals.nested_cv_bates(
        outer, inner, folds
    )


def test_bbc_f_is_that_of_plain_loops():
    """The same random stream read by a loop: draw folds, take the best mean on them, score it on the others."""
    scores = np.random.default_rng(1).random((6, 8)).round(1)
    rng = np.random.default_rng(7)
    rows = rng.integers(0, 8, size=(200, 8))
    values = []
    for row in rows:
        if len(set(row)) == 8:
            continue
        best = int(np.argmax([round(float(np.mean(config[row])), 12) for config in scores]))
        values.append(np.mean([scores[best, k] for k in range(8) if k not in row]))
    assert len(values) == 200  # such a draw comes once in 400
    assert intervals.bbc_f(scores, n_resamples=200, rng=7) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])))


# -- properties -------------------------------------------------------------------------------------------

numbers = st.lists(st.floats(-5, 5), min_size=4, max_size=30).filter(lambda v: np.ptp(v) > 1e-3)


def each_of_values(values, seed=0):
    """Every interval of a mean that takes values or scores, by name."""
    rng = np.random.default_rng(seed)
    n = len(values)
    groups = np.arange(n) // 2
    halves = rng.standard_normal((5, 2))
    yield "t", lambda v, level: intervals.t(v, confidence_level=level)
    yield "cluster_robust", lambda v, level: intervals.cluster_robust(v, groups, confidence_level=level)
    yield "corrected_t", lambda v, level: intervals.corrected_t(v, 9, 1, confidence_level=level)
    yield "training", lambda v, level: intervals.training(v, np.arange(len(v)) % 2, confidence_level=level)
    yield "conservative_z", lambda v, level: intervals.conservative_z(v, halves, confidence_level=level)
    yield "percentile", lambda v, level: intervals.percentile(v, confidence_level=level)


@given(numbers)
@settings(max_examples=40, deadline=None)
def test_intervals_hold_the_mean_grow_with_the_level_and_turn_with_the_sign(values):
    v = np.array(values)
    for name, interval in each_of_values(values):
        narrow, wide = interval(v, 0.6), interval(v, 0.95)
        assert wide.low <= narrow.low <= narrow.high <= wide.high, name
        turned = interval(-v, 0.95)
        assert (-turned.high, -turned.low) == pytest.approx(wide, abs=1e-9), name
        if name != "percentile":
            assert sum(wide) / 2 == pytest.approx(v.mean(), abs=1e-9), name


@given(st.integers(1, 200), st.data())
@settings(max_examples=40, deadline=None)
def test_shares_hold_the_share_and_turn_with_the_question(n, data):
    k = data.draw(st.integers(0, n))
    for function in (intervals.wilson, intervals.clopper_pearson, intervals.normal):
        right, wrong = function(k, n), function(n - k, n)
        assert right.low <= k / n <= right.high
        assert (1 - wrong.high, 1 - wrong.low) == pytest.approx(right, abs=1e-9)
        wide = function(k, n, confidence_level=0.99)
        assert wide.low <= right.low + 1e-12
        assert right.high <= wide.high + 1e-12
    exact, score = intervals.clopper_pearson(k, n), intervals.wilson(k, n)
    assert 0 <= min(exact.low, score.low) <= max(exact.high, score.high) <= 1


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_the_order_of_samples_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(40)
    y, score, groups = rng.integers(0, 2, 40), rng.standard_normal(40).round(1), rng.integers(0, 15, 40)
    y[:4] = 0, 0, 1, 1
    assert intervals.delong(y[order], score[order]) == pytest.approx(intervals.delong(y, score))
    assert intervals.cluster_robust(score[order], groups[order]) == pytest.approx(
        intervals.cluster_robust(score, groups)
    )
    outer, inner, folds = nested_losses(40, 5, 2, seed)
    assert intervals.nested_cv_bates(outer[order], inner[order], folds[order]) == pytest.approx(
        intervals.nested_cv_bates(outer, inner, folds)
    )
    scores = rng.random((5, 6))
    assert intervals.bbc_f(1 - scores, greater_is_better=False) == pytest.approx(
        tuple(1 - end for end in intervals.bbc_f(scores)[::-1])
    )


def test_delong_turns_with_the_classes():
    rng = np.random.default_rng(0)
    y, score = np.arange(30) % 2, rng.standard_normal(30)
    up, down = intervals.delong(y, score), intervals.delong(y, -score)
    assert (1 - down.high, 1 - down.low) == pytest.approx(up)
    assert intervals.delong(np.array(["a", "b"])[y], score) == up
    alone = intervals.delong(y, score, np.arange(30))
    assert alone == pytest.approx(up, abs=0.01)


# -- errors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0, 1, -0.1, 95, np.nan, "high"])
def test_levels_lie_between_0_and_1(level):
    calls = [
        lambda: intervals.wilson(3, 5, confidence_level=level),
        lambda: intervals.clopper_pearson(3, 5, confidence_level=level),
        lambda: intervals.normal(3, 5, confidence_level=level),
        lambda: intervals.t([1, 2], confidence_level=level),
        lambda: intervals.samples([1, 2], confidence_level=level),
        lambda: intervals.cluster_robust([1, 2], [0, 1], confidence_level=level),
        lambda: intervals.bca([1, 2, 3], confidence_level=level),
        lambda: intervals.bca_draws([1, 2], 1.0, [1, 2], confidence_level=level),
        lambda: intervals.percentile([1, 2], confidence_level=level),
        lambda: intervals.delong([0, 0, 1, 1], [1, 2, 3, 4], confidence_level=level),
        lambda: intervals.corrected_t([1, 2], 4, 1, confidence_level=level),
        lambda: intervals.blocked_t([[1, 2], [2, 3]], confidence_level=level),
        lambda: intervals.training([1, 2, 3, 4], [0, 1, 0, 1], confidence_level=level),
        lambda: intervals.conservative_z([1, 2], [[1, 2]], confidence_level=level),
        lambda: intervals.bbc_f([[1, 2]], confidence_level=level),
        lambda: intervals.nested_cv_bates(*nested_losses(20, 4, 1, 0), confidence_level=level),
    ]
    assert len(calls) == len(intervals.__all__)
    for call in calls:
        with pytest.raises(InputError, match="confidence_level must lie between 0 and 1"):
            call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: intervals.wilson(6, 5), "k must be at most n"),
        (lambda: intervals.wilson(0, 0), "n must be a whole number of at least 1; got 0"),
        (lambda: intervals.normal(-1, 5), "k must be a whole number of at least 0"),
        (lambda: intervals.clopper_pearson(2.5, 5), "k must be a whole number"),
        (lambda: intervals.t([1.0]), "values must be a list of 2 numbers or more"),
        (lambda: intervals.t([]), "values must be a list of 2 numbers or more"),
        (lambda: intervals.t([1.0, np.nan]), "values must be finite"),
        (lambda: intervals.t(["a", "b"]), "values must be numbers"),
        (lambda: intervals.percentile([1.0]), "draws must be a list of 2"),
        (lambda: intervals.bca([1.0]), "two samples at least"),
        (lambda: intervals.bca([1.0, 2.0], n_resamples=30), "n_resamples must be a whole number of at least 39"),
        (lambda: intervals.cluster_robust([1, 2, 3], [0, 1]), "one group for each sample"),
        (lambda: intervals.cluster_robust([1, 2, 3], [0, 0, 0]), "groups must be two at least"),
        (lambda: intervals.corrected_t([0.5], 9, 1), "fold_scores must be a list of 2"),
        (lambda: intervals.training([0.5, 0.6, 0.7], [0, 1]), r"got shapes \(3,\) and \(2,\)"),
        (lambda: intervals.training([0.5, 0.6, 0.7, 0.8], [0, 0, 0, 0]), "got 1 folds of 4 samples"),
        (lambda: intervals.training([0.5, 0.6, 0.7, 0.8], [0, 1, 2, 3]), "got 4 folds of 4 samples"),
        (lambda: intervals.corrected_t([0.5, 0.6], 0, 1), "n_train and n_test must be numbers of samples"),
        (lambda: intervals.corrected_t([0.5, 0.6], [9, 9, 9], 1), "one for all 2 folds"),
        (lambda: intervals.conservative_z([0.5], [0.4, 0.6]), r"shape \(M, 2\)"),
        (lambda: intervals.blocked_t([0.5, 0.6]), r"fold_scores must be finite, of shape \(m, 2\)"),
        (lambda: intervals.blocked_t([[0.5, 0.6], [0.4, 0.5]], variance_weight=-1), "must be a number from 0 on"),
        (lambda: intervals.delong([0, 1, 1], [1, 2]), "one entry for each label"),
        (lambda: intervals.samples([1.0, np.nan]), "two samples or more"),
        (lambda: intervals.samples([1.0]), "two samples or more"),
        (lambda: intervals.delong([0, 1, 1], [1, 2, 3]), "two classes with two samples at least; got 1 and 2"),
        (lambda: intervals.delong([0, 1, 2, 2], [1, 2, 3, 4]), "two classes"),
        (lambda: intervals.delong([0, 0, 1, 1], [1, 2, 3, 4], [0, 0, 1, 2]), "two groups with each class"),
        (lambda: intervals.bbc_f([[0.5], [0.6]]), "two folds at least"),
        (lambda: intervals.bbc_f([[0.5, np.nan]]), "fold_scores must be finite"),
        (lambda: intervals.nested_cv_bates(np.ones(6), np.ones((6, 2)), np.arange(6) % 2), "K at least 3"),
        (lambda: intervals.nested_cv_bates(np.ones(6), np.ones((6, 4)), np.arange(6) % 3), "0 to 3 in every repeat"),
        (lambda: intervals.nested_cv_bates(np.ones(6), np.full((6, 3), np.nan), np.arange(6) % 3), "must be finite"),
        (lambda: intervals.nested_cv_bates(["a"], [["a"]], [0]), "outer must be numbers"),
        (lambda: intervals.nested_cv_bates([1, 2], [[1, 2], [1]], [0, 1]), "inner must be numbers"),
        (lambda: intervals.corrected_t([1, 2, 3], "many", 10), "n_train must be numbers"),
        (lambda: intervals.corrected_t([1, 2, 3], np.inf, 10), "numbers of samples from 1"),
        (lambda: intervals.conservative_z([1], [[1, 2], [1]]), "halves must be numbers"),
        (lambda: intervals.bbc_f([["a", "b"]]), "fold_scores must be numbers"),
        (lambda: intervals.cluster_robust([1, 2, 3], ["a", None, "b"]), "groups must name every sample; 1 of 3"),
        (lambda: intervals.cluster_robust([1, 2, 3], [1, np.nan, np.nan]), "groups must name every sample; 2 of 3"),
        (lambda: intervals.delong(["a", None, "b", "a", "b"], [1, 2, 3, 4, 5]), "y must name every sample; 1 of 5"),
        (lambda: intervals.bca([1, 2, 3], "mean"), "statistic must be a function"),
        (lambda: intervals.bca([1, 2, 3], lambda v: (1, 2)), "statistic must give one finite number"),
        (lambda: intervals.bca([1, np.nan, 3]), "statistic must give one finite number .* got .*nan"),
        (lambda: intervals.bca_draws([1, 2, 3], np.nan, [1, 2]), "observed must be .* a finite number; got nan"),
        (lambda: intervals.bca_draws([1, 2, 3], "a", [1, 2]), "observed must be .* a finite number; got 'a'"),
    ],
)
def test_errors_say_what_is_needed(call, words):
    with pytest.raises(InputError, match=words):
        call()


# -- estimates --------------------------------------------------------------------------------------------


def one_set(metric, groups=None, n=60):
    oof = make_predictions(metric, n=n)
    data = oof.data[0].swapaxes(0, 1)
    return of.from_arrays(oof.y, data, response=oof.response, groups=groups, configs=list(oof.configs))


@pytest.mark.parametrize(
    ("metric", "groups", "expected"),
    [
        ("accuracy", False, "wilson"),
        ("error", False, "wilson"),
        ("roc_auc", False, "samples"),
        ("brier", False, "t"),
        ("mae", False, "samples"),
        ("f1", False, "bca"),
        ("r2", False, "bca"),
        ("accuracy", True, "cluster_robust"),
        ("brier", True, "cluster_robust"),
        ("roc_auc", True, "delong"),
        ("f1", True, "bca"),
    ],
)
def test_one_test_set(metric, groups, expected):
    oof = one_set(metric, np.arange(60) // 3 if groups else None)
    result = estimate.cv(oof, metric, config=1)
    assert result.interval_method == expected
    assert result.interval.low < result.value < result.interval.high
    assert METHODS[expected].words in str(result)
    assert result.to_dict()["interval_method"] == expected
    assert result.confidence_interval() == result.interval
    narrow = result.confidence_interval(0.5)
    assert result.interval.low < narrow.low < narrow.high < result.interval.high


def test_intervals_of_one_test_set_are_those_of_its_plain_numbers():
    oof, groups = one_set("accuracy"), np.arange(60) // 3
    hits = oof.respond("label")[0, 1] == oof.target.y
    result = estimate.cv(oof, "accuracy", config=1)
    assert result.confidence_interval(method="wilson") == intervals.wilson(int(hits.sum()), 60)
    assert result.confidence_interval(method="clopper_pearson") == intervals.clopper_pearson(int(hits.sum()), 60)
    assert result.confidence_interval(method="normal") == intervals.normal(int(hits.sum()), 60)
    assert result.confidence_interval(method="t") == pytest.approx(intervals.t(hits))
    grouped = estimate.cv(one_set("accuracy", groups), "accuracy", config=1)
    assert grouped.interval == pytest.approx(intervals.cluster_robust(hits, groups))
    wrong = estimate.cv(oof, "error", config=1)
    assert (1 - wrong.interval.high, 1 - wrong.interval.low) == pytest.approx(result.interval)


def test_delong_and_bca_of_one_test_set():
    oof, groups = one_set("roc_auc"), np.arange(60) // 3
    score, y = oof.respond("score")[0, 2], oof.target.y
    result = estimate.cv(oof, "roc_auc", config=2, n_resamples=4000)
    assert result.confidence_interval(method="delong") == pytest.approx(intervals.delong(y, score))
    assert estimate.cv(one_set("roc_auc", groups), "roc_auc", config=2).interval == pytest.approx(
        intervals.delong(y, score, groups)
    )
    bca = intervals.bca(np.stack([y, score], axis=1), _area, n_resamples=4000)
    width = result.interval.high - result.interval.low
    assert result.confidence_interval(method="bca") == pytest.approx(bca, abs=0.05 * width)


def test_an_area_of_one_test_set_varies_as_that_of_delong():
    oof = one_set("roc_auc")
    score, y = oof.respond("score")[0, 2], oof.target.y
    low, high = intervals.delong(y, score)
    variance, area = ((high - low) / 2 / 1.959964) ** 2, (low + high) / 2
    counts = np.bincount(y)
    rests_on = 4 / np.sum(1 / counts)
    n = (area * (1 - area) + 1 / 60) / (variance + 1 / (60 * rests_on))
    found = estimate.cv(oof, "roc_auc", config=2).interval
    assert found == pytest.approx(wilson_ends(area, n), abs=1e-6)


def wilson_ends(p, n, z=1.959964):
    centre, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)


def test_losses_of_one_test_set_have_an_interval_of_the_log():
    oof = one_set("mse")
    losses = (oof.data[0, 1] - oof.target.y) ** 2
    result = estimate.cv(oof, "mse", config=1)
    assert result.interval_method == "samples"
    assert result.interval == pytest.approx(intervals.samples(losses, bounds=(0, np.inf)))
    plain = intervals.t(losses)
    half = (plain.high - plain.low) / 2 * np.sqrt(1.2) / losses.mean()
    assert result.interval == pytest.approx((losses.mean() * np.exp(-half), losses.mean() * np.exp(half)))
    # Right or wrong, it is nearly Wilson's; without bounds it is t.
    assert intervals.samples([1] * 40 + [0] * 10) == pytest.approx(intervals.wilson(40, 50), abs=0.01)
    assert intervals.samples(losses) == pytest.approx(plain)


@pytest.mark.parametrize("metric", ["r2", "roc_auc"])
def test_leave_one_out_of_sets_has_an_interval_within_the_range(metric):
    oof = make_predictions(metric, n=40, folds=40)
    result = estimate.cv(oof, metric, config=1, aggregate="pooled")
    assert result.interval_method == "samples"
    assert result.interval.low < result.value < result.interval.high < 1
    drawn = result.confidence_interval(method="percentile")
    # 1.3 times the variance, and for R2 1.2 times that.
    assert 1 < (result.interval.high - result.interval.low) / (drawn.high - drawn.low) < 2


def _area(rows):
    y, score = rows.T
    gap = score[y == 1][:, None] - score[y == 0][None, :]
    return float(np.mean((gap > 0) + 0.5 * (gap == 0)))


@pytest.mark.parametrize("metric", ["roc_auc", "r2"])
@pytest.mark.parametrize("repeats", [1, 3])
def test_folds_take_the_corrected_t_for_metrics_of_sets(metric, repeats):
    oof = make_predictions(metric, n=60, r=repeats)
    result = estimate.cv(oof, metric, config=1)
    scores = oof.scores(metric)[1].ravel()
    assert result.interval_method == "corrected_t"
    assert result.interval == pytest.approx(intervals.corrected_t(scores, 48, 12))
    assert "corrected t interval [Tsamardinos 2015, Alg. 1; Nadeau & Bengio 2003]" in str(result)
    pooled = estimate.cv(oof, metric, config=1, aggregate="pooled")
    assert pooled.interval_method == "training"
    assert pooled.interval.low < pooled.value < pooled.interval.high


@pytest.mark.parametrize(("metric", "bounds"), [("accuracy", (0, 1)), ("brier", (0, 2)), ("mse", (0, np.inf))])
@pytest.mark.parametrize("repeats", [1, 3])
def test_folds_take_samples_and_training_sets_for_means(metric, bounds, repeats):
    oof = make_predictions(metric, n=60, r=repeats)
    P, y = oof.P[:, 1], oof.y[:, None]
    values = {"accuracy": (P > 0.5) == y, "brier": (P - y) ** 2, "mse": (P - y) ** 2}[metric]
    expected = intervals.training(values, oof.folds, bounds=bounds)
    for aggregate in ("fold", "pooled"):
        result = estimate.cv(oof, metric, config=1, aggregate=aggregate)
        assert result.interval_method == "training"
        assert result.interval == pytest.approx(expected)
    assert bounds[0] <= expected.low < result.value < expected.high <= bounds[1]
    wide = result.confidence_interval(0.99)
    assert wide.low < expected.low
    assert wide.high > expected.high


def test_the_interval_of_samples_and_training_sets_by_hand():
    rng = np.random.default_rng(0)
    values, folds = rng.gamma(4.0, size=(40, 3)), np.stack([rng.permutation(40) % 5 for _ in range(3)], axis=1)
    overlap = 1 - 7 / 39
    spread, within = values.var(axis=0, ddof=1).mean(), values.var(axis=1, ddof=1).mean()
    V = (values.mean(axis=1).var(ddof=1) + 2 * min(spread / 1.2, within / (1 - overlap))) / 40
    mean, half = values.mean(), stats.t.ppf(0.975, 39) * np.sqrt(V)
    assert intervals.training(values, folds) == pytest.approx((mean - half, mean + half))
    on_logs = (mean * np.exp(-half / mean), mean * np.exp(half / mean))
    assert intervals.training(values, folds, bounds=(0, np.inf)) == pytest.approx(on_logs)
    assert intervals.training(-values, folds, bounds=(-np.inf, 0)) == pytest.approx((-on_logs[1], -on_logs[0]))


def test_samples_without_an_error_leave_room_for_some():
    low, high = intervals.training(np.ones((50, 2)), np.tile(np.arange(50)[:, None] % 10, 2))
    assert high == 1
    assert 0.9 < low < 0.97


def test_values_of_samples_have_the_score_as_their_mean():
    groups = np.arange(63) // 3
    folds = np.stack([np.minimum(groups // 4, 4), (groups + 1) % 4], axis=1)
    rng = np.random.default_rng(0)
    oof = of.from_arrays(None, rng.random((63, 2, 2)), folds=folds, groups=groups, response="pointwise")
    for aggregate in ("fold", "pooled"):
        result = estimate.cv(oof, "mean", config=0, aggregate=aggregate)
        assert result.interval_method == "cluster_robust"
        assert result.intervals.evidence.values.mean() == pytest.approx(result.value)
        assert sum(result.interval) / 2 == pytest.approx(result.value)


def in_groups(n_groups, folds, size=6, repeats=1):
    """Scores of groups of `size` samples; `folds` says for each group, and each repeat, which fold held it out."""
    n = n_groups * size
    P = np.random.default_rng(0).random((n, 1, repeats)) + 0.3 * (np.arange(n) % 2)[:, None, None]
    own = np.repeat(np.asarray(folds), size, axis=0)
    return of.from_arrays(np.arange(n) % 2, P, folds=own, groups=np.arange(n) // size, response="score")


def test_groups_on_folds_draw_groups_for_set_valued_metrics():
    result = estimate.cv(in_groups(30, np.arange(30) % 5), "roc_auc")
    assert result.interval_method == "percentile"
    with pytest.raises(
        NeedError, match=r"corrected_t needs independent samples; .* 180 samples in 30 groups\. Valid here: percent"
    ):
        result.confidence_interval(method="corrected_t")


# -- folds too small to be drawn ----------------------------------------------------------------------------


@pytest.mark.parametrize(("metric", "expected"), [("roc_auc", "t"), ("f1", "t"), ("accuracy", "cluster_robust")])
@pytest.mark.parametrize("per_fold", [1, 2, 5])
def test_folds_of_few_groups_are_the_units(metric, expected, per_fold):
    scores = in_groups(20, np.arange(20) // per_fold)
    oof = of.from_arrays(scores.y, scores.P[:, :, 0] / 1.3, folds=scores.folds, groups=scores.groups, response="proba")
    result = estimate.cv(oof, metric)
    assert result.interval_method == expected
    by_fold = oof.scores(metric).ravel()
    assert result.confidence_interval(method=expected) == result.interval
    if expected == "t" or per_fold == 1:  # one group per fold: the cluster-robust interval is that of the folds too
        assert result.interval == pytest.approx(intervals.t(by_fold))
    if expected == "t":
        words = r"percentile needs scores pooled, a pointwise .* \(six groups\) in every fold; .* Valid here: t"
        with pytest.raises(NeedError, match=words):
            result.confidence_interval(method="percentile")
        assert estimate.cv(oof, metric, aggregate="pooled").interval_method == "percentile"


def test_folds_that_share_groups_and_are_too_small_have_no_interval():
    oof = in_groups(12, np.stack([np.arange(12) // 3, np.arange(12) % 4], axis=1), repeats=2)
    result = estimate.cv(oof, "roc_auc")
    assert result.interval is None
    (note,) = [n for n in result.notes if n.code == "OF218"]
    assert "a fold has fewer than 6 groups" in note.text
    # The advice works.
    assert estimate.cv(oof, "roc_auc", aggregate="pooled").interval is not None
    assert estimate.cv(in_groups(24, np.arange(24) % 4), "roc_auc").interval is not None


@pytest.mark.parametrize(
    ("metric", "expected"), [("accuracy", "wilson"), ("error", "wilson"), ("brier", "t"), ("mae", "samples")]
)
def test_leave_one_out_has_the_interval_of_its_values_by_fold_and_pooled(metric, expected):
    oof = make_predictions(metric, n=40, folds=40)
    alone, pooled = estimate.cv(oof, metric, config=1), estimate.cv(oof, metric, config=1, aggregate="pooled")
    same = estimate.cv(one_set(metric, n=40), metric, config=1)
    assert alone.interval_method == pooled.interval_method == same.interval_method == expected
    assert alone.interval == pytest.approx(pooled.interval, abs=1e-12)
    if expected == "samples":  # 1.3 times the variance, for training sets
        logs = [np.log(one.interval.high / one.interval.low) for one in (pooled, same)]
        assert logs[0] / logs[1] == pytest.approx(np.sqrt(1.3))
    else:
        assert pooled.interval == pytest.approx(same.interval, abs=1e-12)
    # What is drawn is the samples, not the folds.
    drawn = [one.confidence_interval(method="percentile") for one in (alone, pooled)]
    assert drawn[0] == pytest.approx(drawn[1], abs=1e-12)


def test_leave_one_out_by_another_metric_takes_the_folds_as_values():
    oof = make_predictions("rmse", n=40, folds=40)
    result = estimate.cv(oof, "rmse", config=1)
    assert result.interval_method == "t"
    assert result.interval == pytest.approx(estimate.cv(oof, "mae", config=1).confidence_interval(method="t"))


def test_samples_left_out_several_times_are_no_shares():
    oof = make_predictions("accuracy", n=40, r=2, folds=40)
    result = estimate.cv(oof, "accuracy", config=1)
    assert result.interval_method == "t"
    assert sum(result.interval) / 2 == pytest.approx(result.value)


def test_means_over_folds_of_two_are_drawn_by_samples():
    oof = make_predictions("accuracy", n=40, folds=20)
    by_fold, pooled = (estimate.cv(oof, "accuracy", config=1, aggregate=a) for a in ("fold", "pooled"))
    drawn = [result.confidence_interval(method="percentile") for result in (by_fold, pooled)]
    assert drawn[0] == pytest.approx(drawn[1], abs=1e-12)


def test_small_folds_of_groups_leave_nested_with_the_interval_of_bbc():
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold

    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    y = (X[:, 0] + rng.standard_normal(80) > 0).astype(int)
    configs = of.grid("logit", LogisticRegression(), C=[0.1, 1.0])
    oof = of.collect(configs, X, y, plan=GroupKFold(4), groups=np.arange(80) // 10, inner=True, progress=False)
    for metric in ("roc_auc", "accuracy"):
        result = estimate.nested(oof, metric)
        assert result.interval_method == "mover"
        assert result.interval.low < result.value < result.interval.high


def test_the_page_has_the_numbers_of_the_study_of_small_folds():
    study = json.loads((PAGE.parents[1] / "studies" / "results" / "by_fold.json").read_text())
    ways = [(found["cv"], found["folds drawn as they are"]) for found in study["settings"].values()]
    ours, theirs = ([way["coverage"] for way in column] for column in zip(*ways, strict=True))
    page = " ".join(PAGE.read_text().split())
    assert f"by_fold.json)). Each setting has {study['data_sets']:,} data sets" in page
    assert f"contained the true score in {min(ours):.3f} to {max(ours):.3f} of the data sets." in page
    assert f"own weights contained it in {min(theirs):.3f} to {max(theirs):.3f}." in page
    assert min(ours) >= 0.93
    for setting, found in study["settings"].items():
        cells = [
            f"{way['coverage']:.3f}, {way['width']:.3f}" for way in (found["cv"], found["folds drawn as they are"])
        ]
        assert f"| {setting} | `{found['method']}` | {' | '.join(cells)} |" in page


def test_the_pages_have_the_numbers_of_the_study_of_the_selected_configuration():
    rows = json.loads(interval_coverage.RESULTS.read_text())["rows"]
    page = (PAGE.parent / "calibration.md").read_text()
    lines = [
        line
        for part in (interval_coverage.page_rows, interval_coverage.level_rows, interval_coverage.other_rows)
        for line in part(rows)
    ]
    assert [line for line in page.splitlines() if line.startswith(("| shares |", "| alike |", "| areas |"))] == lines
    covered = [row["coverage"]["mover"][1] for row in rows]
    spread = (
        f"{min(covered):.3f} to {max(covered):.3f} in the {len(rows)} settings, and {np.mean(covered):.3f} on average"
    )
    assert f"`mover` covers {spread}." in page
    lowest = min(row["coverage"]["percentile"][1] for row in rows)
    assert f"Its lowest coverage is {lowest:.3f}." in page
    sizes = [row["n"] for row in rows]
    tour = (PAGE.parent / "tour.md").read_text()
    held = f"in {100 * min(covered):.0f} to {100 * max(covered):.0f} percent of cases, {100 * np.mean(covered):.1f} on average"
    assert f"{len(rows)} settings with {min(sizes)} to {max(sizes):,} samples" in tour
    assert f"Such intervals contained the true value {held}" in tour


@pytest.mark.parametrize("kind", ["shares", "areas"])
def test_the_default_interval_keeps_its_level_and_is_narrower_than_the_percentiles(kind):
    """What the study must show: 0.93 in every setting within two standard errors, at most 0.985 on average; and mean widths."""
    rows = [row for row in json.loads(interval_coverage.RESULTS.read_text())["rows"] if row["kind"] == kind]
    assert len(rows) == {"shares": 196, "areas": 240}[kind]
    covered = np.array([row["coverage"]["mover"][1] for row in rows])
    error = np.array([np.sqrt(0.93 * 0.07 / row["repetitions"]) for row in rows])
    assert np.all(covered >= 0.93 - 2 * error)
    assert covered.mean() <= 0.985
    for n in {row["n"] for row in rows}:
        own = [row for row in rows if row["n"] == n]
        assert np.mean([row["width"]["mover"][1] / row["width"]["percentile"][1] for row in own]) < (
            1.15 if n < 100 else 1
        )


@pytest.fixture(scope="module")
def nested_predictions():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    y = (X[:, 0] + rng.standard_normal(60) > 0).astype(int)
    configs = of.grid("logit", LogisticRegression(), C=[0.1, 1.0])
    return X, y, of.collect(configs, X, y, plan=of.Plan(folds=4, repeats=2), rng=0, inner=True)


def test_with_the_inner_block_folds_take_nested_cv(nested_predictions):
    """The models are fitted again, one by one, without every fold and every pair of folds."""
    from sklearn.linear_model import LogisticRegression

    X, y, oof = nested_predictions
    outer, inner = np.empty((60, 2)), np.full((60, 2, 4), np.nan)
    for r in range(2):
        fold = oof.folds[:, r]
        for k in range(4):
            out = fold == k
            p = LogisticRegression(C=1.0).fit(X[~out], y[~out]).predict_proba(X)[:, 1]
            outer[out, r] = (p - y)[out] ** 2
            for j in range(4):
                if j != k:
                    also = fold == j
                    p = LogisticRegression(C=1.0).fit(X[~out & ~also], y[~out & ~also]).predict_proba(X)[:, 1]
                    inner[out, r, j] = (p - y)[out] ** 2
    result = estimate.cv(oof, "brier", config="logit(C=1)")
    assert result.interval_method == "nested_cv_bates"
    assert result.interval == pytest.approx(bates_by_loops(outer, inner, oof.folds), abs=1e-9)
    assert result.confidence_interval(method="corrected_t") != result.interval
    low, high = result.interval
    assert result.centre == pytest.approx((low + high) / 2)
    ncv, cv, k = np.nanmean(inner), outer.mean(), 4
    assert result.centre == pytest.approx(ncv - (1 + (k - 2) / k) * (ncv - cv), abs=1e-9)
    assert abs(result.centre - result.value) > 1e-4
    assert f"  centre     {result.centre:.4f}, extrapolated to models trained on all samples" in str(result)
    assert result.to_dict()["centre"] == result.centre
    assert result.to_frame()["centre"].tolist() == [result.centre]
    corrected = estimate.cv(oof, "roc_auc", config=0)
    assert (corrected.interval_method, corrected.centre) == ("corrected_t", None)
    assert "centre" not in str(corrected)


def test_a_time_series_has_no_valid_interval():
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import TimeSeriesSplit

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), np.arange(60) % 2
    oof = of.collect({"a": LogisticRegression()}, X, y, plan=TimeSeriesSplit(4), rng=0)
    result = estimate.cv(oof, "accuracy")
    assert (result.interval, result.interval_method) == (None, None)
    assert "OF218" in [n.code for n in result.notes]
    with pytest.raises(NeedError, match="later samples depend on earlier ones"):
        result.confidence_interval()
    with pytest.raises(NeedError, match="percentile needs any plan but a time series"):
        result.confidence_interval(method="percentile")


def test_where_nothing_varies_there_is_no_interval():
    y = np.arange(40) % 2
    perfect = of.from_arrays(y, y[:, None] * 0.8 + 0.1, folds=np.arange(40) // 2 % 5)
    assert estimate.cv(perfect, "roc_auc").interval is None
    assert 0.9 < estimate.cv(perfect, "accuracy").interval.low < estimate.cv(perfect, "accuracy").interval.high == 1
    with pytest.raises(NeedError, match="nothing varies"):
        estimate.cv(perfect, "roc_auc").confidence_interval()
    one = of.from_arrays(y, y[:, None] * 0.8 + 0.1)
    # As many answers as there are samples, all of them right.
    assert estimate.cv(one, "roc_auc").interval == pytest.approx(intervals.wilson(40, 40))
    assert estimate.cv(one, "accuracy").interval == pytest.approx(intervals.wilson(40, 40))


def test_an_end_beyond_the_range_is_said_and_not_cut():
    y = np.arange(40) % 2
    score = y + np.random.default_rng(0).standard_normal(40) / 2.5
    oof = of.from_arrays(y, score[:, None], response="score", groups=np.arange(40) // 2)
    result = estimate.cv(oof, "roc_auc")
    assert result.interval_method == "delong"
    assert result.interval.high > 1
    assert "OF219" in [n.code for n in result.notes]


def test_of_the_selected_configuration_only_what_knows_of_the_selection():
    oof = make_predictions("accuracy", n=60)
    result = estimate.bbc(oof, "accuracy")
    assert result.interval_method == "mover"
    assert result.confidence_interval(method="mover") == result.interval
    assert result.confidence_interval(method="percentile") == intervals.percentile(result.draws)
    scores = oof.scores("accuracy")[:, 0]
    assert result.confidence_interval(method="bbc_f") == intervals.bbc_f(scores, n_resamples=1000)
    for method in set(METHODS) - set(SELECTED):
        with pytest.raises(NeedError, match=f"{method} is for a configuration named beforehand"):
            result.confidence_interval(method=method)
    with pytest.raises(InputError, match="method must be 'auto' or one of mover, percentile, order, bbc_f; got 'best'"):
        result.confidence_interval(method="best")
    for other in (
        estimate.bbc(make_predictions("accuracy", r=2), "accuracy"),
        estimate.bbc(one_set("accuracy"), "accuracy"),
        estimate.bbc(oof, "accuracy", rule=lambda c: int(np.argmax(c.mean))),
    ):
        with pytest.raises(NeedError, match="bbc_f needs one repeat of K folds"):
            other.confidence_interval(method="bbc_f")


def test_nested_counts_the_whole_spread_of_the_draws_of_bbc_on_both_sides(nested_predictions):
    oof = nested_predictions[2]
    result, corrected = estimate.nested(oof, "accuracy"), estimate.bbc(oof, "accuracy")
    spread = corrected.intervals.spread
    (sampling, n), selection = spread.alone, spread.below + spread.above
    assert sampling >= spread.sampling
    assert n <= spread.n
    known = {"sampling": sampling, "n": n, "below": selection, "above": selection}
    spread = replace(spread, estimate=result.value, **known)
    assert result.value != corrected.value
    assert result.interval == spread.interval(0.95)
    assert result.confidence_interval(0.8, "mover") == spread.interval(0.8)
    with pytest.raises(InputError, match="method must be 'auto' or 'mover'; got 'percentile'"):
        result.confidence_interval(method="percentile")


def test_estimates_without_an_interval_say_so(nested_predictions):
    with pytest.raises(NeedError, match="tt gives no interval; use bbc"):
        estimate.tt(nested_predictions[2], "accuracy").confidence_interval()


def test_methods_that_are_not_valid_say_what_is():
    result = estimate.cv(make_predictions("accuracy", n=60), "accuracy", config=0)
    with pytest.raises(
        NeedError,
        match=r"wilson needs one test set or leave-one-out; this is accuracy by fold on 5-fold.* Valid here: training, corr",
    ):
        result.confidence_interval(method="wilson")
    with pytest.raises(NeedError, match="conservative_z needs plain numbers"):
        result.confidence_interval(method="conservative_z")
    with pytest.raises(InputError, match="method must be 'auto' or one of wilson"):
        result.confidence_interval(method="wald")
    for level in (1.5, 0, np.nan, "0.9", [0.9]):
        with pytest.raises(InputError, match="level must lie between 0 and 1"):
            result.confidence_interval(level)


def _mean_right(y, prediction):
    return float(np.mean(y == prediction))


def test_pickles_hold_all_intervals_and_no_predictions(nested_predictions):
    made = [
        estimate.cv(one_set("roc_auc"), "roc_auc", config=1),
        estimate.cv(nested_predictions[2], "accuracy", config=0),
        estimate.cv(make_predictions("accuracy"), lambda y, p: _mean_right(y, p), config=0),
        estimate.bbc(make_predictions("accuracy"), "accuracy"),
    ]
    for result in made:
        again = pickle.loads(pickle.dumps(result))
        valid = []
        for method in (*METHODS, *SELECTED):
            try:
                expected = result.confidence_interval(0.8, method)
            except InputError:
                with pytest.raises(InputError):
                    again.confidence_interval(0.8, method)
            else:
                valid.append(method)
                assert again.confidence_interval(0.8, method) == expected
        assert len(valid) >= 2
        assert str(again) == str(result)


# -- the page ---------------------------------------------------------------------------------------------


def test_the_table_of_the_page_is_the_declaration():
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \|$", PAGE.read_text(), re.M)
    assert rows == [(m.name, m.valid_for, m.formula.replace("|", r"\|"), m.source) for m in METHODS.values()]
    selected = re.findall(r"^\| `(\w+)` \| ([^|]*) \|$", PAGE.read_text(), re.M)
    assert selected == list(SELECTED.items())
    assert set(AUTO_METHODS) <= set(METHODS) <= set(intervals.__all__)
    assert {"bca_draws", "bbc_f"} == set(intervals.__all__) - set(METHODS)
