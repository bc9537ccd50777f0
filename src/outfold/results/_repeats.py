"""How scores move from repeat to repeat and from plan to plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..formatting import make_frame


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """Scores of the configurations as repeats are added.

    Attributes
    ----------
    configs
        The configurations, in the user's order.
    scores
        (R, C) score of every repeat.
    mean, median, sd, skew
        (R, C) of the repeats up to and including this one; sd and skew are NaN where they are undefined.
    rank
        (R, C) rank by the running mean, 1 for the best, ties shared.
    leaders
        The configuration with the best running mean after every repeat.
    """

    metric: str
    configs: tuple[str, ...]
    scores: NDArray[np.float64]
    mean: NDArray[np.float64]
    median: NDArray[np.float64]
    sd: NDArray[np.float64]
    skew: NDArray[np.float64]
    rank: NDArray[np.float64]
    leaders: tuple[str, ...]

    @property
    def n_repeats(self) -> int:
        """Number of repeats."""
        return len(self.scores)

    @property
    def leads(self) -> tuple[tuple[str, int, int], ...]:
        """Who held the lead when: (configuration, first repeat, last repeat), counted from 0."""
        out: list[tuple[str, int, int]] = []
        for r, name in enumerate(self.leaders):
            if out and out[-1][0] == name:
                out[-1] = (name, out[-1][1], r)
            else:
                out.append((name, r, r))
        return tuple(out)

    def __repr__(self) -> str:
        return (
            f"<Stability of {formatting.count(len(self.configs), 'configuration')} by {self.metric} over "
            f"{formatting.count(self.n_repeats, 'repeat')}>"
        )

    def __str__(self) -> str:
        shown = 20
        lines = [formatting.table(self._header(), self._rows(shown), left=(1,))]
        if len(self.configs) > shown:
            lines.append(f"… and {len(self.configs) - shown:,} more")
        held = ", ".join(f"{name} (from repeat {first + 1})" for name, first, _ in self.leads[-3:])
        lines.append(f"lead after {formatting.count(self.n_repeats, 'repeat')}, latest changes: {held}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return formatting.table_html(self._header(), self._rows(len(self.configs)))

    def _header(self) -> list[str]:
        return ["rank", "configuration", f"mean {self.metric}", "median", "sd", "skew"]

    def _rows(self, shown: int) -> list[list[str]]:
        order = np.argsort(self.rank[-1], kind="stable")[:shown]
        columns = (self.mean[-1], self.median[-1], self.sd[-1], self.skew[-1])
        return [
            [f"{self.rank[-1, j]:g}", self.configs[j]]
            + [formatting.number(float(c[j])) if np.isfinite(c[j]) else "-" for c in columns]
            for j in order
        ]

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form: the last state of every configuration, and who held the lead when."""
        last = {"score": self.mean, "median": self.median, "sd": self.sd, "skew": self.skew, "rank": self.rank}
        return {
            "metric": self.metric,
            "repeats": self.n_repeats,
            "configurations": [
                {"config": name} | {k: float(v[-1, j]) if np.isfinite(v[-1, j]) else None for k, v in last.items()}
                for j, name in enumerate(self.configs)
            ],
            "leads": [{"config": name, "first": first, "last": last_one} for name, first, last_one in self.leads],
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """Long table with a row for every repeat and configuration."""
        r, c = self.scores.shape
        columns: dict[str, Any] = {
            "repeat": np.repeat(np.arange(r), c).tolist(),
            "config": list(self.configs) * r,
            self.metric: self.scores.ravel().tolist(),
        }
        for name in ("mean", "median", "sd", "skew", "rank"):
            # A metric may be called like a column.
            columns[f"running_{name}" if name != "rank" else name] = getattr(self, name).ravel().tolist()
        return make_frame(columns, backend)


@dataclass(frozen=True, eq=False, repr=False)
class PlanComparison:
    """The usual estimates of several plans beside the steady state of many repeats.

    Attributes
    ----------
    plans
        The canonical estimates, such as ``1x10``.
    configs
        The configurations, in the user's order.
    steady
        (plans, C) mean score over all repeats.
    sd, low, high
        (plans, C) spread and range of the canonical estimate.
    agreement
        (plans,) how often a canonical estimate picks the configuration that leads in the steady state.
    """

    metric: str
    plans: tuple[str, ...]
    configs: tuple[str, ...]
    steady: NDArray[np.float64]
    sd: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    agreement: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"<PlanComparison of {', '.join(self.plans)} by {self.metric}>"

    def __str__(self) -> str:
        rows = [[*map(str, row[:2]), *map(formatting.number, row[2:])] for row in self._rows()]
        agreed = ", ".join(f"{plan} {share:.0%}" for plan, share in zip(self.plans, self.agreement, strict=True))
        header = ["plan", "configuration", f"steady {self.metric}", "sd of one estimate", "lowest", "highest"]
        return f"{formatting.table(header, rows, left=(0, 1))}\none estimate picks the steady winner: {agreed}"

    def _repr_html_(self) -> str:
        rows = [[*map(str, row[:2]), *map(formatting.number, row[2:])] for row in self._rows()]
        return formatting.table_html(
            ["plan", "configuration", f"steady {self.metric}", "sd", "lowest", "highest"], rows
        )

    def _rows(self) -> Iterable[tuple[Any, ...]]:
        for i, plan in enumerate(self.plans):
            for j, name in enumerate(self.configs):
                numbers = (self.steady[i, j], self.sd[i, j], self.low[i, j], self.high[i, j])
                yield plan, name, *map(float, numbers)

    def to_frame(self, backend: str | None = None) -> Any:
        """Table with a row for every plan and configuration."""
        names = ("plan", "config", "steady", "sd", "low", "high")
        columns = zip(*self._rows(), strict=True)
        return make_frame({name: list(column) for name, column in zip(names, columns, strict=True)}, backend)
