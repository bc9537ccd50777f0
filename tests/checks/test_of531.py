"""Optimism larger than the uncertainty."""

import numpy as np

import outfold as of


def test_fires_with_the_numbers_of_the_estimate(says):
    correct = np.random.default_rng(0).random((80, 150)) < 0.7  # equally good: all of the lead is luck
    oof = of.from_arrays(None, correct, response="pointwise")
    made = of.estimate.bbc(oof, "mean")
    spread = made.draws.std(ddof=1)
    assert made.optimism > spread
    assert says("OF531", oof, "mean") == (
        f"the winner's mean, {made.naive:.4f}, is too good by {made.optimism:.4f}, more than the spread {spread:.4f} (sd) "
        f"of the draws behind the estimate {made.value:.4f}, 95% CI [{made.interval.low:.4f}, {made.interval.high:.4f}]."
    )
    # A loss is too low.
    y = np.zeros(80)
    y[:40] = 1
    wrong = np.where(correct, y[:, None], 1 - y[:, None]).astype(int)
    labels = of.from_arrays(y.astype(int), wrong, response="label")
    assert f"is too good by {of.estimate.bbc(labels, 'error').optimism:.4f}" in says("OF531", labels, "error")


def test_silent_where_little_was_tried_or_one_is_far_ahead(says, classes):
    assert says("OF531", classes(c=1)) is None
    assert says("OF531", classes(c=30, signal=[8.0] + [0.5] * 29)) is None
