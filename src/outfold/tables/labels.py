"""Labels in the columns of a table. Rows to learn from, and rows whose labels come later, are read here alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InputError, invalid

if TYPE_CHECKING:
    import pandas as pd


def label_values(
    values: pd.Series[Any], task: Literal["classification", "regression"], remedy: str = ""
) -> NDArray[Any]:
    """The labels in a column: numbers for regression; else whole numbers, true and false, or text."""
    import pandas as pd

    if task == "regression":
        if not pd.api.types.is_numeric_dtype(values):
            raise InputError(f"the target {values.name!r} holds text, not numbers.", remedy=remedy)
        return values.to_numpy(dtype=np.int64 if pd.api.types.is_integer_dtype(values) else float)
    if pd.api.types.is_bool_dtype(values):
        return values.to_numpy(dtype=bool)
    if pd.api.types.is_integer_dtype(values):
        return values.to_numpy(dtype=np.uint64 if str(values.dtype).lower() == "uint64" else np.int64)
    if pd.api.types.is_numeric_dtype(values):
        numbers = values.to_numpy(dtype=float)
        # Whole numbers become floats by a missing label alone, and "1.0" is no name for a class.
        return numbers.astype(np.int64) if np.all(numbers % 1 == 0) else numbers
    return values.astype(str).to_numpy(dtype=np.str_)


def times_and_events(frame: pd.DataFrame, time: str, event: str) -> NDArray[np.float64]:
    """(n, 2) times, and whether the event happened."""
    both = []
    for role, name in (("time", time), ("event", event)):
        try:
            both.append(frame[name].to_numpy(dtype=float))
        except (TypeError, ValueError):
            needed = "must hold numbers: a time, and an event of 1 (it happened) or 0"
            raise invalid(role, needed, f"{name!r} holds {frame[name].iloc[0]!r}") from None
    return np.stack(both, axis=1)


def label_text(label: Any) -> str:
    """A class label as text: 1, 1.0 and "1" are the same, and so are True and "True".

    >>> [label_text(label) for label in (1, 1.0, "1", True, 0.5)]
    ['1', '1', '1', 'True', '0.5']
    """
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)


def merged_labels(labels: NDArray[Any], merged: Mapping[str, str]) -> tuple[NDArray[Any], int]:
    """Class labels with rare classes under the name they were merged into, and how many labels that are.

    >>> labels, n = merged_labels(np.array(["a", "b", "c", "c"]), {"b": "other", "c": "other"})
    >>> labels.tolist(), n
    (['a', 'other', 'other', 'other'], 3)
    """
    texts = [label_text(label) for label in labels.tolist()] if merged else []
    n = sum(text in merged for text in texts)
    return (np.array([merged.get(text, text) for text in texts]), n) if n else (labels, 0)
