"""Recipes: how to get a fresh, seeded copy of a configuration's estimator, cheaply and as often as it is fitted."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .data import estimator_text
from .parameters import COPIED_AS_SELF, further_values, is_plain, is_untouched, parts_of
from .routes import Path, Route, at

_SEED_NAME = "random_state"


def seed_of(rng: int, *key: int) -> int:
    """The seed of one fit; it depends on the hold-out alone, so that all configurations share it."""
    return int(np.random.SeedSequence(rng, spawn_key=key).generate_state(1)[0] >> 1)


@dataclass(frozen=True, eq=False)
class Recipe:
    """A configuration ready to be fitted many times.

    Reading a pickled, never fitted clone is about ten times faster than cloning. The parts whose random_state is None are
    pickled beside the estimator, so that they come out as its own parts and can be seeded without a search.

    Attributes
    ----------
    name
        The configuration.
    text
        The estimator with all its parameters.
    unseeded
        Parameters that get a seed for every fit, where `frozen` does not say so.
    frozen
        Pickled (estimator, parts to seed); None where the estimator cannot be pickled or seeded this way.
    estimator
        The clone itself, where `frozen` is None.
    trusted
        All parts are scikit-learn's own, which do not write into a frame they are given.
    route
        What it has in common with other configurations; None where that is nothing.
    """

    name: str
    text: str
    unseeded: tuple[str, ...] = ()
    frozen: bytes | None = None
    estimator: Any = None
    trusted: bool = False
    route: Route | None = None

    def make(self, seed: int) -> Any:
        """A fresh estimator, seeded where the user left the seed open."""
        if self.frozen is None:
            from sklearn.base import clone

            made = clone(self.estimator)
            return made.set_params(**dict.fromkeys(self.unseeded, seed)) if self.unseeded else made
        made, parts = pickle.loads(self.frozen)
        for part in parts:
            part.random_state = seed
        return made

    def make_model(self, seed: int) -> Any:
        """The model at the end of the route alone, as fresh and seeded as in the estimator that `make` gives.

        Where all its parameters are plain, it is copied from one that is kept; that takes a tenth of the time.
        """
        path = () if self.route is None else self.route.path
        kept = None if self.frozen is None else _kept_model(self.frozen, path)
        if kept is None:
            return at(self.make(seed), path)
        model: Any = object.__new__(kept.kind)
        vars(model).update(kept.values)
        if kept.unseeded:
            model.random_state = seed
        return model


class _Kept(NamedTuple):
    """A model that nobody fits: its class, what its instances hold, and whether its seed was left open."""

    kind: type
    values: dict[str, Any]
    unseeded: bool


@lru_cache(maxsize=4096)
def _kept_model(frozen: bytes, path: Path) -> _Kept | None:
    """The model at the end of the path; None where a copy of what it holds would not be a copy of it."""
    made, parts = pickle.loads(frozen)
    model = at(made, path)
    values = vars(model) if is_untouched(model) else {}
    if not values or not all(map(is_plain, values.values())):
        return None
    return _Kept(type(model), values, any(part is model for part in parts))


def make_recipes(configs: dict[str, Any], dumps: Callable[[Any], bytes]) -> list[Recipe]:
    """Recipes of all configurations; `dumps` pickles for where the fits will happen."""
    return [_recipe(name, estimator, dumps) for name, estimator in configs.items()]


def _recipe(name: str, estimator: Any, dumps: Callable[[Any], bytes]) -> Recipe:
    return _copied(name, estimator, dumps) or _cloned(name, estimator, dumps)


def _copied(name: str, estimator: Any, dumps: Callable[[Any], bytes]) -> Recipe | None:
    """The recipe of an estimator whose copy is as good as a clone, which takes a tenth of the time; else None."""
    parts = list(parts_of(estimator))
    # One part in two places would be one in the copy, and two in a clone.
    if len({id(part) for part in parts}) < len(parts) or not all(is_untouched(part) for part in parts):
        return None
    values = [value for part in parts for value in further_values(part)]
    if not all(_copies_well(value) for value in values):
        return None
    # So would a generator of random numbers, which then goes on where another part left it.
    chance = [id(value) for value in values if isinstance(value, (np.random.RandomState, np.random.Generator))]
    if len(set(chance)) < len(chance):
        return None
    unseeded = [part for part in parts if getattr(part, _SEED_NAME, False) is None]
    try:
        frozen = dumps((estimator, unseeded))
        if values:  # else what is read back is what was written
            pickle.loads(frozen)
    except Exception:  # a parameter that cannot be pickled; cloning still works
        return None
    return Recipe(name, estimator_text(estimator), frozen=frozen, trusted=_are_trusted([estimator, *values]))


def _copies_well(value: Any, inside: bool = False) -> bool:
    """Whether a copy of an estimator with this parameter is as good as a clone, which copies every parameter by itself.

    A splitter may hold a generator of random numbers that another parameter holds too.
    """
    if is_plain(value) or isinstance(value, (slice, *COPIED_AS_SELF)):
        return True
    if isinstance(value, (list, tuple)):
        return all(_copies_well(item, inside=True) for item in value)
    if isinstance(value, dict):
        return all(_copies_well(item, inside=True) for item in value.values())
    if isinstance(value, np.ndarray):
        return not value.dtype.hasobject
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return not inside
    return hasattr(value, "get_params")


def _cloned(name: str, estimator: Any, dumps: Callable[[Any], bytes]) -> Recipe:
    from sklearn.base import clone

    made = clone(estimator)
    params = made.get_params(deep=True)
    unseeded = tuple(p for p, v in params.items() if v is None and (p == _SEED_NAME or p.endswith(f"__{_SEED_NAME}")))
    parts = [params[p.removesuffix(f"__{_SEED_NAME}")] if p != _SEED_NAME else made for p in unseeded]
    frozen = _freeze(made, parts, unseeded, dumps)
    trusted = _are_trusted([made, *params.values()])
    return Recipe(name, estimator_text(made), unseeded, frozen, made if frozen is None else None, trusted)


def _are_trusted(values: Iterable[Any]) -> bool:
    """Whether every estimator and function among them comes from scikit-learn, this package, numpy or scipy."""
    parts = [v for v in values if hasattr(v, "fit") or callable(v)]
    modules = [getattr(part if hasattr(part, "__qualname__") else type(part), "__module__", "") for part in parts]
    return all((module or "").partition(".")[0] in ("sklearn", "outfold", "numpy", "scipy") for module in modules)


def _freeze(
    estimator: Any, parts: Sequence[Any], unseeded: Sequence[str], dumps: Callable[[Any], bytes]
) -> bytes | None:
    """Pickle, and make sure that seeding the parts seeds the estimator."""
    try:
        frozen = dumps((estimator, parts))
        copy, copied_parts = pickle.loads(frozen)
        if not unseeded:
            return frozen
        for part in copied_parts:
            part.random_state = 1
        params = copy.get_params(deep=True)
        return frozen if all(params.get(p) == 1 for p in unseeded) else None
    except Exception:  # whatever a foreign class raises when pickled, cloning still works
        return None
