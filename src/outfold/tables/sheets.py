"""How large the sheets of an .xlsx file are, before they are read: one cell far away makes millions of empty ones."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import IO
from xml.parsers import expat

from ..exceptions import FileError
from ..io.untrusted import check_zip, is_mostly_empty

# Bytes, and times the size of the file: Excel packs ten times, and thirty times if all cells hold the same word. To read a cell
# takes ten times as long as from text.
_MOST_PACKED = 8_000_000, 50
_MOST_LEVELS = 100  # of parts inside of others; Excel needs ten
_PLACE = re.compile(r"([A-Z]{0,3})([0-9]{1,9})")


def check_excel(path: Path) -> None:
    """Refuse a file that unpacks to far more than its size, or with a sheet that is nearly empty and huge."""
    check_zip(path, _MOST_PACKED, "If you trust it, save the table as .csv.")
    try:
        with zipfile.ZipFile(path) as parts:
            for part in parts.infolist():
                with parts.open(part) as file:
                    _check_sheet(path.name, file)
    except FileError:
        raise
    except (OSError, RuntimeError, ValueError, NotImplementedError, zipfile.BadZipFile):
        return  # whoever reads it has better words for what is wrong


class _Sheet:
    """The number of cells that a sheet has, and the cell that is farthest in each direction."""

    def __init__(self) -> None:
        self.cells = self.rows = self.columns = self.level = self.levels = 0

    def begin(self, name: str, facts: dict[str, str]) -> None:
        """An element of the sheet begins."""
        self.level += 1
        self.levels = max(self.levels, self.level)
        kind = name.rpartition(":")[2]
        if kind == "c":
            self.cells += 1
        if kind in ("c", "row") and (place := _PLACE.fullmatch(facts.get("r", ""))):
            self.columns = max(self.columns, _column(place[1]))
            self.rows = max(self.rows, int(place[2]))

    def end(self, _: str) -> None:
        """An element ends."""
        self.level -= 1


def _column(letters: str) -> int:
    """The number of a column: A is 1, Z is 26, AA is 27."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _check_sheet(name: str, file: IO[bytes]) -> None:
    """Look at one part of the file; what is no xml is no sheet."""
    sheet, parser = _Sheet(), expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = sheet.begin, sheet.end
    try:
        parser.ParseFile(file)
    except expat.ExpatError:
        return
    if sheet.levels > _MOST_LEVELS:
        problem = f"{name} is no file of Excel: parts of it are inside of others, {sheet.levels:,} times"
        raise FileError(problem, remedy="Save the table as .csv.")
    if is_mostly_empty(sheet.rows, max(sheet.columns, 1), sheet.cells):
        given = f"{sheet.rows:,} rows and {sheet.columns:,} columns, and values in only {sheet.cells:,} cells"
        remedy = "Delete what is far from the table, or save the table as .csv."
        raise FileError(f"a sheet of {name} has {given}", remedy=remedy)
