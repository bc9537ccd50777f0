"""The arguments of `collect` beside the configurations and the samples, checked once and kept in one object."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from .. import drop, stability
from ..arguments import check_count
from ..data.plan import Plan
from ..data.predictions import AUTO
from ..exceptions import InputError, got
from ..metrics import MetricLike
from ..select import RuleLike
from .data import refuse_masked, refuse_missing_groups
from .predict import Kind
from .progress import Mode

Share = Literal["exact", "close", False]

# The most repeats where their number is open.
_MAX_REPEATS = 50


@dataclass(frozen=True, eq=False, kw_only=True)
class Options:
    """How to collect; `collect` documents each option.

    What is given is checked and brought to one form: the plan is a `Plan` with its repeats, the seed a number, a rule an
    instance. `stop` and `max_repeats` are None unless repeats are added until `stop` holds; `resub` is True or False.
    """

    plan: Plan = field(default_factory=Plan)
    groups: Any = None
    rng: int = 0
    n_jobs: int | None = None
    store: str | Path | None = None
    response: str = "auto"
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    progress: Mode = True
    inner: bool = False
    fresh: MetricLike | None = None
    rule: RuleLike = None
    resub: bool = False
    drop: drop.DropRule | None = None
    repeats: Any = None
    stop: stability.Stop | None = None
    max_repeats: int | None = None
    timeout: float | None = None
    retry_failed: bool = False
    on_error: Literal["keep", "raise"] = "keep"
    positive: Any = None
    samples: Any = None
    threads: int = 1
    task: Kind | None = None
    share: Share = "exact"
    share_check: bool = True
    explain: bool | Callable[[str], object] = False

    @classmethod
    def checked(cls, **given: Any) -> Options:
        """Options from arguments as `collect` takes them."""
        raw = cls(**given)
        _check_store(raw)
        rule = drop.as_drop_rule(raw.drop)
        if rule is not None and raw.inner:
            raise InputError(
                argument="drop",
                needed="cannot be combined with `inner=True`",
                given="nested cross-validation selects among all configurations in every outer fold, so none may be missing",
                remedy="Leave one of them out; bbc needs no inner folds.",
            )
        plan, stop, most = _repeated(as_plan(raw.plan), raw.repeats, raw.stop, raw.max_repeats)
        _check_blocks(raw, plan)
        if stop is not None:
            _check_open_end(raw, rule)
        _check_fits(raw)
        refuse_masked(groups=raw.groups, samples=raw.samples)
        return replace(
            raw,
            plan=plan,
            groups=_as_groups(raw.groups),
            rng=_as_seed(raw.rng),
            fit_params=_as_fit_params(raw.fit_params),
            resub=plan.kind == "bootstrap" if given.get("resub") is None else bool(raw.resub),
            drop=rule,
            stop=stop,
            max_repeats=most,
            samples=None if raw.samples is None else np.array(raw.samples),
            threads=int(raw.threads),
        )

    @property
    def raises(self) -> bool:
        """Whether the first fit that fails ends the collection."""
        return self.on_error == "raise"


def as_plan(plan: Any) -> Plan:
    """A plan, from whatever `collect` takes as one."""
    if plan is None or isinstance(plan, Plan):
        return plan or Plan()
    if _is_number(plan, Integral):
        return Plan(folds=int(plan))
    if not isinstance(plan, (str, bytes, Mapping)) and (hasattr(plan, "split") or isinstance(plan, Iterable)):
        return Plan.from_cv(plan)
    needed = "must be a Plan such as `Plan(folds=10)`, a number of folds, or a scikit-learn splitter"
    raise InputError(argument="plan", needed=needed, given=got(plan))


def _repeated(plan: Plan, repeats: Any, stop: Any, most: Any) -> tuple[Plan, stability.Stop | None, int | None]:
    """The plan with its repeats; if their number is open, also the rule that ends them and the most that may come."""
    if repeats != AUTO:
        for name, value in (("stop", stop), ("max_repeats", most)):
            if value is not None:
                raise InputError(
                    argument=name,
                    needed="needs `repeats='auto'`",
                    given=f"got `repeats={repeats!r}`",
                    remedy=f"Give both, or leave `{name}` out.",
                )
        if repeats is None:
            return plan, None, None
        if not _is_number(repeats, Integral) or repeats < 1:
            raise InputError(
                argument="repeats", needed="must be a whole number from 1, 'auto' or None", given=got(repeats)
            )
    if plan.kind not in ("kfold", "holdout"):
        raise InputError(
            argument="repeats",
            needed="needs a plan that can draw another partition",
            given=f"this one is {plan}",
            remedy="Use `Plan(folds=10)`, or leave `repeats` out.",
        )
    if repeats != AUTO:
        return replace(plan, repeats=int(repeats)), None, None
    most = check_count(_MAX_REPEATS if most is None else most, "max_repeats", 1)
    return replace(plan, repeats=1), stability.as_stop(stop), most


def _check_blocks(raw: Options, plan: Plan) -> None:
    if plan.kind == "three_way" and raw.fresh is None:
        raise InputError(
            needed="a three-way plan needs the metric that selects on the validation part",
            given="give `fresh='accuracy'`, for example",
            remedy="Without a test part use `Plan.holdout`.",
        )
    if not (raw.resub is None or isinstance(raw.resub, (bool, np.bool_))):
        raise InputError(
            argument="resub", needed="must be True, False or None (for bootstrap plans only)", given=got(raw.resub)
        )


def _check_open_end(raw: Options, rule: drop.DropRule | None) -> None:
    """Refuse what must know the number of repeats beforehand."""
    if raw.inner or raw.fresh is not None:
        raise InputError(
            argument="inner" if raw.inner else "fresh",
            needed="needs to know the number of repeats",
            given="give `repeats=10`, for example, not 'auto'",
        )
    if isinstance(rule, drop.Sequential) and rule.steps is None:
        raise InputError(
            argument="Sequential",
            needed="needs to know the number of folds beforehand, which `repeats='auto'` leaves open",
            given="give `Sequential(steps=...)`",
        )


def _check_store(raw: Options) -> None:
    if raw.store is not None and not isinstance(raw.store, (str, os.PathLike)):
        needed = "must be the name of a file such as 'run.oof', or None"
        raise InputError(argument="store", needed=needed, given=got(raw.store))
    if raw.on_error not in ("keep", "raise"):
        raise InputError(argument="on_error", needed="must be 'keep' or 'raise'", given=got(raw.on_error))


def _check_fits(raw: Options) -> None:
    if raw.timeout is not None and not (_is_number(raw.timeout, Real) and 0 < raw.timeout < np.inf):
        needed = "must be a number of seconds above 0, or None for no limit"
        raise InputError(argument="timeout", needed=needed, given=got(raw.timeout))
    if not (_is_number(raw.threads, Integral) and raw.threads >= 1):
        raise InputError(argument="threads", needed="must be a whole number from 1", given=got(raw.threads))
    if raw.task is not None and raw.task not in get_args(Kind):
        needed = f"must be {', '.join(map(repr, get_args(Kind)))} or None"
        raise InputError(argument="task", needed=needed, given=got(raw.task))
    if raw.share is not False and raw.share not in ("exact", "close"):
        raise InputError(argument="share", needed="must be 'exact', 'close' or False", given=got(raw.share))
    if not isinstance(raw.share_check, bool):
        raise InputError(argument="share_check", needed="must be True or False", given=got(raw.share_check))


def _as_seed(rng: Any) -> int:
    if rng is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if not _is_number(rng, (int, np.integer)) or rng < 0:
        raise InputError(
            argument="rng",
            needed="must be a whole number from 0, or None to draw one",
            given=got(rng),
            remedy="A number lets a store resume.",
        )
    return int(rng)


def _as_groups(groups: Any) -> Any:
    if groups is None:
        return None
    out = np.array(groups)
    refuse_missing_groups(out)
    return out


def _as_fit_params(fit_params: Any) -> dict[str, Any]:
    if fit_params is None:
        return {}
    if not isinstance(fit_params, Mapping):
        given = f"got {type(fit_params).__name__}"
        raise InputError(argument="fit_params", needed="must be a dict of arguments of fit", given=given)
    refuse_masked(**{str(name): value for name, value in fit_params.items()})
    return dict(fit_params)


def _is_number(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
