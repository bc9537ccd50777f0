"""Whether one configuration is as good as another, up to a margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .. import formatting
from ..data.notes import Note
from ..formatting import number
from ..latex import table_latex
from ._base import Facts, FrameResult, Interval, method_facts
from ._comparison import Comparison

MarginQuestion = Literal["non-inferior", "equivalent"]
_ANSWERS = {True: "yes", False: "not shown", None: "undecided"}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MarginComparison(FrameResult):
    """Whether `a` is not worse than `b` by a margin, or whether the two differ by less than the margin.

    Attributes
    ----------
    question : {"non-inferior", "equivalent"}
        Whether `a` is shown to be worse than `b` by less than the margin, if at all; or the two to differ by less than it.
    margin : float
        The margin, in units of the metric.
    tests : tuple of Comparison
        The one-sided tests: of the hypothesis that `a` is worse by the margin or more; for "equivalent" also of the hypothesis
        that it is better by the margin or more.
    alpha : float
        Level of the test.

    Examples
    --------
    >>> import outfold as of
    >>> right = [[1, 0]] * 9 + [[0, 1]] * 8 + [[1, 1]] * 250 + [[0, 0]] * 33
    >>> oof = of.from_arrays(None, right, configs=["small", "large"], response="pointwise")
    >>> found = of.compare.non_inferior(oof, "mean", "small", "large", margin=0.05)
    >>> found.holds, round(found.pvalue, 4)
    (True, 0.0007)
    """

    question: MarginQuestion
    margin: float
    tests: tuple[Comparison, ...]
    alpha: float = 0.05

    in_dict = (
        "question margin holds decision alpha a b metric difference scores interval interval_level pvalue pvalues method "
        "reference reason notes tests"
    )

    @property
    def a(self) -> str:
        """The configuration that is asked about."""
        return self.tests[0].a

    @property
    def b(self) -> str:
        """The configuration that it is compared with."""
        return self.tests[0].b

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.tests[0].metric

    @property
    def difference(self) -> float:
        """Metric of `a` minus metric of `b`."""
        return self.tests[0].difference

    @property
    def scores(self) -> tuple[float, float]:
        """Metric of `a` and of `b`."""
        return self.tests[0].scores

    @property
    def method(self) -> str:
        """Name of the test, a function of `compare`."""
        return self.tests[0].method

    @property
    def reason(self) -> str:
        """Why `auto` chose this test; empty if you named it."""
        return self.tests[0].reason

    @property
    def interval(self) -> Interval | None:
        """Interval of the difference at the level 1 - 2 alpha; None if the test gives none.

        It lies within the margin exactly where the answer is yes, if it inverts the test.
        """
        return self.tests[0].interval

    @property
    def interval_level(self) -> float:
        """Level of the interval, 1 - 2 alpha: its two ends are those of two one-sided tests at alpha."""
        return self.tests[0].confidence_level

    @property
    def pvalues(self) -> tuple[float | None, ...]:
        """P values of the one-sided tests; None where undefined."""
        return tuple(test.pvalue for test in self.tests)

    @property
    def pvalue(self) -> float | None:
        """The largest one of the p values; None where one is undefined."""
        known = [p for p in self.pvalues if p is not None]
        return max(known) if len(known) == len(self.tests) else None

    @property
    def holds(self) -> bool | None:
        """Whether the p value is at most alpha: the answer is yes. None where there is no p value."""
        return None if self.pvalue is None else self.pvalue <= self.alpha

    @property
    def decision(self) -> str:
        """What is shown, in words."""
        a, b, margin, at = self.a, self.b, f"{self.margin:g}", f"at alpha {self.alpha:g}"
        if self.holds is None:
            return "undecided: there is no variance to test by"
        if self.question == "equivalent":
            shown = f"{a} and {b} are equivalent: they differ by less than {margin}, {at}"
            return shown if self.holds else f"not shown: {a} and {b} may differ by {margin} or more, {at}"
        shown = f"{a} is not inferior to {b}: it is worse by less than {margin}, if at all, {at}"
        return shown if self.holds else f"not shown: {a} may be worse than {b} by {margin} or more, {at}"

    @property
    def reference(self) -> str:
        """The papers that define the test."""
        two = "; Schuirmann 1987" if len(self.tests) > 1 else ""
        return self.tests[0].reference + two

    @property
    def notes(self) -> tuple[Note, ...]:
        """Caveats, each with the code of its check."""
        return tuple(dict.fromkeys(note for test in self.tests for note in test.notes))

    def __repr__(self) -> str:
        p = "undefined" if self.pvalue is None else formatting.pvalue(self.pvalue)
        asked = f"{self.question} within {self.margin:g} {self.metric}"
        return f"<MarginComparison {self.method} {self.a} - {self.b}: {asked}? p = {p}>"

    def _title(self) -> str:
        return self.tests[0]._title()

    def _facts(self) -> Facts:
        first = self.tests[0]
        yield "decision", self.decision
        for test, way in zip(self.tests, ("worse", "better"), strict=False):
            against = f"against: {self.a} is {way} by {self.margin:g} or more"
            yield "test", f"p undefined ({against})" if test.pvalue is None else test._test(against)
        yield from (("effect", text) for text in first._effects())
        yield from method_facts(first.description, self.reference, first.plan, self.notes, first.reason)

    def _columns(self) -> dict[str, Any]:
        low, high = self.interval or (None, None)
        row = {name: getattr(self, name) for name in ("a", "b", "metric", "difference")} | {"low": low, "high": high}
        row |= {name: getattr(self, name) for name in ("question", "margin", "pvalue", "alpha", "holds", "method")}
        return {name: [value] for name, value in row.items()}

    def to_latex(self) -> str:
        """A table for a paper, with booktabs rules."""
        ends = "-" if self.interval is None else "[" + ", ".join(number(e, sign=True) for e in self.interval) + "]"
        p = "-" if self.pvalue is None else formatting.pvalue(self.pvalue)
        level = f"{100 * self.interval_level:g}% CI"
        header = ["a", "b", f"{self.metric} a - b", level, "margin", "p", self.question]
        row = [self.a, self.b, number(self.difference, sign=True), ends, f"{self.margin:g}", p, _ANSWERS[self.holds]]
        return table_latex(header, [row])
