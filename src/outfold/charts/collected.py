"""Charts of what was collected: cells, folds, repeats, and curves over the number of samples or one parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import formatting, stability
from ..arguments import check_count, is_number
from ..data.predictions import Predictions, State
from ..exceptions import invalid
from ..metrics import Metric, MetricLike
from ..metrics._cell_scores import cell_scores
from ..metrics._keeping import alone
from ..metrics._scoring import bind, recorded_metric
from ..requirements import check_predictions
from ..results import CurveLine, LearningCurve, Stability, ValidationCurve
from . import description as chart

# Light to dark in grey too: still to come, done, failed, dropped.
STATES = {State.PENDING: "paper", State.DONE: "soft", State.FAILED: "orange", State.DROPPED: "dark"}
_NAMED_ROWS = 45
_WRITTEN_CELLS = 150


class CellStates(NamedTuple):
    """(configurations, cells) what became of each cell, in the order in which configurations left.

    Cells are (repeat, fold) in the order of collecting; ``left`` is the cell at which a configuration left, -1 if it stayed.
    """

    configs: tuple[str, ...]
    cells: tuple[tuple[int, int], ...]
    states: NDArray[np.uint8]
    left: NDArray[np.intp]


def having(oof: Predictions, state: State) -> int:
    """How many configurations have a cell in this state."""
    return int(np.sum(np.any(oof.state[:, oof.planned] == state, axis=1)))


def who_left(oof: Predictions) -> str:
    """``3 dropped and 1 failed``; empty where all stayed."""
    left = {state: having(oof, state) for state in (State.DROPPED, State.FAILED)}
    return " and ".join(f"{n:,} {state.name.lower()}" for state, n in left.items() if n)


def cell_states(oof: Predictions) -> CellStates:
    """Those who stayed first, then who left last; equals in the user's order."""
    check_predictions(oof, "plot.cells")
    order = sorted(oof.splits.cells)
    states = np.stack([oof.state[:, r, k] for r, k in order], axis=1)
    gone = (states == State.DROPPED) | (states == State.FAILED)
    left = np.where(gone.any(axis=1), gone.argmax(axis=1), -1)
    by = np.argsort(np.where(left < 0, -len(order) - 1, -left), kind="stable")
    return CellStates(tuple(oof.configs[j] for j in by), tuple(order), states[by], left[by])


def cells(oof: Predictions) -> chart.Chart:
    """Which configurations were left, and when."""
    made = cell_states(oof)
    n = len(made.configs)
    named = n <= _NAMED_ROWS
    categories = tuple(chart.Category(int(s), s.name.lower(), STATES[s]) for s in sorted(State))
    there = [s for s in (State.DONE, State.DROPPED, State.FAILED, State.PENDING) if np.any(made.states == s)]
    columns = [f"fold {k + 1}" if oof.n_repeats == 1 else f"repeat {r + 1}, fold {k + 1}" for r, k in made.cells]
    gone = who_left(oof) or "none dropped, none failed"
    done = f"{oof.completeness:.0%} of all cells done"
    return chart.Chart(
        "cells",
        f"{formatting.count(n, 'configuration')}: {gone}",
        f"{chart.about_data(oof.n_samples, oof.plan)}, {done}",
        "Which configurations were left, and when",
        f"Each row is a configuration, each column a fold, in the order of collecting: {gone}, {done}.",
        chart.Axis("repeat" if oof.n_repeats > 1 else "fold", ticks=_cell_ticks(made.cells, oof.n_repeats)),
        chart.Axis(names=made.configs) if named else chart.Axis("configurations, the first to leave at the bottom"),
        (chart.HeatMap(made.states, made.configs, columns, categories),),
        {"configs": made.configs, "left": made.left.tolist()},
        [chart.Key(s.name.lower(), chart.Box(0, 1, 0, 1, STATES[s])) for s in there],
        (6.8, 1.6 + (0.2 * n if named else 4.2)),
        beside=True,
    )


