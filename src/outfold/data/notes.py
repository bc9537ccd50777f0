"""Notes: what a person should know about a result, each under the code of the check it belongs to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """One caveat: a stable code such as ``OF201`` and one sentence with the numbers at hand."""

    code: str
    text: str

    def __str__(self) -> str:
        return f"{self.code}  {self.text}"
