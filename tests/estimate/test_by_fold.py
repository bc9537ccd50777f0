"""Estimates from scores of folds: BBC-F against a loop, WMC and WMCS against plain programs, and undefined scores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

import outfold as of
from outfold.exceptions import NeedError


def areas(n_folds, one_class=()):
    """Scores of three configurations on folds of 12 samples; the folds of one class have no AUC."""
    rng = np.random.default_rng(0)
    folds = np.repeat(np.arange(n_folds), 12)
    y = np.tile([0, 1], 6 * n_folds)
    y[np.isin(folds, one_class)] = 0
    scores = y[:, None] * [0.5, 1.0, 1.5] + rng.normal(size=(len(y), 3))
    return of.from_arrays(y, scores, folds=folds, response="score")


def test_the_estimate_is_that_of_a_loop_over_draws_of_folds():
    oof = areas(6)
    found = of.estimate.bbc_f(oof, "roc_auc", n_resamples=50, rng=3)
    scores, rng = oof.scores("roc_auc")[:, 0], np.random.default_rng(3)
    drawn = rng.integers(0, 6, size=(50, 6))
    while whole := [b for b in range(50) if len(set(drawn[b])) == 6]:
        drawn[whole] = rng.integers(0, 6, size=(len(whole), 6))
    by_hand = []
    for folds in drawn:
        best = np.argmax(scores[:, folds].mean(axis=1))
        by_hand.append(scores[best, np.setdiff1d(np.arange(6), folds)].mean())
    np.testing.assert_allclose(found.draws, by_hand, rtol=1e-12)
    assert found.value == pytest.approx(np.mean(by_hand))
    assert found.naive == pytest.approx(scores.mean(axis=1).max())


def test_folds_without_a_score_are_not_drawn():
    found = of.estimate.bbc_f(areas(8, one_class=(2, 5)), "roc_auc")
    assert "draws of 6 folds" in found.description
    assert np.isfinite(found.draws).all()
    with pytest.raises(NeedError, match=r"bbc_f needs 5 folds or more with a score; roc_auc is undefined .*tt"):
        of.estimate.bbc_f(areas(6, one_class=(2, 5)), "roc_auc")


# -- WMC and WMCS ---------------------------------------------------------------------------------------

MANY = 40_000


def answers(c=4, n=120, folds=12, seed=1):
    """Right and wrong answers of configurations that are nearly equally good."""
    rng = np.random.default_rng(seed)
    hard = rng.random((n, 1))
    right = rng.random((n, c)) < 0.9 - 0.5 * hard + np.linspace(0, 0.08, c)
    return of.from_arrays(None, right.astype(float), folds=np.arange(n) % folds, response="pointwise")


def plain_covariance(scores, ratio):
    """As the authors' program has it: variances of Nadeau and Bengio, correlations of the fold scores."""
    j = scores.shape[1]
    sd = np.sqrt((1 / j + ratio) * scores.var(axis=1, ddof=1))
    return np.corrcoef(scores) * np.outer(sd, sd)


def plain_weights(means, covariance):
    """Probability that each has the smallest mean error: all differences to the others are below 0."""
    weights = []
    for j in range(len(means)):
        others = [i for i in range(len(means)) if i != j]
        D = np.zeros((len(others), len(means)))
        D[:, j], D[np.arange(len(others)), others] = 1, -1
        moments = {"mean": D @ means, "cov": D @ covariance @ D.T}
        weights.append(multivariate_normal.cdf(np.zeros(len(others)), **moments, abseps=1e-5, releps=1e-5))
    return np.array(weights)


def chance_of(weights, means):
    """Four standard errors of a weighted mean whose weights are shares of draws."""
    return 4 * np.sqrt((weights @ means**2 - (weights @ means) ** 2) / MANY)


def test_wmc_is_that_of_multivariate_normal_probabilities():
    oof = answers()
    errors = 1 - oof.scores("mean")[:, 0]
    means = errors.mean(axis=1)
    weights = plain_weights(means, plain_covariance(errors, 10 / 110))
    assert weights.sum() == pytest.approx(1, abs=1e-4)
    found = of.estimate.wmc(oof, "mean", n_resamples=MANY)
    shares = [np.mean(found.chosen == name) for name in oof.configs]
    assert shares == pytest.approx(weights, abs=0.01)
    assert found.value == pytest.approx(1 - weights @ means, abs=chance_of(weights, means))
    assert found.interval is None


