"""What to fit: the hold-outs of every block, the configurations each still lacks, and batches of the right size."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ..data.plan import Splits
from .routes import Routes

CellKey = tuple[str, str, int, int]  # block, configuration, repeat, fold


class Holdout(NamedTuple):
    """What one fit leaves out: a fold, or two of them for nested cross-validation.

    `cells` are the (repeat, fold) slots of the block that the fit fills; `folds` the fold each of them holds. The same cells
    of the block `twin`, where there is one, take what the model predicts for its own training samples.
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
    """One fit a fold."""
    return [Holdout(block, r, (k,), ((r, k),), twin) for r, k in splits.cells]


def trained_holdouts(splits: Splits) -> list[Holdout]:
    """One fit a repeat: fold 0 is what it held out, fold 1 what it was trained on."""
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
    """The splits of a repeat as those of a plan with no other: all that a fit in it has to know."""
    train = splits.train and {(0, k): rows for (r, k), rows in splits.train.items() if r == repeat}
    plan = replace(splits.plan, repeats=1, cv=None)
    return Splits(plan, np.ascontiguousarray(splits.folds[:, repeat : repeat + 1]), train)


class Batch(NamedTuple):
    """One task: a hold-out and the positions of the configurations to fit on it."""

    holdout: Holdout
    configs: tuple[int, ...]


@dataclass
class Schedule:
    """Batches of what is missing, cut while the work goes on by how long fits turn out to take.

    A task should take `task_seconds`: long against its overhead, short against what a kill may lose. Configurations come
    in the order of their routes, and a batch ends where little has to be fitted again.

    Attributes
    ----------
    routes
        What the configurations have in common; None where that is nothing.
    worth
        A batch goes on until its fits took so many times as long as the transformers that the next batch would fit again.
    slowest_first
        Where several workers wait for each other, hand out first what takes longest.
    """

    holdouts: Sequence[Holdout]
    names: Sequence[str]
    done: set[CellKey]
    task_seconds: float
    largest: int
    routes: Routes | None = None
    worth: float = 0.0
    slowest_first: bool = False
    _seconds: dict[str, float] = field(default_factory=dict)
    _nodes: dict[int, float] = field(default_factory=dict)
    _default: float | None = None
    _back: deque[tuple[Holdout, list[int]]] = field(default_factory=deque)

    def missing(self, holdout: Holdout) -> list[int]:
        """Positions of the configurations that lack a cell of this hold-out."""
        slots, done = holdout.slots, self.done
        return [j for j, name in enumerate(self.names) if any((block, name, r, k) not in done for block, r, k in slots)]

    def learn(self, name: str, seconds: float | None, nodes: Iterable[tuple[int, float]] = ()) -> None:
        """A fit of this configuration took so long (None: it was not needed), and the transformers on the way to it."""
        self._nodes.update(nodes)
        if seconds is not None:
            self._seconds[name] = seconds
            self._default = seconds if self._default is None else 0.9 * self._default + 0.1 * seconds

    def batches(self) -> Iterator[Batch]:
        """Batches in the order of the hold-outs; lazily, so that later ones profit from what was learnt."""
        self._back.clear()
        for holdout in self.holdouts:
            waiting = self._ordered(self.missing(holdout))
            while waiting:
                size = self._size(waiting)
                yield Batch(holdout, tuple(waiting[:size]))
                waiting = waiting[size:]
                yield from self._given_back()

    def give_back(self, holdout: Holdout, names: Sequence[str]) -> None:
        """A batch took too long, and these are left of it: they come next, while a worker has the rows for them."""
        self._back.append((holdout, [self.names.index(name) for name in names]))

    @property
    def has_back(self) -> bool:
        """Whether something was given back after the last batch."""
        return bool(self._back)

    def _given_back(self) -> Iterator[Batch]:
        while self._back:
            holdout, waiting = self._back.popleft()
            size = self._size(waiting)
            if size < len(waiting):
                self._back.appendleft((holdout, waiting[size:]))
            yield Batch(holdout, tuple(waiting[:size]))

    def _ordered(self, waiting: list[int]) -> list[int]:
        routes = self.routes
        if routes is not None:
            there = set(waiting)
            waiting = [j for j in routes.order if j in there]
        if not self.slowest_first or self._default is None:
            return waiting
        # Whole branches, so that neighbours stay together.
        branches = [list(branch) for _, branch in groupby(waiting, key=self._branch)]
        branches.sort(key=lambda branch: -max(self._expected(j) for j in branch))
        return [j for branch in branches for j in branch]

    def _branch(self, j: int) -> tuple[str, int]:
        route = None if self.routes is None else self.routes.routes[j]
        if route is None:
            return "alone", j
        return ("node", route.legs[0].node) if route.legs else ("group", route.group or 0)

    def _expected(self, j: int) -> float:
        return self._seconds.get(self.names[j], self._default or 0.0)

    def _size(self, waiting: Sequence[int]) -> int:
        # Nothing is known at first: single fits, which teach fastest and lose least.
        total, enough = 0.0, 0.0 if self._default is None else self.task_seconds
        for size, j in enumerate(waiting, start=1):
            total += self._expected(j)
            again = self._again(j, waiting[size]) if size < len(waiting) else 0.0
            # Members of a group are never parted: their family fits them at once.
            if again is not None and (total >= max(enough, self.worth * again) or size >= self.largest):
                return size
        return len(waiting)

    def _again(self, j: int, following: int) -> float | None:
        """Seconds for transformers that a cut between two configurations costs; None where it must not be."""
        if self.routes is None:
            return 0.0
        one, other = self.routes.routes[j], self.routes.routes[following]
        if one is None or other is None:
            return 0.0
        if one.group is not None and one.group == other.group:
            return None
        seconds = 0.0
        for a, b in zip(one.legs, other.legs, strict=False):
            # Siblings of a family are fitted at once, and unions have strands in common: the next one is as good as there.
            if a.node != b.node:
                return seconds + (self._nodes.get(a.node, 0.0) if a.is_akin(b) else 0.0)
            seconds += self._nodes.get(a.node, 0.0)
        return seconds
