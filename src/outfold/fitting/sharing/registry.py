"""Which family serves which estimator."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any, get_args

from ...exceptions import InputError, got
from .family import Family, Level

_registered: list[Family] = []


def register_family(family: Family) -> Family:
    """Let `collect` use a family of your own, from now on and before those it knows.

    Parameters
    ----------
    family : Family
        An instance of a class derived from `Family`. It is asked before the families that were registered earlier.

    Returns
    -------
    Family
        The same family.

    Examples
    --------
    >>> from outfold.fitting.sharing import Family, register_family
    >>> class Constants(Family):
    ...     estimator = "sklearn.dummy.DummyRegressor"
    ...     varies = frozenset({"constant"})
    ...
    ...     def fit(self, members, X, y, **fit_params):
    ...         return [member.fit(X[:1], y[:1]) for member in members]
    >>> register_family(Constants())  # doctest: +SKIP
    """
    if not isinstance(family, Family):
        needed = "needs an instance of a class derived from `Family`"
        raise InputError(argument="register_family", needed=needed, given=got(family))
    kind = type(family)
    for attribute, wanted in (("estimator", str), ("varies", frozenset)):
        if not isinstance(getattr(family, attribute, None), wanted):
            raise InputError(
                argument=f"{kind.__name__}.{attribute}",
                needed=f"must be a {wanted.__name__}",
                remedy="See the help of `outfold.fitting.sharing.Family`.",
            )
    if family.level not in get_args(Level):
        needed = f"must be one of {get_args(Level)}"
        raise InputError(argument=f"{kind.__name__}.level", needed=needed, given=got(family.level))
    if kind.fit is Family.fit and kind.fit_transform is Family.fit_transform:
        needed = "must define `fit`, or `fit_transform` for transformers"
        raise InputError(argument=kind.__name__, needed=needed)
    _registered.insert(0, family)
    return family


def known_families() -> tuple[Family, ...]:
    """All families, in the order in which they are asked.

    Returns
    -------
    tuple of Family
        Your own families, the latest first, then those of the package.

    Examples
    --------
    >>> from outfold.fitting.sharing import known_families
    >>> "Ridge" in [family.name for family in known_families()]
    True
    """
    from .families import FAMILIES

    return (*_registered, *FAMILIES)


def family_of(estimator: Any, allowed: tuple[Level, ...]) -> Family | None:
    """The first family that covers an estimator.

    Parameters
    ----------
    estimator : estimator
        The estimator, with its parameters.
    allowed : tuple of {"exact", "close"}
        The levels that a family may have.

    Returns
    -------
    Family or None
        The family; None if there is none.

    Examples
    --------
    >>> from outfold.fitting.sharing import family_of
    >>> from sklearn.linear_model import Ridge
    >>> family_of(Ridge(), ("exact",)).name
    'Ridge'
    """
    names = public_names(type(estimator))
    for family in known_families():
        if family.estimator in names and family.level in allowed and _covers(family, estimator):
            return family if _is_valid(estimator) else None
    return None


def _covers(family: Family, estimator: Any) -> bool:
    try:
        return bool(family.covers(estimator))
    except Exception:  # unexpected parameters: the fit of the estimator says what is wrong with them, if anything
        return False


def _is_valid(estimator: Any) -> bool:
    """Whether scikit-learn would accept these parameters; a family does not call the ``fit`` that checks them."""
    constraints = getattr(estimator, "_parameter_constraints", None)
    if not isinstance(constraints, Mapping):
        return True
    try:
        from sklearn.utils._param_validation import validate_parameter_constraints

        validate_parameter_constraints(constraints, estimator.get_params(deep=False), type(estimator).__name__)
    except Exception:  # invalid, or another scikit-learn: the members are fitted one by one
        return False
    return True


def public_names(kind: type) -> frozenset[str]:
    """The names under which a class is imported: its own module, and the packages above it."""
    return _names_in(kind.__module__, kind.__qualname__)


@lru_cache(maxsize=256)
def _names_in(module: str, name: str) -> frozenset[str]:
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
