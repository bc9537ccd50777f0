"""The model that `refit` gives if several seeds were averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..data.cells import Response, cut_labels
from .predict import Reader, RowPredictions
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
    response : {"proba", "score", "label", "value", "risk"}
        What was averaged when the configuration was estimated.
    classes : ndarray or None
        The classes, in the order of the predictions; None for a regressor.

    Attributes
    ----------
    estimators_ : list of estimator
        The fitted models.
    classes_ : ndarray
        The classes of the models, if they are classifiers.

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
        if hasattr(models[0], "classes_"):
            self.classes_ = models[0].classes_
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The mean of what the models predict; of classifiers, the label that goes with it."""
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

    @property
    def _reader(self) -> Reader:
        return Reader(self.response, self.classes)

    def _mean(self, X: Any) -> RowPredictions:
        reader = self._reader
        follows = self.response in ("proba", "score") and reader.follows(self.estimators_[0])
        return average([reader(model, X) for model in self.estimators_], reader, follows)

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimators[0])
