"""What repeats show: how scores settle, how plans differ, and whether a verdict depends on the partition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..docstrings import document_result
from ..formatting import count, json_ready, number, pvalue
from ._base import Facts, FrameResult, Table, TableResult, dash
from ._comparison import Comparison, OfOnePair


@document_result
@dataclass(frozen=True, eq=False, repr=False)
class Stability(TableResult, FrameResult):
    """Scores of the configurations as repeats are added.

    Attributes: {metric_name, in_order}
    scores : ndarray of shape (R, C)
        The score of each repeat.
    mean, median, sd, skew : ndarray of shape (R, C)
        Of the repeats up to and including this one; sd and skew are NaN where they are undefined.
    rank : ndarray of shape (R, C)
        Rank by the running mean, 1 for the best, ties shared.
    leaders : tuple of str
        The configuration with the best running mean after each repeat.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> correct = np.random.default_rng(0).random((80, 2, 20)) < [[0.7], [0.8]]
    >>> oof = of.from_arrays(None, correct, configs=["a", "b"], response="pointwise")
    >>> found = of.stability.trace(oof, "mean")
    >>> found.n_repeats, found.leaders[-1]
    (20, 'b')
    """

    metric: str
    configs: tuple[str, ...]
    scores: NDArray[np.float64]
    mean: NDArray[np.float64]
    median: NDArray[np.float64]
    sd: NDArray[np.float64]
    skew: NDArray[np.float64]
    rank: NDArray[np.float64]
    leaders: tuple[str, ...]

    @property
    def n_repeats(self) -> int:
        """Number of repeats."""
        return len(self.scores)

    @property
    def leads(self) -> tuple[tuple[str, int, int], ...]:
        """Who held the lead when: (configuration, first repeat, last repeat), counted from 0."""
        runs = [list(run) for _, run in groupby(range(len(self.leaders)), key=self.leaders.__getitem__)]
        return tuple((self.leaders[run[0]], run[0], run[-1]) for run in runs)

    def __repr__(self) -> str:
        configs, repeats = count(len(self.configs), "configuration"), count(self.n_repeats, "repeat")
        return f"<Stability of {configs} by {self.metric} over {repeats}>"

    left, rows_of = (1,), "configs"

    def _table(self, shown: int | None = None) -> Table:
        columns = (self.mean[-1], self.median[-1], self.sd[-1], self.skew[-1])
        order = np.argsort(self.rank[-1], kind="stable")[:shown]
        rows = [[f"{self.rank[-1, j]:g}", self.configs[j], *(dash(float(c[j])) for c in columns)] for j in order]
        return ["rank", "configuration", f"mean {self.metric}", "median", "sd", "skew"], rows

    def _lines(self) -> Iterable[str]:
        held = ", ".join(f"{name} (from repeat {first + 1})" for name, first, _ in self.leads[-3:])
        yield f"lead after {count(self.n_repeats, 'repeat')}, latest changes: {held}"

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form: the last state of every configuration, and who held the lead when."""
        last = {"score": self.mean, "median": self.median, "sd": self.sd, "skew": self.skew, "rank": self.rank}
        states = [
            {"config": name} | {k: json_ready(v[-1, j]) for k, v in last.items()} for j, name in enumerate(self.configs)
        ]
        leads = [{"config": name, "first": first, "last": final} for name, first, final in self.leads]
        return {"metric": self.metric, "repeats": self.n_repeats, "configurations": states, "leads": leads}

    def _columns(self) -> dict[str, Any]:
        r, c = self.scores.shape
        columns: dict[str, Any] = {
            "repeat": np.repeat(np.arange(r), c).tolist(),
            "config": list(self.configs) * r,
            self.metric: self.scores.ravel().tolist(),
        }
        # A metric may be called like a column.
        running = {f"running_{name}": getattr(self, name) for name in ("mean", "median", "sd", "skew")}
        return columns | {name: values.ravel().tolist() for name, values in (running | {"rank": self.rank}).items()}


@document_result
@dataclass(frozen=True, eq=False, repr=False)
class PlanComparison(TableResult, FrameResult):
    """The usual estimates of several plans beside the steady state of many repeats.

    Attributes: {metric_name}
    plans, configs : tuple of str
        The canonical estimates, such as ``1x10``, and the configurations, in the user's order.
    steady : ndarray of shape (plans, C)
        Mean score over all repeats.
    sd, low, high : ndarray of shape (plans, C)
        Spread and range of the canonical estimate.
    agreement : ndarray of shape (plans,)
        How often a canonical estimate picks the configuration that leads in the steady state.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> correct = np.random.default_rng(0).random((80, 2, 20)) < [[0.7], [0.8]]
    >>> oof = of.from_arrays(None, correct, configs=["a", "b"], response="pointwise")
    >>> found = of.stability.compare_plans([oof], "mean", fits=2)
    >>> found.plans, found.configs
    (('2x1',), ('a', 'b'))
    """

    metric: str
    plans: tuple[str, ...]
    configs: tuple[str, ...]
    steady: NDArray[np.float64]
    sd: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    agreement: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"<PlanComparison of {', '.join(self.plans)} by {self.metric}>"

    left = (0, 1)

    def _rows(self) -> list[tuple[Any, ...]]:
        cells = [(i, j) for i in range(len(self.plans)) for j in range(len(self.configs))]
        numbers = (self.steady, self.sd, self.low, self.high)
        return [(self.plans[i], self.configs[j], *(float(column[i, j]) for column in numbers)) for i, j in cells]

    def _table(self, shown: int | None = None) -> Table:
        header = ["plan", "configuration", f"steady {self.metric}", "sd of one estimate", "lowest", "highest"]
        return header, [[*row[:2], *map(number, row[2:])] for row in self._rows()]

    def _lines(self) -> Iterable[str]:
        agreed = ", ".join(f"{plan} {share:.0%}" for plan, share in zip(self.plans, self.agreement, strict=True))
        yield f"one estimate picks the steady winner: {agreed}"

    in_dict = "metric plans configs steady sd low high agreement"

    def _columns(self) -> dict[str, Any]:
        names = ("plan", "config", "steady", "sd", "low", "high")
        return {name: list(column) for name, column in zip(names, zip(*self._rows(), strict=True), strict=True)}


