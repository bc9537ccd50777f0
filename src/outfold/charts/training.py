"""Charts of scores on training and held-out samples, over the number of samples or one parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..arguments import is_number
from ..exceptions import InputError
from ..results import CurveLine, LearningCurve, ValidationCurve
from .description import (
    DASHED,
    SOLID,
    STYLES,
    Axis,
    Band,
    Chart,
    Key,
    Line,
    Mark,
    Rule,
    Style,
    check_result,
    direction,
    positions,
    shorten,
    styles,
)

_DOTS = (1.0, 1.5)
# From such a ratio of the largest to the smallest value on, steps are taken as factors.
_FACTOR = 50


def shown_lines(curve: Any, configs: Sequence[str | int] | str | int | None, most: int) -> list[int]:
    """Positions of the configurations of a learning curve that are shown; all, where they are not too many."""
    known = check_result(curve, LearningCurve, "learning_curve", "curves.learning").configs
    if configs is not None:
        return positions(known, configs, "curve")
    if len(known) > most:
        raise InputError(
            argument="configs",
            needed=f"must name {most} configurations at most, which can be told apart",
            given=f"this curve has {len(known):,}",
            remedy="Name some: `configs=[...]`.",
        )
    return list(range(len(known)))


def _curve(x: Any, line: CurveLine, at: Any, style: Style, held_out: bool) -> list[Mark]:
    """A mean with its band: solid on held-out samples, dotted on those trained on."""
    how: dict[str, Any] = {"width": 1.8} if held_out else {"dashes": _DOTS, "width": 1.4, "open": True}
    return [
        Band(np.asarray(x, dtype=np.float64), line.low[at], line.high[at], style.tone, faint=not held_out),
        Line(x, line.mean[at], style.tone, marker=style.marker, **how),
    ]


def learning_curve(curve: Any, configs: Sequence[str | int] | str | int | None = None) -> Chart:
    """Scores as the training part grows."""
    shown = shown_lines(curve, configs, len(STYLES))
    names = [curve.configs[j] for j in shown]
    marks: list[Mark] = []
    keys = []
    for j, short, (name, style) in zip(shown, shorten(names), styles(names), strict=True):
        marks += _curve(curve.sizes, curve.train, j, style, held_out=False)
        marks += _curve(curve.sizes, curve.test, j, style, held_out=True)
        keys.append(Key(short, marks[-1], name))  # type: ignore[arg-type]
    data = f"{formatting.count(curve.n_samples, 'sample')}, {curve.plan}"
    facts = f"{data}. Solid: held out, dotted: trained on. Bands: {curve.band}"
    return Chart(
        "learning_curve",
        f"{curve.metric} by the number of samples trained on",
        facts,
        "Would more data help?",
        f"{facts}.",
        Axis("samples trained on"),
        Axis(direction(curve.metric, curve.greater_is_better), grid=True),
        tuple(marks),
        curve.to_dict(),
        tuple(keys),
    )


class Places(NamedTuple):
    """Where the values of a parameter are: numbers in rising order, other values side by side in the user's order."""

    order: NDArray[np.intp]
    x: NDArray[np.float64]
    labels: tuple[str, ...] | None
    log: bool


def places(curve: Any) -> Places:
    """Positions on the axis of a validation curve."""
    values = check_result(curve, ValidationCurve, "validation_curve", "curves.validation").values
    if not all(is_number(value) for value in values):
        labels = tuple(str(value) for value in values)
        at = np.arange(len(labels))
        return Places(at, at.astype(np.float64), labels, False)
    x = np.array([float(value) for value in values])
    order = np.argsort(x, kind="stable")
    x = x[order]
    return Places(order, x, None, bool(x[0] > 0 and x[-1] / x[0] >= _FACTOR))


def validation_curve(curve: Any) -> Chart:
    """Scores over the values of one parameter, the best value and the simplest good one."""
    at = places(curve)
    held = _curve(at.x, curve.test, at.order, STYLES[0], held_out=True)
    trained = _curve(at.x, curve.train, at.order, STYLES[1], held_out=False)
    marks: list[Mark] = [*trained, *held]
    keys = [Key("held out", held[-1]), Key("trained on", trained[-1])]  # type: ignore[arg-type]
    where = {int(v): float(x) for v, x in zip(at.order, at.x, strict=True)}
    for v, word, dashes in ((curve.best, "best", SOLID), (curve.one_standard_error, "one standard error", DASHED)):
        if v is not None:
            value = curve.values[v]
            words = f"{word}: {f'{value:g}' if isinstance(value, float) else value}"
            marks.append(Rule("x", where[v], dashes=dashes))
            keys.append(Key(words, Line([], [], "grey", dashes, 1)))
    facts = f"{formatting.count(curve.oof.n_samples, 'sample')}, {curve.plan}. Bands: {curve.band}"
    return Chart(
        "validation_curve",
        f"{curve.metric} by {curve.param}",
        facts,
        f"Which value of {curve.param}?",
        f"{facts}.",
        Axis(curve.param, names=at.labels or (), scale="log" if at.log else "linear"),
        Axis(direction(curve.metric, curve.greater_is_better), grid=True),
        tuple(marks),
        curve.to_dict(),
        tuple(keys),
    )
