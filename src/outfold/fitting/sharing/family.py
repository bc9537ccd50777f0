"""What a family is: one fit that serves configurations which differ in a few parameters of one estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from ..predict import MemberModel

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

    A family of models defines `fit`; a family of transformers defines `fit_transform`. If it raises any exception, its
    members are fitted one by one, so a family need not repeat the errors of the estimator.

    Attributes
    ----------
    estimator : str
        Module and class as users import it, such as ``"sklearn.linear_model.Ridge"``. Subclasses are not served.
    varies : frozenset of str
        The parameters in which members may differ. All other parameters are the same for all members.
    level : {"exact", "close"}
        How closely the predictions match separate fits. ``"exact"``: the same bits, or within 1e-8 where both sides run to
        convergence. ``"close"``: equal up to the tolerance of a solver or a random seed. Default ``"exact"``.
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

    estimator: ClassVar[str]
    varies: ClassVar[frozenset[str]]
    level: ClassVar[Level] = "exact"
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

    def fit_transform(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[tuple[Any, Any] | None]:
        """Fit all members, which are transformers, and transform the training rows.

        Parameters
        ----------
        members : sequence of transformers
            New transformers, with a seed where the user left it open.
        X, y : array-like
            Training rows and labels.
        **fit_params
            Further arguments of each member's ``fit_transform``.

        Returns
        -------
        list of (transformer, array-like) or None
            For each member the fitted transformer and what its ``fit_transform`` would return; None for a member that is
            better fitted by itself.
        """
        raise NotImplementedError

    @property
    def transforms(self) -> bool:
        """Whether the members are transformers."""
        return type(self).fit_transform is not Family.fit_transform

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
