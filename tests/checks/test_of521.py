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


def grouped(y, groups, folds, **options):
    return of.from_arrays(
        y, np.linspace(0, 1, len(y))[:, None], folds=folds, groups=groups, response="proba", **options
    )


def test_a_class_of_fewer_groups_than_folds_cannot_be_in_all(says):
    groups = np.arange(120) // 4
    y = (groups < 3).astype(int)  # twelve samples, but three groups
    spread = np.where(groups < 3, groups, groups % 6)
    assert says("OF521", grouped(y, groups, spread), "accuracy") is None
    crowded = np.where(groups < 3, 0, groups % 6)
    assert says("OF521", grouped(y, groups, crowded), "accuracy") == (
        "class 1, 12 of 120 samples in 3 groups, is missing in 5 of 6 folds; the plan is not stratified by class."
    )
    assert says("OF521", grouped(y, groups, groups), "accuracy") is None  # each group is a fold
    # Groups that are on both sides of a split do not keep a sample from any fold.
    assert says("OF521", grouped(y, groups, np.arange(120) % 4 + 4 * (groups % 2)), "accuracy") is None
    split = np.where(np.arange(120) % 4 > 0, crowded, 1)
    assert "12 of 120 samples, is missing in 4 of 6 folds" in says("OF521", grouped(y, groups, split), "accuracy")


def test_a_stratified_plan_is_not_called_one_without_strata(says):
    rng = np.random.default_rng(0)
    # Four groups have class 1, in four folds; what keeps the sizes and shares even joins two of them.
    sizes, positives = [9, 21, 15, 2, 10, 13], [2, 5, 0, 0, 1, 1]
    groups = np.repeat(np.arange(6), sizes)
    y = np.concatenate([np.arange(n) < m for n, m in zip(sizes, positives, strict=True)]).astype(int)
    oof = of.collect(GaussianNB(), rng.normal(size=(70, 2)), y, of.Plan(folds=4), groups=groups, progress=False)
    assert says("OF521", oof, "accuracy") == (
        "class 1, 9 of 70 samples in 4 groups, is missing in 1 of 4 folds; the plan is stratified, but holds out whole groups."
    )
    y = (np.arange(60) < 2).astype(int)
    plan = of.Plan.holdout(0.2)
    seed = next(s for s in range(20) if not y[plan.split(y, rng=s).test_rows(0, 0)].any())
    oof = of.collect(GaussianNB(), rng.normal(size=(60, 2)), y, plan, rng=seed, progress=False)
    assert says("OF521", oof, "accuracy").endswith("the plan is stratified, but the class is rare.")
