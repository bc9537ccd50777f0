"""The public `collect`: check every argument, then hand over to a `Collection`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ..arguments import check_count
from ..data.plan import Plan
from ..data.predictions import AUTO, Predictions
from ..data.target import encode
from ..drop import Sequential, as_drop_rule
from ..exceptions import InputError, got
from ..stability import Stop, as_stop
from . import blocks
from .collection import Collection
from .configs import Configs, as_configs
from .data import Samples, as_features, as_labels, has_rows, refuse_masked, refuse_missing_groups
from .parameters import one_of_each
from .pool import Pool
from .progress import Mode
from .recipes import make_recipes
from .repeats import Repeats
from .respond import Kind, Reader, choose_response, kind_of
from .share_options import ShareLike, Sharing

# The most repeats where their number is open.
_CAP = 50

if TYPE_CHECKING:
    from ..drop import DropRule, DropRuleLike
    from ..metrics import MetricLike
    from ..select import RuleLike


def collect(
    configs: Any,
    X: Any,
    y: Any,
    plan: Plan | int | Any = None,
    groups: Any = None,
    rng: int | None = 0,
    n_jobs: int | None = None,
    store: str | Path | None = None,
    response: str = "auto",
    fit_params: Mapping[str, Any] | None = None,
    progress: Mode = True,
    *,
    inner: bool = False,
    fresh: MetricLike | None = None,
    rule: RuleLike = None,
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
    threads: int = 1,
    task: Kind | None = None,
    share: ShareLike = "exact",
    share_check: bool = True,
    explain: bool | Callable[[str], object] = False,
) -> Predictions:
    """Out-of-fold predictions of every configuration.

    The result depends on the data, the plan and the seed alone: not on the number of workers, the backend, the order of
    the work, the other configurations, or an interruption. What a configuration's estimator leaves open as
    ``random_state=None`` gets a seed that is the same for all configurations in a fold, so that comparisons are paired;
    so do the global generators of numpy and Python while it is fitted, except in threads of one process.

    Parameters
    ----------
    configs
        Configurations as `grid` gives them, a dict of estimators by name, or one estimator.
    X
        Features: an array, a sparse matrix, a pandas or polars frame, or a list of texts.
    y
        Labels, values, or survival records (event, time).
    plan
        How samples are held out; ``Plan()``, 10 folds, by default. A number of folds, a scikit-learn splitter or an
        iterable of (train, test) index pairs serves as well.
    groups
        Group labels; the samples of a group are held out together unless the plan says otherwise.
    rng
        Seed of the splits and of the fits. None draws one and records it.
    n_jobs
        Number of workers; None is one, or what ``joblib.parallel_config`` says, which also chooses the backend.
    store
        A file such as ``run.oof`` that finished cells are written to at once. The same call goes on where an
        earlier one stopped, and adds configurations that are new. What else the file holds stays in it, for `load`.
    response
        ``"auto"`` keeps class probabilities where all configurations have them, else scores, else labels; or one of
        ``"proba"``, ``"score"``, ``"label"``.
    fit_params
        Arguments of every ``fit``; arrays with one entry a sample are split like X.
    progress
        Show a line on the terminal; ``"always"`` also where stderr is not a terminal. A function is called with the
        number of cells done and the total after every cell.
    inner
        Fit what nested cross-validation needs too (block ``inner``): one fit without every two folds.
    fresh
        A metric: the configuration it selects is cross-validated again on a new partition, or, in a three-way plan, fitted on
        train and validation part for the test part (block ``fresh``).
    rule
        How that configuration is selected; `select.best` by default.
    resub
        Fit every configuration on all samples too and let it predict them (block ``resub``). None does so for
        bootstrap plans, whose rounds also predict what they were trained on (block ``inbag``).
    drop
        Which configurations are hopeless and fitted no more, asked after every fold: ``drop.Bootstrap()`` or another rule
        of `outfold.drop`, a callable on the predictions so far, or True for the default rule. All workers then work on
        one fold at a time.
    repeats
        How often the partition is drawn anew, instead of what the plan says; ``"auto"`` adds whole repeats until `stop`
        holds for every configuration that is still running.
    stop
        When the repeats are enough, for ``repeats="auto"``: a rule of `outfold.stability`, ``stability.Rank()`` by default.
    max_repeats
        The most repeats that ``repeats="auto"`` may come to; 50 by default. A store can be continued with another number.
    timeout
        Seconds a fit may take; one that takes longer is a failed cell. Fits then run in processes that can be ended,
        whatever they hang in; under a threading backend only fits that return are recognised as too long.
    retry_failed
        Fit the failed cells of the store again.
    on_error
        ``"keep"`` makes a fit that raises a failed cell and goes on; ``"raise"`` ends at the first one with a `CollectError`
        whose cause is its exception. What was finished stays in the store.
    positive
        Which of two classes is the positive one; the last in sorted order by default.
    samples
        Names of the samples; 0, 1, ... by default.
    threads
        Threads a fit may use in OpenMP; more can change the last bits of some estimators. BLAS always uses one.
    task
        ``"classification"``, ``"regression"`` or ``"survival"`` where the estimators do not say what they are.
    share
        How closely shared fits must match separate fits. Outfold computes what configurations have in common once.
        ``"exact"`` gives the predictions of separate fits. ``"close"`` also allows predictions that are equal up to a
        solver's tolerance or a random seed. False fits each configuration by itself.
    share_check
        Now and then fit a member of every family alone too; a family that gives something else is not used any more.
    explain
        Print what is going to be shared before the work begins; a function is called with the text instead.

    Returns
    -------
    Predictions
        Of these configurations in this order, with failed cells where one raised an exception, took too long, predicted NaN
        or ended its worker process (with one worker, which is this process, a crash ends all), and dropped cells where it
        was dropped before (``oof.drop_log`` says when and why). Labels are those of the models' own ``predict``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> collect(DecisionTreeClassifier(), X, y, Plan(folds=5)).completeness
    1.0
    """
    named = as_named(configs)
    _check_store(store, on_error)
    dropping = as_drop_rule(drop)
    if dropping is not None and inner:
        raise InputError(
            "drop cannot be combined with inner=True: nested cross-validation selects among all configurations in every "
            "outer fold, so none may be missing. Leave one of them out; bbc needs no inner folds."
        )
    planned, stopping, cap = _repeated(as_plan(plan), repeats, stop, max_repeats)
    _check_plan(planned, fresh is not None)
    if not (resub is None or isinstance(resub, (bool, np.bool_))):
        raise InputError(f"resub must be True, False or None (for bootstrap plans only); got {resub!r}.")
    if stopping is not None:
        _check_open_end(dropping, inner, fresh is not None)
    collection = prepare(
        named,
        X,
        y,
        planned,
        groups,
        rng,
        n_jobs,
        response,
        fit_params,
        timeout,
        positive,
        samples,
        threads,
        task,
        cap if stopping is not None else None,
        share,
        share_check,
    )
    splits, target = collection.splits, collection.target
    collection = replace(
        collection,
        inner=blocks.inner_splits(splits, target) if inner else None,
        fresh=None if fresh is None else blocks.fresh_splits(splits, target, collection.groups, collection.seed),
        inbag=blocks.inbag_splits(splits) if planned.kind == "bootstrap" else None,
        resub=blocks.resub_splits(splits) if resub or (resub is None and planned.kind == "bootstrap") else None,
        drop=dropping,
        stop=stopping,
        raises=on_error == "raise",
    )
    if explain:
        (explain if callable(explain) else print)(collection.explained())
    return collection.fill(store, retry_failed, progress, fresh, rule)


def prepare(
    named: Configs,
    X: Any,
    y: Any,
    plan: Plan,
    groups: Any = None,
    rng: int | None = 0,
    n_jobs: int | None = None,
    response: str = "auto",
    fit_params: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    positive: Any = None,
    samples: Any = None,
    threads: int = 1,
    task: Kind | None = None,
    cap: int | None = None,
    share: ShareLike = "exact",
    share_check: bool = True,
) -> Collection:
    """Arguments as `collect` takes them, checked, encoded and split; repeats come one by one up to `cap` where it is given."""
    _check_arguments(timeout, threads, task)
    refuse_masked(X=X, y=y, groups=groups, samples=samples)
    seed = _seed(rng)
    kind = kind_of(one_of_each(named), y) if task is None else task
    target = encode(y, task=kind, positive=positive)
    features = as_features(X, len(target))
    arguments = _fit_params(fit_params, len(target))
    if groups is not None:
        groups = np.array(groups)
        refuse_missing_groups(groups)
    more = None if cap is None else Repeats(plan, target, groups, seed, cap)
    splits = plan.split(target, groups, seed) if more is None else more.first(1)
    chosen = choose_response(response, kind, named, 2 if target.classes is None else len(target.classes))
    pool = Pool.configured(n_jobs, timeout)
    return Collection(
        configs=named,
        samples=Samples(features, as_labels(y), arguments),
        target=target,
        splits=splits,
        seed=seed,
        reader=Reader.of(chosen, target),
        recipes=make_recipes(named, pool.dumps),
        sharing=Sharing.of(share, share_check, named.values(), arguments),
        pool=pool,
        groups=groups,
        names=None if samples is None else np.array(samples),
        timeout=timeout,
        repeats=more,
        threads=int(threads),
    )


def as_named(configs: Any) -> Configs:
    """Configurations of which there is at least one."""
    named = as_configs(configs)
    if not named:
        raise InputError("there is no configuration to collect; give a grid, a dict of estimators or an estimator.")
    return named


def _repeated(plan: Plan, repeats: Any, stop: Any, cap: Any) -> tuple[Plan, Stop | None, int]:
    """The plan with its repeats; where their number is open, the rule that ends them and the most that may come."""
    if repeats != AUTO:
        for name, value in (("stop", stop), ("max_repeats", cap)):
            if value is not None:
                raise InputError(
                    f"{name} needs repeats='auto'; got repeats={repeats!r}. Give both, or leave {name} out."
                )
        if repeats is None:
            return plan, None, plan.repeats
        if not isinstance(repeats, (int, np.integer)) or isinstance(repeats, bool) or repeats < 1:
            raise InputError(f"repeats must be a whole number from 1, 'auto' or None; got {repeats!r}.")
    if plan.kind not in ("kfold", "holdout"):
        raise InputError(
            f"repeats needs a plan that can draw another partition; this one is {plan}. Use Plan(folds=10), or leave "
            "repeats out."
        )
    if repeats != AUTO:
        return replace(plan, repeats=int(repeats)), None, int(repeats)
    return replace(plan, repeats=1), as_stop(stop), check_count(_CAP if cap is None else cap, "max_repeats", 1)


def _check_plan(plan: Plan, fresh: bool) -> None:
    """Refuse what does not go with the plan."""
    if plan.kind == "three_way" and not fresh:
        raise InputError(
            "a three-way plan needs the metric that selects on the validation part: collect(..., fresh='accuracy'), say. "
            "Without a test part use Plan.holdout."
        )


def _check_open_end(rule: DropRule | None, inner: bool, fresh: bool) -> None:
    """Refuse what must know the number of repeats beforehand."""
    if inner or fresh:
        raise InputError(
            f"{'inner' if inner else 'fresh'} needs to know the number of repeats; give repeats=10, say, not 'auto'."
        )
    if isinstance(rule, Sequential) and rule.steps is None:
        raise InputError(
            "Sequential needs to know the number of folds beforehand, which repeats='auto' leaves open; give "
            "Sequential(steps=...)."
        )


def _check_store(store: Any, on_error: Any) -> None:
    if store is not None and not isinstance(store, (str, os.PathLike)):
        raise InputError(f"store must be the name of a file such as 'run.oof', or None; got {store!r}.")
    if on_error not in ("keep", "raise"):
        raise InputError(f"on_error must be 'keep' or 'raise'; got {on_error!r}.")


def _check_arguments(timeout: Any, threads: Any, task: Any) -> None:
    if timeout is not None and not (_is_number(timeout, Real) and 0 < timeout < np.inf):
        needed = "must be a number of seconds above 0, or None for no limit"
        raise InputError(argument="timeout", needed=needed, given=got(timeout))
    if not (_is_number(threads, Integral) and threads >= 1):
        raise InputError(f"threads must be a whole number from 1; got {threads!r}.")
    if task is not None and task not in get_args(Kind):
        raise InputError(f"task must be {', '.join(map(repr, get_args(Kind)))} or None; got {task!r}.")


def _is_number(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def as_plan(plan: Any) -> Plan:
    """A plan, or what serves as one."""
    if plan is None or isinstance(plan, Plan):
        return plan or Plan()
    if _is_number(plan, Integral):
        return Plan(folds=int(plan))
    if not isinstance(plan, (str, bytes, Mapping)) and (hasattr(plan, "split") or isinstance(plan, Iterable)):
        return Plan.from_cv(plan)
    raise InputError(
        f"plan must be a Plan such as Plan(folds=10), a number of folds, or a scikit-learn splitter; got {plan!r}."
    )


def _seed(rng: Any) -> int:
    if rng is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(rng, bool) or not isinstance(rng, (int, np.integer)) or rng < 0:
        raise InputError(
            f"rng must be a whole number from 0, or None to draw one; got {rng!r}. A number lets a store resume."
        )
    return int(rng)


def _fit_params(fit_params: Mapping[str, Any] | None, n: int) -> dict[str, Any]:
    if fit_params is None:
        return {}
    if not isinstance(fit_params, Mapping):
        raise InputError(f"fit_params must be a dict of arguments of fit; got {type(fit_params).__name__}.")
    refuse_masked(**{str(name): value for name, value in fit_params.items()})
    for name, value in fit_params.items():
        if name.endswith("sample_weight") and value is not None and not has_rows(value, n):
            given = len(value) if hasattr(value, "__len__") else value
            raise InputError(f"fit_params[{name!r}] must have one entry for each of the {n} samples; it has {given}.")
    return dict(fit_params)
