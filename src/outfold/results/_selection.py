"""What was picked: the choice of a rule, the table it was made from, and what cannot be told from it."""

from __future__ import annotations

from collections.abc import Mapping
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
    name, index
        The configuration and its position among all of the predictions.
    score
        Its own cross-validation score: optimistic, because it was picked for it.
    tied
        How many configurations have the same best score.
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
            f"{self.name}   {self.metric} {formatting.number(self.score)} (its own CV score, optimistic)\n"
            f"  rule   {self.rule} over {formatting.count(self.n_candidates, 'configuration')}{tie}"
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
    configs, scores
        The members, best first, and their own cross-validation scores.
    pvalues
        p values of "this configuration is the best".
    level
        The set holds the truly best configuration with this probability or more.
    n_candidates
        How many configurations were compared.
    """

    metric: str
    level: float
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
            f"({100 * self.level:g}% confidence set)"
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
            "level": self.level,
            "n_candidates": self.n_candidates,
            "configurations": [{"config": c, "score": float(s), "pvalue": float(p)} for c, s, p in members],
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """Table with configuration, score and p value."""
        columns = {"config": list(self.configs), self.metric: list(self.scores), "pvalue": list(self.pvalues)}
        return make_frame(columns, backend)


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard:
    """Configurations by their own cross-validation score, best first; the first one's is optimistic.

    Attributes
    ----------
    configs, scores, se
        Names, scores, and standard errors over folds (NaN for fewer than two folds).
    left_out
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
