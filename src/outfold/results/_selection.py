"""Configurations by score: the choice of a rule, and what cannot be told from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..docstrings import document_result
from ..formatting import count, number
from ._base import Facts, FrameResult, Result, Table, TableResult, dash


@document_result
@dataclass(frozen=True)
class Selection(Result):
    """The configuration a rule picks.

    Attributes
    ----------
    name : str
        The configuration.
    index : int
        Its position among all configurations of the predictions.
    score : float
        Its cross-validation score: optimistic, because the configuration was picked for it.
    {metric_name}
    rule : str
        How it was selected, in words: by which rule and score, of how many configurations.
    aggregate : str
        Whether the score is ``pooled`` or the mean over folds, ``fold``.
    tied, n_candidates : int
        How many configurations have the same best score, and how many the rule could pick.
    params : dict
        The parameters that tell the configuration from the others.
    has_best : bool
        Whether its score is the best one; a rule that prefers simple configurations may pick a lower score.

    Examples
    --------
    >>> import outfold as of
    >>> oof = of.from_arrays(None, [[1, 1], [0, 1], [1, 0], [0, 1]], configs=["a", "b"], response="pointwise")
    >>> found = of.select.best(oof, "mean")
    >>> found.name, found.score, found.tied
    ('b', 0.75, 1)
    """

    name: str
    index: int
    score: float
    metric: str
    rule: str
    aggregate: str
    tied: int
    n_candidates: int
    params: Mapping[str, Any] = field(default_factory=dict)
    has_best: bool = True

    in_dict = "name index score metric rule aggregate tied n_candidates params"

    def _title(self) -> str:
        return f"{self.name}   {self.metric} {number(self.score)} (score before correction, optimistic)"

    def _facts(self) -> Facts:
        yield "rule", f"{self.rule}{self._tie()}"

    def _tie(self) -> str:
        if self.tied < 2:
            return ""
        return f", {self.tied} tied for first" if self.has_best else f"; the best score is shared by {self.tied}"


@document_result
@dataclass(frozen=True, eq=False, repr=False)
class TiedSet(TableResult, FrameResult):
    """Configurations that cannot be told from the best one, by score.

    Attributes: {metric_name}
    confidence_level : float
        The set holds the truly best configuration with this probability or more.
    {best_first}
    scores, pvalues : ndarray
        Their cross-validation scores, and p values of "this configuration is the best".
    n_candidates : int
        How many configurations were compared.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> correct = np.random.default_rng(0).random((80, 3)) < [0.9, 0.88, 0.5]
    >>> found = of.compare.tied_set(of.from_arrays(None, correct, response="pointwise"), "mean")
    >>> found.configs, found.n_candidates
    (('config 0', 'config 1'), 3)
    """

    metric: str
    confidence_level: float
    configs: tuple[str, ...]
    scores: NDArray[np.float64]
    pvalues: NDArray[np.float64]
    n_candidates: int

    def __len__(self) -> int:
        return len(self.configs)

    def __contains__(self, config: object) -> bool:
        return config in self.configs

    def __repr__(self) -> str:
        return f"<TiedSet of {len(self)} among {count(self.n_candidates, 'configuration')} by {self.metric}>"

    def _title(self) -> str:
        rest = f"cannot be told from the best ({100 * self.confidence_level:g}% confidence set)"
        return f"{len(self):,} of {count(self.n_candidates, 'configuration')} {rest}"

    rows_of = "configs"

    def _members(self) -> list[tuple[str, float, float]]:
        return list(zip(self.configs, self.scores.tolist(), self.pvalues.tolist(), strict=True))

    def _table(self, shown: int | None = None) -> Table:
        rows = [[name, number(score), number(p)] for name, score, p in self._members()[:shown]]
        return ["configuration", self.metric, "p"], rows

    in_dict = "metric confidence_level n_candidates"

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form."""
        members = [{"config": name, "score": score, "pvalue": p} for name, score, p in self._members()]
        return super().to_dict() | {"configurations": members}

    def _columns(self) -> dict[str, Any]:
        return {"config": list(self.configs), self.metric: list(self.scores), "pvalue": list(self.pvalues)}


