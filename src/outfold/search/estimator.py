"""`SelectCV`: a search like GridSearchCV, with an estimate corrected for picking the best."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import nullcontext
from copy import copy, deepcopy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import select
from ..docstrings import fill_common
from ..exceptions import CollectError, InputError, NoEstimateError
from ..fitting.api import refit_one
from ..fitting.configs import Configs
from ..fitting.live import TRAIN
from ..metrics import Metric
from ..metrics._keeping import kernels_kept
from . import cv_results
from .callbacks import Callbacks, CallbackSupportMixin, with_callbacks
from .collecting import collect_predictions, notes_on, selection_rule
from .correction import Correction
from .cv_results import FixedChoice, can_select, refuse_incomplete, select_by_rank, selected_index
from .delegates import delegate, diagram_block, has
from .failures import failing_where_refused, raise_as_sklearn, warn_of_failures
from .options import GRID_NAMES, check_options, seed_of_random_state
from .printing import lines_of_fits
from .request import FitRequest, as_rows, checked_labels
from .scorers import read_scoring
from .space import Space, has_distributions, is_sampler, make_space
from .unread import has_unread, scores_only

if TYPE_CHECKING:
    from ..reporting import Report
    from ..results import Estimate, Interval

# Attributes that a fit sets, and those that it sets for halving only.
_OF_HALVING = (
    *("n_iterations_", "n_required_iterations_", "n_possible_iterations_", "n_candidates_", "n_remaining_candidates_"),
    *("n_resources_", "min_resources_", "max_resources_"),
)
_SET_BY_FIT = (
    *("oof_", "cv_results_", "n_splits_", "scorer_", "multimetric_", "selection_", "best_index_", "best_params_"),
    *("best_score_", "best_estimator_", "refit_time_", "feature_names_in_", "_estimate", "_correction"),
    *_OF_HALVING,
)


@fill_common
class SelectCV(MetaEstimatorMixin, CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """Cross-validated search that also estimates how good the selected configuration is on new samples.

    Use it in place of GridSearchCV: it has the same attributes after ``fit``. From the same fits it also computes ``estimate_``,
    the bias-corrected performance of the selected configuration with its interval (Tsamardinos et al. 2018). ``best_score_`` is
    the winner's cross-validation score, which is optimistic, as in GridSearchCV.

    Parameters
    ----------
    estimator : estimator or dict of estimators
        An estimator, whose parameters `param_grid` varies; or named configurations: what `outfold.grid` returns, or a dict of
        estimators, which may be of different kinds.
    param_grid : dict, list of dict, callable or None
        Values by parameter, or a list of such dicts, as in GridSearchCV. Distributions of scipy for ``search="random"``. For
        an Optuna sampler, Optuna distributions by parameter, or a function of a trial that returns parameters.
    grid : dict, list of dict, callable or None
        A short name for `param_grid`; give one of them.
    search : {"grid", "random", "halving"}, Optuna sampler or Optuna study
        ``"grid"`` tries all configurations. ``"random"`` draws `n_configs` of them without replacement. ``"halving"`` keeps
        the better half (see `factor`) after each fold, of the whole grid or of `n_configs` drawn. An Optuna sampler or study
        suggests `n_configs` configurations and is told their mean scores; none of them is dropped.
    n_configs : int or None
        How many configurations to draw or ask for; 10 by default for ``"random"`` and samplers. If the grid has fewer, all of
        them are tried, and a warning is given.
    scoring : str, callable, list, dict or None
        As in GridSearchCV: None for the estimator's own ``score``, a name, a scorer, or several. Some scores need the fitted
        models, and are computed with them: an estimator's ``score`` that is neither accuracy nor R2, a function of (estimator, X,
        y), and scorers that get weights or other metadata.
    cv : int, Plan, splitter, iterable of splits or None
        As in GridSearchCV: None for 5 folds, a number of folds, a splitter, or splits. Folds are contiguous rows, stratified for
        classifiers, and not shuffled. A `Plan` draws folds at random.
    repeats : int, "auto" or None
        How many times to repeat cross-validation with new random folds; ``"auto"`` adds repeats until the ranking is stable.
    drop : bool or drop.DropRule
        True stops fitting configurations that are very probably worse than the best so far (`drop.Bootstrap`). You may also pass
        a rule of `outfold.drop`. False drops nothing. True drops nothing either if a rule other than `select.best` selects, or if
        the score is computed by a Python function or needs the fitted models.
    rule : select.Rule, callable or None
        How the configuration is selected from the mean over folds: `select.best` by default, any rule of `select`.
    refit : bool, str or callable
        As in GridSearchCV: True, False, the name of the scorer that selects, or a function of ``cv_results_`` that returns
        an index. ``fit`` calls the function once; ``estimate_`` calls it inside its bootstrap when you first ask for it.
    n_jobs : int or None
        Number of workers; None for one, or what ``joblib.parallel_config`` says.
    store : path or None
        A file that keeps finished cells; the same search continues where an earlier one stopped.
    share : {"exact", "close"} or False
        How closely shared fits must match separate fits, as in `collect`; False shares nothing. The refitted model is always
        fitted separately.
    random_state : int, RandomState or None
        Seed of draws, of fits whose random_state is None, and of random folds. It is 0 by default, so that you can repeat a
        search exactly; None draws a new seed.
    error_score : float or "raise"
        The score of failed fits and of scorers that fail in ``cv_results_``; ``"raise"`` raises the exception of the first one
        as soon as it fails. A configuration with a failed fit is never selected, unless all have one.
    verbose : int
        Above 0, show a progress line; above 2, also print the score of each fit at the end.
    pre_dispatch : object
        Accepted for compatibility with GridSearchCV, without effect.
    return_train_score : bool
        Whether ``cv_results_`` also has the scores of the training samples. Fits are then not shared.
    param_distributions : dict, list of dict or None
        RandomizedSearchCV's name for `param_grid`; it means ``search="random"``.
    n_iter : int or None
        RandomizedSearchCV's name for `n_configs`; it means ``search="random"``.
    factor : float or None
        For ``search="halving"``: keep one in `factor` configurations after each fold; None for 2.
    resource, max_resources, min_resources : str
        Accepted for compatibility with HalvingGridSearchCV, with their default values only. Here the resource is folds.
    aggressive_elimination : bool
        For ``search="halving"``: drop more after the first fold, so that at most `factor` configurations reach the last.
    n_candidates : int, "exhaust" or None
        HalvingRandomSearchCV's name for `n_configs`. ``"exhaust"`` is the whole grid or, with distributions, 10 draws.
    seeds : int
        How many models to fit and average, each with its own seed, if an estimator has ``random_state=None``, as in `collect`.
        ``best_estimator_`` then holds as many models and predicts their mean.

    Attributes
    ----------
    estimate_ : Estimate
        Performance of the selected configuration on new samples, with interval: the number to report.
    interval_ : Interval
        The 95% confidence interval of ``estimate_``.
    oof_ : Predictions
        Out-of-fold predictions of all configurations; they answer other questions without further fits.
    selection_ : Selection
        The configuration that was selected, and how.
    best_estimator_ : estimator
        The selected configuration, fitted on all samples.
    best_params_ : dict
        The parameters of the selected configuration.
    best_index_ : int
        Its position in ``cv_results_``.
    best_score_ : float
        The winner's mean score over folds. It is optimistic, because the winner was picked for it. Report ``estimate_``.
    cv_results_ : dict
        The table of GridSearchCV. ``config`` is there if you gave named configurations. ``state`` (done, dropped or failed) is
        there if not all are done; scores that do not exist are NaN. Fit times include predicting and scoring.
    scorer_ : scorer or dict of scorers
        As in GridSearchCV.
    multimetric_ : bool
        Whether there are several scorers.
    n_splits_ : int
        Number of splits.
    n_iterations_, n_candidates_, n_resources_, ... : int, list of int
        For ``search="halving"``: those of HalvingGridSearchCV, counted in folds. ``n_candidates_`` says how many configurations
        were fitted on each fold.
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
    {'C': 1, 'kernel': 'linear'}
    >>> bool(search.best_score_ > search.estimate_.value)
    True
    """

    # The search uses groups itself, for folds and bootstrap, whatever the splitter asks for.
    __metadata_request__fit = {"groups": True}  # noqa: RUF012  (read by scikit-learn as it stands)

    def __init__(
        self,
        estimator: Any,
        param_grid: Any = None,
        *,
        grid: Any = None,
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
        param_distributions: Any = None,
        n_iter: int | None = None,
        factor: float | None = None,
        resource: str = "n_samples",
        max_resources: Any = "auto",
        min_resources: Any = "exhaust",
        aggressive_elimination: bool = False,
        n_candidates: Any = None,
        seeds: int = 1,
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
        y : array-like or None
            The labels; None for estimators that need none.
        **params
            ``groups``, and arguments of the estimators' ``fit``. Those with one entry per sample, such as ``sample_weight``,
            are split like X. As in GridSearchCV, weights count in the scores too if the scorer takes them.

        Returns
        -------
        SelectCV
            The search itself.
        """
        self._reset()  # a fit that fails leaves nothing of an earlier one
        check_options(self)
        seed = seed_of_random_state(self.random_state)
        scorers = read_scoring(self.scoring, self.refit, self._prototype(), self.error_score == "raise")
        X, y = as_rows(X), checked_labels(as_rows(y), self._prototype())
        callbacks = Callbacks.of(self, X, y, params.get("sample_weight"))
        space = None
        if not is_sampler(self.search):
            draws = self.random_state if isinstance(self.random_state, np.random.RandomState) else seed
            space = make_space(self.estimator, self._grid, self._search, self._n_configs, draws)
        configs = Configs({"estimator": self.estimator}) if space is None else space.configs
        request = FitRequest.of(self, X, y, params, seed, configs, scorers)
        try:
            space, oof = collect_predictions(self, request, space, callbacks)
        except CollectError as error:
            raise_as_sklearn(error)
        request = request._replace(scorers=request.scorers.expanded(oof, self.refit))
        if has_unread(oof):
            oof, request = scores_only(oof, request.metrics, request.scorers.scorers), request.scored_only()
        if request.scorers.main is not None:
            oof = failing_where_refused(oof, request.metrics[request.scorers.main])
        warn_of_failures(oof, self.error_score)
        self.oof_ = replace(oof, notes=(*oof.notes, *notes_on(self, request))).selecting_by(
            request.selecting_metric, aggregate="fold", rule=selection_rule(self, request, space)
        )
        try:
            self._set_results(request, space, callbacks)
        except BaseException:
            self._reset()
            raise
        if callbacks is not None:
            callbacks.end()
        return self

    def set_params(self, **params: Any) -> SelectCV:
        """Set parameters of the search or, as ``estimator__C``, of its estimator.

        Parameters
        ----------
        **params
            The parameters. A grid takes the place of one that was given by another name.

        Returns
        -------
        SelectCV
            The search itself.
        """
        replaced: dict[str, None] = {}
        if any(params.get(name) is not None for name in GRID_NAMES):
            replaced = {name: None for name in GRID_NAMES if getattr(self, name) is not None and name not in params}
        super().set_params(**params, **replaced)
        return self

    def _reset(self) -> None:
        """Delete what a fit has set."""
        for name in _SET_BY_FIT:
            self.__dict__.pop(name, None)

    def _set_results(self, request: FitRequest, space: Space, callbacks: Callbacks | None) -> None:
        """Set all that follows from the predictions: the table, the selection, the model."""
        metrics = request.metrics  # made once, so that the kernels of the table serve the selection
        with kernels_kept():
            self._set_table(request, metrics, space)
            self.scorer_ = request.scorers.scorer
            self.multimetric_ = request.scorers.multimetric
            rule = select.as_rule(selection_rule(self, request, space))
            self._correction = Correction(request.scorers, request.kind, request.response, rule, request.seed)
            if request.scorers.main is None and not callable(self.refit):
                return
            self._select(metrics[request.scorers.selecting], space)
        if self.refit:
            start, name = time.perf_counter(), self.selection_.name
            given = (self.oof_, space.configs, request.X, request.y, name, request.fit_params)
            around = nullcontext if callbacks is None else callbacks.refitting
            self.best_estimator_ = refit_one(*given, same_data=True, around=around)
            self.refit_time_ = time.perf_counter() - start
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_

    def _set_table(self, request: FitRequest, metrics: Mapping[str, Metric], space: Space) -> None:
        """Set the table of all scores, print their lines if that is asked for, and set what halving adds."""
        scorers, oof = request.scorers.scorers, self.oof_
        scores = {name: cv_results.split_scores(oof, metric, scorers[name]) for name, metric in metrics.items()}
        error_score = np.nan if self.error_score == "raise" else float(self.error_score)
        trained = {
            name: cv_results.in_order(oof, oof.live_scores[TRAIN + name])
            for name in metrics
            if self.return_train_score and TRAIN + name in oof.live_scores
        }
        self.cv_results_ = cv_results.table(oof, space.params, scores, error_score, trained, space.named)
        self.n_splits_ = len(oof.splits.cells)
        if self.verbose > 2:
            print(*lines_of_fits(self.cv_results_, list(scores), self.n_splits_), sep="\n")
        if self.search == "halving":
            from . import halving

            self.cv_results_ = halving.columns(oof) | self.cv_results_
            self.__dict__.update(halving.attributes(oof, self._factor))

    def _select(self, metric: Metric, space: Space) -> None:
        rule = self._correction.rule
        if callable(self.refit):
            index = selected_index(self.refit, self.cv_results_)
            refuse_incomplete(self.oof_, index)
            rule = FixedChoice(index, rule.name)
        try:
            self.selection_ = self.oof_.selection(metric, rule=rule)
        except InputError as problem:
            main = self._correction.scorers.main
            if main is None or can_select(self.oof_, metric):
                raise
            self.selection_ = select_by_rank(self.oof_, self.cv_results_, main, problem)
        self.best_index_ = self.selection_.index
        self.best_params_ = space.params[self.best_index_]
        if not callable(self.refit):
            self.best_score_ = self.cv_results_[f"mean_test_{self._correction.scorers.main}"][self.best_index_]

    @property
    def estimate_(self) -> Estimate:
        """Performance of the selected configuration on new samples, computed when you first read it.

        A handful of samples may allow no estimate; it then says why.
        """
        check_is_fitted(self, "oof_")
        if not hasattr(self, "selection_"):
            raise AttributeError(
                "refit names no scorer, so nothing was selected and there is no estimate_. "
                "Name one of the scorers, as in refit='accuracy'; or ask estimate.bbc(search.oof_, 'accuracy')."
            )
        if not hasattr(self, "_estimate"):
            try:
                self._estimate = self._correction.estimate(self.oof_)
            except InputError as problem:
                raise NoEstimateError(str(problem), page=problem.page) from problem
        return self._estimate

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

        found, correction = self.estimate_, self._correction
        return report(self.oof_, correction.estimated(self.oof_), estimate=found, rng=correction.seed, **options)

    predict = delegate("predict")
    predict_proba = delegate("predict_proba")
    predict_log_proba = delegate("predict_log_proba")
    decision_function = delegate("decision_function")
    score_samples = delegate("score_samples")
    transform = delegate("transform")
    inverse_transform = delegate("inverse_transform")

    def _set_output(self, *, transform: str | None = None) -> SelectCV:
        """The container of what ``transform`` gives: passed on to the estimators."""
        estimators = self.estimator.values() if isinstance(self.estimator, Mapping) else [self.estimator]
        for estimator in (*estimators, *([self.best_estimator_] if hasattr(self, "best_estimator_") else [])):
            estimator.set_output(transform=transform)
        return self

    set_output = available_if(has("set_output"))(_set_output)

    def score(self, X: Any, y: Any = None, **params: Any) -> Any:
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
        has("score" if self.scoring is None else "fit")(self)
        check_is_fitted(self)
        if params and not get_config()["enable_metadata_routing"]:
            given = ", ".join(params)
            raise InputError(f"[{given}] is only supported if scikit-learn's metadata routing is enabled.")
        routed = process_routing(self, "score", **params).scorer.score if params else {}
        scorers = self._correction.scorers
        if scorers.main is None:
            raise InputError("`refit` names none of several scorers.", remedy="Use those of `scorer_` yourself.")
        return scorers.scorers[scorers.main](self.best_estimator_, X, y, **routed)

    @property
    def classes_(self) -> Any:
        """The classes, of a classifier that was refitted; a list of them for several outputs."""
        has("classes_")(self)
        return self.best_estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features that the refitted model has seen."""
        check_is_fitted(self)  # a NotFittedError is an AttributeError too, so that hasattr is False
        return int(self.best_estimator_.n_features_in_)

    @property
    def _grid(self) -> Any:
        return next((g for g in (getattr(self, name) for name in GRID_NAMES) if g is not None), None)

    @property
    def _search(self) -> Any:
        """How configurations are found; RandomizedSearchCV's arguments mean a random search."""
        random = self.search == "grid" and (self.param_distributions is not None or self.n_iter is not None)
        return "random" if random else self.search

    @property
    def _n_configs(self) -> int | None:
        given = (self.n_configs, self.n_iter, None if self.n_candidates == "exhaust" else self.n_candidates)
        found: int | None = next((n for n in given if n is not None), None)
        return 10 if found is None and self.n_candidates == "exhaust" and has_distributions(self._grid) else found

    @property
    def _factor(self) -> float:
        return self.factor or 2

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
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = deepcopy(inner.classifier_tags), deepcopy(inner.regressor_tags)
        tags.input_tags.pairwise, tags.input_tags.sparse = inner.input_tags.pairwise, inner.input_tags.sparse
        tags.target_tags.multi_output = inner.target_tags.multi_output
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Where metadata go: groups to the folds and the bootstrap, the rest to the estimators and scorers.

        Returns
        -------
        MetadataRouter
            The routing, for scikit-learn.
        """
        scorers = read_scoring(self.scoring, self.refit, self._prototype())
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self._prototype(), method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        to_score = MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score")
        if hasattr(scorers.whole, "get_metadata_routing"):
            router.add(scorer=scorers.whole, method_mapping=to_score)
        if hasattr(self.cv, "get_metadata_routing"):
            router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    def __dir__(self) -> list[str]:
        """All attributes there are; the estimate is listed, and not computed, if no function of the user has to be called for it.

        `inspect.getmembers` reads every attribute that is listed, and so computes the estimate.
        """
        late = {"estimate_", "interval_"}
        listed = late if hasattr(self, "selection_") and self._lists_estimate() else set()
        return [name for name in object.__dir__(self) if name in listed or (name not in late and hasattr(self, name))]

    def _lists_estimate(self) -> bool:
        correction = self.__dict__.get("_correction")
        return "_estimate" in self.__dict__ or (correction is not None and not correction.calls_functions(self.oof_))

    def _sk_visual_block_(self) -> Any:
        return diagram_block(self)

    def _get_fitted_attr_html(self, doc_link: str = "") -> Any:
        """The fitted attributes for scikit-learn's diagram, which reads all that are listed: an estimate only if it is known."""
        shown = copy(self)
        shown.__dict__.pop("_correction", None)
        return super(SelectCV, shown)._get_fitted_attr_html(doc_link)

    def _html_repr(self) -> str:
        """The corrected estimate first, if it has been computed, then the diagram of the estimator."""
        diagram: str = super()._html_repr()
        found: Estimate | None = self.__dict__.get("_estimate")
        return diagram if found is None else found._repr_html_() + diagram
