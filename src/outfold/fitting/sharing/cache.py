"""What members of a shared fit compute for the same rows, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class LastX(Generic[T]):
    """A function of X that remembers its last answer; X is known by identity, and kept so that it stays the same one."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._last: tuple[Any, T] | None = None

    def __call__(self, X: Any) -> T:
        """The value for this X."""
        last = self._last
        if last is None or last[0] is not X:
            self._last = None  # free the old answer before making the new one
            self._last = last = (X, self._compute(X))
        return last[1]
