"""The options of `collect`: each is refused, or brought to the form in which `Options` keeps it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from ..arguments import check_count, is_number, is_whole_number
from ..data.plan import Plan
from ..data.predictions import AUTO
from ..exceptions import got, invalid
from ..metrics import MetricLike
from .data import refuse_masked
from .predict import ModelKind

if TYPE_CHECKING:
    from ..drop import DropRule
    from ..stability import Stop
    from .job import Options

# The most repeats where their number is open.
_MAX_REPEATS = 50


def check_values(raw: Options) -> None:
    """Refuse options that have one of a few values or types, and were given another."""
    kinds, timeout = get_args(ModelKind), raw.timeout
    checks = {
        "store": (
            isinstance(raw.store, str | os.PathLike | None) and raw.store != "",
            "the name of a file such as 'run.oof', or None",
        ),
        "inner": (
            isinstance(raw.inner, bool | np.bool_) or (is_whole_number(raw.inner) and raw.inner >= 2),
            "True, False or a number of inner folds from 2",
        ),
        "on_error": (raw.on_error in ("keep", "raise"), "'keep' or 'raise'"),
        "resub": (isinstance(raw.resub, bool | np.bool_ | None), "True, False or None (for bootstrap plans only)"),
        "timeout": (
            timeout is None or (is_number(timeout) and timeout > 0),
            "a number of seconds above 0, or None for no limit",
        ),
        "threads": (
            raw.threads is None or (is_whole_number(raw.threads) and raw.threads >= 1),
            "a whole number from 1, or None",
        ),
        "task": (raw.task is None or raw.task in kinds, f"{', '.join(map(repr, kinds))} or None"),
        "share": (raw.share is False or raw.share in ("exact", "close"), "'exact', 'close' or False"),
        "share_check": (isinstance(raw.share_check, bool), "True or False"),
    }
    for name, (good, needed) in checks.items():
        if not good:
            raise invalid(name, f"must be {needed}", got(getattr(raw, name)))


def as_plan(plan: Any) -> Plan:
    """A plan, from whatever `collect` takes as one."""
    if plan is None or isinstance(plan, Plan):
        return plan or Plan()
    if is_whole_number(plan):
        return Plan(folds=int(plan))
    if not isinstance(plan, (str, bytes, Mapping)) and (hasattr(plan, "split") or isinstance(plan, Iterable)):
        return Plan.from_cv(plan)
    needed = "must be a Plan such as `Plan(folds=10)`, a number of folds, or a scikit-learn splitter"
    raise invalid("plan", needed, got(plan))


def with_repeats(plan: Plan, repeats: Any, stop: Any, most: Any) -> tuple[Plan, Stop | None, int | None]:
    """The plan with its repeats; if their number is open, also the rule that ends them and the most that may come."""
    if repeats != AUTO:
        for name, value in (("stop", stop), ("max_repeats", most)):
            if value is not None:
                remedy = f"Give both, or leave `{name}` out."
                raise invalid(name, "needs `repeats='auto'`", f"got `repeats={repeats!r}`", remedy)
        if repeats is None:
            return plan, None, None
        if not is_whole_number(repeats) or repeats < 1:
            raise invalid("repeats", "must be a whole number from 1, 'auto' or None", got(repeats))
    if plan.kind not in ("kfold", "holdout"):
        folds = getattr(plan.cv, "n_splits", 10)
        remedy = f"Use `Plan(folds={folds})`, or leave `repeats` out."
        raise invalid("repeats", "needs a plan that can draw another partition", f"this one is {plan}", remedy)
    if repeats != AUTO:
        return replace(plan, repeats=int(repeats)), None, None
    from ..stability import as_stop

    most = check_count(_MAX_REPEATS if most is None else most, "max_repeats", 1)
    return replace(plan, repeats=1), as_stop(stop), most


# Rules are imported where there is one: most collections have none.


def drop_rule(given: Any, metric: MetricLike | None) -> DropRule | None:
    """The rule that drops; None if nothing is dropped."""
    if given is None or given is False:
        return None
    from ..drop import as_drop_rule

    return as_drop_rule(given, metric)


def refuse_contradictions(inner: Any, plan: Plan, fresh: Any, rule: DropRule | None, stop: Stop | None) -> None:
    """Refuse options that are good by themselves, but not together."""
    if rule is not None and inner:
        given = "nested cross-validation selects among all of them in every outer fold, so none may be missing"
        remedy = "Leave one of them out; bbc needs no inner folds."
        raise invalid("drop", f"cannot be combined with `inner={inner}`", given, remedy)
    if plan.kind == "three_way" and fresh is None:
        needed = "a three-way plan needs to know what selects on the validation part"
        given, remedy = "give `fresh=True`, or `fresh='accuracy'`", "Without a test part use `Plan.holdout`."
        raise invalid(None, needed, given, remedy)
    if stop is not None and (inner or fresh is not None):
        name, given = "inner" if inner else "fresh", "give `repeats=10`, for example, not 'auto'"
        raise invalid(name, "needs to know the number of repeats", given)
    if stop is not None and rule is not None:
        _refuse_open_repeats(rule)


def _refuse_open_repeats(rule: DropRule) -> None:
    """Refuse a rule that needs to know the number of repeats."""
    from ..drop import Sequential

    if isinstance(rule, Sequential) and rule.steps is None:
        needed = "needs to know the number of folds beforehand, which `repeats='auto'` leaves open"
        raise invalid("Sequential", needed, "give `Sequential(steps=...)`")


def seed_number(rng: Any) -> int:
    """The seed as a number, drawn if it is None."""
    if rng is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if not is_whole_number(rng) or rng < 0:
        needed = "must be a whole number from 0, or None to draw one"
        raise invalid("rng", needed, got(rng), "A number lets a store resume.")
    return int(rng)


def as_fresh(fresh: Any) -> tuple[MetricLike | None, ...] | None:
    """The metrics whose winners are cross-validated again; None among them is the one that selects."""
    if fresh is None or fresh is False:
        return None
    asked = list(fresh) if isinstance(fresh, (list, tuple)) else [fresh]
    if not asked:
        raise invalid("fresh", "must be True, a metric or a list of metrics", got(fresh))
    return tuple(None if metric is True else metric for metric in asked)


def as_fit_params(fit_params: Any) -> dict[str, Any]:
    """The arguments of `fit` as a dict of our own."""
    if fit_params is None:
        return {}
    if not isinstance(fit_params, Mapping):
        raise invalid("fit_params", "must be a dict of arguments of fit", f"got {type(fit_params).__name__}")
    refuse_masked(**{str(name): value for name, value in fit_params.items()})
    return dict(fit_params)
