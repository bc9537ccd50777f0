"""The table of all checks for the documentation: ``python -m outfold.checks.page`` prints it."""

from __future__ import annotations

from .checking import CHECKS


def table() -> str:
    """All checks as a table in Markdown."""
    rows = [f"| [{c.code}](checks/{c.code}.md) | {c.severity} | {c.says} | {c.advice} |" for c in CHECKS.values()]
    return "\n".join(["| code | severity | what it says | what to do |", "| --- | --- | --- | --- |", *rows])


if __name__ == "__main__":
    print(table())
