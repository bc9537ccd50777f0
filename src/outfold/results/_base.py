"""What all results can do: print themselves as text and html, and turn into a dict, a data frame and a LaTeX table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, ClassVar, NamedTuple

from .. import formatting
from ..data.notes import Note
from ..formatting import json_ready, make_frame

Facts = Iterable[tuple[str, str]]
Table = tuple[list[str], list[list[str]]]

# Rows of a long table that are printed.
SHOWN = 20


class Interval(NamedTuple):
    """The two ends of a confidence interval.

    Attributes
    ----------
    low, high : float
        The lower and the upper end.

    Examples
    --------
    >>> import outfold as of
    >>> low, high = of.intervals.wilson(45, 50)
    >>> round(low, 3), round(high, 3)
    (0.786, 0.957)
    """

    low: float
    high: float


class Result:
    """A result names its title, its facts and the attributes of its dict."""

    in_dict: ClassVar[str] = ""

    def _title(self) -> str:
        return ""

    def _facts(self) -> Facts:
        return ()

    def __str__(self) -> str:
        return formatting.facts(self._title(), self._facts())

    def _repr_html_(self) -> str:
        return formatting.facts_html(self._title(), self._facts())

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form; what is undefined is None."""
        return {name: _json(getattr(self, name)) for name in self.in_dict.split()}


class FrameResult(Result):
    """A result that names the columns of its frame."""

    def _columns(self) -> dict[str, Any]:
        raise NotImplementedError

    def to_frame(self, backend: str | None = None) -> Any:
        """The numbers as a data frame, in pandas if it is installed, else in polars, or in the `backend` you name."""
        return make_frame(self._columns(), backend)


class TableResult(Result):
    """A result that has a table, of which the text shows the first rows."""

    left: ClassVar[tuple[int, ...]] = (0,)  # columns that are aligned to the left
    rows_of: ClassVar[str] = ""  # the attribute that has one item for each row, where not all rows are shown
    more: ClassVar[str] = "more"

    def _table(self, shown: int | None = None) -> Table:
        """Header, and the rows or the first ones of them."""
        raise NotImplementedError

    def _lines(self) -> Iterable[str]:
        return fact_lines(self._facts())

    def __str__(self) -> str:
        head = [self._title()] if self._title() else []
        n = len(getattr(self, self.rows_of)) if self.rows_of else 0
        more = [f"… and {n - SHOWN:,} {self.more}"] if n > SHOWN else []
        table = formatting.table(*self._table(SHOWN if n else None), left=self.left)
        return "\n".join([*head, table, *more, *self._lines()])

    def _repr_html_(self) -> str:
        head = formatting.facts_html(self._title(), self._facts()) if self._title() else ""
        return head + formatting.table_html(*self._table())

    def to_latex(self) -> str:
        """A table for a paper, with booktabs rules."""
        from ..latex import table_latex  # here: few results become LaTeX

        return table_latex(*self._table())


def fact_lines(facts: Facts) -> list[str]:
    return [f"  {key:<10} {text}" for key, text in facts]


def method_facts(description: str, reference: str, plan: str | None, notes: Iterable[Note], reason: str = "") -> Facts:
    """The facts that all comparisons end with: the method, why it was chosen, and caveats."""
    yield "method", f"{description} [{reference}]" + ("" if plan is None else f", {plan}")
    if reason:
        yield "why", reason
    yield from ((note.code, note.text) for note in notes)


def dash(value: float, sign: bool = False) -> str:
    """A number, or a dash where it is undefined."""
    text = formatting.number(value, sign)
    return "-" if text == "undefined" else text


def _json(value: Any) -> Any:
    if hasattr(value, "to_dict") and not isinstance(value, type):
        return value.to_dict()
    if isinstance(value, Note):
        return asdict(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict") and not isinstance(value, Interval):
        return json_ready(value._asdict())
    return [_json(part) for part in value] if isinstance(value, tuple) else json_ready(value)
