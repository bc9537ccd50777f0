"""The order in which an anytime search tries configurations, cut into waves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..fitting.configs import Configs
from .costs import kind_of_model

# A configuration that is expected to take more than this share of the time left waits until nothing cheaper is left.
_AFFORDABLE = 0.25

Cost = Callable[[str], float | None]


class Waves:
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

    @property
    def most(self) -> int:
        """In how many waves they come at most."""
        return len(self._fixed) + len(self._blocks)

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
