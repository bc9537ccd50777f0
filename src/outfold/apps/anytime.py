"""An anytime search: configurations come in waves, each wave on all folds, until all are done or the time is over.

What a finished wave gives is a valid artifact, so the search can stop at any moment: at the end of a budget, by Ctrl-C, or when
the system ends the process. The predictions of a configuration do not depend on the others, so waves change no number: after
the last one, everything is as if all configurations had been collected at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from time import monotonic, thread_time
from typing import NamedTuple, Protocol

import numpy as np

from ..data.predictions import Predictions, State
from ..exceptions import CollectError, InputError
from ..fitting.configs import Configs
from ..formatting import seconds as duration
from .answer_time import AnswerTime
from .costs import Costs, WaveTimes
from .stopping import Reason, Stop
from .waves import Waves

# A wave takes about this many seconds at first, later half of the time spent so far, and never more than this share of the whole.
_FIRST_WAVE, _GROWTH, _LARGEST_SHARE = 5.0, 0.5, 0.125
# Cells that one worker has done come back within this many seconds.
_AT_ONCE = 0.05
# A wave takes at least this many times as long as what it does beside the fits, such as reading the file.
_LEAST_WORK = 4.0
# A wave that is expected to take this many times as long as a budget has for it is not begun.
_HOPELESS = 2.0


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
    seconds_left: float | None = None  # until there is an answer
    n_expected: int | None = None  # configurations that a budget is going to allow, with those that are finished
    oof: Predictions | None = None  # of the configurations that are finished


@dataclass
class AnytimeSearch:
    """A search in waves.

    `blocks` has the names of the configurations that should be fitted together, in the order of their expected use. With a
    budget, those that would take much of the time left wait for the others. `watch` is called whenever something is done.
    `finished` and `begun` have names of an earlier call: they are the first waves. `stored` gives the names of the configurations
    in the store that need no further fit, whatever else is tried: those of a wave that was cut off are not lost.
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
    answer: AnswerTime = field(default_factory=AnswerTime)
    stored: Callable[[], Sequence[str]] = tuple
    costs: Costs = field(init=False)

    def __post_init__(self) -> None:
        self.costs = Costs(self.space)
        self.begin = self.clock() if self.start is None else self.start
        self._left = 0.0  # seconds that the search itself is expected to take

    def run(self) -> Found:
        """Search, and give back what is finished when all is done or the search is stopped."""
        waves = Waves(self.space, self.blocks, self.finished, self.begun)
        standing = Standing(len(self.space))
        finished: list[str] = []
        oof: Predictions | None = None
        stop = Stop()
        try:
            with stop:
                while waves:
                    wave = waves.take(self._seconds_of_wave(), self.costs.of_config, self._time_left())
                    # Once there is an answer, the budget may end the search.
                    if self.budget is not None and oof is not None and not self._begins(wave, stop):
                        break
                    tell = _Tell(self, standing, wave, self.seconds_of(waves.left, waves.most), stop)
                    finished += wave
                    try:
                        oof = self.collect(self._ordered(finished), tell)
                    except CollectError as error:
                        if not (error.reasons and waves):
                            raise
                        continue  # all of these failed, but others may not
                    self._learn(standing, oof, wave, tell.times())
                    self.expect(standing, self.seconds_of(waves.left, waves.most))
                    standing.n_expected = self._n_expected(standing, waves.left)
                    self._look(standing)
        except KeyboardInterrupt:
            if oof is None:
                raise
            oof = self._with_stored(oof)
            standing.oof, standing.n_finished = oof, len(oof.configs)
        if oof is None:
            raise InputError("there are no configurations to try.")
        done = set(oof.configs)
        left = tuple(name for name in self.space if name not in done)
        return Found(oof, left, stop.reason if left else None)

    def _with_stored(self, oof: Predictions) -> Predictions:
        """The predictions with those of configurations that were finished since."""
        more = [name for name in self.stored() if name in self.space and name not in oof.configs]
        return self.collect(self._ordered([*oof.configs, *more]), lambda done, total: None) if more else oof

    def _ordered(self, names: Sequence[str]) -> Configs:
        """These configurations in the order of the space: which of two equal ones is selected depends on the order."""
        wanted = set(names)
        return Configs({name: self.space[name] for name in self.space if name in wanted}, self.space.params)

    def seconds_of(self, names: Sequence[str], most_waves: int = 1) -> float | None:
        """Seconds that these take, in as many waves as they need; None if nothing was fitted yet."""
        seconds = self.costs.of(names)
        if seconds is None or not names:
            return seconds
        return seconds + min(ceil(seconds / max(self._seconds_of_wave(), 1e-9)), most_waves) * self.costs.overhead

    def expect(self, standing: Standing, left: float | None) -> None:
        """Take these seconds for what the configurations that are left will take; a budget may end them before."""
        if left is None:
            return
        self._left = left
        if self.budget is not None:
            left = min(left, max(self._deadline() - self.clock(), 0.0))
        standing.seconds_left = left + self.answer.expected

    def _deadline(self) -> float:
        assert self.budget is not None
        return self.begin + self.budget - min(self.answer.reserve, self.budget / 2)

    def _time_left(self) -> float | None:
        """Seconds that the budget has for further configurations; None if there is none, or if nothing was fitted yet."""
        return self._deadline() - self.clock() if self.budget is not None and self.costs.known else None

    def _seconds_for(self, wave: Sequence[str]) -> float:
        """Seconds in which this wave must be finished: less than are left, if its best may take long to fit again."""
        assert self.budget is not None
        now, end, fit = self.clock(), self.begin + self.budget, max(map(self.costs.of_fit, wave))
        seconds = self._deadline() - now
        if fit <= self.answer.longest_fit:
            return seconds
        share = min(fit / max(self.seconds_of(wave) or 0.0, fit, 1e-9), 1.0)
        return min(seconds, self.answer.latest(now, end, share) - now)

    def _begins(self, wave: Sequence[str], stop: Stop) -> bool:
        """Set the end of the budget for this wave; False if the wave would surely be cut off."""
        seconds, expected = self._seconds_for(wave), self.seconds_of(wave) or 0.0
        if seconds <= 0 or (expected > _HOPELESS * seconds and not any(map(self.costs.is_guess, wave))):
            stop.reason = "budget"
            return False
        stop.after(seconds)
        return True

    def _n_expected(self, standing: Standing, names: Sequence[str]) -> int | None:
        """How many configurations the budget allows, the cheap ones first."""
        left = self._time_left()
        if left is None:
            return None
        ordered = sorted(names, key=lambda name: self.costs.of_config(name) or 0.0)
        costs = np.cumsum([self.costs.of_config(name) or 0.0 for name in ordered])
        costs *= 1 + self.costs.overhead / max(self._seconds_of_wave(), 1e-9)
        longer = np.array([max(self.costs.of_fit(name) - self.answer.longest_fit, 0.0) for name in ordered])
        return standing.n_finished + int(np.sum(costs + self.answer.fits_per_fit * longer <= left))

    def _look(self, standing: Standing) -> None:
        begin, worked = self.clock(), thread_time()
        self.watch(standing)
        self.answer.saw_look(self.clock() - begin, thread_time() - worked)

    def _seconds_of_wave(self) -> float:
        """About how long the next wave should take."""
        spent = self.clock() - self.begin
        least = max(_FIRST_WAVE, _LEAST_WORK * self.costs.overhead)
        wanted = max(least, _GROWTH * spent)
        if self.costs.known:
            wanted = min(wanted, max(least, _LARGEST_SHARE * (spent + self._left)))
        if self.budget is not None:
            wanted = min(wanted, max(_LARGEST_SHARE * (self._deadline() - self.clock()), 2 * self.costs.overhead))
        return wanted

    def _learn(self, standing: Standing, oof: Predictions, wave: Sequence[str], times: WaveTimes) -> None:
        self.costs.learn(oof, wave, times)
        self.answer.saw_fit(self.costs.longest_fit)
        standing.oof, standing.n_finished = oof, len(oof.configs)
        standing.n_dropped = int(np.any(oof.state == State.DROPPED, axis=(1, 2)).sum())
        standing.seconds = self.clock() - self.begin


