"""Pictures of scores: the estimate, the configurations, the draws behind them, folds and repeats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import formatting
from ..data.predictions import Predictions, State
from ..metrics import MetricLike
from ..plot._data import collected, estimates
from ..results import Comparison, Estimate, Stability
from .picture import Picture, expected, has_own, meaning, shade, with_interval
from .svg import WIDTH, Drawing, Scale

_LEFT, _RIGHT = 12.0, WIDTH - 14
_ROW = 36.0  # a name, and what is drawn below it
_BESIDE = 172.0  # where cells begin beside names
_LETTERS = 48  # of a name above a row, in bold letters on a phone too
_TRACED = 5


def optimism(estimate: Estimate) -> Picture:
    """The winner's own score beside what to expect: the distance is luck."""
    found = estimates.named_estimates(estimate)[estimate.method]
    low, high = found.interval or (found.value, found.value)
    own = f"winner's own score: {formatting.number(found.naive)}"
    draw = Drawing(98, "; ".join([expected(found), *([own] if has_own(found) else [])]), 720)
    x = Scale.around([low, high, found.naive, found.value], 24, 696, 0.12)
    draw.x_axis(x, 76, 20, most=7)
    y = 48.0
    draw.line(x(low), y, x(high), y, "bar c0", f"{found.metric} {expected(found)}")
    for end in (low, high):
        draw.line(x(end), y - 6, x(end), y + 6, "s0")
    if has_own(found):
        draw.line(x(found.value), y - 22, x(found.naive), y - 22, "s1 dots")
        draw.line(x(found.naive), y - 22, x(found.naive), y, "s1 dots")
        draw.line(x(found.value), y - 22, x(found.value), y, "s1 dots")
    draw.diamond(x(found.value), y, 7, "c0 edge", f"{found.metric} {expected(found)}")
    caption = f"Diamond and bar: {meaning(found)}, with its interval."
    if has_own(found):
        tip = f"{own}\noptimism: {formatting.number(found.optimism, sign=True)}"
        draw.circle(x(found.naive), y, 6, "c1 edge", tip)
        luck = " The dotted bracket between them is luck." if found.optimism > 0 else ""
        caption += f" Dot: the winner's own score.{luck}"
    return Picture(
        "optimism",
        "How flattering the winner's own score is",
        caption,
        draw.render(),
        {"value": found.value, "interval": found.interval, "naive": found.naive, "optimism": found.optimism},
    )


def configurations(
    oof: Predictions, metric: MetricLike, estimate: Estimate, top: int, n_resamples: int, rng: int
) -> Picture:
    """The best configurations with intervals, and what the selected one is really worth."""
    made = estimates.configurations(oof, metric, top, estimate, estimate.confidence_level, n_resamples, rng)
    level, found = estimate.confidence_level, made.estimate
    ends = [end for row in made.rows if row.interval for end in row.interval]
    x = Scale.around([*ends, *(row.score for row in made.rows), found.value, *(found.interval or ())], _LEFT, _RIGHT)
    last = 8 + _ROW * (len(made.rows) + 1)
    draw = Drawing(last + 40, f"{len(made.rows)} best configurations by {found.metric}")
    draw.x_axis(x, last, 0, found.metric)
    for i, row in enumerate(made.rows):
        y = _name(draw, i, row.name, row.name == found.selected)
        tip = f"{row.name}\nits own score: {with_interval(row.score, row.interval, level)}"
        if row.interval is not None:
            draw.line(x(row.interval.low), y, x(row.interval.high), y, "bar pale", tip)
        draw.circle(x(row.score), y, 4.5, "c1 edge" if row.name == found.selected else "c7 edge", tip)
    y = _name(draw, len(made.rows), f"the selected one: {meaning(found)}", True)
    if found.interval is not None:
        draw.line(x(found.interval.low), y, x(found.interval.high), y, "bar c0", expected(found))
    draw.diamond(x(found.value), y, 6, "c0 edge", expected(found))
    n = oof.n_configs - made.n_left_out
    return Picture(
        "configurations",
        f"The {len(made.rows)} best of {n:,}" if len(made.rows) < n else "All configurations",
        f"Dots are the configurations' own scores with {100 * level:g}% intervals over samples, each for itself; the orange "
        f"one was selected. The diamond: {meaning(found)}.",
        draw.render(),
        {"rows": [row._asdict() for row in made.rows], "n_left_out": made.n_left_out},
    )


