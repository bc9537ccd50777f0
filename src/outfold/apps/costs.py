"""How long configurations take, learnt from those that are finished."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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


@dataclass
class Spent:
    """What the configurations of one kind took: seconds, fitted cells, and cells that there would be had none been dropped."""

    seconds: float = 0.0
    n_fitted: int = 0
    n_configs: int = 0
    n_cells: int = 1  # of one configuration

    def add(self, seconds: float, n_fitted: int) -> None:
        """One more configuration."""
        self.seconds += seconds
        self.n_fitted += n_fitted
        self.n_configs += 1

    @property
    def one_fit(self) -> float:
        """Seconds of one fit."""
        return self.seconds / max(self.n_fitted, 1)

    @property
    def expected(self) -> float:
        """Seconds of one more configuration.

        One that was dropped early tells what a cell takes. That others will be dropped too is believed when several were: one
        that is not counts beside them.
        """
        finished = (self.n_fitted / self.n_cells + 1) / (self.n_configs + 1)
        return self.one_fit * self.n_cells * finished


class WaveTimes(NamedTuple):
    """What the clock said of a wave: all its seconds, and those from the end of its first fit to the end of its last.

    `n_fitted` is the number of cells that were fitted, `n_first` how many of them came back together with the first one.
    """

    wall: float
    n_fitted: int
    between: float
    n_first: int


class Costs:
    """Seconds that a configuration takes on all folds, learnt from finished waves by the kind of model."""

    def __init__(self, space: Configs) -> None:
        self._kinds = {name: kind_of_model(pipeline) for name, pipeline in space.items()}
        self._spent: dict[str, Spent] = {}
        self._own = self._wall = 0.0
        self.longest_fit = 0.0  # of the configuration whose fits take longest
        self.overhead = 0.0  # seconds that the last wave took beside its fits; 0 after the first one

    @property
    def known(self) -> bool:
        """Whether anything was fitted yet."""
        return bool(self._spent)

    def learn(self, oof: Predictions, wave: Sequence[str], times: WaveTimes) -> None:
        """Take in the seconds of the fits of a wave, and what the clock said of it."""
        if oof.seconds is None:
            return
        mine = [oof.configs.index(name) for name in wave]
        n_timed, n_cells = np.isfinite(oof.seconds[mine]).sum(axis=(1, 2)), oof.seconds[0].size
        one_fit = typical_seconds(oof.seconds[mine])
        own = one_fit * n_timed
        for name, seconds, n in zip(wave, own.tolist(), n_timed.tolist(), strict=True):
            self._spent.setdefault(self._kinds[name], Spent(n_cells=n_cells)).add(seconds, n)
        self.longest_fit = max(self.longest_fit, float(one_fit.max(initial=0.0)))
        n_done = int((oof.state[mine] == State.DONE).sum())
        if not times.n_fitted:  # what came from the store took no time now
            return
        total = float(own.sum())
        first = times.n_first * total / max(n_timed.sum(), 1)
        working = min(first + times.between, times.wall)
        # The first wave also makes the file, and loads what fits need.
        self.overhead = 0.0 if self._wall == 0.0 else times.wall - working
        self._own += total * min(1.0, times.n_fitted / max(n_done, 1))
        self._wall += working

    def of_config(self, name: str) -> float | None:
        """Seconds that this configuration takes, guessed from other kinds if need be; None if nothing was fitted yet."""
        return self._of_kind(self._kinds[name], lambda spent: spent.expected) * self._pace if self._spent else None

    def of_fit(self, name: str) -> float:
        """Seconds of one fit of this configuration, guessed from other kinds if need be; 0 if nothing was fitted yet."""
        return self._of_kind(self._kinds[name], lambda spent: spent.one_fit) if self._spent else 0.0

    def is_guess(self, name: str) -> bool:
        """Whether no configuration of the same kind was fitted yet."""
        return self._kinds[name] not in self._spent

    def _of_kind(self, kind: str, seconds: Callable[[Spent], float]) -> float:
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


def typical_seconds(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each configuration the median over its cells; the first fit of all also loads what later ones find there."""
    flat = seconds.reshape(len(seconds), -1)
    known = np.isfinite(flat).any(axis=1)
    out = np.zeros(len(flat))
    out[known] = np.nanmedian(flat[known], axis=1)
    return out


def _times(kind: str) -> float:
    return next((times for part, times in _TIMES.items() if part in kind), 1.0)


def kind_of_model(pipeline: object) -> str:
    """The class of the model at the end of a pipeline; models of one class take about as long as each other."""
    steps = getattr(pipeline, "steps", None)
    model = steps[-1][1] if steps else pipeline
    inside = getattr(model, "estimator", None) or getattr(model, "regressor", None)
    return type(model).__name__ + ("" if inside is None else f" of {type(inside).__name__}")
