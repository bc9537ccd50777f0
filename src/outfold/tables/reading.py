"""Reading a table from a file of any of the formats that people have."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import formatting
from ..exceptions import FileError, OutfoldError
from . import arff
from .dialect import NO_SEPARATOR, Dialect, find_separator, given_mark, read_text, reader
from .layout import Layout, find_layout, told_separator, unique_names
from .marks import find_marks, own_decimal
from .values import Texts, distinct, is_missing, to_numbers

if TYPE_CHECKING:
    import pandas as pd

_TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat", ".data")
_KNOWN = ".csv, .tsv, .txt, .parquet, .feather, .arff or .xlsx"
_MOSTLY = 0.8  # the share of numbers from which the other cells are exceptions


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table that was read from a file.

    Attributes
    ----------
    path : Path
        The file.
    frame : pandas.DataFrame
        The table. Columns of a text file are numbers if each of their values is one, else texts as they are written.
    dialect : Dialect or None
        How the file is written; None if it is not a text file.
    notes : tuple of str
        What a person should know, such as lines that were left out.
    """

    path: Path
    frame: pd.DataFrame
    dialect: Dialect | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        rows, columns = self.frame.shape
        size = f"{formatting.count(rows, 'row')}, {formatting.count(columns, 'column')}"
        return f"{self.path.name}: {size}" + (f"; {self.dialect}" if self.dialect else "")


def read_file(
    path: str | Path,
    *,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    quote: str | None = None,
) -> TableFile:
    """Read the table in a file.

    The ending tells the format: .csv, .tsv, .txt (also with .gz), .parquet, .feather, .arff or .xlsx. The dialect of a text
    file is detected; what is given is not guessed. `separator` may be a word: "tab", "semicolon".
    """
    path = Path(path)
    _need_pandas(path)
    name = path.name.lower().removesuffix(".gz")
    marks = {
        "separator": given_mark("separator", separator),
        "decimal": given_mark("decimal", decimal, (".", ",")),
        "thousands": given_mark("thousands", thousands),
        "quote": given_mark("quote", quote),
    }
    if name.endswith(_TEXT):
        return _read_csv(path, encoding, marks)
    if name.endswith(".arff"):
        text, _, notes = read_text(path, encoding)
        return TableFile(path, arff.read(text, path.name), None, notes)
    readers: dict[str, Callable[[Path], tuple[pd.DataFrame, tuple[str, ...]]]]
    readers = {".parquet": _read_parquet, ".feather": _read_feather, ".xlsx": _read_excel, ".xlsm": _read_excel}
    ending = next((ending for ending in readers if path.name.lower().endswith(ending)), None)
    if ending is None:
        remedy = (
            "Save it as .xlsx or .csv." if name.endswith((".xls", ".ods", ".sav", ".dta", ".sas7bdat", ".rds")) else ""
        )
        raise FileError(f"{path.name} must be a {_KNOWN} file.", remedy=remedy)
    if not path.is_file():
        raise FileError(f"{path} is a folder; a file is needed." if path.is_dir() else f"there is no file {path}.")
    try:
        frame, notes = readers[ending](path)
    except OutfoldError:
        raise
    except ImportError:
        extra, package = ("excel", "openpyxl") if "xls" in ending else ("frames", "pyarrow")
        raise FileError(f"reading {path.name} needs {package}.", remedy=f"pip install 'outfold[{extra}]'") from None
    except Exception as error:
        why = str(error).strip().partition("\n")[0]
        raise FileError(f"{path.name} could not be read as a table ({why}).") from error
    return TableFile(path, _with_names(frame), None, notes)


def _need_pandas(path: Path) -> None:
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise FileError(f"reading {path.name} needs pandas.", remedy="pip install 'outfold[frames]'") from None


# -- text files -----------------------------------------------------------------------------------------


