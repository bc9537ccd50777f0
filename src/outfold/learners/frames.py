"""Columns of any frame or array, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from ..exceptions import invalid


def frame_columns(estimator: Any, X: Any, reset: bool) -> list[NDArray[Any]]:
    """The columns as arrays; their number is remembered, or compared with that of the training rows."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        out = [_in_universal_time(frame[name]).to_numpy() for name in frame.columns]
    else:
        array = np.asarray(X)
        if array.ndim != 2:
            raise invalid("X", "must have rows and columns", f"got an array of shape {array.shape}")
        out = list(array.T)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return out


def _in_universal_time(values: Any) -> Any:
    import narwhals as nw

    if values.dtype == nw.Datetime and getattr(values.dtype, "time_zone", None) is not None:
        return values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return values


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or the NA of pandas, of which no comparison is true or false."""
    same = value == value
    return value is None or not isinstance(same, (bool, np.bool_)) or not same


def column_names(estimator: Any, given: Any) -> list[str]:
    """The names of the columns, as the training rows had them."""
    known = getattr(estimator, "feature_names_in_", None)
    names = given if known is None else known
    return [f"x{i}" for i in range(estimator.n_features_in_)] if names is None else list(names)
