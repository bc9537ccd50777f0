"""What a chart is: titles, axes, marks, a legend and the numbers behind them, without any drawing.

A module of this package makes a `Chart` from predictions or results. Rows and columns that have names are at 0, 1, 2, ...
on their axis; the first row is on top.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.predictions import Predictions
from ..exceptions import InputError, invalid

T = TypeVar("T")
Numbers = Sequence[float] | NDArray[Any]
# "hidden" points have a tip and are not seen.
Marker = Literal["circle", "square", "up", "diamond", "down", "plus", "cross", "hidden", ""]

NAME_LENGTH = 40

# Okabe and Ito (2008), which all kinds of colour vision keep apart; their yellow is too pale for lines on white. The style of
# the report has a value of the same name for light, dark and print.
TONES = {
    "blue": "#0072B2",
    "orange": "#D55E00",
    "green": "#009E73",
    "ink": "#000000",
    "purple": "#CC79A7",
    "amber": "#E69F00",
    "sky": "#56B4E9",
    "soft": "#9CCBE6",
    "grey": "#595959",
    "dark": "#4D4D4D",
    "pale": "#BFBFBF",
    "faint": "#E6E6E6",
    "mist": "#F4F4F4",
    "peach": "#F6C99B",
    "paper": "#FFFFFF",
}

SOLID: tuple[float, ...] = ()
DASHED, DOTTED = (5.0, 3.0), (1.0, 2.0)


class Style(NamedTuple):
    """What tells a line from the others: tone, dashes and marker, each different."""

    tone: str
    dashes: tuple[float, ...]
    marker: Marker


STYLES = (
    Style("blue", SOLID, "circle"),
    Style("orange", (5, 2), "square"),
    Style("green", (1, 1.2), "up"),
    Style("ink", (6, 2, 1, 2), "diamond"),
    Style("purple", (3, 1), "down"),
    Style("amber", (8, 2), "plus"),
    Style("sky", (3, 1, 1, 1, 1, 1), "cross"),
)


# -- marks ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Points:
    """Points; a tip for each is shown by the report."""

    x: Numbers
    y: Numbers
    tone: str
    marker: Marker = "circle"
    size: float = 6.0
    open: bool = False
    faint: bool = False
    tips: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Line:
    """A line through points, with a marker on every `every`-th of them; `steps` goes back to the left, then up or down."""

    x: Numbers
    y: Numbers
    tone: str
    dashes: tuple[float, ...] = SOLID
    width: float = 1.5
    marker: Marker = ""
    open: bool = False
    every: int = 1
    steps: bool = False
    behind: bool = False
    tip: str = ""


@dataclass(frozen=True, eq=False)
class Band:
    """The area between two lines."""

    x: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    tone: str
    faint: bool = False


@dataclass(frozen=True)
class Box:
    """A rectangle, filled or as an outline."""

    left: float
    right: float
    bottom: float
    top: float
    tone: str
    outline: bool = False
    tip: str = ""


@dataclass(frozen=True)
class GuideLine:
    """A line across the whole chart at one value of an axis, with words at its end."""

    axis: Literal["x", "y"]
    at: float
    tone: str = "grey"
    dashes: tuple[float, ...] = SOLID
    width: float = 1.0
    text: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Span:
    """All values of x between two ends, shaded."""

    low: float
    high: float


@dataclass(frozen=True)
class Strip:
    """Parts of the x axis in colours: (begin, end, tone)."""

    parts: tuple[tuple[float, float, str], ...]


@dataclass(frozen=True)
class Text:
    """Words at a place of the chart."""

    x: float
    y: float
    text: str
    tone: str = "grey"
    align: Literal["left", "center", "right"] = "left"
    above: bool = False
    size: float = 9.0
    bold: bool = False


@dataclass(frozen=True)
class RowText:
    """Words beside a row."""

    row: int
    text: str


class Category(NamedTuple):
    """A value of a heat map with a meaning, and its tone."""

    value: int
    name: str
    tone: str


@dataclass(frozen=True, eq=False)
class HeatMap:
    """(rows, columns) values as colours: of categories, or the darker the higher (the lower, where `reverse`).

    `rows` and `columns` are the names for tips, `words` what a tip says of a cell, and `texts` what is written into it. Cells
    without a value are empty, or `crossed` out. `bar` is what a scale of colours is called.
    """

    values: NDArray[Any]
    rows: Sequence[str]
    columns: Sequence[str]
    categories: tuple[Category, ...] = ()
    low: float = 0.0
    high: float = 1.0
    reverse: bool = False
    words: NDArray[Any] | None = None
    texts: NDArray[Any] | None = None
    text_size: float = 8.0
    crossed: bool = False
    bar: str = ""


Mark = Points | Line | Band | Box | GuideLine | Span | Strip | Text | RowText | HeatMap


# -- axes, legend, chart --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Axis:
    """An axis of numbers, or of names: what it shows, its ends (where the marks end, if None), and how it is written."""

    label: str = ""
    low: float | None = None
    high: float | None = None
    hold: tuple[float, ...] = ()  # values that are always in view
    names: tuple[str, ...] = ()  # of rows or columns
    short: tuple[str, ...] = ()  # how names are written where that is shorter
    bold: tuple[int, ...] = ()
    ticks: tuple[tuple[float, str], ...] | None = None  # values and their words; round values if None
    scale: Literal["linear", "log", "whole", "percent"] = "linear"
    grid: bool = False  # whether faint lines help to read it
    margin: float = 0.05  # room beyond the marks, as a share of their range

    @property
    def shown(self) -> list[str]:
        """Names as they are written."""
        return list(self.short) if self.short else shorten(self.names)


class Key(NamedTuple):
    """An entry of the legend: what is written (`brief` where there is little room), a sample, and the full name."""

    text: str
    sample: Line | Points | Box
    name: str = ""
    brief: str = ""


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart. The title and the facts stand above the picture; the question and the caption are those of the report."""

    name: str  # as in `outfold.plot`
    title: str
    facts: str
    question: str
    caption: str
    x: Axis
    y: Axis
    marks: Sequence[Mark]  # in the order of drawing
    numbers: Mapping[str, Any] = field(default_factory=dict)  # what is drawn, ready for json
    keys: Sequence[Key] = ()  # the legend
    size: tuple[float, float] = (6.8, 4.0)  # in inches
    shape: Literal["wide", "square", "bare"] = "wide"  # axes of one length and unit; no axes at all
    beside: bool = False  # whether the legend is at the right, not below


