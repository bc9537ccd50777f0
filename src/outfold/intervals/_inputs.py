"""What the intervals share: texts of docstrings, and numbers and groups as they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.splitting import group_codes
from ..docstrings import fill_with
from ..exceptions import invalid

document = fill_with(
    {
        "counts": (
            "k, n : int\n"
            "    Number of successes, and number of independent samples: the right answers of a model on a test set, say."
        ),
        "draws": "draws : array-like of shape (B,)\n    The statistic on each bootstrap sample.",
        "interval": "Interval\n    Its ends, ``low`` and ``high``.",
    }
)


def numbers(values: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise invalid(name, "must be numbers", str(error)) from None


def several(values: ArrayLike, name: str, least: int = 2) -> NDArray[np.float64]:
    given = numbers(values, name)
    if given.ndim != 1 or len(given) < least:
        raise invalid(name, f"must be a list of {least} numbers or more", f"got shape {given.shape}")
    if not np.isfinite(given).all():
        raise invalid(name, "must be finite", remedy="Leave out what is undefined.")
    return given


def given_groups(groups: ArrayLike, n: int) -> NDArray[np.intp]:
    codes = group_codes(groups, n)
    refuse_missing(np.asarray(groups), "groups")
    if codes.max() < 1:
        raise invalid("groups", "must be two at least", "all samples belong to one")
    return codes


def refuse_missing(labels: NDArray[Any], name: str) -> None:
    missing = sum(label is None or label != label for label in labels.tolist())
    if missing:
        raise invalid(name, "must name every sample", f"{missing} of {len(labels)} are missing", "Leave these out.")
