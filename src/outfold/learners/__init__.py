"""Learners and ready configuration spaces."""

from . import spaces

__all__ = ["spaces"]
