"""The t test of samples and training sets: its formula by hand, what its values are, groups, hold-outs, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

import outfold as of
from internals import Allowance, Design, area_values, group_values, jackknife_values, variance_of_mean, variance_parts
from outfold import compare
from outfold.exceptions import NeedError

N = 60


def predictions(plan, groups=None, seed=0, configs=2, response="proba"):
    """Probabilities of two classes on the splits of a plan, without any fit."""
    rng = np.random.default_rng(seed)
    y = np.arange(N) % 2
    splits = plan.split(y, groups)
    shared = rng.normal(size=(N, 1, 1))
    noise = rng.normal(size=(N, configs, splits.n_repeats)) + shared
    P = 1 / (1 + np.exp(-((1 + np.arange(configs)[:, None]) * (y - 0.5)[:, None, None] + noise)))
    mask = np.broadcast_to((splits.folds < 0)[:, None, :], P.shape)
    oof = of.from_arrays(y, np.ma.masked_array(P, mask), folds=splits.folds, groups=groups, response="proba")
    return replace(oof, plan=splits.plan, train=splits.train)


def by_hand(d, folds, theta, m, mean=None, df=None):
    """t and p from (R, U) differences and folds."""
    R, U = d.shape
    K = folds.max() + 1
    s2 = d.var(axis=1, ddof=1).mean()
    T = s2 / (1 + 1 / K)
    if R > 1:
        overlap = 1 - (U / K - 1) / (U - 1)
        T = min(T, d.var(axis=0, ddof=1).mean() / (1 - overlap**m))
    of_folds = [d[r, folds[r] == k].mean() for r in range(R) for k in range(K)]
    J = len(of_folds)
    between = np.var(of_folds, ddof=1) / J * ((J - 1) / (J - 3) if R > 1 else 1)
    V = max((d.mean(axis=0).var(ddof=1) + theta * T) / U, between)
    t = (d.mean() if mean is None else mean) / np.sqrt(V)
    return t, 2 * stats.t.sf(abs(t), U - 1 if df is None else df)


PLANS = [
    of.Plan(folds=10),
    of.Plan(folds=10, repeats=2),
    of.Plan(folds=5, repeats=3),
    of.Plan.five_by_two(),
    of.Plan.blocked(3),
]


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_accuracy_and_losses_by_hand(plan):
    oof = predictions(plan)
    y, P = oof.y[:, None, None], oof.P
    for metric, values, theta, m in (
        ("accuracy", ((P > 0.5) == y).astype(float), 1, 2),
        ("error", ((P > 0.5) != y).astype(float), 1, 2),
        ("brier", (P - y) ** 2, 1.5, 1),
    ):
        found = compare.t_training(oof, metric, 0, 1)
        d = (values[:, 0] - values[:, 1]).T
        t, p = by_hand(d, oof.folds.T, theta, m)
        assert found.difference == pytest.approx(d.mean(), abs=1e-12)
        assert (found.statistic, found.pvalue) == pytest.approx((t, p), rel=1e-9)
        assert found.df == (N - 1,)
        reach = stats.t.ppf(0.975, N - 1) * abs(found.difference / found.statistic)
        assert found.interval == pytest.approx((found.difference - reach, found.difference + reach), rel=1e-9)


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_area_by_hand(plan):
    oof = predictions(plan)
    values = np.empty((2, oof.n_repeats, N))
    for c in range(2):
        for r in range(oof.n_repeats):
            s, pos = oof.P[:, c, r], oof.y == 1
            area = roc_auc_score(oof.y, s)
            for i in range(N):
                others = s[oof.y != oof.y[i]]
                below = np.mean(others < s[i]) + np.mean(others == s[i]) / 2
                placement = below if pos[i] else 1 - below
                values[c, r, i] = area + N / np.sum(oof.y == oof.y[i]) * (placement - area)
    found = compare.t_training(oof, "roc_auc", 0, 1)
    t, p = by_hand(values[0] - values[1], oof.folds.T, 1.5, 1, df=N // 2 - 1)
    assert found.df == (N // 2 - 1,)
    assert (found.statistic, found.pvalue) == pytest.approx((t, p), rel=1e-9)
    assert found.difference == pytest.approx(values[0].mean() - values[1].mean(), abs=1e-12)


@pytest.mark.parametrize(
    ("metric", "score"), [("f1", lambda y, p: f1_score(y, p > 0.5)), ("average_precision", average_precision_score)]
)
def test_other_metrics_of_sets_by_leaving_out_single_samples(metric, score):
    oof = predictions(of.Plan(folds=5, repeats=3))
    d = np.empty((3, N))
    whole = np.empty((2, 3))
    for r in range(3):
        pair = []
        for c in range(2):
            p = oof.P[:, c, r]
            without = np.array([score(np.delete(oof.y, i), np.delete(p, i)) for i in range(N)])
            whole[c, r] = score(oof.y, p)
            pair.append(whole[c, r] + (N - 1) * (without.mean() - without))
        d[r] = pair[0] - pair[1]
    found = compare.t_training(oof, metric, 0, 1)
    t, p = by_hand(d, oof.folds.T, 2.5, 1, np.subtract(*whole.mean(axis=1)), N // 2 - 1)
    assert (found.statistic, found.pvalue) == pytest.approx((t, p), rel=1e-6)


def test_many_samples_are_left_out_in_parts(monkeypatch):
    monkeypatch.setattr("outfold.metrics._units._PARTS", 200)
    monkeypatch.setattr("outfold.metrics._scoring._JACKKNIFE", 200)
    n = 403
    rng = np.random.default_rng(0)
    y, folds = np.arange(n) % 2, np.arange(n) % 5
    scores = y[:, None] + rng.normal(size=(n, 2))
    oof = of.from_arrays(y, scores, folds=folds, response="score")
    area = compare.t_training(oof, "roc_auc", 0, 1)
    parts = compare.t_training(oof, of.metrics.make(roc_auc_score, needs="score", name="area"), 0, 1)
    assert (area.df, parts.df) == ((200,), (199,))
    # `area` takes the allowance of areas, `parts` the larger one of other metrics of sets.
    assert abs(area.statistic) > abs(parts.statistic) > 0.7 * abs(area.statistic)


def test_groups_are_the_units():
    groups = np.arange(N) // 3
    oof = predictions(of.Plan(folds=5, repeats=2), groups=groups)
    assert np.all(oof.folds.reshape(-1, 3, 2) == oof.folds[::3, None])
    right = ((oof.P > 0.5) == oof.y[:, None, None]).astype(float)
    d = (right[:, 0] - right[:, 1]).T.reshape(2, N // 3, 3).mean(axis=2)
    found = compare.t_training(oof, "accuracy", 0, 1)
    assert (found.statistic, found.pvalue) == pytest.approx(by_hand(d, oof.folds[::3].T, 1.5, 1), rel=1e-9)
    assert found.df == (N // 3 - 1,)
    assert "over 20 groups" in found.description


def test_groups_of_one_sample_are_samples():
    oof = predictions(of.Plan(folds=5))
    grouped = replace(oof, groups=np.arange(N))
    for metric in ("accuracy", "roc_auc", "f1"):
        assert compare.t_training(grouped, metric, 0, 1).pvalue == compare.t_training(oof, metric, 0, 1).pvalue


def test_repeated_holdout_weighs_samples_by_how_often_they_are_held_out():
    oof = predictions(of.Plan.repeated_holdout(8))
    found = compare.t_training(oof, "accuracy", 0, 1)
    held = (oof.folds >= 0).T
    right = ((np.ma.filled(oof.P, 0.0) > 0.5) == oof.y[:, None, None]).astype(float)
    d = np.where(held, (right[:, 0] - right[:, 1]).T, 0.0)
    times, used = held.sum(axis=0), int(held.any(axis=0).sum())
    means = d.sum(axis=0) / np.maximum(times, 1)
    mean = d.sum() / times.sum()
    samples = used / (used - 1) * np.sum((times / times.sum() * (means - mean)) ** 2)
    within = np.sum(np.where(held, d - means, 0.0) ** 2) / (times.sum() - used)
    spread = np.mean([d[r, held[r]].var(ddof=1) for r in range(8)])
    n_test = int(held[0].sum())
    overlap = 1 - (n_test - 1) / (N - 1)
    V = samples + min(spread / (1 + n_test / N), within / (1 - overlap**2)) / N
    of_folds = [d[r, held[r]].mean() for r in range(8)]
    V = max(V, np.var(of_folds, ddof=1) / 8)
    assert found.statistic == pytest.approx(mean / np.sqrt(V), rel=1e-9)
    assert found.df == (used - 1,)


@pytest.mark.parametrize("metric", ["accuracy", "error", "roc_auc", "f1", "brier"])
def test_directions_halve_the_p_value(metric):
    oof = predictions(of.Plan(folds=5, repeats=2))
    two = compare.t_training(oof, metric, 0, 1)
    better, worse = (compare.t_training(oof, metric, 0, 1, alternative=a).pvalue for a in ("better", "worse"))
    assert better + worse == pytest.approx(1)
    assert min(better, worse) == pytest.approx(two.pvalue / 2)
    backwards = compare.t_training(oof, metric, 1, 0)
    assert (backwards.pvalue, backwards.difference) == pytest.approx((two.pvalue, -two.difference))


def test_all_pairs_are_as_single_ones():
    oof = predictions(of.Plan(folds=5, repeats=2), configs=4)
    for metric in ("accuracy", "roc_auc", "mcc"):
        many = compare.pairs(oof, metric, test="t_training", adjust="none")
        for one in many:
            alone = compare.t_training(oof, metric, one.a, one.b)
            assert (one.pvalue, *one.interval) == pytest.approx((alone.pvalue, *alone.interval), rel=1e-9)


def test_two_that_are_the_same_do_not_differ():
    oof = predictions(of.Plan(folds=5))
    same = of.from_arrays(oof.y, np.repeat(oof.P[:, :1], 2, axis=1), folds=oof.folds, response="proba")
    for metric in ("accuracy", "roc_auc", "f1"):
        found = compare.t_training(same, metric, 0, 1)
        assert (found.pvalue, found.difference) == (1, 0)


def test_a_difference_without_variance_has_no_p_value():
    values = np.tile([[0.5, 0.25]], (20, 1))
    oof = of.from_arrays(None, values, folds=np.arange(20) % 5, response="pointwise")
    found = compare.t_training(oof, "mean", 0, 1)
    assert found.pvalue is None
    assert "OF304" in {note.code for note in found.notes}


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (
            lambda: predictions(of.Plan.leave_one_out()),
            r"these predictions are leave-one-out. Collect with Plan\(folds=10",
        ),
        (
            lambda: of.from_arrays([0, 1] * 10, np.random.default_rng(0).random((20, 2))),
            "these predictions are one test set",
        ),
        (lambda: of.from_scores({"a": [0.8, 0.7], "b": [0.7, 0.6]}, n_train=20, n_test=20), "needs predictions"),
        (lambda: predictions(of.Plan(folds=10), groups=np.arange(N) // 6), "two groups or more in each fold"),
    ],
)
def test_what_it_refuses(source, says):
    with pytest.raises(NeedError, match=says):
        compare.t_training(source(), None, 0, 1)


def test_one_sample_of_a_class_is_not_enough():
    y = np.repeat([0, 1], [19, 1])
    oof = of.from_arrays(y, np.random.default_rng(0).random((20, 2)), folds=np.arange(20) % 4, response="score")
    with pytest.raises(NeedError, match=r"two samples \(groups\) of each class or more"):
        compare.t_training(oof, "average_precision", 0, 1)


def test_margins_of_several_folds_are_said():
    oof = predictions(of.Plan(folds=5))
    margins = of.from_arrays(oof.y, oof.P, folds=oof.folds, response="score")
    codes = {note.code for note in compare.t_training(margins, "roc_auc", 0, 1).notes}
    assert "OF306" in codes
    assert "OF308" not in codes


def test_power_is_that_of_the_test_on_redrawn_samples():
    oof = predictions(of.Plan(folds=5, repeats=2))
    found = compare.power(oof, "accuracy", 0, 1, [0.0, 0.1], test="t_training", n_simulations=200)
    assert found.power[0] < 0.06
    assert found.power[1] > found.power[0]
    by_area = compare.power(oof, "roc_auc", 0, 1, 0.1, test="t_training", n_simulations=20)
    assert 0 <= by_area.power <= 1


# -- the kernel --------------------------------------------------------------------------------------------------


def values_of(shape):
    return np.random.default_rng(0).normal(size=shape)


def dealt(repeats, n, folds=5):
    return np.stack([np.random.default_rng(r).permutation(n) % folds for r in range(repeats)])


def test_more_repeats_of_the_same_predictions_add_nothing():
    once = variance_parts(values_of((3, 1, 40)), dealt(1, 40))
    again = variance_parts(np.repeat(values_of((3, 1, 40)), 5, axis=1), dealt(5, 40))
    assert again.samples == pytest.approx(once.samples)
    assert again.within == pytest.approx(0)
    assert np.isinf(once.within).all()


def test_folds_for_each_pair_are_those_of_each_pair():
    values = values_of((3, 4, 30))
    folds = np.where(np.random.default_rng(1).random((3, 4, 30)) < 0.4, 0, -1)
    together = variance_parts(values, folds)
    for i in range(3):
        alone = variance_parts(values[[i]], folds[i])
        assert [part[i] for part in together] == pytest.approx([part[0] for part in alone], rel=1e-12)


def test_splits_of_single_units_leave_the_bound_of_one_repeat():
    parts = variance_parts(values_of((2, 3, 20)), dealt(3, 20, 20))
    design = Design.of_splits(20, 1 / 20)
    assert design.overlap == 1
    expected = parts.samples + 2 * parts.spread / (1 + 1 / 20)
    assert variance_of_mean(parts, design, Allowance(2.0, 1)) == pytest.approx(expected)


def test_what_all_samples_of_a_fold_share_shows_between_folds():
    folds = dealt(1, 40)
    shared = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])[folds]
    parts = variance_parts(1e-6 * values_of((1, 1, 40)) + shared, folds)
    assert parts.folds == pytest.approx([2.5 / 5], rel=1e-4)
    design = Design.of_splits(40, 0.2)
    assert variance_of_mean(parts, design, Allowance(0.0, 1)) == pytest.approx(parts.folds)


@pytest.mark.parametrize(("repeats", "times"), [(1, 1.0), (2, 9 / 7), (3, 14 / 12)])
def test_repeats_make_the_variance_between_folds_that_of_students_t(repeats, times):
    values, folds = values_of((1, repeats, 40)), dealt(repeats, 40)
    means = [values[0, r, folds[r] == k].mean() for r in range(repeats) for k in range(5)]
    assert variance_parts(values, folds).folds == pytest.approx(np.var(means, ddof=1) / len(means) * times)


def test_groups_of_answers_are_no_single_answers():
    rng = np.random.default_rng(0)
    right, groups = rng.random((60, 2)) < 0.7, np.repeat(np.arange(20), 3)
    folds = np.arange(60) // 3 % 5
    single, grouped = (
        of.compare.t_training(
            of.from_arrays(None, right, folds=folds, groups=g, response="pointwise"), "mean", 0, 1
        ).description
        for g in (None, groups)
    )
    assert single.endswith("theta 1")
    assert grouped.endswith("theta 1.5")


@given(st.integers(0, 1000), st.integers(2, 12), st.integers(2, 12))
def test_the_mean_of_area_values_is_the_area(seed, n1, n0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, 0], [n1, n0]))
    scores = rng.integers(0, 6, size=(2, n1 + n0)).astype(float)
    expected = [roc_auc_score(y, s) for s in scores]
    assert area_values(scores, y == 1).mean(axis=1) == pytest.approx(expected, abs=1e-12)


def test_the_mean_of_the_values_of_groups_and_parts_is_the_score():
    values, codes = values_of((2, 12)), np.repeat([0, 1, 2], [2, 4, 6])
    assert group_values(values, codes).mean(axis=1) == pytest.approx(values.mean(axis=1))
    assert jackknife_values(values.mean(axis=1), values_of((5, 2))).mean(axis=1) == pytest.approx(values.mean(axis=1))
