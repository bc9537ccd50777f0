"""Optuna: studies whose trials keep scores of folds or out-of-fold predictions."""

from __future__ import annotations

import inspect
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
from ..data.target import missing_values
from ..docstrings import fill_with
from ..estimate._default import default_method
from ..exceptions import FileError, InputError, invalid
from ..formatting import number
from ..io.convert import from_arrays
from ..io.tables import uniform
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
    _check_study(study)
    _check_options(n_samples, y, options)
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


def _check_study(study: Any) -> None:
    if not hasattr(study, "directions"):
        remedy = "Read several studies one by one; `join` puts predictions of the same samples and folds together."
        raise invalid("study", "must be a study of Optuna", f"got {type(study).__name__}", remedy)
    if len(study.directions) > 1:
        raise InputError("the study has several objectives; one is needed.")


def _check_options(n_samples: Any, y: Any, options: Mapping[str, Any]) -> None:
    """Refuse options that can only fail after the trials have run."""
    if y is None and n_samples is None:
        raise invalid(
            "n_samples", "must be given for scores of folds", "it is None", "For predictions, give `y` and `folds`."
        )
    known = () if y is None else inspect.signature(from_arrays).parameters
    unknown = next((name for name in options if name not in known), None)
    if unknown is not None:
        kept = "scores of folds" if y is None else "predictions"
        remedy = "Options such as `groups` and `positive` are for predictions: give `y`." if y is None else ""
        raise InputError(f"{unknown!r} is not an option for {kept}", remedy=remedy)


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
    columns = [_column(trial, key) for trial in trials]
    for trial, column in zip(trials, columns, strict=True):
        if column.shape != (len(y), *columns[0].shape[1:]):
            needed = f"must have one prediction for each of the {len(y):,} samples"
            given = f"those of trial {trial.number} have the shape {column.shape}"
            raise invalid(key, needed, given, "Put NaN or None where a pruned trial has none.")
    P = np.stack(columns, axis=1)
    pruned = _pruned(trials)
    absent = _missing(P) & pruned.reshape(-1, *[1] * (P.ndim - 2))
    if absent.any() and not absent.all():
        P[absent] = P[~absent][0]  # any value of the right type, which the mask hides
    masked = np.ma.MaskedArray(uniform(P), mask=absent)
    oof = from_arrays(y, masked[:, :, None] if P.ndim == 3 else masked, folds, **_facts(trials), **options)
    state = oof.state.copy()
    state[(state == State.PENDING) & pruned[:, None, None]] = State.DROPPED
    return replace(oof, state=state)


def _column(trial: Any, key: str) -> NDArray[Any]:
    """The predictions of a trial; words as objects, because NaN beside them would become the word "nan"."""
    kept = trial.user_attrs[key]
    try:
        found = np.asarray(kept)
    except ValueError:  # rows of different lengths
        given = f"those of trial {trial.number} differ in length"
        raise invalid(key, "must have as many numbers for each sample", given) from None
    return np.array(kept, dtype=object) if found.dtype.kind == "U" else found


def _missing(P: NDArray[Any]) -> NDArray[np.bool_]:
    """True for NaN, which is not equal to itself, and for None."""
    return missing_values(P.ravel()).reshape(P.shape) if P.dtype.kind == "O" else P != P


def _scores_of(trial: Any, key: str) -> NDArray[np.float64]:
    """The scores of a trial, one for each fold."""
    kept = trial.user_attrs[key]
    try:
        found = np.array([np.nan if kept is None else kept for kept in list(kept)], dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(())
    if found.ndim != 1 or isinstance(kept, (str, Mapping)):
        raise invalid(key, "must be a list of numbers, one for each fold", f"trial {trial.number} has {kept!r:.60}")
    return found


def _from_scores(study: Any, trials: list[Any], key: str, n_samples: int, repeats: int, metric: str) -> Predictions:
    lists = [_scores_of(trial, key) for trial in trials]
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
        given = inspect.signature(from_study).bind_partial(None, **options)
        _check_options(given.arguments.get("n_samples"), given.arguments.get("y"), given.arguments.get("options", {}))
        if store is not None and not Path(store).parent.is_dir():
            raise FileError(
                f"the folder {Path(store).parent} does not exist", remedy="Make it, or write to another one."
            )
        self.oof: Predictions | None = None
        self.estimate: Estimate | None = None

    def _can_estimate(self, study: Any) -> bool:
        """Whether a trial is complete: an error before that would end the study, though later trials may keep something."""
        kind, usual = ("scores", "fold_scores") if self.options.get("y") is None else ("predictions", "predictions")
        return not _pruned(_ended(study, self.options.get(kind, usual))).all()

    def __call__(self, study: Any, trial: Any) -> None:
        """Called by Optuna after each trial."""
        _check_study(study)  # after the first trial, not after the first few
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
