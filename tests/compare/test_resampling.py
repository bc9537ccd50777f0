"""Tests by resampling: what must hold for all of them, the plans they need, and what they refuse."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB

import outfold as of
from internals import (
    TESTS,
    ComparedConfigs,
    Hypothesis,
    _is_balanced,
    all_pairs,
    compare_pairs,
    fold_scores,
    mean_variance,
)
from outfold.exceptions import InputError, NeedError
from outfold.results import Probabilities

compare = of.compare

# Every test with a design it takes: (splits, keywords of from_scores).
DESIGNS = {
    "t_resampled": (8, {"n_train": 70, "n_test": 30, "design": "holdout"}),
    "t_kfold": (5, {"n_train": 80, "n_test": 20}),
    "t_corrected": (10, {"n_train": 80, "n_test": 20, "repeats": 2}),
    "t_corrected_kfold": (5, {"n_train": 80, "n_test": 20}),
    "t_5x2cv": (10, {"n_train": 50, "n_test": 50, "design": "5x2cv"}),
    "t_5x2cv_combined": (10, {"n_train": 50, "n_test": 50, "design": "5x2cv"}),
    "f_5x2cv": (10, {"n_train": 50, "n_test": 50, "design": "5x2cv"}),
    "t_blocked_3x2": (6, {"n_train": 50, "n_test": 50, "design": "blocked"}),
    "t_blocked_mx2": (14, {"n_train": 50, "n_test": 50, "design": "blocked"}),
    "t_bayes": (10, {"n_train": 90, "n_test": 10}),
}
WITH_P = [name for name in DESIGNS if name != "t_bayes"]
DIRECTED = [name for name in WITH_P if name != "f_5x2cv"]


def scores_for(name, a, b, **more):
    return of.from_scores({"a": a, "b": b}, **DESIGNS[name][1], **more)


def drawn(name, seed, effect=0.0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0.8, 0.05, (2, DESIGNS[name][0])).round(3)
    return a + effect, b


def run(name, a, b, flip=False, **options):
    more = {"greater_is_better": False} if flip else {}
    return getattr(compare, name)(scores_for(name, a, b, **more), None, "a", "b", **options)


seeds, effects = st.integers(0, 10_000), st.sampled_from([0.0, 0.02, -0.05, 0.15])


@pytest.mark.parametrize("name", WITH_P)
@given(seed=seeds, effect=effects, level=st.sampled_from([0.8, 0.95, 0.99]))
def test_interval_excludes_0_exactly_where_the_test_rejects(name, seed, effect, level):
    found = run(name, *drawn(name, seed, effect), confidence_level=level)
    assert 0 <= found.pvalue <= 1
    assume(abs(found.pvalue - found.alpha) > 1e-9)
    if found.interval is None:  # an F test that refuses every difference
        assert name == "f_5x2cv"
        assert found.pvalue < found.alpha
    else:
        low, high = found.interval
        assert (low > 0 or high < 0) == found.significant


@pytest.mark.parametrize("name", DESIGNS)
@given(seed=seeds, effect=effects)
def test_swapping_flips_the_sign_and_a_constant_changes_nothing(name, seed, effect):
    a, b = drawn(name, seed, effect)
    found, swapped, moved = run(name, a, b), run(name, b, a), run(name, a + 3, b + 3)
    assert swapped.difference == pytest.approx(-found.difference)
    assert moved.difference == pytest.approx(found.difference)
    assert swapped.wins == (found.wins.worse, found.wins.equal, found.wins.better, found.wins.unit)
    if name == "t_bayes":
        assert moved.probabilities == pytest.approx(found.probabilities, abs=1e-9)
        assert (swapped.probabilities.better, swapped.probabilities.worse) == pytest.approx(
            (found.probabilities.worse, found.probabilities.better)
        )
        return
    assert swapped.pvalue == pytest.approx(found.pvalue)
    assert moved.pvalue == pytest.approx(found.pvalue, rel=1e-6)
    if found.interval is not None:
        assert swapped.interval == pytest.approx((-found.interval.high, -found.interval.low))


@pytest.mark.parametrize("name", DIRECTED)
@given(seed=seeds, effect=effects)
def test_one_sided_tests_know_the_direction_of_the_metric(name, seed, effect):
    a, b = drawn(name, seed, effect)
    two = run(name, a, b)
    better, worse = (run(name, a, b, alternative=side).pvalue for side in ("better", "worse"))
    assert better + worse == pytest.approx(1)
    assert 2 * min(better, worse) == pytest.approx(two.pvalue)
    assert (better < worse) == (two.statistic > 0)
    # For a loss, smaller is better.
    assert run(name, a, b, flip=True, alternative="better").pvalue == pytest.approx(worse)


@pytest.mark.parametrize("name", WITH_P)
def test_no_variance_gives_p_1_or_none_without_a_warning(name):
    base = drawn(name, 1)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same, apart = run(name, base, base), run(name, base + 0.1, base)
        if name != "f_5x2cv":
            assert run(name, base, base, alternative="better").pvalue == 1
    assert same.pvalue == 1
    assert same.better is None
    assert apart.pvalue is None
    assert apart.interval is None
    assert apart.significant is None
    assert apart.standardised is None
    assert next(n for n in apart.notes if n.code == "OF304").text.startswith("all splits differ by exactly 0.1:")
    assert "exactly 0:" in next(n for n in same.notes if n.code == "OF304").text


@pytest.mark.parametrize("name", ["t_5x2cv", "f_5x2cv"])
def test_halves_that_agree_within_every_repeat_leave_nothing_to_test_by(name):
    found = run(name, np.repeat([0.8, 0.9, 0.7, 0.8, 0.9], 2), np.repeat([0.7, 0.7, 0.7, 0.6, 0.8], 2))
    assert found.pvalue is None
    assert any("same in both halves of every repeat" in n.text for n in found.notes)


def test_effects_stand_beside_every_test():
    found = run("t_kfold", [0.9, 0.8, 0.7, 0.8, 0.9], [0.8, 0.8, 0.8, 0.6, 0.8])
    d = np.array([0.1, 0.0, -0.1, 0.2, 0.1])
    assert found.difference == pytest.approx(0.06)
    assert found.scores == pytest.approx((0.82, 0.76))
    assert found.standardised == pytest.approx(d.mean() / d.std(ddof=1))
    assert found.wins == (3, 1, 1, "fold")
    loss = run("t_kfold", [0.9, 0.8, 0.7, 0.8, 0.9], [0.8, 0.8, 0.8, 0.6, 0.8], flip=True)
    assert loss.wins == (1, 1, 3, "fold")
    assert run("t_resampled", *drawn("t_resampled", 0)).wins.unit == "split"


def test_many_pairs_at_once_are_the_pairs_one_by_one():
    rng = np.random.default_rng(3)
    for name in ("t_corrected", "t_5x2cv", "f_5x2cv", "t_kfold"):
        test = TESTS[name]
        splits, design = DESIGNS[name]
        source = of.from_scores(rng.normal(0.8, 0.1, (4, splits)), **design)
        contest = ComparedConfigs(source, None)
        for found in compare_pairs(test, contest, all_pairs(4), Hypothesis()):
            alone = getattr(compare, name)(source, None, found.a, found.b)
            assert (alone.statistic, alone.pvalue, alone.interval) == (found.statistic, found.pvalue, found.interval)


def test_liberal_tests_say_so():
    codes = {name: {n.code for n in run(name, *drawn(name, 0)).notes} for name in DESIGNS}
    assert codes["t_resampled"] == {"OF302", "OF305", "OF312"}
    assert codes["t_kfold"] == {"OF302", "OF312"}
    for name in ("t_corrected", "t_5x2cv", "f_5x2cv", "t_blocked_3x2", "t_blocked_mx2"):
        assert codes[name] == {"OF312"}
    assert not any(codes[name] for name in ("t_corrected_kfold", "t_bayes"))


# -- relations between the tests ------------------------------------------------------------------------------


def test_one_variance_is_behind_all_t_tests_of_a_mean():
    d = np.random.default_rng(0).normal(size=(2, 10))
    s2 = d.var(axis=1, ddof=1)
    assert mean_variance(d, 0.0) == pytest.approx(s2 / 10)
    assert mean_variance(d, 0.1) == pytest.approx(s2 * (1 / 10 + 10 / 90))
    assert mean_variance(d, 0.5) == pytest.approx(s2 * (1 + 9 * 0.5) / (10 * 0.5))


def test_rho_and_variance_weight():
    a, b = drawn("t_corrected_kfold", 5)
    plain = run("t_kfold", a, b)
    assert run("t_corrected_kfold", a, b, rho=0.0).statistic == pytest.approx(plain.statistic)
    assert run("t_corrected_kfold", a, b).pvalue > plain.pvalue
    a, b = drawn("t_blocked_3x2", 5)
    weights = [run("t_blocked_3x2", a, b, variance_weight=w) for w in (0, 2 / 3, 4 / 3)]
    assert [w.df for w in weights] == [(3,), (5,), (5,)]
    assert abs(weights[0].statistic) > abs(weights[1].statistic) > abs(weights[2].statistic)
    assert run("t_blocked_mx2", *drawn("t_blocked_mx2", 5)).df == (13,)
    assert run("t_blocked_mx2", *drawn("t_blocked_mx2", 5), variance_weight=0).df == (7,)


def test_five_by_two_reports_the_mean_and_tests_the_first():
    a, b = drawn("t_5x2cv", 2)
    found = run("t_5x2cv", a, b)
    assert found.difference == pytest.approx((a - b).mean())
    assert found.tested == pytest.approx(a[0] - b[0])
    assert np.mean(found.interval) == pytest.approx(a[0] - b[0])
    assert "first of the ten" in found.description
    against = run("t_5x2cv", [0.9, *[0.7] * 8, 0.6], [0.8] * 10)
    assert "OF311" in {n.code for n in against.notes}


def test_five_by_two_names_no_winner_where_the_first_points_against_the_mean():
    a = [0.95, 0.95, *[0.799, 0.7995] * 2, *[0.6, 0.601] * 2]
    found = run("t_5x2cv", a, [0.8] * 10)
    assert found.significant
    assert found.tested > 0 > found.difference
    assert found.better is None
    assert "the first difference and the mean of ten disagree: no winner" in str(found)
    assert run("t_5x2cv", a, [0.8] * 10, alternative="better").better is None
    with_it = run("t_5x2cv", [0.95, 0.95, *[0.801, 0.8015] * 4], [0.8] * 10)
    assert with_it.significant
    assert with_it.better == "a"


def test_f_interval_holds_the_differences_that_are_not_refused():
    a, b = drawn("f_5x2cv", 4)
    low, high = run("f_5x2cv", a, b).interval
    for end in (low, high):
        assert run("f_5x2cv", a - end, b).pvalue == pytest.approx(0.05)
    assert (low + high) / 2 == pytest.approx((a - b).mean())


# -- Bayes ----------------------------------------------------------------------------------------------------


@given(seed=seeds, effect=effects, rope=st.sampled_from([0.0, 0.01, 0.1]))
def test_posterior_probabilities_add_up(seed, effect, rope):
    a, b = drawn("t_bayes", seed, effect)
    found = run("t_bayes", a, b, rope=rope)
    assert sum(found.probabilities) == pytest.approx(1)
    assert min(found.probabilities) >= 0
    assert (found.pvalue, found.significant) == (None, None)
    loss = run("t_bayes", a, b, rope=rope, flip=True)
    assert loss.probabilities.better == pytest.approx(found.probabilities.worse)
    if rope == 0:
        one_sided = compare.t_corrected(scores_for("t_bayes", a, b), None, "a", "b", alternative="worse").pvalue
        assert found.probabilities.better == pytest.approx(one_sided)


def test_posterior_without_variance_is_a_point():
    base = drawn("t_bayes", 0)[0]
    assert run("t_bayes", base, base, rope=0.01).probabilities == (0, 1, 0)
    assert run("t_bayes", base, base).probabilities == (0.5, 0, 0.5)
    apart = run("t_bayes", base + 0.1, base, rope=0.01)
    assert apart.probabilities == (1, 0, 0)
    assert apart.interval is None
    assert "OF304" in {n.code for n in apart.notes}
    assert run("t_bayes", base + 0.1, base, rope=0.2).probabilities == (0, 1, 0)
    assert "credible" in apart.description


@pytest.mark.parametrize(
    ("probabilities", "level", "verdict", "words"),
    [
        ((0.951, 0.049, 0), 0.95, "better", "a is better with probability 0.9510"),
        ((0.95, 0.05, 0), 0.95, "undecided", "undecided: no outcome is more probable than 0.95"),
        ((0.6749, 0.3251, 0), 0.95, "undecided", "undecided: no outcome is more probable than 0.95"),
        ((0.01, 0.97, 0.02), 0.95, "equivalent", "the two are equivalent within 0.01 with probability 0.9700"),
        ((0, 0.08, 0.92), 0.9, "worse", "b is better with probability 0.9200"),
        ((0, 0.08, 0.92), 0.95, "undecided", "undecided: no outcome is more probable than 0.95"),
    ],
)
def test_a_bayesian_test_decides_only_beyond_the_level(probabilities, level, verdict, words):
    found = dataclasses.replace(
        run("t_bayes", *drawn("t_bayes", 0), rope=0.01),
        probabilities=Probabilities(*probabilities),
        confidence_level=level,
    )
    assert found.probabilities.verdict(level) == verdict
    assert f"  decision   {words}" in str(found).splitlines()
    assert found.better == {"better": "a", "worse": "b"}.get(verdict)
    assert found.relevance == ("relevant" if verdict in ("better", "worse") else verdict)
    told = found.to_dict()
    assert (told["decision"], told["better"], told["significant"]) == (words, found.better, None)
    assert found.to_frame()["winner"].tolist() == [found.better or ""]


def test_the_level_of_the_credible_interval_is_that_of_the_decision():
    a, b = drawn("t_bayes", 3, 0.05)
    found = [run("t_bayes", a, b, confidence_level=level) for level in (0.6, 0.95, 0.999)]
    likely = max(found[0].probabilities)
    assert [r.better is not None for r in found] == [likely > r.confidence_level for r in found]
    assert len({r.probabilities for r in found}) == 1
    assert 0.6 < likely < 0.999


# -- plans, found by the splits themselves ----------------------------------------------------------------------


def collected(plan, n=48):
    """Predictions of three quick configurations on a real plan."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n) % 2)
    X = rng.normal(size=(n, 2)) + y[:, None]
    configs = {"bayes": GaussianNB(), "broad": GaussianNB(var_smoothing=1.0), "dummy": DummyClassifier()}
    return of.collect(configs, X, y, plan, rng=0)


