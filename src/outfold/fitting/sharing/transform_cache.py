"""The transform cache: rows that were transformed for one configuration and that the next one needs too.

Configurations come in the order of the tree. So it is enough to keep one open path, from the rows as they are to the
transformer fitted last: what the next configuration has in common with it stays, the rest is dropped.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..data import FitRows, borrow, lock, n_bytes, n_rows
from ..executor import has_passed, mark_passed, shared_rows, skipping_checks
from ..limits import global_random_state, record_warnings
from ..worker import Batch
from .plan import ROOT, Arguments, PathStep, SharingTemplate, step_at

# Transformed rows beyond this are not kept for later configurations.
_BUDGET = 256 * 2**20
_LARGEST = float(np.finfo(np.float32).max)


class CannotShare(Exception):  # noqa: N818  (the configuration is fitted by itself)
    """A transformer cannot be fitted for several configurations at once."""


@dataclass
class TransformedRows:
    """The rows after one transformer, and its seconds and warnings."""

    node: int
    X: Any
    tests: tuple[Any, ...]
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    dropped: bool = False

    @cached_property
    def n_bytes(self) -> int:
        """Bytes of the rows when they came; to ask a frame for them takes longer than many fits."""
        return sum(map(n_bytes, (self.X, *self.tests)))

    @property
    def size(self) -> int:
        """Bytes of the rows kept here; those of the root are there anyway."""
        return 0 if self.dropped or self.node == ROOT else self.n_bytes

    def drop(self) -> None:
        """Keep the seconds, not the rows; the root keeps its rows too."""
        if self.node != ROOT:
            self.X, self.tests, self.dropped = None, (), True

    @cached_property
    def finite(self) -> bool:
        """Whether all rows are known to be finite numbers."""
        return all(_is_finite(X) for X in (self.X, *self.tests))


class Walk(NamedTuple):
    """The way of one configuration to the rows that its model is fitted on, and what it took to get there."""

    rows: FitRows  # at the end, with the arguments of the model
    last: TransformedRows
    spent: float  # seconds of all transformers on the path
    warnings: tuple[str, ...]  # of all transformers on the path
    peak: int  # bytes of transformed rows
    new: tuple[tuple[int, float], ...]  # nodes that were fitted now, with their seconds


class TransformCache(threading.local):
    """The open path of this thread."""

    def __init__(self) -> None:
        self.key: Hashable = None
        self.levels: list[TransformedRows] = []
        self.broken: set[int] = set()

    def clear(self) -> None:
        """Let go of all rows."""
        self.key, self.levels, self.broken = None, [], set()

    def follow(self, batch: Batch, template: SharingTemplate) -> Walk:
        """Follow the path of a configuration as far as its model; fit the transformers that are not there yet."""
        path, given = template.shared_path, self._start(batch)
        depth = self._in_common(path.nodes)
        while self.levels[depth].dropped:
            depth -= 1
        del self.levels[depth + 1 :]
        if not self.broken.isdisjoint(path.nodes):
            raise CannotShare
        estimator = template.make(batch.seed) if path.steps[depth:] else None
        for step in path.steps[depth:]:
            transformer = step_at(estimator, step.location)
            try:
                self.levels.append(_transform(batch, template, transformer, given, self.levels[-1], step))
            except KeyboardInterrupt:
                raise
            except BaseException:
                self.broken.add(step.node)
                raise
        last = self.levels[-1]
        return Walk(
            FitRows(last.X, given.y, last.tests, _arguments(given, path.arguments), given.cuts),
            last,
            sum(level.seconds for level in self.levels),
            tuple(name for level in self.levels for name in level.warnings),
            self._make_room(),
            tuple((level.node, level.seconds) for level in self.levels[depth + 1 :]),
        )

    def _make_room(self) -> int:
        """Keep within the budget, and say how many bytes there were; what is needed again is fitted again."""
        sizes = [level.size for level in self.levels]
        total = left = sum(sizes)
        budget = max(_BUDGET, 2 * self.levels[0].n_bytes)
        for level, size in zip(self.levels[:-1], sizes, strict=False):
            if left <= budget:
                break
            level.drop()
            left -= size
        return total

    def _start(self, batch: Batch) -> FitRows:
        rows, key = shared_rows(batch), (batch.token, batch.holdout)
        if self.key != key:
            self.clear()
            self.key, self.levels = key, [TransformedRows(ROOT, rows.X, rows.tests)]
        return rows

    def _in_common(self, nodes: Sequence[int]) -> int:
        pairs = zip(self.levels[1:], nodes, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0].node == pair[1], pairs))


CACHE = TransformCache()


def _transform(
    batch: Batch, template: SharingTemplate, transformer: Any, given: FitRows, below: TransformedRows, step: PathStep
) -> TransformedRows:
    """The rows after one more transformer: exactly what a pipeline does with the step."""
    key, trusted, arguments = ("node", step.node), template.trusted, _arguments(given, step.arguments)
    passed = has_passed(batch, key)
    batch.start_random()
    before = None if batch.seed_globals is None else global_random_state()
    with record_warnings() as names, batch.guard(template.name, shared=True):
        start, X = perf_counter(), borrow(below.X, trusted)
        with skipping_checks(passed):
            if hasattr(transformer, "fit_transform"):
                out = transformer.fit_transform(X, given.y, **arguments)
            else:
                out = transformer.fit(X, given.y, **arguments).transform(X)
        if not passed:
            mark_passed(batch, key)
        tests = tuple(transformer.transform(borrow(X, trusted)) for X in below.tests)
        seconds = perf_counter() - start
    if [n_rows(X) for X in (given.X, *given.tests)] != [n_rows(X) for X in (out, *tests)]:
        raise CannotShare
    if before is not None and before != global_random_state():
        raise CannotShare  # what is drawn in a fit of its own depends on what was drawn before
    for values in (out, *tests):
        lock(values)
    return TransformedRows(step.node, out, tests, seconds, tuple(names))


def _arguments(given: FitRows, named: Arguments) -> dict[str, Any]:
    return {name: given.fit_params[argument] for name, argument in named}


def _is_finite(X: Any) -> bool:
    """Dense floats without NaN or infinity, also where a model (of trees, say) makes them single precision."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or not X.size:
        return False
    return bool(X.min() >= -_LARGEST and X.max() <= _LARGEST)
