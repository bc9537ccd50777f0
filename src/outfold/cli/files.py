"""Files in, results out: what all commands share."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..exceptions import InputError
from ..formatting import json_ready

if TYPE_CHECKING:
    from ..data.predictions import Predictions

# The column options and what `read` calls them.
COLUMNS = {
    "sample": "sample",
    "config_column": "config",
    "label": "label",
    "prediction": "prediction",
    "fold": "fold",
    "repeat": "repeat",
    "group": "group",
    "response": "response",
    "positive": "positive",
}


def load(args: argparse.Namespace) -> Predictions:
    """The predictions of the file, by the columns that were named."""
    from ..io.store import read

    given = {name: getattr(args, option) for option, name in COLUMNS.items() if getattr(args, option) is not None}
    for several in ("label", "prediction"):
        if several in given:
            values = given[several]
            given[several] = values[0] if len(values) == 1 else tuple(values)
    try:
        return read(args.file, **given)
    except InputError as error:
        if _has_semicolons(args.file):
            from ..apps.run import SEMICOLONS

            raise InputError(f"{error} {SEMICOLONS}") from error
        raise


def _has_semicolons(file: str) -> bool:
    """Whether the first line of a .csv file is separated by semicolons."""
    import gzip

    if not file.endswith((".csv", ".csv.gz")):
        return False
    opener: Any = gzip.open if file.endswith(".gz") else open
    try:
        with opener(file, "rt", errors="replace") as lines:
            header = lines.readline()
    except OSError:
        return False
    return ";" in header and "," not in header


def again(args: argparse.Namespace) -> str:
    """The file and its column options, as they would be typed again."""
    import shlex

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
    """The result in the format asked for."""
    if form == "json":
        print(json.dumps(json_ready(facts()), indent=2, allow_nan=False))
    elif form == "csv":
        table = [json_ready(row) for row in rows()]
        writer = csv.DictWriter(sys.stdout, list(table[0]) if table else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    else:
        print(latex() if form == "latex" else text)
