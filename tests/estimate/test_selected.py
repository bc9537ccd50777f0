"""The interval of the selected configuration: its formula from first principles, its symmetries, and what never happens."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from scipy.stats import t as student

import outfold as of
from conftest import POSITIVE, make_predictions
from internals import _bbc
from outfold import estimate
from outfold.exceptions import NeedError

SHARES = ("accuracy", "error", "roc_auc", "average_precision", "f1", "mcc", "balanced_accuracy", "brier", "mean")


def wilson(p, n, z):
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return centre - half, centre + half


def noise_of(drawn, left_out):
    """Share of the differences between the rivals of each draw's winner that is noise, by regression within draws."""
    near = 3 * np.sqrt(2 * np.mean(np.var(drawn - drawn.mean(axis=1, keepdims=True), axis=0)))
    products = squares = 0.0
    for own, other in zip(drawn, left_out, strict=True):
        rivals = own >= own.max() - near
        x, y = own[rivals] - own[rivals].mean(), other[rivals] - other[rivals].mean()
        products, squares = products + x @ y, squares + x @ x
    slope = np.clip(products / squares, 0, 1)
    return (1 - slope) / (1 + slope)


def test_shares_from_first_principles():
    rng = np.random.default_rng(4)
    right = (rng.random((40, 12)) < rng.uniform(0.75, 0.8, 12)).astype(float)
    counts = rng.multinomial(40, np.full(40, 1 / 40), size=300)
    found = estimate.bbc(of.from_arrays(None, right, response="pointwise"), "mean", draws=counts, draws_are="counts")
    drawn = counts @ right / 40
    chosen = drawn.argmax(axis=1)
    scores = np.array([right[counts[b] == 0, chosen[b]].mean() for b in range(300)])
    own, value, z = right.mean(axis=0), scores.mean(), norm.ppf(0.975)
    alone = np.mean(own[chosen] * (1 - own[chosen])) / 40  # of a mean, known without draws
    together = right[:, chosen].mean(axis=1).var() / 40
    few = counts[: 300 // 16]
    noise = noise_of(few @ right / 40, (few == 0) @ right / (few == 0).sum(axis=1, keepdims=True))
    assert 0.5 < noise < 1
    sampling = max(together + (1 - noise) * (alone - together), alone / 2)
    excess = max(0.0, scores.var() - (np.e - 1) * (1 + 2 / 40) * alone)
    low, high = wilson(value, 40 * alone / sampling, z)
    below, above = own[chosen].var(), excess + (own.max() - own[chosen].mean()) ** 2
    expected = value - np.hypot(value - low, z * np.sqrt(below)), value + np.hypot(high - value, z * np.sqrt(above))
    assert found.interval == pytest.approx((expected[0], min(expected[1], 1)), abs=1e-12)


def test_losses_from_first_principles():
    rng = np.random.default_rng(5)
    y = rng.normal(size=50)
    P = y[:, None] + rng.normal(0, rng.uniform(0.4, 0.8, 8), (50, 8))
    counts = rng.multinomial(50, np.full(50, 1 / 50), size=200)
    oof = of.from_arrays(y, P, response="value")
    found = estimate.bbc(oof, "mse", draws=counts, draws_are="counts", confidence_level=0.8)
    losses = (P - y[:, None]) ** 2
    drawn = counts @ losses / 50
    chosen = drawn.argmin(axis=1)
    scores = np.array([losses[counts[b] == 0, chosen[b]].mean() for b in range(200)])
    own, value, t = -np.log(losses.mean(axis=0)), scores.mean(), student.ppf(0.9, 49)
    alone = np.mean([np.log(drawn[:, j]).var() for j in chosen])
    together = np.log(drawn)[:, chosen].mean(axis=1).var()
    few = counts[: 200 // 16]
    noise = noise_of(few @ -losses / 50, (few == 0) @ -losses / (few == 0).sum(axis=1, keepdims=True))
    sampling = 1.2 * max(together + (1 - noise) * (alone - together), alone / 2)  # losses have long tails
    excess = max(0.0, np.log(scores).var() - (np.e - 1) * (1 + 2 / 50) * alone)
    below, above = own[chosen].var(), excess + (own.max() - own[chosen].mean()) ** 2
    low, high = -np.log(value) - t * np.sqrt(sampling + below), -np.log(value) + t * np.sqrt(sampling + above)
    assert found.interval == pytest.approx((np.exp(-high), np.exp(-low)), rel=1e-10)


def test_all_configurations_are_weighted_by_how_often_draws_select_them():
    """Each has a part, the last the largest: the order by frequency is not the order of the configurations."""
    rng = np.random.default_rng(0)
    right = np.stack([rng.permutation(np.arange(40) < k) for k in (20, 24, 28)], axis=1).astype(float)
    counts = rng.multinomial(40, np.full(40, 1 / 40), size=400)
    found = estimate.bbc(of.from_arrays(None, right, response="pointwise"), "mean", draws=counts, draws_are="counts")
    chosen = (counts @ right).argmax(axis=1)
    assert set(chosen) == {0, 1, 2}
    assert np.argmax(np.bincount(chosen)) != 0
    own = right.mean(axis=0)[chosen]
    assert found.intervals.spread.alone[0] == pytest.approx(np.mean(own * (1 - own)) / 40, rel=1e-12)


def test_models_that_were_trained_count_with_more_variance():
    right = (np.random.default_rng(2).random((40, 6)) < 0.7).astype(float)
    spreads = [
        estimate.bbc(of.from_arrays(None, right, folds=folds, response="pointwise"), "mean").intervals.spread
        for folds in (None, np.arange(40) % 5)
    ]
    assert spreads[1].sampling == pytest.approx(1.3 * spreads[0].sampling)
    assert spreads[1].n == pytest.approx(spreads[0].n / 1.3)


@pytest.mark.parametrize(("score", "loss"), [("accuracy", "error"), ("neg_log_loss", "log_loss")])
def test_a_score_and_its_loss_have_the_same_interval(score, loss):
    oof = make_predictions("log_loss", n=50)
    high, low = estimate.bbc(oof, score).interval[::-1]
    at = 1.0 if score == "accuracy" else 0.0
    assert estimate.bbc(oof, loss).interval == pytest.approx((at - high, at - low), abs=1e-12)


@pytest.mark.parametrize("metric", of.metrics.names())
def test_every_metric_has_an_interval_around_its_estimate(metric):
    oof = make_predictions(metric, n=60)
    found = estimate.bbc(oof, metric, n_resamples=200)
    assert found.interval_method == "mover"
    assert found.interval.low < found.value < found.interval.high
    low, high = of.metrics.get(metric).bounds
    assert low <= found.interval.low
    assert found.interval.high <= high
    widths = [np.ptp(found.confidence_interval(level)) for level in (0.5, 0.8, 0.95, 0.99)]
    assert widths == sorted(widths)
    assert len(set(widths)) == 4


def assert_sound(found):
    """The interval has a width, holds the estimate and stays in the range of the metric; or a note says why there is none."""
    if found.interval is None:
        assert "OF218" in [note.code for note in found.notes]
        return
    least, most = of.metrics.get(found.metric).bounds
    for level in (0.5, 0.8, 0.95, 0.99):
        low, high = found.confidence_interval(level)
        assert least <= low <= found.value <= high <= most
        assert np.isfinite([low, high]).all()
        assert high - low > 1e-9 * max(abs(low), abs(high))


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("metric", of.metrics.names())
def test_twelve_samples_have_a_sound_interval(metric, grouped):
    """Many ties, rare classes and draws that cannot be scored; groups of three."""
    done = 0
    for seed in range(8, 16):  # with these every class occurs
        oof = make_predictions(metric, n=12, c=4, r=1 + seed % 2, folds=3, seed=seed)
        if grouped:
            groups = np.arange(12) // 3
            folds = np.stack([groups % 3] * oof.n_repeats, axis=1)
            oof = of.from_arrays(oof.y, oof.P, folds, groups=groups, response=oof.response, times=oof.times)
        found = bbc_if_scorable(oof, metric)
        if found is not None:
            done += 1
            assert found.interval is not None
            assert_sound(found)
    assert done >= 4


def bbc_if_scorable(oof, metric):
    """None where a class has a single sample or group, which is drawn or left out."""
    try:
        return estimate.bbc(oof, metric, n_resamples=40)
    except of.exceptions.InputError as error:
        if "cannot be scored on bootstrap samples" not in str(error):
            raise
        return None


def without_error(metric, n, c, seed):
    """Predictions of which those of the first configuration are the labels; the others are poor."""
    rng, found = np.random.default_rng(seed), of.metrics.get(metric)
    folds = np.arange(n) % 3
    if found.tasks == {"pointwise"}:
        return of.from_arrays(None, np.c_[np.ones(n), rng.random((n, c - 1))], folds=folds, response="pointwise")
    if "survival" in found.tasks:
        time, times = 1.0 + rng.permutation(n), n * np.array([0.2, 0.4, 0.6])
        P = -time[:, None] + np.c_[np.zeros(n), rng.normal(0, 9, (n, c - 1))]
        curves = np.concatenate([(time[:, None] > times)[:, None], rng.random((n, c - 1, 3))], axis=1)
        both = np.concatenate([P[..., None], curves], axis=-1)[:, :, None]
        return of.from_arrays(np.c_[time, np.arange(n) % 4 > 0], both, folds=folds, times=times)
    if "regression" in found.tasks and "binary" not in found.tasks:
        y = np.exp(rng.normal(size=n)) if metric in POSITIVE else rng.normal(size=n)
        P = y[:, None] * np.exp(np.c_[np.zeros(n), rng.normal(size=(n, c - 1))])
        return of.from_arrays(y, P, folds=folds, response="value")
    k = 2 if "binary" in found.tasks else 3
    y = rng.permutation(np.arange(n) % k)
    P = np.concatenate([np.eye(k)[y][:, None], rng.dirichlet(np.ones(k), (n, c - 1))], axis=1)
    return of.from_arrays(y, P[:, :, 1] if k == 2 else P[:, :, None], folds=folds, response="proba")


@pytest.mark.parametrize("n", [12, 40])
@pytest.mark.parametrize("metric", of.metrics.names())
def test_a_perfect_winner_has_a_sound_interval_or_none(metric, n):
    found = estimate.bbc(without_error(metric, n, 3, seed=1), metric, n_resamples=60)
    assert_sound(found)
    assert found.selected == "config 0"
    known = np.isfinite(of.metrics.get(metric).bounds).all() or metric == "mean"
    assert ("OF220" if known else "OF218") in [note.code for note in found.notes]


def test_losses_of_zero_keep_the_interval_above_zero():
    """Half of the residuals are 0, so that some draws leave out no error at all: there is no log."""
    y = np.arange(12.0)
    P = y[:, None] + np.random.default_rng(0).integers(0, 2, (12, 3)) * (np.arange(12) < 3)[:, None]
    found = estimate.bbc(of.from_arrays(y, P, response="value"), "mae")
    assert found.draws.min() == 0
    assert found.interval.low == 0 < found.value < found.interval.high


def test_the_worst_brier_score_of_two_classes_is_one():
    y = np.arange(40) % 2
    oof = of.from_arrays(y, np.stack([y, y], axis=1).astype(float), response="proba")
    assert estimate.bbc(oof, "brier").interval == pytest.approx((0, 1 - of.intervals.wilson(40, 40).low))
    assert estimate.bbc(oof, "neg_brier_score").interval == pytest.approx((of.intervals.wilson(40, 40).low - 1, 0))


# -- metrics that few samples make too high or too low ---------------------------------------------------


def test_the_bias_of_few_samples_from_first_principles():
    rng = np.random.default_rng(3)
    y = rng.normal(size=30)
    P = 0.5 * y[:, None] + rng.normal(0, 0.5, (30, 4))
    counts = rng.multinomial(30, np.full(30, 1 / 30), size=150)
    oof = of.from_arrays(y, P, response="value")
    found = estimate.bbc(oof, "r2", draws=counts, draws_are="counts")

    def r2(j, rows):
        return 1 - np.sum((y[rows] - P[rows, j]) ** 2) / np.sum((y[rows] - y[rows].mean()) ** 2)

    chosen = [oof.configs.index(name) for name in found.chosen]
    own = np.mean([r2(j, np.arange(30)) for j in chosen])
    left = np.mean([[r2(j, row == 0) for j in range(4)] for row in counts], axis=0)[chosen].mean()
    bias = np.e / (np.e - 1) * (left - own)
    spread = found.intervals.spread
    assert bias < 0
    assert spread.leans_by == pytest.approx(bias, rel=1e-9)
    assert spread.leans == pytest.approx(np.log(1 - own) - np.log(1 - own - bias), rel=1e-9)
    upper = -np.log(1 - found.value) + student.ppf(0.975, 29) * np.sqrt(
        spread.sampling + spread.above + spread.leans**2
    )
    assert found.interval.high == pytest.approx(1 - np.exp(-upper), rel=1e-9)
    lower = -np.log(1 - found.value) - student.ppf(0.975, 29) * np.sqrt(spread.sampling + spread.below)
    assert found.interval.low == pytest.approx(1 - np.exp(-lower), rel=1e-9)


@pytest.mark.parametrize(("metric", "side"), [("average_precision", "high"), ("r2", "low")])
def test_a_metric_that_needs_more_samples_is_said_to(metric, side):
    def notes(n):
        rng = np.random.default_rng(2)
        y = (np.arange(n) % 10 == 0).astype(float) if side == "high" else rng.normal(size=n)
        P = 0.5 * y[:, None] + rng.normal(0, 0.7, (n, 4))
        response = "score" if side == "high" else "value"
        oof = of.from_arrays(y.astype(int) if side == "high" else y, P, response=response)
        found = estimate.bbc(oof, metric, correction="none")
        assert any(note.code == "OF222" for note in estimate.bbc(oof, metric).notes) == (side == "low" and n == 30)
        return {note.code: note.text for note in found.notes}

    assert f"{metric} of the few samples that a draw leaves out is too {side}" in notes(30)["OF222"]
    assert "OF222" not in notes(3000)


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "mse", "concordance", "mean"])
def test_means_and_shares_of_pairs_have_no_such_bias(metric):
    spread = estimate.bbc(make_predictions(metric, n=20), metric, n_resamples=50).intervals.spread
    assert spread.leans == spread.leans_by == 0


