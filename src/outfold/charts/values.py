"""Charts of predicted numbers: against the observed ones, and what is left over; and of how much features matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.predictions import Predictions
from ..exceptions import NeedError
from ..metrics._keeping import alone
from ..metrics._scoring import Scoring
from . import description as chart

Floats = NDArray[np.float64]

# More points hide one another, and make the page large.
_MOST_POINTS = 300
_SEED = 0xD07


class Predicted(NamedTuple):
    """(n,) observed numbers and the held-out predictions of one configuration, their mean over repeats."""

    config: str
    observed: Floats
    predicted: Floats

    @property
    def some(self) -> NDArray[np.intp]:
        """Samples to draw: all, or some at random."""
        n = len(self.observed)
        if n <= _MOST_POINTS:
            return np.arange(n)
        return np.sort(np.random.default_rng(_SEED).choice(n, _MOST_POINTS, replace=False))

    @property
    def shown(self) -> str:
        """How many of the samples are drawn, in words."""
        n = len(self.observed)
        every = formatting.count(n, "sample")
        return f"all {every}" if n <= _MOST_POINTS else f"{_MOST_POINTS} of {every}, drawn at random"


def predicted_values(oof: Predictions, config: str) -> Predicted:
    """The predictions of one configuration of a regression, where they count."""
    if oof.target.task != "regression" or oof.response != "value":
        given = f"these predictions are for {oof.target.task}"
        raise NeedError(argument="the picture of predicted values", needed="needs a regression", given=given)
    scoring = Scoring(alone(oof, config), "mse")
    data, rows = scoring.oof.respond("value")[:, 0], scoring.rows
    held = np.zeros(data.shape, dtype=bool)
    for r, k in scoring.cells:
        held[r] |= scoring.oof.folds[:, r] == k
    totals = np.where(held, data, 0.0).sum(axis=0)[rows]
    return Predicted(config, oof.target.y[rows].astype(np.float64), totals / held.sum(axis=0)[rows])


def predicted(made: Predicted, data: str) -> chart.Chart:
    """Predicted against observed."""
    x, y = made.predicted[made.some], made.observed[made.some]
    low, high = min(x.min(), y.min()), max(x.max(), y.max())
    room = 0.04 * (high - low) or 0.5
    ends = float(low - room), float(high + room)
    correlation = _correlation(made)
    words = "" if correlation is None else f" Correlation {correlation:.2f}."
    return chart.Chart(
        "predicted",
        f"predicted and observed, {formatting.shorten(made.config, 40)}",
        f"{data}; {made.shown}",
        "Do predictions come true?",
        f"The selected configuration, out of fold: {made.shown}. On the line, the prediction is what was observed.{words}",
        chart.Axis("predicted", *ends, grid=True),
        chart.Axis("observed", *ends, grid=True),
        (
            chart.Line(ends, ends, "grey", width=1, behind=True),
            chart.Points(x, y, "blue", size=5, faint=True),
        ),
        {"config": made.config, "correlation": correlation, "points": _rounded(x, y)},
        size=(5.0, 5.0),
        shape="square",
    )


def _rounded(x: Floats, y: Floats) -> list[list[float]]:
    """The points as (predicted, observed), with as many digits as a picture shows."""
    return [[float(f"{a:.5g}"), float(f"{b:.5g}")] for a, b in zip(x, y, strict=True)]


def _correlation(made: Predicted) -> float | None:
    if np.ptp(made.predicted) == 0 or np.ptp(made.observed) == 0:
        return None
    return float(np.corrcoef(made.predicted, made.observed)[0, 1])


def residuals(made: Predicted, data: str) -> chart.Chart:
    """What was observed minus what was predicted."""
    x, left = made.predicted[made.some], (made.observed - made.predicted)[made.some]
    every = made.observed - made.predicted
    mean, sd = float(every.mean()), float(every.std())
    say = formatting.Digits.of_width(sd)
    return chart.Chart(
        "residuals",
        f"residuals, {formatting.shorten(made.config, 40)}",
        f"{data}; {made.shown}",
        "Where are predictions off?",
        f"Observed minus predicted, {made.shown}. A trend or a funnel shows what the model missed. Mean {say(mean)}, standard "
        f"deviation {say(sd)}.",
        chart.Axis("predicted", grid=True),
        chart.Axis("observed minus predicted", hold=(0.0,), grid=True),
        (
            chart.GuideLine("y", 0.0, "grey"),
            chart.Points(x, left, "blue", size=5, faint=True),
        ),
        {"config": made.config, "mean": mean, "sd": sd},
        size=(6.8, 3.6),
    )


_TOP = 15


def importance(rows: Sequence[Mapping[str, Any]], metric: str) -> chart.Chart:
    """How much each feature matters, most important first."""
    shown = rows[:_TOP]
    marks: list[chart.Mark] = [chart.GuideLine("x", 0.0, "pale")]
    for i, row in enumerate(shown):
        mean, sd = row["mean"], row["sd"]
        tip = f"{row['name']}\n{formatting.number(mean, sign=True)}" + (
            "" if sd is None else f" ± {formatting.number(sd)}"
        )
        marks.append(chart.Box(min(mean, 0.0), max(mean, 0.0), i + 0.36, i - 0.36, "soft", tip=tip))
        if sd:
            marks.append(chart.Line([mean - sd, mean + sd], [i, i], "blue", width=2))
    more = len(rows) - len(shown)
    rest = (
        f" {formatting.count(more, 'feature')} with less importance {'is' if more == 1 else 'are'} not shown."
        if more
        else ""
    )
    return chart.Chart(
        "importance",
        f"importance of features by {metric}",
        f"{formatting.count(len(rows), 'feature')}, the {len(shown)} most important",
        "Which features matter?",
        f"How much worse {metric} gets, out of fold, if the values of a feature are shuffled. Line: standard deviation. Features "
        f"that say the same thing share their importance.{rest}",
        chart.Axis(f"loss of {metric}", hold=(0.0,), grid=True),
        chart.Axis(names=tuple(str(row["name"]) for row in shown)),
        marks,
        {"rows": [dict(row) for row in rows]},
        size=(6.8, 1.35 + 0.27 * len(shown)),
    )
