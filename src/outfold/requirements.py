"""What a method needs, declared once: the declaration checks, words the error, and fills the docs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from .data.predictions import Predictions
from .exceptions import InputError, NeedError

A = ParamSpec("A")
T = TypeVar("T")

_BLOCK_HINT = {
    "inner": "Collect with `inner=True`.",
    "fresh": "Collect with fresh=<metric>, the metric that selects.",
    "inbag": "Collect with Plan.bootstrap(200).",
    "resub": "Collect with resub=True.",
}

# What the designs are called, and the plan that gives each.
_DESIGNS = {
    "bootstrap": ("bootstrap rounds", "Plan.bootstrap(200)"),
    "holdout": ("one hold-out", "Plan.holdout()"),
    "repeated_holdout": ("repeated hold-outs", "Plan.repeated_holdout(50)"),
    "loo": ("leave-one-out", "Plan.leave_one_out()"),
    "three_way": ("a three-way hold-out", "Plan.three_way()"),
}


@dataclass(frozen=True)
class Needs:
    """Preconditions of a method on the predictions it is given.

    Attributes
    ----------
    min_folds
        Folds a repeat must have.
    design
        How samples must have been held out, where only one way will do.
    blocks
        Blocks that must have been collected.
    instead
        The method to use where the need is not met.
    """

    min_folds: int = 1
    blocks: tuple[str, ...] = ()
    instead: str = ""
    design: str | None = None

    def check(self, oof: Any, method: str) -> None:
        """Raise an error that says what is needed, what was given and what to do."""
        if not isinstance(oof, Predictions):
            raise InputError(
                f"{method} needs Predictions, as collect, from_arrays or load give; got {type(oof).__name__}."
            )
        if oof.n_folds < self.min_folds:
            raise NeedError(
                f"{method} needs at least {self.min_folds} folds; these predictions are {oof.plan}. "
                f"Collect with Plan(folds=10), give folds=, or use {self.instead}."
            )
        if self.design is not None and self.design != _design_of(oof):
            what, plan = _DESIGNS[self.design]
            raise NeedError(
                f"{method} needs {what}; these predictions are {oof.plan}. Collect with {plan}, or use {self.instead}."
            )
        for block in self.blocks:
            if block not in oof.blocks:
                raise NeedError(
                    f"{method} needs the block {block!r}; these predictions have none. {_BLOCK_HINT[block]}"
                )

    def __str__(self) -> str:
        words = [f"{self.min_folds} folds or more"] if self.min_folds > 1 else []
        words += [] if self.design is None else [_DESIGNS[self.design][0]]
        words += [f"the block `{b}`" for b in self.blocks]
        return ", ".join(words) or "any predictions"


def _design_of(oof: Predictions) -> str:
    """How samples were held out, found from the splits where the plan was made elsewhere."""
    if oof.plan.kind in ("bootstrap", "three_way"):
        return oof.plan.kind
    if oof.n_folds == 1:
        return "holdout" if oof.n_repeats == 1 else "repeated_holdout"
    one_by_one = oof.n_repeats == 1 and np.all(np.bincount(oof.folds[oof.folds >= 0]) == 1)
    return "loo" if oof.plan.kind == "loo" or one_by_one else oof.plan.kind


def needs(
    *, min_folds: int = 1, blocks: tuple[str, ...] = (), instead: str = "bbc", design: str | None = None
) -> Callable[[Callable[Concatenate[Predictions, A], T]], Callable[Concatenate[Predictions, A], T]]:
    """Declare the preconditions of a public method whose first argument is the predictions."""
    need = Needs(min_folds, blocks, instead, design)

    def decorate(method: Callable[Concatenate[Predictions, A], T]) -> Callable[Concatenate[Predictions, A], T]:
        @wraps(method)
        def checked(oof: Predictions, *args: A.args, **kwargs: A.kwargs) -> T:
            need.check(oof, method.__name__)
            return method(oof, *args, **kwargs)

        checked.needs = need  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]  # the first argument may also go by name

    return decorate
