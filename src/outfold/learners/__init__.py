"""Learners and ready configuration spaces."""

from typing import TYPE_CHECKING, Any

from . import spaces

if TYPE_CHECKING:
    from .ses import SES

__all__ = ["SES", "spaces"]


def __getattr__(name: str) -> Any:
    # A class of scikit-learn, which takes a second to import: only those who ask for it wait.
    if name == "SES":
        from .ses import SES

        return SES
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
