"""The transform cache: rows that were transformed for one configuration and that the next one needs too.

Configurations come in the order of the tree. So it is enough to keep one open path, from the rows as they are to the
transformer fitted last: what the next configuration has in common with it stays, the rest is dropped.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..data import FitRows, borrow, lock, n_bytes, n_rows
from ..executor import has_passed, mark_passed, shared_rows, skipping_checks
from ..limits import global_random_state, record_warnings
from ..predict import RowPredictions
from ..worker import Batch, describe
from .family import Family, as_new
from .plan import ROOT, FamilyGroup, PathStep, SharingTemplate, step_at
from .verification import member_to_verify, transformed_differ

# Transformed rows beyond this are not kept for later configurations.
_BUDGET = 256 * 2**20
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class SharedBatch(Batch):
    """A batch with what its configurations have in common.

    Attributes
    ----------
    groups
        The families, by number of the group.
    verify
        Whether to fit a member of each family by itself too, now and then.
    members
        By number of a group: the configurations that have a member of it, in this batch or as helpers.
    disproved
        Groups whose verification failed in this batch.
    """

    groups: Mapping[int, FamilyGroup] = field(default_factory=dict)
    verify: bool = True
    members: Mapping[int, Sequence[SharingTemplate]] = field(default_factory=dict)
    disproved: set[int] = field(default_factory=set)

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
    seconds: float
    warnings: tuple[str, ...]


@dataclass
class TransformedRows:
    """The rows after one transformer.

    `fitted_ahead` has the following transformers that a family fitted at once, and None for one that the family left out.
    `seconds` and `warnings` are those of the transformer.
    """

    node: int
    X: Any
    tests: tuple[Any, ...]
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    fitted_ahead: dict[int, FittedTransformer | None] = field(default_factory=dict)
    dropped: bool = False
    _finite: bool | None = None

    @property
    def size(self) -> int:
        """Bytes of the rows kept here; those of the root are there anyway."""
        kept = (self.X, *self.tests, *(one.X for one in self.fitted_ahead.values() if one is not None))
        return 0 if self.dropped or self.node == ROOT else sum(map(n_bytes, kept))

    def drop(self) -> None:
        """Keep the seconds, not the rows; the root keeps its rows too."""
        if self.node != ROOT:
            self.X, self.tests, self.fitted_ahead, self.dropped = None, (), {}, True

    @property
    def finite(self) -> bool:
        """Whether all rows are known to be finite numbers."""
        if self._finite is None:
            self._finite = all(_is_finite(X) for X in (self.X, *self.tests))
        return self._finite


@dataclass(frozen=True)
class ModelResult:
    """What a model predicted for the held-out rows, and the warnings of its fit."""

    predicted: tuple[RowPredictions, ...]
    warnings: tuple[str, ...]


@dataclass
class PathEnd:
    """The end of a path: the rows that a model is fitted on, and what it took to get there.

    `new` are the nodes that were fitted now, with their seconds, and `n_steps` the fits this took; `spent` are the seconds of
    all transformers on the path.
    """

    rows: FitRows
    last: TransformedRows
    new: list[tuple[int, float]]
    spent: float
    warnings: tuple[str, ...]
    peak: int
    n_steps: int = 0
    n_checks: int = 0
    failed: tuple[FailedVerification, ...] = ()


class TransformCache(threading.local):
    """The open path of this thread."""

    def __init__(self) -> None:
        self.key: Hashable = None
        self.levels: list[TransformedRows] = []
        self.broken: set[int] = set()

    def clear(self) -> None:
        """Let go of all rows."""
        self.key, self.levels, self.broken = None, [], set()

    def follow(self, batch: SharedBatch, template: SharingTemplate) -> PathEnd:
        """Follow the path of a configuration as far as its model; fit the transformers that are not there yet."""
        path = template.shared_path
        rows = self._start(batch)
        walk = _Walk(batch, template)
        depth = self._in_common(path.nodes)
        while self.levels[depth].dropped:
            depth -= 1
        del self.levels[depth + 1 :]
        for step in path.steps[depth:]:
            if step.node in self.broken:
                raise CannotShare
            try:
                self.levels.append(walk.take(self.levels[-1], step, rows))
            except KeyboardInterrupt:
                raise
            except BaseException:
                self.broken.add(step.node)
                raise
        return walk.end(rows, self.levels, self._make_room())

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
        n = 0
        for level, node in zip(self.levels[1:], nodes, strict=False):
            if level.node != node:
                break
            n += 1
        return n


CACHE = TransformCache()


class _Walk:
    """The transformers that are fitted for one configuration."""

    def __init__(self, batch: SharedBatch, template: SharingTemplate) -> None:
        self.batch, self.template = batch, template
        self._made: Any = None
        self.new: list[tuple[int, float]] = []
        self.n_steps = self.n_checks = 0
        self.failed: list[FailedVerification] = []

    def take(self, below: TransformedRows, step: PathStep, rows: FitRows) -> TransformedRows:
        """The rows after one more transformer."""
        batch = self.batch
        batch.start_random()
        before = None if batch.seed_globals is None else global_random_state()
        with record_warnings() as names, batch.guard(self.template.name, shared=True):
            level = self._fitted(below, step, rows)
        if before is not None and before != global_random_state():
            raise CannotShare  # what is drawn in a fit of its own depends on what was drawn before
        for values in (level.X, *level.tests):
            lock(values)
        level.warnings += tuple(names)
        return level

    def _fitted(self, below: TransformedRows, step: PathStep, rows: FitRows) -> TransformedRows:
        start = perf_counter()
        if step.node not in below.fitted_ahead and step.group is not None and step.group not in self.batch.disproved:
            self._fit_family(below, step, rows)
        fitted = below.fitted_ahead.pop(step.node, None)
        if fitted is None:
            self.n_steps += 1
            fitted = self._fit_alone(below, step, rows)
        tests = tuple(fitted.transformer.transform(borrow(X, self.template.trusted)) for X in below.tests)
        given = (rows.X, *rows.tests)
        if [n_rows(X) for X in given] != [n_rows(X) for X in (fitted.X, *tests)]:
            raise CannotShare
        seconds = perf_counter() - start + fitted.seconds
        self.new.append((step.node, seconds))
        return TransformedRows(step.node, fitted.X, tests, seconds, fitted.warnings)

    def _fit_alone(self, below: TransformedRows, step: PathStep, rows: FitRows, made: Any = None) -> FittedTransformer:
        """Exactly what a pipeline does with the step."""
        transformer = step_at(self._estimator() if made is None else made, step.location)
        X = borrow(below.X, self.template.trusted)
        arguments = _arguments(rows, step)
        key = ("node", step.node)
        passed = has_passed(self.batch, key)
        with skipping_checks(passed):
            if hasattr(transformer, "fit_transform"):
                out = transformer.fit_transform(X, rows.y, **arguments)
            else:
                out = transformer.fit(X, rows.y, **arguments).transform(X)
        if not passed:
            mark_passed(self.batch, key)
        return FittedTransformer(transformer, out, 0.0, ())

    def _estimator(self) -> Any:
        """The configuration's estimator, whose transformers are fitted one after the other; made when first needed."""
        if self._made is None:
            self._made = self.template.make(self.batch.seed)
        return self._made

    def _fit_family(self, below: TransformedRows, step: PathStep, rows: FitRows) -> None:
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
            fitted = self._try_family(family, members, below, rows)
            if fitted is None and not family.whole and len(members) > 1:
                # Another member may be the reason; what a member gives must not depend on that.
                names.clear()
                members = [(step, self.template)]
                fitted = self._try_family(family, members, below, rows)
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
        if given and not self._holds(family, step.group, given, below, rows):
            below.fitted_ahead.clear()

    def _try_family(
        self, family: Family, members: Sequence[tuple[PathStep, SharingTemplate]], below: TransformedRows, rows: FitRows
    ) -> list[tuple[Any, Any] | None] | None:
        # The family may change these; a member that is fitted by itself is made anew.
        made = [step_at(template.make(self.batch.seed), step.location) for step, template in members]
        X, arguments = borrow(below.X, self.template.trusted), _arguments(rows, members[0][0])
        try:
            fitted = list(as_new(family).fit_transform(made, X, rows.y, **arguments))
            sizes = {n_rows(one[1]) for one in fitted if one is not None}
            good = len(fitted) == len(members) and sizes <= {n_rows(X)}
        except Exception:  # Unsuitable, or what the members' own fits raise
            return None
        return fitted if good else None

    def _holds(
        self,
        family: Family,
        group: int,
        members: Sequence[tuple[PathStep, SharingTemplate]],
        below: TransformedRows,
        rows: FitRows,
    ) -> bool:
        """Fit one of the members by itself if it is this hold-out's turn, and compare."""
        picked = self.batch.picked(group, len(members))
        if picked is None:
            return True
        step, template = members[picked]
        shared = below.fitted_ahead[step.node]
        assert shared is not None
        with record_warnings():
            alone = self._fit_alone(below, step, rows, template.make(self.batch.seed))
            text = transformed_differ(family, shared.X, alone.X)
            for X in () if text else below.tests:
                text = text or _held_out_differ(family, shared.transformer, alone.transformer, X)
        self.n_checks += 1
        if text:
            self.failed.append(FailedVerification(group, template.name, text))
            self.batch.disproved.add(group)
        return not text

    def end(self, rows: FitRows, levels: Sequence[TransformedRows], peak: int) -> PathEnd:
        """The rows for the model, with its own arguments."""
        last = levels[-1]
        arguments = {name: rows.fit_params[given] for name, given in self.template.shared_path.arguments}
        warnings = tuple(name for level in levels for name in level.warnings)
        return PathEnd(
            FitRows(last.X, rows.y, last.tests, arguments, rows.cuts),
            last,
            self.new,
            sum(level.seconds for level in levels),
            warnings,
            peak,
            self.n_steps,
            self.n_checks,
            tuple(self.failed),
        )


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


def _arguments(rows: FitRows, step: PathStep) -> dict[str, Any]:
    return {name: rows.fit_params[given] for name, given in step.arguments}


def _is_finite(X: Any) -> bool:
    """Dense floats without NaN or infinity, also where a model (of trees, say) makes them single precision."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or not X.size:
        return False
    return bool(X.min() >= -_LARGEST and X.max() <= _LARGEST)
