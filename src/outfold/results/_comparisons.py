"""Whether several differ: configurations on one data set, in pairs or all at once, and algorithms over many data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.notes import Note
from ..docstrings import document_result
from ..exceptions import InputError
from ..formatting import count, json_ready, make_frame, number
from ..latex import table_latex
from . import _diagram, _paper
from ._base import SHOWN, Facts, FrameResult, Interval, Table, TableResult, method_facts
from ._comparison import (
    Comparison,
    ComparisonTerms,
    Described,
    OfOnePair,
    Probabilities,
    Wins,
    comparison_row,
    comparison_table,
)


@document_result
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Omnibus(Described, FrameResult):
    """Whether any of several configurations differs from the others.

    Attributes: {metric}
    method : str
        Name of the function of `compare`.
    {described, configs}
    statistic_name : str
        Such as ``Q`` or ``F``.
    {test}
    {level, plan, n_samples, notes, details}

    Examples
    --------
    >>> import outfold as of
    >>> right = [[1, 1, 0]] * 9 + [[0, 1, 1]] * 4 + [[1, 0, 0]] * 2 + [[1, 1, 1]] * 30
    >>> found = of.compare.cochran_q(of.from_arrays(None, right, response="pointwise"), "mean")
    >>> found.significant, round(found.pvalue, 3)
    (True, 0.011)
    """

    method: str
    configs: tuple[str, ...]
    scores: NDArray[np.float64]
    statistic_name: str
    statistic: float
    df: tuple[float, ...]
    pvalue: float
    greater_is_better: bool = True
    n_samples: int | None = None
    notes: tuple[Note, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    in_dict = (
        "metric method description reference statistic_name statistic pvalue confidence_level alpha significant plan "
        "n_samples df notes details"
    )

    @property
    def significant(self) -> bool:
        """Whether the p value is at most alpha."""
        return self.pvalue <= self.alpha

    def __repr__(self) -> str:
        n = count(len(self.configs), "configuration")
        return f"<Omnibus {self.method} of {n}: p = {formatting.pvalue(self.pvalue)}>"

    def _title(self) -> str:
        found = "some differ" if self.significant else "no difference found"
        n = count(len(self.configs), "configuration")
        return f"{n} by {self.metric}: {found} at alpha {self.alpha:g}"

    def _facts(self) -> Facts:
        yield "test", self.summary()
        best = np.argsort(-self.scores if self.greater_is_better else self.scores, kind="stable")[:5]
        shown = ", ".join(f"{self.configs[i]} {number(float(self.scores[i]))}" for i in best)
        yield "scores", shown + (" …" if len(self.configs) > len(best) else "")
        yield from method_facts(self.description, self.reference, self.plan, self.notes)

    def summary(self) -> str:
        """Statistic, degrees of freedom and p value in one line."""
        df = " and ".join(f"{d:g}" for d in self.df)
        return f"{self.statistic_name} = {self.statistic:.4g}, df = {df}, p = {formatting.pvalue(self.pvalue)}"

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form; what is undefined is None."""
        return super().to_dict() | {"scores": json_ready(dict(zip(self.configs, self.scores, strict=True)))}

    def _columns(self) -> dict[str, Any]:
        return {name: [getattr(self, name)] for name in ("metric", "method", "statistic", "pvalue", "significant")}