def _read_csv(path: Path, encoding: str | None, marks: dict[str, str | None]) -> TableFile:
    import pandas as pd

    text, found, notes = read_text(path, encoding)
    text, told = told_separator(text)
    if not text.strip():
        raise FileError(f"{path.name} is empty.")
    dialect = find_separator(text, marks["separator"] if marks["separator"] is not None else told, marks["quote"])
    dialect = replace(dialect, encoding=found)
    if dialect.separator == " ":
        text = "\n".join(line.strip(" ") for line in text.split("\n"))
    layout = find_layout(text, dialect)
    raw, ragged = _read_cells(layout, dialect, path)
    frame, dropped = _without_empty(raw)
    columns = {name: distinct(frame[name]) for name in frame.columns}
    known = {name: texts[~is_missing(texts, among_numbers=True)] for name, (_, texts) in columns.items()}
    decimal, thousands, note = find_marks([texts.tolist() for texts in known.values()], dialect.separator)
    decimal = marks["decimal"] or decimal
    if marks["thousands"] is not None or decimal == thousands:
        thousands = marks["thousands"] or ""
    dialect = replace(dialect, decimal=decimal, thousands=thousands)
    others = [name for name, texts in known.items() if own_decimal(texts.tolist(), decimal) != decimal]
    if marks["decimal"] is not None:
        others, note = [], ""
    differs = replace(dialect, decimal="." if decimal == "," else ",", thousands="")
    made = {
        name: _column(codes, texts, differs if name in others else dialect) for name, (codes, texts) in columns.items()
    }
    if others:
        mark, verb = "points" if decimal == "," else "commas", "has" if len(others) == 1 else "have"
        ragged.append(f"unlike the rest of the file, {formatting.listed(others)} {verb} decimal {mark}")
    said = (*notes, *layout.notes, *ragged, *dropped, *([note] if note else []))
    return TableFile(path, pd.DataFrame(made, index=frame.index), dialect, said)


def _read_cells(layout: Layout, dialect: Dialect, path: Path) -> tuple[pd.DataFrame, list[str]]:
    """The cells as texts, and notes on lines that are too short."""
    import pandas as pd

    names = layout.names
    if not layout.body.strip():
        return pd.DataFrame({name: pd.Series(dtype=object) for name in names}), []
    try:
        lengths = np.fromiter(map(len, reader(layout.body, dialect)), dtype=np.int64)
    except csv.Error as error:
        raise FileError(
            f"{path.name} could not be read as a table ({error}).", remedy="A quote may be missing."
        ) from None
    lengths = lengths[lengths > 0]
    if (lengths == len(names)).all():
        return _read_by_pandas(layout, dialect, path), []
    return _read_ragged(layout, dialect, path)


