"""Collecting: the only part that fits models. What to fit, where, and what came of it."""

from .entry import collect
from .final import refit

__all__ = ["collect", "refit"]
