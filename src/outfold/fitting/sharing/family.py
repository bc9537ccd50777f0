"""What a family is: one fit that serves configurations which differ in a few parameters of one estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

Level = Literal["exact", "equivalent", "tolerant"]
# From the strictest to the loosest: a level also allows those before it.
LEVELS: tuple[Level, ...] = ("exact", "equivalent", "tolerant")


class Unsuitable(Exception):  # noqa: N818  (not an error: the members are fitted one by one)
    """These data are not for the family: sparse, of a kind it does not know, or where it could not keep its promise.

    To be raised for a reason in the data or in the parameters all members share, never for the choice of members: what
    a member predicts must not depend on who its fellows are.
    """


class Family:
    """One fit that serves several configurations of one estimator.

    A family of models defines `fit`, one of transformers `fit_transform`. Whatever it raises, its members are then fitted
    one by one, so that it need not repeat the estimator's own errors.

    Attributes
    ----------
    estimator
        Module and class, such as ``"sklearn.linear_model.Ridge"``; as the class is imported by users. Classes that derive
        from it are others.
    varies
        The parameters in which members may differ; all others are the same for all members.
    level
        How equal the predictions are to those of separate fits: ``"exact"`` (bit for bit, or within 1e-8 where both sides
        run to convergence), ``"equivalent"`` (as another random seed would differ), ``"tolerant"`` (as the estimator's own
        tolerance allows).
    whole
        What a member predicts depends in its last digits on which others there are (a path with warm starts). Such a
        family is always fitted with all its members in the collection, also where some are not needed any more.
    alone
        Used for a single member too: because it is faster than the estimator itself, or because it equals a separate fit not
        in every bit, and what a configuration predicts must not depend on whether there are others.
    """

    estimator: ClassVar[str]
    varies: ClassVar[frozenset[str]]
    level: ClassVar[Level] = "exact"
    whole: ClassVar[bool] = False
    alone: ClassVar[bool] = False

    def covers(self, estimator: Any) -> bool:
        """Whether an estimator with these parameters can be a member."""
        return True

    def fit(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[Any]:
        """Fitted models in the order of the members, with the methods their estimator has.

        The members are fresh estimators, seeded where the user left the seed open, and may be used or changed. A model may
        be a `View`, or None where the member is better fitted by itself (it warns, say); models of one fit may share what
        they compute for the same X.
        """
        raise NotImplementedError

    def fit_transform(self, members: Sequence[Any], X: Any, y: Any, **fit_params: Any) -> list[tuple[Any, Any] | None]:
        """For transformers: (fitted transformer, X transformed as its ``fit_transform`` would) for every member, or None."""
        raise NotImplementedError

    @property
    def transforms(self) -> bool:
        """Whether the members are transformers."""
        return type(self).fit_transform is not Family.fit_transform

    @property
    def name(self) -> str:
        """The class of its estimator, for the schedule and the notes."""
        return self.estimator.rpartition(".")[2]


class View:
    """One member's predictions out of a shared fit: what a fitted model of `stands_for` would answer.

    Derived classes define ``predict`` and, as the estimator does, ``predict_proba`` and ``decision_function``.

    Attributes
    ----------
    stands_for
        The member.
    warned
        Names of the warnings that a fit of this member alone gives and its fellows' need not, such as
        ``"ConvergenceWarning"``. Those that a shared fit gives itself count for all its members.
    """

    warned: tuple[str, ...] = ()

    def __init__(self, stands_for: Any, classes: Any = None) -> None:
        self.stands_for = stands_for
        if classes is not None:
            self.classes_ = classes
