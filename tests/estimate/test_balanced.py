"""BBC that gives back what selecting on drawn samples loses."""

import numpy as np
import pytest

import outfold as of
from internals import noise_share
from outfold.exceptions import InputError


def _correct(n, truth, seed):
    return np.random.default_rng(seed).random((n, len(truth))) < truth


def _oof(correct):
    return of.from_arrays(None, correct, response="pointwise")


class _Means:
    def __init__(self, values):
        self.values = values

    def scores(self, weights=None):
        weights = np.asarray(weights, dtype=float)
        return weights @ self.values / weights.sum(axis=1, keepdims=True)


def _counts(n, b, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(b)])


def test_a_winner_without_rivals_is_left_as_it_is():
    correct = np.tile(np.linspace(0, 1, 9), (40, 1))
    assert noise_share(_Means(correct), _counts(40, 50), 1) == 1


def test_equally_good_configurations_differ_by_noise_alone():
    shares = [noise_share(_Means(_correct(60, np.full(100, 0.7), seed)), _counts(60, 200), 1) for seed in range(10)]
    assert np.mean(shares) > 0.9


def test_share_of_noise_is_that_of_the_variances():
    # Truth with variance t, scores with noise of variance v each: the share is v / (t + v).
    t, v, n, c = 0.04, 0.02, 50, 2000
    rng = np.random.default_rng(0)
    values = rng.normal(0, np.sqrt(t), c) + rng.normal(0, np.sqrt(v * n), (n, c))
    assert noise_share(_Means(values), _counts(n, 100), 1) == pytest.approx(v / (t + v), abs=0.05)


def test_losses_are_mirrored():
    correct = _correct(50, np.linspace(0.5, 0.9, 30), 3)
    y = np.arange(50) % 2
    labels = np.where(correct, y[:, None], 1 - y[:, None])
    oof = of.from_arrays(y, labels, response="label")
    gain = of.estimate.bbc(oof, "accuracy", correction="balanced", n_resamples=300)
    loss = of.estimate.bbc(oof, "error", correction="balanced", n_resamples=300)
    assert gain.value == pytest.approx(1 - loss.value, abs=1e-12)
    assert gain.details["noise_share"] == pytest.approx(loss.details["noise_share"], abs=1e-12)


def test_value_is_bbc_plus_the_part_of_the_lead_that_is_no_noise():
    oof = _oof(_correct(40, np.linspace(0.4, 0.9, 80), 1))
    plain = of.estimate.bbc(oof, "mean", n_resamples=400)
    balanced = of.estimate.bbc(oof, "mean", n_resamples=400, correction="balanced")
    own = dict(zip(oof.leaderboard("mean").configs, oof.leaderboard("mean").scores, strict=True))
    lead = plain.naive - np.mean([own[name] for name in plain.chosen])
    assert balanced.details["lead"] == pytest.approx(lead)
    assert balanced.value == pytest.approx(plain.value + (1 - balanced.details["noise_share"]) * lead)
    ends = (made.confidence_interval(method="percentile") for made in (balanced, plain))
    np.testing.assert_allclose(np.subtract(*ends), balanced.details["added"])
    assert balanced.interval.low > plain.interval.low
    assert plain.value < balanced.value < plain.naive
    assert "balanced" in str(balanced)


def test_one_configuration_has_nothing_to_balance():
    oof = _oof(_correct(40, np.array([0.7]), 1))
    assert of.estimate.bbc(oof, "mean", correction="balanced").value == of.estimate.bbc(oof, "mean").value


def test_given_draws_serve_as_well():
    oof = _oof(_correct(30, np.linspace(0.4, 0.9, 20), 1))
    counts = _counts(30, 100)
    balanced = of.estimate.bbc(oof, "mean", draws=counts, draws_are="counts", correction="balanced")
    assert balanced.value > of.estimate.bbc(oof, "mean", draws=counts, draws_are="counts").value


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"correction": "best"}, "'none' or 'balanced'"),
        (
            {"correction": "balanced", "rule": lambda candidates: 0},
            "is for the configuration with the best score",
        ),
    ],
)
def test_what_it_cannot_do(options, words):
    with pytest.raises(InputError, match=words):
        of.estimate.bbc(_oof(_correct(30, np.linspace(0.4, 0.9, 20), 1)), "mean", **options)
