"""Configurations: fully specified estimators with names, and the grids that make them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from .. import formatting
from ..exceptions import InputError, invalid
from .estimators import Variants, check_estimator, is_estimator, key_of, like, own_params

# Parameters of an estimator that say nothing about the model.
_NOT_TOLD = frozenset({"random_state", "n_jobs", "verbose"})


class Configs(dict[str, Any]):
    """Named configurations: a dict of estimators that remembers which parameters tell them apart.

    ``|`` joins two. Each configuration needs its own name; a name that is on both sides raises an error.

    Parameters
    ----------
    estimators : mapping of str to estimator, or iterable of (str, estimator)
        Estimators by name.
    params : mapping of str to dict, optional
        The varied parameters of each configuration, by its name.

    Examples
    --------
    >>> from outfold import grid
    >>> from sklearn.svm import SVC
    >>> list(grid("svm", SVC(), C=[0.1, 1]) | {"linear": SVC(kernel="linear")})
    ['svm(C=0.1)', 'svm(C=1)', 'linear']
    """

    def __init__(
        self,
        estimators: Mapping[str, Any] | Iterable[tuple[str, Any]] = (),
        params: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        super().__init__(estimators)
        self._params = {name: dict(values) for name, values in (params or {}).items()}
        for name, estimator in self.items():
            check_estimator(estimator, name)

    @property
    def params(self) -> dict[str, dict[str, Any]]:
        """The varied parameters of each configuration; an empty dict for one that no grid made."""
        return {name: dict(self._params.get(name, {})) for name in self}

    def copy(self) -> Configs:
        """A copy that can be changed without changing this one; the estimators are shared."""
        return Configs(self, self._params)

    __copy__ = copy

    def __or__(self, other: Any) -> Configs:  # type: ignore[override]
        if not isinstance(other, Mapping):
            return NotImplemented
        more = as_configs(other)
        both = [name for name in more if name in self]
        if both:
            given = f"{both[0]!r} is on both sides of |"
            raise invalid(None, "configuration names must differ", given, "Give the second grid another name.")
        return Configs({**self, **more}, {**self._params, **more._params})

    def __ror__(self, other: Any) -> Configs:  # type: ignore[override]
        return as_configs(other) | self if isinstance(other, Mapping) else NotImplemented

    def __ior__(self, other: Any) -> Configs:  # type: ignore[override]
        joined = self | other
        if joined is not NotImplemented:
            super().update(joined)
            self._params = joined._params
        return self if joined is not NotImplemented else NotImplemented

    def __repr__(self) -> str:
        names = ", ".join(list(self)[:4])
        return f"<Configs: {formatting.count(len(self), 'configuration')} ({names}{', …' if len(self) > 4 else ''})>"

    def _repr_html_(self) -> str:
        rows = [(name, type(estimator).__name__) for name, estimator in self.items()]
        return formatting.table_html(["configuration", "estimator"], rows)


def as_configs(configs: Any) -> Configs:
    """Configurations from a `Configs`, a dict of estimators, or one estimator."""
    if isinstance(configs, Configs):
        for name, estimator in configs.items():
            check_estimator(estimator, name)
        return configs
    if isinstance(configs, Mapping):
        return Configs(configs)
    check_estimator(configs, None)
    return Configs({type(configs).__name__: configs})


def grid(
    name: str,
    estimator: Any,
    param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    /,
    **params: Any,
) -> Configs:
    """All combinations of parameter values, as named configurations.

    Parameters
    ----------
    name : str
        Start of the names: ``"logit"`` gives ``logit(C=0.1)``.
    estimator : estimator
        Any scikit-learn estimator or pipeline. It is cloned, never changed.
    param_grid : dict or list of dict, optional
        Values by parameter, or a list of such dicts for grids whose parameters depend on each other.
    **params
        Values by parameter, added to each dict of `param_grid`. A list, tuple, range or array is several values; anything
        else is one value. You may use the short name of a step's parameter if only one step has it: ``C`` for
        ``logisticregression__C``.

    Returns
    -------
    Configs
        One configuration for each combination, by name.

    Examples
    --------
    >>> from outfold import grid
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> list(grid("logit", make_pipeline(StandardScaler(), LogisticRegression()), C=[0.1, 1]))
    ['logit(C=0.1)', 'logit(C=1)']
    """
    check_estimator(estimator, name)
    variants = Variants(estimator)
    known = estimator.get_params(deep=True)
    parts = [_resolve(name, known, {**part, **params}) for part in _parts(param_grid)]
    short = short_names({parameter for part in parts for parameter in part})
    estimators: dict[str, Any] = {}
    varied: dict[str, dict[str, Any]] = {}
    for part in parts:
        labels = [_labels(short[parameter], values) for parameter, values in part.items()]
        for values, texts in zip(product(*part.values()), product(*labels), strict=True):
            inside = ", ".join(f"{short[p]}={text}" for p, text in zip(part, texts, strict=True))
            key = f"{name}({inside})" if part else name
            if key in estimators:
                twice = f"the grid {name!r} holds {key!r} more than once"
                raise invalid("param_grid", "must hold dicts that do not overlap", twice)
            chosen = dict(zip(part, values, strict=True))
            estimators[key] = variants.make(chosen, key)
            varied[key] = {short[p]: value for p, value in chosen.items()}
    return Configs(estimators, varied)


def _parts(param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    if param_grid is None:
        return [{}]
    if isinstance(param_grid, Mapping):
        return [dict(param_grid)]
    if isinstance(param_grid, str) or not all(isinstance(part, Mapping) for part in param_grid):
        raise invalid("param_grid", "must be a dict of values by parameter, or a list of such dicts")
    if not param_grid:
        needed = "is an empty list, so the grid holds no configuration"
        raise invalid("param_grid", needed, remedy="Leave it out for one.")
    return [dict(part) for part in param_grid]


def _resolve(name: str, known: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Values by the parameter's full name."""
    out: dict[str, list[Any]] = {}
    for parameter, value in part.items():
        full = _full_name(name, parameter, known, part)
        if full in out:
            raise InputError(f"grid {name!r}: {parameter} means {full}, which was given too", remedy="Give it once.")
        out[full] = _values(name, parameter, value)
    return out


