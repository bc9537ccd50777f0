"""How a search scores: scikit-learn's `scoring` as metrics of stored predictions, and the response they need."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..data.predictions import Predictions, State
from ..data.target import Target, encode
from ..exceptions import InputError, got, invalid
from ..fitting.configs import Configs
from ..metrics import Metric, MetricLike
from ..stats.kernels import LoopKernel

# The `score` of nearly all estimators, which GridSearchCV takes without `scoring`.
_OWN_SCORE = {"classification": "accuracy", "regression": "r2", "survival": "concordance"}
# Metrics that scikit-learn knows by another name, with a sign.
_SCIKIT_NAMES = {
    "mcc": "matthews_corrcoef",
    "log_loss": "neg_log_loss",
    "brier": "neg_brier_score",
    "mse": "neg_mean_squared_error",
    "rmse": "neg_root_mean_squared_error",
    "mae": "neg_mean_absolute_error",
    "error": "accuracy",
}


@dataclass(frozen=True, eq=False)
class Scorers:
    """The scorers that `scoring` and `refit` mean."""

    given: dict[str, Any]  # what was asked for, by its name in ``cv_results_``: ``"score"`` if there is only one
    scorers: dict[str, Any]  # the same as scikit-learn's scorers, for ``score``
    main: str | None  # the one that selects; None if none was named
    multimetric: bool = False  # whether several were asked for by name
    whole: Any = None  # the function that returns all of them, if there is one

    @property
    def scorer(self) -> Any:
        """What ``scorer_`` is: a dict of scorers, or the only one."""
        if self.whole is not None:
            return self.whole
        return self.scorers if self.multimetric else self.scorers["score"]

    def positive(self, target: Target) -> Any:
        """The label that the scorer which selects takes as positive, or the first that takes one; None for none."""
        first = [] if self.main is None else [self.main]
        found = [positive_class(self.scorers[name], target) for name in (*first, *self.scorers)]
        position = next((p for p in found if p is not None), None)
        return None if position is None or target.classes is None else target.classes[position]

    def metrics(self, kind: str, target: Target, response: str | None = None) -> dict[str, Metric]:
        """The metrics for these labels; `response` is what plain functions are called with."""
        return {name: metrics.get(self.metric(name, kind, target, response), target.task) for name in self.given}

    def metric(self, name: str, kind: str, target: Target, response: str | None = None) -> MetricLike:
        """One scorer as a metric of stored predictions: by name where a fast one is the same."""
        asked, scorer = self.given[name], self.scorers[name]
        if asked is None:
            return _OWN_SCORE[kind]
        if not hasattr(scorer, "_score_func"):
            return asked if isinstance(asked, str) else FunctionScorer(scorer, response or "any").metric()
        plain = asked if isinstance(asked, str) else without_positive(scorer)
        found = metrics.get(plain)
        if found.name == "average_precision" and target.task == "multiclass":
            return metrics.make(scorer._score_func, name=found.name, needs="score")
        position = positive_class(scorer, target)
        if position == 0 and target.classes is not None:  # another scorer's positive class is the last
            return _with_options(scorer, {**scorer._kwargs, "pos_label": target.classes[0]})  # type: ignore[no-any-return]
        return plain if isinstance(asked, str) or not found.looped else scorer

    def expanded(self, oof: Predictions, refit: Any) -> Scorers:
        """With one scorer for each score of a function that returns several of them."""
        function = self.given.get("score")
        if self.multimetric or not callable(function) or hasattr(function, "_score_func"):
            return self
        function = function.function if isinstance(function, NamedScore) else function
        keys = FunctionScorer(function, oof.response).keys(oof)
        if keys is None:
            return self
        parts = {key: NamedScore(function, key) for key in keys}
        return Scorers(dict(parts), dict(parts), _main(refit, parts), True, function)


def read_scoring(scoring: Any, refit: Any, estimator: Any) -> Scorers:
    """Scorers from what GridSearchCV takes: None, a name, a scorer, a function, or several of them."""
    from sklearn.metrics import check_scoring

    if scoring is None:
        _refuse_other_score(estimator)
        return Scorers({"score": None}, {"score": check_scoring(estimator)}, "score")
    if isinstance(getattr(scoring, "_scorers", None), Mapping):  # what check_scoring makes of several names
        scoring = dict(scoring._scorers)
    if isinstance(scoring, str) or callable(scoring):
        scorer = _scorer(scoring)
        if isinstance(refit, str) and callable(scoring) and not hasattr(scoring, "_score_func"):
            scorer = scoring = NamedScore(scoring, refit)
        return Scorers({"score": scoring}, {"score": scorer}, "score")
    if not isinstance(scoring, Mapping):
        given = list(scoring) if isinstance(scoring, (Sequence, set, frozenset)) else []
        if not given or not all(isinstance(name, str) for name in given) or len(set(given)) < len(given):
            needed = "must be a name, a scorer, a list of different names or a dict of scorers"
            raise invalid("scoring", needed, got(scoring))
        scoring = {name: name for name in given}
    if not scoring or not all(isinstance(name, str) for name in scoring):
        needed = "must name each scorer by text, such as {'auc': 'roc_auc'}"
        raise invalid("scoring", needed, got(scoring))
    return Scorers(dict(scoring), {name: _scorer(s) for name, s in scoring.items()}, _main(refit, scoring), True)


def _refuse_other_score(estimator: Any) -> None:
    """Generalised linear models score themselves by their deviance, which is not the R2 it would be taken for."""
    from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor

    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    powers = ((PoissonRegressor, 1), (GammaRegressor, 2), (TweedieRegressor, getattr(estimator, "power", 0)))
    power = next((power for kind, power in powers if isinstance(estimator, kind)), None)
    if power is not None:
        problem = f"the score of {type(estimator).__name__} is the share of deviance explained, not R2."
        wanted = f"`scoring=make_scorer(d2_tweedie_score, power={power})`"
        raise InputError(problem, remedy=f"Say what selects, such as {wanted}.")


def _main(refit: Any, scoring: Mapping[str, Any]) -> str | None:
    if refit is False or callable(refit):
        return None
    if isinstance(refit, str) and refit in scoring:
        return refit
    needed = "must name the one of several scorers that selects, be False, or be a function of cv_results_"
    raise invalid("refit", needed, got(refit), f"The names are {', '.join(scoring)}.")


def _scorer(asked: Any) -> Any:
    """Scikit-learn's scorer of a name; a scorer or function as it is."""
    from sklearn.metrics import get_scorer, get_scorer_names

    if callable(asked):
        return asked
    if not isinstance(asked, str):
        needed = "must hold names, scorers made by make_scorer or functions"
        raise invalid("scoring", needed, got(asked))
    if asked in get_scorer_names():
        return get_scorer(asked)
    if asked in _SCIKIT_NAMES:
        problem = "in a search a greater score must be better."
        raise InputError(problem, remedy=f"Give `scoring={_SCIKIT_NAMES[asked]!r}`, not {asked!r}.")
    if asked == "concordance":
        return _own_score
    metrics.get(asked)  # says which names are near
    argument = f"scoring={asked!r}"
    raise invalid(argument, "is not a scorer of scikit-learn", remedy="See `sklearn.metrics.get_scorer_names()`.")


