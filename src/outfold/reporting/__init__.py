"""The report: one self-contained html page."""

from .document import Report, report

__all__ = ["Report", "report"]