class _Tell:
    """What `collect` calls while it works on a wave: it shows how far the search is, and ends it where a signal cannot."""

    def __init__(
        self, search: AnytimeSearch, standing: Standing, wave: Sequence[str], later: float | None, stop: Stop
    ) -> None:
        self.search, self.standing, self.stop = search, standing, stop
        self.n_fitted = 0  # cells that this call fitted; the store had the others
        self._begin, self._expected, self._later = search.clock(), search.seconds_of(wave), later
        self._first = self._last = self._begin  # when the first and the last cell were done
        self._n_first = 0  # cells that were done together with the first one
        self._n_wave, self._before = len(wave), standing.n_finished

    def times(self) -> WaveTimes:
        """What the clock says at the end of the wave."""
        wall = self.search.clock() - self._begin
        return WaveTimes(wall, self.n_fitted, self._last - self._first, self._n_first)

    def __call__(self, done: int, total: int) -> None:
        """So many cells of the total are done."""
        if self.stop.due:
            raise KeyboardInterrupt
        search, standing, share, now = self.search, self.standing, done / max(total, 1), self.search.clock()
        self._first, self._last = now if not self.n_fitted else self._first, now
        self.n_fitted = done
        if now - self._first < _AT_ONCE:
            self._n_first = done
        standing.seconds = now - search.begin
        standing.n_finished = self._before + int(share * self._n_wave)
        rest = None if self._expected is None else self._expected * (1 - share)
        if done > self._n_first and share > 0.1:  # what the wave itself shows counts for more, the further it is
            shown = (now - self._first) * (total - done) / (done - self._n_first)
            rest = shown if rest is None else share * shown + (1 - share) * rest
        search.expect(standing, None if rest is None or self._later is None else rest + self._later)
        search.watch(standing)


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
