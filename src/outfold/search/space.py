"""The configurations that a search tries: from a grid, drawn at random, given by name, or suggested by Optuna."""

from __future__ import annotations

import copy
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import formatting
from ..arguments import check_count
from ..data.predictions import Predictions
from ..exceptions import CollectError, InputError, got, invalid
from ..fitting.configs import Configs, as_configs, short_names
from ..fitting.estimators import Variants, key_of
from .naming import WORDINGS, name_of, names_of

# A random draw may repeat a configuration: give up after this many draws for each one wanted.
_DRAWS_PER_CONFIG = 100
_DEFAULT_DRAWS = 10  # as RandomizedSearchCV's n_iter


class Space(NamedTuple):
    """The configurations of a search, and what ``cv_results_["params"]`` says of each."""

    configs: Configs
    params: list[dict[str, Any]]
    named: bool = False  # the configurations were given by name


def make_space(
    estimator: Any, grid: Any, search: str, n_configs: int | None, random_state: int | np.random.RandomState
) -> Space:
    """All configurations of a grid, or `n_configs` of them drawn at random without replacement."""
    if search == "grid" and n_configs is not None:
        given = "`n_configs` is for `search='random'`, 'halving' or a sampler"
        raise invalid("search='grid'", "tries the whole grid", given)
    if search == "random" and n_configs is None:
        n_configs = _DEFAULT_DRAWS
    if n_configs is not None:
        n_configs = check_count(n_configs, "n_configs")
    if isinstance(estimator, Mapping):
        return _named(estimator, grid, n_configs, random_state)
    found = _all_of(grid, search) if n_configs is None else _some_of(grid, n_configs, random_state)
    return _name_all(estimator, found)


def _named(
    given: Mapping[str, Any], grid: Any, n_configs: int | None, random_state: int | np.random.RandomState
) -> Space:
    if grid is not None:
        raise InputError("named configurations take no `grid`.", remedy="Give a grid with one estimator, or no grid.")
    configs = as_configs(given)
    names = list(configs)
    if n_configs is not None:
        n_configs = _at_most(n_configs, len(names))
        rng: Any = random_state
        if not isinstance(rng, np.random.RandomState):
            rng = np.random.default_rng(rng)
        picked = rng.choice(len(names), n_configs, replace=False)
        names = [names[i] for i in np.sort(picked)]
    params = configs.params
    chosen = Configs({name: configs[name] for name in names}, {name: params[name] for name in names})
    return Space(chosen, [{"config": name, **params[name]} for name in names], named=True)


def _all_of(grid: Any, search: str) -> list[dict[str, Any]]:
    from sklearn.model_selection import ParameterGrid

    parts = [grid] if isinstance(grid, Mapping) else list(grid or ())
    drawn = next((p for part in parts if isinstance(part, Mapping) for p, v in part.items() if hasattr(v, "rvs")), None)
    if drawn is not None:
        instead = "search='random'" if search == "grid" else f"search={search!r}"
        like = ", or with `n_iter=20` as in RandomizedSearchCV" if search == "grid" else ""
        remedy = f"Draw from it with `{instead}` and `n_configs=20`{like}; or give a list of values."
        raise invalid(f"search={search!r}", "tries all values of the grid", f"{drawn!r} is a distribution", remedy)
    # ParameterGrid's order, so that best_index_ means what it means in GridSearchCV.
    found = list(ParameterGrid({} if grid is None else grid))
    if not found:
        raise InputError("the grid is empty.", remedy="Give at least one value of each parameter.")
    return found


def _some_of(grid: Any, n_configs: int, random_state: int | np.random.RandomState) -> list[dict[str, Any]]:
    from sklearn.model_selection import ParameterGrid, ParameterSampler

    parts = [grid or {}] if grid is None or isinstance(grid, Mapping) else list(grid)
    if not all(isinstance(part, Mapping) for part in parts):
        raise invalid("grid", "must be a dict of values by parameter, or a list of such dicts", got(grid))
    if not has_distributions(parts):
        n_configs = _at_most(n_configs, len(ParameterGrid(parts)))
        return list(ParameterSampler(parts, n_configs, random_state=random_state))
    drawn: dict[str, dict[str, Any]] = {}
    with np.printoptions(threshold=sys.maxsize):  # else long arrays look alike
        for params in ParameterSampler(parts, n_configs * _DRAWS_PER_CONFIG, random_state=random_state):
            drawn.setdefault(repr(sorted(params.items(), key=lambda item: item[0])), params)
            if len(drawn) == n_configs:
                break
    _at_most(n_configs, len(drawn))
    return list(drawn.values())


def _at_most(n_configs: int, n: int) -> int:
    """How many configurations to try; a warning, as in RandomizedSearchCV, if the space holds fewer than asked for."""
    if n_configs > n:
        holds = f"The total space of parameters {n} is smaller than n_iter={n_configs}"
        warnings.warn(f"{holds} (`n_configs`): all of its configurations are tried.", UserWarning, stacklevel=4)
    return min(n_configs, n)


def _name_all(estimator: Any, params: Sequence[Mapping[str, Any]]) -> Space:
    """A clone of the estimator for every dict of parameters, under names that differ."""
    short = short_names({name for part in params for name in part})
    variants = Variants(estimator)
    made = [variants.make(part, name_of(estimator, part)) for part in params]
    names = names_of(made, params)
    varied = [{short[p]: value for p, value in part.items()} for part in params]
    configs = Configs(zip(names, made, strict=True), dict(zip(names, varied, strict=True)))
    return Space(configs, [dict(part) for part in params])


