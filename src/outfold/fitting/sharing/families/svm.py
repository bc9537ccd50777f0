"""Support vector machines over everything but the data: the kernel matrix is computed once for all that use it.

libsvm computes the kernel anew in every fit. Given a precomputed one it goes the same way, bit for bit, if the matrix has
the same bits; `_kernels.gram` computes such matrices. Dot products serve every kernel and every gamma. Rows and labels are
checked once, and libsvm is called as scikit-learn calls it: for some hundred rows the checks cost more than the fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....stats import gram
from ....stats.gram import Matrix
from ..cache import LastX
from ..family import Family, Unsuitable, View

_VARIES = frozenset(
    {
        "C",
        "kernel",
        "gamma",
        "degree",
        "coef0",
        "class_weight",
        "tol",
        "shrinking",
        "decision_function_shape",
        "break_ties",
    }
)
# Four matrices of this many rows squared are held at a time: 200 MB.
_MOST_ROWS = 2500
# The kinds of machine, by libsvm's numbers.
_C_SVC, _EPSILON_SVR = 0, 3


class _Spec(NamedTuple):
    """A kernel function with the parameters it uses; others are 0, so that equal functions are equal."""

    kernel: str
    gamma: float = 0.0
    degree: int = 0
    coef0: float = 0.0

    def of_dots(self, products: Matrix) -> Matrix:
        """The kernels that are functions of the dot product alone, in training and in prediction."""
        if self.kernel == "poly":
            return gram.polynomial(products, self.gamma, self.coef0, self.degree)
        if self.kernel == "sigmoid":
            return gram.sigmoid(products, self.gamma, self.coef0)
        return products


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


class _Kernels:
    """Kernel matrices between the training rows, and between other rows and them."""

    def __init__(self, X: Matrix) -> None:
        self.X = X
        with _silence():
            self._dots: Matrix | None = gram.dots(X)
        self._squares: Matrix | None = None
        self.against = LastX(lambda rows: _Against(_as_read(rows), X))

    def train(self, spec: _Spec) -> Matrix:
        """Between the training rows."""
        assert self._dots is not None
        with _silence():
            if spec.kernel != "rbf":
                return spec.of_dots(self._dots)
            if self._squares is None:
                self._squares = gram.squares_of_dots(self._dots)
            return gram.rbf(self._squares, spec.gamma)

    def trained(self) -> None:
        """Let go of what only training needs."""
        self._dots = self._squares = None


class _Against:
    """Kernel matrices between rows to predict and the training rows."""

    def __init__(self, rows: Matrix, X: Matrix) -> None:
        if rows.shape[1] != X.shape[1]:
            raise ValueError(f"X has {rows.shape[1]} features, but {X.shape[1]} were fitted.")
        self.rows, self.X = rows, X
        self._made: dict[_Spec, Matrix] = {}

    def kernel(self, spec: _Spec) -> Matrix:
        """By this kernel function; members of one function share it."""
        if spec not in self._made:
            with _silence():
                by_squares = spec.kernel == "rbf"
                self._made[spec] = gram.rbf(self._squares, spec.gamma) if by_squares else spec.of_dots(self._dots)
        return self._made[spec]

    @cached_property
    def _dots(self) -> Matrix:
        return gram.cross_dots(self.rows, self.X)

    @cached_property
    def _squares(self) -> Matrix:
        return gram.cross_squares(self.rows, self.X)


def _silence() -> Any:
    """As libsvm, which says nothing where a number becomes too large."""
    return np.errstate(over="ignore", invalid="ignore")


def _as_read(X: Any) -> Matrix:
    """As libsvm reads it."""
    from sklearn.utils import check_array

    return check_array(X, dtype=np.float64, order="C")  # type: ignore[no-any-return]


# -- one machine ------------------------------------------------------------------------------------------


class _Task(NamedTuple):
    """What all members learn from: the labels as libsvm takes them, and the weights."""

    y: NDArray[np.float64]
    labels: NDArray[Any]
    classes: NDArray[Any] | None
    weight: NDArray[np.float64]

    def class_weight(self, member: Any) -> NDArray[np.float64]:
        """The member's weight of every class."""
        from sklearn.utils.class_weight import compute_class_weight

        if self.classes is None:
            return np.empty(0)
        if member.class_weight is None:
            return np.ones(len(self.classes))
        return np.asarray(compute_class_weight(member.class_weight, classes=self.classes, y=self.labels))


