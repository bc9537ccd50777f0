"""Models that can be scored, and whose predictions cannot be kept: the search scores them as GridSearchCV does."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV

import outfold as of

X = np.random.default_rng(0).normal(size=(30, 2))
y = np.array([1, 2, 1] * 10)


class Constant(ClassifierMixin, BaseEstimator):
    """Predicts one label, which may be no class of y; or one number for all samples."""

    def __init__(self, label=1, single=False):
        self.label, self.single = label, single

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        if self.label is None:
            raise RuntimeError("no luck today")
        return self.label if self.single else np.full(len(X), self.label)


class OwnScore(Constant):
    """Has a score of its own, which needs no predictions."""

    def score(self, X, y):
        return float(self.label)


def both(*args, **options):
    return [search(*args, cv=3, **options).fit(X, y) for search in (GridSearchCV, of.SelectCV)]


@pytest.mark.parametrize("scoring", [None, "accuracy", ["accuracy", "recall_macro"]])
def test_labels_that_are_no_class_count_as_wrong(scoring):
    refit = "accuracy" if isinstance(scoring, list) else True
    theirs, ours = both(Constant(), {"label": [0, 2, 1]}, scoring=scoring, refit=refit)
    assert ours.oof_.response == "none"
    assert ours.best_params_ == theirs.best_params_ == {"label": 1}
    for name in theirs.cv_results_:
        if "score" in name and "time" not in name:
            np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name])


def test_a_number_for_all_samples_with_a_score_of_its_own():
    theirs, ours = both(OwnScore(single=True), {"label": [1, 3, 2]})
    assert ours.best_params_ == theirs.best_params_ == {"label": 3}
    assert ours.best_score_ == theirs.best_score_ == 3
    assert ours.estimate_.value == 3  # from the scores of the folds


def test_predictions_are_kept_where_all_can_be():
    search = of.SelectCV(Constant(), {"label": [1, 2]}, cv=3).fit(X, y)
    assert search.oof_.response == "label"
    assert search.oof_.completeness == 1.0


def test_a_model_that_can_neither_predict_nor_be_scored_fails_as_before():
    with pytest.warns(FitFailedWarning, match=r"3 fits failed out of a total of 6(.|\n)*RuntimeError: no luck today"):
        search = of.SelectCV(Constant(), {"label": [None, 1]}, cv=3).fit(X, y)
    assert search.oof_.response == "label"
    assert list(search.cv_results_["state"]) == ["failed", "done"]
    with pytest.raises(RuntimeError, match="no luck today"):
        of.SelectCV(Constant(), {"label": [None, 1]}, cv=3, error_score="raise").fit(X, y)


def test_a_store_keeps_predictions_only_so_the_fit_fails(tmp_path):
    with pytest.warns(FitFailedWarning, match="predicted the label 0, which is none of the classes"):
        search = of.SelectCV(Constant(), {"label": [0, 1]}, cv=3, store=tmp_path / "run.oof").fit(X, y)
    assert list(search.cv_results_["state"]) == ["failed", "done"]


def test_other_workers_score_them_too():
    alone, two = (of.SelectCV(Constant(), {"label": [0, 1]}, cv=3, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(alone.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
