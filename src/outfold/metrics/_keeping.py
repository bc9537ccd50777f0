"""What several who score the same predictions share while `kernels_kept` lasts: responses, kernels, draws and scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from numpy.typing import NDArray

from ..data.predictions import Predictions

_KEPT: ContextVar[dict[Any, Any] | None] = ContextVar("kept", default=None)

T = TypeVar("T")


@contextmanager
def kernels_kept() -> Iterator[None]:
    """While this lasts, whoever scores the same predictions by the same metric shares responses, kernels and scores."""
    if is_keeping():
        yield
        return
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


@contextmanager
def nothing_kept() -> Iterator[None]:
    """While this lasts, nothing more is kept: for parts of predictions that are read, scored and forgotten."""
    token = _KEPT.set(None)
    try:
        yield
    finally:
        _KEPT.reset(token)


def is_keeping() -> bool:
    """Whether `kernels_kept` lasts."""
    return _KEPT.get() is not None


def kept(oof: Predictions, key: Any, make: Callable[[], T]) -> T:
    """What is made of the predictions, once while `kernels_kept` and every time otherwise."""
    made = _KEPT.get()
    if made is None:
        return make()
    full = (id(oof), key)
    if full not in made:
        made[full] = (oof, make())  # the predictions stay alive, so that no other ones get their id
    found: T = made[full][1]
    return found


def known(oof: Predictions, key: Any) -> Any:
    """What was kept of the predictions under this key; None if nothing was."""
    found = (_KEPT.get() or {}).get((id(oof), key))
    return None if found is None else found[1]


def kept_draws() -> dict[tuple[int, ...], NDArray[Any]] | None:
    """The draws that are kept, to which others may be added; None where nothing is kept."""
    made = _KEPT.get()
    return None if made is None else made.setdefault("draws", {})


def kept_draw(weights: NDArray[Any]) -> tuple[int, ...] | None:
    """Which of the draws that are kept these weights are; None if they are none of them."""
    return next((key for key, counts in (kept_draws() or {}).items() if counts is weights), None)


def alone(oof: Predictions, config: str) -> Predictions:
    """The predictions of one configuration."""
    return kept(oof, ("alone", config), lambda: oof.sel(config=config))