class Baseline(NamedTuple):
    """What a model that learnt nothing scores.

    Attributes
    ----------
    value : float
        Its score.
    of : str
        Which model that is, such as ``always predicting benign``.

    Examples
    --------
    >>> import outfold as of
    >>> predicted = [[0.1], [0.8], [0.6], [0.3], [0.2]]
    >>> table = of.from_arrays([0, 1, 1, 0, 0], predicted, configs=["a"]).leaderboard("accuracy")
    >>> table.baseline
    Baseline(value=0.6, of='always predicting 0')
    """

    value: float
    of: str

    def __str__(self) -> str:
        return f"{self.of}: {number(self.value)}"


@document_result
@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(TableResult, FrameResult):
    """Configurations by cross-validation score, best first; the first score is optimistic.

    Attributes: {metric_name, best_first}
    scores, se : ndarray
        Their cross-validation scores, and standard errors over folds; NaN for fewer than two folds.
    ranks : ndarray of int
        Their ranks, 1 for the best. Scores that differ by rounding only share a rank, in the order you gave.
    left_out : dict
        Configurations without a score, and why: dropped, failed or pending.
    selected, rule : str
        The configuration that is selected, which need not be the first, and how, in words; empty where none can be.
    baseline : Baseline or None
        The score of a model that learnt nothing, such as that of always predicting the majority class; None if it is not known.

    Examples
    --------
    >>> import outfold as of
    >>> predicted = [[0.1, 0.4], [0.8, 0.7], [0.6, 0.2], [0.3, 0.9]]
    >>> table = of.from_arrays([0, 1, 1, 0], predicted, configs=["a", "b"]).leaderboard("accuracy")
    >>> table.configs, table.scores.tolist()
    (('a', 'b'), [1.0, 0.5])
    """

    metric: str
    configs: tuple[str, ...]
    scores: NDArray[np.float64]
    se: NDArray[np.float64]
    ranks: NDArray[np.intp]
    left_out: Mapping[str, str] = field(default_factory=dict)
    selected: str = ""
    rule: str = ""
    baseline: Baseline | None = None

    def __len__(self) -> int:
        return len(self.configs)

    def __repr__(self) -> str:
        return f"<Leaderboard of {count(len(self), 'configuration')} by {self.metric}>"

    left, rows_of = (1,), "configs"

    def _title(self) -> str:
        several = len(self.configs) + len(self.left_out) > 1
        return f"selected: {self.selected}, {self.rule}" if self.selected and several else ""

    def _table(self, shown: int | None = None) -> Table:
        done = zip(self.ranks, self.configs, self.scores, self.se, strict=True)
        rows = [[f"{rank}", name, number(s), dash(e)] for rank, name, s, e in done][:shown]
        left_out = [["-", name, why, "-"] for name, why in self.left_out.items()][:shown]
        return ["rank", "configuration", self.metric, "se"], rows + left_out

    def _lines(self) -> Iterable[str]:
        return () if self.baseline is None else (str(self.baseline),)

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form; a configuration that was left out has no score."""
        ranked = [
            {"rank": int(rank), "config": name, "score": float(s), "se": float(e), "status": "done"}
            for rank, name, s, e in zip(self.ranks, self.configs, self.scores, self.se, strict=True)
        ]
        others = [
            {"rank": None, "config": name, "score": None, "se": None, "status": why}
            for name, why in self.left_out.items()
        ]
        chosen = {"selected": self.selected or None, "rule": self.rule or None}
        baseline = None if self.baseline is None else self.baseline._asdict()
        return {"metric": self.metric, **chosen, "configurations": ranked + others, "baseline": baseline}

    def _columns(self) -> dict[str, Any]:
        nothing = [np.nan] * len(self.left_out)
        return {
            "config": [*self.configs, *self.left_out],
            self.metric: [*map(float, self.scores), *nothing],
            "se": [*map(float, self.se), *nothing],
            "status": ["done"] * len(self) + list(self.left_out.values()),
        }
