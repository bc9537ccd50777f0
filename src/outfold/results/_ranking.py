"""Algorithms over many data sets, by mean rank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.notes import Note
from ..docstrings import document_result
from ..exceptions import InputError
from ..formatting import make_frame
from . import _diagram
from ._comparison import finite, plain

_SHOWN = 20


class OmnibusTest(NamedTuple):
    """The test of "all algorithms are equal".

    Attributes
    ----------
    name : str
        The test in words.
    statistic_name : str
        Such as ``chi2`` or ``F``.
    statistic : float
        The statistic of the test.
    df : tuple of float
        Its degrees of freedom.
    pvalue : float
        The p value.
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
class Ranking:
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
        return (
            f"<Ranking {self.method} of {formatting.count(len(self.algorithms), 'algorithm')} over "
            f"{formatting.count(self.n_datasets, 'data set')}: p = {formatting.pvalue(self.omnibus.pvalue)}>"
        )

    def __str__(self) -> str:
        lines = [self._title(), formatting.table(self._header(), self._rows()[:_SHOWN], left=(1,))]
        if len(self.algorithms) > _SHOWN:
            lines.append(f"… and {len(self.algorithms) - _SHOWN:,} more")
        return "\n".join(lines + [f"  {key:<10} {text}" for key, text in self._facts()])

    def _repr_html_(self) -> str:
        facts = formatting.facts_html(self._title(), self._facts())
        return f"{formatting.table_html(self._header(), self._rows())}{facts}"

    def to_svg(self) -> str:
        """The critical difference diagram as an SVG picture; needs no other package."""
        return _diagram.svg(self.layout())

    def to_tikz(self) -> str:
        """The critical difference diagram as a ``tikzpicture`` for LaTeX."""
        return _diagram.tikz(self.layout())

    def layout(self) -> _diagram.Layout:
        """Where the parts of the critical difference diagram stand, for those who draw it."""
        ranks = dict(zip(self.algorithms, self.mean_ranks.tolist(), strict=True))
        return _diagram.layout([(name, ranks[name]) for name in self.order], self.groups, self.cd, self.control)

    def to_latex(self) -> str:
        """The table of ranks for a paper, with booktabs rules."""
        return formatting.table_latex(self._header(), self._rows())

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form; what is undefined is None."""
        columns = zip(self.algorithms, self.mean_ranks.tolist(), self.mean_scores.tolist(), strict=True)
        texts = ("metric", "greater_is_better", "method", "description", "reference", "alpha", "control", "cd")
        return {name: getattr(self, name) for name in texts} | {
            "n_datasets": self.n_datasets,
            "datasets": list(self.datasets),
            "algorithms": [{"algorithm": a, "rank": r, "score": finite(s)} for a, r, s in columns],
            "omnibus": {
                "name": self.omnibus.name,
                "statistic": finite(self.omnibus.statistic),
                "df": list(self.omnibus.df),
                "pvalue": self.omnibus.pvalue,
                "significant": self.significant,
            },
            "pairs": [pair._asdict() | {"better": pair.better} for pair in self.pairs],
            "groups": [list(group) for group in self.groups],
            "notes": [{"code": n.code, "text": n.text} for n in self.notes],
            "details": plain(dict(self.details)),
        }

    def to_frame(self, which: str = "algorithms", backend: str | None = None) -> Any:
        """Table of the algorithms, best first, or of the ``pairs``."""
        if which == "algorithms":
            order = self._order()
            columns = {
                "algorithm": list(self.order),
                "rank": self.mean_ranks[order].tolist(),
                "score": self.mean_scores[order].tolist(),
            }
            return make_frame(columns, backend)
        if which == "pairs":
            columns = {name: [getattr(pair, name) for pair in self.pairs] for name in RankPair._fields}
            return make_frame(columns, backend)
        raise InputError(f"which must be 'algorithms' or 'pairs'; got {which!r}.")

    def _order(self) -> NDArray[np.intp]:
        return np.argsort(self.mean_ranks, kind="stable")

    def _title(self) -> str:
        by = "" if self.metric is None else f" by {self.metric}"
        return (
            f"{formatting.count(len(self.algorithms), 'algorithm')} over {formatting.count(self.n_datasets, 'data set')}{by}, "
            "best mean rank first"
        )

    def _header(self) -> list[str]:
        score = "mean score" if self.metric is None else f"mean {self.metric}"
        header = ["rank", "algorithm", score]
        return [*header, f"against {self.control}", "adjusted p"] if self.control is not None else header

    def _rows(self) -> list[list[str]]:
        rows = [
            [f"{self.mean_ranks[j]:.3f}", self.algorithms[j], formatting.number(float(self.mean_scores[j]))]
            for j in self._order()
        ]
        if self.control is None:
            return rows
        against = {pair.b: (f"{-pair.difference:+.3f}", formatting.pvalue(pair.adjusted)) for pair in self.pairs}
        return [[*row, *against.get(row[1], ("-", "-"))] for row in rows]

    def _facts(self) -> Iterable[tuple[str, str]]:
        yield "all equal?", str(self.omnibus)
        if self.pairs:
            yield "different", self._different()
            yield from (("undecided", ", ".join(group)) for group in self.groups)
            if self.cd is not None:
                yield "CD", f"{formatting.number(self.cd)}, the least difference of two mean ranks that counts"
        yield "method", f"{self.description} [{self.reference}]"
        for note in self.notes:
            yield note.code, note.text

    def _different(self) -> str:
        told = [pair for pair in self.pairs if pair.different]
        total = formatting.count(len(self.pairs), "pair")
        if not told:
            return f"none of {total} at alpha {self.alpha:g}"
        shown = [f"{p.better} better than {p.b if p.better == p.a else p.a}" for p in told[:_SHOWN]]
        more = [f"and {len(told) - _SHOWN:,} more"] if len(told) > _SHOWN else []
        return f"{len(told)} of {total} at alpha {self.alpha:g}: {', '.join(shown + more)}"
