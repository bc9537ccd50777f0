"""Stop rules and traces against scipy and plain loops."""

from __future__ import annotations

from dataclasses import replace

import blocked
import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from conftest import make_predictions
from internals import Correlations, Scoring, selection
from outfold import State, stability
from outfold.exceptions import InputError, NeedError


def noisy(r, spread, seed=0, n=60, c=2):
    """Probabilities that wander around a fixed one from repeat to repeat."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    base = 0.25 + 0.5 * rng.random((n, c))
    P = np.clip(base[..., None] + rng.normal(0, spread, (n, c, r)), 0, 1)
    return of.from_arrays(y, P, folds=np.tile(np.arange(n) % 4, (r, 1)).T, response="proba")


# -- Rank -----------------------------------------------------------------------------------------------


def test_rank_equals_spearman_of_running_means():
    oof = noisy(6, 0.1)
    for r in range(2, 7):
        part = oof.sel(repeat=range(r))
        before, after = oof.P[..., : r - 1].mean(axis=2), oof.P[..., :r].mean(axis=2)
        expected = [stats.spearmanr(before[:, j], after[:, j]).statistic for j in range(2)]
        np.testing.assert_allclose(stability.Rank()._correlations(part), expected, rtol=1e-12)
        assert stability.Rank(min(expected) - 1e-9).holds(part)
        assert not stability.Rank(min(expected) + 1e-9).holds(part)
        assert stability.Rank(expected[1] - 1e-9).holds(part, ["config 1"])


def test_rank_needs_two_repeats_and_takes_named_configurations():
    assert not stability.Rank(0.01).holds(noisy(1, 0.0))
    calm, wild = noisy(3, 0.0001, c=1), noisy(3, 1.0, seed=1, c=1)
    P = np.concatenate([calm.P, wild.P], axis=1)
    oof = of.from_arrays(calm.y, P, folds=calm.folds, response="proba", configs=["calm", "wild"])
    assert not stability.Rank(0.99).holds(oof)
    assert stability.Rank(0.99, configs=["calm"]).holds(oof)
    assert not stability.Rank(0.99, configs=["calm"]).holds(oof, ["wild"])
    assert not stability.Rank(0.99).holds(oof, [])


def test_rank_of_labels_is_about_being_right():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 50)
    P = np.where(rng.random((50, 2, 4)) < 0.7, y[:, None, None], (y[:, None, None] + 1) % 3)
    oof = of.from_arrays(y, P, folds=np.tile(np.arange(50) % 5, (4, 1)).T, response="label")
    right = (y[:, None, None] == P).astype(float)
    expected = [stats.spearmanr(right[:, j, :3].mean(axis=1), right[:, j].mean(axis=1)).statistic for j in range(2)]
    np.testing.assert_allclose(stability.Rank()._correlations(oof), expected, rtol=1e-12)


def test_rank_of_several_classes():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3), (40, 2, 3))
    oof = of.from_arrays(rng.integers(0, 3, 40), P, folds=np.tile(np.arange(40) % 4, (3, 1)).T, response="proba")
    before, after = P[:, :, :2].mean(axis=2), P.mean(axis=2)
    expected = [stats.spearmanr(before[:, j].ravel(), after[:, j].ravel()).statistic for j in range(2)]
    np.testing.assert_allclose(stability.Rank()._correlations(oof), expected, rtol=1e-12)


def test_constant_predictions_are_stable():
    values = np.full((2, 3, 5), 0.5)
    np.testing.assert_array_equal(selection.rank_correlations(values[:, :2], values), [1, 1])
    moved = values.copy()
    moved[1, 2] = np.arange(5)
    np.testing.assert_array_equal(selection.rank_correlations(moved[:, :2], moved), [1, 0])


def test_samples_that_were_not_held_out_before_are_left_out():
    rng = np.random.default_rng(0)
    values = rng.random((1, 3, 30))
    values[0, 0, :5], values[0, 1, 3:8], values[0, 2, :3] = np.nan, np.nan, np.nan
    before, after = np.nanmean(values[0, :2, 5:], axis=0), np.nanmean(values[0, :, 5:], axis=0)
    # Samples 3 and 4 were in no repeat but the last; 0 to 2 in the second only.
    keep = np.r_[0:3, 5:30]
    before = np.nanmean(values[0, :2][:, keep], axis=0)
    after = np.nanmean(values[0][:, keep], axis=0)
    expected = stats.spearmanr(before, after).statistic
    assert selection.rank_correlations(values[:, :2], values)[0] == pytest.approx(expected)
    assert selection.rank_correlations(np.full((1, 1, 4), np.nan), np.ones((1, 2, 4)))[0] == 0


def test_rank_forecast_foresees_the_end():
    oof = noisy(60, 0.02)
    rule = stability.Rank(0.9999)
    end = next(r for r in range(2, 61) if rule.holds(oof.sel(repeat=range(r))))
    seen = rule.forecast(oof.sel(repeat=range(max(end // 2, 3))))
    assert 0.4 * end <= seen <= 2.5 * end
    assert rule.forecast(oof.sel(repeat=range(2))) is None
    assert stability.Fixed(7).forecast(oof) == 7
    assert stability.KS().forecast(oof) is None


# -- KS, Width, Fixed -----------------------------------------------------------------------------------


def test_ks_equals_scipy():
    rng = np.random.default_rng(0)
    a, b = np.round(rng.random((5, 11)), 1), np.round(rng.random((5, 10)) + 0.1, 1)
    expected = [stats.ks_2samp(one, other).statistic for one, other in zip(a, b, strict=True)]
    np.testing.assert_allclose(selection.ks_distance(a, b), expected, rtol=1e-12)


def test_ks_compares_even_and_odd_repeats():
    oof = noisy(15, 0.3)
    scores = Scoring(oof, "roc_auc").repeat_scores()
    D = max(stats.ks_2samp(scores[::2, j], scores[1::2, j]).statistic for j in range(2))
    assert stability.KS(D + 1e-9).holds(oof)
    assert not stability.KS(D - 1e-9).holds(oof)
    one = oof.sel(repeat=0)
    assert not stability.KS(0.99).holds(one)


def test_width_is_that_of_the_interval():
    oof = noisy(2, 0.1)
    interval = of.estimate.bbc(oof, "roc_auc").interval
    width = interval.high - interval.low
    assert stability.Width(width + 1e-9).holds(oof)
    assert not stability.Width(width).holds(oof)


def test_fixed_counts_complete_repeats():
    oof = noisy(3, 0.1)
    assert stability.Fixed(3).holds(oof)
    assert not stability.Fixed(4).holds(oof)
    state = np.array(oof.state)
    state[0, 2, 1] = State.PENDING
    part = replace(oof, state=state.copy())
    assert not stability.Fixed(3).holds(part)
    assert stability.Fixed(3).holds(part, ["config 1"])
    state[:, :, 0] = State.PENDING
    assert not stability.Fixed(1).holds(replace(oof, state=state))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: stability.Rank(0), "threshold must lie between 0 and 1"),
        (lambda: stability.KS(1.0), "threshold must lie between 0 and 1"),
        (lambda: stability.Width(0), "width must be above 0"),
        (lambda: stability.Rank("x"), "threshold must lie between 0 and 1, such as 0.9999; got 'x'"),
        (lambda: stability.KS(None), "threshold must lie between 0 and 1, such as 0.1; got None"),
        (lambda: stability.Width("narrow"), "width must be above 0, such as 0.02; got 'narrow'"),
        (lambda: stability.Width(np.inf), "width must be above 0"),
        (lambda: stability.Fixed("x"), "n must be a whole number of at least 1; got 'x'"),
        (lambda: stability.Rank().holds("oof"), r"stability\.Rank needs Predictions, .* got str"),
        (
            lambda: stability.Rank(configs=3).check(make_predictions("roc_auc")),
            "configs must be a list of names; got 3",
        ),
        (lambda: stability.trace("oof", "mean"), "trace needs Predictions, .* got str"),
        (lambda: stability.compare_plans(3, "mean"), "compare_plans needs a list of predictions, .* got int"),
        (lambda: stability.compare_plans(["x"], "mean"), "compare_plans needs Predictions, .* got str"),
        (lambda: stability.reproducibility("x", None, 0, 1), "predictions or a matrix of scores; got str"),
        (lambda: stability.reproducibility([[1.0, 2.0]], None, None, 1), r"columns of the scores, 0\.\.1; got None"),
        (lambda: stability.reproducibility([[1.0, 2.0]], None, 0.5, 1), r"columns of the scores, 0\.\.1; got 0\.5"),
        (lambda: stability.replicability([[True], [True, False]]), "rejections must be True or False"),
        (lambda: stability.replicability(["yes", "no"]), "rejections must be True or False"),
        (lambda: stability.Fixed(0), "n must be a whole number of at least 1"),
        (lambda: stability.as_stop("rank"), "stop must be a rule"),
    ],
)
def test_bad_rules(make, words):
    with pytest.raises(InputError, match=words):
        make()


# -- trace ----------------------------------------------------------------------------------------------


def test_trace_equals_a_plain_loop():
    oof = noisy(9, 0.3, c=4)
    found = stability.trace(oof, "brier")
    scores = np.stack([Scoring(oof.sel(repeat=r), "brier").scores()[0] for r in range(9)])
    np.testing.assert_allclose(found.scores, scores, rtol=1e-13)
    for r in range(1, 10):
        part = scores[:r]
        np.testing.assert_allclose(found.mean[r - 1], part.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(found.median[r - 1], np.median(part, axis=0), rtol=1e-12)
        if r > 1:
            np.testing.assert_allclose(found.sd[r - 1], part.std(axis=0, ddof=1), rtol=1e-9)
        if r > 2:
            np.testing.assert_allclose(found.skew[r - 1], stats.skew(part), rtol=1e-6, atol=1e-9)
        np.testing.assert_array_equal(found.rank[r - 1], stats.rankdata(part.mean(axis=0)))
        assert found.leaders[r - 1] == oof.configs[np.argmin(part.mean(axis=0))]
    assert np.isnan(found.sd[0]).all()
    assert np.isnan(found.skew[0]).all()


def test_trace_prints_and_goes_out():
    found = stability.trace(noisy(5, 0.3, c=3), "roc_auc")
    assert repr(found) == "<Stability of 3 configurations by roc_auc over 5 repeats>"
    lines = str(found).splitlines()
    assert lines[0].split() == ["rank", "configuration", "mean", "roc_auc", "median", "sd", "skew"]
    assert lines[1].startswith("   1  config")
    assert "lead after 5 repeats" in lines[-1]
    assert "<table" in found._repr_html_()
    pytest.importorskip("pandas", reason="a frame needs pandas")
    frame = found.to_frame()
    assert len(frame) == 15
    assert list(frame["repeat"][:4]) == [0, 0, 0, 1]
    facts = found.to_dict()
    assert facts["repeats"] == 5
    assert facts["leads"][-1]["config"] == found.leaders[-1]
    assert found.leads[0][1] == 0
    assert found.leads[-1][2] == 4
    one = stability.trace(noisy(1, 0.3), "roc_auc")
    assert str(one).splitlines()[1].split()[-2:] == ["-", "-"]


def test_trace_leaves_out_what_is_not_complete():
    oof = make_predictions("roc_auc", r=3)
    state = np.array(oof.state)
    state[2, 0, 0] = State.FAILED
    state[:2, 2, 1] = State.PENDING
    found = stability.trace(replace(oof, state=state.copy()), "roc_auc")
    assert found.n_repeats == 2
    assert "config 2" not in found.configs
    state[:, :, 3] = State.PENDING
    with pytest.raises(NeedError, match="needs a repeat that is complete"):
        stability.trace(replace(oof, state=state), "roc_auc")


# -- reproducibility and replicability ------------------------------------------------------------------


def test_reproducibility():
    scores = np.array([[0.9, 0.8], [0.8, 0.9], [0.7, 0.7], [0.9, 0.5]])
    assert stability.reproducibility(scores, None, 0, 1) == pytest.approx(2 * (2.5 / 4) - 1)
    assert stability.reproducibility(scores, None, 1, 0) == pytest.approx(2 * (2.5 / 4) - 1)
    assert stability.reproducibility(np.ones((5, 2)), None, 0, 1) == 0
    assert stability.reproducibility(np.tile([1, 0], (5, 1)), None, 1, 0) == 1
    oof = noisy(7, 0.3)
    table = Scoring(oof, "roc_auc").repeat_scores()
    assert stability.reproducibility(oof, None, "config 0", "config 1") == stability.reproducibility(table, None, 0, 1)
    assert stability.reproducibility(oof, "brier", 0, 1) == stability.reproducibility(
        Scoring(oof, "brier").repeat_scores(), None, 0, 1
    )
    with pytest.raises(InputError, match=r"columns of the scores, 0\.\.1"):
        stability.reproducibility(scores, None, 0, 5)
    with pytest.raises(InputError, match="shape"):
        stability.reproducibility([1.0, 2.0], None, 0, 1)


def test_a_repeat_without_scores_has_no_winner():
    for table in ([[0.5, np.nan], [0.6, 0.5]], [[np.nan, 0.5], [0.6, 0.5]]):
        with pytest.raises(InputError, match=r"undefined \(NaN\) in 1 of 2 repeats"):
            stability.reproducibility(table, None, 0, 1)
    assert (
        stability.reproducibility([[0.5, 0.4, np.nan], [0.6, 0.5, 0.1]], None, 0, 1) == 1
    )  # of the two that are asked for


def test_replicability():
    # Share of equal pairs, counted one by one.
    rng = np.random.default_rng(0)
    table = rng.random((6, 10)) < 0.4
    pairs = [np.mean([row[i] == row[j] for i in range(10) for j in range(10) if i != j]) for row in table]
    assert stability.replicability(table) == pytest.approx(np.mean(pairs))
    assert stability.replicability([1, 1, 1]) == 1
    for wrong in ([True], [0.5, 0.2], np.ones((2, 2, 2)), np.zeros((0, 5))):
        with pytest.raises(InputError, match="rejections must be"):
            stability.replicability(wrong)


def repeated(folds, repeats=40, gap=0.0, seed=0):
    rng = np.random.default_rng(seed)
    easy = rng.random(60)
    correct = (rng.random((60, 2, repeats)) < 0.5 + 0.4 * easy[:, None, None] + gap * np.array([[0], [1]])).astype(
        float
    )
    fold = np.stack([rng.permutation(np.arange(60) % folds) for _ in range(repeats)], axis=1)
    return of.from_arrays(None, correct, folds=fold, response="pointwise")


def test_compare_plans_against_plain_means():
    ten, five, two = (repeated(k, seed=k) for k in (10, 5, 2))
    found = of.stability.compare_plans([ten, five, two], "mean")
    assert found.plans == ("1x10", "2x5", "5x2")
    scores = two.P.mean(axis=0)  # (C, R)
    groups = scores.reshape(2, 8, 5).mean(axis=2)
    assert found.steady[2] == pytest.approx(scores.mean(axis=1), abs=1e-12)
    assert found.sd[2] == pytest.approx(groups.std(axis=1, ddof=1), abs=1e-12)
    assert found.low[2] == pytest.approx(groups.min(axis=1), abs=1e-12)
    winner = int(np.argmax(scores.mean(axis=1)))
    assert found.agreement[2] == pytest.approx(np.mean(np.argmax(groups, axis=0) == winner))
    # Five repeats of a pair average more noise away than one does.
    assert np.all(found.sd[2] < found.sd[0])
    assert "1x10" in str(found)
    pytest.importorskip("pandas", reason="a frame needs pandas")
    assert len(found.to_frame()) == 6


def test_compare_plans_sees_a_clear_winner_every_time():
    found = of.stability.compare_plans([repeated(5, gap=0.4)], "mean")
    assert found.agreement.tolist() == [1.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: of.stability.compare_plans([], "mean"), "one plan or more; got none"),
        (lambda: of.stability.compare_plans([repeated(2, repeats=6)], "mean"), "at least 10 repeats of 2 folds"),
        (lambda: of.stability.compare_plans([repeated(5), repeated(5).sel(config=0)], "mean"), "same configurations"),
    ],
)
def test_compare_plans_refuses(call, message):
    with pytest.raises(of.exceptions.InputError, match=message):
        call()


def test_one_repeat_says_nothing_about_reproducibility():
    with pytest.raises(NeedError, match="at least 2 complete repeats"):
        of.stability.reproducibility(repeated(5).sel(repeat=0), "mean", 0, 1)


@pytest.mark.parametrize("rule", [stability.Rank(configs=["nobody"]), stability.KS(configs=["nobody"])])
def test_stop_rules_refuse_configurations_that_are_not_there(rule):
    with pytest.raises(InputError, match="no configuration 'nobody'"):
        rule.check(make_predictions("roc_auc"))
    with pytest.raises(InputError, match="configs must be a list of names"):
        stability.Rank(configs="config 0").check(make_predictions("roc_auc"))


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (State.FAILED, r"both configurations; 'config 1' failed\. Name one that was neither dropped nor failed"),
        (State.DROPPED, r"both configurations; 'config 1' was dropped\. Name one"),
        (State.PENDING, r"both configurations; there is none\. Collect the missing cells first"),
    ],
)
def test_reproducibility_says_what_is_wrong_with_a_configuration(state, words):
    oof = repeated(5)
    states = oof.state.copy()
    states[1, :, 3] = state
    with pytest.raises(NeedError, match=words):
        of.stability.reproducibility(replace(oof, state=states), "mean", "config 0", "config 1")


def test_reproducibility_needs_two_configurations_that_exist():
    with pytest.raises(InputError, match="no configuration 'nobody'; there are 'config 0', 'config 1'"):
        of.stability.reproducibility(repeated(5), "mean", "config 0", "nobody")
    with pytest.raises(InputError, match="a and b must be two configurations; both are 'config 0'"):
        of.stability.reproducibility(repeated(5), "mean", "config 0", 0)


# -- the interval within a repeat -------------------------------------------------------------------------


def test_the_interval_may_be_looked_at_after_every_fold():
    rng = np.random.default_rng(0)
    right = (rng.random((200, 3)) < [0.7, 0.8, 0.9]).astype(float)
    oof = of.from_arrays(None, right, folds=np.arange(200) % 5, response="pointwise")
    state = np.array(oof.state)
    state[:, 0, 3:] = State.PENDING
    part = replace(oof, state=state)
    interval = of.estimate.bbc(part, "mean").interval
    width = interval.high - interval.low
    assert stability.Width(width + 1e-9, after="fold").holds(part)
    assert not stability.Width(width - 1e-9, after="fold").holds(part)
    assert not stability.Width(width + 1e-9).holds(part)  # no repeat is complete
    assert stability.Width(width, after="fold").by_fold
    assert not stability.Width(width).by_fold
    with pytest.raises(InputError, match="after must be 'repeat' or 'fold'"):
        stability.Width(after="sample")


# -- bias and variance ------------------------------------------------------------------------------------


def several_models(kind, r=7, n=40, seed=0, missing=False):
    """Predictions of models of two kinds, from repeats in which not every sample is held out."""
    rng = np.random.default_rng(seed)
    folds = np.where(rng.random((n, r)) < 0.4, -1, 0) if missing else np.zeros((n, r), dtype=int)
    if kind == "label":
        y = rng.integers(0, 3, n)
        P = np.where(rng.random((n, 2, r)) < 0.6, y[:, None, None], rng.integers(0, 3, (n, 2, r)))
    else:
        y = rng.normal(size=n)
        P = y[:, None, None] / 2 + rng.normal(0, [[0.3], [0.8]], (n, 2, r))
    return of.from_arrays(y, P, folds=folds, response=kind)


def plain_parts(y, predicted, zero_one):
    """Loss, bias and variance of one sample, as mlxtend's bias_variance_decomp has them."""
    if zero_one:
        main = np.argmax(np.bincount(predicted))
        return np.mean(predicted != y), float(main != y), np.mean(predicted != main), main == y, np.mean(predicted == y)
    main = predicted.mean()
    return np.mean((predicted - y) ** 2), (main - y) ** 2, np.mean((predicted - main) ** 2), True, 0.0


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", ["label", "value"])
def test_bias_and_variance_are_those_of_a_loop_over_samples(kind, missing):
    oof = several_models(kind, missing=missing)
    found = stability.bias_variance(oof)
    held = oof.folds >= 0
    rows = np.flatnonzero(held.sum(axis=1) >= 2)
    assert found.n_samples == len(rows)
    assert found.n_predictions == pytest.approx(held[rows].sum(axis=1).mean())
    for j in range(2):
        P = [oof.data[held[i], j, i] for i in rows]
        parts = [plain_parts(oof.target.y[i], p, kind == "label") for i, p in zip(rows, P, strict=True)]
        loss, bias, variance, unbiased, right = np.array(parts, dtype=float).T
        assert found.loss[j] == pytest.approx(loss.mean())
        if kind == "value":
            n = held[rows].sum(axis=1)
            assert found.variance[j] == pytest.approx(np.mean(variance * n / (n - 1)))
            assert found.bias[j] == pytest.approx(np.mean(bias - variance / (n - 1)))
            continue
        assert (found.bias[j], found.variance[j]) == pytest.approx((bias.mean(), variance.mean()))
        assert found.adds[j] == pytest.approx(np.mean(variance * unbiased))
        assert found.saves[j] == pytest.approx(np.mean(right * (1 - unbiased)))
    assert found.bias + found.adds - found.saves == pytest.approx(found.loss)


