"""What sharing saved: foreseen before the work, counted during it, and told afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ... import formatting
from ...data.notes import Note
from ..worker import FitOutcome
from .family import Family, Level
from .plan import ROOT, FamilyGroup, SharingPlan
from .transform_cache import Walk

_NUMBERS = ("models", "models_done", "steps", "steps_done", "checks", "peak_bytes")


class FailedVerification(NamedTuple):
    """A family gave something else than a fit of its member: the group, the configuration, and what differed."""

    group: int
    name: str
    text: str


class SharedFit(NamedTuple):
    """What a fit had in common with others."""

    own_seconds: float  # of the model only
    nodes: tuple[tuple[int, float], ...] = ()  # the transformers that were fitted for it, with their seconds
    n_steps: int = 0  # transformers on its path
    n_steps_done: int = 0  # fits of transformers that were done for it
    group: int | None = None
    leads: bool = True  # the fit of its family is counted here
    peak: int = 0  # the largest number of bytes of transformed rows
    n_checks: int = 0  # members that were fitted by themselves to verify their family
    failed: FailedVerification | None = None

    def with_walk(self, walk: Walk) -> SharedFit:
        """The same with what was done on the way to the rows."""
        return self._replace(nodes=(*walk.new, *self.nodes), n_steps_done=len(walk.new) + self.n_steps_done)


def family_key(family: Family) -> str:
    """A name of the family that is the same in every process."""
    kind = type(family)
    return f"{kind.__module__}.{kind.__qualname__} for {family.estimator}"


@dataclass
class SharingCounts:
    """Fits that were asked for and fits that were done, of models and of transformers ("steps")."""

    models: int = 0
    models_done: int = 0
    steps: int = 0
    steps_done: int = 0
    checks: int = 0
    peak_bytes: int = 0
    by_family: Counter[str] = field(default_factory=Counter)
    levels: dict[str, str] = field(default_factory=dict)
    refused: dict[str, dict[str, str]] = field(default_factory=dict)
    by_group: Counter[int] = field(default_factory=Counter, init=False)
    node_seconds: dict[int, float] = field(default_factory=dict, init=False)  # of each transformer in the tree

    @classmethod
    def since(cls, before: Mapping[str, Any]) -> SharingCounts:
        """Counts that go on from what earlier calls on the same store recorded."""
        return cls(
            **{name: int(before.get(name, 0)) for name in _NUMBERS},
            by_family=Counter(before.get("families", {})),
            levels=dict(before.get("levels", {})),
            refused=dict(before.get("refused", {})),
        )

    def add(self, outcome: FitOutcome, groups: Mapping[int, FamilyGroup]) -> None:
        """Count a fit that has come back."""
        shared: SharedFit | None = outcome.shared
        self.models += 1
        if shared is None:
            self.models_done += 1
            return
        self.checks += shared.n_checks
        self.steps += shared.n_steps
        self.steps_done += shared.n_steps_done
        self.peak_bytes = max(self.peak_bytes, shared.peak)
        self.models_done += shared.leads
        self.node_seconds.update(shared.nodes)
        if shared.group is not None and shared.group in groups:
            family = groups[shared.group].family
            self.by_family[family.name] += 1
            self.by_group[shared.group] += 1
            known = self.levels.get(family.name, "exact")
            self.levels[family.name] = family.level if known == "exact" else known

    def refuse(self, failed: FailedVerification, family: Family, groups: Iterable[int]) -> None:
        """A verification failed: what the family gave for these groups is thrown away."""
        self.by_family -= Counter({family.name: sum(self.by_group.pop(number, 0) for number in groups)})
        about = {"family": family.name, "level": family.level, "config": failed.name, "text": failed.text}
        self.refused.setdefault(family_key(family), about)

    def facts(self, level: Level) -> dict[str, Any]:
        """For the provenance."""
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        tables = {"families": dict(self.by_family), "levels": self.levels, "refused": self.refused}
        return {"level": level, **numbers, **tables}

    def notes(self) -> tuple[Note, ...]:
        """What the user should know about shared fits."""
        notes = []
        close = {name: n for name, n in sorted(self.by_family.items()) if self.levels.get(name) != "exact"}
        if close:
            names = ", ".join(f"{name} {n:,} ({self.levels[name]})" for name, n in close.items())
            share = f"{sum(close.values()):,} of {self.models:,} fits"
            notes.append(Note("OF106", f"{share} were shared at a level below exact: {names}."))
        for about in self.refused.values():
            family = f"the {about['level']} family of {about['family']} was not used"
            gave = f"with {about['config']!r} it gave something else than a fit alone ({about['text']})"
            notes.append(Note("OF107", f"{family}: {gave}. Its configurations were fitted one by one."))
        return tuple(notes)


def explain_plan(plan: SharingPlan, level: Level, n_holdouts: int) -> str:
    """What is going to be shared, in a few lines."""
    n = len(plan.paths)
    asked = f"{formatting.count(n * n_holdouts, 'fit')} of {formatting.count(n, 'configuration')}"
    head = f"{asked} on {formatting.count(n_holdouts, 'hold-out')}"
    shared = [*_step_rows(plan), *_family_rows(plan)]
    if not shared:
        return f"{head}; nothing is shared"
    width = max(len(formatting.shorten(name, 60)) for _, name, _ in shared)
    table = [f"  {kind:<7} {formatting.shorten(name, 60):<{width}}  {text}" for kind, name, text in shared]
    return "\n".join([f"{head}, shared at level {level}", *table, _saved(plan, n_holdouts)])


def _step_rows(plan: SharingPlan) -> list[tuple[str, str, str]]:
    """Nodes that several configurations pass through; of a chain that all go together, the last one."""
    passing = {node: len(who) for node, who in plan.passing.items() if len(who) > 1}
    covered = {parent for node, parent in enumerate(plan.parents) if passing.get(node, 0) == passing.get(parent, -1)}
    found = Counter((_chain(plan, node), n) for node, n in passing.items() if node not in covered)
    return [("step", chain, _times(m, formatting.count(n, "configuration"))) for (chain, n), m in found.items()]


def _family_rows(plan: SharingPlan) -> list[tuple[str, str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for group in plan.groups.values():
        members = ", ".join((formatting.count(len(group.members), "member"), *group.varied))
        found[group.family.name, f"{members} ({group.family.level})"] += 1
    return [("family", name, _times(n, text)) for (name, text), n in found.items()]


def _saved(plan: SharingPlan, n_holdouts: int) -> str:
    steps = sum(len(path.steps) for path in plan.paths if path is not None)
    models = sum(len(group.members) - 1 for group in plan.groups.values())
    parts = [(models, len(plan.paths), "models"), (steps - len(plan.passing), steps, "steps")]
    texts = [f"{a * n_holdouts:,} of {b * n_holdouts:,} fits of {what}" for a, b, what in parts if b]
    return "  saved   " + ", ".join(texts)


def _chain(plan: SharingPlan, node: int) -> str:
    names: list[str] = []
    while node != ROOT:
        names.insert(0, plan.names[node])
        node = plan.parents[node]
    return " > ".join(names)


def _times(n: int, text: str) -> str:
    return text if n == 1 else f"{n} x {text}"
