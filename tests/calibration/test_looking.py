"""Looking while it comes in: errors at any time, coverage at all times, and the price in power."""

from __future__ import annotations

import numpy as np
import pytest

from internals import sequential

pytestmark = pytest.mark.calibration

N, SEQUENCES, ALPHA = 1000, 4000, 0.05


def discordant(share, difference=0.0):
    """Right minus right: +1, 0 or -1, with this share of disagreement."""
    up, down = (share + difference) / 2, (share - difference) / 2
    return lambda rng, size: rng.choice([1.0, 0.0, -1.0], p=[up, 1 - share, down], size=size)


NULLS = {
    "uniform": lambda rng, size: rng.uniform(-1, 1, size),
    "skewed": lambda rng, size: 1.25 * (rng.beta(0.5, 2, size) - 0.2),
    "rare large losses": lambda rng, size: np.where(rng.random(size) < 0.05, -0.95, 0.05),
    "right minus right, 2% disagree": discordant(0.02),
    "right minus right, 10% disagree": discordant(0.1),
    "right minus right, 50% disagree": discordant(0.5),
}
ABOVE = ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / SEQUENCES)


def sequences(draw, seed=0):
    x = (draw(np.random.default_rng(seed), (SEQUENCES, N)) + 1) / 2
    return x, sequential.bets(x, ALPHA)[0]


def log_evalues(x, bets):
    return np.maximum(*sequential.log_wealth(x, bets, 0.5)) - np.log(2)


@pytest.mark.parametrize("name", NULLS)
def test_ever_rejecting_and_ever_missing(name, record):
    x, bets = sequences(NULLS[name])
    ever = np.mean(log_evalues(x, bets).max(axis=1) >= np.log(1 / ALPHA))
    low, high = sequential.limits(x, bets, ALPHA)
    missed = np.mean((low > 0.5) | (high < 0.5))
    z = np.cumsum(2 * x - 1, axis=1)[:, 19:] / np.sqrt(np.maximum(np.cumsum((2 * x - 1) ** 2, axis=1)[:, 19:], 1e-12))
    peeked = np.mean(np.abs(z).max(axis=1) > 1.96)
    print(f"{name}: ever rejected {ever:.4f}, coverage at all times {1 - missed:.4f}, z looked at always {peeked:.3f}")
    record("looking", name, rejected=ever, covered=1 - missed, peeked=peeked)
    assert ever <= ABOVE
    assert missed <= ABOVE


@pytest.mark.parametrize("mean", [-0.6, 0.3, 0.9])
def test_coverage_away_from_no_difference(mean, record):
    x, bets = sequences(lambda rng, size: np.where(rng.random(size) < (1 + mean) / 2, 1.0, -1.0))
    low, high = sequential.limits(x, bets, ALPHA)
    missed = np.mean((low > (1 + mean) / 2) | (high < (1 + mean) / 2))
    print(f"mean {mean}: coverage at all times {1 - missed:.4f}, mean width {2 * np.mean(high - low):.3f}")
    record("looking", f"mean {mean:g}", covered=1 - missed)
    assert missed <= ABOVE


@pytest.mark.parametrize("difference", [0.02, 0.03, 0.05])
def test_power_beside_a_fixed_number_of_samples(difference, record):
    x, bets = sequences(discordant(0.1, difference))
    crossed = log_evalues(x, bets) >= np.log(1 / ALPHA)
    d = 2 * x - 1
    fixed = np.mean(np.abs(d.sum(axis=1)) / np.sqrt((d**2).sum(axis=1)) > 1.96)
    ever = crossed.any(axis=1)
    looks = np.median(crossed.argmax(axis=1)[ever]) + 1
    print(f"difference {difference}: e-process {ever.mean():.3f} (median stop {looks:.0f}), fixed n {fixed:.3f}")
    record("looking", f"difference {difference:g}", found=ever.mean(), stop=looks, fixed=fixed)
    assert ever.mean() <= fixed
    assert difference < 0.05 or ever.mean() > 0.5