@dataclass(frozen=True, kw_only=True, eq=False)
class PairArrays:
    """What a test finds for many pairs at once: arrays (P,) with one entry for each pair, NaN for what is undefined.

    Intervals are (P, 2); wins (better, equal, worse) and probabilities (better, equivalent, worse) are (P, 3). Notes are the
    caveats of single pairs, by position. The fields are those of `Comparison`.
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
        numbers = ("tested", "statistic", "pvalue", "standardised", "odds_ratio")
        ends = None if self.interval is None or np.isnan(self.interval[i]).any() else self.interval[i].tolist()
        return {name: _entry(getattr(self, name), i) for name in numbers} | {
            "difference": float(self.difference[i]),
            "df": self.df,
            "interval": None if ends is None else Interval(*ends),
            "wins": None if self.wins is None else Wins._make([*self.wins[i].tolist(), self.unit]),
            "probabilities": None if self.probabilities is None else Probabilities(*self.probabilities[i].tolist()),
            "details": {k: v[i].item() for k, v in self.details.items()},
        }


def _entry(array: NDArray[np.float64] | None, i: int) -> float | None:
    return None if array is None or np.isnan(array[i]) else float(array[i])


@document_result
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Comparisons(TableResult, FrameResult, Sequence[Comparison]):
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
        How p values are adjusted: holm, bonferroni, bh, westfall_young or none.
    adjusted : ndarray of shape (P,) or None
        Adjusted p values; None for tests without p values.
    control : str or None
        The configuration that all others are compared with.
    omnibus : Omnibus or None
        The test of all configurations at once, if there is one.
    {reason, notes}

    Examples
    --------
    >>> import outfold as of
    >>> folds = {"a": [0.82, 0.79, 0.85], "b": [0.80, 0.80, 0.81], "c": [0.70, 0.72, 0.75]}
    >>> found = of.compare.pairs(of.from_scores(folds, n_train=60, n_test=30))
    >>> len(found), found[1].a, found[1].b
    (3, 'a', 'c')
    >>> found.adjusted.round(2).tolist()
    [0.62, 0.22, 0.22]
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
            adjusted=_entry(self.adjusted, i),
            notes=(*self.notes, *self.arrays.notes.get(i, ())),
        )

    def __repr__(self) -> str:
        return f"<Comparisons {self.terms.method} of {count(len(self), 'pair')} by {self.terms.metric}>"

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        """The clearest first: by p value, else by the size of the difference."""
        p = self.arrays.pvalue
        keys = -np.abs(self.arrays.difference) if p is None else np.where(np.isnan(p), 2.0, p)
        return np.argsort(keys, kind="stable")

    left, rows_of, more = (0, 1), "pairs", "more pairs"

    def _table(self, shown: int | None = None) -> Table:
        return comparison_table([self[i] for i in self._order[:shown]])

    def _title(self) -> str:
        what = "algorithm" if self.terms.algorithms else "configuration"
        pairs = f"{count(len(self), 'pair')} of {count(len(self.configs), what)}"
        against = "" if self.control is None else f" against {self.control}"
        found = ""
        if self.adjusted is not None:
            apart = f" from {number(self.terms.null, sign=True)}" if self.terms.null else ""
            found = f": {np.sum(self.adjusted <= self.terms.alpha):,} differ{apart} at alpha {self.terms.alpha:g}"
        return f"{pairs}{against} by {self.terms.metric}{found}"

    def _facts(self) -> Facts:
        if self.omnibus is not None:
            yield "omnibus", f"{self.omnibus.summary()}: {self.omnibus.description} [{self.omnibus.reference}]"
        terms = self.terms
        yield from (("tuned", str(tuned)) for tuned in terms.algorithms)
        method, *others = method_facts(terms.description, terms.reference, terms.plan, self.notes, self.reason)
        yield method
        if self.adjusted is not None:
            by = "not at all" if self.adjust == "none" else f"by {_ADJUSTED_BY[self.adjust]}"
            yield "adjusted", f"{by}; intervals are of single pairs"
        yield from others

    in_dict = "omnibus control adjust reason notes"

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form; what is undefined is None."""
        return super().to_dict() | {"pairs": [pair.to_dict() for pair in self]}

    def _columns(self) -> dict[str, Any]:
        rows = [comparison_row(pair) for pair in self]
        return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}

    def _adjusted_by(self) -> str:
        return "" if self.adjusted is None or self.adjust == "none" else _ADJUSTED_BY[self.adjust]

    def to_latex(self, caption: bool = False) -> str:
        """A table for a paper, with booktabs rules; a float with the test in its `caption`, if you ask for one."""
        tabular = table_latex(*comparison_table(list(self)))
        text = _paper.pairs_caption(self, self._adjusted_by())
        return _paper.with_caption(tabular, text, "comparisons") if caption else tabular

    def to_prose(self) -> str:
        """A paragraph for a paper: how many pairs differ, and the largest difference with its size in words."""
        return _paper.pairs_prose(self, self._adjusted_by())


