"""Where the table begins in a text file, and what its columns are called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from .. import formatting
from .dialect import NUMBER, Dialect, beginning, is_preamble, reader
from .values import MISSING

_SAMPLED, _LETTERS = 200, 1_000_000  # rows, within so many letters or a few lines, that tell how the table is laid out
_TOLD = re.compile(r"sep=(.)\n", re.IGNORECASE)
_LONGEST = 19  # digits of a position or a year
_WITHOUT_NAME = "Unnamed: "  # as pandas calls the column of its index


@dataclass(frozen=True)
class Layout:
    """The text of the rows alone, the names of the columns, where the rows begin, and notes."""

    body: str
    names: list[str]
    first_line: int
    notes: tuple[str, ...] = ()
    sample: tuple[Sequence[str], ...] = ()  # the first rows


def told_separator(text: str) -> tuple[str, str | None]:
    """The text without a first line such as ``sep=;``, with which Excel names the separator, and that separator."""
    found = _TOLD.match(text)
    return (text[found.end() :], found[1]) if found else (text, None)


def find_layout(text: str, dialect: Dialect) -> Layout:
    """Leave out the lines before the table, and take the names from its first line, if they are there."""
    head = beginning(text, _LETTERS)
    rows = [row for row in islice(reader(head, dialect), _SAMPLED) if any(cell.strip() for cell in row)]
    if len(head) < len(text) and len(rows) > 2:
        rows.pop()  # it may be cut
    if not rows:
        return Layout("", [], 1)
    width = _usual_length(rows)
    skipped, before = _preamble(rows, width), 0
    lines, seen, notes = reader(head, dialect), 0, []
    for row in lines:
        blank = not any(cell.strip() for cell in row)
        if not blank and seen == skipped:
            break
        seen += not blank
        before = lines.line_num
    body = _after(text, before)
    if skipped:
        notes.append(f"left out {formatting.count(skipped, 'line')} before the table")
    sample = rows[skipped:]
    first = [_tidy(cell) for cell in sample[0]]
    if first[0].startswith("#") and len(first) > 1:
        first[0] = first[0].lstrip("# ")
    below = sample[1:]
    width = max(_length(first), width)
    if not _has_names(first[:width], below):
        notes.append("the first line holds values, not names: the columns are called column_1, column_2, ...")
        return Layout(body, [f"column_{i + 1}" for i in range(width)], before + 1, tuple(notes), tuple(sample))
    first, note = _fit(first, below)
    names, twice = unique_names(first)
    notes += [text for text in (note, *twice) if text]
    header = reader(beginning(body, _LETTERS), dialect)
    next(header)
    return Layout(_after(body, header.line_num), names, before + header.line_num + 1, tuple(notes), tuple(below))


def _length(row: Sequence[str]) -> int:
    """The number of cells without empty ones at the end."""
    return next((i for i in range(len(row), 0, -1) if row[i - 1].strip()), 0)


def _preamble(rows: Sequence[Sequence[str]], width: int) -> int:
    """The number of rows before the table: titles and comments."""
    n = 0
    while n < len(rows) - 1 and is_preamble(rows[n][: max(_length(rows[n]), 1)], width):
        n += 1
    marked = n
    while marked < len(rows) - 1 and rows[marked][0].startswith("#"):
        marked += 1
    if marked == n:
        return n
    # The last comment may have the names: "#id,age".
    last, rest = rows[marked - 1], rows[marked:]
    named = _length(last) == width and (last[0][1:2].strip() != "" or not _has_names(rest[0], rest[1:]))
    return marked - 1 if named else marked


def _usual_length(rows: Sequence[Sequence[str]]) -> int:
    """The most frequent length."""
    return Counter(map(_length, rows)).most_common(1)[0][0] if rows else 0


def _tidy(name: str) -> str:
    return " ".join(name.split())


def _after(text: str, n_lines: int) -> str:
    parts = text.split("\n", n_lines) if n_lines else [text]
    return parts[-1] if len(parts) > n_lines else ""


def _fit(first: list[str], below: Sequence[Sequence[str]]) -> tuple[list[str], str]:
    """The names, as many as the rows have cells, and a note."""
    used = _usual_length(below)
    if len(first) + 1 == used and all(len(row) == used for row in below):
        note = "the first line has one name less than the rows have values: the first column is taken for names of rows"
        return ["", *first], note
    n = max(_length(first), used)
    return [*first[:n], *([""] * (n - len(first)))], ""


def unique_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names without repetition, as pandas makes them, and notes."""
    out: list[str] = []
    repeated: dict[str, list[str]] = {}
    given, taken = {name for name in names if name}, set()
    last: dict[str, int] = {}  # the number that the last column of a name got
    for i, name in enumerate(names):
        unique, n = name or f"{_WITHOUT_NAME}{i}", 0
        while unique in taken or (n > 0 and unique in given):
            n = max(n, last.get(name, 0)) + 1
            unique = f"{name or _WITHOUT_NAME}.{n}"
        if n:
            last[name] = n
            repeated.setdefault(name, []).append(unique)
        taken.add(unique)
        out.append(unique)
    notes = [
        f"{1 + len(new)} columns are called {name!r}; the later {'ones are' if len(new) > 1 else 'one is'} now "
        + ", ".join(map(repr, new))
        for name, new in repeated.items()
    ]
    return out, notes


# -- is the first line a header? ------------------------------------------------------------------------


def _has_names(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether the first line has the names of the columns, judged by the lines below it."""
    if not below or _are_numbered(first):
        return True
    values = [[cell for row in below if j < len(row) and (cell := row[j].strip())] for j in range(len(first))]
    numeric = [bool(column) and _share_of_numbers(column) > 0.9 for column in values]
    words = sum(
        bool(name) and not _is_value(name) for name, is_numeric in zip(first, numeric, strict=True) if is_numeric
    )
    numbers = sum(_is_value(name) for name, is_numeric in zip(first, numeric, strict=True) if is_numeric)
    if words or numbers:
        return words > 0
    # Only words below: a first line of values has words that come again in their columns.
    again = sum(name in column for name, column in zip(first, values, strict=True) if name)
    return again <= len([name for name in first if name]) / 2


def _share_of_numbers(column: Sequence[str]) -> float:
    known = [cell for cell in column if cell not in MISSING]
    return sum(NUMBER.fullmatch(cell) is not None for cell in known) / len(known) if known else 0.0


def _is_value(name: str) -> bool:
    return NUMBER.fullmatch(name) is not None


def _are_numbered(first: Sequence[str]) -> bool:
    """Names that count up: years after a word, or the positions that pandas gives to columns without names."""
    whole = [int(name) for name in first if name.isdecimal() and name.isascii() and len(name) <= _LONGEST]
    counting = len(whole) > 1 and all(b - a == 1 for a, b in pairwise(whole))
    if not counting:
        return False
    years = 1900 <= whole[0] <= whole[-1] <= 2100 and len(whole) < len(first)
    return years or (len(whole) == len([name for name in first if name]) >= 4 and whole[0] in (0, 1))
