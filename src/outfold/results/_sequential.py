"""Whether two configurations differ, asked while units come in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.notes import Note
from ..docstrings import document_result
from ..formatting import make_frame
from ._estimates import Interval


@document_result
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SequentialComparison:
    """A comparison that is valid at whatever unit you stop: evidence, p value and interval after each unit.

    Attributes
    ----------
    {pair, metric}
    difference : float
        Metric of `a` minus metric of `b`, over the units seen.
    interval : Interval
        Interval of the true difference. It is valid at all units at once with the confidence level.
    evalue : float
        Evidence against "no difference" after the last unit.
    pvalue : float
        The anytime p value: 1 over the largest e-value so far.
    evalues, pvalues : ndarray of shape (n,)
        The same after each unit.
    stop : int or None
        Number of units after which the p value was first at most alpha; None if it never was.
    over : str
        What the units are: samples, groups or repeats.
    bounds : tuple of float
        The range that the differences are known to lie in.
    {described, level, plan, notes}
    """

    a: str
    b: str
    metric: str
    greater_is_better: bool
    difference: float
    interval: Interval
    evalue: float
    pvalue: float
    evalues: NDArray[np.float64]
    pvalues: NDArray[np.float64]
    stop: int | None
    over: str
    bounds: tuple[float, float]
    description: str
    reference: str
    confidence_level: float = 0.95
    plan: str | None = None
    fingerprint: str | None = None
    notes: tuple[Note, ...] = ()

    @property
    def alpha(self) -> float:
        """Error rate of the decision: one minus the confidence level."""
        return round(1 - self.confidence_level, 12)

    @property
    def n(self) -> int:
        """Units seen."""
        return len(self.evalues)

    @property
    def significant(self) -> bool:
        """Whether the anytime p value is at most alpha."""
        return self.pvalue <= self.alpha

    @property
    def better(self) -> str | None:
        """The better one, where a difference is found; else None."""
        if not self.significant:
            return None
        return self.a if (self.interval.low > 0) == self.greater_is_better else self.b

    def __repr__(self) -> str:
        return f"<SequentialComparison {self.a} - {self.b}: e-value {self.evalue:.4g} after {self.n:,} {self.over}>"

    def __str__(self) -> str:
        return formatting.facts(self._title(), self._facts())

    def _repr_html_(self) -> str:
        return formatting.facts_html(self._title(), self._facts())

    def _title(self) -> str:
        ends = formatting.interval(*self.interval, self.confidence_level, sign=True)
        return (
            f"{self.a} - {self.b}   {self.metric} {formatting.number(self.difference, sign=True)}   {ends} at all times"
        )

    def _facts(self) -> Iterable[tuple[str, str]]:
        yield (
            "test",
            f"e-value = {self.evalue:.4g}, anytime p = {formatting.pvalue(self.pvalue)} after {self.n:,} {self.over}",
        )
        if self.better is None:
            yield "decision", f"no difference found at alpha {self.alpha:g}; more {self.over} may be added"
        else:
            yield "decision", f"{self.better} is better at alpha {self.alpha:g}, known after {self.stop:,} {self.over}"
        plan = "" if self.plan is None else f", {self.plan}"
        yield "method", f"{self.description} [{self.reference}]{plan}"
        for note in self.notes:
            yield note.code, note.text

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form, without the paths."""
        names = ("a", "b", "metric", "greater_is_better", "difference", "evalue", "pvalue", "n", "stop", "over")
        more = ("significant", "better", "confidence_level", "alpha", "description", "reference", "plan", "fingerprint")
        return {k: getattr(self, k) for k in (*names, *more)} | {
            "interval": list(self.interval),
            "bounds": list(self.bounds),
            "notes": [{"code": n.code, "text": n.text} for n in self.notes],
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """A row for every unit: its number, the e-value and the p value."""
        numbers = np.arange(1, self.n + 1)
        return make_frame({"n": numbers, "evalue": self.evalues, "pvalue": self.pvalues}, backend)
