"""Tests on one set of samples: what they need, what they say, and that test and interval never disagree."""

from __future__ import annotations

import dataclasses
import inspect
import json
import warnings

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from scipy.linalg import helmert

import outfold as of
from conftest import make_predictions
from internals import (
    TESTS,
    Hypothesis,
    Tails,
    all_pairs,
    compare_pairs,
    paired,
)
from internals import rank_metrics as delong_kernels
from outfold import compare
from outfold.exceptions import InputError, NeedError

METHODS = ("plain", "edwards", "exact", "midp")
LEVELS = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
COUNTS = st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 60)).filter(lambda t: sum(t) > 1)


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def prompts(b: int, c: int, same: int) -> of.Predictions:
    """Two prompts on one set of questions: b only the first has right, c only the second."""
    right = [[1, 0]] * b + [[0, 1]] * c + [[1, 1]] * (same // 2) + [[0, 0]] * (same - same // 2)
    return of.from_arrays(None, np.array(right), configs=["new", "old"], response="pointwise")


def codes(result) -> list[str]:
    return [note.code for note in result.notes]


def excludes_zero(result) -> bool:
    return result.interval.low > 0 or result.interval.high < 0


def mirrored(first, second) -> None:
    """Swapping the two configurations flips signs and keeps the p value."""
    assert second.difference == pytest.approx(-first.difference, abs=1e-15)
    assert second.pvalue == pytest.approx(first.pvalue, abs=1e-12)
    assert second.interval == pytest.approx((-first.interval.high, -first.interval.low), abs=1e-9)


# ---------------------------------------------------------------------------------- McNemar


@given(COUNTS, st.sampled_from(METHODS), LEVELS)
def test_mcnemar_interval_leaves_out_zero_exactly_where_the_test_rejects(counts, method, level):
    result = compare.mcnemar(prompts(*counts), None, "new", "old", method=method, confidence_level=level)
    assert 0 <= result.pvalue <= 1
    assert excludes_zero(result) == result.significant
    assert -1 <= result.interval.low <= result.difference <= result.interval.high <= 1


@given(COUNTS, st.sampled_from(METHODS))
def test_mcnemar_of_swapped_models_is_the_mirror_image(counts, method):
    oof = prompts(*counts)
    mirrored(compare.mcnemar(oof, None, 0, 1, method=method), compare.mcnemar(oof, None, 1, 0, method=method))


@given(COUNTS)
def test_exact_mcnemar_is_the_binomial_test(counts):
    b, c, _ = counts
    result = compare.mcnemar(prompts(*counts), None, 0, 1, method="exact")
    expected = stats.binomtest(b, b + c).pvalue if b + c else 1.0
    assert result.pvalue == pytest.approx(expected, rel=1e-9)
    for alternative, side in (("better", "greater"), ("worse", "less")):
        one = compare.mcnemar(prompts(*counts), None, 0, 1, method="exact", alternative=alternative).pvalue
        assert one == pytest.approx(stats.binomtest(b, b + c, alternative=side).pvalue if b + c else 1.0, rel=1e-9)


def test_tango_interval_solves_the_score_equation():
    b, c, n = np.array([12]), np.array([3]), 80
    low, high = paired.mcnemar_interval(b, c, n, paired.mcnemar_tails(b, c, "plain"), 0.9)[0]
    for end, z in ((low, stats.norm.isf(0.05)), (high, -stats.norm.isf(0.05))):
        # Likeliest cells with p12 - p21 = end, by brute force over p21.
        q = np.linspace(max(0, -end), (1 - end) / 2, 2_000_001)[1:-1]
        likelihood = 12 * np.log(q + end) + 3 * np.log(q) + 65 * np.log(1 - 2 * q - end)
        best = q[np.argmax(likelihood)]
        assert (12 - 3 - n * end) / np.sqrt(n * (2 * best + end - end**2)) == pytest.approx(z, abs=1e-4)


def test_auto_is_exact_below_fifty_discordant_samples():
    few, many = compare.mcnemar(prompts(30, 19, 5), None, 0, 1), compare.mcnemar(prompts(30, 20, 5), None, 0, 1)
    assert (few.details["by"], many.details["by"]) == ("exact", "plain")
    assert few.statistic is None
    assert few.df == ()
    assert many.statistic == pytest.approx(2.0)
    assert many.df == (1.0,)
    assert "exact" in few.description


def test_mcnemar_without_discordant_samples_says_one():
    for method in ("auto", *METHODS):
        result = compare.mcnemar(prompts(0, 0, 20), None, 0, 1, method=method)
        assert result.pvalue == 1
        assert result.difference == 0
        assert result.odds_ratio is None
        assert not excludes_zero(result)
        json.dumps(result.to_dict(), allow_nan=False)


def test_interval_of_models_that_never_differ_is_tangos():
    z2 = stats.norm.isf(0.025) ** 2
    for n in (10, 200):
        result = compare.mcnemar(prompts(0, 0, n), None, 0, 1, method="plain")
        assert result.interval == pytest.approx((-z2 / (n + z2), z2 / (n + z2)), rel=1e-9)


def test_one_sided_counts_do_not_blow_up_the_exact_interval():
    exact, edwards = (compare.mcnemar(prompts(6, 0, 94), None, 0, 1, method=method) for method in ("exact", "edwards"))
    assert exact.interval.high == pytest.approx(edwards.interval.high)
    assert exact.interval.high < 0.15


@given(st.integers(2, 5), st.integers(1, 200), st.integers(0, 1000))
def test_discordant_samples_are_counted(c, n, seed):
    hits = (np.random.default_rng(seed).random((c, n)) < 0.5).astype(np.int32)
    pairs = all_pairs(c)
    first, second = hits[pairs[:, 0]], hits[pairs[:, 1]]
    for found, expected in zip(paired.only_one_right(hits, pairs), (first > second, first < second), strict=True):
        assert found.tolist() == expected.sum(axis=1).tolist()


def test_mcnemar_far_in_the_tails_is_finite():
    for method in METHODS:
        result = compare.mcnemar(prompts(4000, 0, 10), None, 0, 1, method=method)
        assert result.significant
        assert 0.99 < result.interval.low <= result.interval.high <= 1


def test_losses_turn_the_sign_and_nothing_else():
    oof = make_predictions("accuracy", n=60, c=3)
    right, wrong = (compare.mcnemar(oof, metric, 0, 2) for metric in ("accuracy", "error"))
    mirrored(right, wrong)
    assert right.wins == wrong.wins
    assert right.better == wrong.better
    for alternative in ("better", "worse"):
        p = [compare.mcnemar(oof, metric, 0, 2, alternative=alternative).pvalue for metric in ("accuracy", "error")]
        assert p[0] == p[1]


def test_effects_of_discordant_samples():
    result = compare.mcnemar(prompts(11, 1, 28), None, "new", "old")
    assert result.wins == (11, 28, 1, "sample")
    assert result.odds_ratio == 11
    d = np.repeat([1, -1, 0], [11, 1, 28])
    assert result.standardised == pytest.approx(d.mean() / d.std(ddof=1))
    assert (result.details["only_a"], result.details["only_b"]) == (11, 1)
    assert compare.mcnemar(prompts(4, 0, 28), None, 0, 1).odds_ratio == np.inf


def test_few_discordant_samples_are_said():
    assert "cannot find a difference" in compare.mcnemar(prompts(5, 0, 30), None, 0, 1).notes[0].text
    six = compare.mcnemar(prompts(6, 0, 30), None, 0, 1)
    assert codes(six) == ["OF303"]
    assert "cannot" not in six.notes[0].text
    assert six.significant
    assert codes(compare.mcnemar(prompts(8, 2, 30), None, 0, 1)) == []


def test_answers_must_be_right_or_wrong():
    with pytest.raises(InputError, match=r"roc_auc is another kind of metric here. Use bootstrap or permutation"):
        compare.mcnemar(make_predictions("roc_auc"), "roc_auc", 0, 1)
    with pytest.raises(InputError, match="mean is another kind"):
        compare.mcnemar(make_predictions("mean"), None, 0, 1)
    with pytest.raises(InputError, match="r2 is another kind"):
        compare.z_proportions(make_predictions("r2"), None, 0, 1)
    with pytest.raises(InputError, match="method must be 'auto', 'plain'"):
        compare.mcnemar(prompts(3, 1, 4), None, 0, 1, method="chi2")


def test_one_prediction_a_sample_is_needed():
    oof = make_predictions("accuracy", r=3)
    for test in (compare.mcnemar, compare.z_proportions):
        with pytest.raises(
            NeedError, match=r"needs one prediction for each sample; .* Say which repeat with repeat=0, or use"
        ):
            test(oof, None, 0, 1)
    with pytest.raises(InputError, match=r"repeat must be in 0\.\.2; got 3"):
        compare.mcnemar(oof, None, 0, 1, repeat=3)
    with pytest.raises(InputError, match="repeat must be a whole number"):
        compare.cochran_q(oof, repeat=-1)
    of_second = compare.mcnemar(oof, None, 0, 1, repeat=1)
    assert of_second.difference == compare.mcnemar(oof.sel(repeat=1), None, 0, 1).difference
    assert of_second.pvalue == compare.mcnemar(oof.sel(repeat=1), None, 0, 1).pvalue


def test_groups_are_not_samples():
    y = np.arange(40) % 2
    oof = of.from_arrays(y, np.stack([y, 1 - y], axis=1) * 0.5 + 0.2, groups=np.arange(40) // 4, response="proba")
    for test in (compare.mcnemar, compare.z_proportions):
        with pytest.raises(NeedError, match=r"needs independent samples; these come in 10 groups. Use permutation"):
            test(oof, None, 0, 1)
    for test in (compare.cochran_q, compare.f_looney):
        with pytest.raises(NeedError, match="10 groups"):
            test(oof)


def test_fold_scores_are_not_predictions():
    scores = of.from_scores({"a": [0.8, 0.7, 0.9], "b": [0.7, 0.6, 0.9]}, n_train=60, n_test=30)
    for test in (compare.mcnemar, compare.z_proportions, compare.bootstrap, compare.permutation):
        with pytest.raises(NeedError, match=f"{test.__name__} needs predictions; these are scores of folds"):
            test(scores, None, "a", "b")


def test_folds_pooled_to_one_test_set_are_said():
    assert "OF308" not in codes(compare.mcnemar(prompts(12, 9, 4), None, 0, 1))
    oof = make_predictions("accuracy")
    for result in (compare.mcnemar(oof, None, 0, 1), compare.delong(oof, None, 0, 1), compare.cochran_q(oof)):
        assert "OF308" in codes(result)
        assert "OF306" not in codes(result)
    scores = of.from_arrays(oof.y, oof.P[:, :, 0] * 4 - 2, folds=oof.folds[:, 0], response="score")
    for test in (compare.delong, compare.bootstrap, compare.permutation):
        assert "OF306" in codes(test(scores, "roc_auc", 0, 1))


# ---------------------------------------------------------------------------------- proportions, Q and F


@given(COUNTS, LEVELS)
def test_proportions_interval_is_the_dual_of_z(counts, level):
    result = compare.z_proportions(prompts(*counts), None, "new", "old", confidence_level=level)
    assert excludes_zero(result) == result.significant
    assert -1 <= result.interval.low <= result.difference <= result.interval.high <= 1
    mirrored(result, compare.z_proportions(prompts(*counts), None, "old", "new", confidence_level=level))
    assert "OF309" in codes(result)


def test_proportions_of_the_same_answers():
    for same in (0, 30):
        oof = of.from_arrays(None, np.full((30, 2), float(same > 0)), response="pointwise")
        result = compare.z_proportions(oof, None, 0, 1)
        assert (result.statistic, result.pvalue, result.difference) == (0, 1, 0)


def test_cochran_of_two_models_is_plain_mcnemar():
    oof = prompts(17, 6, 40)
    q, chi2 = compare.cochran_q(oof), compare.mcnemar(oof, None, 0, 1, method="plain")
    assert q.statistic == pytest.approx(chi2.statistic)
    assert q.pvalue == pytest.approx(chi2.pvalue)


@given(st.integers(2, 6), st.integers(2, 30), st.integers(0, 10_000))
def test_looney_is_the_two_way_analysis_of_variance(m, n, seed):
    hits = (np.random.default_rng(seed).random((m, n)) < 0.6).astype(int)
    mean, rows, columns = hits.mean(), hits.mean(axis=0), hits.mean(axis=1)
    rest = hits - rows[None, :] - columns[:, None] + mean
    models, left = n * np.sum((columns - mean) ** 2) / (m - 1), np.sum(rest**2) / ((m - 1) * (n - 1))
    test = paired.looney_f(hits)
    if left < 1e-20:
        assert test.statistic in (0, np.inf)
    else:
        assert test.statistic == pytest.approx(models / left, rel=1e-9, abs=1e-12)
        assert test.pvalue == pytest.approx(stats.f.sf(test.statistic, m - 1, (m - 1) * (n - 1)), rel=1e-9)


def test_models_that_always_agree_do_not_differ():
    oof = of.from_arrays(None, np.repeat([[1.0], [0.0], [1.0]], 3, axis=1), response="pointwise")
    for test in (compare.cochran_q, compare.f_looney):
        assert (test(oof).statistic, test(oof).pvalue) == (0, 1)


@given(st.integers(2, 5), st.integers(8, 40), st.integers(0, 1000))
def test_the_adjusted_degrees_of_freedom_are_those_of_contrasts(m, n, seed):
    hits = np.random.default_rng(seed).integers(0, 2, (m, n))
    contrasts = helmert(m)  # orthonormal, (m - 1, m)
    S = contrasts @ np.cov(hits) @ contrasts.T
    assume(np.trace(S) > 1e-9)
    expected = np.trace(S) ** 2 / ((m - 1) * np.trace(S @ S))
    assert paired.epsilon(hits) == pytest.approx(expected)
    assert 1 / (m - 1) - 1e-12 <= expected <= 1 + 1e-12
    plain, plus = paired.looney_f(hits), paired.looney_f_plus(hits)
    assume(np.isfinite(plain.statistic))
    assert plus.statistic == plain.statistic
    assert plus.df == pytest.approx([expected * d for d in plain.df])
    assert plus.pvalue == pytest.approx(stats.f.sf(plain.statistic, *plus.df))


def test_the_adjusted_f_test_of_two_is_the_plain_one_and_of_a_copy_has_one_degree():
    rng = np.random.default_rng(0)
    hits = (rng.random((60, 3)) < [0.6, 0.7, 0.9]).astype(float)
    two = of.from_arrays(None, hits[:, :2], response="pointwise")
    assert compare.f_looney(two, adjusted=True).pvalue == pytest.approx(compare.f_looney(two).pvalue)
    same = of.from_arrays(None, hits[:, [0, 0, 2]], response="pointwise")
    found = compare.f_looney(same, adjusted=True)
    assert (found.method, found.df) == ("f_looney", pytest.approx((1, 59)))
    assert found.pvalue > compare.f_looney(same).pvalue
    assert "greenhouse1959" in of.cite(found)


def test_looney_without_any_rest_is_an_error():
    oof = of.from_arrays(None, np.repeat([[1.0, 0.0]], 12, axis=0), response="pointwise")
    with pytest.raises(InputError, match=r"f_looney is undefined here: .* Use cochran_q"):
        compare.f_looney(oof)
    assert compare.cochran_q(oof).pvalue == pytest.approx(stats.chi2.sf(12, 1))


def test_omnibus_names_the_best_first_in_either_direction():
    oof = make_predictions("accuracy", n=80, c=4)
    right, wrong = compare.cochran_q(oof), compare.cochran_q(oof, "error")
    assert right.statistic == wrong.statistic
    lines = [next(line for line in str(r).splitlines() if "scores" in line) for r in (right, wrong)]
    best = oof.configs[int(np.argmax(right.scores))]
    assert all(line.split("scores")[1].strip().startswith(best) for line in lines)
    assert compare.cochran_q(oof, None, [0, 2]).configs == (oof.configs[0], oof.configs[2])


# ---------------------------------------------------------------------------------- areas


def brute_force_covariance(scores, positive):
    """DeLong's covariance of areas from its definition: psi of every pair of a positive and a negative."""
    x, y = scores[:, positive], scores[:, ~positive]
    psi = (x[:, :, None] > y[:, None, :]) + 0.5 * (x[:, :, None] == y[:, None, :])
    v10, v01 = psi.mean(axis=2), psi.mean(axis=1)
    return psi.mean(axis=(1, 2)), np.cov(v10) / x.shape[1] + np.cov(v01) / y.shape[1]


@given(st.integers(0, 10_000), st.integers(6, 60), st.integers(0, 2))
def test_delong_equals_the_definition(seed, n, digits):
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.arange(n) < max(2, n // 3))
    scores = np.round(positive[None, :] + rng.normal(0, 1, (3, n)), digits)
    areas, covariance = brute_force_covariance(scores, positive)
    oof = of.from_arrays(positive.astype(int), scores.T, response="score")
    for result, (i, j) in zip(
        compare_pairs(TESTS["delong"], TESTS["delong"].compared(oof, None), all_pairs(3), Hypothesis()),
        all_pairs(3),
        strict=True,
    ):
        variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
        assert result.difference == pytest.approx(areas[i] - areas[j], abs=1e-12)
        if variance > 1e-12:
            z = (areas[i] - areas[j]) / np.sqrt(variance)
            assert result.statistic == pytest.approx(z, abs=1e-10, rel=1e-10)
            assert result.pvalue == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-9)


@given(st.integers(0, 1000), LEVELS)
def test_delong_interval_is_the_dual_of_z(seed, level):
    oof = make_predictions("roc_auc", n=50, c=3, seed=seed)
    result = compare.delong(oof, None, 0, 1, confidence_level=level)
    assert excludes_zero(result) == result.significant
    mirrored(result, compare.delong(oof, None, 1, 0, confidence_level=level))


def test_delong_averages_placements_over_repeats():
    oof = make_predictions("roc_auc", n=60, c=3, r=2)
    result = compare.delong(oof, None, 0, 1)
    each = [compare.delong(oof.sel(repeat=r), None, 0, 1) for r in range(2)]
    assert result.difference == pytest.approx(np.mean([one.difference for one in each]))
    assert "averaged over 2 repeats" in result.description
    doubled = of.from_arrays(oof.y, np.repeat(oof.P[:, :, :1], 2, axis=2), folds=np.repeat(oof.folds[:, :1], 2, axis=1))
    assert compare.delong(doubled, None, 0, 1).pvalue == pytest.approx(each[0].pvalue)


def test_delong_of_groups_of_one_is_the_plain_one_and_copies_add_nothing():
    oof = make_predictions("roc_auc", n=60, c=3)
    plain = compare.delong(oof, None, 0, 1)
    P = oof.P[:, :, 0]
    single = of.from_arrays(oof.y, P, groups=np.arange(60), response="proba")
    assert compare.delong(single, None, 0, 1).statistic == pytest.approx(plain.statistic)
    copies = of.from_arrays(np.repeat(oof.y, 3), np.repeat(P, 3, axis=0), groups=np.repeat(np.arange(60), 3))
    assert compare.delong(copies, None, 0, 1).statistic == pytest.approx(plain.statistic, rel=1e-9)
    assert "Obuchowski" in compare.delong(copies, None, 0, 1).description


def test_clustered_variance_counts_groups_with_both_classes():
    rng = np.random.default_rng(3)
    positive = np.arange(80) % 2 == 0
    groups = np.arange(80) // 4
    scores = np.stack([positive + rng.normal(size=80), positive + rng.normal(size=80)])
    p, q = delong_kernels.placements(scores, positive)
    p, q = p[:1] - p[1:], q[:1] - q[1:]
    found = delong_kernels.clustered_variances(p, q, (groups[positive], groups[~positive]))[0]
    a = [np.sum(p[0][groups[positive] == g] - p.mean()) for g in range(20)]
    b = [np.sum(q[0][groups[~positive] == g] - q.mean()) for g in range(20)]
    assert found == pytest.approx(20 / 19 * np.sum((np.array(a) / 40 + np.array(b) / 40) ** 2))


def test_delong_without_variance():
    y = np.array([0, 0, 0, 1, 1, 1])
    P = np.stack([y, y, 1 - y], axis=1) * 0.8 + 0.1
    oof = of.from_arrays(y, P, response="proba")
    same = compare.delong(oof, None, 0, 1)
    assert (same.difference, same.pvalue, same.statistic) == (0, 1, 0)
    opposite = compare.delong(oof, None, 0, 2)
    assert opposite.difference == 1
    assert opposite.pvalue is None
    assert opposite.interval is None
    assert "OF304" in codes(opposite)
    json.dumps(opposite.to_dict(), allow_nan=False)


def test_delong_needs_two_classes_and_every_sample():
    with pytest.raises(InputError, match=r"delong needs roc_auc of two classes; got roc_auc_ovr. Use bootstrap"):
        compare.delong(make_predictions("roc_auc_ovr"), None, 0, 1)
    with pytest.raises(InputError, match="got accuracy"):
        compare.delong(make_predictions("accuracy"), "accuracy", 0, 1)
    rng = np.random.default_rng(0)
    folds = np.where(rng.random((40, 2)) < 0.4, 0, -1)
    oof = of.from_arrays(np.arange(40) % 2, rng.random((40, 2, 2)), folds=folds, response="proba")
    with pytest.raises(NeedError, match="delong needs the same samples in every repeat"):
        compare.delong(oof, None, 0, 1)
    rare = of.from_arrays(np.arange(40) == 3, rng.random((40, 2)), response="score")
    with pytest.raises(NeedError, match="delong needs two samples of each class or more"):
        compare.delong(rare, None, 0, 1)
    assert compare.auto(rare, "roc_auc").method == "permutation"


@pytest.mark.parametrize("grouped", [False, True])
def test_delong_counts_the_samples_held_out_only(grouped):
    rng = np.random.default_rng(1)
    y, P, groups = np.arange(60) % 2, rng.random((60, 2)), np.arange(60) // 3 if grouped else None
    held = np.isin(np.arange(60) // 3, rng.choice(20, 8, replace=False))
    P[~held] = np.nan
    part = of.from_arrays(y, np.ma.masked_invalid(P), folds=np.where(held, 0, -1), groups=groups, response="score")
    alone = of.from_arrays(y[held], P[held], groups=None if groups is None else groups[held], response="score")
    found, wanted = compare.delong(part, None, 0, 1), compare.delong(alone, None, 0, 1)
    assert found.statistic == pytest.approx(wanted.statistic)
    assert found.standardised == pytest.approx(wanted.standardised)
    assert found.wins == wanted.wins
    assert found.interval == pytest.approx(wanted.interval)


# ---------------------------------------------------------------------------------- bootstrap


@pytest.mark.parametrize("metric", ["accuracy", "log_loss", "roc_auc", "f1", "r2", "concordance", "mean"])
@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_bootstrap_interval_leaves_out_zero_exactly_where_p_is_small(metric, method):
    oof = make_predictions(metric, n=50, c=5, r=2)
    contest = TESTS["bootstrap"].compared(oof, metric)
    options = {"n_resamples": 2000, "method": method, "stratify": metric in ("roc_auc", "f1")}
    levels = {}
    for level in (0.5, 0.8, 0.9, 0.95, 0.99):
        for i, result in enumerate(
            compare_pairs(TESTS["bootstrap"], contest, all_pairs(5), Hypothesis("two-sided", level), **options)
        ):
            assert 0 < result.pvalue <= 1
            assert excludes_zero(result) == result.significant, (i, level)
            levels.setdefault(i, set()).add(result.pvalue)
    assert all(len(p) == 1 for p in levels.values())


def test_bootstrap_of_swapped_models_is_the_mirror_image():
    for metric in ("accuracy", "log_loss", "roc_auc"):
        oof = make_predictions(metric, n=60, c=3)
        results = [compare.bootstrap(oof, metric, a, b, n_resamples=999, stratify=True) for a, b in ((0, 1), (1, 0))]
        mirrored(*results)
    oof = make_predictions("accuracy", n=60, c=3)
    mirrored(*(compare.bootstrap(oof, m, 0, 1, n_resamples=999) for m in ("accuracy", "error")))


# What SciPy before 1.15 called random_state.
SCIPY_RNG = "rng" if "rng" in inspect.signature(stats.bootstrap).parameters else "random_state"


@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_bootstrap_agrees_with_scipy_on_the_same_draws(method):
    """Our draws given to scipy's formula: the same interval but for the quantile's definition (i/(B+1) against (i-1)/(B-1))."""
    rng = np.random.default_rng(5)
    d = rng.exponential(size=40) - 0.6
    oof = of.from_arrays(None, np.stack([d, np.zeros(40)], axis=1), response="pointwise")
    ours = compare.bootstrap(oof, None, 0, 1, method=method, n_resamples=9999)
    theirs = stats.bootstrap(
        (d,), np.mean, method=method.upper() if method == "bca" else method, n_resamples=9999, **{SCIPY_RNG: 1}
    )
    se = theirs.standard_error
    assert ours.interval == pytest.approx(theirs.confidence_interval, abs=0.1 * se)
    assert ours.standardised == pytest.approx(ours.difference / d.std(ddof=1), rel=0.05)


def test_bca_of_replayed_draws_is_scipys(monkeypatch):
    from internals import intervals

    rng = np.random.default_rng(2)
    d = rng.exponential(size=25) - 0.8
    theirs = stats.bootstrap((d,), np.mean, method="BCa", n_resamples=4000, **{SCIPY_RNG: np.random.default_rng(9)})
    draws = theirs.bootstrap_distribution
    jackknife = (d.sum() - d) / 24
    z0, a = intervals.bias_of(draws[:, None], np.array([d.mean()])), intervals.acceleration_of(jackknife[:, None])
    shares = [float(intervals.adjusted(q, z0, a)[0]) for q in (0.025, 0.975)]
    assert np.quantile(draws, shares) == pytest.approx(theirs.confidence_interval, rel=1e-12)
    assert [intervals.level_at(np.array([s]), z0, a)[0] for s in shares] == pytest.approx([0.025, 0.975], rel=1e-9)


def test_bootstrap_draws_groups_whole():
    d = np.random.default_rng(0).normal(0.3, 1, 30)
    single = of.from_arrays(None, np.stack([d, 0 * d], axis=1), response="pointwise")
    copies = of.from_arrays(
        None,
        np.repeat(np.stack([d, 0 * d], axis=1), 4, axis=0),
        groups=np.repeat(np.arange(30), 4),
        response="pointwise",
    )
    a, b = (compare.bootstrap(oof, None, 0, 1, n_resamples=999) for oof in (single, copies))
    assert a.interval == pytest.approx(b.interval, rel=1e-9)
    assert a.pvalue == pytest.approx(b.pvalue)
    assert "groups" in b.description


def test_bootstrap_without_variance():
    y = np.array([0.0, 1, 2, 3.5])
    oof = of.from_arrays(y, np.stack([y + 1, y - 1, y + 2], axis=1), response="value")
    same, apart = (compare.bootstrap(oof, "mae", 0, j, n_resamples=200) for j in (1, 2))
    assert (same.difference, same.pvalue, same.interval) == (0, 1, (0, 0))
    assert (apart.difference, apart.pvalue, apart.interval) == (-1, None, None)
    assert "OF304" in codes(apart)


def test_bootstrap_leaves_out_draws_without_a_class():
    y = np.array([1, 1] + [0] * 10)
    P = np.random.default_rng(0).random((12, 2))
    result = compare.bootstrap(of.from_arrays(y, P, response="proba"), None, 0, 1, n_resamples=500)
    assert "OF201" in codes(result)
    assert "OF201" not in codes(
        compare.bootstrap(of.from_arrays(y, P, response="proba"), None, 0, 1, n_resamples=500, stratify=True)
    )


def test_bootstrap_wants_draws_enough_for_its_level():
    oof = make_predictions("accuracy")
    with pytest.raises(InputError, match=r"n_resamples must be at least 200 for an interval at 0\.99; got 100"):
        compare.bootstrap(oof, None, 0, 1, n_resamples=100, confidence_level=0.99)
    with pytest.raises(InputError, match="n_resamples must be a whole number of at least 100"):
        compare.permutation(oof, None, 0, 1, n_resamples=10)
    with pytest.raises(InputError, match="method must be 'bca' or 'percentile'"):
        compare.bootstrap(oof, None, 0, 1, method="basic")


def test_large_sets_leave_out_parts_instead_of_samples(monkeypatch):
    from internals import _scoring

    d = np.random.default_rng(0).exponential(size=400) - 0.9
    oof = of.from_arrays(None, np.stack([d, 0 * d], axis=1), response="pointwise")
    whole = compare.bootstrap(oof, None, 0, 1, n_resamples=999)
    monkeypatch.setattr(_scoring, "_JACKKNIFE", 100)
    parts = compare.bootstrap(oof, None, 0, 1, n_resamples=999)
    width = whole.interval.high - whole.interval.low
    assert parts.interval == pytest.approx(whole.interval, abs=0.05 * width)


# ---------------------------------------------------------------------------------- permutation


@given(st.integers(0, 10_000), st.integers(4, 60), LEVELS)
def test_permutation_interval_holds_the_shifts_that_are_not_rejected(seed, n, level):
    d = np.round(np.random.default_rng(seed).normal(0.3, 1, n), 1)
    oof = of.from_arrays(None, np.stack([d, 0 * d], axis=1), response="pointwise")
    result = compare.permutation(oof, None, 0, 1, n_resamples=500, confidence_level=level)
    assert 0 < result.pvalue <= 1
    assert excludes_zero(result) == result.significant
    mirrored(result, compare.permutation(oof, None, 1, 0, n_resamples=500, confidence_level=level))


@pytest.mark.parametrize("test", [compare.bootstrap, compare.permutation])
def test_a_constant_added_to_both_changes_nothing(test):
    scores = np.random.default_rng(7).normal(size=(40, 2)) + np.array([0.3, 0.0])
    plain, moved = (test(of.from_arrays(None, scores + k, response="pointwise"), None, 0, 1) for k in (0, 5))
    assert moved.pvalue == pytest.approx(plain.pvalue, rel=1e-9)
    assert moved.interval == pytest.approx(plain.interval, abs=1e-12)
    assert moved.wins == plain.wins


@pytest.mark.parametrize("alternative", ["two-sided", "better", "worse"])
@pytest.mark.parametrize("metric", ["mean", "roc_auc", "f1", "mae"])
def test_all_swaps_give_scipys_exact_p(metric, alternative):
    oof = make_predictions(metric, n=10, c=2, seed=4, folds=2)
    result = compare.permutation(oof, metric, 0, 1, n_resamples=1024, alternative=alternative)
    found = of.metrics.get(metric)
    data = oof.respond(found.needs)[0].astype(float)
    data = stats.rankdata(data, axis=1) if found.ranks_only else data

    def statistic(x, y, axis=-1):
        score = [found.kernel(oof.target, np.atleast_2d(v)).scores(np.ones((1, 10), dtype=int))[0] for v in (x, y)]
        return found.sign * (score[0] - score[1])

    side = {"two-sided": "two-sided", "better": "greater", "worse": "less"}[alternative]
    expected = stats.permutation_test(
        data, lambda x, y: float(statistic(x, y)[0]), permutation_type="samples", alternative=side, vectorized=False
    )
    assert result.details["exact"]
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-12)


RANKED = [name for name in of.metrics.names() if of.metrics.get(name).ranks_only]


def stretched(oof):
    """The same with the second model's scores on another scale, in the same order."""
    data = oof.data.astype(float)
    data[:, 1] = np.exp(3 * data[:, 1]) + 50
    return dataclasses.replace(oof, data=data, response="risk" if oof.response == "risk" else "score", labels=None)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("metric", RANKED)
def test_swaps_of_an_order_do_not_depend_on_the_scale(metric, grouped):
    oof = make_predictions(metric, n=40, c=2, r=2)
    oof = dataclasses.replace(oof, groups=np.arange(40) // 2 if grouped else None)
    plain, other = (compare.permutation(o, metric, 0, 1, n_resamples=200) for o in (oof, stretched(oof)))
    assert other.pvalue == plain.pvalue
    assert other.interval == plain.interval
    assert "ranks are swapped" in plain.description


@pytest.mark.parametrize("grouped", [False, True])
def test_scores_on_another_scale_do_not_raise_the_error_rate_of_permutation(grouped):
    rng, n, found = np.random.default_rng(1), 80, []
    y = np.arange(n) % 2
    for _ in range(60):
        shared = 0.9 * y + 0.7 * rng.normal(size=n)
        a, b = (shared + 0.7 * rng.normal(size=n) for _ in range(2))
        oof = of.from_arrays(y, np.stack([a, b + 50], axis=1), groups=y.cumsum() if grouped else None, response="score")
        found.append(compare.permutation(oof, "roc_auc", 0, 1, n_resamples=200).pvalue <= 0.05)
    assert np.mean(found) < 0.12  # 0.05 with a standard error of 0.03; 0.25 where the scores themselves are swapped


def test_a_part_of_the_area_is_swapped_by_ranks_too():
    oof = make_predictions("roc_auc", n=30, c=2, folds=2)
    metric = sklearn.metrics.make_scorer(
        sklearn.metrics.roc_auc_score, max_fpr=0.5, response_method="decision_function"
    )
    plain, other = (compare.permutation(o, metric, 0, 1, n_resamples=100).pvalue for o in (oof, stretched(oof)))
    assert plain == other


def test_random_swaps_come_near_all_swaps():
    for metric in ("mean", "roc_auc"):
        oof = make_predictions(metric, n=12, c=2, seed=1, folds=2)
        exact = compare.permutation(oof, metric, 0, 1, n_resamples=4096)
        random = compare.permutation(oof, metric, 0, 1, n_resamples=4000)
        assert random.pvalue == pytest.approx(exact.pvalue, abs=4 * np.sqrt(0.25 / 4000) + 1e-3)


def test_permutation_is_mcnemars_exact_test_for_answers():
    oof = prompts(9, 2, 200)
    swapped, exact = compare.permutation(oof, None, 0, 1), compare.mcnemar(oof, None, 0, 1, method="exact")
    assert swapped.details["exact"]
    assert swapped.pvalue == pytest.approx(exact.pvalue, rel=1e-12)
    assert swapped.wins == exact.wins
    assert swapped.standardised == pytest.approx(exact.standardised)


def test_permutation_swaps_groups_whole():
    d = np.random.default_rng(0).normal(0.3, 1, 9)
    single = of.from_arrays(None, np.stack([d, 0 * d], axis=1), response="pointwise")
    copies = of.from_arrays(
        None,
        np.repeat(np.stack([d, 0 * d], axis=1), 4, axis=0),
        groups=np.repeat(np.arange(9), 4),
        response="pointwise",
    )
    assert compare.permutation(copies, None, 0, 1).pvalue == pytest.approx(
        compare.permutation(single, None, 0, 1).pvalue
    )
    assert "OF212" in codes(compare.permutation(copies, None, 0, 1))


@pytest.mark.parametrize("metric", ["log_loss", "roc_auc", "f1_macro", "mcc"])
def test_swaps_of_a_whole_set_score_what_was_swapped(metric):
    oof = make_predictions(metric, n=30, c=3, r=2)
    from internals import _score_of, _side_by_side

    scoring = TESTS["permutation"].compared(oof, metric).scoring
    found = of.metrics.get(metric)
    data = oof.respond(found.needs)
    masks = np.random.default_rng(0).integers(0, 2, (5, 30)).astype(np.uint8)
    scores = _score_of(_side_by_side(scoring, data, 0, 1), masks)
    for mask, score in zip(masks.astype(bool), scores, strict=True):
        a, b = np.where(mask, data[:, 1], data[:, 0]), np.where(mask, data[:, 0], data[:, 1])
        expected = [found.reference(oof.target, a[r]) - found.reference(oof.target, b[r]) for r in range(2)]
        assert score == pytest.approx(np.mean(expected), abs=1e-12)


def test_masks_are_fair_and_complete():
    masks = np.concatenate(list(paired.swaps(37, 3000, seed=1)))
    assert masks.shape == (3000, 37)
    assert abs(masks.mean() - 0.5) < 4 * 0.5 / np.sqrt(masks.size)
    assert len(np.unique(paired.all_swaps(5), axis=0)) == 32
    assert not paired.all_swaps(5)[0].any()


def test_swapped_tails_never_give_zero():
    draws = np.zeros(99)
    assert paired.swapped_tails(5.0, draws, 1.0, exact=False).greater[0] == 0.01
    assert Tails(np.array([0.7]), np.array([0.6])).two_sided[0] == 1


# ---------------------------------------------------------------------------------- all of them


@pytest.mark.parametrize(
    "test",
    [TESTS["mcnemar"], TESTS["z_proportions"], TESTS["delong"], TESTS["bootstrap"], TESTS["permutation"]],
    ids=lambda t: t.name,
)
def test_many_pairs_say_what_single_ones_say(test):
    oof = make_predictions("accuracy", n=60, c=4)
    compared = test.compared(oof, None)
    options = {"n_resamples": 300} if test in (TESTS["bootstrap"], TESTS["permutation"]) else {}
    many = compare_pairs(test, compared, all_pairs(4), Hypothesis(), **options)
    assert len(many) == 6
    function = getattr(compare, test.name)
    for result in many:
        single = function(oof, None, result.a, result.b, **options)
        assert single.difference == result.difference
        assert single.pvalue == pytest.approx(result.pvalue, rel=1e-12)
        assert single.interval == pytest.approx(result.interval, rel=1e-9)
        assert single.wins == result.wins
        assert f"{result.a} - {result.b}" in str(single)
        json.dumps(single.to_dict(), allow_nan=False)
    assert "6 pairs" in str(many)
