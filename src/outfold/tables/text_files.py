"""Reading a table from a text file: the dialect, the layout, then each column as numbers or as texts.

pandas turns most columns into numbers while it reads. What it leaves as text, such as numbers with marks between thousands, is
looked at here.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..exceptions import FileError
from ..io.untrusted import refuse_many_columns, refuse_short_lines
from .dialect import NO_SEPARATOR, Dialect, find_separator, most_cells, read_text, reader
from .layout import Layout, find_layout, told_separator
from .marks import find_marks, own_decimal
from .values import Texts, distinct, has_codes, is_missing, to_numbers

if TYPE_CHECKING:
    import pandas as pd

_MOSTLY = 0.8  # the share of numbers from which the other cells are exceptions
_EXACT = 2.0**53  # floats tell smaller whole numbers apart


def read_cells(
    path: Path,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    quote: str | None = None,
) -> tuple[pd.DataFrame, Dialect, tuple[str, ...]]:
    """The table in a text file, its dialect and notes; what is given is not guessed."""
    text, found, notes = read_text(path, encoding)
    text, told = told_separator(text)
    if not text.strip():
        raise FileError(f"{path.name} is empty.")
    dialect = replace(find_separator(text, told if separator is None else separator, quote), encoding=found)
    refuse_many_columns(path.name, most_cells(text, dialect))
    if dialect.separator == " ":
        text = "\n".join(line.strip(" ") for line in text.split("\n"))
    try:
        file = _File(path.name, find_layout(text, dialect))
    except csv.Error as error:
        raise _unreadable(path.name, error) from None
    if not file.layout.names:
        raise FileError(f"{path.name} is empty.")
    frame, dialect, more = _with_marks(file, dialect, decimal, thousands)
    return frame, dialect, (*notes, *file.layout.notes, *more)


@dataclass(frozen=True)
class _File:
    """The name of a file, for errors, and its layout."""

    name: str
    layout: Layout

    def columns_of_sample(self) -> list[list[str]]:
        """The cells of the first rows, by column."""
        width = len(self.layout.names)
        return [[row[j].strip() for row in self.layout.sample if j < len(row)] for j in range(width)]


def _with_marks(
    file: _File, dialect: Dialect, decimal: str | None, thousands: str | None
) -> tuple[pd.DataFrame, Dialect, list[str]]:
    """The table with the decimal mark and the mark between thousands that its numbers show."""
    sample = [[text for text in column if text] for column in file.columns_of_sample()]
    likely = decimal or find_marks(sample, dialect.separator)[0]
    frame, notes = _read(file, replace(dialect, decimal=likely))
    texts = _texts(frame)
    found, between, note = find_marks([*sample, *(t.tolist() for _, t in texts.values())], dialect.separator)
    found = decimal or found
    if found != likely:
        frame, notes = _read(file, replace(dialect, decimal=found))
        texts = _texts(frame)
    if thousands is not None or between == found:
        between = thousands or ""
    dialect = replace(dialect, decimal=found, thousands=between)
    other = replace(dialect, decimal="." if found == "," else ",", thousands="")
    differ = [] if decimal else [n for n, (_, t) in texts.items() if own_decimal(t.tolist(), found) != found]
    for name, (codes, values) in texts.items():
        frame[name] = typed(codes, values, other if name in differ else dialect)
    if differ:
        mark, verb = "points" if found == "," else "commas", "has" if len(differ) == 1 else "have"
        notes.append(f"unlike the rest of the file, {formatting.listed(differ)} {verb} decimal {mark}")
    return frame, dialect, [*notes, *([note] if note and not decimal else [])]


def _texts(frame: pd.DataFrame) -> dict[str, tuple[NDArray[np.intp], Texts]]:
    """The columns that pandas did not turn into numbers."""
    return {name: distinct(frame[name]) for name, dtype in frame.dtypes.items() if dtype.kind not in "iuf"}  # type: ignore[misc]


# -- cells ----------------------------------------------------------------------------------------------


def _read(file: _File, dialect: Dialect) -> tuple[pd.DataFrame, list[str]]:
    """The cells as numbers where pandas is sure, else as texts; notes on lines that are too short."""
    import pandas as pd

    body, names = file.layout.body, file.layout.names
    if not body.strip():
        return pd.DataFrame({name: pd.Series(dtype=object) for name in names}), []
    whole = _read_at_once(file, dialect)
    frame, notes = (whole, []) if whole is not None else _read_ragged(file, dialect)
    frame, dropped = _without_empty(frame)
    return frame, [*notes, *dropped]


def _read_at_once(file: _File, dialect: Dialect) -> pd.DataFrame | None:
    """The table as pandas reads it; None if its lines are not all of the same length."""
    body, names = file.layout.body, file.layout.names
    simple = not dialect.quote or dialect.quote not in body
    n_lines = body.count("\n") + (not body.endswith("\n"))
    counted = simple and dialect.separator and body.count(dialect.separator) == n_lines * (len(names) - 1)
    if not counted and not _is_rectangular(file, dialect):
        return None
    # The reader of pandas does not know commas that both separate and are decimal marks.
    as_texts = dict.fromkeys(names, "str") if dialect.decimal == dialect.separator else {}
    frame = _by_pandas(file, dialect, as_texts)
    # As many separators as needed, and no line that lacks one: then no line has one too many.
    if counted and frame.iloc[:, -1].isna().any() and not _is_rectangular(file, dialect):
        return None
    codes = _has_codes(file, dialect)
    wrong = {name: "str" for name in frame.columns if _is_doubtful(frame[name], codes)}
    return _by_pandas(file, dialect, wrong) if wrong else frame


def _is_rectangular(file: _File, dialect: Dialect) -> bool:
    try:
        lengths = np.fromiter(map(len, reader(file.layout.body, dialect)), dtype=np.int64)
    except csv.Error as error:
        raise _unreadable(file.name, error) from None
    lengths = lengths[lengths > 0]
    refuse_short_lines(file.name, len(lengths), len(file.layout.names), int(lengths.sum()))
    return bool((lengths == len(file.layout.names)).all())


def _unreadable(name: str, error: csv.Error) -> FileError:
    return FileError(f"{name} could not be read as a table ({error}).", remedy="A quote may be missing.")


def _has_codes(file: _File, dialect: Dialect) -> bool:
    """Whether some cell is a code such as 00123, which would lose its zeros as a number."""
    edges = re.escape(f"\n {dialect.separator}{dialect.quote}")
    return re.search(rf"[{edges}]0\d+(?:[{edges}]|\Z)", f"\n{file.layout.body}") is not None


def _is_doubtful(values: pd.Series[Any], codes: bool) -> bool:
    """Whether pandas may have lost something: zeros in front of codes, digits of long numbers, words such as True."""
    kind = values.dtype.kind
    if kind in "bu":
        return True
    if kind not in "if":
        return False
    numbers = values.to_numpy(dtype=np.float64)
    whole = kind == "i" or not (numbers[np.isfinite(numbers)] % 1).any()
    return whole and (codes or (kind == "f" and bool((np.abs(numbers) >= _EXACT).any())))


def _by_pandas(file: _File, dialect: Dialect, dtype: dict[str, str]) -> pd.DataFrame:
    import pandas as pd

    # Every digit of a number counts; newer versions read them all, and no longer want to be told.
    old = tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
    exact: dict[str, Any] = {"float_precision": "round_trip"} if old else {}
    try:
        frame: pd.DataFrame = pd.read_csv(
            io.StringIO(file.layout.body),
            sep=dialect.separator or NO_SEPARATOR,
            decimal=dialect.decimal if dialect.decimal != dialect.separator else ".",
            quotechar=dialect.quote or '"',
            quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
            escapechar=dialect.escape or None,
            doublequote=not dialect.escape,
            skipinitialspace=dialect.separator != "\t",
            header=None,
            names=file.layout.names,
            index_col=False,
            dtype=dtype,
            # Only an empty field is missing: "NA" may be a class.
            keep_default_na=False,
            na_values=[""],
            low_memory=False,
            **exact,
        )
        return frame
    except Exception as error:
        why = str(error).strip().partition("\n")[0]
        raise FileError(f"{file.name} could not be read as a table ({why}).") from error


def _read_ragged(file: _File, dialect: Dialect) -> tuple[pd.DataFrame, list[str]]:
    """Lines of different lengths: cells that lack at the end are missing, and a cell too much is an error."""
    import pandas as pd

    # Lists of columns, because each row as a list would take ten times the memory of the text.
    columns: dict[str, list[str | None]] = {name: [] for name in file.layout.names}
    width, n_short, first_short = len(columns), 0, 0
    lines = reader(file.layout.body, dialect)
    at = file.layout.first_line
    for row in lines:
        here, at = at, file.layout.first_line + lines.line_num
        if not row:
            continue
        if len(row) > width and any(cell.strip() for cell in row[width:]):
            problem = f"line {here} of {file.name} has {len(row)} values; the first line has {width}."
            between = {"\t": "a tab", " ": "a space"}.get(dialect.separator, repr(dialect.separator))
            remedy = f"Put quotes around a value that contains {between}, or name the `separator`."
            raise FileError(problem, remedy=remedy)
        if len(row) < width:
            n_short, first_short = n_short + 1, first_short or here
        for column, cell in zip_longest(columns.values(), row[:width]):
            column.append(cell or None)
    frame = pd.DataFrame(columns, dtype=object)
    if not n_short:
        return frame, []
    many = formatting.count(n_short, "line has", "lines have")
    first = f"{many} fewer values than there are columns, the first is line {first_short}"
    return frame, [f"{first}; the last columns are missing there"]


def _without_empty(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The table without rows that have no value at all, and without columns that have neither name nor value."""
    without = [name for name in frame.columns if name.startswith("Unnamed: ") and frame[name].isna().all()]
    if without and len(frame.columns) > len(without) and len(frame):
        frame = frame.drop(columns=without)
    # A row can only be empty where the first column is.
    if frame.shape[1] < 2 or not frame.iloc[:, 0].isna().any():
        return frame, []
    empty = frame.isna().all(axis=1)
    if not empty.any():
        return frame, []
    rows = formatting.count(int(empty.sum()), "row")
    return frame[~empty].reset_index(drop=True), [f"left out {rows} without any value"]


