"""Notes: what a person should know about a result, each under the code of the check it belongs to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """One caveat of a result.

    Attributes
    ----------
    code : str
        Stable code of the check, such as ``OF201``.
    text : str
        One sentence with the numbers at hand.

    Examples
    --------
    >>> from outfold.results import Note
    >>> print(Note("OF301", "b is selected from 9 on these predictions.").code)
    OF301
    """

    code: str
    text: str

    def __str__(self) -> str:
        return f"{self.code}  {self.text}"
