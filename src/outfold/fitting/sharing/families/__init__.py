"""The families that come with the package, one module for each kind of estimator, and which family serves which estimator."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ....exceptions import got, invalid
from ...estimators import own_params
from ..family import LEVELS, Family, Level, names_in
from . import forests, linear, logistic, neighbours, trees

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
    With the class of the example in `Family`:

    >>> from outfold.fitting.sharing import register_family
    >>> register_family(Constants())  # doctest: +SKIP
    """
    if not isinstance(family, Family):
        raise invalid("register_family", "needs an instance of a class derived from `Family`", got(family))
    kind = type(family)
    for attribute, wanted in (("estimator", str), ("varies", frozenset)):
        if not isinstance(getattr(family, attribute, None), wanted):
            needed, remedy = f"must be a {wanted.__name__}", "See the help of `outfold.fitting.sharing.Family`."
            raise invalid(f"{kind.__name__}.{attribute}", needed, remedy=remedy)
    if family.level not in LEVELS:
        raise invalid(f"{kind.__name__}.level", f"must be one of {LEVELS}", got(family.level))
    if kind.fit is Family.fit:
        raise invalid(kind.__name__, "must define `fit`")
    _registered.insert(0, family)
    return family


def known_families() -> tuple[Family, ...]:
    """All families in the order in which they are asked: your own, the latest first, then those of the package.

    >>> from outfold.fitting.sharing import known_families
    >>> "Ridge" in [family.name for family in known_families()]
    True
    """
    ours = (neighbours, linear, logistic, trees, forests)
    return (*_registered, *(family for module in ours for family in module.FAMILIES))


def family_of(estimator: Any, allowed: tuple[Level, ...]) -> Family | None:
    """The first family of one of these levels that covers an estimator; None if there is none.

    >>> from outfold.fitting.sharing import family_of
    >>> from sklearn.linear_model import Ridge
    >>> family_of(Ridge(), ("exact",)).name
    'Ridge'
    """
    names = names_in(type(estimator).__module__, type(estimator).__qualname__)
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
    kind: Any = type(estimator)
    try:
        return all(_accepts(kind, name, value) for name, value in own_params(estimator).items())
    except TypeError:  # a value that cannot be remembered
        return all(_accepts.__wrapped__(kind, name, value) for name, value in own_params(estimator).items())


@lru_cache(maxsize=4096, typed=True)
def _accepts(kind: Any, name: str, value: Any) -> bool:
    """Whether scikit-learn would accept this parameter: a grid has the same values again and again."""
    constraints = getattr(kind, "_parameter_constraints", None)
    if not isinstance(constraints, Mapping) or name not in constraints:
        return True
    try:
        from sklearn.utils._param_validation import validate_parameter_constraints

        validate_parameter_constraints({name: constraints[name]}, {name: value}, kind.__name__)
    except Exception:  # invalid, or another scikit-learn: the members are fitted one by one
        return False
    return True
