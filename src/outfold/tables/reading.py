"""Reading a table from a file of any of the formats that people have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import formatting
from ..exceptions import FileError, OutfoldError
from ..io.untrusted import check_feather, check_parquet, refuse_special
from . import arff
from .dialect import Dialect, given_mark, read_text
from .layout import unique_names
from .sheets import check_excel
from .text_files import read_cells, typed
from .values import distinct

if TYPE_CHECKING:
    import pandas as pd

_TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat", ".data")
_ONLY_EMPTY: dict[str, Any] = {"keep_default_na": False, "na_values": [""]}  # "NA" may be a class
_KNOWN = ".csv, .tsv, .txt, .parquet, .feather, .arff or .xlsx"


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

    Examples
    --------
    >>> from pathlib import Path
    >>> from outfold import tables
    >>> n = Path("patients.csv").write_text("name;weight;sex\\nAnn;61,5;f\\nBob;82,0;m\\n")
    >>> found = tables.read_file("patients.csv")
    >>> print(found)
    patients.csv: 2 rows, 3 columns; separated by semicolons, decimal comma, encoding utf-8
    >>> found.frame["weight"].tolist()
    [61.5, 82.0]
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
    file is detected; what is given is not guessed.

    Parameters
    ----------
    path : str or Path
        The file.
    encoding : str, optional
        The encoding of a text file, as Python names it.
    separator : str, optional
        What is between two cells; also a word, such as ``"tab"`` or ``"semicolon"``.
    decimal : str, optional
        The decimal mark, ``"."`` or ``","``.
    thousands : str, optional
        The mark between groups of three digits.
    quote : str, optional
        What is around cells that contain separators.

    Returns
    -------
    TableFile
        The table, its dialect and notes.

    Examples
    --------
    >>> from pathlib import Path
    >>> from outfold import tables
    >>> n = Path("patients.csv").write_text("name;weight;sex\\nAnn;61,5;f\\nBob;82,0;m\\n")
    >>> tables.read_file("patients.csv").frame["weight"].tolist()
    [61.5, 82.0]
    """
    path = Path(path)
    if path.is_dir():
        raise FileError(f"{path} is a folder; a file is needed.")
    refuse_special(path)
    _need_pandas(path)
    name = path.name.lower().removesuffix(".gz")
    marks = {
        "separator": given_mark("separator", separator),
        "decimal": given_mark("decimal", decimal, (".", ",")),
        "thousands": given_mark("thousands", thousands),
        "quote": given_mark("quote", quote),
    }
    if name.endswith(_TEXT):
        frame, dialect, notes = read_cells(path, encoding, **marks)
        return TableFile(path, frame, dialect, notes)
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
        raise FileError(f"there is no file {path}.")
    try:
        frame, notes = readers[ending](path)
    except OutfoldError:
        raise
    except ImportError:
        extra, package = ("excel", "openpyxl") if "xls" in ending else ("frames", "pyarrow")
        remedy = f"Run: pip install 'outfold[{extra}]'"
        raise FileError(f"reading {path.name} needs {package}.", remedy=remedy, page="extras") from None
    except Exception as error:
        why = str(error).strip().partition("\n")[0]
        raise FileError(f"{path.name} could not be read as a table ({why}).") from error
    return TableFile(path, _with_names(frame), None, notes)


def _need_pandas(path: Path) -> None:
    try:
        import pandas  # noqa: F401
    except ImportError:
        remedy = "Run: pip install 'outfold[frames]'"
        raise FileError(f"reading {path.name} needs pandas.", remedy=remedy, page="extras") from None


# -- other files ----------------------------------------------------------------------------------------


def _read_parquet(path: Path) -> tuple[pd.DataFrame, tuple[str, ...]]:
    import pandas as pd

    check_parquet(path)
    return _with_index(pd.read_parquet(path)), ()


def _read_feather(path: Path) -> tuple[pd.DataFrame, tuple[str, ...]]:
    import pandas as pd

    check_feather(path)
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

    check_excel(path)
    with pd.ExcelFile(path, engine="openpyxl") as book:
        sheets = list(map(str, book.sheet_names))
        for name in sheets:
            cells = pd.read_excel(book, sheet_name=name, header=None, dtype=object, **_ONLY_EMPTY)
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
    return typed(codes, texts, Dialect())
