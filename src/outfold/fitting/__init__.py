"""The only part that fits models: what to fit, where, and what came of it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import collect, refit

__all__ = ["collect", "refit"]


def __getattr__(name: str) -> Any:
    """Import the code of the main process when it is first used: a worker process and `grid` do without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import api

    return getattr(api, name)
