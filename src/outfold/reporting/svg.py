"""A small drawer of svg: shapes whose colours come from the page's style, so that they follow light, dark and print."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence

from .. import formatting

WIDTH = 460.0


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
    """Values to pixels, from a low to a high end.

    Parameters
    ----------
    low, high
        The values at the ends.
    start, stop
        Their pixels.
    """

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
        """Round values within the scale, at most so many."""
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


class Drawing:
    """Shapes in the order of drawing.

    Parameters
    ----------
    height
        Of the picture; all are equally wide.
    label
        What it shows, for those who cannot see it.
    """

    def __init__(self, height: float, label: str, width: float = WIDTH) -> None:
        self.width, self.height, self.label = width, height, label
        self._parts: list[str] = []

    def _add(
        self, tag: str, style: str, tip: str | None, places: Mapping[str, object], inner: str | None = None
    ) -> None:
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
        turn: float | None = None,
    ) -> None:
        """Words on one line, cut in the middle where they are longer than `most`; the tip has all of them."""
        whole = line_of(text)
        shown = whole if most is None else formatting.shorten(whole, most)
        places: dict[str, object] = {"x": float(x), "y": float(y)}
        if anchor != "start":
            places["text_anchor"] = anchor
        if turn is not None:
            places["transform"] = f"rotate({_n(turn)} {_n(x)} {_n(y)})"
        self._add("text", style, whole if shown != whole else None, places, escape(shown))

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str, tip: str | None = None) -> None:
        """A straight line."""
        self._add("line", style, tip, {"x1": float(x1), "y1": float(y1), "x2": float(x2), "y2": float(y2)})

    def rect(
        self, x: float, y: float, width: float, height: float, style: str, tip: str | None = None, **more: object
    ) -> None:
        """A rectangle; nothing where it has no area."""
        if width > 0 and height > 0:
            self._add(
                "rect",
                style,
                tip,
                {"x": float(x), "y": float(y), "width": float(width), "height": float(height)} | more,
            )

    def circle(self, x: float, y: float, r: float, style: str, tip: str | None = None) -> None:
        """A dot."""
        self._add("circle", style, tip, {"cx": float(x), "cy": float(y), "r": float(r)})

    def diamond(self, x: float, y: float, r: float, style: str, tip: str | None = None) -> None:
        """A square on its corner."""
        path = f"M{_n(x)} {_n(y - r)}L{_n(x + r)} {_n(y)}L{_n(x)} {_n(y + r)}L{_n(x - r)} {_n(y)}Z"
        self._add("path", style, tip, {"d": path})

    def path(self, points: Iterable[tuple[float, float]], style: str, close: bool = False) -> None:
        """A polygon through the points; those closer than half a pixel to the last are left out."""
        kept: list[tuple[float, float]] = []
        last: tuple[float, float] | None = None
        for point in points:
            if last is not None and abs(point[0] - last[0]) < 0.5 and abs(point[1] - last[1]) < 0.5:
                continue
            kept.append(point)
            last = point
        if last is not None and len(kept) > 1:
            d = "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in kept) + ("Z" if close else "")
            self._add("path", style, None, {"d": d})

    def x_axis(self, scale: Scale, y: float, top: float, name: str = "", most: int = 5, grid: bool = True) -> None:
        """Ticks below, faint lines above them, and the name at the right end."""
        ticks = scale.ticks(most)
        for value, text in zip(ticks, tick_texts(ticks), strict=True):
            x = scale(value)
            if grid:
                self.line(x, top, x, y, "grid")
            self.text(x, y + 15, text, "tick", "middle")
        if name:
            self.text(scale.stop, y + 31, name, "axis", "end", 50)

    def y_axis(self, scale: Scale, left: float, right: float, name: str = "", most: int = 5) -> None:
        """Ticks at the left, faint lines to the right, and the name above."""
        ticks = scale.ticks(most)
        for value, text in zip(ticks, tick_texts(ticks), strict=True):
            y = scale(value)
            self.line(left, y, right, y, "grid")
            self.text(left - 6, y + 4, text, "tick", "end")
        if name:
            self.text(left, min(scale.start, scale.stop) - 9, name, "axis", "start", 50)

    def render(self) -> str:
        """The svg element."""
        return (
            f'<svg viewBox="0 0 {_n(self.width)} {_n(self.height)}" role="img" tabindex="0" '
            f'aria-label="{escape(line_of(self.label))}">{"".join(self._parts)}</svg>'
        )
