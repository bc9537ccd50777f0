"""Failed configurations."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import outfold as of


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 2)), np.arange(40) % 2


def test_fires_with_how_many(says, data):
    # 32 samples to learn from have no 39 neighbours.
    configs = of.grid("knn", KNeighborsClassifier(), n_neighbors=[1, 3, 39]) | {"logit": LogisticRegression()}
    oof = of.collect(configs, *data, 5, progress=False)
    assert says("OF205", oof) == "1 of 4 configurations failed and cannot be selected."


def test_silent_where_all_went_well(says, data):
    oof = of.collect(of.grid("knn", KNeighborsClassifier(), n_neighbors=[1, 3]), *data, 5, progress=False)
    assert says("OF205", oof) is None
