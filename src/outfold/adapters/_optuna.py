"""Optuna: studies whose trials keep scores of folds or out-of-fold predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import estimate as estimates
from ..arguments import check_count
from ..data.cells import State
from ..data.predictions import Predictions
from ..docstrings import fill_with
from ..estimate._default import default_method
from ..exceptions import InputError, invalid
from ..formatting import number
from ..io.convert import from_arrays
from ..results import Estimate
from ._fold_scores import scores_only, unknown_splits

# States of the trials that count: Optuna has "FAIL", "RUNNING" and "WAITING" beside them.
_ENDED = ("COMPLETE", "PRUNED")

_document = fill_with(
    {
        "kept": (
            "scores : str\n    The user attribute of a trial that has the scores of its folds.\n"
            "predictions : str\n    The user attribute of a trial that has its out-of-fold predictions."
        ),
        "study_options": (
            "n_samples : int or None\n    Number of samples, for scores of folds.\n"
            "repeats : int\n    Repeats of the folds, for scores of folds: one repeat after the other.\n"
            "metric : str\n    What the scores of folds are called; ``neg_`` is put before it if the study minimizes.\n"
            "y : array-like or None\n    The labels, for predictions.\n"
            "folds : array-like or None\n    The fold that held out each sample, for predictions."
        ),
        "study": (
            ">>> import optuna\n>>> import outfold as of\n>>> optuna.logging.set_verbosity(optuna.logging.WARNING)\n"
            ">>> def objective(trial):\n...     x = trial.suggest_float('x', 0, 1)\n"
            "...     scores = [0.7 + 0.1 * x * (k % 3) for k in range(10)]  # one for each fold\n"
            '...     trial.set_user_attr("fold_scores", scores)\n...     return sum(scores) / 10\n'
            ">>> sampler = optuna.samplers.RandomSampler(seed=0)\n"
            '>>> study = optuna.create_study(direction="maximize", sampler=sampler)'
        ),
    }
)


@_document
def from_study(
    study: Any,
    *,
    n_samples: int | None = None,
    repeats: int = 1,
    metric: str = "score",
    y: Any = None,
    folds: Any = None,
    scores: str = "fold_scores",
    predictions: str = "predictions",
    **options: Any,
) -> Predictions:
    """The trials of an Optuna study as configurations, from what each trial kept in its user attributes.

    In your objective, call ``trial.set_user_attr("fold_scores", [...])`` with the score of each fold, or
    ``trial.set_user_attr("predictions", [...])`` with the out-of-fold prediction of each sample. All trials must use the same
    folds. A pruned trial counts as dropped, with the folds it has: fewer scores, or predictions that are NaN for the other folds.
    A trial that failed or is still running is left out.

    Parameters
    ----------
    study : optuna.Study
        The study, with one objective.
    {study_options, kept}
    **options
        Further options of `from_arrays`, for predictions: `groups`, `response`, `positive`.
    Returns: {predictions}

    Examples: {study}
    >>> study.optimize(objective, n_trials=5)
    >>> oof = of.adapters.from_study(study, n_samples=100)
    >>> oof.n_configs, oof.n_folds
    (5, 10)
    """
    if len(study.directions) > 1:
        raise InputError("the study has several objectives; one is needed.")
    if y is None and n_samples is None:
        raise invalid(
            "n_samples", "must be given for scores of folds", "it is None", "For predictions, give `y` and `folds`."
        )
    key, each = (scores, "score for each fold") if y is None else (predictions, "prediction for each sample")
    trials = _ended(study, key)
    if not trials:
        remedy = f'Call `trial.set_user_attr("{key}", [...])` in the objective, with one {each}.'
        remedy += " If the trials keep predictions, give `y` and `folds`." if y is None else ""
        raise InputError(f"no finished trial has the user attribute {key!r}", remedy=remedy)
    if y is not None:
        oof = _from_predictions(trials, key, y, folds, options)
    else:
        oof = _from_scores(
            study, trials, key, check_count(n_samples, "n_samples"), check_count(repeats, "repeats"), metric
        )
    return replace(oof, provenance={"source": "Optuna"})


def _ended(study: Any, key: str) -> list[Any]:
    """The trials that kept something under a user attribute, without those that failed or have not ended."""
    return [trial for trial in study.trials if key in trial.user_attrs and trial.state.name in _ENDED]


def _facts(trials: list[Any]) -> dict[str, Any]:
    return {
        "configs": [f"trial {trial.number}" for trial in trials],
        "params": [dict(trial.params) for trial in trials],
    }


def _pruned(trials: list[Any]) -> NDArray[np.bool_]:
    return np.array([trial.state.name == "PRUNED" for trial in trials])


def _from_predictions(trials: list[Any], key: str, y: Any, folds: Any, options: Mapping[str, Any]) -> Predictions:
    columns = [np.asarray(trial.user_attrs[key]) for trial in trials]
    for trial, column in zip(trials, columns, strict=True):
        if column.shape != (len(y), *columns[0].shape[1:]):
            needed = f"must have one prediction for each of the {len(y):,} samples"
            given = f"those of trial {trial.number} have the shape {column.shape}"
            raise invalid(key, needed, given, "Put NaN where a pruned trial has none.")
    P = np.stack(columns, axis=1)
    pruned = _pruned(trials)
    absent = (P != P) & pruned.reshape(-1, *[1] * (P.ndim - 2))  # NaN is not equal to itself
    masked = np.ma.MaskedArray(P, mask=absent)
    oof = from_arrays(y, masked[:, :, None] if P.ndim == 3 else masked, folds, **_facts(trials), **options)
    state = oof.state.copy()
    state[(state == State.PENDING) & pruned[:, None, None]] = State.DROPPED
    return replace(oof, state=state)


def _from_scores(study: Any, trials: list[Any], key: str, n_samples: int, repeats: int, metric: str) -> Predictions:
    lists = [list(trial.user_attrs[key]) for trial in trials]
    n_splits = max(map(len, lists), default=0)
    if n_splits < 2 or n_splits % repeats:
        given = f"trials have up to {n_splits} scores and there are {repeats} repeats"
        raise invalid(key, "must have one score for each fold of each repeat", given)
    minimizes = study.direction.name == "MINIMIZE"
    values = np.full((len(lists), n_splits), np.nan)
    for row, own in zip(values, lists, strict=True):
        row[: len(own)] = own
    state = np.where(np.isnan(values), State.FAILED, State.DONE).astype(np.uint8)
    state[np.isnan(values) & _pruned(trials)[:, None]] = State.DROPPED
    name = f"neg_{metric}" if minimizes else metric
    kept = {name: -values if minimizes else values}
    splits = unknown_splits(n_samples, n_splits // repeats, repeats, kept)
    return scores_only(scores=kept, splits=splits, selects=name, state=state, **_facts(trials))


@_document
class StudyCallback:
    """Tells after every few trials how good the best trial is, corrected for picking it.

    Give it to ``study.optimize(objective, callbacks=[...])``. It keeps the estimate in the user attribute ``outfold`` of the
    study, and the predictions in a file if you name one.

    Parameters
    ----------
    every : int
        Trials between two estimates.
    store : path or None
        An .oof file to write each time.
    tell : callable
        What to call with the line; None for nothing.
    **options
        Options of `from_study`, such as `n_samples`.

    Attributes
    ----------
    oof : Predictions or None
        The trials so far.
    estimate : Estimate or None
        The last estimate.

    Examples: {study}
    >>> live = of.adapters.StudyCallback(every=10, n_samples=100)
    >>> study.optimize(objective, n_trials=20, callbacks=[live])
    10 trials: best 0.7867, corrected 0.7851
    20 trials: best 0.7867, corrected 0.7851
    """

    def __init__(
        self,
        *,
        every: int = 10,
        store: str | Path | None = None,
        tell: Callable[[str], object] | None = print,
        **options: Any,
    ) -> None:
        self.every, self.store, self.tell, self.options = check_count(every, "every"), store, tell, options
        self.oof: Predictions | None = None
        self.estimate: Estimate | None = None

    def _can_estimate(self, study: Any) -> bool:
        """Whether a trial is complete: an error before that would end the study, though later trials may keep something."""
        kind, usual = ("scores", "fold_scores") if self.options.get("y") is None else ("predictions", "predictions")
        return not _pruned(_ended(study, self.options.get(kind, usual))).all()

    def __call__(self, study: Any, trial: Any) -> None:
        """Called by Optuna after each trial."""
        done = sum(other.state.name in _ENDED for other in study.trials)
        if done < 2 or done % self.every or not self._can_estimate(study):
            return
        self.oof = from_study(study, **self.options)
        method = getattr(estimates, default_method(self.oof, None, None))
        self.estimate = method(self.oof)
        if self.store is not None:
            self.oof.save(self.store)
        known = {"trials": done, "best": self.estimate.naive, "corrected": self.estimate.value}
        study.set_user_attr("outfold", known | {"method": self.estimate.method})
        if self.tell is not None:
            best, corrected = number(self.estimate.naive), number(self.estimate.value)
            self.tell(f"{done:,} trials: best {best}, corrected {corrected}")
