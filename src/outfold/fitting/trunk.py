"""The rows on their way through the transformers that configurations have in common.

Configurations come in the order of the tree, so that one open path, from the rows as they are to the transformer fitted
last, is all that has to be kept: what the next configuration shares with it stays, the rest is let go.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from .alone import is_proved, prove, proved, shared_part
from .data import Part, borrow, digest, lock, n_bytes, n_rows
from .limits import global_random_state, listening
from .recipes import Recipe
from .respond import Answer
from .routes import ROOT, Leg, at
from .schedule import Holdout
from .sharing import Family, as_new
from .sharing import Level as ShareLevel
from .spot import have_same_bits, spot, transformed_differ, union_is_checked
from .strands import Bench, Strand, can_be_shared
from .task import Place, Refusal, describe

# Transformed rows beyond this are not kept for those who might need them again.
_BUDGET = 256 * 2**20
# Rows that take more than this are not compared with others, and predictions beyond it are not kept for equal rows.
_COMPARED = 64 * 2**20
# A union of transformers fitted before was found to differ from its own fit.
_REFUSED = ("strands", "refused")
_LARGEST = float(np.finfo(np.float32).max)


class CannotShare(Exception):  # noqa: N818  (the configuration is fitted alone)
    """A transformer cannot be fitted for several configurations at once."""


class Sibling(NamedTuple):
    """A transformer fitted by its family, until its turn comes."""

    fitted: Any
    X: Any
    seconds: float
    warnings: tuple[str, ...]


@dataclass
class Level:
    """The rows after one transformer.

    `aside` has what its children's family fitted at once, and None for a child that the family leaves to itself; `strands`
    what unions among its children have in common, by number. `seconds` and `warnings` are those of the transformer.
    """

    node: int
    X: Any
    tests: tuple[Any, ...]
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    aside: dict[int, Sibling | None] = field(default_factory=dict)
    strands: dict[int, Strand] = field(default_factory=dict)
    gone: bool = False
    _finite: bool | None = None
    _digest: str | None = None

    @property
    def size(self) -> int:
        """Bytes of the rows kept here; those of the root are there anyway."""
        kept = (self.X, *self.tests, *(sibling.X for sibling in self.aside.values() if sibling is not None))
        rows = 0 if self.gone or self.node == ROOT else sum(map(n_bytes, kept))
        return rows + sum(strand.size for strand in self.strands.values())

    def let_go(self) -> None:
        """Keep the time it took, not the rows; of the root, the rows too."""
        self.strands = {}
        if self.node != ROOT:
            self.X, self.tests, self.aside, self.gone = None, (), {}, True

    @property
    def finite(self) -> bool:
        """Whether all rows are known to be finite numbers."""
        if self._finite is None:
            self._finite = all(_is_finite(X) for X in (self.X, *self.tests))
        return self._finite

    @property
    def digest(self) -> str:
        """Equal for rows that are equal in every bit, and lie in memory alike; empty where that is not known."""
        if self._digest is None:
            kept = (self.X, *self.tests)
            plain = all(isinstance(X, np.ndarray) and X.dtype.kind in "biuf" for X in kept)
            plain = plain and sum(map(n_bytes, kept)) <= _COMPARED
            flags = [(X.flags.c_contiguous, X.flags.f_contiguous) for X in kept] if plain else []
            self._digest = f"{flags}{[digest(X) for X in kept]}" if plain else ""
        return self._digest


@dataclass(frozen=True)
class Said:
    """What a model said of the held-out rows, the warnings of its fit included."""

    answers: tuple[Answer, ...]
    warnings: tuple[str, ...]


@dataclass
class Reached:
    """The end of a route: the rows a model is fitted on, and what it took to get there.

    `new` are the nodes reached now, with their seconds, and `steps` the fits this took; `spent` are the seconds of all
    transformers on the route.
    """

    part: Part
    level: Level
    new: list[tuple[int, float]]
    spent: float
    warnings: tuple[str, ...]
    peak: int
    steps: int = 0
    n_checks: int = 0
    refusals: tuple[Refusal, ...] = ()


class Trunk(threading.local):
    """The open path of this thread."""

    def __init__(self) -> None:
        self.key: tuple[str, Holdout] | None = None
        self.levels: list[Level] = []
        self.broken: set[int] = set()
        self.said: dict[tuple[str, int], Said] = {}
        self.said_bytes = 0

    def forget(self) -> None:
        """Let go of all rows."""
        self.key, self.levels, self.broken = None, [], set()
        self.forget_said()

    def forget_said(self) -> None:
        """Let go of what models said."""
        self.said, self.said_bytes = {}, 0

    def recall(self, recipe: Recipe) -> Said | None:
        """What an equal model said that was fitted on rows equal to those just reached.

        Selectors with different parameters often choose the same columns.
        """
        kin = None if recipe.route is None else recipe.route.kin
        return None if kin is None else self.said.get((self.levels[-1].digest, kin))

    def remember(self, recipe: Recipe, said: Said) -> None:
        """Keep what a model said, for equal ones on equal rows."""
        kin = None if recipe.route is None else recipe.route.kin
        if kin is None or not self.levels[-1].digest:
            return
        size = sum(n_bytes(answer.values) for answer in said.answers)
        if self.said_bytes + size <= _COMPARED:
            self.said_bytes += size
            self.said[self.levels[-1].digest, kin] = said

    def reach(self, place: Place, recipe: Recipe, company: Mapping[int, Sequence[Recipe]]) -> Reached:
        """Go the route of a configuration as far as its model.

        Parameters
        ----------
        place
            The hold-out.
        recipe
            The configuration.
        company
            By number of a group of transformers: configurations that have one of each member.
        """
        route = recipe.route
        assert route is not None
        part = self._start(place)
        walk = _Walk(place, recipe, company)
        depth = self._in_common(route.nodes)
        while self.levels[depth].gone:
            depth -= 1
        del self.levels[depth + 1 :]
        for leg in route.legs[depth:]:
            if leg.node in self.broken:
                raise CannotShare
            try:
                self.levels.append(walk.step(self.levels[-1], leg, part))
            except KeyboardInterrupt:
                raise
            except BaseException:
                self.broken.add(leg.node)
                raise
        return walk.reached(part, self.levels, self._make_room())

    def _make_room(self) -> int:
        """Keep within the budget, and say how much there was; what is let go and needed again is fitted again."""
        sizes = [level.size for level in self.levels]
        total = left = sum(sizes)
        budget = max(_BUDGET, 2 * sum(n_bytes(X) for X in (self.levels[0].X, *self.levels[0].tests)))
        for level, size in zip(self.levels[:-1], sizes, strict=False):
            if left <= budget:
                break
            level.let_go()
            left -= size
        return total

    def _start(self, place: Place) -> Part:
        part, key = shared_part(place), (place.setting.token, place.holdout)
        if self.key != key:
            self.forget()
            self.key, self.levels = key, [Level(ROOT, part.X, part.tests)]
        return part

    def _in_common(self, nodes: Sequence[int]) -> int:
        n = 0
        for level, node in zip(self.levels[1:], nodes, strict=False):
            if level.node != node:
                break
            n += 1
        return n


TRUNK = Trunk()


class _Walk:
    """The transformers that are fitted for one configuration."""

    def __init__(self, place: Place, recipe: Recipe, company: Mapping[int, Sequence[Recipe]]) -> None:
        self.place, self.recipe, self.company = place, recipe, company
        self._made: Any = None
        self.new: list[tuple[int, float]] = []
        self.steps = self.n_checks = 0
        self.refusals: list[Refusal] = []
        self._new_strands: dict[int, Strand] = {}

    def step(self, below: Level, leg: Leg, part: Part) -> Level:
        """The rows after one more transformer."""
        place, self._new_strands = self.place, {}
        place.start_random()
        before = None if place.seed_globals is None else global_random_state()
        with listening() as heard, place.guard(self.recipe.name, shared=True):
            level = self._fitted(below, leg, part)
        if before is not None and before != global_random_state():
            raise CannotShare  # what is drawn in a fit of its own depends on what was drawn before
        for values in (level.X, *level.tests):
            lock(values)
        level.warnings += tuple(heard)
        below.strands |= self._new_strands
        return level

    def _fitted(self, below: Level, leg: Leg, part: Part) -> Level:
        start = perf_counter()
        if leg.node not in below.aside and leg.group is not None and leg.group not in self.place.refused:
            self._with_siblings(below, leg, part)
        sibling, bench = below.aside.pop(leg.node, None), None
        if sibling is None:
            self.steps += 1
            bench = self._bench(below, leg)
            sibling = self._alone(below, leg, part, bench=bench)
        tests = self._tests(below, sibling, bench)
        if bench is not None and bench.lent and self._is_due():
            sibling, tests, bench = self._own_fit(below, leg, part, (sibling.X, *tests)) or (sibling, tests, bench)
        given = (part.X, *part.tests)
        if [n_rows(X) for X in given] != [n_rows(X) for X in (sibling.X, *tests)]:
            raise CannotShare
        seconds = perf_counter() - start + sibling.seconds
        self.new.append((leg.node, seconds))
        if bench is None:
            return Level(leg.node, sibling.X, tests, seconds, sibling.warnings)
        spent = seconds + sum(strand.seconds for strand in bench.lent)
        self._new_strands = bench.settled()
        return Level(leg.node, sibling.X, tests, spent, (*sibling.warnings, *bench.warnings))

    def _tests(self, below: Level, sibling: Sibling, bench: Bench | None = None) -> tuple[Any, ...]:
        out = []
        for i, X in enumerate(below.tests):
            if bench is not None:
                bench.test = i
            out.append(sibling.fitted.transform(borrow(X, self.recipe.trusted)))
        return tuple(out)

    def _alone(self, below: Level, leg: Leg, part: Part, made: Any = None, bench: Bench | None = None) -> Sibling:
        """Exactly what a pipeline does with the step."""
        transformer = at(self._estimator() if made is None else made, leg.path)
        if bench is not None:
            bench.seat(transformer, dict(leg.strands))
        X = borrow(below.X, self.recipe.trusted)
        arguments = _arguments(part, leg)
        key = ("node", leg.node)
        known = self.place.setting.lean and is_proved(self.place, key)
        with proved(known):
            if hasattr(transformer, "fit_transform"):
                out = transformer.fit_transform(X, part.y, **arguments)
            else:
                out = transformer.fit(X, part.y, **arguments).transform(X)
        if not known:
            prove(self.place, key)
        return Sibling(transformer, out, 0.0, ())

    def _bench(self, below: Level, leg: Leg) -> Bench | None:
        """For a union that has strands in common with others; None where it is fitted by itself."""
        if not leg.strands or is_proved(self.place, _REFUSED):
            return None
        union = at(self._estimator(), leg.path)
        return Bench(below.strands) if can_be_shared(union, below.X, self.recipe.trusted) else None

    def _is_due(self) -> bool:
        """Whether a union is to be compared with its own fit: the first one on some of the hold-outs."""
        key = ("strands", self.place.holdout)
        if is_proved(self.place, key) or not union_is_checked(self.place):
            return False
        prove(self.place, key)
        return True

    def _own_fit(
        self, below: Level, leg: Leg, part: Part, shared: Sequence[Any]
    ) -> tuple[Sibling, tuple[Any, ...], None] | None:
        """What the union's own fit gives, where that is something else; then no other is put together any more."""
        self.n_checks += 1
        with listening() as heard:
            alone = self._alone(below, leg, part, self.recipe.make(self.place.seed))
            tests = self._tests(below, alone)
        if all(map(have_same_bits, shared, (alone.X, *tests))):
            return None
        prove(self.place, _REFUSED)
        below.strands.clear()
        return alone._replace(warnings=tuple(heard)), tests, None

    def _estimator(self) -> Any:
        """The configuration's estimator, whose transformers are fitted one after the other; made when the first is needed."""
        if self._made is None:
            self._made = self.recipe.make(self.place.seed)
        return self._made

    def _with_siblings(self, below: Level, leg: Leg, part: Part) -> None:
        """Put aside what the family gives for all its members that are needed here; nothing where it cannot."""
        assert leg.group is not None
        family = self.place.families[leg.group]
        legs = {leg.node: (leg, self.recipe)}
        for recipe in self.company.get(leg.group, ()):
            assert recipe.route is not None
            for other in recipe.route.legs:
                if other.group == leg.group:
                    legs.setdefault(other.node, (other, recipe))
        members = [legs[node] for node in sorted(legs)]
        start = perf_counter()
        with listening() as heard:
            fitted = self._try_family(family, members, below, part)
            if fitted is None and not family.whole and len(members) > 1:
                # A fellow may be the reason; what a member gives must not depend on that.
                heard.clear()
                members = [(leg, self.recipe)]
                fitted = self._try_family(family, members, below, part)
        if fitted is None:
            return
        seconds = perf_counter() - start
        given = []
        for (other, recipe), made in zip(members, fitted, strict=True):
            below.aside[other.node] = None
            # Of the time that passes now, this one has its share like the others.
            share = seconds / len(members) - (seconds if other.node == leg.node else 0.0)
            if made is not None:
                lock(made[1])
                below.aside[other.node] = Sibling(*made, share, tuple(heard))
                given.append((other, recipe))
        self.steps += bool(given)
        if given and not self._holds(family, leg.group, given, below, part):
            below.aside.clear()

    def _try_family(
        self, family: Family, members: Sequence[tuple[Leg, Recipe]], below: Level, part: Part
    ) -> list[tuple[Any, Any] | None] | None:
        # These may be spoilt; should one be fitted alone, it is another.
        made = [at(r.make(self.place.seed), leg.path) for leg, r in members]
        X, arguments = borrow(below.X, self.recipe.trusted), _arguments(part, members[0][0])
        try:
            fitted = list(as_new(family).fit_transform(made, X, part.y, **arguments))
            rows = {n_rows(one[1]) for one in fitted if one is not None}
            good = len(fitted) == len(members) and rows <= {n_rows(X)}
        except Exception:  # Unsuitable, or whatever the members' own fits will say better
            return None
        return fitted if good else None

    def _holds(
        self, family: Family, group: int, members: Sequence[tuple[Leg, Recipe]], below: Level, part: Part
    ) -> bool:
        """Fit one of the members alone where it is this hold-out's turn, and compare."""
        picked = spot(self.place, group, len(members))
        if picked is None:
            return True
        leg, recipe = members[picked]
        shared = below.aside[leg.node]
        assert shared is not None
        with listening():
            alone = self._alone(below, leg, part, recipe.make(self.place.seed))
            text = transformed_differ(family.level, shared.X, alone.X)
            for X in () if text else below.tests:
                text = text or _held_out_differ(family.level, shared.fitted, alone.fitted, X)
        self.n_checks += 1
        if text:
            self.refusals.append(Refusal(group, recipe.name, text))
            self.place.refused.add(group)
        return not text

    def reached(self, part: Part, levels: Sequence[Level], peak: int) -> Reached:
        """The rows for the model, with its own arguments."""
        route, top = self.recipe.route, levels[-1]
        assert route is not None
        arguments = {name: part.fit_params[given] for name, given in route.arguments}
        warnings = tuple(name for level in levels for name in level.warnings)
        return Reached(
            Part(top.X, part.y, top.tests, arguments, part.cuts),
            top,
            self.new,
            sum(level.seconds for level in levels),
            warnings,
            peak,
            self.steps,
            self.n_checks,
            tuple(self.refusals),
        )


def _held_out_differ(level: ShareLevel, shared: Any, alone: Any, X: Any) -> str:
    """What differs between two fitted transformers for rows they have not seen; empty if nothing."""
    try:
        expected = alone.transform(borrow(X, False))
    except Exception:  # what the pipeline would say of these rows
        return ""
    try:
        return transformed_differ(level, shared.transform(borrow(X, False)), expected)
    except Exception as error:
        return f"for held-out rows it fails ({describe(error)})"


def _arguments(part: Part, leg: Leg) -> dict[str, Any]:
    return {name: part.fit_params[given] for name, given in leg.arguments}


def _is_finite(X: Any) -> bool:
    """Dense floats without NaN or infinity, also where a model (of trees, say) makes them single precision."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or not X.size:
        return False
    return bool(X.min() >= -_LARGEST and X.max() <= _LARGEST)
