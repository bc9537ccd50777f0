"""Arguments that several commands have."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


class MixedParser(argparse.ArgumentParser):
    """A parser that takes positional arguments before, between and after options."""

    _mixing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The arguments by name, and those that are not known."""
        if self._mixing:
            return super().parse_known_args(args, namespace)
        # Python's own way to mix them calls this method again, twice.
        self._mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False


def add_command(
    commands: Any, name: str, does: Callable[..., int | None], summary: str, epilog: str
) -> argparse.ArgumentParser:
    """A command with its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=does, name=name)
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


def add_file(parser: argparse.ArgumentParser) -> None:
    """The file with the predictions, and the columns of a table."""
    parser.add_argument("file", help="an .oof file, or a long table as .csv, .csv.gz or .parquet")
    columns = parser.add_argument_group("columns of a .csv or .parquet table")
    for option in ("sample", "config-column", "fold", "repeat", "group"):
        default = option.removesuffix("-column")
        columns.add_argument(f"--{option}", metavar="COL", help=f"(default: {default})")
    columns.add_argument(
        "--label", action="append", metavar="COL", help="twice for survival: time, event (default: label)"
    )
    columns.add_argument(
        "--prediction", action="append", metavar="COL", help="once for each class, if there are several (default: prediction)"
    )
    columns.add_argument(
        "--response", metavar="R", help="what the predictions are: label, score, proba, value, risk, pointwise"
    )
    columns.add_argument("--positive", metavar="LABEL", help="the positive class of two")


def add_format(parser: argparse.ArgumentParser, latex: bool = False) -> None:
    """How the result is printed."""
    choices = ["text", "json", "csv", *(["latex"] if latex else [])]
    parser.add_argument("--format", choices=choices, default="text", help="(default: %(default)s)")


def add_work_options(parser: argparse.ArgumentParser) -> None:
    """Workers and seed."""
    parser.add_argument("--jobs", type=_jobs, default=-1, metavar="N", help="workers (default: one for every core)")
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of all random numbers (default: %(default)s)"
    )


def _jobs(text: str) -> int:
    number = int(text)
    if number == 0:
        raise argparse.ArgumentTypeError("must be a number of workers, or -1 for one on every core; got 0")
    return number


def seed(text: str) -> int:
    """A whole number from 0."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"must be a whole number from 0; got {number}")
    return number


def names(text: str) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in text.split(",") if name.strip()]
