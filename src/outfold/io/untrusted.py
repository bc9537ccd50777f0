"""What a file from a stranger may be and may ask for. It is looked at before the file is read.

A table of zeros packs a thousand times, so that a small file could fill the memory of any machine. What unpacks to far more than
its size is refused.
"""

from __future__ import annotations

import csv
import gzip
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..exceptions import FileError

# Each column costs some hundred microseconds, whatever is in it. The largest tables of genes have 60,000.
_MOST_COLUMNS = 100_000
# A file may unpack to this many bytes, or to so many times its size. Text packs some ten times, and 180 times if nearly all cells
# are zeros: 300 indicators of one category. Columns of a binary table with the same value in most rows pack better, and cannot be
# unpacked by hand; each value counts eight bytes there, also a yes or no.
_ALWAYS_TEXT, _MOST_PACKED_TEXT = 25_000_000, 200
_ALWAYS_BINARY, _MOST_PACKED_BINARY = 250_000_000, 1000
# A table may have this many cells, or this many times the cells that are in the file. Each that is not takes a microsecond, and
# of a questionnaire with many branches one cell in twenty may be filled.
_ALWAYS_CELLS, _MOST_EMPTY = 5_000_000, 25
_PIECE = 1 << 20
_NUMBER = 8  # bytes


def refuse_special(path: Path, remedy: str = "Save what it gives in a file, and name that.") -> None:
    """Refuse a device, a pipe or a socket: to read one may take forever, and to replace one may break a machine."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise FileError(f"{path} is a device or a pipe, not a file", remedy=remedy)


def refuse_many_columns(name: str, n: int) -> None:
    """Refuse a table that is so wide that to read it would take minutes."""
    if n > _MOST_COLUMNS:
        problem = f"{name} has {n:,} columns; a table may have {_MOST_COLUMNS:,}"
        remedy = "Keep the columns that you need. If each sample is a column of the file, turn rows and columns around."
        raise FileError(problem, remedy=remedy)


def is_mostly_empty(rows: int, columns: int, cells: int) -> bool:
    """Whether a table of this size has only a few cells in the file."""
    return rows * columns > max(_ALWAYS_CELLS, _MOST_EMPTY * cells)


def refuse_short_lines(name: str, rows: int, columns: int, cells: int) -> None:
    """Refuse a text with many names in its first line and hardly a cell in the others, which would be filled up."""
    if is_mostly_empty(rows, columns, cells):
        problem = f"{name} has {rows:,} lines for {columns:,} columns, and only {cells:,} cells in all of them"
        raise FileError(problem, remedy="Leave out the names of columns without cells.")


def check_csv(path: Path) -> None:
    """Refuse a file with commas that gzip unpacks to far more than its size, or whose lines are nearly all too short."""
    packed = path.suffix.lower() == ".gz"
    lines = commas = 0
    for piece in unpacked(path) if packed else _pieces(path):
        lines += piece.count(b"\n") + piece.count(b"\r")
        commas += piece.count(b",")
    opener: Any = gzip.open if packed else open
    with opener(path, "rt", errors="replace") as file:
        columns = file.readline().count(",") + 1
        if is_mostly_empty(lines, columns, commas + lines):  # or there are lines within quotes, which the reader tells
            file.seek(0)
            with suppress(csv.Error):
                lengths = [len(row) for row in csv.reader(file) if row]
                lines, commas = len(lengths), sum(lengths) - len(lengths)
            refuse_short_lines(path.name, lines, columns, commas + lines)


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


def unpacked(path: Path) -> Iterator[bytes]:
    """The content of a file that gzip has packed, in pieces."""
    most, n_bytes = max(_ALWAYS_TEXT, _MOST_PACKED_TEXT * path.stat().st_size), 0
    with gzip.open(path) as file:
        while piece := file.read(_PIECE):
            n_bytes += len(piece)
            _refuse_bytes(path, n_bytes, most, "If you trust it, unpack it first: gunzip.")
            yield piece


def check_zip(path: Path, most_packed: tuple[int, int], remedy: str) -> None:
    """Refuse an archive whose parts are far larger than the archive. A part never gives more bytes than it says.

    `most_packed` is how many bytes, and how many times the size of the file, they may have.
    """
    always, times = most_packed
    try:
        with zipfile.ZipFile(path) as parts:
            n_bytes = sum(part.file_size for part in parts.infolist())
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
        return  # whoever reads it has better words for what is wrong
    _refuse_bytes(path, n_bytes, max(always, times * path.stat().st_size), remedy)


def check_parquet(path: Path) -> None:
    """Refuse a .parquet file whose table would take much more memory than the file."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        _check_parquet_by_polars(path)
        return
    try:
        with parquet.ParquetFile(path) as file:
            columns, most = file.metadata.num_columns, _most_binary(path)
            refuse_many_columns(path.name, columns)
            n_bytes = 0
            for group in range(file.metadata.num_row_groups):
                facts = file.metadata.row_group(group)
                for i in range(columns):
                    n_bytes += _bytes_of(path, facts.column(i), file.schema.column(i), group, most)
                    _refuse_bytes(path, n_bytes, most, _SAVE_AS_TEXT)
    except ArrowException:
        return  # whoever reads it has better words for what is wrong


