"""Routes: the way of every configuration from the rows to its model, so that what several have in common is seen.

A pipeline is a chain of transformers and a model. Chains that begin alike make a tree, whose nodes are fitted once for
all configurations that pass through them; models that differ in a few parameters and stand on the same node are fitted
by their family at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from inspect import getattr_static
from itertools import islice
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from .keys import estimator_key, key_of
from .parameters import is_plain, own_params, parts_of
from .sharing import Family, Level, family_of
from .sharing.family import LEVELS
from .unions import Union, union_of

# Positions of steps in pipelines inside pipelines; of the configuration itself: ().
Path = tuple[int, ...]
# (name in the step's own fit, name in the user's fit_params)
Arguments = tuple[tuple[str, str], ...]
ROOT = -1


def at(estimator: Any, path: Path) -> Any:
    """The step of a pipeline, or of one inside it."""
    for i in path:
        estimator = estimator.steps[i][1]
    return estimator


class Leg(NamedTuple):
    """One transformer on a route.

    `node` is its place in the tree; `group` the number of the family that fits it with its siblings, or None. `strands` are
    the (place, number) of the transformers inside a union that its siblings have too.
    """

    node: int
    path: Path
    arguments: Arguments
    group: int | None = None
    strands: tuple[tuple[int, int], ...] = ()

    def is_akin(self, other: Leg) -> bool:
        """Whether what is fitted for the one is of use for the other, where both stand on the same rows."""
        if self.node == other.node or (self.group is not None and self.group == other.group):
            return True
        return bool(self.strands) and not {n for _, n in self.strands}.isdisjoint(n for _, n in other.strands)


class Route(NamedTuple):
    """How a configuration is fitted in company.

    `position` is its place among all configurations; `path` leads to its model; `group` is the number of the family that
    fits the model together with others, or None; `simple` says that the model is scikit-learn's and has no other inside;
    `kin` is a number that configurations have in common whose models give the same bits on the same rows.
    """

    position: int
    legs: tuple[Leg, ...]
    path: Path
    arguments: Arguments
    group: int | None = None
    simple: bool = False
    kin: int | None = None

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes it passes through."""
        return tuple(leg.node for leg in self.legs)

    @property
    def groups(self) -> set[int]:
        """The numbers of all groups that have a part in it."""
        return {number for number in (self.group, *(leg.group for leg in self.legs)) if number is not None}


@dataclass(frozen=True, eq=False)
class Group:
    """Members of a family that are fitted at once: models of these configurations, or transformers at these nodes.

    `varied` are the parameters in which they differ.
    """

    family: Family
    members: tuple[int, ...]
    varied: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Routes:
    """What the configurations of a collection have in common.

    Attributes
    ----------
    routes
        By position of the configuration; None for one that has nothing in common with others.
    groups
        The families in use, by number.
    names
        What stands at every node, for people.
    parents
        The node before every node.
    """

    routes: tuple[Route | None, ...]
    groups: Mapping[int, Group] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    parents: tuple[int, ...] = ()

    @cached_property
    def order(self) -> list[int]:
        """All positions, neighbours in the tree one after the other."""
        first: dict[Hashable, int] = {}
        keys = []
        for position, route in enumerate(self.routes):
            way: tuple[Hashable, ...] = () if route is None else (*route.nodes, ("group", route.group))
            # A branch stands where its first configuration does.
            branches = (first.setdefault(way[: i + 1], position) for i in range(len(way)))
            keys.append((*branches, position))
        return sorted(range(len(self.routes)), key=keys.__getitem__)

    @cached_property
    def passing(self) -> dict[int, list[int]]:
        """The configurations that pass through every node."""
        found: dict[int, list[int]] = defaultdict(list)
        for position, route in enumerate(self.routes):
            for node in () if route is None else route.nodes:
                found[node].append(position)
        return dict(found)

    def without(self, refused: Iterable[int], alone: Iterable[int] = ()) -> Routes:
        """The same without these groups, and with these configurations fitted alone."""
        gone, lonely = set(refused), set(alone)

        def changed(position: int, route: Route | None) -> Route | None:
            if route is None or position in lonely:
                return None
            legs = tuple(leg._replace(group=None) if leg.group in gone else leg for leg in route.legs)
            # A family that is fitted as a whole gives other last digits where one of its members is missing.
            kin = None if lonely else route.kin
            return route._replace(legs=legs, group=None if route.group in gone else route.group, kin=kin)

        routes = tuple(changed(p, route) for p, route in enumerate(self.routes))
        groups = {number: group for number, group in self.groups.items() if number not in gone}
        return replace(self, routes=routes, groups=groups)

    def called_in(self, positions: Collection[int]) -> list[int]:
        """Further configurations that are needed to fit these, because a family is fitted as a whole."""
        there = set(positions)
        numbers: dict[int, None] = {}
        nodes: set[int] = set()
        for position in positions:
            route = self.routes[position]
            if route is not None and self._whole:
                nodes.update(route.nodes)
                numbers |= dict.fromkeys(sorted(route.groups & self._whole))
        further: dict[int, None] = {}
        for number in numbers:
            group = self.groups[number]
            members = group.members
            if group.family.transforms:
                members = tuple(self.passing[node][0] for node in members if node not in nodes)
            further |= dict.fromkeys(p for p in members if p not in there)
        return list(further)

    @cached_property
    def _whole(self) -> frozenset[int]:
        return frozenset(number for number, group in self.groups.items() if group.family.whole)


