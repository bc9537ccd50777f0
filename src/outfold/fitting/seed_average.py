"""The model that `refit` gives if several seeds were averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..data.cells import Response, cut_labels
from .predict import CURVES, Reader, RowPredictions, survival_curves
from .seed_averaging import average


def _mean_of(method: str) -> Any:
    """The mean of what this method of the models gives, where they have it."""

    def mean(self: SeedAverage, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        found = [np.asarray(getattr(model, method)(X), dtype=np.float64) for model in self.estimators_]
        return average([RowPredictions(values, None) for values in found], Reader("value", None), True).values

    mean.__doc__ = f"The mean of ``{method}`` of the models."
    return available_if(lambda self: all(hasattr(estimator, method) for estimator in self.estimators))(mean)


class SeedAverage(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Models of one configuration that differ in their seeds; their mean predicts.

    Parameters
    ----------
    estimators : list of estimator
        The configuration with each of its seeds.
    response : {"proba", "score", "label", "value", "risk", "survival"}
        What was averaged when the configuration was estimated.
    classes : ndarray or None
        The classes, in the order of the predictions; None for a regressor.

    Attributes
    ----------
    estimators_ : list of estimator
        The fitted models.
    classes_ : ndarray
        The classes of the models, if they are classifiers.
    n_features_in_, feature_names_in_ : int, ndarray
        Number and names of the features, if the models know them.

    Examples
    --------
    >>> import outfold as of
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import ExtraTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> trees = {"tree": ExtraTreeClassifier(max_depth=2)}
    >>> oof = of.collect(trees, X, y, of.Plan(folds=5), seeds=3)
    >>> len(of.refit(oof, trees, X, y).estimators_)
    3
    """

    def __init__(self, estimators: Sequence[Any], response: Response, classes: NDArray[Any] | None = None) -> None:
        self.estimators = estimators
        self.response = response
        self.classes = classes

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> SeedAverage:
        """Fit a clone of each estimator."""
        return self._keep([clone(estimator).fit(X, y, **fit_params) for estimator in self.estimators])

    def fitted(self) -> SeedAverage:
        """The same, where the estimators are fitted already."""
        return self._keep(list(self.estimators))

    def _keep(self, models: list[Any]) -> SeedAverage:
        self.estimators_ = models
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(models[0], name):
                setattr(self, name, getattr(models[0], name))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The mean of what the models predict; of classifiers the label that goes with it, of survival models the risk."""
        check_is_fitted(self)
        found = self._mean(X)
        if self.classes is None:
            return found.values
        if self.response == "label":
            codes = found.values
        else:
            several, threshold = found.values.ndim == 2, self._reader.threshold
            codes = cut_labels(found.values, several, threshold) if found.labels is None else found.labels
        return np.asarray(np.asarray(self.classes)[codes])

    predict_proba = _mean_of("predict_proba")
    decision_function = _mean_of("decision_function")

    @available_if(lambda self: all(hasattr(estimator, CURVES) for estimator in self.estimators))  # type: ignore[untyped-decorator]
    def predict_survival_function(self, X: Any, return_array: bool = False) -> NDArray[Any]:
        """The mean of the survival functions of the models: step functions, or their values in an array."""
        check_is_fitted(self)
        each = [getattr(model, CURVES)(X) for model in self.estimators_]
        if not len(each[0]):
            return np.asarray(each[0])
        times = np.unique(np.concatenate([steps[0].x for steps in each]))
        curves = [survival_curves(model, X, times) for model in self.estimators_]
        mean = average([RowPredictions(values, None) for values in curves], Reader("value", None), True).values
        step = type(each[0][0])
        return mean if return_array else np.array([step(times, row) for row in mean])

    @available_if(lambda self: hasattr(self.estimators[0], "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of the mean of ``predict_proba`` of the models."""
        return np.asarray(np.log(self.predict_proba(X)))

    @available_if(lambda self: is_classifier(self) or is_regressor(self))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of a classifier, R2 of a regressor."""
        scored = accuracy_score if is_classifier(self) else r2_score
        return float(scored(y, self.predict(X), sample_weight=sample_weight))

    @property
    def _reader(self) -> Reader:
        return Reader("risk" if self.response == "survival" else self.response, self.classes)

    def _mean(self, X: Any) -> RowPredictions:
        reader = self._reader
        follows = self.response in ("proba", "score") and reader.follows(self.estimators_[0])
        return average([reader(model, X) for model in self.estimators_], reader, follows)

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimators[0])