_ADJUSTED_BY = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini and Hochberg",
    "westfall_young": "Westfall and Young, draws of samples",
}


# -- two algorithms, data set by data set --------------------------------------------------------------------


@document_result
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SetWins(OfOnePair, TableResult, FrameResult):
    """Wins of two algorithms over data sets: those that a test found, beside those by mean scores.

    Attributes
    ----------
    datasets : tuple of str
        The data sets.
    comparisons : tuple of Comparison
        The test of the two on each of them.
    gains : tuple of float
        By how much the first is ahead on each, in the direction of the metric.
    adjust : str
        How p values are adjusted for the number of data sets.
    {notes}

    Examples
    --------
    >>> import outfold as of
    >>> clear = of.from_scores({"a": [0.9, 0.8, 0.9, 0.9], "b": [0.6, 0.5, 0.7, 0.6]}, n_train=60, n_test=20)
    >>> close = of.from_scores({"a": [0.9, 0.7, 0.8, 0.9], "b": [0.8, 0.8, 0.9, 0.7]}, n_train=60, n_test=20)
    >>> found = of.rank.wins({"first": clear, "second": close}, None, "a", "b")
    >>> print(found.significant)
    better in 1, equal in 1, worse in 0 of 2 data sets
    """

    datasets: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    gains: tuple[float, ...]
    adjust: str
    notes: tuple[Note, ...] = ()

    @property
    def significant(self) -> Wins:
        """On how many data sets the test finds that the first is better, nothing, or that it is worse."""
        winners = [one.better for one in self.comparisons]
        return Wins(winners.count(self.a), winners.count(None), winners.count(self.b), "data set")

    @property
    def by_means(self) -> Wins:
        """On how many data sets the score of the first is better, equal and worse."""
        better, worse = (sum(sign * gain > 0 for gain in self.gains) for sign in (1, -1))
        return Wins(better, len(self.gains) - better - worse, worse, "data set")

    def __repr__(self) -> str:
        better, equal, worse, _ = self.significant
        return f"<SetWins {self.a} - {self.b} by {self.metric}: {better} better, {equal} undecided, {worse} worse>"

    rows_of, more = "datasets", "more data sets"

    def _title(self) -> str:
        return f"{self.a} - {self.b} by {self.metric} on {count(len(self.datasets), 'data set')}"

    def _table(self, shown: int | None = None) -> Table:
        header, rows = comparison_table(self.comparisons[:shown])
        found = (one.better or "undecided" for one in self.comparisons[:shown])
        # The first two columns name the pair, which is the same for all.
        named = zip(self.datasets, rows, found, strict=False)
        return ["data set", *header[2:], "verdict"], [[name, *row[2:], verdict] for name, row, verdict in named]

    def _facts(self) -> Facts:
        yield "found", f"{self.significant} (equal: no difference found)"
        yield "by means", str(self.by_means)
        tests = ", ".join(dict.fromkeys(one.method for one in self.comparisons))
        by = "not adjusted" if self.adjust == "none" else f"adjusted by {_ADJUSTED_BY[self.adjust]}"
        yield "method", f"{tests} on each data set at alpha {self.comparisons[0].alpha:g}, {by} [Raeder et al. 2010]"
        yield from ((note.code, note.text) for note in self.notes)

    in_dict = "a b metric adjust datasets significant by_means comparisons notes"

    def _columns(self) -> dict[str, Any]:
        rows = [comparison_row(one) for one in self.comparisons]
        return {"dataset": list(self.datasets)} | {name: [row[name] for row in rows] for name in rows[0]}


# -- algorithms over many data sets, by mean rank -----------------------------------------------------------


