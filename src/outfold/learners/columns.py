"""Transformers for columns that scikit-learn has no single step for: dates, and texts.

Both learn from training rows only, and take any rows afterwards: missing values, dates before the first training date, texts
without a known word. They take pandas and polars frames, and arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..arguments import check_count
from ..docstrings import fill_common
from ..exceptions import invalid
from .frames import column_names, frame_columns, is_missing

__all__ = ["Dates", "Words"]

Floats = NDArray[np.float64]
_SECONDS_A_DAY = 86_400
_SECONDS_AN_HOUR = 3600
_MONDAY = 3  # days from the Monday before it to 1970-01-01, a Thursday


@fill_common
class Dates(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn dates into numbers: days since the first training date, year, month, day, weekday and hour.

    Weekdays count from 0 (Monday). The hour is left out if all training dates of the column are at midnight. A missing date
    gets the median of each number in the training rows, or 0 if these have no date at all.

    Parameters
    ----------
    add_indicator : bool
        Add a column for each date that says where it was missing.

    Attributes
    ----------
    first_ : ndarray of float
        The first training date of each column, in seconds since 1970.
    feature_names_in_ : ndarray of str
        The names of the columns, if X had any.

    Examples
    --------
    >>> import numpy as np
    >>> from outfold.learners import Dates
    >>> days = np.array([["2024-02-28"], ["2024-03-01"]], dtype="datetime64[D]")
    >>> Dates().fit_transform(days)
    array([[0.000e+00, 2.024e+03, 2.000e+00, 2.800e+01, 2.000e+00],
           [2.000e+00, 2.024e+03, 3.000e+00, 1.000e+00, 4.000e+00]])
    """

    def __init__(self, add_indicator: bool = False) -> None:
        self.add_indicator = add_indicator

    def fit(self, X: Any, y: Any = None) -> Dates:
        """Learn the first date, the medians, and whether there are hours."""
        seconds = self._read(X, reset=True)
        known = ~np.isnan(seconds)
        self.first_ = np.array([c[k].min() if k.any() else 0.0 for c, k in zip(seconds.T, known.T, strict=True)])
        self.has_hours_ = np.array([bool(np.nanmax(c % _SECONDS_A_DAY, initial=0.0)) for c in seconds.T])
        parts = self._parts(seconds)
        self.fill_ = np.array([np.median(p[~np.isnan(p)]) if not np.isnan(p).all() else 0.0 for p in parts.T])
        return self

    def transform(self, X: Any) -> Floats:
        """The numbers of each date, column after column; the indicators last."""
        check_is_fitted(self)
        seconds = self._read(X, reset=False)
        parts = self._parts(seconds)
        parts = np.where(np.isnan(parts), self.fill_, parts)
        return np.hstack([parts, np.isnan(seconds)]) if self.add_indicator else parts

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names such as ``visit_month``."""
        check_is_fitted(self)
        columns = column_names(self, input_features)
        out = [f"{c}_{part}" for c, hours in zip(columns, self.has_hours_, strict=True) for part in _PARTS[: 5 + hours]]
        return np.array([*out, *(f"{c}_missing" for c in columns if self.add_indicator)], dtype=object)

    def _parts(self, seconds: Floats) -> Floats:
        columns = zip(seconds.T, self.first_, self.has_hours_, strict=True)
        return np.hstack([_date_parts(column, first)[:, : 5 + hours] for column, first, hours in columns])

    def _read(self, X: Any, reset: bool) -> Floats:
        columns = [_seconds(column) for column in frame_columns(self, X, reset)]
        return np.column_stack(columns)

    def __sklearn_tags__(self) -> Any:
        return _tags(super().__sklearn_tags__())


_PARTS = ("days", "year", "month", "day", "weekday", "hour")


def _date_parts(seconds: Floats, first: float) -> Floats:
    """(n, 6) the numbers of `_PARTS`; NaN where the date is missing."""
    known = ~np.isnan(seconds)
    moment = np.where(known, seconds, 0.0).astype(np.int64).astype("datetime64[s]")
    day, month = moment.astype("datetime64[D]"), moment.astype("datetime64[M]")
    parts = np.column_stack(
        [
            (seconds - first) / _SECONDS_A_DAY,
            month.astype("datetime64[Y]").astype(np.int64) + 1970,
            month.astype(np.int64) % 12 + 1,
            (day - month.astype("datetime64[D]")).astype(np.int64) + 1,
            (day.astype(np.int64) + _MONDAY) % 7,
            (moment - day).astype(np.int64) / _SECONDS_AN_HOUR,
        ]
    )
    return np.where(known[:, None], parts, np.nan)


def _seconds(column: Any) -> Floats:
    """Seconds since 1970; NaN where there is no date."""
    values = np.asarray(column)
    if values.dtype.kind == "O":
        values = np.array([_moment(value) for value in values], dtype="datetime64[s]")
    if values.dtype.kind != "M":
        raise invalid("Dates", "needs columns of dates", f"a column holds {values.dtype}")
    whole = values.astype("datetime64[s]")
    return np.where(np.isnat(whole), np.nan, whole.astype(np.int64).astype(np.float64))


def _moment(value: Any) -> Any:
    """A date object as numpy knows it, in universal time; not a time if it is missing."""
    if is_missing(value):
        return np.datetime64("NaT")
    zone = getattr(value, "tzinfo", None)
    if zone is not None:
        from datetime import UTC

        value = value.astimezone(UTC).replace(tzinfo=None)
    try:
        return np.datetime64(value, "s")
    except ValueError:
        raise invalid("Dates", "needs columns of dates", f"a column holds {value!r}") from None


@fill_common
class Words(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn each column of texts into the tf-idf of its most frequent words, and the length of the text.

    Each column has its own words (scikit-learn's `TfidfVectorizer` with ``sublinear_tf``). A word must be in two training texts.
    If no word is, one is enough; if there are no words at all, only the length is left. The length is the logarithm of the
    number of words, divided by its largest value in the training rows. A missing text is an empty one.

    Parameters
    ----------
    n_words : int
        The most words of each column.
    pairs : bool
        Also count pairs of words that follow each other.
    dense : bool
        Give an array. Otherwise, give a sparse matrix.

    Attributes
    ----------
    vectorizers_ : list of TfidfVectorizer or None
        One for each column; None if its training texts have no words.
    longest_ : ndarray of float
        The largest logarithm of a number of words, by column.

    Examples
    --------
    >>> import numpy as np
    >>> from outfold.learners import Words
    >>> texts = np.array([["red wine"], ["white wine"], [""]], dtype=object)
    >>> Words(dense=True).fit_transform(texts)
    array([[1., 1.],
           [1., 1.],
           [0., 0.]])
    """

    def __init__(self, n_words: int = 300, pairs: bool = False, dense: bool = False) -> None:
        self.n_words = n_words
        self.pairs = pairs
        self.dense = dense

    def fit(self, X: Any, y: Any = None) -> Words:
        """Learn the words of each column, and their weights."""
        check_count(self.n_words, "n_words", 1)
        columns = [_texts(column) for column in frame_columns(self, X, reset=True)]
        self.vectorizers_ = [self._vectorizer(column) for column in columns]
        longest = [_lengths(column).max(initial=0.0) for column in columns]
        self.longest_ = np.array([size or 1.0 for size in longest])
        return self

    def transform(self, X: Any) -> Any:
        """Weights of the words and the length of each column, column after column."""
        from scipy import sparse

        check_is_fitted(self)
        columns = [_texts(column) for column in frame_columns(self, X, reset=False)]
        parts = []
        for column, vectorizer, longest in zip(columns, self.vectorizers_, self.longest_, strict=True):
            if vectorizer is not None:
                parts.append(vectorizer.transform(column))
            parts.append(sparse.csr_array((_lengths(column) / longest)[:, None]))
        joined = sparse.csr_array(sparse.hstack(parts))
        return joined.toarray() if self.dense else joined

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names such as ``note_fever``."""
        check_is_fitted(self)
        out: list[str] = []
        for column, vectorizer in zip(column_names(self, input_features), self.vectorizers_, strict=True):
            words = [] if vectorizer is None else vectorizer.get_feature_names_out()
            out += [f"{column}_{word}" for word in (*words, "length")]
        return np.array(out, dtype=object)

    def _vectorizer(self, texts: list[str]) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer

        for least in (2, 1):
            both = (1, 2) if self.pairs else (1, 1)
            vectorizer = TfidfVectorizer(
                min_df=least,
                max_features=self.n_words,
                ngram_range=both,
                sublinear_tf=True,
                strip_accents="unicode",
            )
            try:
                return vectorizer.fit(texts)
            except ValueError:  # no text has a word, or no word is in enough of them
                continue
        return None

    def __sklearn_tags__(self) -> Any:
        return _tags(super().__sklearn_tags__(), text=True)


def _texts(column: Any) -> list[str]:
    return ["" if is_missing(value) else str(value) for value in np.asarray(column, dtype=object)]


def _lengths(texts: list[str]) -> Floats:
    return np.log1p([len(text.split()) for text in texts])


def _tags(tags: Any, *, text: bool = False) -> Any:
    tags.input_tags.allow_nan = True
    tags.input_tags.string = text
    tags.no_validation = True
    return tags