class _Way(NamedTuple):
    """A configuration taken to pieces: the steps with their paths and arguments, the model last."""

    steps: list[tuple[Any, Path, Arguments]]


def allowed_levels(level: Level) -> tuple[Level, ...]:
    """A level and those that are stricter."""
    return LEVELS[: LEVELS.index(level) + 1]


def make_routes(estimators: Sequence[Any], level: Level, fit_params: Iterable[str] = ()) -> Routes:
    """Routes of all configurations.

    Parameters
    ----------
    estimators
        The configurations, in their order.
    level
        The loosest level of a family that may be used.
    fit_params
        Names of the arguments of every fit.
    """
    from sklearn import get_config

    if get_config()["enable_metadata_routing"]:
        return Routes((None,) * len(estimators))
    tree = _Tree(allowed_levels(level))
    arguments = tuple((name, name) for name in fit_params)
    for position, estimator in enumerate(estimators):
        pieces = _pieces(estimator, (), arguments)
        tree.add(position, _Way(pieces) if pieces else None)
    return tree.routes()


class _Tree:
    """The nodes as they are found."""

    def __init__(self, allowed: tuple[Level, ...]) -> None:
        self.allowed = allowed
        self.nodes: dict[Hashable, int] = {}
        self.made: list[Any] = []
        self.unions: list[Union | None] = []
        self.parents: list[int] = []
        self.counts: list[int] = []
        self.arguments: list[Arguments] = []
        self.ways: list[tuple[_Way, tuple[int, ...]] | None] = []

    def add(self, position: int, way: _Way | None) -> None:
        """One more configuration; None where it cannot be taken to pieces."""
        assert position == len(self.ways)
        if way is None:
            self.ways.append(None)
            return
        at, nodes = ROOT, []
        for estimator, _, arguments in way.steps[:-1]:
            union = union_of(estimator)
            key = (at, key_of(estimator) if union is None else union.key, arguments)
            if key not in self.nodes:
                self.nodes[key] = len(self.nodes)
                self.made.append(estimator)
                self.unions.append(union)
                self.parents.append(at)
                self.counts.append(0)
                self.arguments.append(arguments)
            at = self.nodes[key]
            self.counts[at] += 1
            nodes.append(at)
        self.ways.append((way, tuple(nodes)))

    def routes(self) -> Routes:
        groups: dict[int, Group] = {}
        siblings = self._grouped(
            ((node, self.made[node], (self.parents[node], self.arguments[node])) for node in range(len(self.made))),
            transforms=True,
            groups=groups,
        )
        models = self._grouped(
            (
                (position, way.steps[-1][0], (nodes[-1] if nodes else ROOT, way.steps[-1][2]))
                for position, (way, nodes) in ((p, w) for p, w in enumerate(self.ways) if w is not None)
            ),
            transforms=False,
            groups=groups,
        )
        kin, strands = self._kin(models, groups), self._strands()
        return Routes(
            tuple(self._route(p, siblings, models, kin, strands) for p in range(len(self.ways))),
            groups,
            tuple(type(estimator).__name__ for estimator in self.made),
            tuple(self.parents),
        )

    def _kin(self, models: Mapping[int, int], groups: Mapping[int, Group]) -> dict[int, int]:
        """Equal models that stand on different nodes, where the rows may turn out to be equal too."""
        ends = {nodes[-1] for _, nodes in filter(None, self.ways) if nodes}
        if len(ends) < 2:
            return {}
        keys: dict[int, Hashable] = {}
        for position, way in enumerate(self.ways):
            if way is not None and way[1] and _is_simple(model := way[0].steps[-1][0]):
                keys[position] = (key_of(model), way[0].steps[-1][2])
        company: dict[int, Hashable] = {}
        for number in set(models.values()):
            family = groups[number].family
            fellows = tuple(keys.get(p, p) for p in groups[number].members) if family.whole else None
            company[number] = (id(family), fellows)
        together: dict[Hashable, list[int]] = defaultdict(list)
        for position, key in keys.items():
            together[key, company.get(models.get(position, -1))].append(position)
        alike = [positions for positions in together.values() if len(positions) > 1]
        return {position: number for number, positions in enumerate(alike) for position in positions}

    def _strands(self) -> dict[int, tuple[tuple[int, int], ...]]:
        """By node of a union: (place, number) of what stands on the same rows in another place too."""
        found: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)
        for node, union in enumerate(self.unions):
            for place, key in () if union is None else union.strands:
                found[self.parents[node], self.arguments[node], key].append((node, place))
        out: dict[int, tuple[tuple[int, int], ...]] = defaultdict(tuple)
        for number, places in enumerate(places for places in found.values() if len(places) > 1):
            for node, place in places:
                out[node] += ((place, number),)
        return out

    def _route(
        self,
        position: int,
        siblings: Mapping[int, int],
        models: Mapping[int, int],
        kin: Mapping[int, int],
        strands: Mapping[int, tuple[tuple[int, int], ...]],
    ) -> Route | None:
        found = self.ways[position]
        if found is None:
            return None
        way, nodes = found
        group = models.get(position)
        if group is None and not any(self.counts[node] > 1 or node in siblings or node in strands for node in nodes):
            return None
        legs = tuple(
            Leg(node, path, arguments, siblings.get(node), strands.get(node, ()))
            for node, (_, path, arguments) in zip(nodes, way.steps[:-1], strict=True)
        )
        model, path, arguments = way.steps[-1]
        return Route(position, legs, path, arguments, group, _is_simple(model), kin.get(position))

    def _grouped(
        self, found: Iterable[tuple[int, Any, Hashable]], transforms: bool, groups: dict[int, Group]
    ) -> dict[int, int]:
        """The number of the group of everything that has fellows or needs none; `found` are (id, estimator, where it stands)."""
        together: dict[Hashable, list[tuple[int, Any]]] = defaultdict(list)
        families: dict[Hashable, Family] = {}
        for i, estimator, where in found:
            family = family_of(estimator, self.allowed)
            if family is None or family.transforms != transforms:
                continue
            key: Hashable = (where, id(family), estimator_key(estimator, family.varies))
            together[key].append((i, estimator))
            families[key] = family
        out = {}
        for kin, members in together.items():
            if len(members) > 1 or families[kin].serves_single:
                number = len(groups)
                ids, estimators = zip(*members, strict=True)
                groups[number] = Group(families[kin], ids, _varied(estimators, families[kin]))
                out.update(dict.fromkeys(ids, number))
        return out


