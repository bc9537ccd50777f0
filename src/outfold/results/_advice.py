"""What can be said before any data are seen: advice, how optimistic a winner's score would be, simulated predictions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.plan import Plan
from ..data.predictions import Predictions

if TYPE_CHECKING:
    from ..drop import DropRule

Goal = Literal["estimate", "select", "compare"]
Task = Literal["binary", "multiclass", "regression", "survival"]


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Predictions of simulated configurations, and how good these really are.

    Attributes
    ----------
    oof : Predictions
        Per-sample scores: 1 where a configuration is right, else 0.
    truth : ndarray of shape (C,)
        The true accuracies.
    """

    oof: Predictions
    truth: NDArray[np.float64]

    def __repr__(self) -> str:
        shape = f"{formatting.count(self.oof.n_configs, 'configuration')} on {formatting.count(self.oof.n_samples, 'sample')}"
        return f"<Simulation of {shape}, true accuracies {self.truth.min():.3g} to {self.truth.max():.3g}>"


@dataclass(frozen=True)
class Optimism:
    """By how much the winner's accuracy is expected to be too high.

    Attributes
    ----------
    value : float
        The winner's cross-validation accuracy minus its true one, on average; also ``float(result)``.
    se : float
        Standard error of `value`; 0 where it was computed and not simulated.
    own : float
        The winner's cross-validation accuracy, on average.
    truth : float
        Its true accuracy, on average.
    n_samples : int
        Number of samples.
    n_configs : int
        Number of configurations.
    method : {"exact", "simulation"}
        How `value` was found.
    """

    value: float
    se: float
    own: float
    truth: float
    n_samples: int
    n_configs: int
    method: Literal["exact", "simulation"]

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        spread = f" ± {self.se:.2g}" if self.method == "simulation" else ""
        return (
            f"expected optimism of the winner   {formatting.number(self.value, sign=True)}{spread}\n"
            f"  measured accuracy   {formatting.number(self.own)}\n"
            f"  true accuracy       {formatting.number(self.truth)}\n"
            f"  setting             {formatting.count(self.n_configs, 'configuration')}, "
            f"{formatting.count(self.n_samples, 'sample')}, {self.method}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form."""
        return {k: getattr(self, k) for k in ("value", "se", "own", "truth", "n_samples", "n_configs", "method")}


@dataclass(frozen=True)
class Advice:
    """What to do, and why.

    Attributes
    ----------
    goal : {"estimate", "select", "compare"}
        What was asked for.
    task : {"binary", "multiclass", "regression", "survival"}
        What is predicted.
    n_samples : int
        How many samples there are.
    n_configs : int
        How many configurations there are.
    plan : Plan
        How to hold samples out: ``collect(configs, X, y, advice.plan, drop=advice.drop)``.
    drop : DropRule or None
        Which configurations to drop early.
    method : str or None
        The estimate to report, a name of `outfold.estimate`; None where the goal is to compare.
    test : str or None
        The test of a difference, a name of `outfold.compare`; None where the goal is another.
    reasons : tuple of str
        Sentences, each with its source in brackets; ``[ours]`` marks what no paper says.
    fits : int
        Fits that `collect` does, at most: dropping saves some.
    expected_optimism : Optimism or None
        By how much the winner's cross-validation accuracy would be too high if configurations were independent
        (`simulate.optimism`); None where there is nothing to choose, or no accuracy.
    expected_seconds : float or None
        How long the fits take when all workers are busy all the time; None where the cost of one is not known.
    """

    goal: Goal
    task: Task
    n_samples: int
    n_configs: int
    plan: Plan
    drop: DropRule | None
    method: str | None
    test: str | None
    reasons: tuple[str, ...]
    fits: int
    expected_optimism: Optimism | None = None
    expected_seconds: float | None = None

    def __str__(self) -> str:
        setting = f"{formatting.count(self.n_samples, 'sample')}, {formatting.count(self.n_configs, 'configuration')}"
        title = f"To {self.goal} with {setting} ({self.task})"
        return "\n".join(
            [formatting.facts(title, self._facts()), "because", *(f"  - {reason}" for reason in self.reasons)]
        )

    def _repr_html_(self) -> str:
        rows = [*self._facts(), *(("because", reason) for reason in self.reasons)]
        return formatting.facts_html(f"To {self.goal}", rows)

    def _facts(self) -> Iterable[tuple[str, str]]:
        yield "plan", str(self.plan)
        if self.drop is not None:
            yield "drop", repr(self.drop)
        if self.method is not None:
            yield "estimate", f"estimate.{self.method}"
        if self.test is not None:
            yield "test", f"compare.{self.test}"
        yield "fits", f"{self.fits:,}" + (" at most" if self.drop is not None else "")
        if self.expected_seconds is not None:
            yield "time", formatting.seconds(self.expected_seconds)
        if self.expected_optimism is not None:
            value = formatting.number(self.expected_optimism.value, sign=True)
            yield "optimism", f"{value} in the winner's accuracy, if configurations were independent"

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form."""
        names = ("goal", "task", "n_samples", "n_configs", "method", "test", "fits", "expected_seconds")
        return {k: getattr(self, k) for k in names} | {
            "plan": self.plan.to_dict(),
            "drop": None if self.drop is None else repr(self.drop),
            "expected_optimism": None if self.expected_optimism is None else self.expected_optimism.to_dict(),
            "reasons": list(self.reasons),
        }
