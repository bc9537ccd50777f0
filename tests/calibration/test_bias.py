"""Bias and coverage on simulated predictions with known truth (Tsamardinos 2018, sect. 5.1).

True accuracies P_j ~ Beta(9, 6); the correctness of every (sample, configuration) is drawn on its own; 10 contiguous
folds. Bias = estimate - true accuracy of the selected configuration. `studies/plain_bias.py` simulates the same design
without `outfold`.
"""

from __future__ import annotations

import json

import numpy as np
import plain_bias
import pytest

import outfold as of

pytestmark = pytest.mark.calibration

REPETITIONS = 400
REFERENCE = json.loads(plain_bias.RESULT.read_text())["settings"]
ESTIMATES = plain_bias.ESTIMATES


def simulate(n, c, seed):
    rng = np.random.default_rng(seed)
    truth = rng.beta(9, 6, c)
    correct = (rng.random((n, c)) < truth).astype(float)
    folds = np.arange(n) * 10 // n
    return truth, of.from_arrays(None, correct, folds=folds, response="pointwise")


@pytest.fixture(scope="module", params=plain_bias.SETTINGS, ids=str)
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
    values = np.array(rows, dtype=float)
    means = dict(zip((*ESTIMATES, "mover", "percentile"), values.mean(axis=0), strict=True))
    errors = values[:, :3].std(axis=0, ddof=1) / np.sqrt(REPETITIONS)
    record("bias", f"{n}, {c}", **means, **{f"{name} se": se for name, se in zip(ESTIMATES, errors, strict=True)})
    return request.param, values


@pytest.mark.parametrize(("column", "method"), list(enumerate(ESTIMATES)))
def test_bias_agrees_with_the_plain_simulation(setting, column, method):
    key, rows = setting
    expected, se = REFERENCE[f"{key[0]}, {key[1]}"][method].values()
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
