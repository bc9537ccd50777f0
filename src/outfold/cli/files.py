"""Files in, results out: what the commands share."""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..apps.run import SEMICOLONS
from ..exceptions import InputError
from ..formatting import json_ready
from ..io.store import read
from .options import COLUMNS

if TYPE_CHECKING:
    from ..data.predictions import Predictions


def load(args: argparse.Namespace) -> Predictions:
    """The predictions of the file, by the columns that were named."""
    named = {name: getattr(args, option) for option, name in COLUMNS.items() if getattr(args, option) is not None}
    for several in ("label", "prediction"):
        if several in named:
            values = named[several]
            named[several] = values[0] if len(values) == 1 else tuple(values)
    try:
        return read(args.file, **named)
    except InputError as error:
        if error.argument in COLUMNS.values():
            error.argument = f"{error.argument}="  # the column, where another option has the same name
        if _has_semicolons(args.file):
            error.remedy = f"{error.remedy} {SEMICOLONS}".strip()
        raise


def _has_semicolons(file: str) -> bool:
    """Whether the first line of a .csv file is separated by semicolons."""
    if not file.endswith((".csv", ".csv.gz")):
        return False
    opener: Any = gzip.open if file.endswith(".gz") else open
    try:
        with opener(file, "rt", errors="replace") as lines:
            header = lines.readline()
    except OSError:
        return False
    return ";" in header and "," not in header


def typed_again(args: argparse.Namespace) -> str:
    """The file and its column options, as a user would type them again."""
    words = [args.file]
    for option in COLUMNS:
        values = getattr(args, option)
        for value in [values] if isinstance(values, str) else values or []:
            words += [f"--{option.replace('_', '-')}", value]
    return shlex.join(words)


def print_as(
    form: str,
    text: object,
    facts: Callable[[], Mapping[str, Any]],
    rows: Callable[[], Iterable[Mapping[str, Any]]],
    latex: Callable[[], str] = str,
) -> None:
    """Print the result in the format asked for."""
    if form == "json":
        print(json.dumps(json_ready(facts()), indent=2, allow_nan=False))
    elif form == "csv":
        table = [json_ready(row) for row in rows()]
        writer = csv.DictWriter(sys.stdout, list(table[0]) if table else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    else:
        print(latex() if form == "latex" else text)


def estimate_row(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts of an estimate as a flat row."""
    low, high = facts.pop("interval") or (None, None)
    codes = " ".join(note["code"] for note in facts.pop("notes"))
    facts.pop("details")
    value = {"metric": facts.pop("metric"), "value": facts.pop("value"), "low": low, "high": high}
    return value | facts | {"notes": codes}
