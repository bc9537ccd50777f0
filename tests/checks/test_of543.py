"""Repeats that rank differently."""

import numpy as np
import pytest
from sklearn.model_selection import TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier

import outfold as of
from internals import CHECKS


@pytest.mark.parametrize("times", [1, 2])
def test_fires_where_halves_of_the_repeats_rank_differently(says, times):
    # Even repeats rank 0 < 1 < 2 < 3, odd ones the other way round.
    shares = np.array([[0.5, 0.6, 0.7, 0.8], [0.8, 0.7, 0.6, 0.5]] * times)
    P = (np.arange(100)[:, None, None] < 100 * shares.T[None]).astype(float)
    oof = of.from_arrays(None, P, folds=np.stack([np.arange(100) % 5] * 2 * times, axis=1), response="pointwise")
    assert says("OF543", oof) == (
        f"the two halves of the {2 * times} repeats rank the 4 configurations differently (rank correlation -1.00)."
    )


def test_silent_with_one_repeat_steady_repeats_and_nothing_to_rank(says, classes):
    assert says("OF543", classes(n=80, c=4)) is None  # nothing shows how another partition would rank them
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


@pytest.mark.parametrize(("folds", "first"), [(None, "Run each configuration more often"), (5, "Add repeats, `Plan")])
def test_the_advice_fits_the_design(folds, first):
    shares = np.array([[0.5, 0.6, 0.7, 0.8], [0.8, 0.7, 0.6, 0.5]])
    P = (np.arange(100)[:, None, None] < 100 * shares.T[None]).astype(float)
    parts = None if folds is None else np.stack([np.arange(100) % folds] * 2, axis=1)
    found = of.check(of.from_arrays(None, P, folds=parts, response="pointwise"))
    assert next(f.advice for f in found if f.code == "OF543").startswith(first)


def test_only_what_fires_on_runs_of_one_test_set_has_another_advice_for_them():
    assert {check.code for check in CHECKS.values() if check.untrained} == {"OF541", "OF543"}
    assert all("repeats=" not in check.untrained for check in CHECKS.values())
