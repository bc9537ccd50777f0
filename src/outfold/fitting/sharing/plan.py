"""The sharing plan: the path of each configuration from the rows to its model, and what several paths have in common.

A pipeline is a chain of transformers and a model. Chains that begin alike make a tree. Each node of the tree is a transformer
that is fitted once for all configurations that pass through it. Models that differ in a few parameters and follow the same
node are fitted by their family at once.
"""

from __future__ import annotations

import pickle
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from inspect import getattr_static
from itertools import islice
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..estimators import (
    EstimatorTemplate,
    estimator_key,
    is_plain,
    is_untouched,
    key_of,
    own_params,
    package_of,
    parts_of,
)
from .families import family_of
from .family import LEVELS, Family, Level

# Positions of steps in pipelines inside pipelines; () for the configuration itself.
Location = tuple[int, ...]
# (name in the step's own fit, name in the user's fit_params)
Arguments = tuple[tuple[str, str], ...]
# A step of a pipeline: the estimator, where it is, and its arguments.
Piece = tuple[Any, Location, Arguments]
ROOT = -1


def step_at(estimator: Any, location: Location) -> Any:
    """The step of a pipeline, or of one inside it."""
    for i in location:
        estimator = estimator.steps[i][1]
    return estimator


class PathStep(NamedTuple):
    """One transformer on the path of a configuration."""

    node: int  # its place in the tree
    location: Location
    arguments: Arguments


