"""Files in the format of Weka: a header that tells the type of each column, then lines of values."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import FileError
from ..io.untrusted import refuse_many_columns
from .dialect import Dialect, split
from .values import Texts, distinct, to_dates, to_numbers

if TYPE_CHECKING:
    import pandas as pd

_NUMERIC = ("numeric", "real", "integer")
_ATTRIBUTE = re.compile(r"""@attribute\s+("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s{]+)\s*(.*)""", re.IGNORECASE)


def read(text: str, name: str) -> pd.DataFrame:
    """The table in the text of an .arff file; nominal values become categories with the levels that the header lists."""
    import pandas as pd

    attributes, data = _parts(text, name)
    if data.lstrip().startswith("{"):
        raise FileError(f"{name} is a sparse .arff file, which is not read.", remedy="Save it as .csv.")
    quote = "'" if data.count("'") > data.count('"') else '"'
    dialect = Dialect(quote=quote, escape="\\")
    try:
        rows = list(split(data, dialect))
    except csv.Error as error:
        raise FileError(f"{name} could not be read as a table ({error}).") from None
    wrong = next((i for i, row in enumerate(rows) if len(row) != len(attributes)), None)
    if wrong is not None:
        problem = (
            f"row {wrong + 1} of {name} has {len(rows[wrong])} values; the header lists {len(attributes)} columns."
        )
        raise FileError(problem)
    cells = pd.DataFrame(rows, columns=range(len(attributes)), dtype=object)
    made = {column: _column(cells[i], column, kind, name) for i, (column, kind) in enumerate(attributes.items())}
    return pd.DataFrame(made)


def _parts(text: str, name: str) -> tuple[dict[str, str], str]:
    """The type of each column by its name, and the lines of values."""
    attributes: dict[str, str] = {}
    lines = text.split("\n")
    for i, line in enumerate(lines):
        line = line.strip()
        found = _ATTRIBUTE.fullmatch(line)
        if found:
            column = _unquoted(found[1])
            if column in attributes:
                raise FileError(f"two columns of {name} are called {column!r}.", remedy="Rename one of them.")
            attributes[column] = found[2].strip()
        elif line.lower().startswith("@data"):
            if attributes:
                refuse_many_columns(name, len(attributes))
                return attributes, "\n".join(row for row in lines[i + 1 :] if row.strip() and not row.startswith("%"))
            break
    raise FileError(f"{name} is not an .arff file: it needs lines with @attribute and one with @data.")


def _unquoted(text: str) -> str:
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if quoted else text


def _column(values: pd.Series[Any], column: str, kind: str, name: str) -> Any:
    import pandas as pd

    codes, texts = distinct(values)
    missing = (texts == "?") | (texts == "")
    if kind.startswith("{"):
        levels = [_unquoted(level) for level in next(split(kind.strip("{} "), _dialect_of(kind)), [])]
        return pd.Categorical.from_codes(
            _codes(texts, levels, missing, column, name)[codes], categories=pd.Index(levels, dtype=object)
        )
    word = kind.partition(" ")[0].lower()
    if word in _NUMERIC:
        numbers = to_numbers(texts)
        _refuse(texts[np.isnan(numbers) & ~missing], column, "number", name)
        return np.where(missing, np.nan, numbers)[codes]
    if word == "date":
        dates = to_dates(texts, "ymd")
        if not np.isnat(dates[~missing]).any():
            return dates[codes]
    return np.where(missing, None, texts)[codes]  # type: ignore[call-overload]  # None among texts


def _dialect_of(kind: str) -> Dialect:
    return Dialect(quote="'" if kind.count("'") > kind.count('"') else '"', escape="\\")


def _codes(texts: Texts, levels: list[str], missing: Any, column: str, name: str) -> Any:
    place = {level: i for i, level in enumerate(levels)}
    codes = np.array(
        [-1 if gone else place.get(text, -2) for text, gone in zip(texts, missing, strict=True)], dtype=np.intp
    )
    _refuse(texts[codes == -2], column, "level that its header lists", name)
    return codes


def _refuse(texts: Texts, column: str, what: str, name: str) -> None:
    if len(texts):
        raise FileError(f"{texts[0]!r} in the column {column!r} of {name} is no {what}.")
