"""``cv_results_``, the table of GridSearchCV, and the rules that select from it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import is_whole_number
from ..data.predictions import Predictions, State
from ..exceptions import InputError
from ..metrics import Metric
from ..metrics._scoring import Scoring
from ..results import Selection
from ..select import Rule
from ..stats.selection import tied_with_best
from .failures import refused_cells
from .scorers import Scorers
from .stored_model import FunctionScorer

Columns = dict[str, Any]


def table(
    oof: Predictions,
    params: Sequence[Mapping[str, Any]],
    scores: Mapping[str, NDArray[Any]],
    error_score: float,
    trained: Mapping[str, NDArray[Any]],
    named: bool = False,
) -> Columns:
    """All columns; `scores` holds (configurations, splits) by name of the scorer, `trained` those of the training samples.

    GridSearchCV has no ``config`` and no ``state``: they come if configurations were `named`, if some were dropped or failed.
    """
    r, k = cells_in_order(oof)
    states = oof.state[:, r, k]
    # A configuration with other cells has no mean; GridSearchCV gives failed fits a score where it was told one.
    counted = (State.DONE,) if np.isnan(error_score) else (State.DONE, State.FAILED)
    columns = time_columns(oof) | param_columns(params)
    complete = np.asarray(np.isin(states, counted).all(axis=1))
    not_dropped = np.asarray(np.all(states != State.DROPPED, axis=1))
    for name, values in scores.items():
        filled = np.where(states == State.FAILED, error_score, values)
        columns |= score_columns(name, filled, complete)
        _warn_of_undefined(columns[f"mean_test_{name}"], not_dropped, "test")
        if name in trained:
            filled = np.where(states == State.FAILED, error_score, trained[name])
            own = score_columns(name, filled, complete, "train")
            columns |= {key: column for key, column in own.items() if not key.startswith("rank")}
            _warn_of_undefined(own[f"mean_train_{name}"], not_dropped, "train")
    words = np.full(len(states), State.DONE.name.lower(), dtype=object)
    for state in (State.DROPPED, State.FAILED):
        words[np.any(states == state, axis=1)] = state.name.lower()
    if named:
        columns["config"] = np.array(oof.configs, dtype=object)
    return columns if np.all(states == State.DONE) else columns | {"state": words}


def split_scores(oof: Predictions, metric: Metric, scorer: Any) -> NDArray[np.float64]:
    """(configurations, splits) the metric of every cell, in the order of the splits.

    Where the metric is undefined, F1 without positives say, it is what the scorer of scikit-learn gives, mostly 0.
    """
    r, k = cells_in_order(oof)
    refused = np.asarray(refused_cells(oof, metric).any(axis=(1, 2)))
    if refused.any():
        scores = np.full((len(oof.configs), len(r)), np.nan)
        rest = [name for name, no in zip(oof.configs, refused, strict=True) if not no]
        if rest:
            scores[~refused] = split_scores(oof.sel(config=rest), metric, scorer)
        return scores
    scores = in_order(oof, oof.scores(metric))
    if metric.needs == "live":
        return scores
    undefined = np.argwhere(np.isnan(scores) & (oof.state[:, r, k] == State.DONE))
    if len(undefined) and metric.needs != "model":  # functions of the model were asked already
        scores[tuple(undefined.T)] = FunctionScorer(scorer, oof.response).cells(
            oof, [(c, r[i], k[i]) for c, i in undefined]
        )
    return scores


def in_order(oof: Predictions, by_cell: NDArray[Any]) -> NDArray[Any]:
    """(configurations, splits) of the values of cells, in the order of the splits."""
    r, k = cells_in_order(oof)
    return np.array(by_cell[:, r, k])


def _warn_of_undefined(mean: NDArray[np.float64], not_dropped: NDArray[np.bool_], part: str) -> None:
    """As scikit-learn's searches warn of scores that are not finite; what was dropped has none, as it should."""
    if not np.isfinite(mean[not_dropped]).all():
        warnings.warn(f"One or more of the {part} scores are non-finite: {mean}", UserWarning, stacklevel=2)


