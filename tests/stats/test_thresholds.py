"""Thresholds that draws choose, against a search that tries every cut by itself; calibration against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from internals import RankedScores, recalibrate
from internals import thresholds as cuts

CRITERIA = {
    "youden": cuts.youden,
    "f1": cuts.f1,
    "sensitivity": cuts.least_sensitivity(0.9),
    "specificity": cuts.least_specificity(0.8),
    "cost": cuts.least_cost(5, 1),
}


def worth(name: str, y: np.ndarray, predicted: np.ndarray, w: np.ndarray) -> float:
    """How good labels are by a criterion, from the definition."""
    hits, alarms = w[y & predicted].sum(), w[~y & predicted].sum()
    positives, negatives = w[y].sum(), w[~y].sum()
    sensitivity, specificity = hits / positives, 1 - alarms / negatives
    return {
        "youden": sensitivity + specificity,
        "f1": 2 * hits / (hits + alarms + positives),
        "sensitivity": specificity if sensitivity >= 0.9 - 1e-9 else -1,
        "specificity": sensitivity if specificity >= 0.8 - 1e-9 else -1,
        "cost": -5 * (positives - hits) - alarms,
    }[name]


@pytest.mark.parametrize("name", CRITERIA)
@given(seed=st.integers(0, 10_000), n=st.integers(4, 25), digits=st.sampled_from([1, 6]))
def test_no_other_cut_is_better(name, seed, n, digits):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    y[:2] = [True, False]
    scores = np.round(rng.random(n) + 0.3 * y, digits)
    w = rng.integers(0, 3, n)
    w[:2] = 1
    ranked = RankedScores(scores, np.arange(n), y)
    (chosen,) = ranked.choose(w[None], [CRITERIA[name]])
    best = max(worth(name, y, scores > t, w) for t in [*np.unique(scores), scores.min() - 1])
    assert worth(name, y, scores > chosen[0], w) == pytest.approx(best, abs=1e-12)


def test_the_threshold_lies_half_way_between_drawn_scores():
    ranked = RankedScores(
        np.array([0.9, 0.8, 0.6, 0.3, 0.1]), np.arange(5), np.array([True, True, False, False, False])
    )
    every, without = np.ones(5, dtype=int), np.array([1, 1, 0, 1, 1])
    (chosen,) = ranked.choose(np.stack([every, without]), [cuts.youden])
    assert chosen == pytest.approx([0.7, 0.55])


def test_counts_are_those_of_the_samples_left_out():
    rng = np.random.default_rng(0)
    y, scores = rng.random(40) < 0.5, rng.random(40).round(1)
    rows = np.tile(np.arange(20), 2)  # two repeats of 20 samples
    y = np.tile(y[:20], 2)
    w = rng.multinomial(20, np.full(20, 0.05), size=30)
    found = RankedScores(scores, rows, y).corrected(w, [cuts.youden, 0.35])
    for thresholds, counts in found:
        for b in range(30):
            left = w[b][rows] == 0
            above = scores > thresholds[b]
            expected = [(left & y & above).sum(), (left & ~y & above).sum(), (left & y).sum(), (left & ~y).sum()]
            assert [side[b] for side in counts] == expected


def test_draws_of_many_samples_do_not_overflow():
    n = 60_000
    y = np.arange(n) % 2 == 0
    scores = np.where(y, 0.75, 0.25) + np.linspace(0, 0.01, n)
    (chosen,) = RankedScores(scores, np.arange(n), y).choose(np.full((1, n), 3), [cuts.youden])
    assert 0.26 < chosen[0] < 0.75


def test_calibration_is_that_of_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    y = rng.random(400) < 1 / (1 + np.exp(-(0.3 + 0.7 * x)))
    p = 1 / (1 + np.exp(-x))
    found = recalibrate(p, y, np.arange(400), np.ones(400))
    fitted = LogisticRegression(C=np.inf, tol=1e-10).fit(x[:, None], y)
    assert found.slope.value == pytest.approx(fitted.coef_[0, 0], abs=1e-5)
    # The intercept makes the mean prediction the share of positives.
    assert np.mean(1 / (1 + np.exp(-(found.intercept.value + x)))) == pytest.approx(y.mean(), abs=1e-9)
    information = np.linalg.inv((np.stack([np.ones(400), x]) * 0.25) @ np.stack([np.ones(400), x]).T)
    assert found.slope.error > np.sqrt(information[1, 1])


def test_repeats_of_a_sample_are_no_further_samples():
    rng = np.random.default_rng(1)
    y, p = rng.random(100) < 0.4, rng.random(100)
    once = recalibrate(p, y, np.arange(100), np.ones(100))
    thrice = recalibrate(np.tile(p, 3), np.tile(y, 3), np.tile(np.arange(100), 3), np.full(300, 1 / 3))
    assert thrice.slope.value == pytest.approx(once.slope.value)
    assert thrice.slope.error == pytest.approx(once.slope.error)
    assert thrice.n_units == 100


def test_separated_classes_have_no_slope():
    y = np.arange(20) >= 10
    assert recalibrate(np.where(y, 0.8, 0.2), y, np.arange(20), np.ones(20)) is None
    assert recalibrate(np.full(20, 0.5), y, np.arange(20), np.ones(20)) is None
