"""Configurations by score: the choice of a rule, what cannot be told from it, and how repeats and plans move it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..docstrings import document_result
from ..formatting import json_ready
from ._base import Facts, FrameResult, Result, Table, TableResult, dash


@document_result
@dataclass(frozen=True)
class Selection(Result):
    """The configuration a rule picks.

    Attributes
    ----------
    name : str
        The configuration.
    index : int
        Its position among all configurations of the predictions.
    score : float
        Its cross-validation score: optimistic, because the configuration was picked for it.
    {metric_name}
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

    in_dict = "name index score metric rule tied n_candidates params"

    def _title(self) -> str:
        return f"{self.name}   {self.metric} {formatting.number(self.score)} (cross-validation score, optimistic)"

    def _facts(self) -> Facts:
        tie = f", {self.tied} tied for first" if self.tied > 1 else ""
        yield "rule", f"{self.rule} of {formatting.count(self.n_candidates, 'configuration')}{tie}"


@document_result
@dataclass(frozen=True, eq=False, repr=False)
class TiedSet(TableResult, FrameResult):
    """Configurations that cannot be told from the best one, by score.

    Attributes
    ----------
    {metric_name}
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

    def _title(self) -> str:
        rest = f"cannot be told from the best ({100 * self.confidence_level:g}% confidence set)"
        return f"{len(self):,} of {formatting.count(self.n_candidates, 'configuration')} {rest}"

    def _n_rows(self) -> int:
        return len(self)

    def _members(self) -> list[tuple[str, float, float]]:
        return list(zip(self.configs, self.scores.tolist(), self.pvalues.tolist(), strict=True))

    def _table(self, shown: int | None = None) -> Table:
        rows = [[name, formatting.number(score), formatting.number(p)] for name, score, p in self._members()[:shown]]
        return ["configuration", self.metric, "p"], rows

    in_dict = "metric confidence_level n_candidates"

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form."""
        members = [{"config": name, "score": score, "pvalue": p} for name, score, p in self._members()]
        return super().to_dict() | {"configurations": members}

    def _columns(self) -> dict[str, Any]:
        return {"config": list(self.configs), self.metric: list(self.scores), "pvalue": list(self.pvalues)}


@document_result
@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(TableResult, FrameResult):
    """Configurations by cross-validation score, best first; the first score is optimistic.

    Attributes
    ----------
    {metric_name}
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

    left = (1,)

    def _n_rows(self) -> int:
        return len(self)

    def _table(self, shown: int | None = None) -> Table:
        done = zip(self.configs, self.scores, self.se, strict=True)
        rows = [[f"{i}", name, formatting.number(s), dash(e)] for i, (name, s, e) in enumerate(done, start=1)][:shown]
        left_out = [["-", name, why, "-"] for name, why in self.left_out.items()][:shown]
        return ["rank", "configuration", self.metric, "se"], rows + left_out

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form; a configuration that was left out has no score."""
        ranked = [
            {"config": name, "score": float(s), "se": float(e), "status": "done"}
            for name, s, e in zip(self.configs, self.scores, self.se, strict=True)
        ]
        others = [{"config": name, "score": None, "se": None, "status": why} for name, why in self.left_out.items()]
        return {"metric": self.metric, "configurations": ranked + others}

    def _columns(self) -> dict[str, Any]:
        nothing = [np.nan] * len(self.left_out)
        return {
            "config": [*self.configs, *self.left_out],
            self.metric: [*map(float, self.scores), *nothing],
            "se": [*map(float, self.se), *nothing],
            "status": ["done"] * len(self) + list(self.left_out.values()),
        }


@document_result
@dataclass(frozen=True, eq=False, repr=False)
class Stability(TableResult, FrameResult):
    """Scores of the configurations as repeats are added.

    Attributes
    ----------
    {metric_name}
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
        configs, repeats = (
            formatting.count(len(self.configs), "configuration"),
            formatting.count(self.n_repeats, "repeat"),
        )
        return f"<Stability of {configs} by {self.metric} over {repeats}>"

    left = (1,)

    def _n_rows(self) -> int:
        return len(self.configs)

    def _table(self, shown: int | None = None) -> Table:
        columns = (self.mean[-1], self.median[-1], self.sd[-1], self.skew[-1])
        order = np.argsort(self.rank[-1], kind="stable")[:shown]
        rows = [[f"{self.rank[-1, j]:g}", self.configs[j], *(dash(float(c[j])) for c in columns)] for j in order]
        return ["rank", "configuration", f"mean {self.metric}", "median", "sd", "skew"], rows

    def _lines(self) -> Iterable[str]:
        held = ", ".join(f"{name} (from repeat {first + 1})" for name, first, _ in self.leads[-3:])
        yield f"lead after {formatting.count(self.n_repeats, 'repeat')}, latest changes: {held}"

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form: the last state of every configuration, and who held the lead when."""
        last = {"score": self.mean, "median": self.median, "sd": self.sd, "skew": self.skew, "rank": self.rank}
        states = [
            {"config": name} | {k: json_ready(v[-1, j]) for k, v in last.items()} for j, name in enumerate(self.configs)
        ]
        leads = [{"config": name, "first": first, "last": final} for name, first, final in self.leads]
        return {"metric": self.metric, "repeats": self.n_repeats, "configurations": states, "leads": leads}

    def _columns(self) -> dict[str, Any]:
        r, c = self.scores.shape
        columns: dict[str, Any] = {
            "repeat": np.repeat(np.arange(r), c).tolist(),
            "config": list(self.configs) * r,
            self.metric: self.scores.ravel().tolist(),
        }
        # A metric may be called like a column.
        running = {f"running_{name}": getattr(self, name) for name in ("mean", "median", "sd", "skew")}
        return columns | {name: values.ravel().tolist() for name, values in (running | {"rank": self.rank}).items()}


@document_result
@dataclass(frozen=True, eq=False, repr=False)
class PlanComparison(TableResult, FrameResult):
    """The usual estimates of several plans beside the steady state of many repeats.

    Attributes
    ----------
    {metric_name}
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

    left = (0, 1)

    def _rows(self) -> list[tuple[Any, ...]]:
        cells = [(i, j) for i in range(len(self.plans)) for j in range(len(self.configs))]
        numbers = (self.steady, self.sd, self.low, self.high)
        return [(self.plans[i], self.configs[j], *(float(column[i, j]) for column in numbers)) for i, j in cells]

    def _table(self, shown: int | None = None) -> Table:
        header = ["plan", "configuration", f"steady {self.metric}", "sd of one estimate", "lowest", "highest"]
        return header, [[*row[:2], *map(formatting.number, row[2:])] for row in self._rows()]

    def _lines(self) -> Iterable[str]:
        agreed = ", ".join(f"{plan} {share:.0%}" for plan, share in zip(self.plans, self.agreement, strict=True))
        yield f"one estimate picks the steady winner: {agreed}"

    in_dict = "metric plans configs steady sd low high agreement"

    def _columns(self) -> dict[str, Any]:
        names = ("plan", "config", "steady", "sd", "low", "high")
        return {name: list(column) for name, column in zip(names, zip(*self._rows(), strict=True), strict=True)}
