"""Texts as numbers, booleans and dates. Everything works on the distinct values of a column, as arrays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Texts = NDArray[np.object_]
Mask = NDArray[np.bool_]
Numbers = NDArray[np.float64]

# What stands for a missing value in a column of any kind, and in small letters what does so among numbers, dates, booleans.
MISSING = frozenset(("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "<NA>", "NaT", "?"))
MISSING_NUMBER = frozenset(word.lower() for word in MISSING) | frozenset(
    (
        "-",
        "--",
        "---",
        ".",
        "na",
        "n.a.",
        "none",
        "missing",
        "#nv",
        "k.a.",
        "k. a.",
        "#div/0!",
        "#value!",
        "#ref!",
        "#num!",
    )
)
_FALSE = frozenset(("no", "n", "false", "f", "nein", "falsch", "non", "off"))
_TRUE = frozenset(("yes", "y", "true", "t", "ja", "j", "wahr", "oui", "si", "sí", "on"))
_PAIRS = (
    {"no", "yes"},
    {"n", "y"},
    {"false", "true"},
    {"f", "t"},
    {"nein", "ja"},
    {"n", "j"},
    {"falsch", "wahr"},
    {"non", "oui"},
    {"no", "si"},
    {"no", "sí"},
    {"off", "on"},
)
_TRUTH = dict.fromkeys((*_FALSE, "0", "0.0"), 0.0) | dict.fromkeys((*_TRUE, "1", "1.0"), 1.0)
_DECIMALS = re.compile(r"\d[.,]\d")
_SYMBOLS = "$€£% \u00a0"
_FEW = 300  # values that tell whether it pays to look at all of them
_MOST_FORMATS = 5  # ways of writing dates that are read all at once
_SAMPLED = 2_000  # dates that tell the order of day and month
LARGEST = float(np.finfo(np.float32).max)  # many models keep numbers in 32 bits, and refuse larger ones
_LONGEST = 19  # whole numbers of fewer digits fit into 64 bits

# The order of day, month and year in dates that are written as text.
DateOrder = Literal["", "ymd", "dmy", "mdy"]


def distinct(values: pd.Series[Any]) -> tuple[NDArray[np.intp], Texts]:
    """The position of each value among the distinct ones (-1 for none), and these as texts without spaces around them."""
    import pandas as pd

    codes, index = pd.factorize(values)
    found = np.asarray(index, dtype=object)
    texts = np.empty(len(found), dtype=object)
    texts[:] = [as_text(value) for value in found]
    if len(set(texts)) < len(texts):  # they differed in spaces or types alone
        again, texts = pd.factorize(texts)
        codes = np.where(codes >= 0, again[codes], -1)
    return np.asarray(codes, dtype=np.intp), texts


def as_text(value: Any) -> str:
    """A value as it would be written in a file; a whole number has no decimals, whatever its type."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(float(value)))
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace").strip()
    return str(value).strip()


def is_missing(texts: Texts, among_numbers: bool = False, more: tuple[str, ...] = ()) -> Mask:
    """Which texts stand for a missing value; `more` are those that a person or `inspect` named."""
    if among_numbers:
        return np.array([text.lower() in MISSING_NUMBER or text in more for text in texts], dtype=bool)
    return np.array([text in MISSING or text in more for text in texts], dtype=bool)


def to_numbers(texts: Texts, decimal: str = ".", thousands: str = "") -> Numbers:
    """Texts as numbers; NaN where one is not a number."""
    out = np.full(len(texts), np.nan)
    simple = np.arange(len(texts)) if decimal == "." else np.flatnonzero(["." not in text for text in texts])
    out[simple] = _plain_numbers(_replaced(texts[simple], decimal, "."))
    left = np.flatnonzero(np.isnan(out))
    if not len(left):
        return out
    shape = _shape(decimal, thousands)
    # Most columns of words are told by their first values.
    if len(left) > _FEW and not any(shape.fullmatch(_bare(text)) for text in texts[left[:_FEW]]):
        return out
    bare = np.array([_bare(text) for text in texts[left]], dtype=object)
    fits = np.array([shape.fullmatch(text) is not None for text in bare], dtype=bool)
    written = _replaced(bare[fits], thousands, "") if thousands else bare[fits]
    out[left[fits]] = _plain_numbers(_replaced(written, decimal, "."))
    return out


def _replaced(texts: Texts, old: str, new: str) -> Texts:
    return texts if old == new else np.array([text.replace(old, new) for text in texts], dtype=object)


