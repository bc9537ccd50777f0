"""Checks of values that came from json: each takes a value and says whether it is of the type that is needed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Check = Callable[[Any], bool]

# Repeats, folds and rows are counted in 32 bits.
_MOST = 2**31 - 1


def text(value: Any) -> bool:
    """Text."""
    return isinstance(value, str)


def whole(value: Any, least: int = 0, most: int = _MOST) -> bool:
    """A whole number in a range."""
    return type(value) is int and least <= value <= most


def number(value: Any) -> bool:
    """A finite number."""
    return (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < 1e300)


def anything(value: Any) -> bool:
    """Any value."""
    return True


def one_of(*known: Any) -> Check:
    """One of these values, of the same type."""
    return lambda value: any(type(value) is type(k) and value == k for k in known)


def optional(check: Check) -> Check:
    """None, or what another check lets pass."""
    return lambda value: value is None or check(value)


def either(*checks: Check) -> Check:
    """What one of these checks lets pass."""
    return lambda value: any(check(value) for check in checks)


def listed(check: Check) -> Check:
    """A list whose items pass."""
    return lambda value: isinstance(value, (list, tuple)) and all(map(check, value))


def mapped(check: Check) -> Check:
    """A json object whose values pass."""
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def record(**checks: Check) -> Check:
    """A json object that has all of these entries, and may have more."""
    return lambda value: isinstance(value, dict) and all(k in value and check(value[k]) for k, check in checks.items())


def scalar(value: Any) -> bool:
    """None, text, a bool or any number."""
    return value is None or isinstance(value, (str, bool, int, float))