def shorten(names: Sequence[str], width: int = NAME_LENGTH) -> list[str]:
    """Shorter names that differ where the whole ones do: cut in the middle, or where all are alike, or numbered."""
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


def styles(names: Sequence[str]) -> list[tuple[str, Style]]:
    """A style for each line; more lines than there are styles cannot be told apart."""
    if len(names) > len(STYLES):
        needed, given = f"must name {len(STYLES)} lines at most, which can be told apart", f"these are {len(names):,}"
        raise invalid("configs", needed, given, "Name fewer: `configs=[...]`.")
    return list(zip(names, STYLES, strict=False))


def direction(metric: str, greater_is_better: bool) -> str:
    """The metric, and which way is good."""
    return f"{metric} ({'greater' if greater_is_better else 'less'} is better)"


def with_interval(value: float, interval: tuple[float, float] | None, level: float) -> str:
    """A number and its interval, as many digits as the interval leaves meaningful."""
    if interval is None:
        return formatting.number(value)
    low, high = interval
    say = formatting.Digits.of_width(high - low)
    return f"{say(value)}, {100 * level:g}% CI [{say(low)}, {say(high)}]"


def about_data(n_samples: int | None, plan: object, groups: str = "") -> str:
    """How many samples, and how they were held out, as far as known."""
    samples = "" if n_samples is None else f"{formatting.count(n_samples, 'sample')}{groups}"
    return ", ".join(part for part in (samples, "" if plan is None else str(plan)) if part)


def refused(picture: str, needed: str, given: str = "", remedy: str = "") -> InputError:
    """The error for what a picture cannot show."""
    return invalid(f"plot.{picture}", needed, given, remedy)


def positions(known: Sequence[str], wanted: Any, where: str) -> list[int]:
    """Positions of configurations given by name or by position, one or several."""
    asked = [wanted] if isinstance(wanted, (str, int, np.integer)) else list(wanted)
    out = []
    for config in asked:
        if isinstance(config, (int, np.integer)) and 0 <= config < len(known):
            out.append(int(config))
        elif config in known:
            out.append(known.index(str(config)))
        else:
            needed, given = f"must name configurations of this {where}", f"there is no configuration {config!r}"
            remedy = f"There are {', '.join(known[:5])}{', …' if len(known) > 5 else ''}."
            raise invalid("configs", needed, given, remedy)
    if not out:
        raise invalid("configs", "must name one configuration at least", "got none")
    return out


def check_result(given: Any, kind: type[T], picture: str, maker: str) -> T:
    """Refuse what is no result of the class that a chart shows."""
    if not isinstance(given, kind):
        name = kind.__name__ if kind.__name__.endswith("s") else _one(kind)
        raise refused(picture, f"needs {name}, as `{maker}` gives", f"got {type(given).__name__}")
    return given


def _one(kind: type) -> str:
    return f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}"


def by_name(given: Any, kind: type[T], name: Callable[[T], str], picture: str, maker: str) -> dict[str, T]:
    """Results of one metric by name: of one, a list (equal names are numbered), or a dict with names of the user."""
    if isinstance(given, Mapping):
        names, found = [str(key) for key in given], list(given.values())
    else:
        several = isinstance(given, Iterable) and not isinstance(given, (str, Predictions))
        found = list(given) if several else [given]
        names = [name(one) if isinstance(one, kind) else "" for one in found]
        names = [n if names.count(n) == 1 else f"{n} ({names[: i + 1].count(n)})" for i, n in enumerate(names)]
    wrong = [type(one).__name__ for one in found if not isinstance(one, kind)]
    if wrong or not found:
        needed = f"needs {_one(kind)} or several, as `{maker}` gives"
        raise refused(picture, needed, f"got {wrong[0] if wrong else 'none'}")
    metrics = sorted({one.metric for one in found})
    if len(metrics) > 1:
        many = f"these are of {', '.join(metrics)}"
        raise refused(picture, "needs results of one metric", many, "Draw one picture for each.")
    return dict(zip(names, found, strict=True))
