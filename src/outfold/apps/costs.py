"""How long configurations take, learnt from those that are finished."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..data.predictions import Predictions, State
from ..fitting.configs import Configs

# About how many times as long as a linear model others take; only for kinds of which nothing was fitted yet.
_TIMES = {
    "HistGradientBoosting": 4.0,
    "LGBM": 4.0,
    "KNeighbors": 4.0,
    "SVC": 10.0,
    "SVR": 10.0,
    "ExtraTrees": 30.0,
    "RandomForest": 40.0,
}


class Spent(NamedTuple):
    """What a configuration took: seconds, the cells that were fitted, and the cells that it has if it is not dropped."""

    seconds: float
    n_fitted: int
    n_cells: int


def _expected(spent: Sequence[Spent]) -> float:
    """Seconds of one more configuration of the same kind.

    One that was dropped early tells what a cell takes. That others will be dropped too is believed when several were: one
    that is not counts beside them.
    """
    n_fitted = sum(one.n_fitted for one in spent)
    if not n_fitted:
        return 0.0
    n_cells = spent[0].n_cells
    finished = (n_fitted / n_cells + 1) / (len(spent) + 1)
    return sum(one.seconds for one in spent) / n_fitted * n_cells * finished


def _mean_fit(spent: Sequence[Spent]) -> float:
    """Seconds of one fit."""
    return sum(one.seconds for one in spent) / max(sum(one.n_fitted for one in spent), 1)


class Costs:
    """Seconds that a configuration takes on all folds, learnt from finished waves by the kind of model."""

    def __init__(self, space: Configs) -> None:
        self._kinds = {name: kind_of_model(pipeline) for name, pipeline in space.items()}
        self._spent: dict[str, list[Spent]] = {}
        self._own = self._wall = 0.0

    @property
    def known(self) -> bool:
        """Whether anything was fitted yet."""
        return bool(self._spent)

    def learn(self, oof: Predictions, wave: Sequence[str], wall: float, n_fitted: int) -> None:
        """Take in the seconds of the fits of a wave, and the seconds that the wave took for the cells it fitted."""
        if oof.seconds is None:
            return
        mine = [oof.configs.index(name) for name in wave]
        own = np.nansum(oof.seconds[mine], axis=(1, 2))
        n_timed, n_cells = np.isfinite(oof.seconds[mine]).sum(axis=(1, 2)), oof.seconds[0].size
        for name, seconds, n in zip(wave, own.tolist(), n_timed.tolist(), strict=True):
            self._spent.setdefault(self._kinds[name], []).append(Spent(seconds, n, n_cells))
        n_done = int((oof.state[mine] == State.DONE).sum())
        if n_fitted:  # what came from the store took no time now
            self._own += float(own.sum()) * min(1.0, n_fitted / max(n_done, 1))
            self._wall += wall

    def of_config(self, name: str) -> float | None:
        """Seconds that this configuration takes, guessed from other kinds if need be; None if nothing was fitted yet."""
        return self._of_kind(self._kinds[name], _expected) * self._pace if self._spent else None

    def of_fit(self, name: str) -> float:
        """Seconds of one fit of this configuration, guessed from other kinds if need be; 0 if nothing was fitted yet."""
        return self._of_kind(self._kinds[name], _mean_fit) if self._spent else 0.0

    def is_guess(self, name: str) -> bool:
        """Whether no configuration of the same kind was fitted yet."""
        return self._kinds[name] not in self._spent

    def _of_kind(self, kind: str, seconds: Callable[[Sequence[Spent]], float]) -> float:
        if kind in self._spent:
            return seconds(self._spent[kind])
        linear = [seconds(spent) / _times(other) for other, spent in self._spent.items()]
        return float(np.mean(linear)) * _times(kind)

    @property
    def _pace(self) -> float:
        """Seconds on the clock for a second of fitting."""
        return self._wall / self._own if self._own > 0 else 1.0

    def of(self, names: Sequence[str]) -> float | None:
        """Seconds for all of these; None if nothing was fitted yet."""
        return sum(self.of_config(name) or 0.0 for name in names) if self._spent else None


def _times(kind: str) -> float:
    return next((times for part, times in _TIMES.items() if part in kind), 1.0)


def kind_of_model(pipeline: object) -> str:
    """The class of the model at the end of a pipeline; models of one class take about as long as each other."""
    steps = getattr(pipeline, "steps", None)
    model = steps[-1][1] if steps else pipeline
    inside = getattr(model, "estimator", None) or getattr(model, "regressor", None)
    return type(model).__name__ + ("" if inside is None else f" of {type(inside).__name__}")