def _name(draw: Drawing, row: int, name: str, strong: bool = False) -> float:
    """The name above a row; gives the height at which the row is drawn."""
    draw.text(0, 11 + _ROW * row, name, "t strong" if strong else "t", most=_LETTERS)
    return 23 + _ROW * row


def draws(estimate: Estimate) -> Picture:
    """Where the interval comes from."""
    made = estimates.draws(estimate, None)
    height, bottom = 210.0, 164.0
    draw = Drawing(height, f"histogram of {int(made.counts.sum()):,} draws of {estimate.metric}")
    x = Scale.around([*made.edges, estimate.naive], 40, _RIGHT, 0.03)
    y = Scale(0, float(made.counts.max()) * 1.05, bottom, 22)
    draw.x_axis(x, bottom, bottom, estimate.metric, 6)
    draw.y_axis(y, 40, _RIGHT, "draws", 4)
    for n, low, high in zip(made.counts, made.edges, made.edges[1:], strict=False):
        tip = f"{formatting.number(low)} to {formatting.number(high)}: {formatting.count(int(n), 'draw')}"
        draw.rect(x(low) + 0.4, y(float(n)), x(high) - x(low) - 0.8, bottom - y(float(n)), "c2", tip)
    for end in estimate.interval or ():
        draw.line(x(end), bottom, x(end), 22, "s0 dash")
    draw.line(x(estimate.value), bottom, x(estimate.value), 22, "s0 thick", expected(estimate))
    own = f"winner's own score: {formatting.number(estimate.naive)}"
    draw.line(x(estimate.naive), bottom, x(estimate.naive), 22, "s1 thick", own)
    return Picture(
        "draws",
        "Where the interval comes from",
        "Every draw selects on the samples it drew and scores on the others. Blue: their mean, which is the estimate, and the "
        "ends of its interval (dashed). Orange: the winner's own score.",
        draw.render(),
        {"counts": made.counts.tolist(), "edges": made.edges.tolist()},
    )


def selection(estimate: Estimate, top: int = 10) -> Picture:
    """How often every configuration was selected."""
    made = estimates.selection(estimate, top)
    rows = [*made.rows, *([made.rest] if made.rest else [])]
    draw = Drawing(10 + _ROW * len(rows), f"how often configurations are selected in {made.n_draws:,} draws")
    x = Scale(0, max(row.share for row in rows), 0, _RIGHT - 40)
    for i, row in enumerate(rows):
        mine = row.name == estimate.selected
        y = _name(draw, i, row.name, mine)
        tip = f"{row.name}\nselected in {row.times:,} of {formatting.count(made.n_draws, 'draw')} ({row.share:.1%})"
        style = "c8" if row is made.rest else "c1" if mine else "c2"
        draw.rect(0, y - 5, max(x(row.share), 1), 10, style, tip)
        draw.text(x(row.share) + 6, y + 4, f"{row.share:.0%}" if row.share >= 0.01 else "<1%", "tick")
    return Picture(
        "selection",
        "Would other samples have selected another?",
        f"In {made.n_draws:,} draws, {formatting.count(made.n_chosen, 'configuration')} "
        f"{'was' if made.n_chosen == 1 else 'were'} selected at least once; bold is the one selected on all samples.",
        draw.render(),
        {"rows": [row._asdict() for row in rows], "n_draws": made.n_draws, "n_chosen": made.n_chosen},
    )


_STATE_STYLES = {State.PENDING: "c9", State.DONE: "c2", State.FAILED: "c1", State.DROPPED: "c8"}


