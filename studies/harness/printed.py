"""Numbers as a paper prints them: a table as text, which is easy to compare with the page."""

from __future__ import annotations


def rows(text: str) -> dict[str, tuple[float, ...]]:
    """The numbers of every line, by its first word."""
    return {line.split()[0]: tuple(float(word) for word in line.split()[1:]) for line in text.strip().splitlines()}


def by_number(text: str) -> dict[int, tuple[float, ...]]:
    """The same where the first word is a number, such as that of samples."""
    return {int(first): numbers for first, numbers in rows(text).items()}
