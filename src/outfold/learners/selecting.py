"""What the selectors of features have in common, and a step that selects whole columns of a table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from ..arguments import check_alpha, check_choice
from ..exceptions import invalid
from . import mixed
from .frames import frame_columns
from .mixed import CategoricalFeatures, Category, Codes, Column, Floats, read_training

SelectionTask = Literal["auto", "classification", "regression"]
# Numbers with more different values are no classes, unless the user says so.
MOST_CLASSES = 20

TEXTS = {
    **mixed.TEXTS,
    "task": """task : {"auto", "classification", "regression"}
    ``auto`` takes numbers with more than 20 different values for a regression.""",
}


class Selector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """A selector that needs labels, and keeps the positions of its features in ``selected_``.

    A data frame with categories stays a data frame, with the columns that are kept.
    """

    alpha: float
    task: SelectionTask
    categorical_features: CategoricalFeatures
    selected_: Codes
    is_categorical_: NDArray[np.bool_]

    def fit(self, X: Any, y: Any) -> Self:
        """Select features."""
        self._check()
        columns, y = read_training(self, X, y, least_rows=2)
        self._select(columns, y)
        return self

    def fit_columns(self, columns: Sequence[Column], y: NDArray[Any]) -> Self:
        """Select among columns that were read already; then only ``selected_`` and what goes with it can be asked."""
        self._check()
        self._select(columns, np.asarray(y))
        return self

    def transform(self, X: Any) -> Any:
        """Keep the selected features."""
        check_is_fitted(self)
        if not self.is_categorical_.any():
            return super().transform(X)
        frame_columns(self, X, reset=False)  # checks their names and number
        kept = self.get_support(indices=True)
        frame = mixed.as_frame(X)
        return np.asarray(X)[:, kept] if frame is None else frame.select([frame.columns[j] for j in kept]).to_native()

    @abstractmethod
    def _select(self, columns: Sequence[Column], y: NDArray[Any]) -> None:
        """Set ``selected_``."""

    def _check(self) -> None:
        check_alpha(self.alpha)
        check_choice(self.task, get_args(SelectionTask), "task")

    def _classes(self, y: NDArray[Any]) -> Codes | None:
        """The classes as 0, 1, ...; None if the target is a number."""
        labels, codes = np.unique(y, return_inverse=True)
        many = y.dtype.kind in "iuf" and len(labels) > MOST_CLASSES
        if self.task == "regression" or (self.task == "auto" and many):
            return None
        if len(labels) < 2:
            given = f"these samples are all of class {labels[0]!s}"
            raise invalid(type(self).__name__, "needs at least two classes", given)
        return codes

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        return tags


class SelectColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Bring the columns of a table to numbers, and keep those that a selector finds.

    One-hot columns of a category are tested as one feature, and are kept or left out together.

    Parameters
    ----------
    columns : ColumnTransformer
        Makes numbers of the columns; its part ``categories`` is a `OneHotEncoder`.
    selector : Selector
        What selects.
    """

    def __init__(self, columns: Any, selector: Selector) -> None:
        self.columns = columns
        self.selector = selector

    def fit(self, X: Any, y: Any) -> SelectColumns:
        """Learn the columns, and select."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Learn the columns, select, and give the numbers of the columns that are kept."""
        self.columns_ = clone(self.columns)
        Z = self.columns_.fit_transform(X, y)
        self.n_features_in_ = self.columns_.n_features_in_
        if hasattr(self.columns_, "feature_names_in_"):
            self.feature_names_in_ = self.columns_.feature_names_in_
        blocks = list(self._blocks(Z.shape[1]))
        features = [Z[:, b.start] if b.stop - b.start == 1 else _as_category(Z[:, b]) for b in blocks]
        self.selector_ = clone(self.selector).fit_columns(features, y)
        kept = np.sort(self.selector_.selected_)
        self.kept_ = np.concatenate([np.arange(blocks[j].start, blocks[j].stop) for j in kept])
        return np.asarray(Z[:, self.kept_])

    def transform(self, X: Any) -> Floats:
        """The numbers of the columns that are kept."""
        check_is_fitted(self)
        return np.asarray(self.columns_.transform(X)[:, self.kept_])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the numbers that are kept."""
        check_is_fitted(self)
        return np.asarray(self.columns_.get_feature_names_out(input_features)[self.kept_])

    def _blocks(self, n: int) -> Iterator[slice]:
        """Where each feature is among the numbers: the levels of a category together, anything else by itself."""
        one_hot = self.columns_.output_indices_.get("categories", slice(0, 0))
        at = 0
        while at < n:
            if at == one_hot.start and one_hot.stop > at:
                for width in _widths(self.columns_.named_transformers_["categories"]):
                    yield slice(at, at + width)
                    at += width
            else:
                yield slice(at, at + 1)
                at += 1


def _widths(encoder: Any) -> list[int]:
    """How many columns each category became."""
    rare = getattr(encoder, "infrequent_categories_", None) or [None] * len(encoder.categories_)
    return [
        len(levels) if few is None else len(levels) - len(few) + 1
        for levels, few in zip(encoder.categories_, rare, strict=True)
    ]


def _as_category(one_hot: Floats) -> Category:
    return Category(one_hot.argmax(axis=1).astype(np.float64), np.ones(len(one_hot), dtype=bool))
