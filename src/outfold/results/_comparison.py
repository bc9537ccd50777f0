"""Whether two configurations differ, by one test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from .. import formatting
from ..data.notes import Note
from ..docstrings import document_result
from ..formatting import count, number
from ..latex import table_latex
from . import _paper
from ._base import Facts, FrameResult, Interval, fact_lines, method_facts

Alternative = Literal["two-sided", "better", "worse"]
Verdict = Literal["better", "equivalent", "worse", "undecided"]


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
        better, equal, worse = (f"{n:,}" for n in self[:3])
        return f"better in {better}, equal in {equal}, worse in {worse} of {count(total, self.unit)}"


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
        middle = f", equivalent {number(self.equivalent)}" if self.equivalent else ""
        return f"P(better) {number(self.better)}{middle}, P(worse) {number(self.worse)}"

    def verdict(self, confidence_level: float = 0.95) -> Verdict:
        """The most probable outcome, if it is more probable than `confidence_level`; else ``undecided``."""
        outcomes: tuple[Verdict, ...] = ("better", "equivalent", "worse")
        likely = int(np.argmax(self))
        return outcomes[likely] if self[likely] > confidence_level else "undecided"


class TunedAlgorithm(NamedTuple):
    """Configurations that were compared as one algorithm: inside each outer fold, the inner folds select one of them.

    Attributes
    ----------
    name : str
        The algorithm.
    configs : tuple of str
        Its configurations.
    selected : dict of str to int
        In how many outer folds each configuration was selected, most often first; without those that never were.

    Examples
    --------
    >>> import outfold as of
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> configs = of.grid("tree", DecisionTreeClassifier(), max_depth=[1, 2, 4])
    >>> configs |= of.grid("stump", DecisionTreeClassifier(max_depth=1), min_samples_leaf=[1, 5])
    >>> oof = of.collect(configs, X, y, of.Plan(folds=3), inner=True, progress=False)
    >>> tree, stump = of.compare.algorithms(oof, "accuracy", "tree", "stump").algorithms
    >>> tree.name, tree.selected
    ('tree', {'tree(max_depth=2)': 3})
    """

    name: str
    configs: tuple[str, ...]
    selected: Mapping[str, int]

    def __str__(self) -> str:
        first, *others = self.selected.items()
        shown = [f"{name} in {n:,}" for name, n in (first, *others[: _SELECTED - 1])]
        rest = sum(n for _, n in others[_SELECTED - 1 :])
        more = [f"{count(len(others) - _SELECTED + 1, 'other')} in {rest:,}"] if rest else []
        folds = count(sum(self.selected.values()), "outer fold")
        return f"{self.name}, {count(len(self.configs), 'configuration')}: selects {', '.join(shown + more)} of {folds}"


# Of the configurations that an algorithm selects, as many are printed.
_SELECTED = 3


@dataclass(frozen=True, kw_only=True)
class Described:
    """What all comparisons say about their method and data."""

    metric: str
    greater_is_better: bool
    description: str
    reference: str
    plan: str | None = None
    fingerprint: str | None = None
    confidence_level: float = 0.95

    @property
    def alpha(self) -> float:
        """Error rate of the decision: one minus the confidence level."""
        return round(1 - self.confidence_level, 12)


@document_result
@dataclass(frozen=True, kw_only=True)
class ComparisonTerms(Described):
    """What all pairs of one test have in common.

    Attributes: {terms}
    """

    method: str
    statistic_name: str = ""
    n_samples: int | None = None
    alternative: Alternative = "two-sided"
    rope: float | None = None
    null: float = 0.0
    algorithms: tuple[TunedAlgorithm, ...] = ()


@document_result
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Comparison(ComparisonTerms, FrameResult):
    """Whether configuration `a` differs from configuration `b`: the difference first, then the test.

    Attributes: {pair}
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

    Examples
    --------
    >>> import outfold as of
    >>> right = [[1, 0]] * 15 + [[0, 1]] * 5 + [[1, 1]] * 60
    >>> oof = of.from_arrays(None, right, configs=["new", "old"], response="pointwise")
    >>> found = of.compare.mcnemar(oof, "mean", "new", "old")
    >>> round(found.difference, 3), found.better, round(found.pvalue, 3)
    (0.125, 'new', 0.041)
    >>> print(found.wins)
    better in 15, equal in 60, worse in 5 of 80 samples
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
        """The better one, where the test finds a difference and the one it tested points the same way; else None.

        If the null hypothesis is not 0, the difference must be found to lie beyond it, as seen from 0. A Bayesian test finds a
        difference where P(better) or P(worse) is greater than the confidence level.
        """
        if self.probabilities is not None:
            return {"better": self.a, "worse": self.b}.get(self.probabilities.verdict(self.confidence_level))
        apart = self.difference - self.null
        if not self.significant or apart == 0 or apart * self.null < 0 or self._contradicted:
            return None
        return self.a if (apart > 0) == self.greater_is_better else self.b

    @property
    def _contradicted(self) -> bool:
        """Whether the difference that was tested points against the one that is reported."""
        return self.tested is not None and (self.tested - self.null) * (self.difference - self.null) < 0

    @property
    def relevance(self) -> str | None:
        """``relevant``, ``equivalent`` or ``undecided``; None without a rope.

        The interval lies outside the rope, inside it, or across its ends. A Bayesian test decides by its probabilities instead.
        """
        if self.rope is not None and self.probabilities is not None:
            verdict = self.probabilities.verdict(self.confidence_level)
            return "relevant" if verdict in ("better", "worse") else verdict
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
        test = self._test()
        return "\n".join([self._title(), *([f"  {test}"] if test else []), *fact_lines(self._facts())])

    def _repr_html_(self) -> str:
        test = self._test()
        return formatting.facts_html(self._title(), [*([("test", test)] if test else []), *self._facts()])

    def _title(self) -> str:
        level, sign = self.confidence_level, True
        ends = "" if self.interval is None else "   " + formatting.interval(*self.interval, level, sign)
        return f"{self.a} - {self.b}   {self.metric} {self._difference()}{ends}"

    def _difference(self) -> str:
        return number(self.difference, sign=True)

    def _test(self, hypothesis: str = "") -> str:
        """Statistic, degrees of freedom and p values in one line; with what the p value is about, if not given otherwise."""
        parts = []
        if self.statistic is not None:
            parts.append(f"{self.statistic_name} = {self.statistic:.4g}")
        if self.df:
            parts.append("df = " + " and ".join(f"{d:g}" for d in self.df))
        if self.pvalue is not None:
            side = "two-sided" if self.alternative == "two-sided" else f"is {self.a} {self.alternative}?"
            side += f", null {number(self.null, sign=True)}" if self.null else ""
            parts.append(f"p = {formatting.pvalue(self.pvalue)} ({hypothesis or side})")
        if self.adjusted is not None:
            parts.append(f"adjusted p = {formatting.pvalue(self.adjusted)}")
        if self.probabilities is not None:
            parts.append(str(self.probabilities))
        return ", ".join(parts)

    def _facts(self) -> Facts:
        yield "decision", self.decision
        yield from (("effect", text) for text in self._effects())
        yield from (("tuned", str(tuned)) for tuned in self.algorithms if tuned.name in (self.a, self.b))
        yield from method_facts(self.description, self.reference, self.plan, self.notes, self.reason)

    @property
    def decision(self) -> str:
        """What the test says, in words: which one is better, that they are equivalent, or that it cannot tell."""
        if self.probabilities is not None:
            return self._bayesian_decision(self.probabilities)
        relevance = "" if self.relevance is None else f"; beside a rope of {self.rope:g}: {self.relevance}"
        if self.significant is None:
            words = "none by a p value"
        elif self.significant and self._contradicted:
            words = "the first difference and the mean of ten disagree: no winner"
        elif self.null:
            words = self._beside_null()
        elif self.better is None:
            words = f"no difference found at alpha {self.alpha:g}"
        else:
            words = f"{self.better} is better at alpha {self.alpha:g}"
        return words + relevance

    def _beside_null(self) -> str:
        null = number(self.null, sign=True)
        if not self.significant:
            return f"no difference from {null} found at alpha {self.alpha:g}"
        where = "above" if self.difference > self.null else "below"
        better = "" if self.better is None else f": {self.better} is better"
        return f"the difference is {where} {null} at alpha {self.alpha:g}{better}"

    def _bayesian_decision(self, probabilities: Probabilities) -> str:
        verdict = probabilities.verdict(self.confidence_level)
        if verdict == "undecided":
            return f"undecided: no outcome is more probable than {self.confidence_level:g}"
        likely = f"with probability {number(getattr(probabilities, verdict))}"
        if verdict == "equivalent":
            return f"the two are equivalent within {self.rope or 0:g} {likely}"
        return f"{self.better} is better {likely}"

    def _effects(self) -> Iterable[str]:
        a, b = map(number, self.scores)
        parts = [f"{a} against {b}"]
        if self.standardised is not None and np.isfinite(self.standardised):
            parts.append(f"standardised {number(self.standardised, sign=True)}")
        if self.odds_ratio is not None and np.isfinite(self.odds_ratio):
            parts.append(f"odds ratio {number(self.odds_ratio)}")
        yield ", ".join(parts)
        if self.wins is not None:
            yield str(self.wins)

    in_dict = (
        "metric greater_is_better method description reference statistic_name plan fingerprint n_samples alternative "
        "confidence_level rope null a b difference tested statistic pvalue adjusted standardised odds_ratio reason alpha "
        "significant better relevance decision interval scores df wins probabilities algorithms notes details"
    )

    def _columns(self) -> dict[str, Any]:
        return {name: [value] for name, value in comparison_row(self).items()}

    def to_latex(self, caption: bool = False) -> str:
        """A table for a paper, with booktabs rules; a float with the test in its `caption`, if you ask for one."""
        tabular = table_latex(*comparison_table([self]))
        return _paper.with_caption(tabular, _paper.pair_caption(self), "comparison") if caption else tabular

    def to_prose(self) -> str:
        """A paragraph for a paper: scores, difference, interval, the size of the effect in words, and the test."""
        return _paper.pair_prose(self)


