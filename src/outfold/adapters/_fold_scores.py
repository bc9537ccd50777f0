"""`Predictions` that hold scores of folds and no predictions, for tools that keep only those."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.cells import State
from ..data.criterion import Criterion, LiveScore
from ..data.notes import Note
from ..data.plan import Plan
from ..data.predictions import Predictions
from ..data.splitting import Splits
from ..data.target import Target
from ..exceptions import invalid

Floats = NDArray[np.float64]


def scores_only(
    configs: Sequence[str],
    scores: Mapping[str, Floats],
    splits: Splits,
    *,
    selects: str,
    state: NDArray[np.uint8] | None = None,
    params: Sequence[Mapping[str, Any]] = (),
    notes: Sequence[Note] = (),
    provenance: Mapping[str, Any] | None = None,
) -> Predictions:
    """Scores (configurations, splits) by name, greater is better, in the order of the splits; `selects` names one of them.

    A split without a score is a failed cell, unless `state` (configurations, splits) says otherwise.
    """
    r, k = np.array(splits.cells).T
    shape = (len(configs), splits.folds.shape[1], int(splits.folds.max()) + 1)
    if state is None:
        state = np.where(np.isnan(scores[selects]), State.FAILED, State.DONE).astype(np.uint8)
    by_cell, states = {}, np.zeros(shape, dtype=np.uint8)
    states[:, r, k] = state
    for name, values in scores.items():
        by_cell[name] = np.full(shape, np.nan)
        by_cell[name][:, r, k] = values
    n = len(splits.folds)
    return Predictions(
        target=Target("pointwise", np.zeros(n)),
        data=np.full((shape[1], shape[0], n), np.nan),
        folds=splits.folds,
        state=states,
        configs=tuple(configs),
        response="none",
        plan=splits.plan,
        params=tuple(dict(part) for part in params),
        train=splits.train,
        notes=(*splits.notes, *notes),
        provenance=dict(provenance or {}),
        live_scores=by_cell,
        criterion=Criterion(LiveScore(selects), "fold"),
    )


def unknown_splits(n_samples: int, folds: int, repeats: int, scores: Mapping[str, Floats]) -> Splits:
    """Folds of the right sizes where nobody kept which samples they held out.

    Which samples these are follows from the scores. So two sets of scores never look as if they came from the same folds.
    """
    if n_samples < 2 * folds:
        needed = f"must be at least {2 * folds}, two for each of the {folds} folds"
        raise invalid("n_samples", needed, f"got {n_samples}")
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(values).tobytes() for values in scores.values()))
    rng = np.random.default_rng(int.from_bytes(digest.digest()[:8], "little"))
    columns = [rng.permutation(np.arange(n_samples) % folds) for _ in range(repeats)]
    plan = Plan(folds=folds, repeats=repeats, stratify=False, groups=False)
    return Splits(plan, np.stack(columns, axis=1).astype(np.int32), None, ())