@document_result
class OmnibusTest(NamedTuple):
    """The test of "all algorithms are equal".

    Attributes
    ----------
    name, statistic_name : str
        The test in words, and its statistic, such as ``chi2`` or ``F``.
    {test}
    """

    name: str
    statistic_name: str
    statistic: float
    df: tuple[float, ...]
    pvalue: float

    def __str__(self) -> str:
        value = f"{self.statistic:.4g}" if np.isfinite(self.statistic) else "infinite"
        df = " and ".join(f"{d:g}" for d in self.df)
        return f"{self.name} {self.statistic_name} = {value}, df = {df}, p = {formatting.pvalue(self.pvalue)}"


class RankPair(NamedTuple):
    """Two algorithms, the difference of their mean ranks, and whether they differ significantly.

    Attributes
    ----------
    a, b : str
        The algorithms.
    difference : float
        Mean rank of `a` minus mean rank of `b`.
    z : float
        The difference divided by its standard error.
    pvalue, adjusted : float
        The p value, and the p value adjusted for the number of pairs.
    different : bool
        Whether they differ significantly.
    """

    a: str
    b: str
    difference: float
    z: float
    pvalue: float
    adjusted: float
    different: bool

    @property
    def better(self) -> str | None:
        """The one with the lower mean rank, where the two can be told apart; else None."""
        return (self.a if self.difference < 0 else self.b) if self.different else None