@pytest.mark.parametrize("metric", SHARES[:-1])
def test_a_winner_without_an_error_gets_a_lower_end(metric):
    y = np.arange(40) % 2
    found = estimate.bbc(of.from_arrays(y, np.stack([y, y, 1 - y], axis=1).astype(float), response="proba"), metric)
    worse = found.interval.high if metric in ("error", "brier") else found.interval.low
    assert abs(worse - found.value) > 0.05
    assert "OF220" in [note.code for note in found.notes]


def test_the_lower_end_without_an_error_is_that_of_wilson():
    found = estimate.bbc(of.from_arrays(None, np.ones((40, 3)), response="pointwise"), "mean")
    assert found.interval == pytest.approx(tuple(of.intervals.wilson(40, 40)))


def test_a_score_that_does_not_vary_and_has_no_known_range_has_no_interval():
    found = estimate.bbc(of.from_arrays(None, np.full((30, 2), 7.5), response="pointwise"), "mean")
    assert found.interval is None
    assert "OF218" in [note.code for note in found.notes]
    with pytest.raises(of.exceptions.NeedError, match="no MOVER interval here"):
        found.confidence_interval(method="mover")


@given(st.integers(2, 30), st.integers(1, 8), st.floats(0, 1), st.integers(0, 1000))
def test_no_width_is_zero(n, c, accuracy, seed):
    right = (np.random.default_rng(seed).random((n, c)) < accuracy).astype(float)
    low, high = estimate.bbc(of.from_arrays(None, right, response="pointwise"), "mean", n_resamples=20).interval
    assert 0 <= low < high <= 1