class OfOnePair:
    """What results of several comparisons of the same two have in common."""

    comparisons: tuple[Comparison, ...]

    @property
    def a(self) -> str:
        """The first of the two."""
        return self.comparisons[0].a

    @property
    def b(self) -> str:
        """The second of the two."""
        return self.comparisons[0].b

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.comparisons[0].metric


def comparison_row(result: Comparison) -> dict[str, Any]:
    """The numbers of a comparison as a flat row."""
    low, high = result.interval or (np.nan, np.nan)
    wins = (result.wins or Wins(0, 0, 0))._asdict()
    row = {"a": result.a, "b": result.b, "metric": result.metric, "difference": result.difference}
    row |= {"low": low, "high": high, "score_a": result.scores[0], "score_b": result.scores[1]}
    numbers = ("statistic", "pvalue", "adjusted", "standardised", "odds_ratio")
    row |= {k: np.nan if getattr(result, k) is None else getattr(result, k) for k in numbers}
    if result.probabilities is not None:
        row |= {f"p_{k}": v for k, v in result.probabilities._asdict().items()}
    row |= {k: wins[k] for k in ("better", "equal", "worse")}
    notes = " ".join(n.code for n in result.notes)
    return row | {"winner": result.better or "", "method": result.method, "notes": notes}


