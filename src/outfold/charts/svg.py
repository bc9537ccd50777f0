"""Charts as svg for the report: colours come from the page's style, so that they follow light, dark and print."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import formatting
from . import description as marks
from .description import Axis, Chart, Key

WIDTH = 460.0
_LEFT, _RIGHT = 12.0, WIDTH - 14
_ROW = 36.0  # a name, and what is drawn below it
_KEY = 18.0  # a line of the legend
_NAME = 48  # letters of a name above a row
_LETTER = 8.0  # the width of a letter, on a phone too
Place = Callable[[float], float]


def render(chart: Chart, *, wide: bool = False) -> str:
    """The svg element of a chart; a script of the page shows the tips of its shapes.

    A `wide` one has the whole width of the page: one row, without its name and without a legend.
    """
    heat = next((mark for mark in chart.marks if isinstance(mark, marks.HeatMap)), None)
    if heat is not None:
        return _heat_map(chart, heat)
    return _rows(chart, wide) if chart.y.names else _plane(chart)


def _rows(chart: Chart, wide: bool) -> str:
    """A row for each name, which is written above it, so that a phone has room for both."""
    n = len(chart.y.names)
    first, bottom = (48.0, 76.0) if wide else (23.0, 8 + _ROW * n)
    right = 696.0 if wide else _RIGHT
    draw = Drawing(bottom + (22 if wide else 44 + _height(chart.keys)), _label(chart), 720 if wide else WIDTH)
    x = _scale(chart.x, chart.marks, 24 if wide else _LEFT if chart.x.low is None else 0, right)

    def y(value: float) -> float:
        row = round(value)
        return first + _ROW * row + (40 if wide else 20) * (value - row)

    draw.x_axis(x, bottom, 20 if wide else 0, "" if wide else chart.x.label, 7 if wide else 5, chart.x)
    notes = {mark.row: mark.text for mark in chart.marks if isinstance(mark, marks.RowText)}
    for mark in chart.marks:
        _draw(draw, mark, x, y, (0, bottom), (0, right))
    most = min([_NAME, *(_NAME + 4 - len(note) for note in notes.values())])
    for i, (name, short) in enumerate(
        [] if wide else zip(chart.y.names, marks.shorten(chart.y.names, most), strict=True)
    ):
        note = notes.get(i, "")
        style = "t strong" if i in chart.y.bold else "t"
        draw.text(0, 11 + _ROW * i, name, style, short=short)
        draw.text(right, 11 + _ROW * i, note, "tick", "end")
    if not wide:
        _legend(draw, chart.keys, bottom + 56)
    return draw.render()


def _plane(chart: Chart) -> str:
    square = chart.shape == "square"
    left, right, bottom = (60.0, 420.0, 344.0) if square else (54.0, _RIGHT, 200.0)
    draw = Drawing(bottom + 44 + _height(chart.keys, left), _label(chart))
    x, y = _scale(chart.x, chart.marks, left, right), _scale(chart.y, chart.marks, bottom, 24, "y")
    most = 10 if chart.x.scale == "whole" else 5
    draw.x_axis(x, bottom, 24 if chart.x.grid else bottom, chart.x.label, most, chart.x)
    draw.y_axis(y, left, right, chart.y.label)
    for mark in chart.marks:
        _draw(draw, mark, x, y, (24, bottom), (left, right))
    _legend(draw, chart.keys, bottom + 56, left)
    return draw.render()


def _heat_map(chart: Chart, heat: marks.HeatMap) -> str:
    """Names or numbers of the rows at the left, those of the columns on top."""
    n, k = heat.values.shape
    rows = list(enumerate(chart.y.names)) if chart.y.names else list(chart.y.ticks or ())
    columns = list(enumerate(chart.x.names)) if chart.x.names else list(chart.x.ticks or ())
    longest = max((len(name) for _, name in rows), default=0)
    longest = max(longest, len(chart.y.label)) if rows else 0
    longest += 3 if chart.x.names and chart.y.names else 0  # columns may be numbered, and rows with them
    left = min(14 + 7.5 * longest, 172.0) if rows else 0.0
    top, wide = 46.0, min((_RIGHT - left) / k, 110.0)
    high = min(max(380.0 / n, 0.5), 20.0) if heat.categories else 22.0 if heat.crossed else min(wide, 44.0)
    draw = Drawing(top + high * n + 12 + _height(chart.keys, left), _label(chart))
    draw.text(left, 14, chart.x.label, "axis")
    if chart.y.label and rows:
        draw.text(left - 7, top - 8, chart.y.label, "axis", "end", 12)
    most = max(int(wide / 9), 2) if chart.x.names else None
    numbered = most is not None and any(len(line_of(name)) > most for _, name in columns)
    for j, name in columns:
        # Names that do not fit would be cut until they look alike: the rows say what the numbers mean.
        draw.text(left + wide * (j + 0.5), top - 8, name, "tick", "middle", short=f"{j + 1}" if numbered else None)
    short_names = marks.shorten([name for _, name in rows], max(int(left / 7.5) - (4 if numbered else 0), 6))
    for (i, name), short in zip(rows if high >= 11 else [], short_names, strict=False):
        short = f"{i + 1} {short}" if numbered else short
        draw.text(left - 7, top + high * (i + 0.5) + 4, name, "tick", "end", short=short)
    cells = _categories(heat) if heat.categories else _shades(heat)
    for i, begin, end, style, opacity, tip in cells:
        gap = 1.5 if high > 8 and wide > 8 else 0.0
        at = left + wide * begin, top + high * i
        draw.rect(*at, wide * (end - begin) - gap, high - gap, style, tip, **opacity)
    if heat.texts is not None and wide >= 26:
        for (i, j), text in np.ndenumerate(heat.texts):
            word = str(text).partition("\n")[0]
            draw.text(left + wide * (j + 0.5), top + high * (i + 0.5) + 4, word, "tick in", "middle")
    _legend(draw, chart.keys, top + high * n + 22, left)
    return draw.render()


HeatCell = tuple[int, int, int, str, dict[str, Any], str]


def _categories(heat: marks.HeatMap) -> Iterator[HeatCell]:
    """Neighbours of one category are one rectangle."""
    known = {category.value: category for category in heat.categories}
    for i, values in enumerate(heat.values):
        begin = 0
        for end in [*(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]:
            if values[begin] in known:
                category = known[values[begin]]
                where = " to ".join(heat.columns[k] for k in sorted({begin, end - 1}))
                yield i, begin, end, f"f-{category.tone}", {}, f"{heat.rows[i]}\n{category.name}: {where}"
            begin = end


def _shades(heat: marks.HeatMap) -> Iterator[HeatCell]:
    span = heat.high - heat.low or 1.0
    for (i, j), value in np.ndenumerate(heat.values):
        if np.isfinite(value):
            share = (float(value) - heat.low) / span
            share = 1 - share if heat.reverse else share
            words = "" if heat.words is None else f": {heat.words[i, j]}"
            # Never so dark that what is written on it cannot be read.
            opacity = {"fill_opacity": f"{0.03 + 0.57 * share:.3f}"}
            yield i, j, j + 1, "heat", opacity, f"{heat.rows[i]}, {heat.columns[j]}{words}"


def _label(chart: Chart) -> str:
    """What the chart shows, for those who cannot see it."""
    return f"{chart.title}; {chart.facts}"


def _scale(axis: Axis, drawn: Iterable[marks.Mark], start: float, stop: float, which: str = "x") -> Scale:
    """A scale that holds all marks, or has the ends that the axis gives."""
    values: list[float] = [*axis.hold]
    for mark in drawn:
        match mark:
            case marks.Points() | marks.Line():
                values += np.asarray(mark.x if which == "x" else mark.y, dtype=float).ravel().tolist()
            case marks.Band():
                values += np.concatenate([mark.x] if which == "x" else [mark.low, mark.high]).tolist()
            case marks.Box():
                values += [mark.left, mark.right] if which == "x" else [mark.bottom, mark.top]
    scale = Scale.around(values, start, stop, axis.margin)
    low, high = scale.low if axis.low is None else axis.low, scale.high if axis.high is None else axis.high
    return Scale(low, high, start, stop)


def _draw(
    draw: Drawing, mark: marks.Mark, x: Place, y: Place, ends: tuple[float, float], sides: tuple[float, float]
) -> None:
    """One mark; `ends` are the top and the bottom of the chart, `sides` its left and right."""
    match mark:
        case marks.Points():
            tips: Sequence[str | None] = mark.tips or [None] * len(mark.x)
            look = "ghost" if mark.marker == "hidden" else f"open s-{mark.tone}" if mark.open else f"f-{mark.tone} edge"
            look = f"f-{mark.tone} soft" if mark.faint else look
            for a, b, tip in zip(mark.x, mark.y, tips, strict=True):
                draw.marker(x(float(a)), y(float(b)), 0.4 * mark.size + 1, mark.marker, look, tip)
        case marks.Line():
            at = [(x(float(a)), y(float(b))) for a, b in zip(mark.x, mark.y, strict=True) if np.isfinite(b)]
            if mark.steps:
                at = [point for (a, _), (c, d) in zip([at[0], *at], at, strict=False) for point in ((a, d), (c, d))]
            draw.path(at, f"line s-{mark.tone}", mark.width, mark.dashes, mark.tip or None)
            for a, b in at[:: mark.every] if mark.marker else []:
                draw.marker(a, b, 3.2, mark.marker, f"open s-{mark.tone}" if mark.open else f"f-{mark.tone} edge")
        case marks.Band():
            edge = [*zip(mark.x, mark.high, strict=True), *zip(mark.x[::-1], mark.low[::-1], strict=True)]
            draw.path([(x(float(a)), y(float(b))) for a, b in edge], f"band f-{mark.tone}", close=True)
        case marks.Box():
            top, bottom = sorted((y(mark.bottom), y(mark.top)))
            look = f"outline s-{mark.tone}" if mark.outline else f"f-{mark.tone}"
            draw.rect(x(mark.left), top, max(x(mark.right) - x(mark.left), 1), bottom - top, look, mark.tip or None)
        case marks.GuideLine():
            at = [(x(mark.at), e) for e in ends] if mark.axis == "x" else [(e, y(mark.at)) for e in sides]
            draw.path(at, f"line s-{mark.tone}", mark.width, mark.dashes, mark.tip or None)
        case marks.Span():
            draw.rect(x(mark.low), ends[0], x(mark.high) - x(mark.low), ends[1] - ends[0], "f-faint")
        case marks.Strip():
            for begin, end, tone in mark.parts:
                draw.rect(x(begin), ends[1] - 5, x(end) - x(begin) - 1, 5, f"f-{tone}")
        case marks.Text():
            anchor = {"left": "start", "center": "middle", "right": "end"}[mark.align]
            at_x, at_y = x(mark.x) + (4 if mark.align == "left" else 0), y(mark.y) + (-4 if mark.above else 4)
            draw.text(at_x, at_y, mark.text, "tick", anchor)


def _flow(keys: Sequence[Key], left: float) -> Iterator[tuple[float, int, Key]]:
    """Where the entries of a legend begin, and in which line: as many side by side as there is room for."""
    x, line = left, 0
    for key in keys:
        width = 44 + _LETTER * min(len(key.brief or key.text), 52)
        if x > left and x + width > WIDTH:
            x, line = left, line + 1
        yield x, line, key
        x += width


def _height(keys: Sequence[Key], left: float = 0.0) -> float:
    return _KEY * max((line + 1 for _, line, _ in _flow(keys, left)), default=0)


def _legend(draw: Drawing, keys: Sequence[Key], y: float, left: float = 0.0) -> None:
    """Below the chart: wherever it were within, some curve would pass."""
    for x, line, key in _flow(keys, left):
        at, sample = y + _KEY * line - 4, key.sample
        match sample:
            case marks.Line():
                draw.path([(x, at), (x + 22, at)], f"line key s-{sample.tone}", sample.width, sample.dashes)
            case marks.Points():
                draw.marker(x + 11, at, 4, sample.marker, f"f-{sample.tone} edge")
            case marks.Box():
                draw.rect(x + 6, at - 5, 10, 10, f"f-{sample.tone} outlined")
        draw.text(x + 28, at + 4, key.brief or key.text, "t", most=52)


def escape(text: object) -> str:
    """Text that is harmless in html and svg, between tags and in quoted attributes."""
    return html.escape(formatting.clean(text), quote=True)


def line_of(text: object) -> str:
    """The text on one line."""
    return " ".join(formatting.clean(text).split())


def _n(value: float) -> str:
    """A coordinate to a tenth of a pixel."""
    out = f"{value:z.1f}"
    return out[:-2] if out.endswith(".0") else out


class Scale:
    """Values to pixels: those from `low` to `high` lie between `start` and `stop`."""

    def __init__(self, low: float, high: float, start: float, stop: float) -> None:
        if not high > low:
            low, high = low - 0.5, high + 0.5
        self.low, self.high, self.start, self.stop = low, high, start, stop

    @classmethod
    def around(cls, values: Iterable[float], start: float, stop: float, margin: float = 0.05) -> Scale:
        """A scale that holds all finite values, with a margin."""
        finite = [float(v) for v in values if math.isfinite(v)]
        low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
        room = margin * (high - low)
        return cls(low - room, high + room, start, stop)

    def __call__(self, value: float) -> float:
        """Where a value lies."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.stop - self.start)

    def ticks(self, most: int = 5) -> list[float]:
        """Round values within the scale, at most this many."""
        rough = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * f for f in (1, 2, 2.5, 5, 10) if power * f >= rough * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(i * step, 12) + 0.0 for i in range(first, last + 1)]


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """Ticks with as many digits as they need to differ."""
    if not ticks:
        return []
    largest = max(map(abs, ticks))
    if largest >= 1e7 or 0 < largest < 1e-3:
        return [f"{t:.3g}" for t in ticks]
    digits = next((d for d in range(7) if all(abs(round(t, d) - t) <= 1e-9 * max(1, largest) for t in ticks)), 6)
    return [f"{t:,.{digits}f}" for t in ticks]