class PipelinePath(NamedTuple):
    """How a configuration shares work with others."""

    position: int  # its place among all configurations
    steps: tuple[PathStep, ...]
    location: Location  # of its model
    arguments: Arguments  # of its model
    group: int | None = None  # the number of the family that fits the model together with others
    simple: bool = False  # the model is scikit-learn's and has no other inside

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes that it passes through."""
        return tuple(step.node for step in self.steps)


@dataclass(frozen=True, eq=False)
class SharingTemplate(EstimatorTemplate):
    """A template that knows the path of its configuration; None if it shares nothing with others."""

    path: PipelinePath | None = None

    @classmethod
    def of(cls, template: EstimatorTemplate, path: PipelinePath | None) -> SharingTemplate:
        """The template with this path."""
        return cls(**{name: getattr(template, name) for name in EstimatorTemplate.__dataclass_fields__}, path=path)

    @property
    def shared_path(self) -> PipelinePath:
        """The path, for a template that has one."""
        assert self.path is not None
        return self.path

    def make_model(self, seed: int) -> Any:
        """The model at the end of the path only, as fresh and seeded as in the estimator that `make` gives.

        If all its parameters are plain, it is copied from a stored model; that takes a tenth of the time.
        """
        location = () if self.path is None else self.path.location
        stored = None if self.frozen is None else _stored_model(self.frozen, location)
        if stored is None:
            return step_at(self.make(seed), location)
        model: Any = object.__new__(stored.kind)
        vars(model).update(stored.values)
        if stored.unseeded:
            model.random_state = seed
        return model


class _StoredModel(NamedTuple):
    """A model that nobody fits: its class, what its instances hold, and whether its seed was left open."""

    kind: type
    values: dict[str, Any]
    unseeded: bool


@lru_cache(maxsize=4096)
def _stored_model(frozen: bytes, location: Location) -> _StoredModel | None:
    """The model at this location; None if copying its attributes would not copy it."""
    made, parts = pickle.loads(frozen)
    model = step_at(made, location)
    values = vars(model) if is_untouched(model) else {}
    if not values or not all(map(is_plain, values.values())):
        return None
    return _StoredModel(type(model), values, any(part is model for part in parts))


@dataclass(frozen=True, eq=False)
class FamilyGroup:
    """Members of a family that are fitted at once: the models of these configurations."""

    family: Family
    members: tuple[int, ...]
    varied: tuple[str, ...] = ()  # the parameters in which they differ


@dataclass(frozen=True, eq=False)
class SharingPlan:
    """What the configurations of a collection have in common."""

    paths: tuple[PipelinePath | None, ...]  # by position; None for a configuration that shares nothing with others
    groups: Mapping[int, FamilyGroup] = field(default_factory=dict)  # the families in use, by number
    names: tuple[str, ...] = ()  # the class of each node's transformer
    parents: tuple[int, ...] = ()  # the node before each node

    @cached_property
    def order(self) -> list[int]:
        """All positions, neighbours in the tree one after the other."""
        first: dict[Hashable, int] = {}
        keys = []
        for position, path in enumerate(self.paths):
            way: tuple[Hashable, ...] = () if path is None else (*path.nodes, ("group", path.group))
            # A branch comes where its first configuration does.
            branches = (first.setdefault(way[: i + 1], position) for i in range(len(way)))
            keys.append((*branches, position))
        return sorted(range(len(self.paths)), key=keys.__getitem__)

    @cached_property
    def passing(self) -> dict[int, list[int]]:
        """The configurations that pass through each node."""
        found: dict[int, list[int]] = defaultdict(list)
        for position, path in enumerate(self.paths):
            for node in () if path is None else path.nodes:
                found[node].append(position)
        return dict(found)

    def without(self, groups: Iterable[int], isolated: Iterable[int] = ()) -> SharingPlan:
        """The same without these groups, and with these configurations fitted by themselves."""
        gone, alone = set(groups), set(isolated)

        def changed(position: int, path: PipelinePath | None) -> PipelinePath | None:
            if path is None or position in alone:
                return None
            return path._replace(group=None) if path.group in gone else path

        paths = tuple(changed(position, path) for position, path in enumerate(self.paths))
        left = {number: group for number, group in self.groups.items() if number not in gone}
        return replace(self, paths=paths, groups=left)

    def neighbours(self, position: int) -> set[int]:
        """The configurations that share anything with this one, itself included."""
        mine = self.paths[position]
        if mine is None:
            return set()
        others = [(p, path) for p, path in enumerate(self.paths) if path is not None]
        if not mine.steps:
            return {p for p, path in others if path.group == mine.group}
        return {p for p, path in others if path.nodes[:1] == mine.nodes[:1]}

    def helpers(self, positions: Collection[int]) -> list[int]:
        """Further configurations that are needed to fit these, because a family is fitted as a whole."""
        there = set(positions)
        paths = (self.paths[position] for position in positions)
        numbers = dict.fromkeys(path.group for path in paths if path is not None and path.group in self._whole)
        members = (member for number in numbers if number is not None for member in self.groups[number].members)
        return list(dict.fromkeys(member for member in members if member not in there))

    @cached_property
    def _whole(self) -> frozenset[int]:
        return frozenset(number for number, group in self.groups.items() if group.family.whole)


def make_plan(estimators: Sequence[Any], level: Level, fit_params: Iterable[str] = ()) -> SharingPlan:
    """The plan for these configurations, with families up to this level and arguments of these names in every fit."""
    from sklearn import get_config

    if get_config()["enable_metadata_routing"]:
        return SharingPlan((None,) * len(estimators))
    tree = _Tree(LEVELS[: LEVELS.index(level) + 1])
    arguments = tuple((name, name) for name in fit_params)
    for estimator in estimators:
        tree.add(_pieces(estimator, (), arguments))
    return tree.plan()


class _Tree:
    """The nodes as they are found."""

    def __init__(self, allowed: tuple[Level, ...]) -> None:
        self.allowed = allowed
        self.numbers: dict[Hashable, int] = {}
        self.names: list[str] = []  # the class of each node's transformer
        self.parents: list[int] = []  # the node before each node
        self.counts: Counter[int] = Counter()
        self.groups: dict[int, FamilyGroup] = {}
        # By position: the steps of the configuration, its model last, and the nodes of its transformers.
        self.ways: list[tuple[list[Piece], tuple[int, ...]] | None] = []

    def add(self, pieces: list[Piece] | None) -> None:
        """One more configuration; None or nothing if it cannot be taken to pieces."""
        if not pieces:
            self.ways.append(None)
            return
        below, nodes = ROOT, []
        for estimator, _, arguments in pieces[:-1]:
            key = (below, key_of(estimator), arguments)
            if key not in self.numbers:
                self.numbers[key] = len(self.numbers)
                self.names.append(type(estimator).__name__)
                self.parents.append(below)
            below = self.numbers[key]
            nodes.append(below)
        self.counts.update(nodes)
        self.ways.append((pieces, tuple(nodes)))

    def plan(self) -> SharingPlan:
        """The plan for the configurations that were added."""
        models = self._grouped()
        paths = tuple(self._path(position, models.get(position)) for position in range(len(self.ways)))
        return SharingPlan(paths, self.groups, tuple(self.names), tuple(self.parents))

    def _path(self, position: int, group: int | None) -> PipelinePath | None:
        found = self.ways[position]
        if found is None:
            return None
        pieces, nodes = found
        if group is None and all(self.counts[node] == 1 for node in nodes):
            return None
        steps = tuple(
            PathStep(node, location, arguments)
            for node, (_, location, arguments) in zip(nodes, pieces[:-1], strict=True)
        )
        model, location, arguments = pieces[-1]
        return PipelinePath(position, steps, location, arguments, group, _is_simple(model))

    def _grouped(self) -> dict[int, int]:
        """The number of the group of each member of a family, by position.

        A family with a single member is no family, unless its results differ in the last bits from a separate fit: what a
        configuration predicts must not depend on which others were tried.
        """
        together: dict[Hashable, list[tuple[int, Any]]] = defaultdict(list)
        families: dict[Hashable, Family] = {}
        for position, way in enumerate(self.ways):
            if way is None:
                continue
            (*_, (model, _, arguments)), nodes = way
            family = family_of(model, self.allowed)
            if family is not None:
                key: Hashable = (nodes[-1:], arguments, id(family), estimator_key(model, family.varies))
                together[key].append((position, model))
                families[key] = family
        out = {}
        for key, members in together.items():
            if len(members) > 1 or families[key].serves_single:
                positions, models = zip(*members, strict=True)
                out.update(dict.fromkeys(positions, len(self.groups)))
                self.groups[len(self.groups)] = FamilyGroup(families[key], positions, _varied(models, families[key]))
        return out


def _varied(estimators: Sequence[Any], family: Family) -> tuple[str, ...]:
    params = [own_params(estimator) for estimator in estimators]
    return tuple(name for name in sorted(family.varies) if len({key_of(mine.get(name)) for mine in params}) > 1)


def _pieces(estimator: Any, location: Location, arguments: Arguments) -> list[Piece] | None:
    """Steps of a pipeline and of those inside it; None if the pipeline does more than going from step to step."""
    steps = _steps(estimator)
    if steps is None:
        left = _called_back(estimator) or (location != () and _works_in_place(estimator))
        return None if left else [(estimator, location, arguments)]
    routed = _routed([name for name, _ in steps], arguments)
    if routed is None:
        return None
    out: list[Piece] = []
    for i, (name, step) in enumerate(steps):
        if step is None or isinstance(step, str):
            if i == len(steps) - 1 and location == ():
                return None  # no model
            continue
        pieces = _pieces(step, (*location, i), routed[name])
        if pieces is None:
            return None
        out += pieces
    return out


def _steps(estimator: Any) -> list[tuple[str, Any]] | None:
    """The steps of a plain pipeline; None for everything else, and for a pipeline that does more."""
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
    except Exception:  # its own fit raises the same
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
    """Whether a model is scikit-learn's and fits on the rows that it is given, not on others made for a model inside."""
    params = [value for value in own_params(model).values() if not is_plain(value)]
    return package_of(type(model)) == "sklearn" and not any(hasattr(v, "fit") or callable(v) for v in params)


def _works_in_place(estimator: Any) -> bool:
    """Whether something inside is told to write into its rows, which its neighbours would then see changed.

    scikit-learn copies rows that are read-only; those that an inner pipeline makes are not.
    """
    if all(map(is_plain, own_params(estimator).values())):
        return False
    flags = (getattr(part, name, True) for part in islice(parts_of(estimator), 1, None) for name in ("copy", "copy_X"))
    return any(isinstance(flag, (int, np.bool_)) and not flag for flag in flags)


def _called_back(estimator: Any) -> bool:
    return bool(getattr(estimator, "_skl_callbacks", None))


def _routed(names: Sequence[str], arguments: Arguments) -> dict[str, Arguments] | None:
    """Arguments of fit by step; None if one has no step, which the pipeline itself refuses."""
    out: dict[str, Arguments] = dict.fromkeys(names, ())
    for name, given in arguments:
        step, found, inner = name.partition("__")
        if not found or step not in out:
            return None
        out[step] += ((inner, given),)
    return out