def _varied(estimators: Sequence[Any], family: Family) -> tuple[str, ...]:
    params = [own_params(estimator) for estimator in estimators]
    return tuple(name for name in sorted(family.varies) if len({key_of(mine.get(name)) for mine in params}) > 1)


def _pieces(estimator: Any, path: Path, arguments: Arguments) -> list[tuple[Any, Path, Arguments]] | None:
    """Steps of a pipeline and of those inside it, the last one last; None where only the pipeline itself knows what to do."""
    steps = _steps(estimator)
    if steps is None:
        left = _called_back(estimator) or (path != () and _works_in_place(estimator))
        return None if left else [(estimator, path, arguments)]
    routed = _routed([name for name, _ in steps], arguments)
    if routed is None:
        return None
    out: list[tuple[Any, Path, Arguments]] = []
    for i, (name, step) in enumerate(steps):
        if step is None or isinstance(step, str):
            if i == len(steps) - 1 and path == ():
                return None  # no model
            continue
        pieces = _pieces(step, (*path, i), routed[name])
        if pieces is None:
            return None
        out += pieces
    return out


def _steps(estimator: Any) -> list[tuple[str, Any]] | None:
    """The steps of a plain pipeline; None for everything else, and for one that does more than going from step to step."""
    from sklearn.pipeline import Pipeline

    if type(estimator) is not Pipeline or estimator.memory is not None or estimator.verbose:
        return None
    if estimator.transform_input is not None or _called_back(estimator):
        return None
    try:
        steps = [(name, step) for name, step in estimator.steps]
        names = [name for name, _ in steps]
        if not _are_valid(tuple(names), tuple(type(step) for _, step in steps)):
            estimator._validate_steps()
    except Exception:  # it will say so itself when it is fitted
        return None
    return steps if all(isinstance(name, str) for name in names) else None


