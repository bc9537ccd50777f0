"""Scorers that are functions of (estimator, X, y), called with stored predictions in the place of a model.

So a scorer that needs the model's answers only can be asked about draws of the samples, without a fit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..data.predictions import Predictions
from ..data.target import Target, encode
from ..exceptions import InputError, invalid
from ..metrics import Metric
from ..stats.kernels import LoopKernel

# Positions of a configuration, a repeat and a fold.
CellPosition = tuple[Any, Any, Any]


@dataclass(frozen=True)
class FunctionScorer:
    """A plain function of (estimator, X, y) as a metric of stored predictions."""

    function: Callable[..., Any]
    response: str  # what is stored besides labels: "proba", "score", or what ``predict`` gives

    @property
    def name(self) -> str:
        """The function's name."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def metric(self) -> Metric:
        """The metric, called once per configuration and resample."""

        def kernel(target: Target, predictions: NDArray[Any]) -> LoopKernel:
            def call(labels: NDArray[Any], prediction: NDArray[Any], counts: NDArray[Any]) -> float:
                rows = np.repeat(np.arange(len(counts)), counts.astype(np.intp))
                return self._number(StoredModel(prediction[rows], target, self.response), labels[rows])

            return LoopKernel(call, target.labels, predictions)

        def reference(target: Target, prediction: NDArray[Any], weights: NDArray[Any] | None = None) -> float:
            counts = np.ones(len(target), dtype=np.intp) if weights is None else np.asarray(weights)
            return float(kernel(target, prediction[None]).scores(counts[None])[0, 0])

        return Metric(self.name, True, "model", metrics.EVERY, kernel, reference, looped=True)

    def cells(self, oof: Predictions, cells: Sequence[CellPosition]) -> list[float]:
        """The score of some finished cells."""
        stored, scores = oof.respond("model"), []
        for config, repeat, fold in cells:
            rows = oof.splits.test_rows(int(repeat), int(fold))
            target = oof.target.take(rows)
            model = StoredModel(stored[repeat, config, rows], target, self.response)
            scores.append(float(self._call(model, target.labels)))
        return scores

    def _number(self, model: StoredModel, labels: NDArray[Any]) -> float:
        value = self._call(model, labels)
        if isinstance(value, Mapping):
            problem = f"the scorer {self.name} returns several scores: {', '.join(map(str, value))}."
            raise InputError(problem, remedy="Give it alone as `scoring`, and let `refit` name the score that selects.")
        try:
            return float(value)
        except (TypeError, ValueError):
            given = f"it returned {value!r}"
            raise invalid(f"the scorer {self.name}", "must return a number", given) from None

    def _call(self, model: StoredModel, labels: NDArray[Any]) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.function(model, HiddenX(len(labels)), labels)
        except InputError:
            raise
        except Exception as error:
            lacks = model.classes is not None and len(np.unique(labels)) < len(model.classes)
            if lacks and isinstance(error, ValueError):
                return np.nan  # a fold or resample that lacks a class leaves many scores undefined
            problem = f"the scorer {self.name} cannot score stored predictions: {type(error).__name__}: {error}."
            remedy = "Make it a function of labels and predictions, with `sklearn.metrics.make_scorer`."
            raise InputError(problem, remedy=remedy) from error


@dataclass(frozen=True)
class NamedScore:
    """One of the scores that a function of (estimator, X, y) returns in a dict."""

    function: Callable[..., Any]
    key: str

    @property
    def __name__(self) -> str:
        return self.key

    def __call__(self, estimator: Any, *data: Any, **params: Any) -> Any:
        """The score of this name."""
        return self.function(estimator, *data, **params)[self.key]


class StoredModel:
    """Takes the place of a fitted model in a scorer: its methods return the stored predictions of the held-out rows."""

    def __init__(self, stored: NDArray[Any], target: Target, response: str) -> None:
        self.task, self.classes, self.response = target.task, target.classes, response
        if target.classes is None:
            self._values, self._codes = stored, stored
            return
        self._values, self._codes = stored[:, :-1], stored[:, -1].astype(np.intp)
        # scikit-learn sorts the classes; here the positive one is the last.
        self._order = np.argsort(target.classes)
        self.classes_ = target.classes[self._order]

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels or values."""
        return self._values if self.classes is None else np.asarray(self.classes[self._codes])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, R2 or concordance, as the ``score`` of nearly all estimators."""
        from sklearn.metrics import accuracy_score, r2_score

        if self.task == "survival":
            return metrics.get("concordance").reference(encode(y, task="survival"), self._values, sample_weight)
        scored = r2_score if self.classes is None else accuracy_score
        return float(scored(y, self.predict(X), sample_weight=sample_weight))

    def __getattr__(self, name: str) -> Any:
        """Methods that exist only if their answers were stored; scikit-learn's scorers look for them."""
        found = _ANSWERS.get(name)
        if found is None:
            raise AttributeError(f"the model is not kept with the predictions (asked for {name})")
        response, answer = found
        if self.__dict__.get("response") != response:
            stored = {"proba": "probabilities", "score": "decision values"}.get(self.response, "labels or values")
            raise AttributeError(f"{name} cannot be answered: only {stored} of all configurations were stored")

        def method(X: Any) -> NDArray[Any]:
            return answer(self)

        method.__name__ = name  # by which scikit-learn's scorers call it
        return method

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags

        if self.classes is None:
            return Tags("regressor", TargetTags(required=True), regressor_tags=RegressorTags())
        return Tags("classifier", TargetTags(required=True), classifier_tags=ClassifierTags())

    def _probabilities(self) -> NDArray[Any]:
        columns = self._values
        if columns.shape[1] == 1:
            columns = np.hstack([1 - columns, columns])
        return np.asarray(columns[:, self._order])

    def _decisions(self) -> NDArray[Any]:
        if self._values.shape[1] > 1:
            return np.asarray(self._values[:, self._order])
        return self._values[:, 0] if self._order[0] == 0 else -self._values[:, 0]


_ANSWERS: dict[str, tuple[str, Callable[[StoredModel], NDArray[Any]]]] = {
    "predict_proba": ("proba", StoredModel._probabilities),
    "predict_log_proba": ("proba", lambda model: np.log(model._probabilities())),
    "decision_function": ("score", StoredModel._decisions),
}


class HiddenX:
    """Takes the place of X in a scorer, which may pass it to the model and count its rows, and nothing else."""

    def __init__(self, n: int) -> None:
        self.shape = (n,)

    def __len__(self) -> int:
        return self.shape[0]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"X is not kept with the predictions (asked for {name})")

    def __getitem__(self, key: Any) -> NoReturn:
        raise TypeError("X is not kept with the predictions")

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("X is not kept with the predictions")


# Python's own messages, such as that of a TypeError, must make sense to the author of the scorer.
StoredModel.__name__, HiddenX.__name__ = "estimator", "X"
