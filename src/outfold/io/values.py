"""Single values of an .oof file: numpy and Python types to those of SQLite and json, and back.

What comes back is checked: a file that was edited gives a `ValueError` here, never a strange object later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TUPLE = "__tuple__"


def dumps(value: Any) -> str:
    """The value as json; a tuple is marked as one, and what json cannot hold becomes its repr."""
    return json.dumps(_plain(value), ensure_ascii=False)


def loads(text: Any) -> Any:
    """The value that `dumps` wrote."""

    def unmarked(found: dict[str, Any]) -> Any:
        if found.keys() == {_TUPLE}:
            return tuple(found[_TUPLE])
        return {k[1:] if k.startswith("\\") and _is_mark(k) else k: v for k, v in found.items()}

    if not isinstance(text, str):
        raise ValueError("json that is no text")
    return json.loads(text, object_hook=unmarked)


def _is_mark(key: str) -> bool:
    """The mark of a tuple, or one that was a key already and got a backslash in front (or several)."""
    return key.lstrip("\\") == _TUPLE


def _plain(value: Any) -> Any:
    """The value in json's types."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, tuple):
        return {_TUPLE: [_plain(v) for v in value]}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, Mapping) and all(isinstance(k, str) for k in value):
        return {f"\\{k}" if _is_mark(k) else k: _plain(v) for k, v in value.items()}
    return repr(value)


# -- columns ----------------------------------------------------------------------------------------------------

_PYTHON_TYPES: dict[str, Callable[[Any], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "NoneType": lambda _: None,
}
# Numbers, text, bytes, times and objects. The size of a text is bounded by its values, not by what the file says of it.
_DTYPE = re.compile(r"[<>|=]?([biufcUSMm])\d{1,9}(\[\d{0,9}[a-zA-Zμ]{1,2}\])?|\|O(8)?")


def pack(array: NDArray[Any]) -> tuple[dict[str, Any], list[Any]]:
    """An array as values SQLite can hold, and what is needed to make it again."""
    how: dict[str, Any] = {"dtype": array.dtype.str}
    if array.dtype.kind in "biufU":
        values = array.tolist()
    elif array.dtype.kind == "O":
        values = [v.item() if isinstance(v, np.generic) else v for v in array.tolist()]
        values = [v if type(v).__name__ in _PYTHON_TYPES else str(v) for v in values]
        types = [type(v).__name__ for v in values]
        how["types"] = types[0] if len(set(types)) == 1 else types
    elif array.dtype.kind == "S":
        values = [v.decode("latin-1") for v in array.tolist()]  # every byte is a character of its own
    else:
        values = array.astype(str).tolist()
    return how, [_sql(v) for v in values]


def _sql(value: Any) -> Any:
    """SQLite has integers of 64 bits with sign, no NaN, and no bool."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value)
    return None if value != value else value


def unpack(how: Any, given: Sequence[Any], afford: Callable[[int], None]) -> NDArray[Any]:
    """The array that `pack` wrote; `afford` refuses a number of bytes that a file of this size cannot need."""
    dtype, values = _dtype(how, len(given), afford), list(given)
    types_found = set(map(type, values))
    if bytes in types_found:
        raise ValueError("bytes where a name or a label is needed")
    if dtype.kind == "O":
        types = how.get("types")
        names = [types] * len(values) if isinstance(types, str) else types
        if not isinstance(names, list) or not set(names) <= _PYTHON_TYPES.keys():
            raise ValueError("names or labels of an unknown type")
        out = np.empty(len(values), dtype=object)
        out[:] = [_PYTHON_TYPES[t](np.nan if v is None else v) for t, v in zip(names, values, strict=True)]
        return out
    if dtype.kind == "f":
        values = [np.nan if v is None else v for v in values]
    elif dtype.kind in "iu":
        values = [int(v) for v in values]
    elif dtype.kind == "b":
        values = [{0: False, 1: True}[v] for v in values]
    elif types_found - {str}:
        raise ValueError("numbers where the file announces text")
    elif dtype.kind == "S":
        values = [v.encode("latin-1") for v in values]
    return np.array(values, dtype=dtype)


def _dtype(how: Any, n: int, afford: Callable[[int], None]) -> np.dtype[Any]:
    text = how.get("dtype") if isinstance(how, dict) else None
    if not isinstance(text, str) or not _DTYPE.fullmatch(text):
        raise ValueError("an unknown type of names or labels")
    afford(int(re.sub(r"\[.*|\D", "", text) or 8) * n * (4 if "U" in text else 1))
    return np.dtype(text)


def texts(values: Iterable[Any], what: str) -> tuple[str, ...]:
    """The values, all of which must be text."""
    out = tuple(values)
    if set(map(type, out)) - {str}:
        raise ValueError(f"{what} that are no text")
    return out


def whole_numbers(values: Sequence[Any], below: int, what: str) -> NDArray[np.intp]:
    """The values as an array, all of which must be whole numbers from 0 and `below` a limit."""
    if not len(values):
        return np.empty(0, dtype=np.intp)
    out = np.array(values)
    if out.dtype.kind != "i" or out.min() < 0 or out.max() >= below:
        raise ValueError(f"{what} that cannot be")
    return out.astype(np.intp)