def _own_score(estimator: Any, X: Any, y: Any) -> float:
    return float(estimator.score(X, y))


# -- metrics --------------------------------------------------------------------------------------------


def needed_response(scorers: Scorers, found: Mapping[str, Metric], kind: str, configs: Configs) -> str:
    """The least that all metrics can be taken of, read off models the way scikit-learn's scorers do."""
    if kind != "classification":
        return "auto"
    needs = {name: metric.needs for name, metric in found.items()}
    for scored, need in needs.items():
        # One-against-rest areas rank decision values as well as probabilities; scikit-learn's scorer takes the latter.
        if need == "score" and response_methods(scorers.scorers[scored])[0] == "predict_proba":
            needs[scored] = "proba"
    for response, methods in _METHODS.items():
        name = next((name for name, need in needs.items() if need == response), None)
        if name is None:
            continue
        lacking = next((c for c, e in configs.items() if not any(hasattr(e, m) for m in methods)), None)
        if lacking is not None:
            problem = f"{found[name].name} needs {' or '.join(methods)}, which {lacking!r} does not have."
            has_it = "an estimator that has it (CalibratedClassifierCV gives probabilities)"
            raise InputError(problem, remedy=f"Use a scorer of labels such as 'accuracy', or {has_it}.")
        # Without a decision_function, probabilities are what scikit-learn ranks by, and they serve more metrics.
        ranks_by_proba = response == "score" and not any(hasattr(e, "decision_function") for e in configs.values())
        return "proba" if ranks_by_proba else response
    return "auto" if {"any", "model"} & set(needs.values()) else "label"


