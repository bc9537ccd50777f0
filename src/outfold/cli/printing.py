"""Results in the format that was asked for."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from ..formatting import clean, csv_cell, json_ready


def print_as(
    form: str,
    text: object,
    facts: Callable[[], Mapping[str, Any]],
    rows: Callable[[], Iterable[Mapping[str, Any]]],
    paper: Mapping[str, Callable[[], str]] = MappingProxyType({}),
) -> None:
    """Print the result in the format asked for; `paper` has what makes the formats for a paper."""
    if form == "json":
        print(json.dumps(json_ready(facts()), indent=2, allow_nan=False))
    elif form == "csv":
        table = [{key: _shown(value) for key, value in json_ready(row).items()} for row in rows()]
        writer = csv.DictWriter(sys.stdout, list(table[0]) if table else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    else:
        print(clean(paper[form]() if form in paper else text))  # names may come from anywhere


def for_paper(result: Any) -> dict[str, Callable[[], str]]:
    """What people paste: a LaTeX table with a caption, and a paragraph."""
    return {"latex": lambda: str(result.to_latex(caption=True)), "prose": lambda: str(result.to_prose())}


def _shown(value: Any) -> Any:
    """A cell that steers neither a spreadsheet nor the terminal."""
    return clean(csv_cell(value)) if isinstance(value, str) else value


def estimate_row(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts of an estimate as a flat row."""
    low, high = facts.pop("interval") or (None, None)
    codes = " ".join(note["code"] for note in facts.pop("notes"))
    facts.pop("details")
    value = {"metric": facts.pop("metric"), "value": facts.pop("value"), "low": low, "high": high}
    return value | facts | {"notes": codes}
