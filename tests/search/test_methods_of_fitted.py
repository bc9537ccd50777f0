"""Estimators whose methods come with the fit, such as a stack without a final estimator of its own."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

import outfold as of
from outfold.exceptions import InputError


class Chosen(ClassifierMixin, BaseEstimator):
    """Has the methods of the model that its fit makes."""

    def fit(self, X, y):
        self.model_ = LogisticRegression().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    @available_if(lambda self: hasattr(self.model_, "predict_proba"))
    def predict_proba(self, X):
        return self.model_.predict_proba(X)

    def predict(self, X):
        return self.model_.predict(X)


class Checked(Chosen):
    """Refuses to say what it has before it is fitted."""

    @available_if(lambda self: check_is_fitted(self) is None)
    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def stack():
    return StackingClassifier([("tree", DecisionTreeClassifier(random_state=0)), ("bayes", GaussianNB())], cv=2)


@pytest.mark.parametrize("model", [stack(), make_pipeline(StandardScaler(), stack()), Chosen(), Checked()])
@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "accuracy"])
def test_methods_that_come_with_the_fit(model, scoring):
    """A stack without a final estimator of its own has `predict_proba` once it is fitted."""
    X, y = make_classification(80, 5, flip_y=0.2, random_state=0)
    ours = of.SelectCV({"model": model}, scoring=scoring, drop=False).fit(X, y)
    theirs = GridSearchCV(model, {}, scoring=scoring).fit(X, y)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=1e-12)
    assert np.isfinite(ours.estimate_.value)
    assert of.collect({"model": model}, X, y, rng=0).response == "proba"


def test_a_method_that_no_fit_brings_is_refused():
    X, y = make_classification(80, 5, random_state=0)
    with pytest.raises(InputError, match="needs predict_proba, which 'margins'"):
        of.SelectCV({"margins": Perceptron(), "none": NearestCentroid()}, scoring="neg_log_loss").fit(X, y)
