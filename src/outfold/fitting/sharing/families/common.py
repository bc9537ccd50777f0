"""What several families need: checks of parameters, reading of rows and labels, and linear predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..family import Unsuitable, View

T = TypeVar("T")
Floats = NDArray[np.float64]


class LastX(Generic[T]):
    """A function of X that remembers its last answer; X is known by identity, and kept so that it stays the same one."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._last: tuple[Any, T] | None = None

    def __call__(self, X: Any) -> T:
        """The value for this X."""
        last = self._last
        if last is None or last[0] is not X:
            self._last = None  # free the old answer before making the new one
            self._last = last = (X, self._compute(X))
        return last[1]


AskedRows = LastX[Floats]


# -- parameters -------------------------------------------------------------------------------------------


def is_count(value: Any) -> bool:
    """A whole number of at least 1."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def is_seed(value: Any) -> bool:
    """A seed that gives every member the same stream, or None, which is seeded before the fit."""
    return value is None or (isinstance(value, Integral) and not isinstance(value, bool))


def is_positive(value: Any) -> bool:
    """A finite number above 0: a penalty that every member may have."""
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < np.inf


# -- rows and labels --------------------------------------------------------------------------------------


def as_matrix(X: Any) -> NDArray[Any]:
    """X as scikit-learn's linear models read it: float64, or float32 where it was given so; finite."""
    from sklearn.utils import check_array

    if type(X) is np.ndarray and X.ndim == 2 and X.dtype == np.float64 and X.size and np.isfinite(X).all():
        return X  # nothing that the check would find or change
    return np.asarray(check_array(X, dtype=[np.float64, np.float32]))


def training_matrix(X: Any, *, single: bool) -> Floats:
    """The training rows in float64; float32 only where `single` allows to be more exact than the estimator."""
    from scipy.sparse import issparse

    if issparse(X):
        raise Unsuitable("sparse rows")
    matrix = as_matrix(X)
    if matrix.dtype != np.float64 and not single:
        raise Unsuitable("the estimator computes in float32")
    return matrix.astype(np.float64, copy=False)


def numeric_target(y: Any, n: int) -> Floats:
    """One column of finite numbers."""
    target = np.asarray(y)
    if target.shape != (n,) or target.dtype.kind not in "fiub" or not np.isfinite(target).all():
        raise Unsuitable("labels that are not one column of numbers")
    return target.astype(np.float64)


def class_target(y: Any, n: int) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[Any]]:
    """Classes in order, the class code of every row, and the labels themselves."""
    from sklearn.utils.multiclass import type_of_target

    labels = np.asarray(y)
    if labels.shape != (n,):
        raise Unsuitable("labels that are not one column")
    if labels.dtype.kind not in "iubU" and type_of_target(labels) not in ("binary", "multiclass"):
        raise Unsuitable("labels that are not classes")
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise Unsuitable("one class only")
    return classes, codes, labels


def weights_in(fit_params: Mapping[str, Any], n: int) -> Floats | None:
    """The weights of the training rows, or None where there are none."""
    if set(fit_params) - {"sample_weight"}:
        raise Unsuitable("parameters of fit other than sample_weight")
    given = fit_params.get("sample_weight")
    if given is None:
        return None
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (n,) or not np.isfinite(weights).all() or weights.min() < 0 or weights.sum() <= 0:
        raise Unsuitable("weights that are not one number of at least 0 for every row")
    return weights


def is_full_rank(X: Floats) -> bool:
    """Whether no column, apart from those of zeros, is nearly a combination of others."""
    length = np.sqrt((X**2).sum(axis=0))
    unit = X[:, length > 0] / length[length > 0]
    if unit.shape[1] > unit.shape[0]:
        return False
    try:  # positive definite, with all eigenvalues above 1e-10
        np.linalg.cholesky(unit.T @ unit - 1e-10 * np.eye(unit.shape[1]))
    except np.linalg.LinAlgError:
        return False
    return True


# -- linear predictions -----------------------------------------------------------------------------------


def asked_rows() -> AskedRows:
    """Reads the rows that models are asked about as float64, once for all models of a fit."""
    return LastX(lambda X: as_matrix(X).astype(np.float64, copy=False))


class Affine(View):
    """A model whose answer is ``X @ coef + intercept``, computed for each member by itself.

    One product for all members would be faster still, but its last bits would depend on how many there are.
    """

    def __init__(self, member: Any, rows: AskedRows, coef: Floats, intercept: Any, classes: Any = None) -> None:
        super().__init__(member, classes)
        self._rows = rows
        self.coef = coef
        self.intercept = intercept

    def _answer(self, X: Any) -> Floats:
        return np.asarray(self._rows(X) @ self.coef + self.intercept)


class AffineRegressor(Affine):
    """A linear regression."""

    def predict(self, X: Any) -> Floats:
        """The values."""
        return self._answer(X)


class AffineClassifier(Affine):
    """A linear classifier: one score of the second class, or a score of every class."""

    def decision_function(self, X: Any) -> Floats:
        """The scores, (n,) or (n, K)."""
        return self._answer(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest score."""
        return np.asarray(self.classes_.take(largest(self._answer(X))))


def largest(scores: Floats) -> NDArray[np.intp]:
    """The position of the predicted class."""
    return np.asarray((scores > 0) if scores.ndim == 1 else scores.argmax(axis=1), dtype=np.intp)