def _task(y: NDArray[Any], weight: Any, classifies: bool) -> _Task:
    from sklearn.utils.multiclass import check_classification_targets

    weight = np.empty(0) if weight is None else np.asarray(weight, dtype=np.float64)
    # libsvm leaves rows of no weight out, and then counts its support vectors in the rest.
    if weight.ndim != 1 or len(weight) not in (0, len(y)) or not (weight > 0).all():
        raise Unsuitable("kernels are shared for one positive sample_weight a row")
    if not classifies:
        return _Task(y.astype(np.float64), y, None, weight)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise Unsuitable("a machine needs two classes")
    return _Task(codes.astype(np.float64), y, classes, weight)


class _Machine(NamedTuple):
    """What libsvm has learned, in the order in which it wants it back."""

    support: Any
    vectors: Any
    n_support: Any
    coefficients: Any
    intercept: Any
    a: Any
    b: Any

    @classmethod
    def train(cls, member: Any, task: _Task, matrix: Matrix) -> tuple[_Machine, bool]:
        """Fit on a kernel matrix, and say whether that was stopped before its end."""
        from sklearn.svm import _libsvm

        learned = _libsvm.fit(
            matrix,
            task.y,
            svm_type=_EPSILON_SVR if task.classes is None else _C_SVC,
            sample_weight=task.weight,
            class_weight=task.class_weight(member),
            kernel="precomputed",
            C=member.C,
            shrinking=member.shrinking,
            tol=member.tol,
            cache_size=member.cache_size,
            epsilon=getattr(member, "epsilon", 0.0),
            max_iter=member.max_iter,
        )
        out = cls(*learned[:7])
        if not (np.isfinite(out.coefficients).all() and np.isfinite(out.intercept).all()):
            raise ValueError("the machine's coefficients are not finite")
        return out, bool(learned[7])


class _RegressionView(View):
    """A machine that is given kernels where its member would be given rows."""

    _svm_type = _EPSILON_SVR

    def __init__(self, member: Any, machine: _Machine, kernels: _Kernels, spec: _Spec, task: _Task) -> None:
        super().__init__(member, task.classes)
        self._machine, self._kernels, self._spec = machine, kernels, spec

    def _ask(self, function: str, X: Any) -> NDArray[Any]:
        from sklearn.svm import _libsvm

        matrix = self._kernels.against(X).kernel(self._spec)
        made = getattr(_libsvm, function)(matrix, *self._machine, svm_type=self._svm_type, kernel="precomputed")
        return np.asarray(made)

    def predict(self, X: Any) -> NDArray[Any]:
        return self._ask("predict", X)


class _ClassView(_RegressionView):
    _svm_type = _C_SVC

    def decision_function(self, X: Any) -> NDArray[Any]:
        from sklearn.utils.multiclass import _ovr_decision_function

        pairs = self._ask("decision_function", X)
        if len(self.classes_) == 2:
            return -pairs.ravel()
        if self.member.decision_function_shape == "ovr":
            return _ovr_decision_function(pairs < 0, -pairs, len(self.classes_))  # type: ignore[no-any-return]
        return pairs

    def predict(self, X: Any) -> NDArray[Any]:
        if self.member.break_ties and len(self.classes_) > 2:
            code = self.decision_function(X).argmax(axis=1)
        else:
            code = self._ask("predict", X)
        return self.classes_.take(code.astype(np.intp))  # type: ignore[no-any-return]


# -- the families -----------------------------------------------------------------------------------------


