"""What `SelectCV.fit` is asked to do: options, data, folds and routed arguments; its callbacks; its failed fits."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from copy import copy
from inspect import signature
from numbers import Real
from typing import Any, NamedTuple, NoReturn

import numpy as np
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, check_cv
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.multiclass import check_classification_targets

from .. import formatting
from ..arguments import is_whole_number
from ..data.plan import Plan
from ..data.predictions import Predictions, State
from ..data.target import Target
from ..exceptions import CollectError, FitFailedError, InputError, InputTypeError, got, invalid
from ..fitting.configs import Configs
from ..fitting.estimators import check_estimator, one_of_each, said_type
from ..fitting.live import LiveScoring
from ..fitting.predict import ModelKind, kind_of
from ..metrics import LiveScore, Metric, MetricLike
from .scorers import Scorers, told_kind
from .space import is_sampler

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """The method as it is."""
        return method


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
    callbacks: Callbacks | None = None

    @property
    def metrics(self) -> dict[str, Metric]:
        """The scorers as metrics."""
        return self.scorers.metrics(self.kind, self.target)

    @property
    def selecting_metric(self) -> MetricLike:
        """What selects: the scorer that `refit` names, or the first one."""
        main = self.scorers.main or next(iter(self.scorers.given))
        return self.scorers.metric(main, self.kind, self.target)

    def expected_metric(self, refit: Any) -> MetricLike:
        """The same before a function has been called, which may return several scores: then `refit` names one."""
        named = isinstance(refit, str) and not self.scorers.multimetric and bool(self.scorers.functions)
        return LiveScore(refit) if named else self.selecting_metric

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
        score = {} if weights is None or not _takes_weights(scorers) else {"sample_weight": weights}
        return cls(groups, fit, score, {} if groups is None else {"groups": groups})


def _takes_weights(scorers: Scorers) -> bool:
    """Whether scikit-learn's searches pass weights to these scorers, which they do from version 1.9 on."""
    if not hasattr(GridSearchCV, "_check_scorers_accept_sample_weight"):
        return False
    takes = getattr(scorers.whole, "_accept_sample_weight", None)
    return bool(takes()) if takes is not None else "sample_weight" in signature(scorers.whole).parameters


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
    if _is_one_class(y) and "classifier" in said:
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
    own = (type(cv).__module__ or "").startswith("sklearn.")
    if kind is not None and own and set(split) <= {"groups"} and not _has_records(y):
        return Plan.from_cv(cv)
    cv = copy(cv)
    if getattr(cv, "random_state", 0) is None:
        cv.random_state = seed_of_random_state(search.random_state)
    pairs = list(cv.split(X, y, **split))
    expected = cv.get_n_splits(X, y, **split)
    if len(pairs) != expected:
        needed = "cv.split and cv.get_n_splits return inconsistent results"
        raise ValueError(f"{needed}. Expected {expected} splits, got {len(pairs)}")
    return Plan.from_cv(pairs)


class Callbacks:
    """Tells scikit-learn's callbacks of a search when its fit begins, when a cell is finished, and when the fit ends."""

    def __init__(self, search: Any, X: Any, y: Any) -> None:
        self._search, self._data = search, {"X": X, "y": y}
        self._fit = search._init_callback_context(task_name="fit", max_subtasks=None)
        self._fit.call_on_fit_task_begin(estimator=search, **self._data)

    @classmethod
    def of(cls, search: Any, X: Any, y: Any) -> Callbacks | None:
        """The callbacks of a search; None if it has none."""
        listening = getattr(search, "_skl_callbacks", None) or hasattr(search, "_parent_callback_ctx")
        return cls(search, X, y) if listening else None

    def __call__(self, done: int, total: int) -> None:
        """One more cell is finished."""
        cell = self._fit.subcontext(task_name="cell")
        cell.call_on_fit_task_begin(estimator=self._search, **self._data)
        cell.call_on_fit_task_end(estimator=self._search, **self._data)

    def end(self) -> None:
        """The fit is done."""
        self._fit.call_on_fit_task_end(estimator=self._search, **self._data)