def cells(oof: Predictions) -> Picture:
    """Who left when."""
    made = collected.cells(oof)
    n, width = made.states.shape
    row = min(max(380.0 / n, 0.5), 20.0)
    named = row >= 11
    left, top = (_BESIDE, 24.0) if named else (0.0, 24.0)
    draw = Drawing(top + n * row + 24, f"{n:,} configurations: which cells are done, dropped or failed")
    there = [s for s in (State.DONE, State.DROPPED, State.FAILED, State.PENDING) if np.any(made.states == s)]
    for i, state in enumerate(there):
        draw.rect(left + 90 * i, 4, 10, 10, _STATE_STYLES[state])
        draw.text(left + 90 * i + 15, 13, state.name.lower(), "tick")
    step = (_RIGHT - left) / width
    for i, (name, states) in enumerate(zip(made.configs, made.states, strict=True)):
        y = top + i * row
        if named:
            draw.text(left - 8, y + row / 2 + 4, name, "t", "end", 21)
        begin = 0
        for end in [*(np.flatnonzero(np.diff(states)) + 1).tolist(), width]:
            state = State(states[begin])
            where = " to ".join(_cell_name(made.cells[k], oof.n_repeats) for k in sorted({begin, end - 1}))
            tip = f"{name}\n{state.name.lower()}: {where}"
            draw.rect(
                left + begin * step, y, (end - begin) * step, row - (1 if row > 8 else 0), _STATE_STYLES[state], tip
            )
            begin = end
    draw.text(_RIGHT, top + n * row + 16, "repeats and folds, in the order of collecting", "axis", "end")
    gone = " and ".join(f"{made.having(s):,} {s.name.lower()}" for s in (State.DROPPED, State.FAILED) if made.having(s))
    return Picture(
        "cells",
        "Which configurations were left, and when",
        f"A row a configuration, a column a fold; {gone or 'none was dropped, none failed'}, "
        f"{oof.completeness:.0%} of all cells done.",
        draw.render(),
        {"configs": made.configs, "left": made.left.tolist()},
    )


def _cell_name(cell: tuple[int, int], n_repeats: int) -> str:
    return f"fold {cell[1] + 1}" if n_repeats == 1 else f"repeat {cell[0] + 1}, fold {cell[1] + 1}"


def trace(found: Stability) -> Picture:
    """How scores settle as repeats are added."""
    shown = collected.columns(found, None, _TRACED)
    top = 30.0 + 18 * len(shown)
    bottom = top + 170
    draw = Drawing(bottom + 38, f"{found.metric} as repeats are added")
    values = np.concatenate([found.mean[:, shown].ravel(), found.scores[:, shown].ravel()])
    x, y = Scale(0.5, found.n_repeats + 0.5, 54, _RIGHT), Scale.around(values, bottom, top)
    _repeat_axis(draw, x, bottom, found.n_repeats)
    draw.y_axis(y, 54, _RIGHT, found.metric)
    for i, j in enumerate(shown):
        name = found.configs[j]
        draw.line(54, 10 + 18 * i, 76, 10 + 18 * i, f"line l{i}")
        draw.text(84, 15 + 18 * i, name, "t", most=44)
        draw.path([(x(r + 1.0), y(float(v))) for r, v in enumerate(found.mean[:, j])], f"line l{i}")
        for r in range(found.n_repeats):
            tip = (
                f"{name}\nrepeat {r + 1}: {formatting.number(float(found.scores[r, j]))}\n"
                f"mean so far: {formatting.number(float(found.mean[r, j]))}"
            )
            draw.circle(x(r + 1.0), y(float(found.scores[r, j])), 2.6, f"f{i} soft", tip)
    return Picture(
        "trace",
        "Have the repeats been enough?",
        f"Lines: mean over the repeats so far of the {formatting.count(len(shown), 'best configuration')}; dots: single repeats.",
        draw.render(),
        {"configs": [found.configs[j] for j in shown], "mean": found.mean[:, shown].T.tolist()},
    )


