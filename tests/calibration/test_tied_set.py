"""How often the confidence set of the best holds the truly best configuration."""

from __future__ import annotations

import numpy as np
import pytest

import outfold as of

pytestmark = pytest.mark.calibration

REPETITIONS = 500


def correlated(truth, n, rho, seed):
    """Correctness of configurations with these true accuracies, made alike by a shared normal factor."""
    from scipy.special import ndtri

    rng = np.random.default_rng(seed)
    latent = np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * rng.normal(size=(n, len(truth)))
    return (latent < ndtri(truth)).astype(float)


@pytest.mark.parametrize("rho", [0.0, 0.7])
@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("all equal", np.full(20, 0.8)),
        ("one best", np.r_[0.82, np.full(19, 0.78)]),
        ("ladder", np.linspace(0.6, 0.85, 30)),
    ],
)
@pytest.mark.parametrize("n", [100, 400])
def test_coverage_of_the_true_best(name, truth, rho, n, record):
    best, held, sizes = int(np.argmax(truth)), 0, []
    for seed in range(REPETITIONS):
        oof = of.from_arrays(None, correlated(truth, n, rho, seed), response="pointwise")
        found = of.compare.tied_set(oof, "mean", n_resamples=300, rng=seed)
        held += f"config {best}" in found
        sizes.append(len(found))
    coverage = held / REPETITIONS
    record("tied set", f"{name}, {n}, {rho:g}", coverage=coverage, size=np.mean(sizes))
    print(f"{name}, N={n}, correlation {rho}: coverage {coverage:.3f}, mean size {np.mean(sizes):.1f} of {len(truth)}")
    assert coverage > 0.95 - 3 * np.sqrt(0.95 * 0.05 / REPETITIONS)
