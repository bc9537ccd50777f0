"""`collect` and `refit`: arguments are checked, a job is made of them, and the job is run.

The walk goes on in `job`, `dispatcher`, `worker` and `executor`; results gather in `buffer`.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..data.ledger import TEST_PART
from ..data.notes import Note
from ..data.plan import Plan
from ..data.predictions import Predictions, begun, recording
from ..data.seeds import n_seeds
from ..docstrings import fill_common
from ..exceptions import invalid
from ..metrics import MetricLike
from ..metrics._scoring import Aggregate, bind
from ..progress import Mode
from ..requirements import check_predictions
from ..select import RuleLike
from ..stats.compiling import limit_threads
from .buffer import ResultBuffer
from .configs import as_configs
from .data import as_features, as_given, as_labels, as_table, digest, n_rows
from .dispatcher import Dispatcher, ResultsReopened, inner_holdouts
from .estimators import make_templates, seeds_of
from .job import Job, Options, Share, make_job
from .limits import interrupt_on_termination, own_random_state
from .predict import ModelKind
from .threads import threads_alone

if TYPE_CHECKING:
    from ..drop import DropRuleLike
    from ..stability import Stop
    from .early_stopping import EarlyStopping


@fill_common
def collect(
    configs: Any,
    X: Any,
    y: Any,
    plan: Plan | int | Any = None,
    *,
    groups: Any = None,
    rng: int | None = 0,
    n_jobs: int | None = None,
    store: str | Path | None = None,
    response: str = "auto",
    fit_params: Mapping[str, Any] | None = None,
    progress: Mode = True,
    inner: bool | int = False,
    metric: MetricLike | None = None,
    aggregate: Aggregate = "pooled",
    rule: RuleLike = None,
    fresh: MetricLike | Sequence[MetricLike] | bool | None = None,
    resub: bool | None = None,
    drop: DropRuleLike = None,
    repeats: int | Literal["auto"] | None = None,
    stop: Stop | None = None,
    max_repeats: int | None = None,
    timeout: float | None = None,
    retry_failed: bool = False,
    on_error: Literal["keep", "raise"] = "keep",
    positive: Any = None,
    samples: Any = None,
    threads: int | None = None,
    task: ModelKind | None = None,
    share: Share = "exact",
    share_check: bool = True,
    scorers: Any = None,
    seeds: int = 1,
    explain: bool | Callable[[str], object] = False,
) -> Predictions:
    """Out-of-fold predictions of every configuration.

    The result depends only on the data, the plan and the seed. The number of workers, the backend, the order of the work,
    the other configurations and interruptions make no difference. An estimator with ``random_state=None`` gets a seed that is
    the same for all configurations in a fold, so that comparisons are paired. The global generators of numpy and Python are
    seeded in the same way, except in threads of one process.

    Parameters
    ----------
    configs : Configs, dict of str to estimator, or estimator
        Configurations as `grid` gives them, a dict of estimators by name, or one estimator.
    X : array-like, sparse matrix, pandas or polars frame, or list of str
        Features, one row for each sample.
    y : array-like
        Labels, values, or survival records (event, time).
    plan : Plan, int, scikit-learn splitter, or iterable of (train, test)
        How samples are held out; ``Plan()``, 10 folds, by default. An int is a number of folds. No model sees the samples of a
        test part (``Plan(test=0.3)``), and the predictions do not contain them; `confront` scores the winner on them later.
    groups : array-like, optional
        Group labels. The samples of a group are held out together unless the plan says otherwise.
    rng : int or None
        Seed of the splits and of the fits; None draws a new one. It must be a whole number: Outfold derives the seed of each fit
        from it and stores it with the predictions, so that `refit` and a continued store use the same seeds.
    n_jobs : int or None
        Number of workers. None is one worker, or the number that ``joblib.parallel_config`` sets, which also chooses the backend.
        With joblib's default backend this process is one of the workers if all estimators come from scikit-learn, LightGBM,
        xgboost or CatBoost and there is no `timeout`; the others start only if the remaining work is worth it.
        The backends "dask" and "ray" use all workers of a cluster, whatever the number.
    store : str or path, optional
        A file such as ``run.oof``. Outfold writes each finished cell to it at once. The same call continues where an earlier one
        stopped, and adds new configurations. `load` reads everything in the file.
    response : {"auto", "proba", "score", "label", "survival", "risk", "none"}
        ``"auto"`` keeps class probabilities if all configurations have them, else scores, else labels. For survival models it
        keeps risks, and survival curves if any configuration gives them; ``"risk"`` keeps risks only. ``"none"`` keeps no
        predictions, only the values of `scorers`: for clusterers, several outputs, or no y at all (``y=None``).
    fit_params : dict, optional
        Arguments of every ``fit``. Arrays with one entry per sample are split like X.
    progress : bool, "always" or callable
        Show a progress line on the terminal, or a bar in a notebook; ``"always"`` also if stderr is not a terminal. Notes on the
        splits, such as a class with fewer members than folds, are printed before the first fit. A function is called after each
        cell, with the number of finished cells and the total.
    inner : bool or int
        Also fit what nested cross-validation needs (block ``inner``). True uses the other outer folds as inner folds: one fit for
        each pair of folds that is left out. A number draws that many inner folds inside each outer training part, stratified and
        grouped like the plan; it also works with two folds, hold-outs and leave-one-out.
    metric : str, callable, Metric or None
        The metric that selects; by default that of `fresh`, or the default metric of the task. The predictions record it, with
        `aggregate` and `rule`, and every estimate, table and report selects by this record. It does not change any fit.
    aggregate : {"pooled", "within", "fold"}
        The score that selects: one value over all out-of-fold predictions of a repeat; the same, but only pairs of samples of
        the same fold count (for AUC and concordance); or the mean over folds, as in scikit-learn.
    rule : callable or rule of `outfold.select`, optional
        How a configuration is selected by its score; `select.best` by default.
    fresh : bool, str, callable, Metric or list of these, optional
        True cross-validates the selected configuration again on a new partition (block ``fresh``). In a three-way plan, it is
        fitted on the train and validation parts and predicts the test part. You may pass the metric that selects it, or several:
        then the winner of each is fitted again, once if it is the same, and `metric` is the first of them by default.
    resub : bool or None
        Also fit each configuration on all samples and predict the same samples (block ``resub``). None does so for bootstrap
        plans only; their rounds also predict the samples that they were trained on (block ``inbag``).
    drop : rule of `outfold.drop`, callable, bool or None
        Which configurations not to fit on the remaining folds; Outfold asks the rule after each fold. True is the default rule; a
        callable gets the predictions so far. A rule without a metric uses the one that selects. All workers then work on one fold
        at a time.
    repeats : int, "auto" or None
        Number of repeats, in place of that of the plan. ``"auto"`` adds whole repeats until `stop` holds for each configuration
        that is still running.
    stop : rule of `outfold.stability`, optional
        When the repeats are enough, for ``repeats="auto"``; ``stability.Rank()`` by default.
    max_repeats : int, optional
        The most repeats for ``repeats="auto"``; 50 by default. You can continue a store with another number.
    timeout : float, optional
        Seconds that a fit may take. A fit that takes longer is a failed cell. Fits then run in processes that Outfold can end,
        even if they hang. With a threading backend, Outfold cannot end a fit, and marks it as failed when it returns.
    retry_failed : bool
        Fit the failed cells of the store again.
    on_error : {"keep", "raise"}
        ``"keep"`` records a fit that raises as a failed cell and continues. ``"raise"`` stops at the first one with a
        `CollectError` whose cause is its exception. Finished cells stay in the store.
    positive : label, optional
        Which of two classes is the positive one; the last in sorted order by default.
    samples : array-like, optional
        Names of the samples; by default the index of a pandas frame, if it tells them apart, else 0, 1, ...
    threads : int or None
        OpenMP threads that a fit may use; more than one can change the last bits of some estimators. None is one, except for
        histogram boosting of a large table with one worker, which uses all: they do not change its bits. BLAS always uses one.
    task : {"classification", "regression", "survival"} or None
        The task. You need it if estimators do not say what they are and the labels look like classes.
    share : {"exact", "close", False}
        How closely shared fits must match separate fits. Outfold computes steps that configurations have in common only once.
        ``"exact"`` gives the same predictions as separate fits. ``"close"`` also allows predictions that are equal up to a
        solver's tolerance or a random seed. False fits each configuration separately.
    share_check : bool
        Now and then, fit one of the configurations of a shared fit separately too, and compare. If the predictions differ, this
        kind of shared fit is not used any more.
    scorers : dict of str to callable, callable or None
        Functions of (estimator, X, y), called with each fitted model and its held-out samples. Use them for scores that need the
        fitted model, such as a number of coefficients. Their values are kept by fold (``oof.live_scores``). If a function raises,
        its value is NaN; with ``on_error="raise"`` the fit has failed. Each model is then fitted separately: nothing is shared.
    seeds : int
        How many models to fit, each with its own seed, if an estimator has ``random_state=None``; others are fitted once.
        Outfold keeps the mean of their predictions (sect. 9 of [1]_). The predicted label is that of the mean if ``predict`` is
        known to follow from it. Otherwise the majority of the models decides; the mean breaks a tie, or the first class if only
        labels are kept. A score of `scorers` is the mean over models. The block ``seeds`` keeps the predictions of each seed, for
        `stability.variance`; the first seed is that of ``seeds=1``. `refit` averages as many models.
    explain : bool or callable
        Print what will be shared before the work begins. If you pass a function, it gets the text instead.

    Returns
    -------
    Predictions
        The predictions of these configurations, in this order. A cell is failed if its fit raised an exception, took too long,
        predicted NaN or ended its worker process (a crash of this process, if it is one of the workers, ends everything). A cell
        is dropped if its configuration was dropped before; ``oof.drop_log`` says when and why. Labels are those of ``predict``.
    References: {tsamardinos2015}

    Examples: {iris}
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> of.collect(DecisionTreeClassifier(), X, y, of.Plan(folds=5)).completeness
    1.0
    """
    data = {"groups": groups, "samples": samples, "positive": positive, "task": task, "fit_params": fit_params}
    also = {"response": response, "inner": inner, "fresh": fresh, "resub": resub}
    also |= {"metric": metric, "aggregate": aggregate, "rule": rule}
    until = {"drop": drop, "repeats": repeats, "stop": stop, "max_repeats": max_repeats, "timeout": timeout}
    work = {"rng": rng, "n_jobs": n_jobs, "threads": threads, "share": share, "share_check": share_check}
    work |= {"scorers": scorers, "seeds": seeds}
    kept = {"store": store, "progress": progress, "retry_failed": retry_failed, "on_error": on_error}
    options = Options.checked(plan, **data, **also, **until, **work, **kept)
    if options.plan.has_test_part:
        from .test_part import keep_apart  # here, so that it is loaded only where there is one

        X, y, options = keep_apart(configs, X, y, options)
    job = make_job(configs, X, y, options)
    if explain:
        (explain if callable(explain) else print)(explained(job))
    return run_job(job)


def explained(job: Job) -> str:
    """What the configurations of a job share."""
    return job.executor.explain(len(job.splits.cells) + len(inner_holdouts(job)))


def run_job(job: Job) -> Predictions:
    """Fit what is missing and give back everything there is."""
    _refuse_what_cannot_decide(job)
    with ExitStack() as stack:
        stack.enter_context(interrupt_on_termination())
        store = None
        if job.options.store is not None:
            from ..io.store import Store  # here: a collection without a store needs no database

            store = stack.enter_context(Store.open(job.options.store, job.header, job.identity))
        # A file does not hold functions that select.
        start = job.start if store is None else recording(store.predictions(), job.header.criterion)
        buffer = ResultBuffer(start, store)
        if job.options.drop is not None:
            buffer.forget_drops(job.configs)
        work = _Work(job, Dispatcher(job, buffer))
        stack.callback(work.dispatcher.progress.close)
        for note in job.splits.notes:
            work.dispatcher.progress.say(note.text)
        try:
            with work.dispatcher:
                work.fit()
        except KeyboardInterrupt as interrupt:
            interrupt.add_note(_how_to_go_on(work.dispatcher.so_far(), job.options.store))
            raise
        finally:
            facts, notes = work.findings()
            if store is not None:
                store.update(notes=notes, **facts)
        made = {**buffer.oof.start.provenance, **facts}
        made["specs"] = {name: text for name, text in made["specs"].items() if name in job.configs}
        oof = begun(buffer.predictions(provenance=made, notes=notes))
        return oof if oof.configs == tuple(job.configs) else oof.sel(list(job.configs))


def _refuse_what_cannot_decide(job: Job) -> None:
    """Refuse metrics that cannot select, and rules that cannot drop or stop: before the work, not after."""
    for metric in job.options.fresh or ():
        if metric is not None:
            bind(job.header, metric)
    for decides in (job.options.drop, job.options.stop):
        if decides is not None:
            decides.check(job.header)


def _how_to_go_on(so_far: str, store: str | Path | None) -> str:
    """What an interrupted collection leaves."""
    if store is None:
        return f"{so_far} were done. Give store='run.oof' to keep what is finished next time."
    return f"{so_far} are in {store}; start it again to go on."


class _Work:
    """The fits of a job, and what is found in doing them, however they end."""

    def __init__(self, job: Job, dispatcher: Dispatcher) -> None:
        self.job, self.dispatcher = job, dispatcher
        self._stopping: EarlyStopping | None = None

    def fit(self) -> None:
        """Fit all that is missing; from the start again where earlier results turn out not to hold."""
        while True:
            try:
                self._fit_splits()
                break
            except ResultsReopened:
                self.dispatcher.start_over()
        self.dispatcher.refuse_if_all_failed()
        if "resub" in self.job.blocks:
            self.dispatcher.fit_resub()
        if self.job.options.fresh is not None:
            self.dispatcher.fit_fresh(self.job.options.fresh)

    def _fit_splits(self) -> None:
        """All splits at once or, if configurations may be dropped or repeats added, fold by fold."""
        if self.job.options.drop is None and self.job.options.stop is None:
            self.dispatcher.fit(self.dispatcher.holdouts, self.job.splits)
            if self.dispatcher.own_inner:
                self.dispatcher.fit(self.dispatcher.own_inner, self.job.blocks["inner"])
            return
        from .early_stopping import EarlyStopping

        self._stopping = EarlyStopping(self.job, self.dispatcher)
        self._stopping.run()

    def findings(self) -> tuple[dict[str, Any], tuple[Note, ...]]:
        """Facts for the provenance, and what the user should know."""
        facts = self.dispatcher.facts()
        notes = [*self.job.notes(facts), *self.dispatcher.executor.notes()]
        if self._stopping is not None:
            facts |= self._stopping.facts(facts)
            notes += self._stopping.notes()
        return facts, tuple(notes)


@fill_common
def refit(
    oof: Predictions,
    configs: Any,
    X: Any,
    y: Any,
    *,
    metric: MetricLike | None = None,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
    fit_params: Mapping[str, Any] | None = None,
) -> Any:
    """Fit the selected configuration on all samples.

    Parameters
    ----------
    oof : Predictions
        The predictions that select the configuration.
    configs : Configs, dict of str to estimator, or estimator
        The configurations that the predictions came from; other ones raise an error.
    X : array-like, sparse matrix, pandas or polars frame, or list of str
        The features that the predictions came from; other ones raise an error. If the plan kept a test part apart, pass all
        samples to fit on all of them, or only those outside the test part.
    y : array-like
        The labels that the predictions came from; other ones raise an error.
    {recorded_metric}
    rule : callable or rule of `outfold.select`, optional
        How to select; None is the rule that the predictions record. If you pass a metric, a rule or an aggregate, pass the same
        to the estimate that you report with the model.
    {aggregate}
    fit_params : dict, optional
        Arguments of ``fit``.

    Returns
    -------
    estimator
        A fitted clone. If it has ``random_state=None``, it gets a seed derived from the seed of the predictions. If the
        predictions are means over several seeds, the result averages as many models.

    Examples: {iris}
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> trees = of.grid("tree", DecisionTreeClassifier(), max_depth=[1, 3])
    >>> oof = of.collect(trees, X, y, of.Plan(folds=5))
    >>> of.refit(oof, trees, X, y).get_depth()
    3
    """
    check_predictions(oof, "refit")
    selected = oof.selection(metric, aggregate=aggregate, rule=rule).name
    return refit_one(oof, configs, X, y, selected, fit_params or {})


def refit_one(
    oof: Predictions,
    configs: Any,
    X: Any,
    y: Any,
    selected: str,
    fit_params: Mapping[str, Any],
    same_data: bool = False,
    around: Callable[[Any], AbstractContextManager[Any]] = nullcontext,
) -> Any:
    """The configuration of this name, fitted on all samples.

    `same_data` if configs, X and y are known to be the same. `around` gives what surrounds the fit of a model.
    """
    named = as_configs(configs)
    if selected not in named:
        needed = f"the selected configuration {selected!r} is not among the `configs`"
        raise invalid(None, needed, "give those the predictions came from")
    (template,) = make_templates({selected: named[selected]}, pickle.dumps)
    text = oof.provenance.get("specs", {}).get(selected)
    if text is not None and text != template.text:
        needed = f"the configuration {selected!r} has other parameters than the one the predictions came from"
        raise invalid(None, needed)
    made = _given_samples(oof, X)
    features = as_features(X, made.get("n_samples", oof.n_samples))
    labels = None if y is None else as_given(y, column=oof.target.classes is None)
    for what, values, key in () if same_data else (("X", features, "data"), ("y", labels, "labels")):
        values = as_labels(values) if key == "labels" else values
        if key in made and made[key] != digest(values):
            needed = "is not what the predictions came from, so the estimate would not be of this model"
            remedy = f"Give the same `{what}`; for other data fit a clone of the configuration yourself."
            raise invalid(what, needed, remedy=remedy)
    seeds = seeds_of(n_seeds(oof.provenance) if template.seeded else 1, int(oof.provenance.get("seed", 0)))
    asked = oof.provenance.get("threads")
    threads = threads_alone([named[selected]], features) if asked is None else int(asked)
    openmp: AbstractContextManager[Any] = nullcontext() if threads is None else limit_threads("openmp", threads)
    models = [template.make(seed) for seed in seeds]
    with limit_threads("blas"), openmp, own_random_state() as seed_globals:
        for model, seed in zip(models, seeds, strict=True):
            seed_globals(seed)
            with around(model):
                model.fit(*((features,) if labels is None else (features, labels)), **fit_params)
    if len(models) == 1:
        return models[0]
    from .seed_average import SeedAverage  # here: a class of scikit-learn's

    return SeedAverage(models, oof.response, oof.target.classes).fitted()


def _given_samples(oof: Predictions, X: Any) -> Mapping[str, Any]:
    """The hashes that X and y must have: those of the collected samples or, with a test part, those of all samples."""
    record: Mapping[str, Any] = oof.provenance.get(TEST_PART, {})
    return record if record and n_rows(as_table(X)) == record["n_samples"] else oof.provenance