def _plain_numbers(texts: Texts) -> Numbers:
    """Numbers with decimal points; every digit counts, which older versions of pandas do not promise."""
    import pandas as pd

    out = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").to_numpy(dtype=np.float64, copy=True)
    valid = ~np.isnan(out)
    out[valid] = texts[valid].astype(np.float64)
    return out


def _bare(text: str) -> str:
    """A number without its unit; the long minus sign becomes the short one."""
    return text.strip(_SYMBOLS).replace("\N{MINUS SIGN}", "-")


def _shape(decimal: str, thousands: str) -> re.Pattern[str]:
    point = re.escape(decimal)
    grouped = rf"\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+|" if thousands else ""
    return re.compile(rf"[+-]?(?:(?:{grouped}\d+)(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?")


def is_boolean(texts: Texts) -> bool:
    """Whether the distinct texts, which stand for no missing value, are a word for yes and one for no."""
    return {text.lower() for text in texts} in _PAIRS if len(texts) <= 6 else False


def word_for_yes(texts: Sequence[str]) -> str | None:
    """The one of two texts that means yes, as it is written; None if they are not a word for yes and one for no.

    >>> word_for_yes(["Ja", "Nein"]), word_for_yes(["low", "high"])
    ('Ja', None)
    """
    if len(texts) != 2 or {text.strip().lower() for text in texts} not in _PAIRS:
        return None
    return next(text for text in texts if text.strip().lower() in _TRUE)


def to_booleans(texts: Texts) -> Numbers:
    """1 for yes, 0 for no, NaN for anything else."""
    return np.array([_TRUTH.get(text.lower(), np.nan) for text in texts], dtype=np.float64)


# -- dates ----------------------------------------------------------------------------------------------

_TIME = (
    r"(?:[T ,]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?"
    r" ?(?P<half>[AaPp][Mm])? ?(?P<zone>Z|UTC|[+-]\d{2}:?\d{2})?)?"
)
# Three numbers; a year of two digits only where day and month have two as well, so that 1.2.10 may be a version.
_NUMBERED = re.compile(rf"(?P<a>\d{{1,4}})(?P<mark>[-./])(?P<b>\d{{1,2}})(?P=mark)(?P<c>\d{{1,4}}){_TIME}")
_NAMED = rf"(?P<a>\d{{1,2}})[ .-]+(?P<b>[A-Za-zäÄ]{{3,9}})[ .,-]+(?P<c>\d{{4}}|\d{{2}}){_TIME}"
_NAMED_FIRST = rf"(?P<b>[A-Za-zäÄ]{{3,9}})[ .]+(?P<a>\d{{1,2}}),? +(?P<c>\d{{4}}){_TIME}"
_YEAR_MONTH = r"(?P<a>\d{4})-(?P<b>\d{2})"
_SHAPES = (_NUMBERED, *map(re.compile, (_NAMED, _NAMED_FIRST, _YEAR_MONTH)))
_MONTHS = {
    "jan": 1,
    "feb": 2,
    "mar": 3,
    "apr": 4,
    "may": 5,
    "jun": 6,
    "jul": 7,
    "aug": 8,
    "sep": 9,
    "oct": 10,
    "nov": 11,
}
_MONTHS |= {"dec": 12, "mär": 3, "mrz": 3, "mae": 3, "mai": 5, "okt": 10, "dez": 12}