def _repeat_axis(draw: Drawing, x: Scale, y: float, n: int) -> None:
    step = -(-n // 10)
    for r in range(1, n + 1, step):
        draw.text(x(float(r)), y + 15, str(r), "tick", "middle")
    draw.text(x.stop, y + 31, "repeats", "axis", "end")


def repeats(found: Stability, top: int = 8) -> Picture:
    """How much the score of a whole repeat depends on the partition."""
    shown = collected.columns(found, None, top)
    last = 8 + _ROW * len(shown)
    draw = Drawing(last + 40, f"{found.metric} of every repeat")
    x = Scale.around(found.scores[:, shown].ravel(), _LEFT, _RIGHT)
    draw.x_axis(x, last, 0, found.metric)
    for i, j in enumerate(shown):
        y, scores = _name(draw, i, found.configs[j]), found.scores[:, j]
        low, high = np.quantile(scores, [0.25, 0.75])
        draw.rect(x(float(low)), y - 7, x(float(high)) - x(float(low)), 14, "box")
        for r, score in enumerate(scores):
            at = y - 6 + 12 * (r + 0.5) / len(scores)
            draw.circle(
                x(float(score)),
                at,
                2.4,
                "c2 soft",
                f"{found.configs[j]}\nrepeat {r + 1}: {formatting.number(float(score))}",
            )
        mean, median = float(found.mean[-1, j]), float(found.median[-1, j])
        draw.line(x(median), y - 7, x(median), y + 7, "s0 thick", f"median of all repeats: {formatting.number(median)}")
        draw.diamond(x(mean), y, 4.5, "c1 edge", f"{found.configs[j]}\nmean of all repeats: {formatting.number(mean)}")
    return Picture(
        "repeats",
        "How much does a score depend on the partition?",
        "A dot a repeat. Box: the middle half of them; line: median; diamond: mean.",
        draw.render(),
        {"configs": [found.configs[j] for j in shown], "scores": found.scores[:, shown].T.tolist()},
    )


def fold_scores(oof: Predictions, metric: MetricLike, config: str) -> Picture:
    """The selected configuration, fold by fold."""
    made = collected.fold_grid(oof, metric, config)
    n, k = made.scores.shape
    left, top, high = 30.0, 38.0, 22.0
    wide = min((_RIGHT - left) / k, 60.0)
    draw = Drawing(top + high * n + 4, f"{made.metric} of every fold")
    values = made.scores[np.isfinite(made.scores)]
    low, span = float(values.min()), float(np.ptp(values)) or 1.0
    written = k <= 12
    for i in range(0, k, -(-k // 20)):
        draw.text(left + wide * (i + 0.5), top - 8, str(i + 1), "tick", "middle")
    draw.text(left, 10, "fold", "axis")
    for r in range(n):
        y = top + high * r
        draw.text(left - 7, y + high / 2 + 4, str(r + 1), "tick", "end")
        for i, score in enumerate(made.scores[r]):
            if not np.isfinite(score):
                continue
            good = (float(score) - low) / span
            good = good if made.greater_is_better else 1 - good
            tip = f"repeat {r + 1}, fold {i + 1}: {formatting.number(float(score))}"
            draw.rect(left + wide * i, y, wide - 1.5, high - 1.5, "heat", tip, fill_opacity=shade(good))
            if written:
                draw.text(left + wide * (i + 0.5), y + high / 2 + 4, _short(float(score)), "tick in", "middle")
    mean = formatting.number(float(values.mean()))
    spread = f"{formatting.number(low)} to {formatting.number(float(values.max()))}, mean {mean}"
    return Picture(
        "fold_scores",
        "Is there a fold unlike the others?",
        f"{made.metric} of the selected configuration, a row a repeat; the stronger the colour, the better. {spread}.",
        draw.render(),
        {"config": made.config, "scores": made.scores.tolist()},
    )


def _short(score: float) -> str:
    return f"{score:.2f}" if abs(score) < 10 else f"{score:.3g}"


def differences(pairs: Sequence[Comparison]) -> Picture:
    """Others against the selected configuration."""
    metric = pairs[0].metric
    ends = [end for pair in pairs if pair.interval for end in pair.interval]
    x = Scale.around([0.0, *ends, *(pair.difference for pair in pairs)], _LEFT, _RIGHT)
    last = 8 + _ROW * len(pairs)
    draw = Drawing(last + 40, f"differences of {metric}")
    draw.x_axis(x, last, 0, f"difference of {metric}")
    draw.line(x(0.0), 0, x(0.0), last, "zero")
    for i, pair in enumerate(pairs):
        y = _name(draw, i, pair.a)
        tip = f"{pair.a} - {pair.b}\n{formatting.number(pair.difference, sign=True)}"
        if pair.interval is not None:
            tip += f", {formatting.interval(*pair.interval, pair.confidence_level, sign=True)}"
            draw.line(x(pair.interval.low), y, x(pair.interval.high), y, "bar pale", tip)
        draw.circle(x(pair.difference), y, 4.5, "c0 edge", tip)
    return Picture(
        "difference",
        "Others minus the selected one",
        f"{metric} of the configuration named minus that of the selected one, with intervals of single pairs.",
        draw.render(),
        {"pairs": [{"a": p.a, "b": p.b, "difference": p.difference, "interval": p.interval} for p in pairs]},
    )