@lru_cache(maxsize=1024)
def _are_valid(names: tuple[str, ...], kinds: tuple[type, ...]) -> bool:
    """Whether the pipeline would find no fault with steps of these classes, as far as the classes alone can tell."""
    from sklearn.pipeline import Pipeline

    taken = set(Pipeline._get_param_names())
    named = len(set(names)) == len(names) and not any("__" in name or name in taken for name in names)
    return named and all(
        _always_has(kind, "fit") and (last or _always_has(kind, "transform"))
        for kind, last in zip(kinds, [*[False] * (len(kinds) - 1), True], strict=True)
    )


def _always_has(kind: type, method: str) -> bool:
    """Whether all instances have a method, whatever their parameters."""
    return isinstance(getattr_static(kind, method, None), FunctionType)


def _is_simple(model: Any) -> bool:
    """What such a model is fitted on is what it is given, not something it makes of that for a model inside."""
    params = [value for value in own_params(model).values() if not is_plain(value)]
    return type(model).__module__.startswith("sklearn.") and not any(hasattr(v, "fit") or callable(v) for v in params)


def _works_in_place(estimator: Any) -> bool:
    """Whether something inside is told to write into its rows, which what stands beside it then sees changed.

    Of rows that are locked, scikit-learn takes a copy instead; those that a pipeline of its own makes are not.
    """
    if all(map(is_plain, own_params(estimator).values())):
        return False
    flags = (getattr(part, name, True) for part in islice(parts_of(estimator), 1, None) for name in ("copy", "copy_X"))
    return any(isinstance(flag, (int, np.bool_)) and not flag for flag in flags)


def _called_back(estimator: Any) -> bool:
    return bool(getattr(estimator, "_skl_callbacks", None))


def _routed(names: Sequence[str], arguments: Arguments) -> dict[str, Arguments] | None:
    """Arguments of fit by step; None where one has no step, which the pipeline refuses in its own words."""
    out: dict[str, Arguments] = dict.fromkeys(names, ())
    for name, given in arguments:
        step, found, inner = name.partition("__")
        if not found or step not in out:
            return None
        out[step] += ((inner, given),)
    return out