# -- columns of texts -----------------------------------------------------------------------------------


def typed(codes: NDArray[np.intp], texts: Texts, dialect: Dialect) -> Any:
    """A column as numbers if each of its values is one, else as texts with None where there is none."""
    missing = is_missing(texts, among_numbers=True)
    numbers = to_numbers(texts, dialect.decimal, dialect.thousands)
    good = ~np.isnan(numbers) & ~missing
    if has_codes(texts[good]):
        return _as_texts(codes, texts, texts == "")
    if good.any() and (good | missing).all():
        return _numeric(codes, texts, numbers, missing)
    if dialect.decimal == "," or dialect.thousands:
        rows = np.bincount(codes[codes >= 0], minlength=len(texts))
        if rows[good].sum() > _MOSTLY * rows[~missing].sum():
            texts = texts.copy()
            texts[good] = [_written(number) for number in numbers[good]]
    return _as_texts(codes, texts, texts == "")


def _as_texts(codes: NDArray[np.intp], texts: Texts, missing: NDArray[np.bool_]) -> NDArray[np.object_]:
    out = np.append(texts, [None])
    out[:-1][missing] = None
    return out[codes]


def _numeric(codes: NDArray[np.intp], texts: Texts, numbers: NDArray[np.float64], missing: NDArray[np.bool_]) -> Any:
    import pandas as pd

    known = np.where(missing, "0", texts)
    if not all(text.lstrip("+-").isdecimal() for text in known):
        return np.append(np.where(missing, np.nan, numbers), [np.nan])[codes]
    try:
        exact = np.append(np.array([int(text) for text in known], dtype=np.int64), [0])[codes]
    except (OverflowError, ValueError):  # more digits than any number has, or than Python reads: a code
        return _as_texts(codes, texts, missing)
    absent = (codes < 0) | np.append(missing, [True])[codes]
    return pd.arrays.IntegerArray(exact, absent) if absent.any() else exact


def _written(number: float) -> str:
    return str(int(number)) if float(number).is_integer() and abs(number) < _EXACT else repr(float(number))
