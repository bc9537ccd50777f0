"""What values the features had in the training rows: which new rows lie outside, and by what a shift is seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from ..tables.columns import Columns, Kind

# Values at which the distribution of a number is kept. At these it is exact, so that a test of drift is never too liberal.
KNOTS = 64


@dataclass(frozen=True, eq=False)
class Range:
    """The values of one feature in the training rows.

    Attributes
    ----------
    kind : str
        ``"number"``, ``"boolean"``, ``"date"``, ``"category"`` or ``"text"``. Dates are kept as seconds since 1970.
    n, missing : int
        Number of rows with and without a value.
    low, high : float or None
        The smallest and the largest number; None for categories and texts.
    knots, counts : tuple
        Some values of a number in ascending order, and how many rows have at most each; of a category the levels, and how many
        rows have each. Empty for texts.
    """

    kind: Kind
    n: int
    missing: int
    low: float | None = None
    high: float | None = None
    knots: tuple[Any, ...] = ()
    counts: tuple[int, ...] = ()

    @property
    def ordered(self) -> bool:
        """Whether the values are numbers or dates."""
        return self.kind in ("number", "boolean", "date")

    def to_dict(self) -> dict[str, Any]:
        """Json-ready form."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Range:
        """What `to_dict` wrote."""
        return cls(**{**facts, "knots": tuple(facts["knots"]), "counts": tuple(facts["counts"])})


def ranges_of(X: pd.DataFrame, columns: Columns) -> dict[str, Range]:
    """The values of each feature of the training rows, as `tables.features` gives them."""
    return {name: _range_of(X[name], kind) for name, kind in columns.kinds.items()}


def ranges_of_frame(X: Any) -> dict[str, Range]:
    """The same of features in any form; what kind a feature is comes from its type."""
    frame = as_frame(X)
    return {name: _range_of(frame[name], _kind_of(frame[name])) for name in frame.columns}


def as_frame(X: Any) -> pd.DataFrame:
    """Features as a pandas frame with names of columns; texts and categories as text."""
    try:
        import pandas as pd
    except ImportError:
        remedy = "Run: pip install 'outfold[frames]'"
        raise InputError("looking for shifts needs pandas.", remedy=remedy, page="extras") from None

    if hasattr(X, "tocsr"):
        X = X.toarray()
    frame = X.copy() if isinstance(X, pd.DataFrame) else X.to_pandas() if hasattr(X, "to_pandas") else pd.DataFrame(X)
    frame.columns = [str(name) for name in frame.columns]
    for name in frame.columns:
        if _kind_of(frame[name]) == "category":
            frame[name] = frame[name].astype(object).map(str, na_action="ignore")
    return frame


def _kind_of(values: pd.Series[Any]) -> Kind:
    import pandas as pd

    if pd.api.types.is_bool_dtype(values):
        return "boolean"
    if pd.api.types.is_numeric_dtype(values):
        return "number"
    return "date" if pd.api.types.is_datetime64_any_dtype(values) else "category"


def _range_of(values: pd.Series[Any], kind: Kind) -> Range:
    if kind == "text":
        empty = int((values == "").sum())
        return Range(kind, len(values) - empty, empty)
    if kind == "category":
        found = values.dropna().value_counts().sort_index()
        return Range(
            kind, int(found.sum()), int(values.isna().sum()), None, None, tuple(found.index), tuple(found.tolist())
        )
    numbers = as_numbers(values, kind)
    present = np.sort(numbers[~np.isnan(numbers)])
    missing = len(numbers) - len(present)
    if not len(present):
        return Range(kind, 0, missing)
    knots = _knots(present)
    counts = np.searchsorted(present, knots, side="right")
    ends = float(present[0]), float(present[-1])
    return Range(kind, len(present), missing, *ends, tuple(knots.tolist()), tuple(counts.tolist()))


def _knots(ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    """All distinct values, or values at equal steps of rank if there are more of them."""
    distinct = np.unique(ordered)
    if len(distinct) <= KNOTS:
        return distinct
    ranks = np.linspace(0, len(ordered) - 1, KNOTS).round().astype(np.intp)
    return np.unique(ordered[ranks])


def as_numbers(values: pd.Series[Any], kind: Kind) -> NDArray[np.float64]:
    """Numbers, booleans or dates (seconds since 1970) as float64; NaN is missing."""
    if kind == "date":
        dates = values.to_numpy(dtype="datetime64[ns]")
        seconds = dates.astype(np.int64) / 1e9
        return np.asarray(np.where(np.isnat(dates), np.nan, seconds))
    return values.to_numpy(dtype=np.float64)


def outside(X: pd.DataFrame, ranges: Mapping[str, Range]) -> NDArray[np.bool_]:
    """(rows, features) True where a value lies outside the training range, or is a level that no training row had."""
    out = np.zeros((len(X), len(ranges)), dtype=bool)
    for j, (name, known) in enumerate(ranges.items()):
        if known.kind == "category":
            out[:, j] = (X[name].notna() & ~X[name].isin(known.knots)).to_numpy(dtype=bool)
        elif known.ordered:
            numbers = as_numbers(X[name], known.kind)
            if known.low is None or known.high is None:
                out[:, j] = ~np.isnan(numbers)
            else:
                out[:, j] = (numbers < known.low) | (numbers > known.high)
    return out
