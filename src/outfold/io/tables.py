"""Long tables and columns of any type, as arrays of codes and numbers; no loop runs over the rows of a table."""

from __future__ import annotations

import gzip
import importlib
import zlib
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..data.splitting import NOT_HELD_OUT
from ..exceptions import FileError, InputError, got, invalid
from .untrusted import check_csv, check_parquet, refuse_many_columns, refuse_special

if TYPE_CHECKING:
    import narwhals as nw


# The column that `to_frame` writes, and `from_frame` reads where it is there.
PREDICTED_LABEL = "predicted_label"
# Characters of a name or a label.
LONGEST = 10_000


def uniform(values: NDArray[Any]) -> NDArray[Any]:
    """Arrays of objects as numbers or text where that is what they hold; None is no number."""
    if values.dtype.kind != "O":
        return values
    types = {type(v) for v in values.flat}
    if any(issubclass(t, str) for t in types):
        _refuse_long(values)
        return values.astype(str)
    if types == {bool}:
        return values.astype(bool)
    if all(issubclass(t, (int, float, np.number, Decimal, type(None))) for t in types):
        return np.array(values.tolist(), dtype=np.float64 if types & {Decimal, type(None)} else None)
    return values


def _refuse_long(texts: NDArray[Any]) -> None:
    """Refuse a text so long that an array of texts would take gigabytes: each has the room of the longest."""
    longest = max(texts.flat, key=lambda text: len(text) if isinstance(text, str) else 0)
    if len(str(longest)) > LONGEST:
        problem = f"names and labels may have {LONGEST:,} characters; {longest[:20]!r}... has {len(longest):,}"
        raise InputError(problem, remedy="Look whether the column holds names, or shorten them.")


