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
        return f"<TiedSet of {len(self)} among {_render.count(self.n_candidates, 'configuration')} by {self.metric}>"

    def __str__(self) -> str:
        shown = 20
        title = (
            f"{len(self):,} of {_render.count(self.n_candidates, 'configuration')} cannot be told from the best "
            f"({100 * self.level:g}% confidence set)"
        )
        more = [f"… and {len(self) - shown:,} more"] if len(self) > shown else []
        return "\n".join([title, _render.table(self._header(), self._rows()[:shown]), *more])

    def _repr_html_(self) -> str:
        return _render.table_html(self._header(), self._rows())

    def _header(self) -> list[str]:
        return ["configuration", self.metric, "p"]

    def _rows(self) -> list[list[str]]:
        members = zip(self.configs, self.scores, self.pvalues, strict=True)
        return [[name, _render.number(score), _render.number(p)] for name, score, p in members]

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
    aggregate: str = "pooled"
    positive: str | None = None
    n_groups: int | None = None
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

    @property
    def title(self) -> str:
        """What is estimated, in words."""
        subject = {"cv": self.selected, "nested": "the whole search"}.get(self.method, "the selected configuration")
        return f"{self.metric} of {subject}"

    def __str__(self) -> str:
        ci = "" if self.interval is None else "   " + _render.interval(*self.interval, self.confidence_level)
        own = f"  {self._own()}"
        width = max(len(self.title), len(own) if self._corrects else 0)
        lines = [f"{self.title:<{width}}   {_render.number(self.value)}{ci}"]
        if self._corrects:
            optimism = _render.number(self.optimism, sign=True)
            lines.append(f"{own:<{width}}   {_render.number(self.naive)}   optimism {optimism}")
        lines += [f"  {key:<10} {text}" for key, text in self._facts()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        ci = "" if self.interval is None else "   " + _render.interval(*self.interval, self.confidence_level)
        rows = list(self._facts())
        if self._corrects:
            optimism = _render.number(self.optimism, sign=True)
            rows = [(self._own(), _render.number(self.naive)), ("optimism", optimism), *rows]
        return _render.facts_html(f"{self.title}: {_render.number(self.value)}{ci}", rows)

    @property
    def _corrects(self) -> bool:
        """Whether the winner's own score is another number than the estimate."""
        return self.method not in ("cv", "cvt")

    def _own(self) -> str:
        # By fold is what a grid search reports; pooled is one value on all predictions of a repeat.
        return f"winner's own CV score, {'by fold' if self.aggregate == 'fold' else 'pooled'}"

    def _facts(self) -> Iterable[tuple[str, str]]:
        if self.method != "cv":
            yield "selected", f"{self.selected}, {self.rule} over {_render.count(self.n_configs, 'configuration')}"
        yield "method", f"{self.description} [{self.reference}]"
        positive = "" if self.positive is None else f", positive class {self.positive}"
        groups = "" if self.n_groups is None else f" in {_render.count(self.n_groups, 'group')}"
        yield "data", f"{_render.count(self.n_samples, 'sample')}{groups}, {self.plan}{positive}"
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
            "n_groups": self.n_groups,
            "positive": self.positive,
            "aggregate": self.aggregate,
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
        rows = [[*map(str, row[:2]), *map(_render.number, row[2:])] for row in self._rows()]
        agreed = ", ".join(f"{plan} {share:.0%}" for plan, share in zip(self.plans, self.agreement, strict=True))
        header = ["plan", "configuration", f"steady {self.metric}", "sd of one estimate", "lowest", "highest"]
        return f"{_render.table(header, rows, left=(0, 1))}\none estimate picks the steady winner: {agreed}"

    def _repr_html_(self) -> str:
        rows = [[*map(str, row[:2]), *map(_render.number, row[2:])] for row in self._rows()]
        return _render.table_html(["plan", "configuration", f"steady {self.metric}", "sd", "lowest", "highest"], rows)

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
