"""What to fit: the hold-outs of each block, the configurations that each still lacks, and batches of the right size."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..data.splitting import Splits

if TYPE_CHECKING:
    from .executor import Executor

CellKey = tuple[str, str, int, int]  # block, configuration, repeat, fold


class Holdout(NamedTuple):
    """What one fit leaves out: a fold, or two of them for nested cross-validation.

    `cells` are the (repeat, fold) slots of the block that the fit fills; `folds` is the fold of each of them. The same cells
    of the block `twin`, if there is one, take what the model predicts for its own training samples.
    """

    block: str
    repeat: int
    left_out: tuple[int, ...]
    cells: tuple[tuple[int, int], ...]
    twin: str | None = None

    @property
    def slots(self) -> tuple[tuple[str, int, int], ...]:
        """Every (block, repeat, fold) that the fit fills, those of the twin last."""
        blocks = (self.block,) if self.twin is None else (self.block, self.twin)
        return tuple((block, *cell) for block in blocks for cell in self.cells)

    @property
    def folds(self) -> tuple[int, ...]:
        """The fold predicted for every cell."""
        return tuple(fold for _, fold in self.cells)


def single_holdouts(splits: Splits, block: str = "oof", twin: str | None = None) -> list[Holdout]:
    """One fit for each fold."""
    return [Holdout(block, r, (k,), ((r, k),), twin) for r, k in splits.cells]


def trained_holdouts(splits: Splits) -> list[Holdout]:
    """One fit for each repeat: fold 0 is what it held out, fold 1 what it was trained on."""
    return [Holdout("oof", r, (0,), ((r, 0), (r, 1))) for r in range(splits.n_repeats)]


def paired_holdouts(splits: Splits) -> list[Holdout]:
    """One fit for every two folds i < k: it serves outer i, inner k and outer k, inner i."""
    n = splits.n_folds
    return [
        Holdout("inner", r, (i, k), ((r * n + i, k), (r * n + k, i)))
        for r in range(splits.n_repeats)
        for i in range(n)
        for k in range(i + 1, n)
    ]


def one_repeat(splits: Splits, repeat: int) -> Splits:
    """The splits of one repeat only: all that a fit in it has to know."""
    train = splits.train and {(0, k): rows for (r, k), rows in splits.train.items() if r == repeat}
    plan = replace(splits.plan, repeats=1, cv=None)
    return Splits(plan, np.ascontiguousarray(splits.folds[:, repeat : repeat + 1]), train)


class Portion(NamedTuple):
    """A hold-out and the positions of the configurations to fit on it in one batch."""

    holdout: Holdout
    configs: tuple[int, ...]


@dataclass
class Schedule:
    """Portions of what is missing, cut while the work goes on by how long fits turn out to take.

    A batch should take `task_seconds`: long against its overhead, short against what a crash may lose. The executor says in
    which order configurations come and where a cut costs little.

    Attributes
    ----------
    executor
        Who fits the configurations.
    settled
        The cells that need no fit.
    largest
        The most configurations of a portion.
    slowest_first
        If several workers wait for each other, hand out first what takes longest.
    """

    holdouts: Sequence[Holdout]
    executor: Executor
    settled: set[CellKey]
    task_seconds: float
    largest: int
    slowest_first: bool = False
    _seconds: dict[str, float] = field(default_factory=dict)
    _default: float | None = None
    _returned: deque[tuple[Holdout, list[int]]] = field(default_factory=deque)

    @property
    def names(self) -> list[str]:
        """The names of the configurations."""
        return [recipe.name for recipe in self.executor.recipes]

    def missing(self, holdout: Holdout) -> list[int]:
        """Positions of the configurations that lack a cell of this hold-out."""
        slots, settled = holdout.slots, self.settled
        return [j for j, name in enumerate(self.names) if any((b, name, r, k) not in settled for b, r, k in slots)]

    def learn(self, name: str, seconds: float | None) -> None:
        """Record the seconds of a fit of this configuration; None if it was not needed."""
        if seconds is not None:
            self._seconds[name] = seconds
            self._default = seconds if self._default is None else 0.9 * self._default + 0.1 * seconds

    def portions(self) -> Iterator[Portion]:
        """Portions in the order of the hold-outs; lazily, so that later ones use what was learnt."""
        self._returned.clear()
        for holdout in self.holdouts:
            waiting = self._ordered(self.missing(holdout))
            while waiting:
                size = self._size(waiting)
                yield Portion(holdout, tuple(waiting[:size]))
                waiting = waiting[size:]
                yield from self._returned_portions()

    def give_back(self, holdout: Holdout, names: Sequence[str]) -> None:
        """A batch took too long, and these are left of it: they come next, while a worker has the rows for them."""
        known = self.names
        self._returned.append((holdout, [known.index(name) for name in names]))

    @property
    def has_returned(self) -> bool:
        """Whether something was given back after the last portion."""
        return bool(self._returned)

    def _returned_portions(self) -> Iterator[Portion]:
        while self._returned:
            holdout, waiting = self._returned.popleft()
            size = self._size(waiting)
            if size < len(waiting):
                self._returned.appendleft((holdout, waiting[size:]))
            yield Portion(holdout, tuple(waiting[:size]))

    def _ordered(self, waiting: list[int]) -> list[int]:
        there = set(waiting)
        waiting = [j for j in self.executor.order if j in there]
        if not self.slowest_first or self._default is None:
            return waiting
        branches = [list(branch) for _, branch in groupby(waiting, key=self.executor.branch)]
        branches.sort(key=lambda branch: -max(self._expected(j) for j in branch))
        return [j for branch in branches for j in branch]

    def _expected(self, j: int) -> float:
        return self._seconds.get(self.executor.recipes[j].name, self._default or 0.0)

    def _size(self, waiting: Sequence[int]) -> int:
        # Nothing is known at first: single fits, which teach fastest and lose least.
        total, enough = 0.0, 0.0 if self._default is None else self.task_seconds
        for size, j in enumerate(waiting, start=1):
            total += self._expected(j)
            worth = self.executor.cut_after(j, waiting[size]) if size < len(waiting) else 0.0
            if worth is not None and (total >= max(enough, worth) or size >= self.largest):
                return size
        return len(waiting)
