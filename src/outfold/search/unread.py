"""Models that can be scored, and whose predictions cannot be kept: a single number for all samples, or labels that are no class.

GridSearchCV scores such models, so a search does too. If there is one, the search keeps scores and no predictions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.predictions import Predictions, State
from ..data.target import Target
from ..metrics import Metric
from .cv_results import cells_in_order, split_scores


def has_unread(oof: Predictions) -> bool:
    """Whether there are fits that were scored, and whose predictions could not be kept."""
    return bool(_unread(oof).any())


def scores_only(oof: Predictions, metrics: Mapping[str, Metric], scorers: Mapping[str, Any]) -> Predictions:
    """The same with the scores of all fits, those of stored predictions included, and without predictions."""
    unread, done = _unread(oof), oof.state == State.DONE
    scores = {name: np.array(known) for name, known in oof.live_scores.items()}
    r, k = cells_in_order(oof)
    for name, metric in metrics.items():
        if metric.needs != "live" and done.any():
            stored = np.full(oof.state.shape, np.nan)
            stored[:, r, k] = split_scores(oof, metric, scorers[name])
            scores[name][done] = stored[done]
    return replace(
        oof,
        target=Target("pointwise", np.zeros(oof.n_samples)),
        data=np.full(oof.data.shape[:3], np.nan),
        response="none",
        labels=None,
        threshold=None,
        times=None,
        state=np.where(unread, State.DONE, oof.state).astype(oof.state.dtype),
        messages={
            cell: text for cell, text in oof.messages.items() if not unread[oof.configs.index(cell[0]), *cell[1:]]
        },
        live_scores=scores,
    )


def _unread(oof: Predictions) -> NDArray[np.bool_]:
    """(configurations, repeats, folds) whether the model was scored and not read."""
    scored = np.zeros(oof.state.shape, dtype=bool)
    for scores in oof.live_scores.values():
        scored |= np.isfinite(scores)
    return np.asarray(scored & (oof.state == State.FAILED))
