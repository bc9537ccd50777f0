"""What simulation says: predictions whose truth is known, and how flattering a winner would be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.predictions import Predictions


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Predictions of simulated configurations, and how good these really are.

    Attributes
    ----------
    oof
        Per-sample scores: 1 where a configuration is right, else 0.
    truth
        (C,) the true accuracies.
    """

    oof: Predictions
    truth: NDArray[np.float64]

    def __repr__(self) -> str:
        shape = f"{formatting.count(self.oof.n_configs, 'configuration')} on {formatting.count(self.oof.n_samples, 'sample')}"
        return f"<Simulation of {shape}, true accuracies {self.truth.min():.3g} to {self.truth.max():.3g}>"


@dataclass(frozen=True)
class Optimism:
    """How flattering the winner's own accuracy is to be expected.

    Attributes
    ----------
    value
        The winner's own accuracy minus its true one, on average; also ``float(result)``.
    se
        Standard error of `value`; 0 where it was computed and not simulated.
    own, truth
        The two accuracies, on average.
    method
        ``"exact"`` or ``"simulation"``.
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
            f"  its own accuracy    {formatting.number(self.own)}\n"
            f"  its true accuracy   {formatting.number(self.truth)}\n"
            f"  setting             {formatting.count(self.n_configs, 'configuration')}, "
            f"{formatting.count(self.n_samples, 'sample')}, {self.method}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form."""
        return {k: getattr(self, k) for k in ("value", "se", "own", "truth", "n_samples", "n_configs", "method")}
