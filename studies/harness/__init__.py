"""What all studies have in common: units of work that can be resumed, data with a known truth, tables, pictures and pages.

A study is one file in `studies`, with a `Study` named STUDY. `python studies/run.py NAME` runs it; see `study` for its parts.
"""

from __future__ import annotations

from . import printed
from .study import Headline, Record, Size, Study, Unit, Verdict, concluded, generator

__all__ = ["Headline", "Record", "Size", "Study", "Unit", "Verdict", "concluded", "generator", "printed"]
