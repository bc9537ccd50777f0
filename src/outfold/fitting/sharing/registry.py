"""Which family serves which estimator."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any, get_args

from ...exceptions import InputError
from .family import Family, Level

_registered: list[Family] = []


def register_family(family: Family) -> Family:
    """Let `collect` use a family of your own, from now on and before those it knows.

    Parameters
    ----------
    family
        An instance of a class derived from `Family`. It is asked before the families that were registered earlier.

    Returns
    -------
    Family
        The same, so that the call can stand where the instance is made.
    """
    if not isinstance(family, Family):
        raise InputError(f"register_family needs an instance of a class derived from outfold.Family; got {family!r}.")
    kind = type(family)
    for attribute, needed in (("estimator", str), ("varies", frozenset)):
        if not isinstance(getattr(family, attribute, None), needed):
            raise InputError(
                f"{kind.__name__}.{attribute} must be a {needed.__name__}; see the help of outfold.Family."
            )
    if family.level not in get_args(Level):
        raise InputError(f"{kind.__name__}.level must be one of {get_args(Level)}; got {family.level!r}.")
    if kind.fit is Family.fit and kind.fit_transform is Family.fit_transform:
        raise InputError(f"{kind.__name__} must define fit, or fit_transform for transformers.")
    _registered.insert(0, family)
    return family


def families() -> tuple[Family, ...]:
    """All families, in the order in which they are asked."""
    from .families import FAMILIES

    return (*_registered, *FAMILIES)


def family_of(estimator: Any, allowed: tuple[Level, ...]) -> Family | None:
    """The first family of an allowed level that covers the estimator."""
    names = public_names(type(estimator))
    for family in families():
        if family.estimator in names and family.level in allowed and _covers(family, estimator):
            return family if _is_valid(estimator) else None
    return None


def _covers(family: Family, estimator: Any) -> bool:
    try:
        return bool(family.covers(estimator))
    except (
        Exception
    ):  # parameters it did not think of: the estimator's own fit says what is wrong with them, if anything
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