def _read_by_pandas(layout: Layout, dialect: Dialect, path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_csv(
            io.StringIO(layout.body),
            sep=dialect.separator or NO_SEPARATOR,
            quotechar=dialect.quote or '"',
            quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
            escapechar=dialect.escape or None,
            doublequote=not dialect.escape,
            skipinitialspace=dialect.separator != "\t",
            header=None,
            names=layout.names,
            index_col=False,
            dtype=str,
            keep_default_na=False,
            na_values=[""],
            low_memory=False,
        )
    except Exception as error:
        why = str(error).strip().partition("\n")[0]
        raise FileError(f"{path.name} could not be read as a table ({why}).") from error


def _read_ragged(layout: Layout, dialect: Dialect, path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Lines of different lengths: cells that lack at the end are missing, and a cell too much is an error."""
    import pandas as pd

    width, rows, short = len(layout.names), [], []
    lines = reader(layout.body, dialect)
    at = layout.first_line
    for row in lines:
        here, at = at, layout.first_line + lines.line_num
        if not row:
            continue
        if len(row) > width and any(cell.strip() for cell in row[width:]):
            problem = f"line {here} of {path.name} has {len(row)} values; the first line has {width}."
            remedy = f"Put quotes around a value that contains {_in_words(dialect.separator)}, or name the `separator`."
            raise FileError(problem, remedy=remedy)
        if len(row) < width:
            short.append(here)
        rows.append([cell or None for cell in row[:width]] + [None] * (width - len(row)))
    notes = []
    if short:
        many = formatting.count(len(short), "line has", "lines have")
        notes = [
            f"{many} fewer values than there are columns, the first is line {short[0]}; the last columns are missing there"
        ]
    return pd.DataFrame(rows, columns=layout.names, dtype=object), notes


def _in_words(separator: str) -> str:
    return {"\t": "a tab", " ": "a space"}.get(separator, f"{separator!r}")


def _without_empty(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The table without rows that have no value at all, and without columns that have neither name nor value."""
    without = [name for name in frame.columns if name.startswith("Unnamed: ") and frame[name].isna().all()]
    if without and len(frame.columns) > len(without):
        frame = frame.drop(columns=without)
    # A row can only be empty where the first column is.
    first = frame.iloc[:, 0].isna() if frame.shape[1] > 1 else None
    if first is None or not first.any():
        return frame, []
    empty = frame.isna().all(axis=1)
    if not empty.any():
        return frame, []
    rows = formatting.count(int(empty.sum()), "row")
    return frame[~empty].reset_index(drop=True), [f"left out {rows} without any value"]


def _column(codes: Any, texts: Texts, dialect: Dialect) -> Any:
    """A column as numbers if each of its values is one, else as texts with None where there is none."""
    missing = is_missing(texts, among_numbers=True)
    numbers = to_numbers(texts, dialect.decimal, dialect.thousands)
    good = ~np.isnan(numbers) & ~missing
    if good.any() and (good | missing).all() and not _has_leading_zeros(texts[good]):
        return _numeric(codes, texts, numbers, missing)
    if dialect.decimal == "," or dialect.thousands:
        weight = np.bincount(codes[codes >= 0], minlength=len(texts))
        if weight[good].sum() > _MOSTLY * weight[~missing].sum():
            texts = texts.copy()
            texts[good] = [_written(number) for number in numbers[good]]
    out = np.append(texts, [None])
    out[:-1][texts == ""] = None
    return out[codes]


def _has_leading_zeros(texts: Texts) -> bool:
    """Whether some are codes such as 00123, which lose their zeros as numbers."""
    return any(text[0] == "0" and len(text) > 1 and text.isdecimal() for text in texts)


def _numeric(codes: Any, texts: Texts, numbers: Any, missing: Any) -> Any:
    import pandas as pd

    known = np.where(missing, "0", texts)
    whole = all(text.lstrip("+-").isdecimal() for text in known) and not np.isinf(numbers).any()
    absent = (codes < 0) | np.append(missing, [True])[codes]
    if not whole:
        return np.append(np.where(missing, np.nan, numbers), [np.nan])[codes]
    try:
        exact = np.append(np.array([int(text) for text in known], dtype=np.int64), [0])[codes]
    except (OverflowError, ValueError):  # more digits than any number has: a code
        out = np.append(texts, [None])
        out[:-1][missing] = None
        return out[codes]
    return pd.arrays.IntegerArray(exact, absent) if absent.any() else exact


def _written(number: float) -> str:
    return str(int(number)) if float(number).is_integer() and abs(number) < 2**53 else repr(float(number))


# -- other files ----------------------------------------------------------------------------------------


def _read_parquet(path: Path) -> tuple[pd.DataFrame, tuple[str, ...]]:
    import pandas as pd

    return _with_index(pd.read_parquet(path)), ()


def _read_feather(path: Path) -> tuple[pd.DataFrame, tuple[str, ...]]:
    import pandas as pd

    return _with_index(pd.read_feather(path)), ()


def _with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """An index that has a name is a column."""
    named = any(name is not None for name in frame.index.names)
    return frame.reset_index() if named else frame.reset_index(drop=True)


def _with_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Each name as text, once."""
    names = [" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in frame.columns]
    return frame.set_axis(unique_names(names)[0], axis=1)


def _read_excel(path: Path) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The first sheet that has values; its first row that is not empty has the names."""
    import pandas as pd

    with pd.ExcelFile(path, engine="openpyxl") as book:
        sheets = list(map(str, book.sheet_names))
        for name in sheets:
            cells = book.parse(name, header=None, dtype=object, keep_default_na=False, na_values=[""])
            cells = cells.dropna(how="all").dropna(how="all", axis=1)
            if not cells.empty:
                break
        else:
            raise FileError(f"{path.name} is empty.")
    notes = [f"of {len(sheets)} sheets, {name!r} is read"] if len(sheets) > 1 else []
    width = cells.shape[1]
    while len(cells) > 1 and width > 2 and cells.iloc[0].notna().sum() == 1:  # a title
        cells = cells.iloc[1:]
    names, twice = unique_names(["" if pd.isna(cell) else " ".join(str(cell).split()) for cell in cells.iloc[0]])
    frame = cells.iloc[1:].set_axis(names, axis=1).reset_index(drop=True)
    made = {name: _from_objects(frame[name]) for name in names}
    return pd.DataFrame(made, index=frame.index), (*notes, *twice)


def _from_objects(values: pd.Series[Any]) -> Any:
    """Numbers, dates and booleans of Excel as such; texts as in a text file."""
    types = {type(value) for value in values.dropna()}
    if types and not any(issubclass(t, str) for t in types):
        return values.where(values.notna(), None).infer_objects()
    codes, texts = distinct(values)
    return _column(codes, texts, Dialect())
