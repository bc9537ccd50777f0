"""No better than chance."""

import numpy as np
import pytest

import outfold as of
from internals import Case


@pytest.mark.parametrize(
    ("metric", "chance"),
    [
        ("roc_auc", "0.5000, that of ranking at random"),
        ("balanced_accuracy", "0.5000, that of always predicting one class"),
        ("mcc", "0.0000, that of always predicting one class"),
    ],
)
def test_fires_on_noise_and_not_on_signal(says, classes, metric, chance):
    oof = classes(signal=0.0)
    made = of.estimate.bbc(oof, metric)
    text = says("OF502", oof, metric)
    assert f"the estimate, {made.value:.4f}, 95% CI [{made.interval.low:.4f}, {made.interval.high:.4f}]" in text
    assert text.endswith(f"cannot be told from {chance}.")
    assert says("OF502", classes(signal=3.0), metric) is None


def test_values_and_losses(says):
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    folds = np.arange(60) % 5
    assert "cannot be told from 0.0000" in says("OF502", of.from_arrays(y, 0.1 * rng.normal(size=(60, 2)), folds=folds))
    assert says("OF502", of.from_arrays(y, y[:, None] + 0.1 * rng.normal(size=(60, 2)), folds=folds)) is None
    # A loss without a level of chance.
    assert says("OF502", of.from_arrays(y, rng.normal(size=(60, 2)), folds=folds), "max_error") is None


@pytest.mark.parametrize("metric", ["mse", "rmse", "mae", "r2", "explained_variance", "d2_absolute_error_score"])
def test_levels_of_values_are_those_of_a_constant(says, metric):
    y = np.random.default_rng(0).exponential(size=80)
    constant = np.full((80, 1), np.median(y) if metric in ("mae", "d2_absolute_error_score") else y.mean())
    oof = of.from_arrays(y, constant, response="value")
    assert Case(oof, metric).baseline.value == pytest.approx(of.estimate.cvt(oof, metric).value, abs=1e-12)
    assert says("OF502", of.from_arrays(y, 5 + np.zeros((80, 1)), response="value"), metric) is not None
    near = y[:, None] + 0.01
    assert says("OF502", of.from_arrays(y, near, response="value"), metric) is None


@pytest.mark.parametrize("metric", ["log_loss", "brier", "average_precision", "d2_log_loss_score", "d2_brier_score"])
def test_levels_of_probabilities_are_those_of_the_shares(says, classes, metric):
    y = np.arange(80) % 4 == 0
    oof = of.from_arrays(y, np.full((80, 1), 0.25), response="proba")
    assert Case(oof, metric).baseline.value == pytest.approx(of.estimate.cvt(oof, metric).value, abs=1e-12)
    assert says("OF502", classes(signal=0.0), metric) is not None
    assert says("OF502", classes(signal=3.0), metric) is None


@pytest.mark.parametrize("metric", ["f1", "f2", "f0.5", "f3"])
def test_levels_of_f_are_those_of_predicting_all_positive(says, metric):
    y = np.arange(90) % 3 == 0
    folds = np.arange(90) // 18
    oof = of.from_arrays(y, np.ones((90, 1), dtype=int), folds=folds, response="label")
    level, whose = Case(oof, metric).baseline
    assert level == pytest.approx(of.estimate.cvt(oof, metric, aggregate="pooled").value, abs=1e-12)
    assert whose == "always predicting True"
    noise = np.random.default_rng(0).random((90, 2)) < 0.5
    text = says("OF502", of.from_arrays(y, noise.astype(int), folds=folds, response="label"), metric)
    assert text.endswith(f"{level:.4f}, that of always predicting True.")
    right = (y[:, None] ^ (np.random.default_rng(0).random((90, 2)) < 0.01)).astype(int)
    assert says("OF502", of.from_arrays(y, right, folds=folds, response="label"), metric) is None


def test_f1_of_equal_classes_is_two_thirds_without_learning_anything():
    oof = of.from_arrays(np.arange(60) % 2, np.ones((60, 1), dtype=int), folds=np.arange(60) // 12, response="label")
    assert Case(oof, "f1").baseline.value == pytest.approx(2 / 3)
    assert Case(oof, "f1_macro").baseline is None
    assert Case(oof, "recall").baseline is None


def test_worse_than_chance_all_over_is_said(says):
    rng = np.random.default_rng(0)
    y = rng.normal(size=100)
    values = of.from_arrays(y, -y[:, None] + 0.1 * rng.normal(size=(100, 2)), folds=np.arange(100) % 5)
    assert says("OF502", values, "r2").endswith("is worse than 0.0000, that of always predicting the mean.")
    labels = np.arange(100) % 2
    wrong = of.from_arrays(
        labels, (1 - labels)[:, None] ^ (rng.random((100, 2)) < 0.1), folds=np.arange(100) % 5, response="label"
    )
    assert says("OF502", wrong, "accuracy").endswith("is worse than 0.5000, that of always predicting 0.")


def test_a_ranking_of_the_other_class_has_its_own_check(says):
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    turned = of.from_arrays(
        y, 0.5 - 0.3 * y[:, None] + 0.2 * rng.random((100, 2)), folds=np.arange(100) % 5, response="proba"
    )
    assert says("OF213", turned, "roc_auc") is not None
    assert says("OF502", turned, "roc_auc") is None


def test_leaves_imbalanced_accuracy_to_its_own_check(says, classes):
    oof = classes(positives=15, signal=0.0)
    assert says("OF501", oof, "error") is not None
    assert says("OF502", oof, "error") is None
    balanced = classes(signal=0.0)
    assert "cannot be told from 0.5000" in says("OF502", balanced, "error")