def _full_name(name: str, parameter: str, known: Mapping[str, Any], part: Mapping[str, Any]) -> str:
    # A parameter of a step that the grid itself puts in is not known yet.
    if parameter in known or any(parameter.startswith(f"{other}__") for other in part):
        return parameter
    nested = [p for p in known if p.endswith(f"__{parameter}")]
    if len(nested) == 1:
        return nested[0]
    if nested:
        needed = f"grid {name!r}: {parameter} is a parameter of several steps ({', '.join(sorted(nested))})"
        raise InputError(needed=needed, remedy="Give the full name.")
    raise invalid(None, f"grid {name!r}: the estimator has no parameter {parameter!r}", like(parameter, known))


def _values(name: str, parameter: str, value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        value = value.tolist() if value.ndim == 1 else [value] if value.ndim == 0 else list(value)
    if hasattr(value, "rvs"):
        needed = f"grid {name!r}: {parameter} is a distribution"
        raise InputError(needed=needed, given="give a list of values, such as draws from it")
    if isinstance(value, Iterator):
        needed = f"grid {name!r}: {parameter} is {'a generator' if isinstance(value, Generator) else 'an iterator'}"
        raise InputError(needed=needed, given="give a list of its values")
    values = list(value) if isinstance(value, (list, tuple, range)) else [value]
    if not values:
        needed = f"grid {name!r}: {parameter} has an empty list of values, so the grid is empty"
        raise InputError(needed=needed, remedy="Give one at least.")
    return values


def short_names(parameters: Iterable[str]) -> dict[str, str]:
    """The shortest ending of every full name that no other full name shares."""
    full = sorted(parameters)
    out = {}
    for parameter in full:
        words = parameter.split("__")
        endings = ["__".join(words[i:]) for i in range(len(words) - 1, -1, -1)]
        unshared = (e for e in endings if not any(o != parameter and (o == e or o.endswith(f"__{e}")) for o in full))
        out[parameter] = next(unshared, parameter)
    return out


def _labels(parameter: str, values: list[Any]) -> list[str]:
    """Texts that tell the values apart, compact where that is enough."""
    for form in (brief, exact):
        texts = [form(v) for v in values]
        if len(set(texts)) == len(texts):
            return texts
    twice = next(t for t in texts if texts.count(t) > 1)
    needed = f"{parameter} holds {formatting.shorten(twice, 60)} more than once".replace("`", "'")
    raise InputError(needed=needed, given="the values of a grid must differ")


# -- values in names ------------------------------------------------------------------------------------


def brief(value: Any) -> str:
    """A parameter's value in a few words on one line; an estimator by its class and what differs from the defaults."""
    text = _one_line(formatting.compact(value))
    if "…" not in text or not is_estimator(value):
        return text
    changed = changed_params(value)
    inside = ", ".join(f"{name}={_one_line(formatting.compact(given))}" for name, given in changed.items())
    return f"{type(value).__name__}({inside})"


def exact(value: Any) -> str:
    """All that Python prints of a parameter's value, on one line."""
    return _one_line(repr(value))


def changed_params(estimator: Any, every: bool = False) -> dict[str, Any]:
    """The parameters of an estimator that differ from its defaults; `every` one of them, or those that say what it learns."""
    kind: Any = type(estimator)
    defaults = _defaults(kind)
    return {
        name: value
        for name, value in own_params(estimator).items()
        if (every or name not in _NOT_TOLD) and key_of(value) != key_of(defaults.get(name))
    }


@lru_cache(maxsize=1024)
def _defaults(kind: Any) -> dict[str, Any]:
    """Defaults by parameter, also of the classes that a class passes its arguments on to."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        with suppress(ValueError, TypeError):  # a class that is not written in Python may have no signature
            found |= {name: p.default for name, p in inspect.signature(base.__init__).parameters.items()}
    return found


def _one_line(text: str) -> str:
    # Only at ends of lines: spaces inside of a text may tell two values apart.
    return re.sub(r"\s*[\r\n]\s*", " ", text)