def numbers_or_codes(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Predictions as numbers, or as positions in the distinct words where they are text."""
    values = uniform(values)
    if values.dtype.kind in "US":
        words, codes = distinct_codes(values.astype(str))
        return codes, words
    if values.dtype.kind in "iu" and values.size and max(-int(values.min()), int(values.max())) > 2**53:
        words, codes = distinct_codes(values)  # whole numbers that a float cannot tell apart are labels
        return codes, words
    if values.dtype.kind not in "biuf":
        raise InputError(f"predictions must be numbers or labels; these are of type {values.dtype}.")
    return values if values.dtype == np.float32 else values.astype(np.float64, copy=False), None


def distinct_codes(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The distinct values, sorted, and the position of every value in them."""
    distinct, codes = np.unique(values, return_inverse=True)
    return distinct, codes.reshape(values.shape).astype(np.intp)


def not_held_out(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """True where a fold's label says that there is none."""
    if labels.dtype.kind in "USO":  # as text one by one: NumPy would decode bytes as ASCII alone
        texts = labels if labels.dtype.kind == "U" else np.array([_text(label) for label in labels.flat], dtype=str)
        texts = texts.reshape(labels.shape)
        return np.isin(texts, ["-1", "", "None", "nan", "<NA>"])
    return np.asarray((labels == NOT_HELD_OUT) | (labels != labels))


def _text(label: Any) -> str:
    return label.decode("latin-1") if isinstance(label, bytes) else str(label)


class LongTable:
    """A table with a row for every (sample, configuration, repeat), as codes; no loop runs over its rows."""

    def __init__(self, frame: Any, sample: str, config: str | None, repeat: str | None) -> None:
        import narwhals as nw

        try:
            self.frame: nw.DataFrame[Any] = nw.from_native(frame, eager_only=True)
        except TypeError:
            needed = "must be a data frame of pandas or polars, or a table of pyarrow"
            remedy = "Collect it first: `frame.collect()`." if hasattr(frame, "collect") else ""
            raise invalid("frame", needed, f"got {type(frame).__name__}", remedy) from None
        except nw.exceptions.DuplicateError:
            problem = "two columns of the table have the same name"
            raise InputError(problem, remedy="Rename or leave out one of them.") from None
        if len(self.frame) == 0:
            raise invalid("frame", "must have a row for every (sample, configuration, repeat)", "the table has no rows")
        self._sample, self.samples = self._codes(sample, "sample", in_order=True)
        only = np.zeros(len(self.frame), dtype=np.intp)
        self._config, self.configs = only, None
        if config is not None:
            self._config, names = self._codes(config, "config", in_order=True)
            self.configs = list(map(str, names.tolist()))
        self._repeat, self._n_repeats = only, 1
        if repeat is not None:
            self._repeat, repeats = self._codes(repeat, "repeat")
            self._n_repeats = len(repeats)
        self._shape = (self._n_repeats, 1 if self.configs is None else len(self.configs), len(self.samples))
        self._slot = np.ravel_multi_index((self._repeat, self._config, self._sample), self._shape)
        count = np.bincount(self._slot, minlength=int(np.prod(self._shape)))
        if count.max() > 1:
            row = int(np.argmax(count[self._slot] > 1))
            cell = f"sample {self.samples[self._sample[row]]!s}"
            cell += "" if self.configs is None else f", configuration {self.configs[self._config[row]]!r}"
            cell += f", repeat {self._repeat[row]}" if self._n_repeats > 1 else ""
            remedy = "Name the column that tells them apart (`config=` or `repeat=`), or remove the copies."
            raise InputError(f"{cell} has {count[self._slot[row]]} rows; one row for each is needed", remedy=remedy)
        self.present = (count > 0).reshape(self._shape)

    def predictions(self, columns: str | Sequence[str]) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """(R, C, N[, K]) numbers, or codes of words and these words."""
        if not isinstance(columns, str):
            parts = [self.predictions(name) for name in columns]
            if not parts:
                raise invalid("prediction", "must name at least one column", got([]))
            if any(words is not None for _, words in parts):
                needed = "with several columns, one for each class, needs numbers in all of them"
                raise invalid("prediction", needed, "one of them holds text")
            return np.stack([data for data, _ in parts], axis=-1), None
        import narwhals as nw

        series = self._column(columns, "prediction")
        if series.dtype in (nw.String, nw.Categorical, nw.Enum):
            codes, words = self._codes(columns, "prediction")
            return self._spread(codes, 0), words
        values, other_words = numbers_or_codes(series.to_numpy())
        return self._spread(values, 0 if other_words is not None else np.nan), other_words

    def labels(self, label: str | tuple[str, str] | None) -> Any:
        """One label a sample: (N,), or (N, 2) with time and event."""
        if label is None:
            return None
        if isinstance(label, str):
            return self.of_sample(label, "label")
        if len(label) != 2:
            raise invalid("label", "must be a column or a pair of columns (time, event)", got(label))
        try:
            return np.stack([self.of_sample(name, "label").astype(np.float64) for name in label], axis=1)
        except ValueError:
            needed = "with two columns needs numbers in both: a time, and an event of 0 or 1"
            raise invalid("label", needed, f"{got(label)}, whose values are not all numbers") from None

    def folds(self, fold: str | None) -> NDArray[Any]:
        """(N, R) fold codes; -1 where a sample has no row in a repeat."""
        codes, names = np.zeros(len(self.frame), dtype=np.intp), np.zeros(1)
        if fold is not None:
            codes, names = self._codes(fold, "fold")
        out = np.full((len(self.samples), self._n_repeats), NOT_HELD_OUT, dtype=np.intp)
        out[self._sample, self._repeat] = codes
        self._refuse_contradiction(out[self._sample, self._repeat] != codes, fold, " and repeat")
        return np.where(np.isin(out, np.flatnonzero(not_held_out(names))), NOT_HELD_OUT, out)

    def of_sample(self, column: str, what: str) -> NDArray[Any]:
        """(N,) what a column says of the samples; it must say the same in every row."""
        codes, values = self._codes(column, what)
        out = np.zeros(len(self.samples), dtype=np.intp)
        out[self._sample] = codes
        self._refuse_contradiction(out[self._sample] != codes, column, "")
        return np.asarray(values[out])

    def _refuse_contradiction(self, wrong: NDArray[np.bool_], column: str | None, also: str) -> None:
        if wrong.any():
            name = self.samples[self._sample[np.argmax(wrong)]]
            problem = f"column {column!r} must be the same in all rows of a sample{also}; sample {name!s} has several."
            raise InputError(problem)

    def _spread(self, values: NDArray[Any], missing: float) -> NDArray[Any]:
        out = np.full(int(np.prod(self._shape)), missing, dtype=values.dtype)
        out[self._slot] = values
        return out.reshape(self._shape)

    def _column(self, name: str, what: str) -> nw.Series[Any]:
        if name not in self.frame.columns:
            raise invalid(what, f"must be one of the columns {', '.join(map(str, self.frame.columns))}", got(name))
        return self.frame[name]

    def _codes(self, name: str, what: str, in_order: bool = False) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """A column as codes of its distinct values, which are sorted or `in_order` of appearance."""
        series = self._column(name, what)
        missing = series.is_null()
        if series.dtype.is_float():
            missing = missing | series.is_nan()
        if missing.any():
            problem = f"column {name!r} has no value in row {int(np.argmax(missing.to_numpy()))}; every row needs one."
            raise InputError(problem)
        try:
            codes, values = _factorize(series)
            if in_order:
                return codes, values
            order = np.argsort(values, kind="stable")
        except TypeError:  # what has no hash or no order
            problem = (
                f"column {name!r} must hold numbers or texts; it holds lists, records, or values of several types."
            )
            raise InputError(problem) from None
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return rank[codes], values[order]


def _factorize(series: nw.Series[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Codes and distinct values in order of appearance, by hashing: sorting millions of strings takes minutes."""
    import narwhals as nw

    if series.implementation.is_pandas_like():
        codes, values = series.implementation.to_native_namespace().factorize(series.to_native())
        return np.asarray(codes, dtype=np.intp), uniform(np.asarray(values))
    distinct = series.unique(maintain_order=True)
    codes = series.replace_strict(distinct.to_list(), list(range(len(distinct))), return_dtype=nw.Int64)
    return codes.to_numpy().astype(np.intp), uniform(distinct.to_numpy())


_ENGINES = ("pandas", "polars")
_ENDINGS = (".csv", ".csv.gz", ".parquet")


def read_table(path: Path) -> Any:
    """The data frame in a .csv, .csv.gz or .parquet file, by pandas or polars, whichever is installed."""
    if path.is_dir():
        raise FileError(f"{path} is a folder; a file is needed.")
    if not path.exists():
        raise FileError(f"there is no file {path}.")
    if not path.name.lower().endswith(_ENDINGS):
        raise FileError(f"{path.name} must be a .csv, .csv.gz, .parquet or .oof file.")
    refuse_special(path)
    if path.suffix.lower() != ".parquet":
        _check_text(path)
    for engine in _ENGINES:
        try:
            return _read(engine, path)
        except FileError:
            raise
        except ImportError:  # not installed, or pandas, which reads .parquet with a package of its own choice
            continue
        except Exception as error:
            raise not_a_table(path, error) from error
    remedy = "Run: pip install 'outfold[frames]'."
    raise FileError(f"reading {path.name} needs pandas and pyarrow, or polars", remedy=remedy, page="extras")


_MOST_REPEATED = 1000  # names of columns; libraries take the square of the time to make them different
_SEPARATORS = {";": "semicolons", "\t": "tabs"}


def _check_text(path: Path) -> None:
    """Refuse a .csv file that is no table of ours, or that only a stranger would make."""
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        check_csv(path)
        with opener(path, "rt", errors="replace") as lines:
            header = lines.readline()
    except FileError:  # one of the OSErrors below
        raise
    except (OSError, EOFError, zlib.error):
        return  # whoever reads it has better words for what is wrong
    separator = next((word for sign, word in _SEPARATORS.items() if sign in header and "," not in header), None)
    if separator is not None:
        raise FileError(f"{path.name} seems to be separated by {separator}", remedy="Save it with commas.")
    names = header.rstrip("\r\n").split(",")
    refuse_many_columns(path.name, len(names))
    if len(names) - len(set(names)) > _MOST_REPEATED:
        problem = f"{path.name} has {len(names):,} columns with {len(set(names)):,} different names"
        raise FileError(problem, remedy="Give each column a name of its own.")


def not_a_table(path: Path, error: Exception) -> FileError:
    """The error on a file that a library could not read, in the words of that library."""
    why = str(error).strip().partition("\n")[0]
    remedy = "Save it with the encoding UTF-8." if isinstance(error, UnicodeDecodeError) else ""
    return FileError(f"{path.name} could not be read as a table ({why}).", remedy=remedy)


def _read(engine: str, path: Path) -> Any:
    reader = importlib.import_module(engine)
    if path.suffix.lower() == ".parquet":
        check_parquet(path)
        return reader.read_parquet(path)
    if engine == "polars":
        return reader.read_csv(path, infer_schema_length=None)  # the type of a column from all of its rows
    # Every digit of a number counts; newer versions read them all, and no longer want to be told.
    old = tuple(map(int, reader.__version__.split(".")[:2])) < (3, 1)
    exact: dict[str, Any] = {"float_precision": "round_trip"} if old else {}
    # Only an empty field is missing: "NA" may be a class.
    return reader.read_csv(path, keep_default_na=False, na_values=[""], low_memory=False, **exact)
