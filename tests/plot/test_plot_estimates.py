"""Pictures of estimates: the numbers are those of the API, the axes hold them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import outfold as of
from extras import mpl, plt
from internals import estimates as numbers
from outfold.exceptions import InputError

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def oof():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 90)
    P = 1 / (1 + np.exp(-(y[:, None, None] - 0.5 + rng.normal(0, 1.5, (90, 12, 2)))))
    folds = np.stack([rng.permutation(np.arange(90) % 5) for _ in range(2)], axis=1)
    return of.from_arrays(y, P, folds=folds, response="proba", configs=[f"model({i})" for i in range(12)])


def texts(ax):
    return [t.get_text() for t in ax.texts] + [ax.get_title("left")]


@pytest.mark.parametrize("metric", ["roc_auc", "accuracy", "log_loss"])
def test_rows_are_scores_and_intervals_of_single_configurations(oof, metric):
    made = numbers.best_configurations(oof, metric, 4, None, 0.9, 200, 3)
    board = oof.leaderboard(metric)
    assert [row.name for row in made.rows] == list(board.configs[:4])
    for row in made.rows:
        alone = of.estimate.cv(oof, metric, row.name, aggregate="pooled", n_resamples=200, confidence_level=0.9, rng=3)
        assert row.score == pytest.approx(alone.value, abs=1e-14)
        assert alone.interval_method == "training"
        assert row.interval == pytest.approx(alone.interval, abs=1e-14)
    expected = of.estimate.bbc(oof, metric, n_resamples=200, confidence_level=0.9, rng=3)
    assert made.estimate.value == expected.value
    assert made.estimate.interval == expected.interval


def test_forest_shows_the_numbers(oof):
    ax = of.plot.configurations(oof, "accuracy", top=5, n_resamples=100)
    made = numbers.best_configurations(oof, "accuracy", 5, None, 0.95, 100, 0)
    drawn = [line.get_xdata() for line in ax.lines]
    for row in made.rows:
        assert any(len(x) == 1 and x[0] == row.score for x in drawn)
        # The selected configuration has one interval, that of the corrected estimate.
        shown = any(len(x) == 2 and tuple(x) == tuple(row.interval) for x in drawn)
        assert shown == (row.name != made.estimate.selected)
    assert any(len(x) == 2 and tuple(x) == tuple(made.estimate.interval) for x in drawn)
    assert any(len(x) == 1 and x[0] == made.estimate.value for x in drawn)
    labels = [t.get_label() for t in ax.get_yticklabels()]
    assert labels == [*(row.name for row in made.rows), "winner on new samples"]
    assert ax.get_title("left") == "accuracy of the 5 best of 12 configurations"
    assert "90 samples, 2 x 5-fold" in " ".join(texts(ax))


def test_forest_of_all_and_of_one(oof):
    assert of.plot.configurations(oof, "accuracy", n_resamples=20).get_title("left").startswith("accuracy of all 12")
    one = of.plot.configurations(oof.sel(config=0), "accuracy", n_resamples=20)
    assert one.get_title("left") == "accuracy of the one configuration"


def test_an_estimate_that_is_there_is_taken(oof):
    found = of.estimate.bbc(oof, "accuracy", n_resamples=150, rng=7)
    made = numbers.best_configurations(oof, "accuracy", 3, found, 0.95, 20, 0)
    assert made.estimate is found
    with pytest.raises(InputError, match="same predictions and metric"):
        of.plot.configurations(oof, "roc_auc", estimate=found, n_resamples=20)
    with pytest.raises(InputError, match="must be an Estimate"):
        of.plot.configurations(oof, "accuracy", estimate=0.7, n_resamples=20)


def test_optimism_shows_both_scores(oof):
    found = [of.estimate.bbc(oof, "accuracy", n_resamples=100), of.estimate.tt(oof, "accuracy")]
    ax = of.plot.optimism(found)
    points = {
        (float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in ax.lines if len(line.get_xdata()) == 1
    }
    assert points == {(f.value, i) for i, f in enumerate(found)} | {(f.naive, i) for i, f in enumerate(found)}
    assert [t.get_text() for t in ax.get_yticklabels()] == ["bbc", "tt"]
    for one in found:
        assert any(f"optimism {one.optimism:+.4f}" == text for text in texts(ax))


def test_optimism_names(oof):
    found = of.estimate.bbc(oof, "accuracy", n_resamples=50)
    assert list(numbers.named_estimates([found, found])) == ["bbc (1)", "bbc (2)"]
    assert list(numbers.named_estimates({"mine": found})) == ["mine"]
    own = of.plot.optimism(of.estimate.cv(oof, "accuracy", 0))
    assert not any("optimism" in text for text in texts(own))
    with pytest.raises(InputError, match="needs results of one metric"):
        of.plot.optimism([found, of.estimate.cvt(oof, "roc_auc")])
    for wrong in (1.0, [], "bbc", oof, [found, 3]):
        with pytest.raises(InputError, match="needs an Estimate"):
            of.plot.optimism(wrong)


def test_draws_are_counted(oof):
    found = of.estimate.bbc(oof, "accuracy", n_resamples=300)
    counts, edges = numbers.histogram(found, None)
    assert counts.sum() == 300
    assert (edges[0], edges[-1]) == (found.draws.min(), found.draws.max())
    assert 10 <= len(counts) <= 60
    assert len(numbers.histogram(found, 7)[0]) == 7
    ax = of.plot.draws(found)
    legend = [t.get_text() for t in ax.get_legend().get_texts()]
    low, high = found.interval
    assert legend == [
        f"estimate {found.value:.2f}",
        f"95% CI {low:.2f} to {high:.2f}",
        f"winner's score {found.naive:.2f}",
    ]


def test_draws_without_spread_and_without_draws(oof):
    same = of.from_arrays(None, np.ones((20, 2)), response="pointwise")
    ax = of.plot.draws(of.estimate.bbc(same, "mean", n_resamples=20))
    assert ax.get_legend() is not None
    with pytest.raises(InputError, match="tt has no draws"):
        of.plot.draws(of.estimate.tt(oof, "accuracy"))
    with pytest.raises(InputError, match="needs an Estimate"):
        of.plot.draws([0.1, 0.2])
    with pytest.raises(InputError, match="bins must be"):
        of.plot.draws(of.estimate.bbc(oof, "accuracy", n_resamples=20), bins=0)


def test_selection_counts_the_choices(oof):
    found = of.estimate.bbc(oof, "accuracy", n_resamples=250)
    made = numbers.selection_shares(found, 3)
    counted = Counter(found.chosen)
    assert {row.name: row.times for row in made.rows} == dict(sorted(counted.items(), key=lambda i: (-i[1], i[0]))[:3])
    assert made.rest.times == 250 - sum(row.times for row in made.rows)
    assert sum(row.share for row in [*made.rows, made.rest]) == pytest.approx(1)
    ax = of.plot.selection(found, top=3)
    assert [bar.get_width() for bar in ax.patches] == [row.share for row in [*made.rows, made.rest]]
    assert f"{len(counted)} of 12 configurations" in " ".join(" ".join(texts(ax)).split())
    assert numbers.selection_shares(found, 50).rest is None


def test_selection_needs_choices(oof):
    with pytest.raises(InputError, match="selects once only"):
        of.plot.selection(of.estimate.cvt(oof, "accuracy"))
    with pytest.raises(InputError, match="needs an Estimate"):
        of.plot.selection("bbc")
    with pytest.raises(InputError, match="top must be"):
        of.plot.selection(of.estimate.bbc(oof, "accuracy", n_resamples=20), top=0)


def test_axes_given_are_the_axes_returned(oof):
    mine = plt.subplots()[1]
    found = of.estimate.bbc(oof, "accuracy", n_resamples=50)
    assert of.plot.draws(found, ax=mine) is mine
    with pytest.raises(InputError, match="ax must be matplotlib Axes"):
        of.plot.draws(found, ax=plt.figure())


def test_dropped_configurations_are_counted():
    P = np.ma.masked_array(np.random.default_rng(1).random((40, 3)), mask=np.zeros((40, 3), bool))
    P[20:, 2] = np.ma.masked
    oof = of.from_arrays([0, 1] * 20, P, folds=np.repeat([0, 1], 20), response="proba")
    state = np.array(oof.state)
    state[2, 0, 1] = of.State.DROPPED
    from dataclasses import replace

    ax = of.plot.configurations(replace(oof, state=state), "accuracy", n_resamples=50)
    assert ax.get_title("left") == "accuracy of the 2 best of 3 configurations"
    assert "1 dropped or failed" in " ".join(texts(ax))


def few(y, P, folds, **more):
    return of.from_arrays(y, P, folds=folds, response="proba", **more)


@pytest.mark.parametrize("design", ["mean over folds", "one test set", "groups", "a time series", "folds of one"])
@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "f1"])
def test_the_picture_and_the_estimate_of_one_configuration_agree(design, metric):
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    P = 1 / (1 + np.exp(-(y[:, None] - 0.5 + rng.normal(0, 1.0, (60, 3)))))
    folds = {"one test set": np.zeros(60, int), "folds of one": np.arange(60)}.get(design, np.arange(60) // 2 % 5)
    more = {"groups": np.arange(60) // 4} if design == "groups" else {}
    oof = few(y, P, folds, **more)
    if design == "a time series":
        from sklearn.model_selection import TimeSeriesSplit

        X = np.c_[y + rng.normal(size=60)]
        oof = of.collect({f"knn({k})": of_neighbours(k) for k in (1, 5)}, X, y, of.Plan.from_cv(TimeSeriesSplit(4)))
    aggregate = "fold" if design == "mean over folds" else "pooled"
    oof = oof.selecting_by(metric=metric, aggregate=aggregate)
    made = numbers.best_configurations(oof, None, 3, None, 0.95, 100, 0)
    assert len(made.rows) == oof.n_configs
    for row in made.rows:
        alone = of.estimate.cv(oof, config=row.name, aggregate=aggregate, n_resamples=100)
        assert row.score == pytest.approx(alone.value, abs=1e-14)
        assert (row.interval is None) == (alone.interval is None) == (design == "a time series")
        if row.interval is not None:
            assert row.interval == pytest.approx(alone.interval, abs=1e-12)


def of_neighbours(k):
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(k)


def test_intervals_are_of_the_folds_that_all_have(oof):
    state = oof.state.copy()
    state[3, 1, 4] = 0  # one configuration has still to do a fold
    partly = replace(oof, state=state)
    made = numbers.best_configurations(partly, "accuracy", 12, None, 0.95, 100, 0)
    state = state.copy()
    state[:, 1, 4] = 0
    for row in made.rows:
        alone = of.estimate.cv(replace(oof, state=state), "accuracy", row.name, aggregate="pooled", n_resamples=100)
        assert (row.score, *row.interval) == pytest.approx((alone.value, *alone.interval), abs=1e-12)


def test_nothing_is_no_estimate():
    with pytest.raises(InputError, match=r"needs an Estimate or several, .*; got NoneType"):
        of.plot.optimism(None)