def test_groups_count_instead_of_samples():
    rng = np.random.default_rng(0)
    right = np.repeat((rng.random((12, 5)) < 0.7).astype(float), 10, axis=0)  # the samples of a group are alike
    groups = np.repeat(np.arange(12), 10)
    alone = of.from_arrays(None, right, response="pointwise")
    together = of.from_arrays(None, right, response="pointwise", groups=groups)
    widths = [np.ptp(estimate.bbc(oof, "mean").interval) for oof in (alone, together)]
    assert widths[1] > 2 * widths[0]


def test_in_units_that_are_stretched_the_interval_is_stretched():
    rng = np.random.default_rng(1)
    scores = rng.normal(5, 2, (40, 6))
    one, ten = (estimate.bbc(of.from_arrays(None, scale * scores, response="pointwise"), "mean") for scale in (1, 10))
    assert np.multiply(one.interval, 10) == pytest.approx(tuple(ten.interval))


def test_another_level_and_a_pickle_need_no_predictions():
    import pickle

    found = estimate.bbc(make_predictions("roc_auc"), "roc_auc")
    again = pickle.loads(pickle.dumps(found))
    assert again.confidence_interval(0.9) == found.confidence_interval(0.9)


def test_a_balanced_estimate_stays_within_the_range_of_the_metric():
    """The lead of the pooled score, added to the mean within folds, gave areas above 1."""
    for seed in range(12):
        r = np.random.default_rng(seed)
        y = r.permutation(np.arange(20) % 2)
        P = np.clip(0.5 + 0.4 * (2 * y[:, None] - 1) * r.random(5) + 0.2 * r.normal(size=(20, 5)), 0.01, 0.99)
        oof = of.from_arrays(y, P, response="proba", folds=np.arange(20) % 2)
        found = of.estimate.bbc(oof, "roc_auc", correction="balanced", n_resamples=200)
        assert found.interval.low <= found.value <= found.interval.high <= 1