_METHODS = {"proba": ("predict_proba",), "score": ("decision_function", "predict_proba")}


def response_methods(scorer: Any) -> tuple[str, ...]:
    """What the scorer calls of the model, the first there is."""
    method = scorer._response_method
    return (method,) if isinstance(method, str) else tuple(method)


def _defaults(scorer: Any) -> Mapping[str, Any]:
    try:
        parameters = inspect.signature(scorer._score_func).parameters
    except (TypeError, ValueError):  # some compiled functions have no signature
        return {}
    return {name: p.default for name, p in parameters.items()}


# -- the positive class ---------------------------------------------------------------------------------


def positive_class(scorer: Any, target: Target) -> int | None:
    """Position of the class that a scorer takes as the positive one; None if it takes none, or the last anyway.

    As in scikit-learn, a scorer without `pos_label` takes the label 1.
    """
    if target.task != "binary" or target.classes is None or not hasattr(scorer, "_score_func"):
        return None
    told = {**_defaults(scorer), **scorer._kwargs}
    averaged = told.get("average", "binary") != "binary" and scorer._score_func.__name__ != "average_precision_score"
    if told.get("pos_label") is None or told["pos_label"] is inspect.Parameter.empty or averaged:
        return None
    found = np.flatnonzero([bool(c == told["pos_label"]) for c in target.classes])
    if len(found):
        return int(found[0])
    raise _no_such_class(scorer, told["pos_label"], target.classes.tolist())


def _no_such_class(scorer: Any, asked: Any, classes: list[Any]) -> InputError:
    name = scorer._score_func.__name__
    options = {k: v for k, v in scorer._kwargs.items() if k not in ("pos_label", "average")}
    methods = response_methods(scorer)
    if methods != ("predict",):
        options["response_method"] = methods if len(methods) > 1 else methods[0]
    inside = "".join(f", {k}={v!r}" for k, v in options.items())
    problem = f"{name} takes {asked!r} as the positive label; the labels are {classes[0]!r} and {classes[1]!r}."
    return InputError(
        problem, remedy=f"Say which one: `scoring=make_scorer({name}, pos_label={classes[1]!r}{inside})`."
    )


def without_positive(scorer: Any) -> Any:
    """The same scorer, not told its positive class."""
    return _with_options(scorer, {name: value for name, value in scorer._kwargs.items() if name != "pos_label"})


def _with_options(scorer: Any, options: Mapping[str, Any]) -> Any:
    from sklearn.metrics import make_scorer

    method, greater = scorer._response_method, scorer._sign > 0
    return make_scorer(scorer._score_func, response_method=method, greater_is_better=greater, **options)


# -- scorers that are functions of (estimator, X, y), called with the stored predictions in the place of a model -----

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

    def keys(self, oof: Predictions) -> list[str] | None:
        """Names of the scores it returns, found by calling it for one finished cell; None where it returns a number."""
        cell = np.argwhere(oof.state == State.DONE)[0]
        value = next(self._answers(oof, [tuple(cell)]))
        return list(value) if isinstance(value, Mapping) else None

    def cells(self, oof: Predictions, cells: Sequence[CellPosition]) -> list[float]:
        """The score of some finished cells."""
        return [float(value) for value in self._answers(oof, cells)]

    def _answers(self, oof: Predictions, cells: Sequence[CellPosition]) -> Iterator[Any]:
        stored = oof.respond("model")
        for config, repeat, fold in cells:
            rows = oof.splits.test_rows(int(repeat), int(fold))
            target = oof.target.take(rows)
            yield self._call(StoredModel(stored[repeat, config, rows], target, self.response), target.labels)

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
    """One of the scores that a function of (estimator, X, y) returns in a dict; or its only score."""

    function: Callable[..., Any]
    key: str

    @property
    def __name__(self) -> str:
        return self.key

    def __call__(self, estimator: Any, X: Any, y: Any) -> Any:
        """The score of this name."""
        value = self.function(estimator, X, y)
        if not isinstance(value, Mapping):
            return value
        if self.key not in value:
            needed = f"must name one of the scores that the scorer returns, {', '.join(map(str, value))}"
            raise invalid("refit", needed, got(self.key))
        return value[self.key]


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
