"""How a search scores: scikit-learn's `scoring` as metrics of stored predictions or of fitted models."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..data.predictions import Predictions
from ..data.target import Target
from ..exceptions import InputError, got, invalid
from ..fitting.configs import Configs
from ..fitting.estimators import offers, one_of_each
from ..fitting.live import ONE, TRAIN, LiveScoring
from ..fitting.predict import ModelKind
from ..metrics import LiveScore, Metric, MetricLike
from .stored_model import NamedScore

# The `score` of nearly all estimators, which GridSearchCV takes without `scoring`.
OWN_SCORE = {"classification": "accuracy", "regression": "r2", "survival": "concordance"}
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
    whole: Any  # what scikit-learn calls for all of them: the only scorer, or one that returns a dict
    multimetric: bool = False  # whether there are several, by name
    live: frozenset[str] = frozenset()  # those that need the fitted models; stored predictions tell the others

    @property
    def scorer(self) -> Any:
        """What ``scorer_`` is: a dict of scorers, or the only one."""
        return self.scorers if self.multimetric and hasattr(self.whole, "_scorers") else self.whole

    @property
    def selecting(self) -> str:
        """The name of the scorer that selects; of the first one where a function of ``cv_results_`` or nothing selects."""
        return self.main or next(iter(self.given))

    @property
    def functions(self) -> list[str]:
        """The scorers that are plain functions of (estimator, X, y), or score in a way of their own."""
        return [n for n, asked in self.given.items() if callable(asked) and not _is_made(asked)]

    @property
    def own_functions(self) -> list[str]:
        """The scorers that make_scorer made of functions which scikit-learn does not have."""
        return [n for n, asked in self.given.items() if _is_made(asked) and not _is_of_sklearn(asked)]

    def placed(self, own: str | None, all_live: bool, y: Any) -> Scorers:
        """The same, told which need the fitted models: functions, an own score that is not the metric `own`, or all.

        Functions of labels do so if `y` is a series of pandas: they may use its methods and its index.
        """
        found = set(self.given) if all_live else set(self.functions)
        if own is None:
            found |= {name for name, asked in self.given.items() if asked is None}
        if hasattr(y, "iloc"):
            found |= set(self.own_functions)
        return replace(self, live=frozenset(found))

    def scoring_live(self, params: Mapping[str, Any], train: bool, error_score: Any) -> LiveScoring | None:
        """What workers compute with the fitted models; None if stored predictions tell everything."""
        if not self.live and not train:
            return None
        whole = self.whole
        if self.multimetric and not train and not params:
            whole = _together(
                {name: self.scorers[name] for name in self.given if name in self.live}, error_score == "raise"
            )
        return LiveScoring(whole, params, train, error_score)

    def rescuing(self, params: Mapping[str, Any], train: bool) -> LiveScoring:
        """All scores, for models whose predictions cannot be kept."""
        return LiveScoring(self.whole, params, train)

    def positive(self, target: Target) -> Any:
        """The label that the scorer which selects takes as positive, or the first that takes one; None for none."""
        first = [] if self.main is None else [self.main]
        of_models = self.live - set(self.own_functions)
        found = [
            positive_class(self.scorers[name], target) for name in (*first, *self.scorers) if name not in of_models
        ]
        position = next((p for p in found if p is not None), None)
        return None if position is None or target.classes is None else target.classes[position]

    def metrics(self, kind: str | None, target: Target | None) -> dict[str, Metric]:
        """What every scorer is as a metric: of stored predictions, or of scores of fitted models."""
        task = None if target is None else target.task
        return {name: metrics.get(self.metric(name, kind, target), task) for name in self.given}

    def metric(self, name: str, kind: str | None, target: Target | None) -> MetricLike:
        """One scorer as a metric: by name where a fast one is the same."""
        if name in self.live or kind is None or target is None:
            return LiveScore(name)
        return self.stored_metric(name, kind, target)

    def stored_metric(self, name: str, kind: str, target: Target) -> MetricLike:
        """One scorer as a metric of stored predictions."""
        asked, scorer = self.given[name], self.scorers[name]
        if asked is None:
            return OWN_SCORE[kind]
        if not hasattr(scorer, "_score_func"):
            assert isinstance(asked, str)
            return asked
        plain = asked if isinstance(asked, str) else without_positive(scorer)
        found = metrics.get(plain)
        if _scores_classes_as_numbers(found, target):
            return metrics.make(_of_what_predict_gives(scorer), name=found.name, needs="predict")
        if found.name == "average_precision" and target.task == "multiclass":
            return metrics.make(
                _of_all_classes(scorer._score_func, len(np.unique(target.y))), name=found.name, needs="score"
            )
        position = positive_class(scorer, target)
        if position == 0 and target.classes is not None:  # another scorer's positive class is the last
            return _with_options(scorer, {**scorer._kwargs, "pos_label": target.classes[0]})  # type: ignore[no-any-return]
        return plain if isinstance(asked, str) or not found.looped else scorer

    def expanded(self, oof: Predictions, refit: Any) -> Scorers:
        """With one scorer for each score of a function that returned several of them."""
        if self.multimetric or not self.functions:
            return self
        names = [name for name in oof.live_scores if not name.startswith(TRAIN)]
        others = [oof.live_scores[name] for name in names if name != ONE]
        if others and ONE in names and np.isnan(oof.live_scores[ONE] + others[0]).all():  # where the function failed
            names.remove(ONE)
        if names == [ONE]:
            return self
        parts = {name: NamedScore(self.whole, name) for name in names}
        return Scorers(dict(parts), dict(parts), _main(refit, parts), self.whole, True, frozenset(parts))


def _scores_classes_as_numbers(metric: Metric, target: Target) -> bool:
    """Whether a metric of numbers is asked about classes that are numbers: an absolute error of grades, for example."""
    return metric.tasks == {"regression"} and target.classes is not None and target.classes.dtype.kind in "biuf"


def _of_what_predict_gives(scorer: Any) -> Callable[..., float]:
    """The function behind a scorer, greater is better, called with labels as numbers."""

    def score(y: NDArray[Any], predicted: NDArray[Any]) -> float:
        return float(scorer._sign * scorer._score_func(y, predicted, **scorer._kwargs))

    return score


def _of_all_classes(function: Callable[..., float], n_classes: int) -> Callable[..., float]:
    """The function where samples of all classes are there, else NaN: a draw without one is then drawn again."""

    def score(y: NDArray[Any], scores: NDArray[Any]) -> float:
        return function(y, scores) if len(np.unique(y)) == n_classes else float("nan")

    return score


def read_scoring(scoring: Any, refit: Any, estimator: Any, raises: bool = False) -> Scorers:
    """Scorers from what GridSearchCV takes: None, a name, a scorer, a function, or several of them."""
    from sklearn.metrics import check_scoring

    if scoring is None:
        own = check_scoring(estimator)
        return Scorers({ONE: None}, {ONE: own}, ONE, own)
    if isinstance(getattr(scoring, "_scorers", None), Mapping):  # what check_scoring makes of several names
        scoring = dict(scoring._scorers)
    if isinstance(scoring, str) or callable(scoring):
        scorer = _scorer(scoring)
        return Scorers({ONE: scoring}, {ONE: scorer}, ONE, scorer)
    if not isinstance(scoring, Mapping):
        given = list(scoring) if isinstance(scoring, (Sequence, set, frozenset)) else []
        if not given or not all(isinstance(name, str) for name in given) or len(set(given)) < len(given):
            needed = "must be a name, a scorer, a list of different names or a dict of scorers"
            raise invalid("scoring", needed, got(scoring))
        scoring = {name: name for name in given}
    if not scoring or not all(isinstance(name, str) for name in scoring):
        needed = "must name each scorer by text, such as {'auc': 'roc_auc'}"
        raise invalid("scoring", needed, got(scoring))
    scorers = {name: check_scoring(estimator) if s is None else _scorer(s) for name, s in scoring.items()}
    return Scorers(dict(scoring), scorers, _main(refit, scoring), _together(scorers, raises), True)


def _together(scorers: dict[str, Any], raises: bool) -> Any:
    """Scikit-learn's scorer of several, which asks a model for each answer once."""
    from sklearn.metrics import check_scoring

    return check_scoring(scoring=scorers, raise_exc=raises)


