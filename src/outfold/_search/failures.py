"""Failed fits, as scikit-learn's users know them: a warning with the reason, or the exception itself."""

from __future__ import annotations

import pickle
import warnings
from collections import Counter

import numpy as np

from .._collect.data import Samples, as_features, as_labels
from .._collect.recipes import make_recipes, seed_of
from .._collect.respond import Reader
from .._configs import Configs
from .._predictions import Predictions, State
from ..exceptions import InputError
from .task import Task


def warn(oof: Predictions) -> None:
    """One FitFailedWarning that counts the failed fits and names the most common reason."""
    from sklearn.exceptions import FitFailedWarning

    states = oof.state[:, oof.planned]
    n = int(np.sum(states == State.FAILED))
    if n:
        reason = Counter(oof.messages.values()).most_common(1)[0][0]
        warnings.warn(
            f"{n} of {states.size} fits failed; their configurations cannot be selected. The most common reason: "
            f"{reason} Use error_score='raise' to see the exception.",
            FitFailedWarning,
            stacklevel=3,
        )


def raise_first(task: Task, configs: Configs, message: str, oof: Predictions | None = None) -> None:
    """Fit the first failed cell once more in this process, where its exception can be seen.

    Parameters
    ----------
    task, configs
        What was collected.
    message
        What to say should the fit succeed this time.
    oof
        The predictions; None where all configurations failed.
    """
    if oof is None:
        splits = task.plan.split(task.target, task.groups, task.seed)
        name, (repeat, fold) = next(iter(configs)), splits.cells[0]
    else:
        splits = oof.splits
        name, repeat, fold = min(oof.messages, key=lambda cell: (oof.configs.index(cell[0]), *cell[1:]))
        message = oof.messages[name, repeat, fold]
    (recipe,) = make_recipes({name: configs[name]}, pickle.dumps)
    samples = Samples(as_features(task.X, len(task.target)), as_labels(task.y), task.fit_params)
    part = samples.part(splits.train_rows(repeat, fold), (splits.test_rows(repeat, fold),), private=True)
    model = recipe.make(seed_of(task.seed, repeat, fold))
    model.fit(part.X, part.y, **part.fit_params)
    Reader.of(task.response, task.target)(model, part.tests[0])
    raise InputError(f"{name!r} failed in repeat {repeat}, fold {fold}: {message}")
