"""Dropped on few predictions."""

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

import outfold as of


def dropped(min_predictions):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = y[:, None] + 0.1 * rng.normal(size=(120, 1))
    configs = of.grid("knn", KNeighborsClassifier(), n_neighbors=[1, 3]) | {"none": DummyClassifier()}
    rule = of.drop.Bootstrap(metric="accuracy", min_predictions=min_predictions)
    return of.collect(configs, X, y, of.Plan(folds=10), drop=rule, progress=False)


def test_fires_with_the_fewest_samples(says):
    oof = dropped(min_predictions=0)
    (drop,) = oof.provenance["drops"]
    assert drop["n_predictions"] == 12
    assert says("OF210", oof, "accuracy") == "1 configuration was dropped on fewer than 50 samples (from 12)."
    assert says("OF207", oof, "accuracy") == "1 of 3 configurations was dropped early and cannot be selected."


def test_silent_with_the_default(says):
    oof = dropped(min_predictions=50)
    assert len(oof.provenance["drops"]) == 1
    assert says("OF210", oof, "accuracy") is None
