"""A search whose configurations an Optuna sampler or study suggests, by ask and tell."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from .. import formatting
from ..data.predictions import Predictions
from ..exceptions import CollectError, InputError, invalid
from ..fitting.configs import Configs, short_names
from ..fitting.estimators import Variants
from ..formatting import compact
from ..io.store import load
from .space import Space, name_of

_DEFAULT_ASKED = 10


def is_sampler(search: Any) -> bool:
    """Whether this is a sampler or a study of Optuna, known without importing it."""
    return hasattr(search, "sample_relative") or (hasattr(search, "ask") and hasattr(search, "tell"))


def ask_and_collect(
    estimator: Any,
    grid: Any,
    sampler: Any,
    n_configs: int | None,
    store: Any,
    collect_into: Callable[[Configs, Path], Predictions],
    score: Callable[[Predictions, str], float],
    raises: bool = False,
) -> tuple[Space, Predictions]:
    """Ask for configurations one by one, collect each on all folds into one store, and tell its score.

    Parameters
    ----------
    estimator : estimator
        Its parameters are set.
    grid : dict or callable
        Optuna distributions by parameter, or a callable that takes an Optuna trial and returns parameters.
    sampler : optuna sampler or study
        A copy of a sampler works on a study in memory. A study is asked and told, and nothing else.
    n_configs : int or None
        How often to ask; 10 times if None.
    store : path or None
        The file to collect into; a temporary one if None.
    collect_into : callable
        Collects configurations into a store and returns all that is in it.
    score : callable
        The score of one configuration; greater is better.
    raises : bool
        Whether the first suggestion that fails ends the search.

    Returns
    -------
    tuple of Space and Predictions
        What was tried, and the predictions.
    """
    study = _Study(sampler, grid)
    found = _Suggestions(estimator)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory()) if store is None else None
        path = Path(store) if folder is None else Path(folder) / "search.oof"
        problem: CollectError | None = None
        for _ in range(_DEFAULT_ASKED if n_configs is None else n_configs):
            trial, params = study.ask()
            name = found.add(params)
            try:
                oof = collect_into(found.only(name), path)
                study.tell(trial, score(oof, name))
            except CollectError as error:  # the failed cells are in the store, with their messages
                problem = error
                study.tell(trial, np.nan)
                if raises:
                    raise
        oof = load(path)
        if problem is not None and len(found.params) == len({name for name, _, _ in oof.messages}):
            raise problem
        return found.space(), oof.sel(config=list(found.params))


class _Study:
    """Asking and telling, in the direction of the study."""

    def __init__(self, sampler: Any, grid: Any) -> None:
        optuna = _optuna()
        if grid is None or not (callable(grid) or isinstance(grid, Mapping)):
            needed = "must hold Optuna distributions by parameter, or be a function of a trial that returns parameters"
            raise invalid("grid", needed, f"got {type(grid).__name__}")
        if isinstance(grid, Mapping):
            _refuse_other_distributions(grid, optuna.distributions.BaseDistribution)
        self.grid = grid
        if hasattr(sampler, "ask"):
            self.study = sampler
        else:
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
    raise invalid(
        "grid",
        "must hold Optuna distributions if `search` is an Optuna sampler",
        f"{wrong!r} is {what}",
        "Give FloatDistribution(low, high, log=True), IntDistribution(low, high) or CategoricalDistribution(values) "
        "of `optuna.distributions`.",
    )


class _Suggestions:
    """The configurations suggested so far, each of them once."""

    def __init__(self, estimator: Any) -> None:
        self.estimator, self.variants = estimator, Variants(estimator)
        self.params: dict[str, dict[str, Any]] = {}
        self.models: dict[str, Any] = {}

    def add(self, params: dict[str, Any]) -> str:
        short = short_names(params)
        model = self.variants.make(params, name_of(self.estimator, params, short))
        for form in (compact, repr):
            name = name_of(model, params, short, form)
            if self.params.get(name, params) == params:
                break
        self.params[name], self.models[name] = params, model
        return name

    def only(self, name: str) -> Configs:
        return Configs({name: self.models[name]}, {name: self._short(name)})

    def space(self) -> Space:
        configs = Configs(self.models, {name: self._short(name) for name in self.models})
        return Space(configs, list(self.params.values()))

    def _short(self, name: str) -> dict[str, Any]:
        short = short_names(self.params[name])
        return {short[p]: value for p, value in self.params[name].items()}


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise InputError(
            "a sampler needs Optuna, which is not installed.", remedy="pip install 'outfold[optuna]'"
        ) from None
    return optuna
