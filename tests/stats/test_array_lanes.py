"""Areas under ROC curves without numba: the same whole numbers as the compiled loops, and as counting every pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outfold as of
from extras import without_numba
from internals import array_lanes, compiling, rank_metrics

SETTINGS = settings(max_examples=60, deadline=None)


def by_hand(scores, positive, weights):
    """(b, C) twice the pairs in the right order plus the ties, over all pairs of a positive and a negative."""
    above, below = scores[:, positive, None], scores[:, None, ~positive]
    agree = 1 + np.sign(above - below).astype(np.int64)
    drawn = weights.astype(np.int64)
    return np.einsum("bp,cpq,bq->bc", drawn[:, positive], agree, drawn[:, ~positive])


def assert_counts(scores, positive, weights, chosen):
    expected = by_hand(scores, positive, weights)
    for compiled in (False, True):
        if compiled and compiling.load("lanes") is None:
            continue
        kernel = rank_metrics.AucKernel(scores, positive)
        if compiled:
            (twice, pairs), paired = kernel.counts(weights), kernel.paired_counts(weights, chosen)[0]
        else:
            with without_numba():
                (twice, pairs), paired = kernel.counts(weights), kernel.paired_counts(weights, chosen)[0]
        np.testing.assert_array_equal(twice, expected)
        np.testing.assert_array_equal(paired, expected[np.arange(len(weights)), chosen])
        drawn = weights.astype(np.int64)
        np.testing.assert_array_equal(pairs, 2 * drawn[:, positive].sum(axis=1) * drawn[:, ~positive].sum(axis=1))


@st.composite
def cases(draw):
    """Scores from all equal to all different, equal columns, classes from none to all, counts from 0 to beyond bytes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, c, b = draw(st.integers(1, 70)), draw(st.integers(1, 9)), draw(st.integers(1, 40))
    grid = draw(st.sampled_from([1, 2, 5, 50, 10**9]))
    scores = rng.integers(0, grid, (c, n)).astype(float)
    scores[-1] = scores[0]
    scores[c // 2, : n // 2] = scores[c // 2, 0]  # ties among some rows only
    positive = rng.random(n) < draw(st.sampled_from([0.0, 0.03, 0.5, 0.97, 1.0]))
    top, dtype = draw(
        st.sampled_from([(1, np.uint8), (4, np.uint8), (255, np.uint8), (10**4, np.int64), (10**6, np.int64)])
    )
    weights = rng.integers(0, top + 1, (b, n)) * (rng.random((b, n)) < rng.random((b, 1)))
    return scores, positive, weights.astype(dtype), rng.integers(0, c, b)


@SETTINGS
@given(case=cases())
def test_every_path_counts_the_same_pairs(case):
    assert_counts(*case)


@pytest.mark.parametrize("cells", [1, 60, 700])
@settings(max_examples=25, deadline=None)
@given(case=cases())
def test_parts_change_no_number(case, cells):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("_CELLS", cells), ("_SORTED", cells), ("_LEAST_DRAWS", 1 + cells % 7), ("_ROWS", (3, 2))):
            patch.setattr(array_lanes, name, value)
        assert_counts(*case)


@pytest.mark.parametrize(("heavy", "dtype"), [(1, np.uint16), (40, np.uint32), (10**6, np.int64)])
def test_the_type_holds_the_largest_sum(heavy, dtype):
    """All positives above all negatives, each drawn as often as it can be: the largest sums there are."""
    positive = np.arange(400) % 2 == 1
    counts = np.full((400, 2), heavy)
    found, rows = array_lanes._narrowest(counts[positive], counts[~positive], True)
    assert found == dtype
    assert min(rows, 200) * heavy * 2 * 200 * heavy <= np.iinfo(found).max
    scores = np.stack([positive + 0.0, 1.0 - positive, np.zeros(400)])
    assert_counts(scores, positive, counts.T, np.array([0, 2]))


@st.composite
def runs(draw):
    """Predictions with equal columns and ties, a rare class, with and without folds."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, c = draw(st.integers(12, 60)), draw(st.integers(2, 8))
    y = np.zeros(n, dtype=int)
    y[rng.choice(n, draw(st.integers(4, n // 2)), replace=False)] = 1
    scores = np.round(y[:, None] * 0.5 + rng.normal(size=(n, c)), draw(st.sampled_from([0, 1, 9])))
    scores[:, -1] = scores[:, 0]
    folds = rng.permutation(n) % 3 if draw(st.booleans()) else None
    return of.from_arrays(y, scores, folds=folds, response="score"), draw(st.sampled_from(["pooled", "fold"]))


@settings(max_examples=25, deadline=None)
@given(run=runs())
def test_bbc_is_the_same_without_numba(run):
    if compiling.load("lanes") is None:
        pytest.skip("needs numba")
    oof, aggregate = run
    found = of.estimate.bbc(oof, "roc_auc", aggregate=aggregate, n_resamples=300)
    with without_numba():
        again = of.estimate.bbc(oof, "roc_auc", aggregate=aggregate, n_resamples=300)
    assert (again.value, again.naive, again.interval, again.selected) == (
        found.value,
        found.naive,
        found.interval,
        found.selected,
    )
    np.testing.assert_array_equal(again.draws, found.draws)
    np.testing.assert_array_equal(again.chosen, found.chosen)
