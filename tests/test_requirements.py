"""The one mechanism by which methods say what they need."""

import numpy as np
import pytest

import outfold
from internals import (
    INDEPENDENT_SAMPLES,
    MEAN_OVER_SAMPLES,
    PREDICTIONS,
    Requirement,
    block,
    check_predictions,
    check_requirements,
    in_words,
    least_folds,
    met,
    splits,
)
from outfold import compare, estimate
from outfold.exceptions import InputError, NeedError

SCORES = outfold.from_scores({"a": [0.8, 0.7, 0.9], "b": [0.7, 0.7, 0.8]}, n_train=60, n_test=30)


class Compared:
    def __init__(self, source, metric=None):
        self.oof, self.metric = source if metric is not None else None, metric
        self.folds = SCORES
        self.plan = source.plan


def one_test_set(groups=None):
    return outfold.from_arrays(None, np.eye(6)[:, :2], response="pointwise", groups=groups)


def test_the_first_unmet_requirement_is_the_error():
    with pytest.raises(NeedError) as error:
        check_requirements("nested", (least_folds(3), block("inner")), one_test_set())
    found = error.value
    assert (found.argument, found.needed) == ("nested", "needs 3 folds or more")
    assert found.given == "these predictions are one test set"
    assert found.remedy == "Collect with `Plan(folds=10)`, give `folds`, or use `bbc`."


def test_later_requirements_are_not_tested_before_earlier_ones_are_met():
    broken = Requirement("never", lambda source: 1 / 0)
    assert not met((least_folds(2), broken), one_test_set())
    assert met((), one_test_set())


def test_words_for_tables():
    assert in_words(()) == "any predictions"
    assert in_words(estimate.cvm_cv.requirements) == "2 folds or more; the block `fresh`"


def test_what_is_not_predictions_is_refused_before_anything_else():
    with pytest.raises(InputError, match="check needs Predictions, as collect, from_arrays or load give; got list"):
        check_predictions([], "check")


def test_requirements_on_compared_configurations():
    scores_only = Compared(SCORES)
    with pytest.raises(
        NeedError, match=r"mcnemar needs predictions; these are scores of folds. Use a test by resampling"
    ):
        check_requirements("mcnemar", (PREDICTIONS,), scores_only)
    grouped = Compared(one_test_set(groups=[0, 0, 1, 1, 2, 2]), outfold.metrics.get("mean"))
    with pytest.raises(NeedError, match=r"needs independent samples; these come in 3 groups. Use permutation"):
        check_requirements("mcnemar", (PREDICTIONS, INDEPENDENT_SAMPLES), grouped)
    assert met((INDEPENDENT_SAMPLES, MEAN_OVER_SAMPLES), Compared(one_test_set(), outfold.metrics.get("mean")))
    assert met((INDEPENDENT_SAMPLES,), Compared(one_test_set(groups=range(6)), outfold.metrics.get("mean")))
    assert not met((MEAN_OVER_SAMPLES,), Compared(one_test_set(), outfold.metrics.get("roc_auc")))


def test_requirements_on_splits():
    any_number = splits("random splits", "", ("kfold", "holdout"))
    five = splits("5 repeats", "Use `t_corrected`.", ("kfold", "holdout"), n_repeats=5)
    assert met((any_number,), Compared(SCORES))
    assert not met((splits("folds", "", ("loo",)),), Compared(SCORES))
    with pytest.raises(NeedError, match=r"t needs 5 repeats; these scores are of 3-fold. Use t_corrected"):
        check_requirements("t", (five,), Compared(SCORES))
    assert compare.t_corrected(SCORES, None, "a", "b").pvalue > 0
