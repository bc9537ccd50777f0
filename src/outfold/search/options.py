"""The options of a search: what they mean together, and which contradict each other."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np

from ..arguments import check_count, is_number, is_whole_number
from ..exceptions import InputError, got, invalid
from ..fitting.estimators import check_estimator
from .space import is_sampler

# The names by which the values to try may be given.
GRID_NAMES = ("grid", "param_grid", "param_distributions")
_SAME_NUMBER = (("n_configs", "n_iter"), ("n_configs", "n_candidates"), ("n_iter", "n_candidates"))
# Folds are what halving deals out here, so amounts of another resource mean nothing: only these values are taken.
_RESOURCES = {"resource": ("n_samples",), "max_resources": ("auto",), "min_resources": ("exhaust", "smallest")}


def check_options(search: Any) -> None:
    """Refuse options of a search that contradict each other or mean nothing."""
    estimator, sampler = search._prototype(), is_sampler(search.search)
    check_estimator(estimator, None)
    for one, other in (*combinations(GRID_NAMES, 2), *_SAME_NUMBER):
        if _is_given(search, one) and _is_given(search, other):
            raise InputError(f"`{one}` and `{other}` are two names for one thing.", remedy="Give one of them.")
    if sampler and isinstance(search.estimator, Mapping):
        remedy = "Give an estimator and a grid of distributions."
        raise InputError("a sampler sets the parameters of one estimator.", remedy=remedy)
    if sampler and search.repeats == "auto":
        remedy = "Give a number of `repeats` instead of 'auto'."
        raise InputError("a sampler needs scores of the same folds each time.", remedy=remedy)
    if not sampler and search.search not in ("grid", "random", "halving"):
        needed = "must be 'grid', 'random', 'halving' or an Optuna sampler or study"
        raise invalid("search", needed, got(search.search))
    if callable(search.refit) and search.rule is not None:
        raise InputError("`rule` and a `refit` function both select the configuration.", remedy="Give one of them.")
    if not (isinstance(search.refit, (bool, str, np.bool_)) or callable(search.refit)):
        needed = "must be True, False, the name of a scorer or a function of cv_results_"
        raise invalid("refit", needed, got(search.refit))
    if not (isinstance(search.error_score, Real) or search.error_score == "raise"):
        raise invalid("error_score", "must be a number or 'raise'", got(search.error_score))
    check_count(search.seeds, "seeds", 1)
    _check_halving(search)


def _is_given(search: Any, name: str) -> bool:
    value = getattr(search, name)
    return value is not None and not (isinstance(value, str) and value == "exhaust")


def _check_halving(search: Any) -> None:
    """Refuse what contradicts halving over folds, and what only halving knows in other searches."""
    if search.search != "halving":
        given = [name for name in ("factor", "n_candidates") if _is_given(search, name)]
        given += [name for name in _RESOURCES if not _is_default(search, name)]
        given += ["aggressive_elimination"] if search.aggressive_elimination else []
        if given:
            raise invalid(given[0], "is for `search='halving'`", f"got `search={search.search!r}`")
        return
    if search.drop is not True:
        problem = "`search='halving'` decides itself which configurations to drop."
        raise InputError(problem, remedy="Leave `drop=True`, or use `search='grid'`.")
    if search.factor is not None and not (is_number(search.factor) and search.factor > 1):
        raise invalid("factor", "must be a number above 1, or None for 2", got(search.factor))
    remedy = "Leave it out; the number of folds (`cv`) says how often configurations are dropped."
    for name, allowed in _RESOURCES.items():
        if not _is_default(search, name):
            needed = f"must be {' or '.join(map(repr, allowed))}: halving goes from fold to fold"
            raise invalid(name, needed, got(getattr(search, name)), remedy)


def _is_default(search: Any, name: str) -> bool:
    """Whether a resource has a value that HalvingGridSearchCV or HalvingRandomSearchCV has by default."""
    value = getattr(search, name)
    return isinstance(value, str) and value in _RESOURCES[name]


def seed_of_random_state(random_state: Any) -> int:
    """The seed that a `random_state` means."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if is_whole_number(random_state) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):  # a copy, so that the search draws what scikit-learn's draws
        return int(deepcopy(random_state).randint(2**31 - 1))
    raise invalid("random_state", "must be a whole number from 0, or None to draw one", got(random_state))
