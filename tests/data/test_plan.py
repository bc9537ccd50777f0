"""Plans: every sample held out once, classes even, groups whole, blocked overlaps exact."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import (
    KFold,
    LeaveOneGroupOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    check_cv,
)

import outfold as of
from internals import encode, fingerprint, fold_scores
from outfold import Plan
from outfold.exceptions import InputError


@st.composite
def class_labels(draw, least=2):
    sizes = draw(st.lists(st.integers(least, 25), min_size=2, max_size=4))
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return np.random.default_rng(draw(st.integers(0, 10**6))).permutation(labels)


@given(class_labels(), st.integers(2, 12), st.integers(1, 3), st.integers(0, 99))
def test_every_sample_held_out_once_and_classes_even(y, folds, repeats, seed):
    assume(folds <= len(y))
    splits = Plan(folds, repeats).split(y, rng=seed)
    k = folds
    assert splits.plan.folds == k
    assert splits.folds.shape == (len(y), repeats)
    for r in range(repeats):
        column = splits.folds[:, r]
        assert set(column) == set(range(k))
        sizes = np.bincount(column)
        assert sizes.max() - sizes.min() <= 1
        for label in np.unique(y):
            counts = np.bincount(column[y == label], minlength=k)
            assert counts.max() - counts.min() <= 1


@given(class_labels(), st.integers(0, 99))
def test_train_and_test_rows_are_complements(y, seed):
    splits = Plan(folds=2).split(y, rng=seed)
    for r, k in splits.cells:
        both = np.concatenate([splits.train_rows(r, k), splits.test_rows(r, k)])
        assert np.array_equal(np.sort(both), np.arange(len(y)))
    assert not np.isin(splits.train_rows(0, 0, also_without=1), splits.test_rows(0, 1)).any()


@given(st.integers(2, 4), st.integers(1, 9), st.integers(0, 99))
def test_blocked_overlaps_are_exactly_a_quarter(k, per_block, seed):
    m = 2**k - 1
    n = (m + 1) * per_block
    splits = Plan.blocked(m).split(np.linspace(0, 1, n) ** 2, rng=seed)
    for r1 in range(m):
        for r2 in range(r1):
            for half1 in (0, 1):
                for half2 in (0, 1):
                    shared = np.intersect1d(splits.train_rows(r1, half1), splits.train_rows(r2, half2))
                    assert len(shared) == n / 4


@given(class_labels(least=8), st.integers(2, 3), st.integers(0, 99))
def test_blocked_halves_within_one_sample_a_block(y, k, seed):
    m = 2**k - 1
    splits = Plan.blocked(m).split(y, rng=seed)
    # Sizes of blocks differ by at most one, so a quarter of the blocks is within one sample a block of N / 4.
    for r1 in range(m):
        for r2 in range(r1):
            shared = np.sum((splits.folds[:, r1] == 0) & (splits.folds[:, r2] == 0))
            assert abs(shared - len(y) / 4) <= (m + 1) / 4
    for label in np.unique(y):
        for r in range(m):
            counts = np.bincount(splits.folds[y == label, r], minlength=2)
            assert abs(int(counts[0]) - int(counts[1])) <= (m + 1) // 2


def test_blocked_three_by_two_is_table_1_of_wang():
    # Four blocks; the three pairings put every two blocks together exactly once.
    splits = Plan.blocked(3).split(np.linspace(0, 1, 4) ** 2)
    together = np.zeros((4, 4), dtype=int)
    for r in range(3):
        together += splits.folds[:, r][:, None] == splits.folds[:, r]
    assert np.array_equal(together, 2 * np.eye(4) + np.ones((4, 4)))


@given(st.integers(0, 99), st.booleans(), st.integers(2, 5))
def test_a_group_never_stands_on_both_sides(seed, stratify, folds):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 12, 80)
    groups[:12] = np.arange(12)
    y = rng.integers(0, 2, 80)
    splits = Plan(folds, 2, stratify=stratify).split(y, groups, rng=seed)
    assert splits.plan.groups is True
    for r, k in splits.cells:
        assert not np.isin(groups[splits.train_rows(r, k)], groups[splits.test_rows(r, k)]).any()


@given(class_labels(), st.floats(0.1, 0.9), st.integers(0, 99))
def test_holdout_keeps_the_share_of_every_class(y, test, seed):
    splits = Plan.repeated_holdout(3, test).split(y, rng=seed)
    n_test = min(max(round(test * len(y)), 1), len(y) - 1)
    for r in range(3):
        held = splits.folds[:, r] == 0
        assert held.sum() == n_test
        for label in np.unique(y):
            assert abs(held[y == label].sum() - n_test * np.mean(y == label)) < 2


def test_grouped_holdout_keeps_groups_whole():
    groups = np.repeat(np.arange(10), 5)
    splits = Plan.holdout(0.3).split(np.tile([0, 1], 25), groups)
    held = splits.folds[:, 0] == 0
    assert held.sum() == 15
    assert not np.isin(groups[held], groups[~held]).any()


def test_leave_one_out_and_leave_one_group_out():
    assert np.array_equal(Plan.leave_one_out().split([0, 1, 0, 1]).folds[:, 0], [0, 1, 2, 3])
    grouped = Plan.leave_one_out().split([0, 1, 0, 1], groups=["b", "a", "b", "a"])
    assert np.array_equal(grouped.folds[:, 0], [1, 0, 1, 0])
    assert str(grouped.plan) == "leave-one-group-out"


def test_more_repeats_leave_the_earlier_ones():
    y = np.tile([0, 1], 20)
    few, many = Plan(5, 2).split(y, rng=3), Plan(5, 4).split(y, rng=3)
    assert np.array_equal(few.folds, many.folds[:, :2])
    assert not np.array_equal(many.folds[:, 0], many.folds[:, 1])


def test_seed_decides_the_splits():
    y = np.tile([0, 1], 20)
    assert np.array_equal(Plan(5).split(y, rng=1).folds, Plan(5).split(y, rng=1).folds)
    assert not np.array_equal(Plan(5).split(y, rng=1).folds, Plan(5).split(y, rng=2).folds)


@pytest.mark.parametrize(
    ("cv", "repeats", "folds"),
    [
        (KFold(4), 1, 4),
        (StratifiedKFold(5, shuffle=True), 1, 5),
        (RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0), 3, 4),
        (ShuffleSplit(5, test_size=0.5, random_state=0), 5, 1),
        (ShuffleSplit(9, test_size=0.1, random_state=0), 9, 1),  # some of these happen not to overlap
        (TimeSeriesSplit(4), 1, 4),
        (LeaveOneGroupOut(), 1, 4),
        (3, 1, 3),
    ],
)
def test_from_cv_gives_the_splits_of_the_splitter(cv, repeats, folds):
    y, groups = np.tile([0, 1], 20), np.repeat(np.arange(4), 10)
    groups = groups if isinstance(cv, LeaveOneGroupOut) else None
    splits = Plan.from_cv(cv).split(y, groups)
    assert (splits.n_repeats, splits.n_folds) == (repeats, folds)
    assert np.array_equal(splits.folds, Plan.from_cv(cv).split(y, groups).folds)
    if getattr(cv, "random_state", 0) is not None and hasattr(cv, "split"):
        expected = list(cv.split(np.zeros(40), y, groups))
        for (r, k), (train, test) in zip(splits.cells, expected, strict=True):
            assert np.array_equal(splits.test_rows(r, k), np.sort(test))
            assert np.array_equal(splits.train_rows(r, k), np.sort(train))


@pytest.mark.parametrize("train", [None, 0.5])
def test_hold_outs_that_have_no_sample_in_common_are_no_folds(train):
    y, layouts = np.tile([0, 1], 20), {}
    for seed in range(20):
        cv = ShuffleSplit(2, test_size=0.1, train_size=train, random_state=seed)
        splits = Plan.from_cv(cv).split(y)
        assert (splits.n_repeats, splits.n_folds) == (2, 1)
        shared = np.all(splits.folds >= 0, axis=1).any()
        oof = of.collect(DummyClassifier(), np.zeros((40, 1)), y, cv, progress=False)
        layouts[bool(shared)] = fold_scores(oof, "accuracy").layout
        assert str(oof.plan).startswith("2 x hold-out by ShuffleSplit")
    assert layouts == {True: "holdout", False: "holdout"}


def test_stored_hold_outs_in_one_repeat_are_no_folds():
    folds = np.array([0] * 5 + [1] * 5 + [-1] * 30)
    P = np.ma.array(np.linspace(0, 1, 40)[:, None], mask=folds[:, None] < 0)
    oof = of.from_arrays(np.tile([0, 1], 20), P, folds=folds)
    assert (oof.n_repeats, oof.n_folds) == (1, 2)
    for train in (None, {(0, 0): np.arange(10, 30), (0, 1): np.arange(20, 40)}):
        assert fold_scores(dataclasses.replace(oof, train=train), "accuracy").layout == "holdout"


def test_from_cv_takes_pairs_and_refuses_leaks():
    pairs = [(np.arange(5, 10), np.arange(5)), (np.arange(5), np.arange(5, 10))]
    assert Plan.from_cv(pairs).split(np.tile([0, 1], 5)).n_folds == 2
    leaks = [(np.arange(10), np.arange(5))]
    for cv in (leaks, check_cv(leaks)):
        with pytest.raises(InputError, match="the list of splits puts samples into training and test part"):
            Plan.from_cv(cv).split(np.tile([0, 1], 5))


def test_from_cv_refuses_a_sample_twice_in_a_test_part():
    with pytest.raises(InputError, match="names a sample twice in one test part"):
        Plan.from_cv([(np.arange(5), [5, 6, 6]), (np.arange(5, 10), np.arange(5))]).split(np.tile([0, 1], 5))


def test_from_cv_keeps_training_parts_of_its_own():
    y = np.tile([0, 1], 10)
    pairs = [(np.repeat(train[:8], 2), test) for train, test in KFold(5).split(y)]
    splits = Plan.from_cv(pairs).split(y)
    assert np.array_equal(splits.train_rows(0, 0), np.repeat(np.arange(4, 12), 2))
    negative = Plan.from_cv([(np.arange(18), np.array([-1, -2]))]).split(y)
    assert np.array_equal(negative.test_rows(0, 0), [18, 19])
    for cv in (pairs, check_cv(pairs)):
        assert str(Plan.from_cv(cv).split(y).plan) == "5-fold by given splits"


def test_pairs_that_scikit_learn_holds_are_given_splits():
    """Its class has a private name, which older files hold."""
    y = np.tile([0, 1], 10)
    plan = Plan.from_cv(check_cv(list(KFold(5).split(y)))).split(y).plan
    assert str(plan) == "5-fold by given splits"
    assert str(Plan.from_dict(plan.to_dict() | {"cv": "_CVIterableWrapper"})) == "5-fold by given splits"


@pytest.mark.parametrize("seed", range(20))
def test_groups_of_a_rare_class_go_to_different_folds(seed):
    y = np.zeros(60, dtype=int)
    y[[0, 1, 20, 40]] = 1
    splits = Plan(5).split(y, groups=np.arange(60) // 2, rng=seed)
    assert splits.plan.folds == splits.n_folds == 5
    assert len(np.unique(splits.folds[y == 1])) > 1  # no model is tested on all of them
    assert [n.code for n in splits.notes] == ["OF108"]
    assert splits.notes[0].text.startswith(
        "class 1 has 3 groups for 5 folds: they are spread over the folds, and 2 hold"
    )


def test_groups_of_classes_that_are_all_rare():
    splits = Plan(5).split([0, 1] * 4, groups=np.arange(8))
    assert splits.n_folds == 5
    assert len(np.unique(splits.folds[::2])) > 1


@pytest.mark.parametrize("m", [1, 2, 3, 9])
@pytest.mark.parametrize("repeats", [1, 3])
def test_a_rare_class_keeps_the_number_of_folds_and_is_spread(m, repeats):
    y = np.array(["a"] * 60 + ["b"] * 40 + ["c"] * m)
    splits = Plan(10, repeats).split(y, rng=3)
    assert splits.plan.folds == splits.n_folds == 10
    for column in splits.folds.T:
        assert len(np.unique(column[y == "c"])) == m
        sizes = np.bincount(column)
        assert sizes.max() - sizes.min() <= 1
        for k in range(10):
            assert {"a", "b"} <= set(y[column == k])
    assert [n.code for n in splits.notes] == ["OF108"]
    told = (
        "has not seen the class"
        if m == 1
        else f"{m} members for 10 folds: they are spread over the folds, and {10 - m} "
    )
    assert told in splits.notes[0].text


def test_several_rare_classes_are_counted():
    splits = Plan(10).split(["a"] * 40 + ["b"] * 4 + ["c"] * 2)
    assert splits.notes[0].text.startswith("class c has 2 members for 10 folds (2 classes have fewer than 10): ")


def test_plans_without_a_rare_class_are_those_of_earlier_versions():
    # The fingerprint hashes labels and folds; these were made by version 0.1.
    y = np.array(["a"] * 61 + ["b"] * 40 + ["c"] * 10)
    assert fingerprint(encode(y), Plan(10, 2).split(y, rng=3).folds) == "354b6effdd93a7d6"
    groups = np.arange(len(y)) // 3
    assert fingerprint(encode(y), Plan(3).split(y, groups=groups, rng=3).folds) == "39017c30b5bdbad1"


def test_ignored_groups_say_so():
    splits = Plan(2, groups=False).split(np.tile([0, 1], 10), groups=np.arange(20) // 4)
    assert [n.code for n in splits.notes] == ["OF102"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Plan(1), "folds must be a whole number of at least 2"),
        (lambda: Plan(2.5), "folds must be a whole number of at least 2"),
        (lambda: Plan(2, 0), "repeats must be a whole number of at least 1"),
        (lambda: Plan(groups=[1, 2]), "collect"),
        (lambda: Plan.blocked(4), "m must be 3, 7, 15"),
        (lambda: Plan.holdout(1.5), "between 0 and 1"),
        (lambda: Plan.holdout("a third"), "test must be a share between 0 and 1; got 'a third'"),
        (lambda: Plan.three_way(None), "validation must be a share between 0 and 1; got None"),
        (lambda: Plan(kind="three_way", folds=1), r"needs validation and test\. Use Plan.three_way\(\)"),
        (lambda: Plan(kind="holdout", folds=1), r"needs test\. Use Plan.holdout\(\)"),
        (lambda: Plan(kind="jackknife"), "kind must be one of kfold, loo, .*; got 'jackknife'"),
        (lambda: Plan(10).split(["a"] * 9 + ["b"]), "class b has 1 member.* Collect more samples of this class"),
        (
            lambda: Plan(5).split([0, 1] * 10, groups=[7] * 20),
            "there is 1. Give groups that differ, or leave groups out",
        ),
        (
            lambda: Plan(10).split(np.linspace(0, 1, 7)),
            "10 folds need at least 10 samples; there are 7. Use fewer folds",
        ),
        (lambda: Plan(5).split(np.tile([0, 1], 10), groups=np.arange(20) % 3), "there are 3. Use Plan\\(folds=3\\)"),
        (lambda: Plan(5, groups=True).split(np.tile([0, 1], 10)), "no groups were given"),
        (lambda: Plan(5, stratify=True).split(np.linspace(0, 1, 20) ** 2), "stratify=True needs class labels"),
        (lambda: Plan(5).split(np.tile([0, 1], 10), groups=[1, 2]), "one group for each sample"),
        (lambda: Plan.blocked(3).split(np.tile([0, 1], 10), groups=np.arange(20)), "blocked plans do not keep groups"),
        (lambda: Plan.blocked(7).split([0.1, 0.2, 0.3]), "at least 8 samples"),
        (lambda: Plan(2).split([0, 0, 0]), r"one class only \(0\)\.(?m:$)"),
        (lambda: Plan.from_cv("abc"), "must be a splitter, a number or pairs"),
        (lambda: Plan.from_cv(2.5).split([0, 1] * 5), "must be a splitter, a number or pairs"),
        (lambda: Plan.from_cv([([0, 1], [99])]).split([0, 1] * 5), "names sample 99; there are 10"),
        (lambda: Plan.from_cv(LeaveOneGroupOut()).split([0, 1] * 5), "LeaveOneGroupOut.* cannot split"),
        (lambda: Plan.from_cv([(np.arange(10), [-1])]).split([0, 1] * 5), "training and test part"),
        (lambda: Plan(2).split([0.5, np.nan, 1]), "1 label is missing or infinite, at row 1"),
        (lambda: Plan(2).split([0.5, np.nan, np.inf]), "2 labels are missing or infinite, the first at row 1"),
        (lambda: Plan(2).split(None), r"must have one label for each sample, shape \(N,\); got None"),
    ],
)
def test_errors_say_what_to_do(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_plans_read_like_english():
    y = np.tile([0, 1], 20)
    assert str(Plan(10, 3).split(y).plan) == "3 x 10-fold stratified"
    assert str(Plan.five_by_two().split(y).plan) == "5 x 2-fold stratified"
    assert str(Plan.blocked(3).split(y).plan) == "blocked 3 x 2-fold stratified"
    assert str(Plan.holdout().split(y).plan) == "hold-out of 0.333 stratified"
    assert str(Plan.leave_one_out().split(y).plan) == "leave-one-out"
    assert str(Plan(4).split(y, np.arange(40) // 4).plan) == "4-fold stratified grouped"


def test_plan_survives_its_dict():
    plan = Plan.blocked(3).split(np.tile([0, 1], 20)).plan
    assert Plan.from_dict(plan.to_dict()) == plan


def test_fingerprint_sees_labels_and_splits():
    y = np.tile([0, 1], 20)
    target, folds = encode(y), Plan(5).split(y).folds
    same = fingerprint(target, folds)
    assert same == fingerprint(encode(y.copy()), folds.copy())
    assert same != fingerprint(encode(1 - y), folds)
    assert same != fingerprint(target, Plan(5).split(y, rng=1).folds)
    assert same != fingerprint(target, folds, {(0, 0): np.arange(3)})
