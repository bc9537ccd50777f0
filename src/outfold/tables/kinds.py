"""What one column of a table is, told from its name and its values."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..data.target import MOST_CLASSES
from ..formatting import count
from .values import (
    LARGEST,
    DateOrder,
    Mask,
    Texts,
    date_order,
    distinct,
    has_codes,
    is_boolean,
    is_missing,
    to_dates,
    to_numbers,
)

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["number", "category", "boolean", "date", "text"]
Guess = Literal["feature", "id", "constant", "empty", "unused"]

MOST_MISSING = 0.95  # a column with a larger share of missing values is not used
MOSTLY, MOST_ODD = 0.9, 5  # the share of numbers or dates from which at most this many other values count as missing
_LEAST_ROWS = 10  # fewer values do not tell whether they are ids
_WORDS, _LETTERS = 4, 50  # from this mean length on, values that seldom repeat are texts
_SAMPLED = 1_000

_ID = re.compile(
    r"(?:^|[\W_])(?:id|ids|nr|key|index|idx|uuid|guid|pid|mrn|record|row|serial|barcode)(?:[\W_]|$)", re.IGNORECASE
)
_CAMEL_ID = re.compile(r".*[a-z](?:Id|ID|Nr|Key)$")
# Who or what has several rows.
_PERSON = re.compile(
    r"(?:patient|subject|participant|proband)s?"
    r"|(?:patient|subject|participant|proband|person|customer|client|user|household|family|animal|mouse|donor)"
    r"[\W_]*(?:id|nr|no|num|number|code|name)",
    re.IGNORECASE,
)
GUESSED_ORDER = 'month before day is a guess, since no day is after the 12th; order = "dmy" is the other way'
INDEX = "a first column without a name that numbers the rows, as pandas writes its index"


@dataclass(frozen=True)
class Look:
    """What a look at one column found."""

    role: Guess = "feature"
    kind: Kind | None = None
    missing: float = 0.0
    distinct: int = 0
    reason: str = ""
    order: DateOrder = ""
    missing_values: tuple[str, ...] = ()
    warning: str = ""


def look_at(values: pd.Series[Any], name: str) -> Look:
    """The role and the kind of a column that nobody decided on."""
    found = _of_type(values, name)
    if found.role != "feature":
        return found
    if found.distinct == 0:
        return replace(found, role="empty", reason="no value in any row")
    if found.distinct == 1 and found.missing == 0:
        return replace(found, role="constant", reason="the same value in every row")
    if found.missing > MOST_MISSING:
        return replace(found, role="empty", reason=f"missing in more than {MOST_MISSING:.0%} of the rows")
    return found


def _of_type(values: pd.Series[Any], name: str) -> Look:
    import pandas as pd

    dtype = values.dtype
    plain = dtype.kind if isinstance(dtype, np.dtype) else ""
    if plain == "b" or (not plain and pd.api.types.is_bool_dtype(dtype) and not isinstance(dtype, pd.CategoricalDtype)):
        return Look(kind="boolean", missing=_share(values.isna()), distinct=int(values.nunique()))
    if plain in ("i", "u", "f") or (not plain and pd.api.types.is_numeric_dtype(dtype)):
        return _of_numbers(values.to_numpy(dtype=np.float64, na_value=np.nan), name)
    if plain in ("m", "M") or pd.api.types.is_datetime64_any_dtype(dtype):
        kind: Kind = "number" if plain == "m" else "date"
        return Look(kind=kind, missing=_share(values.isna()), distinct=int(values.nunique()))
    if plain == "c" or isinstance(dtype, (pd.PeriodDtype, pd.IntervalDtype)):
        return Look("unused", None, _share(values.isna()), 0, f"values of type {dtype} are not used")
    try:
        codes, texts = distinct(values)
    except TypeError:  # lists, dicts
        return Look("unused", None, _share(values.isna()), 0, "cells that hold several values are not used")
    if isinstance(dtype, pd.CategoricalDtype):
        return _described(codes, texts, "category")
    return _of_texts(codes, texts, name)


def _missing_share(n_known: int, n: int) -> float:
    return (n - n_known) / max(n, 1)


def _share(mask: Any) -> float:
    return float(np.mean(np.asarray(mask))) if len(mask) else 0.0


# -- numbers --------------------------------------------------------------------------------------------


def _of_numbers(numbers: NDArray[np.float64], name: str) -> Look:
    known = numbers[np.abs(numbers) <= LARGEST]
    beyond = numbers[np.abs(numbers) > LARGEST]
    which = "infinite values" if np.isinf(beyond).all() else f"values beyond {LARGEST:.2g}"
    reason = f"{which} count as missing" if len(beyond) else ""
    found = Look("feature", "number", _missing_share(len(known), len(numbers)), len(np.unique(known)), reason)
    if len(known) == 0 or (known % 1 != 0).any():
        return found
    return _unless_id(found, name, len(known), _counting(known, found.distinct))


def _counting(whole: NDArray[np.float64], n_distinct: int) -> str:
    """Why whole numbers are ids; "" if nothing says so."""
    n = len(whole)
    if n < _LEAST_ROWS or n_distinct < n:
        return ""
    low, high = int(whole.min()), int(whole.max())
    if high - low == n - 1:
        return f"each whole number from {low} to {high}, once"
    steps = np.diff(whole)
    return "whole numbers that go up from row to row" if (steps > 0).all() and np.median(steps) == 1 else ""


def _unless_id(found: Look, name: str, n: int, reason: str = "") -> Look:
    """The same, or an id where the values or the name say so."""
    unique = found.distinct == n
    if unique and name.startswith("Unnamed: "):
        return replace(found, role="id", reason=INDEX)
    if n < _LEAST_ROWS:
        return found
    named = _ID.search(name) is not None or _CAMEL_ID.match(name) is not None
    if unique and not reason and named:
        reason = "named like an id, and no value repeats"
    if reason:
        return replace(found, role="id", reason=reason)
    seldom = found.distinct > max(MOST_CLASSES, n / 5) if not _PERSON.fullmatch(name) else found.distinct >= 5
    if not unique and seldom and (named or _PERSON.fullmatch(name)):
        option = f"--group {shlex.quote(name)}"
        remedy = f"If they do, make it the group ({option}), to hold them out together"
        warning = f"rows with the same {name!r} may belong together. {remedy}"
        return replace(found, role="id", reason="named like an id, and its values repeat", warning=warning)
    return found


# -- texts ----------------------------------------------------------------------------------------------


def _of_texts(codes: NDArray[np.intp], texts: Texts, name: str) -> Look:
    rows = np.bincount(codes[codes >= 0], minlength=len(texts))
    known = ~is_missing(texts, among_numbers=True)
    if not known.any():
        return _described(codes, texts, "category")
    numbers = to_numbers(texts)
    if not has_codes(texts[known]):
        odd = exceptions(~np.isnan(numbers), known, rows, least=MOST_CLASSES)
        if odd is not None:
            numbers[~known | odd] = np.nan
            found = _of_numbers(np.append(numbers, [np.nan])[codes], name)
            return _with_exceptions(found, texts[odd], int(rows[odd].sum()), "numbers")
    if is_boolean(texts[known]):
        n_known = int(rows[known].sum())
        return Look(
            "feature", "boolean", _missing_share(n_known, len(codes)), len({text.lower() for text in texts[known]})
        )
    return _of_dates(codes, texts, rows, known, name) or _of_words(codes, texts, rows, name)


def exceptions(good: Mask, known: Mask, rows: NDArray[np.intp], least: int) -> Mask | None:
    """The values that are no numbers or dates in a column of them; None if there are too many for such a column."""
    odd = known & ~good
    if not odd.any():
        return odd
    few = odd.sum() <= MOST_ODD and rows[odd].sum() <= (1 - MOSTLY) * rows[known].sum()
    return odd if few and (good & known).sum() > least else None


def _with_exceptions(found: Look, odd: Texts, n_rows: int, what: str) -> Look:
    if len(odd) == 0:
        return found
    listed = ", ".join(map(repr, odd))
    reason = f"{what}, except {listed} in {count(n_rows, 'row')}, which count as missing"
    return replace(found, reason=found.reason or reason, missing_values=tuple(odd))


def _of_dates(codes: NDArray[np.intp], texts: Texts, rows: NDArray[np.intp], known: Mask, name: str) -> Look | None:
    order = date_order(texts[known])
    if order is None:
        return None
    good = ~np.isnat(to_dates(texts, order[0])) & known
    odd = exceptions(good, known, rows, least=0)
    if odd is None:
        return None
    found = Look("feature", "date", _missing_share(int(rows[good].sum()), len(codes)), int(good.sum()), order=order[0])
    found = _with_exceptions(found, texts[odd], int(rows[odd].sum()), "dates")
    if not order[1]:
        return found
    warning = f"the dates of {name!r} may be read wrongly: {GUESSED_ORDER}"
    return replace(found, reason=GUESSED_ORDER, warning=warning)


def _of_words(codes: NDArray[np.intp], texts: Texts, rows: NDArray[np.intp], name: str) -> Look:
    found = _described(codes, texts, "category")
    known = ~is_missing(texts)
    n, n_distinct = int(rows[known].sum()), found.distinct
    sample = texts[known][:: max(1, n_distinct // _SAMPLED)]
    if n_distinct > max(MOST_CLASSES, n / 5) and _is_prose(sample):
        return replace(found, kind="text")
    if n_distinct > max(MOST_CLASSES, n / 2) or (n_distinct == n >= _LEAST_ROWS):
        return replace(found, role="id", reason="text that differs in most rows, as names and ids do")
    return _unless_id(found, name, n)


def _is_prose(texts: Texts) -> bool:
    words = np.mean([len(text.split()) for text in texts])
    letters = np.mean([len(text) for text in texts])
    return bool(words >= _WORDS or (letters >= _LETTERS and words >= 2))


def _described(codes: NDArray[np.intp], texts: Texts, kind: Kind) -> Look:
    known = ~is_missing(texts)
    n_known = int(np.append(known, [False])[codes].sum())
    return Look("feature", kind, _missing_share(n_known, len(codes)), int(known.sum()))
