"""Checks of single arguments: the same words in every function."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from .exceptions import got, invalid

# What an argument `rng` may be where only numbers are drawn.
RngLike: TypeAlias = int | np.integer | np.random.Generator | np.random.SeedSequence | None


def is_number(value: Any) -> bool:
    """Whether the value is a finite number, and not True or False."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return bool(number and np.isfinite(value))


def is_whole_number(value: Any) -> bool:
    """Whether the value is of an integer type, and not True or False."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_count(value: Any, name: str, least: int = 1) -> int:
    """A whole number of at least `least`."""
    if not is_number(value) or int(value) != value or value < least:
        raise invalid(name, f"must be a whole number of at least {least}", got(value))
    return int(value)


def check_between(value: Any, name: str, example: float, low: float = 0.0, high: float = 1.0) -> float:
    """A number strictly between two others."""
    if not is_number(value) or not low < value < high:
        raise invalid(name, f"must lie between {low:g} and {high:g}, such as {example:g}", got(value))
    return float(value)


def check_from_zero(value: Any, name: str) -> float:
    """A number that is not negative."""
    if not is_number(value) or value < 0:
        raise invalid(name, "must be a number from 0 on", got(value))
    return float(value)


def check_confidence_level(value: Any, name: str = "confidence_level") -> float:
    """The level of an interval, strictly between 0 and 1."""
    return check_between(value, name, 0.95)


def check_alpha(value: Any, name: str = "alpha") -> float:
    """The level of a test, strictly between 0 and 1."""
    return check_between(value, name, 0.05)


def check_choice(value: Any, choices: Sequence[str], name: str) -> str:
    """One of several names.

    >>> check_choice("percentil", ["t", "percentile"], "interval")
    Traceback (most recent call last):
    outfold.exceptions.InputError: interval must be 't' or 'percentile'; got 'percentil'. Did you mean 'percentile'?
    outfold explain arguments says more
    """
    if isinstance(value, str) and value in choices:
        return value
    *first, last = map(repr, choices)
    near = difflib.get_close_matches(value, choices, n=1) if isinstance(value, str) else []
    needed = f"must be {', '.join(first)} or {last}" if first else f"must be {last}"
    raise invalid(name, needed, got(value), f"Did you mean {near[0]!r}?" if near else "")


def nearest(wanted: str, names: Sequence[str]) -> str:
    """The name most like the one wanted, where 1.0 and 1 are the same number."""

    def settled(name: str) -> str:
        return re.sub(r"(?<![\w.])\d+(\.\d*)?(e[-+]?\d+)?(?![\w.])", lambda m: f"{float(m[0]):.15g}", name)

    by_text = {settled(name): name for name in reversed(names)}
    return by_text[difflib.get_close_matches(settled(wanted), list(by_text), n=1, cutoff=0)[0]]


# As many names are listed in an error.
_FEW_NAMES = 10


def known_names(wanted: str, names: Sequence[str], otherwise: str) -> str:
    """Which names there are, as a clause: all if they are few, else those that begin alike; `otherwise` where none does."""
    begin = wanted.partition("(")[0]
    few = len(names) <= _FEW_NAMES
    shown = names if few else [name for name in names if name.partition("(")[0] == begin]
    if not shown:
        return otherwise
    if len(shown) > _FEW_NAMES:
        return f"the nearest of {len(shown):,} names that begin with {begin!r} is {nearest(wanted, shown)!r}"
    listed = ", ".join(map(repr, shown))
    return f"{'' if few else f'beginning with {begin!r} '}there {'is' if len(shown) == 1 else 'are'} {listed}"


def check_takes(function: Callable[..., Any], arguments: tuple[str, ...], name: str) -> None:
    """Refuse a function that cannot be called with these arguments, as far as its signature tells."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some compiled functions have no signature
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        given = getattr(function, "__name__", type(function).__name__)
        raise invalid(name, f"is called with ({', '.join(arguments)})", f"{given} takes {signature}") from None


def as_seed(rng: RngLike, name: str = "rng") -> int:
    """The seed that an argument `rng` means, with the contract of `numpy.random.default_rng`.

    An int is the seed itself, and so is the entropy of a fresh SeedSequence. A spawned SeedSequence gives a seed of its own.
    A Generator is advanced, so that the next call gives another seed. None gives a new seed each time.

    >>> as_seed(7), as_seed(np.random.SeedSequence(7))
    (7, 7)
    """
    if rng is None:
        rng = np.random.SeedSequence()
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if isinstance(rng, np.random.SeedSequence):
        if isinstance(rng.entropy, (int, np.integer)) and not rng.spawn_key:
            return int(rng.entropy)
        return int.from_bytes(rng.generate_state(4).tobytes(), "little")
    if not is_whole_number(rng) or rng < 0:
        needed = "must be None, a whole number from 0, a `numpy.random.Generator` or a `numpy.random.SeedSequence`"
        raise invalid(name, needed, got(rng))
    return int(rng)