class _Machines(Family):
    """One kernel matrix for all members that use it, one set of dot products for all matrices."""

    varies = _VARIES

    def covers(self, estimator: Any) -> bool:
        """The kernels that libsvm itself computes, without its random probabilities."""
        return (
            estimator.kernel in ("linear", "poly", "rbf", "sigmoid")
            and (
                estimator.gamma in ("scale", "auto")
                or (isinstance(estimator.gamma, Real) and float(estimator.gamma) >= 0)
            )
            and isinstance(estimator.degree, Integral)
            and int(estimator.degree) >= 0
            and isinstance(estimator.max_iter, Integral)
            and not estimator.verbose
            and getattr(estimator, "probability", False) in (False, "deprecated")
            and getattr(estimator, "decision_function_shape", "ovr") in ("ovr", "ovo")
            and not (getattr(estimator, "break_ties", False) and estimator.decision_function_shape == "ovo")
        )

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """Fit the members on precomputed kernels."""
        if not _agrees():
            raise Unsuitable("kernels computed here do not have the bits of scikit-learn's own")
        return _fit(members, X, y, **fit_params)


def _fit(members: Sequence[Any], X: Any, y: Any, sample_weight: Any = None) -> list[Any]:
    from scipy.sparse import issparse
    from sklearn.base import is_classifier
    from sklearn.svm import _libsvm
    from sklearn.utils import check_X_y

    if issparse(X) or len(y) > _MOST_ROWS:
        raise Unsuitable(f"kernels are shared for dense X of up to {_MOST_ROWS} rows")
    rows, labels = check_X_y(X, y, dtype=np.float64, order="C")
    if not gram.has_the_bits(rows):
        raise Unsuitable("dot products of these rows do not have the bits of scikit-learn's own")
    classifies = is_classifier(members[0])
    task = _task(labels, sample_weight, classifies)
    kernels = _Kernels(rows)
    by_spec: dict[_Spec, list[int]] = {}
    for i, member in enumerate(members):
        by_spec.setdefault(_spec(member, rows), []).append(i)
    views: list[Any] = [None] * len(members)
    _libsvm.set_verbosity_wrap(0)  # for the whole process, and it may have been another's
    kind = _ClassView if classifies else _RegressionView
    for spec, which in by_spec.items():
        matrix = kernels.train(spec)
        for i in which:
            machine, stopped = _Machine.train(members[i], task, matrix)
            views[i] = kind(members[i], machine, kernels, spec, task)
            views[i].warned = ("ConvergenceWarning",) if stopped else ()
    kernels.trained()
    return views


@cache
def _agrees() -> bool:
    """Whether the promise holds here: another scikit-learn, BLAS or processor might round or call otherwise."""
    from sklearn.svm import SVC, SVR

    rng = np.random.default_rng(0)
    X, more = rng.normal(size=(60, 7)), rng.normal(size=(40, 7))
    value = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=60)
    weight = rng.uniform(0.5, 2, size=60)
    common = {"coef0": 0.3, "C": 2.0}
    kernels = ("linear", "poly", "rbf", "sigmoid")
    try:
        return all(
            _same_answers([SVC(kernel=k, class_weight="balanced", **common) for k in kernels], X, y, more, weight)
            for y in (value > 0, np.digitize(value, (-0.5, 0.5)))
        ) and _same_answers([SVR(kernel=k, **common) for k in kernels], X, value, more, weight)
    except (ImportError, AttributeError, TypeError, ValueError):  # what is called has changed
        return False


def _same_answers(members: Sequence[Any], X: Matrix, y: NDArray[Any], more: Matrix, weight: Matrix) -> bool:
    for view, member in zip(_fit(members, X, y, weight), members, strict=True):
        member.fit(X, y, sample_weight=weight)
        if not np.array_equal(view.predict(more), member.predict(more)):
            return False
        scores = getattr(member, "decision_function", None)
        if scores is not None and not np.array_equal(view.decision_function(more), scores(more)):
            return False
    return True


class Classification(_Machines):
    """Bit for bit as separate fits."""

    estimator = "sklearn.svm.SVC"


class Regression(_Machines):
    """Bit for bit as separate fits."""

    estimator = "sklearn.svm.SVR"
    varies = _VARIES - {"class_weight", "decision_function_shape", "break_ties"} | {"epsilon"}


FAMILIES = (Classification(), Regression())
