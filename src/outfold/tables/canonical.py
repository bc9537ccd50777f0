"""Each kind of column in one type, whatever type the table has. A value alone decides what becomes of it, never other rows."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InputError
from ..formatting import count, listed
from .columns import Columns, Kind, why_nothing_to_learn_from
from .values import (
    LARGEST,
    DateOrder,
    Texts,
    as_text,
    distinct,
    in_nanoseconds,
    is_missing,
    to_booleans,
    to_dates,
    to_numbers,
)

if TYPE_CHECKING:
    import pandas as pd

_NEEDED: dict[Kind, str] = {"number": "numbers", "boolean": "yes or no", "date": "dates"}


def features(frame: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """The features alone, in the order of `columns`, each in the one type of its kind.

    Numbers and booleans are float64 (NaN is missing, as are numbers beyond 3.4e38), categories are objects of str (None is
    missing), texts are objects of str ("" is missing), dates are datetime64[ns] (NaT is missing). No row changes what another
    row gives, so rows to predict go the same way as rows to learn from. Other columns of the table are ignored.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each sample.
    columns : Columns
        What `inspect` gave.

    Returns
    -------
    pandas.DataFrame
        One column for each feature.

    Examples
    --------
    >>> import pandas as pd
    >>> from outfold import tables
    >>> frame = pd.DataFrame({"weight": [61.5, 82, 74, 58, 90, 66], "sex": list("fmmfmf"), "ill": [0, 1, 0, 0, 1, 1]})
    >>> tables.features(frame, tables.inspect(frame, target="ill")).columns.tolist()
    ['weight', 'sex']
    """
    import pandas as pd

    wanted = columns.features
    if not wanted:
        raise InputError(
            f"{why_nothing_to_learn_from(columns)}.", remedy="The table needs at least one column to learn from."
        )
    gone = [column.name for column in wanted if column.name not in frame.columns]
    if gone:
        lower = [name.lower() for name in gone]
        there = [name for name in map(str, frame.columns) if get_close_matches(name.lower(), lower, n=1, cutoff=0.8)]
        hint = f"It has {listed(there)}." if there else ""
        raise InputError(f"the table has no column {listed(gone, most=20)}.", remedy=hint)
    made = {}
    for column in wanted:
        values = frame[column.name]
        if isinstance(values, pd.DataFrame):
            raise InputError(f"two columns of the table are called {column.name!r}.")
        array = convert(values, column.kind or "number", column.order, column.missing_values)
        made[column.name] = pd.Series(array, index=frame.index, dtype=array.dtype)
    return pd.DataFrame(made, index=frame.index)


def convert(
    values: pd.Series[Any], kind: Kind, order: DateOrder = "", missing_values: tuple[str, ...] = ()
) -> NDArray[Any]:
    """The values of a column in the type of its kind."""
    if kind in ("category", "text"):
        return _as_words(values, kind, missing_values)
    if kind == "date":
        return _as_dates(values, order, missing_values)
    numbers = _of_numeric_type(values, missing_values)
    if numbers is None:
        parse = to_numbers if kind == "number" else to_booleans
        numbers = _parsed(values, kind, parse, np.float64(np.nan), np.isnan, missing_values)
    numbers = np.where(np.abs(numbers) <= LARGEST, numbers, np.nan)
    if kind == "boolean":
        _refuse(values, ~np.isin(numbers, (0, 1)) & ~np.isnan(numbers), kind)
    return numbers


def _as_words(values: pd.Series[Any], kind: Kind, missing_values: tuple[str, ...]) -> NDArray[Any]:
    codes, texts = distinct(values)
    nothing = None if kind == "category" else ""
    texts = np.append(texts, [nothing])
    texts[:-1][is_missing(texts[:-1], more=missing_values)] = nothing
    return np.asarray(texts[codes], dtype=object)


def _of_numeric_type(values: pd.Series[Any], missing_values: tuple[str, ...]) -> NDArray[np.float64] | None:
    """The numbers of a column that has a numeric type; None for any other."""
    import pandas as pd

    if values.dtype.kind == "m":
        return np.asarray(values.dt.total_seconds(), dtype=np.float64)
    if values.dtype.kind not in "biuf" or isinstance(values.dtype, pd.CategoricalDtype):
        return None
    numbers = np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    if not missing_values:
        return numbers
    gone = to_numbers(np.array(missing_values, dtype=object))
    return np.asarray(np.where(np.isin(numbers, gone[~np.isnan(gone)]), np.nan, numbers), dtype=np.float64)


def _as_dates(values: pd.Series[Any], order: DateOrder, missing_values: tuple[str, ...]) -> NDArray[np.datetime64]:
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        if getattr(values.dt, "tz", None) is not None:
            values = values.dt.tz_convert("UTC").dt.tz_localize(None)
        return in_nanoseconds(values.to_numpy(dtype="datetime64[us]"))
    nothing = np.datetime64("NaT", "ns")
    return _parsed(values, "date", lambda texts: to_dates(texts, order), nothing, np.isnat, missing_values)


def _parsed(
    values: pd.Series[Any],
    kind: Kind,
    parse: Callable[[Texts], NDArray[Any]],
    nothing: Any,
    is_nothing: Callable[[NDArray[Any]], NDArray[np.bool_]],
    missing_values: tuple[str, ...],
) -> NDArray[Any]:
    """What the texts of a column say; a text that is neither that nor missing is refused."""
    codes, texts = distinct(values)
    found = np.append(parse(texts), [nothing])
    gone = np.append(is_missing(texts, among_numbers=True, more=missing_values), [True])
    found[gone] = nothing
    _refuse(values, (is_nothing(found) & ~gone)[codes], kind)
    return np.asarray(found[codes])


def _refuse(values: pd.Series[Any], wrong: NDArray[np.bool_], kind: Kind) -> None:
    if not wrong.any():
        return
    first, n = int(np.argmax(wrong)), int(wrong.sum())
    where = (
        f"data row {first + 1} has" if n == 1 else f"{count(n, 'row')} do not, the first is data row {first + 1} with"
    )
    problem = f"the column {values.name!r} must hold {_NEEDED[kind]}; {where} {as_text(values.iloc[first])!r}."
    raise InputError(problem, remedy="Leave such cells empty, or list them as missing_values of the column.")
