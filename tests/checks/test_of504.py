"""No estimate can be made."""

import numpy as np

import outfold as of


def test_fires_with_the_reason_and_is_an_error(says):
    # Classes that no draw can leave out and draw: the only positive sample is either drawn or left out.
    y = np.array([1] + [0] * 9)
    oof = of.from_arrays(y, np.linspace(0, 1, 20).reshape(10, 2), folds=np.arange(10) % 5, response="proba")
    text = says("OF504", oof, "roc_auc")
    assert "roc_auc cannot be scored on bootstrap samples of these predictions." in text
    assert "has 1 of 10 samples" in text
    assert not of.check(oof, "roc_auc").ok


def test_silent_with_a_metric_that_works(says, classes):
    y = np.array([1] + [0] * 9)
    oof = of.from_arrays(y, np.linspace(0, 1, 20).reshape(10, 2), folds=np.arange(10) % 5, response="proba")
    assert says("OF504", oof, "accuracy") is None
    assert says("OF504", classes()) is None
