"""The samples: rows of whatever table the user gave, and hashes that tell data sets apart."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.target import missing_values
from ..exceptions import invalid

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Samples:
    """What estimators are fitted on: features, labels as the user gave them, and the arguments of fit."""

    X: Any
    y: Any  # None where there are no labels
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    score_params: Mapping[str, Any] | None = None  # of the scorers of fitted models; None if there are no scorers
    pairwise: bool = False  # X holds kernels or distances between samples: the columns are samples too

    @property
    def n(self) -> int:
        """Number of samples."""
        return n_rows(self.X)

    def rows_of(self, train: Rows, tests: tuple[Rows, ...], private: bool = False, at_once: bool = False) -> FitRows:
        """The rows of one fit; read-only unless `private`, because fits of several configurations share them.

        The test parts are predicted one by one, or all `at_once`.
        """
        first = tests[0]
        cuts = np.cumsum([len(rows) for rows in tests[:-1]]) if at_once else None
        tests = (np.concatenate(tests),) if at_once else tests
        predicted = tuple(self._features(rows, train) for rows in tests)
        y = None if self.y is None else take(self.y, train)
        rows = FitRows(self._features(train, train), y, predicted, self._cut(self.fit_params, train), cuts)
        if self.score_params is not None:
            scored = predicted[0] if cuts is None else self._features(first, train)
            rows = rows._replace(scored=self._scored(scored, first), trained=self._scored(rows.X, train))
        if not private:
            for values in (rows.X, rows.y, *rows.tests, *rows.fit_params.values()):
                lock(values)
        return rows

    def _features(self, rows: Rows, train: Rows) -> Any:
        return take(self.X, rows) if not self.pairwise else np.asarray(self.X)[np.ix_(rows, train)]

    def _cut(self, params: Mapping[str, Any], rows: Rows) -> dict[str, Any]:
        """Arguments of a fit or a scorer, those with one entry per sample cut to these rows."""
        return {name: take(value, rows) if has_rows(value, self.n) else value for name, value in params.items()}

    def _scored(self, X: Any, rows: Rows) -> ScoredRows:
        y = None if self.y is None else take(self.y, rows)
        return ScoredRows(X, y, self._cut(self.score_params or {}, rows))


class ScoredRows(NamedTuple):
    """Rows that a fitted model is scored on: X, y (None where there is none), and the arguments of the scorers."""

    X: Any
    y: Any
    params: Mapping[str, Any]

    def copied(self) -> ScoredRows:
        """The same rows for one model: a scorer may write into them, as it may into those that GridSearchCV gives it."""
        return ScoredRows(_copy(self.X), _copy(self.y), {name: _copy(value) for name, value in self.params.items()})


class FitRows(NamedTuple):
    """The training rows of one fit and the rows it predicts; `cuts` says where to cut one prediction into several."""

    X: Any
    y: Any
    tests: tuple[Any, ...]
    fit_params: dict[str, Any]
    cuts: NDArray[np.intp] | None = None
    scored: ScoredRows | None = None  # the rows left out, with what scorers of fitted models need
    trained: ScoredRows | None = None  # the same of the training rows

    def fit(self, model: Any, trusted: bool) -> None:
        """Fit the model on the training rows."""
        given = (borrow(self.X, trusted),) if self.y is None else (borrow(self.X, trusted), self.y)
        model.fit(*given, **self.fit_params)

    def cut(self, predicted: tuple[Any, ...]) -> tuple[Any, ...]:
        """The predictions for these rows, one item for each test part that was asked for."""
        return predicted if self.cuts is None else tuple(predicted[0].cut(self.cuts))


def as_features(X: Any, n: int) -> Any:
    """Features in a form whose rows can be taken fast, one row for each of `n` labels."""
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        X = X if X.has_sorted_indices else X.sorted_indices()
    elif isinstance(X, list):  # as scikit-learn's searches do, it stays a list
        if len(X) != n:
            raise invalid("X", "and `y` must have the same length", f"`X` has {len(X)} rows, `y` has {n} labels")
        return X
    elif not hasattr(X, "shape"):
        if hasattr(X, "collect_schema"):  # polars computes it only when asked
            raise invalid("X", "must hold its rows", f"got a {type(X).__name__}", "Give `X.collect()`.")
        try:
            X = np.asarray(X)
        except ValueError:
            raise invalid("X", "must be a table with rows of equal length", "these rows differ in length") from None
    if X.shape == () or X.shape[0] != n:
        rows = X.shape[0] if X.shape else "no"
        raise invalid("X", "and `y` must have the same length", f"`X` has {rows} rows, `y` has {n} labels")
    return X


def as_given(y: Any, column: bool = True) -> Any:
    """Labels for the estimators: in the container that the user gave, as scikit-learn's searches do, or in an array.

    `column` keeps a single column as a column, for some regressors need one; classifiers warn of it.
    """
    if isinstance(y, list) or (hasattr(y, "iloc") and getattr(y, "ndim", 0) == 1):
        return y
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if hasattr(y, "tocsr") or len(shape) < 2 or (shape[1] == 1 and not column):
        return as_labels(y)
    return y if is_frame(y) else np.asarray(y)


def as_labels(y: Any) -> Any:
    """Labels as the user gave them, in an array that estimators accept; several columns may be a sparse matrix."""
    if hasattr(y, "tocsr"):
        labels = y.tocsr()
        return labels if labels.has_sorted_indices else labels.sorted_indices()
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.dtype.kind == "O":
        plain = np.array(labels.tolist())
        labels = plain if plain.ndim == 1 and plain.dtype.kind in "biuf" else labels
    return labels


def refuse_masked(**given: Any) -> None:
    """Refuse masked arrays with masked entries: estimators would take what is under the mask for a value."""
    for name, values in given.items():
        if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
            n_masked = int(np.ma.getmaskarray(values).sum())
            needed = f"is a masked array with {n_masked} masked entries, which cannot be used"
            remedy = f"Leave out these samples, or fill the entries with `{name}.filled(...)`."
            raise invalid(name, needed, remedy=remedy)


def as_groups(given: Any) -> NDArray[Any] | None:
    """Groups as an array; every sample needs one."""
    if given is None:
        return None
    groups = np.array(given)
    missing = np.isnat(groups) if groups.dtype.kind in "mM" else missing_values(groups)
    if missing.any():
        needed = f"has {int(missing.sum())} missing entries, the first at row {int(np.argmax(missing))}"
        remedy = "Every sample needs a group; give those without one a group of their own."
        raise invalid("groups", needed, remedy=remedy)
    return groups


def take(values: Any, rows: Rows) -> Any:
    """Rows of an array, a sparse matrix, a frame, a series or a list, as a copy."""
    if isinstance(values, np.memmap):  # rows of a memory map are in memory, so they become a plain array
        values = np.asarray(values)
    if isinstance(values, np.ndarray) or hasattr(values, "tocsr"):
        return values[rows]
    from sklearn.utils import _safe_indexing

    return _safe_indexing(values, rows)


def borrow(values: Any, trusted: bool) -> Any:
    """A frame that a fit may change without the next fit seeing it; anything else as it is.

    Frames cannot be locked as arrays can, so estimators that are not `trusted` get a copy. Before pandas 3 all do: there a
    frame shares memory with the arrays made of it.
    """
    if hasattr(values, "iloc") and hasattr(values, "copy"):
        return values.copy(deep=not (trusted and frames_are_safe()))
    return values.clone() if hasattr(values, "clone") else values


def _copy(values: Any) -> Any:
    """Rows that can be written into; lists are new lists of the same items."""
    if hasattr(values, "copy"):
        return values.copy()
    return values.clone() if hasattr(values, "clone") else values


@lru_cache(maxsize=1)
def frames_are_safe() -> bool:
    """Whether arrays made of a pandas frame cannot be used to write into it."""
    import pandas as pd

    return int(pd.__version__.partition(".")[0]) >= 3


def has_rows(values: Any, n: int) -> bool:
    """Whether a fit argument holds one entry for each sample, and so has to be split."""
    if isinstance(values, (str, bytes, Mapping)):
        return False
    shape = getattr(values, "shape", None)
    if shape is not None:
        return len(shape) > 0 and shape[0] == n
    return hasattr(values, "__len__") and hasattr(values, "__getitem__") and len(values) == n


def lock(values: Any) -> None:
    """Make an array or a sparse matrix that several fits share read-only."""
    if isinstance(values, np.ndarray):
        values.setflags(write=False)
    elif hasattr(values, "tocsr"):
        for name in ("data", "indices", "indptr", "row", "col"):
            if isinstance(getattr(values, name, None), np.ndarray):
                getattr(values, name).setflags(write=False)


def n_rows(values: Any) -> int:
    """Number of rows, of whatever a transformer gives."""
    shape = getattr(values, "shape", None)
    return int(shape[0]) if shape is not None else len(values)


def n_bytes(values: Any) -> int:
    """Memory of the values in bytes, 0 where it is not known."""
    if isinstance(values, np.ndarray):
        return values.nbytes
    if hasattr(values, "tocsr"):
        return sum(getattr(values, name).nbytes for name in ("data", "indices", "indptr") if hasattr(values, name))
    if hasattr(values, "memory_usage"):
        return int(values.memory_usage(index=False).sum())
    return int(values.estimated_size()) if hasattr(values, "estimated_size") else 0


def digest(values: Any) -> str:
    """Hash of an array, a sparse matrix or a frame; of any other value, the hash of its text."""
    h = hashlib.blake2b(digest_size=16)
    values = as_table(values)
    if isinstance(values, np.ndarray):
        _feed_array(h, values)
    elif hasattr(values, "tocsr"):
        h.update(f"sparse {values.shape}".encode())
        for array in (values.data, values.indices, values.indptr):
            _feed_array(h, array)
    elif is_frame(values):
        pandas = hasattr(values, "iloc")
        columns = (values.iloc[:, i] for i in range(values.shape[1])) if pandas else values.iter_columns()
        for name, column in zip(values.columns, columns, strict=True):
            h.update(f"column {name!r}".encode())
            _feed_column(h, column)
    elif hasattr(values, "to_numpy"):
        _feed_column(h, values)
    else:
        text, kind = repr(values), type(values)
        h.update((text if " at 0x" not in text else f"<{kind.__module__}.{kind.__qualname__}>").encode())
    return h.hexdigest()


def as_table(values: Any) -> Any:
    """A list of rows as an array, if all rows have the same length; anything else as it is."""
    try:
        return np.asarray(values) if isinstance(values, list) else values
    except ValueError:
        return values


def is_frame(values: Any) -> bool:
    """Whether values are a pandas or polars frame; ``columns`` alone do not prove it, a selector may have that parameter."""
    return hasattr(values, "columns") and (hasattr(values, "iloc") or hasattr(values, "iter_columns"))


def row_names(X: Any) -> NDArray[Any] | None:
    """The index of a pandas frame as names of the samples; None if it only counts the rows, or does not tell them apart."""
    index = getattr(X, "index", None) if is_frame(X) else None
    if index is None or getattr(index, "nlevels", 2) > 1 or not index.is_unique or index.hasnans:
        return None
    names = np.asarray(index) if index.dtype.kind in "iu" else np.asarray(index.astype(str), dtype=str)
    return None if names.dtype.kind in "iu" and np.array_equal(names, np.arange(len(names))) else names


def _feed_column(h: Any, column: Any) -> None:
    h.update(str(column.dtype).encode())
    _feed_array(h, np.asarray(column.to_numpy()))


def _feed_array(h: Any, array: NDArray[Any]) -> None:
    h.update(f"{array.dtype} {array.shape}".encode())
    if array.dtype.hasobject:
        h.update("\x1f".join(map(repr, array.ravel().tolist())).encode())
    elif array.size:
        h.update(np.ascontiguousarray(array).view(np.uint8).data if array.ndim else array.tobytes())
