"""Charts of what was collected: cells, folds and repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import formatting, stability
from ..arguments import check_count
from ..data.predictions import Predictions, State
from ..exceptions import InputError
from ..metrics import MetricLike
from ..metrics._scoring import alone, bind, cell_scores
from ..requirements import check_predictions
from ..results import Stability
from .description import (
    Axis,
    Box,
    Category,
    Chart,
    HeatMap,
    Key,
    Line,
    Mark,
    Note,
    Points,
    Strip,
    positions,
    shorten,
    some_of,
    styles,
)

# Light to dark in grey too: still to come, done, failed, dropped.
STATES = {State.PENDING: "paper", State.DONE: "soft", State.FAILED: "orange", State.DROPPED: "dark"}
_NAMED_ROWS = 45
_WRITTEN_CELLS = 150


# -- cells --------------------------------------------------------------------------------------------------


class CellStates(NamedTuple):
    """What became of each cell: (configurations, cells) states, in the order in which configurations left.

    ``cells`` are the (repeat, fold) pairs in the order of collecting. ``left`` is the position among them at which a
    configuration was dropped or failed, and -1 for those that stayed.
    """

    configs: tuple[str, ...]
    cells: tuple[tuple[int, int], ...]
    states: NDArray[np.uint8]
    left: NDArray[np.intp]

    def having(self, state: State) -> int:
        """How many configurations have such a cell."""
        return int(np.sum(np.any(self.states == state, axis=1)))


def cell_states(oof: Predictions) -> CellStates:
    """Those who stayed first, then who left last; equals in the user's order."""
    check_predictions(oof, "plot.cells")
    order = sorted(oof.splits.cells)
    states = np.stack([oof.state[:, r, k] for r, k in order], axis=1)
    gone = (states == State.DROPPED) | (states == State.FAILED)
    left = np.where(gone.any(axis=1), gone.argmax(axis=1), -1)
    by = np.argsort(np.where(left < 0, -len(order) - 1, -left), kind="stable")
    return CellStates(tuple(oof.configs[j] for j in by), tuple(order), states[by], left[by])


def cells(oof: Predictions) -> Chart:
    """Which configurations were left, and when."""
    made = cell_states(oof)
    n = len(made.configs)
    named = n <= _NAMED_ROWS
    categories = tuple(Category(int(s), s.name.lower(), STATES[s]) for s in sorted(State))
    there = [s for s in (State.DONE, State.DROPPED, State.FAILED, State.PENDING) if np.any(made.states == s)]
    columns = [f"fold {k + 1}" if oof.n_repeats == 1 else f"repeat {r + 1}, fold {k + 1}" for r, k in made.cells]
    gone = " and ".join(f"{made.having(s):,} {s.name.lower()}" for s in (State.DROPPED, State.FAILED) if made.having(s))
    done = f"{oof.completeness:.0%} of all cells done"
    return Chart(
        "cells",
        f"{formatting.count(n, 'configuration')}: {gone or 'none dropped, none failed'}",
        f"{formatting.count(oof.n_samples, 'sample')}, {oof.plan}, {done}",
        "Which configurations were left, and when",
        f"Each row is a configuration, each column a fold, in the order of collecting: {gone or 'none dropped, none failed'}, "
        f"{done}.",
        Axis("repeat" if oof.n_repeats > 1 else "fold", ticks=_cell_ticks(made.cells, oof.n_repeats)),
        Axis("" if named else "configurations, the first to leave at the bottom", names=made.configs if named else ()),
        (HeatMap(made.states, made.configs, columns, categories),),
        {"configs": made.configs, "left": made.left.tolist()},
        tuple(Key(s.name.lower(), Box(0, 1, 0, 1, STATES[s])) for s in there),
        (6.8, 1.6 + (0.2 * n if named else 4.2)),
        beside=True,
    )