def cells_in_order(oof: Predictions) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Repeat and fold of every split, in the order of the splits."""
    r, k = np.array(oof.splits.cells).T
    return r, k


def score_columns(name: str, splits: NDArray[np.float64], complete: NDArray[np.bool_], part: str = "test") -> Columns:
    """Columns of one scorer; a configuration with an undefined score has no mean, and comes last.

    Where a split is undefined for all, an AUC of one class for example, the mean is over the other splits: the same for all.
    """
    nowhere = np.isnan(splits[complete]).all(axis=0) if complete.any() else np.zeros(splits.shape[1], dtype=bool)
    counted = splits if nowhere.all() else splits[:, ~nowhere]
    mean, spread = _mean_and_spread(counted, complete)
    columns: Columns = {f"split{i}_{part}_{name}": column for i, column in enumerate(splits.T)}
    return columns | {f"mean_{part}_{name}": mean, f"std_{part}_{name}": spread, f"rank_{part}_{name}": _ranks(mean)}


def _mean_and_spread(
    values: NDArray[np.float64], complete: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of each row; NaN for rows that are not complete, or not defined everywhere."""
    mean = np.where(complete, values.mean(axis=1), np.nan)
    return mean, np.where(complete, values.std(axis=1), np.nan)


def _ranks(mean: NDArray[np.float64]) -> NDArray[np.int32]:
    """1 for the best and all tied with it; configurations without a mean share the last place."""
    if np.isnan(mean).all():
        return np.ones(len(mean), dtype=np.int32)
    best, tied = tied_with_best(mean[None], True)
    value = np.where(tied[0], best[0], np.where(np.isnan(mean), -np.inf, mean))
    return (1 + len(value) - np.searchsorted(np.sort(value), value, side="right")).astype(np.int32)


def param_columns(params: Sequence[Mapping[str, Any]]) -> Columns:
    """``params`` and a masked ``param_...`` for each; masked where a configuration does not have the parameter."""
    columns: Columns = {}
    for name in dict.fromkeys(p for part in params for p in part):
        rows = [i for i, part in enumerate(params) if name in part]
        values = [params[i][name] for i in rows]
        column, masked = np.empty(len(params), dtype=_dtype(values)), np.ones(len(params), dtype=bool)
        for i, value in zip(rows, values, strict=True):
            column[i] = value
        masked[rows] = False
        columns[f"param_{name}"] = np.ma.MaskedArray(column, mask=masked)
    return columns | {"params": [dict(part) for part in params]}


def _dtype(values: list[Any]) -> Any:
    try:
        found = np.array(values)
    except ValueError:  # lists of different lengths
        return object
    return found.dtype if found.ndim == 1 and found.dtype.kind in "biufc" else object


def time_columns(oof: Predictions) -> Columns:
    """How long the fits took, predicting and scoring in the worker included; the scores of predictions take next to nothing."""
    r, k = cells_in_order(oof)
    seconds = np.full((oof.n_configs, len(r)), np.nan) if oof.seconds is None else oof.seconds[:, r, k]
    mean, spread = _mean_and_spread(seconds, np.ones(len(seconds), dtype=bool))
    nothing = np.where(np.isnan(mean), np.nan, 0.0)
    scoring = {"mean_score_time": nothing, "std_score_time": nothing.copy()}
    return {"mean_fit_time": mean, "std_fit_time": spread, **scoring}


