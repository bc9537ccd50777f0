"""How a text file of a table is written: its encoding, separator, decimal mark and quotes.

The separator and the quote are those under which the lines have the same number of cells and the cells look like values
(after van den Burg, Nazábal & Sutton 2019, "Wrangling messy CSV files by detecting row and type patterns").
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..exceptions import got, invalid
from .encoding import decode, read_bytes

_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "pipes", " ": "spaces", ".": "dots", "'": "apostrophes"}
_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "space": " ", "none": ""}
SEPARATORS = (",", ";", "\t", "|", " ")
# Marks between groups of three digits; two of them are spaces that do not break a line.
GROUP_MARKS = (",", ".", "'", "’", " ", "\u00a0", "\u202f")

_LEAST_LINES = 4  # of a table with many columns: one before it, its names and two rows
_SAMPLED_LETTERS, _SAMPLED_ROWS, _SAMPLED_CELLS = 500_000, 1_000, 4_000
_DIGITS = r"\d{1,3}(?:[ ,.'’\u00a0\u202f]\d{3})*|\d+"
NUMBER = re.compile(rf"[$€£]? ?[+-]?(?:(?:{_DIGITS})(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)? ?[%€$£]?")
_DATE = re.compile(
    r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
# What a value may not hold, unless a space follows as in a sentence.
_HOLDS_SEPARATOR = re.compile(r"[|\t]|[,;](?! |$)")


@dataclass(frozen=True)
class Dialect:
    """How a text file of a table is written.

    Attributes
    ----------
    encoding : str
        As Python names it.
    separator : str
        What is between two cells; "" for a table of one column.
    decimal : str
        "." or ",".
    thousands : str
        What is between groups of three digits; "" for nothing.
    quote : str
        What is around cells that contain separators; "" for nothing.
    escape : str
        What is before a quote inside of quotes; "" where such a quote is doubled.

    Examples
    --------
    >>> from pathlib import Path
    >>> from outfold import tables
    >>> n = Path("patients.csv").write_text("name;weight;sex\\nAnn;61,5;f\\nBob;82,0;m\\n")
    >>> found = tables.detect("patients.csv")
    >>> found.separator, found.decimal
    (';', ',')
    >>> print(found)
    separated by semicolons, decimal comma, encoding utf-8
    """

    encoding: str = "utf-8"
    separator: str = ","
    decimal: str = "."
    thousands: str = ""
    quote: str = '"'
    escape: str = ""

    def __str__(self) -> str:
        between = _NAMES.get(self.separator, repr(self.separator))
        words = [f"separated by {between}" if self.separator else "one column"]
        if self.decimal == ",":
            words.append("decimal comma")
        if self.thousands:
            words.append(f"{_NAMES.get(self.thousands, 'spaces')} between thousands")
        if self.quote not in ('"', ""):
            words.append(f"quoted by {self.quote}")
        return ", ".join([*words, f"encoding {self.encoding.removesuffix('-sig')}"])


def detect(path: str | Path, **given: str | None) -> Dialect:
    """The dialect of a text file: encoding, separator, decimal mark, mark between thousands and quotes.

    Parameters
    ----------
    path : str or Path
        The file.
    **given : str or None
        What you know and Outfold need not guess, as in `read_file`: `encoding`, `separator`, `decimal`, `thousands`, `quote`.

    Returns
    -------
    Dialect
        How the file is written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from outfold import tables
    >>> n = Path("patients.csv").write_text("name;weight;sex\\nAnn;61,5;f\\nBob;82,0;m\\n")
    >>> tables.detect("patients.csv").separator
    ';'
    """
    from .reading import read_file

    found = read_file(path, **given).dialect
    if found is None:
        raise invalid("path", "must be a text file, such as .csv", got(str(path)))
    return found


def read_text(path: Path, encoding: str | None = None) -> tuple[str, str, tuple[str, ...]]:
    """The text of a file with one kind of line end, its encoding, and notes."""
    text, found, notes = decode(read_bytes(path), path.name, encoding)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, found, notes


def given_mark(name: str, value: str | None, allowed: Sequence[str] = ()) -> str | None:
    """A separator, mark or quote that a person gave, as a character or as a word such as "tab"."""
    if value is None:
        return None
    mark = _WORDS.get(value, value)
    if len(mark) > 1 or (allowed and mark not in allowed) or mark in ("\n", "\r"):
        words = " or ".join(map(repr, allowed)) if allowed else "one character, or a word such as tab or semicolon"
        raise invalid(name, f"must be {words}", got(value))
    return mark


def split(text: str, dialect: Dialect) -> Iterator[list[str]]:
    """The cells of each line that is not empty."""
    return (row for row in reader(text, dialect) if row)


def reader(text: str, dialect: Dialect) -> Any:
    """A reader of the standard library for this dialect; it tells the number of the line."""
    quoted = bool(dialect.quote)
    # No text has the sign that stands for no separator.
    return csv.reader(
        io.StringIO(text, newline=""),
        delimiter=dialect.separator or NO_SEPARATOR,
        quotechar=dialect.quote or None,
        escapechar=dialect.escape or None,
        doublequote=not dialect.escape,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        skipinitialspace=dialect.separator != "\t",
    )


def beginning(text: str, letters: int) -> str:
    """The first letters of a text: as many as asked for, and at least its first lines."""
    end = 0
    for _ in range(_LEAST_LINES):
        end = text.find("\n", end) + 1
        if end == 0:
            return text
    return text[: max(end, letters)]


NO_SEPARATOR = "\x1f"


def most_cells(text: str, dialect: Dialect) -> int:
    """The most cells that one of the first lines can have; what is in quotes is counted too."""
    lines = beginning(text, 0).split("\n")
    return 1 + max(line.count(dialect.separator or NO_SEPARATOR) for line in lines)


def find_separator(text: str, separator: str | None = None, quote: str | None = None) -> Dialect:
    """The separator and the quotes under which the text looks most like a table."""
    sample = beginning(text, _SAMPLED_LETTERS)
    if len(text) > len(sample):
        sample = sample[: sample.rfind("\n") + 1]
    separators = SEPARATORS if separator is None else (separator,)
    quotes = _quotes(sample) if quote is None else [quote]
    candidates = [Dialect(separator=s, quote=q) for s in separators if s == "" or s in sample for q in quotes]
    candidates += [Dialect(separator=s, quote='"', escape="\\") for s in separators if s and '\\"' in sample]
    if separator is None:
        candidates.append(Dialect(separator=""))
    if not candidates:  # the separator that was given is nowhere
        return Dialect(separator=separator or "", quote='"' if quote is None else quote)
    scores = [table_score(sample, dialect) for dialect in candidates]
    return candidates[max(range(len(scores)), key=lambda i: (round(scores[i], 6), -i))]


def _quotes(sample: str) -> list[str]:
    """The quotes to try: an apostrophe only where two of them are around a cell, since words have them too."""
    single = re.search(r"(?:^|[,;\t|])'[^'\n]*'(?:[,;\t|]|$)", sample, re.MULTILINE)
    return ['"', *(["'"] if single else []), *([""] if '"' in sample else [])]


def table_score(sample: str, dialect: Dialect) -> float:
    """How much a text looks like a table under a dialect: the share of lines of equal length, times that of clean cells."""
    all_rows = _sampled_rows(sample, dialect)
    rows = without_preamble(all_rows)
    if not rows:
        return 0.0
    (width, often), *_ = Counter(map(len, rows)).most_common(1)
    cells = [cell.strip() for row in rows for cell in row][:_SAMPLED_CELLS]
    clean, numbers, weight = 0, 0, 0
    for cell in cells:
        number = NUMBER.fullmatch(cell) is not None
        numbers += number
        # A quote that never ends swallows many lines.
        weight += 1 + (0 if cell.count("\n") < 10 else cell.count("\n") * width)
        clean += number or _is_clean(cell)
    score = clean / max(weight, 1)
    if width < 2:
        return 0.6 * score * often / len(rows)
    score *= often / len(rows)
    if len(rows) < len(all_rows) and not all_rows[0][0].startswith("#"):
        score *= 0.8  # a separator that the first lines have, too, is more likely
    # R leaves out the name of the first column; a single name in front of two columns may as well be that of numbers such as 1,5.
    if len(rows[0]) != width and (len(rows[0]) != width - 1 or (width == 2 and dialect.separator != " ")):
        score *= 0.5
    if dialect.separator == " " and numbers < len(cells) / 3:
        score *= 0.5  # words have spaces between them, too
    return score


def _sampled_rows(sample: str, dialect: Dialect) -> list[list[str]]:
    rows = []
    try:
        for row in split(sample, dialect):
            while len(row) > 1 and not row[-1].strip():
                row.pop()
            if len(row) > 1 or row[0].strip():
                rows.append(row)
            if len(rows) == _SAMPLED_ROWS:
                break
    except csv.Error:  # a cell of more letters than the reader takes: an open quote
        return []
    return rows


def without_preamble(rows: list[list[str]]) -> list[list[str]]:
    """The rows without the lines before the table: titles and comments, which have far fewer cells."""
    if not rows:
        return rows
    width = Counter(map(len, rows)).most_common(1)[0][0]
    start = 0
    while start < len(rows) - 1 and is_preamble(rows[start], width):
        start += 1
    return rows[start:] if start <= max(20, len(rows) // 2) else rows


def is_preamble(row: Sequence[str], width: int) -> bool:
    """Whether a line before the table is a title or a comment, and not its first line."""
    if row[0].startswith(("#", "%", "//")):
        return len(row) != width
    return width > 2 and sum(bool(cell.strip()) for cell in row) == 1


def _is_clean(cell: str) -> bool:
    if not cell or _DATE.fullmatch(cell):
        return True
    return not (cell[0] in "\"'" or cell[-1] == '"' or _HOLDS_SEPARATOR.search(cell))
