"""A model that was saved by ``outfold run``, ready to predict new rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .about import ModelAbout

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class FrameCheck:
    """How a table of new rows compares with the table that the model was trained on.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    missing, unexpected : tuple of str
        Features that the table lacks, and columns that the model does not use.
    wrong : mapping
        Features with values of another type, and what is wrong.
    unseen : mapping
        For each category that has levels that no training row had: how many rows have each.
    outside : mapping
        For each number or date: how many rows lie outside the range of the training rows.
    n_outside : int
        Number of rows that lie outside in at least one feature.
    """

    n_rows: int
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    wrong: Mapping[str, str]
    unseen: Mapping[str, Mapping[str, int]]
    outside: Mapping[str, int]
    n_outside: int

    @property
    def ok(self) -> bool:
        """Whether the model can predict these rows."""
        return not (self.missing or self.wrong)


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A fitted model with what is known of it: `load_model` gives one."""

    estimator: Any
    about: ModelAbout

    def check(self, frame: pd.DataFrame) -> FrameCheck:
        """Compare a table with the one that the model was trained on."""
        raise NotImplementedError

    def predict(self, frame: pd.DataFrame) -> NDArray[Any]:
        """Labels or values of the rows."""
        raise NotImplementedError

    def predict_proba(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """(rows, classes) probabilities, in the order of ``about.classes``."""
        raise NotImplementedError

    def table(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A row for each row: the label or value, the probability of each class, and what lies outside the training range."""
        raise NotImplementedError

    def describe(self) -> str:
        """The model in a few sentences."""
        raise NotImplementedError


def load_model(folder: str | Path, trust: Sequence[str] = ()) -> Model:
    """The model in a folder that ``outfold run`` wrote."""
    raise NotImplementedError