class FromResults(Rule):
    """``refit=function``: the index the function finds in ``cv_results_``, also inside the bootstrap."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        params: Sequence[Mapping[str, Any]],
        scorers: Scorers,
        kind: str | None,
    ) -> None:
        self.function, self.params = function, params
        self.scorers, self.kind = scorers, kind
        self.name = getattr(function, "__name__", "function of cv_results_")

    def pick(self, scoring: Scoring, weights: NDArray[Any] | None = None) -> NDArray[np.intp]:
        """What the function picks on the scores under every weighting; -1 where it picks no candidate."""
        metrics = self.scorers.metrics(self.kind, None if self.kind is None else scoring.oof.target)
        scored = {name: Scoring(scoring.oof, metric).fold_scores(weights) for name, metric in metrics.items()}
        fixed = time_columns(scoring.oof) | param_columns(self.params)
        position = {int(j): i for i, j in enumerate(scoring.candidates)}
        n = len(next(iter(scored.values())))
        # Where a score is undefined for all, there is nothing to ask.
        known = [not any(np.isnan(values[b]).all() for values in scored.values()) for b in range(n)]
        picked = [
            known[b] and selected_index(self.function, fixed | self._columns(scored, scoring, b)) for b in range(n)
        ]
        return np.array([position.get(j, -1) if ok else -1 for j, ok in zip(picked, known, strict=True)], dtype=np.intp)

    def _columns(self, scored: Mapping[str, NDArray[Any]], scoring: Scoring, draw: int) -> Columns:
        n = len(self.params)
        complete = np.isin(np.arange(n), scoring.candidates)
        columns: Columns = {}
        for name, values in scored.items():
            splits = np.full((n, values.shape[-1]), np.nan)
            splits[scoring.candidates] = values[draw]
            columns |= score_columns(name, splits, complete)
        return columns


def selected_index(function: Callable[[Any], Any], columns: Columns) -> int:
    """The index a function of ``cv_results_`` returns, checked as GridSearchCV checks it."""
    index = function(columns)
    if not is_whole_number(index):
        raise TypeError(f"best_index_ returned is not an integer: the `refit` function returned {index!r}.")
    if not 0 <= index < len(columns["params"]):
        n = len(columns["params"])
        raise IndexError(f"best_index_ index out of range: `refit` returned {index} for {n} configurations.")
    return int(index)


class FixedChoice(Rule):
    """The configuration at one position among all, whatever the scores."""

    def __init__(self, index: int, name: str) -> None:
        self.index, self.name = index, name

    def pick(self, scoring: Scoring, weights: NDArray[Any] | None = None) -> NDArray[np.intp]:
        """That configuration, under every weighting."""
        n = 1 if weights is None else len(weights)
        return np.full(n, int(np.flatnonzero(scoring.candidates == self.index)[0]), dtype=np.intp)


def can_select(oof: Predictions, metric: Metric) -> bool:
    """Whether there is a configuration without failed fits that has a mean score.

    The table may have one where the metric is undefined, for it then asks the scorer of scikit-learn.
    """
    columns = score_columns(metric.name, in_order(oof, oof.scores(metric)), _all_done(oof))
    return bool(np.isfinite(columns[f"mean_test_{metric.name}"]).any())


def select_by_rank(oof: Predictions, columns: Columns, name: str, problem: InputError) -> Selection:
    """The first in the table, for GridSearchCV selects where scores are undefined too.

    A configuration with failed fits is selected only if there is no other.
    """
    done = _all_done(oof)
    candidates = np.flatnonzero(done if done.any() else ~done)
    index = int(candidates[columns[f"rank_test_{name}"][candidates].argmin()])
    score = float(columns[f"mean_test_{name}"][index])
    n = len(candidates)
    return Selection(oof.configs[index], index, score, name, f"the first of {n}: {problem}", "fold", n, n)


def _all_done(oof: Predictions) -> NDArray[np.bool_]:
    """(C,) whether every fit of a configuration is done: none was dropped or failed."""
    return np.asarray(np.all(oof.state[:, oof.planned] == State.DONE, axis=1))


def refuse_incomplete(oof: Predictions, index: int) -> None:
    """Refuse a function of ``cv_results_`` that selects a configuration with dropped or failed cells."""
    if np.any(oof.state[index][oof.planned] != State.DONE):
        problem = f"refit selected {oof.configs[index]!r}, which was dropped or failed."
        raise InputError(problem, remedy="Select by mean_test_score, which is NaN there, or search with `drop=False`.")