def _cell_ticks(order: Sequence[tuple[int, int]], n_repeats: int) -> tuple[tuple[float, str], ...]:
    if n_repeats == 1:
        return tuple((float(i), str(order[i][1] + 1)) for i in range(0, len(order), -(-len(order) // 20)))
    wanted = range(0, n_repeats, -(-n_repeats // 12))
    middles = [float(np.mean([i for i, (r, _) in enumerate(order) if r == repeat])) for repeat in wanted]
    return tuple((at, str(repeat + 1)) for at, repeat in zip(middles, wanted, strict=True))


def fold_grid(
    oof: Predictions, metric: MetricLike | None, config: str | int | None
) -> tuple[str, Metric, NDArray[np.float64]]:
    """A configuration, the selected one where None, and its scores (repeats, folds); NaN where there is none."""
    check_predictions(oof, "plot.fold_scores")
    metric = recorded_metric(oof, metric)
    name = oof.selection(metric).name if config is None else oof.configs[oof.config_index(config)]
    one = alone(oof, name)
    found, scores = bind(one, metric)[0], cell_scores(one, metric)[0]
    if np.isnan(scores).all():
        given, remedy = f"{found.name} of {name!r} is undefined in every fold", "Use larger folds or another metric."
        raise chart.refused("fold_scores", "needs folds in which the metric is defined", given, remedy)
    return name, found, scores


def fold_scores(oof: Predictions, metric: MetricLike | None, config: str | int | None) -> chart.Chart:
    """The scores of one configuration, fold by fold."""
    name, found, scores = fold_grid(oof, metric, config)
    n, k = scores.shape
    values = scores[np.isfinite(scores)]
    say = formatting.Digits.of_width(float(np.ptp(values)))
    low, high, mean = (say(v) for v in (values.min(), values.max(), values.mean()))
    spread = f"{low} to {high}, mean {mean}"
    written, said = np.full((2, n, k), "", dtype=object)
    for (r, i), v in np.ndenumerate(scores):
        if np.isfinite(v):
            written[r, i], said[r, i] = say(v), formatting.number(v)
    heat = chart.HeatMap(
        scores,
        [f"repeat {r + 1}" for r in range(n)],
        [f"fold {i + 1}" for i in range(k)],
        low=float(values.min()),
        high=float(values.max()),
        reverse=not found.greater_is_better,
        words=said,
        texts=written if scores.size <= _WRITTEN_CELLS else None,
        crossed=True,
        bar=f"{found.name} (dark is better)",
    )
    return chart.Chart(
        "fold_scores",
        f"{found.name} of {formatting.shorten(name, 50)}",
        f"{chart.about_data(oof.n_samples, oof.plan)}; {spread} over folds",
        "Is there a fold unlike the others?",
        f"{found.name} of the selected configuration. Each row is a repeat, each column a fold; the stronger the colour, the "
        f"better. {spread}.",
        chart.Axis("fold", ticks=_counted(k)),
        chart.Axis("repeat", ticks=_counted(n)),
        (heat,),
        {"config": name, "scores": scores.tolist()},
        size=(min(max(2.1 + 0.52 * k, 5.4), 12.0), min(max(1.6 + 0.32 * n, 2.7), 8.0)),
    )


def _counted(n: int) -> tuple[tuple[float, str], ...]:
    return tuple((float(i), str(i + 1)) for i in range(0, n, -(-n // 20)))


def trace_of(source: Any, metric: MetricLike | None, picture: str) -> Stability:
    """The trace given, or that of the predictions."""
    if isinstance(source, Stability):
        if metric is not None and metric != source.metric:
            needed = "must be left out for a trace that was made already"
            given = f"this trace is of {source.metric}, and `metric` is {metric!r}"
            raise invalid("metric", needed, given)
        return source
    check_predictions(source, f"plot.{picture}")
    return stability.trace(source, metric)


def columns_of(found: Stability, configs: Sequence[str | int] | str | int | None, top: int) -> list[int]:
    """Positions of the configurations asked for; of the best ones after the last repeat where None."""
    if configs is None:
        return [int(j) for j in np.argsort(found.rank[-1], kind="stable")[: check_count(top, "top")]]
    return chart.positions(found.configs, configs, "trace")


def trace(source: Any, metric: MetricLike | None = None, configs: Any = None, top: int = 5) -> chart.Chart:
    """How scores settle as repeats are added."""
    found = trace_of(source, metric, "trace")
    shown = columns_of(found, configs, top)
    names = [found.configs[j] for j in shown]
    drawn = chart.styles(names)
    at = np.arange(1, found.n_repeats + 1)
    marks: list[chart.Mark] = []
    keys = []
    for j, short, (name, style) in zip(shown, chart.shorten(names, 30), drawn, strict=True):
        tips = [
            f"{_tip(name, f'repeat {r + 1}', score)}\nmean so far: {formatting.number(float(mean))}"
            for r, (score, mean) in enumerate(zip(found.scores[:, j], found.mean[:, j], strict=True))
        ]
        marks.append(chart.Points(at, found.scores[:, j], style.tone, style.marker, 4, faint=True, tips=tips))
        line = chart.Line(at, found.mean[:, j], *style[:2], 1.8, style.marker, every=max(1, found.n_repeats // 8))
        marks.append(line)
        keys.append(chart.Key(short, line, name))
    many = len(found.configs) > 1
    if many:
        tones = {name: style.tone for name, style in drawn}
        leads = [(first + 0.5, last + 1.5, tones.get(name, "pale")) for name, first, last in found.leads]
        marks.append(chart.Strip(tuple(leads)))
    strip = " The strip shows which one leads." if many else ""
    return chart.Chart(
        "trace",
        f"{found.metric} as repeats are added",
        f"{_of_repeats(found, shown)}. Lines: mean so far; pale: single repeats{'; strip: which one leads' if many else ''}",
        "Have the repeats been enough?",
        f"Lines: mean over the repeats so far of the {formatting.count(len(shown), 'best configuration')}. Pale: single "
        f"repeats.{strip}",
        chart.Axis("repeats", 0.5, found.n_repeats + 0.5, scale="whole"),
        chart.Axis(found.metric, grid=True, margin=0.08),
        marks,
        {"configs": names, "mean": found.mean[:, shown].T.tolist()},
        keys,
        (6.8, 4.2),
        beside=True,
    )


def _of_repeats(found: Stability, shown: list[int]) -> str:
    n = formatting.count(len(found.configs), "configuration")
    some = f"{len(shown):,} of {n}" if len(shown) < len(found.configs) else n
    return f"{some}, {formatting.count(found.n_repeats, 'repeat')}"


def repeats(source: Any, metric: MetricLike | None = None, configs: Any = None, top: int = 8) -> chart.Chart:
    """How much the score of a whole repeat depends on the partition."""
    found = trace_of(source, metric, "repeats")
    shown = columns_of(found, configs, top)
    names = [found.configs[j] for j in shown]
    marks: list[chart.Mark] = []
    for i, (j, name) in enumerate(zip(shown, names, strict=True)):
        scores = found.scores[:, j]
        # Spread over the height by the order of the repeats, so that equal scores do not hide each other.
        heights = i - 0.28 + 0.56 * (np.arange(len(scores)) + 0.5) / len(scores)
        low, high = (float(v) for v in np.quantile(scores, [0.25, 0.75]))
        mean, median = float(found.mean[-1, j]), float(found.median[-1, j])
        tips = [_tip(name, f"repeat {r + 1}", score) for r, score in enumerate(scores)]
        marks += [
            chart.Points(scores, heights, "sky", size=3.5, faint=True, tips=tips),
            chart.Box(low, high, i + 0.28, i - 0.28, "grey", outline=True),
            chart.Line([median] * 2, [i - 0.28, i + 0.28], "ink", width=2, tip=_tip(name, "median", median)),
            chart.Points([mean], [i], "orange", "diamond", 5.5, tips=[_tip(name, "mean", mean)]),
            chart.RowText(i, _moments(found, j)),
        ]
    return chart.Chart(
        "repeats",
        f"{found.metric} of a whole repeat",
        f"{_of_repeats(found, shown)}. Box: middle half of them",
        "How much does a score depend on the partition?",
        "Each dot is a repeat. Box: the middle half of them. Beside each: their standard deviation and skew.",
        chart.Axis(found.metric, grid=True),
        chart.Axis(names=tuple(names)),
        marks,
        {"configs": names, "scores": found.scores[:, shown].T.tolist()},
        (
            chart.Key("one repeat", chart.Points([0], [0], "sky", size=4)),
            chart.Key("median", chart.Line([], [], "ink", width=2)),
            chart.Key("mean", chart.Points([0], [0], "orange", "diamond", 5.5)),
        ),
        (6.8, 1.7 + 0.42 * max(len(shown), 2)),
    )


def _tip(name: str, what: str, value: float) -> str:
    return f"{name}\n{what}: {formatting.number(float(value))}"


def _moments(found: Stability, j: int) -> str:
    sd, skew = found.sd[-1, j], found.skew[-1, j]
    parts = [f"sd {sd:.2g}" if np.isfinite(sd) else "", f"skew {skew:+.2f}" if np.isfinite(skew) else ""]
    return ", ".join(part for part in parts if part)


# -- over the number of samples, or one parameter ------------------------------------------------------------

_DOTS = (1.0, 1.5)
# From such a ratio of the largest to the smallest value on, steps are taken as factors.
_FACTOR = 50


def _curve(x: Any, line: CurveLine, at: Any, style: chart.Style, held_out: bool) -> tuple[chart.Band, chart.Line]:
    """A mean with its band: solid on held-out samples, dotted on those trained on."""
    how: dict[str, Any] = {"width": 1.8} if held_out else {"dashes": _DOTS, "width": 1.4, "open": True}
    band = chart.Band(np.asarray(x, dtype=np.float64), line.low[at], line.high[at], style.tone, faint=not held_out)
    return band, chart.Line(x, line.mean[at], style.tone, marker=style.marker, **how)


def learning_curve(curve: Any, configs: Sequence[str | int] | str | int | None = None) -> chart.Chart:
    """Scores as the training part grows."""
    known = chart.check_result(curve, LearningCurve, "learning_curve", "curves.learning").configs
    shown = range(len(known)) if configs is None else chart.positions(known, configs, "curve")
    names = [known[j] for j in shown]
    marks: list[chart.Mark] = []
    keys = []
    for j, short, (name, style) in zip(shown, chart.shorten(names), chart.styles(names), strict=True):
        marks += _curve(curve.sizes, curve.train, j, style, held_out=False)
        band, line = _curve(curve.sizes, curve.test, j, style, held_out=True)
        marks += [band, line]
        keys.append(chart.Key(short, line, name))
    facts = f"{chart.about_data(curve.n_samples, curve.plan)}. Solid: held out, dotted: trained on. Bands: {curve.band}"
    return chart.Chart(
        "learning_curve",
        f"{curve.metric} by the number of samples trained on",
        facts,
        "Would more data help?",
        f"{facts}.",
        chart.Axis("samples trained on"),
        chart.Axis(chart.direction(curve.metric, curve.greater_is_better), grid=True),
        marks,
        curve.to_dict(),
        keys,
    )


class Places(NamedTuple):
    """Where the values of a parameter are: numbers in rising order, other values side by side in the user's order."""

    order: NDArray[np.intp]
    x: NDArray[np.float64]
    labels: tuple[str, ...] | None
    log: bool


def places(curve: Any) -> Places:
    """Positions on the axis of a validation curve."""
    values = chart.check_result(curve, ValidationCurve, "validation_curve", "curves.validation").values
    if not all(is_number(value) for value in values):
        at = np.arange(len(values))
        return Places(at, at.astype(np.float64), tuple(map(str, values)), False)
    x = np.array([float(value) for value in values])
    order = np.argsort(x, kind="stable")
    x = x[order]
    return Places(order, x, None, bool(x[0] > 0 and x[-1] / x[0] >= _FACTOR))


def validation_curve(curve: Any) -> chart.Chart:
    """Scores over the values of one parameter, the best value and the simplest good one."""
    at = places(curve)
    held = _curve(at.x, curve.test, at.order, chart.STYLES[0], held_out=True)
    trained = _curve(at.x, curve.train, at.order, chart.STYLES[1], held_out=False)
    marks: list[chart.Mark] = [*trained, *held]
    keys = [chart.Key("held out", held[1]), chart.Key("trained on", trained[1])]
    where = {int(v): float(x) for v, x in zip(at.order, at.x, strict=True)}
    simple = curve.one_standard_error
    for v, word, dashes in ((curve.best, "best", chart.SOLID), (simple, "one standard error", chart.DASHED)):
        if v is not None:
            value = curve.values[v]
            words = f"{word}: {f'{value:g}' if isinstance(value, float) else value}"
            marks.append(chart.GuideLine("x", where[v], dashes=dashes))
            keys.append(chart.Key(words, chart.Line([], [], "grey", dashes, 1)))
    facts = f"{chart.about_data(curve.oof.n_samples, curve.plan)}. Bands: {curve.band}"
    return chart.Chart(
        "validation_curve",
        f"{curve.metric} by {curve.param}",
        facts,
        f"Which value of {curve.param}?",
        f"{facts}.",
        chart.Axis(curve.param, names=at.labels or (), scale="log" if at.log else "linear"),
        chart.Axis(chart.direction(curve.metric, curve.greater_is_better), grid=True),
        marks,
        curve.to_dict(),
        keys,
    )
