"""BBC-F: the estimate that draws folds, against a loop, and where scores of folds are undefined."""

from __future__ import annotations

import numpy as np
import pytest

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
