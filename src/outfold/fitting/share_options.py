"""What the configurations of a collection share: foreseen before the work, counted during it, said afterwards."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from .. import formatting
from ..data.notes import Note
from ..exceptions import InputError
from .routes import ROOT, Group, Routes, make_routes
from .sharing import Family, Level
from .task import Outcome, Refusal

ShareLike = Level | Literal[False]


@dataclass(frozen=True, eq=False)
class Sharing:
    """What may be shared, and what is.

    Attributes
    ----------
    level
        The loosest families that may be used; None where everything is fitted by itself.
    spot_check
        Whether members of families are fitted alone too, now and then.
    routes
        The way of every configuration.
    """

    level: Level | None
    spot_check: bool
    routes: Routes

    @classmethod
    def of(
        cls, share: ShareLike, spot_check: bool, estimators: Iterable[Any], fit_params: Mapping[str, Any]
    ) -> Sharing:
        """Checked arguments of `collect`, and the routes of these configurations."""
        if share is not False and share not in get_args(Level):
            allowed = ", ".join(map(repr, get_args(Level)))
            raise InputError(f"share must be {allowed} or False; got {share!r}.")
        if not isinstance(spot_check, bool):
            raise InputError(f"share_check must be True or False; got {spot_check!r}.")
        found = list(estimators)
        if share is False:
            return cls(None, spot_check, Routes((None,) * len(found)))
        return cls(share, spot_check, make_routes(found, share, fit_params))

    @property
    def identity(self) -> dict[str, str]:
        """What a store must have been made with; exact and none may continue each other."""
        return {} if self.level in (None, "exact") else {"share": str(self.level)}

    def explained(self, n_holdouts: int) -> str:
        """What is going to be shared, for a person."""
        return "\n".join(_Explanation(self, n_holdouts).lines())


def said_family(family: Family) -> str:
    """A name that is the same in every process."""
    kind = type(family)
    return f"{kind.__module__}.{kind.__qualname__} for {family.estimator}"


@dataclass
class Tally:
    """Fits that were asked for and fits that were done, of models and of transformers ("steps").

    `copied` are models that were not fitted because an equal one had been, on equal rows.
    """

    models: int = 0
    models_done: int = 0
    steps: int = 0
    steps_done: int = 0
    checks: int = 0
    copied: int = 0
    peak_bytes: int = 0
    by_family: Counter[str] = field(default_factory=Counter)
    by_group: Counter[int] = field(default_factory=Counter, init=False)
    levels: dict[str, str] = field(default_factory=dict)
    refused: dict[str, dict[str, str]] = field(default_factory=dict)

    @classmethod
    def since(cls, before: Mapping[str, Any]) -> Tally:
        """Going on from what earlier calls on the same store recorded."""
        numbers = ("models", "models_done", "steps", "steps_done", "checks", "copied", "peak_bytes")
        known = {name: int(before.get(name, 0)) for name in numbers}
        return cls(
            **known,
            by_family=Counter(before.get("families", {})),
            levels=dict(before.get("levels", {})),
            refused=dict(before.get("refused", {})),
        )

    def add(self, outcome: Outcome, groups: Mapping[int, Group]) -> None:
        """A fit has come back."""
        share = outcome.share
        self.models += 1
        self.checks += outcome.n_checks
        if share is None:
            self.models_done += 1
            return
        self.steps += share.legs
        self.steps_done += share.steps
        self.peak_bytes = max(self.peak_bytes, share.peak)
        self.copied += share.copied
        self.models_done += share.leads and not share.copied
        if share.group is None:
            return
        if share.group in groups:
            family = groups[share.group].family
            name = family.name
            self.by_family[name] += 1
            self.by_group[share.group] += 1
            if self.levels.setdefault(name, family.level) != family.level:
                self.levels[name] = max(self.levels[name], family.level, key=[*get_args(Level)].index)

    def refuse(self, refusal: Refusal, family: Family, groups: Iterable[int]) -> None:
        """A family did not keep its promise: what it gave for these groups is thrown away."""
        self.by_family -= Counter({family.name: sum(self.by_group.pop(number, 0) for number in groups)})
        about = {"family": family.name, "level": family.level, "config": refusal.name, "text": refusal.text}
        self.refused.setdefault(said_family(family), about)

    def to_dict(self, level: Level | None) -> dict[str, Any]:
        """For the provenance."""
        return {
            "level": level,
            "models": self.models,
            "models_done": self.models_done,
            "steps": self.steps,
            "steps_done": self.steps_done,
            "families": dict(self.by_family),
            "levels": self.levels,
            "checks": self.checks,
            "copied": self.copied,
            "refused": self.refused,
            "peak_bytes": self.peak_bytes,
        }


def sharing_notes(facts: Mapping[str, Any]) -> tuple[Note, ...]:
    """What the user should know of it."""
    notes = []
    loose = {name: n for name, n in sorted(facts["families"].items()) if facts["levels"].get(name) != "exact"}
    if loose:
        names = ", ".join(f"{name} {n:,} ({facts['levels'][name]})" for name, n in loose.items())
        share = f"{sum(loose.values()):,} of {facts['models']:,} fits"
        notes.append(Note("OF106", f"{share} served several configurations below the level exact: {names}."))
    for about in facts["refused"].values():
        text = (
            f"the {about['level']} family of {about['family']} was not used: with {about['config']!r} it gave something else "
            f"than a fit alone ({about['text']}). Its configurations were fitted one by one."
        )
        notes.append(Note("OF107", text))
    return tuple(notes)


class _Explanation:
    """The schedule in a few lines."""

    def __init__(self, sharing: Sharing, n_holdouts: int) -> None:
        self.sharing, self.routes, self.n = sharing, sharing.routes, n_holdouts

    def lines(self) -> list[str]:
        routes = self.routes
        n = len(routes.routes)
        asked = f"{formatting.count(n * self.n, 'fit')} of {formatting.count(n, 'configuration')}"
        head = f"{asked} on {formatting.count(self.n, 'hold-out')}"
        shared = self._steps() + self._strands() + self._families()
        if self.sharing.level is None or not shared:
            return [f"{head}; nothing is shared"]
        return [f"{head}, shared at level {self.sharing.level}", *_table(shared), *self._saved()]

    def _steps(self) -> list[tuple[str, str, str]]:
        """Nodes that several pass through; of a chain that all go together, the last one."""
        passing = {node: len(who) for node, who in self.routes.passing.items() if len(who) > 1}
        covered = {
            parent for node, parent in enumerate(self.routes.parents) if passing.get(node, 0) == passing.get(parent, -1)
        }
        found = Counter((self._chain(node), n) for node, n in passing.items() if node not in covered)
        return [("step", chain, _times(m, formatting.count(n, "configuration"))) for (chain, n), m in found.items()]

    def _strands(self) -> list[tuple[str, str, str]]:
        """Transformers that unions on the same rows have in common, by class of the union."""
        legs = {leg.node: leg for route in self.routes.routes if route is not None for leg in route.legs if leg.strands}
        found: dict[str, list[list[int]]] = defaultdict(list)
        for node, leg in legs.items():
            found[self.routes.names[node]].append([number for _, number in leg.strands])
        rows = []
        for name, unions in found.items():
            numbers = [number for union in unions for number in union]
            text = f"{len(numbers)} in {formatting.count(len(unions), 'step')}, {len(set(numbers))} different"
            rows.append(("parts", name, text))
        return rows

    def _chain(self, node: int) -> str:
        names: list[str] = []
        while node != ROOT:
            names.insert(0, self.routes.names[node])
            node = self.routes.parents[node]
        return " > ".join(names)

    def _families(self) -> list[tuple[str, str, str]]:
        found: Counter[tuple[str, str]] = Counter()
        for group in self.routes.groups.values():
            family = group.family
            members = f"{', '.join((formatting.count(len(group.members), 'member'), *group.varied))} ({family.level})"
            found[family.name, members] += 1
        return [("family", name, _times(n, text)) for (name, text), n in found.items()]

    def _saved(self) -> list[str]:
        routes = self.routes
        steps = sum(len(route.legs) for route in routes.routes if route is not None)
        joined = [group for group in routes.groups.values() if group.family.transforms]
        done = len(routes.names) - len(self._unrouted_nodes()) - sum(len(g.members) - 1 for g in joined)
        models = sum(len(g.members) - 1 for g in routes.groups.values() if not g.family.transforms)
        parts = [(models, len(routes.routes), "models"), (steps - done, steps, "steps")]
        return [
            "  saved   " + ", ".join(f"{a * self.n:,} of {b * self.n:,} fits of {what}" for a, b, what in parts if b)
        ]

    def _unrouted_nodes(self) -> Sequence[int]:
        return [node for node in range(len(self.routes.names)) if node not in self.routes.passing]


def _times(n: int, text: str) -> str:
    return text if n == 1 else f"{n} x {text}"


def _table(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    width = max(len(formatting.shorten(name, 60)) for _, name, _ in rows)
    return [f"  {kind:<7} {formatting.shorten(name, 60):<{width}}  {text}" for kind, name, text in rows]
