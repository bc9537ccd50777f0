"""Whether two configurations differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.notes import Note
from ..docstrings import document_result
from ..formatting import make_frame
from ._estimates import Interval

Alternative = Literal["two-sided", "better", "worse"]


class Wins(NamedTuple):
    """How often the first was better than, equal to and worse than the second.

    Attributes
    ----------
    better, equal, worse : int
        Number of units in which the first was better, equal or worse.
    unit : str
        What is counted: samples, folds or data sets.
    """

    better: int
    equal: int
    worse: int
    unit: str = "fold"

    def __str__(self) -> str:
        total = self.better + self.equal + self.worse
        return (
            f"better in {self.better:,}, equal in {self.equal:,}, worse in {self.worse:,} of "
            f"{formatting.count(total, self.unit)}"
        )


class Probabilities(NamedTuple):
    """Posterior probabilities of a Bayesian test.

    Attributes
    ----------
    better, equivalent, worse : float
        Probability that the first is better, that the two are practically equivalent, and that the first is worse.
    """

    better: float
    equivalent: float
    worse: float

    def __str__(self) -> str:
        middle = f", equivalent {formatting.number(self.equivalent)}" if self.equivalent else ""
        return f"P(better) {formatting.number(self.better)}{middle}, P(worse) {formatting.number(self.worse)}"


@document_result
@dataclass(frozen=True, kw_only=True)
class ComparisonTerms:
    """What all pairs of one test have in common.

    Attributes
    ----------
    {terms}
    """

    metric: str
    greater_is_better: bool
    method: str
    description: str
    reference: str
    statistic_name: str = ""
    plan: str | None = None
    fingerprint: str | None = None
    n_samples: int | None = None
    alternative: Alternative = "two-sided"
    confidence_level: float = 0.95
    rope: float | None = None

    @property
    def alpha(self) -> float:
        """Error rate of the decision: one minus the confidence level."""
        return round(1 - self.confidence_level, 12)


@document_result
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Comparison(ComparisonTerms):
    """Whether configuration `a` differs from configuration `b`: the difference first, then the test.

    Attributes
    ----------
    {pair}
    difference : float
        Metric of `a` minus metric of `b`.
    scores : tuple of float
        Metric of `a` and of `b`.
    tested : float or None
        The difference that statistic, p value and interval belong to, if it is another one (`t_5x2cv`).
    interval : Interval or None
        Confidence interval of the difference; None if the method gives none.
    statistic : float or None
        The statistic of the test.
    df : tuple of float
        Its degrees of freedom.
    pvalue : float or None
        None if the method gives none (Bayesian tests), or if it is undefined (no variance at all).
    adjusted : float or None
        The p value adjusted for the number of pairs; None if only one pair was compared.
    standardised : float or None
        Difference divided by the standard deviation of the differences.
    wins : Wins or None
        How often `a` was better, equal and worse.
    odds_ratio : float or None
        Number of samples that only `a` has right, divided by the number that only `b` has right.
    probabilities : Probabilities or None
        Posterior probabilities of a Bayesian test.
    {reason, terms, notes, details}
    """

    a: str
    b: str
    difference: float
    scores: tuple[float, float]
    tested: float | None = None
    interval: Interval | None = None
    statistic: float | None = None
    df: tuple[float, ...] = ()
    pvalue: float | None = None
    adjusted: float | None = None
    standardised: float | None = None
    wins: Wins | None = None
    odds_ratio: float | None = None
    probabilities: Probabilities | None = None
    reason: str = ""
    notes: tuple[Note, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def significant(self) -> bool | None:
        """Whether the (adjusted) p value is at most alpha; None where there is no p value."""
        p = self.pvalue if self.adjusted is None else self.adjusted
        return None if p is None else p <= self.alpha

    @property
    def better(self) -> str | None:
        """The better one, where the test finds a difference and the one it tested points the same way; else None."""
        if not self.significant or self.difference == 0 or self._contradicted:
            return None
        return self.a if (self.difference > 0) == self.greater_is_better else self.b

    @property
    def _contradicted(self) -> bool:
        """Whether the difference that was tested points against the one that is reported."""
        return self.tested is not None and self.tested * self.difference < 0

    @property
    def relevance(self) -> str | None:
        """``relevant``, ``equivalent`` or ``undecided``: where the interval lies beside the rope; None without a rope."""
        if self.rope is None or self.interval is None:
            return None
        low, high = self.interval
        if low > self.rope or high < -self.rope:
            return "relevant"
        return "equivalent" if -self.rope <= low and high <= self.rope else "undecided"

    def __repr__(self) -> str:
        p = "" if self.pvalue is None else f", p = {formatting.pvalue(self.pvalue)}"
        return f"<Comparison {self.method} {self.a} - {self.b}: {self.metric} {self._difference()}{p}>"

    def __str__(self) -> str:
        lines = [f"{self.a} - {self.b}   {self.metric} {self._difference()}{self._interval()}"]
        test = self._test()
        lines += [f"  {test}"] if test else []
        return "\n".join(lines + [f"  {key:<10} {text}" for key, text in self._facts()])

    def _repr_html_(self) -> str:
        rows = [("test", self._test()), *self._facts()]
        title = f"{self.a} - {self.b}: {self.metric} {self._difference()}{self._interval()}"
        return formatting.facts_html(title, [row for row in rows if row[1]])

    def _difference(self) -> str:
        return formatting.number(self.difference, sign=True)

    def _interval(self) -> str:
        if self.interval is None:
            return ""
        return "   " + formatting.interval(*self.interval, self.confidence_level, sign=True)

    def _test(self) -> str:
        parts = []
        if self.statistic is not None:
            parts.append(f"{self.statistic_name} = {self.statistic:.4g}")
        if self.df:
            parts.append("df = " + " and ".join(f"{d:g}" for d in self.df))
        if self.pvalue is not None:
            parts.append(f"p = {formatting.pvalue(self.pvalue)} ({self._side()})")
        if self.adjusted is not None:
            parts.append(f"adjusted p = {formatting.pvalue(self.adjusted)}")
        if self.probabilities is not None:
            parts.append(str(self.probabilities))
        return ", ".join(parts)

    def _side(self) -> str:
        return "two-sided" if self.alternative == "two-sided" else f"is {self.a} {self.alternative}?"

    def _facts(self) -> Iterable[tuple[str, str]]:
        yield "decision", self._decision()
        yield from (("effect", text) for text in self._effects())
        plan = "" if self.plan is None else f", {self.plan}"
        yield "method", f"{self.description} [{self.reference}]{plan}"
        if self.reason:
            yield "why", self.reason
        for note in self.notes:
            yield note.code, note.text

    def _decision(self) -> str:
        relevance = "" if self.relevance is None else f"; beside a rope of {self.rope:g}: {self.relevance}"
        if self.probabilities is not None:
            words = f"{self.a} is better with P(better) {formatting.number(self.probabilities.better)}"
        elif self.significant is None:
            words = "none by a p value"
        elif self.significant and self._contradicted:
            words = "the first difference and the mean of ten disagree: no winner"
        elif self.better is None:
            words = f"no difference found at alpha {self.alpha:g}"
        else:
            words = f"{self.better} is better at alpha {self.alpha:g}"
        return words + relevance

    def _effects(self) -> Iterable[str]:
        a, b = map(formatting.number, self.scores)
        parts = [f"{a} against {b}"]
        if self.standardised is not None and np.isfinite(self.standardised):
            parts.append(f"standardised {formatting.number(self.standardised, sign=True)}")
        if self.odds_ratio is not None:
            parts.append(f"odds ratio {formatting.number(self.odds_ratio)}" if np.isfinite(self.odds_ratio) else "")
        yield ", ".join(part for part in parts if part)
        if self.wins is not None:
            yield str(self.wins)

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form; what is undefined is None."""
        out = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _STRUCTURED}
        return plain(out) | {
            "alpha": self.alpha,
            "significant": self.significant,
            "better": self.better,
            "relevance": self.relevance,
            "interval": None if self.interval is None else [finite(end) for end in self.interval],
            "scores": [finite(s) for s in self.scores],
            "df": [finite(d) for d in self.df],
            "wins": None if self.wins is None else self.wins._asdict(),
            "probabilities": None if self.probabilities is None else self.probabilities._asdict(),
            "notes": [{"code": n.code, "text": n.text} for n in self.notes],
            "details": plain(dict(self.details)),
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """One row with the numbers of the comparison."""
        return make_frame({k: [v] for k, v in comparison_row(self).items()}, backend)

    def to_latex(self) -> str:
        """A table for a paper, with booktabs rules."""
        return formatting.table_latex(*comparison_table([self]))


_STRUCTURED = ("interval", "scores", "df", "wins", "probabilities", "notes", "details")


def comparison_row(result: Comparison) -> dict[str, Any]:
    """The numbers of a comparison as a flat row."""
    low, high = result.interval or (np.nan, np.nan)
    wins = result.wins or Wins(0, 0, 0)
    row = {"a": result.a, "b": result.b, "metric": result.metric, "difference": result.difference}
    row |= {"low": low, "high": high, "score_a": result.scores[0], "score_b": result.scores[1]}
    numbers = ("statistic", "pvalue", "adjusted", "standardised", "odds_ratio")
    row |= {k: np.nan if getattr(result, k) is None else getattr(result, k) for k in numbers}
    if result.probabilities is not None:
        row |= {f"p_{k}": v for k, v in result.probabilities._asdict().items()}
    row |= {"better": wins.better, "equal": wins.equal, "worse": wins.worse}
    return row | {
        "winner": result.better or "",
        "method": result.method,
        "notes": " ".join(n.code for n in result.notes),
    }


def comparison_table(results: Sequence[Comparison]) -> tuple[list[str], list[list[str]]]:
    """Header and cells of the table that people read."""
    bayes = any(r.probabilities is not None for r in results)
    adjusted = any(r.adjusted is not None for r in results)
    metric = results[0].metric if results else ""
    level = 100 * results[0].confidence_level if results else 95
    header = ["a", "b", f"{metric} a - b", f"{level:g}% CI"]
    header += ["P(better)", "P(equivalent)", "P(worse)"] if bayes else ["p", *(["adjusted p"] if adjusted else [])]
    return header, [_cells(result, bayes, adjusted) for result in results]


def _cells(result: Comparison, bayes: bool, adjusted: bool) -> list[str]:
    ends = "-" if result.interval is None else ", ".join(formatting.number(e, sign=True) for e in result.interval)
    cells = [result.a, result.b, formatting.number(result.difference, sign=True), ends if ends == "-" else f"[{ends}]"]
    if bayes:
        assert result.probabilities is not None
        return cells + [formatting.number(p) for p in result.probabilities]
    values = [result.pvalue, *([result.adjusted] if adjusted else [])]
    return cells + ["-" if p is None else formatting.pvalue(p) for p in values]


def wins_of(counts: NDArray[np.int64], unit: str) -> Wins:
    """Better, equal and worse out of an array."""
    better, equal, worse = counts.tolist()
    return Wins(better, equal, worse, unit)


def entry(array: NDArray[np.float64] | None, i: int) -> float | None:
    """An entry of an array, None where there is none or it is undefined."""
    return None if array is None or np.isnan(array[i]) else float(array[i])


def finite(value: float | None) -> float | None:
    """A number that json knows, else None."""
    return None if value is None or not np.isfinite(value) else float(value)


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same with what is undefined as None."""
    return {k: finite(v) if isinstance(v, float) else v for k, v in values.items()}
