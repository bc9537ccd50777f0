"""What a search says about fits that failed, in sentences that users of GridSearchCV know."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import FitFailedWarning

from ..data.predictions import Predictions, State
from ..exceptions import CollectError, FitFailedError, InputError, InputTypeError
from ..formatting import count
from ..metrics import Metric


def warn_of_failures(oof: Predictions, error_score: Any) -> None:
    """One FitFailedWarning that counts the failed fits and says why they failed."""
    states = oof.state[:, oof.planned]
    unscored = Counter(oof.provenance.get("not_scored", {}))
    if unscored:
        reason, total = unscored.most_common(1)[0][0], unscored.total()
        failed = f"Scoring failed for {total:,} of {states.size:,} fits; their score is {error_score}."
        warnings.warn(f"{failed} The most common reason: {reason}", UserWarning, stacklevel=4)
    n = int(np.sum(states == State.FAILED))
    if n:
        failed = f"{count(n, 'fit')} failed out of a total of {states.size:,}; they cannot be selected."
        score = f"The score on these train-test partitions for these parameters will be set to {error_score}."
        why = "Use error_score='raise' to see the exception."
        reasons = _listed(Counter(oof.messages.values()))
        warnings.warn(f"{failed}\n{score}\n{why}\n{reasons}", FitFailedWarning, stacklevel=4)


def refused_cells(oof: Predictions, metric: Metric) -> NDArray[np.bool_]:
    """(C, R, K) True where a prediction is outside the range that the metric is defined on."""
    out = np.zeros(oof.state.shape, dtype=bool)
    if metric.above is None or oof.response != "value":
        return out
    low = oof.data <= metric.above  # (R, C, N)
    for repeat, fold in zip(*np.nonzero(oof.planned), strict=True):
        out[:, repeat, fold] = low[repeat][:, oof.folds[:, repeat] == fold].any(axis=1)
    return np.asarray(out & (oof.state == State.DONE))


def failing_where_refused(oof: Predictions, metric: Metric) -> Predictions:
    """The predictions without those that the selecting metric refuses: as in GridSearchCV, they cannot be selected."""
    refused = refused_cells(oof, metric)
    if not refused.any():
        return oof
    why = f"the metric {metric.name} needs predictions above {metric.above:g}"
    cells = {(oof.configs[c], int(r), int(k)): why for c, r, k in zip(*np.nonzero(refused), strict=True)}
    state, data = np.where(refused, State.FAILED, oof.state).astype(oof.state.dtype), oof.data.copy()
    for c, r, k in zip(*np.nonzero(refused), strict=True):
        data[r, c, oof.folds[:, r] == k] = np.nan
    return replace(oof, state=state, data=data, messages={**oof.messages, **cells})


def raise_as_sklearn(error: CollectError) -> NoReturn:
    """Raise the exception of the fit that failed, as GridSearchCV does, with a note on which fit; else an InputError."""
    cause = error.__cause__
    if isinstance(error, FitFailedError) and isinstance(cause, Exception):
        cause.add_note(str(error))
        raise cause
    if not error.reasons:
        raise InputError(str(error), page=error.page) from error
    n = sum(error.reasons.values())
    likely = "It is very likely that your model is misconfigured; use error_score='raise' to see the exception."
    kind = InputTypeError if next(iter(error.reasons)).startswith("TypeError: ") else InputError
    raise kind(f"All the {count(n, 'fit')} failed. {likely}\n{_listed(error.reasons)}", page=error.page) from error


def _listed(reasons: Mapping[str, int]) -> str:
    """A line for each reason, the most common one first."""
    ordered = sorted(reasons.items(), key=lambda item: -item[1])
    return "\n".join(f"{count(n, 'fit')} failed with the following error: {reason}" for reason, n in ordered)
