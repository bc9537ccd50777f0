"""Folds without a class."""

import numpy as np
from sklearn.naive_bayes import GaussianNB

import outfold as of


def test_fires_with_the_class_and_the_folds(says):
    y = np.array(["a"] * 50 + ["b"] * 46 + ["c"] * 4)
    P = np.random.default_rng(0).dirichlet(np.ones(3), (100, 2))[:, :, None]
    oof = of.from_arrays(y, P, folds=np.arange(100) // 10, response="proba")
    # c stands in the last fold only, a in the first five, b in the last five.
    assert says("OF521", oof) == (
        "class c, 4 of 100 samples, is missing in 9 of 10 folds; the plan is not stratified by class."
    )


def test_silent_where_all_are_there_or_nothing_can_be(says, classes):
    assert says("OF521", classes()) is None
    assert says("OF521", classes(folds=np.arange(100)), "accuracy") is None  # leave-one-out has a check of its own
    y = np.random.default_rng(0).normal(size=30)
    assert says("OF521", of.from_arrays(y, y[:, None] + 0.1, folds=np.arange(30) % 3)) is None


def test_a_hold_out_can_lack_a_class_too(says):
    rng = np.random.default_rng(0)
    y = (np.arange(60) < 2).astype(int)
    plan = of.Plan.holdout(0.2, stratify=False)
    seed = next(s for s in range(20) if not y[plan.split(y, rng=s).test_rows(0, 0)].any())
    oof = of.collect(GaussianNB(), rng.normal(size=(60, 2)), y, plan, rng=seed, progress=False)
    assert says("OF521", oof, "accuracy").startswith("class 1, 2 of 60 samples, is missing in 1 of 1 folds")