def own_score(configs: Mapping[str, Any], kind: str | None) -> str | None:
    """The metric that the estimators' own ``score`` is: accuracy, R2, or None for any other."""
    from sklearn.base import ClassifierMixin, RegressorMixin

    usual = {"classification": [ClassifierMixin.score], "regression": [RegressorMixin.score]}.get(kind or "", [])
    if kind == "classification" and "sklearn.neighbors" in sys.modules:
        from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier

        # Theirs only adds that X may be None.
        usual += [KNeighborsClassifier.score, RadiusNeighborsClassifier.score]
    same = bool(usual) and all(_score_method(e) in usual for e in one_of_each(configs).values())
    return OWN_SCORE[kind] if same and kind is not None else None


def _score_method(estimator: Any) -> Any:
    """The function behind ``score``; that of a pipeline is its last step's."""
    from sklearn.pipeline import Pipeline

    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return getattr(type(estimator), "score", None)


def told_kind(scorers: Scorers) -> ModelKind | None:
    """The kind of model that the scorers are made for, where they tell."""
    for scorer in scorers.scorers.values():
        if hasattr(scorer, "_score_func"):
            tasks = metrics.get(without_positive(scorer)).tasks
            if tasks <= {"binary", "multiclass"}:
                return "classification"
            if tasks == {"regression"}:
                return "regression"
    return None