@pytest.mark.parametrize(
    ("plan", "layout"),
    [
        (of.Plan(5), "kfold"),
        (of.Plan.five_by_two(), "kfold"),
        (of.Plan.blocked(3), "balanced"),
        (of.Plan.blocked(7), "balanced"),
        (of.Plan.repeated_holdout(4), "holdout"),
        (of.Plan.leave_one_out(), "loo"),
        (of.Plan.from_cv(KFold(4)), "kfold"),
        (of.Plan.from_cv(StratifiedKFold(4)), "kfold"),
        (of.Plan.from_cv(RepeatedKFold(n_splits=4, n_repeats=3)), "kfold"),
        (of.Plan.from_cv(RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=1)), "kfold"),
        (of.Plan.from_cv(ShuffleSplit(5, test_size=0.3)), "holdout"),
        (of.Plan.from_cv(ShuffleSplit(5, test_size=0.2, train_size=0.5)), "holdout"),
        (of.Plan.from_cv([(np.arange(9, 48), np.arange(9)), (np.r_[:9, 20:48], np.arange(9, 20))]), "holdout"),
        (of.Plan.from_cv(TimeSeriesSplit(4)), "other"),
        (of.Plan.from_cv([(np.arange(e), np.arange(e, e + 12)) for e in (12, 18, 24, 30)]), "other"),
        (of.Plan.from_cv([(np.arange(e - 9, e), np.arange(e + 1, e + 12)) for e in (12, 18, 24, 30)]), "other"),
        (of.Plan.from_cv([(np.arange(e), np.arange(e, 48)) for e in (12, 24, 36)]), "other"),
        (of.Plan.from_cv(LeaveOneOut()), "loo"),
    ],
    ids=str,
)
def test_layout_comes_from_the_splits(plan, layout):
    oof = collected(plan)
    scores = fold_scores(oof, "accuracy")
    assert scores.layout == layout
    if layout in ("kfold", "balanced", "holdout"):
        found = compare.t_corrected(oof, "accuracy", "bayes", "dummy")
        planned = scores.n_test > 0
        ratio = np.mean(scores.n_test[planned] / scores.n_train[planned])
        d = scores.values[0][planned] - scores.values[2][planned]
        assert found.statistic == pytest.approx(d.mean() / np.sqrt(d.var(ddof=1) * (1 / len(d) + ratio)))
    else:
        with pytest.raises(NeedError, match="t_corrected needs K-fold"):
            compare.t_corrected(oof, None, "bayes", "dummy")


