"""Fits on given parts of the training samples, asked for what was held out and for what they were trained on.

One repeat of the splits is one fit: its fold 0 is the test part, its fold 1 the training part. So the same workers, limits,
seeds and failed cells serve curves as serve `collect`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.plan import NOT_HELD_OUT, Splits
from ..data.predictions import Predictions
from .collection import Collection
from .configs import Configs
from .entry import as_named, as_plan, prepare
from .progress import Mode

Cell = tuple[int, int]
Rows = NDArray[np.intp]
TrainingRows = Mapping[Cell, Rows]


@dataclass(frozen=True, eq=False)
class Trained:
    """What fits on several training parts a cell said of the two parts.

    Attributes
    ----------
    both
        Predictions with a repeat for every (stage, cell): fold 0 held out, fold 1 trained on.
    collection
        What was asked for; its splits are those of the plan.
    n_train
        (S, cells) samples trained on.
    """

    both: Predictions
    collection: Collection
    n_train: NDArray[np.intp]

    @property
    def splits(self) -> Splits:
        """The splits of the plan."""
        return self.collection.splits

    def out_of_fold(self, stage: int) -> Predictions:
        """The predictions of held-out samples of one stage, as `collect` gives them."""
        start, both, cells = self.collection.header, self.both, self.splits.cells
        data, state = np.array(start.data), np.array(start.state)
        seconds = np.full(state.shape, np.nan)
        labels = None if both.labels is None else np.full(data.shape[:3], -1, dtype=np.intp)
        messages: dict[tuple[str, int, int], str] = {}
        for i, (r, k) in enumerate(cells, start=stage * len(cells)):
            rows = self.splits.test_rows(r, k)
            data[r][:, rows] = both.data[i][:, rows]
            state[:, r, k] = both.state[:, i, 0]
            if both.seconds is not None:
                seconds[:, r, k] = both.seconds[:, i].sum(axis=1)
            if labels is not None and both.labels is not None:
                labels[r][:, rows] = both.labels[i][:, rows]
            messages |= {(c, r, k): text for (c, at, fold), text in both.messages.items() if (at, fold) == (i, 0)}
        known: dict[str, Any] = {"data": data, "state": state, "seconds": seconds, "labels": labels}
        made = {**start.provenance, **both.provenance}
        return replace(start, **known, messages=messages, notes=both.notes, provenance=made)


def collect_trained(
    configs: Configs,
    X: Any,
    y: Any,
    plan: Any,
    stages: Callable[[Collection], Sequence[TrainingRows]],
    *,
    progress: Mode = True,
    **options: Any,
) -> Trained:
    """Fit every configuration on the training rows that every stage names for every cell of the plan."""
    collection = prepare(as_named(configs), X, y, as_plan(plan), **options)
    cells, parts = collection.splits.cells, stages(collection)
    splits = _twofold(collection.splits, [(cell, rows[cell]) for rows in parts for cell in cells])
    both = replace(collection, splits=splits, seeds=tuple(cells) * len(parts)).fill(None, False, progress, None, None)
    n_train = np.array([[len(rows[cell]) for cell in cells] for rows in parts], dtype=np.intp)
    return Trained(both, collection, n_train)


def _twofold(splits: Splits, fits: Sequence[tuple[Cell, Rows]]) -> Splits:
    """Splits with a repeat for every fit: fold 0 its test part, fold 1 the rows it is trained on."""
    folds = np.full((len(splits.folds), len(fits)), NOT_HELD_OUT, dtype=np.int32)
    train = {}
    for i, (cell, rows) in enumerate(fits):
        folds[splits.test_rows(*cell), i] = 0
        folds[rows, i] = 1
        train[i, 0] = train[i, 1] = rows
    plan = replace(splits.plan, kind="given", folds=2, repeats=len(fits), cv=None)
    return Splits(plan, folds, train, splits.notes)