def date_order(texts: Texts) -> tuple[DateOrder, bool] | None:
    """The order of day, month and year in texts, and whether it is a guess; None if the texts are no dates."""
    few = texts[: _FEW // 3]
    if len(texts) == 0 or sum(_match(text) is not None for text in few) < 0.9 * len(few):
        return None
    day_first = month_first = dotted = numbered = 0
    for text in texts[:: max(1, len(texts) // _SAMPLED)]:
        found = _match(text)
        if found is None or found.re is not _NUMBERED or len(found["a"]) == 4:
            continue
        numbered += 1
        dotted += found["mark"] == "."
        day_first += int(found["a"]) > 12
        month_first += int(found["b"]) > 12
    if numbered == 0:
        return "ymd", False
    if day_first and month_first:
        return None
    if month_first:
        return "mdy", False
    return ("dmy", False) if day_first or dotted else ("mdy", True)


def to_dates(texts: Texts, order: DateOrder) -> NDArray[np.datetime64]:
    """Texts as dates, times without a zone; NaT where one is not a date in this order."""
    import pandas as pd

    out = np.full(len(texts), np.datetime64("NaT", "ns"), dtype="datetime64[ns]")
    left = np.arange(len(texts))
    for _ in range(_MOST_FORMATS):
        if len(left) < _FEW:
            break
        # pandas reads all that are written as the first one is.
        form = _format(texts[left[0]], order)
        if form is not None:
            found = pd.to_datetime(pd.Series(texts[left], dtype=object), format=form, errors="coerce", utc=True)
            out[left] = in_nanoseconds(found.dt.tz_localize(None).to_numpy(dtype="datetime64[us]"))
        # If it cannot, the first one goes to the others, which are read one by one.
        left = np.append(left[1:][np.isnat(out[left[1:]])], left[:1])
    for i in np.flatnonzero(np.isnat(out)):
        match = _match(texts[i])
        if match is not None:
            out[i] = _date(match, order)
    return out


def _format(text: str, order: DateOrder) -> str | None:
    """The format of a date for pandas; None for one that it cannot read."""
    found = _match(text)
    if found is None or found.re is not _NUMBERED or found["zone"] or found["half"]:
        return None
    mark = found["mark"]
    date = "ymd" if len(found["a"]) == 4 else "mdy" if order == "mdy" else "dmy"
    letters = {"y": "%Y" if 4 in (len(found["a"]), len(found["c"])) else "%y", "m": "%m", "d": "%d"}
    time = ""
    if found["hour"]:
        between = text[found.end("c") : found.start("hour")]
        decimal = text[found.end("second")] if found["part"] else ""
        time = between + "%H:%M" + (":%S" if found["second"] else "") + (f"{decimal}%f" if found["part"] else "")
    return mark.join(letters[part] for part in date) + time


def in_nanoseconds(dates: NDArray[np.datetime64]) -> NDArray[np.datetime64]:
    """Dates that nanoseconds can count; others, such as 9999-12-31, are missing."""
    low, high = np.datetime64("1678-01-01", "us"), np.datetime64("2262-01-01", "us")
    with np.errstate(invalid="ignore"):
        return np.where((dates >= low) & (dates < high), dates, np.datetime64("NaT", "us")).astype("datetime64[ns]")


def _match(text: str) -> re.Match[str] | None:
    return next((found for shape in _SHAPES if (found := shape.fullmatch(text))), None)


def _date(found: re.Match[str], order: DateOrder) -> np.datetime64:
    nothing = np.datetime64("NaT", "ns")
    parts = found.groupdict()
    a, b, c = parts["a"], parts["b"], parts.get("c") or "1"
    month = int(b) if b.isdigit() else _MONTHS.get(b[:3].lower(), 0)
    year, day = c, a
    if len(a) == 4:
        year, day = a, c
    elif found.re is _NUMBERED and order == "mdy":
        month, day = int(a), b
    short = len(year) == 2 and (not b.isdigit() or (len(a) == len(b) == 2))
    if len(year) != 4 and not short:
        return nothing
    full = int(year) if len(year) == 4 else int(year) + (2000 if int(year) < 69 else 1900)
    if not 1678 <= full <= 2261:  # nanoseconds reach no further
        return nothing
    try:
        midnight = np.datetime64(date(full, month, int(day)), "ns")
    except ValueError:  # there is no such day
        return nothing
    return midnight + np.timedelta64(_nanoseconds(parts), "ns")


def _nanoseconds(parts: dict[str, str | Any]) -> int:
    """The time of the day, in the zone UTC where there is a zone."""
    if not parts.get("hour"):
        return 0
    hour = int(parts["hour"])
    if parts["half"]:
        hour = hour % 12 + (12 if parts["half"].lower() == "pm" else 0)
    seconds = 3600 * hour + 60 * int(parts["minute"]) + int(parts["second"] or 0)
    zone = parts["zone"]
    if zone and zone[0] in "+-":
        ahead = 3600 * int(zone[1:3]) + 60 * int(zone[-2:])
        seconds -= ahead if zone[0] == "+" else -ahead
    return seconds * 10**9 + int((parts["part"] or "0").ljust(9, "0"))


def has_codes(texts: Texts) -> bool:
    """Whether some are codes: 00123 loses its zeros as a number, one of many digits the last of them. Codes have no decimals."""
    codes = any(_is_code(text) for text in texts)
    return codes and not any(_DECIMALS.search(text) for text in texts)


def _is_code(text: str) -> bool:
    padded, long = text[0] == "0" and len(text) > 1, len(text) >= _LONGEST
    return (padded or long) and text.isdecimal() and (padded or len(text) > _LONGEST or int(text) >= 2**63)
