"""Dropping on simulated predictions with known truth (Tsamardinos 2018, sect. 5.1): who survives, and the bias.

The design is that of `test_bias`. The reference biases and speed-ups come from an independent numpy simulation that, like the
authors' program, asks from the first fold to the last with no minimum (200 repetitions, 40 for N = 500; B = 200).
"""

from __future__ import annotations

import numpy as np
import pytest
from test_bias import simulate

import outfold as of
from outfold import drop
from test_drop import race, survivors

pytestmark = pytest.mark.calibration

REPETITIONS = 300
# (N, C): bias of BBCD and its standard error; how many times fewer fits.
REFERENCE = {
    (40, 100): (-0.0050, 0.0047, 2.49),
    (100, 200): (-0.0054, 0.0028, 4.16),
    (500, 50): (-0.0024, 0.0032, 5.23),
    (500, 200): (-0.0011, 0.0029, 6.79),
}


@pytest.mark.parametrize("key", REFERENCE, ids=str)
def test_bias_after_dropping_agrees_with_the_independent_simulation(key, record):
    n, c = key
    bias, faster = [], []
    for seed in range(REPETITIONS):
        truth, oof = simulate(n, c, seed)
        log = race(oof, drop.Bootstrap(min_predictions=0, n_resamples=200), seed)
        result = of.estimate.bbc(oof.sel(config=survivors(oof, log)), "mean", n_resamples=200, rng=seed)
        bias.append(result.value - truth[oof.config_index(result.selected)])
        faster.append(10 * c / (10 * c - sum(9 - fold for fold, _ in log)))
    expected, se, reference_faster = REFERENCE[key]
    own_se = np.std(bias, ddof=1) / np.sqrt(REPETITIONS)
    print(
        f"N={n} C={c} BBCD: bias {np.mean(bias):+.4f} (se {own_se:.4f}), reference {expected:+.4f}; "
        f"{np.mean(faster):.2f} times fewer fits, reference {reference_faster:.2f}"
    )
    record("dropping", f"{n}, {c}", bias=np.mean(bias), faster=np.mean(faster))
    assert abs(np.mean(bias) - expected) < 4 * np.hypot(own_se, se)
    assert np.mean(faster) == pytest.approx(reference_faster, rel=0.1)


@pytest.mark.parametrize("c", [50, 200])
def test_the_winner_of_the_whole_cross_validation_survives(c, record):
    kept, lost = 0, []
    for seed in range(REPETITIONS):
        truth, oof = simulate(500, c, seed)
        left = survivors(oof, race(oof, drop.Bootstrap(), seed))
        winner = of.select.best(oof, "mean").name
        kept += winner in left
        chosen = of.select.best(oof.sel(config=left), "mean").name
        lost.append(truth[oof.config_index(winner)] - truth[oof.config_index(chosen)])
    print(f"N=500 C={c}: the winner survives in {kept / REPETITIONS:.1%}; accuracy lost {np.mean(lost):.5f} on average")
    record("survival", f"500, {c}", survives=kept / REPETITIONS, lost=np.mean(lost))
    assert kept / REPETITIONS >= 0.97
    assert np.mean(lost) < 0.002