def test_a_time_series_has_no_interval_as_for_one_configuration():
    from sklearn.model_selection import TimeSeriesSplit
    from sklearn.neighbors import KNeighborsRegressor

    y = np.cumsum(np.random.default_rng(0).normal(size=60))
    configs = of.grid("knn", KNeighborsRegressor(), n_neighbors=[1, 3])
    oof = of.collect(configs, np.arange(60.0)[:, None], y, TimeSeriesSplit(5), progress=False)
    found = of.estimate.bbc(oof, "mse", n_resamples=100)
    assert found.interval is None
    assert "time series" in next(note.text for note in found.notes if note.code == "OF218")
    with pytest.raises(NeedError, match="time series"):
        found.confidence_interval(0.9)
    low, high = found.confidence_interval(0.9, "percentile")  # as published, by name
    assert low < high


def test_without_an_interval_the_error_says_why():
    y = np.random.default_rng(0).normal(size=20)
    oof = of.from_arrays(y, np.c_[y, y + 1], response="value", folds=np.arange(20) % 4)
    found = of.estimate.bbc(oof, "mse", n_resamples=100)
    assert found.interval is None
    assert "OF221" not in {note.code for note in found.notes}
    with pytest.raises(NeedError, match="the score does not vary"):
        found.confidence_interval(0.9)