def test_the_parts_of_a_squared_error_are_unbiased():
    y, parts = np.linspace(-1, 1, 30), []
    for seed in range(200):
        P = (y + 0.5)[:, None, None] + np.random.default_rng(seed).normal(0, 0.3, (30, 1, 3))
        parts.append(
            stability.bias_variance(of.from_arrays(y, P, folds=np.zeros((30, 3), dtype=int), response="value"))
        )
    # Standard errors of the means: 0.003 and 0.0012.
    assert np.mean([one.bias[0] for one in parts]) == pytest.approx(0.25, abs=0.012)
    assert np.mean([one.variance[0] for one in parts]) == pytest.approx(0.09, abs=0.005)


def test_what_bias_and_variance_need():
    with pytest.raises(NeedError, match="bias_variance needs two predictions of a sample; each has one"):
        stability.bias_variance(several_models("label", r=1))
    with pytest.raises(InputError, match=r"is for 0-1 loss \(accuracy, error\) and for squared error \(mse\); got mae"):
        stability.bias_variance(several_models("value"), "mae")
    printed = str(stability.bias_variance(several_models("label"), "accuracy"))
    assert printed.splitlines()[0].split() == ["configuration", "loss", "bias", "variance", "adds", "saves"]
    assert "adds" not in str(stability.bias_variance(several_models("value"), "mse"))


