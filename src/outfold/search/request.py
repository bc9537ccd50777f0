"""What `SelectCV.fit` is asked to do: data, kind of task, folds and routed arguments."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.model_selection import GridSearchCV, check_cv
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.multiclass import check_classification_targets

from .. import formatting
from ..arguments import is_whole_number
from ..data.plan import Plan
from ..data.target import Target, encode
from ..exceptions import InputError, got, invalid
from ..fitting.configs import Configs
from ..fitting.estimators import one_of_each, said_type, wants_columns
from ..fitting.live import LiveScoring
from ..fitting.predict import ModelKind, choose_response, kind_of
from ..metrics import LiveScore, Metric, MetricLike, get
from .options import seed_of_random_state
from .scorers import Scorers, needed_response, own_score, told_kind
from .space import is_sampler


class FitRequest(NamedTuple):
    """What is predicted from what, on which folds, and how it is scored."""

    X: Any
    y: Any
    target: Target | None  # None where nothing is predicted
    kind: ModelKind | None  # likewise
    plan: Plan
    groups: Any
    fit_params: dict[str, Any]
    seed: int
    scorers: Scorers
    response: Any
    live: LiveScoring | None  # what workers compute with the fitted models
    rescue: LiveScoring | None = None  # what they compute with models whose predictions cannot be kept

    @classmethod
    def of(
        cls, search: Any, X: Any, y: Any, params: Mapping[str, Any], seed: int, configs: Configs, scorers: Scorers
    ) -> FitRequest:
        """What this search is asked to do with the arguments of its ``fit``."""
        train = bool(search.return_train_score)
        routed = Routed.of(search, params, scorers)
        kind = predicted_kind(configs, y, scorers)
        scorers = scorers.placed(own_score(configs, kind), kind is None or bool(routed.score), y)
        target, response, rescue = None, "none", None
        if kind is None and search.seeds > 1:
            needed = "must be 1 for models whose predictions cannot be averaged, such as clusterers"
            raise invalid("seeds", needed, got(search.seeds))
        if kind is not None:
            target = encode(y, task=kind)
            target = encode(y, task=kind, positive=scorers.positive(target))
            needed = needed_response(scorers, scorers.metrics(kind, target), kind, configs)
            if needed == "label" and search.seeds > 1:  # the mean of probabilities decides better than a vote
                needed = "auto"
            response = choose_response(needed, kind, configs, 2 if target.classes is None else len(target.classes))
            # A store keeps scores of done cells only, and several models have no predictions to average then.
            if search.store is None and not is_sampler(search.search) and search.seeds == 1:
                rescue = scorers.rescuing(routed.score, train)
        plan = plan_of(search, X, y, kind, routed.split)
        live = scorers.scoring_live(routed.score, train, search.error_score)
        return cls(X, y, target, kind, plan, routed.groups, routed.fit, seed, scorers, response, live, rescue)

    @property
    def metrics(self) -> dict[str, Metric]:
        """The scorers as metrics."""
        return self.scorers.metrics(self.kind, self.target)

    @property
    def selecting_metric(self) -> MetricLike:
        """What selects: the scorer that `refit` names, or the first one."""
        return self.scorers.metric(self.scorers.selecting, self.kind, self.target)

    def expected_metric(self, refit: Any) -> MetricLike:
        """The same before a function has been called, which may return several scores: then `refit` names one."""
        named = isinstance(refit, str) and not self.scorers.multimetric and bool(self.scorers.functions)
        return LiveScore(refit) if named else self.selecting_metric

    def told_metric(self, refit: Any) -> Metric:
        """The same for a sampler, which is told its values."""
        return get(self.expected_metric(refit), None if self.target is None else self.target.task)

    def scored_only(self) -> FitRequest:
        """The same for a search that keeps scores and no predictions."""
        scorers = replace(self.scorers, live=frozenset(self.scorers.given))
        return self._replace(target=None, kind=None, response="none", scorers=scorers)

    @property
    def positive(self) -> Any:
        """The positive one of two classes."""
        classes = None if self.target is None else self.target.classes
        return classes[-1] if classes is not None and len(classes) == 2 else None


class Routed(NamedTuple):
    """Where the arguments of ``fit`` go."""

    groups: Any
    fit: dict[str, Any]
    score: dict[str, Any]
    split: dict[str, Any]

    @classmethod
    def of(cls, search: Any, params: Mapping[str, Any], scorers: Scorers) -> Routed:
        """As scikit-learn's searches route them: by its metadata routing or, without it, weights to scorers that take them."""
        groups = params.get("groups")
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(search, "fit", **params)
            split = dict(routed.get("splitter", {}).get("split", {}))
            score = {name: v for name, v in routed.get("scorer", {}).get("score", {}).items() if v is not None}
            return cls(groups, dict(routed.estimator.fit), score, split)
        fit = {name: value for name, value in params.items() if name != "groups"}
        weights = params.get("sample_weight")
        score = {} if weights is None or not _takes_weights(scorers, search) else {"sample_weight": weights}
        return cls(groups, fit, score, {} if groups is None else {"groups": groups})


