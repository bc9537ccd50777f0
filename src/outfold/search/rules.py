"""How a search selects and drops: by the mean over folds, by a function of ``cv_results_``, by halving."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import drop
from ..data.predictions import Predictions, State
from ..exceptions import InputError
from ..metrics import MetricLike
from ..metrics._scoring import Scoring
from ..select import Rule, RuleLike, as_rule
from . import results
from .scorers import Scorers


class ByFold(Rule):
    """A rule on the mean over folds, which is how GridSearchCV scores, instead of on the pooled predictions."""

    def __init__(self, rule: RuleLike = None) -> None:
        self.rule = as_rule(rule)
        self.name = self.rule.name

    def pick(self, scoring: Scoring, weights: NDArray[Any] | None = None) -> NDArray[np.intp]:
        """The wrapped rule's picks."""
        return self.rule.pick(scoring.by_fold(), weights)


class FromResults(Rule):
    """``refit=function``: the index the function finds in ``cv_results_``, also inside the bootstrap.

    Parameters
    ----------
    function
        Given the table, returns a position among all configurations.
    params
        Parameters of all configurations.
    scorers, kind, response
        What the columns of the table are.
    """

    def __init__(
        self,
        function: Callable[[Any], Any],
        params: Sequence[Mapping[str, Any]],
        scorers: Scorers,
        kind: str,
        response: str,
    ) -> None:
        self.function, self.params = function, params
        self.scorers, self.kind, self.response = scorers, kind, response
        self.name = getattr(function, "__name__", "function of cv_results_")

    def pick(self, scoring: Scoring, weights: NDArray[Any] | None = None) -> NDArray[np.intp]:
        """What the function picks on the scores under every weighting; -1 where it picks no candidate."""
        metrics = self.scorers.metrics(self.kind, scoring.oof.target, self.response)
        scored = {name: Scoring(scoring.oof, metric).fold_scores(weights) for name, metric in metrics.items()}
        fixed = results.time_columns(scoring.oof) | results.param_columns(self.params)
        position = {int(j): i for i, j in enumerate(scoring.candidates)}
        n = len(next(iter(scored.values())))
        # Where a score is undefined for all, there is nothing to ask.
        known = [not any(np.isnan(values[b]).all() for values in scored.values()) for b in range(n)]
        picked = [known[b] and ask(self.function, fixed | self._columns(scored, scoring, b)) for b in range(n)]
        return np.array([position.get(j, -1) if ok else -1 for j, ok in zip(picked, known, strict=True)], dtype=np.intp)

    def _columns(self, scored: Mapping[str, NDArray[Any]], scoring: Scoring, draw: int) -> results.Columns:
        n = len(self.params)
        complete = np.isin(np.arange(n), scoring.candidates)
        columns: results.Columns = {}
        for name, values in scored.items():
            splits = np.full((n, values.shape[-1]), np.nan)
            splits[scoring.candidates] = values[draw]
            columns |= results.score_columns(name, splits, complete)
        return columns


def ask(function: Callable[[Any], Any], columns: results.Columns) -> int:
    """The index a function of ``cv_results_`` returns, checked as GridSearchCV checks it."""
    index = function(columns)
    if isinstance(index, bool) or not isinstance(index, (int, np.integer)):
        raise TypeError(f"refit must return the index of a configuration; it returned {index!r}.")
    if not 0 <= index < len(columns["params"]):
        raise IndexError(f"refit returned the index {index}; there are {len(columns['params'])} configurations.")
    return int(index)


class Fixed(Rule):
    """The configuration at one position among all, whatever the scores."""

    def __init__(self, index: int, name: str) -> None:
        self.index, self.name = index, name

    def pick(self, scoring: Scoring, weights: NDArray[Any] | None = None) -> NDArray[np.intp]:
        """That configuration, under every weighting."""
        n = 1 if weights is None else len(weights)
        return np.full(n, int(np.flatnonzero(scoring.candidates == self.index)[0]), dtype=np.intp)


@dataclass(frozen=True, repr=False)
class Halving(drop.DropRule):
    """After every fold, keep the better half of the configurations still running: successive halving over folds.

    Parameters
    ----------
    metric
        What decides, by its mean over the folds so far.
    """

    metric: MetricLike | None = None

    def _losers(self, scoring: Scoring, cell: tuple[int, int], seed: int) -> Iterator[drop.Drop]:
        score = scoring.metric.sign * scoring.by_fold().scores()[0]
        order = np.argsort(np.where(np.isnan(score), np.inf, -score), kind="stable")
        for j in order[(len(order) + 1) // 2 :]:
            yield drop.Drop(scoring.names[j], None, scoring.names[order[0]])


def refuse_incomplete(oof: Predictions, index: int) -> None:
    """A function of ``cv_results_`` may not select what was not seen through."""
    if np.any(oof.state[index][oof.planned] != State.DONE):
        raise InputError(
            f"refit selected {oof.configs[index]!r}, which was dropped or failed; select by mean_test_score, which is "
            "NaN there, or search with drop=False."
        )
