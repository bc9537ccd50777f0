"""Pictures of predictions: curves over thresholds, calibration, confusion."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .. import formatting
from ..data.predictions import Predictions
from ..plot._data import responses
from .picture import Picture, shade, with_interval
from .svg import Drawing, Scale

_SIZE = 300.0
_LEFT = 60.0
_KEY = 16.0  # height of a line of the legend
_MARKS = 21  # points of a curve that have a tip


def curve(
    kind: Literal["roc", "precision_recall"], oof: Predictions, config: str, n_resamples: int, rng: int
) -> Picture:
    """What another threshold would give."""
    made = responses.curves(kind, oof, config, None, 0.95, n_resamples, rng)
    x_name, y_name = ("false positive rate", "true positive rate") if kind == "roc" else ("recall", "precision")
    draw, x, y = _square(f"{x_name} and {y_name}", x_name, y_name, len(made.lines))
    if kind == "roc":
        draw.line(x(0), y(0), x(1), y(1), "zero")
    elif made.share is not None:
        draw.line(
            x(0),
            y(made.share),
            x(1),
            y(made.share),
            "zero",
            f"share of {made.positive}: {formatting.number(made.share)}",
        )
    lines = []
    for i, line in enumerate(made.lines):
        defined = np.isfinite(line.low) & np.isfinite(line.high)
        grid, low, high = line.grid[defined], line.low[defined], line.high[defined]
        if len(made.lines) == 1:
            band = [*zip(grid, high, strict=True), *zip(grid[::-1], low[::-1], strict=True)]
            draw.path([(x(float(a)), y(float(b))) for a, b in band], f"band f{i}", close=True)
        draw.path([(x(float(a)), y(float(b))) for a, b in zip(line.x, line.y, strict=True)], f"line l{i}")
        for j in np.unique(np.linspace(0, len(line.x) - 1, _MARKS).astype(int)):
            a, b = float(line.x[j]), float(line.y[j])
            tip = f"{_whose(line.name, made.config)}\n{x_name} {formatting.number(a)}\n{y_name} {formatting.number(b)}"
            draw.circle(x(a), y(b), 5, "ghost", tip)
        found = line.estimate
        words = with_interval(found.value, found.interval, found.confidence_level)
        _key(draw, i, words if len(made.lines) == 1 else f"{line.name}: {formatting.number(found.value)}")
        lines.append({"name": line.name, "metric": found.metric, "value": found.value, "interval": found.interval})
    title = "ROC curve" if kind == "roc" else "Precision and recall"
    about = "" if made.positive is None else f" Positive class: {made.positive}."
    area = "Area" if kind == "roc" else "Average precision"
    band_words = f" Band: 95% over samples, {n_resamples} draws." if len(made.lines) == 1 else " A line a class."
    return Picture(
        kind,
        title,
        f"The selected configuration{', mean over repeats' if oof.n_repeats > 1 else ''}. {area} in the picture: its own, not "
        f"corrected for having been selected.{about}{band_words}",
        draw.render(),
        {"config": config, "positive": made.positive, "lines": lines},
    )


def calibration(oof: Predictions, config: str, n_resamples: int, rng: int) -> Picture:
    """Whether probabilities mean what they say."""
    made = responses.calibration(oof, config, None, 10, 0.95, n_resamples, rng)
    draw, x, y = _square("observed shares by predicted probability", "predicted", "observed", len(made.lines))
    draw.line(x(0), y(0), x(1), y(1), "zero")
    lines = []
    for i, line in enumerate(made.lines):
        points = [(x(float(p)), y(float(o))) for p, o in zip(line.predicted, line.observed, strict=True)]
        draw.path(points, f"line l{i}")
        for (at, height), p, o, low, high, n in zip(points, *line[1:6], strict=True):
            if np.isfinite(low) and len(made.lines) == 1:
                draw.line(at, y(float(low)), at, y(float(high)), f"l{i}")
            tip = (
                f"{_whose(line.name, made.config)}\npredicted {formatting.number(float(p))}\n"
                f"observed {formatting.number(float(o))}, "
                f"{formatting.interval(float(low), float(high), 0.95)}\n{formatting.count(int(n), 'prediction')}"
            )
            draw.circle(at, height, 4, f"f{i} edge", tip)
        found = line.estimate
        _key(draw, i, f"Brier score {formatting.number(found.value)}" if len(made.lines) == 1 else line.name)
        bins = {k: np.asarray(getattr(line, k)).tolist() for k in ("predicted", "observed", "low", "high", "n")}
        lines.append({"name": line.name, "brier": found.value} | bins)
    about = "" if made.positive is None else f" of {made.positive}"
    return Picture(
        "calibration",
        "Do probabilities mean what they say?",
        f"The selected configuration: the share{about} among samples of about equal predicted probability. On the line they "
        "mean what they say.",
        draw.render(),
        {"config": config, "positive": made.positive, "lines": lines},
    )


def confusion(oof: Predictions, config: str) -> Picture:
    """Which class is taken for which."""
    made = responses.confusion(oof, config)
    k, left, top = len(made.classes), 110.0, 52.0
    cell = min(330.0 / k, 110.0)
    high = min(cell, 44.0)
    draw = Drawing(top + high * k + 12, "confusion matrix")
    draw.text(left, 12, "predicted", "axis")
    draw.text(left - 10, top - 10, "true", "axis", "end")
    for j, name in enumerate(made.classes):
        draw.text(left + cell * (j + 0.5), top - 10, name, "t", "middle", max(int(cell / 9), 2))
        draw.text(left - 10, top + high * (j + 0.5) + 4, name, "t", "end", 11)
    for i, row in enumerate(made.counts):
        for j, count in enumerate(row):
            share = float(made.shares[i, j])
            tip = f"true {made.classes[i]}, predicted {made.classes[j]}\n{count:g} samples, {share:.1%} of the class"
            at = left + cell * j, top + high * i
            draw.rect(*at, cell - 1.5, high - 1.5, "heat", tip, fill_opacity=shade(share))
            if cell >= 26:
                draw.text(at[0] + cell / 2, at[1] + high / 2 + 4, _count(float(count)), "tick in", "middle")
    mean = f", mean over {made.n_repeats} repeats" if made.n_repeats > 1 else ""
    return Picture(
        "confusion",
        "Which class is taken for which?",
        f"The selected configuration out of fold{mean}: counts of samples, the stronger the colour the larger their share of the "
        f"true class. Its own accuracy: {formatting.number(made.accuracy)}.",
        draw.render(),
        {"config": made.config, "classes": made.classes, "counts": made.counts.tolist(), "accuracy": made.accuracy},
    )


def _count(value: float) -> str:
    return f"{value:.0f}" if value == round(value) or value >= 100 else f"{value:.1f}"


def _square(label: str, x_name: str, y_name: str, n_lines: int) -> tuple[Drawing, Scale, Scale]:
    draw = Drawing(_SIZE + 90 + _KEY * n_lines, label)
    right, bottom = _LEFT + _SIZE + 60, _SIZE + 44
    x, y = Scale(0, 1, _LEFT, right), Scale(0, 1, bottom, 24)
    draw.x_axis(x, bottom, 24, x_name)
    draw.y_axis(y, _LEFT, right, y_name)
    return draw, x, y


def _key(draw: Drawing, i: int, words: Any) -> None:
    """A line of the legend, below the picture: wherever it stood within, some curve would pass."""
    y = _SIZE + 96 + _KEY * i
    draw.line(_LEFT, y - 4, _LEFT + 22, y - 4, f"line l{i}")
    draw.text(_LEFT + 30, y, words, "t", most=52)


def _whose(name: str, config: str | None) -> str:
    return name if config is None else f"{config}\nclass {name}"
