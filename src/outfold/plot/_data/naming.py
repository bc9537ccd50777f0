"""Which of several things a picture shows, and what they are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ...data.predictions import Predictions
from ...exceptions import InputError

T = TypeVar("T")


def positions(known: Sequence[str], wanted: Any, where: str) -> list[int]:
    """Positions of configurations given by name or by position, one or several."""
    asked = [wanted] if isinstance(wanted, (str, int, np.integer)) else list(wanted)
    out = []
    for config in asked:
        if isinstance(config, (int, np.integer)) and 0 <= config < len(known):
            out.append(int(config))
        elif config in known:
            out.append(known.index(str(config)))
        else:
            shown = ", ".join(known[:5]) + (", …" if len(known) > 5 else "")
            raise InputError(f"no configuration {config!r} in this {where}; there are {shown}.")
    if not out:
        raise InputError("configs must name one configuration at least; got none.")
    return out


def by_name(given: Any, kind: type[T], name: Callable[[T], str], needs: str) -> dict[str, T]:
    """Results of one metric by name: of one, a list (equal names are numbered), or a dict with names of the user's own."""
    if isinstance(given, Mapping):
        names, found = [str(key) for key in given], list(given.values())
    else:
        several = isinstance(given, Iterable) and not isinstance(given, (str, Predictions))
        found = list(given) if several else [given]
        names = _numbered([name(one) if isinstance(one, kind) else "" for one in found])
    wrong = [type(one).__name__ for one in found if not isinstance(one, kind)]
    if wrong or not found:
        raise InputError(f"{needs}; got {wrong[0] if wrong else 'none'}.")
    metrics = sorted({one.metric for one in found})
    if len(metrics) > 1:
        raise InputError(f"one picture is of one metric; these are of {', '.join(metrics)}. Draw one for each.")
    return dict(zip(names, found, strict=True))


def _numbered(names: list[str]) -> list[str]:
    times, seen, out = Counter(names), Counter[str](), []
    for name in names:
        seen[name] += 1
        out.append(name if times[name] == 1 else f"{name} ({seen[name]})")
    return out
