"""Whether two configurations differ, asked while units come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.notes import Note
from ..docstrings import document_result
from ..formatting import number
from ._base import Facts, FrameResult, Interval, method_facts
from ._comparison import Described


@document_result
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SequentialComparison(Described, FrameResult):
    """A comparison that is valid at whatever unit you stop: evidence, p value and interval after each unit.

    Attributes: {pair, metric}
    difference : float
        Metric of `a` minus metric of `b`, over the units seen.
    interval : Interval
        Interval of the true difference. It is valid at all units at once with the confidence level.
    evalue, pvalue : float
        Evidence against "no difference" after the last unit; the anytime p value, 1 over the largest e-value so far.
    evalues, pvalues : ndarray of shape (n,)
        The same after each unit.
    stop : int or None
        Number of units after which the p value was first at most alpha; None if it never was.
    over : str
        What the units are: samples, groups or repeats.
    bounds : tuple of float
        The range that the differences are known to lie in.
    {described, level, plan, notes}

    Examples
    --------
    >>> import outfold as of
    >>> right = [[1, 0], [1, 0], [1, 1], [1, 0]] * 10
    >>> oof = of.from_arrays(None, right, configs=["new", "old"], response="pointwise")
    >>> found = of.compare.e_process(oof, "mean", "new", "old")
    >>> found.n, found.stop, found.pvalue < 0.01
    (40, 9, True)
    """

    a: str
    b: str
    difference: float
    interval: Interval
    evalue: float
    pvalue: float
    evalues: NDArray[np.float64]
    pvalues: NDArray[np.float64]
    stop: int | None
    over: str
    bounds: tuple[float, float]
    notes: tuple[Note, ...] = ()

    in_dict = (
        "a b metric greater_is_better difference evalue pvalue n stop over significant better confidence_level alpha "
        "description reference plan fingerprint interval bounds notes"
    )

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

    def _title(self) -> str:
        ends = formatting.interval(*self.interval, self.confidence_level, sign=True)
        difference = number(self.difference, sign=True)
        return f"{self.a} - {self.b}   {self.metric} {difference}   {ends} at all times"

    def _facts(self) -> Facts:
        p = formatting.pvalue(self.pvalue)
        yield "test", f"e-value = {self.evalue:.4g}, anytime p = {p} after {self.n:,} {self.over}"
        if self.better is None:
            yield "decision", f"no difference found at alpha {self.alpha:g}; more {self.over} may be added"
        else:
            yield "decision", f"{self.better} is better at alpha {self.alpha:g}, known after {self.stop:,} {self.over}"
        yield from method_facts(self.description, self.reference, self.plan, self.notes)

    def _columns(self) -> dict[str, Any]:
        return {"n": np.arange(1, self.n + 1), "evalue": self.evalues, "pvalue": self.pvalues}
