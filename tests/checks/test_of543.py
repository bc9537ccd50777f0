"""Too few repeats for a stable ranking."""

import numpy as np
from sklearn.model_selection import TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier

import outfold as of


def test_fires_on_one_partition_of_few_samples(says, classes):
    assert says("OF543", classes(n=80, c=4)) == (
        "1 partition of 80 samples: another one may rank the 4 configurations differently."
    )
    assert says("OF543", classes(n=80, c=4, r=2)).startswith("2 partitions of 80 samples")


def test_fires_where_halves_of_the_repeats_rank_differently(says):
    # Even repeats rank 0 < 1 < 2 < 3, odd ones the other way round.
    shares = np.array([[0.5, 0.6, 0.7, 0.8], [0.8, 0.7, 0.6, 0.5]] * 2)
    P = (np.arange(100)[:, None, None] < 100 * shares.T[None]).astype(float)
    oof = of.from_arrays(None, P, folds=np.stack([np.arange(100) % 5] * 4, axis=1), response="pointwise")
    assert says("OF543", oof) == (
        "even and odd ones of 4 repeats rank the 4 configurations with a correlation of -1.00 only."
    )


def test_silent_with_many_samples_steady_repeats_and_nothing_to_rank(says, classes):
    assert says("OF543", classes(n=600, c=4)) is None
    assert says("OF543", classes(n=80, c=4, r=6, signal=[0.2, 1.0, 3.0, 9.0])) is None
    assert says("OF543", classes(n=80, c=1)) is None
    assert says("OF543", classes(n=80, folds=None)) is None
    assert says("OF543", classes(n=40, folds=np.arange(40)), "accuracy") is None


def test_silent_on_a_time_series(says):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    configs = of.grid("knn", KNeighborsClassifier(), n_neighbors=[1, 3, 5])
    oof = of.collect(configs, rng.normal(size=(60, 2)), y, TimeSeriesSplit(4), progress=False)
    assert says("OF543", oof) is None
