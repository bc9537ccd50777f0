"""The critical difference diagram of a ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..exceptions import InputError
from ..results import Ranking, _diagram
from . import _theme as theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["critical_difference"]

_POINTS = 10.0  # a line of text, in points
_INCH = 72.0


def critical_difference(ranking: Ranking, *, ax: Axes | None = None) -> Axes:
    """The critical difference diagram of a ranking (Demsar 2006, Fig. 1): mean ranks, and bars over what is not told apart.

    Parameters
    ----------
    ranking
        What a function of `rank` gives; bars are drawn where it compared algorithms with each other.
    ax
        Axes to draw into; a figure of the right size is made where None.

    Returns
    -------
    The axes. ``Ranking.to_svg`` and ``Ranking.to_tikz`` draw the same picture without matplotlib.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> ranking = of.rank.nemenyi(np.random.default_rng(0).random((12, 4)))
    >>> ax = of.plot.critical_difference(ranking)  # doctest: +SKIP
    """
    if not isinstance(ranking, Ranking):
        raise InputError(
            f"critical_difference needs a Ranking, as rank.nemenyi or rank.holm give; got {type(ranking).__name__}."
        )
    made = ranking.layout()
    axes = _new_axes(made) if ax is None else ax
    axes.set_xlim(0, made.width)
    axes.set_ylim(made.height, 0)
    axes.axis("off")
    for bar in made.bars:
        axes.plot([bar.left, bar.right], [bar.y] * 2, color=_diagram.BAR, linewidth=3, solid_capstyle="butt")
    _line(axes, made.axis.left, made.axis.y, made.axis.right, made.axis.y)
    for tick in made.ticks:
        _line(axes, tick.x, made.axis.y - 0.35, tick.x, made.axis.y)
        axes.text(tick.x, made.axis.y - 0.6, str(tick.rank), ha="center", va="bottom", fontsize=_POINTS)
    for label in made.labels:
        _label(axes, label, made.axis.y)
    if made.cd is not None:
        for line in _diagram.cd_lines(made.cd):
            _line(axes, *line)
        middle = (made.cd.left + made.cd.right) / 2
        axes.text(middle, made.cd.y - 0.4, made.cd.text, ha="center", va="bottom", fontsize=_POINTS)
    return axes


def _new_axes(made: _diagram.Layout) -> Axes:
    plt = theme.pyplot(" Ranking.to_svg() draws the same without it.")
    figure = plt.figure(figsize=(made.width * _POINTS / _INCH, made.height * _POINTS / _INCH))
    axes: Axes = figure.add_axes((0, 0, 1, 1))
    return axes


def _label(axes: Axes, label: _diagram.Label, top: float) -> None:
    axes.plot([label.x, label.x, label.text_x], [top, label.y, label.y], color=_diagram.LINE, linewidth=0.8)
    side, shift = ("right", -0.3) if label.side == "left" else ("left", 0.3)
    text: dict[str, Any] = {"ha": side, "va": "center", "fontsize": _POINTS}
    # Names are names: a dollar sign does not begin a formula.
    axes.text(
        label.text_x + shift,
        label.y,
        label.name,
        parse_math=False,
        fontweight="bold" if label.control else "normal",
        **text,
    )


def _line(axes: Axes, x1: float, y1: float, x2: float, y2: float) -> None:
    axes.plot([x1, x2], [y1, y2], color=_diagram.LINE, linewidth=0.8)
