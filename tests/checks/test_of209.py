"""Margins of several folds in one ranking."""

import numpy as np

import outfold as of


def test_fires_on_margins_only(says, classes):
    oof = classes()
    margins = of.from_arrays(oof.y, np.log(oof.P / (1 - oof.P)), folds=oof.folds, response="score", threshold=0.0)
    assert says("OF209", margins, "roc_auc").startswith("the selection ranks margins of different folds together")
    assert says("OF209", margins, "average_precision").startswith(
        "the estimate ranks margins of different folds together"
    )
    by_fold = margins.selecting_by(aggregate="fold")
    assert says("OF209", by_fold, "roc_auc") is None
    assert says("OF209", by_fold, "average_precision").startswith("the estimate ranks")
    assert says("OF209", margins, "accuracy") is None
    assert says("OF209", oof, "roc_auc") is None
    one_set = of.from_arrays(oof.y, margins.P, response="score", threshold=0.0)
    assert says("OF209", one_set, "roc_auc") is None