def _takes_weights(scorers: Scorers, search: Any) -> bool:
    """Whether scikit-learn's searches pass weights to these scorers, which they do from version 1.9 on, or warn if not."""
    if not hasattr(GridSearchCV, "_check_scorers_accept_sample_weight"):
        return False
    several = scorers.multimetric and hasattr(scorers.whole, "_scorers")
    each = {f"{name}={scorer}": scorer for name, scorer in scorers.scorers.items()}
    takes = {
        text: _has_weights(scorer)
        for text, scorer in (each if several else {str(scorers.whole): scorers.whole}).items()
    }
    for text in (text for text, taken in takes.items() if not taken):
        counts = f"every sample counts once in its scores, and by its weight in the fits of {type(search).__name__}"
        warnings.warn(f"The scoring {text} does not support sample_weight, so {counts}.", UserWarning, stacklevel=5)
    return any(takes.values())


def _has_weights(scorer: Any) -> bool:
    takes = getattr(scorer, "_accept_sample_weight", None)
    return bool(takes()) if takes is not None else "sample_weight" in signature(scorer).parameters


def predicted_kind(configs: Configs, y: Any, scorers: Scorers) -> ModelKind | None:
    """What the models predict; None where predictions cannot be kept, and the fitted models have to be scored.

    That is so without y, for several outputs, for clusterers, transformers and the like. Estimators that do not say what they
    are are what the scorers are made for.
    """
    some = one_of_each(configs)
    said = {said_type(estimator) for estimator in some.values()}
    if y is None or not (_has_records(y) or _is_one_column(y)) or said & {"clusterer", "density_estimator"}:
        return None
    if "outlier_detector" in said:  # it predicts the labels -1 and 1
        return "classification" if set(np.unique(np.asarray(y))) <= {-1, 1} and said == {"outlier_detector"} else None
    if not said <= {"classifier", "regressor"} and not all(hasattr(e, "predict") for e in some.values()):
        return None
    if "classifier" in said and (_is_one_class(y) or any(map(wants_columns, some.values()))):
        return None
    try:
        asked = None if said <= {"classifier", "regressor"} or _has_records(y) else told_kind(scorers)
        return kind_of(some, y, asked)
    except InputError:
        if {"classifier", "regressor"} <= said:  # their scores cannot be compared
            raise
        return None  # nothing says what they are


def _has_records(y: Any) -> bool:
    return getattr(getattr(y, "dtype", None), "names", None) is not None


def _is_one_column(y: Any) -> bool:
    """Whether y has one label for each sample."""
    if hasattr(y, "tocsr"):
        return False
    try:
        labels = np.asarray(y)
    except ValueError:  # lists of different lengths
        return False
    return labels.ndim == 1 or (labels.ndim == 2 and labels.shape[1] == 1)


def _is_one_class(y: Any) -> bool:
    labels = np.asarray(y)
    return labels.dtype.kind not in "OV" and len(np.unique(labels)) < 2


def plan_of(search: Any, X: Any, y: Any, kind: ModelKind | None, split: Mapping[str, Any]) -> Plan:
    """The plan that `cv` means: what scikit-learn makes of it, unless it is a `Plan`."""
    cv = search.cv
    if isinstance(cv, Plan):
        return cv
    if search.repeats is not None and (cv is None or is_whole_number(cv)):
        return Plan(folds=5 if cv is None else int(cv))  # repeats of folds in the order of the rows would be the same
    cv = check_cv(cv, y, classifier=is_classifier(search._prototype()))
    expected = cv.get_n_splits(X, y, **split)
    if expected == 0:
        raise InputError("No fits were performed. Was the CV iterator empty? Were there no candidates?")
    own = type(cv).__module__ == "sklearn.model_selection._split"
    if kind is not None and own and set(split) <= {"groups"} and not _has_records(y):
        return Plan.from_cv(cv)
    cv = copy(cv)
    if getattr(cv, "random_state", 0) is None:
        cv.random_state = seed_of_random_state(search.random_state)
    pairs = list(cv.split(X, y, **split))
    if len(pairs) != expected:
        needed = "cv.split and cv.get_n_splits return inconsistent results"
        raise InputError(f"{needed}. Expected {expected} splits, got {len(pairs)}")
    return Plan.from_cv(pairs)


def as_rows(values: Any) -> Any:
    """What rows can be taken of: the same or, of anything else that can be made an array, the array."""
    return values if values is None or hasattr(values, "__len__") or hasattr(values, "shape") else np.asarray(values)


def checked_labels(y: Any, estimator: Any) -> Any:
    """Classes of one column in one dimension; refusals use the words that scikit-learn's estimator checks look for."""
    if y is None:
        if said_type(estimator) in ("classifier", "regressor"):
            raise InputError("This SelectCV estimator requires y to be passed, but the target y is None.")
        return None
    if _has_records(y) or not _is_one_column(y) or wants_columns(estimator):
        return y
    if len(y) < 2:
        n = formatting.count(len(y), "sample")
        raise InputError(f"a search needs samples to hold out and to fit on; got {n}.")
    if said_type(estimator) == "classifier":  # a regressor may need a column, or predict one
        y = column_or_1d(y, warn=True) if np.asarray(y).ndim == 2 else y
        check_classification_targets(y)
    return y
