"""The report: one self-contained html page."""

from .build import report
from .document import Report

__all__ = ["Report", "report"]
