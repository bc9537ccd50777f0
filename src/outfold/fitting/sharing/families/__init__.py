"""The families that come with the package, one module for each kind of estimator, and which family serves which estimator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

from ....exceptions import got, invalid
from ...estimators import own_params
from ..family import LEVELS, Family, Level, names_in

# The package of an estimator, and the modules with its families, in the order in which they are asked. They are imported when an
# estimator of that package comes: a search of ridge regressions needs no trees.
_MODULES = {
    "sklearn.neighbors": ("neighbours",),
    "sklearn.linear_model": ("linear", "logistic"),
    "sklearn.tree": ("trees",),
    "sklearn.ensemble": ("trees", "forests"),
    "lightgbm": ("trees",),
    "xgboost": ("trees",),
}
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
    names = dict.fromkeys(name for modules in _MODULES.values() for name in modules)
    return (*_registered, *_families_in(names))


def modules_for(module: str) -> tuple[str, ...]:
    """The modules with the families of estimators that are defined in this one."""
    package, _, rest = module.partition(".")
    return _MODULES.get(package) or _MODULES.get(f"{package}.{rest.partition('.')[0]}", ())


def _families_in(modules: Iterable[str]) -> tuple[Family, ...]:
    return tuple(family for name in modules for family in import_module(f".{name}", __name__).FAMILIES)


def family_of(estimator: Any, allowed: tuple[Level, ...]) -> Family | None:
    """The first family of one of these levels that covers an estimator; None if there is none.

    >>> from outfold.fitting.sharing import family_of
    >>> from sklearn.linear_model import Ridge
    >>> family_of(Ridge(), ("exact",)).name
    'Ridge'
    """
    names = names_in(type(estimator).__module__, type(estimator).__qualname__)
    for family in (*_registered, *_families_in(modules_for(type(estimator).__module__))):
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
