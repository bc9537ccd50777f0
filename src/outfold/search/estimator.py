"""`SelectCV`: a search like GridSearchCV, with an estimate corrected for picking the best."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import estimate, select
from ..data.notes import Note
from ..data.predictions import Predictions
from ..data.target import encode
from ..docstrings import fill_common
from ..exceptions import CollectError, InputError
from ..fitting.api import collect, refit_one
from ..fitting.configs import Configs
from ..fitting.estimators import one_of_each
from ..fitting.job import as_plan
from ..fitting.predict import ModelKind, choose_response, kind_of
from ..metrics import Metric, MetricLike
from ..metrics._scoring import kernels_kept
from ..results import Estimate, Interval
from . import cv_results
from .cv_results import FixedChoice, FromResults, Halving, refuse_incomplete, selected_index
from .request import (
    Callbacks,
    CallbackSupportMixin,
    FitRequest,
    check_options,
    checked_labels,
    raise_as_sklearn,
    seed_of_random_state,
    warn_of_failures,
    with_callbacks,
)
from .scorers import Scorers, needed_response, read_scoring
from .space import Space, ask_and_collect, is_sampler, make_space

if TYPE_CHECKING:
    from ..reporting import Report

# A metric that is a Python function is called for each draw, configuration and fold, so it gets fewer draws.
_DRAWS, _LOOPED_DRAWS = 1000, 200

# Attributes that a fit sets.
_SET_BY_FIT = (
    *("oof_", "cv_results_", "n_splits_", "scorer_", "multimetric_", "selection_", "best_index_", "best_params_"),
    *("best_score_", "best_estimator_", "refit_time_", "feature_names_in_", "_estimate", "_estimate_settings"),
)


def _selecting_metric(request: FitRequest) -> MetricLike:
    """What selects: the scorer that `refit` names, or the first one."""
    main = request.scorers.main or next(iter(request.scorers.given))
    return request.scorers.metric(main, request.kind, request.target, request.response)


class _EstimateSettings(NamedTuple):
    """What is needed to estimate later; unlike metrics, it can be pickled."""

    scorers: Scorers
    kind: str
    response: str
    rule: select.Rule
    seed: int

    def metric(self, oof: Predictions) -> Metric:
        """The metric that selects; the first of several if a function selects."""
        found = self.scorers.metrics(self.kind, oof.target, self.response)
        return found[self.scorers.main or next(iter(found))]


def _has(attribute: str) -> Callable[[Any], bool]:
    """A check whether the refitted model has this attribute; it raises an AttributeError with the reason if not."""

    def check(self: Any) -> bool:
        if not self.refit:
            raise AttributeError(
                f"this SelectCV was made with refit=False, so it has no model and no {attribute}. "
                "Fit one with best_params_, or search with refit=True."
            )
        getattr(self.best_estimator_ if hasattr(self, "best_estimator_") else self._prototype(), attribute)
        return True

    return check


def _delegate(name: str) -> Any:
    """A method of the selected model as a method of the search."""

    def method(self: Any, X: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.best_estimator_, name)(X)

    method.__name__, method.__qualname__ = name, f"SelectCV.{name}"
    method.__doc__ = f"""Call ``{name}`` of the selected model.

    Available if the estimator has the method and `refit` is not False.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix
        The samples.

    Returns
    -------
    array
        What the model returns.
    """
    return available_if(_has(name))(method)


@fill_common
class SelectCV(MetaEstimatorMixin, CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """Cross-validated search that estimates how good the selected configuration is on new samples.

    Use it where you used GridSearchCV: it has the same attributes after ``fit``. From the same fits it also computes
    ``estimate_``, the bias-corrected performance of the selected configuration with its interval (Tsamardinos et al. 2018).
    ``best_score_`` is the winner's cross-validation score, which is optimistic, as it is in GridSearchCV.

    Parameters
    ----------
    estimator : estimator or dict of estimators
        An estimator, whose parameters `grid` varies; or named configurations: what `outfold.grid` returns, or a dict of
        estimators, which may be of different kinds.
    grid : dict, list of dict, callable or None
        Values by parameter, or a list of such dicts, as in GridSearchCV. Distributions of scipy for ``search="random"``. For
        an Optuna sampler, Optuna distributions by parameter, or a function of a trial that returns parameters.
    search : {"grid", "random", "halving"}, Optuna sampler or Optuna study
        ``"grid"`` tries all configurations. ``"random"`` draws `n_configs` of them without replacement. ``"halving"`` keeps
        the better half after each fold, of the whole grid or of `n_configs` drawn. An Optuna sampler or study is asked
        `n_configs` times and told the mean score; its configurations are not dropped.
    n_configs : int or None
        How many configurations to draw or ask for; 10 by default for ``"random"`` and samplers.
    scoring : str, callable, list, dict or None
        As in GridSearchCV: None for accuracy or R2, a name, a scorer, or several. A plain function of (estimator, X, y) is
        called with stored predictions in the place of the model, and may not look into X.
    cv : int, Plan, splitter, iterable of splits or None
        None for 10 folds, a number of folds, a `Plan`, or any splitter of scikit-learn.
    repeats : int, "auto" or None
        How often the folds are drawn anew; ``"auto"`` adds repeats until the ranking is stable.
    drop : bool or drop.DropRule
        True stops fitting configurations that are very probably worse than the best so far (`drop.Bootstrap`). A rule of
        `outfold.drop` decides otherwise; False drops nothing. True drops nothing if a rule other than `select.best` selects,
        or if the scorer is a Python function, which is slower than the fits it might save.
    rule : select.Rule, callable or None
        How the configuration is selected from the mean over folds: `select.best` by default, any rule of `select`.
    refit : bool, str or callable
        As in GridSearchCV: True, False, the name of the scorer that selects, or a function of ``cv_results_`` that returns
        an index. The estimate calls the function inside its bootstrap too.
    n_jobs : int or None
        Number of workers; None for one, or what ``joblib.parallel_config`` says.
    store : path or None
        A file to which finished cells are written at once; the same fit continues where an earlier one stopped.
    share : {"exact", "close"} or False
        How closely fits that several configurations share must match separate fits, as in `collect`; False shares
        nothing. The refitted model never shares.
    random_state : int, RandomState or None
        Seed of folds and draws, and of fits whose own random_state is None; None draws one.
    error_score : float or "raise"
        The score of failed fits in ``cv_results_``; ``"raise"`` raises the exception of the first one as soon as it fails.
        A configuration with a failed fit is never selected.
    verbose : int
        Above 0, show a progress line.
    pre_dispatch : object
        Accepted for GridSearchCV's sake, without effect: only as much work is handed out as the workers need.
    return_train_score : bool
        Must be False: predictions of training samples are not collected.
    param_grid : dict, list of dict or None
        GridSearchCV's name for `grid`; give one of them.

    Attributes
    ----------
    estimate_ : Estimate
        Performance of the selected configuration on new samples, with interval: the number to report.
    interval_ : Interval
        The 95% confidence interval of ``estimate_``.
    oof_ : Predictions
        Out-of-fold predictions of all configurations, for any other question, without a fit.
    selection_ : Selection
        The configuration that was selected, and how.
    best_estimator_ : estimator
        The selected configuration, fitted on all samples.
    best_params_ : dict
        The parameters of the selected configuration.
    best_index_ : int
        Its position in ``cv_results_``.
    best_score_ : float
        The winner's mean score over folds. Optimistic, because it was picked for it. Report ``estimate_``.
    cv_results_ : dict
        The table of GridSearchCV. ``config`` names the configurations; ``state`` is done, dropped or failed, and scores that
        do not exist are NaN. Fit times include predicting.
    scorer_ : scorer or dict of scorers
        As in GridSearchCV.
    multimetric_ : bool
        Whether there are several scorers.
    n_splits_ : int
        Number of splits.
    refit_time_ : float
        Seconds that the fit on all samples took.
    classes_ : array
        The classes, of a classifier that was refitted.
    n_features_in_ : int
        Number of features that the refitted model has seen.
    feature_names_in_ : array
        Names of the features, if the refitted model knows them.

    References: {tsamardinos2018}

    Examples: {iris}
    >>> from sklearn.svm import SVC
    >>> search = of.SelectCV(SVC(), {"C": [0.1, 1, 10], "kernel": ["linear", "rbf"]}).fit(X, y)
    >>> search.best_params_
    {'C': 0.1, 'kernel': 'linear'}
    >>> bool(search.best_score_ > search.estimate_.value)
    True
    """

    # The search uses groups itself, for folds and bootstrap, whatever the splitter asks for.
    __metadata_request__fit = {"groups": True}  # noqa: RUF012  (read by scikit-learn as it stands)

    def __init__(
        self,
        estimator: Any,
        grid: Any = None,
        *,
        search: Any = "grid",
        n_configs: int | None = None,
        scoring: Any = None,
        cv: Any = None,
        repeats: Any = None,
        drop: Any = True,
        rule: Any = None,
        refit: Any = True,
        n_jobs: int | None = None,
        store: str | Path | None = None,
        share: Any = "exact",
        random_state: Any = 0,
        error_score: Any = np.nan,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        return_train_score: bool = False,
        param_grid: Any = None,
    ) -> None:
        # As scikit-learn asks, each argument is an attribute of the same name, and nothing is checked before `fit`.
        self.__dict__.update((name, value) for name, value in locals().items() if name != "self")

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, **params: Any) -> SelectCV:
        """Collect the out-of-fold predictions of all configurations, select one, and fit it on all samples.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix
            The samples.
        y : array-like
            The labels.
        **params
            ``groups``, and arguments of the estimators' ``fit``. Those with one entry per sample, such as ``sample_weight``,
            are split like X. Weights count in the fits, not in the scores.

        Returns
        -------
        SelectCV
            The search itself.
        """
        self._reset()  # a fit that fails leaves nothing of an earlier one
        check_options(self)
        callbacks = Callbacks.of(self, X, y)
        groups, fit_params = self._route(params)
        seed = seed_of_random_state(self.random_state)
        y = checked_labels(y, self._prototype())
        space = None
        if not is_sampler(self.search):
            space = make_space(self.estimator, self._grid, self.search, self.n_configs, seed)
        configs = Configs({"estimator": self.estimator}) if space is None else space.configs
        request = self._request(X, y, groups, fit_params, seed, configs)
        try:
            space, oof = self._collect(request._replace(callbacks=callbacks), space)
        except CollectError as error:
            raise_as_sklearn(error)
        warn_of_failures(oof)
        request = request._replace(scorers=request.scorers.expanded(oof, self.refit))
        self.oof_ = replace(oof, notes=(*oof.notes, *self._notes(request))).selecting_by(
            _selecting_metric(request), aggregate="fold", rule=self._selection_rule(request, space)
        )
        try:
            self._set_results(request, space)
        except BaseException:
            self._reset()
            raise
        if callbacks is not None:
            callbacks.end()
        return self

    def _request(
        self, X: Any, y: Any, groups: Any, fit_params: dict[str, Any], seed: int, configs: Configs
    ) -> FitRequest:
        scorers = read_scoring(self.scoring, self.refit, self._prototype())
        # An outlier detector predicts the labels -1 and 1.
        detects = get_tags(self._prototype()).estimator_type == "outlier_detector"
        kind: ModelKind = "classification" if detects else kind_of(one_of_each(configs), y)
        target = encode(y, task=kind)
        target = encode(y, task=kind, positive=scorers.positive(target))
        needed = needed_response(scorers, scorers.metrics(kind, target), kind, configs)
        response = choose_response(needed, kind, configs, 2 if target.classes is None else len(target.classes))
        return FitRequest(X, y, target, kind, as_plan(self.cv, "cv"), groups, fit_params, seed, scorers, response)

    def _collect(self, request: FitRequest, space: Space | None) -> tuple[Space, Predictions]:
        if space is not None:
            rule = self._selection_rule(request, space)
            oof = self._collect_configs(request, space.configs, self.store, rule, self._drop_rule(request))
            # The store may hold configurations of earlier searches.
            return space, oof.sel(config=list(space.configs))
        if request.scorers.main is None:
            raise InputError("a sampler must be told one score.", remedy="Let `refit` name the scorer.")
        metric, scorer = request.metrics[request.scorers.main], request.scorers.scorers[request.scorers.main]

        def score(oof: Predictions, name: str) -> float:
            return metric.sign * float(np.mean(cv_results.split_scores(oof.sel(config=name), metric, scorer)))

        def collect_into(configs: Configs, path: Any) -> Predictions:
            return self._collect_configs(request, configs, path, self.rule, None)

        return ask_and_collect(self, collect_into, score)

    def _collect_configs(self, request: FitRequest, configs: Configs, store: Any, rule: Any, drop: Any) -> Predictions:
        data = {"groups": request.groups, "fit_params": request.fit_params, "positive": request.positive}
        what = {"rng": request.seed, "response": request.response, "task": request.kind, "repeats": self.repeats}
        how = {"n_jobs": self.n_jobs, "store": store, "share": self.share, "drop": drop}
        shown = request.callbacks or ("always" if self.verbose > 0 else False)
        failing = "raise" if self.error_score == "raise" else "keep"
        selects = {"metric": _selecting_metric(request), "aggregate": "fold", "rule": rule}
        options: dict[str, Any] = {**data, **what, **how, **selects, "progress": shown, "on_error": failing}
        return collect(configs, request.X, request.y, request.plan, **options)

    def _drop_rule(self, request: FitRequest) -> Any:
        """The rule; where it names no metric, it decides by the one that selects."""
        if self.search == "halving":
            return Halving()
        if self.drop is True:
            main = None if callable(self.refit) else request.scorers.main
            return main is not None and self.rule in (None, select.best) and not request.metrics[main].looped
        return self.drop

    def _selection_rule(self, request: FitRequest, space: Space) -> Any:
        """How the configuration is selected from the scores of the folds."""
        if not callable(self.refit):
            return self.rule
        return FromResults(self.refit, space.params, request.scorers, request.kind, request.response)

    def _notes(self, request: FitRequest) -> list[Note]:
        notes = []
        if any(name.endswith("sample_weight") and w is not None for name, w in request.fit_params.items()):
            notes.append(Note("OF104", "sample weights were used in the fits; in the scores every sample counts once."))
        if self.search == "halving":
            text = "halving dropped configurations on few folds; the estimate corrects for the last ones only."
            notes.append(Note("OF211", text))
        return notes

    def _reset(self) -> None:
        """Delete what a fit has set."""
        for name in _SET_BY_FIT:
            self.__dict__.pop(name, None)

    def _set_results(self, request: FitRequest, space: Space) -> None:
        """Set all that follows from the predictions: the table, the selection, the estimate, the model."""
        with kernels_kept():
            metric = self._score(request, space)
            if request.scorers.main is None and not callable(self.refit):
                return
            self._select(metric, space)
            if not metric.looped:
                # A handful of samples may allow no estimate: `estimate_` then says why, and the search does not fail.
                with suppress(InputError):
                    self._estimate = self._corrected_estimate(metric)
        if self.refit:
            start, data = time.perf_counter(), (request.X, request.y)
            name = self.selection_.name
            self.best_estimator_ = refit_one(self.oof_, space.configs, *data, name, request.fit_params, same_data=True)
            self.refit_time_ = time.perf_counter() - start
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_

    def _score(self, request: FitRequest, space: Space) -> Metric:
        """The table, and the metric that selects."""
        scorers, metrics = request.scorers.scorers, request.metrics
        scores = {name: cv_results.split_scores(self.oof_, metric, scorers[name]) for name, metric in metrics.items()}
        error_score = np.nan if self.error_score == "raise" else float(self.error_score)
        self.cv_results_ = cv_results.table(self.oof_, space.params, scores, error_score)
        self.n_splits_ = len(self.oof_.splits.cells)
        self.scorer_ = request.scorers.scorer
        self.multimetric_ = request.scorers.multimetric
        rule = select.as_rule(self._selection_rule(request, space))
        self._estimate_settings = _EstimateSettings(request.scorers, request.kind, request.response, rule, request.seed)
        return metrics[request.scorers.main or next(iter(metrics))]

    def _select(self, metric: Metric, space: Space) -> None:
        rule = self._estimate_settings.rule
        if callable(self.refit):
            index = selected_index(self.refit, self.cv_results_)
            refuse_incomplete(self.oof_, index)
            rule = FixedChoice(index, rule.name)
        self.selection_ = self.oof_.selection(metric, rule=rule)
        self.best_index_ = self.selection_.index
        self.best_params_ = space.params[self.best_index_]
        if not callable(self.refit):
            self.best_score_ = self.cv_results_[f"mean_test_{self._estimate_settings.scorers.main}"][self.best_index_]

    @property
    def estimate_(self) -> Estimate:
        """Performance of the selected configuration on new samples; computed on first use if the scorer is slow."""
        check_is_fitted(self, "oof_")
        if not hasattr(self, "selection_"):
            raise AttributeError("refit names no scorer, so nothing was selected and there is no estimate_.")
        if not hasattr(self, "_estimate"):
            self._estimate = self._corrected_estimate(self._estimate_settings.metric(self.oof_))
        return self._estimate

    def _corrected_estimate(self, metric: Metric) -> Estimate:
        n, settings = _LOOPED_DRAWS if metric.looped else _DRAWS, self._estimate_settings
        return estimate.bbc(self.oof_, metric, rule=settings.rule, n_resamples=n, rng=settings.seed)

    @property
    def interval_(self) -> Interval | None:
        """The 95% confidence interval of `estimate_`."""
        return self.estimate_.interval

    def report(self, **options: Any) -> Report:
        """A report on the search: the estimate, all configurations, comparisons, checks, a paragraph for a paper.

        Parameters
        ----------
        **options
            Those of `outfold.report`, such as `title` and `top`.

        Returns
        -------
        Report
            Its ``save`` writes it as .html, .md or .tex.

        Examples
        --------
        >>> search.report().save("report.html")  # doctest: +SKIP
        """
        from ..reporting import report  # here: charts and tests take longer to load than a small search

        found, settings = self.estimate_, self._estimate_settings
        return report(self.oof_, settings.metric(self.oof_), estimate=found, rng=settings.seed, **options)

    predict = _delegate("predict")
    predict_proba = _delegate("predict_proba")
    predict_log_proba = _delegate("predict_log_proba")
    decision_function = _delegate("decision_function")
    score_samples = _delegate("score_samples")
    transform = _delegate("transform")
    inverse_transform = _delegate("inverse_transform")

    def _set_output(self, *, transform: str | None = None) -> SelectCV:
        """The container of what ``transform`` gives: passed on to the estimators."""
        estimators = self.estimator.values() if isinstance(self.estimator, Mapping) else [self.estimator]
        for estimator in (*estimators, *([self.best_estimator_] if hasattr(self, "best_estimator_") else [])):
            estimator.set_output(transform=transform)
        return self

    set_output = available_if(_has("set_output"))(_set_output)

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """The score of the selected model on these samples, by the scorer that selected it.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix
            The samples.
        y : array-like
            Their labels.
        **params
            Arguments of the scorer, if scikit-learn's metadata routing is enabled.

        Returns
        -------
        float
            The score.
        """
        _has("score" if self.scoring is None else "fit")(self)
        check_is_fitted(self)
        if params and not get_config()["enable_metadata_routing"]:
            raise InputError(f"score takes {', '.join(params)} only if scikit-learn's metadata routing is enabled.")
        routed = process_routing(self, "score", **params).scorer.score if params else {}
        scorers = self._estimate_settings.scorers
        if scorers.main is None:
            raise InputError("`refit` names none of several scorers.", remedy="Use those of `scorer_` yourself.")
        return float(scorers.scorers[scorers.main](self.best_estimator_, X, y, **routed))

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, of a classifier that was refitted."""
        _has("classes_")(self)
        return np.asarray(self.best_estimator_.classes_)

    @property
    def n_features_in_(self) -> int:
        """Number of features that the refitted model has seen."""
        check_is_fitted(self)  # a NotFittedError is an AttributeError too, so that hasattr is False
        return int(self.best_estimator_.n_features_in_)

    @property
    def _grid(self) -> Any:
        return self.param_grid if self.grid is None else self.grid

    def _prototype(self) -> Any:
        """The estimator whose kind, methods and metadata requests count for all configurations."""
        if not isinstance(self.estimator, Mapping):
            return self.estimator
        if not self.estimator:
            remedy = "Give an estimator with a `grid`, or a dict of estimators."
            raise InputError("there is no configuration to try.", remedy=remedy)
        return next(iter(self.estimator.values()))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._prototype())
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "input_tags"):
            setattr(tags, name, deepcopy(getattr(inner, name)))
        tags.target_tags.required = True
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Where metadata go: groups to the folds and the bootstrap, the rest to the estimators.

        Returns
        -------
        MetadataRouter
            The routing, for scikit-learn.
        """
        scorers = read_scoring(self.scoring, self.refit, self._prototype())
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self._prototype(), method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        to_score = MethodMapping().add(caller="score", callee="score")
        if self.scoring is not None:  # a scorer that was given may ask for what the scores do not use; fit says so
            to_score.add(caller="fit", callee="score")
        main = scorers.main or next(iter(scorers.scorers))
        if hasattr(scorers.scorers[main], "get_metadata_routing"):
            router.add(scorer=scorers.scorers[main], method_mapping=to_score)
        if hasattr(self.cv, "get_metadata_routing"):
            router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    def _route(self, params: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Groups, and the arguments of the estimators' fit."""
        groups = params.get("groups")
        if not get_config()["enable_metadata_routing"]:
            return groups, {name: value for name, value in params.items() if name != "groups"}
        routed = process_routing(self, "fit", **params)
        if any(value is not None for value in routed.get("scorer", {}).get("score", {}).values()):
            problem = "the scorer asks for metadata, but stored predictions are scored without weights."
            raise InputError(problem, remedy="Leave out its `set_score_request`.")
        return groups, dict(routed.estimator.fit)

    def _html_repr(self) -> str:
        """The corrected estimate first, then the diagram of the estimator."""
        diagram: str = super()._html_repr()
        found = self.__dict__.get("_estimate")
        return diagram if found is None else found._repr_html_() + diagram
