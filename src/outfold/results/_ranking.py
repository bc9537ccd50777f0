"""Algorithms over many data sets, by mean rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.notes import Note
from ..docstrings import document_result
from ..exceptions import InputError
from ..formatting import count, json_ready, make_frame, number
from . import _diagram
from ._base import SHOWN, Facts, Table, TableResult, method_facts


class OmnibusTest(NamedTuple):
    """The test of "all algorithms are equal".

    Attributes
    ----------
    name, statistic_name : str
        The test in words, and its statistic, such as ``chi2`` or ``F``.
    statistic, pvalue : float
        The statistic of the test, and the p value.
    df : tuple of float
        The degrees of freedom.
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

    def to_tikz(self) -> str:
        """The critical difference diagram as a ``tikzpicture`` for LaTeX."""
        return _diagram.tikz(self.layout())

    def layout(self) -> _diagram.Layout:
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
