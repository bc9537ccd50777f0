"""Charts by matplotlib, which is imported when the first one is drawn."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import invalid
from . import description as marks
from .description import TONES, Axis, Chart, Key

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Text as DrawnText

# Dark is more, in colour and in grey.
SCALE = "Blues"
_MARKERS = {"circle": "o", "square": "s", "up": "^", "diamond": "D", "down": "v", "plus": "P", "cross": "X"}
_LETTER = 0.065  # inches of a letter of 9 points, about
_UNDER = 0.53  # inches from the axes to the legend below: room for ticks and label


def check_matplotlib(ax: Any = None, remedy: str = "") -> None:
    """Refuse to draw without matplotlib, or into something that is no axes."""
    try:
        from matplotlib.axes import Axes
    except ImportError:
        how = f"Install it: `pip install 'outfold[plot]'`.{remedy}"
        raise invalid("outfold.plot", "needs matplotlib", remedy=how, page="extras") from None
    if ax is not None and not isinstance(ax, Axes):
        needed = "must be matplotlib Axes, as `plt.subplots` gives"
        raise invalid("ax", needed, f"got {type(ax).__name__}")


def draw(chart: Chart, ax: Axes | None = None) -> Axes:
    """Draw a chart into the axes given, or into a new figure of its size."""
    import matplotlib.pyplot as plt

    alone, bare = ax is None, chart.shape == "bare"
    if ax is None and bare:
        ax = plt.figure(figsize=chart.size).add_axes((0, 0, 1, 1))
    elif ax is None:
        ax = plt.subplots(figsize=chart.size, layout="constrained")[1]
    assert ax is not None
    if chart.x.scale == "log":
        ax.set_xscale("log")
    for mark in chart.marks:
        _mark(ax, mark)
    if bare:
        ax.set_xlim(chart.x.low, chart.x.high)
        ax.set_ylim(chart.y.low, chart.y.high)
        ax.axis("off")
        return ax
    _axis(ax, "x", chart.x)
    _axis(ax, "y", chart.y)
    if chart.shape == "square":
        ax.set_aspect("equal")
    heat = next((mark for mark in chart.marks if isinstance(mark, marks.HeatMap)), None)
    if heat is not None:
        ax.spines[:].set_visible(False)
        ax.tick_params(length=0)
    _titles(ax, chart, alone)
    if heat is not None and heat.bar:
        made = ax.get_figure().colorbar(ax.images[0], ax=ax, pad=0.03, shrink=0.8, label=heat.bar)  # type: ignore[union-attr]
        made.outline.set_visible(False)
    if chart.keys:
        _legend(ax, chart.keys, chart.beside, 8 if chart.shape == "square" else 9)
    return ax


# -- marks --------------------------------------------------------------------------------------------------


def _mark(ax: Axes, mark: marks.Mark) -> None:
    match mark:
        case marks.Points(marker="hidden"):
            pass
        case marks.Points():
            ax.plot(mark.x, mark.y, **_points(mark))
        case marks.Line():
            ax.plot(mark.x, mark.y, **_line(mark))
        case marks.Band():
            opacity = 0.07 if mark.faint else 0.13
            ax.fill_between(mark.x, mark.low, mark.high, color=TONES[mark.tone], alpha=opacity, linewidth=0)
        case marks.Box():
            from matplotlib.patches import Rectangle

            low, high = sorted((mark.bottom, mark.top))
            colours: Any = {"facecolor": "none" if mark.outline else TONES[mark.tone], "edgecolor": TONES["grey"]}
            colours["linewidth"] = 0.9 if mark.outline else 0.3
            ax.add_patch(Rectangle((mark.left, low), mark.right - mark.left, high - low, **colours))
        case marks.GuideLine():
            across = ax.axvline if mark.axis == "x" else ax.axhline
            across(mark.at, color=TONES[mark.tone], linewidth=mark.width, linestyle=_dashes(mark.dashes), zorder=1)
            if mark.text:
                _write(ax, 1.005, mark.at, mark.text, 8, transform=ax.get_yaxis_transform(), va="center")
        case marks.Span():
            ax.axvspan(mark.low, mark.high, color=TONES["faint"], zorder=0)
        case marks.Strip():
            _strip(ax, mark)
        case marks.Text():
            how = {"color": TONES[mark.tone], "ha": mark.align, "va": "bottom" if mark.above else "center"}
            _write(ax, mark.x, mark.y, mark.text, mark.size, fontweight="bold" if mark.bold else "normal", **how)
        case marks.RowText():
            _write(ax, 1.01, mark.row, mark.text, 8.5, transform=ax.get_yaxis_transform(), va="center")
        case marks.HeatMap():
            _heat_map(ax, mark)


def _points(mark: marks.Points) -> dict[str, Any]:
    colour = TONES[mark.tone]
    edge = {"markeredgewidth": 0} if mark.faint else {"markeredgecolor": colour, "markeredgewidth": 1.4}
    shape = {"marker": _MARKERS[mark.marker], "markersize": mark.size, "alpha": 0.45 if mark.faint else 1.0}
    return {"linestyle": "none", "color": "white" if mark.open else colour} | shape | edge


def _line(mark: marks.Line) -> dict[str, Any]:
    how: dict[str, Any] = {"color": TONES[mark.tone], "linewidth": mark.width, "linestyle": _dashes(mark.dashes)}
    if not mark.dashes and not mark.marker:
        how["solid_capstyle"] = "butt"
    if mark.marker:
        how |= {"marker": _MARKERS[mark.marker], "markersize": 5, "markevery": mark.every}
        how |= {"fillstyle": "none"} if mark.open else {}
    if mark.steps:
        how["drawstyle"] = "steps-pre"
    return how | ({"zorder": 0} if mark.behind else {})


def _dashes(dashes: tuple[float, ...]) -> Any:
    return (0, dashes) if dashes else "-"


def _strip(ax: Axes, mark: marks.Strip) -> None:
    across = ax.get_xaxis_transform()
    how: dict[str, Any] = {"transform": across, "linewidth": 6, "solid_capstyle": "butt", "zorder": 1}
    for begin, end, tone in mark.parts:
        ax.plot([begin, end], [0.015] * 2, color=TONES[tone], **how)
    for begin, _, _ in mark.parts[1:]:
        ax.plot([begin] * 2, [0, 0.05], transform=across, color="white", linewidth=1.5)


def _heat_map(ax: Axes, mark: marks.HeatMap) -> None:
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap

    how: dict[str, Any] = {"aspect": "auto", "interpolation": "none"}
    if mark.categories:
        first, last = mark.categories[0].value, mark.categories[-1].value
        colours: Any = ListedColormap([TONES[category.tone] for category in mark.categories])
        span = first - 0.5, last + 0.5
    else:
        colours, span = plt.get_cmap(SCALE + ("_r" if mark.reverse else "")), (mark.low, mark.high)
    image = ax.imshow(np.ma.masked_invalid(mark.values), cmap=colours, vmin=span[0], vmax=span[1], **how)
    if mark.crossed:
        for r, k in np.argwhere(np.isnan(mark.values)):
            for ends in ([r - 0.5, r + 0.5], [r + 0.5, r - 0.5]):
                ax.plot([k - 0.5, k + 0.5], ends, color=TONES["pale"], linewidth=0.8)
    for (i, j), text in np.ndenumerate(mark.texts if mark.texts is not None else np.empty((0, 0))):
        if text:
            colour = on(colours(image.norm(np.asarray(mark.values[i, j]))))
            _write(ax, j, i, text, mark.text_size, ha="center", va="center", color=colour)
    ax.set_xlim(-0.5, mark.values.shape[1] - 0.5)
    ax.set_ylim(mark.values.shape[0] - 0.5, -0.5)


# -- axes, titles, legend -----------------------------------------------------------------------------------


def _axis(ax: Axes, which: str, axis: Axis) -> None:
    ours = ax.xaxis if which == "x" else ax.yaxis
    limits = ax.get_xlim if which == "x" else ax.get_ylim
    set_limits = ax.set_xlim if which == "x" else ax.set_ylim
    if axis.grid:
        ax.grid(axis=which, color=TONES["faint"], linewidth=0.8)  # type: ignore[arg-type]
        ax.set_axisbelow(True)
    if axis.names:
        _names(ax, which, axis)
    elif axis.ticks is not None:
        ours.set_ticks([at for at, _ in axis.ticks], [drawable(text) for _, text in axis.ticks])
        for label in ours.get_ticklabels():
            _as_name(label, label.get_text())
    elif axis.scale == "whole":
        from matplotlib.ticker import MaxNLocator

        ours.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    elif axis.scale == "percent":
        from matplotlib.ticker import PercentFormatter

        ours.set_major_formatter(PercentFormatter(1.0, decimals=0))
    if ax.images or (axis.names and which == "x"):
        return
    if axis.names:
        set_limits(len(axis.names) - 0.5, -0.5)
        return
    if axis.scale == "linear":
        ax.margins(**{which: axis.margin})  # type: ignore[arg-type]
        ax.autoscale_view(scalex=which == "x", scaley=which == "y")
    low, high = limits()
    if axis.hold:  # in view, with room on both sides
        room = axis.margin * (max(high, *axis.hold) - min(low, *axis.hold))
        low, high = min(low, *(v - room for v in axis.hold)), max(high, *(v + room for v in axis.hold))
    set_limits(low if axis.low is None else axis.low, high if axis.high is None else axis.high)


def _names(ax: Axes, which: str, axis: Axis) -> None:
    """Names along an axis, shortened where long; the full one is kept as the label of the text."""
    shown = [drawable(name) for name in axis.shown]
    size = 9 if len(shown) <= 20 else 7
    turned = which == "x" and max(map(len, shown)) >= 60 // len(shown)
    ours = ax.xaxis if which == "x" else ax.yaxis
    ours.set_ticks(range(len(shown)), shown, fontsize=size, rotation=90 if turned else 0)
    for i, (label, name) in enumerate(zip(ours.get_ticklabels(), axis.names, strict=True)):
        _as_name(label, name)
        if i in axis.bold:
            label.set_fontweight("bold")
    ax.tick_params(axis=which, length=0)  # type: ignore[arg-type]


def _titles(ax: Axes, chart: Chart, alone: bool) -> None:
    """Title and facts above the axes; they begin where the names at the left begin."""
    from matplotlib.transforms import ScaledTranslation

    figure = ax.figure
    ax.spines[["top", "right"]].set_visible(False)
    labels = [ax.set_xlabel(drawable(chart.x.label)), ax.set_ylabel(drawable(chart.y.label))]
    names = max((label.get_window_extent().width for label in ax.get_yticklabels()), default=0.0) / figure.dpi
    left = names + 0.05 if chart.y.names and not chart.y.label else 0.0
    width = float(figure.bbox.width / figure.dpi)
    room = (width - (0.2 if left else 0.75)) if alone else width * float(ax.get_position().width) + left
    lines = textwrap.wrap(drawable(chart.facts), max(int(room / _LETTER), 30))
    at: Any = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom", "annotation_clip": False}
    note = ax.annotate("\n".join(lines), (0, 1), (-72 * left, 5), fontsize=8.5, color=TONES["grey"], **at)
    note.set_in_layout(False)  # it may reach over what is at the right
    head = "\n".join(textwrap.wrap(drawable(chart.title), max(int(0.72 * room / _LETTER), 22)))
    title = ax.set_title(head, loc="left", fontsize=11, pad=8 + 11.5 * len(lines))
    above = (8 + 11.5 * len(lines)) / 72
    title.set_transform(ax.transAxes + ScaledTranslation(-left, above, figure.dpi_scale_trans))
    for text in (note, title, *labels):
        text.set_parse_math(False)
        use_fonts(text)


def _legend(ax: Axes, keys: Sequence[Key], beside: bool, size: float) -> None:
    """A legend below the axes or at their right, of names as they are: no formulas, none left out for how it begins."""
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.02)}
    if not beside:
        from matplotlib.transforms import ScaledTranslation

        lines = 1 + ax.get_xlabel().count("\n")
        under = ax.transAxes + ScaledTranslation(0, -_UNDER - 0.17 * (lines - 1), ax.figure.dpi_scale_trans)
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": under, "borderaxespad": 0.0}
        width = float(ax.figure.bbox.width / ax.figure.dpi) - 0.5
        widths = [0.6 + _LETTER * len(key.text) for key in keys]
        place["ncols"] = len(keys) if sum(widths) < width else max(int(width / max(widths)), 1)
    handles = [_handle(key.sample) for key in keys]
    made = ax.legend(handles, ["-" * len(key.text) for key in keys], frameon=False, fontsize=size, **place)
    for text, key in zip(made.get_texts(), keys, strict=True):
        text.set_text(drawable(key.text))
        _as_name(text, key.name or key.text)


def _handle(sample: marks.Line | marks.Points | marks.Box) -> Artist:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if isinstance(sample, marks.Box):
        return Patch(facecolor=TONES[sample.tone], edgecolor=TONES["grey"], linewidth=0.5)
    how = _line(sample) if isinstance(sample, marks.Line) else _points(sample)
    return Line2D([], [], **(how | {"markevery": None}))


def _write(ax: Axes, x: float, y: float, text: str, size: float, **how: Any) -> None:
    made: DrawnText = ax.text(x, y, drawable(text), fontsize=size, **({"color": TONES["grey"]} | how))
    made.set_parse_math(False)
    use_fonts(made)


def _as_name(text: DrawnText, full: str) -> None:
    text.set_parse_math(False)
    text.set_label(full)
    use_fonts(text)


def luminance(colour: str) -> float:
    """Relative luminance by the definition of WCAG 2: 0 for black, 1 for white."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def on(colour: str | Sequence[float]) -> str:
    """Black or white, whichever reads better on this colour, given as text or as shares of red, green and blue."""
    if not isinstance(colour, str):
        colour = "#" + "".join(f"{round(255 * channel):02X}" for channel in colour[:3])
    return "#000000" if (luminance(colour) + 0.05) ** 2 > 0.05 * 1.05 else "#FFFFFF"


