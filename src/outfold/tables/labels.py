"""Labels in the columns of a table. Rows to learn from, and rows whose labels come later, are read here alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..data.target import MOST_CLASSES
from ..exceptions import InputError
from .kinds import exceptions
from .values import distinct, has_codes, is_missing, to_numbers

if TYPE_CHECKING:
    import pandas as pd


def without_words(
    values: pd.Series[Any],
    task: Literal["classification", "regression"] | None,
    classes: Collection[str] | None = None,
) -> tuple[pd.Series[Any], tuple[str, ...]]:
    """The labels in a column, missing where a word stands for none, and these words.

    Among classes these are the words for missing values, such as NA; but two words alone are two classes. Among numbers they
    are the few values that are no numbers. A task of None is told by the values; `classes` are those that are known.
    """
    import pandas as pd

    if pd.api.types.is_numeric_dtype(values) or pd.api.types.is_datetime64_any_dtype(values):
        return values, ()
    codes, texts = distinct(values)
    if not len(texts):
        return values, ()
    rows = np.bincount(codes[codes >= 0], minlength=len(texts))
    if task != "classification" and not has_codes(texts):
        numbers, known = to_numbers(texts), ~is_missing(texts, among_numbers=True)
        least = MOST_CLASSES if task is None else 0  # a few numbers and words may be classes
        odd = exceptions(~np.isnan(numbers), known, rows, least)
        if odd is not None and (known & ~odd).sum() > least:
            numbers[~known | odd] = np.nan
            words = texts[np.isnan(numbers) & (texts != "")]
            return pd.Series(np.append(numbers, [np.nan])[codes], values.index, name=values.name), tuple(words.tolist())
    gone = is_missing(texts)
    if classes is not None:
        gone &= ~np.isin(texts, list(classes))
    elif (~gone).sum() < 2:
        gone = texts == ""
    if not gone.any():
        return values, ()
    return values.mask(np.append(gone, [True])[codes]), tuple(texts[gone & (texts != "")].tolist())


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
        if np.all((numbers % 1 == 0) & (np.abs(numbers) < 2.0**63)):
            return numbers.astype(np.int64)
        # Classifiers of scikit-learn refuse classes that are other numbers.
        return np.array([label_text(number) for number in numbers.tolist()], dtype=np.str_)
    return values.astype(str).to_numpy(dtype=np.str_)


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
