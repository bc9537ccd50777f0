"""Support vector machines over everything but the data: the kernel matrix is computed once for all that use it.

libsvm computes the kernel anew in every fit. Given a precomputed one it goes the same way, bit for bit, if the matrix has
the same bits; `_kernels.gram` computes such matrices. Dot products serve every kernel and every gamma.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._kernels import jit
from ..family import Family, Unsuitable, View

_VARIES = frozenset(
    {"C", "kernel", "gamma", "degree", "coef0", "class_weight", "tol", "shrinking", "decision_function_shape", "break_ties"}
)
# Two matrices of this many rows squared are held at a time: 256 MB.
_MOST_ROWS = 4000

Matrix = NDArray[np.float64]


class _Spec(NamedTuple):
    """A kernel function with the parameters it uses; others are 0, so that equal functions are equal."""

    kernel: str
    gamma: float = 0.0
    degree: int = 0
    coef0: float = 0.0


def _spec(member: Any, X: Matrix) -> _Spec:
    if member.kernel == "linear":
        return _Spec("linear")
    gamma = member.gamma
    if gamma == "scale":
        variance = X.var()
        gamma = 1.0 / (X.shape[1] * variance) if variance != 0 else 1.0
    elif gamma == "auto":
        gamma = 1.0 / X.shape[1]
    degree = int(member.degree) if member.kernel == "poly" else 0
    coef0 = 0.0 if member.kernel == "rbf" else float(member.coef0)
    return _Spec(member.kernel, float(gamma), degree, coef0)


def _of_dots(gram: Any, products: Matrix, spec: _Spec) -> Matrix:
    """The kernels that are functions of the dot product alone, in training and in prediction."""
    if spec.kernel == "linear":
        return products
    out = np.empty_like(products)
    if spec.kernel == "poly":
        gram.poly_of_dots(products, spec.gamma, spec.coef0, spec.degree, out)
    else:
        gram.sigmoid_of_dots(products, spec.gamma, spec.coef0, out)
    return out


class _Kernels:
    """Kernel matrices between the training rows, and between the last X asked about and them."""

    def __init__(self, gram: Any, X: Matrix) -> None:
        self.X = X
        self._gram = gram
        self._dots: Matrix | None = np.empty((len(X), len(X)))
        gram.dots(X, self._dots)
        self._given: Any = None
        self._rows: Matrix = X
        self._parts: dict[str, Matrix] = {}
        self._asked: dict[_Spec, Matrix] = {}

    def train(self, spec: _Spec) -> Matrix:
        """Between the training rows."""
        assert self._dots is not None
        if spec.kernel != "rbf":
            return _of_dots(self._gram, self._dots, spec)
        out = np.empty_like(self._dots)
        self._gram.rbf_of_dots(self._dots, spec.gamma, out)
        return out

    def trained(self) -> None:
        """Let go of what only training needs."""
        self._dots = None

    def test(self, X: Any, spec: _Spec) -> Matrix:
        """Between the rows of X and the training rows."""
        if self._given is not X:
            self._rows = _as_read(X)
            if self._rows.shape[1] != self.X.shape[1]:
                raise ValueError(f"X has {self._rows.shape[1]} features, but {self.X.shape[1]} were fitted.")
            self._given, self._parts, self._asked = X, {}, {}
        if spec not in self._asked:
            self._asked[spec] = self._kernel(spec)
        return self._asked[spec]

    def _kernel(self, spec: _Spec) -> Matrix:
        if spec.kernel != "rbf":
            return _of_dots(self._gram, self._part("cross_dots"), spec)
        squares = self._part("cross_squares")
        out = np.empty_like(squares)
        self._gram.rbf_of_squares(squares, spec.gamma, out)
        return out

    def _part(self, name: str) -> Matrix:
        if name not in self._parts:
            self._parts[name] = np.empty((len(self._rows), len(self.X)))
            getattr(self._gram, name)(self._rows, self.X, self._parts[name])
        return self._parts[name]


def _as_read(X: Any) -> Matrix:
    """As libsvm reads it; always a copy, which compiled code may be given as writable."""
    from sklearn.utils import check_array

    return np.array(check_array(X, dtype=np.float64, order="C"), order="C")


class _RegressionView(View):
    def __init__(self, stands_for: Any, fitted: Any, kernels: _Kernels, spec: _Spec) -> None:
        super().__init__(stands_for, getattr(fitted, "classes_", None))
        self._fitted, self._kernels, self._spec = fitted, kernels, spec

    def _ask(self, method: str, X: Any) -> NDArray[Any]:
        from sklearn import config_context

        with config_context(assume_finite=True):
            return getattr(self._fitted, method)(self._kernels.test(X, self._spec))  # type: ignore[no-any-return]

    def predict(self, X: Any) -> NDArray[Any]:
        return self._ask("predict", X)


class _ClassView(_RegressionView):
    def decision_function(self, X: Any) -> NDArray[Any]:
        return self._ask("decision_function", X)


class _Machines(Family):
    """One kernel matrix for all members that use it, one set of dot products for all matrices."""

    varies = _VARIES

    def covers(self, estimator: Any) -> bool:
        """The kernels that libsvm itself computes, without its random probabilities."""
        return (
            estimator.kernel in ("linear", "poly", "rbf", "sigmoid")
            and getattr(estimator, "probability", False) in (False, "deprecated")
            and not estimator.verbose
            and (getattr(estimator, "random_state", None) is None or isinstance(estimator.random_state, Integral))
            and jit.may_compile()
        )

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """Fit the members on precomputed kernels."""
        if not _agrees():
            raise Unsuitable("kernels compiled here do not have the bits of scikit-learn's own")
        return _fit(members, X, y, fit_params)


def _fit(members: Sequence[Any], X: Any, y: Any, fit_params: dict[str, Any]) -> list[Any]:
    from scipy.sparse import issparse
    from sklearn import config_context

    if issparse(X) or len(y) > _MOST_ROWS:
        raise Unsuitable(f"kernels are shared for dense X of up to {_MOST_ROWS} rows")
    weight = fit_params.get("sample_weight")
    # libsvm leaves such rows out, and then counts its support vectors in the rest.
    if set(fit_params) - {"sample_weight"} or (weight is not None and not (np.asarray(weight) > 0).all()):
        raise Unsuitable("kernels are shared for positive sample_weight, and no other fit parameters")
    rows = _as_read(X)
    kernels = _Kernels(jit.gram(), rows)
    by_spec: dict[_Spec, list[int]] = {}
    for i, member in enumerate(members):
        by_spec.setdefault(_spec(member, rows), []).append(i)
    views: list[Any] = [None] * len(members)
    for spec, which in by_spec.items():
        matrix = kernels.train(spec)
        for i in which:
            # A machine's own parameters, as a stand-in that reads kernels where the member would read rows.
            fitted = type(members[i])(**{**members[i].get_params(deep=False), "kernel": "precomputed"})
            with config_context(assume_finite=True):
                fitted.fit(matrix, y, **fit_params)
            kind = _ClassView if hasattr(fitted, "classes_") else _RegressionView
            views[i] = kind(members[i], fitted, kernels, spec)
    kernels.trained()
    return views


@cache
def _agrees() -> bool:
    """Whether the promise holds here: other mathematical libraries or processors might round otherwise."""
    from sklearn.svm import SVC

    if jit.gram() is None:
        return False
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 7))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=60) > 0).astype(int)
    members = [SVC(kernel=kernel, coef0=0.3, C=2.0) for kernel in ("linear", "poly", "rbf", "sigmoid")]
    views = _fit(members, X, y, {})
    more = rng.normal(size=(40, 7))
    return all(
        np.array_equal(view.decision_function(more), member.fit(X, y).decision_function(more))
        for view, member in zip(views, members, strict=True)
    )


class Classification(_Machines):
    """Bit for bit as separate fits."""

    estimator = "sklearn.svm.SVC"


class Regression(_Machines):
    """Bit for bit as separate fits."""

    estimator = "sklearn.svm.SVR"
    varies = _VARIES - {"class_weight", "decision_function_shape", "break_ties"} | {"epsilon"}


FAMILIES = (Classification(), Regression())
