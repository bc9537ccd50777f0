"""Tables with columns of all kinds, for the tests of the spaces."""

from __future__ import annotations

from typing import Any

import numpy as np

from extras import pd

KINDS = {"x": "number", "age": "number", "flag": "boolean", "city": "category", "seen": "date", "note": "text"}
_WORDS = ("fever", "cough", "none", "pain", "severe", "mild", "since", "days")


def mixed(n: int = 60, seed: int = 0) -> Any:
    """Numbers, a boolean and a category, of which some are missing."""
    rng = np.random.default_rng(seed)
    out = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "age": rng.integers(20, 80, n),
            "flag": rng.random(n) < 0.5,
            "city": rng.choice(["a", "b", "c"], n),
        }
    )
    out.loc[[1, 5], "x"] = np.nan
    out.loc[2, "city"] = np.nan
    return out


def everything(n: int = 60, seed: int = 0) -> Any:
    """The same with a date and a text, in the types that every table is brought to."""
    rng = np.random.default_rng(seed + 1)
    out = mixed(n, seed).astype({"age": float, "flag": float, "city": object})
    out["city"] = out["city"].where(out["city"].notna(), None)
    out["seen"] = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D")
    out["seen"] = out["seen"].astype("datetime64[ns]")
    out.loc[[3, 4], "seen"] = pd.NaT
    out["note"] = pd.Series([" ".join(rng.choice(_WORDS, rng.integers(0, 6))) for _ in range(n)], dtype=object)
    return out
