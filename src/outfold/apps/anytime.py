"""An anytime search: configurations come in waves, each wave on all folds, until all are done or the time is over.

What a finished wave gives is a valid artifact, so the search can stop at any moment: at the end of a budget, by Ctrl-C, or when
the system ends the process. The predictions of a configuration do not depend on the others, so waves change no number: after
the last one, everything is as if all configurations had been collected at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple, Protocol

import numpy as np

from ..data.predictions import Predictions, State
from ..exceptions import InputError
from ..fitting.configs import Configs
from ..formatting import seconds as duration
from .stopping import Reason, Stop

# A wave takes about this many seconds at first, later half of the time spent so far, and never more than this share of the whole.
_FIRST_WAVE, _GROWTH, _LARGEST_SHARE = 5.0, 0.5, 0.125
# A configuration that is expected to take more than this share of the time left waits until nothing cheaper is left.
_AFFORDABLE = 0.25
# Of a budget, what is kept for the final fit, the estimate and the report: this share, but seconds within these limits.
_RESERVE, _LEAST_RESERVE, _MOST_RESERVE = 0.1, 4.0, 60.0
# The estimate and the report take about this many times as long as the look at an estimate so far, which has fewer draws.
_LOOKS = 10


class Collect(Protocol):
    """Collects the predictions of these configurations into the store; `tell` is called with what is done of the total."""

    def __call__(self, configs: Configs, tell: Callable[[int, int], None]) -> Predictions:  # noqa: D102
        ...


class Found(NamedTuple):
    """What a search has found: the predictions of the configurations that were finished, and what was left."""

    oof: Predictions
    left: tuple[str, ...] = ()  # names of the configurations that were not finished
    stopped: Reason | None = None


@dataclass
class Standing:
    """How far a search is."""

    n_configs: int
    n_finished: int = 0
    n_dropped: int = 0
    seconds: float = 0.0
    seconds_left: float | None = None
    n_expected: int | None = None  # configurations that a budget is going to allow, with those that are finished
    oof: Predictions | None = None  # of the configurations that are finished


@dataclass
class AnytimeSearch:
    """A search in waves.

    `blocks` has the names of the configurations that should be fitted together, in the order of their expected use. With a
    budget, those that would take much of the time left wait for the others. `watch` is called whenever something is done.
    `finished` and `begun` have names of an earlier call: they are the first waves.
    """

    space: Configs
    blocks: Sequence[Sequence[str]]
    collect: Collect
    watch: Callable[[Standing], None] = lambda standing: None
    budget: float | None = None
    finished: Sequence[str] = ()
    begun: Sequence[str] = ()
    clock: Callable[[], float] = monotonic
    start: float | None = None  # when the budget began, by this clock; None is now
    costs: _Costs = field(init=False)

    def __post_init__(self) -> None:
        self.costs = _Costs(self.space)
        self.begin = self.clock() if self.start is None else self.start
        self._one_fit = 0.0  # seconds of the longest fit so far: the last one, on all samples, takes about as long
        self._one_look = 0.0  # seconds that `watch` took at most

    def run(self) -> Found:
        """Search, and give back what is finished when all is done or the search is stopped."""
        waves = _Waves(self.space, self.blocks, self.finished, self.begun)
        standing = Standing(len(self.space))
        finished: list[str] = []
        oof: Predictions | None = None
        stop = Stop()
        try:
            with stop:
                while waves:
                    wave = waves.take(self._seconds_of_wave(standing), self.costs.of_config, self._time_left())
                    begin, tell = self.clock(), _Tell(self, standing, wave, waves.left, stop)
                    oof = self.collect(self._ordered([*finished, *wave]), tell)
                    finished += wave
                    self._learn(standing, oof, wave, self.clock() - begin, tell.n_fitted)
                    standing.seconds_left = self.costs.of(waves.left)
                    standing.n_expected = self._n_expected(standing, waves.left)
                    self._look(standing)
                    if self.budget is not None:
                        # From here on there is an answer, so the budget may end the search.
                        stop.after(self._deadline() - self.clock())
        except KeyboardInterrupt:
            if oof is None:
                raise
            standing.n_finished = len(oof.configs)
        if oof is None:
            raise InputError("there are no configurations to try.")
        done = set(oof.configs)
        left = tuple(name for name in self.space if name not in done)
        return Found(oof, left, stop.reason if left else None)

    def _ordered(self, names: Sequence[str]) -> Configs:
        """These configurations in the order of the space: which of two equal ones is selected depends on the order."""
        wanted = set(names)
        return Configs({name: self.space[name] for name in self.space if name in wanted}, self.space.params)

    def _deadline(self) -> float:
        assert self.budget is not None
        reserve = min(max(_RESERVE * self.budget, _LEAST_RESERVE), _MOST_RESERVE)
        reserve = max(reserve, _LOOKS * self._one_look) + 1.5 * self._one_fit
        reserve = min(reserve, self.budget / 2)
        return self.begin + self.budget - reserve

    def _time_left(self) -> float | None:
        """Seconds that the budget has for further configurations; None if there is none, or if nothing was fitted yet."""
        return self._deadline() - self.clock() if self.budget is not None and self.costs.known else None

    def _n_expected(self, standing: Standing, names: Sequence[str]) -> int | None:
        """How many configurations the budget allows, the cheap ones first."""
        left = self._time_left()
        if left is None:
            return None
        costs = np.cumsum(sorted(self.costs.of_config(name) or 0.0 for name in names))
        return standing.n_finished + int(np.sum(costs <= left))

    def _look(self, standing: Standing) -> None:
        begin = self.clock()
        self.watch(standing)
        self._one_look = max(self._one_look, self.clock() - begin)

    def _seconds_of_wave(self, standing: Standing) -> float:
        """About how long the next wave should take."""
        spent = self.clock() - self.begin
        wanted = max(_FIRST_WAVE, _GROWTH * spent)
        if standing.seconds_left is not None:
            wanted = min(wanted, max(_FIRST_WAVE, _LARGEST_SHARE * (spent + standing.seconds_left)))
        if self.budget is not None:
            wanted = min(wanted, _LARGEST_SHARE * (self._deadline() - self.clock()))
        return wanted

    def _learn(self, standing: Standing, oof: Predictions, wave: Sequence[str], seconds: float, n_fitted: int) -> None:
        self.costs.learn(oof, wave, seconds, n_fitted)
        if oof.seconds is not None and not np.isnan(oof.seconds).all():
            self._one_fit = float(np.nanmax(oof.seconds))
        standing.oof, standing.n_finished = oof, len(oof.configs)
        standing.n_dropped = int(np.any(oof.state == State.DROPPED, axis=(1, 2)).sum())
        standing.seconds = self.clock() - self.begin


class _Tell:
    """What `collect` calls while it works on a wave: it shows how far the search is, and ends it where a signal cannot."""

    def __init__(
        self, search: AnytimeSearch, standing: Standing, wave: Sequence[str], left: Sequence[str], stop: Stop
    ) -> None:
        self.search, self.standing, self.left, self.stop = search, standing, left, stop
        self.n_fitted = 0  # cells that this call fitted; the store had the others
        self._begin, self._expected = search.clock(), search.costs.of(wave)
        self._n_wave, self._before = len(wave), standing.n_finished

    def __call__(self, done: int, total: int) -> None:
        """So many cells of the total are done."""
        if self.stop.due:
            raise KeyboardInterrupt
        self.n_fitted = done
        search, standing, share, now = self.search, self.standing, done / max(total, 1), self.search.clock()
        standing.seconds = now - search.begin
        standing.n_finished = self._before + int(share * self._n_wave)
        rest = None if self._expected is None else self._expected * (1 - share)
        if share > 0.1:  # what the wave itself shows counts for more, the further it is
            shown = (now - self._begin) * (1 - share) / share
            rest = shown if rest is None else share * shown + (1 - share) * rest
        later = search.costs.of(self.left)
        standing.seconds_left = None if rest is None or later is None else rest + later
        search.watch(standing)


# -- waves ----------------------------------------------------------------------------------------------------


Cost = Callable[[str], float | None]


class _Waves:
    """The names in the order in which they are tried: one of each kind of model first, then block after block."""

    def __init__(
        self, space: Configs, blocks: Sequence[Sequence[str]], finished: Sequence[str] = (), begun: Sequence[str] = ()
    ) -> None:
        before = [name for name in finished if name in space]
        more = [name for name in begun if name in space and name not in set(before)]
        seen = {*before, *more}
        kinds = {kind_of_model(space[name]) for name in seen}
        firsts: list[str] = []
        for block in blocks:
            name = block[0]
            if name not in seen and kind_of_model(space[name]) not in kinds:
                kinds.add(kind_of_model(space[name]))
                firsts.append(name)
        seen.update(firsts)
        # The first configuration comes alone: after it there is an answer.
        waves = [before, more, firsts] if before or more else [firsts[:1], *_halves(firsts[1:])]
        self._fixed = [wave for wave in waves if wave]
        self._blocks = _without([list(block) for block in blocks], seen)

    def __bool__(self) -> bool:
        return bool(self._fixed or self._blocks)

    @property
    def left(self) -> list[str]:
        """The names that are still to come."""
        return [name for wave in (*self._fixed, *self._blocks) for name in wave]

    def take(self, seconds: float, cost: Cost, time_left: float | None = None) -> list[str]:
        """The next wave: as many whole blocks as these seconds allow, and at least one.

        With little `time_left`, what would take much of it waits until nothing else is left.
        """
        if time_left is None and self._fixed:
            return self._fixed.pop(0)
        parts = self._blocks if time_left is None else self._cheap_first(cost, time_left)
        wave, spent = list[str](), 0.0
        for part in parts:
            spent += sum(cost(name) or 0.0 for name in part)
            if wave and spent > seconds:
                break
            wave += part
        self._fixed, self._blocks = (_without(parts, set(wave)) for parts in (self._fixed, self._blocks))
        return wave

    def _cheap_first(self, cost: Cost, time_left: float) -> list[list[str]]:
        """One of each kind, then the blocks; those that begin with a dear one come last, the cheapest of them first."""
        parts = [[name] for wave in self._fixed for name in wave] + self._blocks
        first = [cost(part[0]) or 0.0 for part in parts]
        dear = [seconds if seconds > _AFFORDABLE * time_left else 0.0 for seconds in first]
        order = sorted(range(len(parts)), key=dear.__getitem__)
        # A block is cut if there is no time for all of it.
        head, costs = parts[order[0]], np.cumsum([cost(name) or 0.0 for name in parts[order[0]]])
        n = len(head) if costs[-1] <= time_left else max(int(np.sum(costs <= time_left / 2)), 1)
        return [head[:n], *(parts[i] for i in order[1:])] if n == len(head) else [head[:n]]


def _without(parts: list[list[str]], names: set[str]) -> list[list[str]]:
    kept = [[name for name in part if name not in names] for part in parts]
    return [part for part in kept if part]


def _halves(names: list[str]) -> tuple[list[str], list[str]]:
    middle = len(names) // 2
    return names[:middle], names[middle:]


def kind_of_model(pipeline: object) -> str:
    """The class of the model at the end of a pipeline; models of one class take about as long as each other."""
    steps = getattr(pipeline, "steps", None)
    model = steps[-1][1] if steps else pipeline
    inside = getattr(model, "estimator", None) or getattr(model, "regressor", None)
    return type(model).__name__ + ("" if inside is None else f" of {type(inside).__name__}")


# -- costs ----------------------------------------------------------------------------------------------------


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


class _Spent(NamedTuple):
    """What a configuration took: seconds, the cells that were fitted, and the cells that it has if it is not dropped."""

    seconds: float
    n_fitted: int
    n_cells: int


def _expected(spent: Sequence[_Spent]) -> float:
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


class _Costs:
    """Seconds that a configuration takes on all folds, learnt from finished waves by the kind of model."""

    def __init__(self, space: Configs) -> None:
        self._kinds = {name: kind_of_model(pipeline) for name, pipeline in space.items()}
        self._spent: dict[str, list[_Spent]] = {}
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
            self._spent.setdefault(self._kinds[name], []).append(_Spent(seconds, n, n_cells))
        n_done = int((oof.state[mine] == State.DONE).sum())
        if n_fitted:  # what came from the store took no time now
            self._own += float(own.sum()) * min(1.0, n_fitted / max(n_done, 1))
            self._wall += wall

    def of_config(self, name: str) -> float | None:
        """Seconds that this configuration takes, guessed from other kinds if need be; None if nothing was fitted yet."""
        if not self._spent:
            return None
        kind = self._kinds[name]
        if kind not in self._spent:
            linear = [_expected(spent) / _times(other) for other, spent in self._spent.items()]
            return float(np.mean(linear)) * _times(kind) * self._pace
        return _expected(self._spent[kind]) * self._pace

    @property
    def _pace(self) -> float:
        """Seconds on the clock for a second of fitting."""
        return self._wall / self._own if self._own > 0 else 1.0

    def of(self, names: Sequence[str]) -> float | None:
        """Seconds for all of these; None if nothing was fitted yet."""
        return sum(self.of_config(name) or 0.0 for name in names) if self._spent else None


def _times(kind: str) -> float:
    return next((times for part, times in _TIMES.items() if part in kind), 1.0)


def words_for_stop(found: Found, budget: float | None) -> str:
    """What a search that did not finish says of itself; empty if it did."""
    if found.stopped is None:
        return ""
    why: Mapping[Reason, str] = {
        "budget": f"the budget of {duration(budget or 0.0)} is spent",
        "interrupt": "stopped by Ctrl-C",
        "terminate": "stopped by the system",
    }
    n, left = len(found.oof.configs), len(found.left)
    return f"{why[found.stopped]}; the answer covers the {n:,} of {n + left:,} configurations that are finished"
