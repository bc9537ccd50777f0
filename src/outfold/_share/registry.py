"""Which family serves which estimator."""

from __future__ import annotations

from typing import Any, get_args

from ..exceptions import InputError
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
    from . import builtin

    return (*_registered, *builtin.FAMILIES)


def family_of(estimator: Any, allowed: tuple[Level, ...]) -> Family | None:
    """The first family of an allowed level that covers the estimator."""
    names = _public_names(type(estimator))
    for family in families():
        if family.estimator in names and family.level in allowed and family.covers(estimator):
            return family
    return None


def _public_names(kind: type) -> set[str]:
    """The names under which a class is imported: its own module, and the packages above it."""
    parts = kind.__module__.split(".")
    return {".".join((*parts[:i], kind.__qualname__)) for i in range(1, len(parts) + 1)}