@document_result
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Ranking(TableResult):
    """Algorithms by their mean rank over data sets, and which of them differ significantly.

    Attributes
    ----------
    algorithms : tuple of str
        The algorithms, in the user's order.
    mean_ranks, mean_scores : ndarray
        Mean over data sets of the rank (1 is best) and of the score of each algorithm.
    datasets : tuple of str
        The data sets.
    omnibus : OmnibusTest
        The test of "all algorithms are equal".
    method : str
        Name of the function of `rank`.
    {described, metric}
    alpha : float
        Error rate of the decisions.
    pairs : tuple of RankPair
        The pairs that were compared; empty for the omnibus test alone.
    cd : float or None
        Critical difference of mean ranks, if the method has one.
    groups : tuple of tuple of str
        Algorithms that do not differ significantly, best first: maximal runs in the order of mean ranks, or those that do not
        differ from the control.
    control : str or None
        The algorithm that all others were compared with; None if all pairs were compared.
    {notes, details}

    Examples
    --------
    >>> import outfold as of
    >>> tree, forest = [0.81, 0.70, 0.90, 0.66, 0.75, 0.62], [0.84, 0.75, 0.91, 0.71, 0.77, 0.69]
    >>> found = of.rank.nemenyi({"tree": tree, "forest": forest}, "accuracy")
    >>> found.algorithms, found.mean_ranks.tolist(), found.significant
    (('tree', 'forest'), [2.0, 1.0], True)
    """

    algorithms: tuple[str, ...]
    mean_ranks: NDArray[np.float64]
    mean_scores: NDArray[np.float64]
    datasets: tuple[str, ...]
    omnibus: OmnibusTest
    method: str
    description: str
    reference: str
    greater_is_better: bool = True
    metric: str | None = None
    alpha: float = 0.05
    pairs: tuple[RankPair, ...] = ()
    cd: float | None = None
    groups: tuple[tuple[str, ...], ...] = ()
    control: str | None = None
    notes: tuple[Note, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_datasets(self) -> int:
        """Number of data sets."""
        return len(self.datasets)

    @property
    def order(self) -> tuple[str, ...]:
        """The algorithms, best mean rank first; ties in the user's order."""
        return tuple(self.algorithms[j] for j in self._order())

    @property
    def significant(self) -> bool:
        """Whether the omnibus test finds any difference at alpha."""
        return self.omnibus.pvalue <= self.alpha

    def __repr__(self) -> str:
        n, over = count(len(self.algorithms), "algorithm"), count(self.n_datasets, "data set")
        return f"<Ranking {self.method} of {n} over {over}: p = {formatting.pvalue(self.omnibus.pvalue)}>"

    def to_svg(self) -> str:
        """The critical difference diagram as an SVG picture; needs no other package."""
        return _diagram.svg(self.layout())

    def to_latex(self, caption: bool = False) -> str:
        """A table for a paper, with booktabs rules; a float with test and CD in its `caption`, if you ask for one."""
        tabular = super().to_latex()
        return _paper.with_caption(tabular, _paper.ranking_caption(self), "ranks") if caption else tabular

    def to_prose(self) -> str:
        """A paragraph for a paper: the test of all, the mean ranks, and which algorithms differ."""
        return _paper.ranking_prose(self)

    def to_tikz(self) -> str:
        """The critical difference diagram as a ``tikzpicture`` for LaTeX."""
        return _diagram.tikz(self.layout())

    def layout(self) -> _diagram.DiagramLayout:
        """Where the parts of the critical difference diagram stand, for those who draw it."""
        ranks = dict(zip(self.algorithms, self.mean_ranks.tolist(), strict=True))
        return _diagram.layout([(name, ranks[name]) for name in self.order], self.groups, self.cd, self.control)

    in_dict = "metric greater_is_better method description reference alpha control cd n_datasets datasets groups notes details"

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form; what is undefined is None."""
        columns = zip(self.algorithms, self.mean_ranks, self.mean_scores, strict=True)
        omnibus = self.omnibus._asdict() | {"significant": self.significant}
        more = {
            "algorithms": [{"algorithm": a, "rank": r, "score": s} for a, r, s in columns],
            "omnibus": {name: value for name, value in omnibus.items() if name != "statistic_name"},
            "pairs": [pair._asdict() | {"better": pair.better} for pair in self.pairs],
        }
        return super().to_dict() | {name: json_ready(value) for name, value in more.items()}

    def to_frame(self, which: str = "algorithms", backend: str | None = None) -> Any:
        """The algorithms, best first, or the ``pairs``, as a data frame in pandas, polars or the `backend` you name."""
        if which not in ("algorithms", "pairs"):
            raise InputError(f"which must be 'algorithms' or 'pairs'; got {which!r}.")
        if which == "pairs":
            return make_frame({k: [getattr(pair, k) for pair in self.pairs] for k in RankPair._fields}, backend)
        ranks, scores = (column[self._order()].tolist() for column in (self.mean_ranks, self.mean_scores))
        return make_frame({"algorithm": list(self.order), "rank": ranks, "score": scores}, backend)

    def _order(self) -> NDArray[np.intp]:
        return np.argsort(self.mean_ranks, kind="stable")

    def _title(self) -> str:
        by = "" if self.metric is None else f" by {self.metric}"
        n, over = count(len(self.algorithms), "algorithm"), count(self.n_datasets, "data set")
        return f"{n} over {over}{by}, best mean rank first"

    left, rows_of = (1,), "algorithms"

    def _table(self, shown: int | None = None) -> Table:
        header = ["rank", "algorithm", "mean score" if self.metric is None else f"mean {self.metric}"]
        rows = [
            [f"{self.mean_ranks[j]:.3f}", self.algorithms[j], number(float(self.mean_scores[j]))]
            for j in self._order()[:shown]
        ]
        if self.control is None:
            return header, rows
        against = {pair.b: (f"{-pair.difference:+.3f}", formatting.pvalue(pair.adjusted)) for pair in self.pairs}
        header += [f"against {self.control}", "adjusted p"]
        return header, [[*row, *against.get(row[1], ("-", "-"))] for row in rows]

    def _facts(self) -> Facts:
        yield "all equal?", str(self.omnibus)
        if self.pairs:
            yield "different", self._different()
            yield from (("undecided", ", ".join(group)) for group in self.groups)
            if self.cd is not None:
                yield "CD", f"{number(self.cd)}, the least difference of two mean ranks that counts"
        yield from method_facts(self.description, self.reference, None, self.notes)

    def _different(self) -> str:
        told = [pair for pair in self.pairs if pair.different]
        total = count(len(self.pairs), "pair")
        if not told:
            return f"none of {total} at alpha {self.alpha:g}"
        shown = [f"{p.better} better than {p.b if p.better == p.a else p.a}" for p in told[:SHOWN]]
        more = [f"and {len(told) - SHOWN:,} more"] if len(told) > SHOWN else []
        return f"{len(told)} of {total} at alpha {self.alpha:g}: {', '.join(shown + more)}"