# -- variance components ----------------------------------------------------------------------------------


def correlated(n, m=3, variance=0.02, rho1=0.2, rho2=0.35, seed=0):
    """(n, m, 2) normal scores with these correlations."""
    same_repeat = np.kron(np.eye(m), np.ones((2, 2)))
    R = np.where(np.eye(2 * m) == 1, 1.0, np.where(same_repeat == 1, rho1, rho2))
    drawn = np.random.default_rng(seed).multivariate_normal(np.full(2 * m, 0.8), variance * R, size=n)
    return drawn.reshape(n, m, 2)


def test_correlations_are_means_of_the_covariance_matrix():
    x = correlated(40, m=7)
    C = np.cov(x.reshape(40, 14).T)
    found = stability.variance_components(x)
    pairs = [(i, j) for i in range(14) for j in range(14) if i != j]
    within = np.mean([C[i, j] for i, j in pairs if i // 2 == j // 2])
    between = np.mean([C[i, j] for i, j in pairs if i // 2 != j // 2])
    assert found.variance == pytest.approx(np.mean(np.diag(C)))
    assert (found.rho1, found.rho2) == pytest.approx((within / found.variance, between / found.variance))
    # Equation 3.2: the variance of the mean is that of the mean of all columns.
    assert found.of_mean == pytest.approx(x.mean(axis=(1, 2)).var(ddof=1))
    assert sum(found.parts.values()) == pytest.approx(found.of_mean)
    assert found.ratios["AL"] == pytest.approx(found.of_mean / found.AL)


def test_correlations_of_many_data_sets_are_the_true_ones():
    found = stability.variance_components(correlated(20_000))
    # Standard errors of about 0.005.
    assert (found.rho1, found.rho2) == pytest.approx((0.2, 0.35), abs=0.02)
    true = Correlations(0.02, 0.2, 0.35)
    for name, weight in (("L", 0), ("AL", 2 / 3), ("careful", 4 / 3)):
        assert getattr(found, name) == pytest.approx(true.expected(3, weight), rel=0.02)
    assert found.of_mean == pytest.approx(true.of_mean(3), rel=0.04)


def test_correlations_of_naive_bayes_are_those_the_paper_prints():
    """Simulated experiment 3 of Wang et al. (2014), Table 4, n = 40; 2,000 data sets have standard errors of 0.012."""
    found = stability.variance_components(blocked.scores("naive Bayes", 2000, 40))
    assert (found.rho1, found.rho2) == pytest.approx(blocked.PRINTED["naive Bayes"][40], abs=0.045)


def test_one_data_set_shows_estimates_only():
    X, y = load_iris(return_X_y=True)
    models = {"bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1)}
    oof = of.collect(models, X, y, of.Plan.blocked(3), progress=False)
    found = stability.variance_components(oof, "accuracy", "bayes")
    assert (found.rho1, found.parts, found.ratios) == (None, None, None)
    assert "one data set shows neither" in str(found)
    test = of.compare.t_blocked_3x2(
        of.from_scores(
            {"a": oof.scores("accuracy")[0].ravel(), "0": np.zeros(6)}, n_train=75, n_test=75, design="blocked"
        ),
        None,
        "a",
        "0",
    )
    assert found.mean / np.sqrt(found.AL) == pytest.approx(test.statistic)
    several = stability.variance_components([oof, oof, oof], "accuracy", "bayes")
    assert several.n_sets == 3
    assert several.to_dict()["AL"] == pytest.approx(found.AL)
    assert several.variance == 0
    with pytest.raises(InputError, match="config must name one of the configurations"):
        stability.variance_components(oof)
    with pytest.raises(NeedError, match=r"variance_components needs two folds, repeated so that .*Plan\.blocked"):
        stability.variance_components(oof.sel(repeat=[0, 1]), "accuracy", "bayes")
    state = np.array(oof.state)
    state[0, 2, 1] = State.PENDING
    with pytest.raises(NeedError, match=r"variance_components needs the scores of all halves; some are missing"):
        stability.variance_components(replace(oof, state=state), "accuracy", "bayes")
    with pytest.raises(InputError, match=r"shape \(data sets, m, 2\) or \(m, 2\)"):
        stability.variance_components([[0.5, 0.6]])
