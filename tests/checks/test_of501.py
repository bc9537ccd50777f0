"""Accuracy near that of the trivial classifier."""

import numpy as np

import outfold as of


def labels(right, wrong_of_rare, n=100, rare=16):
    """Labels of 84 and 16 percent, predicted with so many right in all and so many of the rare class missed."""
    y = np.array(["rare"] * rare + ["often"] * (n - rare))
    P = y.copy()
    P[:wrong_of_rare] = "often"
    P[rare : rare + (n - right - wrong_of_rare)] = "rare"
    return of.from_arrays(y, P[:, None], folds=np.arange(n) % 5)


def test_fires_on_the_paper_s_example(says):
    # Tsamardinos 2015, sect. 8.1: 85 percent right where one class holds 84 percent.
    oof = labels(right=85, wrong_of_rare=13)
    value = of.estimate.bbc(oof, "accuracy").value
    text = says("OF501", oof, "accuracy")
    assert text == f"an accuracy of {value:.4f} is to be expected; always predicting often gives 0.8400."
    # The same as an error, which is the other way round.
    error = of.estimate.bbc(oof, "error").value
    assert f"an accuracy of {1 - error:.4f}" in says("OF501", oof, "error")


def test_silent_where_it_is_useful_or_not_the_question(says):
    assert says("OF501", labels(right=95, wrong_of_rare=4), "accuracy") is None
    assert says("OF501", labels(right=85, wrong_of_rare=13), "balanced_accuracy") is None
    balanced = labels(right=85, wrong_of_rare=8, rare=50)
    assert says("OF501", balanced, "accuracy") is None