def _check_parquet_by_polars(path: Path) -> None:
    """The same where there is no pyarrow; polars keeps a text that comes again once."""
    import polars

    try:
        columns = len(polars.read_parquet_schema(path))
        rows = int(polars.scan_parquet(path).select(polars.len()).collect().item())
    except polars.exceptions.PolarsError:
        return
    refuse_many_columns(path.name, columns)
    _refuse_bytes(path, rows * columns * _NUMBER, _most_binary(path), _SAVE_AS_TEXT)


_SAVE_AS_TEXT = "If you trust it, save it as .csv."


def _most_binary(path: Path) -> int:
    return max(_ALWAYS_BINARY, _MOST_PACKED_BINARY * path.stat().st_size)


def _bytes_of(path: Path, chunk: Any, column: Any, group: int, most: int) -> int:
    """Memory that a part of a column takes. A long text that comes again in each row is in the file once."""
    packed, n = int(chunk.total_uncompressed_size), int(chunk.num_values)
    if column.physical_type == "FIXED_LEN_BYTE_ARRAY":
        return max(packed, n * int(column.length))
    if column.physical_type != "BYTE_ARRAY" or not chunk.has_dictionary_page or n * packed <= most:
        return max(packed, n * _NUMBER)
    if column.max_repetition_level > 0 or column.max_definition_level > 1:
        return n * packed  # lists and records, which are no features: at worst
    return _bytes_of_words(path, chunk.path_in_schema, group)


def _bytes_of_words(path: Path, name: str, group: int) -> int:
    """Memory of a part of a column of texts, each of which is read once."""
    from pyarrow import compute, parquet

    with parquet.ParquetFile(path, read_dictionary=[name]) as file:
        table = file.read_row_group(group, columns=[name])
    n_bytes = 0
    for part in table.column(0).chunks:
        lengths = compute.take(compute.binary_length(part.dictionary), part.indices)
        n_bytes += compute.sum(lengths.cast("int64")).as_py() or 0
    return n_bytes


def check_feather(path: Path) -> None:
    """Refuse a .feather file whose table takes much more memory than the file, as soon as a part of it does."""
    from pyarrow import ArrowException, ipc

    most, n_bytes = _most_binary(path), 0
    try:
        with ipc.open_file(path) as file:
            refuse_many_columns(path.name, len(file.schema))
            for i in range(file.num_record_batches):
                n_bytes += int(file.get_batch(i).nbytes)
                _refuse_bytes(path, n_bytes, most, _SAVE_AS_TEXT)
    except ArrowException:
        return  # an older version of the format, which packs nothing; or damaged


def _refuse_bytes(path: Path, n_bytes: int, most: int, remedy: str) -> None:
    if n_bytes > most:
        times = n_bytes // max(path.stat().st_size, 1)
        problem = f"{path.name} asks for {n_bytes:,} bytes of memory or more, {times:,} times its size"
        raise FileError(problem, remedy=remedy)
