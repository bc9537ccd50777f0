"""Rank tests: what they are given, what they refuse, and what must not matter."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from conftest import make_predictions
from extras import pd, pl
from internals import pvalues
from internals import rank_tests as kernel
from outfold import from_arrays, rank
from outfold.exceptions import FileError, InputError, NeedError

NAMES = ["tree", "forest", "bayes"]
SCORES = np.array([[0.81, 0.84, 0.80], [0.70, 0.75, 0.72], [0.90, 0.91, 0.85], [0.66, 0.71, 0.60], [0.55, 0.56, 0.58]])
SETS = ["iris", "wine", "heart", "sonar", "glass"]

whole = st.integers(0, 8).map(float)
tables = st.tuples(st.integers(2, 12), st.integers(2, 6)).flatmap(lambda shape: arrays(float, shape, elements=whole))
pairs = st.integers(2, 14).flatmap(lambda n: arrays(float, (n, 2), elements=whole))
many_tests = [rank.friedman, rank.nemenyi, rank.holm, lambda s, **k: rank.bonferroni_dunn(s, control=0, **k)]


def codes(result):
    return {note.code for note in result.notes}


# -- input ----------------------------------------------------------------------------------------------


def test_every_form_of_scores_gives_the_same():
    expected = rank.nemenyi(SCORES, algorithms=NAMES, datasets=SETS).to_dict()
    columns = dict(zip(NAMES, SCORES.T.tolist(), strict=True))
    assert rank.nemenyi({"data": SETS} | columns).to_dict() == expected
    assert rank.nemenyi(columns, datasets=SETS).to_dict() == expected
    assert rank.nemenyi(pd.DataFrame(columns, index=SETS)).to_dict() == expected
    assert rank.nemenyi(pd.DataFrame({"data": SETS} | columns)).to_dict() == expected
    assert rank.nemenyi(pl.DataFrame(columns | {"data": SETS})).to_dict() == expected
    numbered = rank.nemenyi(pl.DataFrame({"id": [3, 5, 8, 9, 11]} | columns), datasets="id")
    assert numbered.datasets == ("3", "5", "8", "9", "11")
    assert numbered.mean_ranks.tolist() == [a["rank"] for a in expected["algorithms"]]


def test_the_path_of_a_table_will_do(tmp_path):
    frame = pd.DataFrame(SCORES, columns=NAMES).assign(data=SETS)
    frame.to_csv(tmp_path / "scores.csv", index=False)
    for path in (tmp_path / "scores.csv", str(tmp_path / "scores.csv")):
        assert rank.nemenyi(path).to_dict() == rank.nemenyi(frame).to_dict()
    with pytest.raises(FileError, match="there is no file"):
        rank.nemenyi("nowhere.csv")


def test_columns_can_be_chosen():
    frame = pd.DataFrame(SCORES, columns=NAMES).assign(n=[150, 178, 270, 208, 214])
    found = rank.friedman(frame, algorithms=["bayes", "tree"])
    assert found.algorithms == ("bayes", "tree")
    assert found.datasets[0] == "data set 0"


def test_losses_turn_the_ranks_round():
    assert rank.friedman(SCORES).mean_ranks.tolist() == [2.4, 1.2, 2.4]
    assert rank.friedman(-SCORES, greater_is_better=False).mean_ranks.tolist() == [2.4, 1.2, 2.4]
    found = rank.wilcoxon(-SCORES, None, 1, 0, greater_is_better=False)
    assert found.difference < 0
    assert found.wins[:3] == (5, 0, 0)
    gains = rank.signed_rank_bayes(SCORES, None, 1, 0, n_resamples=500).probabilities
    assert gains.better > gains.worse
    assert rank.signed_rank_bayes(-SCORES, None, 1, 0, greater_is_better=False, n_resamples=500).probabilities == gains


@pytest.mark.parametrize("false", [False, np.False_, 0, np.int64(0)])
def test_the_direction_is_a_truth_value_of_any_kind(false):
    assert rank.friedman(-SCORES, greater_is_better=false).mean_ranks.tolist() == [2.4, 1.2, 2.4]
    assert rank.friedman(SCORES, greater_is_better=not false).mean_ranks.tolist() == [2.4, 1.2, 2.4]


@pytest.mark.parametrize("wrong", ["no", 2, 0.0, [False]])
def test_other_directions_are_refused(wrong):
    with pytest.raises(InputError, match="greater_is_better must be True, or False for losses; got"):
        rank.friedman(SCORES, greater_is_better=wrong)


def test_predictions_are_chosen_by_position_in_the_first():
    one, two = (make_predictions("accuracy", seed=seed) for seed in range(2))
    first, second = one.configs[:2]
    turned = two.sel(config=[*reversed(two.configs)])
    found = rank.friedman([one, turned], "accuracy", algorithms=[1, 0])
    assert str(found)
    assert found.algorithms == (second, first)
    named = rank.friedman([one, two], "accuracy", algorithms=[second, first])
    assert found.mean_scores.tolist() == named.mean_scores.tolist()


def test_predictions_of_one_data_set_twice_are_refused():
    one = make_predictions("accuracy")
    for sets, names in (([one, one], ["iris", "iris"]), ({1: one, "1": one}, None)):
        with pytest.raises(InputError, match=r"is in the scores 2 times\. Average repeats"):
            rank.friedman(sets, "accuracy", datasets=names)


def test_predictions_of_the_same_samples_are_refused():
    problem = r"each data set counts once; 'data set 0' and 'data set 1' are of the same samples\. Give one Predictions"
    one, other = make_predictions("accuracy"), make_predictions("accuracy", seed=1)
    with pytest.raises(InputError, match=problem):
        rank.friedman([one, one], "accuracy")
    facts = {"data": "a", "labels": "b"}  # hashes, of which the splits are no part
    with pytest.raises(InputError, match=problem):
        rank.friedman([replace(one, provenance=facts), replace(other, provenance=facts)], "accuracy")
    elsewhere = replace(one, provenance=facts | {"data": "c"})
    assert rank.friedman([replace(one, provenance=facts), elsewhere], "accuracy").datasets == (
        "data set 0",
        "data set 1",
    )
    rng = np.random.default_rng(0)  # per-sample scores have no labels that could differ
    sets = [from_arrays(None, rng.random((20, 3)) < 0.5, response="pointwise") for _ in range(2)]
    assert rank.friedman(sets, "mean").datasets == ("data set 0", "data set 1")
    with pytest.raises(InputError, match=problem):
        rank.friedman([sets[0], sets[0]], "mean")


def test_predictions_one_a_data_set():
    sets = {name: make_predictions("accuracy", seed=seed) for seed, name in enumerate(SETS)}
    found = rank.friedman(sets, "accuracy")
    boards = [oof.leaderboard("accuracy") for oof in sets.values()]
    matrix = [[b.scores[b.configs.index(c)] for c in found.algorithms] for b in boards]
    np.testing.assert_allclose(found.mean_scores, np.mean(matrix, axis=0))
    assert found.mean_ranks.tolist() == rank.friedman(np.round(matrix, 12)).mean_ranks.tolist()
    assert (found.metric, found.datasets) == ("accuracy", tuple(SETS))
    losses = rank.friedman(list(sets.values()), "error")
    assert not losses.greater_is_better
    np.testing.assert_allclose(losses.mean_ranks, found.mean_ranks)
    with pytest.raises(InputError, match="must not contradict the metric error"):
        rank.friedman(sets, "error", greater_is_better=True)
    with pytest.raises(InputError, match="friedman needs a metric to score Predictions"):
        rank.friedman(sets)


def test_predictions_need_the_same_configurations():
    one, other = make_predictions("accuracy"), make_predictions("accuracy", c=5, seed=1)
    with pytest.raises(InputError, match=r"same configurations; 'config 5' is in only one of 'a' and 'b'"):
        rank.friedman({"a": one, "b": other}, "accuracy")
    named = rank.friedman({"a": one, "b": other}, "accuracy", algorithms=["config 3", "config 0"])
    assert named.algorithms == ("config 3", "config 0")
    with pytest.raises(InputError, match="these are mixed"):
        rank.friedman([one, SCORES], "accuracy")


def test_the_folds_of_one_data_set_are_no_data_sets():
    with pytest.raises(NeedError, match=r"folds share training samples.*compare\.auto"):
        rank.friedman(make_predictions("accuracy"), "accuracy")
    with pytest.raises(NeedError, match="at least 2 data sets"):
        rank.nemenyi([make_predictions("accuracy")], "accuracy")


def test_missing_scores():
    holed = SCORES.copy()
    holed[3, 1] = holed[3, 2] = np.nan
    table = {"algorithms": NAMES, "datasets": SETS}
    with pytest.raises(
        InputError, match=r"'forest' has no score on 'sonar' \(2 scores are missing in all\).*missing='drop'"
    ):
        rank.friedman(holed, **table)
    found = rank.friedman(holed, missing="drop", **table)
    assert found.datasets == ("iris", "wine", "heart", "glass")
    assert "1 of 5 data sets left out for missing scores: sonar." in str(found)
    assert "OF354" in codes(rank.wilcoxon(holed, None, 0, 1, missing="drop"))
    mask = np.isnan(holed)
    masked = np.ma.array(SCORES, mask=mask)
    for scores in (
        masked,
        list(masked),
        {name: masked[:, j] for j, name in enumerate(NAMES)},
        pd.DataFrame((100 * SCORES).round().astype(int)).mask(mask).astype("Int64"),
        pl.DataFrame(SCORES.astype(np.float32), schema=NAMES).with_columns(
            forest=pl.Series([0.84, 0.75, 0.91, None, 0.56])
        ),
    ):
        with pytest.raises(InputError, match="has no score on 'sonar'"):
            rank.friedman(scores, datasets=SETS)
        assert rank.friedman(scores, datasets=SETS, missing="drop").mean_ranks.tolist() == found.mean_ranks.tolist()
    with pytest.raises(InputError, match="'tree' has no score on 'b'"):
        rank.friedman({"tree": [0.1, None], "bayes": [0.2, 0.3]}, datasets=["a", "b"])


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        (SCORES[:, 0], {}, r"shape \(data sets, algorithms\); got \(5,\)"),
        (SCORES[:1], {}, "at least 2 data sets and 2 algorithms; there are 1 data set and 3"),
        (SCORES, {"algorithms": ["a", "b"]}, "3 algorithms need as many names; got 2"),
        (SCORES, {"algorithms": ["a", "b", "a"]}, "'a' is in the scores 2 times"),
        (SCORES, {"datasets": ["a", "b", "c", "d", "a"]}, "'a' is in the scores 2 times. Average repeats"),
        (SCORES, {"datasets": "id"}, "datasets must be a list of names for a matrix"),
        (SCORES, {"metric": "error", "greater_is_better": True}, "must not contradict the metric error"),
        (SCORES, {"missing": "keep"}, "missing must be 'refuse' or 'drop'"),
        (SCORES, {"alpha": 1.5}, "alpha must lie between 0 and 1"),
        (SCORES, {"method": "exact"}, "method must be 'iman_davenport' or 'chi2'"),
        (SCORES + np.inf, {}, "is infinite"),
        (object(), {}, "must be a data frame, a dict of columns, a matrix or Predictions; got object"),
        ({}, {}, "must have a column for every algorithm, .* there are no columns"),
        ({"a": 1.0, "b": 2.0}, {}, "'a' must hold scores, one number for each data set; got 1.0"),
        (SCORES + 1j, {}, "these are complex"),
        ({"a": [1.0, 2.0], "b": np.array([1.0, 3.0j])}, {}, "'b' must hold scores"),
        ({"a": [1.0, 2.0], "b": [1.0]}, {}, "one score for each data set; these have 1 to 2"),
        (
            {"a": [1.0, 2.0], "b": [1.0, 3.0]},
            {"algorithms": ["a", "c"]},
            "algorithms must name columns .*no 'c' among a, b",
        ),
        (
            {"a": [1.0, 2.0], "b": [1.0, 3.0]},
            {"datasets": "id"},
            "datasets must name columns .*no 'id' among a, b",
        ),
        ({"id": [1, 2], "a": [0.5, 0.6], "b": [0.7, 0.1]}, {}, "'id' seems to number the data sets"),
        ({"d": ["x", "y"], "a": [0.5, 0.6], "b": ["p", "q"]}, {}, "'b' must hold scores"),
    ],
)
def test_what_cannot_be_used_is_refused(scores, options, message):
    with pytest.raises(InputError, match=message):
        rank.friedman(scores, **options)


def test_names_and_choices_are_checked():
    with pytest.raises(InputError, match=r"no algorithm 'forrest'; there are '.*'forest'"):
        rank.bonferroni_dunn(SCORES, control="forrest", algorithms=NAMES)
    with pytest.raises(InputError, match="two different algorithms"):
        rank.wilcoxon(SCORES, None, 0, 0)
    with pytest.raises(InputError, match="zero_method must be 'wilcox', 'pratt' or 'zsplit'"):
        rank.wilcoxon(SCORES, None, 0, 1, zero_method="drop")
    with pytest.raises(InputError, match="method must be 'auto', 'exact' or 'asymptotic'"):
        rank.wilcoxon(SCORES, None, 0, 1, method="t")
    with pytest.raises(InputError, match="ties must be 'split' or 'drop'"):
        rank.sign(SCORES, None, 0, 1, ties="keep")
    with pytest.raises(InputError, match="adjust must be"):
        rank.holm(SCORES, adjust="sidak")
    with pytest.raises(InputError, match="rope must be a number of at least 0"):
        rank.signed_rank_bayes(SCORES, None, 0, 1, rope=-0.1)


# -- degenerate cases -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["iman_davenport", "chi2"])
def test_all_tied(method):
    found = rank.nemenyi(np.ones((6, 3)), method=method)
    assert found.omnibus.statistic == 0
    assert found.omnibus.pvalue == 1
    assert [pair.adjusted for pair in found.pairs] == [1, 1, 1]
    assert found.groups == (("algorithm 0", "algorithm 1", "algorithm 2"),)
    assert rank.wilcoxon(np.ones((6, 2)), None, 0, 1).pvalue == 1
    assert rank.wilcoxon(np.ones((6, 2)), None, 0, 1, method="asymptotic").pvalue == 1
    assert rank.sign(np.ones((6, 2)), None, 0, 1).pvalue == 1
    assert rank.sign(np.ones((6, 2)), None, 0, 1, ties="drop").pvalue == 1
    assert rank.signed_rank_bayes(np.ones((6, 2)), None, 0, 1, n_resamples=100).probabilities == (0, 1, 0)


@pytest.mark.filterwarnings("error")
def test_all_agree():
    found = rank.friedman(np.arange(4.0) + 10 * np.arange(5.0)[:, None])
    assert found.omnibus.statistic == np.inf
    assert found.omnibus.pvalue == pytest.approx((1 / 24) ** 4)
    assert "OF356" in codes(found)
    assert "F = infinite" in str(found)
    assert found.to_dict()["omnibus"]["statistic"] is None
    tied = rank.friedman(np.tile([3.0, 1.0, 1.0], (4, 1)))
    assert tied.omnibus.pvalue == pytest.approx((2 / 6) ** 3)  # three orders with two last ones tied


@pytest.mark.filterwarnings("error")
def test_all_agree_with_many_algorithms():
    halves = rank.friedman(np.tile(np.repeat([0.0, 1.0], 15), (3, 1)))
    assert halves.omnibus.pvalue == pytest.approx(1 / comb(30, 15) ** 2, rel=1e-12)
    most = rank.friedman(np.tile(np.repeat([0.0, 1.0], [198, 2]), (2, 1)))
    assert most.omnibus.pvalue == pytest.approx(2 / (200 * 199), rel=1e-12)
    assert rank.friedman(np.tile(np.arange(200.0), (2, 1))).omnibus.pvalue == 0  # 1 / 200! is no float


def test_two_algorithms():
    found = rank.nemenyi(SCORES[:, :2])
    assert found.cd == pytest.approx(stats.norm.isf(0.025) * np.sqrt(2 * 3 / (6 * 5)), rel=1e-9)
    assert "rank.wilcoxon" in str(found)
    assert "OF355" in codes(found)


def test_notes():
    rng = np.random.default_rng(0)
    many = rng.random((30, 6))
    assert not codes(rank.friedman(many))
    assert codes(rank.friedman(many[:9])) == {"OF351"}
    assert codes(rank.friedman(many[:, :4], method="chi2")) == {"OF351"}
    assert codes(rank.friedman(many[:, :4])) == set()
    assert codes(rank.nemenyi(many)) == {"OF353"}
    assert "at most a hint" in str(rank.nemenyi(many))
    assert codes(rank.friedman(np.round(many, 1))) == {"OF352"}
    assert "OF358" in codes(rank.wilcoxon(many[:4], None, 0, 1))
    assert rank.wilcoxon(many[:5], None, 0, 1).interval is None  # 2 of 2^5 signs are 6 percent
    assert rank.wilcoxon(many[:6], None, 0, 1).interval is not None
    many[3, 0] = many[3, 1]
    assert codes(rank.wilcoxon(many, None, 0, 1)) == codes(rank.sign(many, None, 0, 1)) == {"OF357"}


# -- properties -----------------------------------------------------------------------------------------


@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_algorithms_does_not_matter(scores, random):
    names = [f"a{j}" for j in range(scores.shape[1])]
    order = random.sample(range(len(names)), len(names))
    for run in (rank.friedman, rank.nemenyi, rank.holm, lambda s, **k: rank.bonferroni_dunn(s, control="a0", **k)):
        one = run(scores, algorithms=names)
        other = run(scores[:, order], algorithms=[names[j] for j in order])
        np.testing.assert_allclose(other.mean_ranks, one.mean_ranks[order])
        assert other.omnibus.pvalue == pytest.approx(one.omnibus.pvalue, abs=1e-12)
        seen = {frozenset((p.a, p.b)): (abs(p.z), p.adjusted) for p in one.pairs}
        for p in other.pairs:
            assert (abs(p.z), p.adjusted) == pytest.approx(seen[frozenset((p.a, p.b))], abs=1e-9)


@given(tables)
def test_a_monotone_change_within_a_data_set_does_not_matter(scores):
    changed = np.exp(scores / 2) * np.arange(1, len(scores) + 1)[:, None]
    for run in many_tests:
        one, other = run(scores), run(changed)
        assert one.mean_ranks.tolist() == other.mean_ranks.tolist()
        assert one.omnibus == other.omnibus
        assert one.pairs == other.pairs


@given(tables)
def test_ranks_and_p_values_keep_their_bounds(scores):
    k = scores.shape[1]
    for run in many_tests:
        found = run(scores)
        assert found.mean_ranks.sum() == pytest.approx(k * (k + 1) / 2)
        assert 0 <= found.omnibus.pvalue <= 1
        for pair in found.pairs:
            assert 0 <= pair.pvalue <= 1
            assert pair.pvalue - 1e-12 <= pair.adjusted <= 1
            assert pair.different == (pair.adjusted <= found.alpha)
            if found.cd is not None and abs(abs(pair.difference) - found.cd) > 1e-9:
                assert pair.different == (abs(pair.difference) > found.cd)


@given(tables)
def test_groups_are_the_maximal_sets_not_told_apart(scores):
    found = rank.nemenyi(scores, alpha=0.5)
    apart = {frozenset((p.a, p.b)) for p in found.pairs if p.different}
    for group in found.groups:
        assert not any(frozenset((a, b)) in apart for a in group for b in group if a != b)
        assert list(group) == [name for name in found.order if name in group]
    joined = {frozenset((a, b)) for group in found.groups for a in group for b in group if a != b}
    assert joined == {frozenset((p.a, p.b)) for p in found.pairs} - apart


@given(pairs)
def test_swapping_two_algorithms_turns_the_sign(scores):
    for run in (
        rank.wilcoxon,
        rank.sign,
        lambda *a: rank.wilcoxon(*a, method="asymptotic", zero_method="pratt", correction=True),
    ):
        one, other = run(scores, None, 0, 1), run(scores, None, 1, 0)
        assert one.difference == pytest.approx(-other.difference)
        assert one.pvalue == pytest.approx(other.pvalue, rel=1e-12)
        assert 0 <= one.pvalue <= 1
        assert one.wins[:3] == other.wins[2::-1]
        if one.interval is not None:
            assert tuple(one.interval) == pytest.approx([-end for end in other.interval[::-1]])
            assert one.interval.low <= one.difference <= one.interval.high


@given(pairs)
def test_exact_signed_ranks_count_all_signs(scores):
    difference = scores[:, 0] - scores[:, 1]
    found = kernel.signed_ranks(difference, "pratt")
    n = len(found.signed)
    signs = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    sums = signs @ np.abs(found.signed)
    expected = min(1.0, 2 * min(np.mean(sums <= found.plus), np.mean(sums >= found.plus)))
    assert kernel.signed_rank_exact(found) == pytest.approx(expected, rel=1e-12)
    split = kernel.signed_ranks(difference, "zsplit")
    assert kernel.signed_rank_exact(split) == kernel.signed_rank_exact(found)
    assert split.plus + split.minus == len(difference) * (len(difference) + 1) / 2


# -- other software -------------------------------------------------------------------------------------


@given(arrays(float, (9, 4), elements=whole))
def test_friedman_equals_scipy(scores):
    if np.ptp(scores, axis=1).max() == 0:
        return  # scipy divides by zero where all is tied
    ref = stats.friedmanchisquare(*scores.T)
    found = rank.friedman(scores, method="chi2").omnibus
    assert (found.statistic, found.pvalue) == pytest.approx((ref.statistic, ref.pvalue), abs=1e-9)


def test_false_discovery_rate_equals_scipy():
    p = np.random.default_rng(0).random(20) ** 3
    np.testing.assert_allclose(pvalues.benjamini_hochberg(p), stats.false_discovery_control(p, method="bh"))


def test_step_up_and_step_down_by_hand():
    p = np.array([0.01, 0.04, 0.03, 0.005])
    np.testing.assert_allclose(pvalues.holm(p), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(pvalues.hochberg(p), [0.03, 0.04, 0.04, 0.02])
    assert all(pvalues.hochberg(p) <= pvalues.holm(p))


def test_holm_against_a_control_finds_what_bonferroni_dunn_finds():
    scores = np.random.default_rng(2).normal(size=(20, 5)) + np.linspace(0, 2, 5)
    careful, stepped = rank.bonferroni_dunn(scores, control=0), rank.holm(scores, control=0)
    assert stepped.control == careful.control == "algorithm 0"
    for one, other in zip(careful.pairs, stepped.pairs, strict=True):
        assert other.pvalue == one.pvalue
        assert other.adjusted <= one.adjusted


def test_sign_test_splits_or_drops_ties():
    scores = np.array([[1.0, 0.0]] * 7 + [[0.0, 1.0]] + [[1.0, 1.0]] * 3)
    split, dropped = rank.sign(scores, None, 0, 1), rank.sign(scores, None, 0, 1, ties="drop")
    assert split.details["counted"] == [8, 2]
    assert split.pvalue == pytest.approx(stats.binomtest(8, 10).pvalue)
    assert dropped.pvalue == pytest.approx(stats.binomtest(7, 8).pvalue)
    assert split.wins == (7, 3, 1, "data set")


def test_interval_of_the_median_is_that_of_the_sign_test():
    scores = np.stack([np.arange(1.0, 13.0), np.zeros(12)], axis=1)
    assert tuple(rank.sign(scores, None, 0, 1).interval) == (3, 10)  # P(T <= 2) = 0.0193, P(T <= 3) = 0.0730 of 2^12
    ref = stats.quantile_test(scores[:, 0], q=0, p=0.5).confidence_interval(0.95)
    assert ref.low == 3
    assert ref.high == 10


def test_interval_of_wilcoxon_holds_what_the_test_does_not_reject():
    difference = np.random.default_rng(5).normal(0.3, 1, 11)
    low, high = rank.wilcoxon(np.stack([difference, np.zeros(11)], axis=1), None, 0, 1).interval
    for shift, inside in ((low + 1e-6, True), (high - 1e-6, True), (low - 1e-6, False), (high + 1e-6, False)):
        assert (stats.wilcoxon(difference - shift, method="exact").pvalue > 0.05) == inside


def walsh(difference):
    i, j = np.triu_indices(len(difference))
    return np.sort((difference[i] + difference[j]) / 2)


@given(st.integers(1, 40).flatmap(lambda n: arrays(float, n, elements=st.integers(-5, 5).map(lambda v: v / 10))))
def test_every_mean_of_pairs_is_found_at_its_place(difference):
    expected = walsh(difference)
    ordered = np.sort(difference)
    assert [kernel.walsh_average(ordered, place) for place in range(len(expected))] == expected.tolist()
    assert kernel.pseudomedian(difference) == pytest.approx(np.median(expected), abs=1e-15)


def test_interval_of_many_differences_is_close_to_the_exact_one():
    difference = np.random.default_rng(3).normal(0.1, 1, 200)
    below = np.cumsum(kernel.subset_sums(np.arange(1, 201)))
    c = int(np.searchsorted(below, 0.025, side="right"))
    averages = walsh(difference)
    low, high = kernel.walsh_interval(difference, 0.95)
    # The normal approximation is off by a few of 20,100 places.
    assert abs(np.searchsorted(averages, low) - (c - 1)) <= 5
    assert np.searchsorted(averages, low) == len(averages) - 1 - np.searchsorted(averages, high)


def test_many_data_sets_need_no_table_of_all_pairs():
    """50 million means of pairs would take 400 MB."""
    difference = np.random.default_rng(3).normal(0.1, 1, 10_000)
    tracemalloc.start()
    found = rank.wilcoxon(np.stack([difference, np.zeros(10_000)], axis=1), None, 0, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6
    assert found.interval.low < found.difference < found.interval.high
    assert found.difference == pytest.approx(0.1, abs=0.05)


different = st.lists(st.integers(-40, 40).filter(bool), min_size=6, max_size=14, unique_by=abs)


@given(different, st.integers(0, 6))
def test_intervals_leave_out_nought_where_the_test_rejects_it(values, zeros):
    """Without ties of size, and with data sets without a difference, which both the test and the interval leave out."""
    scores = np.zeros((len(values) + zeros, 2))
    scores[: len(values), 0] = values
    for found in (rank.wilcoxon(scores, None, 0, 1), rank.sign(scores, None, 0, 1, ties="drop")):
        if found.interval is not None:
            assert (found.pvalue <= 0.05) == (not found.interval.low <= 0 <= found.interval.high)
            assert found.interval.low <= found.difference <= found.interval.high
    split = rank.sign(scores, None, 0, 1)
    if split.interval is not None:
        assert (split.pvalue <= 0.05) == (not split.interval.low < 0 < split.interval.high) or 0 in split.interval
        assert split.interval.low <= split.difference <= split.interval.high


def test_posterior_means_are_those_of_the_dirichlet_distribution():
    """E[w_i w_j] = a_i (a_j + [i = j]) / (A (A + 1)) gives the expected shares in closed form."""
    scores = np.stack([SCORES[:, 1], SCORES[:, 0]], axis=1)
    found = rank.signed_rank_bayes(scores, None, 0, 1, rope=0.025)
    values, a = np.append(scores[:, 0] - scores[:, 1], 0), np.append(np.ones(5), 0.5)
    weight = (np.outer(a, a) + np.diag(a)) / (a.sum() * (a.sum() + 1))
    sums = values[:, None] + values
    expected = [weight[sums > 0.05 + 1e-9].sum(), weight[np.abs(sums) <= 0.05 + 1e-9].sum(), 0]
    np.testing.assert_allclose(found.details["expected"], expected, atol=0.005)
    again = rank.signed_rank_bayes(scores, None, 0, 1, rope=0.025)
    assert again.probabilities == found.probabilities
    assert rank.signed_rank_bayes(scores, None, 0, 1, rope=0.025, rng=1).probabilities != found.probabilities
    assert sum(found.probabilities) == pytest.approx(1)
    swapped = rank.signed_rank_bayes(scores, None, 1, 0, rope=0.025).probabilities
    np.testing.assert_allclose(swapped, found.probabilities[::-1], atol=1e-12)


def test_bayesian_signed_rank_decides_beyond_95_percent():
    def found(gain, rope=0.01):
        return rank.signed_rank_bayes(
            {"x": 0.7 + np.array(gain), "y": np.full(len(gain), 0.7)}, None, "x", "y", rope=rope
        )

    large, small, mixed = found([0.1] * 12), found([0.001] * 12), found([0.02, 0, 0.03, 0.01, -0.01, 0.02])
    assert (large.better, large.relevance) == ("x", "relevant")
    assert large.decision == f"x is better with probability {large.probabilities.better:.4f}"
    assert (small.better, small.relevance) == (None, "equivalent")
    assert small.decision == f"the two are equivalent within 0.01 with probability {small.probabilities.equivalent:.4f}"
    assert max(mixed.probabilities) <= 0.95
    assert (mixed.better, mixed.relevance) == (None, "undecided")
    assert mixed.to_dict()["decision"] == "undecided: no outcome is more probable than 0.95"


def test_single_floats_equal_but_for_rounding_are_tied():
    """0.10 - 0.05, 0.85 - 0.80 and 0.75 - 0.70 are the same 0.05, in single precision too."""
    exact = np.array([[0.10, 0.05], [0.75, 0.70], [0.80, 0.85], [0.60, 0.50]])
    expected = rank.wilcoxon(exact, None, 0, 1).details["rank_sums"]
    single = exact.astype(np.float32)
    names = ["a", "b"]
    for scores in (single, dict(zip(names, single.T, strict=True)), pd.DataFrame(single), pl.DataFrame(single)):
        assert rank.wilcoxon(scores, None, 0, 1).details["rank_sums"] == expected == [8.0, 2.0]
    added = np.array([[0.3, 0.3], [0.5, 0.6], [0.5, 0.6]], dtype=np.float32)
    added[0, 0] = np.nextafter(np.float32(0.3), np.float32(1))
    assert rank.friedman(added).mean_ranks.tolist() == [5.5 / 3, 3.5 / 3]
    assert "OF352" in codes(rank.friedman(added))


def test_scores_equal_but_for_rounding_are_tied():
    scores = np.array([[0.1 + 0.2, 0.3, 0.1], [0.7, 0.7, 0.1 * 7]])
    assert rank.friedman(scores).mean_ranks.tolist() == [1.75, 1.75, 2.5]


# -- the result -----------------------------------------------------------------------------------------


def test_ranking_prints_and_converts():
    found = rank.holm(SCORES, control="tree", algorithms=["tree", "R&D_1", "bayes"])
    assert repr(found) == f"<Ranking holm of 3 algorithms over 5 data sets: p = {found.omnibus.pvalue:.4f}>"
    lines = str(found).splitlines()
    assert lines[1].split() == ["rank", "algorithm", "mean", "score", "against", "tree", "adjusted", "p"]
    assert lines[2].split()[:2] == ["1.200", "R&D_1"]
    assert "R&amp;D_1" in found._repr_html_()
    assert r"R\&D\_1" in found.to_latex()
    assert r"\toprule" in found.to_latex()
    assert json.loads(json.dumps(found.to_dict()))["control"] == "tree"
    assert found.to_frame()["algorithm"].tolist() == ["R&D_1", "tree", "bayes"]
    assert found.to_frame("pairs", backend="polars")["b"].to_list() == ["R&D_1", "bayes"]
    with pytest.raises(InputError, match="which must be"):
        found.to_frame("all")


def test_many_algorithms_are_cut_in_print():
    text = str(rank.nemenyi(np.random.default_rng(0).random((12, 25))))
    assert "… and 5 more" in text
