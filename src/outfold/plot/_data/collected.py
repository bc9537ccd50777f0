"""Numbers of pictures that show cells, folds and repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import stability
from ...arguments import check_count
from ...data.predictions import Predictions, State
from ...exceptions import InputError
from ...metrics import MetricLike
from ...metrics._scoring import alone, bind, cell_scores
from ...requirements import Needs
from ...results import Stability
from .naming import positions


class Cells(NamedTuple):
    """What became of every cell: (configurations, cells) states, in the order in which configurations left.

    ``cells`` are the (repeat, fold) pairs, in the order of collecting; ``left`` the position among them at which a
    configuration was dropped or failed, -1 for those that stayed.
    """

    configs: tuple[str, ...]
    cells: tuple[tuple[int, int], ...]
    states: NDArray[np.uint8]
    left: NDArray[np.intp]

    def having(self, state: State) -> int:
        """How many configurations have such a cell."""
        return int(np.sum(np.any(self.states == state, axis=1)))


def cells(oof: Predictions) -> Cells:
    """Those who stayed first, then who left last; equals in the user's order."""
    Needs().check(oof, "plot.cells")
    order = sorted(oof.splits.cells)
    states = np.stack([oof.state[:, r, k] for r, k in order], axis=1)
    gone = (states == State.DROPPED) | (states == State.FAILED)
    left = np.where(gone.any(axis=1), gone.argmax(axis=1), -1)
    by = np.argsort(np.where(left < 0, -len(order) - 1, -left), kind="stable")
    return Cells(tuple(oof.configs[j] for j in by), tuple(order), states[by], left[by])


class FoldGrid(NamedTuple):
    """(repeats, folds) scores of a configuration; NaN where there is none."""

    config: str
    metric: str
    greater_is_better: bool
    scores: NDArray[np.float64]


def fold_grid(oof: Predictions, metric: MetricLike, config: str | int | None) -> FoldGrid:
    """The scores that ``oof.scores(metric)`` has for this configuration, the best one where None."""
    Needs().check(oof, "plot.fold_scores")
    name = oof.leaderboard(metric).configs[0] if config is None else oof.configs[oof.config_index(config)]
    one = alone(oof, name)
    found = bind(one, metric)[0]
    scores = cell_scores(one, metric)[0]
    if np.isnan(scores).all():
        raise InputError(f"{found.name} of {name!r} is undefined in every fold; use larger folds or another metric.")
    return FoldGrid(name, found.name, found.greater_is_better, scores)


def trace_of(source: Any, metric: MetricLike | None, picture: str) -> Stability:
    """The trace given, or that of the predictions."""
    if isinstance(source, Stability):
        if metric is not None and metric != source.metric:
            raise InputError(
                f"this trace is of {source.metric}; it cannot be shown by {metric!r}. Leave the metric out."
            )
        return source
    Needs().check(source, f"plot.{picture}")
    if metric is None:
        raise InputError(f"plot.{picture} of predictions needs a metric, such as 'accuracy'.")
    return stability.trace(source, metric)


def columns(found: Stability, configs: Sequence[str | int] | str | int | None, top: int) -> list[int]:
    """Positions of the configurations asked for; of the best ones after the last repeat where None."""
    if configs is None:
        return [int(j) for j in np.argsort(found.rank[-1], kind="stable")[: check_count(top, "top")]]
    return positions(found.configs, configs, "trace")