def _cell_ticks(order: Sequence[tuple[int, int]], n_repeats: int) -> tuple[tuple[float, str], ...]:
    if n_repeats == 1:
        return tuple((float(i), str(order[i][1] + 1)) for i in range(0, len(order), -(-len(order) // 20)))
    wanted = range(0, n_repeats, -(-n_repeats // 12))
    middles = [float(np.mean([i for i, (r, _) in enumerate(order) if r == repeat])) for repeat in wanted]
    return tuple((at, str(repeat + 1)) for at, repeat in zip(middles, wanted, strict=True))


# -- scores of folds ----------------------------------------------------------------------------------------


class FoldGrid(NamedTuple):
    """(repeats, folds) scores of a configuration; NaN where there is none."""

    config: str
    metric: str
    greater_is_better: bool
    scores: NDArray[np.float64]


def fold_grid(oof: Predictions, metric: MetricLike, config: str | int | None) -> FoldGrid:
    """The scores that ``oof.scores(metric)`` has for this configuration, the best one where None."""
    check_predictions(oof, "plot.fold_scores")
    name = oof.leaderboard(metric).configs[0] if config is None else oof.configs[oof.config_index(config)]
    one = alone(oof, name)
    found = bind(one, metric)[0]
    scores = cell_scores(one, metric)[0]
    if np.isnan(scores).all():
        raise InputError(
            argument="plot.fold_scores",
            needed="needs folds in which the metric is defined",
            given=f"{found.name} of {name!r} is undefined in every fold",
            remedy="Use larger folds or another metric.",
        )
    return FoldGrid(name, found.name, found.greater_is_better, scores)


def fold_scores(oof: Predictions, metric: MetricLike, config: str | int | None) -> Chart:
    """The scores of one configuration, fold by fold."""
    made = fold_grid(oof, metric, config)
    n, k = made.scores.shape
    values = made.scores[np.isfinite(made.scores)]
    low, high, mean = (formatting.number(v) for v in (values.min(), values.max(), values.mean()))
    spread = f"{low} to {high}, mean {mean}"
    written = np.vectorize(lambda v: f"{v:.3g}" if np.isfinite(v) else "", otypes=[object])(made.scores)
    said = np.vectorize(lambda v: formatting.number(v) if np.isfinite(v) else "", otypes=[object])(made.scores)
    heat = HeatMap(
        made.scores,
        [f"repeat {r + 1}" for r in range(n)],
        [f"fold {i + 1}" for i in range(k)],
        low=float(values.min()),
        high=float(values.max()),
        reverse=not made.greater_is_better,
        words=said,
        texts=written if made.scores.size <= _WRITTEN_CELLS else None,
        crossed=True,
        bar=f"{made.metric} (dark is better)",
    )
    return Chart(
        "fold_scores",
        f"{made.metric} of {formatting.shorten(made.config, 50)}",
        f"{formatting.count(oof.n_samples, 'sample')}, {oof.plan}; {spread} over folds",
        "Is there a fold unlike the others?",
        f"{made.metric} of the selected configuration. Each row is a repeat, each column a fold; the stronger the colour, the "
        f"better. {spread}.",
        Axis("fold", ticks=_counted(k)),
        Axis("repeat", ticks=_counted(n)),
        (heat,),
        {"config": made.config, "scores": made.scores.tolist()},
        size=(min(max(2.1 + 0.52 * k, 5.4), 12.0), min(max(1.6 + 0.32 * n, 2.7), 8.0)),
    )


def _counted(n: int) -> tuple[tuple[float, str], ...]:
    return tuple((float(i), str(i + 1)) for i in range(0, n, -(-n // 20)))


# -- repeats ------------------------------------------------------------------------------------------------


def trace_of(source: Any, metric: MetricLike | None, picture: str) -> Stability:
    """The trace given, or that of the predictions."""
    if isinstance(source, Stability):
        if metric is not None and metric != source.metric:
            raise InputError(
                argument="metric",
                needed="must be left out for a trace that was made already",
                given=f"this trace is of {source.metric}, and `metric` is {metric!r}",
            )
        return source
    check_predictions(source, f"plot.{picture}")
    if metric is None:
        raise InputError(argument=f"plot.{picture}", needed="needs a metric for predictions, such as 'accuracy'")
    return stability.trace(source, metric)


def columns_of(found: Stability, configs: Sequence[str | int] | str | int | None, top: int) -> list[int]:
    """Positions of the configurations asked for; of the best ones after the last repeat where None."""
    if configs is None:
        return [int(j) for j in np.argsort(found.rank[-1], kind="stable")[: check_count(top, "top")]]
    return positions(found.configs, configs, "trace")


def trace(source: Any, metric: MetricLike | None = None, configs: Any = None, top: int = 5) -> Chart:
    """How scores settle as repeats are added."""
    found = trace_of(source, metric, "trace")
    shown = columns_of(found, configs, top)
    names = [found.configs[j] for j in shown]
    drawn = styles(names)
    at = np.arange(1, found.n_repeats + 1)
    marks: list[Mark] = []
    keys = []
    for j, short, (name, style) in zip(shown, shorten(names, 30), drawn, strict=True):
        tips = [
            f"{name}\nrepeat {r + 1}: {formatting.number(float(score))}\nmean so far: {formatting.number(float(mean))}"
            for r, (score, mean) in enumerate(zip(found.scores[:, j], found.mean[:, j], strict=True))
        ]
        marks.append(Points(at, found.scores[:, j], style.tone, style.marker, 4, faint=True, tips=tips))
        line = Line(at, found.mean[:, j], *style[:2], 1.8, style.marker, every=max(1, found.n_repeats // 8))
        marks.append(line)
        keys.append(Key(short, line, name))
    many = len(found.configs) > 1
    if many:
        tones = {name: style.tone for name, style in drawn}
        marks.append(
            Strip(tuple((first + 0.5, last + 1.5, tones.get(name, "pale")) for name, first, last in found.leads))
        )
    strip = " The strip shows which one leads." if many else ""
    return Chart(
        "trace",
        f"{found.metric} as repeats are added",
        f"{some_of(len(shown), len(found.configs))}, {formatting.count(found.n_repeats, 'repeat')}. Lines: mean so far; pale: "
        "single repeats" + ("; strip: which one leads" if many else ""),
        "Have the repeats been enough?",
        f"Lines: mean over the repeats so far of the {formatting.count(len(shown), 'best configuration')}. Pale: single "
        f"repeats.{strip}",
        Axis("repeats", 0.5, found.n_repeats + 0.5, scale="whole"),
        Axis(found.metric, grid=True, margin=0.08),
        tuple(marks),
        {"configs": names, "mean": found.mean[:, shown].T.tolist()},
        tuple(keys),
        (6.8, 4.2),
        beside=True,
    )


def repeats(source: Any, metric: MetricLike | None = None, configs: Any = None, top: int = 8) -> Chart:
    """How much the score of a whole repeat depends on the partition."""
    found = trace_of(source, metric, "repeats")
    shown = columns_of(found, configs, top)
    marks: list[Mark] = []
    for i, j in enumerate(shown):
        name, scores = found.configs[j], found.scores[:, j]
        # Spread over the height by the order of the repeats, so that equal scores do not hide each other.
        heights = i - 0.28 + 0.56 * (np.arange(len(scores)) + 0.5) / len(scores)
        low, high = (float(v) for v in np.quantile(scores, [0.25, 0.75]))
        mean, median = float(found.mean[-1, j]), float(found.median[-1, j])
        tips = [f"{name}\nrepeat {r + 1}: {formatting.number(float(score))}" for r, score in enumerate(scores)]
        marks += [
            Points(scores, heights, "sky", size=3.5, faint=True, tips=tips),
            Box(low, high, i + 0.28, i - 0.28, "grey", outline=True),
            Line(
                [median] * 2, [i - 0.28, i + 0.28], "ink", width=2, tip=f"{name}\nmedian: {formatting.number(median)}"
            ),
            Points([mean], [i], "orange", "diamond", 5.5, tips=[f"{name}\nmean: {formatting.number(mean)}"]),
            Note(i, _moments(found, j)),
        ]
    return Chart(
        "repeats",
        f"{found.metric} of a whole repeat",
        f"{some_of(len(shown), len(found.configs))}, {formatting.count(found.n_repeats, 'repeat')}. Box: middle half of them",
        "How much does a score depend on the partition?",
        "Each dot is a repeat. Box: the middle half of them. Beside each: their standard deviation and skew.",
        Axis(found.metric, grid=True),
        Axis(names=tuple(found.configs[j] for j in shown)),
        tuple(marks),
        {"configs": [found.configs[j] for j in shown], "scores": found.scores[:, shown].T.tolist()},
        (
            Key("one repeat", Points([0], [0], "sky", size=4)),
            Key("median", Line([], [], "ink", width=2)),
            Key("mean", Points([0], [0], "orange", "diamond", 5.5)),
        ),
        (6.8, 1.7 + 0.42 * max(len(shown), 2)),
    )


def _moments(found: Stability, j: int) -> str:
    sd, skew = found.sd[-1, j], found.skew[-1, j]
    parts = [f"sd {sd:.2g}" if np.isfinite(sd) else "", f"skew {skew:+.2f}" if np.isfinite(skew) else ""]
    return ", ".join(part for part in parts if part)
