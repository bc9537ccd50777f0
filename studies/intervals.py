"""How often every interval holds the truth, and how wide it is: what other studies measured, on one page.

`interval_coverage` simulates predictions and asks for the selected configuration, `interval_metrics` does so for other
metrics, groups and repeats, `other_intervals` fits models. This study reads their result files and sums up each method.
"""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from harness import Headline, Record, Size, Study, Unit, Verdict
from harness.pages import table
from harness.pictures import Panel, figure

FILES = ("interval_coverage", "interval_metrics", "other_intervals")
FOLDER = Path(__file__).parent / "results"
LEVEL = 0.95


def units(size: Size) -> Iterable[Unit]:
    # A result file that was made again is another unit.
    return [{"file": name, "crc": zlib.crc32((FOLDER / f"{name}.json").read_bytes())} for name in FILES]


def run(unit: Unit) -> dict[str, Any]:
    study = json.loads((FOLDER / f"{unit['file']}.json").read_text())
    if unit["file"] == "other_intervals":
        return {"methods": fitted(study["settings"])}
    return {"methods": simulated(study["rows"], study["levels"].index(LEVEL))}


def simulated(rows: Sequence[dict[str, Any]], level: int) -> list[dict[str, Any]]:
    """Coverage over the settings of a number of samples, and the mean width relative to our interval."""
    found = defaultdict(list)
    for row in rows:
        for method in row["coverage"]:
            ratio = row["width"][method][level] / row["width"]["mover"][level]
            found[method, row["n"]].append((row["coverage"][method][level], ratio))
    return [_summed(method, f"selected, {n} samples", values) for (method, n), values in sorted(found.items())]


def fitted(settings: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    """Coverage over metrics and sizes, of the selected configuration and of one named beforehand."""
    found = defaultdict(list)
    for key, own in settings.items():
        method, who, *_ = key.split("; ")
        if "coverage" in own:
            found[method, who].append((own["coverage"], own["width"]))
    return [
        _summed(method, who, [(coverage, None) for coverage, _ in values])
        for (method, who), values in sorted(found.items())
    ]


def _summed(method: str, what: str, values: Sequence[tuple[float, float | None]]) -> dict[str, Any]:
    covered = np.array([coverage for coverage, _ in values])
    ratios = [ratio for _, ratio in values if ratio is not None]
    return {
        "method": method,
        "what": what,
        "settings": len(values),
        "coverage": [round(float(part), 4) for part in (covered.min(), covered.mean(), covered.max())],
        "below": round(float(np.mean(covered < 0.93)), 4),
        "width": round(float(np.mean(ratios)), 3) if ratios else None,
    }


def summarize(records: Sequence[Record]) -> dict[str, Any]:
    return {"files": {unit["file"]: row["methods"] for unit, row, _ in records}}


def lowest(result: dict[str, Any], method: str) -> float:
    own = [row["coverage"][0] for row in result["files"]["interval_coverage"] if row["method"] == method]
    return min(own)


def verdict(result: dict[str, Any]) -> Verdict:
    headlines = (
        Headline("lowest coverage of the published percentiles, 95% asked", "-", f"{lowest(result, 'percentile'):.3f}"),
        Headline("lowest coverage of Outfold's interval", "-", f"{lowest(result, 'mover'):.3f}"),
    )
    count = sum(row["settings"] for row in result["files"]["interval_coverage"] if row["method"] == "mover")
    return Verdict(
        "ours", f"{count} simulated settings, and models that are fitted; each method with its worst case.", headlines
    )


def page(result: dict[str, Any]) -> Iterator[str]:
    yield (
        "Lowest, mean and highest coverage over settings where 95 percent are asked for; the share of settings below "
        "0.93; and the mean width relative to `mover`, Outfold's default. [Calibration](../calibration.md) has the "
        "settings, [intervals](../intervals.md) says when each method is valid."
    )
    titles = {
        "interval_coverage": "The selected configuration, accuracy and AUC",
        "interval_metrics": "The selected configuration, other metrics, groups and repeats",
        "other_intervals": "Other estimates, models that are fitted",
    }
    for name, methods in result["files"].items():
        yield from (
            "",
            f"## {titles[name]}",
            "",
            f"From `studies/{name}.py` ([results](../../studies/results/{name}.json)).",
            "",
        )
        rows = [
            (
                f"`{row['method']}`",
                row["what"],
                row["settings"],
                *(f"{value:.3f}" for value in row["coverage"]),
                f"{row['below']:.0%}",
                row["width"],
            )
            for row in methods
        ]
        yield from table(("method", "of", "settings", "lowest", "mean", "highest", "below 0.93", "width"), rows)


def draw(result: dict[str, Any]) -> Any:
    panels = []
    for i, title in ((0, "lowest coverage"), (1, "mean coverage")):
        lines = {}
        for method in ("mover", "percentile"):
            own = [row for row in result["files"]["interval_coverage"] if row["method"] == method]
            sizes = [int(row["what"].split()[1]) for row in own]
            lines[method] = tuple(
                zip(*sorted(zip(sizes, [row["coverage"][i] for row in own], strict=True)), strict=True)
            )
        panels.append(Panel(title, lines, "samples", "coverage", LEVEL, options={"xscale": "log", "ylim": (0.5, 1.01)}))
    return figure(panels)


STUDY = Study(
    name="intervals",
    title="How often does every interval hold the truth?",
    source="our own simulations",
    units=units,
    run=run,
    summarize=summarize,
    page=page,
    verdict=verdict,
    draw=draw,
)
