"""Pictures of studies: panels of lines or bars, in the colours and dashes of Outfold's own charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outfold.charts.description import STYLES, TONES

MARKERS = {"circle": "o", "square": "s", "up": "^", "diamond": "D", "down": "v", "plus": "P", "cross": "X"}


@dataclass(frozen=True)
class Panel:
    """Lines over numbers or words; `level` is a horizontal line for what would be right."""

    title: str
    lines: Mapping[str, tuple[Sequence[Any], Sequence[float | None]]]
    x: str = ""
    y: str = ""
    level: float | None = None
    bars: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


def figure(panels: Sequence[Panel], columns: int = 2, height: float = 2.9) -> Any:
    """The panels side by side, with one legend for all lines of the same name."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    mpl.rcParams.update({"svg.hashsalt": "outfold", "svg.fonttype": "none", "font.size": 8})
    columns = min(columns, len(panels))
    n_rows = -(-len(panels) // columns)
    found, all_axes = plt.subplots(n_rows, columns, figsize=(3.6 * columns, height * n_rows), squeeze=False)
    names = list(dict.fromkeys(name for panel in panels for name in panel.lines))
    for axes, panel in zip(all_axes.flat, panels, strict=False):
        _panel(axes, panel, names)
    for axes in all_axes.flat[len(panels) :]:
        axes.set_axis_off()
    handles = {
        text: line for axes in all_axes.flat for line, text in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if len(names) > 1:
        found.legend(
            handles.values(), handles.keys(), loc="upper center", bbox_to_anchor=(0.5, 0), ncols=4, frameon=False
        )
    return found


def _panel(axes: Any, panel: Panel, names: Sequence[str]) -> None:
    if panel.level is not None:
        axes.axhline(panel.level, color=TONES["pale"], linewidth=1)
    for i, (name, (x, y)) in enumerate(panel.lines.items()):
        style = STYLES[names.index(name) % len(STYLES)]
        numbers = [float("nan") if value is None else value for value in y]
        if panel.bars:
            width = 0.8 / len(panel.lines)
            places = [place + (i - (len(panel.lines) - 1) / 2) * width for place in range(len(x))]
            axes.bar(places, numbers, width, color=TONES[style.tone], label=name)
            axes.set_xticks(range(len(x)), [str(value) for value in x])
        else:
            dashes = (0, style.dashes) if style.dashes else "-"
            marker = MARKERS[style.marker] if len(x) < 40 else ""
            axes.plot(x, numbers, color=TONES[style.tone], linestyle=dashes, marker=marker, markersize=3, label=name)
    axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y, **panel.options)
    axes.spines[["top", "right"]].set_visible(False)


def save(found: Any, path: Path) -> None:
    """Write the picture as svg, the same bytes for the same numbers."""
    import matplotlib.pyplot as plt

    path.parent.mkdir(parents=True, exist_ok=True)
    found.tight_layout()
    found.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    plt.close(found)
