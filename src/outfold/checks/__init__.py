"""Checks: numbered caveats, each declared once, from which the command, the report and the documentation take everything."""

from .checking import check

__all__ = ["check"]
