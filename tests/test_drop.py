"""Dropping rules: the reference program's drops, and every test against a plain loop or scipy."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import outfold as of
from conftest import make_predictions
from internals import Scoring, State, _seed_of, predicted_counts, sequential
from outfold import drop, estimate, metrics
from outfold.exceptions import InputError


def until(oof, repeat, fold, out=()):
    """The predictions as they were after this fold, with configurations dropped before it."""
    state = np.array(oof.state[:, : repeat + 1])
    state[:, repeat, fold + 1 :] = State.PENDING
    for name, r, k in out:
        j = oof.config_index(name)
        later = [c for c in oof.splits.cells if (r, k) < c]
        for cell in later:
            if cell[0] <= repeat:
                state[(j, *cell)] = State.DROPPED
    data = np.array(oof.data[: repeat + 1], dtype=oof.data.dtype)
    blank = -1 if data.dtype.kind == "i" else np.nan
    data[repeat][:, oof.folds[:, repeat] > fold] = blank
    return replace(oof, data=data, state=state, folds=oof.folds[:, : repeat + 1])


def race(oof, rule, seed=0):
    """All drops as (fold's position, drop), asked after every fold."""
    out, log = [], []
    for s, (r, k) in enumerate(oof.splits.cells):
        for found in rule.test(until(oof, r, k, out), r, k, seed):
            out.append((found.config, r, k))
            log.append((s, found))
    return log


def survivors(oof, log):
    gone = {found.config for _, found in log}
    return [name for name in oof.configs if name not in gone]


# -- golden: the reference program's draws, replayed ----------------------------------------------------


def check_replay(correct, fold, draws, trace, active, value, losses):
    oof = of.from_arrays(None, correct.astype(float), folds=fold, response="pointwise")
    by_cell = {(0, k): draws[f"fold{k}"] for k in range(len(trace))}
    log = race(oof, drop.Bootstrap(min_predictions=0, draws=by_cell, draws_are="indices"))
    for k, (best, dropped) in enumerate(trace):
        here = [found for s, found in log if s == k]
        assert [int(found.config.split()[1]) for found in here] == list(dropped)
        assert {found.compared_with for found in here} <= {f"config {best}"}
    left = survivors(oof, log)
    assert [int(name.split()[1]) for name in left] == list(active)
    result = estimate.bbc(oof.sel(config=left), "mean", draws=draws["final"].astype(np.intp))
    assert result.value == pytest.approx(value, abs=1e-12)
    assert np.allclose(result.draws, losses, rtol=0, atol=1e-12)


@pytest.mark.parametrize("setting", [1, 2, 3, 4])
def test_drops_of_the_reference_program_in_all_settings(golden_data, setting):
    folder = golden_data / "bbc" / f"setting_{setting}"
    z = np.load(folder / "bbc.npz")
    ref = json.loads((folder / "ref.json").read_text())
    trace = [(step["best"], step["dropped"]) for step in ref["bbcd_trace"]]
    check_replay(
        z["correct"],
        z["fold"],
        np.load(folder / "boot_bbcd.npz"),
        trace,
        ref["bbcd_active"],
        ref["bbcd_acc"],
        z["Lb_bbcd"],
    )


# -- Bootstrap ------------------------------------------------------------------------------------------


def own_draws(oof, rule, kind, seed=0):
    """The draws that the rule makes itself on a collection in which nothing is dropped, by fold."""
    out = {}
    for r, k in oof.splits.cells:
        counts = np.concatenate(list(rule._draws(Scoring(until(oof, r, k), "mean"), (r, k), seed))).astype(int)
        out[r, k] = counts if kind == "counts" else np.stack([np.repeat(np.arange(len(row)), row) for row in counts])
    return out


@pytest.mark.parametrize("kind", ["counts", "indices"])
def test_given_draws_drop_what_the_same_draws_of_our_own_drop(kind):
    oof, rule = spread_out(r=2), drop.Bootstrap(threshold=0.9, min_predictions=0, n_resamples=200)
    given = replace(rule, draws=own_draws(oof, rule, kind))
    expected = race(oof, rule)
    assert race(oof, given) == expected
    assert race(oof, replace(given, draws_are=kind)) == expected
    assert {s for s, _ in expected} > {0}


def test_given_draws_are_part_of_what_a_rule_is():
    oof, rule = spread_out(), drop.Bootstrap(threshold=0.9, min_predictions=0, n_resamples=20)
    one, other = (replace(rule, draws=own_draws(oof, rule, "counts", seed)) for seed in (0, 1))
    assert len({repr(rule), repr(one), repr(other), repr(replace(one, draws_are="counts"))}) == 4
    assert repr(one) == repr(replace(one, draws={cell: drawn.tolist() for cell, drawn in one.draws.items()}))
    assert repr(one).startswith("Bootstrap(threshold=0.9, min_predictions=0, n_resamples=20, metric=None, draws=")
    one.check(oof)


def test_draws_that_do_not_fit_are_refused():
    oof = spread_out()
    with pytest.raises(InputError, match=r"draws must be a mapping from \(repeat, fold\) to draws"):
        drop.Bootstrap(draws=np.zeros((5, 120), dtype=int))
    some = drop.Bootstrap(min_predictions=0, draws={(0, 0): np.zeros((5, 3), dtype=int)})
    with pytest.raises(InputError, match=r"an entry for each \(repeat, fold\) but the last.* none for \(0, 1\)"):
        some.check(oof)
    with pytest.raises(InputError, match=r"none for \(0, 2\)"):
        some.test(until(oof, 0, 2), 0, 2, 0)
    with pytest.raises(InputError, match=r"draws\[0, 0\] must be whole numbers from 0 of shape \(B, 20\)"):
        some.test(until(oof, 0, 0), 0, 0, 0)


def spread_out(n=120, c=12, r=1, folds=6, seed=0, groups=None):
    """0-1 values of configurations from hopeless to good."""
    rng = np.random.default_rng(seed)
    P = (rng.random((n, c, r)) < np.linspace(0.2, 0.9, c)[:, None]).astype(float)
    fold = np.stack([rng.permutation(np.arange(n) % folds) for _ in range(r)], axis=1)
    return of.from_arrays(None, P, folds=fold, response="pointwise", groups=groups)


@pytest.mark.parametrize("metric", ["roc_auc", "accuracy", "log_loss", "r2", "mse", "concordance", "mean"])
def test_bootstrap_equals_a_plain_loop(metric):
    oof = make_predictions(metric, n=60, c=6, r=2, folds=3, seed=4)
    rule = drop.Bootstrap(threshold=0.6, min_predictions=0, n_resamples=30, metric=metric)
    found = metrics.get(metric)
    # In the middle of the second repeat: a whole repeat, and two folds of three of another one.
    part = until(oof, 1, 1)
    scoring = Scoring(part, metric)
    weights = np.concatenate(list(rule._draws(scoring, (1, 1), 5)))
    data = part.respond(found.needs)
    second = np.flatnonzero(part.folds[:, 1] <= 1)

    def score(j, w):
        one = found.reference(oof.target, data[0, j], w)
        two = found.reference(oof.target.take(second), data[1, j][second], w[second])
        share = len(second) / oof.n_samples
        return (one + share * two) / (1 + share)

    sign = 1 if found.greater_is_better else -1
    whole = np.array([sign * score(j, np.ones(oof.n_samples)) for j in range(oof.n_configs)])
    best = int(np.flatnonzero(whole >= whole.max() - 1e-12)[0])
    expected = {}
    for j in range(oof.n_configs):
        gaps = np.array([sign * (score(j, w) - score(best, w)) for w in weights])
        share = np.mean(gaps < -1e-11)
        if share > 0.6:
            expected[oof.configs[j]] = share
    drops = rule.test(part, 1, 1, 5)
    assert {d.config: d.probability for d in drops} == pytest.approx(expected)
    assert {d.compared_with for d in drops} <= {oof.configs[best]}
    assert expected


def test_nothing_is_dropped_before_enough_predictions():
    oof = spread_out()
    assert race(oof, drop.Bootstrap(min_predictions=0))[0][0] == 0
    first = min(s for s, _ in race(oof, drop.Bootstrap()))
    assert 20 * (first + 1) >= 50 > 20 * first
    assert race(oof, drop.Bootstrap(min_predictions=121)) == []


def test_the_threshold_is_strict_and_equal_configurations_stay():
    oof = of.from_arrays(None, np.tile([0.0, 0.0, 1.0, 1.0], (60, 1)), folds=np.arange(60) % 3, response="pointwise")
    drops = drop.Bootstrap().test(until(oof, 0, 2), 0, 2, 0)
    assert [(d.config, d.probability, d.compared_with) for d in drops] == [
        ("config 0", 1.0, "config 2"),
        ("config 1", 1.0, "config 2"),
    ]


def test_draws_depend_on_seed_and_fold_alone():
    oof, rule = spread_out(seed=3), drop.Bootstrap(n_resamples=50)
    scoring = Scoring(oof, "mean")
    one, again = (np.concatenate(list(rule._draws(scoring, (0, 2), 7))) for _ in range(2))
    np.testing.assert_array_equal(one, again)
    for cell, seed in (((0, 3), 7), ((1, 2), 7), ((0, 2), 8)):
        assert np.any(np.concatenate(list(rule._draws(scoring, cell, seed))) != one)


def test_groups_are_drawn_whole():
    groups = np.repeat(np.arange(30), 4)
    oof = spread_out(groups=groups)
    for counts in drop.Bootstrap(n_resamples=20)._draws(Scoring(oof, "mean"), (0, 0), 0):
        assert np.all(counts.reshape(len(counts), 30, 4) == counts.reshape(len(counts), 30, 4)[..., :1])


def test_undefined_draws_count_for_nobody():
    blocks = [np.array([[1.0, 0.5, np.nan], [np.nan, 0.0, 0.0]]), np.array([[1.0, 1.0, 0.0]])]
    np.testing.assert_array_equal(sequential.share_worse(blocks, 0, True), [0.0, 0.5, 1.0])
    np.testing.assert_array_equal(sequential.share_worse(blocks, 0, False), [0.0, 0.0, 0.0])
    assert np.isnan(sequential.share_worse([np.full((2, 2), np.nan)], 0, True)).all()


def test_one_class_so_far_drops_nothing():
    y = np.repeat([0, 1], 60)
    P = np.stack([y, 1 - y, y], axis=1) * 0.5 + 0.2
    oof = of.from_arrays(y, P, folds=np.arange(120) // 60, response="proba")
    rule = drop.Bootstrap()
    assert rule.test(until(oof, 0, 0), 0, 0, 0) == []
    assert [d.config for d in rule.test(until(oof, 0, 1), 0, 1, 0)] == ["config 1"]


def test_failed_and_dropped_configurations_are_not_compared():
    oof = spread_out()
    state = np.array(oof.state)
    state[11, 0, 0] = State.FAILED
    log = race(replace(oof, state=state), drop.Bootstrap())
    assert log
    assert all("config 11" not in (d.config, d.compared_with) for _, d in log)
    assert len({d.config for _, d in log}) == len(log)


def test_one_running_configuration_is_left_alone():
    oof = spread_out(c=1)
    assert race(oof, drop.Bootstrap(min_predictions=0)) == []


# -- partial repeats ------------------------------------------------------------------------------------


def test_a_repeat_that_has_begun_counts_for_its_share():
    oof = make_predictions("accuracy", n=40, c=4, r=2, folds=4, seed=1)
    part = until(oof, 1, 0)
    labels = part.respond("label")
    first = np.mean(labels[0] == oof.target.y, axis=1)
    held = np.flatnonzero(part.folds[:, 1] == 0)
    second = np.mean(labels[1][:, held] == oof.target.y[held], axis=1)
    expected = (first + 0.25 * second) / 1.25
    scoring = Scoring(part, "accuracy")
    np.testing.assert_allclose(scoring.scores()[0], expected, rtol=1e-14)
    np.testing.assert_allclose(scoring.paired(scoring.equal_weights(), np.array([2])), expected[2], rtol=1e-14)
    np.testing.assert_allclose(scoring.repeat_scores(), [first, second], rtol=1e-14)
    whole = Scoring(oof, "roc_auc")
    np.testing.assert_array_equal(whole.scores()[0], whole.repeat_scores().mean(axis=0))


# -- what a rule is -------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0.5, 1.0, 0.0, 1.5, -1, np.nan, "a", None, True, [0.9]])
def test_thresholds_that_make_no_sense(threshold):
    with pytest.raises(InputError, match=r"threshold must lie between 0\.5 and 1"):
        drop.Bootstrap(threshold=threshold)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: drop.Bootstrap(min_predictions=-1), "min_predictions must be a whole number"),
        (lambda: drop.Bootstrap(n_resamples=0), "n_resamples must be a whole number"),
        (lambda: drop.Hoeffding(delta=0), "delta must lie between 0 and 1"),
        (lambda: drop.Friedman(alpha=2), "alpha must lie between 0 and 1"),
        (lambda: drop.Friedman(min_folds=1), "min_folds must be a whole number of at least 2"),
        (lambda: drop.Sequential(similarity=0), "similarity must lie between 0 and 1"),
        (lambda: drop.Sequential(alpha=0.5, beta=0.6), "alpha \\+ beta must be below 1"),
        (lambda: drop.Sequential(steps=5), "needs at least 7 folds in all"),
        (lambda: drop.Bootstrap(n_resamples="many"), "n_resamples must be a whole number of at least 1; got 'many'"),
        (lambda: drop.Hoeffding(delta="a"), "delta must lie between 0 and 1, such as 0.05; got 'a'"),
        (lambda: drop.Friedman(alpha=None), "alpha must lie between 0 and 1, such as 0.05; got None"),
        (lambda: drop.Sequential(beta="b"), "beta must lie between 0 and 1, such as 0.05; got 'b'"),
        (lambda: drop.Bootstrap().test("oof", 0, 0, 0), r"drop\.Bootstrap needs Predictions, .* got str"),
        (
            lambda: drop.as_drop_rule(lambda: ["config 0"]),
            r"a drop rule is called with \(predictions\); <lambda> takes \(\)",
        ),
        (lambda: drop.as_drop_rule("bootstrap"), "drop must be a rule such as"),
        (lambda: drop.as_drop_rule(drop.Bootstrap), "drop must be a rule such as"),
    ],
)
def test_bad_rules(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_what_counts_as_a_rule():
    assert drop.as_drop_rule(None) is None
    assert drop.as_drop_rule(False) is None
    assert drop.as_drop_rule(True) == drop.Bootstrap()
    rule = drop.Hoeffding()
    assert drop.as_drop_rule(rule) is rule


def worst_by_mean(oof):
    board = oof.leaderboard("mean")
    return board.configs[-1:]


def test_a_callable_is_a_rule():
    oof = spread_out(c=4, n=24)
    rule = drop.as_drop_rule(worst_by_mean)
    part = until(oof, 0, 0)
    assert rule.test(part, 0, 0, 0) == [drop.Drop(worst_by_mean(part)[0], None, "")]
    assert repr(rule) == f"rule {__name__}.worst_by_mean"
    with pytest.raises(InputError, match="one must be left"):
        drop.as_drop_rule(lambda oof: oof.configs).test(part, 0, 0, 0)
    with pytest.raises(InputError, match="which is no configuration"):
        drop.as_drop_rule(lambda oof: ["nobody"]).test(part, 0, 0, 0)
    with pytest.raises(InputError, match="must give the names"):
        drop.as_drop_rule(lambda oof: "config 1").test(part, 0, 0, 0)


def test_the_text_of_a_rule_holds_no_address():
    assert repr(drop.Bootstrap()) == "Bootstrap(threshold=0.99, min_predictions=50, n_resamples=1000, metric=None)"
    named = drop.Bootstrap(metric=metrics.get("brier"))
    assert repr(named).endswith("metric='brier')")
    assert " at 0x" not in repr(drop.Hoeffding(metric=lambda y, p: 0.0))


# -- Hoeffding ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["accuracy", "brier", "error"])
def test_hoeffding_equals_the_bound_by_hand(metric):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    P = np.clip(y[:, None] * 0.4 + 0.3 + rng.normal(0, 0.4, (400, 8)) * np.linspace(0.2, 4, 8), 0, 1)
    oof = of.from_arrays(y, P, folds=np.arange(400) % 4, response="proba")
    drops = drop.Hoeffding(metric=metric).test(until(oof, 0, 3), 0, 3, 0)
    scores = Scoring(oof, metric).scores()[0] * metrics.get(metric).sign
    width = 2 if metric == "brier" else 1
    radius = width * np.sqrt(np.log(2 / 0.05) / (2 * 400))
    expected = [f"config {j}" for j in range(8) if scores[j] + radius < scores.max() - radius]
    assert [d.config for d in drops] == expected
    assert (metric == "brier") or expected
    assert all(d.probability == 0.95 and d.compared_with == "config 0" for d in drops)
    assert drop.Hoeffding(metric=metric, min_predictions=401).test(oof, 0, 3, 0) == []


def test_hoeffding_counts_groups():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    P = np.stack([y * 0.8 + 0.1, np.where(rng.random(400) < 0.8, y, 1 - y) * 0.8 + 0.1], axis=1)
    fold = np.repeat(np.arange(40), 10) % 4
    alone = of.from_arrays(y, P, folds=fold, response="proba")
    grouped = of.from_arrays(y, P, folds=fold, response="proba", groups=np.repeat(np.arange(40), 10))
    rule = drop.Hoeffding(metric="accuracy")
    assert [d.config for d in rule.test(alone, 0, 3, 0)] == ["config 1"]
    assert rule.test(grouped, 0, 3, 0) == []


@pytest.mark.parametrize(("metric", "words"), [("roc_auc", "not a mean of values"), ("log_loss", "unbounded")])
def test_hoeffding_needs_bounds(metric, words):
    oof = make_predictions("roc_auc")
    with pytest.raises(InputError, match=words):
        drop.Hoeffding(metric=metric).check(oof)


# -- Friedman -------------------------------------------------------------------------------------------


def plain_f_race(losses, alpha):
    """Birattari et al. 2002, sect. 3, as it stands there."""
    k, m = losses.shape
    ranks = np.array([stats.rankdata(row) for row in losses])
    sums = ranks.sum(axis=0)
    spread = np.sum(ranks**2) - k * m * (m + 1) ** 2 / 4
    T = (m - 1) * sum((R - k * (m + 1) / 2) ** 2 for R in sums) / spread
    if stats.chi2.sf(T, m - 1) >= alpha:
        return T, []
    scale = np.sqrt(2 * k * (1 - T / (k * (m - 1))) * spread / ((k - 1) * (m - 1)))
    bar = stats.t.ppf(1 - alpha / 2, (k - 1) * (m - 1))
    return T, [j for j in range(m) if abs(sums[j] - sums.min()) / scale > bar]


@pytest.mark.parametrize("metric", ["accuracy", "brier"])
def test_friedman_equals_scipy_and_the_formula(metric):
    oof = make_predictions(metric, n=120, c=7, r=2, folds=6, seed=2)
    data = np.array(oof.data)
    data[:, 3] = 1 - data[:, 3]
    oof = replace(oof, data=data)
    losses = -metrics.get(metric).sign * Scoring(oof, metric, "fold").fold_scores()[0].T
    T, expected = plain_f_race(losses, 0.05)
    found = sequential.ranks(losses)
    assert found.statistic == pytest.approx(T, rel=1e-12)
    assert found.statistic == pytest.approx(stats.friedmanchisquare(*losses.T).statistic, rel=1e-9)
    drops = drop.Friedman(metric=metric).test(oof, 1, 5, 0)
    assert [d.config for d in drops] == [f"config {j}" for j in expected]
    assert "config 3" in [d.config for d in drops]
    assert all(0.95 < d.probability <= 1 for d in drops)


def test_friedman_waits_and_stands_ties():
    oof = spread_out(folds=6)
    first = min(s for s, _ in race(oof, drop.Friedman()))
    assert first >= 4
    equal = of.from_arrays(None, np.ones((60, 3)), folds=np.arange(60) % 6, response="pointwise")
    assert race(equal, drop.Friedman()) == []
    ordered = of.from_arrays(None, np.tile([3.0, 2.0, 1.0], (60, 1)), folds=np.arange(60) % 6, response="pointwise")
    # All folds agree on the order: nothing is left to chance.
    assert [d.config for d in drop.Friedman().test(ordered, 0, 5, 0)] == ["config 1", "config 2"]


# -- Sequential -----------------------------------------------------------------------------------------


def plain_cochran(hits):
    k = hits.shape[1]
    G, L = hits.sum(axis=0), hits.sum(axis=1)
    bottom = k * L.sum() - np.sum(L**2)
    return (k - 1) * (k * np.sum(G**2) - G.sum() ** 2) / bottom if bottom else 0.0


def test_cochran_of_growing_sets():
    rng = np.random.default_rng(0)
    hits = rng.random((50, 9)) < np.linspace(0.9, 0.4, 9)
    expected = [plain_cochran(hits[:, :k].astype(float)) for k in range(2, 10)]
    np.testing.assert_allclose(sequential.cochran_q(hits), expected, rtol=1e-12)
    assert np.all(sequential.cochran_q(np.ones((5, 3), dtype=bool)) == 0)


def test_cochran_of_the_worked_example():
    # Raschka 2018, Table 2: 84, 92 and 92 right of 100.
    rows = [(1, 1, 1, 80), (1, 1, 0, 2), (1, 0, 1, 2), (0, 1, 1, 10), (0, 0, 0, 6)]
    hits = np.array([row[:3] for row in rows for _ in range(row[3])], dtype=bool)
    assert hits.sum(axis=0).tolist() == [84, 92, 92]
    assert sequential.cochran_q(hits)[-1] == pytest.approx(plain_cochran(hits.astype(float)), rel=1e-12)


def test_friedman_of_growing_sets():
    rng = np.random.default_rng(1)
    losses = np.round(rng.random((40, 8)), 1)
    expected = [sequential.ranks(losses[:, :k]).statistic for k in range(2, 9)]
    np.testing.assert_allclose(list(sequential.friedman_chain(losses)), expected, rtol=1e-9)
    three = stats.friedmanchisquare(*losses[:, :3].T).statistic
    assert list(sequential.friedman_chain(losses))[1] == pytest.approx(three, rel=1e-9)


@pytest.mark.parametrize("zero_one", [True, False])
def test_top_group_equals_a_plain_loop(zero_one):
    rng = np.random.default_rng(3)
    losses = rng.random((60, 10)) + np.linspace(0.5, 0, 10)
    losses = (losses > 0.8).astype(float) if zero_one else losses
    order = np.argsort(losses.mean(axis=0), kind="stable")
    top = [order[0]]
    for k in range(2, 11):
        chosen = losses[:, order[:k]]
        Q = plain_cochran(chosen) if zero_one else sequential.ranks(chosen).statistic
        if stats.chi2.sf(Q, k - 1) <= 0.05 / 9:
            break
        top.append(order[k - 1])
    assert 1 < len(top) < 10
    np.testing.assert_array_equal(np.flatnonzero(sequential.top_group(losses, 0.05)), np.sort(top))


def test_wald_line_by_hand():
    intercept, slope = sequential.wald_line(10, 0.01, 0.1)
    pi1 = 0.5 * 90**0.1
    scale = np.log(pi1 / 0.5) - np.log((1 - pi1) / 0.5)
    assert (intercept, slope) == pytest.approx((np.log(0.1 / 0.99) / scale, np.log(0.5 / (1 - pi1)) / scale))
    # A configuration that is never on top is dropped early, one that always is never.
    assert min(s for s in range(1, 11) if intercept + slope * s >= 0) == 3
    assert all(intercept + slope * s < s for s in range(1, 11))
    assert sequential.least_steps(0.01, 0.1) == 7


def test_sequential_drops_what_is_seldom_on_top():
    oof = spread_out(n=400, folds=10)
    log = race(oof, drop.Sequential())
    intercept, slope = sequential.wald_line(10, 0.01, 0.1)
    first = min(s for s, _ in log)
    assert intercept + slope * (first + 1) >= 0 > intercept + slope * first
    assert "config 0" in {d.config for s, d in log if s == first}
    assert "config 11" in survivors(oof, log)
    assert 1 <= len(survivors(oof, log)) < 8
    assert all(d.probability is None for _, d in log)


def test_sequential_refuses_what_it_cannot_test():
    with pytest.raises(InputError, match="needs at least 7 folds in all at these errors; there are 5"):
        drop.Sequential(metric="accuracy").check(make_predictions("accuracy"))
    with pytest.raises(InputError, match="needs a mean of per-sample values"):
        drop.Sequential(metric="roc_auc").check(make_predictions("accuracy", folds=8))


# -- all rules ------------------------------------------------------------------------------------------

RULES = [
    drop.Bootstrap(min_predictions=0, threshold=0.51, n_resamples=50),
    drop.Friedman(min_folds=2, alpha=0.5),
    drop.Sequential(similarity=0.9, beta=0.5),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_somebody_is_always_left_and_nobody_is_dropped_twice(rule, seed):
    rng = np.random.default_rng(seed)
    P = np.round(rng.random((80, 9)) + np.linspace(0, 0.3, 9), 1)
    oof = of.from_arrays(None, P, folds=np.arange(80) % 8, response="pointwise")
    log = race(oof, rule)
    assert log
    assert survivors(oof, log)
    names = [d.config for _, d in log]
    assert len(set(names)) == len(names)
    assert all(d.config != d.compared_with for _, d in log)


@pytest.mark.parametrize("draws", [{(0, 0): "x"}, {"a": [[0]]}, {(0,): [[0]]}])
def test_draws_that_are_none_are_refused_at_once(draws):
    with pytest.raises(InputError, match=r"must map \(repeat, fold\) to draws"):
        of.drop.Bootstrap(draws=draws)


# -- NeverSelected ----------------------------------------------------------------------------------------


def test_weights_of_the_end_count_what_was_seen_once_and_what_comes_again():
    units = np.arange(30)
    drawn = np.concatenate(list(predicted_counts(units, 1.5, 600, 3))).astype(int)
    assert drawn.shape == (600, 30)
    assert np.all(drawn >= 1)
    assert np.all(drawn.sum(axis=1) == 30 + 45)
    # A sample comes Poisson(1.5 Poisson(1)) times about: its variance is 1.5 + 1.5 ** 2.
    assert drawn.var() == pytest.approx(1.5 + 1.5**2, rel=0.1)
    groups = np.repeat(np.arange(10), 3)
    whole = np.concatenate(list(predicted_counts(groups, 0.5, 50, 3))).astype(int)
    assert np.all(whole.reshape(50, 10, 3) == whole.reshape(50, 10, 3)[..., :1])
    assert np.all(whole.sum(axis=1) == 3 * (10 + 5))


@pytest.mark.parametrize("metric", ["roc_auc", "mse", "mean"])
def test_never_selected_is_what_a_loop_over_draws_never_selects(metric):
    oof = make_predictions(metric, n=60, c=6, r=2, folds=3, seed=4)
    rule = drop.NeverSelected(min_predictions=0, n_resamples=40, metric=metric)
    part, found = until(oof, 0, 1), metrics.get(metric)
    data, rows = part.respond(found.needs), np.flatnonzero(part.folds[:, 0] <= 1)
    # Two of six folds are done: four are left, two for each that is done.
    drawn = np.concatenate(list(predicted_counts(np.arange(len(rows)), 2.0, 40, _seed_of(5, (0, 1)))))
    winners = set()
    for weights in drawn:
        whole = np.zeros(60)
        whole[rows] = weights
        scores = [found.reference(oof.target, data[0, j], whole) for j in range(6)]
        winners.add(int(np.argmax(scores) if found.greater_is_better else np.argmin(scores)))
    dropped = {found.config for found in rule.test(part, 0, 1, 5)}
    best = int(np.argmax(found.sign * Scoring(part, metric).scores()[0]))
    assert dropped == {name for j, name in enumerate(oof.configs) if j not in winners | {best}}
    assert dropped


def test_never_selected_drops_what_bootstrap_keeps():
    """A configuration that may be better than the best one, but not than the best of all the others."""
    rng = np.random.default_rng(3)
    hard = rng.random(100) < 0.5
    best = np.where(hard, 0.0, 1.0)
    rivals = np.stack([np.where(rng.random(100) < 0.02, 1 - best, best) for _ in range(4)], axis=1)
    behind = np.where(np.arange(100) < 4, 0.0, best)
    oof = of.from_arrays(
        None, np.column_stack([best, rivals, behind]), folds=np.arange(100) * 5 // 100, response="pointwise"
    )
    part = until(oof, 0, 3)
    joint = {found.config for found in drop.NeverSelected(n_resamples=2000).test(part, 0, 3, 0)}
    alone = {found.config for found in drop.Bootstrap().test(part, 0, 3, 0)}
    assert "config 5" in joint
    assert joint - alone


def test_never_selected_is_careful_with_few_predictions_and_many_configurations():
    oof = spread_out(n=40)
    assert not drop.NeverSelected().test(until(oof, 0, 2), 0, 2, 0)
    rng = np.random.default_rng(0)
    equal = of.from_arrays(
        None, (rng.random((100, 300)) < 0.8).astype(float), folds=np.arange(100) % 10, response="pointwise"
    )
    part = until(equal, 0, 4)
    some = {found.config for found in drop.NeverSelected(n_resamples=100).test(part, 0, 4, 0)}
    default = {found.config for found in drop.NeverSelected().test(part, 0, 4, 0)}
    assert len(default) < len(some) < 300
    with pytest.raises(InputError, match="n_resamples must be a whole number"):
        drop.NeverSelected(n_resamples=0)