@pytest.mark.parametrize("n", [12, 40, 100])
def test_random_halves_are_not_taken_for_balanced_ones(n):
    found, exact = [], []
    for seed in range(60):
        folds = of.Plan(2, 3, stratify=False).split(np.arange(n) % 2, rng=seed).folds
        found.append(_is_balanced(folds))
        shared = [np.sum(folds[:, i] & folds[:, j]) for i, j in ((0, 1), (0, 2), (1, 2))]
        exact.append(shared == [n / 4] * 3)
    assert found == exact
    assert np.mean(found) < 0.2


@pytest.mark.parametrize("m", [3, 7])
@pytest.mark.parametrize("n", [41, 63, 90])
def test_blocked_plans_are_balanced_whatever_the_classes(m, n):
    y = np.r_[np.ones(n // 5, dtype=int), np.zeros(n - n // 5, dtype=int)]
    X = np.random.default_rng(0).normal(size=(n, 2)) + y[:, None]
    oof = of.collect({"bayes": GaussianNB(), "dummy": DummyClassifier()}, X, y, of.Plan.blocked(m), rng=0)
    assert fold_scores(oof, "accuracy").layout == "balanced"
    assert compare.t_blocked_mx2(oof, "accuracy", 0, 1).df == (2 * m - 1,)


def test_halves_that_share_a_quarter_are_balanced_whoever_made_them():
    blocks = np.arange(48) % 4
    halves = [np.isin(blocks, pair) for pair in ((0, 1), (0, 2), (0, 3))]
    pairs = [(np.flatnonzero(part), np.flatnonzero(~part)) for half in halves for part in (half, ~half)]
    assert fold_scores(collected(of.Plan.from_cv(pairs)), "accuracy").layout == "balanced"


def test_splitters_and_given_folds_serve_the_tests_of_their_structure():
    five = collected(of.Plan.from_cv(RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=1)))
    assert compare.f_5x2cv(five, None, "bayes", "dummy").pvalue > 0
    blocked = collected(of.Plan.blocked(3))
    again = of.from_arrays(blocked.y, blocked.P, folds=blocked.folds, configs=blocked.configs, response="proba")
    assert again.plan.kind == "given"
    expected = compare.t_blocked_3x2(blocked, None, "bayes", "dummy")
    assert compare.t_blocked_3x2(again, None, "bayes", "dummy").statistic == pytest.approx(expected.statistic)
    seven = collected(of.Plan.blocked(7))
    assert compare.t_blocked_3x2(seven.sel(repeat=[0, 2, 5]), None, "bayes", "dummy").df == (5,)


def test_predictions_give_what_their_fold_scores_give():
    oof = collected(of.Plan(5), n=50)
    values = oof.scores("accuracy")[:, 0]
    scores = of.from_scores(dict(zip(oof.configs, values, strict=True)), n_train=40, n_test=10, metric="accuracy")
    for name in ("t_kfold", "t_corrected", "t_corrected_kfold"):
        one, other = (getattr(compare, name)(s, "accuracy", "bayes", "broad") for s in (oof, scores))
        assert (one.statistic, one.pvalue) == (other.statistic, other.pvalue)


def test_unequal_splits_are_said():
    assert (
        "the mean of unequal splits" in compare.t_corrected(collected(of.Plan(5)), None, "bayes", "dummy").description
    )
    assert "unequal" not in compare.t_corrected(collected(of.Plan(4)), None, "bayes", "dummy").description


@pytest.mark.parametrize(
    ("name", "plan", "text"),
    [
        ("t_resampled", of.Plan(5), "needs two or more random splits .* are 5-fold"),
        ("t_resampled", of.Plan.holdout(), "Collect with Plan.repeated_holdout"),
        ("t_kfold", of.Plan(5, 2), "one K-fold cross-validation; these predictions are 2 x 5-fold .* use t_corrected"),
        ("t_kfold", of.Plan.leave_one_out(), "leave-one-out"),
        ("t_corrected", of.Plan.holdout(), "hold-out of 0.333"),
        ("t_corrected", of.Plan.leave_one_out(), "leave-one-out"),
        ("t_bayes", of.Plan.leave_one_out(), "leave-one-out"),
        ("t_corrected_kfold", of.Plan.repeated_holdout(3), "3 x hold-out"),
        ("t_5x2cv", of.Plan(10, 3), r"needs 5 repeats of 2 folds; these predictions are 3 x 10-fold.*five_by_two\(\)"),
        ("f_5x2cv", of.Plan(2, 3), "needs 5 repeats of 2 folds"),
        ("t_blocked_3x2", of.Plan.blocked(7), r"Plan.blocked\(3\)"),
        ("t_blocked_3x2", of.Plan.five_by_two(), "balanced"),
        ("t_blocked_mx2", of.Plan.five_by_two(), "share a quarter of the samples"),
    ],
)
def test_a_wrong_plan_is_refused_with_the_right_one(name, plan, text):
    with pytest.raises(NeedError, match=f"{name} .*{text}|{text}"):
        getattr(compare, name)(collected(plan), None, "bayes", "dummy")


def one_class_folds(n_bad, folds=5, n=60):
    """Predictions of two configurations; in some folds all samples are of one class."""
    rng = np.random.default_rng(0)
    fold = np.arange(n) % folds
    y = (np.arange(n) // folds) % 2
    y[fold < n_bad] = 0
    return of.from_arrays(y, rng.random((n, 2)), folds=fold, response="proba")


def test_undefined_scores_are_left_out_for_both():
    oof = one_class_folds(2)
    found = compare.t_corrected(oof, "roc_auc", 0, 1)
    d = np.diff(oof.scores("roc_auc")[::-1, 0, 2:], axis=0)[0]
    assert found.df == (2,)
    assert found.difference == pytest.approx(d.mean())
    assert [n.text for n in found.notes if n.code == "OF310"] == [
        "roc_auc is undefined in 2 of 5 folds, left out for both."
    ]
    with pytest.raises(NeedError, match="two or more splits; roc_auc is undefined in 4 of 5"):
        compare.t_corrected(one_class_folds(4), "roc_auc", 0, 1)
    with pytest.raises(NeedError, match="t_5x2cv needs the scores of all splits; score is undefined in 1 of 10"):
        run("t_5x2cv", [np.nan, *[0.8] * 9], [0.7] * 10)


def test_small_folds_of_a_set_valued_metric_are_noted():
    assert "OF204" in {n.code for n in compare.t_corrected(one_class_folds(0, folds=6, n=48), "roc_auc", 0, 1).notes}
    assert "OF204" not in {n.code for n in compare.t_corrected(one_class_folds(0), "roc_auc", 0, 1).notes}
    assert "OF204" not in {n.code for n in compare.t_corrected(one_class_folds(0, 6, 48), "accuracy", 0, 1).notes}


def test_the_winner_is_said_to_be_selected():
    oof = collected(of.Plan(5))
    winner = oof.leaderboard("accuracy").configs[0]
    other = next(c for c in oof.configs if c != winner)
    assert "OF301" in {n.code for n in compare.t_corrected(oof, "accuracy", winner, other).notes}


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda s: compare.t_kfold(s, None, "a", "b", alternative="larger"), "alternative must be"),
        (lambda s: compare.t_kfold(s, None, "a", "b", confidence_level=95), "between 0 and 1"),
        (lambda s: compare.t_kfold(s, None, "a", "b", rope=-1), "rope must be"),
        (lambda s: compare.t_kfold(s, None, "a", "a"), "two different configurations"),
        (lambda s: compare.t_kfold(s, None, "a", "c"), "no configuration 'c'"),
        (
            lambda s: compare.t_kfold(s, "accuracy", "a", "b"),
            "metric must be None or 'score', by which these folds were scored",
        ),
        (lambda s: compare.t_kfold([1, 2], None, "a", "b"), "source must be Predictions"),
        (lambda s: compare.t_corrected_kfold(s, None, "a", "b", rho=1.0), "rho must be a correlation"),
        (lambda s: compare.t_bayes(s, None, "a", "b", rho="half"), "rho must be a correlation"),
        (lambda s: compare.t_bayes(s, None, "a", "b", rope=-0.1), "rope must be"),
    ],
)
def test_arguments_that_make_no_sense(call, text):
    with pytest.raises(InputError, match=text):
        call(scores_for("t_kfold", *drawn("t_kfold", 0)))


