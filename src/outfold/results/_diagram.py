"""The critical difference diagram: one layout, drawn as SVG or TikZ here and by matplotlib in `plot`.

An axis of mean ranks, 1 at the left; names left and right of it, each tied to its rank by an elbow; a thick bar over every group
that is not told apart; the critical difference above the axis. Lengths are in lines of text (1 = the size of the letters),
x to the right and y down.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Literal, NamedTuple

from ..latex import escape_latex

# Black lines, and one dark blue that all kinds of colour vision and a grey printer keep apart from white.
LINE, BAR = "#000000", "#0072B2"
_AXIS_WIDTH = 24.0
_EDGE = 0.8  # white space around everything
_ROW = 1.5  # from one name to the next
_LEVEL = 0.7  # from one bar to the next
_LETTER = 0.58  # a letter is about this wide
_OVERHANG = 0.25  # bars reach a little past the ranks they join


class Label(NamedTuple):
    """A name, the x of its rank on the axis, and where its text begins or ends."""

    name: str
    rank: float
    x: float
    y: float
    text_x: float
    side: Literal["left", "right"]
    control: bool


class Bar(NamedTuple):
    """A horizontal line, with a text above it for the critical difference."""

    left: float
    right: float
    y: float
    text: str = ""


class Tick(NamedTuple):
    x: float
    rank: int


class DiagramLayout(NamedTuple):
    width: float
    height: float
    axis: Bar
    ticks: tuple[Tick, ...]
    labels: tuple[Label, ...]
    bars: tuple[Bar, ...]
    cd: Bar | None


def layout(
    ranked: Sequence[tuple[str, float]], groups: Sequence[Sequence[str]], cd: float | None, control: str | None
) -> DiagramLayout:
    """Positions for algorithms with their mean ranks, best first."""
    k, ranks = len(ranked), dict(ranked)
    half = (k + 1) // 2
    margins = [max((len(name) for name, _ in part), default=0) * _LETTER for part in (ranked[:half], ranked[half:])]
    left = _EDGE + margins[0] + 2.0
    right = left + _AXIS_WIDTH

    def x(rank: float) -> float:
        return left + _AXIS_WIDTH * (rank - 1) / (k - 1)

    axis_y = _EDGE + (2.0 if cd is not None else 0.0) + 1.6
    bars = _bars([(x(ranks[group[0]]), x(ranks[group[-1]])) for group in groups], axis_y + 0.8)
    first_row = max((bar.y for bar in bars), default=axis_y + 0.2) + 1.2
    labels = []
    for i, (name, rank) in enumerate(ranked):
        side: Literal["left", "right"] = "left" if i < half else "right"
        row = i if i < half else k - 1 - i
        end = left - 1.2 if side == "left" else right + 1.2
        labels.append(Label(name, rank, x(rank), first_row + _ROW * row, end, side, name == control))
    cd_bar = None
    if cd is not None:  # with few data sets it may be longer than the axis: then only its number says so
        end = left + min(cd * (_AXIS_WIDTH / (k - 1)), _AXIS_WIDTH)
        cd_bar = Bar(left, end, _EDGE + 1.4, f"CD = {cd:.3g}")
    return DiagramLayout(
        width=right + 2.0 + margins[1] + _EDGE,
        height=max(label.y for label in labels) + 0.6 + _EDGE,
        axis=Bar(left, right, axis_y),
        ticks=tuple(Tick(x(rank), rank) for rank in range(1, k + 1, -(-k // 15))),
        labels=tuple(labels),
        bars=tuple(bars),
        cd=cd_bar,
    )


def _bars(spans: Sequence[tuple[float, float]], top: float) -> list[Bar]:
    """Bars on as few levels as keep them apart."""
    ends: list[float] = []
    out = []
    for low, high in spans:
        level = next((i for i, end in enumerate(ends) if end + 1.0 < low), len(ends))
        ends[level : level + 1] = [high]
        out.append(Bar(low - _OVERHANG, high + _OVERHANG, top + _LEVEL * level))
    return out


def cd_lines(bar: Bar) -> list[tuple[float, float, float, float]]:
    """The critical difference as a line with two ends."""
    left, right, y = bar.left, bar.right, bar.y
    return [(left, y, right, y), (left, y - 0.25, left, y + 0.25), (right, y - 0.25, right, y + 0.25)]


def _drawn(made: DiagramLayout, pen: _Svg | _Tikz) -> list[str]:
    """All parts: bars below, then the axis, the names with their elbows, and the critical difference."""
    axis = made.axis
    parts = [pen.line(bar.left, bar.y, bar.right, bar.y, bar=True) for bar in made.bars]
    parts.append(pen.line(axis.left, axis.y, axis.right, axis.y))
    for tick in made.ticks:
        parts += [pen.line(tick.x, axis.y - 0.35, tick.x, axis.y), pen.text(tick.x, axis.y - 0.6, str(tick.rank))]
    for label in made.labels:
        shift = -0.3 if label.side == "left" else 0.3
        parts += [
            pen.elbow(label, axis.y),
            pen.text(label.text_x + shift, label.y, label.name, label.side, label.control),
        ]
    if made.cd is not None:
        parts += [pen.line(*line) for line in cd_lines(made.cd)]
        parts.append(pen.text((made.cd.left + made.cd.right) / 2, made.cd.y - 0.4, made.cd.text))
    return parts


_EM = 14  # pixels of a line of text
# Characters that XML cannot hold in any form.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _Svg:
    @staticmethod
    def px(value: float) -> str:
        return f"{_EM * value:.1f}"

    def line(self, x1: float, y1: float, x2: float, y2: float, bar: bool = False) -> str:
        ends = f'x1="{self.px(x1)}" y1="{self.px(y1)}" x2="{self.px(x2)}" y2="{self.px(y2)}"'
        return f'<line {ends} stroke="{BAR if bar else LINE}" stroke-width="{4 if bar else 1}"/>'

    def elbow(self, label: Label, axis_y: float) -> str:
        path = f"M{self.px(label.x)} {self.px(axis_y)}V{self.px(label.y)}H{self.px(label.text_x)}"
        return f'<path d="{path}" fill="none" stroke="{LINE}"/>'

    def text(self, x: float, y: float, text: str, side: str = "middle", bold: bool = False) -> str:
        anchor, down = {"middle": ("middle", 0.0), "left": ("end", 0.35), "right": ("start", 0.35)}[side]
        weight = ' font-weight="bold"' if bold else ""
        shown = escape(_NO_XML.sub("\ufffd", text))
        return f'<text x="{self.px(x)}" y="{self.px(y + down)}" text-anchor="{anchor}"{weight}>{shown}</text>'


def svg(made: DiagramLayout) -> str:
    """A self-contained SVG picture, on white so that it can be read on a dark page too."""
    width, height = (round(_EM * v) for v in (made.width, made.height))
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="{_EM}" fill="{LINE}" stroke-linecap="butt" role="img">',
        "<title>Mean ranks; a bar joins algorithms that are not told apart</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    return "\n".join([*head, *_drawn(made, _Svg()), "</svg>\n"])


class _Tikz:
    def line(self, x1: float, y1: float, x2: float, y2: float, bar: bool = False) -> str:
        style = "[outfoldbar, line width=2.5pt]" if bar else ""
        return rf"\draw{style} ({x1:.3f}, {y1:.3f}) -- ({x2:.3f}, {y2:.3f});"

    def elbow(self, label: Label, axis_y: float) -> str:
        return rf"\draw ({label.x:.3f}, {axis_y:.3f}) |- ({label.text_x:.3f}, {label.y:.3f});"

    def text(self, x: float, y: float, text: str, side: str = "middle", bold: bool = False) -> str:
        anchor = {"middle": "south", "left": "east", "right": "west"}[side]
        name = text if side == "middle" else escape_latex(text)
        shown = rf"\textbf{{{name}}}" if bold else name
        return rf"\node[anchor={anchor}] at ({x:.3f}, {y:.3f}) {{{shown}}};"


def tikz(made: DiagramLayout) -> str:
    """A ``tikzpicture``; needs nothing but the package tikz."""
    head = [r"\begin{tikzpicture}[x=1em, y=-1em, inner sep=0pt]", rf"\definecolor{{outfoldbar}}{{HTML}}{{{BAR[1:]}}}"]
    return "\n".join([*head, *_drawn(made, _Tikz()), r"\end{tikzpicture}", ""])
