"""Tables whose columns are numbers or categories.

An estimator that takes both has the parameter `categorical_features`, as scikit-learn's boosting of histograms does, and keeps
in ``is_categorical_`` which columns are categories. Numbers are floats, NaN where they are missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d, validate_data

from ..exceptions import got, invalid
from .frames import frame_columns, is_missing

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
CategoricalFeatures = Literal["from_dtype"] | Sequence[int] | Sequence[str] | Sequence[bool] | None

# The code of a level that is missing, or that the training rows do not have.
NO_LEVEL = -1

TEXTS = {
    "categorical_features": """categorical_features : "from_dtype", array-like of int, str or bool, or None
    Which columns are categories. ``"from_dtype"`` takes the columns of a data frame that hold texts, booleans or categories;
    all columns of an array are numbers then. Otherwise positions, names or a mask; None for none.""",
}


class Category(NamedTuple):
    """A column of categories: texts or floats, and where they are known."""

    values: NDArray[Any]
    known: NDArray[np.bool_]

    def levels(self) -> NDArray[Any]:
        """The different values, in order."""
        return np.unique(self.values[self.known])

    def codes(self, levels: NDArray[Any]) -> Codes:
        """The position of each value among the levels; `NO_LEVEL` if it is missing or not among them."""
        out = np.full(len(self.values), NO_LEVEL)
        if len(levels) and levels.dtype.kind == self.values.dtype.kind:
            at = np.minimum(np.searchsorted(levels, self.values), len(levels) - 1)
            out = np.where(self.known & (levels[at] == self.values), at, NO_LEVEL)
        return out


Column = Floats | Category


def read_training(estimator: Any, X: Any, y: Any, least_rows: int = 1) -> tuple[list[Column], NDArray[Any]]:
    """The columns of training rows, and the labels; the estimator remembers which columns are categories."""
    told = estimator.categorical_features
    frame = as_frame(X)
    if told is None or (isinstance(told, str) and told == "from_dtype" and not _has_categories(frame)):
        X, y = validate_data(
            estimator, X, y, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=least_rows
        )
        estimator.is_categorical_ = np.zeros(X.shape[1], dtype=bool)
        return list(X.T), y
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    columns = frame_columns(estimator, X, reset=True)
    check_consistent_length(X, y)
    if len(y) < least_rows:
        raise invalid("X", f"must have at least {least_rows} rows", f"there is {len(y)}")
    estimator.is_categorical_ = _by_type(frame) if isinstance(told, str) else _as_told(estimator, told)
    return _read(estimator, columns), y


def read_rows(estimator: Any, X: Any) -> list[Column]:
    """The columns of other rows."""
    if not estimator.is_categorical_.any():
        X = validate_data(estimator, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        return list(X.T)
    return _read(estimator, frame_columns(estimator, X, reset=False))


def _read(estimator: Any, columns: list[NDArray[Any]]) -> list[Column]:
    pairs = zip(columns, estimator.is_categorical_, strict=True)
    return [_category(column) if is_category else _numbers(column) for column, is_category in pairs]


def _numbers(column: NDArray[Any]) -> Floats:
    remedy = "Name the columns of categories in `categorical_features`, and make numbers of dates."
    try:
        if column.dtype.kind in "Mm":
            raise TypeError
        is_object = column.dtype.kind == "O"
        known = [np.nan if is_missing(value) else value for value in column] if is_object else column
        values = np.array(known, dtype=np.float64)
    except (TypeError, ValueError):
        needed = "must have columns of numbers and of categories"
        raise invalid("X", needed, f"a column holds {column[:1].tolist()}", remedy) from None
    if np.isinf(values).any():
        raise invalid("X", "must have finite numbers", "a column holds infinity")
    return values


def _category(column: NDArray[Any]) -> Category:
    if column.dtype.kind in "biuf":
        values = column.astype(np.float64)
        return Category(values, ~np.isnan(values))
    known = np.array([not is_missing(value) for value in column], dtype=bool)
    texts = [str(value) if is_known else "" for value, is_known in zip(column, known, strict=True)]
    return Category(np.array(texts, dtype=np.str_), known)


# -- which columns are categories ------------------------------------------------------------------------


def as_frame(X: Any) -> Any:
    """A data frame of any library as narwhals reads it; None if X is none."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _has_categories(frame: Any) -> bool:
    return frame is not None and bool(_by_type(frame).any())


def _by_type(frame: Any) -> NDArray[np.bool_]:
    import narwhals as nw

    categories = (nw.String, nw.Categorical, nw.Enum, nw.Object, nw.Boolean)
    return np.array([any(dtype == kind for kind in categories) for dtype in frame.schema.values()], dtype=bool)


def _as_told(estimator: Any, told: Any) -> NDArray[np.bool_]:
    """A mask of the columns, from a mask, positions or names."""
    wanted = np.asarray(told)
    n = estimator.n_features_in_
    mask = np.zeros(n, dtype=bool)
    if wanted.dtype.kind == "b" and wanted.shape == (n,):
        return wanted
    names = list(getattr(estimator, "feature_names_in_", []))
    if wanted.ndim == 1 and wanted.dtype.kind in "UO" and set(wanted) <= set(names):
        mask[[names.index(name) for name in wanted]] = True
    elif wanted.ndim == 1 and (wanted.dtype.kind in "iu" or not len(wanted)) and all(0 <= j < n for j in wanted):
        mask[wanted.astype(np.intp)] = True
    else:
        needed = f"must be 'from_dtype', None, or the names, the positions or a mask of some of the {n} columns"
        raise invalid("categorical_features", needed, got(told))
    return mask