def has_distributions(grid: Any) -> bool:
    """Whether a grid holds distributions, so that configurations have to be drawn."""
    parts = [grid] if isinstance(grid, Mapping) else list(grid or ())
    return any(hasattr(values, "rvs") for part in parts if isinstance(part, Mapping) for values in part.values())


def is_sampler(search: Any) -> bool:
    """Whether this is a sampler or a study of Optuna, known without importing it."""
    return hasattr(search, "sample_relative") or (hasattr(search, "ask") and hasattr(search, "tell"))


def ask_and_collect(
    search: Any,
    collect_into: Callable[[Configs, str | Path], Predictions],
    score: Callable[[Predictions, str], float],
) -> tuple[Space, Predictions]:
    """Ask for configurations one by one, collect each on all folds into one store, and tell its score.

    `search` is the `SelectCV`; `collect_into` collects configurations into a store and returns all that is in it; `score`
    is that of one configuration, greater is better.
    """
    study = _Study(search.search, search._grid)
    found = _Suggestions(search.estimator)
    with ExitStack() as stack:
        path = search.store
        if path is None:
            path = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "search.oof"
        problem: CollectError | None = None
        for _ in range(_DEFAULT_DRAWS if search.n_configs is None else search.n_configs):
            trial, params = study.ask()
            name = found.add(params)
            try:
                oof = collect_into(found.configs([name]), path)
                study.tell(trial, score(oof, name))
            except CollectError as error:  # the failed cells are in the store, with their messages
                problem = error
                study.tell(trial, np.nan)
                if search.error_score == "raise":
                    raise
        # Here, because a search without a sampler needs no database.
        from ..data.stored import in_memory
        from ..io.store import load

        oof = load(path)
        if problem is not None and len(found.params) == len({name for name, _, _ in oof.messages}):
            raise problem
        names = list(found.params)
        return Space(found.configs(names), list(found.params.values())), in_memory(oof.sel(config=names))


class _Study:
    """Asking and telling, in the direction of the study."""

    def __init__(self, sampler: Any, grid: Any) -> None:
        try:
            import optuna
        except ImportError:
            remedy = "pip install 'outfold[optuna]'"
            problem = "a sampler needs Optuna, which is not installed."
            raise InputError(problem, remedy=remedy, page="extras") from None
        if grid is None or not (callable(grid) or isinstance(grid, Mapping)):
            needed = "must hold Optuna distributions by parameter, or be a function of a trial that returns parameters"
            raise invalid("grid", needed, f"got {type(grid).__name__}")
        if isinstance(grid, Mapping):
            _refuse_other_distributions(grid, optuna.distributions.BaseDistribution)
        self.grid, self.study = grid, sampler
        if not hasattr(sampler, "ask"):
            # A copy: fitting must not change the search, and fitting again must give the same result.
            self.study = optuna.create_study(sampler=copy.deepcopy(sampler), direction="maximize")
        if len(self.study.directions) > 1:
            raise InputError("the study has several objectives, but a search tells it one score.")
        self.sign = 1.0 if self.study.direction == optuna.study.StudyDirection.MAXIMIZE else -1.0
        self.failed = optuna.trial.TrialState.FAIL

    def ask(self) -> tuple[Any, dict[str, Any]]:
        if callable(self.grid):
            trial = self.study.ask()
            return trial, dict(self.grid(trial))
        trial = self.study.ask(fixed_distributions=dict(self.grid))
        return trial, dict(trial.params)

    def tell(self, trial: Any, score: float) -> None:
        if np.isnan(score):
            self.study.tell(trial, state=self.failed)
        else:
            self.study.tell(trial, self.sign * score)


def _refuse_other_distributions(grid: Mapping[str, Any], kind: type) -> None:
    """Refuse lists and distributions of scipy, which the other searches take."""
    wrong = next((name for name, values in grid.items() if not isinstance(values, kind)), None)
    if wrong is None:
        return
    what = "a distribution of scipy" if hasattr(grid[wrong], "rvs") else formatting.shorten(repr(grid[wrong]), 60)
    needed = "must hold Optuna distributions if `search` is an Optuna sampler"
    numbers = "FloatDistribution(low, high, log=True), IntDistribution(low, high)"
    remedy = f"Give {numbers} or CategoricalDistribution(values) of `optuna.distributions`."
    raise invalid("grid", needed, f"{wrong!r} is {what}", remedy)


def _same(some: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    # By keys: a function that suggests estimators makes new ones in each trial, and two of them are never ==.
    return {p: key_of(value) for p, value in some.items()} == {p: key_of(value) for p, value in others.items()}


class _Suggestions:
    """The configurations suggested so far, each of them once."""

    def __init__(self, estimator: Any) -> None:
        self.estimator, self.variants = estimator, Variants(estimator)
        self.params: dict[str, dict[str, Any]] = {}
        self.models: dict[str, Any] = {}

    def add(self, params: dict[str, Any]) -> str:
        model = self.variants.make(params, name_of(self.estimator, params))
        for wording in WORDINGS:
            name = name_of(model, params, wording)
            if _same(self.params.get(name, params), params):
                break
        self.params[name], self.models[name] = params, model
        return name

    def configs(self, names: Sequence[str]) -> Configs:
        shorts = {name: short_names(self.params[name]) for name in names}
        varied = {name: {short[p]: value for p, value in self.params[name].items()} for name, short in shorts.items()}
        return Configs({name: self.models[name] for name in names}, varied)
