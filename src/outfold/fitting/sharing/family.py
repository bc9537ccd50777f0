"""Families: one fit that serves configurations which differ in a few parameters of one estimator."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ...data.cells import cut_labels
from ..data import as_labels
from ..predict import MemberModel
from ..worker import Batch, FitOutcome

Level = Literal["exact", "close"]
# From the strictest to the loosest: a level also allows the levels before it.
LEVELS: tuple[Level, ...] = ("exact", "close")


class Unsuitable(Exception):  # noqa: N818  (not an error: the members are fitted one by one)
    """A family raises this where it cannot serve the data; the members are then fitted one by one.

    The reason must lie in the data or in the parameters that all members share, never in the choice of members. What a
    member predicts must not depend on the other members.

    Examples
    --------
    >>> from outfold.fitting.sharing import Unsuitable
    >>> raise Unsuitable("sparse rows")
    Traceback (most recent call last):
        ...
    outfold.fitting.sharing.family.Unsuitable: sparse rows
    """


class Family:
    """One fit that serves several configurations of one estimator.

    A family defines `fit`. If it raises any exception, its members are fitted one by one, so a family need not repeat the
    errors of the estimator. Families are for models; transformers with equal parameters are shared without one.

    Attributes
    ----------
    estimator : str
        Module and class as users import it, such as ``"sklearn.linear_model.Ridge"``. Subclasses are not served.
    varies : frozenset of str
        The parameters in which members may differ. All other parameters are the same for all members.
    level : {"exact", "close"}
        How closely the predictions match separate fits. ``"exact"``: the same bits, or within 1e-8 where both sides run to
        convergence. ``"close"``: equal up to the tolerance of a solver or a random seed. Default ``"exact"``.
    close_limit : float
        At the level ``"close"``, what a spot check allows: the largest mean difference in units of the spread of the
        predictions, and the largest share of labels that differ (never above 0.2). Default 0.05, for solvers.
    whole : bool
        Set this where the last digits of a member depend on which other members there are, as on a path with warm
        starts. Such a family is always fitted with all its members in the collection, even if some are not needed.
    serves_single : bool
        Set this where the family also serves a member that is on its own. A family needs it where its predictions do not
        equal a separate fit in every bit: a prediction must not depend on whether there are other members.

    Examples
    --------
    `DummyRegressor` predicts a constant, so nothing has to be fitted again for another one:

    >>> from outfold.fitting.sharing import Family, check_family
    >>> from sklearn.dummy import DummyRegressor
    >>> class Constants(Family):
    ...     estimator = "sklearn.dummy.DummyRegressor"
    ...     varies = frozenset({"constant"})
    ...
    ...     def covers(self, estimator):
    ...         return estimator.strategy == "constant"
    ...
    ...     def fit(self, members, X, y, **fit_params):
    ...         return [member.fit(X[:1], y[:1]) for member in members]
    >>> members = [DummyRegressor(strategy="constant", constant=value) for value in (0.0, 1.0)]
    >>> check_family(Constants(), members, [[1.0], [2.0]], [3.0, 4.0])
    """

    estimator: str
    varies: frozenset[str]
    level: ClassVar[Level] = "exact"
    close_limit: ClassVar[float] = 0.05
    whole: ClassVar[bool] = False
    serves_single: ClassVar[bool] = False

    def covers(self, estimator: Any) -> bool:
        """Whether an estimator with these parameters can be a member.

        Parameters
        ----------
        estimator : estimator
            Not fitted.

        Returns
        -------
        bool
        """
        return True

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """Fit all members at once.

        Parameters
        ----------
        members : sequence of estimators
            New estimators, with a seed where the user left it open. The family may fit or change them.
        X, y : array-like
            Training rows and labels.
        **fit_params
            Further arguments of each member's ``fit``.

        Returns
        -------
        list
            For each member a fitted model with the methods of its estimator: the estimator itself or a `View`. None for
            a member that is better fitted by itself (because it warns, for example). The models may share what they
            compute for the same X.
        """
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The class of the estimator, for the schedule and the notes."""
        return self.estimator.rpartition(".")[2]


