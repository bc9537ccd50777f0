"""The transform cache: rows that were transformed for one configuration and that the next one needs too.

Configurations come in the order of the tree. So it is enough to keep one open path, from the rows as they are to the
transformer fitted last: what the next configuration has in common with it stays, the rest is dropped.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import takewhile
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..data import FitRows, borrow, lock, n_bytes, n_rows
from ..executor import has_passed, mark_passed, shared_rows, skipping_checks
from ..limits import global_random_state, record_warnings
from ..worker import Batch, describe
from .family import Family, as_new
from .plan import ROOT, Arguments, FamilyGroup, PathStep, SharingTemplate, step_at
from .verification import member_to_verify, transformed_differ

# Transformed rows beyond this are not kept for later configurations.
_BUDGET = 256 * 2**20
_LARGEST = float(np.finfo(np.float32).max)

# A transformer of a family, and the configuration that it comes from.
_Member = tuple[PathStep, SharingTemplate]


@dataclass(frozen=True, eq=False)
class SharedBatch(Batch):
    """A batch with what its configurations have in common; groups of families are known by their numbers."""

    groups: Mapping[int, FamilyGroup] = field(default_factory=dict)
    verify: bool = True  # now and then fit a member of each family by itself too
    members: Mapping[int, Sequence[SharingTemplate]] = field(default_factory=dict)  # in this batch or as helpers
    disproved: set[int] = field(default_factory=set)  # the verification of these groups failed in this batch

    @classmethod
    def of(cls, batch: Batch, groups: Mapping[int, FamilyGroup], verify: bool) -> SharedBatch:
        """The batch with these families; helpers are members of families that are fitted as a whole."""
        members: dict[int, list[SharingTemplate]] = defaultdict(list)
        for i, template in enumerate((*batch.templates, *batch.helpers)):
            assert isinstance(template, SharingTemplate)
            for number in () if template.path is None else template.path.groups:
                if i < len(batch.templates) or groups[number].family.whole:
                    members[number].append(template)
        known = {one.name: getattr(batch, one.name) for one in fields(Batch)}
        return cls(**known, groups=groups, verify=verify, members=members)

    def picked(self, group: int, n: int) -> int | None:
        """Which of `n` members of a group to fit by itself too, if any."""
        return member_to_verify(self, self.groups, group, n) if self.verify else None


class FailedVerification(NamedTuple):
    """A family gave something else than a fit of its member: the group, the configuration, and what differed."""

    group: int
    name: str
    text: str


class CannotShare(Exception):  # noqa: N818  (the configuration is fitted by itself)
    """A transformer cannot be fitted for several configurations at once."""


class FittedTransformer(NamedTuple):
    """A transformer and the training rows that it transformed."""

    transformer: Any
    X: Any
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()


@dataclass
class TransformedRows:
    """The rows after one transformer, and its seconds and warnings."""

    node: int
    X: Any
    tests: tuple[Any, ...]
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    # The following transformers that a family fitted at once; None for one that the family left out.
    fitted_ahead: dict[int, FittedTransformer | None] = field(default_factory=dict)
    dropped: bool = False

    @property
    def size(self) -> int:
        """Bytes of the rows kept here; those of the root are there anyway."""
        kept = (self.X, *self.tests, *(one.X for one in self.fitted_ahead.values() if one is not None))
        return 0 if self.dropped or self.node == ROOT else sum(map(n_bytes, kept))

    def drop(self) -> None:
        """Keep the seconds, not the rows; the root keeps its rows too."""
        if self.node != ROOT:
            self.X, self.tests, self.fitted_ahead, self.dropped = None, (), {}, True

    @cached_property
    def finite(self) -> bool:
        """Whether all rows are known to be finite numbers."""
        return all(_is_finite(X) for X in (self.X, *self.tests))


class TransformCache(threading.local):
    """The open path of this thread."""

    def __init__(self) -> None:
        self.key: Hashable = None
        self.levels: list[TransformedRows] = []
        self.broken: set[int] = set()

    def clear(self) -> None:
        """Let go of all rows."""
        self.key, self.levels, self.broken = None, [], set()

    def follow(self, batch: SharedBatch, template: SharingTemplate) -> Walk:
        """Follow the path of a configuration as far as its model; fit the transformers that are not there yet."""
        path = template.shared_path
        walk = Walk(batch, template, self._start(batch))
        depth = self._in_common(path.nodes)
        while self.levels[depth].dropped:
            depth -= 1
        del self.levels[depth + 1 :]
        for step in path.steps[depth:]:
            if step.node in self.broken:
                raise CannotShare
            try:
                self.levels.append(walk.take(self.levels[-1], step))
            except KeyboardInterrupt:
                raise
            except BaseException:
                self.broken.add(step.node)
                raise
        walk.end(self.levels, self._make_room())
        return walk

    def _make_room(self) -> int:
        """Keep within the budget, and say how many bytes there were; what is needed again is fitted again."""
        sizes = [level.size for level in self.levels]
        total = left = sum(sizes)
        budget = max(_BUDGET, 2 * sum(n_bytes(X) for X in (self.levels[0].X, *self.levels[0].tests)))
        for level, size in zip(self.levels[:-1], sizes, strict=False):
            if left <= budget:
                break
            level.drop()
            left -= size
        return total

    def _start(self, batch: SharedBatch) -> FitRows:
        rows, key = shared_rows(batch), (batch.token, batch.holdout)
        if self.key != key:
            self.clear()
            self.key, self.levels = key, [TransformedRows(ROOT, rows.X, rows.tests)]
        return rows

    def _in_common(self, nodes: Sequence[int]) -> int:
        pairs = zip(self.levels[1:], nodes, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0].node == pair[1], pairs))


CACHE = TransformCache()


class Walk:
    """The way of one configuration to the rows that its model is fitted on, and what it took to get there."""

    rows: FitRows  # at the end, with the arguments of the model
    last: TransformedRows
    spent: float  # seconds of all transformers on the path
    warnings: tuple[str, ...]  # of all transformers on the path
    peak: int  # bytes of transformed rows

    def __init__(self, batch: SharedBatch, template: SharingTemplate, given: FitRows) -> None:
        self.batch, self.template, self.given = batch, template, given
        self.new: list[tuple[int, float]] = []  # nodes that were fitted now, with their seconds
        self.n_steps = self.n_checks = 0  # fits of transformers that this took, and verifications
        self.failed: tuple[FailedVerification, ...] = ()

    @cached_property
    def _estimator(self) -> Any:
        """The configuration's estimator, whose transformers are fitted one after the other."""
        return self.template.make(self.batch.seed)

    def take(self, below: TransformedRows, step: PathStep) -> TransformedRows:
        """The rows after one more transformer."""
        batch, _ = self.batch, self._estimator  # made first: a library that it imports may draw random numbers
        batch.start_random()
        before = None if batch.seed_globals is None else global_random_state()
        with record_warnings() as names, batch.guard(self.template.name, shared=True):
            level = self._fitted(below, step)
        if before is not None and before != global_random_state():
            raise CannotShare  # what is drawn in a fit of its own depends on what was drawn before
        for values in (level.X, *level.tests):
            lock(values)
        level.warnings += tuple(names)
        return level

    def _fitted(self, below: TransformedRows, step: PathStep) -> TransformedRows:
        start = perf_counter()
        if step.node not in below.fitted_ahead and step.group is not None and step.group not in self.batch.disproved:
            self._fit_family(below, step)
        fitted = below.fitted_ahead.pop(step.node, None)
        if fitted is None:
            self.n_steps += 1
            fitted = self._fit_alone(below, step, self._estimator)
        tests = tuple(fitted.transformer.transform(borrow(X, self.template.trusted)) for X in below.tests)
        if [n_rows(X) for X in (self.given.X, *self.given.tests)] != [n_rows(X) for X in (fitted.X, *tests)]:
            raise CannotShare
        seconds = perf_counter() - start + fitted.seconds
        self.new.append((step.node, seconds))
        return TransformedRows(step.node, fitted.X, tests, seconds, fitted.warnings)

    def _fit_alone(self, below: TransformedRows, step: PathStep, estimator: Any) -> FittedTransformer:
        """Exactly what a pipeline does with the step."""
        transformer, y, key = step_at(estimator, step.location), self.given.y, ("node", step.node)
        X, arguments = borrow(below.X, self.template.trusted), self._arguments(step.arguments)
        passed = has_passed(self.batch, key)
        with skipping_checks(passed):
            if hasattr(transformer, "fit_transform"):
                out = transformer.fit_transform(X, y, **arguments)
            else:
                out = transformer.fit(X, y, **arguments).transform(X)
        if not passed:
            mark_passed(self.batch, key)
        return FittedTransformer(transformer, out)

    def _fit_family(self, below: TransformedRows, step: PathStep) -> None:
        """Fit all members of the family that are needed here, and keep them; nothing if the family cannot."""
        assert step.group is not None
        family = self.batch.groups[step.group].family
        steps = {step.node: (step, self.template)}
        for template in self.batch.members.get(step.group, ()):
            for other in template.shared_path.steps:
                if other.group == step.group:
                    steps.setdefault(other.node, (other, template))
        members = [steps[node] for node in sorted(steps)]
        start = perf_counter()
        with record_warnings() as names:
            fitted = self._try_family(family, members, below)
            if fitted is None and not family.whole and len(members) > 1:
                # Another member may be the reason; what a member gives must not depend on that.
                names.clear()
                members = [(step, self.template)]
                fitted = self._try_family(family, members, below)
        if fitted is None:
            return
        seconds = perf_counter() - start
        given = []
        for (other, template), made in zip(members, fitted, strict=True):
            below.fitted_ahead[other.node] = None
            # The clock of this step is running: of these seconds it has its share, like the others.
            share = seconds / len(members) - (seconds if other.node == step.node else 0.0)
            if made is not None:
                lock(made[1])
                below.fitted_ahead[other.node] = FittedTransformer(*made, share, tuple(names))
                given.append((other, template))
        self.n_steps += bool(given)
        if given and not self._holds(family, step.group, given, below):
            below.fitted_ahead.clear()

    def _try_family(
        self, family: Family, members: Sequence[_Member], below: TransformedRows
    ) -> list[tuple[Any, Any] | None] | None:
        # The family may change these; a member that is fitted by itself is made anew.
        made = [step_at(template.make(self.batch.seed), step.location) for step, template in members]
        X, arguments = borrow(below.X, self.template.trusted), self._arguments(members[0][0].arguments)
        try:
            fitted = list(as_new(family).fit_transform(made, X, self.given.y, **arguments))
            sizes = {n_rows(one[1]) for one in fitted if one is not None}
            good = len(fitted) == len(members) and sizes <= {n_rows(X)}
        except Exception:  # Unsuitable, or what the members' own fits raise
            return None
        return fitted if good else None

    def _holds(self, family: Family, group: int, members: Sequence[_Member], below: TransformedRows) -> bool:
        """Fit one of the members by itself if it is this hold-out's turn, and compare."""
        picked = self.batch.picked(group, len(members))
        if picked is None:
            return True
        step, template = members[picked]
        shared = below.fitted_ahead[step.node]
        assert shared is not None
        with record_warnings():
            alone = self._fit_alone(below, step, template.make(self.batch.seed))
            text = transformed_differ(family, shared.X, alone.X)
            for X in () if text else below.tests:
                text = text or _held_out_differ(family, shared.transformer, alone.transformer, X)
        self.n_checks += 1
        if text:
            self.failed += (FailedVerification(group, template.name, text),)
            self.batch.disproved.add(group)
        return not text

    def end(self, levels: Sequence[TransformedRows], peak: int) -> None:
        """The rows for the model, with its own arguments."""
        last, given = levels[-1], self.given
        arguments = self._arguments(self.template.shared_path.arguments)
        self.rows = FitRows(last.X, given.y, last.tests, arguments, given.cuts)
        self.last, self.peak = last, peak
        self.spent = sum(level.seconds for level in levels)
        self.warnings = tuple(name for level in levels for name in level.warnings)

    def _arguments(self, named: Arguments) -> dict[str, Any]:
        return {name: self.given.fit_params[given] for name, given in named}


def _held_out_differ(family: Family, shared: Any, alone: Any, X: Any) -> str:
    """How two fitted transformers differ for rows they have not seen; empty if they do not."""
    try:
        expected = alone.transform(borrow(X, False))
    except Exception:  # the pipeline would fail with these rows too
        return ""
    try:
        return transformed_differ(family, shared.transform(borrow(X, False)), expected)
    except Exception as error:
        return f"for held-out rows it fails ({describe(error)})"


def _is_finite(X: Any) -> bool:
    """Dense floats without NaN or infinity, also where a model (of trees, say) makes them single precision."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or not X.size:
        return False
    return bool(X.min() >= -_LARGEST and X.max() <= _LARGEST)
