"""Proof that a family keeps its promise: its members predict what separate fits predict, whoever their fellows are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .family import Family
from .registry import public_names

# The largest difference at the level "exact", relative to the largest value where that is above 1.
_EXACT = 1e-8
_METHODS = ("decision_function", "predict_proba", "predict", "transform")


def check_family(
    family: Family,
    members: Sequence[Any],
    X: Any,
    y: Any,
    *,
    X_test: Any = None,
    sample_weight: Any = None,
    tolerance: float | None = None,
    differing: float = 0.0,
) -> None:
    """Fit the members separately and by the family, and compare what they predict or transform.

    Parameters
    ----------
    family : Family
        The family.
    members : sequence of estimators
        Estimators that the family covers, not fitted. Where `random_state` is None, all get the same seed.
    X, y : array-like
        Training rows and labels.
    X_test : array-like, optional
        Rows to predict; by default the training rows.
    sample_weight : array-like, optional
        Weights of the training rows.
    tolerance : float, optional
        The largest difference allowed, relative to the largest expected value where that is above 1. 0 asks for equality
        bit for bit. Labels must be equal, except where a difference of this size in the scores can change them. Default
        1e-8; a family of level ``"close"`` needs `tolerance` or `differing`.
    differing : float
        The largest share of rows that may differ by more than `tolerance`, for families that depend on a random seed.

    Raises
    ------
    AssertionError
        Where the two differ by more than that.

    Examples
    --------
    >>> from outfold.fitting.sharing import check_family, known_families
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> [neighbours] = [family for family in known_families() if family.name == "KNeighborsClassifier"]
    >>> check_family(neighbours, [KNeighborsClassifier(k) for k in (1, 3, 5)], X, y, tolerance=0)
    """
    if tolerance is None and family.level == "close" and not differing:
        raise AssertionError(f"{family.name} is a close family: give the tolerance or the share of differing rows.")
    allowed = _Allowed(_EXACT if tolerance is None else tolerance, differing)
    X_test = X if X_test is None else X_test
    separate = [_fit_alone(_ready(m), X, y, _fit_params(sample_weight)) for m in members]
    shared = _fit_family(family, members, X, y, sample_weight)
    for member, (expected, made), (model, got) in zip(members, separate, shared, strict=True):
        _compare_arrays(family, member, "fit_transform", made, got, allowed)
        _compare_models(family, member, expected, model, X_test, allowed)


class _Allowed(NamedTuple):
    """The largest difference, and the share of rows that may exceed it."""

    difference: float
    rows: float = 0.0


_EQUAL = _Allowed(0.0)


def check_company(
    family: Family,
    members: Sequence[Any],
    X: Any,
    y: Any,
    *,
    X_test: Any = None,
    sample_weight: Any = None,
    rng: int = 0,
    subsets: int = 3,
) -> None:
    """AssertionError where a member's answers depend, in any bit, on its fellows or their order.

    Every member alone where they are few, and `subsets` random ones in random order, against all members together.
    """
    X_test = X if X_test is None else X_test
    draw = np.random.default_rng(rng)
    picks = [draw.permutation(len(members))[: draw.integers(1, len(members) + 1)] for _ in range(subsets)]
    picks += [np.array([i]) for i in draw.permutation(len(members))[:subsets]]
    together = [_answers(model, X_test) for model, _ in _fit_family(family, members, X, y, sample_weight)]
    for pick in picks:
        some = _fit_family(family, [members[i] for i in pick], X, y, sample_weight)
        for i, (model, _) in zip(pick, some, strict=True):
            for method, got in _answers(model, X_test).items():
                _compare_arrays(family, members[i], method, together[i][method], got, _EQUAL, "among fewer members")


def _fit_alone(estimator: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> tuple[Any, Any]:
    """The fitted model, and the rows it transforms where it is a transformer."""
    if hasattr(estimator, "predict"):
        return estimator.fit(X, y, **fit_params), None
    return estimator, estimator.fit_transform(X, y, **fit_params)


def _fit_family(
    family: Family, members: Sequence[Any], X: Any, y: Any, sample_weight: Any
) -> list[tuple[Any, NDArray[Any] | None]]:
    for member in members:
        if family.estimator not in public_names(type(member)):
            kind = f"{type(member).__module__}.{type(member).__qualname__}"
            raise AssertionError(
                f"{type(family).__name__}.estimator is {family.estimator!r}, but {member!r} is a {kind}."
            )
        if not family.covers(member):
            raise AssertionError(f"{family.name} does not cover {member!r}.")
    ready = [_ready(m) for m in members]
    fit_params = _fit_params(sample_weight)
    if family.transforms:
        found = family.fit_transform(ready, X, y, **fit_params)
    else:
        found = [model and (model, None) for model in family.fit(ready, X, y, **fit_params)]
    # None means a separate fit.
    pairs = zip(members, found, strict=True)
    return [_fit_alone(_ready(member), X, y, fit_params) if one is None else one for member, one in pairs]


def _ready(member: Any) -> Any:
    from sklearn.base import clone

    made = clone(member)
    unseeded = [p for p, v in made.get_params().items() if v is None and p.split("__")[-1] == "random_state"]
    return made.set_params(**dict.fromkeys(unseeded, 0)) if unseeded else made


def _fit_params(sample_weight: Any) -> dict[str, Any]:
    return {} if sample_weight is None else {"sample_weight": sample_weight}


def _answers(model: Any, X: Any) -> dict[str, NDArray[Any]]:
    return {method: _dense(getattr(model, method)(X)) for method in _METHODS if hasattr(model, method)}


def _compare_models(family: Family, member: Any, expected: Any, model: Any, X: Any, allowed: _Allowed) -> None:
    lacks = [m for m in (*_METHODS, "classes_") if hasattr(expected, m) and not hasattr(model, m)]
    if lacks:
        raise AssertionError(f"{family.name}: the model for {member!r} lacks {', '.join(lacks)}.")
    if hasattr(expected, "classes_"):
        _compare_arrays(family, member, "classes_", expected.classes_, model.classes_, _EQUAL)
    unclear = np.zeros(0, dtype=bool)
    for method, want in _answers(expected, X).items():
        got = _dense(getattr(model, method)(X))
        if method == "predict" and hasattr(expected, "classes_"):
            clear = ~unclear if len(unclear) else slice(None)
            _compare_arrays(
                family,
                member,
                method,
                want[clear],
                got[clear],
                allowed._replace(difference=0.0),
                same_shape=(want, got),
            )
            continue
        _compare_arrays(family, member, method, want, got, allowed)
        if method in ("decision_function", "predict_proba") and allowed.difference > 0:
            unclear = _on_the_cut(want, method, 2 * allowed.difference)


def _on_the_cut(scores: NDArray[Any], method: str, within: float) -> NDArray[np.bool_]:
    """Rows where a difference that is allowed in the scores may change the label."""
    if scores.ndim == 1:
        return np.asarray(np.abs(scores) <= within * max(1.0, np.abs(scores).max(initial=0.0)))
    if scores.shape[1] < 2:
        return np.zeros(len(scores), dtype=bool)
    top = np.partition(scores, -2, axis=1)
    scale = 1.0 if method == "predict_proba" else max(1.0, float(np.abs(scores).max(initial=0.0)))
    return np.asarray(top[:, -1] - top[:, -2] <= within * scale)


def _compare_arrays(
    family: Family,
    member: Any,
    method: str,
    want: Any,
    got: Any,
    allowed: _Allowed,
    whose: str = "by a fit of its own",
    same_shape: tuple[Any, Any] | None = None,
) -> None:
    if want is None:
        return
    want, got = _dense(want), _dense(got)
    a, b = same_shape or (want, got)
    if a.shape != b.shape or a.dtype.kind != b.dtype.kind:
        raise AssertionError(
            f"{family.name}: {method} of {member!r} is {b.dtype}{list(b.shape)}, but {a.dtype}{list(a.shape)} {whose}."
        )
    differs = _differs(want, got, allowed.difference)
    share = differs.reshape(len(differs), -1).any(axis=1).mean() if differs.size else 0.0
    if share <= allowed.rows:
        return
    row = int(np.argwhere(differs)[0][0])
    raise AssertionError(
        f"{family.name}: {method} of {member!r} differs in {share:.2%} of the rows; first in row {row}: "
        f"{got[row]!r}, but {want[row]!r} {whose}{_by_how_much(want, got)}."
    )


def _differs(want: NDArray[Any], got: NDArray[Any], allowed: float) -> NDArray[np.bool_]:
    if want.dtype.kind != "f":
        return np.asarray(want != got)
    differs = ~((want == got) | (np.isnan(want) & np.isnan(got)))
    if allowed == 0 or not differs.any():
        return np.asarray(differs)
    scale = max(1.0, float(np.abs(want[np.isfinite(want)]).max(initial=0.0)))
    with np.errstate(invalid="ignore"):
        return np.asarray(differs & ~(np.abs(want - got) <= allowed * scale))


def _by_how_much(want: NDArray[Any], got: NDArray[Any]) -> str:
    if want.dtype.kind != "f" or not want.size:
        return ""
    with np.errstate(invalid="ignore"):
        return f" (largest difference {np.nanmax(np.abs(want - got)):.3g})"


def _dense(values: Any) -> NDArray[Any]:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)