class View(MemberModel):
    """What one member predicts, read from a shared fit.

    Subclasses define ``predict`` and, if the estimator has them, ``predict_proba`` and ``decision_function``.

    Parameters
    ----------
    member : estimator
        The member whose predictions these are.
    classes : array-like, optional
        Becomes the attribute ``classes_`` of a classifier.

    Attributes
    ----------
    warned : tuple of str
        Names of the warnings that a separate fit of this member gives, such as ``"ConvergenceWarning"``. Warnings of the
        shared fit count for all its members; list here only those of this member.

    Examples
    --------
    >>> import numpy as np
    >>> from outfold.fitting.sharing import View
    >>> from sklearn.dummy import DummyRegressor
    >>> class Constant(View):
    ...     def predict(self, X):
    ...         return np.full(len(X), self.member.constant)
    >>> Constant(DummyRegressor(strategy="constant", constant=2.0)).predict([[0], [1]])
    array([2., 2.])
    """

    warned: tuple[str, ...] = ()

    def __init__(self, member: Any, classes: Any = None) -> None:
        self.member = member
        if classes is not None:
            self.classes_ = classes


@lru_cache(maxsize=256)
def names_in(module: str, name: str) -> frozenset[str]:
    """The names under which a class is imported: its own module, and the packages above it."""
    parts = module.split(".")
    return frozenset(".".join((*parts[:i], name)) for i in range(1, len(parts) + 1))


def is_builtin(family: Family) -> bool:
    """Whether a family comes with the package."""
    return type(family).__module__.startswith(f"{__name__.rpartition('.')[0]}.")


def as_new(family: Family) -> Family:
    """The family as it was registered: what one of your own keeps from a fit would else tell the next of held-out rows."""
    if is_builtin(family):
        return family
    try:
        return deepcopy(family)
    except Exception:  # one that cannot be copied
        return family


# -- checking a family ----------------------------------------------------------------------------------

