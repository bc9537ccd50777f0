"""Scores on training and held-out samples, over the number of samples or one parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import formatting
from ..results import CurveLine, LearningCurve, ValidationCurve
from . import _theme as theme
from ._data import training as numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DOTS = (0, (1, 1.5))


def learning_curve(
    curve: LearningCurve, configs: Sequence[str | int] | str | int | None = None, *, ax: Axes | None = None
) -> Axes:
    """Scores as the training part grows: solid on held-out samples, dotted on those trained on.

    Parameters
    ----------
    curve
        What `curves.learning` gives.
    configs
        The configurations to show; all where None.
    ax
        Axes to draw into; a figure of the right size is made where None.

    Examples
    --------
    >>> import outfold as of
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> curve = of.curves.learning({"bayes": GaussianNB()}, *load_iris(return_X_y=True), progress=False)  # doctest: +SKIP
    >>> ax = of.plot.learning_curve(curve)  # doctest: +SKIP
    """
    shown = numbers.lines(curve, configs, len(theme.STYLES))
    names = [curve.configs[j] for j in shown]
    ax = theme.axes(ax, 4.0)
    handles = []
    for j, (_, style) in zip(shown, theme.styles(names), strict=True):
        _line(ax, curve.sizes, curve.train, j, style, held_out=False)
        handles.append(_line(ax, curve.sizes, curve.test, j, style, held_out=True))
    theme.dress(
        ax,
        f"{curve.metric} by the number of samples trained on",
        f"{formatting.count(curve.n_samples, 'sample')}, {curve.plan}. Solid: held out, dotted: trained on. Bands: {curve.band}",
        x="samples trained on",
        y=theme.direction(curve.metric, curve.greater_is_better),
        grid="y",
    )
    theme.legend(ax, handles, theme.shorten(names), names)
    return ax


def validation_curve(curve: ValidationCurve, *, ax: Axes | None = None) -> Axes:
    """Scores over one parameter: solid on held-out samples, dotted on those trained on; the best and the simplest good value.

    Parameters
    ----------
    curve
        What `curves.validation` gives.
    ax
        Axes to draw into; a figure of the right size is made where None.

    Examples
    --------
    >>> import outfold as of
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree, data = DecisionTreeClassifier(), load_iris(return_X_y=True)
    >>> curve = of.curves.validation(tree, *data, "max_depth", [1, 2, 3], progress=False)  # doctest: +SKIP
    >>> ax = of.plot.validation_curve(curve)  # doctest: +SKIP
    """
    at = numbers.places(curve)
    ax = theme.axes(ax, 4.0)
    if at.log:
        ax.set_xscale("log")
    handles = [
        _line(ax, at.x, curve.test, at.order, theme.STYLES[0], held_out=True),
        _line(ax, at.x, curve.train, at.order, theme.STYLES[1], held_out=False),
    ]
    names = ["held out", "trained on"]
    where = {int(v): float(x) for v, x in zip(at.order, at.x, strict=True)}
    for v, word, style in ((curve.best, "best", "-"), (curve.one_standard_error, "one standard error", "--")):
        if v is not None:
            handles.append(ax.axvline(where[v], color=theme.GREY, linewidth=1, linestyle=style, zorder=1))
            names.append(f"{word}: {_value(curve.values[v])}")
    if at.labels is not None:
        theme.name_rows(ax, at.labels, "x")
    theme.dress(
        ax,
        f"{curve.metric} by {curve.param}",
        f"{formatting.count(curve.oof.n_samples, 'sample')}, {curve.plan}. Bands: {curve.band}",
        x=curve.param,
        y=theme.direction(curve.metric, curve.greater_is_better),
        grid="y",
    )
    theme.legend(ax, handles, names)
    return ax


def _line(ax: Axes, x: Any, line: CurveLine, at: Any, style: theme.Style, held_out: bool) -> Any:
    ax.fill_between(x, line.low[at], line.high[at], color=style.colour, alpha=0.13 if held_out else 0.07, linewidth=0)
    how: Any = (
        {"linestyle": "-", "linewidth": 1.8}
        if held_out
        else {"linestyle": _DOTS, "linewidth": 1.4, "fillstyle": "none"}
    )
    return ax.plot(x, line.mean[at], color=style.colour, marker=style.marker, markersize=5, **how)[0]


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