def check_options(search: Any) -> None:
    """Refuse options of a search that contradict each other or mean nothing."""
    estimator, sampler = search._prototype(), is_sampler(search.search)
    check_estimator(estimator, None)
    grids = [name for name in ("grid", "param_grid", "param_distributions") if getattr(search, name) is not None]
    if len(grids) > 1:
        raise InputError(f"`{grids[0]}` and `{grids[1]}` are two names for one thing.", remedy="Give one of them.")
    if search.n_configs is not None and search.n_iter is not None:
        raise InputError("`n_configs` and `n_iter` are two names for one thing.", remedy="Give one of them.")
    if sampler and isinstance(search.estimator, Mapping):
        remedy = "Give an estimator and a grid of distributions."
        raise InputError("a sampler sets the parameters of one estimator.", remedy=remedy)
    if sampler and search.repeats == "auto":
        remedy = "Give a number of `repeats` instead of 'auto'."
        raise InputError("a sampler needs scores of the same folds each time.", remedy=remedy)
    if not sampler and search.search not in ("grid", "random", "halving"):
        needed = "must be 'grid', 'random', 'halving' or an Optuna sampler or study"
        raise invalid("search", needed, got(search.search))
    if callable(search.refit) and search.rule is not None:
        raise InputError("`rule` and a `refit` function both select the configuration.", remedy="Give one of them.")
    if not (isinstance(search.refit, (bool, str, np.bool_)) or callable(search.refit)):
        needed = "must be True, False, the name of a scorer or a function of cv_results_"
        raise invalid("refit", needed, got(search.refit))
    if not (isinstance(search.error_score, Real) or search.error_score == "raise"):
        raise invalid("error_score", "must be a number or 'raise'", got(search.error_score))
    if search.search == "halving" and search.drop is not True:
        problem = "`search='halving'` decides itself which configurations to drop."
        raise InputError(problem, remedy="Leave `drop=True`, or use `search='grid'`.")


def seed_of_random_state(random_state: Any) -> int:
    """The seed that a `random_state` means."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if is_whole_number(random_state) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise invalid("random_state", "must be a whole number from 0, or None to draw one", got(random_state))


def checked_labels(y: Any, estimator: Any) -> Any:
    """Labels of one column in one dimension; refusals use the words that scikit-learn's estimator checks look for."""
    if y is None:
        if said_type(estimator) in ("classifier", "regressor"):
            raise InputError("This SelectCV estimator requires y to be passed, but the target y is None.")
        return None
    if _has_records(y) or not _is_one_column(y):
        return y
    y = column_or_1d(y, warn=True) if np.asarray(y).ndim == 2 else y
    if len(y) < 2:
        n = formatting.count(len(y), "sample")
        raise InputError(f"a search needs samples to hold out and to fit on; there is {n}.")
    if said_type(estimator) == "classifier":
        check_classification_targets(y)
    return y


def warn_of_failures(oof: Predictions) -> None:
    """One FitFailedWarning that counts the failed fits and names the most common reason."""
    states = oof.state[:, oof.planned]
    n = int(np.sum(states == State.FAILED))
    unscored = Counter(oof.provenance.get("not_scored", {}))
    if unscored:
        reason = unscored.most_common(1)[0][0]
        warnings.warn(
            f"Scoring failed for {unscored.total()} of {states.size} fits; their score is NaN. The most common reason: {reason}",
            UserWarning,
            stacklevel=3,
        )
    if n:
        reason = Counter(oof.messages.values()).most_common(1)[0][0]
        failed = f"{n} of {states.size} fits failed; their configurations cannot be selected."
        why = f"The most common reason: {reason} Use error_score='raise' to see the exception."
        warnings.warn(f"{failed} {why}", FitFailedWarning, stacklevel=3)


def raise_as_sklearn(error: CollectError) -> NoReturn:
    """Raise the exception of the fit that failed, as GridSearchCV does, with a note on which fit; else an InputError."""
    cause = error.__cause__
    if isinstance(error, FitFailedError) and isinstance(cause, Exception):
        cause.add_note(str(error))
        raise cause
    kind = InputTypeError if "): TypeError: " in str(error) else InputError
    raise kind(str(error)) from error