def test_a_direction_for_f_and_a_negative_weight_are_refused():
    source = scores_for("f_5x2cv", *drawn("f_5x2cv", 0))
    with pytest.raises(InputError, match="f_5x2cv has no direction"):
        compare_pairs(TESTS["f_5x2cv"], ComparedConfigs(source, None), all_pairs(2), Hypothesis("better"))
    blocked = scores_for("t_blocked_3x2", *drawn("t_blocked_3x2", 0))
    with pytest.raises(InputError, match="variance_weight must be a number from 0 on"):
        compare_pairs(
            TESTS["t_blocked_3x2"], ComparedConfigs(blocked, None), all_pairs(2), Hypothesis(), variance_weight=-1.0
        )


# -- from_scores ------------------------------------------------------------------------------------------------


def test_from_scores_takes_dicts_arrays_and_frames():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = {"a": [0.8, 0.7, 0.9, 0.8], "b": [0.7, 0.6, 0.9, 0.7]}
    expected = compare.t_corrected(of.from_scores(table, n_train=30, n_test=10), None, "a", "b").pvalue
    for frame in (pd.DataFrame(table), pl.DataFrame(table)):
        assert compare.t_corrected(of.from_scores(frame, n_train=30, n_test=10), None, "a", "b").pvalue == expected
    array = of.from_scores(np.array(list(table.values())), n_train=30, n_test=10)
    assert array.configs == ("config 0", "config 1")
    assert compare.t_corrected(array, None, 0, 1).pvalue == expected
    named = of.from_scores(list(table.values()), configs=["x", "y"], n_train=30, n_test=10)
    assert named.configs == ("x", "y")
    assert repr(named) == "<FoldScores of 2 configurations by score, 4-fold>"
    assert not named.values.flags.writeable


