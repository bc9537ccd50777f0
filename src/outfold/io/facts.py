"""The facts of an .oof file, each checked for its type: what was edited is an error when the file is read, not later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, get_args

import numpy as np

from ..data.cells import RESPONSES
from ..data.criterion import Criterion
from ..data.ledger import LEDGER, TEST_PART
from ..data.notes import Note
from ..data.plan import Plan
from ..data.seeds import SEEDED, SEEDS
from ..data.target import Task
from .json_types import Check, anything, either, listed, mapped, number, one_of, optional, record, scalar, text, whole
from .values import loads


def _pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(text, value))


def _share(value: Any) -> bool:
    return value is None or (number(value) and 0 < value < 1)


def _ascending(value: Any) -> bool:
    return listed(number)(value) and len(value) >= 2 and all(a < b for a, b in pairwise(value))


_DTYPE = record(dtype=text)
_PLAN = record(
    kind=text,
    folds=whole,
    repeats=lambda value: whole(value, 1),
    stratify=one_of(True, False, "auto"),
    groups=one_of(True, False, "auto"),
    test=_share,
    cv=optional(text),
)
_RULE = either(record(function=text), record(name=text))
_METRIC = either(
    text, record(live=text), record(function=text), record(function=text, greater_is_better=one_of(True, False))
)
_LEDGER_ENTRY = record(
    metric=text,
    observed=optional(number),
    estimate=optional(number),
    n_new=whole,
    part=text,
    compatible=one_of(True, False, None),
    when=text,
)
_DROP = record(
    config=text,
    repeat=whole,
    fold=whole,
    probability=optional(number),
    compared_with=text,
    n_predictions=whole,
)

# Facts that all blocks share, and those that each block has.
_SHARED: dict[str, Check] = {
    "task": one_of(*get_args(Task)),
    "classes": optional(listed(scalar)),
    "types": mapped(_DTYPE),
    "blocks": listed(text),
}
_CRITERION = record(metric=optional(_METRIC), aggregate=text, rule=optional(_RULE))
_OF_BLOCK: dict[str, Check] = {
    "response": one_of(*RESPONSES),
    "plan": _PLAN,
    "threshold": optional(lambda value: type(value) in (int, float) and value == value),
    "outputs": optional(lambda value: whole(value, 1)),
    "folds": lambda value: whole(value, 1),
    "fingerprint": text,
    "notes": listed(_pair),
    "provenance": lambda value: isinstance(value, dict),
}
# What this package reads of the provenance; more may be there.
_PROVENANCE: dict[str, Check] = {
    "seed": optional(either(lambda value: type(value) is int, text)),
    "specs": mapped(text),
    "identity": mapped(text),
    "repeats": text,
    "stopped_after": optional(lambda value: whole(value, 1)),
    "twins": optional(whole),
    "n_fits": optional(whole),
    "not_scored": mapped(whole),
    "drops": listed(_DROP),
    "sharing": mapped(anything),
    SEEDS: lambda value: whole(value, 1),
    SEEDED: listed(text),
    LEDGER: listed(_LEDGER_ENTRY),
    TEST_PART: record(rows=listed(whole), n_samples=whole, data=text, labels=text),
}


class Facts:
    """The table ``about``: every fact of the main block and of the further ones, in the types they must have."""

    def __init__(self, rows: Iterable[tuple[Any, Any]], main: str) -> None:
        self._all = {key: loads(value) for key, value in rows if key != "format"}
        self._main = main
        for key, check in _SHARED.items():
            self._get(key, check)
        if len({main, *self.blocks}) <= len(self.blocks):
            raise ValueError("two blocks of the same name")
        known = _SHARED.keys() | _OF_BLOCK.keys() | {"outfold", "criterion", "digest", "times"}
        for block in self.blocks:
            known |= {f"{block}.{key}" for key in (*_OF_BLOCK, "times")}
        strange = self._all.keys() - known
        if strange:
            raise ValueError(f"the fact {min(map(str, strange))!r} is not known")

    def _get(self, key: str, check: Check) -> Any:
        if key not in self._all or not check(self._all[key]):
            raise ValueError(f"the fact {key!r} is lacking or of a wrong type")
        return self._all[key]

    def __getitem__(self, key: str) -> Any:
        return self._all[key]

    @property
    def blocks(self) -> list[str]:
        """Names of the further blocks."""
        return list(self._all["blocks"])

    @property
    def digest(self) -> dict[str, str]:
        """Hashes of the tables; files of schema 1 to 4 have none."""
        found: dict[str, str] = self._get("digest", mapped(text))
        return found

    @property
    def criterion(self) -> Criterion:
        """What selects; files of schema 1 do not say, and mean the default."""
        if "criterion" not in self._all:
            return Criterion()
        return Criterion.from_dict(self._get("criterion", _CRITERION))

    def of_block(self, block: str) -> dict[str, Any]:
        """The facts of one block, as `Predictions` takes them, with ``outputs``, ``folds`` and ``fingerprint``."""
        prefix = "" if block == self._main else f"{block}."
        found = {key: self._get(prefix + key, check) for key, check in _OF_BLOCK.items()}
        times = self._all.get(prefix + "times")  # files of schema 1 to 3 have none
        if times is not None and not _ascending(times):
            raise ValueError("times that are not in ascending order")
        found["times"] = None if times is None else np.array(times, dtype=np.float64)
        strange = strange_provenance(found["provenance"])
        if strange is not None:
            raise ValueError(f"the fact {strange!r} of the provenance is of a wrong type")
        found["plan"] = _plan(found["plan"])
        found["notes"] = tuple(Note(*note) for note in found["notes"])
        return found


def strange_provenance(provenance: Mapping[str, Any]) -> str | None:
    """The first fact that this package would not understand when it reads it; None if there is none."""
    return next((k for k, check in _PROVENANCE.items() if k in provenance and not check(provenance[k])), None)


def _plan(fields: dict[str, Any]) -> Plan:
    if not _share(fields.get("validation")):
        raise ValueError("a plan with a share that cannot be")
    return Plan.from_dict(fields)
