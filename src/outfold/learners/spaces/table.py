"""What a pipeline must know of a table, and the pipelines that bring its columns to a model.

Every configuration is a whole pipeline: imputation, encoding, scaling, words and dates are learnt inside the training part of
each fold, and the fitted model takes rows as they were read from the file. A table without texts is scaled after its columns
became numbers, so that models with and without scaling share the first step. Words are never scaled: tf-idf has made them
comparable, and scaling would make rare ones large.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from ...exceptions import invalid

Kind = Literal["number", "category", "boolean", "date", "text"]

# One-hot columns a category column may become; its rarer levels share the last of them.
MOST_CATEGORIES = 20
# Levels in fewer training rows than this share one column; in large tables, levels in less than this share of them.
FEWEST_OF_A_LEVEL = 2
RARE_SHARE = 0.01
# Words of all text columns that models on dense rows see, and linear models on sparse rows.
MOST_DENSE_WORDS = 300
MOST_WORDS = 5000
# Numbers in the dense matrix of words: 20 million take 160 MB.
MOST_WORD_ENTRIES = 20_000_000
# Numbers that each date becomes.
_DATE_PARTS = 6


class Table(NamedTuple):
    """Columns by kind, whether numbers and dates are missing, and sizes."""

    numbers: list[Any]
    categories: list[Any]
    dates: list[Any]
    texts: list[Any]
    missing: bool
    missing_dates: bool
    n_rows: int
    n_levels: int  # one-hot columns at most
    rare: (
        float | None
    )  # levels in fewer training rows, or in less than this share of them, are one level; None for none

    @property
    def n_columns(self) -> int:
        """Numbers that a row becomes at most, with few words."""
        words = self.n_words * len(self.texts)
        return len(self.numbers) * (1 + self.missing) + self.n_levels + _DATE_PARTS * len(self.dates) + words

    @property
    def n_words(self) -> int:
        """Words of one text column on dense rows."""
        n_texts = max(1, len(self.texts))
        fits = MOST_WORD_ENTRIES // max(1, self.n_rows) // n_texts
        return max(20, min(fits, MOST_DENSE_WORDS // n_texts))

    def plain(self, model: Any) -> Any:
        """Numbers as they are, for trees and whatever else does not mind their sizes."""
        return self.pipeline(model=model)

    def scaled(self, model: Any, selector: Any = None, *, wide: bool = False) -> Any:
        """Numbers of one size, and a selector of features before the model; `wide` gives all words in sparse rows."""
        from sklearn.preprocessing import StandardScaler

        if self.texts:
            return _pipeline(columns=self._columns(scale=True, wide=wide), select=selector, model=model)
        return self.pipeline(scale=StandardScaler(), select=selector, model=model)

    def selected(self, model: Any, selector: Any) -> Any:
        """Numbers of one size after a selection of features, which tests each category as a whole."""
        if not self.categories:
            return self.scaled(model, selector)
        from sklearn.preprocessing import StandardScaler

        from ..selecting import SelectColumns

        columns = SelectColumns(self._columns(scale=bool(self.texts)), selector)
        return _pipeline(columns=columns, scale=None if self.texts else StandardScaler(), model=model)

    def pipeline(self, **steps: Any) -> Any:
        """These steps after the columns; those that are None are left out."""
        return _pipeline(columns=self._columns(), **steps)

    def _columns(self, *, scale: bool = False, wide: bool = False) -> Any:
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        from ..columns import Dates, Words

        def sized(step: Any) -> Any:
            return _pipeline(fill=step, scale=StandardScaler()) if scale else step

        # A training part may hold no value of a column at all: it is kept, so that rows that do hold one still fit.
        imputer = SimpleImputer(strategy="median", add_indicator=self.missing, keep_empty_features=True)
        # A missing category is one more category, so nothing has to be imputed. A level that is new counts as rare.
        encoder = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            min_frequency=self.rare,
            max_categories=MOST_CATEGORIES,
            sparse_output=False,
        )
        words = Words(MOST_WORDS // max(1, len(self.texts)) if wide else self.n_words, dense=not wide)
        parts = [
            ("numbers", sized(imputer), self.numbers),
            ("categories", encoder, self.categories),
            ("dates", sized(Dates(add_indicator=self.missing_dates)), self.dates),
            ("texts", words, self.texts),
        ]
        # Words in sparse rows stay sparse, however many of them a row has.
        threshold = 1.0 if wide else 0.0
        return ColumnTransformer([part for part in parts if part[2]], sparse_threshold=threshold)


def look_at(X: Any, kinds: Mapping[str, Kind] | None = None) -> Table:
    """The columns of `X` by kind; by their types where `kinds` is None."""
    import narwhals as nw

    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        return _of_array(np.asarray(X))
    found = _by_type(frame) if kinds is None else _as_told(frame, kinds)
    if not any(found.values()):
        raise invalid("X", "must have at least one column", "there are no columns to predict from")
    numbers = found["number"] + found["boolean"]
    missing = any(_misses(frame[c]) for c in numbers)
    levels = sum(min(MOST_CATEGORIES, frame[c].n_unique()) for c in found["category"])
    missing_dates = any(frame[c].is_null().any() for c in found["date"])
    ordered = [c for c in frame.columns if c in set(numbers)]
    named = (ordered, found["category"], found["date"], found["text"])
    return Table(*named, missing, missing_dates, len(frame), levels, _rare(len(frame)))


def _rare(n_rows: int) -> float:
    return FEWEST_OF_A_LEVEL if n_rows * RARE_SHARE < FEWEST_OF_A_LEVEL else RARE_SHARE


def _of_array(array: Any) -> Table:
    if array.ndim != 2 or array.shape[1] == 0 or array.dtype.kind not in "biuf":
        needed = "must be a data frame, or an array of numbers of shape (N, p)"
        raise invalid("X", needed, f"got {array.dtype} {array.shape}") from None
    missing = array.dtype.kind == "f" and bool(np.isnan(array).any())
    return Table(list(range(array.shape[1])), [], [], [], missing, False, len(array), 0, None)


def _by_type(frame: Any) -> dict[Kind, list[Any]]:
    import narwhals as nw

    texts = (nw.String, nw.Categorical, nw.Enum, nw.Object)
    found: dict[Kind, list[Any]] = {"number": [], "category": [], "boolean": [], "date": [], "text": []}
    for column, dtype in frame.schema.items():
        if dtype.is_numeric() or dtype == nw.Boolean:
            found["number"].append(column)
        elif dtype == nw.Datetime or dtype == nw.Date:
            found["date"].append(column)
        elif any(dtype == text for text in texts):
            found["category"].append(column)
        else:
            remedy = "Make numbers of it, such as days, or leave it out."
            raise invalid(
                "X", "must have columns of numbers, categories or dates", f"column {column!r} holds {dtype}", remedy
            )
    return found


def _as_told(frame: Any, kinds: Mapping[str, Kind]) -> dict[Kind, list[Any]]:
    found: dict[Kind, list[Any]] = {"number": [], "category": [], "boolean": [], "date": [], "text": []}
    lacking = [column for column in frame.columns if column not in kinds]
    if lacking:
        raise invalid("kinds", "must name the kind of each column", f"column {lacking[0]!r} has none")
    for column in frame.columns:
        kind = kinds[column]
        if kind not in found:
            raise invalid("kinds", f"must be among {', '.join(map(repr, found))}", f"column {column!r} is {kind!r}")
        found[kind].append(column)
    return found


def _misses(values: Any) -> bool:
    return bool(values.is_null().any() or (values.dtype.is_float() and values.is_nan().any()))


def _pipeline(**steps: Any) -> Any:
    from sklearn.pipeline import Pipeline

    return Pipeline([(name, step) for name, step in steps.items() if step is not None])