_PLUS = [(-0.35, -1), (0.35, -1), (0.35, -0.35), (1, -0.35), (1, 0.35), (0.35, 0.35), (0.35, 1), (-0.35, 1)]
_PLUS += [(-0.35, 0.35), (-1, 0.35), (-1, -0.35), (-0.35, -0.35)]
_POLYGONS: dict[str, list[tuple[float, float]]] = {
    "square": [(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
    "up": [(0, -1.1), (1, 0.8), (-1, 0.8)],
    "down": [(0, 1.1), (1, -0.8), (-1, -0.8)],
    "diamond": [(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)],
    "plus": _PLUS,
    "cross": [(0.75 * (a - b), 0.75 * (a + b)) for a, b in _PLUS],
}


class Drawing:
    """Shapes in the order of drawing; the label is for those who cannot see the picture."""

    def __init__(self, height: float, label: str, width: float = WIDTH) -> None:
        self.width, self.height, self.label = width, height, label
        self._parts: list[str] = []

    def _add(self, tag: str, style: str, tip: str | None, inner: str | None = None, /, **places: object) -> None:
        # A shape with a tip is reached by the pointer and, within a focused picture, by the arrow keys.
        hint = "" if tip is None else f' data-tip="{escape(tip)}"'
        at = "".join(f' {k.replace("_", "-")}="{_n(v) if isinstance(v, float) else v}"' for k, v in places.items())
        end = "/>" if inner is None else f">{inner}</{tag}>"
        self._parts.append(f'<{tag} class="{style}"{at}{hint}{end}')

    def text(
        self,
        x: float,
        y: float,
        text: object,
        style: str = "t",
        anchor: str = "start",
        most: int | None = None,
        short: str | None = None,
    ) -> None:
        """Words on one line, cut in the middle where they are longer than `most`, or as `short`; the tip has all of them."""
        whole = line_of(text)
        if not whole:
            return
        shown = whole if most is None else formatting.shorten(whole, most)
        shown = shown if short is None else line_of(short)
        where = {} if anchor == "start" else {"text_anchor": anchor}
        tip = whole if shown != whole else None
        self._add("text", style, tip, escape(shown), x=float(x), y=float(y), **where)

    def rect(
        self, x: float, y: float, width: float, height: float, style: str, tip: str | None = None, **more: object
    ) -> None:
        """A rectangle; nothing where it has no area."""
        if width > 0 and height > 0:
            places = {"x": float(x), "y": float(y), "width": float(width), "height": float(height)}
            self._add("rect", style, tip, **places, **more)

    def marker(self, x: float, y: float, r: float, shape: str, style: str, tip: str | None = None) -> None:
        """A circle, or the polygon of another marker."""
        if shape in ("circle", "hidden"):
            self._add("circle", style, tip, cx=float(x), cy=float(y), r=float(r))
        else:
            corners = "L".join(f"{_n(x + r * a)} {_n(y + r * b)}" for a, b in _POLYGONS[shape])
            self._add("path", style, tip, d=f"M{corners}Z")

    def path(
        self,
        points: Iterable[tuple[float, float]],
        style: str,
        width: float | None = None,
        dashes: Sequence[float] = (),
        tip: str | None = None,
        close: bool = False,
    ) -> None:
        """A line through the points; those closer than half a pixel to the last are left out."""
        kept: list[tuple[float, float]] = []
        for point in points:
            if not kept or abs(point[0] - kept[-1][0]) >= 0.5 or abs(point[1] - kept[-1][1]) >= 0.5:
                kept.append(point)
        if len(kept) > 1:
            line: dict[str, object] = {} if width is None else {"stroke_width": float(width)}
            if dashes:
                line["stroke_dasharray"] = " ".join(_n(1.4 * dash) for dash in dashes)
            corners = "L".join(f"{_n(x)} {_n(y)}" for x, y in kept)
            self._add("path", style, tip, d=f"M{corners}{'Z' if close else ''}", **line)

    def x_axis(self, scale: Scale, y: float, top: float, name: str, most: int, axis: Axis) -> None:
        """Ticks below, faint lines above them, and the name at the right end."""
        ticks = [t for t in scale.ticks(most) if axis.scale != "whole" or t == round(t)]
        texts = [f"{t:.0%}" for t in ticks] if axis.scale == "percent" else tick_texts(ticks)
        for value, text in zip(ticks, texts, strict=True):
            x = scale(value)
            if axis.grid:
                self._add("line", "grid", None, x1=x, y1=float(top), x2=x, y2=float(y))
            self.text(x, y + 15, text, "tick", "middle")
        if name:
            self.text(scale.stop, y + 33, name.partition("\n")[0], "axis", "end", 60)

    def y_axis(self, scale: Scale, left: float, right: float, name: str) -> None:
        """Ticks at the left, faint lines to the right, and the name above."""
        ticks = scale.ticks()
        for value, text in zip(ticks, tick_texts(ticks), strict=True):
            y = scale(value)
            self._add("line", "grid", None, x1=float(left), y1=y, x2=float(right), y2=y)
            self.text(left - 6, y + 4, text, "tick", "end")
        if name:
            self.text(left, min(scale.start, scale.stop) - 9, name, "axis", "start", 50)

    def render(self) -> str:
        """The svg element."""
        return (
            f'<svg viewBox="0 0 {_n(self.width)} {_n(self.height)}" role="img" tabindex="0" '
            f'aria-label="{escape(line_of(self.label))}">{"".join(self._parts)}</svg>'
        )
