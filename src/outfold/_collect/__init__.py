"""Collecting: the only part that fits models. What to fit, where, and what came of it."""

from .collect import collect
from .refit import refit

__all__ = ["collect", "refit"]
