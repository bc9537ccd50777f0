"""Curves over thresholds of many draws at once, against the plain way: one draw at a time, every threshold."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_curve, roc_curve

from extras import without_numba
from internals import Ranked, compiling, precision, roc

GRID = np.linspace(0, 1, 101)


def _points(weights, positive, last):
    """Rates at every threshold of one draw: cumulative counts, from the highest score down."""
    hits, false = np.cumsum(weights * positive)[last], np.cumsum(weights * ~positive)[last]
    return hits.astype(float), false.astype(float)


def _plain_roc(hits: NDArray, false: NDArray) -> NDArray:
    """The highest point of the polygon through (0, 0) and all thresholds, above every x of the grid."""
    if not hits[-1] or not false[-1]:
        return np.full(len(GRID), np.nan)
    fpr, tpr = np.append(0.0, false / false[-1]), np.append(0.0, hits / hits[-1])
    out = []
    for x in GRID:
        at = np.flatnonzero(fpr == x)
        if len(at):
            out.append(tpr[at[-1]])
            continue
        left, right = np.flatnonzero(fpr < x)[-1], np.flatnonzero(fpr > x)[0]
        out.append(tpr[left] + (tpr[right] - tpr[left]) * (x - fpr[left]) / (fpr[right] - fpr[left]))
    return np.array(out)


def _plain_precision(hits: NDArray, false: NDArray) -> NDArray:
    """Precision at the first threshold that finds some positive and reaches the recall."""
    if not hits[-1]:
        return np.full(len(GRID), np.nan)
    first = [np.flatnonzero((hits > 0) & (hits / hits[-1] >= x))[0] for x in GRID]
    return hits[first] / (hits + false)[first]


def _sorted(scores, positive):
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    return order, positive[order], np.append(np.diff(scores) != 0, True)


def _check(scores, positive, weights):
    order, positive, last = _sorted(scores, positive)
    ranked = Ranked(order, positive, last)
    plain = [_points(w[order].astype(np.int64), positive, last) for w in weights]
    np.testing.assert_allclose(roc(ranked, weights, GRID), [_plain_roc(*p) for p in plain], rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        precision(ranked, weights, GRID), [_plain_precision(*p) for p in plain], rtol=0, atol=1e-12
    )


@pytest.fixture(params=["compiled", "plain"], autouse=True)
def _path(request):
    """With numba, where it is installed, and without."""
    if request.param == "compiled" and compiling.load("lanes") is None:
        pytest.skip("needs numba")
    with without_numba() if request.param == "plain" else nullcontext():
        yield


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(1, 60),
    st.integers(1, 30),
    st.sampled_from([2, 5, 10**6]),
    st.sampled_from([0.0, 0.03, 0.5, 1.0]),
    st.integers(0, 2**31),
)
def test_many_draws_at_once_equal_one_at_a_time(n, b, levels, share, seed):
    """With ties of scores, rare and absent classes, samples that were not drawn, and draws of nothing."""
    rng = np.random.default_rng(seed)
    scores, positive = rng.integers(0, levels, n) / levels, rng.random(n) < share
    weights = rng.integers(0, 3, (b, n)).astype(np.uint8)
    weights[0] = 0
    _check(scores, positive, weights)


@pytest.mark.parametrize("n_negative", [10, 25, 50, 100, 200])
def test_rates_that_are_met_exactly(n_negative):
    """A hundredth of 100 negatives is a whole negative: the curve rises there, and its top is taken."""
    rng = np.random.default_rng(n_negative)
    positive = np.arange(n_negative + 30) < 30
    _check(rng.permutation(len(positive)).astype(float), positive, np.ones((1, len(positive)), dtype=np.uint8))


def test_more_drawn_than_sixteen_bits_hold():
    rng = np.random.default_rng(5)
    positive = rng.random(60) < 0.5
    _check(rng.random(60), positive, rng.integers(0, 5000, (7, 60)))


def test_scikit_learn_has_the_same_points():
    """Reference: roc_curve and precision_recall_curve with weights."""
    rng = np.random.default_rng(1)
    scores, positive = rng.integers(0, 40, 300) / 40, rng.random(300) < 0.3
    weights = rng.poisson(1, (4, 300)).astype(np.uint8)
    order, own, last = _sorted(scores, positive)
    ranked = Ranked(order, own, last)
    rates, shares = roc(ranked, weights, GRID), precision(ranked, weights, GRID)
    for i, w in enumerate(weights):
        fpr, tpr, _ = roc_curve(positive, scores, sample_weight=w, drop_intermediate=False)
        inside = np.isin(GRID, fpr)
        assert inside.sum() >= 2
        top = [tpr[fpr == x].max() for x in GRID[inside]]
        np.testing.assert_allclose(rates[i, inside], top, rtol=0, atol=1e-12)
        reference, recall, _ = precision_recall_curve(positive, scores, sample_weight=w)
        first = [np.flatnonzero(recall >= max(x, recall[recall > 0].min()))[-1] for x in GRID]
        np.testing.assert_allclose(shares[i], reference[first], rtol=0, atol=1e-12)
