"""`refit`: the selected configuration, fitted on all data."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..data.predictions import Predictions
from ..exceptions import InputError
from ..stats.compiling import limit_threads
from .configs import as_configs
from .data import as_features, as_labels, digest
from .limits import own_random_state
from .recipes import make_recipes, seed_of

if TYPE_CHECKING:
    from ..metrics import MetricLike
    from ..select import RuleLike


def refit(
    oof: Predictions,
    configs: Any,
    X: Any,
    y: Any,
    metric: MetricLike,
    rule: RuleLike = None,
    *,
    fit_params: Mapping[str, Any] | None = None,
) -> Any:
    """The configuration selected by metric and rule, fitted on all samples.

    Parameters
    ----------
    oof
        The predictions that the selection is made on.
    configs, X, y
        What they were collected from; others are refused.
    metric, rule
        How to select; the same as in the estimate that goes with the model.
    fit_params
        Arguments of ``fit``.

    Returns
    -------
    estimator
        A fitted clone; what it leaves open as ``random_state=None`` is seeded from the seed of the predictions.
    """
    from ..metrics._scoring import Scoring
    from ..select import choose

    return refit_one(oof, configs, X, y, choose(Scoring(oof, metric), rule).name, fit_params or {})


def refit_one(
    oof: Predictions, configs: Any, X: Any, y: Any, selected: str, fit_params: Mapping[str, Any], alike: bool = False
) -> Any:
    """The configuration of this name, fitted on all samples; `alike` where configs, X and y are known to be the same."""
    named = as_configs(configs)
    if selected not in named:
        raise InputError(
            f"the selected configuration {selected!r} is not among the configs; give those the predictions came from."
        )
    (recipe,) = make_recipes({selected: named[selected]}, pickle.dumps)
    text = oof.provenance.get("specs", {}).get(selected)
    if text is not None and text != recipe.text:
        raise InputError(f"the configuration {selected!r} has other parameters than the one the predictions came from.")
    features, labels = as_features(X, oof.n_samples), as_labels(y)
    if not alike:
        _refuse_other_data(oof, features, labels)
    seed = seed_of(int(oof.provenance.get("seed", 0)))
    limits = limit_threads("blas"), limit_threads("openmp", int(oof.provenance.get("threads", 1)))
    with limits[0], limits[1], own_random_state() as seed_globals:
        seed_globals(seed)
        model = recipe.make(seed)
        model.fit(features, labels, **fit_params)
    return model


def _refuse_other_data(oof: Predictions, features: Any, labels: Any) -> None:
    for what, values, key in (("X", features, "data"), ("y", labels, "labels")):
        if key in oof.provenance and oof.provenance[key] != digest(values):
            raise InputError(
                f"{what} is not what the predictions came from, so the estimate would not be of this model. Give the same "
                f"{what}; for other data fit a clone of the configuration yourself."
            )