@pytest.mark.parametrize(("plan", "method"), [(of.Plan.leave_one_out(), "loo"), (of.Plan.bootstrap(10), "oob")])
def test_the_same_predictions_have_the_same_marks(plan, method):
    from sklearn.neighbors import KNeighborsClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    oof = of.collect(of.grid("k", KNeighborsClassifier(), n_neighbors=[1, 9]), X, y, plan, progress=False)
    own, bbc = (f(oof, "accuracy", n_resamples=100) for f in (getattr(of.estimate, method), of.estimate.bbc))
    assert own.interval == bbc.interval
    assert "OF221" in {note.code for note in own.notes} & {note.code for note in bbc.notes}


def test_a_function_and_a_loss_are_no_skill():
    oof = of.from_arrays(np.arange(40) % 2, np.random.default_rng(0).random((40, 3)), folds=np.arange(40) % 5)
    found = of.estimate.bbc(oof, lambda y, p: float(np.mean(y == p)), n_resamples=100)
    assert "OF221" not in {note.code for note in found.notes}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("groups", [None, np.arange(60) // 2])
@pytest.mark.parametrize("aggregate", ["pooled", "fold"])
def test_scores_that_the_selection_has_computed_give_the_same_interval(aggregate, groups, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(60) % 2)
    P = rng.random((60, 40)) * 0.8 + 0.2 * y[:, None]
    oof = of.from_arrays(y, P, folds=np.arange(60) // 12, groups=groups)
    found = of.estimate.bbc(oof, "roc_auc", aggregate=aggregate, n_resamples=300)
    monkeypatch.setattr(_bbc, "_MOST_KEPT", 0)
    again = of.estimate.bbc(oof, "roc_auc", aggregate=aggregate, n_resamples=300)
    assert found.intervals.spread == again.intervals.spread  # every bit
    assert found.value == again.value
    assert found.draws.tobytes() == again.draws.tobytes()
