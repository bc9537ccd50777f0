"""How all pictures look: colours that every kind of colour vision keeps apart, and dashes and markers for a grey printer."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import formatting
from ..exceptions import InputError
from . import _letters

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Text

# Okabe and Ito (2008); their yellow is too pale for lines on white.
BLACK, BLUE, VERMILION, GREEN = "#000000", "#0072B2", "#D55E00", "#009E73"
PURPLE, ORANGE, SKY = "#CC79A7", "#E69F00", "#56B4E9"
INK, GREY, PALE, FAINT = "#000000", "#595959", "#BFBFBF", "#E6E6E6"
# Dark is more, in colour and in grey: lightness rises evenly in cividis.
SCALE = "cividis"

_NAME_WIDTH = 40
_WIDTH = 6.8
_INCH_OF_A_LETTER = 0.065
_UNDER = 0.53


class Style(NamedTuple):
    """What tells a line from the others: colour, dashes and marker, each different."""

    colour: str
    dashes: Any
    marker: str


STYLES = (
    Style(BLUE, "-", "o"),
    Style(VERMILION, (0, (5, 2)), "s"),
    Style(GREEN, (0, (1, 1.2)), "^"),
    Style(BLACK, (0, (6, 2, 1, 2)), "D"),
    Style(PURPLE, (0, (3, 1)), "v"),
    Style(ORANGE, (0, (8, 2)), "P"),
    Style(SKY, (0, (3, 1, 1, 1, 1, 1)), "X"),
)


def styles(names: Sequence[str]) -> Iterable[tuple[str, Style]]:
    """A style for every line; more lines than there are styles cannot be told apart."""
    if len(names) > len(STYLES):
        raise InputError(
            f"{len(STYLES)} lines at most can be told apart; these are {len(names):,}. Name fewer: configs=[...]."
        )
    return zip(names, STYLES, strict=False)


def pyplot(instead: str = "") -> Any:
    """matplotlib.pyplot, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise InputError(f"a plot needs matplotlib: pip install 'outfold[plot]'.{instead}") from None
    return plt


def axes(ax: Axes | None, height: float = 4.0, width: float = _WIDTH) -> Axes:
    """The axes given, or new ones of this size in inches."""
    plt = pyplot()
    if ax is None:
        new: Axes = plt.subplots(figsize=(width, height), layout="constrained")[1]
        return new
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise InputError(f"ax must be matplotlib Axes, as plt.subplots gives; got {type(ax).__name__}.")
    return ax


def dress(ax: Axes, head: str, facts: str, *, x: str = "", y: str = "", grid: str = "") -> None:
    """Titles above, plain words along the axes, no frame but the two axes, a faint grid across the values."""
    left, room = _room(ax)
    head, facts, x, y = map(_letters.drawable, (head, facts, x, y))
    lines = textwrap.wrap(facts, room)
    # Titles begin where the names at the left do; the facts may reach over what stands at the right, so no room is kept.
    note = ax.annotate(
        "\n".join(lines),
        xy=(left, 1),
        xytext=(0, 5),
        xycoords="axes fraction",
        textcoords="offset points",
        va="bottom",
        fontsize=8.5,
        color=GREY,
        annotation_clip=False,
    )
    note.set_in_layout(False)
    head = "\n".join(textwrap.wrap(head, int(room * 0.72)))
    title = ax.set_title(head, loc="left", x=left, fontsize=11, pad=8 + 11.5 * len(lines))
    for text in (note, title, ax.set_xlabel(x), ax.set_ylabel(y)):
        text.set_parse_math(False)
        _letters.dress(text)
    ax.spines[["top", "right"]].set_visible(False)
    if grid:
        ax.grid(axis=grid, color=FAINT, linewidth=0.8)  # type: ignore[arg-type]
        ax.set_axisbelow(True)


def _room(ax: Axes) -> tuple[float, int]:
    """Where a title begins, in widths of the axes, and how many letters it may have, as far as can be told before drawing."""
    names = _INCH_OF_A_LETTER * max((len(t.get_text()) for t in ax.get_yticklabels()), default=0)
    whole = _inches(ax)
    left = -names / max(whole - names, 1.0) if names > 1 else 0.0
    return left, max(int(whole / _INCH_OF_A_LETTER), 30)


