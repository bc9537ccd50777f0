"""Kaplan-Meier, the times of survival curves, the integrated Brier score: by hand, as published, as scikit-survival has it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import outfold as of
from outfold.stats import survival

# Weeks of remission of 21 patients with leukaemia under 6-MP (Freireich et al. 1963), and who had a relapse.
WEEKS = np.array([6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35], dtype=float)
RELAPSE = np.array([1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0], dtype=bool)


def drawn(n=60, seed=0):
    """Times with ties, a third of them censored; risks and curves that know a little of them."""
    rng = np.random.default_rng(seed)
    event, time = rng.random(n) < 0.67, rng.integers(1, 40, n).astype(float)
    rate = np.exp(0.3 * rng.normal(size=n)) / (time + 10)
    return time, event, rate


def records(time, event):
    y = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = event, time
    return y


def test_kaplan_meier_as_published():
    # Kleinbaum and Klein (2012), Survival Analysis, Table 2.3.
    at = np.array([0, 6, 7, 10, 13, 16, 22, 23])
    printed = [1, 0.8571, 0.8067, 0.7529, 0.6902, 0.6275, 0.5378, 0.4482]
    np.testing.assert_allclose(survival.kaplan_meier(WEEKS, RELAPSE, at), printed, atol=5e-5)
    # It steps at a relapse, and stays where it is before and after.
    np.testing.assert_allclose(
        survival.kaplan_meier(WEEKS, RELAPSE, np.array([5.9, 6.9, 99])), [1, 0.8571, 0.4482], atol=5e-5
    )


def test_losses_by_hand():
    # Lost at 1; events at 2 and 5; observed until 6. One of four is lost at 1, and nobody else before 6: G is 3/4 until then.
    time, event = np.array([1.0, 2.0, 5.0, 6.0]), np.array([False, True, True, False])
    np.testing.assert_allclose(survival.not_censored(time, event, np.array([0.5, 1, 5.9, 6])), [1, 0.75, 0.75, 0])
    curves = np.array([[[0.9, 0.5], [0.8, 0.4], [0.7, 0.6], [0.6, 0.3]]])
    found = survival.brier_losses(curves, time, event, np.array([3.0, 4.0]))
    half = 0.5 / 0.75  # the weight of each of two times, over G
    expected = [0, half * (0.8**2 + 0.4**2), half * (0.3**2 + 0.4**2), half * (0.4**2 + 0.7**2)]
    np.testing.assert_allclose(found, [expected], rtol=1e-12)


@given(st.integers(2, 30), st.integers(0, 10**6))
def test_without_censoring_it_is_the_mean_of_brier_scores_over_time(n, seed):
    rng = np.random.default_rng(seed)
    time, times = rng.exponential(size=n), np.sort(rng.exponential(size=7))
    curves = np.sort(rng.random((3, n, 7)), axis=-1)[..., ::-1]
    brier = ((time[:, None] > times) - curves) ** 2
    expected = np.trapezoid(brier.mean(axis=1), times, axis=-1) / (times[-1] - times[0])
    found = survival.brier_losses(curves, time, np.ones(n, dtype=bool), times).mean(axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1, max_size=60))
def test_times_lie_among_the_events_and_somebody_outlives_them(rows):
    time, event = np.array([t for t, _ in rows], dtype=float), np.array([e for _, e in rows])
    times = survival.curve_times(time, event)
    if not len(times):
        return
    assert len(times) == survival.N_TIMES
    assert np.all(np.diff(times) > 0)
    assert time[event].min() <= times[0]
    assert times[-1] <= min(time[event].max(), np.unique(time)[-2])
    assert survival.not_censored(time, event, times).min() > 0


def test_events_that_come_all_at_once_have_no_times():
    assert not len(survival.curve_times(np.array([3.0, 3.0, 5.0]), np.array([True, True, False])))
    assert not len(survival.curve_times(np.array([1.0, 2.0]), np.zeros(2, dtype=bool)))


def test_curves_between_and_beyond_their_times():
    found = survival.at_times(np.array([1.0, 3.0]), np.array([[0.8, 0.2]]), np.array([0.5, 1, 2.9, 3, 99]))
    np.testing.assert_array_equal(found, [[1, 0.8, 0.8, 0.2, 0.2]])


# -- the same numbers as scikit-survival -------------------------------------------------------------------------


def test_steps_are_those_of_scikit_survival():
    nonparametric = pytest.importorskip("sksurv.nonparametric")
    time, event, _ = drawn()
    times, curve = nonparametric.kaplan_meier_estimator(event, time)
    np.testing.assert_allclose(survival.kaplan_meier(time, event, times), curve, rtol=1e-12)
    censoring = nonparametric.CensoringDistributionEstimator().fit(records(time, event))
    np.testing.assert_allclose(survival.not_censored(time, event, time), censoring.predict_proba(time), rtol=1e-12)


def test_scores_are_those_of_scikit_survival():
    sksurv = pytest.importorskip("sksurv.metrics")
    time, event, rate = drawn()
    times = survival.curve_times(time, event)
    P = np.concatenate([rate[:, None], np.exp(-rate[:, None] * times)], axis=1)
    oof = of.from_arrays(records(time, event), P[:, None, None], folds=np.arange(len(time)) % 5, times=times)
    board = oof.leaderboard("integrated_brier")
    y = records(time, event)
    assert board.scores[0] == pytest.approx(sksurv.integrated_brier_score(y, y, P[:, 1:], times), rel=1e-12)
    assert oof.leaderboard("concordance").scores[0] == sksurv.concordance_index_censored(event, time, rate)[0]
    # In a fold, the weights are those of all samples.
    fold = np.arange(len(time)) % 5 == 0
    inside = times[times < time[fold].max()]
    expected = sksurv.brier_score(y, y[fold], P[fold, 1 : 1 + len(inside)], inside)[1]
    lost = survival.brier_losses(P[None, :, 1 : 1 + len(inside)], time, event, inside)
    steps = np.trapezoid(expected, inside) / (inside[-1] - inside[0])
    assert lost[0, fold].mean() == pytest.approx(steps, rel=1e-12)


def test_only_equal_risks_are_ties():
    sksurv = pytest.importorskip("sksurv.metrics")
    time, event, risk = np.array([1.0, 2.0, 3.0]), np.array([True, True, False]), np.array([1e-12, 0.0, 0.0])
    (found,) = of.from_arrays(records(time, event), risk[:, None], response="risk").leaderboard("concordance").scores
    assert found == sksurv.concordance_index_censored(event, time, risk, tied_tol=0)[0] == 2.5 / 3
    assert sksurv.concordance_index_censored(event, time, risk)[0] == 0.5


def test_the_baseline_is_the_score_of_the_same_curve_for_everyone():
    time, event, _ = drawn()
    times = survival.curve_times(time, event)
    curve = survival.kaplan_meier(time, event, times)
    P = np.tile(np.append(0.0, curve), (len(time), 1))
    oof = of.from_arrays(records(time, event), P[:, None, None], times=times)
    board = oof.leaderboard("integrated_brier")
    assert board.baseline == (pytest.approx(board.scores[0], rel=1e-12), "the Kaplan-Meier curve for everyone")
