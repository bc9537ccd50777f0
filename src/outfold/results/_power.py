"""How often a test would find a difference of a given size."""

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


@document_result
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Power:
    """How often a test finds a difference, by simulation on the user's own predictions.

    Attributes
    ----------
    test : str
        Name of the test.
    metric : str
        Name of the metric.
    {pair}
    difference : float or ndarray
        The true difference, metric of `a` minus metric of `b`; an array if several were asked for.
    power : float or ndarray
        Share of simulations in which the test finds a difference, of the same shape.
    standard_error : float or ndarray
        Standard error of the power, from the number of simulations.
    n : int
        Number of samples in each simulation.
    n_simulations : int
        Number of simulations.
    reach : float
        The largest difference that the predictions can be made to show.
    {alternative, level}
    plan : str or None
        How samples were held out.
    {notes}
    """

    test: str
    metric: str
    a: str
    b: str
    difference: float | NDArray[np.float64]
    power: float | NDArray[np.float64]
    standard_error: float | NDArray[np.float64]
    n: int
    n_simulations: int
    reach: float
    alternative: str = "two-sided"
    confidence_level: float = 0.95
    plan: str | None = None
    notes: tuple[Note, ...] = ()

    @property
    def alpha(self) -> float:
        """Error rate of the decision: one minus the confidence level."""
        return round(1 - self.confidence_level, 12)

    def _rows(self) -> list[tuple[float, float, float]]:
        columns = (np.atleast_1d(c).tolist() for c in (self.difference, self.power, self.standard_error))
        return list(zip(*columns, strict=True))

    def __repr__(self) -> str:
        rows = self._rows()
        if len(rows) > 1:
            return f"<Power of {self.test} at {len(rows)} differences of {self.metric}, n = {self.n:,}>"
        d, power, _ = rows[0]
        return f"<Power of {self.test} at {formatting.number(d, sign=True)} {self.metric}, n = {self.n:,}: {power:.3f}>"

    def __str__(self) -> str:
        return "\n".join([self._title(), formatting.table(*self._table()), *self._facts()])

    def _repr_html_(self) -> str:
        return formatting.facts_html(self._title(), []) + formatting.table_html(*self._table())

    def _title(self) -> str:
        return f"power of {self.test} at alpha {self.alpha:g}, {formatting.count(self.n, 'sample')}: {self.a} against {self.b}"

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [[formatting.number(d, sign=True), f"{p:.3f}", f"{se:.3f}"] for d, p, se in self._rows()]
        return [f"{self.metric} a - b", "power", "standard error"], rows

    def _facts(self) -> Iterable[str]:
        yield f"  {self.n_simulations:,} simulations each; these predictions reach {formatting.number(self.reach)} at most"
        yield from (f"  {note}" for note in self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form."""
        names = (
            "test",
            "metric",
            "a",
            "b",
            "n",
            "n_simulations",
            "reach",
            "alternative",
            "confidence_level",
            "alpha",
            "plan",
        )
        return {k: getattr(self, k) for k in names} | {
            "difference": np.asarray(self.difference).tolist(),
            "power": np.asarray(self.power).tolist(),
            "standard_error": np.asarray(self.standard_error).tolist(),
            "notes": [{"code": n.code, "text": n.text} for n in self.notes],
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """A row for every difference."""
        d, power, se = zip(*self._rows(), strict=True)
        return make_frame({"difference": d, "power": power, "standard_error": se}, backend)