def _is_made(scorer: Any) -> bool:
    """Whether this is a scorer of make_scorer; a class derived from it may score differently."""
    return hasattr(scorer, "_score_func") and type(scorer).__module__.startswith("sklearn.")


def _is_of_sklearn(scorer: Any) -> bool:
    """Whether the function behind a scorer is one of scikit-learn, which takes labels in any container."""
    function = scorer._score_func
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__module__", "")).startswith("sklearn.")


def _main(refit: Any, scoring: Mapping[str, Any]) -> str | None:
    if refit is False or callable(refit):
        return None
    if isinstance(refit, str) and refit in scoring:
        return refit
    needed = "the parameter refit must be set to a scorer key or a callable to refit, or to False"
    remedy = f"The names are {', '.join(scoring)}."
    raise InputError(f"For multi-metric scoring, {needed}; {got(refit)}.", remedy=remedy)


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
    needs = {name: metric.needs for name, metric in found.items() if metric.needs != "live"}
    for scored, need in needs.items():
        # One-against-rest areas rank decision values as well as probabilities; scikit-learn's scorer takes the latter.
        if need == "score" and response_methods(scorers.scorers[scored])[0] == "predict_proba":
            needs[scored] = "proba"
    for response, methods in _METHODS.items():
        name = next((name for name, need in needs.items() if need == response), None)
        if name is None:
            continue
        lacking = next((c for c, e in configs.items() if not any(offers(e, m) for m in methods)), None)
        if lacking is not None:
            problem = f"{found[name].name} needs {' or '.join(methods)}, which {lacking!r} does not have."
            has_it = "an estimator that has it (CalibratedClassifierCV gives probabilities)"
            raise InputError(problem, remedy=f"Use a scorer of labels such as 'accuracy', or {has_it}.")
        # Without a decision_function, probabilities are what scikit-learn ranks by, and they serve more metrics.
        ranks_by_proba = response == "score" and not any(offers(e, "decision_function") for e in configs.values())
        return "proba" if ranks_by_proba else response
    return "label" if needs and not {"any", "model"} & set(needs.values()) else "auto"


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
