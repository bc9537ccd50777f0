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

from ..formatting import escape_latex

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
    """A whole rank on the axis."""

    x: float
    rank: int


class Layout(NamedTuple):
    """Positions of all parts."""

    width: float
    height: float
    axis: Bar
    ticks: tuple[Tick, ...]
    labels: tuple[Label, ...]
    bars: tuple[Bar, ...]
    cd: Bar | None


def layout(
    ranked: Sequence[tuple[str, float]], groups: Sequence[Sequence[str]], cd: float | None, control: str | None
) -> Layout:
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
    return Layout(
        width=right + 2.0 + margins[1] + _EDGE,
        height=max(label.y for label in labels) + 0.6 + _EDGE,
        axis=Bar(left, right, axis_y),
        ticks=tuple(Tick(x(rank), rank) for rank in _ticks(k)),
        labels=tuple(labels),
        bars=tuple(bars),
        cd=None if cd is None else _cd_bar(cd, left, _AXIS_WIDTH / (k - 1)),
    )


def _ticks(k: int) -> list[int]:
    step = -(-k // 15)
    return list(range(1, k + 1, step))


def _cd_bar(cd: float, left: float, unit: float) -> Bar:
    # With few data sets it may be longer than the axis: then it says so by its number only.
    return Bar(left, left + min(cd * unit, _AXIS_WIDTH), _EDGE + 1.4, f"CD = {cd:.3g}")


def _bars(spans: Sequence[tuple[float, float]], top: float) -> list[Bar]:
    """Bars on as few levels as keep them apart."""
    ends: list[float] = []
    out = []
    for low, high in spans:
        level = next((i for i, end in enumerate(ends) if end + 1.0 < low), len(ends))
        ends[level : level + 1] = [high]
        out.append(Bar(low - _OVERHANG, high + _OVERHANG, top + _LEVEL * level))
    return out


# -- SVG ------------------------------------------------------------------------------------------------

_EM = 14  # pixels of a line of text


# Characters that XML cannot hold in any form.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def svg(made: Layout) -> str:
    """A self-contained SVG picture, on white so that it can be read on a dark page too."""
    width, height = (round(_EM * v) for v in (made.width, made.height))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="{_EM}" fill="{LINE}" stroke-linecap="butt" role="img">',
        "<title>Mean ranks; a bar joins algorithms that are not told apart</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *(_svg_line(bar.left, bar.y, bar.right, bar.y, BAR, 4) for bar in made.bars),
        _svg_line(made.axis.left, made.axis.y, made.axis.right, made.axis.y),
    ]
    for tick in made.ticks:
        parts.append(_svg_line(tick.x, made.axis.y - 0.35, tick.x, made.axis.y))
        parts.append(_svg_text(tick.x, made.axis.y - 0.6, str(tick.rank), "middle"))
    for label in made.labels:
        path = f"M{_px(label.x)} {_px(made.axis.y)}V{_px(label.y)}H{_px(label.text_x)}"
        parts.append(f'<path d="{path}" fill="none" stroke="{LINE}"/>')
        parts.append(_svg_label(label))
    if made.cd is not None:
        parts += [_svg_line(*line) for line in cd_lines(made.cd)]
        parts.append(_svg_text((made.cd.left + made.cd.right) / 2, made.cd.y - 0.4, made.cd.text, "middle"))
    return "\n".join([*parts, "</svg>\n"])


def cd_lines(bar: Bar) -> list[tuple[float, float, float, float]]:
    """The critical difference as a line with two ends."""
    left, right, y = bar.left, bar.right, bar.y
    return [(left, y, right, y), (left, y - 0.25, left, y + 0.25), (right, y - 0.25, right, y + 0.25)]


def _svg_label(label: Label) -> str:
    anchor, shift = ("end", -0.3) if label.side == "left" else ("start", 0.3)
    weight = ' font-weight="bold"' if label.control else ""
    return _svg_text(label.text_x + shift, label.y + 0.35, label.name, anchor, weight)


def _svg_text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return f'<text x="{_px(x)}" y="{_px(y)}" text-anchor="{anchor}"{more}>{_xml(text)}</text>'


def _xml(text: str) -> str:
    return escape(_NO_XML.sub("\ufffd", text))


def _svg_line(x1: float, y1: float, x2: float, y2: float, colour: str = LINE, width: int = 1) -> str:
    ends = f'x1="{_px(x1)}" y1="{_px(y1)}" x2="{_px(x2)}" y2="{_px(y2)}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"/>'


def _px(value: float) -> str:
    return f"{_EM * value:.1f}"


# -- TikZ -----------------------------------------------------------------------------------------------


def tikz(made: Layout) -> str:
    """A ``tikzpicture``; needs nothing but the package tikz."""
    lines = [
        r"\begin{tikzpicture}[x=1em, y=-1em, inner sep=0pt]",
        rf"\definecolor{{outfoldbar}}{{HTML}}{{{BAR[1:]}}}",
        *(rf"\draw[outfoldbar, line width=2.5pt] {_tikz_line(b.left, b.y, b.right, b.y)};" for b in made.bars),
        rf"\draw {_tikz_line(made.axis.left, made.axis.y, made.axis.right, made.axis.y)};",
    ]
    for tick in made.ticks:
        lines.append(rf"\draw {_tikz_line(tick.x, made.axis.y - 0.35, tick.x, made.axis.y)};")
        lines.append(_tikz_node(tick.x, made.axis.y - 0.6, "south", str(tick.rank)))
    for label in made.labels:
        anchor, shift = ("east", -0.3) if label.side == "left" else ("west", 0.3)
        elbow = f"({label.x:.3f}, {made.axis.y:.3f}) |- ({label.text_x:.3f}, {label.y:.3f})"
        lines.append(rf"\draw {elbow};")
        name = escape_latex(label.name)
        lines.append(
            _tikz_node(label.text_x + shift, label.y, anchor, rf"\textbf{{{name}}}" if label.control else name)
        )
    if made.cd is not None:
        lines += [rf"\draw {_tikz_line(*line)};" for line in cd_lines(made.cd)]
        lines.append(_tikz_node((made.cd.left + made.cd.right) / 2, made.cd.y - 0.4, "south", made.cd.text))
    return "\n".join([*lines, r"\end{tikzpicture}", ""])


def _tikz_line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f"({x1:.3f}, {y1:.3f}) -- ({x2:.3f}, {y2:.3f})"


def _tikz_node(x: float, y: float, anchor: str, text: str) -> str:
    return rf"\node[anchor={anchor}] at ({x:.3f}, {y:.3f}) {{{text}}};"
