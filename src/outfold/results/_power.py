"""How often a test would find a difference between two configurations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.notes import Note
from ..docstrings import document_result
from ..formatting import count, number
from ._base import FrameResult, Table, TableResult


@document_result
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Power(TableResult, FrameResult):
    """How often a test finds a difference, by simulation on the user's own predictions.

    Attributes
    ----------
    test, metric : str
        Name of the test, and of the metric.
    {pair}
    difference : float or ndarray
        The true difference, metric of `a` minus metric of `b`; an array if several were asked for.
    power : float or ndarray
        Share of simulations in which the test finds a difference, of the same shape.
    standard_error : float or ndarray
        Standard error of the power, from the number of simulations.
    n, n_simulations : int
        Number of samples in each simulation, and number of simulations.
    reach : float
        The largest difference that the predictions can be made to show.
    {alternative}
    null : float
        The difference under the null hypothesis.
    question : {"non-inferior", "equivalent"} or None
        What the test is to show, if it is not a difference, and `margin` within which.
    margin : float or None
        The margin.
    {level}
    plan : str or None
        How samples were held out.
    {notes}

    Examples
    --------
    >>> import outfold as of
    >>> right = [[1, 0]] * 15 + [[0, 1]] * 5 + [[1, 1]] * 60
    >>> oof = of.from_arrays(None, right, configs=["new", "old"], response="pointwise")
    >>> found = of.compare.power(oof, "mean", "new", "old", [0.1, 0.2], test="mcnemar", n_simulations=100)
    >>> found.power.tolist()
    [0.29, 1.0]
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
    null: float = 0.0
    question: str | None = None
    margin: float | None = None
    confidence_level: float = 0.95
    plan: str | None = None
    notes: tuple[Note, ...] = ()

    @property
    def alpha(self) -> float:
        """Error rate of the decision: one minus the confidence level."""
        return round(1 - self.confidence_level, 12)

    in_dict = (
        "test metric a b n n_simulations reach alternative null question margin confidence_level alpha plan difference power "
        "standard_error notes"
    )

    def _rows(self) -> list[tuple[float, float, float]]:
        columns = (np.atleast_1d(c).tolist() for c in (self.difference, self.power, self.standard_error))
        return list(zip(*columns, strict=True))

    def __repr__(self) -> str:
        rows = self._rows()
        if len(rows) > 1:
            return f"<Power of {self.test} at {len(rows)} differences of {self.metric}, n = {self.n:,}>"
        d, power, _ = rows[0]
        return f"<Power of {self.test} at {number(d, sign=True)} {self.metric}, n = {self.n:,}: {power:.3f}>"

    def _title(self) -> str:
        samples = count(self.n, "sample")
        shown = "" if self.question is None else f" to show “{self.question} within {self.margin:g}”"
        null = f", null {number(self.null, sign=True)}" if self.null else ""
        return f"power of {self.test}{shown} at alpha {self.alpha:g}{null}, {samples}: {self.a} against {self.b}"

    def _table(self, shown: int | None = None) -> Table:
        rows = [[number(d, sign=True), f"{p:.3f}", f"{se:.3f}"] for d, p, se in self._rows()]
        return [f"{self.metric} a - b", "power", "standard error"], rows

    def _lines(self) -> Iterable[str]:
        yield f"  {self.n_simulations:,} simulations each; these predictions reach {number(self.reach)} at most"
        yield from (f"  {note}" for note in self.notes)

    def _columns(self) -> dict[str, Any]:
        return dict(zip(("difference", "power", "standard_error"), zip(*self._rows(), strict=True), strict=True))
