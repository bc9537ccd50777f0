"""`SelectCV`: a search like GridSearchCV, with an estimate corrected for picking the best."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import drop as dropping
from .. import estimate, select
from ..data.notes import Note
from ..data.predictions import Predictions
from ..data.target import encode
from ..exceptions import CollectError, InputError
from ..fitting.api import collect, refit_one
from ..fitting.configs import Configs
from ..fitting.estimators import one_of_each
from ..fitting.predict import Kind, kind_of
from ..fitting.predict import choose_response as response_of
from ..metrics import Metric
from ..metrics._scoring import Scoring, kernels_kept
from ..reporting import Report, report
from ..results import Estimate, Interval
from . import failures, results
from .arguments import as_plan, as_seed, check_options, checked_labels
from .asking import ask_and_collect, is_sampler
from .callbacks import Announcer, CallbackSupportMixin, with_callbacks
from .delegation import delegate, has
from .rules import ByFold, Fixed, FromResults, Halving, ask, refuse_incomplete
from .scorers import Scorers, choose_response, read_scoring
from .space import Space, make_space
from .task import Task

# A metric that is a Python function is called for every draw, configuration and fold: fewer draws have to do.
_DRAWS, _LOOPED_DRAWS = 1000, 200

# What a fit sets.
_FOUND = frozenset(
    [
        *("oof_", "cv_results_", "n_splits_", "scorer_", "multimetric_", "_judge", "selection_", "best_index_"),
        *("best_params_", "best_score_", "best_estimator_", "refit_time_", "feature_names_in_", "_estimate"),
    ]
)


class _Judge(NamedTuple):
    """What is needed to estimate later; it can be pickled, as metrics cannot."""

    scorers: Scorers
    kind: str
    response: str
    rule: select.Rule
    seed: int

    def metric(self, oof: Predictions) -> Metric:
        """The metric that selects, the first of several where a function does."""
        found = self.scorers.metrics(self.kind, oof.target, self.response)
        return found[self.scorers.main or next(iter(found))]


class SelectCV(MetaEstimatorMixin, CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """Cross-validated search that says how good the selected configuration is on new samples.

    Use it where you used GridSearchCV: it has the same attributes after ``fit``, and ``estimate_`` besides, the
    bias-corrected performance of the selected configuration with its interval, from the same fits (Tsamardinos et al.
    2018). ``best_score_`` is the winner's cross-validation score and optimistic, as it is in GridSearchCV.

    Parameters
    ----------
    estimator
        An estimator, whose parameters `grid` varies; or named configurations: what `outfold.grid` gives, or a dict of
        estimators, of different kinds if you like.
    grid
        Values by parameter, or a list of such dicts, as in GridSearchCV. Distributions of scipy for
        ``search="random"``. For an Optuna sampler, Optuna distributions by parameter, or a function of a trial that
        returns parameters.
    search
        ``"grid"`` tries all configurations; ``"random"`` draws `n_configs` of them without replacement; ``"halving"``
        keeps the better half after every fold, of the whole grid or of `n_configs` drawn. Or an Optuna sampler, or an
        Optuna study, asked `n_configs` times and told the mean score; its configurations are not dropped.
    n_configs
        How many to draw or ask for; 10 by default for ``"random"`` and samplers.
    scoring
        As in GridSearchCV: None for accuracy or R2, a name, a scorer, or several. A plain function of (estimator, X, y) is
        called with stored predictions in the place of the model, and may not look into X.
    cv
        None for 10 folds, a number of folds, a `Plan`, or any splitter of scikit-learn.
    repeats
        How often the folds are drawn anew; ``"auto"`` adds repeats until the predictions are stable.
    drop
        True fits no further what is very probably worse than the best so far (`drop.Bootstrap`); a rule of
        `outfold.drop`; False for none. True drops nothing where another rule than the best mean selects, or where the
        scorer is a Python function that is slower than the fits it might save.
    rule
        How the configuration is selected from the mean over folds: `select.best` by default, any rule of `select`.
    refit
        As in GridSearchCV: True, False, the name of the scorer that selects, or a function of ``cv_results_`` that returns
        an index. The function is also called inside the bootstrap of the estimate.
    n_jobs
        Number of workers; None is one, or what ``joblib.parallel_config`` says.
    store
        A file that finished cells are written to at once; the same fit goes on where an earlier one stopped.
    share
        How closely shared fits must match separate fits, as in `collect`: ``"exact"``, ``"close"`` or False. The final
        model is always fitted by itself.
    random_state
        Seed of folds, draws and of fits whose own random_state is None; a whole number, or None to draw one.
    error_score
        What failed fits score in ``cv_results_``; ``"raise"`` raises the exception of the first one as
        soon as it fails. A configuration with a failed fit is never selected.
    verbose
        Above 0, show a progress line.
    pre_dispatch, return_train_score
        Of GridSearchCV. The first has no effect: no more is handed out than the workers need. The second must be False: what
        models say of samples they were fitted on is not collected.
    param_grid
        GridSearchCV's name for `grid`; give one of them.

    Attributes
    ----------
    estimate_ : Estimate
        Performance of the selected configuration on new samples, with interval: the number to report.
    interval_ : Interval
        Its 95% confidence interval.
    oof_ : Predictions
        Out-of-fold predictions of all configurations: every other question can be asked of them without a fit.
    selection_ : Selection
        The configuration that was selected, and how.
    best_estimator_, best_params_, best_index_
        The model fitted on all samples, its parameters, and its position in ``cv_results_``.
    best_score_ : float
        The winner's mean score over folds. It is optimistic, because the winner was picked for it. Report ``estimate_``.
    cv_results_ : dict
        The table of GridSearchCV. ``config`` names the configurations; ``state`` is done, dropped or failed, and scores that
        do not exist are NaN. Fit times include predicting.
    scorer_, multimetric_, n_splits_, refit_time_, classes_, n_features_in_, feature_names_in_
        As in GridSearchCV.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SelectCV(SVC(), {"C": [0.1, 1, 10], "kernel": ["linear", "rbf"]}).fit(X, y)
    >>> search.best_params_
    {'C': 0.1, 'kernel': 'linear'}
    >>> bool(search.best_score_ > search.estimate_.value)
    True
    """

    # Groups are ours to use, for folds and bootstrap, whatever the splitter asks for.
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
        self.estimator = estimator
        self.grid = grid
        self.search = search
        self.n_configs = n_configs
        self.scoring = scoring
        self.cv = cv
        self.repeats = repeats
        self.drop = drop
        self.rule = rule
        self.refit = refit
        self.n_jobs = n_jobs
        self.store = store
        self.share = share
        self.random_state = random_state
        self.error_score = error_score
        self.verbose = verbose
        self.pre_dispatch = pre_dispatch
        self.return_train_score = return_train_score
        self.param_grid = param_grid

    # -- fitting ----------------------------------------------------------------------------------------

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, **params: Any) -> SelectCV:
        """Collect the out-of-fold predictions of all configurations, select one, and fit it on all samples.

        Parameters
        ----------
        X, y
            The samples and their labels.
        **params
            ``groups``, and arguments of the estimators' ``fit``; those with one entry a sample, such as
            ``sample_weight``, are split like X. Weights count in the fits, not in the scores.
        """
        self._forget()  # a fit that fails leaves nothing that an earlier one found
        check_options(self)
        announcer = Announcer.of(self, X, y)
        groups, fit_params = self._route(params)
        seed = as_seed(self.random_state)
        y = checked_labels(y, self._prototype())
        space = None
        if not is_sampler(self.search):
            space = make_space(self.estimator, self._grid, self.search, self.n_configs, seed)
        configs = Configs({"estimator": self.estimator}) if space is None else space.configs
        task = self._task(X, y, groups, fit_params, seed, configs)
        try:
            space, oof = self._collect(task._replace(announcer=announcer), space)
        except CollectError as error:
            failures.raise_as_sklearn(error)
        failures.warn(oof)
        task = task.scored_by(task.scorers.expanded(oof, self.refit))
        self.oof_ = replace(oof, notes=(*oof.notes, *self._notes(task)))
        try:
            self._take_stock(task, space)
        except BaseException:
            self._forget()
            raise
        if announcer is not None:
            announcer.end()
        return self

    def _task(self, X: Any, y: Any, groups: Any, fit_params: dict[str, Any], seed: int, configs: Configs) -> Task:
        scorers = read_scoring(self.scoring, self.refit, self._prototype())
        # An outlier detector predicts the labels -1 and 1.
        detects = get_tags(self._prototype()).estimator_type == "outlier_detector"
        kind: Kind = "classification" if detects else kind_of(one_of_each(configs), y)
        target = encode(y, task=kind)
        target = encode(y, task=kind, positive=scorers.positive(target))
        needed = choose_response(scorers, scorers.metrics(kind, target), kind, configs)
        response = response_of(needed, kind, configs, 2 if target.classes is None else len(target.classes))
        return Task(X, y, target, kind, as_plan(self.cv), groups, fit_params, seed, scorers, response)

    def _collect(self, task: Task, space: Space | None) -> tuple[Space, Predictions]:
        if space is not None:
            oof = self._collect_configs(task, space.configs, self.store, self._drop_rule(task))
            # The store may hold configurations of earlier searches.
            return space, oof.sel(config=list(space.configs))
        if task.scorers.main is None:
            raise InputError("a sampler must be told one score; let refit name the scorer.")
        metric, scorer = task.metrics[task.scorers.main], task.scorers.scorers[task.scorers.main]
        return ask_and_collect(
            self.estimator,
            self._grid,
            self.search,
            self.n_configs,
            self.store,
            lambda configs, store: self._collect_configs(task, configs, store, None),
            lambda oof, name: metric.sign * float(np.mean(results.split_scores(oof.sel(config=name), metric, scorer))),
            raises=self.error_score == "raise",
        )

    def _collect_configs(self, task: Task, configs: Configs, store: Any, drop: Any) -> Predictions:
        return collect(
            configs,
            task.X,
            task.y,
            task.plan,
            groups=task.groups,
            rng=task.seed,
            n_jobs=self.n_jobs,
            store=store,
            share=self.share,
            response=task.response,
            fit_params=task.fit_params,
            progress=task.announcer or ("always" if self.verbose > 0 else False),
            drop=drop,
            repeats=self.repeats,
            positive=task.positive,
            task=task.kind,
            on_error="raise" if self.error_score == "raise" else "keep",
        )

    def _drop_rule(self, task: Task) -> Any:
        """The rule, deciding by the metric that selects where it names none."""
        main = task.scorers.main or next(iter(task.metrics))
        asked = task.scorers.metric(main, task.kind, task.target, task.response)
        # By name where there is one: the rule's text is part of what a store is continued by.
        metric = asked if isinstance(asked, str) else task.metrics[main]
        if self.search == "halving":
            return Halving(metric)
        if self.drop is True:
            selects_best = (
                self.rule in (None, select.best) and task.scorers.main is not None and not callable(self.refit)
            )
            return dropping.Bootstrap(metric=metric) if selects_best and not task.metrics[main].looped else None
        if is_dataclass(self.drop) and getattr(self.drop, "metric", metric) is None:
            return replace(self.drop, metric=metric)  # type: ignore[type-var]
        return None if self.drop is False else self.drop

    def _notes(self, task: Task) -> list[Note]:
        notes = []
        if any(name.endswith("sample_weight") and w is not None for name, w in task.fit_params.items()):
            notes.append(Note("OF104", "sample weights were used in the fits; in the scores every sample counts once."))
        if self.search == "halving":
            notes.append(
                Note("OF211", "halving dropped configurations on few folds; the estimate corrects for the last ones only.")
            )
        return notes

    def _forget(self) -> None:
        """Whatever a fit found."""
        for name in [name for name in self.__dict__ if name in _FOUND]:
            del self.__dict__[name]

    def _take_stock(self, task: Task, space: Space) -> None:
        """Everything that follows from the predictions: the table, the selection, the model, the estimate."""
        with kernels_kept():
            metric = self._score(task, space)
            if task.scorers.main is None and not callable(self.refit):
                return
            self._select(metric, space)
            if not metric.looped:
                # On a handful of samples there may be none: asking for it will say why, the search need not fail for it.
                with suppress(InputError):
                    self._estimate = self._corrected_estimate(metric)
        if self.refit:
            self._refit(task, space)

    def _score(self, task: Task, space: Space) -> Metric:
        """The table, and the metric that selects."""
        scorers, metrics = task.scorers.scorers, task.metrics
        scores = {name: results.split_scores(self.oof_, metric, scorers[name]) for name, metric in metrics.items()}
        error_score = np.nan if self.error_score == "raise" else float(self.error_score)
        self.cv_results_ = results.table(self.oof_, space.params, scores, error_score)
        self.n_splits_ = len(self.oof_.splits.cells)
        self.scorer_ = task.scorers.scorer
        self.multimetric_ = task.scorers.multimetric
        rule: select.Rule = ByFold(self.rule)
        if callable(self.refit):
            rule = FromResults(self.refit, space.params, task.scorers, task.kind, task.response)
        self._judge = _Judge(task.scorers, task.kind, task.response, rule, task.seed)
        return metrics[task.scorers.main or next(iter(metrics))]

    def _select(self, metric: Metric, space: Space) -> None:
        scoring = Scoring(self.oof_, metric, "fold")
        rule = self._judge.rule
        if callable(self.refit):
            index = ask(self.refit, self.cv_results_)
            refuse_incomplete(self.oof_, index)
            rule = Fixed(index, rule.name)
        self.selection_ = select.choose(scoring, rule)
        self.best_index_ = self.selection_.index
        self.best_params_ = space.params[self.best_index_]
        if not callable(self.refit):
            self.best_score_ = self.cv_results_[f"mean_test_{self._judge.scorers.main}"][self.best_index_]

    def _refit(self, task: Task, space: Space) -> None:
        start = time.perf_counter()
        selected = self.selection_.name
        self.best_estimator_ = refit_one(
            self.oof_, space.configs, task.X, task.y, selected, task.fit_params, alike=True
        )
        self.refit_time_ = time.perf_counter() - start
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_

    # -- the corrected estimate ----------------------------------------------------------------------------

    @property
    def estimate_(self) -> Estimate:
        """Performance of the selected configuration on new samples; made on first use where the scorer is slow."""
        check_is_fitted(self, "oof_")
        if not hasattr(self, "selection_"):
            raise AttributeError("no scorer was named by refit, so nothing was selected and there is no estimate_.")
        if not hasattr(self, "_estimate"):
            self._estimate = self._corrected_estimate(self._judge.metric(self.oof_))
        return self._estimate

    def _corrected_estimate(self, metric: Metric) -> Estimate:
        n = _LOOPED_DRAWS if metric.looped else _DRAWS
        return estimate.bbc(self.oof_, metric, rule=self._judge.rule, n_resamples=n, rng=self._judge.seed)

    @property
    def interval_(self) -> Interval | None:
        """The 95% confidence interval of `estimate_`."""
        return self.estimate_.interval

    def report(self, **options: Any) -> Report:
        """One page on the search: the estimate, all configurations, comparisons, checks, a paragraph for a paper.

        Parameters
        ----------
        **options
            Those of `outfold.report`, such as `title` and `top`.

        Examples
        --------
        >>> search.report().save("report.html")  # doctest: +SKIP
        """
        found = self.estimate_
        return report(self.oof_, self._judge.metric(self.oof_), estimate=found, rng=self._judge.seed, **options)

    # -- the model --------------------------------------------------------------------------------------

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

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """The score of the selected model on these samples, by the scorer that selected it."""
        has("score" if self.scoring is None else "fit")(self)
        check_is_fitted(self)
        if params and not _routing():
            raise InputError(f"score takes {', '.join(params)} only where scikit-learn's metadata routing is enabled.")
        routed = process_routing(self, "score", **params).scorer.score if params else {}
        scorers = self._judge.scorers
        if scorers.main is None:
            raise InputError("several scorers and none of them named by refit: use those of scorer_ yourself.")
        return float(scorers.scorers[scorers.main](self.best_estimator_, X, y, **routed))

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, of a classifier that was refitted."""
        has("classes_")(self)
        return np.asarray(self.best_estimator_.classes_)

    @property
    def n_features_in_(self) -> int:
        """Number of features seen by the refitted model."""
        check_is_fitted(self)  # a NotFittedError is an AttributeError too, so that hasattr is False
        return int(self.best_estimator_.n_features_in_)

    # -- scikit-learn -----------------------------------------------------------------------------------

    @property
    def _grid(self) -> Any:
        return self.param_grid if self.grid is None else self.grid

    def _prototype(self) -> Any:
        """The estimator whose kind, methods and metadata requests stand for all configurations."""
        if not isinstance(self.estimator, Mapping):
            return self.estimator
        if not self.estimator:
            raise InputError(
                "there is no configuration to try; give an estimator with a grid, or a dict of estimators."
            )
        return next(iter(self.estimator.values()))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._prototype())
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = deepcopy(inner.classifier_tags)
        tags.regressor_tags = deepcopy(inner.regressor_tags)
        tags.input_tags = deepcopy(inner.input_tags)
        tags.target_tags.required = True
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Where metadata go: groups to the folds and the bootstrap, the rest to the estimators."""
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
        if not _routing():
            return groups, {name: value for name, value in params.items() if name != "groups"}
        routed = process_routing(self, "fit", **params)
        if any(value is not None for value in routed.get("scorer", {}).get("score", {}).values()):
            raise InputError(
                "the scorer asks for metadata, but scores are taken of stored predictions without weights. Leave out its "
                "set_score_request."
            )
        return groups, dict(routed.estimator.fit)

    def _html_repr(self) -> str:
        """The corrected estimate first, then the diagram of the estimator."""
        diagram: str = super()._html_repr()
        found = self.__dict__.get("_estimate")
        return diagram if found is None else found._repr_html_() + diagram


def _routing() -> bool:
    return bool(get_config()["enable_metadata_routing"])