def comparison_table(results: Sequence[Comparison]) -> tuple[list[str], list[list[str]]]:
    """Header and cells of the table that people read."""
    bayes = any(r.probabilities is not None for r in results)
    adjusted = any(r.adjusted is not None for r in results)
    metric = results[0].metric if results else ""
    level = 100 * results[0].confidence_level if results else 95
    header = ["a", "b", f"{metric} a - b", f"{level:g}% CI"]
    header += (
        ["P(better)", "P(equivalent)", "P(worse)", "decision"]
        if bayes
        else ["p", *(["adjusted p"] if adjusted else [])]
    )
    return header, [_cells(result, bayes, adjusted) for result in results]


def _cells(result: Comparison, bayes: bool, adjusted: bool) -> list[str]:
    ends = "-" if result.interval is None else ", ".join(number(e, sign=True) for e in result.interval)
    cells = [result.a, result.b, number(result.difference, sign=True), ends if ends == "-" else f"[{ends}]"]
    if bayes:
        assert result.probabilities is not None
        verdict = result.probabilities.verdict(result.confidence_level)
        return [*cells, *map(number, result.probabilities), verdict]
    values = [result.pvalue, *([result.adjusted] if adjusted else [])]
    return cells + ["-" if p is None else formatting.pvalue(p) for p in values]
