"""Transformers that keep a part of what one fit finds: the best features, the first principal components."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..family import Family, Unsuitable

_OUTPUT_CONFIG = "_sklearn_output_config"


def _take_over(member: Any, fitted: Any) -> Any:
    """The member as if it had been fitted itself: what the other has learned, and its own parameters and settings."""
    vars(member).update({**vars(fitted), **vars(member)})
    return member


def _gives_arrays(member: Any) -> bool:
    from sklearn import get_config

    return not hasattr(member, _OUTPUT_CONFIG) and get_config()["transform_output"] == "default"


def _selected(member: Any, X: Any) -> tuple[Any, Any] | None:
    """The fitted selector and X as it transforms it; None where nothing is left, of which scikit-learn warns.

    Without checking X again where that is just taking columns.
    """
    mask = member.get_support()
    if not mask.any():
        return None
    if type(X) is np.ndarray and X.dtype.kind in "fiu" and _gives_arrays(member):
        return member, X[:, mask]
    return member, member.transform(X)


# -- features by score ------------------------------------------------------------------------------------


def _is_deterministic(score_func: Any) -> bool:
    """A score function of scikit-learn whose scores do not depend on chance."""
    from sklearn import feature_selection as fs

    always = (fs.f_classif, fs.f_regression, fs.r_regression, fs.chi2)
    seeded = (fs.mutual_info_classif, fs.mutual_info_regression)
    if not isinstance(score_func, partial):
        return score_func in always
    if score_func.func in always:
        return True
    return score_func.func in seeded and isinstance(score_func.keywords.get("random_state"), Integral)


class _ByScore(Family):
    """Features chosen by one and the same scores."""

    def covers(self, estimator: Any) -> bool:
        """Scores that a second computation would give again."""
        return _is_deterministic(estimator.score_func)

    def fit_transform(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[tuple[Any, Any] | None]:
        """Score once; every member chooses for itself, as scikit-learn does, ties included."""
        if fit_params:
            raise Unsuitable(f"feature scores take no {', '.join(fit_params)}")
        first: Any = None
        out: list[tuple[Any, Any] | None] = []
        for member in members:
            if self._warns(member, X):
                out.append(None)
                continue
            if first is None:
                first = member.fit(X, y)
            else:
                _take_over(member, first)
            out.append(_selected(member, X))
        return out

    def _warns(self, member: Any, X: Any) -> bool:
        return False


class KBest(_ByScore):
    """The k features of the largest scores."""

    estimator = "sklearn.feature_selection.SelectKBest"
    varies = frozenset({"k"})

    def _warns(self, member: Any, X: Any) -> bool:
        # scikit-learn warns of this in fit.
        return not isinstance(member.k, str) and member.k > X.shape[1]


class Percentile(_ByScore):
    """A percentage of the features."""

    estimator = "sklearn.feature_selection.SelectPercentile"
    varies = frozenset({"percentile"})


class Variance(Family):
    """Features whose variance is above a threshold."""

    estimator = "sklearn.feature_selection.VarianceThreshold"
    varies = frozenset({"threshold"})

    def fit_transform(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[tuple[Any, Any] | None]:
        """One computation for thresholds above 0, another for 0, where a range of 0 counts as well."""
        if fit_params:
            raise Unsuitable(f"variances take no {', '.join(fit_params)}")
        first: dict[bool, Any] = {}
        made: dict[int, tuple[Any, Any] | None] = {}
        # The smallest threshold of each kind is fitted: where it leaves nothing, no other does.
        for i in sorted(range(len(members)), key=lambda i: float(members[i].threshold)):
            member = members[i]
            is_zero = member.threshold == 0
            if is_zero not in first:
                first[is_zero] = member.fit(X, y)
            elif (first[is_zero].variances_ > member.threshold).any():
                _take_over(member, first[is_zero])
            else:
                made[i] = None
                continue
            made[i] = _selected(member, X)
        return [made[i] for i in range(len(members))]


# -- principal components ---------------------------------------------------------------------------------


def _solver(member: Any, shape: tuple[int, int]) -> str:
    """What ``svd_solver="auto"`` means for dense data of this shape."""
    if member.svd_solver != "auto":
        return str(member.svd_solver)
    n, p = shape
    if p <= 1000 and n >= 10 * p:
        return "covariance_eigh"
    k = min(n, p) if member.n_components is None else member.n_components
    if max(n, p) <= 500 or k == "mle" or not 1 <= k < 0.8 * min(n, p):
        return "full"
    return "randomized"


def _lacks_noise(solver: str, shape: tuple[int, int]) -> bool:
    """Whether the noise of few components needs eigenvalues beyond the components there can be."""
    return solver == "covariance_eigh" and shape[0] < shape[1]


class _Decomposition:
    """All principal components of X, to give each member its first ones."""

    def __init__(self, member: Any, solver: str, X: Any) -> None:
        from sklearn.base import clone

        self.base = clone(member).set_params(n_components=None, svd_solver=solver)
        self.projected: NDArray[Any] = self.base.fit_transform(X)
        self.by_svd = solver == "full"

    def n_kept(self, wanted: Any) -> int | None:
        """How many components are wanted, or None where it is not ours to say."""
        most = len(self.base.components_)
        if wanted is None:
            return most
        if isinstance(wanted, Integral):
            return int(wanted) if 1 <= int(wanted) <= most else None
        ratio = self.base.explained_variance_ratio_
        if isinstance(wanted, Real) and 0 < float(wanted) < 1 and ratio.dtype == np.float64:
            return int(np.searchsorted(np.cumsum(ratio), float(wanted), side="right")) + 1
        return None

    def give(self, member: Any, k: int, X: Any) -> tuple[Any, Any]:
        """The member with its k components, and X projected on them."""
        base = self.base
        _take_over(member, base)
        member.n_components_ = k
        # Copies in the order they have in memory: a matrix product may round otherwise for another order.
        for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"):
            setattr(member, name, np.array(getattr(base, name)[:k]))
        rest = base.explained_variance_[k:]
        member.noise_variance_ = np.mean(rest) if len(rest) else 0.0
        # Columns of the whole projection are no product of fewer columns, in the last bits; those of U S are.
        return member, np.array(self.projected[:, :k]) if self.by_svd else member.transform(X)


class PrincipalComponents(Family):
    """The first principal components, by the solvers that compute all of them anyway."""

    estimator = "sklearn.decomposition.PCA"
    varies = frozenset({"n_components"})

    def covers(self, estimator: Any) -> bool:
        """Solvers without chance, which leave X as it is, and plain arrays as output."""
        return (
            estimator.svd_solver in ("auto", "full", "covariance_eigh")
            and bool(estimator.copy)
            and _gives_arrays(estimator)
        )

    def fit_transform(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[tuple[Any, Any] | None]:
        """One decomposition for each solver; members whose solver is random, or that cannot be, are left to themselves."""
        from scipy.sparse import issparse

        if fit_params or issparse(X) or not _gives_arrays(members[0]):
            raise Unsuitable("principal components are shared for dense X, without weights, as arrays")
        found: dict[str, _Decomposition] = {}
        out: list[tuple[Any, Any] | None] = []
        for member in members:
            solver = _solver(member, X.shape)
            k = None
            if solver != "randomized" and member.n_components != "mle" and not _lacks_noise(solver, X.shape):
                if solver not in found:
                    found[solver] = _Decomposition(member, solver, X)
                k = found[solver].n_kept(member.n_components)
            out.append(None if k is None else found[solver].give(member, k, X))
        return out


FAMILIES = (KBest(), Percentile(), Variance(), PrincipalComponents())