_METHODS = ("decision_function", "predict_proba", "predict")


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
    """Fit the members separately and by the family, and compare what they predict.

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
    allowed = 1e-8 if tolerance is None else tolerance
    X_test = X if X_test is None else X_test
    fit_params = {} if sample_weight is None else {"sample_weight": sample_weight}
    for member, model in zip(members, fit_by_family(family, members, X, y, **fit_params), strict=True):
        where = f"of {member!r}"
        alone = _seeded(member).fit(X, y, **fit_params)
        lacks = [name for name in (*_METHODS, "classes_") if hasattr(alone, name) and not hasattr(model, name)]
        if lacks:
            raise AssertionError(f"{family.name}: the model for {member!r} lacks {', '.join(lacks)}.")
        if hasattr(alone, "classes_"):
            compare_arrays(f"{family.name}: classes_ {where}", alone.classes_, model.classes_)
        clear = np.ones(0, dtype=bool)
        for method, want in answers(alone, X_test).items():
            got, text = np.asarray(getattr(model, method)(X_test)), f"{family.name}: {method} {where}"
            if method == "predict" and hasattr(alone, "classes_"):
                rows = clear if len(clear) == len(want) == len(got) else slice(None)
                compare_arrays(text, want[rows], got[rows], 0.0, differing)
            else:
                compare_arrays(text, want, got, allowed, differing)
            if method in ("decision_function", "predict_proba") and allowed > 0:
                clear = _is_clear(want, 2 * allowed)


def fit_by_family(family: Family, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
    """For each member its model."""
    for member in members:
        kind = type(member)
        if family.estimator not in names_in(kind.__module__, kind.__qualname__):
            mine = f"{type(family).__name__}.estimator is {family.estimator!r}"
            raise AssertionError(f"{mine}, but {member!r} is a {kind.__module__}.{kind.__qualname__}.")
        if not family.covers(member):
            raise AssertionError(f"{family.name} does not cover {member!r}.")
    ready = [_seeded(member) for member in members]
    pairs = zip(members, family.fit(ready, X, y, **fit_params), strict=True)
    # None means a separate fit.
    return [_seeded(member).fit(X, y, **fit_params) if model is None else model for member, model in pairs]


def _seeded(member: Any) -> Any:
    from sklearn.base import clone

    made = clone(member)
    unseeded = [p for p, v in made.get_params().items() if v is None and p.split("__")[-1] == "random_state"]
    return made.set_params(**dict.fromkeys(unseeded, 0))


def answers(model: Any, X: Any) -> dict[str, NDArray[Any]]:
    """What the model predicts, by method."""
    return {method: np.asarray(getattr(model, method)(X)) for method in _METHODS if hasattr(model, method)}


def _is_clear(scores: NDArray[Any], within: float) -> NDArray[np.bool_]:
    """Rows whose label does not change if the scores differ by this, relative to the largest where that is above 1."""
    within = within * max(1.0, float(np.abs(scores).max(initial=0.0)))
    if scores.ndim == 1:
        return np.asarray(np.abs(scores) > within)
    top = np.sort(scores, axis=1)[:, -2:]
    return np.asarray((top[:, -1] - top[:, 0] > within) | (scores.shape[1] < 2))


def compare_arrays(what: str, want: Any, got: Any, tolerance: float = 0.0, differing: float = 0.0) -> None:
    """AssertionError where more rows than the share `differing` differ by more than the tolerance."""
    want, got = np.asarray(want), np.asarray(got)
    if want.shape != got.shape or want.dtype.kind != got.dtype.kind:
        shapes = [f"{a.dtype}{list(a.shape)}" for a in (got, want)]
        raise AssertionError(f"{what} is {shapes[0]}, but {shapes[1]} by a separate fit.")
    differs, largest = want != got, ""
    if want.dtype.kind == "f":
        differs &= ~(np.isnan(want) & np.isnan(got))
        with np.errstate(invalid="ignore"):
            gaps = np.abs(want - got)
            differs &= ~(gaps <= tolerance * max(1.0, float(np.abs(want[np.isfinite(want)]).max(initial=0.0))))
            largest = f" (largest difference {np.nanmax(gaps, initial=0.0):.3g})"
    share = differs.reshape(len(differs), -1).any(axis=1).mean() if differs.size else 0.0
    if share > differing:
        row = int(np.argwhere(differs)[0][0])
        first = f"first in row {row}: {got[row]!r}, but {want[row]!r} by a separate fit{largest}."
        raise AssertionError(f"{what} differs in {share:.2%} of the rows; {first}")


# -- verifying a family while it is used: a member fitted by itself is compared with it --------------------

_EXACT = 1e-8
# The largest share of labels that differ at the level "close", whatever the family allows.
_CLOSE_LABELS = 0.2


def outcomes_differ(family: Family, batch: Batch, shared: FitOutcome, alone: FitOutcome) -> str:
    """How the predictions of a family's member differ from those of its own fit; empty if they do not."""
    if alone.values is None:
        return f"alone it fails ({alone.message})"
    assert shared.values is not None
    reader, y = batch.settings.reader, as_labels(batch.settings.samples.y)
    scale = float(np.std(y)) if reader.response == "value" and y.dtype.kind in "biuf" else None
    for i, (one, other) in enumerate(zip(shared.values, alone.values, strict=True)):
        if reader.response == "label":
            text = _labels_differ(family, one, other)
        else:
            text = _numbers_differ(family, one, other, 1.0 if reader.response == "proba" else scale)
            if not text and reader.response in ("proba", "score"):
                cut = 0.5 if reader.response == "proba" else 0.0
                text = _labels_differ(family, *(_labels(outcome, i, cut) for outcome in (shared, alone)))
        if text:
            return text
    return ""


def _labels(outcome: FitOutcome, i: int, cut: float) -> NDArray[np.intp]:
    """What ``predict`` gave, or the labels that follow from the other predictions if that is the same."""
    assert outcome.values is not None
    own, values = None if outcome.labels is None else outcome.labels[i], outcome.values[i]
    return cut_labels(values, values.ndim == 2, cut) if own is None else own


def _numbers_differ(family: Family, one: NDArray[Any], other: NDArray[Any], scale: float | None) -> str:
    gaps = np.abs(np.asarray(one, dtype=float) - np.asarray(other, dtype=float))
    if not gaps.size:
        return ""
    if family.level == "exact":
        held = bool(np.all(gaps <= _EXACT * np.maximum(1.0, np.abs(other))))
    else:
        scale = float(np.sqrt(np.mean(np.square(other)))) if scale is None else scale
        held = float(gaps.mean()) <= family.close_limit * scale + _EXACT
    return "" if held else f"the largest difference is {gaps.max():.3g}"


def _labels_differ(family: Family, one: NDArray[Any], other: NDArray[Any]) -> str:
    n = int(np.sum(one != other))
    # A row exactly on the cut may get either label.
    share = 0.01 if family.level == "exact" else min(family.close_limit, _CLOSE_LABELS)
    allowed = max(1.0, share * len(one))
    return "" if n <= allowed else f"{n} of {len(one)} labels differ"
