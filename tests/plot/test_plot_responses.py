"""Pictures of predictions: curves whose areas are the metrics, calibration, confusion; scikit-learn is the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import confusion_matrix, precision_recall_curve, roc_curve

import outfold as of
from extras import mpl, plt
from internals import responses as numbers
from outfold.exceptions import InputError, NeedError

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def make(n=70, c=3, r=1, k=5, seed=0, digits=None):
    rng = np.random.default_rng(seed)
    y = np.append([0, 1], rng.integers(0, 2, n - 2))
    P = 1 / (1 + np.exp(-(y[:, None, None] - 0.5 + rng.normal(0, 1.2, (n, c, r)))))
    folds = np.stack([rng.permutation(np.arange(n) % k) for _ in range(r)], axis=1)
    return of.from_arrays(y, P if digits is None else P.round(digits), folds=folds, response="proba")


@pytest.fixture(scope="module")
def many():
    """Four classes with names, three repeats."""
    rng = np.random.default_rng(1)
    y = np.arange(120) % 4
    P = 0.6 * rng.dirichlet(np.ones(4), (120, 2, 3))
    P[np.arange(120), :, :, y] += 0.4
    folds = np.stack([rng.permutation(np.arange(120) % 5) for _ in range(3)], axis=1)
    return of.from_arrays(np.array(["a", "b", "$c$", "d"])[y], P, folds=folds, response="proba")


def curves(kind, oof, configs=None, positive=None, n=20):
    return numbers.threshold_curves(kind, oof, configs, positive, 0.95, n, 0)


@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([None, 1]))
def test_area_below_the_curve_is_the_metric(seed, repeats, digits):
    oof = make(n=24, c=1, r=repeats, k=3, seed=seed, digits=digits)
    roc = curves("roc", oof, 0, n=2).lines[0]
    assert np.trapezoid(roc.y, roc.x) == pytest.approx(oof.leaderboard("roc_auc").scores[0], abs=1e-12)
    pr = curves("precision_recall", oof, 0, n=2).lines[0]
    assert np.sum(np.diff(pr.x) * pr.y[1:]) == pytest.approx(oof.leaderboard("average_precision").scores[0], abs=1e-12)
    assert np.all(np.diff(roc.y) >= -1e-12)


@pytest.mark.parametrize("digits", [None, 1])
def test_points_of_one_repeat_are_those_of_scikit_learn(digits):
    oof = make(digits=digits)
    y, p = oof.target.y, oof.data[0, 1]
    fpr, tpr, _ = roc_curve(y, p, drop_intermediate=False)
    line = curves("roc", oof, 1).lines[0]
    ours = set(zip(line.x.round(12).tolist(), line.y.round(12).tolist(), strict=True))
    lowest = {x: (tpr[fpr == x].min(), tpr[fpr == x].max()) for x in fpr}
    assert ours == {(round(float(x), 12), round(float(v), 12)) for x, ends in lowest.items() for v in ends}
    precision, recall, _ = precision_recall_curve(y, p)
    pr = curves("precision_recall", oof, 1).lines[0]
    for x, v in zip(pr.x[1:], pr.y[1:], strict=True):
        assert v == pytest.approx(precision[np.isclose(recall, x)].max()) or v in precision[np.isclose(recall, x)]


def test_the_metric_beside_a_curve_is_that_of_cv():
    oof = make(r=2)
    for kind, metric in (("roc", "roc_auc"), ("precision_recall", "average_precision")):
        for line in numbers.threshold_curves(kind, oof, ["config 2", 0], None, 0.9, 50, 4).lines:
            alone = of.estimate.cv(
                oof, metric, line.name, aggregate="pooled", n_resamples=50, confidence_level=0.9, rng=4
            )
            assert (line.estimate.value, line.estimate.interval) == (alone.value, alone.interval)


def test_bands_are_percentiles_of_draws():
    """At one false positive rate, by hand: every draw scored by scikit-learn with the counts as weights."""
    from internals import Scoring, sample_bootstrap

    oof = make(c=1, r=1)
    line = curves("roc", oof, 0, n=60).lines[0]
    y, p = oof.target.y, oof.data[0, 0]
    at = 40
    values = []
    for block in sample_bootstrap(Scoring(oof, "roc_auc"), False, 0).blocks(60):
        for weights in block:
            fpr, tpr, _ = roc_curve(y, p, sample_weight=weights, drop_intermediate=False)
            met = np.isclose(fpr, line.grid[at], atol=1e-12)
            values.append(tpr[met].max() if met.any() else np.interp(line.grid[at], fpr, tpr))
    assert (line.low[at], line.high[at]) == pytest.approx(np.percentile(values, [2.5, 97.5]), abs=1e-9)
    assert np.all(line.low <= line.high)


@pytest.mark.parametrize("picture", [of.plot.roc, of.plot.precision_recall])
def test_curves_picture(picture):
    oof = make(r=2)
    ax = picture(oof, ["config 1", "config 0"], n_resamples=20)
    kind = "roc" if picture is of.plot.roc else "precision_recall"
    made = curves(kind, oof, ["config 1", "config 0"])
    for line in made.lines:
        assert any(
            np.array_equal(drawn.get_xdata(), line.x) and np.array_equal(drawn.get_ydata(), line.y)
            for drawn in ax.lines
        )
    legend = [t.get_text() for t in ax.get_legend().get_texts()]
    assert legend[0].startswith(f"config 1: {made.lines[0].estimate.metric} {made.lines[0].estimate.value:.4f} [")
    assert "positive class 1" in ax.get_title("left")
    assert "70 samples, 2 x 5-fold" in ax.texts[-1].get_text()


def test_the_three_best_where_none_are_named():
    oof = make(c=6)
    assert [line.name for line in curves("roc", oof).lines] == list(oof.leaderboard("roc_auc").configs[:3])


def test_many_classes_one_line_each_or_one_class(many):
    made = curves("roc", many, "config 1")
    assert [line.name for line in made.lines] == ["$c$", "a", "b", "d"]
    assert made.config == "config 1"
    alone = curves("roc", many, ["config 0", "config 1"], "$c$")
    assert alone.positive == "$c$"
    assert alone.lines[1].estimate.value == made.lines[0].estimate.value
    by_class = np.mean([line.estimate.value for line in made.lines])
    assert by_class == pytest.approx(many.sel(config=1).leaderboard("roc_auc_ovr").scores[0])
    of.plot.roc(many, n_resamples=5).figure.canvas.draw()
    with pytest.raises(InputError, match="too much for one picture"):
        of.plot.roc(many, [0, 1])
    with pytest.raises(InputError, match="no class 'z'"):
        of.plot.roc(many, 0, positive="z")


def test_calibration_bins():
    oof = make(n=200, c=2)
    made = numbers.calibration_bins(oof, 1, None, 8, 0.95, 20, 0)
    line = made.lines[0]
    y, p = oof.target.y, oof.data[0, 1]
    observed, predicted = calibration_curve(y, p, n_bins=8, strategy="quantile")
    # Bins of equal size differ by where exactly a quantile lies: at most one sample moves at each edge.
    assert line.predicted == pytest.approx(predicted, abs=0.01)
    assert line.observed == pytest.approx(observed, abs=0.05)
    assert line.n.sum() == 200
    assert np.ptp(line.n) <= 1
    assert np.sum(line.n * line.observed) == pytest.approx(y.sum())
    assert np.sum(line.n * line.predicted) == pytest.approx(p.sum())
    assert line.estimate.value == of.estimate.cv(oof, "brier", 1, aggregate="pooled").value
    assert np.all((line.low <= line.observed + 1e-12) & (line.observed <= line.high + 1e-12))


def test_equal_probabilities_share_a_bin():
    oof = make(n=60, digits=1)
    line = numbers.calibration_bins(oof, 0, None, 30, 0.95, 5, 0).lines[0]
    assert len(line.n) == len(np.unique(oof.data[0, 0]))
    assert line.predicted == pytest.approx(np.unique(oof.data[0, 0]))
    constant = of.from_arrays([0, 1] * 10, np.full((20, 1), 0.5), response="proba")
    flat = numbers.calibration_bins(constant, 0, None, 10, 0.95, 5, 0).lines[0]
    assert (flat.predicted.tolist(), flat.observed.tolist()) == ([0.5], [0.5])


def test_calibration_picture():
    oof = make(n=100)
    ax = of.plot.calibration(oof, [0, 2], bins=5, n_resamples=20)
    made = numbers.calibration_bins(oof, [0, 2], None, 5, 0.95, 20, 0)
    for line in made.lines:
        assert any(np.array_equal(drawn.get_ydata(), line.observed) for drawn in ax.lines)
    assert "about 20 predictions per point" in " ".join(ax.texts[-1].get_text().split())


def test_confusion_is_the_mean_over_repeats(many):
    made = numbers.confusion_counts(many, "config 0")
    labels = many.respond("label")[:, 0]
    expected = np.mean([confusion_matrix(many.target.y, labels[r]) for r in range(3)], axis=0)
    assert np.array_equal(made.counts, expected)
    assert made.accuracy == pytest.approx(np.trace(expected) / 120)
    assert made.shares.sum(axis=1) == pytest.approx(1)
    assert numbers.confusion_counts(many, None).config == many.leaderboard("accuracy").configs[0]
    ax = of.plot.confusion(many, "config 0")
    ax.figure.canvas.draw()
    assert np.array_equal(ax.images[0].get_array(), made.shares)
    assert f"accuracy {made.accuracy:.4f}" in ax.texts[-1].get_text()
    assert [t.get_text() for t in ax.get_yticklabels()] == ["$c$", "a", "b", "d"]
    assert not any(t.get_parse_math() for t in ax.get_yticklabels())


def test_confusion_of_many_classes_has_no_numbers():
    y = np.arange(90) % 30
    oof = of.from_arrays(y, np.roll(y, 3)[:, None], response="label")
    ax = of.plot.confusion(oof)
    assert len(ax.texts) == 1
    assert numbers.confusion_counts(oof, 0).counts.sum() == 90


def test_refused_without_classes_or_probabilities():
    values = of.from_arrays(np.linspace(0, 1, 20), np.random.default_rng(0).random((20, 1)))
    for picture in (of.plot.roc, of.plot.precision_recall, of.plot.confusion):
        with pytest.raises(NeedError, match="needs classes; these predictions are for regression"):
            picture(values)
        with pytest.raises(InputError, match="needs Predictions"):
            picture(3)
    labels = of.from_arrays([0, 1] * 10, [[0], [1]] * 10, response="label")
    with pytest.raises(NeedError, match="needs class probabilities"):
        of.plot.calibration(labels)
    with pytest.raises(NeedError, match="scores"):
        of.plot.roc(labels, 0)
    oof = make()
    with pytest.raises(InputError, match="positive class of these predictions is 1"):
        of.plot.roc(oof, positive=0)
    with pytest.raises(InputError, match="empty list"):
        of.plot.roc(oof, [])
    with pytest.raises(InputError, match="bins must be"):
        of.plot.calibration(oof, bins=1)
    with pytest.raises(InputError, match="7 lines at most"):
        of.plot.roc(make(c=8), range(8), n_resamples=2)


def test_scores_without_probabilities_have_curves():
    rng = np.random.default_rng(0)
    oof = of.from_arrays([0, 1] * 20, rng.normal(size=(40, 1)), response="score", folds=np.arange(40) % 4)
    line = curves("roc", oof).lines[0]
    assert np.trapezoid(line.y, line.x) == pytest.approx(oof.leaderboard("roc_auc").scores[0])