def test_from_scores_knows_designs():
    values = np.random.default_rng(0).random((2, 6))
    assert of.from_scores(values, n_train=40, n_test=20, repeats=2).values.shape == (2, 2, 3)
    assert of.from_scores(values, n_train=30, n_test=30, design="blocked").layout == "balanced"
    assert of.from_scores(values, n_train=40, n_test=20, design="holdout").values.shape == (2, 6, 1)
    assert of.from_scores(values, n_train=40, n_test=20, design=of.Plan(3, 2)).plan == of.Plan(3, 2)
    assert of.from_scores(values, n_train=5, n_test=1).layout == "loo"


@pytest.mark.parametrize(
    ("scores", "options", "text"),
    [
        ({"a": [1, 2], "b": [1, 2, 3]}, {}, "as many for every configuration"),
        ({"a": [1, 2], "b": [1, 2, 3]}, {}, "a has 2, b has 3"),
        (None, {}, "must be a dict of scores, or an array .* got None"),
        (5, {}, "must be a dict of scores, or an array .* got 5"),
        ({"a": ["x", "y"], "b": [1, 2]}, {}, "must be numbers"),
        ({"a": [1, 2]}, {}, "two configurations and two scores"),
        ({"a": [1], "b": [2]}, {}, "two configurations and two scores"),
        ({"a": [1, np.inf], "b": [2, 3]}, {}, "some are infinite"),
        ([[1, 2], [2, 3]], {"configs": ["a"]}, "must name each configuration"),
        ([[1, 2], [2, 3]], {"configs": ["a", "a"]}, "must name each configuration"),
        ({"a": [1, 2], "b": [2, 3]}, {"design": "bootstrap"}, "design must be"),
        ({"a": [1, 2], "b": [2, 3]}, {"design": "5x2cv"}, "has 10 splits; got 2 scores"),
        ({"a": [1, 2], "b": [2, 3]}, {"design": "blocked"}, "m must be 3, 7, 15"),
        (
            {"a": [1, 2], "b": [2, 3]},
            {"design": of.Plan(2), "repeats": 3},
            "repeats must be 1 for 2-fold, as the design says; got 3",
        ),
        ({"a": range(100), "b": range(100)}, {"n_train": 90, "n_test": 10}, "Give repeats, or"),
        ({"a": [1, 2], "b": [2, 3]}, {"n_test": 0}, "n_test must be a whole number"),
    ],
)
def test_from_scores_refuses(scores, options, text):
    with pytest.raises(InputError, match=text):
        of.from_scores(scores, **({"n_train": 10, "n_test": 10} | options))


