"""The decimal mark and the mark between thousands, told from the numbers of a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from .dialect import GROUP_MARKS, NUMBER

_SAMPLED, _LEAST_SAMPLED = 100_000, 50  # values of all columns, and of each column
_SIGNS = "+-$€£% "
_SPACED = re.compile(r"\d{1,3}(?:([ '’\u00a0\u202f])\d{3})+(?:([.,])\d*)?")
# A mark beside a digit. Those in abbreviations, such as k.A. or ca., say nothing of numbers.
_MARK = re.compile(r"(?<=\d)[.,]|[.,](?=\d)")
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+")


class Votes:
    """What the numbers of a file say of its marks."""

    def __init__(self) -> None:
        self.decimal: Counter[str] = Counter()
        self.thousands: Counter[str] = Counter()
        self.either: Counter[str] = Counter()

    def add(self, text: str) -> None:
        """Take in one number as it is written."""
        text = text.strip(_SIGNS).partition("e")[0].partition("E")[0]
        spaced = _SPACED.fullmatch(text)
        if spaced:
            self.thousands[spaced[1]] += 1
            self.decimal.update(spaced[2] or "")
            return
        marks = _MARK.findall(text)
        if len(set(marks)) == 2:
            self.decimal[marks[-1]] += 1
            self.thousands[marks[0]] += 1
        elif len(marks) > 1:
            self.thousands[marks[0]] += 1
        elif marks:
            before, _, _ = text.partition(marks[0])
            grouped = _GROUPED.fullmatch(text) and before != "0"
            (self.either if grouped else self.decimal)[marks[0]] += 1


def find_marks(columns: Sequence[Sequence[str]], separator: str) -> tuple[str, str, str]:
    """The decimal mark, the mark between thousands ("" for none), and a note ("" for none), from the values of columns."""
    votes = Votes()
    most = max(_LEAST_SAMPLED, _SAMPLED // max(len(columns), 1))
    for texts in columns:
        sample = texts[:: max(1, len(texts) // most)]
        marked = [text for text in sample if any(mark in text for mark in GROUP_MARKS)]
        if marked and sum(NUMBER.fullmatch(text) is not None for text in sample) > len(sample) / 2:
            for text in marked:
                votes.add(text)
    decimal, note = _decimal(votes, separator)
    possible = votes.thousands + votes.either
    possible.pop(decimal, None)
    thousands = max(possible, key=lambda mark: possible[mark], default="")
    if decimal == "," and thousands == "." and not votes.thousands["."]:
        note = note or "numbers such as 1.234 are read as 1234, because the file has decimal commas"
    return decimal, thousands, note


def own_decimal(texts: Sequence[str], decimal: str) -> str:
    """The decimal mark of one column: that of the file, unless its numbers can only be written with the other."""
    other = "." if decimal == "," else ","
    if other not in "\n".join(texts):
        return decimal
    votes = Votes()
    for text in texts[:: max(1, len(texts) // 2_000)]:
        if NUMBER.fullmatch(text):
            votes.add(text)
    return other if votes.decimal[other] and not votes.decimal[decimal] and not votes.thousands[other] else decimal


def _decimal(votes: Votes, separator: str) -> tuple[str, str]:
    if votes.decimal:
        return ("," if votes.decimal[","] > votes.decimal["."] else "."), ""
    if votes.thousands[","] or votes.thousands["."]:
        return ("." if votes.thousands[","] >= votes.thousands["."] else ","), ""
    # Nothing but numbers such as 1,234: files whose separator is not the comma leave it for the decimals.
    if votes.either[","] and separator != ",":
        return ",", "numbers such as 1,234 are read as 1.234; if they are thousands, say so (`decimal='.'`)"
    return ".", ""
