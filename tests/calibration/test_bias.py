"""Bias and coverage on simulated predictions with known truth (Tsamardinos 2018, sect. 5.1).

True accuracies P_j ~ Beta(9, 6); the correctness of every (sample, configuration) is drawn on its own; 10 contiguous
folds. Bias = estimate - true accuracy of the selected configuration. The reference biases come from an independent numpy
simulation of the same design (200 repetitions, B = 200).
"""

from __future__ import annotations

import numpy as np
import pytest

import outfold as of

pytestmark = pytest.mark.calibration

REPETITIONS = 400
# (N, C): bias of CVT, TT, BBC and their standard errors.
REFERENCE = {
    (20, 50): ((0.1256, 0.0446, -0.0343), (0.0051, 0.0066, 0.0071)),
    (20, 300): ((0.1558, 0.1286, -0.0333), (0.0047, 0.0055, 0.0068)),
    (40, 100): ((0.0857, -0.0035, -0.0198), (0.0037, 0.0046, 0.0048)),
    (100, 200): ((0.0423, -0.0554, -0.0126), (0.0022, 0.0033, 0.0029)),
    (500, 50): ((0.0061, -0.0247, -0.0035), (0.0028, 0.0040, 0.0030)),
}


def simulate(n, c, seed):
    rng = np.random.default_rng(seed)
    truth = rng.beta(9, 6, c)
    correct = (rng.random((n, c)) < truth).astype(float)
    folds = np.arange(n) * 10 // n
    return truth, of.from_arrays(None, correct, folds=folds, response="pointwise")


@pytest.fixture(scope="module", params=REFERENCE, ids=str)
def setting(request, record):
    n, c = request.param
    rows = []
    for seed in range(REPETITIONS):
        truth, oof = simulate(n, c, seed)
        bbc = of.estimate.bbc(oof, "mean", n_resamples=500, rng=seed)
        true = truth[oof.config_index(bbc.selected)]
        tt = of.estimate.tt(oof, "mean", aggregate="fold")
        covered = [low <= true <= high for low, high in (bbc.interval, bbc.confidence_interval(method="percentile"))]
        rows.append((bbc.naive - true, tt.value - true, bbc.value - true, *covered))
    means = dict(zip(("winner", "tt", "bbc", "mover", "percentile"), np.mean(rows, axis=0), strict=True))
    record("bias", f"{n}, {c}", **means)
    return request.param, np.array(rows, dtype=float)


@pytest.mark.parametrize(("column", "method"), [(0, "cvt"), (1, "tt"), (2, "bbc")])
def test_bias_agrees_with_the_independent_simulation(setting, column, method):
    key, rows = setting
    expected, se = (part[column] for part in REFERENCE[key])
    own_se = rows[:, column].std(ddof=1) / np.sqrt(len(rows))
    bias = rows[:, column].mean()
    print(f"N={key[0]} C={key[1]} {method}: bias {bias:+.4f} (se {own_se:.4f}), reference {expected:+.4f}")
    assert abs(bias - expected) < 4 * np.hypot(own_se, se)


def test_bbc_is_never_optimistic_beyond_noise_and_its_interval_covers(setting):
    key, rows = setting
    own_se = rows[:, 2].std(ddof=1) / np.sqrt(len(rows))
    coverage = rows[:, 3].mean()
    print(f"N={key[0]} C={key[1]} coverage of the 95% interval {coverage:.3f}")
    assert rows[:, 2].mean() < 3 * own_se
    # BBC intervals are conservative: out-of-bag sets hold 37 percent of the samples.
    assert coverage > 0.95 - 3 * np.sqrt(0.95 * 0.05 / len(rows))
