"""No better than chance."""

import numpy as np
import pytest

import outfold as of
from outfold._checks.metric import _CHANCE


@pytest.mark.parametrize(
    ("metric", "chance"), [("roc_auc", "0.5000"), ("balanced_accuracy", "0.5000"), ("mcc", "0.0000")]
)
def test_fires_on_noise_and_not_on_signal(says, classes, metric, chance):
    oof = classes(signal=0.0)
    made = of.estimate.bbc(oof, metric)
    text = says("OF502", oof, metric)
    assert f"the estimate, {made.value:.4f}, 95% CI [{made.interval.low:.4f}, {made.interval.high:.4f}]" in text
    assert text.endswith(f"cannot be told from {chance}, that of chance.")
    assert says("OF502", classes(signal=3.0), metric) is None


def test_values_and_losses(says):
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    folds = np.arange(60) % 5
    assert "cannot be told from 0.0000" in says("OF502", of.from_arrays(y, 0.1 * rng.normal(size=(60, 2)), folds=folds))
    assert says("OF502", of.from_arrays(y, y[:, None] + 0.1 * rng.normal(size=(60, 2)), folds=folds)) is None
    # A loss without a level of chance.
    assert says("OF502", of.from_arrays(y, rng.normal(size=(60, 2)), folds=folds), "mse") is None


def test_leaves_imbalanced_accuracy_to_its_own_check(says, classes):
    oof = classes(positives=15, signal=0.0)
    assert says("OF501", oof, "error") is not None
    assert says("OF502", oof, "error") is None
    balanced = classes(signal=0.0)
    assert "cannot be told from 0.5000" in says("OF502", balanced, "error")


def test_levels_are_those_of_known_metrics():
    assert set(_CHANCE) <= set(of.metrics.names())
