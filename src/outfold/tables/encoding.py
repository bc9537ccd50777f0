"""From the bytes of a file to its text."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from pathlib import Path

from ..exceptions import FileError, got, invalid
from ..io.untrusted import refuse_special, unpacked

# The longer mark first: that of UTF-32 begins as that of UTF-16.
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_GZIP = b"\x1f\x8b"
# How files of other formats begin, for those that have the wrong ending.
_NO_TEXT = {
    b"PK\x03\x04": ("an Excel or zip file", "If it is an Excel file, rename it to .xlsx."),
    b"\xd0\xcf\x11\xe0": ("an old Excel file", "Save it as .xlsx or .csv."),
    b"PAR1": ("a parquet file", "Rename it to .parquet."),
    b"ARROW1": ("a feather file", "Rename it to .feather."),
    b"%PDF": ("a PDF file", "Save the table as .csv."),
    b"SQLite": ("a data base", "Export the table as .csv."),
}
_STRANGE_WORD = re.compile(r"[^\x00-\x7f\W\d_]{4,}")


def read_bytes(path: Path) -> bytes:
    """The content of a file, which may be compressed by gzip."""
    if not path.exists():
        raise FileError(f"there is no file {path}.")
    refuse_special(path)
    try:
        with path.open("rb") as file:
            packed = file.read(len(_GZIP)) == _GZIP
        return b"".join(unpacked(path)) if packed else path.read_bytes()
    except FileError:  # one of the OSErrors below
        raise
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(
            f"{path.name} cannot be unpacked ({error}).", remedy="It may be cut off; copy it again."
        ) from None
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror or error}).") from None


def decode(data: bytes, name: str, encoding: str | None = None) -> tuple[str, str, tuple[str, ...]]:
    """The text in the bytes, its encoding, and notes; an encoding that is not given is detected."""
    for start, (what, remedy) in _NO_TEXT.items():
        if data.startswith(start):
            raise FileError(f"{name} is {what}, not a text file.", remedy=remedy)
    if encoding is not None:
        return _decode_as(data, name, encoding), encoding, ()
    marked = next((known for mark, known in _MARKS.items() if data.startswith(mark)), None)
    found = marked or _wide(data)
    if found is not None:
        return _decode_as(data, name, found), found, ()
    if b"\x00" in data[:4096]:
        raise FileError(f"{name} is not a text file.", remedy="Save the table as .csv, .parquet or .xlsx.")
    try:
        return data.decode("utf-8"), "utf-8", ()
    except UnicodeDecodeError:
        return _legacy(data)


def _decode_as(data: bytes, name: str, encoding: str) -> str:
    try:
        # A byte order mark that is not asked for would become part of the first name.
        return data.decode(encoding).removeprefix("\ufeff")
    except LookupError:
        raise invalid(
            "encoding", "must be an encoding that Python knows, such as utf-8 or cp1252", got(encoding)
        ) from None
    except UnicodeError as error:
        line = data[: getattr(error, "start", 0)].count(b"\n") + 1
        remedy = "Name another `encoding`, or save the file as UTF-8."
        raise FileError(f"line {line} of {name} is not valid {encoding}.", remedy=remedy) from None


def _wide(data: bytes) -> str | None:
    """UTF-16 without its mark: every second byte of plain letters is zero."""
    sample = data[:4096]
    even, odd = sample[::2], sample[1::2]
    if len(sample) < 4 or b"\x00" not in sample:
        return None
    zeros = even.count(0) / len(even), odd.count(0) / len(odd)
    if zeros[1] > 0.4 and zeros[0] < 0.1:
        return "utf-16-le"
    return "utf-16-be" if zeros[0] > 0.4 and zeros[1] < 0.1 else None


def _legacy(data: bytes) -> tuple[str, str, tuple[str, ...]]:
    """Western European text of Windows (which contains latin-1) or of DOS, whichever has fewer signs inside of words."""
    texts = {}
    for encoding in ("cp1252", "cp850"):
        try:
            texts[encoding] = data.decode(encoding)
        except UnicodeDecodeError:  # five bytes are no letter of cp1252
            continue
    found = min(texts, key=lambda encoding: _signs_in_words(texts[encoding]))
    text = texts[found]
    note = f"the file is not UTF-8; it is read as {found}"
    beyond_ascii = len(re.findall(r"[^\x00-\x7f]", text[:100_000]))
    if sum(map(len, _STRANGE_WORD.findall(text[:100_000]))) > beyond_ascii / 2:
        note += ", which looks wrong: name its encoding (`encoding=...`)"
    return text, found, (note,)


def _signs_in_words(text: str) -> int:
    """How often a character beyond ASCII that is no letter has a letter on both sides."""
    return sum(not found[1].isalpha() for found in re.finditer(r"(?<=[a-z])([^\x00-\x7f])(?=[a-z])", text[:1_000_000]))
