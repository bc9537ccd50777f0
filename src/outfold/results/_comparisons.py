"""Whether several configurations differ: all pairs, or all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.notes import Note
from ..docstrings import document_result
from ..formatting import make_frame
from ._comparison import (
    Comparison,
    ComparisonTerms,
    Probabilities,
    comparison_row,
    comparison_table,
    entry,
    finite,
    plain,
    wins_of,
)
from ._estimates import Interval


@document_result
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Omnibus:
    """Whether any of several configurations differs from the others.

    Attributes
    ----------
    {metric}
    method : str
        Name of the function of `compare`.
    {described, configs}
    statistic_name : str
        Such as ``Q`` or ``F``.
    statistic : float
        The statistic of the test.
    df : tuple of float
        Its degrees of freedom.
    pvalue : float
        The p value.
    {level}
    plan : str or None
        How samples were held out.
    {n_samples, notes, details}
    """

    metric: str
    method: str
    description: str
    reference: str
    configs: tuple[str, ...]
    scores: NDArray[np.float64]
    statistic_name: str
    statistic: float
    df: tuple[float, ...]
    pvalue: float
    confidence_level: float = 0.95
    greater_is_better: bool = True
    plan: str | None = None
    n_samples: int | None = None
    notes: tuple[Note, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def alpha(self) -> float:
        """Error rate of the decision: one minus the confidence level."""
        return round(1 - self.confidence_level, 12)

    @property
    def significant(self) -> bool:
        """Whether the p value is at most alpha."""
        return self.pvalue <= self.alpha

    def __repr__(self) -> str:
        return (
            f"<Omnibus {self.method} of {formatting.count(len(self.configs), 'configuration')}: "
            f"p = {formatting.pvalue(self.pvalue)}>"
        )

    def __str__(self) -> str:
        return formatting.facts(self._title(), self._facts())

    def _repr_html_(self) -> str:
        return formatting.facts_html(self._title(), self._facts())

    def _title(self) -> str:
        found = "some differ" if self.significant else "no difference found"
        return (
            f"{formatting.count(len(self.configs), 'configuration')} by {self.metric}: {found} at alpha {self.alpha:g}"
        )

    def _facts(self) -> Iterable[tuple[str, str]]:
        yield "test", self.summary()
        best = np.argsort(-self.scores if self.greater_is_better else self.scores, kind="stable")[:5]
        shown = ", ".join(f"{self.configs[i]} {formatting.number(float(self.scores[i]))}" for i in best)
        yield "scores", shown + (" …" if len(self.configs) > len(best) else "")
        plan = "" if self.plan is None else f", {self.plan}"
        yield "method", f"{self.description} [{self.reference}]{plan}"
        for note in self.notes:
            yield note.code, note.text

    def summary(self) -> str:
        """Statistic, degrees of freedom and p value in one line."""
        df = " and ".join(f"{d:g}" for d in self.df)
        return f"{self.statistic_name} = {self.statistic:.4g}, df = {df}, p = {formatting.pvalue(self.pvalue)}"

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form."""
        names = ("metric", "method", "description", "reference", "statistic_name", "statistic", "pvalue")
        out = {k: getattr(self, k) for k in (*names, "confidence_level", "alpha", "significant", "plan", "n_samples")}
        scores = {name: finite(float(s)) for name, s in zip(self.configs, self.scores, strict=True)}
        notes = [{"code": n.code, "text": n.text} for n in self.notes]
        return plain(out) | {
            "df": list(self.df),
            "scores": scores,
            "notes": notes,
            "details": plain(dict(self.details)),
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """One row with the numbers of the test."""
        row = {k: getattr(self, k) for k in ("metric", "method", "statistic", "pvalue", "significant")}
        return make_frame({k: [v] for k, v in row.items()}, backend)


@dataclass(frozen=True, kw_only=True, eq=False)
class PairArrays:
    """What a test finds for many pairs at once: arrays with one entry for each pair, NaN for what is undefined.

    Attributes
    ----------
    tested : ndarray of shape (P,) or None
        The difference that the test is of, if it is not `difference`.
    interval : ndarray of shape (P, 2) or None
        Confidence intervals; None if the method gives none.
    wins : ndarray of shape (P, 3) or None
        Better, equal, worse.
    probabilities : ndarray of shape (P, 3) or None
        Better, equivalent, worse.
    notes : dict
        Caveats of single pairs, by position.
    details : dict
        Further arrays with one entry for each pair.
    """

    difference: NDArray[np.float64]
    tested: NDArray[np.float64] | None = None
    statistic: NDArray[np.float64] | None = None
    pvalue: NDArray[np.float64] | None = None
    df: tuple[float, ...] = ()
    interval: NDArray[np.float64] | None = None
    standardised: NDArray[np.float64] | None = None
    wins: NDArray[np.int64] | None = None
    unit: str = "fold"
    odds_ratio: NDArray[np.float64] | None = None
    probabilities: NDArray[np.float64] | None = None
    notes: Mapping[int, tuple[Note, ...]] = field(default_factory=dict)
    details: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def row(self, i: int) -> dict[str, Any]:
        """The fields of a Comparison for pair i."""
        return {
            "difference": float(self.difference[i]),
            "tested": entry(self.tested, i),
            "statistic": entry(self.statistic, i),
            "pvalue": entry(self.pvalue, i),
            "df": self.df,
            "interval": self._interval(i),
            "standardised": entry(self.standardised, i),
            "odds_ratio": entry(self.odds_ratio, i),
            "wins": None if self.wins is None else wins_of(self.wins[i], self.unit),
            "probabilities": None if self.probabilities is None else Probabilities(*map(float, self.probabilities[i])),
            "details": {k: v[i].item() for k, v in self.details.items()},
        }

    def _interval(self, i: int) -> Interval | None:
        if self.interval is None or np.isnan(self.interval[i]).any():
            return None
        return Interval(*map(float, self.interval[i]))


@document_result
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Comparisons(Sequence[Comparison]):
    """Many pairs of configurations, compared by one test.

    A sequence of `Comparison`, in the order of the pairs; ``pairs[0]`` is the first.

    Attributes
    ----------
    terms : ComparisonTerms
        What all pairs have in common: metric, test, plan, level.
    {configs}
    pairs : ndarray of shape (P, 2)
        Positions of the two configurations of each pair.
    arrays : PairArrays
        The numbers, one entry for each pair.
    adjust : str
        How p values are adjusted: holm, bonferroni, bh or none.
    adjusted : ndarray of shape (P,) or None
        Adjusted p values; None for tests without p values.
    control : str or None
        The configuration that all others are compared with.
    omnibus : Omnibus or None
        The test of all configurations at once, if there is one.
    {reason, notes}
    """

    terms: ComparisonTerms
    configs: tuple[str, ...]
    scores: NDArray[np.float64]
    pairs: NDArray[np.intp]
    arrays: PairArrays
    adjust: str = "holm"
    adjusted: NDArray[np.float64] | None = None
    control: str | None = None
    omnibus: Omnibus | None = None
    reason: str = ""
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, index: int) -> Comparison: ...
    @overload
    def __getitem__(self, index: slice) -> list[Comparison]: ...
    def __getitem__(self, index: int | slice) -> Comparison | list[Comparison]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = range(len(self))[index]
        first, second = self.pairs[i]
        return Comparison(
            **{f.name: getattr(self.terms, f.name) for f in fields(ComparisonTerms)},
            **self.arrays.row(i),
            a=self.configs[first],
            b=self.configs[second],
            scores=(float(self.scores[first]), float(self.scores[second])),
            adjusted=entry(self.adjusted, i),
            notes=(*self.notes, *self.arrays.notes.get(i, ())),
        )

    def __iter__(self) -> Iterator[Comparison]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<Comparisons {self.terms.method} of {formatting.count(len(self), 'pair')} by {self.terms.metric}>"

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        """The clearest first: by p value, else by the size of the difference."""
        p = self.arrays.pvalue
        keys = -np.abs(self.arrays.difference) if p is None else np.where(np.isnan(p), 2.0, p)
        return np.argsort(keys, kind="stable")

    def __str__(self) -> str:
        shown = 20
        rows = [self[i] for i in self._order[:shown]]
        more = [f"… and {len(self) - shown:,} more pairs"] if len(self) > shown else []
        header, cells = comparison_table(rows)
        facts = [f"  {key:<10} {text}" for key, text in self._facts()]
        return "\n".join([self._title(), formatting.table(header, cells, left=(0, 1)), *more, *facts])

    def _repr_html_(self) -> str:
        table = formatting.table_html(*comparison_table([self[i] for i in self._order]))
        return formatting.facts_html(self._title(), self._facts()) + table

    def _title(self) -> str:
        pairs = f"{formatting.count(len(self), 'pair')} of {formatting.count(len(self.configs), 'configuration')}"
        against = "" if self.control is None else f" against {self.control}"
        found = ""
        if self.adjusted is not None:
            found = f": {np.sum(self.adjusted <= self.terms.alpha):,} differ at alpha {self.terms.alpha:g}"
        return f"{pairs}{against} by {self.terms.metric}{found}"

    def _facts(self) -> Iterable[tuple[str, str]]:
        if self.omnibus is not None:
            yield "omnibus", f"{self.omnibus.summary()}: {self.omnibus.description} [{self.omnibus.reference}]"
        plan = "" if self.terms.plan is None else f", {self.terms.plan}"
        yield "method", f"{self.terms.description} [{self.terms.reference}]{plan}"
        if self.adjusted is not None:
            by = "not at all" if self.adjust == "none" else f"by {_ADJUSTED_BY[self.adjust]}"
            yield "adjusted", f"{by}; intervals are of single pairs"
        if self.reason:
            yield "why", self.reason
        for note in self.notes:
            yield note.code, note.text

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form."""
        return {
            "omnibus": None if self.omnibus is None else self.omnibus.to_dict(),
            "control": self.control,
            "adjust": self.adjust,
            "reason": self.reason,
            "pairs": [pair.to_dict() for pair in self],
            "notes": [{"code": n.code, "text": n.text} for n in self.notes],
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """Table with a row for every pair."""
        rows = [comparison_row(pair) for pair in self]
        return make_frame({k: [row[k] for row in rows] for k in rows[0]} if rows else {}, backend)

    def to_latex(self) -> str:
        """A table for a paper, with booktabs rules."""
        return formatting.table_latex(*comparison_table(list(self)))


_ADJUSTED_BY = {"holm": "Holm", "bonferroni": "Bonferroni", "bh": "Benjamini and Hochberg"}
