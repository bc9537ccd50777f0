"""Margins of several folds in one ranking."""

import numpy as np

import outfold as of


def test_fires_on_margins_only(says, classes):
    oof = classes()
    margins = of.from_arrays(oof.y, np.log(oof.P / (1 - oof.P)), folds=oof.folds, response="score", threshold=0.0)
    assert says("OF209", margins, "roc_auc").startswith("scores of different folds are ranked together")
    assert says("OF209", margins, "accuracy") is None
    assert says("OF209", oof, "roc_auc") is None
    one_set = of.from_arrays(oof.y, margins.P, response="score", threshold=0.0)
    assert says("OF209", one_set, "roc_auc") is None
