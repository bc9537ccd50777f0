"""From the request of a search to its predictions: by one job, or by one for each configuration that a sampler asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import select
from ..data.notes import Note
from ..data.predictions import Predictions
from ..exceptions import InputError
from ..fitting.api import run_job
from ..fitting.configs import Configs
from ..fitting.job import Options, make_job
from . import cv_results
from .callbacks import Callbacks
from .cv_results import FromResults
from .request import FitRequest
from .space import Space, ask_and_collect

# Collects configurations into a store, with a rule that selects and one that drops.
Collect = Callable[[Configs, Any, Any, Any], Predictions]


def collect_predictions(
    search: Any, request: FitRequest, space: Space | None, callbacks: Callbacks | None
) -> tuple[Space, Predictions]:
    """The configurations and their predictions; no `space` if a sampler is to ask for configurations one by one."""

    def collect(configs: Configs, store: Any, rule: Any, drop: Any) -> Predictions:
        job = make_job(configs, request.X, request.y, _options(search, request, store, rule, drop, callbacks))
        if callbacks is not None:
            more = "configs" if space is None else "repeats" if search.repeats == "auto" else ""
            callbacks.begin_search(list(configs), job.splits, more)
        return run_job(job)

    if space is None:
        found = _asked_for(search, request, collect)
    else:
        oof = collect(space.configs, search.store, selection_rule(search, request, space), _drop_rule(search, request))
        found = space, oof.sel(config=list(space.configs))  # the store may hold configurations of earlier searches
    if callbacks is not None:
        callbacks.end_search()
    return found


def _asked_for(search: Any, request: FitRequest, collect: Collect) -> tuple[Space, Predictions]:
    """What a sampler asks for, which is told the mean score of each configuration."""
    if request.scorers.main is None:
        raise InputError("a sampler must be told one score.", remedy="Let `refit` name the scorer.")
    metric, scorer = request.told_metric(search.refit), request.scorers.scorers[request.scorers.main]

    def score(oof: Predictions, name: str) -> float:
        return metric.sign * float(np.mean(cv_results.split_scores(oof.sel(config=name), metric, scorer)))

    return ask_and_collect(search, lambda configs, path: collect(configs, path, search.rule, None), score)


def _options(
    search: Any, request: FitRequest, store: Any, rule: Any, drop: Any, callbacks: Callbacks | None
) -> Options:
    data = {"groups": request.groups, "fit_params": request.fit_params, "positive": request.positive}
    what = {"rng": request.seed, "response": request.response, "task": request.kind, "repeats": search.repeats}
    how = {"n_jobs": search.n_jobs, "store": store, "share": search.share, "drop": drop, "seeds": search.seeds}
    shown = {"progress": "always" if search.verbose > 0 else False, "around": callbacks, "rescue": request.rescue}
    failing = {"on_error": "raise" if search.error_score == "raise" else "keep"}
    selects: dict[str, Any] = {"metric": request.expected_metric(search.refit), "aggregate": "fold", "rule": rule}
    selects["scorers"] = request.live
    return Options.checked(request.plan, **data, **what, **how, **selects, **shown, **failing)


def _drop_rule(search: Any, request: FitRequest) -> Any:
    """What drops configurations; True drops only where the best score selects and stored predictions tell it."""
    if search.search == "halving":
        from .halving import Halving  # here: other searches may need no rule at all

        return Halving(factor=search._factor, aggressive=bool(search.aggressive_elimination))
    if search.drop is True:
        main = None if callable(search.refit) else request.scorers.main
        if main is None or search.rule not in (None, select.best):
            return False
        # What a metric may refuse is known only when all is collected.
        refuses = request.metrics[main].above is not None
        return not request.metrics[main].looped and main not in request.scorers.live and not refuses
    return search.drop


def selection_rule(search: Any, request: FitRequest, space: Space) -> Any:
    """How the configuration is selected from the scores of the folds."""
    if not callable(search.refit):
        return search.rule
    return FromResults(search.refit, space.params, request.scorers, request.kind)


def notes_on(search: Any, request: FitRequest) -> list[Note]:
    """What the user should know of weights and of halving."""
    notes = []
    weighted = any(name.endswith("sample_weight") and w is not None for name, w in request.fit_params.items())
    if weighted and not (request.live and request.live.params):
        notes.append(Note("OF104", "sample weights were used in the fits; in the scores every sample counts once."))
    if search.search == "halving":
        text = "halving dropped configurations on few folds; the estimate corrects for the last ones only."
        notes.append(Note("OF211", text))
    return notes