# The verdict where no difference is found.
_UNDECIDED = "undecided"


@dataclass(frozen=True, eq=False, repr=False)
class Flips(OfOnePair, TableResult, FrameResult):
    """The verdicts of one test on two configurations, partition by partition.

    Attributes
    ----------
    comparisons : tuple of Comparison
        The comparison on each partition, or on each group of `size` repeats.
    overall : Comparison or None
        That on all repeats together; None if the test takes one repeat only.
    size : int
        Repeats in each comparison.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> rng = np.random.default_rng(0)
    >>> right = rng.random((60, 2, 20)) < [[0.85], [0.7]]
    >>> folds = np.stack([rng.permutation(60) % 5 for _ in range(20)], axis=1)
    >>> oof = of.from_arrays(None, right, folds=folds, configs=["a", "b"], response="pointwise")
    >>> found = of.stability.flips(oof, "mean", "a", "b")
    >>> round(found.flipped, 2), found.opposite, found.shares
    (0.1, False, {'a': 0.1, 'b': 0.0, 'undecided': 0.9})
    """

    comparisons: tuple[Comparison, ...]
    overall: Comparison | None
    size: int

    @property
    def method(self) -> str:
        """Name of the test."""
        return self.comparisons[0].method

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Who is better in each comparison, by name; ``undecided`` where no difference was found."""
        return tuple(found.better or _UNDECIDED for found in self.comparisons)

    @property
    def shares(self) -> dict[str, float]:
        """The share of comparisons with each verdict: the two names, and ``undecided``."""
        given = self.verdicts
        return {verdict: given.count(verdict) / len(given) for verdict in (self.a, self.b, _UNDECIDED)}

    @property
    def flipped(self) -> float:
        """The share of comparisons that do not give the most frequent verdict."""
        return 1 - max(self.shares.values())

    @property
    def agreement(self) -> float:
        """Probability that two comparisons, drawn at random, give the same verdict."""
        n, counts = len(self.verdicts), [self.verdicts.count(verdict) for verdict in set(self.verdicts)]
        return sum(k * (k - 1) for k in counts) / (n * (n - 1))

    @property
    def opposite(self) -> bool:
        """Whether each of the two is better in some comparison."""
        return {self.a, self.b} <= set(self.verdicts)

    def __repr__(self) -> str:
        return f"<Flips {self.method} {self.a} - {self.b}: {self.flipped:.0%} of {self._counted()}>"

    def _counted(self) -> str:
        n = len(self.comparisons)
        return count(n, "partition") if self.size == 1 else f"{count(n, 'group')} of {count(self.size, 'repeat')}"

    left = (0,)

    def _title(self) -> str:
        return f"{self.a} against {self.b} by {self.metric}: {self.method} on each of {self._counted()}"

    def _table(self, shown: int | None = None) -> Table:
        rows = []
        for verdict, share in self.shares.items():
            given = zip(self.verdicts, self.comparisons, strict=True)
            found = [one.pvalue for said, one in given if said == verdict and one.pvalue is not None]
            words = verdict if verdict == _UNDECIDED else f"{verdict} is better"
            ends = [pvalue(min(found)), pvalue(max(found))] if found else ["-", "-"]
            rows.append([words, f"{self.verdicts.count(verdict):,}", f"{share:.0%}", *ends])
        return ["verdict", "partitions" if self.size == 1 else "groups", "share", "smallest p", "largest p"], rows

    def _facts(self) -> Facts:
        rare = f"{self.flipped:.0%} do not give the most frequent verdict"
        yield "flips", f"{rare}; two agree with probability {self.agreement:.2f}"
        if self.opposite:
            yield "opposite", "each of the two is better in some of them"
        if self.overall is not None:
            p = "" if self.overall.pvalue is None else f", p = {pvalue(self.overall.pvalue)}"
            yield "together", f"all repeats: {self.overall.decision}{p}"

    in_dict = "a b metric method size verdicts shares flipped agreement opposite comparisons overall"

    def _columns(self) -> dict[str, Any]:
        found = self.comparisons
        return {
            "comparison": list(range(len(found))),
            "difference": [one.difference for one in found],
            "pvalue": [np.nan if one.pvalue is None else one.pvalue for one in found],
            "verdict": list(self.verdicts),
        }
