"""The configurations that a search tries: named estimators, made from an estimator and a grid or given by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import formatting
from ..exceptions import InputError, got, invalid
from ..fitting.configs import Configs, as_configs, short_names
from ..fitting.estimators import Variants, check_estimator
from ..formatting import compact

# A random draw may repeat a configuration: give up after this many draws for each one wanted.
_DRAWS_PER_CONFIG = 100
_DEFAULT_DRAWS = 10  # as RandomizedSearchCV's n_iter


class Space(NamedTuple):
    """The configurations of a search, and what ``cv_results_["params"]`` says of each."""

    configs: Configs
    params: list[dict[str, Any]]


def make_space(estimator: Any, grid: Any, search: str, n_configs: int | None, seed: int) -> Space:
    """All configurations of a grid, or some of them drawn at random without replacement.

    Parameters
    ----------
    estimator : estimator or dict
        An estimator, or named configurations.
    grid : dict, list of dict or None
        Values by parameter; also distributions, if configurations are drawn.
    search : str
        ``"grid"``, ``"random"`` or ``"halving"``.
    n_configs : int or None
        How many to draw; None for all of them (10 for ``"random"``).
    seed : int
        Seed of the draw.

    Returns
    -------
    Space
        The configurations and their parameters.
    """
    if n_configs is not None and (isinstance(n_configs, bool) or not isinstance(n_configs, (int, np.integer))):
        raise invalid("n_configs", "must be a whole number or None", got(n_configs))
    if n_configs is not None and n_configs < 1:
        raise invalid("n_configs", "must be at least 1", got(n_configs))
    if search == "grid" and n_configs is not None:
        raise InputError(
            "`search='grid'` tries the whole grid; `n_configs` is for `search='random'`, 'halving' or a sampler."
        )
    if search == "random" and n_configs is None:
        n_configs = _DEFAULT_DRAWS
    if isinstance(estimator, Mapping):
        return _named(estimator, grid, n_configs, seed)
    check_estimator(estimator, None)
    if n_configs is None:
        _refuse_distributions(grid, search)
        return name_all(estimator, _all_of(grid))
    return name_all(estimator, _some_of(grid, n_configs, seed))


def _named(given: Mapping[str, Any], grid: Any, n_configs: int | None, seed: int) -> Space:
    if grid is not None:
        raise InputError("named configurations take no `grid`.", remedy="Give a grid with one estimator, or no grid.")
    configs = as_configs(given)
    if not configs:
        raise InputError(
            "there is no configuration to try.", remedy="Give an estimator with a `grid`, or a dict of estimators."
        )
    names = list(configs)
    if n_configs is not None:
        _refuse_too_many(n_configs, len(names))
        picked = np.random.default_rng(seed).choice(len(names), n_configs, replace=False)
        names = [names[i] for i in np.sort(picked)]
    params = configs.params
    chosen = Configs({name: configs[name] for name in names}, {name: params[name] for name in names})
    return Space(chosen, [{"config": name, **params[name]} for name in names])


def _all_of(grid: Any) -> list[dict[str, Any]]:
    from sklearn.model_selection import ParameterGrid

    # ParameterGrid's order, so that best_index_ means what it means in GridSearchCV.
    found = list(ParameterGrid({} if grid is None else grid))
    if not found:
        raise InputError("the grid is empty.", remedy="Give at least one value of each parameter.")
    return found


def _refuse_distributions(grid: Any, search: str) -> None:
    """Refuse a distribution where all values would be tried."""
    parts = [grid] if isinstance(grid, Mapping) else list(grid or ())
    drawn = next((p for part in parts if isinstance(part, Mapping) for p, v in part.items() if hasattr(v, "rvs")), None)
    if drawn is not None:
        instead = "search='random'" if search == "grid" else f"search={search!r}"
        remedy = f"Draw from it with `{instead}` and `n_configs=20`, or give a list of values."
        raise invalid(f"search={search!r}", "tries all values of the grid", f"{drawn!r} is a distribution", remedy)


def _some_of(grid: Any, n_configs: int, seed: int) -> list[dict[str, Any]]:
    from sklearn.model_selection import ParameterGrid, ParameterSampler

    parts = [{} if grid is None else grid] if grid is None or isinstance(grid, Mapping) else list(grid)
    if not all(isinstance(part, Mapping) for part in parts):
        needed = "must be a dict of values by parameter, or a list of such dicts"
        raise invalid("grid", needed, got(grid))
    if not any(hasattr(values, "rvs") for part in parts for values in part.values()):
        _refuse_too_many(n_configs, len(ParameterGrid(parts)))
        return list(ParameterSampler(parts, n_configs, random_state=seed))
    drawn: dict[str, dict[str, Any]] = {}
    for params in ParameterSampler(parts, n_configs * _DRAWS_PER_CONFIG, random_state=seed):
        drawn.setdefault(repr(sorted(params.items(), key=lambda item: item[0])), params)
        if len(drawn) == n_configs:
            break
    _refuse_too_many(n_configs, len(drawn))
    return list(drawn.values())


def _refuse_too_many(n_configs: int, n: int) -> None:
    if n_configs > n:
        raise invalid(
            f"n_configs={n_configs}",
            f"is more than the space holds ({formatting.count(n, 'configuration')})",
            remedy="Use `search='grid'` for all of them, or a larger space.",
        )


# -- names ----------------------------------------------------------------------------------------------


def name_all(estimator: Any, params: Sequence[Mapping[str, Any]]) -> Space:
    """A clone of the estimator for every dict of parameters, under names that differ."""
    short = short_names({name for part in params for name in part})
    variants = Variants(estimator)
    made = [variants.make(part, name_of(estimator, part, short)) for part in params]
    for form in (compact, repr):
        names = [name_of(model, part, short, form) for model, part in zip(made, params, strict=True)]
        if len(set(names)) == len(names):
            break
    names = _distinct(names)
    varied = [{short[p]: value for p, value in part.items()} for part in params]
    configs = Configs(zip(names, made, strict=True), dict(zip(names, varied, strict=True)))
    return Space(configs, [dict(part) for part in params])


def name_of(
    estimator: Any, params: Mapping[str, Any], short: Mapping[str, str], form: Callable[[Any], str] = compact
) -> str:
    """``SVC(C=1, gamma=0.1)``; a pipeline is called by its last step."""
    last = estimator
    while hasattr(last, "steps") and hasattr(last.steps[-1][1], "fit"):
        last = last.steps[-1][1]
    inside = ", ".join(f"{short[p]}={form(value)}" for p, value in params.items())
    return f"{type(last).__name__}({inside})" if inside else type(last).__name__


def _distinct(names: Iterable[str]) -> list[str]:
    """The second of two equal names gets a number: a grid may hold a configuration twice, as in GridSearchCV."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return out
