"""Data sets of the papers, cut into a pool to draw from and a part that tells the truth.

The files are no part of the project. They are looked for in the folder that OUTFOLD_STUDY_DATA names (`--data`), or in
``../shared/data``: one ``NAME.parquet`` for each, with the column ``target``.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
VARIABLE = "OUTFOLD_STUDY_DATA"
DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "data"


def folder() -> Path:
    """Where the data sets are."""
    found = Path(os.environ.get(VARIABLE, DEFAULT))
    if not found.is_dir():
        sys.exit(f"the data sets are not in {found}; give their folder with --data, or DATA= of make study.")
    return found


@dataclass(frozen=True)
class DataSet:
    """A data set: inputs as they are in the file, and the classes 0, 1, ... from the most frequent to the rarest.

    `classes` are their names in this order.
    """

    name: str
    X: Any
    y: NDArray[np.intp]
    classes: tuple[str, ...] = ()

    @property
    def labels(self) -> NDArray[np.str_]:
        """The classes as text."""
        return np.array(self.classes)[self.y]

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """Inputs as numbers: medians for missing values, one column for each level of a category."""
        import pandas as pd

        numeric = self.X.select_dtypes("number").astype(float)
        words = self.X.drop(columns=numeric.columns)
        parts = [numeric.fillna(numeric.median())]
        if words.shape[1]:
            parts.append(pd.get_dummies(words, dtype=float))
        return np.ascontiguousarray(pd.concat(parts, axis=1).to_numpy(dtype=float))


@lru_cache(maxsize=4)
def load(name: str) -> DataSet:
    """A data set by its name."""
    import pandas as pd

    frame = pd.read_parquet(folder() / f"{name}.parquet")
    target = frame.pop("target")
    known = target.notna().to_numpy()
    labels = target[known].astype(str)
    classes = tuple(labels.value_counts(sort=True).index)
    codes = labels.map({label: code for code, label in enumerate(classes)}).to_numpy(dtype=np.intp)
    return DataSet(name, frame[known].reset_index(drop=True), codes, classes)


def pool_and_truth(y: NDArray[np.intp], share: float = 0.3, seed: int = 0) -> tuple[Rows, Rows]:
    """Rows to draw from, and the others, which tell the truth; both have the classes in the same proportions."""
    rng = np.random.default_rng([seed, len(y)])
    parts = []
    for label in np.unique(y):
        own = rng.permutation(np.flatnonzero(y == label))
        parts.append(own[: round(share * len(own))])
    pool = np.sort(np.concatenate(parts))
    return pool, np.setdiff1d(np.arange(len(y)), pool)


def draw(pool: Rows, n: int, rng: np.random.Generator) -> Rows:
    """A subsample of the pool, without replacement."""
    return rng.choice(pool, n, replace=False)


def adaptive_folds(y: NDArray[np.intp], folds: int = 10) -> int:
    """As many folds as the rarest class has members, up to a number; 0 if a class is missing.

    So Tsamardinos et al. (2015, sect. 8.1) make sure that each fold has both classes.
    """
    counts = np.bincount(y)
    return min(folds, int(counts.min())) if len(counts) > 1 else 0
