"""What a check is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..results import Severity
from .case import Case


@dataclass(frozen=True)
class Check:
    """One caveat, declared once.

    Attributes
    ----------
    code
        Its code.
    title
        What it is called.
    severity
        ``"error"``: do not report the number before this is solved; ``"caution"``: read it with care; ``"tip"``: good to know.
    says
        What it says, without numbers, for the table of all checks.
    advice
        What to do.
    source
        Where the caveat comes from.
    find
        The sentence for a case with its own numbers, None where the check has nothing to say. Without it the check speaks
        through the notes of results only.
    """

    code: str
    title: str
    severity: Severity
    says: str
    advice: str
    source: str
    find: Callable[[Case], str | None] | None = None

    @property
    def page(self) -> str:
        """Its page, relative to the documentation."""
        return f"checks/{self.code}.md"
