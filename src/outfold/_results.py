"""Results: small, immutable, printed without computing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _render
from ._frames import make_frame
from ._kernels import intervals
from ._notes import Note
from .exceptions import InputError


class Interval(NamedTuple):
    """The two ends of a confidence interval."""

    low: float
    high: float


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
            f"{self.name}   {self.metric} {_render.number(self.score)} (its own CV score, optimistic)\n"
            f"  rule   {self.rule} over {_render.count(self.n_candidates, 'configuration')}{tie}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form."""
        names = ("name", "index", "score", "metric", "rule", "tied", "n_candidates")
        return {k: getattr(self, k) for k in names} | {"params": dict(self.params)}


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """The performance of the selected configuration on new samples.

    Attributes
    ----------
    value
        The estimate.
    interval
        Its confidence interval, or None where the method gives none.
    confidence_level
        Level of the interval.
    naive
        The winner's own cross-validation score.
    selected
        The configuration that was selected.
    method
        Short name of the method, such as ``"bbc"``.
    metric
        Name of the metric.
    notes
        Caveats, each with the code of its check.
    draws
        What the interval comes from, so that another level costs nothing; None where there is none.
    chosen
        The configuration selected in every draw, or in every outer fold; None where there is one choice only.
    """

    value: float
    interval: Interval | None
    confidence_level: float
    naive: float
    selected: str
    method: str
    metric: str
    greater_is_better: bool
    n_samples: int
    n_configs: int
    plan: str
    rule: str
    fingerprint: str
    description: str
    reference: str
    notes: tuple[Note, ...] = ()
    draws: NDArray[np.float64] | None = None
    chosen: NDArray[Any] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def optimism(self) -> float:
        """How much the winner's own score flatters: positive means it looks better than it is."""
        return (self.naive - self.value) if self.greater_is_better else (self.value - self.naive)

    def confidence_interval(
        self, level: float | None = None, method: Literal["percentile", "order"] = "percentile"
    ) -> Interval:
        """The interval at another level, or by order statistics as printed in the paper; nothing is drawn again."""
        if self.draws is None:
            raise InputError(f"{self.method} gives no interval; use bbc.")
        level = self.confidence_level if level is None else level
        if not 0 < level < 1:
            raise InputError(f"the level must lie between 0 and 1, such as 0.95; got {level!r}.")
        if method == "percentile":
            return Interval(*intervals.percentile(self.draws, level))
        if method == "order":
            return Interval(*intervals.order_statistics(self.draws, level, self.greater_is_better))
        raise InputError(f"method must be 'percentile' or 'order'; got {method!r}.")

    def __repr__(self) -> str:
        ci = "" if self.interval is None else " " + _render.interval(*self.interval, self.confidence_level)
        return f"<Estimate {self.method} {self.metric} {_render.number(self.value)}{ci}>"

    def __str__(self) -> str:
        first = f"{self.metric} of the selected configuration"
        own = "  winner's own CV score"
        ci = "" if self.interval is None else "   " + _render.interval(*self.interval, self.confidence_level)
        width = max(len(first), len(own))
        lines = [
            f"{first:<{width}}   {_render.number(self.value)}{ci}",
            f"{own:<{width}}   {_render.number(self.naive)}   optimism {_render.number(self.optimism, sign=True)}",
        ]
        lines += [f"  {key:<10} {text}" for key, text in self._facts()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        ci = "" if self.interval is None else "   " + _render.interval(*self.interval, self.confidence_level)
        rows = [
            ("winner's own CV score", _render.number(self.naive)),
            ("optimism", _render.number(self.optimism, sign=True)),
            *self._facts(),
        ]
        return _render.facts_html(
            f"{self.metric} of the selected configuration: {_render.number(self.value)}{ci}", rows
        )

    def _facts(self) -> Iterable[tuple[str, str]]:
        yield "selected", f"{self.selected}, {self.rule} over {_render.count(self.n_configs, 'configuration')}"
        yield "method", f"{self.description} [{self.reference}]"
        yield "data", f"{_render.count(self.n_samples, 'sample')}, {self.plan}"
        for note in self.notes:
            yield note.code, note.text

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form, without the draws."""
        return {
            "metric": self.metric,
            "value": self.value,
            "interval": None if self.interval is None else list(self.interval),
            "confidence_level": self.confidence_level,
            "naive": self.naive,
            "optimism": self.optimism,
            "selected": self.selected,
            "method": self.method,
            "rule": self.rule,
            "n_samples": self.n_samples,
            "n_configs": self.n_configs,
            "plan": self.plan,
            "fingerprint": self.fingerprint,
            "description": self.description,
            "reference": self.reference,
            "notes": [{"code": n.code, "text": n.text} for n in self.notes],
            "details": dict(self.details),
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """One row with the numbers of the estimate."""
        low, high = self.interval or (np.nan, np.nan)
        row = {k: v for k, v in self.to_dict().items() if k not in ("interval", "notes", "details")}
        row |= {"low": low, "high": high, "notes": " ".join(n.code for n in self.notes)}
        return make_frame({k: [v] for k, v in row.items()}, backend)


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
        return f"<Leaderboard of {_render.count(len(self), 'configuration')} by {self.metric}>"

    def __str__(self) -> str:
        shown = 20
        lines = [_render.table(self._header(), self._rows(shown), left=(1,))]
        if len(self) > shown:
            lines.append(f"… and {len(self) - shown:,} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return _render.table_html(self._header(), self._rows(len(self)))

    def _header(self) -> list[str]:
        return ["rank", "configuration", self.metric, "se"]

    def _rows(self, shown: int) -> list[list[str]]:
        rows = [
            [str(i + 1), name, _render.number(s), _render.number(e) if np.isfinite(e) else "-"]
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
            f"<Stability of {_render.count(len(self.configs), 'configuration')} by {self.metric} over "
            f"{_render.count(self.n_repeats, 'repeat')}>"
        )

    def __str__(self) -> str:
        shown = 20
        lines = [_render.table(self._header(), self._rows(shown), left=(1,))]
        if len(self.configs) > shown:
            lines.append(f"… and {len(self.configs) - shown:,} more")
        held = ", ".join(f"{name} (from repeat {first + 1})" for name, first, _ in self.leads[-3:])
        lines.append(f"lead after {_render.count(self.n_repeats, 'repeat')}, latest changes: {held}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return _render.table_html(self._header(), self._rows(len(self.configs)))

    def _header(self) -> list[str]:
        return ["rank", "configuration", f"mean {self.metric}", "median", "sd", "skew"]

    def _rows(self, shown: int) -> list[list[str]]:
        order = np.argsort(self.rank[-1], kind="stable")[:shown]
        columns = (self.mean[-1], self.median[-1], self.sd[-1], self.skew[-1])
        return [
            [f"{self.rank[-1, j]:g}", self.configs[j]]
            + [_render.number(float(c[j])) if np.isfinite(c[j]) else "-" for c in columns]
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
