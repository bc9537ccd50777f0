"""Skewed scores over repeats."""

import numpy as np
import pytest
from scipy.stats import skew

import outfold as of


def repeats(scores):
    """Right answers of one configuration with these scores, one a repeat."""
    P = np.stack([np.arange(100) < round(s * 100) for s in scores], axis=1).astype(float)[:, None, :]
    return of.from_arrays(None, P, folds=np.stack([np.arange(100) % 5] * len(scores), axis=1), response="pointwise")


@pytest.mark.parametrize(("low", "side"), [(0.70, "left"), (1.00, "right")])
def test_fires_with_mean_and_median(says, low, side):
    scores = [0.90] * 6 + [0.91] * 7 + [0.92] * 6 + [low]
    text = says("OF542", repeats(scores))
    assert text == (
        f"the scores of config 0 over 20 repeats are skewed to the {side} (skew {skew(scores):+.2f}): "
        f"their mean is {np.mean(scores):.4f}, their median {np.median(scores):.4f}."
    )


def test_silent_for_symmetric_scores_few_repeats_and_no_spread(says):
    assert says("OF542", repeats([0.90, 0.92] * 10)) is None
    assert says("OF542", repeats([0.90, 0.91, 0.92, 0.91, 0.70])) is None
    assert says("OF542", repeats([0.90] * 20)) is None
