"""Survival times of a table: a column of times, and one that says whether the event happened then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..exceptions import invalid
from ..formatting import listed
from .values import as_text, distinct, to_booleans, to_numbers

if TYPE_CHECKING:
    import pandas as pd


def survival_records(time: pd.Series[Any], event: pd.Series[Any], happened: str | None = None) -> NDArray[Any]:
    """Records (event, time) as scikit-survival takes them; no value may be missing.

    `happened` is the value of the event column that says that it happened, such as ``dead``; all other values say that the row
    was censored. Without it, the column must hold 1 and 0, true and false, or yes and no.
    """
    out = np.empty(len(time), dtype=[("event", bool), ("time", np.float64)])
    out["event"], out["time"] = _events(event, happened), _times(time)
    return out


def _times(time: pd.Series[Any]) -> NDArray[np.float64]:
    codes, texts = distinct(time)
    numbers = to_numbers(texts)
    bad = ~(numbers >= 0) | np.isinf(numbers)
    if bad.any():
        raise invalid("time", "must hold numbers from 0", f"{time.name!r} holds {texts[bad][0]!r}")
    return np.asarray(numbers[codes])


def _events(event: pd.Series[Any], happened: str | None) -> NDArray[np.bool_]:
    codes, texts = distinct(event)
    given = f"{str(event.name)!r} holds {listed(sorted(texts))}"
    if happened is not None:
        yes = texts == as_text(happened)
        if not yes.any():
            raise invalid("positive", "must be the value that says that the event happened", given)
        return np.asarray(yes[codes])
    truth = to_booleans(texts)
    if np.isnan(truth).any():
        needed = "must hold 1 if the event happened and 0 if not, or true and false, or yes and no"
        raise invalid("event", needed, given, "Name the value that says that it happened: `positive=`.")
    return np.asarray(truth[codes] == 1)