def test_wmcs_is_that_of_a_plain_simulation():
    oof = answers()
    errors = 1 - oof.scores("mean")[:, 0]
    means, covariance = errors.mean(axis=1), plain_covariance(errors, 10 / 110)
    sim = np.random.default_rng(7).multivariate_normal(means, covariance, size=MANY)
    best = np.argmin(means)
    won, lead = sim[sim.argmin(axis=1) == best, best], means.mean() - means[best]
    bias = max(means[best] - won.mean(), 0)
    share = min(bias / lead, 1)
    chance = (
        4 * np.sqrt(2) * won.std() / np.sqrt(len(won)) / lead
    )  # four standard errors of the difference of two simulations
    found = of.estimate.wmcs(oof, "mean", n_resamples=MANY)
    weights = plain_weights(means - found.details["shrinkage"] * (means - means.mean()), covariance)
    assert 0 < share < 1
    assert found.details["shrinkage"] == pytest.approx(share, abs=chance)
    assert chance < 0.1
    assert found.value == pytest.approx(1 - weights @ means, abs=chance_of(weights, means))


def test_wmcs_of_two_is_that_in_closed_form():
    oof = answers(c=2, seed=5)
    scores = oof.scores("mean")[:, 0]
    means, covariance = scores.mean(axis=1), plain_covariance(scores, 10 / 110)
    best, other = np.argsort(-means)
    spread = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    z = (means[best] - means[other]) / spread
    gain = (covariance[best, best] - covariance[best, other]) / spread * norm.pdf(z) / norm.cdf(z)
    share = min(gain / (means[best] - means.mean()), 1)
    wins = norm.cdf((1 - share) * z)
    found = of.estimate.wmcs(oof, "mean", n_resamples=MANY)
    assert found.details["shrinkage"] == pytest.approx(share, abs=0.03)
    weights, both = np.array([wins, 1 - wins]), means[[best, other]]
    assert found.value == pytest.approx(weights @ both, abs=2 * chance_of(weights, both))


@pytest.mark.parametrize("method", [of.estimate.wmc, of.estimate.wmcs])
def test_weighted_means_of_one_configuration_and_of_losses(method):
    oof = areas(6)
    one = method(oof.sel(config=[1]), "roc_auc")
    assert one.value == pytest.approx(of.estimate.cv(oof, "roc_auc", 1).value)
    y = np.random.default_rng(0).integers(0, 2, 60)
    labels = np.where(np.random.default_rng(1).random((60, 5)) < 0.7, y[:, None], 1 - y[:, None])
    oof = of.from_arrays(y, labels, folds=np.arange(60) % 6, response="label")
    score, loss = method(oof, "accuracy"), method(oof, "error")
    assert loss.value == pytest.approx(1 - score.value)
    assert (loss.selected, loss.naive) == (score.selected, pytest.approx(1 - score.naive))
    every = oof.scores("accuracy").mean(axis=(1, 2))
    assert every.min() <= score.value <= every.max()
    assert score.value < score.naive


def test_a_copy_of_a_configuration_changes_nothing():
    oof = answers()
    twice = of.from_arrays(None, oof.data[0].T[:, [0, 1, 2, 3, 3]], folds=oof.folds[:, 0], response="pointwise")
    assert of.estimate.wmc(twice, "mean").value == pytest.approx(of.estimate.wmc(oof, "mean").value, abs=1e-12)


def test_what_weighted_means_need():
    right = np.eye(8)[:, :2]
    with pytest.raises(NeedError, match=r"wmc needs two or more folds or random splits"):
        of.estimate.wmc(of.from_arrays(None, right, response="pointwise"), "mean")
    with pytest.raises(NeedError, match="of two samples or more each; these predictions are 8-fold"):
        of.estimate.wmcs(of.from_arrays(None, right, folds=np.arange(8), response="pointwise"), "mean")
    with pytest.raises(NeedError, match=r"wmcs needs the rule select.best"):
        of.estimate.wmcs(answers(), "mean", rule=of.select.within(5, lambda name, parameters: 0))