# -- letters of all scripts ---------------------------------------------------------------------------------

BOX = "\N{WHITE SQUARE}"
# Fonts of systems and distributions with the letters that matplotlib's own lack, asked in this order.
_FALLBACK = (
    *(f"Noto Sans CJK {region}" for region in ("JP", "SC", "KR")),
    *(f"Noto Sans {region}" for region in ("JP", "SC", "KR")),
    *("Source Han Sans", "Hiragino Sans", "PingFang SC", "Heiti TC", "Apple SD Gothic Neo", "Yu Gothic"),
    *("Microsoft YaHei", "Malgun Gothic", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback"),
    *("IPAexGothic", "IPAGothic", "Arial Unicode MS", "Noto Sans", "Noto Sans Arabic", "Noto Sans Hebrew"),
    *("Noto Sans Devanagari", "Noto Sans Thai", "Segoe UI", "Segoe UI Symbol", "Unifont"),
)


def drawable(text: str) -> str:
    """The text with a box for each letter that no font has: what would be drawn anyway, without a warning for each."""
    if text.isascii():
        return text
    known = _letters(_families())
    return "".join(c if c.isspace() or ord(c) in known else BOX for c in text)


def use_fonts(text: DrawnText) -> None:
    """Let a text fall back on the fonts that have its letters."""
    if not text.get_text().isascii():
        text.set_fontfamily(list(_families()))


def _families() -> tuple[str, ...]:
    import matplotlib as mpl

    own = mpl.rcParams["font.family"]
    return (*([own] if isinstance(own, str) else own), *_installed())


@lru_cache(maxsize=1)
def _installed() -> tuple[str, ...]:
    from matplotlib import font_manager

    there = {font.name for font in font_manager.fontManager.ttflist}
    return tuple(name for name in _FALLBACK if name in there)


@lru_cache(maxsize=8)
def _letters(families: tuple[str, ...]) -> frozenset[int]:
    from matplotlib import font_manager

    out: set[int] = set()
    for family in families:
        path = font_manager.findfont(font_manager.FontProperties(family=[family]))
        out.update(font_manager.get_font(path).get_charmap())
    return frozenset(out)
