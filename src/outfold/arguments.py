"""Checks of single arguments, the same words everywhere."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .exceptions import InputError, got


def is_number(value: Any) -> bool:
    """Whether the value is a finite number, and not True or False."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return bool(number and np.isfinite(value))


def check_takes(function: Callable[..., Any], arguments: tuple[str, ...], what: str) -> None:
    """Refuse a function that cannot be called with these arguments, as far as its signature tells."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some compiled functions have no signature
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        name = getattr(function, "__name__", type(function).__name__)
        raise InputError(f"{what} is called with ({', '.join(arguments)}); {name} takes {signature}.") from None


def check_level(level: float, name: str = "confidence_level") -> float:
    """A confidence level strictly between 0 and 1."""
    if not is_number(level) or not 0 < level < 1:
        raise InputError(argument=name, needed="must lie between 0 and 1, such as 0.95", given=got(level))
    return float(level)


def check_count(value: Any, name: str, least: int = 1) -> int:
    """A whole number of at least `least`."""
    if not is_number(value) or int(value) != value or value < least:
        raise InputError(argument=name, needed=f"must be a whole number of at least {least}", given=got(value))
    return int(value)