def test_from_scores_takes_repeats_by_folds_and_masked_scores():
    rng = np.random.default_rng(0)
    tables = {"a": rng.random((5, 2)), "b": rng.random((5, 2))}
    found = of.from_scores(tables, n_train=30, n_test=30)
    assert (found.plan.repeats, found.plan.folds) == (5, 2)
    assert np.array_equal(found.values, np.stack(list(tables.values())))
    assert compare.f_5x2cv(found, None, 0, 1).df == (10, 5)
    masked = np.ma.masked_array([0.8, 0.7, 0.9, 99.0], [False, False, False, True])
    source = of.from_scores({"a": masked, "b": [0.7, 0.6, 0.9, 0.7]}, n_train=30, n_test=10)
    assert np.isnan(source.values[0].ravel()).tolist() == [False, False, False, True]


def test_a_configuration_without_scores_does_not_disturb_the_others():
    table = {"a": [0.8, 0.7, 0.9], "b": [0.7, 0.6, 0.8], "c": [np.nan] * 3}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compare.t_bayes(of.from_scores(table, n_train=20, n_test=10), None, "a", "b", rope=np.float32(0.1))
    assert found.decision == "the two are equivalent within 0.1 with probability 1.0000"
    assert isinstance(found.rope, float)
    note = next(n for n in found.notes if n.code == "OF301")
    assert note.text.endswith("the probabilities do not account for that choice.")


def test_at_a_low_level_the_most_probable_outcome_is_named():
    scores = of.from_scores(
        {"a": [0.80, 0.79, 0.83, 0.81, 0.84], "b": [0.81, 0.80, 0.82, 0.82, 0.83]}, n_train=80, n_test=20
    )
    found = compare.t_bayes(scores, None, "a", "b", confidence_level=0.3, rope=0.002)
    assert found.probabilities.worse > found.probabilities.better > 0.3
    assert found.better == "b"