def _inches(ax: Axes) -> float:
    """The width that axes and names have together, a little less than the figure where they are alone in it."""
    figure = ax.figure
    alone = figure.get_layout_engine() is not None and len(figure.axes) == 1
    whole = float(figure.bbox.width / figure.dpi)
    return whole - 0.5 if alone else whole * float(ax.get_position().width)


def name_rows(ax: Axes, names: Sequence[str], axis: str = "y", short: Sequence[str] | None = None, **text: Any) -> None:
    """Names along an axis, the first on top: shortened where long (or as given), the full one kept as the label of the text."""
    shown = [_letters.drawable(name) for name in short or shorten(names)]
    (ax.set_yticks if axis == "y" else ax.set_xticks)(range(len(names)), shown, **text)
    labels = ax.get_yticklabels() if axis == "y" else ax.get_xticklabels()
    for label, name in zip(labels, names, strict=True):
        _as_name(label, name)
    ax.tick_params(axis=axis, length=0)  # type: ignore[arg-type]
    if axis == "y":
        ax.set_ylim(len(names) - 0.5, -0.5)


def shorten(names: Sequence[str], width: int = _NAME_WIDTH) -> list[str]:
    """Names no longer than this that differ where the whole ones do: cut in the middle, or where all are alike, or numbered."""
    whole = [" ".join(name.split()) or name for name in names]
    out = [formatting.shorten(name, width) for name in whole]
    if len(set(out)) < len(set(names)):
        out = [formatting.shorten(name, width) for name in _without_common(whole, width)]
    times = Counter(out)
    return [
        name if times[name] == 1 or names.count(full) > 1 else f"{formatting.shorten(name, width - 5)} #{i + 1}"
        for i, (name, full) in enumerate(zip(out, names, strict=True))
    ]


def _without_common(names: Sequence[str], width: int) -> list[str]:
    """The beginning that all long names share is cut, back to the last comma, bracket or space."""
    long = sorted(name for name in names if len(name) > width)
    pairs = zip(long[0], long[-1], strict=False) if long else ()
    common = "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    cut = max((common.rfind(mark) + 1 for mark in "(, "), default=0)
    keep = width // 4
    return [name[:keep] + "…" + name[cut:] if len(name) > width and cut > keep + 1 else name for name in names]


def legend(
    ax: Axes,
    handles: Sequence[Artist],
    names: Sequence[str],
    full: Sequence[str] | None = None,
    *,
    below: bool = True,
    fontsize: float = 9,
) -> None:
    """A legend below the axes or at their right, of names as they are: no formulas, none left out for how it begins."""
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.02)}
    if below:
        from matplotlib.transforms import ScaledTranslation

        # So far below the axes, whatever their height: room for ticks and label.
        under = ax.transAxes + ScaledTranslation(0, -_UNDER, ax.figure.dpi_scale_trans)
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": under, "borderaxespad": 0.0}
        widths = [0.6 + _INCH_OF_A_LETTER * len(name) for name in names]
        place["ncols"] = len(names) if sum(widths) < _inches(ax) else max(int(_inches(ax) / max(widths)), 1)
    made = ax.legend(handles, ["-" * len(name) for name in names], frameon=False, fontsize=fontsize, **place)
    for text, name, whole in zip(made.get_texts(), names, full or names, strict=True):
        text.set_text(_letters.drawable(name))
        _as_name(text, whole)


def direction(metric: str, greater_is_better: bool) -> str:
    """The metric, and which way is good."""
    return f"{metric} ({'greater' if greater_is_better else 'less'} is better)"


def write(ax: Axes, x: float, y: float, text: str, **how: Any) -> Text:
    """A text at a place of the picture, as it is."""
    style: dict[str, Any] = {"fontsize": 9, "color": INK} | how
    made: Text = ax.text(x, y, _letters.drawable(text), **style)
    made.set_parse_math(False)
    _letters.dress(made)
    return made


def _as_name(text: Text, full: str) -> None:
    text.set_parse_math(False)
    text.set_label(full)
    _letters.dress(text)


def luminance(colour: str) -> float:
    """Relative luminance by the definition of WCAG 2: 0 for black, 1 for white."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def on(colour: str | Sequence[float]) -> str:
    """Black or white, whichever reads better on this colour, given as text or as shares of red, green and blue."""
    if not isinstance(colour, str):
        colour = "#" + "".join(f"{round(255 * channel):02X}" for channel in colour[:3])
    light = luminance(colour)
    return INK if (light + 0.05) ** 2 > 0.05 * 1.05 else "#FFFFFF"
