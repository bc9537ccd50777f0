"""Configurations by score: the choice of a rule, what cannot be told from it, and how repeats and plans move it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..formatting import make_frame


@dataclass(frozen=True)
class Selection:
    """The configuration a rule picks.

    Attributes
    ----------
    name : str
        The configuration.
    index : int
        Its position among all configurations of the predictions.
    score : float
        Its cross-validation score: optimistic, because the configuration was picked for it.
    metric : str
        Name of the metric.
    rule : str
        The rule, in words.
    tied : int
        How many configurations have the same best score.
    n_candidates : int
        How many configurations the rule could pick.
    params : dict
        The parameters that tell the configuration from the others.
    """

    name: str
    index: int
    score: float
    metric: str
    rule: str
    tied: int
    n_candidates: int
    params: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        tie = f", {self.tied} tied for first" if self.tied > 1 else ""
        return (
            f"{self.name}   {self.metric} {formatting.number(self.score)} (cross-validation score, optimistic)\n"
            f"  rule   {self.rule} of {formatting.count(self.n_candidates, 'configuration')}{tie}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form."""
        names = ("name", "index", "score", "metric", "rule", "tied", "n_candidates")
        return {k: getattr(self, k) for k in names} | {"params": dict(self.params)}


@dataclass(frozen=True, eq=False, repr=False)
class TiedSet:
    """Configurations that cannot be told from the best one, by score.

    Attributes
    ----------
    metric : str
        Name of the metric.
    confidence_level : float
        The set holds the truly best configuration with this probability or more.
    configs : tuple of str
        The members, best first.
    scores : ndarray
        Their cross-validation scores.
    pvalues : ndarray
        p values of "this configuration is the best".
    n_candidates : int
        How many configurations were compared.
    """

    metric: str
    confidence_level: float
    configs: tuple[str, ...]
    scores: NDArray[np.float64]
    pvalues: NDArray[np.float64]
    n_candidates: int

    def __len__(self) -> int:
        return len(self.configs)

    def __contains__(self, config: object) -> bool:
        return config in self.configs

    def __repr__(self) -> str:
        return f"<TiedSet of {len(self)} among {formatting.count(self.n_candidates, 'configuration')} by {self.metric}>"

    def __str__(self) -> str:
        shown = 20
        title = (
            f"{len(self):,} of {formatting.count(self.n_candidates, 'configuration')} cannot be told from the best "
            f"({100 * self.confidence_level:g}% confidence set)"
        )
        more = [f"… and {len(self) - shown:,} more"] if len(self) > shown else []
        return "\n".join([title, formatting.table(self._header(), self._rows()[:shown]), *more])

    def _repr_html_(self) -> str:
        return formatting.table_html(self._header(), self._rows())

    def _header(self) -> list[str]:
        return ["configuration", self.metric, "p"]

    def _rows(self) -> list[list[str]]:
        members = zip(self.configs, self.scores, self.pvalues, strict=True)
        return [[name, formatting.number(score), formatting.number(p)] for name, score, p in members]

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form."""
        members = zip(self.configs, self.scores, self.pvalues, strict=True)
        return {
            "metric": self.metric,
            "confidence_level": self.confidence_level,
            "n_candidates": self.n_candidates,
            "configurations": [{"config": c, "score": float(s), "pvalue": float(p)} for c, s, p in members],
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """Table with configuration, score and p value."""
        columns = {"config": list(self.configs), self.metric: list(self.scores), "pvalue": list(self.pvalues)}
        return make_frame(columns, backend)


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard:
    """Configurations by cross-validation score, best first; the first score is optimistic.

    Attributes
    ----------
    metric : str
        Name of the metric.
    configs : tuple of str
        The configurations, best first.
    scores : ndarray
        Their cross-validation scores.
    se : ndarray
        Standard errors over folds; NaN for fewer than two folds.
    left_out : dict
        Configurations without a score, and why: dropped, failed or pending.
    """

    metric: str
    configs: tuple[str, ...]
    scores: NDArray[np.float64]
    se: NDArray[np.float64]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.configs)

    def __repr__(self) -> str:
        return f"<Leaderboard of {formatting.count(len(self), 'configuration')} by {self.metric}>"

    def __str__(self) -> str:
        shown = 20
        lines = [formatting.table(self._header(), self._rows(shown), left=(1,))]
        if len(self) > shown:
            lines.append(f"… and {len(self) - shown:,} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return formatting.table_html(self._header(), self._rows(len(self)))

    def _header(self) -> list[str]:
        return ["rank", "configuration", self.metric, "se"]

    def _rows(self, shown: int) -> list[list[str]]:
        rows = [
            [str(i + 1), name, formatting.number(s), formatting.number(e) if np.isfinite(e) else "-"]
            for i, (name, s, e) in enumerate(zip(self.configs, self.scores, self.se, strict=True))
        ][:shown]
        return rows + [["-", name, why, "-"] for name, why in list(self.left_out.items())[:shown]]

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form; a configuration that was left out has no score."""
        ranked = [
            {"config": name, "score": float(s), "se": float(e), "status": "done"}
            for name, s, e in zip(self.configs, self.scores, self.se, strict=True)
        ]
        others = [{"config": name, "score": None, "se": None, "status": why} for name, why in self.left_out.items()]
        return {"metric": self.metric, "configurations": ranked + others}

    def to_frame(self, backend: str | None = None) -> Any:
        """Table with configuration, score, se and status."""
        nothing = [np.nan] * len(self.left_out)
        columns = {
            "config": [*self.configs, *self.left_out],
            self.metric: [*map(float, self.scores), *nothing],
            "se": [*map(float, self.se), *nothing],
            "status": ["done"] * len(self) + list(self.left_out.values()),
        }
        return make_frame(columns, backend)


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """Scores of the configurations as repeats are added.

    Attributes
    ----------
    metric : str
        Name of the metric.
    configs : tuple of str
        The configurations, in the user's order.
    scores : ndarray of shape (R, C)
        The score of each repeat.
    mean, median, sd, skew : ndarray of shape (R, C)
        Of the repeats up to and including this one; sd and skew are NaN where they are undefined.
    rank : ndarray of shape (R, C)
        Rank by the running mean, 1 for the best, ties shared.
    leaders : tuple of str
        The configuration with the best running mean after each repeat.
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
    metric : str
        Name of the metric.
    plans : tuple of str
        The canonical estimates, such as ``1x10``.
    configs : tuple of str
        The configurations, in the user's order.
    steady : ndarray of shape (plans, C)
        Mean score over all repeats.
    sd, low, high : ndarray of shape (plans, C)
        Spread and range of the canonical estimate.
    agreement : ndarray of shape (plans,)
        How often a canonical estimate picks the configuration that leads in the steady state.
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
